//! Reading input files with bounded memory.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::ConfigError;
use super::yaml::read::Problems;
use super::yaml::{self, Node};

/// Largest input file \[byte\]. The largest shipped one is a hundredth of it.
const MAX_BYTES: u64 = 16 << 20;

/// The text of an input file and the name that errors give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    /// Tree of the text, if it was made at build time.
    packed: Option<&'static [u8]>,
}

impl Source {
    /// A source called `name` with this text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), packed: None })
    }

    /// An embedded file with the tree of its text.
    pub(crate) fn embedded(name: &str, text: &str, packed: Option<&'static [u8]>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), packed })
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unreadable`] if it is absent, a directory, larger than 16 MiB or not UTF-8.
    pub fn read(path: &Path) -> Result<Arc<Self>, ConfigError> {
        let unreadable = |reason: String| ConfigError::Unreadable { path: path.into(), reason };
        let text = read_bounded(path, MAX_BYTES).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(text).map_err(|error| {
            unreadable(format!("not UTF-8 text (byte {})", error.utf8_error().valid_up_to()))
        })?;
        Ok(Self::new(path.display().to_string(), text))
    }

    /// Name that errors print.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Contents.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tree of the text, which is YAML; `None` if its syntax is broken, which is a problem.
    pub(crate) fn tree(&self, problems: &mut Problems) -> Option<Node<'_>> {
        match self.packed {
            Some(bytes) => Some(yaml::unpack(bytes, &self.text)),
            None => yaml::parse(&self.text, problems),
        }
    }

    /// Line and column of byte `offset`, both counted from 1, columns in characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// The bytes of the file at `path`.
///
/// # Errors
///
/// If it cannot be read, is a directory, or has more than `max` bytes
/// ([`io::ErrorKind::FileTooLarge`]).
pub fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::other("is a directory; a file is needed"));
    }
    let mut bytes = Vec::new();
    // Devices and pipes have no length.
    if metadata.len() <= max {
        file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= max {
            return Ok(bytes);
        }
    }
    let message = format!("larger than {} MiB", max >> 20);
    Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
}

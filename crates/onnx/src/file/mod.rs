//! Reading of an ONNX file: protocol-buffer messages as a [`Model`], without the weights.
//!
//! `wire` reads fields and skips what nothing needs. `messages`, `graphs`, `ports` and `tensor` know the
//! messages of `onnx.proto`; `tensor` decodes the elements that shapes may depend on, and `external` finds
//! those in other files. `versions` checks versions, and `mistaken` recognises files of other programs.
//! `order` sorts nodes.
//!
//! Memory stays below the length of the file and 64 MiB for any input, because everything that a message
//! becomes is counted before it is made.

mod external;
mod graphs;
mod messages;
mod mistaken;
mod order;
mod ports;
mod tensor;
mod versions;
mod wire;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{Read, SeekFrom};
use std::path::Path;

pub(super) use external::load;
pub(super) use order::{order, order_of, reads};

use super::graph::Model;
use wire::{Limits, Source, Wire};

/// Reason for which a file is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) struct Error {
    /// First byte of what is wrong, if it is a part of the file.
    pub at: Option<u64>,
    /// The error in words.
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}, at byte {at}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Error {
    /// An error of the file as a whole.
    fn whole(message: impl Into<String>) -> Self {
        Self { at: None, message: message.into() }
    }

    fn at(at: u64, message: impl Into<String>) -> Self {
        Self { at: Some(at), message: message.into() }
    }
}

/// Reads the file at `path`, and returns it with warnings.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is not an ONNX file, or is beyond a limit.
pub(super) fn read(path: &Path) -> Result<(Model, Vec<String>), Error> {
    let (mut file, length) = open(path)?;
    read_from(&mut file, length, Limits::for_length(length))
}

/// Whether the file at `path` is a model: it ends as one, or its fields are those of one with a graph.
pub fn is_model(path: &Path) -> bool {
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("onnx")) {
        return true;
    }
    let Ok((mut file, length)) = open(path) else { return false };
    messages::is_model(&mut Wire::new(&mut file, length, Limits::for_length(length)))
}

/// Opens a file of known length. Other things, such as pipes, can block or have no end.
fn open(path: &Path) -> Result<(File, u64), Error> {
    let failed = |error| Error::whole(format!("cannot be read: {error}"));
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(Error::whole("cannot be read: it is not a regular file"));
    }
    Ok((File::open(path).map_err(failed)?, metadata.len()))
}

/// Reads `length` bytes of `source` from its start.
fn read_from(
    source: &mut dyn Source,
    length: u64,
    limits: Limits,
) -> Result<(Model, Vec<String>), Error> {
    let found = messages::model(&mut Wire::new(source, length, limits));
    let (model, mut warnings) = match found {
        Ok(found) => found,
        Err(error) => {
            let other = mistaken::kind(&head(source));
            return Err(other.map_or(error, Error::whole));
        }
    };
    graphs::refuse_same_names(&model.graph)?;
    versions::check(&model, &mut warnings)?;
    Ok((model, warnings))
}

/// Reads a file that is in memory.
#[cfg(test)]
pub(super) fn parse(bytes: &[u8]) -> Result<(Model, Vec<String>), Error> {
    let length = bytes.len() as u64;
    read_from(&mut std::io::Cursor::new(bytes), length, Limits::for_length(length))
}

/// First bytes of `source`, fewer if there are no more.
fn head(source: &mut dyn Source) -> Vec<u8> {
    let mut head = Vec::new();
    if source.seek(SeekFrom::Start(0)).is_ok() {
        // What was read before an error tells enough.
        let _ = source.take(mistaken::HEAD).read_to_end(&mut head);
    }
    head
}

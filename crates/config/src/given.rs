//! Input files that are texts of a caller in this process, such as the dicts of a Python program.
//!
//! Their names are `dict:DIGEST.yaml`, so that equal texts have equal names in records and messages.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xrsim_model::digest::Digest;

use super::files::Source;

/// Digits of the digest in a name.
const DIGITS: usize = 16;

/// Every text by name, with the number of its owners.
static TEXTS: Mutex<BTreeMap<String, (Arc<Source>, usize)>> = Mutex::new(BTreeMap::new());

fn texts() -> MutexGuard<'static, BTreeMap<String, (Arc<Source>, usize)>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text that stands for an input file as long as this value lives.
#[derive(Debug)]
pub struct GivenText(String);

impl GivenText {
    /// Start of the names.
    pub const PREFIX: &str = "dict:";

    /// Lets `text`, which is YAML or JSON, stand for a file.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let digest = Digest::compute(text.as_bytes()).hex();
        let name = format!("{}{}.yaml", Self::PREFIX, &digest[..DIGITS]);
        let mut texts = texts();
        let entry = texts.entry(name.clone());
        entry.or_insert_with(|| (Source::new(name.clone(), text), 0)).1 += 1;
        Self(name)
    }

    /// Name of the file, for options that take one.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for GivenText {
    fn drop(&mut self) {
        let mut texts = texts();
        if let Some((_, owners)) = texts.get_mut(&self.0) {
            *owners -= 1;
            if *owners == 0 {
                texts.remove(&self.0);
            }
        }
    }
}

/// The text that stands for the file at `path`.
pub(super) fn find(path: &Path) -> Option<Arc<Source>> {
    let name = path.to_str().filter(|it| it.starts_with(GivenText::PREFIX))?;
    texts().get(name).map(|(source, _)| Arc::clone(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_file_as_long_as_it_has_an_owner() {
        let text = "scenario: {name: of_a_test}";
        let first = GivenText::new(text);
        let second = GivenText::new(text);
        assert_eq!(first.name(), second.name());
        let name = first.name().to_string();
        drop(first);
        assert_eq!(find(Path::new(&name)).expect("it is there").text(), text);
        drop(second);
        assert!(find(Path::new(&name)).is_none());
    }
}

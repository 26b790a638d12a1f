//! Files of external policies: those that the words of their commands name.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::config::{Catalog, InputFile};
use crate::external;

use super::digest::Digest;
use super::message::Failure;

/// The files that the command of the external policy `text` names: words, and what follows the `=` of
/// a word such as `--model=net.bin`, that are paths of files. A program that the system looks up, what
/// it imports and what it reads by itself are not among them.
pub fn files(text: &str) -> Vec<PathBuf> {
    let words = external::command(text).unwrap_or_default();
    let paths = words.iter().flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word.as_str()), value].into_iter().flatten().map(PathBuf::from)
    });
    paths.filter(|path| path.is_file()).collect()
}

/// Those files with their SHA-256.
///
/// # Errors
///
/// If one cannot be read.
pub fn inputs(text: &str) -> Result<Vec<InputFile>, Failure> {
    let input = |path: PathBuf| {
        let name = path.display().to_string();
        let unreadable = |error: io::Error| Failure::Argument(format!("{name}: {error}"));
        let sha256 = Digest::of_file(&path).map_err(unreadable)?.hex();
        Ok(InputFile { name, sha256 })
    };
    files(text).into_iter().map(input).collect()
}

/// SHA-256 by name of every file that `catalog` was asked for, and of those of the external policies
/// among `schedulers`.
///
/// # Errors
///
/// If one cannot be read.
pub fn sha256_of_inputs<'a>(
    catalog: &Catalog,
    schedulers: impl IntoIterator<Item = &'a str>,
) -> Result<Map<String, Value>, Failure> {
    let mut files = catalog.inputs();
    for scheduler in schedulers {
        files.extend(inputs(scheduler)?);
    }
    Ok(files.into_iter().map(|file| (file.name, file.sha256.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_policies_are_among_the_inputs() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let script = folder.path().join("policy.py");
        std::fs::write(&script, "pass\n").expect("it can be written");
        let scheduler = format!("external:python3 {}", script.display());
        let inputs = sha256_of_inputs(&Catalog::new(), ["edf", &*scheduler]).expect("read");
        let expected = Digest::of(b"pass\n").hex();
        assert_eq!(inputs[&script.display().to_string()], expected.as_str());
    }
}

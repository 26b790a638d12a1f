//! Files of external policies: those that the words of their commands name.

use std::io;
use std::path::PathBuf;

use crate::config::InputFile;
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

//! Files of external schedulers: those that the words of their commands name.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value};

use xrsim_config::InputFile;
use xrsim_model::digest::Digest;
use xrsim_sim::external;

use super::ExperimentError;

/// Files that the command of the external scheduler `text` names: words that are paths of files, also
/// after the `=` of a word such as `--model=net.bin`. Programs that the system looks up are not among
/// them, and neither are files that the program imports or reads by itself.
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
/// [`ExperimentError::Unreadable`] if one cannot be read.
pub(crate) fn inputs(text: &str) -> Result<Vec<InputFile>, ExperimentError> {
    let input = |path: PathBuf| {
        let name = path.display().to_string();
        let unreadable = |error: io::Error| ExperimentError::Unreadable {
            path: name.clone(),
            reason: error.to_string(),
        };
        let sha256 = Digest::of_file(&path).map_err(unreadable)?.hex();
        Ok(InputFile { name, sha256 })
    };
    let given = external::text_of(text).map(|source| InputFile {
        name: text.trim().into(),
        sha256: Digest::compute(source.as_bytes()).hex(),
    });
    files(text).into_iter().map(input).chain(given.map(Ok)).collect()
}

/// Those files of several schedulers.
///
/// # Errors
///
/// [`ExperimentError::Unreadable`] if one cannot be read.
pub(crate) fn inputs_of<'a>(
    schedulers: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<InputFile>, ExperimentError> {
    let inputs = schedulers.into_iter().map(inputs).collect::<Result<Vec<_>, _>>()?;
    Ok(inputs.concat())
}

/// SHA-256 by name of every file in `inputs_read`, and of the files of external schedulers among
/// `schedulers`.
///
/// # Errors
///
/// [`ExperimentError::Unreadable`] if one cannot be read.
pub fn sha256_of_inputs<'a>(
    inputs_read: impl IntoIterator<Item = InputFile>,
    schedulers: impl IntoIterator<Item = &'a str>,
) -> Result<Map<String, Value>, ExperimentError> {
    let mut files: Vec<_> = inputs_read.into_iter().collect();
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
        let inputs = sha256_of_inputs([], ["edf", &*scheduler]).expect("read");
        let expected = Digest::compute(b"pass\n").hex();
        assert_eq!(inputs[&script.display().to_string()], expected.as_str());
    }
}

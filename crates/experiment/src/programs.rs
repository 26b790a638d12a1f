//! Files of external schedulers: those that the words of their commands name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use xrsim_config::InputFile;
use xrsim_model::digest::Digest;
use xrsim_sim::external;

use super::ExperimentError;

/// Files that the command of the external scheduler `text` names: words that are paths of files, also
/// after the `=` of a word such as `--model=net.bin` and within the script of `sh -c`; and the files of its `inputs=`,
/// those of folders too. Programs that the system looks up are not among them, and neither are other files that the
/// program imports or reads by itself.
pub fn files(text: &str) -> Vec<PathBuf> {
    let words = external::command(text).unwrap_or_default();
    let scripts = words.iter().filter(|word| word.contains(char::is_whitespace));
    let inner: Vec<_> = scripts.filter_map(|script| shlex::split(script)).flatten().collect();
    let paths = words.iter().chain(&inner).flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        let command = word.trim_matches(['(', ')', ';', '&', '|', '<', '>']);
        [Some(word.as_str()), value, Some(command)].into_iter().flatten().map(PathBuf::from)
    });
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    for path in external::inputs(text) {
        // One that cannot be listed is refused by `inputs`, which reads it.
        files.extend(below(Path::new(&path)).unwrap_or_default());
    }
    files.sort();
    files.dedup();
    files
}

/// Most files of a folder that is named by `inputs=`.
const MAX_FILES: usize = 10_000;

/// The file at `path`, or all files in the folder there and in those below, without what Python has compiled and names
/// that begin with a dot.
fn below(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.metadata()?.is_dir() {
        return Ok(vec![path.into()]);
    }
    let (mut folders, mut found) = (vec![path.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if name.as_encoded_bytes().starts_with(b".") || name == "__pycache__" {
                continue;
            }
            match kind.is_dir() {
                true => folders.push(entry.path()),
                false if entry.path().is_file() => found.push(entry.path()),
                false => {}
            }
            if found.len() + folders.len() > MAX_FILES {
                return Err(io::Error::other(format!("more than {MAX_FILES} files")));
            }
        }
    }
    Ok(found)
}

/// Why a record does not show all that the external scheduler `text` is made of, in words; `None` if nothing shows that
/// it does not.
pub fn untracked(text: &str) -> Option<&'static str> {
    let words = external::command(text)?;
    if !external::inputs(text).is_empty() {
        return None;
    }
    const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];
    let program = words.first().map(|word| Path::new(word).file_name().unwrap_or_default());
    let is_shell = program.is_some_and(|it| SHELLS.iter().any(|shell| it == *shell));
    let is_script =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    match files(text).is_empty() {
        _ if is_shell && words.iter().skip(1).any(is_script) => Some(
            "only words of the script of `-c` that are paths of files are recorded with a SHA-256",
        ),
        true => Some("no word of its command is the path of a file"),
        false => None,
    }
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
    for path in external::inputs(text) {
        let unreadable = |error: io::Error| ExperimentError::Unreadable {
            path: path.clone(),
            reason: format!("{error}; it is among the inputs= of {}", text.trim()),
        };
        below(Path::new(&path)).map_err(unreadable)?;
    }
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

    #[test]
    fn inputs_are_files_and_folders_that_a_policy_imports() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        for name in [
            "policy.py",
            "helper.py",
            "lib/a.py",
            "lib/__pycache__/a.pyc",
            "lib/b/c.py",
            "lib/.git/x",
        ] {
            fs::create_dir_all(at(name).parent().expect("it has one")).expect("a folder");
            fs::write(at(name), name).expect("it can be written");
        }
        let shown = folder.path().display();
        let plain = format!("external:python3 {shown}/policy.py");
        assert_eq!((files(&plain), untracked(&plain)), (vec![at("policy.py")], None));
        let shell = format!("external:sh -ec 'exec python3 {shown}/policy.py; true'");
        assert_eq!(files(&shell), [at("policy.py")]);
        assert!(untracked(&shell).is_some_and(|it| it.contains("`-c`")));
        assert!(untracked("external:python3 -m policy").is_some_and(|it| it.contains("no word")));
        assert_eq!(untracked("edf"), None);
        let all = format!("{plain},inputs={shown}/helper.py,inputs={shown}/lib,timeout_ms=7");
        let expected = ["helper.py", "lib/a.py", "lib/b/c.py", "policy.py"].map(at);
        assert_eq!((files(&all), untracked(&all)), (expected.to_vec(), None));
        assert_eq!(inputs(&all).expect("all can be read").len(), 4);
        let absent =
            inputs(&format!("{plain},inputs={shown}/absent.py")).expect_err("it is absent");
        assert!(absent.to_string().contains("absent.py"), "{absent}");
    }
}

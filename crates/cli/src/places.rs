//! The rule for the files of a command: no output overwrites an input or another output, by whatever path
//! they are named.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::figure::PictureOptions;
use super::message::Failure;

/// Files that a command reads and writes.
#[derive(Debug, Default)]
pub(super) struct Places {
    inputs: Vec<PathBuf>,
    outputs: Vec<Output>,
    /// Folders of outputs.
    folders: Vec<PathBuf>,
}

/// A file that is written.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    /// The figure that this file stands beside.
    figure: Option<PathBuf>,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.figure {
            Some(figure) => write!(f, "{} (beside {})", self.path.display(), figure.display()),
            None => self.path.display().fmt(f),
        }
    }
}

/// Identity of a file, independent of the path that names it.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Place {
    /// An existing file: device and inode number, which hard links share.
    #[cfg(unix)]
    File(u64, u64),
    /// A path without links. The name of a file that does not exist yet is in lower case, because some
    /// file systems ignore case.
    Path(PathBuf),
}

impl Places {
    /// Adds inputs.
    #[must_use]
    pub(super) fn reading(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.inputs.extend(paths);
        self
    }

    /// Adds outputs.
    #[must_use]
    pub(super) fn writing<'a>(mut self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.outputs.extend(paths.into_iter().map(|path| Output::from_path(path.clone())));
        self
    }

    /// Adds figures, each with its files beside it, or tables in their place.
    #[must_use]
    pub(super) fn drawing<'a>(
        mut self,
        pictures: &PictureOptions,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Self {
        for path in paths {
            let is_table = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv"));
            let beside = pictures.files(path).into_iter().skip(1);
            let of_picture = |beside| Output { path: beside, figure: Some(path.clone()) };
            self.outputs.extend(beside.filter(|_| !is_table).map(of_picture));
            self.outputs.push(Output::from_path(path.clone()));
        }
        self
    }

    /// Adds the outputs `names` in `folder`, if it is given.
    #[must_use]
    pub(super) fn folder<S: AsRef<str>>(
        mut self,
        folder: Option<&Path>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        if let Some(folder) = folder {
            let output = |name: S| Output::from_path(folder.join(name.as_ref()));
            self.outputs.extend(names.into_iter().map(output));
            self.folders.push(folder.into());
        }
        self
    }

    /// Checks that no file would be lost.
    ///
    /// # Errors
    ///
    /// Returns a failure for the first output that is an input or another output.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let mut inputs = HashMap::new();
        for input in &self.inputs {
            inputs.insert(Place::from_path(input), input);
        }
        let folders: HashMap<_, _> =
            self.folders.iter().map(|it| (Place::from_path(it), it)).collect();
        let mut outputs = HashMap::new();
        for output in self.outputs.iter().filter(|output| !is_special(&output.path)) {
            let place = Place::from_path(&output.path);
            if let Some(input) = inputs.get(&place) {
                return Err(refuse(&format!(
                    "{output} would overwrite {}, which this command reads",
                    input.display()
                )));
            }
            if let Some(folder) = folders.get(&place) {
                return Err(refuse(&format!(
                    "{output} would be in the place of the folder {}, which this command writes to",
                    folder.display()
                )));
            }
            if let Some(earlier) = outputs.insert(place, output) {
                return Err(refuse(&format!(
                    "{output} would overwrite {earlier}, which this command writes too"
                )));
            }
        }
        Ok(())
    }
}

fn refuse(message: &str) -> Failure {
    Failure::Argument(format!("{message}; choose another name"))
}

/// Whether `path` is a device or a pipe, which keeps no content.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

impl Output {
    fn from_path(path: PathBuf) -> Self {
        Self { path, figure: None }
    }
}

impl Place {
    fn from_path(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(metadata) = path.metadata() {
            use std::os::unix::fs::MetadataExt as _;
            return Self::File(metadata.dev(), metadata.ino());
        }
        Self::Path(resolved(path))
    }
}

/// Resolves the links of the existing part of `path`, and turns the rest to lower case.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let path = std::path::absolute(path).unwrap_or(path.into());
    let Some(parent) = path.parent() else { return path };
    match path.components().next_back() {
        Some(Component::Normal(name)) => {
            resolved(parent).join(name.to_string_lossy().to_lowercase())
        }
        Some(Component::ParentDir) => {
            let folder = resolved(parent);
            folder.parent().map_or(folder.clone(), Path::to_path_buf)
        }
        _ => resolved(parent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(inputs: &[PathBuf], outputs: &[PathBuf]) -> bool {
        Places::default().reading(inputs.to_vec()).writing(outputs).check().is_err()
    }

    #[test]
    fn a_file_is_one_place_by_whatever_name() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in.csv"), "1").expect("it can be written");
        fs::create_dir(at("sub")).expect("it can be made");
        fs::hard_link(at("in.csv"), at("hard.csv")).expect("it can be linked");
        let mut names = vec!["in.csv", "./in.csv", "sub/../in.csv", "hard.csv"];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("in.csv"), at("soft.csv")).expect("it can be linked");
            std::os::unix::fs::symlink(".", at("here")).expect("it can be linked");
            names.extend(["soft.csv", "here/in.csv", "sub/../here/hard.csv"]);
        }
        for name in names {
            assert!(refused(&[at("in.csv")], &[at(name)]), "{name}");
            assert!(refused(&[], &[at("in.csv"), at(name)]), "{name}");
        }
        assert!(!refused(&[at("in.csv")], &[at("out.csv"), at("sub/in.csv")]));
    }

    #[test]
    fn a_file_takes_no_place_of_a_folder() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        let check = |file: &str| {
            let places = Places::default().folder(Some(&at("out")), ["a.csv"]);
            places.writing([&at(file)]).check()
        };
        assert!(check("out").is_err() && check("new/../OUT/.").is_err());
        assert!(check("out/b.csv").is_ok());
    }

    #[test]
    fn files_that_are_not_there_yet_have_places_too() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        assert!(refused(&[], &[at("new/a.csv"), at("new/./a.csv")]));
        assert!(refused(&[], &[at("new/a.csv"), at("new/other/../A.csv")]));
        assert!(!refused(&[], &[at("new/a.csv"), at("a.csv")]));
        assert!(!refused(&[], &["/dev/null".into(), "/dev/null".into()]));
    }
}

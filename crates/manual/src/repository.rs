//! The repository that the manual belongs to.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A checkout.
pub(crate) struct Repository {
    /// Its folder.
    pub(crate) root: PathBuf,
}

impl Repository {
    /// The checkout that this program was built from.
    pub(crate) fn of_this_crate() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        Self { root: root.expect("the crate lies in `crates/`").into() }
    }

    /// Paths of all files but those that git ignores, relative to the root.
    ///
    /// # Errors
    ///
    /// An error if git cannot list them.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").args(options).current_dir(&self.root).output()?;
        if !listed.status.success() {
            return Err(format!("git cannot list files: {}", listed.status).into());
        }
        let text = String::from_utf8(listed.stdout)?;
        let mut paths: Vec<_> = text.split_terminator('\0').map(PathBuf::from).collect();
        paths.retain(|path| self.root.join(path).is_file());
        paths.sort();
        Ok(paths)
    }

    /// Paths of all pages: README files, and all of `docs/`.
    ///
    /// # Errors
    ///
    /// An error if git cannot list files.
    pub(crate) fn pages(&self) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let mut paths = self.files()?;
        let is_page = |path: &Path| {
            path.ends_with("README.md")
                || path.starts_with("docs") && path.extension().is_some_and(|it| it == "md")
        };
        paths.retain(|path| is_page(path));
        Ok(paths)
    }

    /// Copies the files into a folder.
    ///
    /// # Errors
    ///
    /// An error if a file cannot be listed, read or written.
    pub(crate) fn copy_to(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        for path in self.files()? {
            let copy = folder.join(&path);
            fs::create_dir_all(copy.parent().unwrap_or(folder))?;
            fs::copy(self.root.join(&path), copy)?;
        }
        Ok(())
    }

    /// Builds the program in release form. Returns its path.
    ///
    /// # Errors
    ///
    /// An error if it cannot be built.
    pub(crate) fn built_program(&self) -> Result<PathBuf, Box<dyn Error>> {
        let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
        let options = ["build", "--locked", "--release", "--package", "xrsim", "--bin", "xrsim"];
        let status = Command::new(cargo).args(options).current_dir(&self.root).status()?;
        if !status.success() {
            return Err("the program cannot be built".into());
        }
        Ok(self.target().join("release").join("xrsim").canonicalize()?)
    }

    /// Folder of everything that is built.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()))
    }

    /// Reads a page.
    ///
    /// # Errors
    ///
    /// An error that names the page.
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        fs::read_to_string(self.root.join(path)).map_err(named)
    }
}

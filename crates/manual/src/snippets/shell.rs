//! Scripts that run in folders of their own.

use std::error::Error;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::repository::Repository;

/// Time that a block may take \[s\].
const SECONDS: u32 = 600;

/// Exit status of `timeout` after that time.
const OUT_OF_TIME: i32 = 124;

/// Where pages run.
pub(super) struct Place<'a> {
    repository: &'a Repository,
    folder: &'a Path,
    /// Folders of programs, with that of `xrsim` first.
    path: std::ffi::OsString,
}

impl<'a> Place<'a> {
    /// Puts `program` as `xrsim` into `folder`, which is empty.
    ///
    /// # Errors
    ///
    /// An error if the folder cannot be written to.
    pub(super) fn new(
        repository: &'a Repository,
        program: &Path,
        folder: &'a Path,
    ) -> Result<Self, Box<dyn Error>> {
        let programs = folder.join("bin");
        fs::create_dir(&programs)?;
        std::os::unix::fs::symlink(program, programs.join("xrsim"))?;
        let rest = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(std::iter::once(programs).chain(env::split_paths(&rest)))?;
        Ok(Self { repository, folder, path })
    }

    /// Makes the folders of a page.
    ///
    /// # Errors
    ///
    /// An error if the folder cannot be written to.
    pub(super) fn page(&self, page: &Path) -> io::Result<Shell<'_>> {
        let name = page.to_string_lossy().replace(['/', '\\'], "-");
        let folder = self.folder.join(name);
        fs::create_dir_all(folder.join("work"))?;
        Ok(Shell { place: self, folder })
    }
}

/// The folders and the environment of a page.
pub(super) struct Shell<'a> {
    place: &'a Place<'a>,
    folder: PathBuf,
}

/// Exit status of a script, and all that it printed, in its order.
pub(super) struct Printed {
    pub(super) status: i32,
    pub(super) text: String,
}

impl Shell<'_> {
    /// The folder that the blocks of the page share.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// The copy of the repository, made when it is first wanted.
    ///
    /// # Errors
    ///
    /// An error if it cannot be made.
    pub(super) fn repository(&self) -> Result<PathBuf, Box<dyn Error>> {
        let copy = self.folder.join("repository");
        if !copy.exists() {
            fs::create_dir(&copy)?;
            self.place.repository.copy_to(&copy)?;
        }
        Ok(copy)
    }

    /// Runs a script by bash, which stops at the first command that fails.
    ///
    /// # Errors
    ///
    /// An error if it cannot be started, or is not done in time.
    pub(super) fn run(&self, script: &str, folder: &Path) -> Result<Printed, Box<dyn Error>> {
        let (mut reader, writer) = io::pipe()?;
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", &SECONDS.to_string()]);
        command.args(["bash", "-e", "-o", "pipefail", "-c", script]).current_dir(folder);
        command.env("PATH", &self.place.path).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
        // Choices of mappings that other commands kept would change what is printed.
        command.env("XRSIM_CACHE", self.folder.join("cache"));
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // The command holds the ends of the pipe that are written to.
        drop(command);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        let status = child.wait()?.code().unwrap_or(-1);
        if status == OUT_OF_TIME {
            return Err(format!("not done after {SECONDS} s: {script}").into());
        }
        Ok(Printed { status, text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

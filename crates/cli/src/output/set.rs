//! Files of one command that belong together. They are staged until all are complete, then renamed; last
//! comes a record with the length and SHA-256 of each. A reader of the record can distinguish the old set,
//! the new set and a mixture, whenever the program was stopped.

use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::lock;
use super::super::message::{Failure, say};
use super::super::record;
use super::{Complete, OutputFile, create_folder, part, write_csv_to};

/// The files of `--out DIR` before they are in their places.
pub(crate) struct OutputSet {
    folder: PathBuf,
    files: Vec<(String, Complete)>,
    /// Held until the set is complete; the system releases it when the process ends.
    _lock: Option<File>,
}

impl OutputSet {
    /// Starts the set of `folder` for this process alone. The folder is made if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns a failure if the folder cannot be made, or if another process is writing to it.
    pub(crate) fn create(folder: &Path) -> Result<Self, Failure> {
        create_folder(folder)?;
        let lock = lock(folder)?;
        part::remove_abandoned(folder);
        Ok(Self { folder: folder.into(), files: Vec::new(), _lock: lock })
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the file called `name`, a path in the folder.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`OutputFile::create`] does.
    pub(crate) fn file(&self, name: &str) -> Result<OutputFile, Failure> {
        OutputFile::staged(&self.folder.join(name), &self.folder)
    }

    /// Adds a file that was started by [`OutputSet::file`].
    ///
    /// # Errors
    ///
    /// Returns a failure if the rest of the file cannot be written.
    pub(crate) fn add(&mut self, name: &str, file: OutputFile) -> Result<(), Failure> {
        self.files.push((name.into(), file.complete()?));
        Ok(())
    }

    /// Adds a file with these bytes.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        self.add(name, self.file(name)?.with(|out| out.write_all(bytes))?)
    }

    /// Adds a table, header first, as CSV.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(crate) fn csv(
        &mut self,
        name: &str,
        table: (Vec<String>, Vec<Vec<String>>),
    ) -> Result<(), Failure> {
        let file = write_csv_to(self.file(name)?, table)?;
        self.add(name, file)
    }

    /// Moves all files to their places, and after them `record`, with the digest of every file, to the file
    /// `name`.
    ///
    /// # Errors
    ///
    /// Returns a failure if a file cannot be written. The folder is then unchanged, unless a rename failed.
    pub(crate) fn commit(
        mut self,
        name: &str,
        mut record: Map<String, Value>,
    ) -> Result<(), Failure> {
        let entry = |(name, file): &(String, Complete)| {
            let (bytes, sha256) = file.digest();
            (name.clone(), json!({"bytes": bytes, "sha256": sha256}))
        };
        let files: Map<_, _> = self.files.iter().map(entry).collect();
        record.insert(record::FILES.into(), files.into());
        self.bytes(name, record::sealed_pretty(record).as_bytes())?;
        self.rename()
    }

    /// Moves all files and `record` to their places as [`OutputSet::commit`] does, and prints that `files` are
    /// written.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`OutputSet::commit`] does.
    pub(crate) fn commit_and_say(
        self,
        name: &str,
        record: Map<String, Value>,
        files: fmt::Arguments<'_>,
    ) -> Result<(), Failure> {
        let folder = self.folder.display().to_string();
        self.commit(name, record)?;
        say(format_args!("wrote {files} to {folder}"));
        Ok(())
    }

    /// Moves all files to their places, in order.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`OutputSet::commit`] does.
    pub(crate) fn rename(self) -> Result<(), Failure> {
        for (_, file) in &self.files {
            file.make_way()?;
        }
        self.files.into_iter().try_for_each(|(_, file)| file.rename())
    }
}

/// Locks the folder itself, which leaves no file in it. Some systems do not open folders.
fn lock(folder: &Path) -> Result<Option<File>, Failure> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match lock::take(&file, folder) {
        true => Ok(Some(file)),
        false => Err(lock::taken(folder, "command")),
    }
}

/// Returns the folder of the part file of `place`: `folder` if `place` is below it, else the folder that a
/// link leads to, because files can be renamed within one file system only.
pub(super) fn staging(place: &Path, folder: &Path) -> PathBuf {
    let parent = place.parent().and_then(|parent| fs::canonicalize(parent).ok());
    let root = fs::canonicalize(folder).ok();
    match (parent, root) {
        (Some(parent), Some(root)) if !parent.starts_with(&root) => parent,
        _ => folder.into(),
    }
}

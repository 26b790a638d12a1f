//! Files of one command that belong together: staged until all are complete, then renamed, with a
//! record of length and SHA-256 of every one last. Whatever stops the program, a reader of the record
//! tells the old set, the new set and a mixture apart.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::super::message::Failure;
use super::super::record;
use super::{Complete, OutputFile, create_folder, part, write_csv_to};

/// The files of `--out DIR` on their way into it.
pub struct OutputSet {
    folder: PathBuf,
    files: Vec<(String, Complete)>,
    /// Held until all is done; the system frees it whatever happens.
    _lock: Option<File>,
}

impl OutputSet {
    /// Starts the set of `folder`, which is made if it is not there, for this process alone.
    ///
    /// # Errors
    ///
    /// If it cannot be made, or another process is writing to it.
    pub fn create(folder: &Path) -> Result<Self, Failure> {
        create_folder(folder)?;
        let lock = lock(folder)?;
        part::remove_abandoned(folder);
        Ok(Self { folder: folder.into(), files: Vec::new(), _lock: lock })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the file called `name`, a path in the folder.
    ///
    /// # Errors
    ///
    /// As [`OutputFile::create`].
    pub fn file(&self, name: &str) -> Result<OutputFile, Failure> {
        OutputFile::staged(&self.folder.join(name), &self.folder)
    }

    /// Takes a complete file back.
    ///
    /// # Errors
    ///
    /// If the rest of it cannot be written.
    pub fn add(&mut self, name: &str, file: OutputFile) -> Result<(), Failure> {
        self.files.push((name.into(), file.complete()?));
        Ok(())
    }

    /// Adds a file of these bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut file = self.file(name)?;
        let failure = |error| Failure::writing(&self.folder.join(name).display(), &error);
        file.write_all(bytes).map_err(failure)?;
        self.add(name, file)
    }

    /// Adds a table, header first, as CSV.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn csv(
        &mut self,
        name: &str,
        table: (Vec<String>, Vec<Vec<String>>),
    ) -> Result<(), Failure> {
        let file = write_csv_to(self.file(name)?, table)?;
        self.add(name, file)
    }

    /// Puts all files in their places and, after them, `record` in the file `name`, with what it
    /// takes to tell whether they are still those of the record.
    ///
    /// # Errors
    ///
    /// If anything cannot be written. Unless that is a rename, the folder is as it was.
    pub fn commit(mut self, name: &str, mut record: Map<String, Value>) -> Result<(), Failure> {
        let entry = |(name, file): &(String, Complete)| {
            let (bytes, sha256) = file.digest();
            (name.clone(), json!({"bytes": bytes, "sha256": sha256}))
        };
        let files: Map<_, _> = self.files.iter().map(entry).collect();
        record.insert(record::FILES.into(), files.into());
        self.bytes(name, record::sealed_pretty(record).as_bytes())?;
        self.rename()
    }

    /// Puts all files in their places, in their order.
    ///
    /// # Errors
    ///
    /// As [`OutputSet::commit`].
    pub fn rename(self) -> Result<(), Failure> {
        for (_, file) in &self.files {
            file.make_way()?;
        }
        self.files.into_iter().try_for_each(|(_, file)| file.rename())
    }
}

/// A lock on the folder itself, which leaves nothing in it. Some systems have none.
fn lock(folder: &Path) -> Result<Option<File>, Failure> {
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            let error = io::Error::other("another command is writing to it");
            Err(Failure::writing(&folder.display(), &error))
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Where the part file of `path` is kept: in `folder` if `path` is below it, else beside what a link
/// leads to, because files are renamed within one file system only.
pub(super) fn staging(place: &Path, folder: &Path) -> PathBuf {
    let parent = place.parent().and_then(|parent| fs::canonicalize(parent).ok());
    let root = fs::canonicalize(folder).ok();
    match (parent, root) {
        (Some(parent), Some(root)) if !parent.starts_with(&root) => parent,
        _ => folder.into(),
    }
}

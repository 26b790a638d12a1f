//! Part files: files under another name until they are complete. The writer of a part file holds a lock on
//! it, so that the part files of killed writers can be recognized and removed.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Begin of the name of a part file.
const PREFIX: &str = ".xrsim-";

/// End of the name of a part file.
const SUFFIX: &str = ".part";

/// Attempts to make a part file. Another process may remove it before it is locked.
const ATTEMPTS: usize = 16;

/// A part file, and the place that it will have.
pub(super) struct Part {
    file: NamedTempFile,
    place: PathBuf,
}

impl Part {
    /// Makes a part file in `folder` that will be `place`. Part files of killed writers in `folder` are
    /// removed.
    pub(super) fn create(folder: &Path, place: PathBuf) -> io::Result<Self> {
        remove_abandoned(folder);
        let builder = builder(place.metadata().ok().as_ref());
        for _ in 0..ATTEMPTS {
            let file = builder.tempfile_in(folder)?;
            if is_held(&file) {
                return Ok(Self { file, place });
            }
        }
        Err(io::Error::other("another process removes the temporary files"))
    }

    /// Moves the file to its place, with permissions and owner of the file that it replaces.
    pub(super) fn persist(self) -> io::Result<()> {
        if let Ok(earlier) = self.place.metadata() {
            keep_owner(self.file.as_file(), &earlier)?;
        }
        self.file.persist(&self.place).map(drop).map_err(|error| error.error)
    }

    /// Returns the file.
    pub(super) fn file(&mut self) -> &mut NamedTempFile {
        &mut self.file
    }
}

/// Locks a new part file. Returns false if another process found the file first and removes it. Some file
/// systems have no locks.
fn is_held(file: &NamedTempFile) -> bool {
    let is_taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
    !is_taken && file.path().exists()
}

/// Returns a builder of files with the permissions of the `earlier` file, or the usual ones of a new file;
/// temporary files are private otherwise. The umask of the user applies.
fn builder(earlier: Option<&Metadata>) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = earlier.map_or(0o666, |earlier| earlier.permissions().mode() & 0o777 | 0o600);
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = earlier;
    builder
}

/// Gives `file` the owner, group and permissions of the `earlier` file. If the owner cannot be changed,
/// the writer owns the file.
fn keep_owner(file: &File, earlier: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (earlier.uid(), earlier.gid()) {
            let _ = fchown(file, Some(earlier.uid()), Some(earlier.gid()));
        }
    }
    file.set_permissions(earlier.permissions())
}

/// Removes the part files in `folder` whose writers were killed. A file that cannot be removed does no
/// harm.
pub(super) fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_part(&entry.file_name().to_string_lossy())) {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            remove_if_abandoned(&entry.path());
        }
    }
}

fn is_part(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

fn remove_if_abandoned(path: &Path) {
    if let Ok(file) = File::open(path)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_living_writers_stay_and_those_of_dead_ones_go() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let living = Part::create(folder.path(), folder.path().join("a")).expect("it can be made");
        let dead = folder.path().join(".xrsim-abc123.part");
        let other = folder.path().join(".xrsim-notes");
        fs::write(&dead, "half").expect("it can be written");
        fs::write(&other, "mine").expect("it can be written");
        remove_abandoned(folder.path());
        assert!(!dead.exists() && other.exists());
        assert!(living.file.path().exists());
        living.persist().expect("it can be renamed");
        assert!(folder.path().join("a").exists());
    }

    #[test]
    fn a_part_that_a_remover_has_locked_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let [found, free] =
            [(); 2].map(|()| builder(None).tempfile_in(folder.path()).expect("it can be made"));
        let remover = File::open(found.path()).expect("it can be opened");
        remover.try_lock().expect("nobody else has it");
        assert!(!is_held(&found), "the other process removes it");
        assert!(is_held(&free));
    }
}

//! Locks, which keep two commands from writing to one file or folder at once.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::console;
use super::message::{Failure, warn};

/// Locks `file`, which is at `path`, until it is closed. Returns false if another process has the lock.
/// Some file systems have no locks; a warning says so once per command.
pub(super) fn take(file: &File, path: &Path) -> bool {
    is_free(file.try_lock(), path)
}

fn is_free(lock: Result<(), TryLockError>, path: &Path) -> bool {
    match lock {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => {
            if console::is_first_hint("no locks") {
                warn(format_args!(
                    "the file system of {} has no locks, which would keep a second command from writing \
                     there at the same time",
                    path.display()
                ));
            }
            true
        }
    }
}

/// The failure of a command that would write to `path`, which another `writer` has locked.
pub(super) fn taken(path: &Path, writer: &str) -> Failure {
    Failure::Busy(format!(
        "cannot write {}: another {writer} is writing to it; try again when that has ended",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_file_system_without_locks_is_named_once() {
        let without = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        let (are_free, written) = console::captured(|| {
            ["a.csv", "b.csv"].map(|path| is_free(without(), Path::new(path)))
        });
        assert_eq!(are_free, [true, true]);
        let message = String::from_utf8(written.err).expect("a message is text");
        assert!(message.starts_with("warning: the file system of a.csv has no locks"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(!is_free(Err(TryLockError::WouldBlock), Path::new("a.csv")));
        assert!(is_free(Ok(()), Path::new("a.csv")));
    }
}

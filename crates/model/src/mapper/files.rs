//! Files of choices, which anybody may have written: what is read of them, and how they are replaced.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::digest::Digest;

use super::table::LAST;

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Contents of a file that ends with the digest of its other lines and begins with `first`; `None` if there is no
/// file.
///
/// # Errors
///
/// The reason in words for which a file is not read: it is no regular file or a large one, others than the user
/// may have written it, or it is not whole.
pub(super) fn read(path: &Path, first: &str) -> Result<Option<String>, String> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        // Without a folder there is no file either; whoever writes tells of a path through a file.
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    check(&found)?;
    // The file may be another one by now: it is asked again once it is open, and opening waits for nobody.
    let file = match options().open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    check(&file.metadata().map_err(|error| error.to_string())?)?;
    let mut text = String::new();
    let n_read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    if n_read.map_err(|error| error.to_string())? as u64 > MAX_BYTES {
        return Err(TOO_LARGE.into());
    }
    if !is_whole(&text) || text.lines().next() != Some(first) {
        return Err("it was cut or changed".into());
    }
    Ok(Some(text))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

const TOO_LARGE: &str = "it is larger than 64 MiB";

fn check(data: &Metadata) -> Result<(), String> {
    if !data.is_file() {
        return Err("it is no regular file".into());
    }
    if data.len() > MAX_BYTES {
        return Err(TOO_LARGE.into());
    }
    check_owner(data)
}

/// Checks that nobody but the user and the administrator may write the file: a choice that runs but is a bad one
/// looks like any other.
#[cfg(unix)]
fn check_owner(data: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    if data.uid() != user && data.uid() != 0 {
        return Err("it belongs to another user".into());
    }
    if data.mode() & 0o022 != 0 {
        return Err("other users may write it".into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_data: &Metadata) -> Result<(), String> {
    Ok(())
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Whether the last line is the digest of all others.
pub(super) fn is_whole(text: &str) -> bool {
    let Some(end) = text.trim_end_matches('\n').rfind('\n') else { return false };
    let (body, last) = text.split_at(end + 1);
    last.trim_end()
        .strip_prefix(LAST)
        .is_some_and(|it| it == Digest::compute(body.as_bytes()).hex())
}

/// Adds the last line, the digest of all others.
pub(super) fn finish(mut text: String) -> String {
    let digest = Digest::compute(text.as_bytes()).hex();
    text.push_str(LAST);
    text.push_str(&digest);
    text.push('\n');
    text
}

/// Replaces a file: writes it aside and renames it, so that no reader finds a part of it.
///
/// # Errors
///
/// The error of the first step that fails.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}", std::process::id()));
    let aside = Path::new(&aside);
    let written = create(aside).and_then(|mut file| file.write_all(text.as_bytes()));
    let renamed = written.and_then(|()| std::fs::rename(aside, path));
    if renamed.is_err() {
        let _ = std::fs::remove_file(aside);
    }
    renamed
}

/// A new file that others may read only, whatever the process grants otherwise.
fn create(path: &Path) -> io::Result<File> {
    // What a killed process with the same number left may be anything.
    let _ = std::fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o644);
    }
    options.open(path)
}

/// Age from which on a file written aside was left by a process that was killed.
const LEFT: Duration = Duration::from_secs(3600);

/// Removes files that killed processes wrote aside. One that cannot be removed does no harm.
pub(super) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.rsplit_once(".txt."));
        let is_aside = process.is_some_and(|(_, id)| id.parse::<u32>().is_ok());
        let modified = entry.metadata().and_then(|data| data.modified());
        let is_old = || modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT));
        if is_aside && is_old() {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

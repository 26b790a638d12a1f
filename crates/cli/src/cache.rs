//! The folder in which choices of mappings are kept from one command to the next.

use std::env;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use xrsim_model::mapper::Store;
use xrsim_model::text::{counted, in_line};

use super::message::say;

/// Variable with the folder; empty for none.
const VARIABLE: &str = "XRSIM_CACHE";

/// Time between two times that new choices are written.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Keeps the choices of this process in the folder of the user, unless `is_off`. New ones are written from
/// time to time, so that a command that is interrupted loses few.
pub(super) fn open(is_off: bool) {
    if is_off || !keep() {
        return;
    }
    let save_often = || loop {
        thread::sleep(SAVE_EVERY);
        // The end of the command tells of a folder that cannot be written to.
        let _ = Store::of_process().save();
    };
    // Without a further thread, choices are written at the end only.
    let _ = thread::Builder::new().name("choices".into()).spawn(save_often);
}

/// Keeps the choices of this process in the folder of the user. Returns whether there is one.
pub(super) fn keep() -> bool {
    let folder = folder();
    let is_kept = folder.is_some();
    folder.into_iter().for_each(|folder| Store::of_process().keep_in(folder));
    is_kept
}

/// Writes new choices. Neither a folder that cannot be written to nor a file that is not read is a failure of a
/// command.
pub(super) fn save() {
    let refused = Store::of_process().refused();
    if let Some((file, reason)) = refused.first() {
        let more = match refused.len() - 1 {
            0 => String::new(),
            n => format!(" ({} more like it)", counted(n, "file")),
        };
        let file = in_line(file);
        say(format_args!(
            "note: {file}: {reason}; mappings that it may have were searched again{more}"
        ));
    }
    if let Err(error) = Store::of_process().save() {
        let folder = folder().unwrap_or_default();
        say(format_args!("note: choices of mappings are not kept: {}: {error}", folder.display()));
    }
}

/// The folder of the variable, or else `xrsim` in the cache folder of the user.
fn folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os(VARIABLE) {
        return (!folder.is_empty()).then(|| folder.into());
    }
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("xrsim"))
}

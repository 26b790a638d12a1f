//! The folder in which choices of mappings are kept from one command to the next.

use std::env;
use std::path::PathBuf;

use crate::mapper::Store;

use super::message::say;

/// Variable with the folder; empty for none.
const VARIABLE: &str = "XRSIM_CACHE";

/// Keeps the choices of this process in the folder of the user, unless `is_off`.
pub(super) fn open(is_off: bool) {
    if let Some(folder) = folder().filter(|_| !is_off) {
        Store::of_process().keep_in(folder);
    }
}

/// Writes new choices. A folder that cannot be written to is no failure of a command.
pub(super) fn save() {
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

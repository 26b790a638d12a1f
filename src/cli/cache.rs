//! The folder in which choices of mappings are kept from one command to the next.

use std::env;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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

/// Time between two times that results are kept.
const SAVE_EVERY: Duration = Duration::from_millis(500);

/// Keeps results while a search runs, so that an interruption loses little.
pub(super) struct Saver {
    store: Arc<Store>,
    last: Mutex<Instant>,
}

impl Saver {
    /// A saver of `store`.
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self { store, last: Mutex::new(Instant::now()) }
    }

    /// Keeps the results so far, if the last time was long enough ago.
    pub(super) fn save(&self) {
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.elapsed() >= SAVE_EVERY {
            // The end of the command tells of a folder that cannot be written to.
            let _ = self.store.save();
            *last = Instant::now();
        }
    }
}

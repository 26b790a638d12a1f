//! Interruption by the user: commands that ask for it end after the work under way and write what they have.

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_ASKED: AtomicBool = AtomicBool::new(false);
static HANDLER: Once = Once::new();

/// From now on, the first interrupt or request to terminate is only noted. The second one ends the process.
/// Without a handler, which some systems refuse, the first one ends it.
pub(super) fn listen() {
    HANDLER.call_once(|| {
        let noted = ctrlc::set_handler(|| {
            if IS_ASKED.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
        });
        // Another handler of the process keeps its place.
        drop(noted);
    });
}

/// Whether the user wants the command to end.
pub(super) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

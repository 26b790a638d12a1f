//! Interruption by the user (SIGINT, Ctrl-C) or by a system that ends its jobs (SIGTERM).
//!
//! The first signal asks the work of the process to end ([`cancel`]); it does within a fraction of a second. The second one
//! ends the process at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use xrsim_model::cancel::{self, Token};

/// Number of the last signal; 0 without one.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Asks the work of the process to end at the first signal from now on. Where a system refuses handlers, the first
/// signal ends the process.
pub(super) fn listen() {
    for signal in [SIGINT, SIGTERM] {
        let asked = Token::of_process().flag();
        // Handlers run in this order: the first signal finds that nothing is asked yet.
        let number = usize::try_from(signal).unwrap_or_default();
        let _ = flag::register_conditional_default(signal, Arc::clone(&asked))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&SIGNAL), number))
            .and_then(|_| flag::register(signal, asked));
    }
}

/// Whether the work of this thread should end.
pub(super) fn is_asked() -> bool {
    cancel::is_asked()
}

/// Exit status after an interruption, as shells have it: 128 and the number of the signal.
pub(super) fn status() -> u8 {
    let signal = match SIGNAL.load(Ordering::Relaxed) {
        0 => SIGINT.unsigned_abs() as usize,
        signal => signal,
    };
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

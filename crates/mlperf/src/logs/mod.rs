//! LoadGen's logs of a run: summary, detailed log and accuracy log.

mod detail;
pub mod files;
mod logged_run;
mod number;
mod summary;

pub use detail::{DetailLog, LogRecord, LogValue};
pub use logged_run::LoggedRun;
pub use number::six_digits;
pub use summary::early_stopping_text;
pub use summary::render_summary;

/// Accuracy log of a run in performance mode, `mlperf_log_accuracy.json`: an empty list.
///
/// LoadGen logs responses of such a run only if a share of them is requested, which no round's
/// configuration does.
pub const ACCURACY_LOG: &str = "[\n]\n";

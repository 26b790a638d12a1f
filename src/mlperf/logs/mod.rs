//! LoadGen's logs of a run: summary, detailed log and accuracy log.

mod detail;
pub mod files;
mod summary;

pub use detail::{ACCURACY_LOG, DetailLog, LogRecord, LogValue, LoggedRun};
pub use summary::{early_stopping_text, render_summary, six_digits};

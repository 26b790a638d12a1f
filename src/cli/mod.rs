//! (in progress)
use std::process::ExitCode;
/// Runs.
pub fn run() -> ExitCode {
    ExitCode::SUCCESS
}

//! Schedulers by name.

use xrsim_sim::external;
use xrsim_sim::schedule::{ALL, Entry, Policy};

use super::{ExperimentError, Settings};

/// Every scheduler, the external one last.
pub fn schedulers() -> impl Iterator<Item = &'static Entry> {
    ALL.iter().chain(std::iter::once(&external::ENTRY))
}

/// Name of every scheduler.
pub fn scheduler_names() -> impl Iterator<Item = &'static str> {
    schedulers().map(|entry| entry.name)
}

/// The scheduler that `text` names, with its parameters: `edf`, `dream:alpha=0.5`,
/// `external:COMMAND`.
///
/// # Errors
///
/// [`ExperimentError::Config`] if there is no such scheduler, [`ExperimentError::Scheduler`] if its
/// parameters are wrong.
pub fn scheduler(text: &str) -> Result<Policy, ExperimentError> {
    let mut settings = Settings::default();
    settings.set("scheduler", text)?;
    Ok(settings.scheduler)
}

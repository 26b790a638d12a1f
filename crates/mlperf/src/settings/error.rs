//! Errors of settings.

use thiserror::Error;

use super::limits::MAX_SAMPLES;
use super::scenario::LoadScenario;

/// Reason why settings cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A field is out of range.
    #[error("{field} is {value}; allowed is {allowed}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: String,
        /// Allowed values.
        allowed: String,
    },
    /// The run would have too many samples.
    #[error("the run would have more than {MAX_SAMPLES} samples; lower {fields}")]
    TooManySamples {
        /// Fields that determine the number of samples.
        fields: &'static str,
    },
    /// The scenario has no rate and no number of streams that a search for the peak could raise.
    #[error(
        "{scenario} has no peak to search for; Server has, and MultiStream with a fixed interval"
    )]
    NoPeak {
        /// Scenario of the settings.
        scenario: LoadScenario,
    },
}

impl SettingsError {
    /// Name of the field that is out of range, if the error is about one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::OutOfRange { field, .. } => Some(field),
            Self::TooManySamples { .. } | Self::NoPeak { .. } => None,
        }
    }
}

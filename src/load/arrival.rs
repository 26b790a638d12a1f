//! (in progress)
use super::*;
use crate::scenario::Scenario;
/// Every request of a run.
pub fn generate(
    _scenario: &Scenario,
    _settings: &LoadSettings,
) -> Result<RequestStream, LoadError> {
    Ok(RequestStream::default())
}

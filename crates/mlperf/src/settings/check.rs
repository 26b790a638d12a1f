//! Checks of single values of settings.

use xrsim_model::statistics::Fraction;
use xrsim_model::units::SimSpan;

use super::error::SettingsError;
use super::limits::{MAX_DURATION_MS, MAX_RATE};

pub(super) fn milliseconds(ms: u64) -> SimSpan {
    SimSpan::from_ns(ms * 1_000_000)
}

pub(super) fn whole(
    field: &'static str,
    value: u64,
    low: u64,
    high: u64,
) -> Result<u64, SettingsError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    let allowed = format!("a whole number from {low} to {high}");
    Err(SettingsError::OutOfRange { field, value: value.to_string(), allowed })
}

pub(super) fn rate(field: &'static str, value: f64) -> Result<f64, SettingsError> {
    if value > 0.0 && value <= MAX_RATE {
        return Ok(value);
    }
    let allowed = format!("a number above 0, up to {MAX_RATE}");
    Err(SettingsError::OutOfRange { field, value: value.to_string(), allowed })
}

pub(super) fn fraction(field: &'static str, value: f64) -> Result<Fraction, SettingsError> {
    Fraction::new(value).ok_or_else(|| {
        let allowed = "a fraction above 0 and below 1".into();
        SettingsError::OutOfRange { field, value: value.to_string(), allowed }
    })
}

/// Step of the search for the peak.
///
/// Deviation: LoadGen accepts any step above 0, and does not end with a tiny one.
pub(super) fn peak_step(step: f64) -> Result<f64, SettingsError> {
    if (1e-3..=1e3).contains(&step) {
        return Ok(step);
    }
    let field = "server_find_peak_qps_boundary_step_size";
    let allowed = "a number from 0.001 to 1000".into();
    Err(SettingsError::OutOfRange { field, value: step.to_string(), allowed })
}

/// Rate of queries that take `latency_ns` one after the other \[1/s\].
pub(super) fn expected_rate(field: &'static str, latency_ns: u64) -> Result<f64, SettingsError> {
    let latency_ns = whole(field, latency_ns, 1, MAX_DURATION_MS * 1_000_000)?;
    Ok(1e9 / latency_ns as f64)
}

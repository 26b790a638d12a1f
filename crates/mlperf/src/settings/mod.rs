//! Settings of a run: those that are requested of LoadGen, and the effective ones that follow.
//!
//! Fields have LoadGen's names. [`TestSettings`] are LoadGen's `TestSettings`, and
//! [`EffectiveSettings`] its `TestSettingsInternal`, checked and reduced to one scenario.

mod check;
mod effective;
mod error;
mod limits;
mod requested;
mod scenario;
mod version;

pub use effective::EffectiveSettings;
pub use error::SettingsError;
pub use limits::{MAX_RATE, MAX_SAMPLES};
pub use requested::{QuerySampleLibrary, Requested, Seeds, TestSettings};
pub use scenario::{LoadScenario, TestMode};
pub use version::LoadGenVersion;

//! (in progress)
use super::*;
use crate::scenario::Scenario;
use crate::trace::Trace;
/// Scores of one run.
pub fn score(_scenario: &Scenario, _trace: &Trace, _settings: &ScoreSettings) -> Scorecard {
    Scorecard::default()
}
/// Definition 16.
pub fn benchmark_score(_scenarios: &[f64]) -> f64 {
    0.0
}

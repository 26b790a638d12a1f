//! Figure 5 of the paper against runs with the semantics of the published artifact.

use crate::reproduce::{ReproduceError, Study, published};

use super::{Comparison, Verdict};

/// Scenarios without random draws, whose bars are reproduced exactly.
const DETERMINISTIC: [&str; 4] =
    ["VR_gaming", "AR_gaming", "social_interactionA", "social_interactionB"];

/// Half a unit of the last published digit.
const TOLERANCE: f64 = 5e-5;

/// Compares the bars of the scenarios without random draws.
///
/// # Errors
///
/// [`ReproduceError`] if an embedded input file is invalid.
pub(super) fn compare() -> Result<Comparison, ReproduceError> {
    let points = Study::mlsys2023().points()?;
    let (mut n_equal, mut n, mut largest) = (0, 0, 0.0f64);
    let is_deterministic = |scenario: &str| DETERMINISTIC.contains(&scenario);
    for bars in published().iter().filter(|point| is_deterministic(&point.scenario)) {
        let point = points.iter().find(|it| it.is_at(&bars.scenario, bars.pes, &bars.system));
        let distance = point.map_or(f64::INFINITY, |it| it.scores.distance(&bars.scores));
        n += 1;
        n_equal += usize::from(distance <= TOLERANCE);
        largest = largest.max(distance);
    }
    Ok(Comparison {
        what: "runs with mlsys2023 semantics".into(),
        with: "Figure 5, scenarios without draws",
        result: format!(
            "{n_equal} of {n} points within {TOLERANCE}, largest difference {largest:.1e}"
        ),
        verdict: Verdict::from_equal(n_equal == n),
    })
}

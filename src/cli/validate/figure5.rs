//! Figure 5 of the paper against runs with the artifact's semantics.

use super::super::message::Failure;
use super::super::study::{Study, published};
use super::Comparison;

/// Scenarios without random draws, whose bars are reproduced exactly.
const DETERMINISTIC: [&str; 4] =
    ["VR_gaming", "AR_gaming", "social_interactionA", "social_interactionB"];

/// Half a unit of the last published digit, and as much again for its rounding.
const TOLERANCE: f64 = 5e-5;

/// Compares the bars of the deterministic scenarios.
///
/// # Errors
///
/// None for the embedded files that the tests have seen.
pub(super) fn compare() -> Result<Comparison, Failure> {
    let runs = Study::mlsys2023().run()?;
    let (mut equal, mut all, mut largest) = (0, 0, 0.0f64);
    for bar in published().iter().filter(|bar| DETERMINISTIC.contains(&&*bar.scenario)) {
        let run = runs.iter().find(|run| {
            run.scenario == bar.scenario && run.system == bar.system && run.pes == bar.pes
        });
        let difference = run.map_or(f64::INFINITY, |run| {
            let pairs = run.scores.iter().zip(bar.scores);
            pairs.map(|(found, published)| (found - published).abs()).fold(0.0, f64::max)
        });
        all += 1;
        equal += usize::from(difference <= TOLERANCE);
        largest = largest.max(difference);
    }
    Ok(Comparison {
        what: "runs with mlsys2023 semantics".into(),
        with: "Figure 5, scenarios without draws",
        result: format!(
            "{equal} of {all} points within {TOLERANCE}, largest difference {largest:.1e}"
        ),
        passes: Some(equal == all),
    })
}

//! Parameter search of DREAM.
//!
//! In DREAM the search runs online beside the workload. Here every candidate is a separate run. The
//! caller evaluates all candidates with the same requests (common random numbers), so that they differ
//! in the parameters only.

/// First step in alpha and beta.
const FIRST_STEP: f64 = 0.5;
/// Smallest step.
const LAST_STEP: f64 = 0.05;
/// Largest number of steps.
const MAX_STEPS: u32 = 5;
/// Range of alpha and beta.
const RANGE: [f64; 2] = [0.0, 2.0];

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuned {
    /// Weight of starvation.
    pub alpha: f64,
    /// Weight of energy.
    pub beta: f64,
    /// Cost of these parameters.
    pub cost: f64,
    /// Number of evaluated candidates.
    pub evaluations: u32,
}

/// Searches alpha and beta of the MapScore of DREAM with the least `cost`, e.g. UXCost.
///
/// The search starts at (1, 1) with a step of 0.5. It moves to the best of the four neighbours at the
/// distance of a step, if that is better, and halves the step. It ends after five steps or before a step
/// below 0.05. Candidates lie in \[0, 2\]. Of equal costs the first counts; NaN is worse than any number.
///
/// Source: Kim et al. (DREAM), ASPLOS 2024, which states that a search like gradient descent converges
/// within five steps; neighbours, step and end \[unverified\].
///
/// # Errors
///
/// The first error that `cost` returns.
pub fn tune<E>(mut cost: impl FnMut(f64, f64) -> Result<f64, E>) -> Result<Tuned, E> {
    let mut best = Tuned { alpha: 1.0, beta: 1.0, cost: cost(1.0, 1.0)?, evaluations: 1 };
    let mut step = FIRST_STEP;
    for _ in 0..MAX_STEPS {
        if step < LAST_STEP {
            break;
        }
        let (alpha, beta) = (best.alpha, best.beta);
        for (a, b) in [(-step, 0.0), (step, 0.0), (0.0, -step), (0.0, step)] {
            let [a, b] = [alpha + a, beta + b].map(|it| it.clamp(RANGE[0], RANGE[1]));
            if (a, b) == (alpha, beta) {
                continue;
            }
            let found = cost(a, b)?;
            best.evaluations += 1;
            if found < best.cost || best.cost.is_nan() {
                best = Tuned { alpha: a, beta: b, cost: found, ..best };
            }
        }
        step /= 2.0;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn tuned(mut cost: impl FnMut(f64, f64) -> f64) -> Tuned {
        let Ok(tuned) = tune(|alpha, beta| Ok::<_, Infallible>(cost(alpha, beta)));
        tuned
    }

    /// (1, 1), then (0.5, 1), (0.5, 0.75), (0.375, 0.75) and (0.3125, 0.75): each step halves.
    #[test]
    fn the_search_goes_down_a_bowl_in_halving_steps() {
        let found = tuned(|alpha, beta| (alpha - 0.3).powi(2) + (beta - 0.75).powi(2));
        assert_eq!((found.alpha, found.beta), (0.3125, 0.75));
        assert_eq!(found.evaluations, 1 + 4 * 4);
    }

    /// Toward alpha = 2 by 0.5, 0.25, 0.125 and 0.0625.
    #[test]
    fn candidates_stay_in_range() {
        let mut seen = Vec::new();
        let found = tuned(|alpha, beta| {
            seen.push((alpha, beta));
            -10.0 * alpha
        });
        assert!(seen.iter().all(|(a, b)| (0.0..=2.0).contains(a) && (0.0..=2.0).contains(b)));
        assert_eq!((found.alpha, found.beta), (1.9375, 1.0));
    }

    #[test]
    fn equal_costs_and_nan_change_nothing() {
        assert_eq!(tuned(|_, _| 7.0), Tuned { alpha: 1.0, beta: 1.0, cost: 7.0, evaluations: 17 });
        let found = tuned(|alpha, _| if alpha > 1.2 { 1.0 } else { f64::NAN });
        assert_eq!((found.alpha, found.cost), (1.5, 1.0));
        assert_eq!(tune(|_, _| Err("no run")), Err("no run"));
    }
}

//! Search of the parameters of a scheduler for the runs of an experiment.

use xrsim_sim::schedule::tuning::tune;
use xrsim_sim::sweep::comparison::{Comparison, Triggers};

use super::{ExperimentError, Prepared, scheduler};

/// A scheduler with the parameters that a search found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TunedScheduler {
    /// The scheduler with its parameters, such as `dream:alpha=1,beta=0.5`.
    pub scheduler: String,
    /// UXCost of the first replication, mean over the runs that have one; NaN without any.
    pub uxcost: f64,
    /// Number of candidates that were run.
    pub candidates: u32,
}

impl Prepared {
    /// Searches alpha and beta of the scheduler `dream` with the least UXCost, as its authors do: the mean
    /// over the first replication of these runs. All candidates run the same requests. `scheduler` may have
    /// other parameters, which stay. Returns `None` for schedulers without such a search.
    ///
    /// Source: Kim et al. (DREAM), ASPLOS 2024.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Scheduler`] for wrong parameters, and those of [`Prepared::compare`].
    pub fn tune(&self, scheduler: &str) -> Result<Option<TunedScheduler>, ExperimentError> {
        if scheduler.split(':').next() != Some("dream") {
            return Ok(None);
        }
        let separator = if scheduler.contains(':') { ',' } else { ':' };
        let with =
            |alpha: f64, beta: f64| format!("{scheduler}{separator}alpha={alpha},beta={beta}");
        let found = tune(|alpha, beta| self.uxcost(&with(alpha, beta)))?;
        Ok(Some(TunedScheduler {
            scheduler: with(found.alpha, found.beta),
            uxcost: found.cost,
            candidates: found.evaluations,
        }))
    }

    /// UXCost of a scheduler in the first replication, mean over the runs that have one; NaN without any.
    fn uxcost(&self, text: &str) -> Result<f64, ExperimentError> {
        let mut comparison = self.compare(vec![scheduler(text)?], Triggers::Drawn)?;
        comparison.extend(1, |_| {});
        Ok(mean_uxcost(&comparison))
    }
}

fn mean_uxcost(comparison: &Comparison) -> f64 {
    let configurations = comparison.configurations().iter();
    let found: Vec<f64> = configurations.filter_map(|it| it.metrics[0].of_run("uxcost")).collect();
    found.iter().sum::<f64>() / found.len() as f64
}

//! Parts of a comparison: some replications of some configurations each.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use xrsim_experiment::Prepared;
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::RunError;
use xrsim_sim::sweep::comparison::{Comparison, Outcome, Triggers};

use super::super::cluster::{Estimate, Shares};
use super::super::journal::each_result;
use super::super::mappings::Mappings;
use super::super::message::Failure;
use super::super::parts::Division;
use super::super::progress::Progress;
use super::CompareArgs;

/// Row of a replication that failed. Whoever joins the parts makes the first one of a configuration again, for
/// the reason.
const FAILED: &str = "failed";

/// Most replications that are under way at a time.
const BLOCK: usize = 512;

/// Refuses comparisons that cannot be divided.
///
/// # Errors
///
/// Returns a failure that says why, and what to do.
pub(super) fn refuse_undivided(args: &CompareArgs) -> Result<(), Failure> {
    args.parts().refuse_undivided(&[
        (
            args.half_width.is_some(),
            "--half-width decides by all replications so far how many follow, which a part does not know; give \
             --replications N with --shard and --join",
        ),
        (
            args.tune,
            "--tune searches with all configurations, so that every part would do all of it; run it once \
             with --replications 1, and give the schedulers that it prints with --shard and --join",
        ),
    ])
}

/// A comparison whose points are replications of configurations.
pub(super) struct Divided<'a> {
    args: &'a CompareArgs,
    prepared: &'a Prepared,
    triggers: Triggers,
    division: Division<'a>,
}

impl<'a> Divided<'a> {
    /// The comparison of `args`, which depends on `inputs`, SHA-256 by name.
    pub(super) fn new(
        args: &'a CompareArgs,
        prepared: &'a Prepared,
        triggers: Triggers,
        inputs: &Map<String, Value>,
    ) -> Self {
        let hash =
            |(name, hash): (&String, &Value)| Some((name.clone(), hash.as_str()?.to_string()));
        let division = Division {
            command: "compare",
            result: "comparison",
            things: "replications",
            n_points: (prepared.n_runs() as u64).saturating_mul(args.replications),
            settings: json!({
                "runs": super::options(args).requested(), "schedulers": args.scheduler,
                "replications": args.replications, "enumerate": args.enumerate,
            }),
            inputs: inputs.iter().filter_map(hash).collect(),
            options: args.parts(),
        };
        Self { args, prepared, triggers, division }
    }

    /// Number of the configuration and of the replication of a point.
    fn item(&self, point: u64) -> (usize, u64) {
        ((point / self.args.replications) as usize, point % self.args.replications)
    }

    /// Estimates the comparison, or prints or submits the job of its parts.
    ///
    /// # Errors
    ///
    /// Returns a failure for options that have no parts, and those of the job.
    pub(super) fn hand_over(&self, policies: Vec<Policy>) -> Result<(), Failure> {
        self.division.hand_over(|| {
            let comparison = self.prepared.compare(policies, self.triggers)?;
            Estimate::measure(self.division.n_points, Shares::Inputs, |point| {
                comparison.make_each(&[self.item(point)], |_, _| ControlFlow::Continue(()));
                Ok(())
            })
        })
    }

    /// Makes the replications of the part that have no row in the folder yet.
    ///
    /// # Errors
    ///
    /// Returns a failure for a folder of other runs, output that cannot be written, or replications that failed
    /// because of the machine. Rows that were written stay.
    pub(super) fn make(&self, policies: Vec<Policy>) -> Result<(), Failure> {
        let mut part = self.division.part(Progress::resumed)?;
        let replications = self.args.replications;
        let is_run = |at: usize| {
            let first = at as u64 * replications;
            part.lacks(&(first..first + replications))
        };
        let comparison = self.prepared.compare_some(policies, self.triggers, is_run)?;
        part.record_mappings(&comparison.chosen_mappings())?;
        part.make(BLOCK, |points, deliver| {
            let items: Vec<_> = points.iter().map(|point| self.item(*point)).collect();
            comparison.make_each(&items, |at, outcome| deliver(at, row(outcome)));
        })
    }

    /// Makes the comparison of the parts in the folders of `--join`, with their mappings.
    ///
    /// # Errors
    ///
    /// Returns a failure for parts of other runs, and for replications that are in no part or in two.
    pub(super) fn join(&self, policies: Vec<Policy>) -> Result<(Comparison, Mappings), Failure> {
        let parts = self.division.joined()?;
        let mut is_run = vec![self.args.window.is_some(); self.prepared.n_runs()];
        each_result(&parts, |point, result| {
            is_run[self.item(point).0] |= result == FAILED;
            Ok(())
        })?;
        let mut comparison =
            self.prepared.compare_some(policies, self.triggers, |at| is_run[at])?;
        let mappings = self.division.with_mappings(&parts, &comparison.chosen_mappings())?;
        each_result(&parts, |point, result| {
            let (configuration, replication) = self.item(point);
            if !comparison.configurations()[configuration].goes_on() {
                return Ok(());
            }
            let outcome = match result {
                FAILED => comparison.again(configuration, replication),
                text => {
                    let (subject, n_policies) = (self.args.subject(), comparison.policies().len());
                    let outcome = Outcome::of_text(text, subject, n_policies);
                    Ok(outcome.ok_or_else(|| {
                        Failure::Argument(format!("the row of point {point} is no outcome"))
                    })?)
                }
            };
            comparison.add(configuration, outcome);
            Ok(())
        })?;
        Ok((comparison, mappings))
    }
}

/// Row of a replication, or the reason for which the machine did not make it.
fn row(outcome: Result<Outcome, RunError>) -> Result<String, String> {
    match outcome {
        Ok(outcome) => Ok(outcome.to_text()),
        Err(error) if error.is_transient() => Err(error.to_string()),
        Err(_) => Ok(FAILED.into()),
    }
}

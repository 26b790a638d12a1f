//! Parts of a comparison: some replications of some configurations each, made by processes of their own and
//! joined to the comparison that one process would have made.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use xrsim_experiment::Prepared;
use xrsim_sim::schedule::Policy;
use xrsim_sim::sweep::RunError;
use xrsim_sim::sweep::comparison::{Comparison, Outcome, Triggers};
use xrsim_sim::sweep::grid::Shard;

use super::super::cluster::{self, Estimate, Form, Job, Shares};
use super::super::journal::{Manifest, PartRows, Parts, Sink, as_made, each_result, place};
use super::super::message::Failure;
use super::super::progress::Progress;
use super::CompareArgs;

/// Name of the command in records.
const COMMAND: &str = "compare";

/// Row of a replication that failed. Whoever joins the parts makes the first one of a configuration again, for
/// the reason.
const FAILED: &str = "failed";

/// Most replications that are under way at a time.
const BLOCK: u64 = 512;

/// Refuses comparisons that cannot be divided.
///
/// # Errors
///
/// Returns a failure that says why, and what to do.
pub(super) fn refuse_undivided(args: &CompareArgs) -> Result<(), Failure> {
    let has_parts = args.cluster.has_parts();
    if args.shard.is_none() && args.join.is_empty() && !has_parts {
        return Ok(());
    }
    let refuse = |message: &str| Err(Failure::Argument(message.into()));
    if has_parts && !args.join.is_empty() {
        return refuse("--join is for the end: the job of --sbatch joins its parts itself");
    }
    if args.half_width.is_some() {
        return refuse(
            "--half-width decides by all replications so far how many follow, which a part does not know; give \
             --replications N with --shard and --join",
        );
    }
    if args.tune {
        return refuse(
            "--tune searches with all configurations, so that every part would do all of it; run it once \
             with --replications 1, and give the schedulers that it prints with --shard and --join",
        );
    }
    if args.shard.is_some() && args.out.is_none() {
        return refuse(
            "a part is of use in a folder only: give --out DIR, and later --join DIR for each part",
        );
    }
    Ok(())
}

/// Files of a part in `folder`.
pub(super) fn files(folder: &Path) -> [PathBuf; 2] {
    let rows = PartRows::path(folder);
    [place(&rows), rows]
}

/// Everything that the runs depend on, besides inputs.
fn options(args: &CompareArgs) -> Value {
    json!({
        "runs": super::options(args).requested(), "schedulers": args.scheduler,
        "replications": args.replications, "enumerate": args.enumerate,
    })
}

/// SHA-256 of inputs by name.
fn hashes(inputs: &Map<String, Value>) -> BTreeMap<String, String> {
    let hash = |(name, hash): (&String, &Value)| Some((name.clone(), hash.as_str()?.to_string()));
    inputs.iter().filter_map(hash).collect()
}

/// Number of the configuration and of the replication of a point.
fn item(point: u64, args: &CompareArgs) -> (usize, u64) {
    ((point / args.replications) as usize, point % args.replications)
}

/// The record of a part.
fn manifest(
    args: &CompareArgs,
    prepared: &Prepared,
    inputs: &Map<String, Value>,
    shard: Shard,
) -> Manifest {
    let n_points = n_points(args, prepared);
    Manifest::of_part(COMMAND, options(args), hashes(inputs), n_points, shard)
}

/// Number of replications of all configurations.
fn n_points(args: &CompareArgs, prepared: &Prepared) -> u64 {
    (prepared.n_runs() as u64).saturating_mul(args.replications)
}

/// Estimates the comparison, or prints or submits the job of its parts.
///
/// # Errors
///
/// Returns a failure for options that have no parts, and those of the job.
pub(super) fn hand_over(
    args: &CompareArgs,
    prepared: &Prepared,
    policies: Vec<Policy>,
    triggers: Triggers,
    inputs: &Map<String, Value>,
) -> Result<(), Failure> {
    let n_points = n_points(args, prepared);
    let job = Job {
        command: COMMAND,
        things: "replications",
        n_things: n_points,
        form: Form::Folder(PartRows::NAME),
        out: args.out.as_deref().unwrap_or(Path::new("")),
        spec: None,
        digest: manifest(args, prepared, inputs, Shard::WHOLE).digest(),
    };
    cluster::hand_over(&job, &args.cluster, || {
        let comparison = prepared.compare(policies, triggers)?;
        Estimate::of(n_points, Shares::Inputs, |point| {
            comparison.make_each(&[item(point, args)], |_, _| ControlFlow::Continue(()));
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
pub(super) fn make(
    args: &CompareArgs,
    (shard, folder): (Shard, &Path),
    prepared: &Prepared,
    policies: Vec<Policy>,
    triggers: Triggers,
    inputs: &Map<String, Value>,
) -> Result<(), Failure> {
    let manifest = manifest(args, prepared, inputs, shard);
    args.cluster.refuse_changed(|| manifest.digest())?;
    let rows = PartRows::open(folder, args.restart, manifest)?;
    let to_make = rows.to_make();
    let is_run = |at: usize| {
        let (first, end) = (at as u64 * args.replications, (at as u64 + 1) * args.replications);
        to_make.iter().any(|range| range.start < end && first < range.end)
    };
    let comparison = prepared.compare_some(policies, triggers, is_run)?;
    let progress = Progress::resumed(rows.n_points(), rows.n_rows());
    let mut block = Block { rows, progress, points: Vec::new(), reason: None };
    for mut range in to_make {
        while !range.is_empty() {
            let end = range.end.min(range.start + BLOCK);
            block.points = (range.start..end).collect();
            range.start = end;
            let items: Vec<_> = block.points.iter().map(|point| item(*point, args)).collect();
            as_made(&mut block, |deliver| comparison.make_each(&items, deliver))?;
        }
    }
    block.finish()
}

/// Replications under way, whose rows are written as they are made.
struct Block {
    rows: PartRows,
    progress: Progress,
    points: Vec<u64>,
    /// The first point without a row, and the reason.
    reason: Option<(u64, String)>,
}

impl Sink<Result<Outcome, RunError>> for Block {
    fn take(&mut self, at: usize, outcome: Result<Outcome, RunError>) -> Result<(), Failure> {
        let point = self.points[at];
        match outcome {
            Err(error) if error.is_transient() => {
                if self.reason.as_ref().is_none_or(|(first, _)| point < *first) {
                    self.reason = Some((point, error.to_string()));
                }
                return Ok(());
            }
            Err(_) => self.rows.add(point, FAILED)?,
            Ok(outcome) => self.rows.add(point, &outcome.to_text())?,
        }
        self.progress.set(self.rows.n_rows());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.rows.flush()
    }
}

impl Block {
    fn finish(self) -> Result<(), Failure> {
        let Self { rows, progress, reason, .. } = self;
        progress.finish();
        let n_missing = rows.n_points().saturating_sub(rows.n_rows());
        rows.finish()?;
        match reason {
            None => Ok(()),
            Some((point, reason)) => Err(Failure::Check(format!(
                "error: {n_missing} replications are missing, {point} is the first of them; the same \
                 command tries them again ({reason})"
            ))),
        }
    }
}

/// Makes the comparison of the parts in the folders of `--join`.
///
/// # Errors
///
/// Returns a failure for parts of other runs, and for replications that are in no part or in two.
pub(super) fn join(
    args: &CompareArgs,
    prepared: &Prepared,
    policies: Vec<Policy>,
    triggers: Triggers,
    inputs: &Map<String, Value>,
) -> Result<Comparison, Failure> {
    let own = manifest(args, prepared, inputs, Shard::WHOLE);
    args.cluster.refuse_changed(|| own.digest())?;
    let files: Vec<_> = args.join.iter().map(|folder| PartRows::path(folder)).collect();
    let parts = Parts::read(COMMAND, &files)?;
    if let Some(difference) = own.of_whole().difference(parts.whole()) {
        return Err(Failure::Argument(format!(
            "{} is the part of another comparison: {difference}; give the options of the parts with --join",
            files[0].display()
        )));
    }
    let mut is_run = vec![args.window.is_some(); prepared.n_runs()];
    each_result(&parts, |point, result| {
        is_run[item(point, args).0] |= result == FAILED;
        Ok(())
    })?;
    let mut comparison = prepared.compare_some(policies, triggers, |at| is_run[at])?;
    each_result(&parts, |point, result| {
        let (configuration, replication) = item(point, args);
        if comparison.configurations()[configuration].replications.is_err() {
            return Ok(());
        }
        let outcome = match result {
            FAILED => comparison.again(configuration, replication),
            text => {
                let outcome = Outcome::of_text(text, comparison.policies().len());
                Ok(outcome.ok_or_else(|| {
                    Failure::Argument(format!("the row of point {point} is no outcome"))
                })?)
            }
        };
        comparison.add(configuration, outcome);
        Ok(())
    })?;
    Ok(comparison)
}

//! `xrsim mlperf --trace`: the run that counts, for a trace viewer.

use std::path::Path;
use std::sync::Arc;

use crate::engine::Traced;
use crate::mlperf::rules::Test;
use crate::mlperf::sut::Tenant;
use crate::score::{inferences, score};
use crate::sweep::{RunResult, RunSpec, Semantics};

use super::super::message::Failure;
use super::super::trace::{CompleteTrace, TraceFile};
use super::Made;
use super::options::MlperfArgs;
use super::target::{Kind, Target};

/// Most samples of a trace, which makes some 300 MB.
const MAX_SAMPLES: u64 = 1_000_000;

/// Whether there is one test to trace, if that is asked for.
///
/// # Errors
///
/// If there are several.
pub fn check(args: &MlperfArgs, tests: &[&Test]) -> Result<(), Failure> {
    if args.trace.is_some() && tests.len() != 1 {
        return Err(Failure::Argument(format!(
            "--trace takes one test, and this command makes {}; choose one with --task and --load",
            tests.len()
        )));
    }
    Ok(())
}

/// Plays the run of `made` once more and writes what happened on the accelerators; the file is
/// complete, but not yet in its place.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(
    path: &Path,
    target: &Target,
    made: &Made<'_>,
) -> Result<Option<CompleteTrace>, Failure> {
    let Kind::Accelerators(accelerators) = &target.kind else {
        return Err(Failure::Argument("--trace is of accelerators, not of a --service".into()));
    };
    let performance = made.outcome.performance();
    let samples = performance.queries.saturating_mul(made.outcome.settings.samples_per_query);
    if samples > MAX_SAMPLES {
        return Err(Failure::Argument(format!(
            "a trace of {samples} samples would be too large; at most {MAX_SAMPLES} are traced \
             (--min-queries and --min-duration make a test shorter)"
        )));
    }
    let tenant = Tenant::of_test(made.test, target.batching);
    let bench = accelerators.bench(vec![tenant])?;
    let played = bench.run(&made.outcome.settings, Traced::All).map_err(super::super::argument)?;
    let plan = bench.plan();
    let spec = RunSpec::new(plan.clone(), Semantics::Principled);
    let trace = played.run.trace;
    let result = RunResult {
        scorecard: score(&plan.scenario, &trace, &plan.score),
        inferences: inferences(&plan.scenario, &trace, &plan.score),
        costs: Arc::clone(bench.costs()),
        trace,
    };
    let mut file = TraceFile::create(path, 1)?;
    file.write(&spec, &accelerators.costs.name, &result)?;
    file.complete()
}

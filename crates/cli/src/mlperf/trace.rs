//! `xrsim mlperf --trace`: the run of the result, for a trace viewer.

use std::path::Path;
use std::sync::Arc;

use xrsim_mlperf::rules::Test;
use xrsim_mlperf::sut::{DeviceRun, Tenant};
use xrsim_sim::engine::Traced;
use xrsim_sim::sweep::RunResult;

use super::super::message::Failure;
use super::super::trace::{CompleteTrace, TraceFile};
use super::Made;
use super::options::MlperfArgs;
use super::target::Target;

/// Largest number of samples of a trace, about 300 MB.
const MAX_SAMPLES: u64 = 1_000_000;

/// Checks that there is one test if a trace is requested.
///
/// # Errors
///
/// Several tests.
pub(super) fn check(args: &MlperfArgs, tests: &[&Test]) -> Result<(), Failure> {
    if args.trace.is_some() && tests.len() != 1 {
        refuse!(
            "--trace takes one test, and this command makes {}; choose one with --task and --load",
            tests.len()
        );
    }
    Ok(())
}

/// Repeats the run of `made` and writes the trace of the accelerators; the file is complete, but not yet
/// in its place.
///
/// # Errors
///
/// A file that cannot be written, or a run without accelerators or with too many samples.
pub(super) fn write(
    path: &Path,
    target: &Target,
    made: &Made<'_>,
) -> Result<Option<CompleteTrace>, Failure> {
    let Some(accelerators) = target.accelerators() else {
        refuse!("--trace is of accelerators, not of a --service");
    };
    let performance = made.result.performance();
    let samples = performance.queries.saturating_mul(made.result.settings.samples_per_query);
    if samples > MAX_SAMPLES {
        refuse!(
            "a trace of {samples} samples would be too large; at most {MAX_SAMPLES} are traced \
             (--min-queries and --min-duration make a test shorter)"
        );
    }
    let tenant = Tenant::of_test(made.test, target.batching);
    let bed = accelerators.bed(vec![tenant])?;
    let run = bed.run(&made.result.settings, Traced::All).map_err(super::super::argument)?;
    let plan = &bed.plan_lasting(run.duration);
    let mut result = RunResult::from_trace(plan, Arc::clone(bed.costs()), run.run.trace);
    if let Some(DeviceRun { ledger, body }) = run.device {
        (result.scored.ledger, result.scored.body) = (Some(ledger.into()), Some(body.into()));
    }
    let mut file = TraceFile::create(path, 1)?;
    file.write(plan, &accelerators.costs.name, &result)?;
    file.complete()
}

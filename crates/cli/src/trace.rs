//! `xrsim run --trace` and `xrsim day --trace`: one run for a trace viewer.

use std::io;
use std::path::{Path, PathBuf};

use xrsim_results::RunLabel;
use xrsim_results::trace_events::{self, Summary};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use super::message::{Failure, say, warn};
use super::output::{Complete, OutputFile};

/// Bytes of a trace for each request, measured on whole runs.
const BYTES_PER_REQUEST: u64 = 870;

/// Size of a trace from which a warning is printed \[MB\].
const LARGE_MB: u64 = 100;

/// Warning before a large trace is written.
fn warning(n_requests: u64) -> Option<String> {
    let megabytes = n_requests.saturating_mul(BYTES_PER_REQUEST) / 1_000_000;
    (megabytes >= LARGE_MB).then(|| {
        format!(
            "a trace of {n_requests} requests has about {megabytes} MB; a shorter run \
             (--duration) makes a smaller one"
        )
    })
}

/// The file for the trace of the one run of a command.
pub(super) struct TraceFile {
    path: PathBuf,
    file: OutputFile,
    /// Summary of the trace, after it was written.
    summary: Option<Summary>,
}

/// A trace that is written completely, but not renamed to its place.
pub(super) struct CompleteTrace {
    path: PathBuf,
    file: Complete,
    summary: Summary,
}

impl TraceFile {
    /// Opens the file before the run starts.
    ///
    /// # Errors
    ///
    /// Returns a failure if there is not exactly one run, or if the file cannot be written.
    pub(super) fn create(path: &Path, n_runs: usize) -> Result<Self, Failure> {
        if n_runs != 1 {
            refuse!(
                "--trace takes one run, and this command makes {n_runs}; choose one with --scenario, \
                 --system, --pes and without --replications"
            );
        }
        Ok(Self { path: path.into(), file: OutputFile::create(path)?, summary: None })
    }

    /// Writes the trace of the run.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(super) fn write(
        &mut self,
        plan: &Plan,
        cost_model: &str,
        result: &RunResult,
    ) -> Result<(), Failure> {
        if let Some(warning) = warning(result.trace.records().len() as u64) {
            warn(format_args!("{warning}"));
        }
        let label = RunLabel::from_plan(plan, cost_model);
        self.write_with(|file| trace_events::write(file, plan, &label, result))
    }

    /// Writes what `write` makes.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(super) fn write_with(
        &mut self,
        write: impl FnOnce(&mut OutputFile) -> io::Result<Summary>,
    ) -> Result<(), Failure> {
        let summary = write(&mut self.file)
            .map_err(|error| Failure::writing(&self.path.display(), &error))?;
        self.summary = Some(summary);
        Ok(())
    }

    /// Completes the file; `None` if the run was infeasible.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written.
    pub(super) fn complete(self) -> Result<Option<CompleteTrace>, Failure> {
        let Some(summary) = self.summary else {
            return Ok(None);
        };
        Ok(Some(CompleteTrace { path: self.path, file: self.file.complete()?, summary }))
    }
}

impl CompleteTrace {
    /// Renames the file to its place and prints a summary of it.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be renamed.
    pub(super) fn rename(self) -> Result<(), Failure> {
        self.file.rename()?;
        let Summary { slices, arrows, instants, samples, bytes } = self.summary;
        say(format_args!(
            "wrote {}: {slices} slices, {arrows} arrows, {instants} instants, {samples} counter \
             values, {} KiB",
            self.path.display(),
            bytes.div_ceil(1024)
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn a_large_trace_is_announced_with_its_size() {
        assert_eq!(warning(100_000), None);
        let text = warning(990_000).expect("it is large");
        assert!(text.contains("about 861 MB") && text.contains("--duration"), "{text}");
    }
}

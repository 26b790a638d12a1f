//! `xrsim run --trace`: one run for a trace viewer.

use std::path::{Path, PathBuf};

use crate::report::RunLabel;
use crate::report::trace_events::{self, Summary};
use crate::sweep::{RunResult, RunSpec};

use super::message::{Failure, say};
use super::output::{Complete, OutputFile};

/// The trace of the one run of a command, on its way out.
pub struct TraceFile {
    path: PathBuf,
    file: OutputFile,
    /// Of the run, once it is made.
    summary: Option<Summary>,
}

/// A trace of which every byte is written, but not yet in its place.
pub struct CompleteTrace {
    path: PathBuf,
    file: Complete,
    summary: Summary,
}

impl TraceFile {
    /// Starts the file, before anything is computed.
    ///
    /// # Errors
    ///
    /// More than one run, or a file that cannot be written.
    pub fn create(path: &Path, specs: &[RunSpec]) -> Result<Self, Failure> {
        if specs.len() != 1 {
            return Err(Failure::Argument(format!(
                "--trace takes one run, and this command makes {}; choose one with --scenario, \
                 --system, --pes and without --replications",
                specs.len()
            )));
        }
        Ok(Self { path: path.into(), file: OutputFile::create(path)?, summary: None })
    }

    /// Writes the run.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(
        &mut self,
        spec: &RunSpec,
        cost_model: &str,
        result: &RunResult,
    ) -> Result<(), Failure> {
        let label = RunLabel::of(spec, cost_model);
        let summary = trace_events::write(&mut self.file, spec, &label, result)
            .map_err(|error| Failure::writing(&self.path.display(), &error))?;
        self.summary = Some(summary);
        Ok(())
    }

    /// Writes the rest; an infeasible run leaves nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn complete(self) -> Result<Option<CompleteTrace>, Failure> {
        let Some(summary) = self.summary else {
            return Ok(None);
        };
        Ok(Some(CompleteTrace { path: self.path, file: self.file.complete()?, summary }))
    }
}

impl CompleteTrace {
    /// Puts the file in its place and says what is in it.
    ///
    /// # Errors
    ///
    /// If the file cannot be renamed.
    pub fn rename(self) -> Result<(), Failure> {
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

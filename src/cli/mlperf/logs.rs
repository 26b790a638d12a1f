//! LoadGen's files of a test: summary, detailed log and accuracy log.

use std::path::Path;

use crate::mlperf::detail_log::{ACCURACY_LOG, DetailLog, Pass};
use crate::mlperf::run::Ending;
use crate::mlperf::summary;
use crate::mlperf::{Performance, Settings};

use super::super::message::Failure;
use super::super::output::{self, OutputFile};

/// Writes what LoadGen leaves of a run of the system called `system` into the folder `place`: the run with
/// `settings`, which made `pass` and says `performance`.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(
    place: &Path,
    settings: &Settings,
    pass: &Pass,
    performance: &Performance,
    system: &str,
) -> Result<(), Failure> {
    let errors = pass.endings.iter().filter(|ending: &&Ending| ending.is_error()).count();
    let text = summary::render(settings, performance, system, errors);
    output::write_text(&place.join("mlperf_log_summary.txt"), &text)?;
    let path = place.join("mlperf_log_detail.txt");
    let mut file = OutputFile::create(&path)?;
    let log = DetailLog::of_run(settings, pass, performance, system);
    log.write(&mut file).map_err(|error| Failure::writing(&path.display(), &error))?;
    file.finish()?;
    output::write_text(&place.join("mlperf_log_accuracy.json"), ACCURACY_LOG)
}

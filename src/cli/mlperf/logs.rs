//! LoadGen's files of a test: summary, detailed log and accuracy log.

use std::io::Write as _;

use crate::mlperf::logs::{ACCURACY_LOG, DetailLog, LoggedRun, render_summary};
use crate::mlperf::results::Performance;
use crate::mlperf::run::Ending;
use crate::mlperf::settings::EffectiveSettings;

use super::super::message::Failure;
use super::super::output::OutputSet;

const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";
const ACCURACY: &str = "mlperf_log_accuracy.json";

/// Name of the table of queries.
pub const QUERIES: &str = "queries.csv";

/// Names of the files.
pub const FILES: [&str; 3] = [SUMMARY, DETAIL, ACCURACY];

/// Adds LoadGen's files of a run of the system called `system` to `set`, each under the name that
/// `place` gives it: the run with `settings`, which made `pass` and says `performance`.
///
/// # Errors
///
/// If a file cannot be written.
pub fn write(
    set: &mut OutputSet,
    place: impl Fn(&str) -> String,
    settings: &EffectiveSettings,
    pass: &LoggedRun,
    performance: &Performance,
    system: &str,
) -> Result<(), Failure> {
    let errors = pass.endings.iter().filter(|ending: &&Ending| ending.is_error()).count();
    let text = render_summary(settings, performance, system, errors);
    set.bytes(&place(SUMMARY), text.as_bytes())?;
    let name = place(DETAIL);
    let mut file = set.file(&name)?;
    let failure = |error| Failure::writing(&set.folder().join(&name).display(), &error);
    let log = DetailLog::of_run(settings, pass, performance, system);
    log.write(&mut file).map_err(failure)?;
    set.add(&name, file)?;
    set.bytes(&place(ACCURACY), ACCURACY_LOG.as_bytes())
}

/// Adds the table of queries called `name`, a row of numbers each, to `set`.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_queries<R: IntoIterator<Item = u64>>(
    set: &mut OutputSet,
    name: &str,
    columns: &str,
    rows: impl Iterator<Item = R>,
) -> Result<(), Failure> {
    let failure = |error| Failure::writing(&set.folder().join(name).display(), &error);
    let mut file = set.file(name)?;
    file.write_all(columns.as_bytes()).map_err(failure)?;
    for row in rows {
        for (index, number) in row.into_iter().enumerate() {
            let before = if index == 0 { '\n' } else { ',' };
            write!(file, "{before}{number}").map_err(failure)?;
        }
    }
    file.write_all(b"\n").map_err(failure)?;
    set.add(name, file)
}

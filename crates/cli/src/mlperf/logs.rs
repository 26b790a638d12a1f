//! LoadGen's files of a test: summary, detailed log and accuracy log.

use std::io::Write as _;

use xrsim_mlperf::logs::{ACCURACY_LOG, DetailLog, LoggedRun, files, render_summary};
use xrsim_mlperf::results::Performance;
use xrsim_mlperf::settings::EffectiveSettings;

use super::super::message::Failure;
use super::super::output::OutputSet;

/// Adds LoadGen's files of a run of the system called `system` to `set`, each under the path that `place`
/// gives its name.
///
/// # Errors
///
/// If a file cannot be written.
pub(super) fn write(
    set: &mut OutputSet,
    place: impl Fn(&str) -> String,
    settings: &EffectiveSettings,
    run: &LoggedRun,
    performance: &Performance,
    system: &str,
) -> Result<(), Failure> {
    let text = render_summary(settings, performance, system, run.n_errors());
    set.bytes(&place(files::SUMMARY), text.as_bytes())?;
    let name = place(files::DETAIL);
    let log = DetailLog::of_run(settings, run, performance, system);
    set.add(&name, set.file(&name)?.with(|out| log.write(out))?)?;
    set.bytes(&place(files::ACCURACY), ACCURACY_LOG.as_bytes())
}

/// Adds the table of queries called `name`, a row of numbers each, to `set`.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn write_queries<R: IntoIterator<Item = u64>>(
    set: &mut OutputSet,
    name: &str,
    columns: &str,
    rows: impl Iterator<Item = R>,
) -> Result<(), Failure> {
    let file = set.file(name)?.with(|out| {
        out.write_all(columns.as_bytes())?;
        for row in rows {
            for (index, number) in row.into_iter().enumerate() {
                let before = if index == 0 { '\n' } else { ',' };
                write!(out, "{before}{number}")?;
            }
        }
        out.write_all(b"\n")
    });
    set.add(name, file?)
}

//! Page of the folder of a day.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{DayFiles, day_page};

use super::super::argument;
use super::super::day::{COURSE, DEVICE, PHASES, REPLICATIONS};
use super::super::message::Failure;
use super::super::record;
use super::{Made, command, open, read};

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Makes the page of a day.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim day --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let (record, recorded) = open(folder, record::DAY, MAX_BYTES)?;
    let read = |name: &str| {
        let text = read(&folder.join(name), MAX_BYTES, None)?;
        text.check(name, &recorded).map(|()| text)
    };
    let if_any = |name: &str| {
        let is_there = recorded.has(name) && folder.join(name).exists();
        (is_there || recorded.names(name)).then(|| read(name)).transpose()
    };
    let phases = read(PHASES)?;
    let [device, course] = [if_any(DEVICE)?, if_any(COURSE)?];
    let replications = if_any(REPLICATIONS)?;
    let command = command::of_folder("day", &record.text);
    let files = DayFiles {
        record: record.source(),
        phases: phases.source(),
        device: device.as_ref().map(|it| it.source()),
        course: course.as_ref().map(|it| it.source()),
        replications: replications.as_ref().map(|it| it.source()),
        command: command.as_deref(),
    };
    let (html, n_phases) = day_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_phases, "phase") })
}

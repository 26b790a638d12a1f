//! Page of the folder of joint draws.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{JointFiles, joint_page};

use super::super::argument;
use super::super::message::Failure;
use super::super::record;
use super::super::sensitivity::joint::{CHART, SYSTEMS};
use super::{Made, command, open, read};

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Makes the page of joint draws.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim sensitivity --joint --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let read = |name: &str| read(&folder.join(name), MAX_BYTES, None);
    let (record, recorded) = open(folder, record::JOINT, MAX_BYTES)?;
    let places = format!("{CHART}.csv");
    let [systems, chart] = [read(SYSTEMS)?, read(&places)?];
    for (name, text) in [(SYSTEMS, &systems), (&places, &chart)] {
        text.check(name, &recorded)?;
    }
    let command = command::of_folder("sensitivity", &record.text);
    let files = JointFiles {
        record: record.source(),
        systems: systems.source(),
        places: chart.source(),
        command: command.as_deref(),
    };
    let (html, n_systems) = joint_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_systems, "system") })
}

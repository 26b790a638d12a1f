//! Page of the folder of sensitivities.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{SensitivityFiles, sensitivity_page};

use super::super::argument;
use super::super::message::Failure;
use super::super::record;
use super::super::sensitivity::{CHART, TABLE};
use super::{Made, command, open, read};

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Makes the page of sensitivities.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim sensitivity --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let read = |name: &str| read(&folder.join(name), MAX_BYTES, None);
    let (record, recorded) = open(folder, record::SENSITIVITY, MAX_BYTES)?;
    let data = format!("{CHART}.csv");
    let [table, chart] = [read(TABLE)?, read(&data)?];
    for (name, text) in [(TABLE, &table), (&data, &chart)] {
        text.check(name, &recorded)?;
    }
    let command = command::of_folder("sensitivity", &record.text);
    let files = SensitivityFiles {
        record: record.source(),
        table: table.source(),
        chart: chart.source(),
        command: command.as_deref(),
    };
    let (html, n_rows) = sensitivity_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_rows, "level") })
}

//! Page of the folder of an explanation.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{ExplainFiles, explain_page};
use xrsim_report::why::table_names;

use super::super::argument;
use super::super::message::Failure;
use super::super::record;
use super::{Made, command, open, read};

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Makes the page of an explanation.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim explain --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let (record, recorded) = open(folder, record::EXPLAIN, MAX_BYTES)?;
    let mut tables = Vec::new();
    for name in table_names().filter(|name| recorded.names(name)) {
        let text = read(&folder.join(name), MAX_BYTES, None)?;
        text.check(name, &recorded)?;
        tables.push((name, text));
    }
    let command = command::of_folder("explain", &record.text);
    let files = ExplainFiles {
        record: record.source(),
        tables: tables.iter().map(|(name, text)| (*name, text.source())).collect(),
        command: command.as_deref(),
    };
    let (html, n_tables) = explain_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_tables, "table") })
}

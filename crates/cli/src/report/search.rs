//! Page of the folder of a search.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{SearchFiles, search_page};

use super::super::argument;
use super::super::message::Failure;
use super::super::record;
use super::{Made, command, open, read};

use super::super::search::{ANSWERS, EVALUATED};

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 256 << 20;

/// Makes the page of a search.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim search --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let read = |name: &str| read(&folder.join(name), MAX_BYTES, None);
    let (record, recorded) = open(folder, record::SEARCH, MAX_BYTES)?;
    let [answers, evaluated] = [read(ANSWERS)?, read(EVALUATED)?];
    for (name, text) in [(ANSWERS, &answers), (EVALUATED, &evaluated)] {
        text.check(name, &recorded)?;
    }
    let command = command::of_folder("search", &record.text);
    let files = SearchFiles {
        record: record.source(),
        answers: answers.source(),
        evaluated: evaluated.source(),
        command: command.as_deref(),
    };
    let (html, n_questions) = search_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_questions, "question") })
}

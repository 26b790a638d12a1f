//! Page of the folder of a comparison.

use std::path::Path;

use xrsim_model::text::counted;
use xrsim_report::html::{ComparisonFiles, comparison_page};

use super::super::argument;
use super::super::compare::{PAIRS, POLICIES};
use super::super::message::Failure;
use super::super::record;
use super::{Made, Text, command, open, read};

/// Data of the figures.
const DIFFERENCES: &str = "comparison.csv";
const RANKS: &str = "critical_difference.csv";

/// Largest file that is read \[byte\].
const MAX_BYTES: u64 = 64 << 20;

/// Makes the page of a comparison.
///
/// # Errors
///
/// Returns a failure if a file is missing, was changed, or differs from those of `xrsim compare --out`.
pub(super) fn page(folder: &Path) -> Result<Made, Failure> {
    let read = |name: &str| read(&folder.join(name), MAX_BYTES, None);
    let (record, recorded) = open(folder, record::COMPARE, MAX_BYTES)?;
    let [policies, pairs, differences] = [read(POLICIES)?, read(PAIRS)?, read(DIFFERENCES)?];
    let ranks = folder.join(RANKS).exists().then(|| read(RANKS)).transpose()?;
    for (name, text) in [(POLICIES, &policies), (PAIRS, &pairs), (DIFFERENCES, &differences)] {
        text.check(name, &recorded)?;
    }
    ranks.iter().try_for_each(|text| text.check(RANKS, &recorded))?;
    let command = command::of_folder("compare", &record.text);
    let files = ComparisonFiles {
        record: record.source(),
        policies: policies.source(),
        pairs: pairs.source(),
        differences: differences.source(),
        ranks: ranks.as_ref().map(Text::source),
        command: command.as_deref(),
    };
    let (html, n_schedulers) = comparison_page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(n_schedulers, "scheduler") })
}

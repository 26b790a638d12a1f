//! One HTML page for a set of runs, made from the four files that `xrsim run --out` writes. The page of
//! load tests is in [`mlperf`]; pages of sweeps and comparisons are articles (`article`), and so may be those of
//! other results: a new kind is a function that fills an `Article`, and a line in `cli::report`.
//!
//! ```text
//! scores.csv ─────┐
//! models.csv ─────┼─ rows ─── results ─┐
//! inferences.csv ─┘                    ├─ data ─── page
//! run.json ─────────────── provenance ─┘
//! ```
//!
//! `results` reads the files and checks them against each other. `data` packs them into a few hundred
//! kilobytes, with the columns of `columns`. `page` puts the data into a template with the program that
//! draws them (`app/*.js`) and uPlot. The page loads nothing and needs no server. Names given by users
//! are data and never markup, and the content security policy admits only the program's own scripts.

pub mod mlperf;

mod answer;
mod article;
mod columns;
mod comparison;
mod data;
mod day;
mod explain;
mod joint;
mod page;
mod provenance;
mod results;
mod rows;
mod search;
mod sensitivity;
mod sweep;

use thiserror::Error;

use xrsim_model::renamed::Renamed;

pub use comparison::{ComparisonFiles, comparison_page};
pub use day::{DayFiles, day_page};
pub use explain::{ExplainFiles, explain_page};
pub use joint::{JointFiles, joint_page};
use results::Results;
pub use search::{SearchFiles, search_page};
pub use sensitivity::{SensitivityFiles, sensitivity_page};
pub use sweep::sweep_page;

/// One file of a results folder.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Name that errors print.
    pub name: &'a str,
    /// Contents.
    pub text: &'a str,
}

/// The files of a results folder.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    /// A row for each run.
    pub scores: Source<'a>,
    /// A row for each model of a run.
    pub models: Source<'a>,
    /// A row for each request.
    pub inferences: Source<'a>,
    /// Version, settings, seed and inputs.
    pub provenance: Source<'a>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// A problem of a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct ReadError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The problem, in lower case and without a full stop.
    pub message: String,
}

/// A page and its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The whole document.
    pub html: String,
    /// Runs.
    pub n_runs: usize,
    /// Requests of all runs.
    pub n_requests: usize,
    /// Columns of the folder that have the name of an earlier version.
    pub renamed: Vec<Renamed>,
}

impl ReadError {
    /// The same error, which names the `version` of the folder if it is another one.
    fn in_folder_of(mut self, version: &str) -> Self {
        let this = env!("CARGO_PKG_VERSION");
        if version != this {
            self.message.push_str(&format!("; the folder is of xrsim {version}, this is {this}"));
        }
        self
    }
}

/// The page of `folder`. The same files give the same bytes.
///
/// # Errors
///
/// The first place where a file differs from what `xrsim run --out` writes, or does not belong to the
/// others: a missing column, a broken row, an unknown run, or an incomplete file.
pub fn page(folder: &Folder<'_>) -> Result<Page, ReadError> {
    let provenance = provenance::read(folder.provenance)?;
    let results = Results::read(folder, &provenance)
        .map_err(|error| error.in_folder_of(&provenance.version))?;
    let n_requests = results.runs.iter().map(|run| run.requests.len()).sum();
    let data = data::pack(&results, &provenance, folder.command);
    Ok(Page {
        html: page::Kind::Runs.fill(&data),
        n_runs: results.runs.len(),
        n_requests,
        renamed: results.renamed,
    })
}

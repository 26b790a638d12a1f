//! One HTML page of a set of runs, made of the four files that `xrsim run --out` leaves. That of load tests is
//! in [`mlperf`].
//!
//! ```text
//! scores.csv ─────┐
//! models.csv ─────┼─ rows ─── results ─┐
//! inferences.csv ─┘                    ├─ data ─── page
//! run.json ─────────────── provenance ─┘
//! ```
//!
//! `results` reads the files and checks them against each other, `data` packs what they say into a few
//! hundred kilobytes, with the headings that `columns` knows, and `page` puts it into a template with the
//! program that draws it (`app/*.js`) and uPlot. The page loads nothing and needs no server. What users named reaches it as data only,
//! never as markup, and its content security policy admits the program's own scripts alone.

pub mod mlperf;

mod columns;
mod data;
mod page;
mod provenance;
mod results;
mod rows;

use thiserror::Error;

use crate::renamed::Renamed;

use results::Results;

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
    /// A row a run.
    pub scores: Source<'a>,
    /// A row a model of a run.
    pub models: Source<'a>,
    /// A row a request.
    pub inferences: Source<'a>,
    /// Version, settings, seed and inputs.
    pub provenance: Source<'a>,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct ReadError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What was found there, in lower case and without a full stop.
    pub message: String,
}

/// A page and what is in it.
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
    /// The same error; where the folder is of another `version` of the program, it says so.
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
/// The first place where a file is not what `xrsim run --out` writes, or does not belong to the
/// others: a missing column, a broken row, an unknown run, a file that was cut off.
pub fn page(folder: &Folder<'_>) -> Result<Page, ReadError> {
    let provenance = provenance::read(folder.provenance)?;
    let results = Results::read(folder, &provenance)
        .map_err(|error| error.in_folder_of(&provenance.version))?;
    let n_requests = results.runs.iter().map(|run| run.requests.len()).sum();
    let data = data::pack(&results, &provenance);
    Ok(Page {
        html: page::RUNS.fill(&data),
        n_runs: results.runs.len(),
        n_requests,
        renamed: results.renamed,
    })
}

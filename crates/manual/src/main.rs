//! Writes, tests and builds the manual of `xrsim`: the pages of `docs/`, and the README files of the folders.
//!
//! `generate` writes the pages that the library knows, `check` compares them, `run` runs the commands of all
//! pages, and `build` makes the site. Nothing here is part of the program.

mod book;
mod reference;
mod repository;
mod snippets;
mod summary;
mod twice;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use repository::Repository;

/// Write, test and build the manual.
#[derive(Debug, Parser)]
#[command(name = "manual")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write the pages of the reference that the library knows.
    Generate,
    /// Compare those pages with the library, and look for pages that the summary lacks, and
    /// for paragraphs that stand in two places.
    Check,
    /// Make the site, and check its links.
    Build {
        /// Folder of the site, which is made anew [default: target/manual].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Run the commands of all pages and README files, and compare what they print.
    Run(RunArguments),
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Program that is built already [default: the release build, made first].
    #[arg(long, value_name = "PATH")]
    xrsim: Option<PathBuf>,
    /// Write what the commands print into the pages.
    #[arg(long)]
    update: bool,
    /// Pages [default: every README.md and every page of docs/].
    #[arg(value_name = "FILE.md")]
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match work(&Arguments::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does the task. Returns whether all is as it should be.
fn work(task: &Task) -> Result<bool, Box<dyn Error>> {
    let repository = Repository::of_this_crate();
    match task {
        Task::Generate => reference::generate(&repository),
        Task::Check => {
            let found = [
                reference::check(&repository)?,
                summary::check(&repository)?,
                twice::check(&repository)?,
            ];
            Ok(found.iter().all(|it| *it))
        }
        Task::Build { out } => {
            let folder = out.clone().unwrap_or_else(|| repository.target().join("manual"));
            book::build(&repository, &folder)
        }
        Task::Run(RunArguments { xrsim, update, files }) => {
            let program = match xrsim {
                Some(path) => {
                    path.canonicalize().map_err(|it| format!("{}: {it}", path.display()))?
                }
                None => repository.built_program()?,
            };
            snippets::run(&repository, &program, files, *update)
        }
    }
}

//! The command line: arguments in, files and text out. The only module that prints, reads the
//! environment or decides an exit status.

pub mod args;
mod compare;
mod conditions;
mod cost;
mod costs;
mod digest;
mod explain;
mod figure;
mod inspect;
mod key_values;
mod message;
mod mlperf;
mod output;
mod places;
mod plot;
mod programs;
mod progress;
mod record;
mod replay;
mod report;
mod reproduce;
mod results;
mod run;
mod schedulers;
mod settings;
mod study;
mod sweep;
mod threads;
mod trace;
mod validate;

use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use crate::config::{ConfigError, nearest};
use crate::report::table::Style;

use args::{Cli, Command, Validation};
use message::Failure;

/// Parses the arguments of the process, does what they say and gives the exit status: 0 done,
/// 1 a check failed, 2 bad input.
pub fn run() -> ExitCode {
    let command = Cli::parse().command;
    let ready = if is_parallel(&command) { threads::start() } else { Ok(()) };
    match ready.and_then(|()| dispatch(command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Whether a command may need more than one thread.
fn is_parallel(command: &Command) -> bool {
    use Command::{Check, Completions, Import, List, Man, Merge, Show};
    !matches!(
        command,
        List { .. }
            | Show { .. }
            | Check { .. }
            | Import { .. }
            | Completions { .. }
            | Man
            | Merge(_)
    )
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Cost(args) => cost::run(&args),
        Command::Mlperf(args) => mlperf::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Merge(args) => sweep::merge(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Report(args) => report::run(&args),
        Command::List { what } => inspect::list(what),
        Command::Show { name } => inspect::show(&name),
        Command::Check { files } => inspect::check(&files),
        Command::Import { file, out } => inspect::import(&file, out.as_deref()),
        Command::Validate { what: None } => validate::all(),
        Command::Validate { what: Some(Validation::Cost { cases }) } => validate::cost(&cases),
        Command::Validate { what: Some(Validation::Loadgen { cases }) } => {
            validate::loadgen(&cases)
        }
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "xrsim", &mut text);
            output::print(&String::from_utf8_lossy(&text))
        }
        Command::Man => {
            let mut text = Vec::new();
            let page = clap_mangen::Man::new(Cli::command());
            page.render(&mut text).map_err(|error| Failure::writing(&"the page", &error))?;
            output::print(&String::from_utf8_lossy(&text))
        }
    }
}

/// Lines and bold type where a person looks, plain text where a program reads.
fn table_style() -> Style {
    if io::stdout().is_terminal() { Style::Terminal } else { Style::Plain }
}

/// An argument that the domain refuses.
fn argument(error: impl Error) -> Failure {
    Failure::Argument(error.to_string())
}

/// A name that is not in a list, with the nearest one that is.
fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<_> = known.collect();
    Failure::from(ConfigError::Unknown {
        kind,
        name: name.into(),
        nearest: nearest(name, known.iter().copied()).map(str::to_string),
        known: known.into_iter().map(str::to_string).collect(),
    })
}

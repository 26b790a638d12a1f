//! Commands for callers in the same process, such as tests and the Python package.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use clap::{ArgAction, Args as _, Command, FromArgMatches as _};
use serde_json::{Map, Value};

use xrsim_config::{Catalog, Kind};
use xrsim_experiment::{Run, Runs, kept};
use xrsim_model::cost::CostTable;
use xrsim_sim::plan::Plan;

use super::console::{self, Written};
use super::list::Table as Listed;
use super::message::Failure;
use super::progress::{Observer, observed};
use super::run::{Requested, RunArgs};
use super::{dispatch, interruptible, parsed, program, results, said};

/// Result of a command.
#[derive(Debug)]
pub struct Called {
    /// Exit status.
    pub status: u8,
    /// Text for standard output and standard error.
    pub written: Written,
    /// Reason of a status that is not 0.
    pub failure: Option<Failure>,
}

/// Runs the command that `arguments`, without the name of the program, describe. `observer` gets its progress.
pub fn call(
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
    observer: Option<Observer>,
) -> Called {
    let words = with_program(arguments);
    // A command may find better mappings.
    kept::forget();
    let ((status, failure), written) = console::captured(|| {
        let done = match parsed(words) {
            Ok(matches) => observed(observer, || interruptible(|| dispatch(&matches, || Ok(())))),
            Err(error) => asked(&error),
        };
        (done.as_ref().map_or_else(Failure::report, |()| 0), done.err())
    });
    Called { status, written, failure }
}

fn with_program(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Vec<OsString> {
    let program_name = OsString::from("xrsim");
    std::iter::once(program_name).chain(arguments.into_iter().map(Into::into)).collect()
}

/// Prints a text that was asked for, such as a help text; refuses anything else.
fn asked(error: &clap::Error) -> Result<(), Failure> {
    match error.use_stderr() {
        true => Err(refused(error)),
        false => super::output::print(&said(error, false)),
    }
}

/// The failure of arguments that the parser refuses.
fn refused(error: &clap::Error) -> Failure {
    let text = said(error, false);
    Failure::Argument(text.trim_end().trim_start_matches("error: ").into())
}

/// Parser of the arguments of `xrsim run`, made once for all calls.
static PARSER: LazyLock<Mutex<Command>> =
    LazyLock::new(|| Mutex::new(RunArgs::augment_args(Command::new("xrsim").no_binary_name(true))));

/// The runs that the arguments of `xrsim run` describe, read and checked.
pub struct RequestedRuns {
    requested: Requested,
    /// Notes and warnings of the command.
    pub notes: String,
}

impl RequestedRuns {
    /// Reads what `arguments`, those of `xrsim run` without its outputs, describe.
    ///
    /// # Errors
    ///
    /// [`Failure`] as of the command.
    pub fn parse(
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, Failure> {
        let matches = {
            let mut parser = PARSER.lock().unwrap_or_else(PoisonError::into_inner);
            let words = arguments.into_iter().map(Into::into);
            parser.try_get_matches_from_mut(words).map_err(|error| refused(&error))?
        };
        let args = RunArgs::from_arg_matches(&matches).map_err(|error| refused(&error))?;
        let (requested, written) = console::captured(|| Requested::read(args));
        let notes = String::from_utf8_lossy(&written.err).into_owned();
        Ok(Self { requested: requested?, notes })
    }

    /// The plan and the costs of the only run.
    ///
    /// # Errors
    ///
    /// [`Failure`] if there are more runs, or if the run cannot be made.
    pub fn only(&self) -> Result<(Plan, Arc<CostTable>), Failure> {
        let found = self.requested.prepared.only_run();
        let (plan, costs) = found.ok_or_else(|| {
            let n = self.n_runs();
            Failure::Argument(format!(
                "{n} runs are described; allowed is one: one scenario on one system"
            ))
        })?;
        Ok((plan, costs.map_err(|error| Failure::Argument(error.to_string()))?))
    }

    /// Number of runs.
    pub fn n_runs(&self) -> usize {
        self.requested.prepared.n_runs()
    }

    /// Makes the runs; `done` gets the number of those that are made.
    pub fn run(&self, done: impl FnMut(u64)) -> Runs {
        self.requested.prepared.run_noting(done)
    }

    /// The record of these runs, as `--out` writes it.
    pub fn record(&self, runs: &[Run]) -> Map<String, Value> {
        let labelled = runs.iter().filter_map(|run| {
            let error = run.result.as_ref().err()?;
            Some(results::infeasible(&run.label(), error))
        });
        results::complete(self.requested.record(), runs.len(), labelled.collect())
    }

    /// Writes the files of `xrsim run --out FOLDER`.
    ///
    /// # Errors
    ///
    /// [`Failure`] if a file cannot be written, or if no run has scores.
    pub fn save(&self, runs: &[Run], folder: &Path) -> Result<(), Failure> {
        let (saved, _) = console::captured(|| results::save(folder, runs, self.record(runs)));
        saved
    }
}

/// Tables of the list called `name`, as `xrsim list` prints them: each with its header and its rows.
///
/// # Errors
///
/// [`Failure`] if there is no such list.
pub fn lists(name: &str) -> Result<Vec<Listed>, Failure> {
    super::list::tables(name)
}

/// Checks the input file at `path` as `xrsim check` does. Returns its kind, and a remark on what is left unchecked.
///
/// # Errors
///
/// [`Failure`] with every problem of the file.
pub fn check(path: &Path) -> Result<(Kind, Option<String>), Failure> {
    let (checked, _) = console::captured(|| super::check::one(path, &mut Catalog::new()));
    checked
}

/// An option of a command.
#[derive(Debug, Clone)]
pub struct CommandOption {
    /// Name without its dashes; that of the value for an argument without a name.
    pub name: String,
    /// Whether it is given by its place and not by its name.
    pub is_positional: bool,
    /// Whether it follows all others, after `--`.
    pub is_last: bool,
    /// Placeholder of the value; `None` for an option without a value.
    pub value: Option<String>,
    /// Whether it may be given several times.
    pub is_repeated: bool,
    /// Whether a command needs it.
    pub is_required: bool,
    /// Whether its values are numbers.
    pub is_number: bool,
    /// Values that are allowed, if they are listed.
    pub words: Vec<String>,
    /// Meaning.
    pub help: String,
}

/// The command called `name`, which may be below another one: `parts merge`.
fn named<'p>(program: &'p Command, name: &str) -> Option<&'p Command> {
    name.split(' ').try_fold(program, |command, word| command.find_subcommand(word))
}

/// Options of the command called `name`, in the order of its help text; `None` if there is no such command.
pub fn options(name: &str) -> Option<Vec<CommandOption>> {
    let program = program();
    let command = named(&program, name)?;
    let option = |it: &clap::Arg| {
        let takes = it.get_action().takes_values();
        let placeholder = it.get_value_names().and_then(|names| names.first());
        let words = it.get_possible_values();
        let words = words.iter().filter(|it| takes && !it.is_hide_set());
        CommandOption {
            name: it.get_long().map_or_else(|| it.get_id().to_string(), String::from),
            is_positional: it.is_positional(),
            is_last: it.is_last_set(),
            value: takes.then(|| placeholder.map_or_else(String::new, ToString::to_string)),
            is_repeated: matches!(it.get_action(), ArgAction::Append),
            is_required: it.is_required_set(),
            is_number: it.is_allow_negative_numbers_set(),
            words: words.map(|it| it.get_name().to_string()).collect(),
            help: it.get_help().map(ToString::to_string).unwrap_or_default(),
        }
    };
    let shown = command.get_arguments().filter(|it| !it.is_hide_set() && it.get_id() != "help");
    Some(shown.map(option).collect())
}

/// First line of the help text of the command called `name`.
pub fn about(name: &str) -> Option<String> {
    named(&program(), name)?.get_about().map(ToString::to_string)
}

/// Opens the folder in which choices of mappings are kept, as the command does.
pub fn open_cache() {
    super::cache::keep();
}

/// Writes choices of mappings that were found since.
pub fn save_cache() {
    let _ = console::captured(super::cache::save);
}

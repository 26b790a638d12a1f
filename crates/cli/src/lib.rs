//! The command line: arguments in, files and text out. Only this module prints, reads the environment or
//! decides the exit status. It computes nothing: commands call the library and format its results.
//!
//! It uses all crates. A command is `src/<name>.rs` with its arguments and help, and one line in `commands` below.

#![warn(missing_docs, unreachable_pub)]

/// Returns [`Failure::Argument`] with this message from a function.
macro_rules! refuse {
    ($($message:tt)+) => {
        return Err($crate::message::Failure::Argument(format!($($message)+)))
    };
}

mod again;
mod area;
mod arrivals;
mod assumed;
mod build;
mod cache;
mod call;
mod check;
mod cluster;
mod colour;
mod compare;
mod completions;
mod console;
mod cost;
mod costs;
mod day;
mod experiment;
mod explain;
mod figure;
mod help;
mod import;
mod interrupt;
mod journal;
mod key_values;
mod list;
mod lock;
mod manual;
mod map;
mod mappings;
mod message;
mod mlperf;
mod of_parts;
mod options;
mod output;
mod parts;
mod places;
mod plot;
mod progress;
mod record;
mod replay;
mod report;
mod reproduce;
mod results;
mod run;
mod schedulers;
mod schema;
mod search;
mod sensitivity;
mod setup;
mod show;
mod sweep;
mod threads;
mod trace;
mod validate;
mod writer;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::{panic, thread};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, ColorChoice, Command, FromArgMatches as _};

use xrsim_config::{Catalog, ConfigError, Kind, nearest};
use xrsim_model::cancel;
use xrsim_model::renamed::Renamed;
use xrsim_model::text;

use colour::table_style;
use console::Stream;
use progress::Progress;

pub use call::{
    Called, CommandOption, RequestedRuns, about, call, check, lists, open_cache, options,
    save_cache,
};
pub use cluster::start_with;
pub use console::Written;
pub use list::Table as Listed;
pub use message::Failure;
pub use progress::Observer;
pub use search::journal_lines;

/// Stack of the thread that a command runs on \[byte\]. Input is nested at most a few dozen levels deep,
/// which takes less than a hundredth of it.
pub const STACK: usize = 8 << 20;

/// Simulate real-time multi-network XR workloads on DNN accelerators (XRBench).
#[derive(Debug, Args)]
#[command(
    name = "xrsim",
    version = env!("XRSIM_VERSION"),
    after_help = "Examples:\n  \
        xrsim run                                    the best of 13 systems\n  \
        xrsim run --scenario AR_gaming --system J    one system, with its losses\n  \
        xrsim explain --scenario AR_gaming --system J\n  \
        xrsim list scenarios\n\n\
        `xrsim COMMAND -h` has the options of a command, `--help` all texts.\n\n\
        Exit status: 0 done, 1 a check failed, 2 bad input, 75 another process is\n\
        writing to the same place (try later), 130 or 143 interrupted."
)]
struct Global {
    /// Colours and bold type. With `auto` they depend on the terminal and on NO_COLOR,
    /// CLICOLOR_FORCE, CLICOLOR and TERM.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = help::OF_ALL)]
    color: ColorChoice,
    /// Only errors and warnings on standard error: no notes and no progress.
    #[arg(long, short, global = true, help_heading = help::OF_ALL)]
    quiet: bool,
    /// Neither read nor write kept mappings: the folder XRSIM_CACHE, or `xrsim` in the cache
    /// folder of the user.
    #[arg(long, global = true, help_heading = help::OF_ALL)]
    no_cache: bool,
    /// Print help: `-h` one line for each option, `--help` all texts.
    #[arg(long, short, global = true, action = clap::ArgAction::Help, help_heading = help::OF_ALL)]
    help: Option<bool>,
}

/// Every command, in the order of the help text.
fn commands() -> Vec<CommandEntry> {
    vec![
        command("run", run::run).on_threads(),
        command("day", day::run).on_threads(),
        command("replay", replay::run).on_threads().showing("replaying"),
        command("cost", cost::run).on_threads().showing("computing costs"),
        command("map", map::run).on_threads(),
        command("area", area::run).on_threads().showing("computing areas"),
        command("sweep", sweep::run).on_threads(),
        command("search", search::run).on_threads(),
        command("parts", of_parts::run),
        command("merge", sweep::merge).renamed("parts merge"),
        command("status", cluster::status).renamed("parts status"),
        command("plot", plot::run).on_threads().showing("reading and drawing"),
        command("mlperf", mlperf::run).on_threads(),
        command("compare", compare::run).on_threads(),
        command("reproduce", reproduce::run).on_threads(),
        command("sensitivity", sensitivity::run).on_threads(),
        command("explain", explain::run).on_threads(),
        command("report", report::run).on_threads().showing("writing a page"),
        command("list", list::run),
        command("show", show::run),
        command("check", check::run),
        command("schema", schema::run),
        command("import", import::run),
        command("validate", validate::run).on_threads().showing("comparing with reference data"),
        command("setup", setup::run),
        command("completions", completions::run).renamed("setup completions"),
        command("man", manual::run).renamed("setup man"),
    ]
}

/// Action of a command on its parsed arguments.
type Action = dyn Fn(&ArgMatches) -> Result<(), Failure>;

/// A command.
struct CommandEntry {
    name: &'static str,
    /// Adds help and arguments to a command of the argument parser.
    define: fn(Command) -> Command,
    run: Box<Action>,
    /// Whether the command runs on several threads.
    is_parallel: bool,
    /// Message of a command that may take long without counting its progress.
    progress: Option<&'static str>,
    /// Name in use, where this one is that of version 0.1.
    renamed: Option<&'static str>,
}

/// Makes the entry of the command `name`, whose arguments, help and action are those of `run`.
fn command<A: Args + 'static>(
    name: &'static str,
    run: fn(&A) -> Result<(), Failure>,
) -> CommandEntry {
    let run = move |matches: &ArgMatches| {
        cluster::note(matches);
        let args = A::from_arg_matches(matches).expect("the parser checked the arguments");
        run(&args)
    };
    let define = A::augment_args;
    CommandEntry {
        name,
        define,
        run: Box::new(run),
        is_parallel: false,
        progress: None,
        renamed: None,
    }
}

impl CommandEntry {
    /// Starts threads before the command.
    fn on_threads(self) -> Self {
        Self { is_parallel: true, ..self }
    }

    /// Makes the command an old name of `new`, which no help text shows.
    fn renamed(self, new: &'static str) -> Self {
        Self { renamed: Some(new), ..self }
    }

    /// Prints a warning if the name is that of version 0.1.
    fn warn_if_renamed(&self) {
        if let Some(new) = self.renamed {
            let renamed = Renamed { kind: "command", old: self.name, new };
            message::warn(format_args!("{renamed}"));
        }
    }

    /// The command as the argument parser sees it.
    fn definition(&self) -> Command {
        let command = help::under_headings((self.define)(Command::new(self.name)));
        command.hide(self.renamed.is_some())
    }

    /// Shows `message` while the command runs.
    fn showing(self, message: &'static str) -> Self {
        Self { progress: Some(message), ..self }
    }
}

/// The program as the argument parser sees it: every command with its options and help texts.
pub fn program() -> Command {
    program_with(|_| true)
}

/// The program, in which a command has its options and help texts if it `is_needed`, and else a name alone.
fn program_with(is_needed: impl Fn(&CommandEntry) -> bool) -> Command {
    let definition = |command: &CommandEntry| match is_needed(command) {
        true => command.definition(),
        false => Command::new(command.name),
    };
    let program = Global::augment_args(Command::new("xrsim"));
    let program = program.subcommand_required(true).arg_required_else_help(true);
    let program = program.disable_help_flag(true);
    help::by_purpose(program.subcommands(commands().iter().map(definition)))
}

/// The arguments in `words`, the first of which is the name of the program.
fn parsed(words: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
    // The options of other commands than the one that comes first are not asked for.
    let first = words.get(1).filter(|word| commands().iter().any(|it| **word == *it.name));
    let program = program_with(|command| first.is_none_or(|word| *word == *command.name));
    let program = match help::is_short(&words) {
        true => help::short(program),
        false => program,
    };
    program.try_get_matches_from(words).map_err(|mut error| {
        suggest_current(&mut error);
        error
    })
}

/// Replaces old names of commands among those that `error` suggests.
fn suggest_current(error: &mut clap::Error) {
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) else {
        return;
    };
    let commands = commands();
    let current = |name: &String| {
        let found = commands.iter().find(|it| it.name == name);
        found.and_then(|it| it.renamed).unwrap_or(name).to_string()
    };
    let names = names.iter().map(current).collect();
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
}

/// Whether `words`, the first of which is the name of the program, are arguments of a command.
///
/// # Errors
///
/// Returns the message of the argument parser.
pub fn parse<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<(), String> {
    match program().try_get_matches_from(words) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses the arguments of the process, runs the command and returns the exit status: 0 done,
/// 1 a check failed, 2 bad input, 75 another process is writing to the same place, 130 or 143 interrupted.
pub fn run() -> ExitCode {
    let status = run_words(std::env::args_os().collect());
    if console::is_out_lost() {
        message::warn(format_args!(
            "standard output is closed, or a null device: what this command prints is lost"
        ));
    }
    ExitCode::from(status)
}

/// Runs the command that `words`, the first of which is the name of the program, describe, as [`run`] does. Returns
/// the exit status.
pub fn run_words(words: Vec<OsString>) -> u8 {
    let not_text = words.iter().find(|word| word.to_str().is_none()).cloned();
    let name = words.get(1).cloned().unwrap_or_default();
    on_own_stack(|| {
        match parsed(words) {
        Ok(matches) => {
            let Global { color, no_cache, .. } = global(&matches);
            colour::choose(color);
            cache::open(no_cache);
            interrupt::listen();
            let status = status_of(interruptible(|| dispatch(&matches, threads::start)));
            cache::save();
            status
        }
        Err(error) => match (error.kind(), &not_text) {
            (clap::error::ErrorKind::InvalidUtf8, Some(word)) => Failure::Argument(format!(
                "`{}` is no UTF-8 text, as names and paths of inputs are; a link with another name helps",
                text::in_line(&word.to_string_lossy())
            ))
            .report(),
            _ => {
                if error.use_stderr() {
                    let commands = commands();
                    let command = commands.iter().find(|it| name == *it.name);
                    command.into_iter().for_each(CommandEntry::warn_if_renamed);
                }
                refuse(&error)
            }
        },
    }
    })
}

/// Runs `command`, which an interruption ends.
fn interruptible(command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let message = "complete results are kept";
    cancel::catch(command)
        .unwrap_or_else(|cancel::Cancelled| Err(Failure::Interrupted(message.into())))
}

fn global(matches: &ArgMatches) -> Global {
    Global::from_arg_matches(matches).expect("the parser checked the arguments")
}

/// Runs a command, after `start_threads` where it is parallel.
fn dispatch(
    matches: &ArgMatches,
    start_threads: fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    console::set_quiet(global(matches).quiet);
    let (name, arguments) = matches.subcommand().expect("the parser requires a command");
    let commands = commands();
    let command = commands.iter().find(|it| it.name == name).expect("every command is an entry");
    command.warn_if_renamed();
    progress::of_command(command.name);
    if command.is_parallel {
        start_threads()?;
    }
    let _progress = command.progress.map(Progress::of_unknown_length);
    (command.run)(arguments)
}

/// Prints the message of the argument parser, which may be a help text, and returns the exit status.
fn refuse(error: &clap::Error) -> u8 {
    if error.use_stderr() {
        message::say_drawn(said(error, colour::wanted(Stream::Err)).trim_end());
        return 2;
    }
    status_of(output::print(&said(error, colour::wanted(Stream::Out))))
}

/// Returns the text of `error`. A help text may have styles. Other messages repeat arguments, so that they
/// are plain text without escape sequences.
fn said(error: &clap::Error, with_styles: bool) -> String {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    match is_help && with_styles {
        true => error.render().ansi().to_string(),
        false => {
            let text = text::shown(&error.render().to_string()).into_owned();
            match (tip(error), text.split_once('\n')) {
                (Some(tip), Some((first, rest))) => format!("{first}\n\n  tip: {tip}\n{rest}"),
                _ => text,
            }
        }
    }
}

/// Advice about a refusal of arguments.
fn tip(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    match (error.kind(), text(ContextKind::InvalidArg)) {
        (ErrorKind::ArgumentConflict, argument)
            if argument.starts_with("--scheduler") && argument == text(ContextKind::PriorArg) =>
        {
            Some(experiment::several_schedulers("A,B"))
        }
        (ErrorKind::ArgumentConflict, "[SWEEP|FILE]") => {
            Some("a sweep has all its settings in its file; copy it and add the key there".into())
        }
        _ => meant(error).map(|option| format!("did you mean `{option}`?")),
    }
}

/// The option with which an argument that no command takes has a meaning, if it is a known name: `--scenario AR_gaming`.
fn meant(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    let catalog = Catalog::new();
    let options = [
        ("--scenario", Kind::Scenario),
        ("--system", Kind::Style),
        ("--system", Kind::System),
        ("--network", Kind::Network),
        ("--platform", Kind::Platform),
        ("--dataflow", Kind::Dataflow),
    ];
    let is_named = |kind: Kind| catalog.names(kind).iter().any(|name| name == word);
    let of_file = options.iter().find(|(_, kind)| is_named(*kind)).map(|it| it.0);
    let option = of_file.or_else(|| schedulers::find(word).map(|_| "--scheduler"));
    option.map(|option| format!("{option} {word}"))
}

fn status_of(result: Result<(), Failure>) -> u8 {
    result.map_or_else(|failure| failure.report(), |()| 0)
}

/// Runs `command` on a thread with its own stack, so that the process may have a small one (`ulimit -s`).
/// If no thread can be started, it runs on the thread of the process.
fn on_own_stack(command: impl FnOnce() -> u8 + Send) -> u8 {
    let name = thread::current().name().unwrap_or("main").to_string();
    let command = Mutex::new(Some(command));
    let once = || {
        let command = command.lock().unwrap_or_else(PoisonError::into_inner).take();
        threads::keep_memory();
        command.expect("it is run once")()
    };
    thread::scope(|scope| {
        match thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, once) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Err(_) => once(),
        }
    })
}

/// Makes a failure of an argument that the library refuses.
fn argument(error: impl Error) -> Failure {
    Failure::Argument(error.to_string())
}

/// Makes a failure of a name that is not in a list, with the nearest name that is.
fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<_> = known.collect();
    Failure::from(ConfigError::Unknown {
        kind,
        name: name.into(),
        file: None,
        nearest: nearest(name, known.iter().copied()).map(str::to_string),
        known: known.into_iter().map(str::to_string).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_of(arguments: &[&str], with_styles: bool) -> String {
        let words = std::iter::once(&"xrsim").chain(arguments);
        said(&parsed(words.map(OsString::from).collect()).expect_err("it is refused"), with_styles)
    }

    #[test]
    fn a_refusal_of_arguments_has_no_escape_sequences() {
        let bad: [&[&str]; 3] = [
            &["run", "--sc\u{1b}[31mx"],
            &["list", "sc\u{1b}[31m\u{202e}"],
            &["--color", "x\u{1b}]0;t\u{7}", "list"],
        ];
        for arguments in bad {
            let text = said_of(arguments, true);
            assert!(!text.contains(text::is_obeyed), "{text:?}");
            assert!(text.starts_with("error: "), "{text:?}");
        }
        let of_name = said_of(&["run", "AR_gaming"], false);
        assert!(of_name.contains("tip: did you mean `--scenario AR_gaming`?"), "{of_name}");
        assert!(said_of(&["compare", "edf"], false).contains("`--scheduler edf`?"));
        let twice = said_of(&["run", "--scheduler", "edf", "--scheduler", "rm"], false);
        assert!(twice.contains("tip: `xrsim compare --scheduler A,B` compares several"), "{twice}");
        let both = said_of(&["sweep", "mine.yaml", "--seed", "3"], false);
        assert!(both.contains("tip: a sweep has all its settings in its file"), "{both}");
        assert!(said_of(&["mergee"], false).contains("exists: 'parts merge'"));
        let two = said_of(&["run", "--scheduler", "edf,heft"], false);
        assert!(
            two.contains("this command takes one scheduler; `xrsim compare --scheduler edf,heft`"),
            "{two}"
        );
        assert!(!said_of(&["run", "AR_game"], false).contains("did you mean"));
        assert!(said_of(&["--help"], true).contains("\u{1b}["));
        assert!(!said_of(&["--help"], false).contains('\u{1b}'));
    }
}

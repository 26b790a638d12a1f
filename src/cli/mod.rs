//! The command line: arguments in, files and text out. The only module that prints, reads the
//! environment or decides an exit status.

pub mod args;
mod colour;
mod compare;
mod conditions;
mod console;
mod cost;
mod costs;
mod digest;
mod explain;
mod figure;
mod inspect;
mod key_values;
mod manual;
mod message;
mod mlperf;
mod output;
mod places;
mod plot;
mod probe;
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
use std::ffi::OsString;
use std::process::ExitCode;
use std::{panic, thread};

use clap::{CommandFactory as _, Parser as _};

use crate::config::{ConfigError, nearest};
use crate::text;

use args::{Cli, Command, Validation};
use colour::table_style;
use console::Stream;
use message::Failure;
use progress::Progress;

pub use console::Written;

/// Stack of the thread that a command runs on \[byte\]. Input is nested at most a few dozen levels deep,
/// which a hundredth of it holds.
const STACK: usize = 8 << 20;

/// Parses the arguments of the process, does what they say and gives the exit status: 0 done,
/// 1 a check failed, 2 bad input.
pub fn run() -> ExitCode {
    ExitCode::from(on_own_stack(|| match Cli::try_parse() {
        Ok(cli) => {
            colour::choose(cli.color);
            status_of(start_threads(&cli.command).and_then(|()| dispatch(cli.command)))
        }
        Err(error) => refuse(&error),
    }))
}

/// Does what `arguments` say, which begin after the program's name, and gives the exit status and what
/// would have been written on standard output and standard error.
pub fn call(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> (u8, Written) {
    let program = OsString::from("xrsim");
    let words = std::iter::once(program).chain(arguments.into_iter().map(Into::into));
    console::captured(|| match Cli::try_parse_from(words) {
        Ok(cli) => status_of(dispatch(cli.command)),
        Err(error) => refuse(&error),
    })
}

/// Says what the argument parser has to say, which may be a help text.
fn refuse(error: &clap::Error) -> u8 {
    if error.use_stderr() {
        message::say_drawn(said(error, colour::wanted(Stream::Err)).trim_end());
        return 2;
    }
    status_of(output::print(&said(error, colour::wanted(Stream::Out))))
}

/// The text of `error`. A help text is the program's own and may have styles; all else repeats
/// arguments, in which nothing stays that a terminal would obey: the plain form drops escape sequences.
fn said(error: &clap::Error, with_styles: bool) -> String {
    use clap::error::ErrorKind;
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    match is_help && with_styles {
        true => error.render().ansi().to_string(),
        false => text::shown(&error.render().to_string()).into_owned(),
    }
}

fn status_of(result: Result<(), Failure>) -> u8 {
    result.map_or_else(|failure| failure.report(), |()| 0)
}

/// Runs `command` on a thread with a stack of its own, so that a small one of the process
/// (`ulimit -s`) is enough; on that of the process where no thread can be had.
fn on_own_stack(command: fn() -> u8) -> u8 {
    let name = thread::current().name().unwrap_or("main").to_string();
    match thread::Builder::new().name(name).stack_size(STACK).spawn(command) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        Err(_) => command(),
    }
}

/// Starts the threads of a command that may need more than one.
fn start_threads(command: &Command) -> Result<(), Failure> {
    if is_parallel(command) { threads::start() } else { Ok(()) }
}

fn is_parallel(command: &Command) -> bool {
    use Command::{Check, Completions, Import, List, Man, Merge, Show};
    !matches!(
        command,
        List { .. }
            | Show { .. }
            | Check { .. }
            | Import { .. }
            | Completions { .. }
            | Man { .. }
            | Merge(_)
    )
}

fn dispatch(command: Command) -> Result<(), Failure> {
    let _going_on = waits_for(&command).map(Progress::of_unknown_length);
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
        Command::Man { out } => manual::run(out.as_deref()),
    }
}

/// Work that a person waits for, where a command may take long and counts nothing.
fn waits_for(command: &Command) -> Option<&'static str> {
    match command {
        Command::Replay(_) => Some("replaying"),
        Command::Cost(_) => Some("costing layers"),
        Command::Mlperf(_) => Some("making load tests"),
        Command::Plot(_) => Some("reading and drawing"),
        Command::Reproduce(_) => Some("making the published study again"),
        Command::Explain(_) => Some("running again with changes"),
        Command::Report(_) => Some("making a page"),
        Command::Validate { .. } => Some("comparing with reference data"),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said_of(arguments: &[&str], with_styles: bool) -> String {
        let words = std::iter::once(&"xrsim").chain(arguments);
        said(&Cli::try_parse_from(words).expect_err("it is refused"), with_styles)
    }

    #[test]
    fn a_refusal_of_arguments_gives_a_terminal_no_orders() {
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
        assert!(said_of(&["--help"], true).contains("\u{1b}["));
        assert!(!said_of(&["--help"], false).contains('\u{1b}'));
    }
}

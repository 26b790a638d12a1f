//! Messages on standard error, and the exit status of a failure.

use std::fmt;
use std::io::{self, Write as _};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use xrsim_config::{ConfigError, Note, Notes, Problem, Source};
use xrsim_experiment::ExperimentError;
use xrsim_model::renamed::Renamed;
use xrsim_model::text;

use super::colour;
use super::console::{self, Stream};
use super::interrupt;
use super::progress::out_of_the_way;

/// Reason for which a command failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// An input file is invalid: exit status 2.
    Input(Box<ConfigError>),
    /// An argument is invalid: exit status 2.
    Argument(String),
    /// A check failed: exit status 1.
    Check(String),
    /// The system refused, e.g. to write output: exit status 2.
    Output(String),
    /// Another process writes to the same place, so that the command may succeed later: exit status 75.
    Busy(String),
    /// The user, or a system that ends jobs, interrupted the command: exit status 130 or 143.
    Interrupted(String),
    /// The reader of standard output closed it. There is no message, and the exit status is 0.
    BrokenPipe,
}

/// Exit status where another process writes to the same place: `EX_TEMPFAIL` of sysexits.h, by which
/// scripts tell "later" from "never".
const BUSY: u8 = 75;

impl Failure {
    /// Makes a failure to write `what`.
    pub(super) fn writing(what: &dyn fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Output(format!("cannot write {what}: {error}"))
    }

    /// Joins two failures.
    pub(super) fn and(self, other: &Self) -> Self {
        Self::Argument(format!("{}\nerror: {}", self.reason(), other.reason()))
    }

    /// Returns the message in one line.
    pub fn reason(&self) -> String {
        let reason = match self {
            Self::Input(error) => error.to_string(),
            Self::Argument(message)
            | Self::Check(message)
            | Self::Output(message)
            | Self::Busy(message)
            | Self::Interrupted(message) => message.clone(),
            Self::BrokenPipe => "standard output is closed".into(),
        };
        reason.replace(text::is_unfit_in_line, " ")
    }

    /// Prints the message on standard error and returns the exit status.
    pub(super) fn report(&self) -> u8 {
        match self {
            Self::Input(error) => report_config(error),
            Self::Argument(message) | Self::Output(message) => {
                print(format_args!("error: {message}"))
            }
            Self::Check(message) => {
                print(format_args!("{message}"));
                return 1;
            }
            Self::Busy(message) => {
                print(format_args!("error: {message}"));
                return BUSY;
            }
            Self::Interrupted(message) => {
                print(format_args!("interrupted: {message}"));
                return interrupt::status();
            }
            Self::BrokenPipe => return 0,
        }
        2
    }
}

/// Prints a note on standard error, unless `--quiet` is given.
pub(super) fn say(line: fmt::Arguments<'_>) {
    if !console::is_quiet() {
        print(line);
    }
}

/// Prints a warning on standard error, once in a command: several systems may have the same.
pub(super) fn warn(line: fmt::Arguments<'_>) {
    let line = format!("warning: {line}");
    if console::is_first_hint(&line) {
        print(format_args!("{line}"));
    }
}

/// Prints a line on standard error with escape sequences written out. If standard error is closed or
/// full, the line is lost and the exit status stays the same (`eprintln!` would panic).
fn print(line: fmt::Arguments<'_>) {
    say_drawn(&Stream::Err.fitted(&text::shown(&line.to_string())));
}

/// Prints the hint for an old name, once per command.
pub(super) fn hint(renamed: Renamed) {
    print_hint(&renamed.to_string());
}

/// Prints notes about inputs, each once in a command.
pub(super) fn input_hints(notes: impl IntoIterator<Item = Note>) {
    notes.into_iter().for_each(|note| print_hint(&note.to_string()));
}

/// Reads inputs with `read`, and prints the notes that it adds, even if it fails.
pub(super) fn with_hints<T, E>(read: impl FnOnce(&Notes) -> Result<T, E>) -> Result<T, E> {
    let notes = Notes::default();
    let result = read(&notes);
    input_hints(notes.to_vec());
    result
}

fn print_hint(hint: &str) {
    if console::is_first_hint(hint) {
        say(format_args!("note: {hint}"));
    }
}

/// Prints lines that contain no input text, or only text that is written out.
pub(super) fn say_drawn(lines: &str) {
    let _ = out_of_the_way(|| Stream::Err.write_all(format!("{lines}\n").as_bytes()));
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        match error {
            ExperimentError::Config(error) => Self::Input(error),
            error => Self::Argument(error.to_string()),
        }
    }
}

/// Printing, followed by the result of a check.
pub(super) trait AndCheck {
    /// Returns the result of `check` after printing. A failed check counts even if the reader closed
    /// standard output.
    fn and_check(self, check: Result<(), Failure>) -> Result<(), Failure>;
}

impl AndCheck for Result<(), Failure> {
    fn and_check(self, check: Result<(), Failure>) -> Result<(), Failure> {
        match self {
            Ok(()) | Err(Failure::BrokenPipe) => check,
            Err(failure) => Err(failure),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Input(Box::new(error))
    }
}

/// Prints an input error: with the lines of the file in a terminal, else one line
/// `file:line:column: message` per problem.
fn report_config(error: &ConfigError) {
    match error {
        ConfigError::Invalid { file, problems } if Stream::Err.is_terminal() => {
            for problem in problems {
                say_drawn(&(drawn(file, problem) + "\n"));
            }
        }
        _ => print(format_args!("error: {error}")),
    }
}

/// Draws a problem with its line, and underlines the place.
fn drawn(file: &Source, problem: &Problem) -> String {
    let source = drawable(file.text());
    let drawn_span = |span: &Range<usize>| {
        drawn_place(file.text(), span.start)..drawn_place(file.text(), span.end.max(span.start))
    };
    let snippet = Snippet::source(&*source).path(text::shown(file.name()));
    let title = Level::ERROR.primary_title(text::shown(&problem.message));
    let places = problem.places.iter().map(|place| {
        AnnotationKind::Context.span(drawn_span(&place.span)).label(text::shown(&place.value))
    });
    let primary = AnnotationKind::Primary.span(drawn_span(&problem.span));
    let mut report = title.element(snippet.annotation(primary).annotations(places));
    if let Some(help) = &problem.help {
        report = report.element(Level::HELP.message(text::shown(help)));
    }
    let renderer = match colour::wanted(Stream::Err) {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    renderer.render(&[report])
}

/// Returns the text of a file for a drawing, with escape sequences written out.
fn drawable(text: &str) -> String {
    text::shown(&text.replace("\r\n", "\n")).into_owned()
}

/// Returns the position in the [`drawable`] form of the byte at `place` of `text`.
fn drawn_place(text: &str, place: usize) -> usize {
    let (before, after) = text.split_at(text.floor_char_boundary(place));
    let before =
        if after.starts_with('\n') { before.strip_suffix('\r').unwrap_or(before) } else { before };
    drawable(before).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_problem_has_no_escape_sequences_and_its_caret_is_at_its_place() {
        let text = "a: 1\r\nb: \u{1b}[31m\u{200f} wrong\n";
        let file = Source::new("no\u{1b}]0;t\u{7}.yaml", text.to_string());
        let start = text.find("wrong").expect("it is there");
        let lines = drawn(&file, &Problem::new(start..start + 5, "it is wrong"));
        assert!(!lines.contains(text::is_obeyed), "{lines:?}");
        assert!(lines.contains("no\\u{1b}]0;t\\u{7}.yaml:2:"), "{lines}");
        let column = |mark: &str, part: &str| {
            let line = lines.lines().find(|line| line.contains(mark));
            line.and_then(|line| line.find(part)).unwrap_or_else(|| panic!("{lines}"))
        };
        assert_eq!(column("b: \\u{1b}[31m\\u{200f} wrong", "wrong"), column("^^^^^", "^^^^^"));
    }

    #[test]
    fn a_reason_is_one_line_without_marks_of_direction() {
        let failure = Failure::Argument("a\u{202e}b\nc\u{1b}".into());
        assert_eq!(failure.reason(), "a b c ");
    }
}

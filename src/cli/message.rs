//! What a user reads when something is wrong, and the exit status that goes with it.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use miette::{Diagnostic, GraphicalReportHandler, LabeledSpan, SourceCode};

use crate::config::{ConfigError, Problem, Source};

/// A command that did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The input is wrong: exit status 2.
    Input(Box<ConfigError>),
    /// An argument is wrong: exit status 2.
    Argument(String),
    /// A check said no: exit status 1.
    Check(String),
    /// The system refused: output cannot be written. Exit status 2.
    Output(String),
    /// The reader of standard output went away; nothing to say.
    BrokenPipe,
}

impl Failure {
    /// A failure to write `what`.
    pub fn writing(what: &dyn fmt::Display, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Output(format!("cannot write {what}: {error}"))
    }

    /// Prints the message on standard error and gives the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Input(error) => report_config(error),
            Self::Argument(message) | Self::Output(message) => eprintln!("error: {message}"),
            Self::Check(message) => {
                eprintln!("{message}");
                return ExitCode::from(1);
            }
            Self::BrokenPipe => return ExitCode::SUCCESS,
        }
        ExitCode::from(2)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Input(Box::new(error))
    }
}

/// Prints an input error: with the lines in question in a terminal, `file:line:column: message` a
/// line where programs read it.
pub fn report_config(error: &ConfigError) {
    if let ConfigError::Invalid { file, problems } = error
        && io::stderr().is_terminal()
    {
        for problem in problems {
            let mut text = String::new();
            let handler = GraphicalReportHandler::new();
            let snippet = Snippet { file, problem };
            if handler.render_report(&mut text, &snippet).is_ok() {
                eprint!("{text}");
            }
        }
        return;
    }
    eprintln!("error: {error}");
}

/// One problem in the form that miette draws.
#[derive(Debug)]
struct Snippet<'a> {
    file: &'a Source,
    problem: &'a Problem,
}

impl fmt::Display for Snippet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.file.position(self.problem.span.start);
        write!(f, "{}:{line}:{column}: {}", self.file.name(), self.problem.message)
    }
}

impl std::error::Error for Snippet<'_> {}

impl Diagnostic for Snippet<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".into()), span))))
    }
}

impl SourceCode for Snippet<'_> {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        self.file.text().read_span(span, context_lines_before, context_lines_after)
    }
}

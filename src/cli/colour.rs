//! Whether output is coloured or bold, and drawn with lines: `--color`, then what the environment says.

use std::env;
use std::io::{self, IsTerminal as _};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};

use crate::report::table::Style;

/// Takes over what `--color` says.
pub fn choose(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Whether `stream` takes colours and bold type: `--color`; without it `NO_COLOR`, `CLICOLOR_FORCE`,
/// `CLICOLOR` and `TERM`, in this order, and whether it is a terminal.
pub fn wanted(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Whether the terminal can only print one line after another.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Lines and bold type where a person looks, plain text where a program reads.
pub fn table_style() -> Style {
    let out = io::stdout();
    match (wanted(&out), out.is_terminal() && !is_dumb()) {
        (true, _) => Style::Terminal,
        (false, true) => Style::Lines,
        (false, false) => Style::Plain,
    }
}

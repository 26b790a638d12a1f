//! Whether output is coloured or bold, and drawn with lines: `--color`, then what the environment says.

use std::env;
use std::io;

use anstream::{AutoStream, ColorChoice};

use crate::report::table::Style;

use super::console::Stream;

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
/// `CLICOLOR` and `TERM`, in this order, and whether it is a terminal. Memory takes none.
pub fn wanted(stream: Stream) -> bool {
    let choice = match stream {
        _ if stream.is_captured() => ColorChoice::Never,
        Stream::Out => AutoStream::choice(&io::stdout()),
        Stream::Err => AutoStream::choice(&io::stderr()),
    };
    choice != ColorChoice::Never
}

/// Whether the terminal can only print one line after another.
pub fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Lines and bold type where a person looks, plain text where a program reads.
pub fn table_style() -> Style {
    match (wanted(Stream::Out), Stream::Out.is_terminal() && !is_dumb()) {
        (true, _) => Style::Terminal,
        (false, true) => Style::Lines,
        (false, false) => Style::Plain,
    }
}

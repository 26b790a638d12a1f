//! Choice of colours, bold type and lines, from `--color` and the environment.

use std::env;
use std::io;

use anstream::{AutoStream, ColorChoice};

use xrsim_report::table::Style;

use super::console::Stream;

/// Sets the choice of `--color`.
pub(super) fn choose(choice: clap::ColorChoice) {
    match choice {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Whether `stream` takes colours and bold type. This depends on `--color`; without it on `NO_COLOR`,
/// `CLICOLOR_FORCE`, `CLICOLOR` and `TERM`, in this order, and on whether `stream` is a terminal. Memory
/// takes none.
pub(super) fn wanted(stream: Stream) -> bool {
    let choice = match stream {
        _ if stream.is_captured() => ColorChoice::Never,
        Stream::Out => AutoStream::choice(&io::stdout()),
        Stream::Err => AutoStream::choice(&io::stderr()),
    };
    choice != ColorChoice::Never
}

/// Whether the terminal can only append lines.
pub(super) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Returns the style of tables: lines and bold type on a terminal, plain text elsewhere.
pub(super) fn table_style() -> Style {
    match (wanted(Stream::Out), Stream::Out.is_terminal() && !is_dumb()) {
        (true, _) => Style::Terminal,
        (false, true) => Style::Lines,
        (false, false) => Style::Plain,
    }
}

//! `xrsim man`: the manual pages.

use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::args::Cli;
use super::message::{Failure, say};
use super::output;

/// Prints the page of the program, or writes it and those of all its commands to `folder`.
///
/// # Errors
///
/// If they cannot be written.
pub fn run(folder: Option<&Path>) -> Result<(), Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = folder else {
        return output::print(&page(&Man::new(program))?);
    };
    output::create_folder(folder)?;
    let mut n_pages = 0;
    for command in all(&program) {
        let man = Man::new(command.clone());
        output::write_text(&folder.join(man.get_filename()), &page(&man)?)?;
        n_pages += 1;
    }
    say(format_args!("wrote {n_pages} pages to {}", folder.display()));
    Ok(())
}

/// A command with those below it.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|it| !it.is_hide_set()).flat_map(all);
    std::iter::once(command).chain(below).collect()
}

fn page(man: &Man) -> Result<String, Failure> {
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Failure::writing(&"the page", &error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

//! `xrsim setup man`: the manual pages.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use super::message::{Failure, say};
use super::output;

/// Print the manual page (roff), or write the pages of all commands.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder to write to: one page for the program, and one for each command.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the page of the program, or writes the pages of the program and of its commands.
///
/// # Errors
///
/// Returns a failure if the pages cannot be written.
pub(super) fn run(args: &ManArgs) -> Result<(), Failure> {
    let mut program = super::program().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.out else {
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

/// Lists a command and all of its subcommands.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|it| !it.is_hide_set()).flat_map(all);
    std::iter::once(command).chain(below).collect()
}

fn page(man: &Man) -> Result<String, Failure> {
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Failure::writing(&"the page", &error))?;
    Ok(String::from_utf8_lossy(&text).replace("\n.SH EXTRA\n", "\n.SH NOTES\n"))
}

//! Pages of the reference that the library knows: commands, settings, schedulers, columns and more.

mod commands;
mod files;
mod formats;
mod markdown;
mod models;
mod settings;
mod validation;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use crate::repository::Repository;

/// Folder of the pages, in the repository.
const FOLDER: &str = "docs/reference";

/// Folder of the pages of commands, which has no others.
const COMMANDS: &str = "docs/reference/commands";

/// Command that mends the pages.
const MEND: &str = "cargo run -p manual -- generate";

/// Every page that is generated: its path in the repository, and its text.
///
/// # Errors
///
/// An error that names what has no sentence.
fn pages() -> Result<Vec<(PathBuf, String)>, Box<dyn Error>> {
    let program = xrsim::cli::program();
    let mut pages = vec![
        ("commands.md", commands::overview(&program)),
        ("settings.md", settings::page(&settings::all())?),
        ("schedulers.md", models::schedulers()),
        ("cost-models.md", models::cost_models()),
        ("quirks.md", models::quirks()),
        ("output-files.md", files::page(&files::written()?)?),
        ("input-formats.md", formats::page()),
        ("validation.md", validation::page()?),
    ]
    .into_iter()
    .map(|(name, text)| (Path::new(FOLDER).join(name), text))
    .collect::<Vec<_>>();
    for (name, text) in commands::pages(&program)? {
        pages.push((Path::new(COMMANDS).join(format!("{name}.md")), text));
    }
    Ok(pages)
}

/// Writes the pages, and removes those of commands that are no more.
///
/// # Errors
///
/// An error if a page cannot be made or written.
pub(crate) fn generate(repository: &Repository) -> Result<bool, Box<dyn Error>> {
    let pages = pages()?;
    for path in leftover(repository, &pages)? {
        fs::remove_file(repository.root.join(&path))?;
        println!("removed {}", path.display());
    }
    let mut n_written = 0;
    for (path, text) in &pages {
        let file = repository.root.join(path);
        if fs::read_to_string(&file).is_ok_and(|old| old == *text) {
            continue;
        }
        fs::create_dir_all(file.parent().unwrap_or(&repository.root))?;
        fs::write(&file, text)?;
        println!("wrote {}", path.display());
        n_written += 1;
    }
    println!("{n_written} of {} pages changed", pages.len());
    Ok(true)
}

/// Compares the pages with those of the repository. Prints the first difference of each. Returns whether all
/// are equal.
///
/// # Errors
///
/// An error if a page cannot be made.
pub(crate) fn check(repository: &Repository) -> Result<bool, Box<dyn Error>> {
    let pages = pages()?;
    let mut n_stale = 0;
    for (path, text) in &pages {
        let old = fs::read_to_string(repository.root.join(path)).unwrap_or_default();
        if let Some(difference) = first_difference(&old, text) {
            println!("FAILED  {}{difference}", path.display());
            n_stale += 1;
        }
    }
    for path in leftover(repository, &pages)? {
        println!("FAILED  {}: there is no such command", path.display());
        n_stale += 1;
    }
    match n_stale {
        0 => println!("{} generated pages are up to date", pages.len()),
        _ => println!("{n_stale} pages are stale: {MEND}"),
    }
    Ok(n_stale == 0)
}

/// Pages of commands that are no more.
fn leftover(
    repository: &Repository,
    pages: &[(PathBuf, String)],
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let known: BTreeSet<_> = pages.iter().map(|(path, _)| path).collect();
    let files = repository.files()?.into_iter();
    Ok(files.filter(|path| path.starts_with(COMMANDS) && !known.contains(path)).collect())
}

/// Line, old and new text of the first line that differs.
fn first_difference(old: &str, new: &str) -> Option<String> {
    let (mut old, mut new) = (old.lines(), new.lines());
    for line in 1.. {
        let (a, b) = (old.next(), new.next());
        if a != b {
            let shown = |sign: &str, text: Option<&str>| {
                format!("\n  {sign} {}", text.unwrap_or("(the page ends)"))
            };
            return Some(format!(":{line}{}{}", shown("-", a), shown("+", b)));
        }
        a?;
    }
    None
}

#[cfg(test)]
mod tests;

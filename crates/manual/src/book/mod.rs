//! The site: the pages of `docs/` as HTML that opens from a folder, with a search that needs no network.

mod check;
mod glossary;
mod links;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;
use mdbook_driver::book::Chapter;

use crate::repository::Repository;

use links::Targets;

/// Folder of the pages, in the repository.
const SOURCE: &str = "docs";

/// Page of the words, relative to the source of the book.
const WORDS: &str = "reference/terms.md";

/// Start of a line that stands for a file.
const INCLUDE: &str = "{{#include ";

/// Makes the site in `out`, and checks its links. Returns whether all lead somewhere.
///
/// # Errors
///
/// An error if a page cannot be read, or the site cannot be written.
pub(crate) fn build(repository: &Repository, out: &Path) -> Result<bool, Box<dyn Error>> {
    let mut book = MDBook::load(repository.root.join(SOURCE))?;
    book.config.build.build_dir = std::path::absolute(out)?;
    let targets = Targets::new(&repository.root, included(&book)?);
    let mut problem = None;
    book.book.for_each_chapter_mut(|chapter| {
        if let Err(error) = rewrite(repository, &targets, chapter) {
            problem.get_or_insert(error);
        }
    });
    if let Some(error) = problem {
        return Err(error);
    }
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    book.build()?;
    targets.copy_figures(out)?;
    for name in ["book.toml", ".nojekyll"] {
        let _ = fs::remove_file(out.join(name));
    }
    let site = check::Site::read(out)?;
    let dead = site.dead_links();
    for link in &dead {
        println!("FAILED  {link}");
    }
    println!(
        "{}: {} pages, {} links, {} lead nowhere",
        out.display(),
        site.n_pages(),
        site.n_links(),
        dead.len()
    );
    Ok(dead.is_empty())
}

/// Pages by the file of the repository that they show: their own, or the one that they include.
fn included(book: &MDBook) -> Result<BTreeMap<PathBuf, PathBuf>, Box<dyn Error>> {
    let mut pages = BTreeMap::new();
    for chapter in book.book.chapters() {
        let Some(source) = &chapter.source_path else { continue };
        let file = Path::new(SOURCE).join(source);
        for line in chapter.content.lines() {
            if let Some(path) = included_file(&file, line) {
                pages.insert(path, source.clone());
            }
        }
        pages.insert(file, source.clone());
    }
    Ok(pages)
}

/// The file of the repository that a line of `page` stands for.
fn included_file(page: &Path, line: &str) -> Option<PathBuf> {
    let path = line.trim().strip_prefix(INCLUDE)?.strip_suffix("}}")?;
    links::joined(page.parent()?, path.trim())
}

/// Includes files, and makes all links lead to pages.
fn rewrite(
    repository: &Repository,
    targets: &Targets,
    chapter: &mut Chapter,
) -> Result<(), Box<dyn Error>> {
    let Some(source) = chapter.source_path.clone() else { return Ok(()) };
    let page = Path::new(SOURCE).join(&source);
    let mut text = String::new();
    let mut own = String::new();
    for line in chapter.content.split_inclusive('\n') {
        match included_file(&page, line) {
            None => own += line,
            Some(file) => {
                text += &targets.rewritten(&std::mem::take(&mut own), &page, &source);
                text += &targets.rewritten(&repository.read(&file)?, &file, &source);
            }
        }
    }
    text += &targets.rewritten(&own, &page, &source);
    chapter.content = if source == Path::new(WORDS) { glossary::entries(&text) } else { text };
    Ok(())
}

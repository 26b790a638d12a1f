//! The table of contents has every page.

use std::error::Error;
use std::path::Path;

use crate::repository::Repository;

/// Table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Prints the pages of `docs/` that the table of contents does not have. Returns whether there are none.
///
/// # Errors
///
/// An error if it cannot be read.
pub(crate) fn check(repository: &Repository) -> Result<bool, Box<dyn Error>> {
    let summary = repository.read(Path::new(SUMMARY))?;
    let pages = repository.pages()?;
    let mut is_complete = true;
    for page in pages.iter().filter_map(|path| path.strip_prefix("docs").ok()) {
        let page = page.display().to_string();
        if page != "SUMMARY.md" && !summary.contains(&format!("]({page})")) {
            println!("FAILED  {SUMMARY}: it does not have {page}");
            is_complete = false;
        }
    }
    Ok(is_complete)
}

//! Runs what the pages show, and compares what they say that it prints.
//!
//! | block | effect |
//! |---|---|
//! | `sh` | a script that must succeed |
//! | `sh fails=2` | a script that must end with this status; the next block, `text`, is what it prints |
//! | `text` that begins with `$ ` | commands, each followed by what it prints, byte for byte |
//! | `text fails=2` | the same; its last command must end with this status |
//! | `yaml` that begins with a key | a file that `xrsim check` accepts |
//! | `yaml file=NAME` | a file for the later blocks of the page; `xrsim check` must accept it |
//! | `csv file=NAME` and others | a file for the later blocks of the page |
//!
//! `...` stands for anything in what is printed. Commands of a `text` block may end with 1, which says that a
//! check failed. All blocks of a page share a folder, which is empty at first, and run in their order. A block
//! whose first line is `# in this repository` runs in a copy of it. A block whose first line begins with
//! `# needs` says what it takes, and is not run.

mod block;
mod page;
mod shell;
mod shown;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use crate::repository::Repository;

use page::Tally;
use shell::Place;

/// Blocks of all pages that are not run. More need a reason that the review accepts, and a larger number here: four sweeps
/// of days take minutes.
const NOT_RUN_AT_MOST: usize = 15;

/// Runs the blocks of `files`, or of all pages if there are none, as many pages at once as there are
/// processors. Returns whether all are true.
///
/// # Errors
///
/// An error if a page cannot be read or written, or if there is no folder to work in.
pub(crate) fn run(
    repository: &Repository,
    program: &Path,
    files: &[PathBuf],
    is_update: bool,
) -> Result<bool, Box<dyn Error>> {
    let is_all = files.is_empty();
    let paths = if is_all { repository.pages()? } else { within(repository, files)? };
    let mut pages = Vec::new();
    for path in paths {
        let text = repository.read(&path)?;
        pages.push((path, text));
    }
    // Long pages first, so that none of them is left to the end.
    pages.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let folder = tempfile::Builder::new().prefix("xrsim-manual-").tempdir()?;
    let place = Place::new(repository, program, folder.path())?;
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let written: Mutex<Vec<_>> = Mutex::default();
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads.min(pages.len()) {
            scope.spawn(|| {
                while let Some((path, text)) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (mended, found) = page::run(&place, path, text, is_update);
                    tally.lock().expect("no thread panics").add(&found);
                    if mended != *text {
                        written.lock().expect("no thread panics").push((path, mended));
                    }
                }
            });
        }
    });
    for (path, text) in written.into_inner().expect("no thread panics") {
        fs::write(repository.root.join(path), text)?;
    }
    let tally = tally.into_inner().expect("no thread panics");
    println!("{tally}");
    let has_too_many = is_all && tally.not_run > NOT_RUN_AT_MOST;
    if has_too_many {
        println!(
            "FAILED  {} blocks are not run, at most {NOT_RUN_AT_MOST} are allowed",
            tally.not_run
        );
    }
    Ok(tally.failed == 0 && !has_too_many)
}

/// Paths of files in the repository, relative to its root.
fn within(repository: &Repository, files: &[PathBuf]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let root = repository.root.canonicalize()?;
    let relative = |path: &PathBuf| {
        let full = path.canonicalize().map_err(|it| format!("{}: {it}", path.display()))?;
        let inside = full.strip_prefix(&root).map(Path::to_path_buf);
        inside.map_err(|_| format!("{} is no page of this repository", path.display()).into())
    };
    files.iter().map(relative).collect()
}

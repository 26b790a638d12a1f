//! Links of pages: those to files of the repository become links to pages, or plain text.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use pulldown_cmark::{Event, Options, Parser, Tag};

/// What links may lead to.
pub(super) struct Targets {
    /// Folder of the repository.
    root: PathBuf,
    /// Pages by the files that they show; pages are relative to the source of the book.
    pages: BTreeMap<PathBuf, PathBuf>,
    /// Figures outside of the book that pages show.
    figures: RefCell<BTreeSet<PathBuf>>,
}

/// Folder of the site for figures outside of the book.
const FIGURES: &str = "shown";

impl Targets {
    pub(super) fn new(root: &Path, pages: BTreeMap<PathBuf, PathBuf>) -> Self {
        Self { root: root.into(), pages, figures: RefCell::default() }
    }

    /// `text` of a file of the repository, with links for the page `page`. A link to a file that no page shows
    /// becomes its text, because the site has no such file.
    pub(super) fn rewritten(&self, text: &str, file: &Path, page: &Path) -> String {
        let mut rewritten = String::new();
        let mut at = 0;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            let link = &text[range.clone()];
            let replacement = match event {
                Event::Start(Tag::Link { dest_url, .. }) => self.link(link, &dest_url, file, page),
                Event::Start(Tag::Image { dest_url, .. }) => {
                    self.figure(link, &dest_url, file, page)
                }
                _ => None,
            };
            let Some(replacement) = replacement else { continue };
            if range.start < at {
                continue;
            }
            rewritten += &text[at..range.start];
            rewritten += &replacement;
            at = range.end;
        }
        rewritten + &text[at..]
    }

    /// What stands for a link; `None` if it stays.
    fn link(&self, link: &str, dest: &str, file: &Path, page: &Path) -> Option<String> {
        let (label, _) = link.strip_prefix('[')?.rsplit_once("](")?;
        match self.target(dest, file, page) {
            Target::Elsewhere => None,
            Target::Page(path) => Some(format!("[{label}]({path})")),
            Target::NoPage => Some(label.to_string()),
        }
    }

    /// What stands for a figure outside of the book, which is copied into the site; `None` if it stays.
    fn figure(&self, figure: &str, dest: &str, file: &Path, page: &Path) -> Option<String> {
        let target = joined(file.parent()?, dest)?;
        if target.starts_with(super::SOURCE) || !self.root.join(&target).is_file() {
            return None;
        }
        let (label, _) = figure.strip_prefix("![")?.rsplit_once("](")?;
        let path = relative(page, &Path::new(FIGURES).join(target.file_name()?));
        self.figures.borrow_mut().insert(target);
        Some(format!("![{label}]({path})"))
    }

    /// Copies the figures outside of the book into the site.
    ///
    /// # Errors
    ///
    /// The error of a figure that cannot be copied.
    pub(super) fn copy_figures(&self, site: &Path) -> io::Result<()> {
        for figure in self.figures.borrow().iter() {
            let folder = site.join(FIGURES);
            fs::create_dir_all(&folder)?;
            fs::copy(self.root.join(figure), folder.join(figure.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }

    fn target(&self, link: &str, file: &Path, page: &Path) -> Target {
        let (path, anchor) =
            link.split_once('#').map_or((link, None), |(path, it)| (path, Some(it)));
        if path.is_empty() || link.contains("://") || link.starts_with("mailto:") {
            return Target::Elsewhere;
        }
        let Some(target) = file.parent().and_then(|folder| joined(folder, path)) else {
            return Target::NoPage;
        };
        let found = self.pages.get(&target).or_else(|| self.pages.get(&target.join("README.md")));
        let Some(found) = found else {
            let is_beside = file.ends_with(page) && target.starts_with(super::SOURCE);
            // Figures of a page are copied with it.
            return if is_beside && self.root.join(&target).is_file() {
                Target::Elsewhere
            } else {
                Target::NoPage
            };
        };
        let anchor = anchor.map_or(String::new(), |it| format!("#{it}"));
        Target::Page(format!("{}{anchor}", relative(page, &as_page(found))))
    }
}

/// Where a link leads.
enum Target {
    /// To the same page, another site or a file beside the page: the link stays.
    Elsewhere,
    /// To a page.
    Page(String),
    /// To a file that the site does not have.
    NoPage,
}

/// A page as links name it. The book writes `README.md` as `index.html`.
fn as_page(path: &Path) -> PathBuf {
    match path.ends_with("README.md") {
        true => path.with_file_name("index.md"),
        false => path.into(),
    }
}

/// The path `path` from `folder`, without `.` and `..`; `None` outside of the root.
pub(super) fn joined(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::Normal(name) => joined.push(name),
            Component::CurDir => {}
            Component::ParentDir if joined.pop() => {}
            _ => return None,
        }
    }
    Some(joined)
}

/// Path from a page to another one.
fn relative(from: &Path, to: &Path) -> String {
    let depth = from.components().count().saturating_sub(1);
    format!("{}{}", "../".repeat(depth), to.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_or_become_text() {
        let pages = [
            ("docs/README.md", "README.md"),
            ("docs/explanation/runtime.md", "explanation/runtime.md"),
            ("models/README.md", "reference/data/models.md"),
        ];
        let pages = pages.map(|(file, page)| (file.into(), page.into()));
        let targets = Targets::new(Path::new("/nowhere"), pages.into_iter().collect());
        let rewritten = |text: &str| {
            targets.rewritten(
                text,
                Path::new("models/README.md"),
                Path::new("reference/data/models.md"),
            )
        };
        for (text, expected) in [
            ("[a](../docs/explanation/runtime.md#b)", "[a](../../explanation/runtime.md#b)"),
            ("[`m`](../models/)", "[`m`](../../reference/data/models.md)"),
            ("[home](../docs/README.md)", "[home](../../index.md)"),
            (
                "see [code](../src/lib.rs), [x](https://example.org)",
                "see code, [x](https://example.org)",
            ),
            ("[here](#part) `[no](link.md)`", "[here](#part) `[no](link.md)`"),
            ("[out](../../etc/passwd)", "out"),
        ] {
            assert_eq!(rewritten(text), expected);
        }
    }
}

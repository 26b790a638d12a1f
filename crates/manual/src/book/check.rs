//! Links of the site as it was written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::links::joined;

/// Files of the site, with the anchors and links of its pages.
pub(super) struct Site {
    files: BTreeSet<PathBuf>,
    pages: BTreeMap<PathBuf, Html>,
}

/// Anchors and links of a page.
struct Html {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

impl Site {
    /// Reads all files below a folder.
    ///
    /// # Errors
    ///
    /// An error if a folder or a page cannot be read.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut site = Self { files: BTreeSet::new(), pages: BTreeMap::new() };
        let mut folders = vec![folder.to_path_buf()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
                if path.extension().is_some_and(|it| it == "html") {
                    let text = fs::read_to_string(&path)?;
                    let html = Html { anchors: values(&text, "id").collect(), links: links(&text) };
                    site.pages.insert(name.clone(), html);
                }
                site.files.insert(name);
            }
        }
        Ok(site)
    }

    pub(super) fn n_pages(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn n_links(&self) -> usize {
        self.pages.values().map(|page| page.links.len()).sum()
    }

    /// Links within the site that lead to no file, or to no anchor of a page.
    pub(super) fn dead_links(&self) -> Vec<String> {
        let mut dead = Vec::new();
        for (name, page) in &self.pages {
            for link in &page.links {
                if !self.leads_somewhere(name, link) {
                    dead.push(format!("{}: `{link}` leads nowhere", name.display()));
                }
            }
        }
        dead
    }

    fn leads_somewhere(&self, page: &Path, link: &str) -> bool {
        let has_scheme = ["http:", "https:", "mailto:", "data:", "javascript:"]
            .iter()
            .any(|it| link.starts_with(it));
        if has_scheme {
            return true;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = match path {
            "" => Some(page.to_path_buf()),
            path => joined(page.parent().unwrap_or(Path::new("")), path),
        };
        let Some(target) = target.filter(|target| self.files.contains(target)) else {
            return false;
        };
        let has_anchor = |html: &Html| html.anchors.contains(anchor);
        anchor.is_empty() || self.pages.get(&target).is_some_and(has_anchor)
    }
}

/// What a page links to and loads.
fn links(html: &str) -> Vec<String> {
    values(html, "href").chain(values(html, "src")).collect()
}

/// Values of an attribute in double quotes.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = String> + 'a {
    let start = format!(" {attribute}=\"");
    let parts: Vec<_> = html.split(&start).skip(1).collect();
    parts
        .into_iter()
        .filter_map(|part| part.split_once('"'))
        .map(|(value, _)| value.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_and_anchors_that_are_not_there_are_dead() {
        let folder = tempfile::tempdir().expect("there is a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("it is written")
        };
        write(
            "a.html",
            r##"<h2 id="x"></h2><a href="#x"></a><a href="#y"></a><a href="b.html#z"></a>"##,
        );
        write(
            "b.html",
            r##"<h2 id="z"><a href="a.html"></a><img src="c.svg"><a href="https://d.e/f"></a>"##,
        );
        let site = Site::read(folder.path()).expect("it is read");
        assert_eq!(
            site.dead_links(),
            ["a.html: `#y` leads nowhere", "b.html: `c.svg` leads nowhere"]
        );
        assert_eq!((site.n_pages(), site.n_links()), (2, 6));
    }
}

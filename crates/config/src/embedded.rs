//! The data files of this repository, compiled into the program.
//!
//! `build.rs` lists every YAML file under `models/`, `dataflows/`, `hw_configs/` and `scenarios/`.
//! Each begins, after comments, with its kind on one line and its name on the next; the tests hold
//! them to that, so that nothing needs to be parsed to find a file. Beside each stands the tree of its text,
//! so that no YAML is parsed to read it.

use std::sync::LazyLock;

use super::{Edition, Kind};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// One embedded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Embedded {
    /// Path in the repository, e.g. `scenarios/artifact/AR_gaming.yaml`.
    pub path: &'static str,
    /// Contents.
    pub text: &'static str,
    /// Tree of the contents; `None` of a file that is wrong, whose problems are found when it is read.
    pub tree: Option<&'static [u8]>,
    /// Kind of the file.
    pub kind: Kind,
}

impl Embedded {
    /// Path without the top folder and the extension, e.g. `artifact/AR_gaming`.
    fn name(&self) -> &'static str {
        let inner = self.path.split_once('/').map_or(self.path, |(_, inner)| inner);
        inner.strip_suffix(".yaml").unwrap_or(inner)
    }

    /// Name that the file declares.
    fn declared_name(&self) -> Option<&'static str> {
        lines(self.text).nth(1)?.trim_start().strip_prefix("name: ")
    }

    /// Task that the file of a network declares on the line after its name; `None` if another line follows.
    pub(super) fn declared_task(&self) -> Option<&'static str> {
        lines(self.text).nth(2)?.trim_start().strip_prefix("task: ")
    }
}

/// Every embedded file, in order of path.
static ALL: LazyLock<Vec<Embedded>> = LazyLock::new(|| {
    let file = |&(path, text, tree): &(&'static str, &'static str, Option<&'static [u8]>)| {
        let key = lines(text).next()?.strip_suffix(':')?;
        Some(Embedded { path, text, tree, kind: Kind::of_key(key)? })
    };
    FILES.iter().filter_map(file).collect()
});

/// Whether there is an embedded file at this path.
pub(super) fn is_file(path: &str) -> bool {
    FILES.iter().any(|(known, ..)| *known == path)
}

/// The embedded file at this path.
pub(super) fn at(path: &str) -> Option<&'static Embedded> {
    ALL.iter().find(|file| file.path == path)
}

/// The embedded files of `kind`, in order of path.
fn of_kind(kind: Kind) -> impl Iterator<Item = &'static Embedded> {
    ALL.iter().filter(move |file| file.kind == kind)
}

/// Folder that is searched before the others for files of a kind, so that its files go by their bare
/// names.
pub(super) fn default_folder(kind: Kind, edition: Edition) -> &'static str {
    match kind {
        Kind::Network => edition.networks(),
        Kind::System => "examples/",
        Kind::Mapspace => "mapspaces/",
        Kind::Mlperf => "mlperf/",
        Kind::Search => "searches/",
        Kind::Sweep => "sweeps/",
        Kind::Technology => "technologies/",
        Kind::Uncertainty => "uncertainties/",
        Kind::Points => "points/",
        Kind::Device => "devices/",
        Kind::Profile => "profiles/",
        _ => "",
    }
}

/// Folder whose files go by their bare names, too, where the default one has none of the name.
fn further_folder(kind: Kind) -> Option<&'static str> {
    (kind == Kind::Network).then_some("mlperf/")
}

/// Names of the files of `kind`, in order; those that go by a path, such as other editions, are left out.
pub(super) fn names(kind: Kind, edition: Edition) -> Vec<String> {
    let folder = default_folder(kind, edition);
    let names = of_kind(kind).map(Embedded::name);
    let bare = names.map(|name| name.strip_prefix(folder).unwrap_or(name));
    bare.filter(|name| !name.contains('/')).map(Into::into).collect()
}

/// Bare names of the files of `kind` that [`names`] leaves out.
pub(super) fn further_names(kind: Kind) -> Vec<String> {
    let Some(folder) = further_folder(kind) else {
        return Vec::new();
    };
    names_in(kind, folder)
}

/// Bare names of the files of `kind` in a folder.
pub(super) fn names_in(kind: Kind, folder: &str) -> Vec<String> {
    let names = of_kind(kind).filter_map(|file| file.name().strip_prefix(folder));
    names.map(Into::into).collect()
}

/// The file of `kind` called `name`: by name without regard to case, by path without extension, or by
/// the name that it declares; of several the one in `folder`.
pub(super) fn find(kind: Kind, name: &str, folder: &str) -> Option<&'static Embedded> {
    let inside = |folder: &str| {
        let name = format!("{folder}{name}");
        of_kind(kind).find(move |file| file.name().eq_ignore_ascii_case(&name))
    };
    inside(folder)
        .or_else(|| inside(""))
        .or_else(|| further_folder(kind).and_then(inside))
        .or_else(|| of_kind(kind).find(|file| file.path.strip_suffix(".yaml") == Some(name)))
        .or_else(|| {
            let named = || of_kind(kind).filter(|file| file.declared_name() == Some(name));
            named().find(|file| file.name().starts_with(folder)).or_else(|| named().next())
        })
}

/// Lines that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{parse, unpack};

    #[test]
    fn every_tree_is_that_of_its_text() {
        assert_eq!(ALL.len(), FILES.len());
        for file in ALL.iter() {
            let tree = file.tree.map(|tree| unpack(tree, file.text));
            assert_eq!(tree, parse(file.text, &mut Vec::new()), "{}", file.path);
        }
    }

    #[test]
    fn a_declared_task_is_that_of_the_network() {
        let mut catalog = crate::Catalog::new();
        let mut n_declared = 0;
        for file in of_kind(Kind::Network) {
            let path = file.path.strip_suffix(".yaml").expect("it is YAML");
            if let Some(declared) = file.declared_task() {
                let task = catalog.model(path).expect("it is read").task.clone();
                assert_eq!(*task, *declared, "{path}");
                n_declared += 1;
            }
        }
        assert!(n_declared >= 11, "{n_declared}");
    }
}

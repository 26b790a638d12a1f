//! Names that changed and are still read under the old one for one version.
//!
//! Whoever owns a set of names (keys, option values, columns) keeps a table of [`Renamed`] beside it,
//! looks a name up with [`find`], and passes what it found on to the caller. The command line prints
//! it on standard error; the library prints nothing.

use std::fmt;

/// A name of version 0.1 and the one that took its place. Displays as the hint for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Renamed {
    /// Kind of the named thing, in the singular, e.g. `cost model`; empty where the name says enough.
    pub kind: &'static str,
    /// Name up to version 0.1.
    pub old: &'static str,
    /// Name since version 0.2.
    pub new: &'static str,
}

impl Renamed {
    /// A key of a file that changed its name.
    pub const fn key(old: &'static str, new: &'static str) -> Self {
        Self { kind: "key", old, new }
    }
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, old, new } = self;
        let space = if kind.is_empty() { "" } else { " " };
        write!(
            f,
            "{kind}{space}`{old}` is called `{new}` since 0.2; the old name will be refused in 0.3"
        )
    }
}

/// The entry of `names` whose old name is `name`.
pub fn find(names: &[Renamed], name: &str) -> Option<Renamed> {
    names.iter().find(|renamed| renamed.old == name).copied()
}

/// The name in use for `name`, which may be an old one of `names`, and the entry if it is.
pub fn current<'a>(names: &[Renamed], name: &'a str) -> (&'a str, Option<Renamed>) {
    match find(names, name) {
        Some(renamed) => (renamed.new, Some(renamed)),
        None => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [Renamed; 2] = [
        Renamed { kind: "", old: "engine.late", new: "engine.deadline_miss" },
        Renamed { kind: "cost model", old: "principled", new: "loop-nest" },
    ];

    #[test]
    fn an_old_name_leads_to_the_new_one_and_a_hint() {
        let (name, renamed) = current(&NAMES, "principled");
        assert_eq!(name, "loop-nest");
        assert_eq!(
            renamed.expect("it is an old name").to_string(),
            "cost model `principled` is called `loop-nest` since 0.2; the old name will be refused \
             in 0.3"
        );
        assert_eq!(
            find(&NAMES, "engine.late").expect("it is an old name").to_string(),
            "`engine.late` is called `engine.deadline_miss` since 0.2; the old name will be refused \
             in 0.3"
        );
    }

    #[test]
    fn other_names_stay() {
        for name in ["loop-nest", "engine.deadline_miss", "nothing"] {
            assert_eq!(current(&NAMES, name), (name, None));
        }
    }
}

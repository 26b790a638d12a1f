//! Lists of names, each of which is there once.

use std::collections::BTreeSet;

use xrsim_model::hardware::{Pinned, Tasks};

use crate::Problem;
use crate::yaml::Node;
use crate::yaml::read::{At, Problems};
use crate::yaml::values::{Reader, at, at_most, list, proper_name};

/// Names of `what`, such as tasks of a scenario, each once.
pub(crate) fn names_once(what: &'static str) -> impl Reader<Value = Tasks> {
    let each_once = |names: Vec<At<Box<str>>>, _: &Node<'_>, to: &mut Problems| {
        are_different(names.iter(), to).then(|| names.into_iter().map(|it| it.value).collect())
    };
    at_most(Pinned::MAX, list(what, at(proper_name()))).then(each_once)
}

/// Whether no name is given twice, else a problem at each repetition.
pub(crate) fn are_different<'n>(
    names: impl Iterator<Item = &'n At<Box<str>>>,
    to: &mut Problems,
) -> bool {
    let mut seen = BTreeSet::new();
    let twice: Vec<_> = names.filter(|it| !seen.insert(&it.value)).collect();
    let text = |it: &str| format!("`{it}` is named twice");
    to.extend(twice.iter().map(|it| Problem::new(it.span.clone(), text(&it.value))));
    twice.is_empty()
}

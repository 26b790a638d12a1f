//! Shapes that do not fit, as problems of a file.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use crate::Problem;
use crate::yaml::read::Problems;
use crate::yaml::{Node, Value};
use xrsim_model::model::{Explanation, Misfit, Network, Source, View};

use super::{Entry, Item, count};

/// Most problems that are explained; a file reports no more.
const MAX_EXPLAINED: usize = 100;
/// Most sources that one problem names.
const MAX_NAMED: usize = 4;

/// Checks the shapes of a network that was read from `node`, layer by layer from these entries of
/// `items`. An entry that stands for several layers is reported once, for the first of them.
pub(super) fn check(
    network: &Network,
    node: &Node<'_>,
    entries: &[Rc<Entry>],
    items: &[Item],
    problems: &mut Problems,
) {
    let check = network.check_shapes();
    let text = Text { network, node, entries, items };
    let mut seen = HashSet::new();
    let first =
        |misfit: &&Misfit| seen.insert((entries[misfit.layer].start, misfit.sources.clone()));
    let misfits = check.misfits.iter().filter(first).take(MAX_EXPLAINED);
    problems.extend(misfits.map(|misfit| text.misfit(misfit)));
    // Other values of the parameters may need the word: one detection fits where ten are a repetition.
    if network.parameters().is_empty() {
        problems.extend(text.needless(&check.needless).into_iter().take(MAX_EXPLAINED));
    }
}

/// A network beside the text that it was read from.
struct Text<'a> {
    network: &'a Network,
    node: &'a Node<'a>,
    /// The entry of each layer.
    entries: &'a [Rc<Entry>],
    items: &'a [Item],
}

impl Text<'_> {
    fn misfit(&self, misfit: &Misfit) -> Problem {
        let explanation = self.network.explain(misfit);
        let layer = &self.network.layers()[misfit.layer];
        let together = if misfit.sources.len() > 1 { " of its sources together" } else { "" };
        let message = format!(
            "`{}`{} expects {}{together}",
            layer.name,
            in_copies(&copies(self.items, misfit.layer)),
            explanation.expected
        );
        let mut problem = Problem::new(self.span(misfit.layer, explanation.key), message);
        for (&source, given) in misfit.sources.iter().zip(&explanation.given).take(MAX_NAMED) {
            if let Source::Back(back) = layer.sources[source] {
                let giver = misfit.layer - back as usize;
                let part = format!("`{}` gives {given}", self.network.layers()[giver].name);
                problem = problem.place(self.label(giver), part);
            }
        }
        problem.help(help(&explanation))
    }

    /// Views that none of the layers of an entry needs.
    fn needless(&self, found: &[(usize, usize)]) -> Vec<Problem> {
        if found.is_empty() {
            return Vec::new();
        }
        let mut copies: HashMap<usize, usize> = HashMap::new();
        self.entries.iter().for_each(|entry| *copies.entry(entry.start).or_default() += 1);
        let mut needless: HashMap<(usize, usize), usize> = HashMap::new();
        let mut problems = Vec::new();
        for &(layer, source) in found {
            let start = self.entries[layer].start;
            let n = needless.entry((start, source)).or_default();
            *n += 1;
            if *n == copies[&start] {
                problems.push(self.needless_view(layer, source));
            }
        }
        problems
    }

    fn needless_view(&self, layer: usize, source: usize) -> Problem {
        let view = self.network.layers()[layer].view(source).name();
        let message = format!("`{view}` is not needed: source {} fits whole", source + 1);
        let problem = Problem::new(self.span(layer, "reads"), message);
        problem.help("a source that fits is read `whole`, which needs no word")
    }

    /// Bytes of the value of `key` in the entry of a layer, or else of its begin.
    fn span(&self, layer: usize, key: &str) -> Range<usize> {
        let start = self.entries[layer].start;
        let entry = find(self.node, start).map(|(_, body)| body);
        let value = entry.and_then(|body| match &body.value {
            Value::Mapping(keys) => keys.iter().find(|entry| entry.key == key),
            _ => None,
        });
        value.map_or(start..start, |entry| entry.value.span.clone())
    }

    /// Bytes of the operator of a layer.
    fn label(&self, layer: usize) -> Range<usize> {
        let start = self.entries[layer].start;
        find(self.node, start).map_or(start..start, |(label, _)| label)
    }
}

/// The value that begins at this byte, with the bytes of its key.
fn find<'n, 's>(node: &'n Node<'s>, start: usize) -> Option<(Range<usize>, &'n Node<'s>)> {
    match &node.value {
        Value::List(items) => items.iter().find_map(|item| find(item, start)),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            let found = entry.value.span.start == start;
            let here = found.then(|| (entry.key_span.clone(), &entry.value));
            here.or_else(|| find(&entry.value, start))
        }),
        _ => None,
    }
}

/// In which copies of repeated blocks a layer is, and of how many, the outermost block first.
fn copies(items: &[Item], layer: usize) -> Vec<[usize; 2]> {
    let mut before = 0;
    for item in items {
        let n_layers = count(std::slice::from_ref(item));
        if before + n_layers <= layer {
            before += n_layers;
            continue;
        }
        let Item::Repeat { times, items } = item else {
            break;
        };
        let each = count(items);
        let (copy, rest) = ((layer - before) / each, (layer - before) % each);
        let mut all = vec![[copy + 1, *times as usize]];
        all.extend(copies(items, rest));
        return all;
    }
    Vec::new()
}

/// E.g. ` (copy 1 of 24, copy 2 of 4)`; nothing outside of blocks that are repeated.
fn in_copies(copies: &[[usize; 2]]) -> String {
    let repeated = copies.iter().filter(|[_, times]| *times > 1);
    let words: Vec<_> = repeated.map(|[copy, times]| format!("copy {copy} of {times}")).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

fn help(explanation: &Explanation) -> String {
    if let Some([rows, columns]) = explanation.padding {
        return format!(
            "if {rows} rows and {columns} columns are padding, leave them out and write `pad`"
        );
    }
    let views: Vec<_> =
        explanation.views.iter().map(|view| format!("`reads: {}`", View::name(*view))).collect();
    match views.is_empty() {
        true => "correct an extent or `from`; nothing that `reads` can say makes them fit".into(),
        false => {
            format!("correct an extent or `from`, or say what is meant: {}", views.join(" or "))
        }
    }
}

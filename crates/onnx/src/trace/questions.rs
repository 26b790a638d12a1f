//! Questions and faults of a walk: what data decide, and what the file has wrong.

use std::collections::BTreeSet;

use super::TensorId;
use super::walk::{Walk, operator_name};
use crate::graph::Node;
use crate::rules::Fault;
use xrsim_model::text::in_line;

/// Extent that stands for one that data decide, to find more questions.
const GUESS: u64 = 100;

impl Walk<'_, '_> {
    /// Reports that data decide an extent. What follows is looked at with a guess, so that all questions come
    /// at once.
    pub(super) fn guess(&mut self, name: &str, what: &str, is_lost: &mut bool) -> u64 {
        let shown = in_line(name);
        self.problems.needs(
            format!("{shown}: how many {what} there are depends on data"),
            format!("--bound {shown}=N"),
        );
        *is_lost = true;
        GUESS
    }

    pub(super) fn fault(&mut self, name: &str, node: &Node, fault: Fault) {
        let shown = in_line(name);
        match fault {
            Fault::Unsupported => self.problems.unsupported(&operator_name(node), name),
            Fault::Invalid(message) => {
                let operator = in_line(&node.operator);
                let of = if *shown == *operator { shown } else { format!("{shown} ({operator})") };
                self.problems.add(format!("{of}: {message}"));
            }
            Fault::Bound(what) => {
                self.problems.add(format!("{shown}: how many {what} there are is not known"));
            }
            Fault::Elements(_) => {}
        }
    }

    /// Reports that a shape depends on elements that are not known.
    pub(super) fn needs_elements(&mut self, name: &str, node: &Node, id: TensorId) {
        let shown = format!("{} ({})", in_line(name), in_line(&node.operator));
        // Whence a shape comes is looked for a few times: each takes a walk through the graph.
        let origin = (self.problems.count() < 100).then(|| self.origin(id)).flatten();
        match origin {
            Some(input) => {
                let input = in_line(self.trace.tensor(input).name);
                self.problems.needs(
                    format!("{shown}: the shape comes from the input {input}"),
                    format!("--value {input}=N,N"),
                );
            }
            None => {
                let of = in_line(self.trace.tensor(id).name);
                self.problems.add(format!(
                    "{shown}: the shape comes from the elements of `{of}`, which depend on data"
                ));
            }
        }
    }

    /// The first integer input of the graph that a tensor depends on.
    pub(super) fn origin(&self, id: TensorId) -> Option<TensorId> {
        let is_integer =
            |id: &TensorId| self.trace.fact(*id).is_some_and(|fact| fact.element.is_integer());
        let all = self.ancestors(id);
        all.into_iter().find(|id| self.trace.inputs.contains(id) && is_integer(id))
    }

    /// A tensor, and all that it is computed from.
    fn ancestors(&self, id: TensorId) -> BTreeSet<TensorId> {
        let mut seen = BTreeSet::from([id]);
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let tensor = self.trace.tensor(id);
            let writer = tensor.writer.map(|writer| &self.trace.steps[writer as usize]);
            let read = writer.into_iter().flat_map(|step| step.inputs.iter().copied().flatten());
            open.extend(tensor.related.iter().copied().chain(read).filter(|&id| seen.insert(id)));
        }
        seen
    }
}

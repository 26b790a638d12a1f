//! Problems of a trace, gathered so that one look at a file tells all of them.

use std::collections::BTreeSet;

use super::options::ImportError;
use crate::text::in_line;

/// Most problems that are told one by one.
const MAX_TOLD: usize = 100;

/// Problems so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<String>,
    n_more: usize,
    missing: Vec<String>,
    seen: BTreeSet<String>,
    /// Problems that several nodes can have: words, how many nodes, and the first.
    of_nodes: Vec<(String, usize, String)>,
    /// Operators without a rule: name, how often, and the first node.
    unsupported: Vec<(String, usize, String)>,
}

impl Problems {
    /// Adds a problem, once.
    pub(super) fn add(&mut self, problem: impl Into<String>) {
        let problem = problem.into();
        if !self.seen.insert(problem.clone()) {
            return;
        }
        match self.told.len() < MAX_TOLD {
            true => self.told.push(problem),
            false => self.n_more += 1,
        }
    }

    /// Adds a problem that this option solves.
    pub(super) fn needs(&mut self, problem: impl Into<String>, option: impl Into<String>) {
        let option = option.into();
        self.add(problem);
        if !self.missing.contains(&option) {
            self.missing.push(option);
        }
    }

    /// Adds a problem of a node; those of the same words are told together.
    pub(super) fn of_node(&mut self, node: &str, words: &str) {
        count(&mut self.of_nodes, words, node);
    }

    /// Adds a node whose operator is not supported.
    pub(super) fn unsupported(&mut self, operator: &str, node: &str) {
        count(&mut self.unsupported, operator, node);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.of_nodes.is_empty() && self.unsupported.is_empty()
    }

    /// Number of different problems.
    pub(super) fn count(&self) -> usize {
        let nodes = self.unsupported.iter().chain(&self.of_nodes);
        self.seen.len() + nodes.map(|(_, count, _)| count).sum::<usize>()
    }

    /// The error that they are.
    pub(super) fn into_error(mut self) -> ImportError {
        for (words, count, node) in std::mem::take(&mut self.of_nodes).into_iter().take(MAX_TOLD) {
            let node = in_line(&node);
            self.told.push(match count {
                1 => format!("{node}: {words}"),
                _ => format!("{node} and {} more: {words}", count - 1),
            });
        }
        if let Some(line) = self.line_of_unsupported() {
            self.told.insert(0, line);
        }
        if self.n_more > 0 {
            self.told.push(format!("and {} more problems", self.n_more));
        }
        ImportError { problems: self.told, missing: self.missing }
    }

    fn line_of_unsupported(&self) -> Option<String> {
        let n_nodes: usize = self.unsupported.iter().map(|(_, count, _)| count).sum();
        let operators = &self.unsupported;
        if operators.is_empty() {
            return None;
        }
        let one = |(index, (operator, count, node)): (usize, &(String, usize, String))| {
            let times = if *count > 1 { format!(" x{count}") } else { String::new() };
            let first = if index == 0 { "first: " } else { "" };
            format!("{operator}{times} ({first}{})", in_line(node))
        };
        let list: Vec<_> = operators.iter().enumerate().map(one).collect();
        let (nodes, are) = if n_nodes == 1 { ("node", "is") } else { ("nodes", "are") };
        let kinds = if operators.len() == 1 { "operator" } else { "operators" };
        Some(format!(
            "cannot import: {n_nodes} {nodes} of {} {kinds} {are} not supported: {}",
            operators.len(),
            list.join(", ")
        ))
    }
}

/// Counts a node under some words; the first node is kept.
fn count(counts: &mut Vec<(String, usize, String)>, words: &str, node: &str) {
    match counts.iter_mut().find(|(known, ..)| known == words) {
        Some((_, count, _)) => *count += 1,
        None => counts.push((words.into(), 1, node.into())),
    }
}

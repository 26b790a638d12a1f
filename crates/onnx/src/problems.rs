//! Problems of a trace, gathered so that one look at a file tells all of them.

use std::collections::{BTreeSet, HashMap};

use super::options::ImportError;
use xrsim_model::text::in_line;

/// Most problems that are told one by one.
const MAX_TOLD: usize = 100;
/// Most operators that one line names.
const MAX_NAMED: usize = 20;

/// Problems so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<String>,
    n_more: usize,
    missing: Vec<String>,
    unused: Vec<(&'static str, String)>,
    seen: BTreeSet<String>,
    /// Problems that several nodes can have: words, how many nodes, and the first.
    of_nodes: Counted,
    /// Operators without a rule: name, how often, and the first node.
    unsupported: Counted,
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
        if self.missing.len() < MAX_TOLD && !self.missing.contains(&option) {
            self.missing.push(option);
        }
    }

    /// Adds the problem of an option that names nothing in the file.
    pub(super) fn unused(&mut self, kind: &'static str, name: &str, problem: String) {
        self.add(problem);
        self.unused.push((kind, name.into()));
    }

    /// Adds a problem of a node; those of the same words are told together.
    pub(super) fn of_node(&mut self, node: &str, words: &str) {
        self.of_nodes.add(words, node);
    }

    /// Adds a node whose operator is not supported.
    pub(super) fn unsupported(&mut self, operator: &str, node: &str) {
        self.unsupported.add(operator, node);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.of_nodes.n == 0 && self.unsupported.n == 0
    }

    /// Number of different problems.
    pub(super) fn count(&self) -> usize {
        self.seen.len() + self.unsupported.n + self.of_nodes.n
    }

    /// The error that they are.
    pub(super) fn into_error(mut self) -> ImportError {
        for (words, count, node) in
            std::mem::take(&mut self.of_nodes.list).into_iter().take(MAX_TOLD)
        {
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
        ImportError { problems: self.told, missing: self.missing, unused: self.unused }
    }

    fn line_of_unsupported(&self) -> Option<String> {
        let Counted { list, n, .. } = &self.unsupported;
        if list.is_empty() {
            return None;
        }
        let one = |(index, (operator, count, node)): (usize, &(String, usize, String))| {
            let times = if *count > 1 { format!(" x{count}") } else { String::new() };
            let first = if index == 0 { "first: " } else { "" };
            format!("{operator}{times} ({first}{})", in_line(node))
        };
        let mut named: Vec<_> = list.iter().take(MAX_NAMED).enumerate().map(one).collect();
        if list.len() > MAX_NAMED {
            named.push(format!("and {} more", list.len() - MAX_NAMED));
        }
        let (nodes, are) = if *n == 1 { ("node", "is") } else { ("nodes", "are") };
        let kinds = if list.len() == 1 { "operator" } else { "operators" };
        Some(format!(
            "cannot import: {n} {nodes} of {} {kinds} {are} not supported: {}",
            list.len(),
            named.join(", ")
        ))
    }
}

/// Words that several nodes share, in the order of their first nodes.
#[derive(Debug, Default)]
struct Counted {
    /// The words, how many nodes, and the first.
    list: Vec<(String, usize, String)>,
    /// Index of words in the list.
    index: HashMap<String, usize>,
    /// All nodes.
    n: usize,
}

impl Counted {
    fn add(&mut self, words: &str, node: &str) {
        self.n += 1;
        match self.index.get(words) {
            Some(&at) => self.list[at].1 += 1,
            None => {
                self.index.insert(words.into(), self.list.len());
                self.list.push((words.into(), 1, node.into()));
            }
        }
    }
}

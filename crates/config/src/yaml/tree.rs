//! YAML text as a tree in which every node knows its place.
//!
//! The tree is built from the events of serde-saphyr's parser instead of through serde, which stops
//! at the first error and pays for positions with a fourfold parsing time. Problems that leave the
//! rest of the file readable (a duplicate key, a tag) are collected; broken syntax ends the file.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span};

use crate::Problem;

/// Most nodes that are written in one file: those of the largest network, 50,000 layers with about 25
/// keys each. Copies count, too.
const MAX_NODES: usize = 2_500_000;
/// Most nodes that are copies. An alias is a copy of all that it stands for, and of an anchor a copy is
/// kept; this disarms alias bombs.
const MAX_COPIES: usize = 500_000;
/// Bytes of text that count as another node.
const TEXT_PER_NODE: usize = 64;
/// Deepest nesting.
const MAX_DEPTH: usize = 48;
/// Mappings up to this length are searched for duplicates entry by entry.
const SMALL_MAPPING: usize = 16;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'s> {
    /// Bytes of the source text; empty, at the first character, for lists and mappings.
    pub span: Range<usize>,
    /// The value.
    pub value: Value<'s>,
}

/// Value of a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'s> {
    /// Nothing, `~` or `null`.
    Null,
    /// Text; words and numbers are told apart by who reads them.
    Scalar {
        /// The text, escapes resolved.
        text: Cow<'s, str>,
        /// Whether it stood in quotes or in a block, and so is no number.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node<'s>>),
    /// Keys and values, in order, keys distinct.
    Mapping(Vec<Entry<'s>>),
}

/// One key of a mapping with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'s> {
    /// The key.
    pub key: Cow<'s, str>,
    /// Bytes of the key.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node<'s>,
}

/// The tree of the only document in `text`, or `None` if the syntax is broken; problems are
/// added to `problems`.
pub(crate) fn parse<'s>(text: &'s str, problems: &mut Vec<Problem>) -> Option<Node<'s>> {
    let mut options = granit_parser::options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let mut builder = Builder {
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        n_nodes: 0,
        n_copies: 0,
        problems,
    };
    match builder.document() {
        Ok(node) => Some(node),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Value that `read` makes of a node with this text, which is a scalar or a list in brackets.
pub(crate) fn with_node<T>(text: &str, read: impl FnOnce(&Node<'_>) -> T) -> T {
    if text.starts_with('[')
        && let Some(node) = parse(text, &mut Vec::new())
    {
        return read(&node);
    }
    let value = Value::Scalar { text: text.into(), quoted: false };
    read(&Node { span: 0..0, value })
}

/// Turns events into nodes. Recursion is bounded by the parser's nesting limits.
struct Builder<'s, 'p> {
    events: Parser<'s, granit_parser::StrInput<'s>>,
    /// Finished nodes that aliases may stand for, with the number of nodes in them.
    anchors: HashMap<usize, (Node<'s>, usize)>,
    n_nodes: usize,
    n_copies: usize,
    problems: &'p mut Vec<Problem>,
}

impl<'s> Builder<'s, '_> {
    fn document(&mut self) -> Result<Node<'s>, Problem> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, place) => return Err(Problem::new(place, "the file is empty")),
                (event, place) => {
                    let root = self.node(event, place)?;
                    self.end()?;
                    return Ok(root);
                }
            }
        }
    }

    /// Expects the end of the document and of the file.
    fn end(&mut self) -> Result<(), Problem> {
        loop {
            match self.next()? {
                (Event::DocumentEnd, _) => {}
                (Event::StreamEnd, _) => return Ok(()),
                (_, place) => {
                    let problem = Problem::new(place, "a second document begins here");
                    return Err(problem.help("a file holds one document"));
                }
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'s>, Range<usize>), Problem> {
        match self.events.next_event() {
            Some(Ok((event, span))) => Ok((event, bytes(&span))),
            Some(Err(error)) => Err(syntax(&error)),
            None => Err(Problem::new(0..0, "the file ends early")),
        }
    }

    fn node(&mut self, event: Event<'s>, place: Range<usize>) -> Result<Node<'s>, Problem> {
        let first = self.n_nodes;
        let text = event.scalar().map_or(0, |(text, _)| text.len());
        self.count(1 + text / TEXT_PER_NODE, &place)?;
        if event.tag().is_some() {
            let problem = Problem::new(place.clone(), "a tag has no meaning here");
            self.problems.push(problem.help("remove the word that begins with `!`"));
        }
        let anchor = event.anchor_id();
        let start = place.start..place.start;
        let node = match event {
            Event::Scalar(text, style, ..) => Node { span: place, value: scalar(text, style) },
            Event::SequenceStart(..) => Node { span: start, value: self.list()? },
            Event::MappingStart(..) => Node { span: start, value: self.mapping()? },
            Event::Alias(id) => return self.alias(id, place),
            _ => return Err(Problem::new(place, "a value is needed here")),
        };
        if let Some(id) = anchor {
            let n_nodes = self.n_nodes - first;
            self.count_copies(n_nodes, &node.span)?;
            self.anchors.insert(id, (node.clone(), n_nodes));
        }
        Ok(node)
    }

    fn list(&mut self) -> Result<Value<'s>, Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, place) => items.push(self.node(event, place)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value<'s>, Problem> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let (event, place) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Value::Mapping(entries));
            }
            let key = self.node(event, place)?;
            let (event, place) = self.next()?;
            let value = self.node(event, place)?;
            let Value::Scalar { text, .. } = key.value else {
                self.problems.push(Problem::new(key.span, "a key is a single word"));
                continue;
            };
            if is_repeated(&text, &entries, &mut seen) {
                let problem = Problem::new(key.span, format!("`{text}` is given twice"));
                self.problems.push(problem.help("remove one of the two"));
                continue;
            }
            entries.push(Entry { key: text, key_span: key.span, value });
        }
    }

    fn alias(&mut self, id: usize, place: Range<usize>) -> Result<Node<'s>, Problem> {
        let Some((node, n_nodes)) = self.anchors.get(&id).cloned() else {
            return Err(Problem::new(place, "this alias stands inside what it stands for"));
        };
        self.count_copies(n_nodes, &place)?;
        Ok(node)
    }

    fn count(&mut self, n_nodes: usize, place: &Range<usize>) -> Result<(), Problem> {
        self.n_nodes += n_nodes;
        if self.n_nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("more than {MAX_NODES} values up to here, aliases written out");
        Err(Problem::new(place.clone(), message).help("a file of this kind needs far fewer"))
    }

    fn count_copies(&mut self, n_nodes: usize, place: &Range<usize>) -> Result<(), Problem> {
        self.n_copies += n_nodes;
        if self.n_copies <= MAX_COPIES {
            return self.count(n_nodes, place);
        }
        let message = format!("more than {MAX_COPIES} values in aliases and anchors up to here");
        Err(Problem::new(place.clone(), message).help("a file of this kind needs far fewer"))
    }
}

/// Whether `key` is among `entries`. From a certain length on `seen` catches up with their keys, so
/// that a mapping of many keys takes linear time.
fn is_repeated<'s>(key: &str, entries: &[Entry<'s>], seen: &mut HashSet<Cow<'s, str>>) -> bool {
    if entries.len() < SMALL_MAPPING {
        return entries.iter().any(|entry| entry.key == key);
    }
    seen.extend(entries[seen.len()..].iter().map(|entry| entry.key.clone()));
    seen.contains(key)
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value<'_> {
    let quoted = style != ScalarStyle::Plain;
    match &*text {
        "" | "~" | "null" if !quoted => Value::Null,
        _ => Value::Scalar { text, quoted },
    }
}

fn bytes(span: &Span) -> Range<usize> {
    span.byte_range().unwrap_or(0..0)
}

fn syntax(error: &ScanError) -> Problem {
    let at = error.marker().byte_offset().unwrap_or(0);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => {
            Problem::new(at..at, format!("nested more than {MAX_DEPTH} levels deep"))
        }
        _ => {
            let info = error.info();
            let problem = Problem::new(at..at, format!("not valid YAML: {info}"));
            match SLIPS.iter().find(|(words, _)| info.contains(words)) {
                Some((_, help)) => problem.help(*help),
                None => problem,
            }
        }
    }
}

/// Words of the parser, with the slip that they mostly come from.
const SLIPS: [(&str, &str); 5] = [
    (
        "mapping values are not allowed",
        "a `:` may be missing in the line before, or a text needs quotes",
    ),
    (
        "did not find expected key",
        "the line begins in another column than those that it belongs to",
    ),
    ("multiline quoted scalar", "a quote is not closed"),
    ("tabs disallowed", "indent with blanks"),
    ("unexpected character", "the file is no text"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<(Range<usize>, String)> {
        let mut problems = Vec::new();
        parse(text, &mut problems);
        problems.into_iter().map(|problem| (problem.span, problem.message)).collect()
    }

    #[test]
    fn every_node_knows_its_bytes() {
        let text = "a: [x, \"7\"]\nb:\n";
        let mut problems = Vec::new();
        let Some(Node { value: Value::Mapping(entries), .. }) = parse(text, &mut problems) else {
            panic!("a mapping");
        };
        assert_eq!(problems, []);
        assert_eq!((&*entries[0].key, entries[0].key_span.clone()), ("a", 0..1));
        let Value::List(items) = &entries[0].value.value else {
            panic!("a list");
        };
        assert_eq!(items[0].span, 4..5);
        assert_eq!(items[1].value, Value::Scalar { text: "7".into(), quoted: true });
        assert_eq!(entries[1].value.value, Value::Null);
    }

    #[test]
    fn words_of_older_yaml_stay_words() {
        let mut problems = Vec::new();
        let root = parse("y: n", &mut problems).unwrap();
        let Value::Mapping(entries) = root.value else {
            panic!("a mapping");
        };
        assert_eq!(&*entries[0].key, "y");
        assert_eq!(entries[0].value.value, Value::Scalar { text: "n".into(), quoted: false });
    }

    #[test]
    fn duplicates_are_found_in_small_and_large_mappings() {
        assert_eq!(problems("a: 1\na: 2\n"), [(5..6, "`a` is given twice".into())]);
        let many: String = (0..40).map(|key| format!("k{key}: 0\n")).collect();
        assert_eq!(problems(&many), []);
        assert_eq!(problems(&format!("{many}k33: 0\nk39: 0\n")).len(), 2);
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = String::from("a0: &a0 [x, x]\n");
        for level in 1..30 {
            let below = level - 1;
            text += &format!("a{level}: &a{level} [*a{below}, *a{below}]\n");
        }
        let found = problems(&text);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.starts_with("more than 500000 values"), "{}", found[0].1);
    }

    #[test]
    fn an_alias_bomb_of_long_text_is_refused() {
        let text = format!("a: &a \"{}\"\nb: [{}]\n", "\\t".repeat(100_000), "*a, ".repeat(1000));
        let found = problems(&text);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.starts_with("more than 500000 values"), "{}", found[0].1);
    }

    #[test]
    fn an_alias_cannot_contain_itself() {
        let found = problems("a: &a [*a]\n");
        assert_eq!(found, [(7..9, "this alias stands inside what it stands for".into())]);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let found = problems(&"[".repeat(100_000));
        assert_eq!(found, [(48..48, "nested more than 48 levels deep".into())]);
        let blocks: String = (0..100).map(|depth| " ".repeat(depth) + "a:\n").collect();
        assert_eq!(problems(&blocks)[0].1, "nested more than 48 levels deep");
    }
}

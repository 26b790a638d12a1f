//! YAML as a tree that can be changed, written again, and seen as JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A value of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Text, and whether it stands in quotes.
    Scalar(String, bool),
    List(Vec<Tree>),
    Mapping(Vec<(String, Tree)>),
}

/// A step from a value to one inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

impl Tree {
    /// The tree of `text`; `None` if it is no YAML document of distinct plain keys.
    pub fn parse(text: &str) -> Option<Self> {
        let mut options =
            granit_parser::options! { flow_nesting_limit: 48, block_nesting_limit: 48 };
        options.set_emit_comments(false);
        let events = Parser::new_from_str_with_options(text, options);
        let mut reader = Reader { events, anchors: HashMap::new() };
        let tree = loop {
            match reader.next()? {
                Event::StreamStart | Event::DocumentStart(..) => {}
                event => break reader.tree(event)?,
            }
        };
        let is_end = reader.next()? == Event::DocumentEnd && reader.next()? == Event::StreamEnd;
        is_end.then_some(tree)
    }

    /// The value as the YAML 1.2 core schema has it, which editors read.
    pub fn json(&self) -> Value {
        match self {
            Self::Scalar(text, true) => Value::String(text.clone()),
            Self::Scalar(text, false) => plain(text),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Mapping(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.clone(), value.json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// The value at `path`.
    pub fn at(&mut self, path: &[Step]) -> &mut Self {
        let Some((step, rest)) = path.split_first() else { return self };
        match (self, step) {
            (Self::List(items), Step::Index(index)) => items[*index].at(rest),
            (Self::Mapping(entries), Step::Key(key)) => {
                let found = entries.iter_mut().find(|(known, _)| known == key);
                found.expect("the path leads to a value").1.at(rest)
            }
            (tree, step) => panic!("{step:?} of {tree:?}"),
        }
    }

    /// Keys of a mapping.
    pub fn entries(&mut self) -> &mut Vec<(String, Self)> {
        match self {
            Self::Mapping(entries) => entries,
            other => panic!("no mapping: {other:?}"),
        }
    }

    /// The text of a file with this value.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        match self {
            Self::Scalar(..) => *text += &format!("{}\n", self.inline()),
            Self::List(items) if items.is_empty() => *text += "[]\n",
            Self::Mapping(entries) if entries.is_empty() => *text += "{}\n",
            Self::List(items) => {
                text.push('\n');
                for item in items {
                    *text += &format!("{indent}- ");
                    item.write(depth + 1, text);
                }
            }
            Self::Mapping(entries) => {
                text.push('\n');
                for (key, value) in entries {
                    *text += &format!("{indent}{}: ", quoted(key));
                    value.write(depth + 1, text);
                }
            }
        }
    }

    fn inline(&self) -> String {
        match self {
            Self::Scalar(text, false) => text.clone(),
            Self::Scalar(text, true) => quoted(text),
            _ => unreachable!("only scalars stand in a line"),
        }
    }
}

/// The text in quotes, as JSON and YAML have them.
fn quoted(text: &str) -> String {
    Value::String(text.into()).to_string()
}

fn plain(text: &str) -> Value {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let number = text.trim_start_matches('+');
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if !is_number => Value::String(text.into()),
        _ => match (number.parse::<u64>(), number.parse::<f64>()) {
            (Ok(whole), _) => whole.into(),
            (_, Ok(number)) if number.is_finite() => number.into(),
            _ => Value::String(text.into()),
        },
    }
}

struct Reader<'s> {
    events: Parser<'s, granit_parser::StrInput<'s>>,
    anchors: HashMap<usize, Tree>,
}

impl<'s> Reader<'s> {
    fn next(&mut self) -> Option<Event<'s>> {
        Some(self.events.next()?.ok()?.0)
    }

    fn tree(&mut self, event: Event<'_>) -> Option<Tree> {
        let anchor = event.anchor_id();
        let tree = match event {
            Event::Scalar(text, style, ..) => {
                Tree::Scalar(Cow::into_owned(text), style != ScalarStyle::Plain)
            }
            Event::Alias(id) => return self.anchors.get(&id).cloned(),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some(item) = self.value()? {
                    items.push(item);
                }
                Tree::List(items)
            }
            Event::MappingStart(..) => {
                let mut entries: Vec<(String, Tree)> = Vec::new();
                while let Some(key) = self.value()? {
                    let Tree::Scalar(key, _) = key else { return None };
                    if entries.iter().any(|(known, _)| *known == key) {
                        return None;
                    }
                    let value = self.value()??;
                    entries.push((key, value));
                }
                Tree::Mapping(entries)
            }
            _ => return None,
        };
        if let Some(id) = anchor {
            self.anchors.insert(id, tree.clone());
        }
        Some(tree)
    }

    /// The next value; nothing inside at the end of a list or mapping.
    fn value(&mut self) -> Option<Option<Tree>> {
        match self.next()? {
            Event::SequenceEnd | Event::MappingEnd => Some(None),
            event => self.tree(event).map(Some),
        }
    }
}

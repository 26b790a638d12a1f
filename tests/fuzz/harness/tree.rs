//! Mutations of YAML and JSON by structure: keys, values, lists, nesting, anchors.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::random::Random;
use super::values;

/// A document, its keys in order and not necessarily distinct.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Literal text, with quotes, anchors and aliases.
    Raw(String),
    /// Text that is quoted where YAML requires it.
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// Most copies of an item.
const MAX_COPIES: usize = 200;

/// Deepest nesting that a mutation makes. It exceeds the allowed depth.
const MAX_NESTING: usize = 120;

impl Tree {
    /// The tree of `text`, if it is YAML without anchors.
    pub fn parse(text: &str) -> Option<Self> {
        serde_saphyr::from_str(text).ok()
    }

    /// One to four mutations; `donor` is a document of the same kind.
    pub fn mutate(&mut self, donor: &Self, random: &mut Random) {
        for _ in 0..=random.small(4) {
            let size = self.size();
            let node = self.node(random.below(size));
            node.mutate_here(donor, random);
        }
    }

    /// As a YAML file, in blocks or in one line, or as JSON.
    pub fn to_text(&self, is_json: bool, random: &mut Random) -> String {
        let mut text = String::new();
        match is_json || random.one_in(6) {
            true => self.flow(&mut text),
            false => self.block(&mut text, 0),
        }
        text.push('\n');
        text
    }

    fn size(&self) -> usize {
        1 + match self {
            Self::Raw(_) | Self::Text(_) => 0,
            Self::List(items) => items.iter().map(Self::size).sum::<usize>(),
            Self::Map(entries) => entries.iter().map(|(_, it)| it.size()).sum::<usize>(),
        }
    }

    /// Node `index` in order of the text; the document itself is node 0.
    fn node(&mut self, index: usize) -> &mut Self {
        let Some(mut left) = index.checked_sub(1) else { return self };
        let inner: Vec<&mut Self> = match self {
            Self::Raw(_) | Self::Text(_) => Vec::new(),
            Self::List(items) => items.iter_mut().collect(),
            Self::Map(entries) => entries.iter_mut().map(|(_, it)| it).collect(),
        };
        for node in inner {
            let size = node.size();
            if left < size {
                return node.node(left);
            }
            left -= size;
        }
        unreachable!("an index is below the size")
    }

    fn mutate_here(&mut self, donor: &Self, random: &mut Random) {
        match self {
            Self::Map(entries) if !entries.is_empty() && !random.one_in(6) => {
                mutate_map(entries, donor, random);
            }
            Self::List(items) if !items.is_empty() && !random.one_in(6) => {
                mutate_list(items, donor, random);
            }
            _ => self.replace(donor, random),
        }
    }

    fn replace(&mut self, donor: &Self, random: &mut Random) {
        let old = self.clone();
        *self = match random.below(16) {
            0..4 => match &old {
                Self::Text(text) => {
                    Self::Text(values::near(text, random).unwrap_or_else(|| values::word(random)))
                }
                _ => Self::Text(values::number(random)),
            },
            4..8 => Self::Text(values::word(random)),
            8 => Self::Raw(values::word(random)),
            9 => Self::List(vec![old]),
            10 => Self::Map(vec![(values::word(random), old)]),
            11 => Self::Text(String::new()),
            12 => Self::Raw("*a".into()),
            13 => {
                let mut text = String::new();
                old.flow(&mut text);
                Self::Raw(format!("&a {text}"))
            }
            14 => (0..random.below(MAX_NESTING)).fold(old, |tree, _| Self::List(vec![tree])),
            _ => graft(donor, random),
        };
    }

    fn block(&self, text: &mut String, depth: usize) {
        match self {
            Self::Map(entries) if !entries.is_empty() && depth < 4 => {
                for (key, value) in entries {
                    let _ = write!(text, "\n{:1$}", "", 2 * depth);
                    write_text(key, text);
                    text.push_str(": ");
                    value.block(text, depth + 1);
                }
                if depth == 0 {
                    text.remove(0);
                }
            }
            Self::List(items) if !items.is_empty() && depth < 4 => {
                for item in items {
                    let _ = write!(text, "\n{:1$}- ", "", 2 * depth);
                    item.flow(text);
                }
            }
            _ => self.flow(text),
        }
    }

    fn flow(&self, text: &mut String) {
        match self {
            Self::Raw(raw) => text.push_str(raw),
            Self::Text(word) => write_text(word, text),
            Self::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    item.flow(text);
                }
                text.push(']');
            }
            Self::Map(entries) => {
                text.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    write_text(key, text);
                    text.push_str(": ");
                    value.flow(text);
                }
                text.push('}');
            }
        }
    }
}

fn mutate_map(entries: &mut Vec<(String, Tree)>, donor: &Tree, random: &mut Random) {
    let at = random.below(entries.len());
    match random.below(9) {
        0 | 1 => {
            entries.remove(at);
        }
        2 => entries.push(entries[at].clone()),
        3 => {
            let other = random.below(entries.len());
            entries.swap(at, other);
        }
        4 => {
            let key = values::key_like(&entries[at].0, random);
            entries[at].0 = key;
        }
        5 => entries[at].0 = values::word(random),
        6 => entries.insert(at, (values::word(random), graft(donor, random))),
        7 => {
            let n = random.small(MAX_COPIES);
            entries.extend((0..n).map(|n| (format!("k{n}"), Tree::Text("0".into()))));
        }
        _ => {
            let other = random.below(entries.len());
            let value = entries[other].1.clone();
            entries[at].1 = value;
        }
    }
}

fn mutate_list(items: &mut Vec<Tree>, donor: &Tree, random: &mut Random) {
    let at = random.below(items.len());
    match random.below(6) {
        0 | 1 => {
            items.remove(at);
        }
        2 => items.insert(at, items[at].clone()),
        3 => {
            let other = random.below(items.len());
            items.swap(at, other);
        }
        4 => items.insert(at, graft(donor, random)),
        _ => {
            let copies = vec![items[at].clone(); random.small(MAX_COPIES)];
            items.extend(copies);
        }
    }
}

/// Any node of `donor`.
fn graft(donor: &Tree, random: &mut Random) -> Tree {
    let mut donor = donor.clone();
    let size = donor.size();
    donor.node(random.below(size)).clone()
}

/// Writes `word` so that it is read back as text, with quotes where it needs them.
fn write_text(word: &str, text: &mut String) {
    let is_plain = |c: char| c.is_alphanumeric() || "_.+-/%' ".contains(c);
    let is_edge = |c: Option<char>| c.is_some_and(|c| c == ' ' || c == '\'' || c == '%');
    let starts_ill = word.starts_with("- ") || word == "-" || word.starts_with("--");
    let edges = is_edge(word.chars().next()) || word.ends_with(' ');
    match !word.is_empty() && word.chars().all(is_plain) && !edges && !starts_ill {
        true => text.push_str(word),
        false => text.push_str(&serde_json::to_string(word).expect("text serialises")),
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Raw(String::new()))
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Raw(String::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Tree::Map(map))
    }
}

//! Trees of embedded files as bytes, which `build.rs` makes of YAML, so that no process parses it.
//!
//! A tree is its nodes in order. A node is a tag; a scalar, its place and, unless it is the text there, its text;
//! or the number of entries and the entries. Keys are scalars. A place is the distance from the end of the one
//! before, which is short, and a length. Numbers have seven bits a byte, the lowest first.

use std::borrow::Cow;
use std::ops::Range;

use super::tree::{Entry, Node, Value};

/// Tag of a node without a value.
const NULL: u8 = 0;
/// Tag of a scalar that is the text at its place; with [`QUOTED`] or [`OTHER`] or both.
const SCALAR: u8 = 4;
/// Bit of a scalar that is no number.
const QUOTED: u8 = 1;
/// Bit of a scalar whose text differs from that at its place.
const OTHER: u8 = 2;
/// Tag of a list.
const LIST: u8 = 8;
/// Tag of a mapping.
const MAPPING: u8 = 9;

/// The bytes of a tree of `text`.
pub(crate) fn pack(root: &Node<'_>, text: &str) -> Vec<u8> {
    let mut writer = Writer { text, bytes: Vec::new(), at: 0 };
    writer.node(root);
    writer.bytes
}

/// The tree of `text` with these bytes.
pub(crate) fn unpack<'s>(bytes: &'static [u8], text: &'s str) -> Node<'s> {
    Unpacker { text, bytes, at: 0 }.node()
}

struct Writer<'t> {
    text: &'t str,
    bytes: Vec<u8>,
    /// End of the last place.
    at: usize,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::Null => {
                self.bytes.push(NULL);
                self.place(&node.span);
            }
            Value::Scalar { text, quoted } => {
                let quoted = if *quoted { QUOTED } else { 0 };
                self.scalar(text, quoted, &node.span);
            }
            Value::List(items) => {
                self.collection(LIST, &node.span, items.len());
                items.iter().for_each(|item| self.node(item));
            }
            Value::Mapping(entries) => {
                self.collection(MAPPING, &node.span, entries.len());
                for entry in entries {
                    self.scalar(&entry.key, 0, &entry.key_span);
                    self.node(&entry.value);
                }
            }
        }
    }

    fn scalar(&mut self, text: &str, quoted: u8, span: &Range<usize>) {
        let is_there = self.text.get(span.clone()) == Some(text);
        self.bytes.push(SCALAR | quoted | if is_there { 0 } else { OTHER });
        self.place(span);
        if !is_there {
            self.number(text.len());
            self.bytes.extend(text.as_bytes());
        }
    }

    fn collection(&mut self, tag: u8, span: &Range<usize>, len: usize) {
        self.bytes.push(tag);
        self.place(span);
        self.number(len);
    }

    fn place(&mut self, span: &Range<usize>) {
        let distance = span.start as isize - self.at as isize;
        // Even numbers are distances forward; an alias stands for an earlier place.
        self.number((distance.unsigned_abs() << 1) | usize::from(distance < 0));
        self.number(span.len());
        self.at = span.end;
    }

    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

struct Unpacker<'s> {
    text: &'s str,
    /// What is left.
    bytes: &'static [u8],
    /// End of the last place.
    at: usize,
}

impl<'s> Unpacker<'s> {
    fn node(&mut self) -> Node<'s> {
        let tag = self.byte();
        let span = self.place();
        let value = match tag {
            NULL => Value::Null,
            LIST => Value::List((0..self.number()).map(|_| self.node()).collect()),
            MAPPING => Value::Mapping((0..self.number()).map(|_| self.entry()).collect()),
            _ => Value::Scalar { text: self.scalar(tag, &span), quoted: tag & QUOTED != 0 },
        };
        Node { span, value }
    }

    fn entry(&mut self) -> Entry<'s> {
        let tag = self.byte();
        let key_span = self.place();
        Entry { key: self.scalar(tag, &key_span), key_span, value: self.node() }
    }

    fn scalar(&mut self, tag: u8, span: &Range<usize>) -> Cow<'s, str> {
        if tag & OTHER == 0 {
            return self.text[span.clone()].into();
        }
        let len = self.number();
        let (text, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        String::from_utf8_lossy(text)
    }

    fn place(&mut self) -> Range<usize> {
        let distance = self.number();
        let (sign, distance) = (distance & 1, distance >> 1);
        let start = if sign == 0 { self.at + distance } else { self.at - distance };
        self.at = start + self.number();
        start..self.at
    }

    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn byte(&mut self) -> u8 {
        let (byte, rest) = self.bytes.split_first().expect("a tree is whole");
        self.bytes = rest;
        *byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;

    #[test]
    fn a_tree_is_what_was_packed() {
        let long = format!("many: [{}]", "x, ".repeat(300));
        let texts = [
            "a: 1",
            "a: {b: [1, ~, \"two\"], 'c d': \"e\\tf\\u00e9\"}\nh: |\n  one\n  two\ni:\n",
            "# \u{e9}\na: &x [1, {b: 2}]\nc: *x\nd: 3",
            "folded: a\n  b\nempty: []\nnone: {}",
            &long,
        ];
        for text in texts {
            let mut problems = Vec::new();
            let root = parse(text, &mut problems).expect("it is YAML");
            assert_eq!(problems, []);
            assert_eq!(unpack(pack(&root, text).leak(), text), root, "{text}");
        }
    }
}

//! The keys of a mapping. A reader takes the value of a key, or adds a problem of the file and returns `None`. Reading
//! continues with the next key in both cases.
//!
//! The same calls describe the keys in schemas, see [`Fields::keys_of`].

use std::fmt::Display;
use std::mem;
use std::ops::Range;

pub(crate) use crate::At;
use crate::form::Key;
use crate::{Problem, json, nearest};
use xrsim_model::renamed::{self, Renamed};

pub(crate) use super::problems::Problems;
pub use super::problems::printable;
use super::tree::{self, Entry, Node, Value};
use super::values::Reader;

/// Most unknown keys of a mapping that are reported one by one.
const MAX_UNKNOWN: usize = 50;

/// Number of keys that most mappings may have.
const USUAL_KEYS: usize = 24;

/// The keys of a mapping, read one by one; [`Fields::finish`] reports those that nobody asked for.
pub(crate) struct Fields<'n, 's, 'p> {
    /// Kind of the described thing, with its article, e.g. `a layer`.
    what: &'static str,
    span: Range<usize>,
    entries: &'n [Entry<'s>],
    /// Keys that changed their name and are still read under the old one.
    renamed: &'static [Renamed],
    /// Keys that something outside of the mapping gives if they are absent.
    inherited: &'n [&'static str],
    /// Keys that were asked for, each with the index of its entry if it is given.
    asked: Vec<(&'static str, Option<usize>)>,
    /// Keys that are missing, each with those that may stand in its place.
    missing: Vec<Vec<&'static str>>,
    has_wrong_value: bool,
    /// Description of the next key.
    about: &'static str,
    /// Keys for a schema; `None` if there is a file to read.
    described: Option<Vec<Key>>,
    problems: &'p mut Problems,
}

impl<'n, 's, 'p> Fields<'n, 's, 'p> {
    /// The keys of `node`, which describes `what`; a problem unless it is a mapping.
    pub(crate) fn from_mapping(
        node: &'n Node<'s>,
        what: &'static str,
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let Value::Mapping(entries) = &node.value else {
            problems.push(node.mismatch(&format_args!("the keys of {what}")));
            return None;
        };
        Some(Self { what, span: node.span.clone(), ..Self::without(entries, problems) })
    }

    fn without(entries: &'n [Entry<'s>], problems: &'p mut Problems) -> Self {
        Self {
            what: "",
            span: 0..0,
            entries,
            renamed: &[],
            inherited: &[],
            asked: Vec::with_capacity(USUAL_KEYS),
            missing: Vec::new(),
            has_wrong_value: false,
            about: "",
            described: None,
            problems,
        }
    }

    /// The keys that `read` asks for, as schemas describe them. All of them are absent.
    pub(crate) fn keys_of(
        inherited: &[&'static str],
        read: impl FnOnce(&mut Fields<'_, '_, '_>),
    ) -> Vec<Key> {
        let mut problems = Problems::default();
        let mut fields = Fields::without(&[], &mut problems).inheriting(inherited);
        fields.described = Some(Vec::new());
        read(&mut fields);
        fields.described.unwrap_or_default()
    }

    /// The same keys, of which those in `renamed` are also read under their old names.
    #[must_use]
    pub(crate) fn with_renamed(self, renamed: &'static [Renamed]) -> Self {
        Self { renamed, ..self }
    }

    /// The same keys, of which the `inherited` ones may be absent.
    #[must_use]
    pub(crate) fn inheriting(self, inherited: &'n [&'static str]) -> Self {
        Self { inherited, ..self }
    }

    /// The same keys, the next of which has this description.
    pub(crate) fn about(&mut self, text: &'static str) -> &mut Self {
        self.about = text;
        self
    }

    /// The value of `key`; its absence is a problem.
    pub(crate) fn required<R: Reader>(&mut self, key: &'static str, reader: R) -> Option<R::Value> {
        let value = self.ask(key, &reader, Need::Required);
        if self.asked.last().is_none_or(|(_, found)| found.is_none()) {
            self.missing.push(vec![key]);
        }
        value
    }

    /// The value of `key`, `None` if it is absent (or wrong, which is a problem).
    pub(crate) fn optional<R: Reader>(&mut self, key: &'static str, reader: R) -> Option<R::Value> {
        self.ask(key, &reader, Need::Optional)
    }

    /// The value of `key` or, if it is absent, that of the text `default`.
    pub(crate) fn or<R: Reader>(
        &mut self,
        key: &'static str,
        default: impl Display,
        reader: R,
    ) -> Option<R::Value> {
        let value = self.ask(key, &reader, Need::Or(&default));
        value.or_else(|| {
            tree::with_node(&default.to_string(), |node| reader.read(node, self.problems))
        })
    }

    /// The value of `key`, which the mapping must have unless there is a `default`.
    pub(crate) fn unless_default<R: Reader>(
        &mut self,
        key: &'static str,
        default: Option<impl Display>,
        reader: R,
    ) -> Option<R::Value> {
        match default {
            Some(default) => self.or(key, default, reader),
            None => self.required(key, reader),
        }
    }

    /// The value of `key`, or the usual one of its type.
    pub(crate) fn or_default<R: Reader<Value: Default>>(
        &mut self,
        key: &'static str,
        reader: R,
    ) -> Option<R::Value> {
        Some(self.optional(key, reader).unwrap_or_default())
    }

    /// The value of `key`, `None` inside if it is absent but inherited.
    pub(crate) fn inherited<R: Reader>(
        &mut self,
        key: &'static str,
        reader: R,
    ) -> Option<Option<R::Value>> {
        match self.inherited.contains(&key) {
            true => Some(self.optional(key, reader)),
            false => self.required(key, reader).map(Some),
        }
    }

    /// The value of `key`, which the mapping must have unless it has the key `other`; `None` inside without it.
    pub(crate) fn needed_without<R: Reader>(
        &mut self,
        key: &'static str,
        other: &str,
        reader: R,
    ) -> Option<Option<R::Value>> {
        match self.given(key) || !self.may_give(other) {
            true => self.required(key, reader).map(Some),
            false => {
                self.optional(key, reader);
                Some(None)
            }
        }
    }

    /// The value of `key`, which is a key of the mapping only if it is given.
    pub(crate) fn if_given<R: Reader>(&mut self, key: &'static str, reader: R) -> Option<R::Value> {
        match self.may_give(key) {
            true => self.optional(key, reader),
            false => None,
        }
    }

    /// The value of `key`, which the mapping must have unless it has the key `other`, beside which there is no such key.
    pub(crate) fn unless<R: Reader>(
        &mut self,
        key: &'static str,
        other: &str,
        reader: R,
    ) -> Option<R::Value> {
        match self.described {
            _ if self.given(other) => None,
            Some(_) => self.optional(key, reader),
            None => self.required(key, reader),
        }
    }

    /// The absence of all of `keys` is a problem.
    pub(crate) fn require_any(&mut self, keys: &[&'static str]) {
        if !keys.iter().any(|key| self.may_give(key)) {
            self.missing.push(keys.to_vec());
        }
    }

    /// Adds the key to a schema, or reads its value if it is there.
    fn ask<R: Reader>(
        &mut self,
        key: &'static str,
        reader: &R,
        need: Need<'_>,
    ) -> Option<R::Value> {
        let found = self.find(key);
        self.asked.push((key, found));
        if let Some(keys) = &mut self.described {
            let form = reader.form().documented(mem::take(&mut self.about));
            let form = match need {
                Need::Or(default) => form.or(json::of_text(&default.to_string())),
                _ => form,
            };
            keys.push(Key::new(key, form, matches!(need, Need::Required)));
            return None;
        }
        let entry = &self.entries[found?];
        if let Some(renamed) = renamed::find(self.renamed, &entry.key) {
            self.problems.old_keys.push(At { span: entry.key_span.clone(), value: renamed });
        }
        let value = reader.read(&entry.value, self.problems);
        self.has_wrong_value |= value.is_none();
        value
    }

    /// Bytes of the value of `key`, of the mapping's begin if it is absent.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.get(key).map_or(self.span.clone(), |entry| entry.value.span.clone())
    }

    /// Whether `key` is given, rightly or wrongly.
    pub(crate) fn given(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether `key` is given or, where keys are described, can be.
    pub(crate) fn may_give(&self, key: &str) -> bool {
        self.described.is_some() || self.given(key)
    }

    /// Whether a value that was read so far is wrong.
    pub(crate) fn has_wrong_value(&self) -> bool {
        self.has_wrong_value
    }

    /// Bytes of the mapping.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Adds a problem.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Reports keys that are not known and keys that are missing. A missing key whose misspelling
    /// was reported is not reported again.
    pub(crate) fn finish(mut self) {
        let is_known = |at: usize| self.asked.iter().any(|(_, found)| *found == Some(at));
        let unknown = self.entries.iter().enumerate().filter(|(at, _)| !is_known(*at));
        let unknown: Vec<_> = unknown.map(|(_, entry)| entry).collect();
        let free = || {
            let free = self.asked.iter().filter(|(_, found)| found.is_none());
            free.map(|(key, _)| *key).collect::<Vec<_>>()
        };
        let free = if unknown.is_empty() { Vec::new() } else { free() };
        for entry in unknown.iter().take(MAX_UNKNOWN) {
            self.unknown(entry, &free);
        }
        if let Some(entry) = unknown.get(MAX_UNKNOWN) {
            let n_more = unknown.len() - MAX_UNKNOWN;
            let message = format!("{n_more} more keys from here on that {} has not", self.what);
            self.problems.push(Problem::new(entry.key_span.clone(), message));
        }
        for keys in self.missing {
            let message = format!("{} lacks the key `{}`", self.what, keys.join("` or `"));
            self.problems.push(Problem::new(self.span.clone(), message));
        }
    }

    /// Reports keys that are missing; unknown keys are ignored.
    pub(crate) fn finish_open(mut self) {
        self.entries = &[];
        self.finish();
    }

    /// Reports `entry`, whose key was not asked for; the keys in `free` are not given.
    fn unknown(&mut self, entry: &Entry<'_>, free: &[&'static str]) {
        if let Some(Renamed { old, new, .. }) = renamed::find(self.renamed, &entry.key) {
            let message = format!("`{old}` beside `{new}`, which is its name since 0.2");
            let problem = Problem::new(entry.key_span.clone(), message);
            self.problems.push(problem.help("remove one of the two"));
            return;
        }
        let (meant, help) = match unit_slip(&entry.key, free) {
            Some(key) => (Some(key), format!("give the value as `{key}`")),
            None => match nearest(&entry.key, free.iter().copied()) {
                Some(key) => (Some(key), format!("did you mean `{key}`?")),
                None => {
                    let known: Vec<_> = self.asked.iter().map(|(key, _)| *key).collect();
                    (None, format!("known: {}", known.join(", ")))
                }
            },
        };
        self.missing.retain(|keys| !keys.iter().any(|key| Some(*key) == meant));
        let message = format!("{} has no key `{}`", self.what, printable(&entry.key));
        self.problems.push(Problem::new(entry.key_span.clone(), message).help(help));
    }

    /// The entry of `key`, or else of its old name.
    fn get(&self, key: &str) -> Option<&'n Entry<'s>> {
        self.find(key).map(|at| &self.entries[at])
    }

    /// The index of that entry.
    fn find(&self, key: &str) -> Option<usize> {
        let named = |name: &str| self.entries.iter().position(|entry| entry.key == name);
        let old = || self.renamed.iter().filter(|it| it.new == key).find_map(|it| named(it.old));
        named(key).or_else(old)
    }
}

/// Units that keys end in; a unit that is the end of another one stands after it.
const UNITS: &str = "bytes_per_cycle bytes_per_second bytes_per_s gb_per_s gib_per_s per_mac seconds \
                     cycles hertz bytes gbps khz mhz ghz fps kib mib gib hz ns us ms kb mb gb pj nj uj \
                     mj s";

/// The known key that `key` is but for its unit.
fn unit_slip(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let stem = without_unit(key);
    let mut candidates = known.iter().copied();
    candidates.find(|candidate| without_unit(candidate) == stem && candidate.len() > stem.len())
}

fn without_unit(key: &str) -> &str {
    let stem = |unit| key.strip_suffix(unit)?.strip_suffix('_');
    UNITS.split_whitespace().find_map(stem).unwrap_or(key)
}

/// Presence of a key.
enum Need<'d> {
    Required,
    Optional,
    /// The text stands for an absent value.
    Or(&'d dyn Display),
}

impl Entry<'_> {
    /// The key with its place.
    pub(crate) fn name(&self) -> At<Box<str>> {
        At { span: self.key_span.clone(), value: (&*self.key).into() }
    }
}

impl Node<'_> {
    /// The problem that this node is not of the expected form.
    pub(crate) fn mismatch(&self, expected: &dyn Display) -> Problem {
        let found = match &self.value {
            Value::Null => "nothing".into(),
            Value::Scalar { text, quoted: true } => format!("the text \"{}\"", printable(text)),
            Value::Scalar { text, .. } => format!("`{}`", printable(text)),
            Value::List(_) => "a list".into(),
            Value::Mapping(_) => "a mapping".into(),
        };
        Problem::new(self.span.clone(), format!("expected {expected}, found {found}"))
    }

    /// The entry of a mapping with this key; `None` for all that is no mapping.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry<'_>> {
        match &self.value {
            Value::Mapping(entries) => entries.iter().find(|it| it.key == key),
            _ => None,
        }
    }

    /// The same node, text without its quotes: JSON has words in quotes, and sometimes numbers.
    pub(crate) fn unquoted(&self) -> Self {
        let mut node = self.clone();
        if let Value::Scalar { quoted, .. } = &mut node.value {
            *quoted = false;
        }
        node
    }

    /// The scalar, in quotes or not; `None` for lists and mappings.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The plain scalar, which may be a number; `None` for quoted text, lists and mappings.
    pub(super) fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, quoted: false } => Some(text),
            _ => None,
        }
    }
}

/// The problem that there is no `what` of this name, with the nearest known one.
pub fn unknown_name<'a>(
    what: &str,
    name: &At<Box<str>>,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Problem {
    let problem =
        Problem::new(name.span.clone(), format!("no {what} named `{}`", printable(&name.value)));
    match nearest(&name.value, known.clone()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("known: {}", known.collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;
    use crate::yaml::values::{self, number};

    /// Reads `text` as `{clock_mhz: number, name: text}` and gives the messages.
    fn messages(text: &str) -> Vec<String> {
        let mut problems = Problems::default();
        let root = parse(text, &mut problems).unwrap();
        if let Some(mut fields) = Fields::from_mapping(&root, "a chip", &mut problems) {
            fields.required("clock_mhz", number(1.0..=1000.0));
            fields.required("name", values::text());
            fields.finish();
        }
        let message = |problem: Problem| match problem.help {
            Some(help) => format!("{} ({help})", problem.message),
            None => problem.message,
        };
        problems.into_vec().into_iter().map(message).collect()
    }

    #[test]
    fn a_good_mapping_has_no_problems() {
        assert_eq!(messages("{clock_mhz: 300, name: n7}"), Vec::<String>::new());
        assert_eq!(messages("{clock_mhz: 1e3, name: \"12\"}"), Vec::<String>::new());
    }

    #[test]
    fn all_problems_are_reported_together() {
        assert_eq!(
            messages("{clock_mhz: fast, nmae: x, colour: red}"),
            [
                "expected a number from 1 to 1000, found `fast`",
                "a chip has no key `nmae` (did you mean `name`?)",
                "a chip has no key `colour` (known: clock_mhz, name)",
            ]
        );
    }

    #[test]
    fn a_wrong_or_absent_unit_names_the_right_one() {
        for key in ["clock_ghz", "clock", "clock_hz"] {
            assert_eq!(
                messages(&format!("{{{key}: 1, name: x}}")),
                [format!("a chip has no key `{key}` (give the value as `clock_mhz`)")]
            );
        }
    }

    #[test]
    fn wrong_types_say_what_was_found() {
        assert_eq!(
            messages("{clock_mhz: \"300\", name: [x]}"),
            [
                "expected a number from 1 to 1000, found the text \"300\"",
                "expected text, found a list",
            ]
        );
        assert_eq!(messages("[1]"), ["expected the keys of a chip, found a list"]);
        assert_eq!(messages("{clock_mhz: NaN, name:}").len(), 2);
        assert_eq!(messages("{}").len(), 2);
    }
}

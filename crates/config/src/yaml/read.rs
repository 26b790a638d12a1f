//! Typed reading of a tree. A reader takes a node and returns a value, or adds a problem of the file and
//! returns `None`. Reading continues with the next key in both cases.

use std::fmt::Display;
use std::ops::{Deref, DerefMut, Range, RangeInclusive};
use std::str::FromStr;

use crate::{Problem, nearest};
use xrsim_model::renamed::{self, Renamed};
use xrsim_model::text::{NAME_RULE, is_name, is_obeyed};

use super::tree::{Entry, Node, Value};

/// Most unknown keys of a mapping that are reported one by one.
const MAX_UNKNOWN: usize = 50;

/// Problems of one file found so far, a list, and the old names of keys that were met.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    old_keys: Vec<At<Renamed>>,
}

impl Problems {
    /// Keys that the file gives under an old name, in the order of reading.
    pub(crate) fn old_keys(&self) -> &[At<Renamed>] {
        &self.old_keys
    }

    /// The problems alone.
    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.found
    }
}

impl Deref for Problems {
    type Target = Vec<Problem>;
    fn deref(&self) -> &Vec<Problem> {
        &self.found
    }
}

impl DerefMut for Problems {
    fn deref_mut(&mut self) -> &mut Vec<Problem> {
        &mut self.found
    }
}

/// A value with the bytes that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// Bytes of the source text.
    pub span: Range<usize>,
    /// The value.
    pub value: T,
}

/// The keys of a mapping, read one by one; [`Fields::finish`] reports those that nobody asked for.
pub(crate) struct Fields<'n, 's, 'p> {
    /// Kind of the described thing, with its article, e.g. `a layer`.
    what: &'static str,
    span: Range<usize>,
    entries: &'n [Entry<'s>],
    /// Keys that changed their name and are still read under the old one.
    renamed: &'static [Renamed],
    asked: Vec<&'static str>,
    missing: Vec<&'static str>,
    problems: &'p mut Problems,
}

impl<'n, 's, 'p> Fields<'n, 's, 'p> {
    /// The keys of `node`, which describes `what`; a problem unless it is a mapping.
    pub(crate) fn of(
        node: &'n Node<'s>,
        what: &'static str,
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let Value::Mapping(entries) = &node.value else {
            problems.push(node.mismatch(&format_args!("the keys of {what}")));
            return None;
        };
        let span = node.span.clone();
        let (asked, missing) = (Vec::new(), Vec::new());
        Some(Self { what, span, entries, renamed: &[], asked, missing, problems })
    }

    /// The same keys, of which those in `renamed` are also read under their old names.
    #[must_use]
    pub(crate) fn with_renamed(self, renamed: &'static [Renamed]) -> Self {
        Self { renamed, ..self }
    }

    /// The value of `key`; its absence is a problem.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let value = self.optional(key, read);
        if !self.given(key) {
            self.missing.push(key);
        }
        value
    }

    /// The value of `key`, `None` if it is absent (or wrong, which is a problem).
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        self.asked.push(key);
        let entry = self.get(key)?;
        if let Some(renamed) = renamed::find(self.renamed, &entry.key) {
            self.problems.old_keys.push(At { span: entry.key_span.clone(), value: renamed });
        }
        read(&entry.value, self.problems)
    }

    /// The value of `key` or, if it is absent, of `default`; required unless there is a default.
    pub(crate) fn or<T>(
        &mut self,
        key: &'static str,
        default: Option<T>,
        read: impl FnOnce(&Node<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        match default {
            Some(default) => Some(self.optional(key, read).unwrap_or(default)),
            None => self.required(key, read),
        }
    }

    /// Bytes of the value of `key`, of the mapping's begin if it is absent.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.get(key).map_or(self.span.clone(), |entry| entry.value.span.clone())
    }

    /// Whether `key` is given, rightly or wrongly.
    pub(crate) fn given(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Forgets missing keys, because the place that they would be inherited from is wrong itself.
    pub(crate) fn forgive_missing(&mut self) {
        self.missing.clear();
    }

    /// Adds a problem.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Reports keys that are not known and keys that are missing. A missing key whose misspelling
    /// was reported is not reported again.
    pub(crate) fn finish(mut self) {
        let known: Vec<_> = self.asked.iter().filter_map(|key| self.get(key)).collect();
        let is_known = |entry: &Entry<'_>| known.iter().any(|it| it.key_span == entry.key_span);
        let unknown: Vec<_> = self.entries.iter().filter(|entry| !is_known(entry)).collect();
        let free: Vec<_> = self.asked.iter().copied().filter(|key| !self.given(key)).collect();
        for entry in unknown.iter().take(MAX_UNKNOWN) {
            self.unknown(entry, &free);
        }
        if let Some(entry) = unknown.get(MAX_UNKNOWN) {
            let n_more = unknown.len() - MAX_UNKNOWN;
            let message = format!("{n_more} more keys from here on that {} has not", self.what);
            self.problems.push(Problem::new(entry.key_span.clone(), message));
        }
        for key in self.missing {
            let message = format!("{} lacks the key `{key}`", self.what);
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
                None => (None, format!("known: {}", self.asked.join(", "))),
            },
        };
        self.missing.retain(|key| Some(*key) != meant);
        let message = format!("{} has no key `{}`", self.what, printable(&entry.key));
        self.problems.push(Problem::new(entry.key_span.clone(), message).help(help));
    }

    /// The entry of `key`, or else of its old name.
    fn get(&self, key: &str) -> Option<&'n Entry<'s>> {
        let named = |name: &str| self.entries.iter().find(|entry| entry.key == name);
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

    /// The same node, text without its quotes: JSON has words in quotes, and sometimes numbers.
    pub(crate) fn unquoted(&self) -> Self {
        let mut node = self.clone();
        if let Value::Scalar { quoted, .. } = &mut node.value {
            *quoted = false;
        }
        node
    }

    /// The scalar, in quotes or not; `None` for lists and mappings.
    fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The plain scalar, which may be a number; `None` for quoted text, lists and mappings.
    fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, quoted: false } => Some(text),
            _ => None,
        }
    }
}

/// At most 40 characters of `text`, fit for a terminal.
pub fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() || is_obeyed(c) { '\u{fffd}' } else { c };
    let short: String = text.chars().take(40).map(visible).collect();
    if text.chars().nth(40).is_some() { short + "..." } else { short }
}

/// Types that [`number`] reads.
pub(crate) trait Number: FromStr + PartialOrd + Display {
    /// Noun for a value in messages.
    const NOUN: &'static str;
}

impl Number for u32 {
    const NOUN: &'static str = "a whole number";
}

impl Number for u64 {
    const NOUN: &'static str = "a whole number";
}

impl Number for f64 {
    const NOUN: &'static str = "a number";
}

/// Reads a number within `allowed`.
pub(crate) fn number<T: Number>(
    allowed: RangeInclusive<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<T> {
    move |node, problems| {
        let value = node.plain().and_then(|text| text.parse().ok());
        let value = value.filter(|value| allowed.contains(value));
        if value.is_none() {
            let (low, high) = (allowed.start(), allowed.end());
            let expected = format_args!("{} from {low} to {high}", T::NOUN);
            problems.push(node.mismatch(&expected));
        }
        value
    }
}

/// Reads a number within `allowed`, or `word`: `None` inside.
pub(crate) fn number_or<T: Number>(
    word: &'static str,
    allowed: RangeInclusive<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Option<T>> {
    move |node, problems| {
        let within = |text: &str| text.parse().ok().filter(|value| allowed.contains(value));
        let value = match node.plain() {
            Some(text) if text == word => Some(None),
            text => text.and_then(within).map(Some),
        };
        if value.is_none() {
            let (low, high) = (allowed.start(), allowed.end());
            let expected = format_args!("{} from {low} to {high}, or `{word}`", T::NOUN);
            problems.push(node.mismatch(&expected));
        }
        value
    }
}

/// Reads a number that `convert` accepts; `expected` describes such numbers.
pub(crate) fn quantity<T>(
    expected: &'static str,
    convert: impl Fn(f64) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<T> {
    move |node, problems| {
        let value = node.plain().and_then(|text| text.parse().ok()).and_then(&convert);
        if value.is_none() {
            problems.push(node.mismatch(&expected));
        }
        value
    }
}

/// Reads text that is not empty.
pub(crate) fn text(node: &Node<'_>, problems: &mut Problems) -> Option<Box<str>> {
    match &node.value {
        Value::Scalar { text, .. } if !text.trim().is_empty() => Some((&**text).into()),
        _ => {
            problems.push(node.mismatch(&"text"));
            None
        }
    }
}

/// Reads a name that the user gives.
pub(crate) fn proper_name(node: &Node<'_>, problems: &mut Problems) -> Option<Box<str>> {
    let name = text(node, problems)?;
    if is_name(&name) {
        return Some(name);
    }
    let message = format!("`{}` is no name", printable(&name));
    problems.push(Problem::new(node.span.clone(), message).help(NAME_RULE));
    None
}

/// Reads `true` or `false`.
pub(crate) fn flag(node: &Node<'_>, problems: &mut Problems) -> Option<bool> {
    let value = node.plain().and_then(|text| text.parse().ok());
    if value.is_none() {
        problems.push(node.mismatch(&"true or false"));
    }
    value
}

/// Reads one of a few words.
pub(crate) fn one_of<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<T> {
    move |node, problems| {
        // JSON has words in quotes.
        let word = node.scalar().unwrap_or_default();
        let found = words.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let names: Vec<_> = words.iter().map(|(name, _)| format!("`{name}`")).collect();
            let problem = node.mismatch(&names.join(" or "));
            problems.push(match nearest(word, words.iter().map(|(name, _)| *name)) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
        found.map(|&(_, value)| value)
    }
}

/// Reads a list of at least one `what`; `None` if any item is wrong.
pub(crate) fn list<T>(
    what: &'static str,
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>> {
    move |node, problems| match &node.value {
        Value::List(items) if !items.is_empty() => {
            let values: Vec<_> = items.iter().map(|item| read(item, problems)).collect();
            values.into_iter().collect()
        }
        Value::List(_) => {
            problems.push(Problem::new(node.span.clone(), format!("this list of {what} is empty")));
            None
        }
        _ => {
            problems.push(node.mismatch(&format_args!("a list of {what}")));
            None
        }
    }
}

/// Reads the same list as `read`, of at most `max` entries.
pub(crate) fn at_most<T>(
    max: usize,
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>> {
    move |node, problems| {
        let values = read(node, problems)?;
        if values.len() > max {
            let message = format!("{} entries; at most {max} are allowed", values.len());
            problems.push(Problem::new(node.span.clone(), message));
            return None;
        }
        Some(values)
    }
}

/// Reads a mapping whose keys are names of the user's, each with a value that `read` takes; `None`
/// if any is wrong.
pub(crate) fn named<T>(
    what: &'static str,
    read: impl Fn(&Entry<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<Vec<T>> {
    move |node, problems| match &node.value {
        Value::Mapping(entries) if !entries.is_empty() => {
            let values: Vec<_> = entries.iter().map(|entry| read(entry, problems)).collect();
            values.into_iter().collect()
        }
        Value::Mapping(_) => {
            let message = format!("this mapping of {what} is empty");
            problems.push(Problem::new(node.span.clone(), message));
            None
        }
        _ => {
            problems.push(node.mismatch(&format_args!("a mapping of {what}")));
            None
        }
    }
}

/// Reads the same value as `read` and keeps its place.
pub(crate) fn at<T>(
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&Node<'_>, &mut Problems) -> Option<At<T>> {
    move |node, problems| read(node, problems).map(|value| At { span: node.span.clone(), value })
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

    /// Reads `text` as `{clock_mhz: number, name: text}` and gives the messages.
    fn messages(text: &str) -> Vec<String> {
        let mut problems = Problems::default();
        let root = parse(text, &mut problems).unwrap();
        if let Some(mut fields) = Fields::of(&root, "a chip", &mut problems) {
            fields.required("clock_mhz", number(1.0..=1000.0));
            fields.required("name", super::text);
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

//! Ways in which a value stands in a file. Each reads the value and describes it in schemas.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::form::{self, Form};
use crate::{At, Problem, nearest};
use xrsim_model::text::{NAME_RULE, is_name};

use super::problems::{Problems, printable};
use super::tree::{Entry, Node, Value};

/// A way in which a value stands in a file.
pub(crate) trait Reader: Sized {
    /// Type of the value.
    type Value;

    /// The value of `node`; `None` if it is wrong, which is a problem.
    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Self::Value>;

    /// Schema of the value.
    fn form(&self) -> Form;

    /// The same values, with the schema that `change` makes of theirs.
    fn shaped<F: Fn(Form) -> Form>(self, change: F) -> Shaped<Self, F> {
        Shaped { reader: self, change }
    }

    /// The same values with this description, see [`Form::documented`].
    fn says(self, text: &'static str) -> impl Reader<Value = Self::Value> {
        self.shaped(move |form| form.documented(text))
    }

    /// The same values, in these words.
    fn allowed(self, words: &'static str) -> impl Reader<Value = Self::Value> {
        self.shaped(move |form| form.allowed(words))
    }

    /// The same values. An absent one has the effect of `default`, as schemas say.
    fn with_default<D>(self, default: D) -> impl Reader<Value = Self::Value>
    where
        D: Into<serde_json::Value> + Clone,
    {
        self.shaped(move |form| form.or(default.clone()))
    }

    /// Values that `next` makes of these.
    fn then<T, F>(self, next: F) -> Then<Self, F>
    where
        F: Fn(Self::Value, &Node<'_>, &mut Problems) -> Option<T>,
    {
        Then { reader: self, next }
    }
}

/// Functions are readers without a schema.
impl<T, F: Fn(&Node<'_>, &mut Problems) -> Option<T>> Reader for F {
    type Value = T;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<T> {
        self(node, problems)
    }

    fn form(&self) -> Form {
        Form::default()
    }
}

/// Values with another schema, see [`Reader::shaped`].
pub(crate) struct Shaped<R, F> {
    reader: R,
    change: F,
}

impl<R: Reader, F: Fn(Form) -> Form> Reader for Shaped<R, F> {
    type Value = R::Value;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<R::Value> {
        self.reader.read(node, problems)
    }

    fn form(&self) -> Form {
        (self.change)(self.reader.form())
    }
}

/// Values made of others, see [`Reader::then`].
pub(crate) struct Then<R, F> {
    reader: R,
    next: F,
}

impl<T, R, F> Reader for Then<R, F>
where
    R: Reader,
    F: Fn(R::Value, &Node<'_>, &mut Problems) -> Option<T>,
{
    type Value = T;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<T> {
        (self.next)(self.reader.read(node, problems)?, node, problems)
    }

    fn form(&self) -> Form {
        self.reader.form()
    }
}

/// Values that `read` reads and `form` describes.
pub(crate) fn value<T, R>(read: R, form: impl Fn() -> Form) -> impl Reader<Value = T>
where
    R: Fn(&Node<'_>, &mut Problems) -> Option<T>,
{
    read.shaped(move |_| form())
}

/// Types that [`number`] reads.
pub(crate) trait Number: FromStr + PartialOrd + Display + Clone {
    /// Noun for a value in messages.
    const NOUN: &'static str;

    /// Schema of the numbers within `allowed`.
    fn form(allowed: RangeInclusive<Self>) -> Form;
}

impl Number for u32 {
    const NOUN: &'static str = "a whole number";

    fn form(allowed: RangeInclusive<Self>) -> Form {
        form::whole(allowed)
    }
}

impl Number for u64 {
    const NOUN: &'static str = "a whole number";

    fn form(allowed: RangeInclusive<Self>) -> Form {
        form::whole(allowed)
    }
}

impl Number for f64 {
    const NOUN: &'static str = "a number";

    fn form(allowed: RangeInclusive<Self>) -> Form {
        form::number(allowed)
    }
}

/// The number that a node is, if it is within `allowed`.
fn within<T: Number>(node: &Node<'_>, allowed: &RangeInclusive<T>) -> Option<T> {
    let value = node.plain().and_then(|text| text.parse().ok());
    value.filter(|value| allowed.contains(value))
}

/// A number within `allowed`.
pub(crate) fn number<T: Number>(allowed: RangeInclusive<T>) -> impl Reader<Value = T> {
    let form = allowed.clone();
    let read = move |node: &Node<'_>, problems: &mut Problems| {
        let value = within(node, &allowed);
        if value.is_none() {
            let (low, high) = (allowed.start(), allowed.end());
            let expected = format_args!("{} from {low} to {high}", T::NOUN);
            problems.push(node.mismatch(&expected));
        }
        value
    };
    value(read, move || T::form(form.clone()))
}

/// A number within `allowed`, or `word`: `None` inside.
pub(crate) fn number_or<T: Number>(
    word: &'static str,
    allowed: RangeInclusive<T>,
) -> impl Reader<Value = Option<T>> {
    let form = allowed.clone();
    let read = move |node: &Node<'_>, problems: &mut Problems| {
        let value = match node.plain() {
            Some(text) if text == word => Some(None),
            _ => within(node, &allowed).map(Some),
        };
        if value.is_none() {
            let (low, high) = (allowed.start(), allowed.end());
            let expected = format_args!("{} from {low} to {high}, or `{word}`", T::NOUN);
            problems.push(node.mismatch(&expected));
        }
        value
    };
    value(read, move || form::any_of([T::form(form.clone()), form::word([word])]))
}

/// A number that `convert` accepts. The texts `expected` in messages, and `form` in schemas, describe such numbers.
pub(crate) fn converted<T>(
    expected: impl Display,
    form: impl Fn() -> Form,
    convert: impl Fn(f64) -> Option<T>,
) -> impl Reader<Value = T> {
    let read = move |node: &Node<'_>, problems: &mut Problems| {
        let value = node.plain().and_then(|text| text.parse().ok()).and_then(&convert);
        if value.is_none() {
            problems.push(node.mismatch(&expected));
        }
        value
    };
    value(read, form)
}

/// Text that is not empty.
pub(crate) fn text() -> impl Reader<Value = Box<str>> {
    let read = |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Scalar { text, .. } if !text.trim().is_empty() => Some((&**text).into()),
        _ => {
            let expected = match node.scalar() {
                Some(_) => "text that is not empty",
                None => "text",
            };
            problems.push(node.mismatch(&expected));
            None
        }
    };
    value(read, form::text)
}

/// A name that the user gives.
pub(crate) fn proper_name() -> impl Reader<Value = Box<str>> {
    let check = |name: Box<str>, node: &Node<'_>, problems: &mut Problems| {
        if is_name(&name) {
            return Some(name);
        }
        let message = format!("`{}` is no name", printable(&name));
        problems.push(Problem::new(node.span.clone(), message).help(NAME_RULE));
        None
    };
    text().then(check).shaped(|_| form::name())
}

/// `true` or `false`.
pub(crate) fn flag() -> impl Reader<Value = bool> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let value = node.plain().and_then(|text| text.parse().ok());
        if value.is_none() {
            problems.push(node.mismatch(&"true or false"));
        }
        value
    };
    value(read, form::flag)
}

/// One of a few words.
pub(crate) fn one_of<T: Copy>(words: &'static [(&'static str, T)]) -> impl Reader<Value = T> {
    let names = || words.iter().map(|(name, _)| *name);
    let read = move |node: &Node<'_>, problems: &mut Problems| {
        // JSON has words in quotes.
        let word = node.scalar().unwrap_or_default();
        let found = words.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let quoted: Vec<_> = names().map(|name| format!("`{name}`")).collect();
            let problem = node.mismatch(&quoted.join(" or "));
            problems.push(match nearest(word, names()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
        found.map(|&(_, value)| value)
    };
    value(read, move || form::word(names()))
}

/// A list of at least one `what`; it is wrong if any item is.
pub(crate) fn list<R: Reader>(what: &'static str, item: R) -> List<R> {
    List { what, item }
}

/// See [`list`].
pub(crate) struct List<R> {
    what: &'static str,
    /// Reader of the items.
    pub(crate) item: R,
}

impl<R: Reader> Reader for List<R> {
    type Value = Vec<R::Value>;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Vec<R::Value>> {
        let what = self.what;
        match &node.value {
            Value::List(items) if !items.is_empty() => {
                let values = items.iter().map(|item| self.item.read(item, problems));
                let values: Vec<_> = values.collect();
                values.into_iter().collect()
            }
            Value::List(_) => {
                let message = format!("this list of {what} is empty");
                problems.push(Problem::new(node.span.clone(), message));
                None
            }
            _ => {
                problems.push(node.mismatch(&format_args!("a list of {what}")));
                None
            }
        }
    }

    fn form(&self) -> Form {
        form::list(self.item.form())
    }
}

/// The same list, of at most `max` entries.
pub(crate) fn at_most<T>(
    max: usize,
    list: impl Reader<Value = Vec<T>>,
) -> impl Reader<Value = Vec<T>> {
    let check = move |values: Vec<T>, node: &Node<'_>, problems: &mut Problems| {
        if values.len() > max {
            let message = format!("{} entries; at most {max} are allowed", values.len());
            problems.push(Problem::new(node.span.clone(), message));
            return None;
        }
        Some(values)
    };
    list.then(check).shaped(move |form| form.at_most(max))
}

/// One `item`, or a `list` of such.
pub(crate) fn one_or_list<T>(
    item: impl Reader<Value = T>,
    list: impl Reader<Value = Vec<T>>,
) -> impl Reader<Value = Vec<T>> {
    OneOrList { item, list }
}

struct OneOrList<I, L> {
    item: I,
    list: L,
}

impl<T, I: Reader<Value = T>, L: Reader<Value = Vec<T>>> Reader for OneOrList<I, L> {
    type Value = Vec<T>;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Vec<T>> {
        match &node.value {
            Value::List(_) => self.list.read(node, problems),
            _ => self.item.read(node, problems).map(|value| vec![value]),
        }
    }

    fn form(&self) -> Form {
        form::any_of([self.item.form(), self.list.form()])
    }
}

/// A mapping of at least one name of the user's to a value; it is wrong if any is.
pub(crate) fn named<R: Reader>(what: &'static str, value: R) -> Named<R> {
    Named { what, value }
}

/// See [`named`].
pub(crate) struct Named<R> {
    what: &'static str,
    value: R,
}

impl<R: Reader> Reader for Named<R> {
    type Value = Vec<(At<Box<str>>, R::Value)>;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Self::Value> {
        let read = |entry: &Entry<'_>, problems: &mut Problems| {
            Some((entry.name(), self.value.read(&entry.value, problems)?))
        };
        entries(self.what, read).read(node, problems)
    }

    fn form(&self) -> Form {
        form::named(self.value.form())
    }
}

/// A mapping of at least one `what`, each of which `read` takes; it is wrong if any is.
pub(crate) fn entries<T>(
    what: &'static str,
    read: impl Fn(&Entry<'_>, &mut Problems) -> Option<T>,
) -> impl Reader<Value = Vec<T>> {
    move |node: &Node<'_>, problems: &mut Problems| match &node.value {
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

/// The same value with its place.
pub(crate) fn at<T>(reader: impl Reader<Value = T>) -> impl Reader<Value = At<T>> {
    reader.then(|value, node, _| Some(At { span: node.span.clone(), value }))
}

/// The same value; `None` inside if it is wrong, to be told from an absent one.
pub(crate) fn tried<T>(reader: impl Reader<Value = T>) -> impl Reader<Value = Option<T>> {
    Tried(reader)
}

struct Tried<R>(R);

impl<R: Reader> Reader for Tried<R> {
    type Value = Option<R::Value>;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<Self::Value> {
        Some(self.0.read(node, problems))
    }

    fn form(&self) -> Form {
        self.0.form()
    }
}

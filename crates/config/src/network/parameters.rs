//! Parameters of a network: their declarations, and expressions of them in its layers.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;

use serde_json::json;

use crate::parameters::is_name;
use crate::yaml::keys::keys;
use crate::yaml::read::{At, Problems, printable};
use crate::yaml::tree::Entry;
use crate::yaml::values::{Reader, at, entries, list, number, text};
use crate::yaml::{Fields, Node, Value};
use crate::{ParameterValues, Problem, form, nearest};
use xrsim_model::model::Parameter;

use super::expression::{self, Fault};

/// Most parameters and counts of a network.
const MAX_PARAMETERS: usize = 100;

/// Keys of layers whose values are words or flags, which are no expressions.
const NO_NUMBERS: [&str; 4] = ["name", "reads", "shared", "kernel_exceeds_input"];

/// Beginnings of keys of layers whose values are numbers, but no extents.
const NO_EXTENTS: [&str; 4] = ["repeat", "from", "bits", "pad"];

/// Parameters of a network, of which those in `values` do not have their defaults.
pub(super) fn declarations(values: &ParameterValues) -> impl Reader<Value = Vec<At<Parameter>>> {
    named("parameters", values, declaration).shaped(|_| {
        let declared = raw_declaration().form();
        let declared = declared.allowed("{default, range: [least, largest], reason}");
        let value = form::any_of([default().form(), declared])
            .says("Default of this parameter, or its declaration");
        by_name(value)
            .says("Numbers that the extents of layers depend on")
            .remark("Layers name them in expressions, such as `2*regions + 1`.")
    })
}

/// Counts of a network, of which those in `values` are not as planned.
pub(super) fn counts(values: &ParameterValues) -> impl Reader<Value = Vec<At<Parameter>>> {
    let read = |entry: &Entry<'_>, problems: &mut Problems| {
        let name = name("count", entry, problems)?;
        let declared = raw_count().read(&entry.value, problems)?;
        let mut count = Parameter::count(name, declared.planned.value, declared.most);
        count.reason = declared.reason;
        Some(count)
    };
    named("counts", values, read).shaped(|_| {
        by_name(raw_count().form())
            .says("Counts of things in an image, which layers name as they name parameters")
            .remark("A scenario can draw them from frame to frame (`work`). Layers with an extent of 0 take no time.")
    })
}

/// A mapping of `what`, each of which `read` takes, with these values and the places of their names.
fn named(
    what: &'static str,
    values: &ParameterValues,
    read: impl Fn(&Entry<'_>, &mut Problems) -> Option<Parameter>,
) -> impl Reader<Value = Vec<At<Parameter>>> {
    let read = move |entry: &Entry<'_>, problems: &mut Problems| {
        let mut parameter = read(entry, problems)?;
        parameter.value = values.get(&parameter.name).unwrap_or(parameter.default);
        Some(At { span: entry.key_span.clone(), value: parameter })
    };
    entries(what, read)
}

/// The parameters, then the counts; one of each name. `None` if they are too many, which is a problem.
pub(super) fn joined(
    parameters: Vec<At<Parameter>>,
    counts: Vec<At<Parameter>>,
    fields: &mut Fields<'_, '_, '_>,
) -> Option<Vec<Parameter>> {
    let n = parameters.len() + counts.len();
    if n > MAX_PARAMETERS {
        let (key, what) = match (parameters.is_empty(), counts.is_empty()) {
            (_, true) => ("parameters", "parameters"),
            (true, _) => ("counts", "counts"),
            _ => ("counts", "parameters and counts"),
        };
        let message = format!("{n} {what}; at most {MAX_PARAMETERS} are allowed");
        fields.problem(Problem::new(fields.span_of(key), message));
        return None;
    }
    let mut all: Vec<_> = parameters.into_iter().map(|it| it.value).collect();
    for At { span, value: count } in counts {
        if all.iter().any(|it| it.name == count.name) {
            let message = format!("`{}` is a parameter and a count", count.name);
            fields.problem(Problem::new(span, message));
            continue;
        }
        all.push(count);
    }
    Some(all)
}

/// Schema of a mapping of names to values.
fn by_name(value: form::Form) -> form::Form {
    form::named(value)
        .with("maxProperties", MAX_PARAMETERS)
        .with("propertyNames", json!({"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"}))
}

/// A default that stands for a whole declaration.
fn default() -> impl Reader<Value = u32> {
    number(1..=Parameter::MAX)
}

/// Reads `regions: 100`, or `regions: {default: 100, range: [1, 1000], reason: ..}`.
fn declaration(entry: &Entry<'_>, problems: &mut Problems) -> Option<Parameter> {
    let name = name("parameter", entry, problems)?;
    let Value::Mapping(_) = entry.value.value else {
        let default = default().read(&entry.value, problems)?;
        return Some(Parameter::new(name, default));
    };
    let declared = raw_declaration().read(&entry.value, problems)?;
    let mut parameter = Parameter::new(name, declared.default.value);
    (parameter.allowed, parameter.reason) = (declared.range, declared.reason);
    Some(parameter)
}

/// The name of a parameter or a count.
fn name<'e>(what: &str, entry: &'e Entry<'_>, problems: &mut Problems) -> Option<&'e str> {
    if is_name(&entry.key) {
        return Some(&entry.key);
    }
    let message = format!("`{}` is no name of a {what}", printable(&entry.key));
    let help = "a letter or `_`, then letters, digits and `_`, at most 64";
    problems.push(Problem::new(entry.key_span.clone(), message).help(help));
    None
}

keys! {
    fn raw_declaration() -> struct Declaration: "a parameter" {
        /// Value where none is set.
        default: At<u32> = required(at(number(0..=Parameter::MAX)));
        /// Range of its values.
        range: RangeInclusive<u32> = or(format_args!("[1, {}]", Parameter::MAX), range());
        /// Reason of the default.
        reason: Box<str> = or_default(text());
    }
    check(fields) {
        if let Some((default, range)) = default.as_ref().zip(range.as_ref())
            && !range.contains(&default.value)
        {
            let (value, low, high) = (default.value, range.start(), range.end());
            let message = format!("the default is {value}; the range is from {low} to {high}");
            fields.problem(Problem::new(default.span.clone(), message));
        }
    }
}

keys! {
    fn raw_count() -> struct RawCount: "a count" {
        /// Count of every frame, unless a scenario draws it.
        planned: At<u32> = required(at(number(1..=Parameter::MAX)));
        /// Largest count of a frame.
        most: u32 = required(number(1..=Parameter::MAX));
        /// Reason of the planned count.
        reason: Box<str> = or_default(text());
    }
    check(fields) {
        if let Some((planned, most)) = planned.as_ref().zip(most.as_ref())
            && planned.value > *most
        {
            let message = format!("the planned count is {}; the most is {most}", planned.value);
            fields.problem(Problem::new(planned.span.clone(), message));
        }
    }
}

fn range() -> impl Reader<Value = RangeInclusive<u32>> {
    let range = |limits: Vec<u32>, node: &Node<'_>, problems: &mut Problems| match limits[..] {
        [low, high] if low <= high => Some(low..=high),
        _ => {
            problems.push(node.mismatch(&"[least, largest]"));
            None
        }
    };
    list("limits", number(0..=Parameter::MAX))
        .then(range)
        .shaped(|form| form.exactly(2, "[least, largest]"))
}

/// `node`, the layers of a network, with the values of its expressions in their places, and the places of extents that
/// a count of 0 makes 0, where 1 stands. Parameters and counts that no layer uses are problems. `None` if an expression has no value,
/// which is a problem, too: further problems of the layers could follow from it.
pub(super) fn substituted<'s>(
    parameters: &[Parameter],
    node: &Node<'s>,
    problems: &mut Problems,
) -> Option<(Node<'s>, Vec<usize>)> {
    let names_none = Cell::new(false);
    let is_used = RefCell::new(vec![false; parameters.len()]);
    let value = |name: &str| {
        let index = parameters.iter().position(|it| *it.name == *name)?;
        is_used.borrow_mut()[index] = true;
        let Parameter { value, is_count, .. } = parameters[index];
        names_none.set(names_none.get() || is_count && value == 0);
        Some(value)
    };
    let (mut node, n_problems) = (node.clone(), problems.len());
    let mut substitution = Substitution {
        parameters,
        value: &value,
        names_none: &names_none,
        is_extent: true,
        zeros: Vec::new(),
    };
    substitution.apply(&mut node, problems);
    let zeros = substitution.zeros;
    if problems.len() > n_problems {
        return None;
    }
    for (parameter, is_used) in parameters.iter().zip(is_used.take()) {
        if !is_used {
            let what = if parameter.is_count { "count" } else { "parameter" };
            let message = format!("no layer uses the {what} `{}`", parameter.name);
            problems.push(Problem::new(node.span.clone(), message));
        }
    }
    Some((node, zeros))
}

/// Places of extents of `node` that are 0 if all counts are; none if an expression has no value then.
pub(super) fn zeros_without_counts(parameters: &[Parameter], node: &Node<'_>) -> Vec<usize> {
    if !parameters.iter().any(|it| it.is_count) {
        return Vec::new();
    }
    let mut parameters = parameters.to_vec();
    parameters.iter_mut().filter(|it| it.is_count).for_each(|it| it.value = 0);
    let found = substituted(&parameters, node, &mut Problems::default());
    found.map_or(Vec::new(), |(_, zeros)| zeros)
}

/// Puts the values of expressions in their places.
struct Substitution<'a> {
    parameters: &'a [Parameter],
    value: &'a dyn Fn(&str) -> Option<u32>,
    /// Whether a count of 0 was asked for.
    names_none: &'a Cell<bool>,
    /// Whether the node is an extent.
    is_extent: bool,
    /// Places of extents that a count of 0 makes 0.
    zeros: Vec<usize>,
}

impl Substitution<'_> {
    fn apply(&mut self, node: &mut Node<'_>, problems: &mut Problems) {
        match &mut node.value {
            Value::List(items) => items.iter_mut().for_each(|item| self.apply(item, problems)),
            Value::Mapping(entries) => {
                for entry in entries.iter_mut().filter(|it| !NO_NUMBERS.contains(&&*it.key)) {
                    let is_extent = !NO_EXTENTS.iter().any(|key| entry.key.starts_with(key));
                    let outer = std::mem::replace(&mut self.is_extent, is_extent);
                    self.apply(&mut entry.value, problems);
                    self.is_extent = outer;
                }
            }
            Value::Scalar { text, quoted: false } if text.parse::<u64>().is_err() => {
                self.names_none.set(false);
                match expression::evaluate(text, self.value) {
                    Ok(0) if self.is_extent && self.names_none.get() => {
                        self.zeros.push(node.span.start);
                        *text = "1".into();
                    }
                    Ok(number) => *text = number.to_string().into(),
                    Err(fault) => problems.push(problem(fault, node, self.parameters)),
                }
            }
            Value::Scalar { .. } | Value::Null => {}
        }
    }
}

fn problem(fault: Fault, node: &Node<'_>, parameters: &[Parameter]) -> Problem {
    let Fault::Unknown(name) = fault else {
        let Value::Scalar { text, .. } = &node.value else {
            return node.mismatch(&"an expression");
        };
        let message = format!("`{}`: {fault}", printable(text));
        return Problem::new(node.span.clone(), message);
    };
    let names = || parameters.iter().map(|it| &*it.name);
    let message = format!("no parameter named `{}`", printable(&name));
    let help = match nearest(&name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Problem::new(node.span.clone(), message).help(help)
}

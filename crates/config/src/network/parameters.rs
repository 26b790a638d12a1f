//! Parameters of a network: their declarations, and expressions of them in its layers.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use serde_json::json;

use crate::parameters::is_name;
use crate::yaml::keys::keys;
use crate::yaml::read::{At, Problems, printable};
use crate::yaml::tree::Entry;
use crate::yaml::values::{Reader, at, entries, list, number, text};
use crate::yaml::{Node, Value};
use crate::{ParameterValues, Problem, form, nearest};
use xrsim_model::model::Parameter;

use super::expression::{self, Fault};

/// Most parameters of a network.
const MAX_PARAMETERS: usize = 100;

/// Keys of layers whose values are words or flags, which are no expressions.
const NO_NUMBERS: [&str; 4] = ["name", "reads", "shared", "kernel_exceeds_input"];

/// Parameters of a network, of which those in `values` do not have their defaults.
pub(super) fn declarations(values: &ParameterValues) -> impl Reader<Value = Vec<Parameter>> {
    let read = |entry: &Entry<'_>, problems: &mut Problems| {
        let mut parameter = declaration(entry, problems)?;
        parameter.value = values.get(&parameter.name).unwrap_or(parameter.default);
        Some(parameter)
    };
    let check = |parameters: Vec<Parameter>, node: &Node<'_>, problems: &mut Problems| {
        if parameters.len() > MAX_PARAMETERS {
            let message =
                format!("{} parameters; at most {MAX_PARAMETERS} are allowed", parameters.len());
            problems.push(Problem::new(node.span.clone(), message));
            return None;
        }
        Some(parameters)
    };
    entries("parameters", read).then(check).shaped(|_| {
        let declared = raw_declaration().form();
        let declared = declared.allowed("{default, range: [least, largest], reason}");
        let value = form::any_of([default().form(), declared])
            .says("Default of this parameter, or its declaration");
        form::named(value)
            .with("maxProperties", MAX_PARAMETERS)
            .with("propertyNames", json!({"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"}))
            .says("Numbers that the extents of layers depend on")
            .remark("Layers name them in expressions, such as `2*regions + 1`.")
    })
}

/// A default that stands for a whole declaration.
fn default() -> impl Reader<Value = u32> {
    number(1..=Parameter::MAX)
}

/// Reads `regions: 100`, or `regions: {default: 100, range: [1, 1000], reason: ..}`.
fn declaration(entry: &Entry<'_>, problems: &mut Problems) -> Option<Parameter> {
    if !is_name(&entry.key) {
        let message = format!("`{}` is no name of a parameter", printable(&entry.key));
        let help = "a letter or `_`, then letters, digits and `_`, at most 64";
        problems.push(Problem::new(entry.key_span.clone(), message).help(help));
        return None;
    }
    let Value::Mapping(_) = entry.value.value else {
        let default = default().read(&entry.value, problems)?;
        return Some(Parameter::new(&*entry.key, default));
    };
    let declared = raw_declaration().read(&entry.value, problems)?;
    let mut parameter = Parameter::new(&*entry.key, declared.default.value);
    (parameter.allowed, parameter.reason) = (declared.range, declared.reason);
    Some(parameter)
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

/// `node`, the layers of a network, with the values of its expressions in their places. Parameters that no
/// layer uses are problems. `None` if an expression has no value, which is a problem, too: further problems of
/// the layers could follow from it.
pub(super) fn substituted<'s>(
    parameters: &[Parameter],
    node: &Node<'s>,
    problems: &mut Problems,
) -> Option<Node<'s>> {
    let is_used = RefCell::new(vec![false; parameters.len()]);
    let value = |name: &str| {
        let index = parameters.iter().position(|it| *it.name == *name)?;
        is_used.borrow_mut()[index] = true;
        Some(parameters[index].value)
    };
    let (mut node, n_problems) = (node.clone(), problems.len());
    substitute(&mut node, parameters, &value, problems);
    if problems.len() > n_problems {
        return None;
    }
    for (parameter, is_used) in parameters.iter().zip(is_used.take()) {
        if !is_used {
            let message = format!("no layer uses the parameter `{}`", parameter.name);
            problems.push(Problem::new(node.span.clone(), message));
        }
    }
    Some(node)
}

fn substitute(
    node: &mut Node<'_>,
    parameters: &[Parameter],
    value: &dyn Fn(&str) -> Option<u32>,
    problems: &mut Problems,
) {
    match &mut node.value {
        Value::List(items) => {
            items.iter_mut().for_each(|item| substitute(item, parameters, value, problems));
        }
        Value::Mapping(entries) => {
            let entries = entries.iter_mut().filter(|it| !NO_NUMBERS.contains(&&*it.key));
            entries.for_each(|it| substitute(&mut it.value, parameters, value, problems));
        }
        Value::Scalar { text, quoted: false } if text.parse::<u64>().is_err() => {
            match expression::evaluate(text, value) {
                Ok(number) => *text = number.to_string().into(),
                Err(fault) => problems.push(problem(fault, node, parameters)),
            }
        }
        Value::Scalar { .. } | Value::Null => {}
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

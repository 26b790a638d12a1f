//! Parameters of a network: their declarations, and expressions of them in its layers.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use crate::parameters::is_name;
use crate::yaml::read::{Problems, list, named, number, printable, text};
use crate::yaml::tree::Entry;
use crate::yaml::{Fields, Node, Value};
use crate::{ParameterValues, Problem, nearest};
use xrsim_model::model::Parameter;

use super::expression::{self, Fault};

/// Most parameters of a network.
pub(crate) const MAX_PARAMETERS: usize = 100;

/// Keys of layers whose values are words or flags, which are no expressions.
const NO_NUMBERS: [&str; 4] = ["name", "reads", "shared", "kernel_exceeds_input"];

/// Reads the parameters of a network, of which those in `values` do not have their defaults.
pub(super) fn read(
    values: &ParameterValues,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<Vec<Parameter>> {
    let read = |entry: &Entry<'_>, problems: &mut Problems| {
        let mut parameter = declaration(entry, problems)?;
        parameter.value = values.get(&parameter.name).unwrap_or(parameter.default);
        Some(parameter)
    };
    let parameters = named("parameters", read)(node, problems)?;
    if parameters.len() > MAX_PARAMETERS {
        let message =
            format!("{} parameters; at most {MAX_PARAMETERS} are allowed", parameters.len());
        problems.push(Problem::new(node.span.clone(), message));
        return None;
    }
    Some(parameters)
}

/// Reads `regions: 100`, or `regions: {default: 100, range: [1, 1000], reason: ..}`.
fn declaration(entry: &Entry<'_>, problems: &mut Problems) -> Option<Parameter> {
    if !is_name(&entry.key) {
        let message = format!("`{}` is no name of a parameter", printable(&entry.key));
        let help = "a letter or `_`, then letters, digits and `_`, at most 64";
        problems.push(Problem::new(entry.key_span.clone(), message).help(help));
        return None;
    }
    let value = || number(0..=Parameter::MAX);
    let Value::Mapping(_) = entry.value.value else {
        let default = number(1..=Parameter::MAX)(&entry.value, problems)?;
        return Some(Parameter::new(&*entry.key, default));
    };
    let mut fields = Fields::of(&entry.value, "a parameter", problems)?;
    let default = fields.required("default", value());
    let allowed = fields.or("range", Some(1..=Parameter::MAX), range);
    let reason = fields.optional("reason", text).unwrap_or_default();
    let (span, allowed) = (fields.span_of("default"), allowed?);
    if let Some(default) = default.filter(|it| !allowed.contains(it)) {
        let (low, high) = (allowed.start(), allowed.end());
        let message = format!("the default is {default}; the range is from {low} to {high}");
        fields.problem(Problem::new(span, message));
    }
    fields.finish();
    let mut parameter = Parameter::new(&*entry.key, default?);
    (parameter.allowed, parameter.reason) = (allowed, reason);
    Some(parameter)
}

fn range(node: &Node<'_>, problems: &mut Problems) -> Option<RangeInclusive<u32>> {
    let limits = list("limits", number(0..=Parameter::MAX))(node, problems)?;
    match limits[..] {
        [low, high] if low <= high => Some(low..=high),
        _ => {
            problems.push(node.mismatch(&"[least, largest]"));
            None
        }
    }
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

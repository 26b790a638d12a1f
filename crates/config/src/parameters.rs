//! Values of the parameters of networks, in references and by task.

use std::collections::BTreeMap;
use std::fmt;

use xrsim_model::model::{Network, Parameter};

use super::yaml::read::{At, Problems, printable};
use super::yaml::values::{Reader, named, number};
use super::yaml::{Fields, Node};
use super::{ConfigError, Problem, extensions, nearest};

/// Values of the parameters of one network, by name. Displays as in a reference:
/// `detections=10,regions=100`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ParameterValues(BTreeMap<Box<str>, u32>);

/// Values of parameters by the task of the network, such as `PD` and there `regions`. The values of a
/// network itself have an empty task. Displays as `PD:regions=100 OD:regions=30`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Parameters(BTreeMap<Box<str>, ParameterValues>);

impl ParameterValues {
    /// The same values with that of one more parameter, or with another value of it.
    #[must_use]
    pub fn with(mut self, name: &str, value: u32) -> Self {
        self.0.insert(name.into(), value);
        self
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a parameter, if it is set.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    /// Names and values, in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// These values, and those of `other` in place of them.
    pub(super) fn overridden_by(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().map(|(name, value)| (name.clone(), *value)));
        self
    }

    /// The reference to the network that `base` leads to, with these values.
    pub(super) fn of(&self, base: &str) -> String {
        if self.is_empty() { base.into() } else { format!("{base}:{self}") }
    }

    /// Refuses a 0 among extents of axes of the network that `reference` leads to.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Malformed`] for the first one.
    pub(super) fn refuse_zero(&self, reference: &str) -> Result<(), ConfigError> {
        let Some((name, _)) = self.iter().find(|(_, value)| *value == 0) else { return Ok(()) };
        let reason = format!("`{name}` is 0; {}", allowed().replace("from 0", "from 1"));
        Err(malformed(&self.of(reference), reason))
    }

    /// Whether the layers of `network` have these values already.
    pub(super) fn are_those_of(&self, network: &Network) -> bool {
        let value = |name: &str| network.parameters().iter().find(|it| *it.name == *name);
        self.iter().all(|(name, new)| value(name).is_some_and(|it| it.value == new))
    }

    /// Checks that `network`, which `reference` leads to, has these parameters and allows the values.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Malformed`] for the first one that is wrong.
    pub(super) fn check(&self, network: &Network, reference: &str) -> Result<(), ConfigError> {
        self.iter().try_for_each(|(name, value)| {
            let fault = fault(network.parameters(), name, value);
            fault.map_or(Ok(()), |reason| Err(malformed(&self.of(reference), reason)))
        })
    }
}

/// The reason why `value` cannot be that of the parameter `name`, if it cannot.
pub fn fault(parameters: &[Parameter], name: &str, value: u32) -> Option<String> {
    let Some(parameter) = parameters.iter().find(|it| *it.name == *name) else {
        let names = parameters.iter().map(|it| &*it.name);
        let shown = printable(name);
        return Some(match (parameters.is_empty(), nearest(name, names.clone())) {
            (true, _) => format!("the network has no parameters, and so no `{shown}`"),
            (_, Some(near)) => {
                format!("the network has no parameter `{shown}`; did you mean `{near}`?")
            }
            _ => format!(
                "the network has no parameter `{shown}`; known: {}",
                names.collect::<Vec<_>>().join(", ")
            ),
        });
    };
    let (low, high) = parameter.allowed.clone().into_inner();
    let allowed = parameter.allowed.contains(&value);
    (!allowed)
        .then(|| format!("`{name}` is {value}; allowed is a whole number from {low} to {high}"))
}

fn malformed(text: &str, reason: String) -> ConfigError {
    ConfigError::Malformed { text: printable(text), reason }
}

/// The network of a reference such as `PD:regions=100,detections=10`, and its values of parameters. A path
/// with the extension of a format is a network as a whole.
///
/// # Errors
///
/// [`ConfigError::Malformed`] for a value that is no number, and for a parameter that is set twice.
pub(super) fn split(reference: &str) -> Result<(&str, ParameterValues), ConfigError> {
    let whole = || Ok((reference, ParameterValues::default()));
    let Some((base, rest)) = reference.rsplit_once(':') else { return whole() };
    let first = rest.split_once('=').map(|(name, _)| name.trim());
    if extensions::names_a_file(reference) || base.is_empty() || !first.is_some_and(is_name) {
        return whole();
    }
    let mut values = ParameterValues::default();
    for piece in rest.split(',') {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        let (name, value) = (name.trim(), value.trim());
        if !is_name(name) {
            let reason = format!("`{}` is not NAME=VALUE", printable(piece));
            return Err(malformed(reference, reason));
        }
        let Some(number) = allowed_value(value) else {
            let reason = format!("`{name}` is `{}`; {}", printable(value), allowed());
            return Err(malformed(reference, reason));
        };
        if values.0.insert(name.into(), number).is_some() {
            return Err(malformed(reference, format!("`{name}` is set twice")));
        }
    }
    Ok((base, values))
}

/// Value of the key `parameters` beside a reference to a network.
pub(super) fn values() -> impl Reader<Value = ParameterValues> {
    let value = number(0..=Parameter::MAX).says("Value of this parameter of the network.");
    let values = |values: Vec<(At<Box<str>>, u32)>, _: &Node<'_>, _: &mut Problems| {
        Some(ParameterValues(values.into_iter().map(|(name, it)| (name.value, it)).collect()))
    };
    let about = "Values of parameters of the network, such as `{regions: 100}`. Without it, the defaults of the \
                 network.";
    named("parameters", value).then(values).says(about)
}

/// Refuses `own` values of parameters that the reference to the network gives, too.
pub(super) fn check(
    reference: Option<&At<Box<str>>>,
    own: Option<&At<ParameterValues>>,
    fields: &mut Fields<'_, '_, '_>,
) {
    let Some((own, reference)) = own.zip(reference) else { return };
    let (_, named) = split(&reference.value).unwrap_or_default();
    if let Some((name, _)) = named.iter().find(|(name, _)| own.value.get(name).is_some()) {
        let message = format!("`{name}` is set twice, here and in the reference to the network");
        fields.problem(Problem::new(own.span.clone(), message));
    }
}

/// The `network` of a file with its `own` values of parameters, or those that are `set` in place of them.
/// Its place is that of the values, if the file gives any.
pub(super) fn reference(
    network: &At<Box<str>>,
    own: Option<&At<ParameterValues>>,
    set: Option<&ParameterValues>,
) -> At<Box<str>> {
    let span = own.map_or(&network.span, |own| &own.span).clone();
    let Ok((base, named)) = split(&network.value) else { return network.clone() };
    let own = own.map(|own| &own.value);
    let values = own.into_iter().chain(set).fold(named, ParameterValues::overridden_by);
    At { span, value: values.of(base).into() }
}

/// Whether `text` can be the name of a parameter: a letter or `_`, then also digits, at most 64.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_other = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 64 && letters.next().is_some_and(is_first) && letters.all(is_other)
}

fn allowed_value(text: &str) -> Option<u32> {
    text.parse().ok().filter(|value| *value <= Parameter::MAX)
}

fn allowed() -> String {
    format!("allowed is a whole number from 0 to {}", Parameter::MAX)
}

impl Parameters {
    /// Sets the parameter `name` of networks with this task.
    pub fn set(&mut self, task: &str, name: &str, value: u32) {
        self.0.entry(task.into()).or_default().0.insert(name.into(), value);
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tasks with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValues)> {
        self.0.iter().map(|(task, values)| (&**task, values))
    }

    /// Values of networks with this task, if any are set.
    pub fn of(&self, task: &str) -> Option<&ParameterValues> {
        self.0.get(task)
    }

    /// The values of one network.
    pub(super) fn of_network(values: ParameterValues) -> Self {
        let values = (!values.is_empty()).then(|| ("".into(), values));
        Self(values.into_iter().collect())
    }

    /// Those of the tasks that `keep` accepts.
    pub fn only(&self, mut keep: impl FnMut(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|(task, _)| keep(task));
        Self(kept.map(|(task, values)| (task.clone(), values.clone())).collect())
    }
}

impl fmt::Display for ParameterValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (task, values)) in self.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            write!(f, "{blank}{task}:{values}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(reference: &str) -> (String, String) {
        let (base, values) = split(reference).expect("it is right");
        (base.into(), values.to_string())
    }

    #[test]
    fn a_reference_is_a_network_and_values() {
        let pair = |base: &str, values: &str| (base.to_string(), values.to_string());
        assert_eq!(parts("PD"), pair("PD", ""));
        assert_eq!(parts("PD:regions=7"), pair("PD", "regions=7"));
        assert_eq!(parts("PD: regions = 7, a=1"), pair("PD", "a=1,regions=7"));
        assert_eq!(parts("./mine.yaml:n=0"), pair("./mine.yaml", "n=0"));
        assert_eq!(parts("net.m#one:n=3"), pair("net.m#one", "n=3"));
        assert_eq!(parts("C:\\nets\\mine.yaml"), pair("C:\\nets\\mine.yaml", ""));
        assert_eq!(parts("a:b=c.yaml"), pair("a:b=c.yaml", ""));
        assert_eq!(parts("PD:regions"), pair("PD:regions", ""));
    }

    #[test]
    fn wrong_values_say_what_is_allowed() {
        let refused = |reference| split(reference).expect_err("it is wrong").to_string();
        assert!(refused("PD:n=many").contains("`n` is `many`; allowed is a whole number from 0"));
        assert!(refused("PD:n=1048577").contains("to 1048576"));
        assert!(refused("PD:n=1,n=2").contains("`n` is set twice"));
        assert!(refused("PD:n=1,2").contains("`2` is not NAME=VALUE"));
    }
}

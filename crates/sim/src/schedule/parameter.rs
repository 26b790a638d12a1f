//! Parameters of policies: allowed values and given values.

use std::fmt;

use xrsim_model::renamed::{self, Renamed};

use super::{Entry, OPTIONS, PolicyError};

/// Parameters whose names changed.
pub(crate) const RENAMED: [Renamed; 1] =
    [Renamed { kind: "scheduler parameter", old: "accelerator", new: "placement" }];

/// A value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// One of several names.
    Name(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Allowed values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowed {
    /// A number between these limits, inclusive.
    Number(f64, f64),
    /// A whole number between these limits, inclusive.
    Whole(u32, u32),
    /// One of these names.
    Names(&'static [&'static str]),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(min, max) => write!(f, "a number from {min} to {max}"),
            Self::Whole(min, max) => write!(f, "a whole number from {min} to {max}"),
            Self::Names(names) => f.write_str(&names.join(", ")),
        }
    }
}

impl Allowed {
    fn value(self, text: &str) -> Option<Value> {
        let number = |min, max| {
            // Adding zero turns -0 into 0, so that both have the same label.
            let number = text.parse::<f64>().ok()? + 0.0;
            (min <= number && number <= max).then_some(Value::Number(number))
        };
        match self {
            Self::Number(min, max) => number(min, max),
            Self::Whole(min, max) => {
                text.parse::<u32>().ok().and_then(|_| number(min.into(), max.into()))
            }
            Self::Names(names) => {
                names.iter().find(|name| **name == text).copied().map(Value::Name)
            }
        }
    }
}

/// A parameter of a policy.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name, with its unit.
    pub name: &'static str,
    /// Summary in one line.
    pub help: &'static str,
    /// Value unless one is given.
    pub default: Value,
    /// Allowed values.
    pub allowed: Allowed,
    /// Another parameter and the only value of it with which this one has an effect, if there is one.
    pub only_with: Option<(&'static str, &'static str)>,
}

impl Parameter {
    /// A parameter with a number in a range.
    pub const fn number(name: &'static str, default: f64, range: [f64; 2]) -> Self {
        Self::new(name, Value::Number(default), Allowed::Number(range[0], range[1]))
    }

    /// A parameter with a whole number in a range.
    pub const fn whole(name: &'static str, default: u32, range: [u32; 2]) -> Self {
        Self::new(name, Value::Number(default as f64), Allowed::Whole(range[0], range[1]))
    }

    /// A parameter with one of several names, the first by default.
    pub const fn choice(name: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(name, Value::Name(names[0]), Allowed::Names(names))
    }

    const fn new(name: &'static str, default: Value, allowed: Allowed) -> Self {
        Self { name, help: "", default, allowed, only_with: None }
    }

    /// The same parameter with this summary.
    pub const fn meaning(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// The same parameter with an effect only if another one has this value.
    pub const fn only_with(self, name: &'static str, value: &'static str) -> Self {
        Self { only_with: Some((name, value)), ..self }
    }
}

/// Parameters of one policy, its own and those of all policies, with their values.
#[derive(Debug, Clone)]
pub struct Arguments {
    all: Vec<Argument>,
    renamed: Vec<Renamed>,
}

#[derive(Debug, Clone)]
struct Argument {
    parameter: &'static Parameter,
    /// Default of the policy.
    default: Value,
    value: Value,
    given: bool,
}

impl Arguments {
    /// The defaults of `entry`.
    pub(super) fn defaults(entry: &Entry) -> Self {
        let all = entry.parameters.iter().chain(OPTIONS);
        let argument = |parameter: &'static Parameter| {
            let own = entry.options.iter().find(|(name, _)| *name == parameter.name);
            let default = own.map_or(parameter.default, |(_, value)| *value);
            Argument { parameter, default, value: default, given: false }
        };
        Self { all: all.map(argument).collect(), renamed: Vec::new() }
    }

    /// The defaults of `entry`, changed by `assignments` of the form `name=value`.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if a parameter is unknown, fixed, given twice or without effect, if its value is
    /// not allowed, or if values contradict each other.
    pub fn parse<'a>(
        entry: &Entry,
        assignments: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PolicyError> {
        let mut arguments = Self::defaults(entry);
        for assignment in assignments {
            arguments.assign(entry, assignment)?;
        }
        arguments.check(entry)?;
        Ok(arguments)
    }

    /// Takes `name=value`.
    fn assign(&mut self, entry: &Entry, assignment: &str) -> Result<(), PolicyError> {
        let (name, text) = assignment
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .ok_or_else(|| PolicyError::Form(assignment.into()))?;
        let (name, renamed) = renamed::current(&RENAMED, name);
        self.renamed.extend(renamed);
        let known = self.all.iter_mut().find(|argument| argument.parameter.name == name);
        let Some(argument) = known else {
            return Err(self.unknown(entry, name));
        };
        let Parameter { name, allowed, .. } = *argument.parameter;
        if entry.fixes.contains(&name) {
            return Err(PolicyError::Fixed { policy: entry.name, name });
        }
        if argument.given {
            return Err(PolicyError::Twice(name));
        }
        argument.given = true;
        argument.value = allowed.value(text).ok_or_else(|| PolicyError::Value {
            name,
            found: text.into(),
            allowed: allowed.to_string(),
        })?;
        Ok(())
    }

    fn unknown(&self, entry: &Entry, name: &str) -> PolicyError {
        let names = self.all.iter().map(|argument| argument.parameter.name);
        let known = names.filter(|name| !entry.fixes.contains(name)).collect();
        PolicyError::Parameter { policy: entry.name, name: name.into(), known }
    }

    /// Refuses parameters that have no effect, and values that contradict each other.
    fn check(&self, entry: &Entry) -> Result<(), PolicyError> {
        for argument in self.all.iter().filter(|argument| argument.given) {
            if let Some((other, value)) = argument.parameter.only_with
                && self.value(other) != Value::Name(value)
            {
                let name = argument.parameter.name;
                return Err(PolicyError::NoEffect { name, other, value });
            }
        }
        (entry.check)(self).map_err(PolicyError::Together)
    }

    fn value(&self, name: &str) -> Value {
        let found = self.all.iter().find(|argument| argument.parameter.name == name);
        found.expect("a policy asks for parameters that its entry lists").value
    }

    /// Value of the number called `name`.
    ///
    /// # Panics
    ///
    /// If the entry lists no such number.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            Value::Name(_) => panic!("{name} is a name"),
        }
    }

    /// Value of the whole number called `name`.
    ///
    /// # Panics
    ///
    /// If the entry lists no such number.
    pub fn whole(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// Value of the choice called `name`.
    ///
    /// # Panics
    ///
    /// If the entry lists no such choice.
    pub fn name(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Name(value) => value,
            Value::Number(_) => panic!("{name} is a number"),
        }
    }

    /// Whether the choice called `name` is `on`.
    ///
    /// # Panics
    ///
    /// If the entry lists no such choice.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.name(name) == "on"
    }

    /// Old names among the given parameters.
    pub(crate) fn renamed(&self) -> &[Renamed] {
        &self.renamed
    }

    /// `name` with every parameter that differs from its default, in the order of lists. The first one
    /// follows a `:`, or a `,` if the name contains a `:`.
    pub fn label(&self, name: &str) -> String {
        let changed = self.all.iter().filter(|argument| argument.value != argument.default);
        changed.fold(name.to_string(), |label, it| {
            let separator = if label.contains(':') { ',' } else { ':' };
            format!("{label}{separator}{}={}", it.parameter.name, it.value)
        })
    }
}

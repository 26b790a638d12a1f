//! Parameters of policies: what they may be, and what they are.

use std::fmt;

use super::{Entry, OPTIONS, PolicyError};

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

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowed {
    /// A number from the first to the second.
    Number(f64, f64),
    /// A whole number from the first to the second.
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
            // Adding zero turns -0 into 0, which has one label only.
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
    /// One line for lists.
    pub help: &'static str,
    /// What it is unless it is given.
    pub default: Value,
    /// What it may be.
    pub allowed: Allowed,
    /// The only value of another parameter with which it has an effect, if there is one.
    pub only_with: Option<(&'static str, &'static str)>,
}

impl Parameter {
    /// A number in a range.
    pub const fn number(
        name: &'static str,
        help: &'static str,
        default: f64,
        range: [f64; 2],
    ) -> Self {
        let allowed = Allowed::Number(range[0], range[1]);
        Self { name, help, default: Value::Number(default), allowed, only_with: None }
    }

    /// A whole number in a range.
    pub const fn whole(
        name: &'static str,
        help: &'static str,
        default: u32,
        range: [u32; 2],
    ) -> Self {
        let allowed = Allowed::Whole(range[0], range[1]);
        Self { name, help, default: Value::Number(default as f64), allowed, only_with: None }
    }

    /// One of several names, the first by default.
    pub const fn choice(
        name: &'static str,
        help: &'static str,
        names: &'static [&'static str],
    ) -> Self {
        let allowed = Allowed::Names(names);
        Self { name, help, default: Value::Name(names[0]), allowed, only_with: None }
    }

    /// The same parameter, which has an effect only where another one has this value.
    pub const fn only_with(self, name: &'static str, value: &'static str) -> Self {
        Self { only_with: Some((name, value)), ..self }
    }
}

/// The parameters of one policy, its own and those of all policies, with their values.
#[derive(Debug, Clone)]
pub struct Arguments(Vec<Argument>);

#[derive(Debug, Clone)]
struct Argument {
    parameter: &'static Parameter,
    /// That of the policy.
    default: Value,
    value: Value,
    given: bool,
}

impl Arguments {
    /// The defaults of `entry`.
    pub(super) fn of(entry: &Entry) -> Self {
        let all = entry.parameters.iter().chain(OPTIONS);
        let argument = |parameter: &'static Parameter| {
            let own = entry.options.iter().find(|(name, _)| *name == parameter.name);
            let default = own.map_or(parameter.default, |(_, value)| *value);
            Argument { parameter, default, value: default, given: false }
        };
        Self(all.map(argument).collect())
    }

    /// The defaults of `entry` and what `assignments`, each `name=value`, change.
    ///
    /// # Errors
    ///
    /// [`PolicyError`].
    pub fn parse<'a>(
        entry: &Entry,
        assignments: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PolicyError> {
        let mut arguments = Self::of(entry);
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
        let name = if name == "placement" { "placement" } else { name };
        let known = self.0.iter_mut().find(|argument| argument.parameter.name == name);
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
        let names = self.0.iter().map(|argument| argument.parameter.name);
        let known = names.filter(|name| !entry.fixes.contains(name)).collect();
        PolicyError::Parameter { policy: entry.name, name: name.into(), known }
    }

    /// Refuses what was given without effect, and what contradicts each other.
    fn check(&self, entry: &Entry) -> Result<(), PolicyError> {
        for argument in self.0.iter().filter(|argument| argument.given) {
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
        let found = self.0.iter().find(|argument| argument.parameter.name == name);
        found.expect("a policy asks for parameters that its entry lists").value
    }

    /// The number called `name`.
    ///
    /// # Panics
    ///
    /// If the entry lists none.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            Value::Name(_) => panic!("{name} is a name"),
        }
    }

    /// The whole number called `name`.
    ///
    /// # Panics
    ///
    /// If the entry lists none.
    pub fn whole(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// The name that `name` has for a value.
    ///
    /// # Panics
    ///
    /// If the entry lists none.
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
    /// If the entry lists none.
    pub fn is_on(&self, name: &str) -> bool {
        self.name(name) == "on"
    }

    /// `name` with every parameter that is not the default, in the order of lists. Behind a `:`, or
    /// behind a `,` if there is a `:` in the name.
    pub fn label(&self, name: &str) -> String {
        let changed = self.0.iter().filter(|argument| argument.value != argument.default);
        changed.fold(name.to_string(), |label, it| {
            let separator = if label.contains(':') { ',' } else { ':' };
            format!("{label}{separator}{}={}", it.parameter.name, it.value)
        })
    }
}

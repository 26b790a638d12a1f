//! Policies by name, with parameters: `edf`, `dream:alpha=0.5,admission=hopeless`.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::units::SimSpan;

use super::{ALL, Admission, Entry, Granularity, Options, Placement, Preemption, Scheduler, Setup};

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
            let number: f64 = text.parse().ok()?;
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
}

/// The parameters of one policy with their values.
#[derive(Debug, Clone)]
pub struct Arguments(Vec<(&'static Parameter, Value)>);

impl Arguments {
    fn new(parameters: &'static [Parameter]) -> Self {
        Self(parameters.iter().map(|parameter| (parameter, parameter.default)).collect())
    }

    fn value(&self, name: &str) -> Value {
        let found = self.0.iter().find(|(parameter, _)| parameter.name == name);
        found.expect("a policy asks for parameters that its entry lists").1
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

    /// Those that are not the default, as `name=value`.
    fn changes(&self) -> impl Iterator<Item = String> {
        let changed = self.0.iter().filter(|(parameter, value)| parameter.default != *value);
        changed.map(|(parameter, value)| format!("{}={value}", parameter.name))
    }
}

/// A policy that does not exist, or not so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No such name.
    #[error("no scheduler named `{0}`")]
    Name(String),
    /// Not of the form `name=value`.
    #[error("`{0}` is no parameter; write name=value, several of them between commas")]
    Form(String),
    /// No such parameter.
    #[error("{policy} has no parameter `{name}` (known: {})", known.join(", "))]
    Parameter {
        /// Policy.
        policy: &'static str,
        /// What was given.
        name: String,
        /// Its own, then those of all policies.
        known: Vec<&'static str>,
    },
    /// A value that is not allowed.
    #[error("{name} is `{found}`; allowed is {allowed}")]
    Value {
        /// Parameter.
        name: &'static str,
        /// What was given.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
}

/// Why a policy cannot go on: an external one ended, or answered what it must not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("scheduler {policy}: {message}")]
pub struct PolicyFailure {
    /// Label of the policy.
    pub policy: Box<str>,
    /// What happened.
    pub message: Box<str>,
}

/// Makes the policy for one run.
type Build = dyn Fn(&Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> + Send + Sync;

/// A policy with its parameters and options, to be built anew for every run.
#[derive(Clone)]
pub struct Policy {
    label: Arc<str>,
    options: Options,
    work_conserving: bool,
    build: Arc<Build>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// Policies of one label are one policy.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label
    }
}

impl Eq for Policy {}

impl Default for Policy {
    fn default() -> Self {
        Self::of(&ALL[0])
    }
}

impl Policy {
    /// The policy of `entry` with all its defaults.
    pub fn of(entry: &'static Entry) -> Self {
        Self::with(entry, Arguments::new(entry.parameters), OptionTexts::new(entry))
    }

    /// A policy from elsewhere, e.g. another process.
    pub fn new(
        label: impl Into<Arc<str>>,
        options: Options,
        work_conserving: bool,
        build: Arc<Build>,
    ) -> Self {
        Self { label: label.into(), options, work_conserving, build }
    }

    /// The policy that `text` names: `name` or `name:parameter=value,parameter=value`.
    ///
    /// # Errors
    ///
    /// [`PolicyError`].
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let entry = super::find(name).ok_or_else(|| PolicyError::Name(name.into()))?;
        let mut arguments = Arguments::new(entry.parameters);
        let mut options = OptionTexts::new(entry);
        let mut seen = Vec::new();
        for assignment in parameters.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            let (name, value) = assignment
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .ok_or_else(|| PolicyError::Form(assignment.into()))?;
            let own = arguments.0.iter_mut().chain(&mut options.0);
            let mut known = own.map(|(parameter, slot)| (*parameter, slot));
            let Some((parameter, slot)) = known.find(|(parameter, _)| parameter.name == name)
            else {
                return Err(unknown_parameter(entry, name));
            };
            *slot = parameter.allowed.value(value).ok_or_else(|| PolicyError::Value {
                name: parameter.name,
                found: value.into(),
                allowed: parameter.allowed.to_string(),
            })?;
            if seen.contains(&parameter.name) {
                return Err(PolicyError::Twice(parameter.name));
            }
            seen.push(parameter.name);
        }
        Ok(Self::with(entry, arguments, options))
    }

    fn with(entry: &'static Entry, arguments: Arguments, texts: OptionTexts) -> Self {
        let changes: Vec<String> = arguments.changes().chain(texts.changes(entry)).collect();
        let label = match &changes[..] {
            [] => entry.name.into(),
            changes => format!("{}:{}", entry.name, changes.join(",")),
        };
        let options = texts.options();
        let waits = options.placement == Placement::EarliestFinish;
        Self {
            label: label.into(),
            options,
            work_conserving: entry.work_conserving && !waits,
            build: Arc::new(move |setup| Ok((entry.build)(setup, &arguments))),
        }
    }

    /// Its name with every parameter that is not the default, in a fixed order.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// What it is combined with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Whether it starts or gives up something whenever something is ready and something is idle.
    pub fn is_work_conserving(&self) -> bool {
        self.work_conserving
    }

    /// Makes it for one run.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if it comes from elsewhere and does not come.
    pub fn build(&self, setup: &Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> {
        (self.build)(setup)
    }
}

fn unknown_parameter(entry: &'static Entry, name: &str) -> PolicyError {
    let own = entry.parameters.iter().chain(OPTIONS);
    let known = own.map(|parameter| parameter.name).collect();
    PolicyError::Parameter { policy: entry.name, name: name.into(), known }
}

/// Parameters that every policy has.
pub const OPTIONS: &[Parameter] = &[
    Parameter {
        name: "admission",
        help: "whether requests are given up that would be late even on their fastest accelerator",
        default: Value::Name("none"),
        allowed: Allowed::Names(&["none", "hopeless"]),
    },
    Parameter {
        name: "epsilon_ms",
        help: "how late a frame may be before it is hopeless",
        default: Value::Number(0.3),
        allowed: Allowed::Number(0.0, 1e6),
    },
    Parameter {
        name: "accelerator",
        help: "where a chosen request runs",
        default: Value::Name("latency"),
        allowed: Allowed::Names(&[
            "latency",
            "first-idle",
            "energy",
            "edp",
            "edp-by-layer",
            "ed2p",
            "earliest-finish",
            "deadline-energy",
        ]),
    },
    Parameter {
        name: "granularity",
        help: "how much of a request runs before the policy is asked again",
        default: Value::Name("model"),
        allowed: Allowed::Names(&["model", "block", "layer"]),
    },
    Parameter {
        name: "block_ms",
        help: "shortest block of whole layers",
        default: Value::Number(1.0),
        allowed: Allowed::Number(1e-3, 1e6),
    },
    Parameter {
        name: "preemption",
        help: "whether a request that becomes ready cuts what runs at the end of its layer",
        default: Value::Name("none"),
        allowed: Allowed::Names(&["none", "layer-boundary"]),
    },
];

/// Values of [`OPTIONS`], with the defaults of one policy.
struct OptionTexts(Vec<(&'static Parameter, Value)>);

impl OptionTexts {
    fn new(entry: &Entry) -> Self {
        let default = |parameter: &'static Parameter| {
            let own = entry.options.iter().find(|(name, _)| *name == parameter.name);
            (parameter, own.map_or(parameter.default, |(_, value)| *value))
        };
        Self(OPTIONS.iter().map(default).collect())
    }

    fn changes(&self, entry: &Entry) -> impl Iterator<Item = String> {
        let defaults = Self::new(entry).0.into_iter();
        let pairs = self.0.clone().into_iter().zip(defaults);
        pairs
            .filter(|((_, value), (_, default))| value != default)
            .map(|((parameter, value), _)| format!("{}={value}", parameter.name))
    }

    fn options(&self) -> Options {
        let it = Arguments(self.0.clone());
        let span = |name| SimSpan::from_ms(it.number(name)).expect("the allowed times are times");
        Options {
            admission: match it.name("admission") {
                "hopeless" => Admission::SkipHopeless { tolerance: span("epsilon_ms") },
                _ => Admission::All,
            },
            placement: match it.name("accelerator") {
                "first-idle" => Placement::FirstIdle,
                "energy" => Placement::Energy,
                "edp" => Placement::EnergyDelay,
                "edp-by-layer" => Placement::EnergyDelayByLayer,
                "ed2p" => Placement::EnergyDelaySquared,
                "earliest-finish" => Placement::EarliestFinish,
                "deadline-energy" => Placement::DeadlineEnergy,
                _ => Placement::Latency,
            },
            granularity: match it.name("granularity") {
                "block" => Granularity::Block(span("block_ms")),
                "layer" => Granularity::Layer,
                _ => Granularity::Model,
            },
            preemption: match it.name("preemption") {
                "layer-boundary" => Preemption::LayerBoundary,
                _ => Preemption::None,
            },
        }
    }
}

//! Policies by name, with parameters: `edf`, `dream:alpha=0.5,admission=hopeless`.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use xrsim_model::renamed::Renamed;
use xrsim_model::text::NAME_RULE;

use super::admission::Admitting;
use super::governor::govern;
use super::{
    ALL, Admission, Arguments, Class, Entry, Granularity, Options, Placement, Preemption, Quality,
    Scheduler, Setup,
};

/// Error of a policy name or its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No policy has this name.
    #[error("no scheduler named `{0}`")]
    Name(String),
    /// A name before an external policy is that of a built-in one.
    #[error("`{0}` is a scheduler of the program; give external:COMMAND another name")]
    Taken(String),
    /// A name before an external policy is no name.
    #[error(
        "`{0}` cannot be the name of a scheduler: it has no comma and no colon, and {NAME_RULE}"
    )]
    OwnName(String),
    /// An assignment is not of the form `name=value`.
    #[error("`{0}` is no parameter; write name=value, several of them between commas")]
    Form(String),
    /// The policy has no such parameter.
    #[error("{policy} has no parameter `{name}` (known: {})", known.join(", "))]
    Parameter {
        /// Policy.
        policy: &'static str,
        /// The given text.
        name: String,
        /// Known parameters: its own, then those of all policies.
        known: Vec<&'static str>,
    },
    /// The policy decides this parameter itself.
    #[error("{policy} decides `{name}` itself; leave it out")]
    Fixed {
        /// Policy.
        policy: &'static str,
        /// Parameter.
        name: &'static str,
    },
    /// The value is not allowed.
    #[error("{name} is `{found}`; allowed is {allowed}")]
    Value {
        /// Parameter.
        name: &'static str,
        /// The given text.
        found: String,
        /// Allowed values.
        allowed: String,
    },
    /// The parameter is given twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// The parameter has no effect, because of the value of another one.
    #[error("{name} has no effect without {other}={value}")]
    NoEffect {
        /// Parameter.
        name: &'static str,
        /// The other one.
        other: &'static str,
        /// Its only value with which `name` has an effect.
        value: &'static str,
    },
    /// The values contradict each other.
    #[error("{0}")]
    Together(&'static str),
}

/// Failure of a policy in a run: an external one ended, or gave an answer that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("scheduler {policy}: {message}")]
pub struct PolicyFailure {
    /// Label of the policy.
    pub policy: Box<str>,
    /// Description of the failure.
    pub message: Box<str>,
    /// See [`Breakdown::is_transient`].
    pub is_transient: bool,
}

/// Reason for the failure of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakdown {
    message: Box<str>,
    is_transient: bool,
}

impl Breakdown {
    /// A reason that the same run meets again.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self { message: message.into(), is_transient: false }
    }

    /// A reason that depends on the machine, such as a process that does not start or answer in time. The
    /// same run may succeed at another time.
    pub fn transient(message: impl Into<Box<str>>) -> Self {
        Self { message: message.into(), is_transient: true }
    }

    /// Whether the same run may succeed at another time.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// Description of the reason.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Failure of the policy with this label.
    pub fn of(self, policy: &str) -> PolicyFailure {
        let Self { message, is_transient } = self;
        PolicyFailure { policy: policy.into(), message, is_transient }
    }
}

/// Builds the policy for one run.
type Build = dyn Fn(&Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> + Send + Sync;

/// A policy with its parameters and options. It is built for every run.
#[derive(Clone)]
pub struct Policy {
    /// Name and parameters, or the command.
    identity: Arc<str>,
    /// Name that the user gave.
    name: Option<Arc<str>>,
    options: Options,
    work_conserving: bool,
    is_clairvoyant: bool,
    first_come: bool,
    is_built_in: bool,
    /// Old names among the given parameters.
    renamed: Box<[Renamed]>,
    build: Arc<Build>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Policies are equal if their names and parameters, or their commands, are; a name that the user gave does not count.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for Policy {}

impl Default for Policy {
    fn default() -> Self {
        Self::from_entry(&ALL[0])
    }
}

impl Policy {
    /// The built-in policy `entry` with its defaults.
    pub fn from_entry(entry: &'static Entry) -> Self {
        Self::with(entry, Arguments::defaults(entry))
    }

    /// A policy that is not built in, such as one in another process. Policies with one label are taken
    /// for the same policy.
    pub fn new(
        label: impl Into<Arc<str>>,
        options: Options,
        work_conserving: bool,
        build: Arc<Build>,
    ) -> Self {
        Self {
            identity: label.into(),
            name: None,
            options,
            work_conserving,
            is_clairvoyant: false,
            first_come: false,
            is_built_in: false,
            renamed: Box::default(),
            build,
        }
    }

    /// The same policy, given with these old names.
    pub(crate) fn with_renamed(self, renamed: &[Renamed]) -> Self {
        Self { renamed: renamed.into(), ..self }
    }

    /// The same policy, called `name` in results.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The built-in policy that `text` describes: `name` or `name:parameter=value,parameter=value`.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] if no policy has this name, or if a parameter is unknown or has a value that is not
    /// allowed.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let entry = super::find(name).ok_or_else(|| PolicyError::Name(name.into()))?;
        let assignments = parameters.split(',').map(str::trim).filter(|it| !it.is_empty());
        let policy = Self::with(entry, Arguments::parse(entry, assignments)?);
        if policy.options.governor.is_of_edf() && entry.name != "edf" {
            let reason = "the governors cc-edf and la-edf are defined for the policy edf";
            return Err(PolicyError::Together(reason));
        }
        Ok(policy)
    }

    fn with(entry: &'static Entry, arguments: Arguments) -> Self {
        let options = Options::from_arguments(&arguments);
        let waits = options.placement == Placement::EarliestFinish;
        Self {
            identity: arguments.label(entry.name).into(),
            name: None,
            options,
            work_conserving: entry.work_conserving && !waits,
            is_clairvoyant: entry.is_clairvoyant,
            first_come: entry.first_come,
            is_built_in: true,
            renamed: arguments.renamed().into(),
            build: Arc::new(move |setup| Ok((entry.build)(setup, &arguments))),
        }
    }

    /// Name in results: that which the user gave, or else the name with every parameter that differs from its default,
    /// in a fixed order.
    pub fn label(&self) -> &Arc<str> {
        self.name.as_ref().unwrap_or(&self.identity)
    }

    /// The whole text of the policy, from which it can be made again: name, parameters, and command.
    pub fn text(&self) -> String {
        let name = self.name.as_ref().map_or(String::new(), |name| format!("{name}="));
        name + &self.identity
    }

    /// Whether results could not tell it from `other`: both have one name, or are one policy.
    pub fn is_mistaken_for(&self, other: &Self) -> bool {
        self == other || self.label() == other.label()
    }

    /// Old names among the given parameters, for hints to the user.
    pub fn renamed(&self) -> &[Renamed] {
        &self.renamed
    }

    /// Options that the policy is combined with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Whether it never leaves an accelerator idle while a request is ready.
    pub fn is_work_conserving(&self) -> bool {
        self.work_conserving
    }

    /// Whether it takes whole requests in order of arrival, each as soon as an accelerator is idle, on the
    /// idle accelerator that runs it in the shortest time (of equals, the one with the lowest id).
    pub fn is_first_come_on_fastest(&self) -> bool {
        let Options { admission, placement, granularity, preemption, quality, .. } = self.options;
        self.first_come
            && admission == Admission::All
            && placement == Placement::Latency
            && granularity == Granularity::Model
            && preemption == Preemption::None
            && quality == Quality::First
    }

    /// Whether it knows every request before the run ([`Setup::known_requests`]).
    pub fn is_clairvoyant(&self) -> bool {
        self.is_clairvoyant
    }

    /// The smallest class of schedulers with it. One that is not built in may cut any request, whatever its options are.
    pub fn class(&self) -> Class {
        let Options { granularity, preemption, .. } = self.options;
        match granularity == Granularity::Model && preemption == Preemption::None {
            true if self.is_built_in => Class::Keeping,
            _ => Class::Any,
        }
    }

    /// Builds the policy for one run.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if the policy cannot be constructed, such as a process that does not start.
    pub fn build(&self, setup: &Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> {
        let policy = (self.build)(setup)?;
        let policy = match self.options.admission {
            Admission::All => policy,
            Admission::SkipHopeless { tolerance } => {
                Box::new(Admitting::new(policy, tolerance, setup))
            }
        };
        govern(self.options.governor, policy, setup).map_err(|reason| reason.of(self.label()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Policy::parse(text).expect_err("it is wrong").to_string()
    }

    #[test]
    fn a_label_names_what_is_not_the_default_in_a_fixed_order() {
        let label = |text| Policy::parse(text).unwrap().label().to_string();
        assert_eq!(
            label(" edf : preemption = layer-boundary , admission=hopeless"),
            "edf:admission=hopeless,preemption=layer-boundary"
        );
        assert_eq!(label("edf:admission=none"), "edf");
        assert_eq!(
            label("edf:admission=hopeless,epsilon_ms=-0"),
            "edf:admission=hopeless,epsilon_ms=0"
        );
        assert_eq!(label("round-robin:placement=first-idle"), "round-robin");
        assert_eq!(label("round-robin:placement=latency"), "round-robin:placement=latency");
    }

    #[test]
    fn old_names_of_parameters_are_read_with_a_hint() {
        let policy = Policy::parse("edf:accelerator=edp").unwrap();
        assert_eq!(&**policy.label(), "edf:placement=edp");
        let hints: Vec<_> = policy.renamed().iter().map(ToString::to_string).collect();
        assert_eq!(
            hints,
            [
                "scheduler parameter `accelerator` is called `placement` since 0.2; the old name will be \
              refused in 0.3"
            ]
        );
        assert!(Policy::parse("edf:placement=edp").unwrap().renamed().is_empty());
        assert_eq!(refused("edf:accelerator=edp,placement=edp"), "placement is given twice");
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        assert_eq!(refused("lst"), "no scheduler named `lst`");
        assert_eq!(
            refused("edf:hopeless"),
            "`hopeless` is no parameter; write name=value, several of them between commas"
        );
        assert_eq!(
            refused("edf:alpha=1"),
            "edf has no parameter `alpha` (known: admission, epsilon_ms, placement, guard_ms, granularity, block_ms, preemption, quality, governor, mhz, margin_ms, busy_window_ms, up, down, limit_c, window_s)"
        );
        assert_eq!(refused("edf:admission=some"), "admission is `some`; allowed is none, hopeless");
        for number in ["-1", "NaN", "inf", "1e7", ""] {
            let message = refused(&format!("edf:admission=hopeless,epsilon_ms={number}"));
            assert_eq!(
                message,
                format!("epsilon_ms is `{number}`; allowed is a number from 0 to 1000000")
            );
        }
        assert_eq!(refused("edf:admission=none,admission=none"), "admission is given twice");
    }

    #[test]
    fn what_would_have_no_effect_is_refused() {
        assert_eq!(
            refused("edf:epsilon_ms=1"),
            "epsilon_ms has no effect without admission=hopeless"
        );
        assert_eq!(refused("edf:block_ms=1"), "block_ms has no effect without granularity=block");
    }
}

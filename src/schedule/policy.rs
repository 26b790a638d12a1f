//! Policies by name, with parameters: `edf`, `dream:alpha=0.5,admission=hopeless`.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::admission::Admitting;
use super::{
    ALL, Admission, Arguments, Entry, Granularity, Options, Placement, Preemption, Scheduler, Setup,
};

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
    /// A choice that the policy makes itself.
    #[error("{policy} decides `{name}` itself; leave it out")]
    Fixed {
        /// Policy.
        policy: &'static str,
        /// Parameter.
        name: &'static str,
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
    /// A parameter that another one switches off.
    #[error("{name} has no effect without {other}={value}")]
    NoEffect {
        /// Parameter.
        name: &'static str,
        /// The other one.
        other: &'static str,
        /// Its only value with which `name` has an effect.
        value: &'static str,
    },
    /// Values that do not go together.
    #[error("{0}")]
    Together(&'static str),
}

/// Why a policy cannot go on: an external one ended, or answered what it must not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("scheduler {policy}: {message}")]
pub struct PolicyFailure {
    /// Label of the policy.
    pub policy: Box<str>,
    /// What happened.
    pub message: Box<str>,
    /// As in [`Breakdown::is_transient`].
    pub is_transient: bool,
}

/// What keeps a policy from going on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakdown {
    message: Box<str>,
    is_transient: bool,
}

impl Breakdown {
    /// One that the same run meets again.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self { message: message.into(), is_transient: false }
    }

    /// One that lies in the machine, such as a process that cannot be started, or not in time: the same
    /// run may do without it.
    pub fn transient(message: impl Into<Box<str>>) -> Self {
        Self { message: message.into(), is_transient: true }
    }

    /// Whether the same run may do without it at another time.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// What happened.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The breakdown of the policy of this label.
    pub fn of(self, policy: &str) -> PolicyFailure {
        let Self { message, is_transient } = self;
        PolicyFailure { policy: policy.into(), message, is_transient }
    }
}

/// Makes the policy for one run.
type Build = dyn Fn(&Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> + Send + Sync;

/// A policy with its parameters and options, to be built anew for every run.
#[derive(Clone)]
pub struct Policy {
    label: Arc<str>,
    options: Options,
    work_conserving: bool,
    is_clairvoyant: bool,
    first_come: bool,
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
        Self::with(entry, Arguments::of(entry))
    }

    /// A policy from elsewhere, e.g. another process.
    pub fn new(
        label: impl Into<Arc<str>>,
        options: Options,
        work_conserving: bool,
        build: Arc<Build>,
    ) -> Self {
        Self {
            label: label.into(),
            options,
            work_conserving,
            is_clairvoyant: false,
            first_come: false,
            build,
        }
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
        let assignments = parameters.split(',').map(str::trim).filter(|it| !it.is_empty());
        Ok(Self::with(entry, Arguments::parse(entry, assignments)?))
    }

    fn with(entry: &'static Entry, arguments: Arguments) -> Self {
        let options = Options::of(&arguments);
        let waits = options.placement == Placement::EarliestFinish;
        Self {
            label: arguments.label(entry.name).into(),
            options,
            work_conserving: entry.work_conserving && !waits,
            is_clairvoyant: entry.is_clairvoyant,
            first_come: entry.first_come,
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

    /// Whether it takes whole requests in order of arrival, each on the idle accelerator that runs it in
    /// the shortest time, the lowest id of equals, as soon as there is one.
    pub fn is_first_come_on_fastest(&self) -> bool {
        let Options { admission, placement, granularity, preemption } = self.options;
        self.first_come
            && admission == Admission::All
            && placement == Placement::Latency
            && granularity == Granularity::Model
            && preemption == Preemption::None
    }

    /// Whether it is an offline reference, which is shown every request of the run in
    /// [`Setup::known_requests`].
    pub fn is_clairvoyant(&self) -> bool {
        self.is_clairvoyant
    }

    /// Makes it for one run.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if it comes from elsewhere and does not come.
    pub fn build(&self, setup: &Setup<'_>) -> Result<Box<dyn Scheduler>, PolicyFailure> {
        let policy = (self.build)(setup)?;
        Ok(match self.options.admission {
            Admission::All => policy,
            Admission::SkipHopeless { tolerance } => {
                Box::new(Admitting::new(policy, tolerance, setup))
            }
        })
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
    fn slips_are_answered_with_what_is_allowed() {
        assert_eq!(refused("lst"), "no scheduler named `lst`");
        assert_eq!(
            refused("edf:hopeless"),
            "`hopeless` is no parameter; write name=value, several of them between commas"
        );
        assert_eq!(
            refused("edf:alpha=1"),
            "edf has no parameter `alpha` (known: admission, epsilon_ms, accelerator, guard_ms, granularity, block_ms, preemption)"
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

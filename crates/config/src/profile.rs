//! `profile:` files: scenarios that follow each other over a day.

use std::sync::Arc;

use serde_json::json;

use xrsim_model::hardware::device::Heat;
use xrsim_model::scenario::{
    Activity, Chain, Course, Dwell, DwellDistribution, InputStream, Phase, Profile, Scenario,
    ScenarioError, State,
};
use xrsim_model::units::SimSpan;

use super::quantities::{MAX_MW, quantity, wrong_sum};
use super::sensors::{RawGate, add_gates, gates};
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems, unknown_name};
use super::yaml::values::{
    Reader, at, at_most, converted, list, named, number, one_of, proper_name, value,
};
use super::yaml::{Node, Value};
use super::{ConfigError, Problem, Source, form, reference};

/// Words of the distribution of times in a state.
const DISTRIBUTIONS: [(&str, DwellDistribution); 2] =
    [("gamma", DwellDistribution::Gamma), ("lognormal", DwellDistribution::Lognormal)];

/// Most states of a chain.
const MAX_STATES: usize = 100;

/// Body of a `profile:` file.
pub(super) fn profile() -> impl Reader<Value = RawProfile> {
    raw_profile().shaped(|form| {
        form.with("oneOf", json!([{"required": ["phases"]}, {"required": ["chain"]}]))
    })
}

keys! {
    /// Profile: use of a device over hours, as a list of phases or as a chain of states that are drawn.
    pub(super) fn raw_profile() -> struct RawProfile: "a profile" {
        /// Name of the profile.
        name: Box<str> = required(proper_name());
        /// Phases in their order.
        phases: Option<Vec<RawEntry>> =
            optional(at_most(Profile::MAX_PHASES, list("phases", entry())));
        /// States that follow each other by chance.
        chain: Option<At<RawChain>> = optional(at(chain()));
    }
    check(fields) {
        match (fields.given("phases"), fields.given("chain")) {
            (false, false) => fields.require_any(&["phases", "chain"]),
            (true, true) => {
                let message = "`phases` and `chain` both say what follows";
                fields.problem(Problem::new(fields.span_of("chain"), message).help("give one"));
            }
            _ => {}
        }
    }
}

/// A phase, or several that are repeated.
enum RawEntry {
    Phase(Box<RawPhase>),
    Repeat(Repeat),
}

fn entry() -> impl Reader<Value = RawEntry> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let is_block = match &node.value {
            Value::Mapping(entries) => {
                entries.iter().any(|it| matches!(&*it.key, "repeat" | "phases"))
            }
            _ => false,
        };
        match is_block {
            true => repeat().read(node, problems).map(RawEntry::Repeat),
            false => phase().read(node, problems).map(|it| RawEntry::Phase(Box::new(it))),
        }
    };
    value(read, || form::any_of([phase().form(), repeat().form()]))
}

keys! {
    /// Phases that follow each other several times.
    fn repeat() -> struct Repeat: "a block of phases" {
        /// How often.
        repeat: u32 = required(number(1..=Profile::MAX_PHASES as u32));
        /// Phases in their order.
        phases: Vec<RawPhase> = required(at_most(Profile::MAX_PHASES, list("phases", phase())));
    }
}

keys! {
    /// A phase of a profile.
    fn phase() -> struct RawPhase: "a phase" {
        /// Name of the phase.
        name: Box<str> = required(proper_name());
        around: Around = among(around());
        /// Duration [min].
        minutes: SimSpan = required(minutes());
    }
}

keys! {
    fn around() -> struct Around: "the surroundings" {
        /// Scenario whose models run. Without it, nothing is asked for.
        scenario: Option<At<Box<str>>> = optional(reference::scenario());
        /// Power of everything beside accelerators and DRAM [mW]. Without it, that of the device.
        base_mw: Option<f64> = optional(number(0.0..=MAX_MW));
        /// Temperature of the air [C]. Without it, that of the device.
        ambient_c: Option<f64> = optional(number(Heat::TEMPERATURES));
        gates: Option<Vec<RawGate>> = optional(gates());
    }
    check(fields) {
        if fields.given("gates") && !fields.given("scenario") {
            let message = "gates are of sensors and models of a scenario, which is not given";
            fields.problem(Problem::new(fields.span_of("gates"), message));
        }
    }
}

keys! {
    /// A semi-Markov chain: the device stays in a state for a drawn time, then goes to a drawn next one.
    fn chain() -> struct RawChain: "a chain" {
        /// First state.
        start: At<Box<str>> = required(at(proper_name()));
        /// Duration of the profile [h].
        hours: SimSpan = required(above_zero("h", 3600.0));
        /// States by name.
        states: Vec<(At<Box<str>>, RawState)> =
            required(at_most(MAX_STATES, named("states", state())));
    }
}

keys! {
    /// A state of a chain.
    fn state() -> struct RawState: "a state" {
        around: Around = among(around());
        /// Time in the state [min].
        minutes: At<Stay> = required(at(stay()));
        /// States that follow, with their probabilities, whose sum is 1.
        next: At<Vec<(At<Box<str>>, f64)>> =
            required(at(named("states", number(0.0..=1.0))));
    }
}

keys! {
    /// Time in a state [min].
    fn stay() -> struct Stay: "a time in a state" {
        /// Mean [min].
        mean: SimSpan = required(minutes());
        /// Shortest time [min]; the rest is drawn.
        least: SimSpan = or(0, some_minutes());
        /// Coefficient of variation of the rest. With `gamma`, 1 is an exponential distribution.
        cv: f64 = or(1, number(0.01..=100.0));
        /// Distribution of the rest.
        distribution: DwellDistribution = or("gamma", one_of(&DISTRIBUTIONS));
    }
}

/// Longest time \[s\].
const MAX_S: f64 = Profile::MAX_DURATION.ns() as f64 / 1e9;

/// A time above 0 \[min\].
fn minutes() -> impl Reader<Value = SimSpan> {
    above_zero("min", 60.0)
}

/// A time \[min\].
fn some_minutes() -> impl Reader<Value = SimSpan> {
    quantity("a time", 0.0..=MAX_S / 60.0, "min", |min| span(min * 60.0))
}

/// A time above 0 in a unit of `seconds`.
fn above_zero(unit: &'static str, seconds: f64) -> impl Reader<Value = SimSpan> {
    let most = MAX_S / seconds;
    let form = move || form::positive().with("maximum", most);
    let span = move |it: f64| span(it * seconds).filter(|it| *it > SimSpan::ZERO);
    converted(format!("a time above 0 up to {most} {unit}"), form, span)
}

/// A time of this many seconds that a profile can last.
fn span(s: f64) -> Option<SimSpan> {
    SimSpan::from_s(s).filter(|it| *it <= Profile::MAX_DURATION)
}

/// Scenario and gates of a phase or state, which its file refers to.
pub(super) struct Needs<'a> {
    pub(super) scenario: Option<&'a At<Box<str>>>,
    pub(super) gates: &'a [RawGate],
}

impl RawProfile {
    /// What every phase or state refers to, in the order of the file.
    pub(super) fn needs(&self) -> impl Iterator<Item = Needs<'_>> {
        let states = self.chain.iter().flat_map(|chain| &chain.value.states);
        let around = self.written().map(|it| &it.around).chain(states.map(|(_, it)| &it.around));
        around.map(|Around { scenario, gates, .. }| Needs {
            scenario: scenario.as_ref(),
            gates: gates.as_deref().unwrap_or_default(),
        })
    }

    /// Phases as they are written, repeated ones once.
    fn written(&self) -> impl Iterator<Item = &RawPhase> {
        self.phases.iter().flatten().flat_map(|entry| match entry {
            RawEntry::Phase(phase) => std::slice::from_ref(&**phase),
            RawEntry::Repeat(block) => &block.phases[..],
        })
    }

    /// The profile with these scenarios, one for each of [`RawProfile::needs`].
    pub(super) fn resolve(
        self,
        scenarios: Vec<Option<Arc<Scenario>>>,
        node: &At<()>,
        problems: &mut Problems,
    ) -> Option<Profile> {
        let asks = scenarios.iter().any(Option::is_some);
        let mut scenarios = scenarios.into_iter();
        let course = match self.chain {
            Some(chain) => Course::Chain(chain.value.resolve(&mut scenarios, problems)?),
            None => Course::Fixed(fixed(self.phases?, &mut scenarios, node, problems)?),
        };
        if !asks {
            let message = "nothing has a scenario, so that nothing is asked for";
            problems.push(Problem::new(node.span.clone(), message));
        }
        asks.then_some(Profile { name: self.name, course })
    }
}

/// Phases in their order, repeated ones as often as they are.
fn fixed(
    entries: Vec<RawEntry>,
    scenarios: &mut impl Iterator<Item = Option<Arc<Scenario>>>,
    node: &At<()>,
    problems: &mut Problems,
) -> Option<Vec<Phase>> {
    let mut phase = |raw: RawPhase| Phase {
        activity: raw.around.activity(raw.name, scenarios.next().flatten()),
        duration: raw.minutes,
    };
    let (mut phases, mut total) = (Vec::new(), 0u64);
    for entry in entries {
        let (once, times) = match entry {
            RawEntry::Phase(raw) => (vec![phase(*raw)], 1),
            RawEntry::Repeat(block) => {
                (block.phases.into_iter().map(&mut phase).collect(), block.repeat)
            }
        };
        let span = once.iter().fold(0u64, |sum, it| sum.saturating_add(it.duration.ns()));
        total = total.saturating_add(span.saturating_mul(times.into()));
        let n = (once.len() as u64).saturating_mul(times.into()) + phases.len() as u64;
        let message = match n > Profile::MAX_PHASES as u64 {
            true => format!("{n} phases; at most {} are allowed", Profile::MAX_PHASES),
            false if total > Profile::MAX_DURATION.ns() => {
                format!("{:.0} h in all; at most 720 h are allowed", total as f64 / 3.6e12)
            }
            false => {
                (0..times).for_each(|_| phases.extend(once.iter().cloned()));
                continue;
            }
        };
        problems.push(Problem::new(node.span.clone(), message));
        return None;
    }
    Some(phases)
}

impl Around {
    fn activity(self, name: Box<str>, scenario: Option<Arc<Scenario>>) -> Arc<Activity> {
        let Self { base_mw, ambient_c, .. } = self;
        Arc::new(Activity { name, scenario, base_mw, ambient_c })
    }
}

impl RawChain {
    fn resolve(
        self,
        scenarios: &mut impl Iterator<Item = Option<Arc<Scenario>>>,
        problems: &mut Problems,
    ) -> Option<Chain> {
        let n_before = problems.len();
        let names: Vec<Box<str>> = self.states.iter().map(|(name, _)| name.value.clone()).collect();
        let find = |name: &At<Box<str>>, problems: &mut Problems| {
            let place = names.iter().position(|it| *it == name.value);
            if place.is_none() {
                problems.push(unknown_name("state", name, names.iter().map(|it| &**it)));
            }
            place.unwrap_or(0)
        };
        let start = find(&self.start, problems);
        let mut states = Vec::new();
        for (name, RawState { around, minutes, next }) in self.states {
            if let Some(sum) = wrong_sum(next.value.iter().map(|(_, share)| *share)) {
                let message = format!("the probabilities sum to {sum}, not to 1");
                problems.push(Problem::new(next.span.clone(), message));
            }
            let followers = next.value.iter().map(|(to, share)| (find(to, problems), *share));
            let next = followers.collect();
            let Stay { mean, least, cv, distribution } = minutes.value;
            if least > mean {
                let message = "the shortest time is longer than the mean";
                problems.push(Problem::new(minutes.span, message));
            }
            let beyond = Dwell { mean: SimSpan::from_ns(mean.ns().saturating_sub(least.ns())), cv };
            let activity = around.activity(name.value, scenarios.next().flatten());
            states.push(State { activity, least, beyond, distribution, next });
        }
        let duration = self.hours;
        (problems.len() == n_before).then_some(Chain { start, duration, states })
    }
}

/// Scenarios of the phases of a profile with their gates; equal ones share one `Arc`.
#[derive(Default)]
pub(super) struct Scenarios(Vec<Arc<Scenario>>);

impl Scenarios {
    /// `scenario` with the gates of a phase, whose files have the texts of `sources`. `None` if that is a problem, also if
    /// too many scenarios differ: each of them has costs of its own.
    ///
    /// # Errors
    ///
    /// That of the first file that is wrong.
    pub(super) fn gated(
        &mut self,
        scenario: Arc<Scenario>,
        needs: &Needs<'_>,
        sources: Vec<Arc<Source>>,
        problems: &mut Problems,
    ) -> Result<Option<Arc<Scenario>>, ConfigError> {
        let span = needs.scenario.map_or(0..0, |it| it.span.clone());
        let scenario = match needs.gates {
            [] => scenario,
            gates => {
                let mut streams: Vec<InputStream> = scenario.streams().to_vec();
                let mut models = scenario.models().to_vec();
                add_gates(gates, sources, (&mut streams, &mut models), &[], problems)?;
                match Scenario::new(scenario.name(), streams, models) {
                    Ok(gated) => Arc::new(gated),
                    Err(errors) => {
                        let problem =
                            |it: &ScenarioError| Problem::new(span.clone(), it.to_string());
                        problems.extend(errors.iter().map(problem));
                        return Ok(None);
                    }
                }
            }
        };
        let is_it = |known: &&Arc<Scenario>| Arc::ptr_eq(known, &scenario) || **known == scenario;
        if let Some(known) = self.0.iter().find(is_it) {
            return Ok(Some(Arc::clone(known)));
        }
        if self.0.len() == Profile::MAX_SCENARIOS {
            let n = self.0.len() + 1;
            let most = Profile::MAX_SCENARIOS;
            let message =
                format!("{n} different scenarios (with their gates); at most {most} are allowed");
            problems.push(Problem::new(span, message));
            return Ok(None);
        }
        self.0.push(Arc::clone(&scenario));
        Ok(Some(scenario))
    }
}

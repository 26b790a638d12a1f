//! Profiles: scenarios that follow each other over a day.

use std::sync::Arc;

use super::{ActiveModel, Dependency, Dwell, DwellDistribution, InputStream, Scenario};
use crate::ids::{ModelId, StreamId};
use crate::sequence::distinct_by;
use crate::units::SimSpan;

/// Use of a device over hours.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name, e.g. `evening`.
    pub name: Box<str>,
    /// The order of its phases.
    pub course: Course,
}

/// Order of the phases of a profile.
#[derive(Debug, Clone, PartialEq)]
pub enum Course {
    /// The phases in their order.
    Fixed(Vec<Phase>),
    /// Phases are drawn.
    Chain(Chain),
}

impl Course {
    /// Whether phases are drawn. States of fixed lengths that follow each other for sure are no draw.
    pub fn is_drawn(&self) -> bool {
        let Self::Chain(chain) = self else { return false };
        let is_random = |it: &State| {
            it.beyond.mean > SimSpan::ZERO || it.next.iter().any(|(_, p)| *p > 0.0 && *p < 1.0)
        };
        chain.states.iter().any(is_random)
    }
}

/// A phase of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Activity.
    pub activity: Arc<Activity>,
    /// Duration.
    pub duration: SimSpan,
}

/// What happens in a phase, apart from its duration.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    /// Name, e.g. `gaming`.
    pub name: Box<str>,
    /// Scenario; `None`: nothing is asked for. Those that share an `Arc` are one scenario of the profile.
    pub scenario: Option<Arc<Scenario>>,
    /// Power of everything beside accelerators and DRAM \[mW\], in place of that of the device.
    pub base_mw: Option<f64>,
    /// Temperature of the air \[C\], in place of that of the device.
    pub ambient_c: Option<f64>,
}

/// A semi-Markov chain: the device stays in a state for a drawn time, then goes to a drawn next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// First state.
    pub start: usize,
    /// Duration of the whole profile.
    pub duration: SimSpan,
    /// States.
    pub states: Vec<State>,
}

/// A state of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Activity.
    pub activity: Arc<Activity>,
    /// Shortest time in the state.
    pub least: SimSpan,
    /// Time beyond the shortest one; a mean of 0 is none.
    pub beyond: Dwell,
    /// Its distribution.
    pub distribution: DwellDistribution,
    /// The states that follow, with their probabilities, whose sum is 1.
    pub next: Vec<(usize, f64)>,
}

impl Profile {
    /// Most different scenarios in a file, those with other gates included.
    pub const MAX_SCENARIOS: usize = 100;
    /// Most phases of a run.
    pub const MAX_PHASES: usize = 10_000;
    /// Longest duration of a run: 30 days.
    pub const MAX_DURATION: SimSpan = SimSpan::from_ns(30 * 86_400 * 1_000_000_000);

    /// Activities, each once or more.
    pub fn activities(&self) -> impl Iterator<Item = &Arc<Activity>> {
        let (phases, states) = match &self.course {
            Course::Fixed(phases) => (&phases[..], &[][..]),
            Course::Chain(chain) => (&[][..], &chain.states[..]),
        };
        let of_phases = phases.iter().map(|phase| &phase.activity);
        of_phases.chain(states.iter().map(|state| &state.activity))
    }

    /// Scenarios, each once, in order of their first use.
    pub fn scenarios(&self) -> Vec<Arc<Scenario>> {
        let all = self.activities().filter_map(|it| it.scenario.as_ref());
        distinct_by(all, |one, other| Arc::ptr_eq(one, other)).into_iter().cloned().collect()
    }
}

impl Scenario {
    /// The models and sensors of several scenarios as one, those of each in their order. Models of the same task stand
    /// there as often as scenarios have them.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn union(name: impl Into<Box<str>>, scenarios: &[Arc<Self>]) -> Self {
        let (mut streams, mut models) = (Vec::<InputStream>::new(), Vec::<ActiveModel>::new());
        for scenario in scenarios {
            let (first_stream, first_model) = (streams.len(), models.len());
            let shifted = |model: &ActiveModel| {
                let mut model = model.clone();
                for input in &mut model.inputs {
                    *input = StreamId::new(first_stream + input.index());
                }
                for Dependency { upstream, .. } in &mut model.dependencies {
                    *upstream = ModelId::new(first_model + upstream.index());
                }
                model
            };
            models.extend(scenario.models.iter().map(shifted));
            streams.extend(scenario.streams.iter().cloned());
        }
        Self::new(name, streams, models)
            .expect("scenarios without contradictions have none together")
    }
}

//! What of a load is random.

use crate::ids::StreamId;
use crate::scenario::{ActiveModel, DependencyKind, Scenario};
use crate::units::SimSpan;

use super::LoadSettings;

/// Which draws decide about the requests of a run. Without any of them every seed and replication
/// gives the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drawn {
    /// Whether upstream results ask for a frame.
    pub triggers: bool,
    /// When sensor frames arrive.
    pub jitter: bool,
    /// Where in their period sensors start.
    pub phases: bool,
}

impl Drawn {
    /// What `settings` draw for `scenario`. A coin that always falls on one side, jitter of a width of zero and
    /// a sensor that no model reads are no draws.
    pub fn of(scenario: &Scenario, settings: &LoadSettings) -> Self {
        let models = || scenario.models().iter();
        let read = || models().flat_map(|model| &model.inputs);
        let streams = scenario.streams();
        let jitters = |id: &StreamId| streams[id.index()].max_jitter > SimSpan::ZERO;
        Self {
            triggers: Self::triggers(scenario, settings),
            jitter: settings.jitter && read().any(jitters),
            phases: settings.random_phase && read().next().is_some(),
        }
    }

    /// Whether `settings` draw the triggers of a model of `scenario`.
    pub fn triggers(scenario: &Scenario, settings: &LoadSettings) -> bool {
        let draws = |model: &ActiveModel| {
            model.dependencies.iter().any(|dependency| match dependency.kind {
                DependencyKind::Data => false,
                DependencyKind::Control { probability } => {
                    let probability = settings.trigger_probability.unwrap_or(probability);
                    probability > 0.0 && probability < 1.0
                }
            })
        };
        let mut models = scenario.model_ids();
        models.any(|id| settings.fixed_trigger(id, 0).is_none() && draws(scenario.model(id)))
    }

    /// Whether anything is drawn.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// What either draws.
    pub fn or(self, other: Self) -> Self {
        Self {
            triggers: self.triggers || other.triggers,
            jitter: self.jitter || other.jitter,
            phases: self.phases || other.phases,
        }
    }

    /// Names of what is drawn.
    pub fn names(self) -> Vec<&'static str> {
        let all = [(self.triggers, "triggers"), (self.jitter, "jitter"), (self.phases, "phases")];
        all.into_iter().filter_map(|(drawn, name)| drawn.then_some(name)).collect()
    }
}

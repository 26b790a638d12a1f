//! Random parts of a load.

use xrsim_model::scenario::{
    ActiveModel, DependencyKind, Dwells, Gate, InputStream, Replay, Scenario, Work,
};
use xrsim_model::units::SimSpan;

use super::LoadSettings;

/// Draws on which the requests of a run depend. Without any, every seed and replication gives the same
/// requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drawn {
    /// Whether upstream results trigger a frame.
    pub triggers: bool,
    /// Arrival times of sensor frames.
    pub jitter: bool,
    /// Phases of sensors in their period.
    pub phases: bool,
    /// Lengths of prompts and answers of sequences.
    pub lengths: bool,
    /// Windows of recordings.
    pub windows: bool,
    /// Dwells of gates.
    pub gates: bool,
    /// Latencies of requests.
    pub latencies: bool,
    /// Counts of frames.
    pub counts: bool,
    /// Phases of a profile.
    pub courses: bool,
}

impl Drawn {
    /// Draws that `settings` make for `scenario`. A probability of 0 or 1, jitter of zero width and a sensor
    /// that no model reads are not draws.
    pub fn from_settings(scenario: &Scenario, settings: &LoadSettings) -> Self {
        let models = || scenario.models().iter();
        let read = || models().flat_map(|model| &model.inputs);
        let any = |is_drawn: fn(&InputStream) -> bool| {
            read().any(|id| is_drawn(&scenario.streams()[id.index()]))
        };
        let gates = || {
            let of_sensors = read().filter_map(|id| scenario.streams()[id.index()].gate.as_ref());
            of_sensors.chain(models().filter_map(|model| model.gate.as_ref()))
        };
        let is_recorded = |it: &Gate| matches!(it.dwells, Dwells::Recorded(_));
        Self {
            triggers: Self::triggers(scenario, settings),
            jitter: settings.jitter && any(jitters) || any(loses_at_random),
            phases: settings.random_phase && any(|it| it.recorded.is_none()),
            windows: any(has_windows) || gates().any(is_recorded),
            gates: !gates().all(is_recorded),
            lengths: models()
                .filter_map(|model| model.sequence.as_ref())
                .any(|sequence| sequence.prompt.are_drawn() || sequence.answer.are_drawn()),
            latencies: settings.draws_latencies,
            counts: models().filter_map(|model| model.work.as_ref()).any(Work::varies),
            courses: false,
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

    /// Union of both.
    pub fn or(self, other: Self) -> Self {
        Self {
            triggers: self.triggers || other.triggers,
            jitter: self.jitter || other.jitter,
            phases: self.phases || other.phases,
            lengths: self.lengths || other.lengths,
            windows: self.windows || other.windows,
            gates: self.gates || other.gates,
            latencies: self.latencies || other.latencies,
            counts: self.counts || other.counts,
            courses: self.courses || other.courses,
        }
    }

    /// Names of the draws.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.triggers, "triggers"),
            (self.jitter, "jitter"),
            (self.phases, "phases"),
            (self.lengths, "lengths"),
            (self.windows, "windows of recordings"),
            (self.gates, "gates"),
            (self.latencies, "latencies"),
            (self.counts, "counts"),
            (self.courses, "courses of profiles"),
        ];
        all.into_iter().filter_map(|(drawn, name)| drawn.then_some(name)).collect()
    }

    /// The draws called `names`; other names are ignored.
    pub fn from_names(names: &[&str]) -> Self {
        let has = |name: &str| names.contains(&name);
        Self {
            triggers: has("triggers"),
            jitter: has("jitter"),
            phases: has("phases"),
            lengths: has("lengths"),
            windows: has("windows of recordings"),
            gates: has("gates"),
            latencies: has("latencies"),
            counts: has("counts"),
            courses: has("courses of profiles"),
        }
    }
}

/// Whether arrivals of a stream are drawn.
fn jitters(stream: &InputStream) -> bool {
    match &stream.recorded {
        Some(recorded) => recorded.replay == Replay::Blocks,
        None => stream.max_jitter > SimSpan::ZERO,
    }
}

/// Whether lost frames of a stream are drawn, whether or not times are.
fn loses_at_random(stream: &InputStream) -> bool {
    let of_blocks = stream.recorded.as_ref().filter(|it| it.replay == Replay::Blocks);
    of_blocks.is_some_and(|it| it.recording.n_lost() > 0)
}

/// Whether replications read other parts of a recording of a stream.
fn has_windows(stream: &InputStream) -> bool {
    let of_frames = stream.recorded.as_ref();
    of_frames.is_some_and(|it| matches!(it.replay, Replay::Instants { .. }))
}

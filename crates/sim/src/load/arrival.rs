//! Times and draws of single frames: sensor grid, jitter, deadlines, coins of dependencies.

use xrsim_model::ids::{FrameId, ModelId, StreamId};
use xrsim_model::scenario::{
    ActiveModel, DependencyKind, InputStream, Scenario, Sequence, Tokens,
};
use xrsim_model::units::{FrameRate, SimSpan, SimTime};

use super::random::{Draws, Purpose};
use super::{FrameMapping, LoadSettings};

/// The frame of an upstream model at `upstream_rate` that `frame` of a model at `rate` depends on: the
/// newest one whose nominal start is not later, `floor(frame·upstream_rate/rate)`. At equal rates that
/// is the same frame.
pub fn upstream_frame(frame: FrameId, rate: FrameRate, upstream_rate: FrameRate) -> FrameId {
    FrameId::new(newest(frame.index() as u64, rate, upstream_rate) as usize)
}

/// The newest frame at `to` FPS when `frame` at `from` FPS starts: `floor(frame·to/from)`.
///
/// Frames are below 2^25 ([`RequestStream::MAX_REQUESTS`]) and rates below 2^30 mHz.
pub(super) fn newest(frame: u64, from: FrameRate, to: FrameRate) -> u64 {
    frame * to.millihertz() / from.millihertz()
}

/// The first frame at `to` FPS that starts with `frame` at `from` FPS or later.
fn next(frame: u64, from: FrameRate, to: FrameRate) -> u64 {
    (frame * to.millihertz()).div_ceil(from.millihertz())
}

/// The coin of a control dependency.
pub(super) struct Coin {
    draws: Draws,
    probability: f64,
}

impl Coin {
    /// The coin of dependency `index` of `model`; `None` for data dependencies. Keyed by position
    /// in the scenario, so that names change nothing.
    pub(super) fn new(
        model: ModelId,
        index: usize,
        kind: DependencyKind,
        settings: &LoadSettings,
    ) -> Option<Self> {
        let DependencyKind::Control { probability } = kind else {
            return None;
        };
        let [model, index] = [model.index(), index].map(|part| (part as u64).to_le_bytes());
        Some(Self {
            draws: Draws::new(settings, Purpose::Trigger, &[model, index].concat()),
            probability: settings.trigger_probability.unwrap_or(probability),
        })
    }

    pub(super) fn asks_for(&self, frame: u64) -> bool {
        self.draws.unit(frame) < self.probability
    }
}

/// A sensor of this run.
pub(super) struct Sensor<'a> {
    stream: &'a InputStream,
    /// From time 0 to the nominal arrival of frame 0: L_init, and the phase if there is one.
    origin: SimSpan,
    mapping: FrameMapping,
    jitter: Option<Draws>,
    /// Jitter of frames that were drawn last, each at the place of its number modulo their number. Models that read the
    /// sensor ask for the same frames one after another.
    drawn: Vec<(u64, i64)>,
}

/// Number of frames of a sensor whose jitter is kept.
const KEPT: u64 = 256;

impl<'a> Sensor<'a> {
    pub(super) fn new(stream: &'a InputStream, settings: &LoadSettings) -> Self {
        let draws = |purpose| Draws::new(settings, purpose, stream.name.as_bytes());
        let period = stream.rate.frame_start(1) - SimTime::ZERO;
        let phase = match settings.random_phase {
            true => draws(Purpose::Phase).below(0, period),
            false => SimSpan::ZERO,
        };
        Self {
            stream,
            origin: stream.initial_latency + phase,
            mapping: settings.frame_mapping,
            jitter: settings.jitter.then(|| draws(Purpose::Jitter)),
            drawn: vec![(u64::MAX, 0); if settings.jitter { KEPT as usize } else { 0 }],
        }
    }

    /// When the data for frame `frame` of a model at `rate` is there.
    fn arrival(&mut self, frame: u64, rate: FrameRate) -> SimTime {
        let (sensor_frame, nominal) = self.nominal(frame, rate);
        nominal.offset_by(self.jitter_ns(sensor_frame))
    }

    /// The frame of the sensor for frame `frame` of a model at `rate`, and its arrival without jitter.
    fn nominal(&self, frame: u64, rate: FrameRate) -> (u64, SimTime) {
        let sensor_rate = self.stream.rate;
        let sensor_frame = match self.mapping {
            FrameMapping::Floor | FrameMapping::Nominal => newest(frame, rate, sensor_rate),
            FrameMapping::Ceil => next(frame, rate, sensor_rate),
        };
        let nominal = match self.mapping {
            FrameMapping::Floor | FrameMapping::Ceil => sensor_rate.frame_start(sensor_frame),
            FrameMapping::Nominal => rate.frame_start(frame),
        };
        (sensor_frame, nominal + self.origin)
    }

    fn jitter_ns(&mut self, sensor_frame: u64) -> i64 {
        let Some(draws) = &self.jitter else { return 0 };
        let (frame, jitter) = &mut self.drawn[(sensor_frame % KEPT) as usize];
        if *frame != sensor_frame {
            *frame = sensor_frame;
            *jitter =
                draws.offset_ns(sensor_frame, self.stream.max_jitter, self.stream.distribution);
        }
        *jitter
    }

    /// Longest time from the nominal start of a model frame back to its arrival.
    pub(super) fn lead(&self) -> SimSpan {
        // Two roundings to whole nanoseconds.
        let roundings = SimSpan::from_ns(2);
        self.stream.rate.period().saturating_add(self.stream.max_jitter).saturating_add(roundings)
    }
}

/// When all data for `frame` of a model is there.
pub(super) fn arrival(model: &ActiveModel, sensors: &mut [Sensor<'_>], frame: u64) -> SimTime {
    let inputs = model.inputs.iter();
    let arrivals = inputs.map(|input| sensors[input.index()].arrival(frame, model.rate));
    arrivals.max().unwrap_or_else(|| model.rate.frame_start(frame))
}

/// Nominal start of `frame` of a model, with the initial latency of its primary sensor: its deadline counts from there.
pub(super) fn origin(model: &ActiveModel, sensors: &[Sensor<'_>], frame: u64) -> SimTime {
    let primary = model.inputs.first();
    let origin = primary.map_or(SimSpan::ZERO, |input| sensors[input.index()].origin);
    model.rate.frame_start(frame) + origin
}

/// Lengths of the starts of a sequence.
pub(super) struct Lengths {
    prompt: Draws,
    answer: Draws,
}

impl Lengths {
    /// Lengths of the starts of `model`, keyed by its position in the scenario.
    pub(super) fn new(model: ModelId, settings: &LoadSettings) -> Self {
        let source = (model.index() as u64).to_le_bytes();
        let draws = |purpose| Draws::new(settings, purpose, &source);
        Self { prompt: draws(Purpose::Prompt), answer: draws(Purpose::Answer) }
    }

    /// Tokens of prompt and answer of `start`.
    pub(super) fn of(&self, sequence: &Sequence, start: u64) -> (u32, u32) {
        let draw = |tokens: &Tokens, draws: &Draws| match tokens {
            Tokens::Fixed(n) => *n,
            drawn => drawn.at(draws.unit(start)),
        };
        (draw(&sequence.prompt, &self.prompt), draw(&sequence.answer, &self.answer))
    }
}

/// Generation of the data of frames: their arrival without jitter, less the latency of the sensor.
pub(crate) struct Generations<'a> {
    scenario: &'a Scenario,
    sensors: Vec<Sensor<'a>>,
    /// Largest latency of a sensor, which is added to all instants so that none is before 0.
    lead: SimSpan,
}

impl<'a> Generations<'a> {
    pub(crate) fn new(scenario: &'a Scenario, settings: &LoadSettings) -> Self {
        let settings = LoadSettings { jitter: false, ..settings.clone() };
        let streams = scenario.streams().iter();
        let lead = streams.clone().map(|it| it.latency).max().unwrap_or(SimSpan::ZERO);
        Self { scenario, sensors: streams.map(|it| Sensor::new(it, &settings)).collect(), lead }
    }

    /// Time from an instant to the one that stands for it here.
    pub(crate) fn lead(&self) -> SimSpan {
        self.lead
    }

    /// Generation of the data that `frame` of `model` takes from its inputs, the primary one first; without inputs,
    /// the nominal start of the frame.
    pub(crate) fn of(
        &self,
        model: ModelId,
        frame: FrameId,
    ) -> impl Iterator<Item = SimTime> + use<'_> {
        let (frame, active) = (frame.index() as u64, self.scenario.model(model));
        let of_sensor = move |input: &StreamId| {
            let sensor = &self.sensors[input.index()];
            sensor.nominal(frame, active.rate).1 + (self.lead - sensor.stream.latency)
        };
        let own = active.inputs.is_empty().then(|| active.rate.frame_start(frame) + self.lead);
        active.inputs.iter().map(of_sensor).chain(own)
    }
}

//! Times and draws of single frames: sensor grid, jitter, recordings, deadlines, coins of dependencies.

use xrsim_model::ids::{FrameId, ModelId, StreamId};
use xrsim_model::scenario::{
    ActiveModel, DependencyKind, InputStream, Numbers, Scenario, Sequence, Tokens, Work,
};
use xrsim_model::trace::Absence;
use xrsim_model::units::{FrameRate, SimSpan, SimTime};

use super::gate::Course;
use super::random::{Draws, Purpose};
use super::recorded::Arrivals;
use super::{FrameMapping, LoadError, LoadSettings};

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
    grid: Grid,
    offsets: Offsets<'a>,
    gate: Option<Course<'a>>,
    /// Offsets of frames that were asked for last, each at the place of its number modulo their number. Models that read
    /// the sensor ask for the same frames one after another.
    kept: Vec<(u64, Option<i64>)>,
    /// Longest time from an arrival to the nominal start of its frame.
    most_early: SimSpan,
}

/// Arrivals of the frames of a sensor without jitter.
struct Grid {
    rate: FrameRate,
    /// From time 0 to the arrival of frame 0: L_init, and the phase if there is one.
    origin: SimSpan,
    mapping: FrameMapping,
}

impl Grid {
    fn new(stream: &InputStream, settings: &LoadSettings) -> Self {
        // The instants of a recording have the phase of its sensor.
        let phase = match settings.random_phase && stream.recorded.is_none() {
            true => draws(settings, Purpose::Phase, stream).below(0, stream.rate.period()),
            false => SimSpan::ZERO,
        };
        let origin = stream.initial_latency + phase;
        Self { rate: stream.rate, origin, mapping: settings.frame_mapping }
    }

    /// The frame of the sensor for frame `frame` of a model at `rate`, and its arrival.
    fn nominal(&self, frame: u64, rate: FrameRate) -> (u64, SimTime) {
        let sensor_frame = match self.mapping {
            FrameMapping::Floor | FrameMapping::Nominal => newest(frame, rate, self.rate),
            FrameMapping::Ceil => next(frame, rate, self.rate),
        };
        let nominal = match self.mapping {
            FrameMapping::Floor | FrameMapping::Ceil => self.rate.frame_start(sensor_frame),
            FrameMapping::Nominal => rate.frame_start(frame),
        };
        (sensor_frame, nominal + self.origin)
    }
}

/// Draws of a sensor.
fn draws(settings: &LoadSettings, purpose: Purpose, stream: &InputStream) -> Draws {
    Draws::new(settings, purpose, stream.name.as_bytes())
}

/// Source of the times from nominal starts to arrivals.
enum Offsets<'a> {
    /// Frames arrive at their nominal starts.
    None,
    Jitter(Draws),
    Recorded {
        arrivals: Arrivals<'a>,
        /// Whether only losses are of the recording, not the times.
        is_exact: bool,
    },
}

/// Number of frames of a sensor whose offsets are kept.
const KEPT: u64 = 256;

impl<'a> Sensor<'a> {
    /// # Errors
    ///
    /// [`LoadError::RecordingTooShort`].
    pub(super) fn new(stream: &'a InputStream, settings: &LoadSettings) -> Result<Self, LoadError> {
        let mut most_early = stream.max_jitter;
        let offsets = match &stream.recorded {
            Some(recorded) => {
                let arrivals = Arrivals::new(stream, recorded, settings)?;
                let is_exact = !settings.jitter;
                most_early = match is_exact {
                    true => SimSpan::ZERO,
                    false => arrivals.most_early(settings.duration),
                };
                Offsets::Recorded { arrivals, is_exact }
            }
            None if settings.jitter => Offsets::Jitter(draws(settings, Purpose::Jitter, stream)),
            None => Offsets::None,
        };
        let n_kept = if matches!(offsets, Offsets::None) { 0 } else { KEPT as usize };
        Ok(Self {
            stream,
            grid: Grid::new(stream, settings),
            offsets,
            gate: stream.gate.as_ref().map(|gate| Course::new(gate, settings)),
            kept: vec![(u64::MAX, None); n_kept],
            most_early,
        })
    }

    /// When the data for frame `frame` of a model at `rate` is there, or would be, and why it is not.
    fn arrival(&mut self, frame: u64, rate: FrameRate) -> (SimTime, Option<Absence>) {
        let (sensor_frame, nominal) = self.grid.nominal(frame, rate);
        let offset = self.offset_ns(sensor_frame);
        let gate = self.gate.as_mut();
        let start = self.grid.rate.frame_start(sensor_frame);
        let is_on = gate.is_none_or(|gate| gate.is_on(start));
        let absence = match (is_on, offset) {
            (false, _) => Some(Absence::Gated),
            (true, None) => Some(Absence::Lost),
            (true, Some(_)) => None,
        };
        (nominal.offset_by(offset.unwrap_or(0)), absence)
    }

    /// Arrival of a frame of the sensor; `None` if it is lost.
    pub(super) fn frame(&mut self, frame: u64) -> Option<SimTime> {
        let offset = self.offset_ns(frame)?;
        Some((self.grid.rate.frame_start(frame) + self.grid.origin).offset_by(offset))
    }

    fn offset_ns(&mut self, sensor_frame: u64) -> Option<i64> {
        if self.kept.is_empty() {
            return Some(0);
        }
        let (frame, offset) = &mut self.kept[(sensor_frame % KEPT) as usize];
        if *frame != sensor_frame {
            *frame = sensor_frame;
            let InputStream { max_jitter, distribution, initial_latency, .. } = *self.stream;
            *offset = match &self.offsets {
                Offsets::None => Some(0),
                Offsets::Jitter(draws) => {
                    Some(draws.offset_ns(sensor_frame, max_jitter, distribution))
                }
                Offsets::Recorded { arrivals, is_exact } => {
                    let offset = arrivals.offset_ns(sensor_frame);
                    let latency = i64::try_from(initial_latency.ns()).unwrap_or(i64::MAX);
                    offset.map(|it| if *is_exact { 0 } else { it.saturating_sub(latency) })
                }
            };
        }
        *offset
    }

    /// Forgets what only frames with a nominal start before `time` need.
    pub(super) fn forget(&mut self, time: SimTime) {
        if let Some(gate) = &mut self.gate {
            // A frame of a model reads one that started up to a period earlier.
            gate.forget(time.offset_by(-(self.stream.rate.period().ns() as i64) - 2));
        }
    }

    /// Longest time from the nominal start of a model frame back to its arrival.
    pub(super) fn lead(&self) -> SimSpan {
        // Two roundings to whole nanoseconds.
        let roundings = SimSpan::from_ns(2);
        self.stream.rate.period().saturating_add(self.most_early).saturating_add(roundings)
    }
}

/// Arrivals of the frames of a sensor in a run, in order of frame, without those that are lost.
///
/// # Errors
///
/// [`LoadError::RecordingTooShort`].
pub fn arrivals(
    stream: &InputStream,
    settings: &LoadSettings,
) -> Result<impl Iterator<Item = (u64, SimTime)>, LoadError> {
    let mut sensor = Sensor::new(stream, settings)?;
    let frames = 0..stream.rate.frames_before(settings.duration);
    Ok(frames.filter_map(move |frame| Some((frame, sensor.frame(frame)?))))
}

/// When all data for `frame` of a model is there, or would be, and why it is not.
pub(super) fn arrival(
    model: &ActiveModel,
    sensors: &mut [Sensor<'_>],
    frame: u64,
) -> (SimTime, Option<Absence>) {
    let inputs = model.inputs.iter();
    let arrivals = inputs.map(|input| sensors[input.index()].arrival(frame, model.rate));
    let both = |(a, of_a): (SimTime, Option<Absence>), (b, of_b)| (a.max(b), of_a.or(of_b));
    arrivals.reduce(both).unwrap_or_else(|| (model.rate.frame_start(frame), None))
}

/// Nominal start of `frame` of a model, with the initial latency of its primary sensor: its deadline counts from there.
pub(super) fn origin(model: &ActiveModel, sensors: &[Sensor<'_>], frame: u64) -> SimTime {
    let primary = model.inputs.first();
    let origin = primary.map_or(SimSpan::ZERO, |input| sensors[input.index()].grid.origin);
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

/// Draws of the counts of the frames of a model, in the order of [`Work::counts`].
pub(super) struct Counts(Vec<Draws>);

impl Counts {
    /// Counts of the frames of the model called `task`.
    pub(super) fn new(task: &str, work: &Work, settings: &LoadSettings) -> Self {
        let draws = |(name, _): &(Box<str>, Numbers)| {
            let source = [task.as_bytes(), &[0], name.as_bytes()].concat();
            Draws::new(settings, Purpose::Work, &source)
        };
        Self(work.counts().iter().map(draws).collect())
    }

    /// Variant of `frame`.
    pub(super) fn variant(&self, work: &Work, frame: u64) -> u32 {
        let pairs = work.counts().iter().zip(&self.0);
        let count = |((_, numbers), draws): (&(Box<str>, Numbers), &Draws)| match numbers {
            Numbers::Fixed(n) => *n,
            drawn => drawn.at(draws.unit(frame)),
        };
        work.variant(&pairs.map(count).collect::<Vec<_>>())
    }
}

/// Generation of the data of frames: their arrival without jitter, less the latency of the sensor.
pub(crate) struct Generations<'a> {
    scenario: &'a Scenario,
    /// Indexed by [`StreamId`].
    grids: Vec<Grid>,
    /// Largest latency of a sensor, which is added to all instants so that none is before 0.
    lead: SimSpan,
}

impl<'a> Generations<'a> {
    pub(crate) fn new(scenario: &'a Scenario, settings: &LoadSettings) -> Self {
        let streams = scenario.streams().iter();
        let lead = streams.clone().map(|it| it.latency).max().unwrap_or(SimSpan::ZERO);
        Self { scenario, grids: streams.map(|it| Grid::new(it, settings)).collect(), lead }
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
            let latency = self.scenario.streams()[input.index()].latency;
            self.grids[input.index()].nominal(frame, active.rate).1 + (self.lead - latency)
        };
        let own = active.inputs.is_empty().then(|| active.rate.frame_start(frame) + self.lead);
        active.inputs.iter().map(of_sensor).chain(own)
    }
}

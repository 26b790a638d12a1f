//! Expansion of a scenario into requests: sensor grid, jitter, deadlines, triggers, dependencies by
//! frame.

use xrsim_model::cancel::Steps;
use xrsim_model::ids::{FrameId, ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, Dependency, DependencyKind, InputStream, Scenario};
use xrsim_model::units::{FrameRate, SimSpan, SimTime};

use super::random::{Draws, Purpose};
use super::{FrameMapping, LoadError, LoadSettings, Request, RequestStream};

/// Every request of a run of `scenario`: frame `j` of a model at `F` FPS for all `j/F` in
/// [0, `duration`), in order of (arrival, deadline, model, frame).
///
/// A frame of a model arrives with the last of its sensor frames (Definition 7):
///
/// ```text
/// T_req(j) = max over inputs σ of  L_init(σ) + i/S(σ) + jitter(σ, i)     i = floor(j·S(σ)/F)
/// T_dl(j)  = L_init(primary) + (j + 1)/F
/// ```
///
/// A random phase of a sensor, if there is one, is added to its L_init. A model without inputs arrives
/// on its own grid, `T_req = j/F`. Both are whole nanoseconds; no arrival lies before 0.
/// [`ActiveModel::relative_deadline`] takes the place of the period in `T_dl`, and
/// [`LoadSettings::deadline_factor`] scales either.
///
/// Deviation: Definition 7 prints one jitter stream seeded by the product of source and frame, which
/// collides (2·3 = 3·2, and frame 0 of every source). Here each sensor has its own stream, shared by
/// all models that read the frame. Definition 8 prints the sensor's rate for the deadline; the
/// example of XRBench section 3.6 (2/60 s for a 30-FPS model) and this function take the model's.
///
/// # Errors
///
/// [`LoadError`] if the run is too large; found before memory is taken.
pub fn generate(scenario: &Scenario, settings: &LoadSettings) -> Result<RequestStream, LoadError> {
    let grid = Grid::new(scenario, settings.duration)?;
    let mut requests = frames(&grid, settings);
    draw_triggers(&grid, settings, &mut requests);
    requests.sort_unstable_by_key(|r| (r.arrival, r.deadline, r.model, r.frame));
    let edges = edges(&grid, &requests);
    Ok(RequestStream::new(requests, &edges))
}

/// Places of requests that are in order of model and frame.
struct Grid<'a> {
    scenario: &'a Scenario,
    /// Place of frame 0 of every model, and the number of requests at the end.
    starts: Vec<usize>,
}

impl<'a> Grid<'a> {
    fn new(scenario: &'a Scenario, duration: SimSpan) -> Result<Self, LoadError> {
        let mut starts = vec![0];
        let mut requests = 0u64;
        let mut dependencies = 0u64;
        for model in scenario.models() {
            let frames = model.rate.frames_before(duration);
            let needs = frames.saturating_mul(model.dependencies.len() as u64);
            requests = requests.saturating_add(frames);
            dependencies = dependencies.saturating_add(needs);
            starts.push(requests as usize);
        }
        if requests > RequestStream::MAX_REQUESTS {
            return Err(LoadError::TooManyRequests { requests });
        }
        if dependencies > RequestStream::MAX_DEPENDENCIES {
            return Err(LoadError::TooManyDependencies { dependencies });
        }
        Ok(Self { scenario, starts })
    }

    fn n_requests(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn n_frames(&self, model: ModelId) -> usize {
        self.starts[model.index() + 1] - self.starts[model.index()]
    }

    fn place(&self, model: ModelId, frame: usize) -> usize {
        self.starts[model.index()] + frame
    }

    /// Place of the upstream frame that `frame` of `model` needs.
    fn upstream(&self, model: ModelId, frame: usize, dependency: &Dependency) -> usize {
        let rate = self.scenario.model(model).rate;
        let upstream_rate = self.scenario.model(dependency.upstream).rate;
        let frame = upstream_frame(FrameId::new(frame), rate, upstream_rate);
        self.place(dependency.upstream, frame.index())
    }
}

/// The frame of an upstream model at `upstream_rate` that `frame` of a model at `rate` depends on: the
/// newest one whose nominal start is not later, `floor(frame·upstream_rate/rate)`. At equal rates that
/// is the same frame.
pub fn upstream_frame(frame: FrameId, rate: FrameRate, upstream_rate: FrameRate) -> FrameId {
    FrameId::new(newest(frame.index() as u64, rate, upstream_rate) as usize)
}

/// The newest frame at `to` FPS when `frame` at `from` FPS starts: `floor(frame·to/from)`.
///
/// Frames are below 2^25 ([`RequestStream::MAX_REQUESTS`]) and rates below 2^30 mHz.
fn newest(frame: u64, from: FrameRate, to: FrameRate) -> u64 {
    frame * to.millihertz() / from.millihertz()
}

/// The first frame at `to` FPS that starts with `frame` at `from` FPS or later.
fn next(frame: u64, from: FrameRate, to: FrameRate) -> u64 {
    (frame * to.millihertz()).div_ceil(from.millihertz())
}

/// The coin of a control dependency.
struct Coin {
    draws: Draws,
    probability: f64,
}

impl Coin {
    /// The coin of dependency `index` of `model`; `None` for data dependencies. Keyed by position
    /// in the scenario, so that names change nothing.
    fn new(
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

    fn asks_for(&self, frame: usize) -> bool {
        self.draws.unit(frame as u64) < self.probability
    }
}

/// Draws whether each request is asked for: all its own coins say so, and so are all the frames it needs.
fn draw_triggers(grid: &Grid<'_>, settings: &LoadSettings, requests: &mut [Request]) {
    let mut steps = Steps::default();
    for &id in grid.scenario.topological() {
        for (index, dependency) in grid.scenario.model(id).dependencies.iter().enumerate() {
            let coin = Coin::new(id, index, dependency.kind, settings);
            for frame in 0..grid.n_frames(id) {
                steps.step();
                let upstream = requests[grid.upstream(id, frame, dependency)].triggered;
                requests[grid.place(id, frame)].triggered &= upstream
                    && coin.as_ref().is_none_or(|coin| {
                        let fixed = settings.fixed_trigger(id, frame);
                        fixed.unwrap_or_else(|| coin.asks_for(frame))
                    });
            }
        }
    }
}

/// A sensor of this run.
struct Sensor<'a> {
    stream: &'a InputStream,
    /// From time 0 to the nominal arrival of frame 0: L_init, and the phase if there is one.
    origin: SimSpan,
    mapping: FrameMapping,
    jitter: Option<Draws>,
}

impl<'a> Sensor<'a> {
    fn new(stream: &'a InputStream, settings: &LoadSettings) -> Self {
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
        }
    }

    /// When the data for frame `frame` of a model at `rate` is there.
    fn arrival(&self, frame: u64, rate: FrameRate) -> SimTime {
        let sensor_rate = self.stream.rate;
        let sensor_frame = match self.mapping {
            FrameMapping::Floor | FrameMapping::Nominal => newest(frame, rate, sensor_rate),
            FrameMapping::Ceil => next(frame, rate, sensor_rate),
        };
        let nominal = match self.mapping {
            FrameMapping::Floor | FrameMapping::Ceil => sensor_rate.frame_start(sensor_frame),
            FrameMapping::Nominal => rate.frame_start(frame),
        };
        (nominal + self.origin).offset_by(self.jitter_ns(sensor_frame))
    }

    fn jitter_ns(&self, sensor_frame: u64) -> i64 {
        self.jitter.as_ref().map_or(0, |draws| {
            draws.offset_ns(sensor_frame, self.stream.max_jitter, self.stream.distribution)
        })
    }
}

/// Every request in order of model and frame, as if all were triggered.
fn frames(grid: &Grid<'_>, settings: &LoadSettings) -> Vec<Request> {
    let streams = grid.scenario.streams().iter();
    let sensors: Vec<_> = streams.map(|stream| Sensor::new(stream, settings)).collect();
    let mut requests = Vec::with_capacity(grid.n_requests());
    let mut steps = Steps::default();
    for id in grid.scenario.model_ids() {
        let model = grid.scenario.model(id);
        let inputs: Vec<_> = model.inputs.iter().map(|input| &sensors[input.index()]).collect();
        for frame in 0..grid.n_frames(id) {
            steps.step();
            let arrival = arrival(model, &inputs, frame as u64);
            let deadline = deadline(model, &inputs, frame as u64, settings);
            requests.push(Request::new(id, FrameId::new(frame), arrival, deadline));
        }
    }
    requests
}

fn arrival(model: &ActiveModel, inputs: &[&Sensor<'_>], frame: u64) -> SimTime {
    inputs
        .iter()
        .map(|sensor| sensor.arrival(frame, model.rate))
        .max()
        .unwrap_or_else(|| model.rate.frame_start(frame))
}

fn deadline(
    model: &ActiveModel,
    inputs: &[&Sensor<'_>],
    frame: u64,
    settings: &LoadSettings,
) -> SimTime {
    let origin = inputs.first().map_or(SimSpan::ZERO, |primary| primary.origin);
    model.rate.frame_start(frame) + settings.relative_deadline(model, frame) + origin
}

/// Pairs of (upstream, downstream) request, in order of the downstream ones.
fn edges(grid: &Grid<'_>, requests: &[Request]) -> Vec<(RequestId, RequestId)> {
    let mut ids = vec![RequestId::new(0); grid.n_requests()];
    for (index, request) in requests.iter().enumerate() {
        ids[grid.place(request.model, request.frame.index())] = RequestId::new(index);
    }
    let mut edges = Vec::new();
    let mut steps = Steps::default();
    for (index, request) in requests.iter().enumerate() {
        steps.step();
        for dependency in &grid.scenario.model(request.model).dependencies {
            let upstream = grid.upstream(request.model, request.frame.index(), dependency);
            edges.push((ids[upstream], RequestId::new(index)));
        }
    }
    edges
}

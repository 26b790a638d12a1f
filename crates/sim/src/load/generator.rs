//! Expansion of a scenario into requests, in order of arrival.

use std::collections::{HashMap, VecDeque};

use xrsim_model::cancel::Steps;
use xrsim_model::ids::{FrameId, ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, Dependency, Scenario, Sequence};
use xrsim_model::trace::Absence;
use xrsim_model::units::{SimSpan, SimTime};

use super::arrival::{Coin, Counts, Lengths, Sensor, arrival, newest, origin};
use super::gate::Course;
use super::{LoadError, LoadSettings, Request, RequestStream};

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
/// A random phase of a sensor, if there is one, is added to its L_init. A recorded sensor has the instant of its frame in
/// place of L_init(σ) + i/S(σ) + jitter(σ, i). A model without inputs arrives
/// on its own grid, `T_req = j/F`. Both are whole nanoseconds; no arrival lies before 0.
/// [`xrsim_model::scenario::ActiveModel::relative_deadline`] takes the place of the period in `T_dl`, and
/// [`LoadSettings::deadline_factor`] scales either.
///
/// A frame of a [`Sequence`] becomes several requests, all of which arrive with it. Each needs the one before it.
///
/// Deviation: Definition 7 prints one jitter stream seeded by the product of source and frame, which
/// collides (2·3 = 3·2, and frame 0 of every source). Here each sensor has its own stream, shared by
/// all models that read the frame. Definition 8 prints the sensor's rate for the deadline; the
/// example of XRBench section 3.6 (2/60 s for a 30-FPS model) and this function take the model's.
///
/// # Errors
///
/// [`LoadError`] if the run is too large, or longer than a recording of a sensor; found before memory is taken.
pub fn generate(scenario: &Scenario, settings: &LoadSettings) -> Result<RequestStream, LoadError> {
    let mut generator = Generator::new(scenario, settings)?;
    let mut requests = Vec::with_capacity(generator.n_requests());
    let (mut edges, mut upstream) = (Vec::new(), Vec::new());
    while let Some(request) = generator.take(&mut upstream) {
        let id = RequestId::new(requests.len());
        edges.extend(upstream.iter().map(|&needed| (needed, id)));
        requests.push(request);
    }
    Ok(RequestStream::new(requests, &edges))
}

/// Number of requests that are made at a time.
const PART: u64 = 512;

/// The requests of [`generate`], made as they are taken. Memory does not grow with the duration.
///
/// Frames of all models are made part by part of the duration. A made request gets its number as soon as no frame of a
/// later part can arrive before it.
pub struct Generator<'a> {
    scenario: &'a Scenario,
    settings: &'a LoadSettings,
    sensors: Vec<Sensor<'a>>,
    /// Indexed by [`ModelId`].
    models: Vec<Frames<'a>>,
    /// Every frame with an earlier nominal start is made.
    made: SimSpan,
    /// Length of a part.
    part: SimSpan,
    /// Longest time from the nominal start of a frame back to its arrival.
    lead: SimSpan,
    /// Requests without a number.
    open: Vec<Request>,
    /// Requests that have a number and are not taken, each with the one before it in its sequence.
    numbered: VecDeque<(Request, Option<RequestId>)>,
    n_numbered: usize,
    steps: Steps,
}

/// Frames of a model.
struct Frames<'a> {
    n_frames: u64,
    /// Frames that are made.
    n_made: u64,
    /// The coin of every dependency; `None` for data.
    coins: Vec<Option<Coin>>,
    /// Lengths of the starts of a sequence.
    lengths: Option<Lengths>,
    /// Counts of the frames, if they differ.
    counts: Option<Counts>,
    gate: Option<Course<'a>>,
    /// Last request with a number of every start of a sequence of which some requests have none.
    last: HashMap<u64, RequestId>,
    /// Whether other models depend on this one.
    is_needed: bool,
    /// First frame that a request which is not taken can need.
    first_needed: u64,
    /// Frames that are made, from the first one that is needed.
    needed: VecDeque<Needed>,
}

/// A frame that other frames depend on.
#[derive(Clone, Copy)]
struct Needed {
    is_triggered: bool,
    absence: Option<Absence>,
    /// Its request, as soon as that has a number.
    request: Option<RequestId>,
}

impl Frames<'_> {
    fn needed(&mut self, frame: u64) -> &mut Needed {
        &mut self.needed[(frame - self.first_needed) as usize]
    }

    /// Forgets the frames before `first`.
    fn forget(&mut self, first: u64) {
        self.needed.drain(..(first - self.first_needed) as usize);
        self.first_needed = first;
    }
}

impl<'a> Generator<'a> {
    /// The requests of a run of `scenario`, none of which is made.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the run is too large, or longer than a recording of a sensor.
    pub fn new(scenario: &'a Scenario, settings: &'a LoadSettings) -> Result<Self, LoadError> {
        let n_requests = n_requests(scenario, settings.duration)?;
        let sensors = scenario.streams().iter().map(|stream| Sensor::new(stream, settings));
        let sensors = sensors.collect::<Result<Vec<_>, _>>()?;
        let needed = |id| {
            let mut dependencies = scenario.models().iter().flat_map(|it| &it.dependencies);
            dependencies.any(|dependency| dependency.upstream == id)
        };
        let models = scenario.model_ids().map(|id| {
            let model = scenario.model(id);
            let coin = |(index, it): (usize, &Dependency)| Coin::new(id, index, it.kind, settings);
            Frames {
                n_frames: model.rate.frames_before(settings.duration),
                n_made: 0,
                coins: model.dependencies.iter().enumerate().map(coin).collect(),
                lengths: model.sequence.as_ref().map(|_| Lengths::new(id, settings)),
                counts: model
                    .work
                    .as_ref()
                    .map(|work| Counts::new(&model.unit.task, work, settings)),
                gate: model.gate.as_ref().map(|gate| Course::new(gate, settings)),
                last: HashMap::new(),
                is_needed: needed(id),
                first_needed: 0,
                needed: VecDeque::new(),
            }
        });
        let n_parts = n_requests.div_ceil(PART).max(1);
        Ok(Self {
            scenario,
            settings,
            models: models.collect(),
            made: SimSpan::ZERO,
            part: SimSpan::from_ns(settings.duration.ns().div_ceil(n_parts)),
            lead: sensors.iter().map(Sensor::lead).max().unwrap_or(SimSpan::from_ns(1)),
            sensors,
            open: Vec::new(),
            numbered: VecDeque::new(),
            n_numbered: 0,
            steps: Steps::default(),
        })
    }

    /// Number of requests in all.
    pub fn n_requests(&self) -> usize {
        let models = self.scenario.models().iter().zip(&self.models);
        let n_requests = |(model, frames): (&ActiveModel, &Frames)| {
            let Some((sequence, lengths)) = model.sequence.as_ref().zip(frames.lengths.as_ref())
            else {
                return frames.n_frames as usize;
            };
            let steps = |start| {
                let (prompt, answer) = lengths.of(sequence, start);
                sequence.n_steps(prompt, answer) as usize
            };
            (0..frames.n_frames).map(steps).sum()
        };
        models.map(n_requests).sum()
    }

    /// Takes the next request. The requests whose results it needs replace the content of `upstream`; their data can
    /// arrive later than its own.
    pub fn take(&mut self, upstream: &mut Vec<RequestId>) -> Option<Request> {
        self.steps.step();
        while self.numbered.is_empty() && self.made < self.settings.duration {
            self.make_part();
        }
        let (request, before) = *self.numbered.front()?;
        upstream.clear();
        upstream.extend(before);
        let model = self.scenario.model(request.model);
        let dependencies =
            &model.dependencies[..if request.begins { model.dependencies.len() } else { 0 }];
        for dependency in dependencies {
            let frame = self.upstream(request.model, model.start_of(request.frame), dependency);
            let needed = loop {
                match self.models[dependency.upstream.index()].needed(frame).request {
                    Some(request) => break request,
                    None => self.make_part(),
                }
            };
            upstream.push(needed);
        }
        self.numbered.pop_front().map(|(request, _)| request)
    }

    /// The upstream frame that `frame` of `model` needs.
    fn upstream(&self, model: ModelId, frame: u64, dependency: &Dependency) -> u64 {
        let rate = |id| self.scenario.model(id).rate;
        newest(frame, rate(model), rate(dependency.upstream))
    }

    /// Makes the frames of the next part, and numbers all requests that arrive before those of later parts.
    fn make_part(&mut self) {
        self.forget();
        let made = SimTime::ZERO + self.made;
        self.sensors.iter_mut().for_each(|sensor| sensor.forget(made));
        let gates = self.models.iter_mut().filter_map(|model| model.gate.as_mut());
        gates.for_each(|gate| gate.forget(made));
        self.made = self.made.saturating_add(self.part).min(self.settings.duration);
        // Upstream models first: no frame needs one with a later nominal start.
        for &id in self.scenario.topological() {
            self.make_frames(id);
        }
        self.open.sort_by_key(|it| (it.arrival, it.deadline, it.model, it.frame));
        let n_certain = match self.made == self.settings.duration {
            true => self.open.len(),
            false => {
                let next = SimTime::from_ns(self.made.ns().saturating_sub(self.lead.ns()));
                self.open.partition_point(|request| request.arrival < next)
            }
        };
        for request in self.open.drain(..n_certain) {
            let model = &mut self.models[request.model.index()];
            if model.is_needed {
                let id = RequestId::new(self.n_numbered);
                model.needed(request.frame.index() as u64).request = Some(id);
            }
            let before = match request.begins && request.ends {
                true => None,
                false => {
                    let start = self.scenario.model(request.model).start_of(request.frame);
                    let id = RequestId::new(self.n_numbered);
                    match request.ends {
                        true => model.last.remove(&start),
                        false => model.last.insert(start, id),
                    }
                }
            };
            self.n_numbered += 1;
            self.numbered.push_back((request, before));
        }
    }

    /// Makes the frames of a model whose nominal starts lie before the end of the part.
    fn make_frames(&mut self, id: ModelId) {
        let model = self.scenario.model(id);
        let (n_made, end) = (self.models[id.index()].n_made, model.rate.frames_before(self.made));
        for frame in n_made..end {
            let (arrival, mut absence) = arrival(model, &mut self.sensors, frame);
            if let Some(gate) = &mut self.models[id.index()].gate
                && !gate.is_on(model.rate.frame_start(frame))
            {
                absence = Some(Absence::Gated);
            }
            let mut is_triggered = true;
            for (index, dependency) in model.dependencies.iter().enumerate() {
                let needed = self.upstream(id, frame, dependency);
                let coin = &self.models[id.index()].coins[index];
                is_triggered &= coin.as_ref().is_none_or(|coin| {
                    let fixed = self.settings.fixed_trigger(id, frame as usize);
                    fixed.unwrap_or_else(|| coin.asks_for(frame))
                });
                let needed = self.models[dependency.upstream.index()].needed(needed);
                is_triggered &= needed.is_triggered;
                absence = absence.or(needed.absence);
            }
            is_triggered &= absence.is_none();
            let origin = origin(model, &self.sensors, frame);
            match &model.sequence {
                None => {
                    let at = FrameId::new(frame as usize);
                    let deadline = origin + self.settings.relative_deadline(model, at);
                    let counts = model.work.as_ref().zip(self.models[id.index()].counts.as_ref());
                    let variant = counts.map_or(0, |(work, counts)| counts.variant(work, frame));
                    let request = Request::new(id, at, arrival, deadline).with_variant(variant);
                    let phase = self.settings.phase;
                    self.open.push(Request { triggered: is_triggered, absence, phase, ..request });
                }
                Some(sequence) => {
                    let start = Request::new(id, FrameId::new(frame as usize), arrival, origin);
                    let phase = self.settings.phase;
                    self.make_steps(
                        sequence,
                        Request { triggered: is_triggered, absence, phase, ..start },
                    );
                }
            }
            let frames = &mut self.models[id.index()];
            if frames.is_needed {
                frames.needed.push_back(Needed { is_triggered, absence, request: None });
            }
        }
        self.models[id.index()].n_made = end;
    }

    /// Makes the requests of a start. `start` has the number of the start as its frame, and the time from which deadlines
    /// count as its deadline.
    fn make_steps(&mut self, sequence: &Sequence, start: Request) {
        let number = start.frame.index() as u64;
        let Some(lengths) = &self.models[start.model.index()].lengths else { return };
        let (prompt, answer) = lengths.of(sequence, number);
        let n_steps = sequence.n_steps(prompt, answer);
        for (at, step) in (1..).zip(sequence.steps(prompt, answer)) {
            let frame = FrameId::new((number * sequence.most_steps() + step.index) as usize);
            let (_, token) = sequence.place(frame);
            self.open.push(Request {
                frame,
                variant: step.variant,
                deadline: start.deadline + self.settings.due(sequence, token),
                begins: at == 1,
                ends: at == n_steps,
                ..start
            });
        }
    }

    /// Forgets frames that no later request needs.
    fn forget(&mut self) {
        // First frame of every model that is not taken.
        let mut first: Vec<u64> = self.models.iter().map(|model| model.n_made).collect();
        for request in self.open.iter().chain(self.numbered.iter().map(|(request, _)| request)) {
            let first = &mut first[request.model.index()];
            *first = (*first).min(self.scenario.model(request.model).start_of(request.frame));
        }
        for upstream in self.scenario.model_ids() {
            let needed = self.scenario.model_ids().flat_map(|id| {
                let dependencies = self.scenario.model(id).dependencies.iter();
                let of_upstream = dependencies.filter(move |it| it.upstream == upstream);
                let first = first[id.index()];
                of_upstream.map(move |it| (id, it, first))
            });
            let needed = needed.map(|(id, dependency, first)| self.upstream(id, first, dependency));
            if let Some(first) = needed.min() {
                // Frames that are not made come after those that are.
                let frames = &mut self.models[upstream.index()];
                frames.forget(first.min(frames.n_made));
            }
        }
    }
}

/// Number of requests of a run.
fn n_requests(scenario: &Scenario, duration: SimSpan) -> Result<u64, LoadError> {
    let (mut requests, mut dependencies) = (0u64, 0u64);
    for model in scenario.models() {
        let frames = model.frames_before(duration);
        let n_needs = model.dependencies.len() + usize::from(model.sequence.is_some());
        let needs = frames.saturating_mul(n_needs as u64);
        requests = requests.saturating_add(frames);
        dependencies = dependencies.saturating_add(needs);
    }
    if requests > RequestStream::MAX_REQUESTS {
        return Err(LoadError::TooManyRequests { requests });
    }
    if dependencies > RequestStream::MAX_DEPENDENCIES {
        return Err(LoadError::TooManyDependencies { dependencies });
    }
    Ok(requests)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::Arc;
    use xrsim_model::ids::StreamId;
    use xrsim_model::model::{ConvShape, Layer, Network};
    use xrsim_model::scenario::{
        ActiveModel, Dependency, DependencyKind, InputStream, Tokens, UnitModel,
    };
    use xrsim_model::units::FrameRate;

    use super::super::FrameMapping;

    fn rate(fps: f64) -> FrameRate {
        FrameRate::from_fps(fps).expect("it is a rate")
    }

    fn ms(ms: f64) -> SimSpan {
        SimSpan::from_ms(ms).expect("it is a span")
    }

    fn model(fps: f64, inputs: &[usize], upstream: &[(usize, DependencyKind)]) -> ActiveModel {
        let layer = Layer::new("layer", ConvShape::UNIT);
        let network = Network::new("network", vec![layer]).expect("one layer is a network");
        let mut model = ActiveModel::new(UnitModel::new("task", Arc::new(network)), rate(fps));
        model.inputs = inputs.iter().copied().map(StreamId::new).collect();
        let dependency = |&(upstream, kind)| Dependency { upstream: ModelId::new(upstream), kind };
        model.dependencies = upstream.iter().map(dependency).collect();
        model
    }

    /// The model with prompts of one or three chunks, and answers of up to 9 tokens.
    fn answering(mut model: ActiveModel) -> ActiveModel {
        let prompt = Tokens::Values([100, 300].into());
        let answer = Tokens::Geometric { mean: 4.0, most: 9 };
        model.sequence = Some(Sequence::new(prompt, answer, ms(50.0), ms(10.0)));
        model
    }

    /// A fast sensor that jitters by more than its period, and a slow one whose data comes late; models that depend on
    /// slower, faster and later ones, in both orders of the file.
    pub(in super::super) fn scenario() -> Scenario {
        let stream = |name: &str, fps, latency, jitter| InputStream {
            initial_latency: ms(latency),
            max_jitter: ms(jitter),
            ..InputStream::new(name, rate(fps))
        };
        let streams = vec![stream("fast", 90.0, 0.0, 25.0), stream("slow", 3.0, 700.0, 1.0)];
        let coin = DependencyKind::Control { probability: 0.6 };
        let models = vec![
            model(29.97, &[0], &[(3, coin), (2, DependencyKind::Data)]),
            model(90.0, &[0], &[(2, coin)]),
            model(3.0, &[1], &[]),
            model(90.0, &[0], &[]),
            model(7.0, &[], &[(1, DependencyKind::Data)]),
            answering(model(3.0, &[], &[(2, coin)])),
        ];
        Scenario::new("test", streams, models).expect("it is valid")
    }

    /// One part is the plain rule: every frame is made, all are sorted, and each gets its place as its number.
    #[test]
    fn parts_of_any_length_give_the_same_requests() {
        let scenario = scenario();
        for frame_mapping in [FrameMapping::Floor, FrameMapping::Ceil, FrameMapping::Nominal] {
            for random_phase in [false, true] {
                let duration = ms(4000.0);
                let settings =
                    LoadSettings { duration, frame_mapping, random_phase, ..Default::default() };
                let made = |part| {
                    let mut generator = Generator::new(&scenario, &settings).expect("it is small");
                    generator.part = part;
                    let (mut all, mut most_open) = (Vec::new(), 0);
                    let mut upstream = Vec::new();
                    while let Some(request) = generator.take(&mut upstream) {
                        all.push((request, upstream.clone()));
                        let needed = generator.models.iter().map(|it| it.needed.len());
                        let here = generator.open.len() + generator.numbered.len();
                        most_open = most_open.max(here + needed.sum::<usize>());
                    }
                    (all, most_open)
                };
                let (whole, _) = made(duration);
                let n_frames = 90 * 4 * 2 + 28 + 12 + 120;
                let n_starts = whole.iter().filter(|(it, _)| it.model.index() == 5 && it.begins);
                assert_eq!(n_starts.count(), 12);
                let n_steps = whole.iter().filter(|(it, _)| it.model.index() == 5).count();
                let generator = Generator::new(&scenario, &settings).expect("it is small");
                assert_eq!([whole.len(), generator.n_requests()], [n_frames + n_steps; 2]);
                for (request, upstream) in whole.iter().filter(|(it, _)| !it.begins) {
                    let (before, _) = &whole[upstream[0].index()];
                    assert_eq!((upstream.len(), before.model), (1, request.model));
                    assert_eq!(before.frame.index() + 1, request.frame.index());
                }
                for part in [0.3, 7.0, 400.0, 1500.0, 3999.0] {
                    let (all, most_open) = made(ms(part));
                    assert!(all == whole, "{frame_mapping:?} {random_phase} {part}");
                    // A second and a half of requests, and of frames that others need.
                    assert!(part > 400.0 || most_open < 700, "{most_open} for {part}");
                }
            }
        }
    }
}

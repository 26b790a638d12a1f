//! Properties that all runs of some requests share: frames, their largest scores, and the available
//! time.

use crate::load::{Request, RequestStream};
use crate::score::accuracy::accuracy;
use crate::score::realtime::realtime;
use crate::score::{NeverTriggered, ScoreSettings};
use xrsim_model::ids::{ModelId, RequestId};
use xrsim_model::scenario::{ActiveModel, Choice, Scenario};
use xrsim_model::units::{SimSpan, SimTime};

use super::work::Route;

/// `k` times the margin after a deadline. A frame that ends later scores at most 1/(1 + e^7.5) = 0.00055.
const MARGIN: f64 = 7.5;

/// A request that was asked for.
pub(super) struct Frame {
    pub(super) request: RequestId,
    pub(super) model: ModelId,
    /// Index of its first worth.
    first: usize,
    /// Score of the frame if it ends after its window or never, or an upper bound of it.
    pub(super) late: f64,
    /// Its window: all work of a frame that is not late is done in it.
    pub(super) start: SimTime,
    /// Before the start for a frame that nothing is granted to.
    pub(super) end: SimTime,
}

impl Frame {
    /// Whether anything can be done in its window.
    pub(super) fn is_open(&self) -> bool {
        self.start < self.end
    }
}

/// A run as the bounds see it. Scores are parts of the total one.
pub(super) struct Instance<'a> {
    pub(super) requests: &'a RequestStream,
    pub(super) n_accelerators: usize,
    /// Indexed by [`ModelId`].
    pub(super) routes: &'a [Vec<Route>],
    pub(super) frames: Vec<Frame>,
    /// Index of the frame of every request; `None` for those that were not asked for.
    pub(super) places: Vec<Option<u32>>,
    /// Largest score of each frame on each of its routes, frame by frame.
    worths: Vec<f64>,
    /// Indexed by [`ModelId`], see [`shares`].
    shares: Vec<Vec<f64>>,
    /// Time that each accelerator has for what is not late \[ms\].
    pub(super) horizon_ms: f64,
    /// The score of models without frames.
    pub(super) constant: f64,
}

impl<'a> Instance<'a> {
    pub(super) fn new(
        scenario: &Scenario,
        routes: &'a [Vec<Route>],
        n_accelerators: usize,
        requests: &'a RequestStream,
        settings: &ScoreSettings,
    ) -> Self {
        let weights = Weights::new(scenario, requests, settings);
        let starts = earliest_starts(scenario, requests, |model| shortest(&routes[model.index()]));
        let margin = SimSpan::from_ms(MARGIN / settings.k_per_ms);
        let mut instance = Self {
            requests,
            n_accelerators,
            routes,
            frames: Vec::with_capacity(requests.requests().len()),
            places: Vec::with_capacity(requests.requests().len()),
            worths: Vec::new(),
            horizon_ms: 0.0,
            constant: weights.constant,
            shares: scenario.models().iter().map(|it| shares(it, settings)).collect(),
        };
        let (mut first, mut last) = (SimTime::MAX, SimTime::ZERO);
        for (index, request) in requests.requests().iter().enumerate() {
            if !request.triggered || !weights.is_bounded(request.model) {
                instance.places.push(None);
                continue;
            }
            instance.places.push(Some(instance.frames.len() as u32));
            let weight = weights.of(request.model, request.frame.index());
            let in_time =
                |end: SimTime| weight * realtime(end, request.deadline, settings.k_per_ms);
            let late_after = request.deadline + margin.unwrap_or(SimSpan::MAX);
            first = first.min(request.arrival);
            if weight > 0.0 {
                last = last.max(late_after);
            }
            let end = if weight > 0.0 { late_after } else { SimTime::ZERO };
            let late = in_time(late_after + SimSpan::from_ns(1));
            let window = (starts[index], end);
            instance.push((RequestId::new(index), request), window, (weight, late), in_time);
        }
        instance.extend_ends(scenario);
        instance.horizon_ms = match margin {
            Some(_) => last.saturating_since(first).as_ms(),
            None => f64::INFINITY,
        };
        instance
    }

    /// Adds a frame whose work is done in a window, and which scores `in_time` of its end, `late` after the window and
    /// `most` at best.
    fn push(
        &mut self,
        (id, request): (RequestId, &Request),
        (start, end): (SimTime, SimTime),
        (most, late): (f64, f64),
        in_time: impl Fn(SimTime) -> f64,
    ) {
        let first = self.worths.len();
        let routes = &self.routes[request.model.index()];
        let shares = &self.shares[request.model.index()];
        let share = |it: &Route| match shares.get(it.variant as usize) {
            // Any of the networks can be chosen.
            Some(share) => *share,
            None => f64::from(u8::from(it.variant == request.variant)),
        };
        let worth = |it: &Route| {
            let share = share(it);
            it.worth(most * share, |time| in_time(start + time) * share)
        };
        self.worths.extend(routes.iter().map(worth));
        let own = routes.iter().filter(|it| share(it) > 0.0);
        let energy = own.map(Route::energy).fold(0.0, f64::max);
        let best = self.worths[first..].iter().copied().fold(0.0, f64::max);
        let late = (late * energy).min(best);
        self.frames.push(Frame { request: id, model: request.model, first, late, start, end });
    }

    /// Extends the window of a frame to the windows of those that need its result: if one of them is not late, it has
    /// ended before.
    fn extend_ends(&mut self, scenario: &Scenario) {
        let mut by_model = vec![Vec::new(); self.routes.len()];
        for (place, frame) in self.frames.iter().enumerate() {
            by_model[frame.model.index()].push(place);
        }
        for model in scenario.topological().iter().rev() {
            for &place in &by_model[model.index()] {
                let needed_by = self.requests.downstream(self.frames[place].request).iter();
                let ends = needed_by.filter_map(|id| self.places[id.index()]);
                let latest = ends.map(|it| self.frames[it as usize].end).max();
                let frame = &mut self.frames[place];
                frame.end = frame.end.max(latest.unwrap_or(SimTime::ZERO));
            }
        }
    }

    /// Largest score of a frame on each of its routes.
    pub(super) fn worths(&self, frame: &Frame) -> &[f64] {
        &self.worths[frame.first..frame.first + self.routes[frame.model.index()].len()]
    }

    /// Whether a route is one of a network that the frame can run.
    pub(super) fn can_take(&self, frame: &Frame, route: &Route) -> bool {
        let is_own = || self.requests.request(frame.request).variant == route.variant;
        !self.shares[frame.model.index()].is_empty() || is_own()
    }

    /// How many frames can add to the score.
    pub(super) fn n_frames(&self) -> usize {
        self.frames.len()
    }

    /// The frames that a frame needs, by their index.
    pub(super) fn upstream(&self, frame: &Frame) -> impl Iterator<Item = usize> {
        let needed = self.requests.upstream(frame.request).iter();
        needed.filter_map(|id| self.places[id.index()]).map(|it| it as usize)
    }

    pub(super) fn best(&self, frame: &Frame) -> f64 {
        self.worths(frame).iter().copied().fold(0.0, f64::max)
    }

    /// UB1: the sum of the largest scores of all frames.
    pub(super) fn isolation(&self) -> f64 {
        self.constant + self.frames.iter().map(|frame| self.best(frame)).sum::<f64>()
    }

    /// The late scores of all frames, and the fractional knapsack of what can be gained on them in
    /// the time of all accelerators.
    pub(super) fn pooled_capacity(&self) -> f64 {
        let late: f64 = self.frames.iter().map(|frame| frame.late).sum();
        let time_ms = self.horizon_ms * self.n_accelerators as f64;
        let item = |frame: &Frame| {
            let time = shortest(&self.routes[frame.model.index()]);
            (self.best(frame) - frame.late, time.as_ms())
        };
        self.constant + late + knapsack(self.frames.iter().map(item).collect(), time_ms)
    }
}

/// The most that fits into `capacity` of items (gain, size) that may be cut (Dantzig 1957).
fn knapsack(mut items: Vec<(f64, f64)>, capacity: f64) -> f64 {
    items.sort_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
    let mut left = capacity;
    let mut total = 0.0;
    for (gain, size) in items {
        if gain <= 0.0 {
            continue;
        }
        total += if size <= left { gain } else { gain * left / size };
        left = (left - size).max(0.0);
    }
    total
}

/// Contribution of one perfect frame of each model to the total score.
pub(super) struct Weights {
    /// Indexed by [`ModelId`]: first frame that counts, and the weight of it and all later ones.
    models: Vec<(u64, f64)>,
    /// Whether each model is a sequence; indexed by [`ModelId`].
    sequences: Box<[bool]>,
    /// The score of models without frames.
    pub(super) constant: f64,
}

impl Weights {
    pub(super) fn new(
        scenario: &Scenario,
        requests: &RequestStream,
        settings: &ScoreSettings,
    ) -> Self {
        let models = || scenario.models().iter();
        let firsts: Vec<_> = models().map(|model| model.frames_before(settings.warm_up)).collect();
        let mut released = vec![0u64; firsts.len()];
        for request in requests.requests() {
            let index = request.model.index();
            let counted = request.triggered && request.frame.index() as u64 >= firsts[index];
            let counted = counted && scenario.model(request.model).is_result(request.frame);
            released[index] += u64::from(counted);
        }
        let without = released.iter().filter(|&&n| n == 0).count();
        let (n_models, constant) = match settings.never_triggered {
            NeverTriggered::Excluded => (released.len() - without, 0.0),
            NeverTriggered::Zero => (released.len(), 0.0),
            NeverTriggered::One => (released.len(), without as f64 / released.len() as f64),
        };
        let weight = |(model, n): (ModelId, &u64)| {
            let quality = best_quality(scenario.model(model), settings);
            quality / (*n as f64 * n_models as f64)
        };
        let sequences = models().map(|model| model.sequence.is_some()).collect::<Box<[_]>>();
        let mut constant = constant;
        let weights = scenario.model_ids().zip(&released).map(|(model, n)| {
            match (sequences[model.index()], *n) {
                (false, _) => weight((model, n)),
                (true, 0) => 0.0,
                (true, _) => {
                    // All that its tokens can add to the score.
                    constant += weight((model, &1));
                    0.0
                }
            }
        });
        let models = firsts.into_iter().zip(weights).collect();
        Self { models, sequences, constant }
    }

    /// Whether requests of `model` are part of the bounds. Those of sequences are not: every token counts as perfect and
    /// takes no time, which only makes bounds larger, since no other model needs a token.
    pub(super) fn is_bounded(&self, model: ModelId) -> bool {
        !self.sequences[model.index()]
    }

    /// Whether a `frame` of `model` is after the warm-up.
    pub(super) fn counts(&self, model: ModelId, frame: usize) -> bool {
        frame as u64 >= self.models[model.index()].0
    }

    /// Score of a perfect `frame` of `model`; 0 in the warm-up.
    pub(super) fn of(&self, model: ModelId, frame: usize) -> f64 {
        let (first, weight) = self.models[model.index()];
        if frame as u64 >= first { weight } else { 0.0 }
    }
}

/// When each request could start if it and what it depends on had the system for themselves.
///
/// `shortest` is the shortest time of a model on any accelerator.
pub(super) fn earliest_starts(
    scenario: &Scenario,
    requests: &RequestStream,
    shortest: impl Fn(ModelId) -> SimSpan,
) -> Vec<SimTime> {
    let mut starts: Vec<_> = requests.requests().iter().map(|request| request.arrival).collect();
    for &model in scenario.topological() {
        let span = shortest(model);
        for (index, request) in requests.requests().iter().enumerate() {
            if request.model != model {
                continue;
            }
            let id = RequestId::new(index);
            let end = starts[index] + span;
            for &dependant in requests.downstream(id) {
                let start = &mut starts[dependant.index()];
                *start = (*start).max(end);
            }
        }
    }
    starts
}

/// Accuracy of every network that requests of a model can run over the largest of them; empty if the model has only one.
fn shares(model: &ActiveModel, settings: &ScoreSettings) -> Vec<f64> {
    let best = best_quality(model, settings);
    let of = |variant| model.quality(variant, |goal| accuracy(goal, settings));
    let share = |variant| if best > 0.0 { of(variant) / best } else { 1.0 };
    let n = model.choice.as_ref().map_or(0, Choice::len) as u32;
    (0..n).map(share).collect()
}

/// Largest accuracy of the networks that requests of a model can run.
fn best_quality(model: &ActiveModel, settings: &ScoreSettings) -> f64 {
    let of = |variant| model.quality(variant, |goal| accuracy(goal, settings));
    let n = model.choice.as_ref().map_or(1, Choice::len) as u32;
    (0..n).map(of).fold(0.0, f64::max)
}

/// Shortest time of a model with these routes.
pub(super) fn shortest(routes: &[Route]) -> SimSpan {
    routes.iter().map(Route::shortest).min().unwrap_or(SimSpan::ZERO)
}

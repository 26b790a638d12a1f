//! Work of a frame: time on accelerators along one of several routes.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::load::RequestStream;
use crate::score::ScoreSettings;
use crate::score::energy::energy;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, ModelId, WorkId};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{Millijoules, SimSpan};

use super::Class;

/// Most routes of a model that are listed one by one; of more, only what the steps have together is known.
const MAX_LISTED: usize = 64;

/// Number of pieces, about, into which the trade of energy for time is cut where routes are not listed.
const PIECES: f64 = 64.0;

/// Most steps of a listed route that count one by one.
const MAX_PIECES: usize = 6;

/// A route through a system: steps in order, each on one of several accelerators.
pub(super) struct Route {
    /// Variant of the model that it runs.
    pub(super) variant: u32,
    pub(super) steps: Steps,
    /// Time and EnScore of the ways to take it, from the least energy to the least time. No way is
    /// shorter and takes less energy at once than one of them.
    pub(super) outcomes: Vec<Outcome>,
    /// Work that is done piece by piece, where every step has its accelerator.
    pub(super) pieces: Vec<Piece>,
}

/// Time and energy of an assignment of steps to accelerators, or a corner below those of some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) time: SimSpan,
    /// EnScore.
    pub(super) energy: f64,
}

/// Work on one accelerator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) accelerator: usize,
    pub(super) time: SimSpan,
    /// Whether nothing interrupts it.
    pub(super) is_whole: bool,
}

/// Steps, each with its accelerators.
pub(super) struct Steps {
    steps: Vec<Vec<Visit>>,
    /// The same, where all steps have a choice between the same two accelerators.
    pair: Option<Pair>,
}

/// Steps with two accelerators each. Those that prefer the first one at some prices come before the others, in the order
/// of the ratio of their times.
struct Pair {
    accelerators: [usize; 2],
    ratios: Vec<f64>,
    /// Time on the first accelerator of the first steps, by their number \[ms\].
    first_ms: Vec<f64>,
    /// Time on the second accelerator of all but the first steps \[ms\].
    rest_ms: Vec<f64>,
}

/// A step on one accelerator.
#[derive(Debug, Clone, Copy)]
struct Visit {
    accelerator: usize,
    time_ms: f64,
}

/// Time and energy of a step on one accelerator.
#[derive(Debug, Clone, Copy)]
struct Offer {
    accelerator: AccelId,
    time: SimSpan,
    energy_mj: f64,
}

/// The routes of a frame of each model of `scenario`: those of all variants that frames of `requests` run. Sequences have
/// none ([`Weights::is_bounded`](super::instance::Weights::is_bounded)).
pub(super) fn routes(
    scenario: &Scenario,
    costs: &CostTable,
    settings: &ScoreSettings,
    class: Class,
    requests: &RequestStream,
) -> Vec<Vec<Route>> {
    let of_model = |model| match scenario.model(model).sequence {
        None => {
            let works = variants(scenario, model, requests).into_iter();
            let works = works.filter_map(|it| Some((it, costs.variant(model, it)?)));
            works.flat_map(|it| routes_of(it, costs, settings, class)).collect()
        }
        Some(_) => Vec::new(),
    };
    scenario.model_ids().map(of_model).collect()
}

/// Variants that frames of a model can run.
fn variants(scenario: &Scenario, model: ModelId, requests: &RequestStream) -> BTreeSet<u32> {
    let active = scenario.model(model);
    match &active.choice {
        Some(choice) => return (0..choice.len() as u32).collect(),
        None if active.variants.is_empty() => return BTreeSet::from([0]),
        None => {}
    }
    let own = requests.requests().iter().filter(|request| request.model == model);
    own.map(|request| request.variant).collect()
}

/// The routes of a variant, which is a row of the costs. One that stays where it starts has as many as there are
/// accelerators. One that may move has one for each assignment of its steps to accelerators, or a single one with a choice
/// in every step if these are too many.
fn routes_of(
    (variant, work): (u32, WorkId),
    costs: &CostTable,
    settings: &ScoreSettings,
    class: Class,
) -> Vec<Route> {
    let offers: Vec<_> = costs.offers(work).collect();
    let steps = steps_of(work, costs, &offers);
    let of = |layers: &Range<u32>, accelerator: AccelId| {
        let cost = costs.on(work, accelerator);
        let (time, energy) = (cost.time_of(layers.clone()), cost.energy_of(layers.clone()));
        Offer { accelerator, time, energy_mj: energy.get() }
    };
    let n_layers = costs.n_layers(work);
    let n_assignments = u32::try_from(steps.len()).ok().and_then(|n| offers.len().checked_pow(n));
    let is_listed = n_assignments.is_some_and(|n| n <= MAX_LISTED);
    if class == Class::Keeping || steps.len() == 1 || offers.len() == 1 {
        let stays = |&accelerator: &AccelId| {
            let whole = [of(&(0..n_layers), accelerator)];
            let parts: Vec<_> = steps.iter().map(|layers| of(layers, accelerator)).collect();
            Route { variant, ..Route::listed(&whole, &parts, n_layers, settings) }
        };
        return offers.iter().map(stays).collect();
    }
    let table: Vec<Vec<Offer>> =
        steps.iter().map(|layers| offers.iter().map(|&it| of(layers, it)).collect()).collect();
    if !is_listed {
        return vec![Route { variant, ..Route::relaxed(&table, n_layers, settings) }];
    }
    let mut assignments = vec![Vec::new()];
    for step in &table {
        let longer = |way: &Vec<Offer>| {
            let way = way.clone();
            step.iter().map(move |&offer| [&way[..], &[offer]].concat())
        };
        assignments = assignments.iter().flat_map(longer).collect();
    }
    let listed =
        |way: &Vec<Offer>| Route { variant, ..Route::listed(way, way, n_layers, settings) };
    assignments.iter().map(listed).collect()
}

/// Ranges of layers between which an inference may change its accelerator: it can be cut wherever a step ends on one of
/// these.
fn steps_of(work: WorkId, costs: &CostTable, offers: &[AccelId]) -> Vec<Range<u32>> {
    let n_layers = costs.n_layers(work);
    let mut steps = Vec::new();
    let mut start = 0;
    for end in 1..=n_layers {
        let ends_step = |&it: &AccelId| costs.on(work, it).step_end(end - 1) == end;
        if end == n_layers || offers.iter().any(ends_step) {
            steps.push(start..end);
            start = end;
        }
    }
    steps
}

impl Route {
    /// A route with these steps in order; `parts` are the same, as finely as they can be interrupted.
    fn listed(way: &[Offer], parts: &[Offer], n_layers: u32, settings: &ScoreSettings) -> Self {
        let visit = |it: &Offer| {
            vec![Visit { accelerator: it.accelerator.index(), time_ms: it.time.as_ms() }]
        };
        let piece = |it: &Offer, is_whole| Piece {
            accelerator: it.accelerator.index(),
            time: it.time,
            is_whole,
        };
        let pieces = match parts.len() <= MAX_PIECES {
            true => parts.iter().map(|it| piece(it, true)).collect(),
            false => way.iter().map(|it| piece(it, parts.len() == way.len())).collect(),
        };
        let time = way.iter().fold(SimSpan::ZERO, |sum, it| sum + it.time);
        let energy = score(way.iter().map(|it| it.energy_mj).sum(), settings);
        let energy = outward(energy, f64::from(n_layers + 4) * f64::EPSILON);
        let steps = Steps::new(way.iter().map(visit).collect());
        Self { variant: 0, steps, outcomes: vec![Outcome { time, energy }], pieces }
    }

    /// A route with a choice in every step.
    fn relaxed(table: &[Vec<Offer>], n_layers: u32, settings: &ScoreSettings) -> Self {
        let visit =
            |it: &Offer| Visit { accelerator: it.accelerator.index(), time_ms: it.time.as_ms() };
        let steps = Steps::new(table.iter().map(|step| step.iter().map(visit).collect()).collect());
        let rounding = f64::from(4 * n_layers + 4 * PIECES as u32) * f64::EPSILON;
        let outcome = |(time, energy_mj): (u64, f64)| Outcome {
            time: SimSpan::from_ns(time),
            energy: outward(score(energy_mj, settings), rounding),
        };
        let outcomes = envelope(table).into_iter().map(outcome).collect();
        Self { variant: 0, steps, outcomes, pieces: Vec::new() }
    }

    /// The least time that it takes.
    pub(super) fn shortest(&self) -> SimSpan {
        self.outcomes.last().map_or(SimSpan::MAX, |it| it.time)
    }

    /// The largest EnScore.
    pub(super) fn energy(&self) -> f64 {
        self.outcomes.first().map_or(0.0, |it| it.energy)
    }

    /// The largest product of EnScore and `in_time` of the time it takes, which is at most `most` and does not rise.
    pub(super) fn worth(&self, most: f64, in_time: impl Fn(SimSpan) -> f64) -> f64 {
        let mut best = 0.0f64;
        for outcome in &self.outcomes {
            if best >= most * outcome.energy {
                break;
            }
            best = best.max(in_time(outcome.time) * outcome.energy);
        }
        best
    }
}

/// Corners (time in ns, energy in mJ) below all assignments of steps, from the least energy to the least time.
///
/// The lower convex envelope of the sums of all assignments is made of the envelopes of the steps, their
/// edges in the order of energy for time (a Minkowski sum). It is cut into pieces, each of which stands for what is at its
/// faster end and has the energy of its slower one.
fn envelope(table: &[Vec<Offer>]) -> Vec<(u64, f64)> {
    let (mut time, mut energy) = (0u64, 0.0);
    let mut edges: Vec<(f64, u64)> = Vec::new();
    for step in table {
        let mut offers: Vec<_> = step.iter().map(|it| (it.energy_mj, it.time.ns())).collect();
        offers.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut at = offers[0];
        (time, energy) = (time.saturating_add(at.1), energy + at.0);
        loop {
            let price = |it: &(f64, u64)| (it.0 - at.0) / (at.1 - it.1) as f64;
            let faster = offers.iter().copied().filter(|it| it.1 < at.1);
            // Of equal prices the longest edge.
            let next = faster.min_by(|a, b| price(a).total_cmp(&price(b)).then(a.1.cmp(&b.1)));
            let Some(next) = next else { break };
            edges.push(((next.0 - at.0).max(0.0), at.1 - next.1));
            at = next;
        }
    }
    edges.sort_by(|a, b| (a.0 / a.1 as f64).total_cmp(&(b.0 / b.1 as f64)));
    let saved: u64 = edges.iter().map(|it| it.1).sum();
    let spent: f64 = edges.iter().map(|it| it.0).sum();
    let mut corners = vec![(time, energy)];
    for (joules, span) in edges {
        let share = (span as f64 / saved as f64).max(joules / spent.max(f64::MIN_POSITIVE));
        let n = (PIECES * share).ceil().max(1.0) as u64;
        for piece in 1..=n {
            let done = (u128::from(span) * u128::from(piece)).div_ceil(u128::from(n)) as u64;
            let before = (u128::from(span) * u128::from(piece - 1) / u128::from(n)) as f64;
            corners.push((time - done, energy + joules * before / span as f64));
        }
        time -= span;
        energy += joules;
    }
    corners
}

impl Steps {
    fn new(steps: Vec<Vec<Visit>>) -> Self {
        Self { pair: Pair::of(&steps), steps }
    }

    /// A single step on the accelerator 0.
    pub(super) fn single(time: SimSpan) -> Self {
        Self::new(vec![vec![Visit { accelerator: 0, time_ms: time.as_ms() }]])
    }

    /// Whether no step has a choice.
    pub(super) fn is_fixed(&self) -> bool {
        self.steps.iter().all(|step| step.len() == 1)
    }

    /// The least that one frame pays for its time at `prices` \[1/ms\]. Adds the time on every accelerator \[ms\], each step
    /// on the one that is cheapest.
    pub(super) fn charge(&self, prices: &[f64], times_ms: &mut [f64]) -> f64 {
        if let Some(pair) = &self.pair {
            return pair.charge(prices, times_ms);
        }
        let mut toll = 0.0;
        for step in &self.steps {
            let visit = cheapest(step, |accelerator| prices[accelerator]);
            times_ms[visit.accelerator] += visit.time_ms;
            toll += prices[visit.accelerator] * visit.time_ms;
        }
        toll
    }

    /// The least that one frame pays.
    pub(super) fn toll(&self, prices: &[f64]) -> f64 {
        self.charge(prices, &mut vec![0.0; prices.len()])
    }

    /// Time on every accelerator \[ms\] if each step takes the accelerator that is cheapest at `prices`.
    pub(super) fn times_ms(&self, prices: &[f64]) -> Vec<f64> {
        let mut times_ms = vec![0.0; prices.len()];
        self.charge(prices, &mut times_ms);
        times_ms
    }
}

impl Pair {
    fn of(steps: &[Vec<Visit>]) -> Option<Self> {
        let accelerators = match steps.first().map(Vec::as_slice) {
            Some([a, b]) if steps.len() > 2 => [a.accelerator, b.accelerator],
            _ => return None,
        };
        let times = |step: &Vec<Visit>| match step[..] {
            [a, b] if [a.accelerator, b.accelerator] == accelerators => {
                Some([a.time_ms, b.time_ms])
            }
            _ => None,
        };
        let times: Option<Vec<[f64; 2]>> = steps.iter().map(times).collect();
        let mut times = times?;
        times.retain(|it| *it != [0.0; 2]);
        times.sort_by(|a, b| (a[0] / a[1]).total_cmp(&(b[0] / b[1])));
        let (mut first_ms, mut rest_ms) = (vec![0.0], vec![0.0]);
        for at in 0..times.len() {
            first_ms.push(first_ms[at] + times[at][0]);
            rest_ms.push(rest_ms[at] + times[times.len() - 1 - at][1]);
        }
        rest_ms.reverse();
        let ratios = times.iter().map(|it| it[0] / it[1]).collect();
        Some(Self { accelerators, ratios, first_ms, rest_ms })
    }

    fn charge(&self, prices: &[f64], times_ms: &mut [f64]) -> f64 {
        let [a, b] = self.accelerators;
        let ratio = if prices[a] > 0.0 { prices[b] / prices[a] } else { f64::INFINITY };
        let n_first = self.ratios.partition_point(|it| *it <= ratio);
        times_ms[a] += self.first_ms[n_first];
        times_ms[b] += self.rest_ms[n_first];
        prices[a] * self.first_ms[n_first] + prices[b] * self.rest_ms[n_first]
    }
}

fn score(energy_mj: f64, settings: &ScoreSettings) -> f64 {
    energy(Millijoules::new(energy_mj), settings.energy_max)
}

/// An EnScore as large as `rounding` can have made that of another sum over the same layers. It is one
/// less a share, so that what is lost does not shrink with it.
fn outward(energy: f64, rounding: f64) -> f64 {
    if energy > 0.0 { energy + rounding } else { energy }
}

/// The visit that costs least at a price for each accelerator; the first of equals.
fn cheapest(step: &[Visit], price: impl Fn(usize) -> f64) -> Visit {
    let cost = |visit: &Visit| price(visit.accelerator) * visit.time_ms;
    let best = step.iter().copied().min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.expect("every step can be made somewhere")
}

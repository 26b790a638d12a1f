//! The search for a mapping: seeds, construction, improvement and exact search, within an effort.

use crate::cost::loop_nest::{Evaluation, Machine, Mapping, Nest};

use super::bound;
use super::candidate::Candidate;
use super::capacity::{self, Bound};
use super::construct::construct;
use super::exact::{Counts, Exact, Incumbent, Rules, compare};
use super::improve::{Improve, Judge, Place};
use super::objective::{Objective, Value};
use super::outer::{Tile, tiles as tiles_of};
use super::problem::{Limits, Problem, Score};
use super::skeletons::{OwnSkeleton, Unspread, skeletons};
use super::space::Mapspace;

/// Work that a search may do for one layer. A search makes passes, each with eight times the work of the one
/// before it, so that more effort is never worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Effort {
    /// Evaluations of the first pass for a short layer.
    pub evaluations: u64,
    /// Choices that exact search may visit; 0 leaves it out.
    pub exact: u64,
    /// Number of pairs of form, clusters and spatial axes from which the first pass constructs mappings.
    pub starts: usize,
    /// Number of passes.
    pub passes: u32,
    /// Cycles of the lower bound of a long layer for each evaluation of the first pass; 0 if the length of a
    /// layer does not matter. What takes most time is searched longest.
    pub cycles_per_evaluation: u64,
}

impl Effort {
    /// An effort of one pass with these numbers of evaluations, of choices of exact search, and of starts, for
    /// layers of any length.
    pub const fn new(evaluations: u64, exact: u64, starts: usize) -> Self {
        Self { evaluations, exact, starts, passes: 1, cycles_per_evaluation: 0 }
    }

    /// Name; `own` if it is none of [`Effort::ALL`].
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("own", |(name, _)| name)
    }

    /// The effort with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, effort)| effort)
    }

    /// Evaluations of the last pass for a layer that takes at least these cycles.
    pub(super) fn last_evaluations(self, cycles: u64) -> u64 {
        self.evaluations_of(self.passes.saturating_sub(1), cycles)
    }

    /// Evaluations of a pass for a layer that takes at least these cycles.
    fn evaluations_of(self, pass: u32, cycles: u64) -> u64 {
        let own = self.evaluations.saturating_mul(GROWTH.pow(pass));
        let of_length = cycles.checked_div(self.cycles_per_evaluation).unwrap_or(0);
        of_length.saturating_mul(GROWTH.pow(pass)).clamp(own, own.saturating_mul(MOST_TIMES))
    }

    const fn of_passes(passes: u32, exact: u64) -> Self {
        Self { evaluations: 20, exact, starts: 6, passes, cycles_per_evaluation: 2000 }
    }

    /// Only the first pass.
    pub const QUICK: Self = Self::of_passes(1, 0);
    /// Effort of runs, sweeps and searches over systems.
    pub const DEFAULT: Self = Self::of_passes(DEFAULT_PASSES, 0);
    /// One more pass, and proofs of small mapspaces by enumeration.
    pub const FULL: Self = Self::of_passes(DEFAULT_PASSES + 1, 40_000);

    /// Efforts by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("quick", Self::QUICK), ("default", Self::DEFAULT), ("full", Self::FULL)];
}

/// Passes of the default effort.
const DEFAULT_PASSES: u32 = 2;

/// Work of a pass for that of the one before it.
const GROWTH: u64 = 8;

impl Default for Effort {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Most evaluations of a long layer, for one of a short layer.
const MOST_TIMES: u64 = 40;

/// Certainty about the best mapping that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It attains the lower bound.
    OptimalByBound,
    /// Exact search decided every mapping of the mapspace.
    OptimalByEnumeration,
    /// Nothing is proven beyond the distance to the lower bound.
    Gap,
    /// No mapping of the mapspace runs; this one exceeds capacities least.
    NoLegalMapping,
}

/// Result of a search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Found {
    /// The best mapping.
    pub mapping: Mapping,
    /// Its evaluation by the cost model.
    pub evaluation: Evaluation,
    /// Latency and energy that no mapping of the mapspace is below.
    pub bound: Value,
    /// Product of latency and energy that no mapping of the mapspace is below; at least that of `bound`.
    pub bound_edp: f64,
    /// Certainty about the mapping.
    pub status: Status,
    /// Numbers of decided mappings.
    pub counts: Counts,
}

impl Found {
    /// Latency and energy of the best mapping.
    pub fn value(&self) -> Value {
        Value { cycles: self.evaluation.cycles, energy_pj: self.evaluation.energy.total() }
    }
}

/// A search for the best mapping of one form of a layer.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    problem: Problem<'a>,
    settings: Settings,
    seeds: Vec<Candidate>,
}

/// Settings of a search that do not depend on the layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub effort: Effort,
    /// Rules of exact search.
    pub rules: Rules,
    /// Distance to the bound at which the search ends, as a fraction of the bound.
    pub gap: f64,
}

impl<'a> Search<'a> {
    /// A search of the mappings of `nest` on `machine` within `limits` and `space`.
    pub fn new(
        nest: &'a Nest,
        machine: &'a Machine,
        limits: &'a Limits,
        space: &'a Mapspace,
    ) -> Self {
        let problem = Problem { nest, machine, limits, space, objective: Objective::default() };
        let settings = Settings { effort: Effort::default(), rules: Rules::ALL, gap: 0.0 };
        Self { problem, settings, seeds: Vec::new() }
    }

    /// The same search for another objective.
    #[must_use]
    pub fn objective(mut self, objective: Objective) -> Self {
        self.problem.objective = objective;
        self
    }

    /// The same search with another effort.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.settings.effort = effort;
        self
    }

    /// The same search with these rules of exact search.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.settings.rules = rules;
        self
    }

    /// The same search, which ends when the distance to the bound is at most this fraction of the bound.
    #[must_use]
    pub fn gap(mut self, gap: f64) -> Self {
        self.settings.gap = gap;
        self
    }

    /// The same search, which evaluates `mapping` first, whether or not the mapspace has it. The result is
    /// never worse.
    #[must_use]
    pub fn seed(mut self, mapping: &Mapping) -> Self {
        self.seeds.push(Candidate::from_mapping(mapping, self.problem.nest));
        self
    }

    /// Searches. `None` if no mapping can be counted.
    pub fn run(&self) -> Option<Found> {
        let seeds: Vec<_> = self.seeds.iter().map(|seed| (0, seed.clone())).collect();
        search(std::slice::from_ref(&self.problem), self.settings, &seeds).map(|(_, found)| found)
    }
}

/// A skeleton of a form from which mappings are constructed.
#[derive(Clone, Copy)]
struct Start {
    form: usize,
    skeleton: OwnSkeleton,
}

/// A climb of a form.
struct Climb {
    form: usize,
    place: Place,
}

/// The search for the best mapping of any of the forms of a layer: `forms` have one machine and one objective.
/// `seeds` are mappings of forms that are evaluated first. Returns the form and what was found; `None` if no
/// mapping can be counted.
pub(super) fn search(
    forms: &[Problem],
    settings: Settings,
    seeds: &[(usize, Candidate)],
) -> Option<(usize, Found)> {
    let mut starts = Vec::new();
    for (form, problem) in forms.iter().enumerate() {
        let skeletons = skeletons(problem, Unspread::WhereNecessary);
        starts.extend(skeletons.into_iter().map(|skeleton| Start { form, skeleton }));
    }
    starts.sort_by_key(|start| start.skeleton.compute);
    let floor = forms.first()?.machine_bound();
    let compute = starts.first().map_or(0, |start| start.skeleton.compute);
    let bound = Value { cycles: floor.cycles.max(compute), ..floor };
    let mut work = Work::new(forms, settings, bound);
    let climbs = seeds.iter().filter_map(|(form, seed)| work.seed(*form, seed)).collect();
    work.run(&starts, climbs);
    work.result(&starts, floor)
}

/// A search in progress.
struct Work<'a> {
    forms: &'a [Problem<'a>],
    settings: Settings,
    bound: Value,
    /// Value of the objective at which the search ends.
    target: f64,
    climbs_of: Vec<Improve<'a>>,
}

impl<'a> Work<'a> {
    fn new(forms: &'a [Problem<'a>], settings: Settings, bound: Value) -> Self {
        let objective = forms[0].objective;
        let climbs_of = forms.iter().map(|form| Improve::new(form, stream(form))).collect();
        let target = objective.of(&bound) * (1.0 + settings.gap);
        Self { forms, settings, bound, target, climbs_of }
    }

    fn evaluated(&self) -> u64 {
        self.climbs_of.iter().map(|it| it.evaluated).sum()
    }

    /// The form with the best mapping so far.
    fn best(&self) -> Option<usize> {
        let known = (0..self.forms.len()).filter(|&it| self.climbs_of[it].incumbent.best.is_some());
        known.min_by(|&a, &b| {
            let score = |it: usize| self.climbs_of[it].incumbent.best.as_ref().map(|it| it.0);
            match (score(a), score(b)) {
                (Some(a), Some(b)) => compare(&self.forms[0], &a, &b),
                _ => std::cmp::Ordering::Equal,
            }
        })
    }

    fn is_done(&self) -> bool {
        let best = self.best().map(|form| &self.climbs_of[form]);
        best.is_some_and(|it| it.incumbent.attains(&self.forms[0], self.target))
    }

    /// Evaluates a seed. A seed may be no mapping of the mapspace; what comes from it would be none either.
    fn seed(&mut self, form: usize, seed: &Candidate) -> Option<Climb> {
        let of_form = &mut self.climbs_of[form];
        if !self.forms[form].contains(seed) {
            of_form.seed(seed);
            return None;
        }
        Some(Climb { form, place: of_form.place(seed.clone(), Judge::Model)? })
    }

    /// Climbs from seeds and `starts` in passes of more and more work.
    fn run(&mut self, starts: &[Start], mut climbs: Vec<Climb>) {
        for pass in 0..self.settings.effort.passes {
            self.pass(pass, starts, &mut climbs);
        }
    }

    /// Climbs from mappings that are constructed from nothing, and then from tiles of the outermost levels: many
    /// a little, the better ones longer.
    fn pass(&mut self, pass: u32, starts: &[Start], climbs: &mut Vec<Climb>) {
        let effort = self.settings.effort;
        let budget = effort.evaluations_of(pass, self.bound.cycles) / 2;
        let most = effort.starts << pass;
        let starts = &starts[..starts.len().min(most)];
        for start in starts {
            if self.is_done() {
                return;
            }
            self.start(start, None, climbs);
        }
        self.rounds(climbs, most, budget);
        if self.is_done() {
            return;
        }
        let above = self.moves_too_much();
        let mut tiles = Vec::new();
        for start in starts.iter().take(1 + most / 4) {
            if self.is_done() {
                return;
            }
            let form = &self.forms[start.form];
            let found = tiles_of(form, &start.skeleton, &self.bound, above, most);
            tiles.extend(found.into_iter().map(|tile| (*start, tile)));
        }
        let objective = self.forms[0].objective;
        let key = |tile: &Tile| (objective.of(&tile.value), tile.value.energy_pj);
        tiles.sort_by(|(_, a), (_, b)| {
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        climbs.truncate(1);
        for (start, tile) in tiles.iter().take(2 * most) {
            self.start(start, Some(tile), climbs);
        }
        self.rounds(climbs, most, budget);
        climbs.truncate(1);
    }

    /// Climbs by the estimate, and then by the cost model with at most `budget` evaluations, from the best places
    /// of both.
    fn rounds(&mut self, climbs: &mut Vec<Climb>, most: usize, budget: u64) {
        if self.is_done() {
            return;
        }
        let estimated = |climb: &Climb, work: &mut Self| {
            let place = work.climbs_of[climb.form].place(climb.place.at.clone(), Judge::Estimate);
            Some(Climb { form: climb.form, place: place? })
        };
        let mut high: Vec<_> = climbs.iter().filter_map(|it| estimated(it, self)).collect();
        self.rounds_by(&mut high, most, budget * ESTIMATES, Judge::Estimate);
        for climb in high.iter_mut().take(POLISHED) {
            self.climbs_of[climb.form].polish(&mut climb.place, 2 * budget * ESTIMATES);
        }
        for climb in high.into_iter().take(1 + most / 2) {
            let place = self.climbs_of[climb.form].place(climb.place.at, Judge::Model);
            climbs.extend(place.map(|place| Climb { form: climb.form, place }));
        }
        self.rounds_by(climbs, most, budget, Judge::Model);
    }

    /// Rounds of climbs, each with a fourth of the places of the one before it. The places stay, the lowest first.
    fn rounds_by(&mut self, climbs: &mut [Climb], most: usize, budget: u64, judge: Judge) {
        let lowest_first = |a: &Climb, b: &Climb| a.place.height.compare(&b.place.height);
        for (round, heat) in HEATS.into_iter().enumerate() {
            climbs.sort_by(lowest_first);
            let places = (most.max(1) >> (2 * round)).clamp(1, climbs.len().max(1));
            let share = budget / HEATS.len() as u64 / places as u64;
            for climb in climbs.iter_mut().take(places) {
                if self.is_done() {
                    return;
                }
                self.climbs_of[climb.form].climb(&mut climb.place, heat, share, self.target, judge);
            }
        }
        climbs.sort_by(lowest_first);
    }

    /// Constructs a mapping of a skeleton, with the outermost levels if they are known.
    fn start(&mut self, start: &Start, outer: Option<&Tile>, climbs: &mut Vec<Climb>) {
        let Start { form, skeleton } = *start;
        let first = construct(&self.forms[form], skeleton.units(), skeleton.axes(), outer);
        let place = self.climbs_of[form].place(first, Judge::Model);
        climbs.extend(place.map(|place| Climb { form, place }));
    }

    /// Whether the best mapping moves more bytes between DRAM and the shared memory than it must, and they count.
    fn moves_too_much(&self) -> bool {
        let best = self.best().and_then(|form| self.climbs_of[form].incumbent.best.as_ref());
        let problem = &self.forms[0];
        let counts = |score: &Score| score.by_memory || problem.objective != Objective::Cycles;
        let least = bound::least_dram_bytes(problem.nest, problem.machine);
        best.is_none_or(|(score, _)| {
            score.excess > 0 || counts(score) && score.dram_bytes > least + least / 100
        })
    }

    /// What was found, after exact search if the effort has one.
    fn result(mut self, starts: &[Start], floor: Value) -> Option<(usize, Found)> {
        let Settings { effort, rules, .. } = self.settings;
        let mut counts = Counts { evaluated: self.evaluated(), ..Counts::default() };
        let mut enumerated = effort.exact > 0;
        if effort.exact > 0 && !self.is_done() {
            let mut incumbent = Incumbent::default();
            let best = self.best()?;
            std::mem::swap(&mut incumbent, &mut self.climbs_of[best].incumbent);
            let (score, _) = incumbent.best.as_ref()?;
            let mut least = *score;
            self.climbs_of[best].incumbent = incumbent;
            for (form, problem) in self.forms.iter().enumerate() {
                let of_form = |start: &&Start| start.form == form;
                let compute = starts.iter().find(of_form).map(|start| start.skeleton.compute);
                let Some(compute) = compute else { continue };
                let bound = Value { cycles: floor.cycles.max(compute), ..floor };
                if least.excess == 0 && !problem.objective.may_improve(&bound, &least.value) {
                    continue;
                }
                let own = std::mem::take(&mut self.climbs_of[form].incumbent);
                let exact = Exact::new(problem, rules, own, effort.exact);
                let mut exact = exact.until(self.target);
                enumerated &= exact.run().is_ok();
                counts.add(&exact.counts);
                if let Some((score, _)) = &exact.incumbent.best
                    && compare(problem, score, &least).is_lt()
                {
                    least = *score;
                }
                self.climbs_of[form].incumbent = exact.incumbent;
                if self.is_done() {
                    break;
                }
            }
        }
        let form = self.best()?;
        let problem = &self.forms[form];
        let (score, best) = self.climbs_of[form].incumbent.best.clone()?;
        // A seed that is no mapping of the mapspace may be faster than all of those.
        let least = if score.excess == 0 { score.value.cycles } else { u64::MAX };
        let bound = Value { cycles: floor.cycles.max(self.bound.cycles.min(least)), ..self.bound };
        let Bound { value: bound, edp: bound_edp } = match score.excess {
            0 => capacity::bounds(self.forms, bound, &score.value, effort.exact > 0),
            _ => Bound::of(bound),
        };
        let mapping = best.mapping(problem.nest, problem.machine)?;
        let evaluation = problem.evaluate(&mapping)?;
        let attains = problem.objective.allows(&score.value)
            && problem.objective.of(&score.value)
                <= Bound { value: bound, edp: bound_edp }.of_objective(problem.objective);
        let status = match () {
            () if score.excess > 0 => Status::NoLegalMapping,
            () if attains => Status::OptimalByBound,
            () if enumerated => Status::OptimalByEnumeration,
            () => Status::Gap,
        };
        Some((form, Found { mapping, evaluation, bound, bound_edp, status, counts }))
    }
}

/// Heights by the estimate for one by the cost model.
const ESTIMATES: u64 = 8;

/// Number of climbs by the estimate that are polished.
const POLISHED: usize = 2;

/// Limits of a search.
pub(super) const LIMITS: [u64; 4] = [GROWTH, MOST_TIMES, ESTIMATES, POLISHED as u64];

/// Heats of the rounds of climbs of a pass.
const HEATS: [f64; 3] = [0.02, 0.1, 0.1];

/// Seed of the random numbers: a digest of the extents, so that equal layers have equal results.
fn stream(problem: &Problem) -> u64 {
    problem.nest.extents().iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &extent| {
        (hash ^ u64::from(extent)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

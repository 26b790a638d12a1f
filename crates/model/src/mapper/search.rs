//! The search for a mapping: seeds, construction, improvement and exact search, within an effort.

use crate::cost::loop_nest::{Evaluation, Machine, Mapping, Nest};

use super::candidate::Candidate;
use super::construct::construct;
use super::exact::{Counts, Exact, Rules};
use super::improve::Improve;
use super::objective::{Objective, Value};
use super::problem::{Limits, Problem};
use super::skeletons::{Unspread, skeletons};
use super::space::Mapspace;

/// Work that a search may do for one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Effort {
    /// Evaluations that improve constructed mappings.
    pub evaluations: u64,
    /// Choices that exact search may visit; 0 leaves it out.
    pub exact: u64,
    /// Number of pairs of clusters and spatial axes from which mappings are constructed.
    pub starts: usize,
}

impl Effort {
    /// An effort of these numbers of evaluations, of choices of exact search, and of starts.
    pub const fn new(evaluations: u64, exact: u64, starts: usize) -> Self {
        Self { evaluations, exact, starts }
    }

    /// Whether exact search or annealing take part.
    pub(super) const fn is_full(self) -> bool {
        self.exact > 0
    }

    /// Effort of runs, sweeps and searches over systems.
    pub const QUICK: Self = Self { evaluations: 300, exact: 0, starts: 3 };
    /// Effort of `xrsim map`.
    pub const FULL: Self = Self { evaluations: 6_000, exact: 40_000, starts: 8 };

    /// Efforts by name.
    pub const ALL: [(&'static str, Self); 2] = [("quick", Self::QUICK), ("full", Self::FULL)];
}

impl Default for Effort {
    fn default() -> Self {
        Self::QUICK
    }
}

/// Evaluations of an effort from which on single loops above the shared memory are tried one by one.
const LEAST_FOR_SPLITS: u64 = 100;

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
    /// Certainty about the mapping.
    pub status: Status,
    /// Numbers of decided mappings.
    pub counts: Counts,
}

impl Found {
    /// Order of results, the better one first.
    pub(super) fn order(&self, other: &Self, objective: Objective) -> std::cmp::Ordering {
        let fails = |found: &Self| found.status == Status::NoLegalMapping;
        fails(self)
            .cmp(&fails(other))
            .then_with(|| objective.compare(&self.value(), &other.value()))
    }

    /// Latency and energy of the best mapping.
    pub fn value(&self) -> Value {
        Value { cycles: self.evaluation.cycles, energy_pj: self.evaluation.energy.total() }
    }
}

/// A search for the best mapping of one layer.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    problem: Problem<'a>,
    rules: Rules,
    effort: Effort,
    gap: f64,
    seeds: Vec<Candidate>,
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
        Self { problem, rules: Rules::ALL, effort: Effort::QUICK, gap: 0.0, seeds: Vec::new() }
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
        self.effort = effort;
        self
    }

    /// The same search with these rules of exact search.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The same search, which ends when the distance to the bound is at most this fraction of the bound.
    #[must_use]
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = gap;
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
        let problem = &self.problem;
        let mut starts = skeletons(problem, Unspread::WhereNecessary);
        starts.sort_by_key(|start| start.compute);
        let floor = problem.machine_bound();
        let compute = starts.iter().map(|start| start.compute).min().unwrap_or(0);
        let bound = Value { cycles: floor.cycles.max(compute), ..floor };
        let target = problem.objective.of(&bound) * (1.0 + self.gap);
        let mut improve = Improve::new(problem, target, self.stream());
        for seed in &self.seeds {
            improve.seed(seed);
        }
        let starts = &starts[..starts.len().min(self.effort.starts)];
        let share = self.effort.evaluations / (2 * starts.len().max(1)) as u64;
        for start in starts {
            if improve.is_done() {
                break;
            }
            improve.anneal(&construct(problem, &start.units, &start.axes), 0.0, share);
        }
        if let Some((score, best)) = improve.incumbent.best.clone()
            && score.by_memory
            && !improve.is_done()
            && self.effort.evaluations >= LEAST_FOR_SPLITS
        {
            improve.split_above(&best);
        }
        let left = self.effort.evaluations.saturating_sub(improve.evaluated);
        // A seed may be no mapping of the mapspace; what comes from it would be none either.
        let best = improve.incumbent.best.clone().filter(|(_, best)| problem.contains(best));
        if let Some((_, best)) = best.filter(|_| !improve.is_done()) {
            let heat = if self.effort.exact > 0 { 0.1 } else { 0.0 };
            improve.anneal(&best, heat, left);
        }
        let (mut counts, done) = (Counts::default(), improve.is_done());
        let evaluated = improve.evaluated;
        let mut incumbent = improve.incumbent;
        let mut enumerated = false;
        if !done && self.effort.exact > 0 {
            let exact = Exact::new(problem, self.rules, incumbent, self.effort.exact);
            let mut exact = exact.until(target);
            enumerated = exact.run().is_ok();
            (incumbent, counts) = (exact.incumbent, exact.counts);
        }
        counts.evaluated += evaluated;
        let (score, best) = incumbent.best?;
        // A seed that is no mapping of the mapspace may be faster than all of those.
        let least = if score.excess == 0 { score.value.cycles } else { u64::MAX };
        let bound = Value { cycles: floor.cycles.max(bound.cycles.min(least)), ..bound };
        let mapping = best.mapping(problem.nest, problem.machine)?;
        let evaluation = problem.evaluate(&mapping)?;
        let attains = problem.objective.allows(&score.value)
            && problem.objective.of(&score.value) <= problem.objective.of(&bound);
        let status = match () {
            () if score.excess > 0 => Status::NoLegalMapping,
            () if attains => Status::OptimalByBound,
            () if enumerated => Status::OptimalByEnumeration,
            () => Status::Gap,
        };
        Some(Found { mapping, evaluation, bound, status, counts })
    }

    /// Seed of the random numbers: a digest of the extents, so that equal layers have equal results.
    fn stream(&self) -> u64 {
        let extents = self.problem.nest.extents();
        extents.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &extent| {
            (hash ^ u64::from(extent)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        })
    }
}

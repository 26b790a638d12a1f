//! Improvement of mappings by single changes, with annealing (docs/explanation/mapper.md, section 5).

use std::collections::HashMap;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cancel::Steps;
use crate::cost::loop_nest::Axis;

use super::candidate::{Candidate, N_AXES};
use super::exact::Incumbent;
use super::objective::{Objective, Value};
use super::problem::{Problem, Score};

/// Improves mappings within a number of evaluations.
pub(super) struct Improve<'a> {
    problem: &'a Problem<'a>,
    random: ChaCha8Rng,
    sizes: HashMap<u32, Vec<u32>>,
    /// Value of the objective at which the search ends.
    target: f64,
    pub incumbent: Incumbent,
    /// Number of evaluated mappings.
    pub evaluated: u64,
    steps: Steps,
}

impl<'a> Improve<'a> {
    /// A search that ends at a mapping whose objective is at most `target`. Equal seeds make equal searches.
    pub(super) fn new(problem: &'a Problem<'a>, target: f64, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (incumbent, steps) = (Incumbent::default(), Steps::default());
        Self { problem, random, sizes: HashMap::new(), target, incumbent, evaluated: 0, steps }
    }

    /// Evaluates a mapping that counts even if the mapspace does not have it.
    pub(super) fn seed(&mut self, candidate: &Candidate) {
        self.evaluated += 1;
        if let Some(score) = self.problem.score(candidate) {
            self.incumbent.offer(self.problem, score, candidate);
        }
    }

    /// Evaluates a candidate and offers it. `None` if it cannot be counted or is not in the mapspace.
    pub(super) fn offer(&mut self, candidate: &Candidate) -> Option<Score> {
        self.steps.step();
        self.evaluated += 1;
        if !self.problem.is_stationary(candidate) {
            return None;
        }
        let score = self.problem.score(candidate)?;
        self.incumbent.offer(self.problem, score, candidate);
        Some(score)
    }

    /// Whether the best mapping attains the target.
    pub(super) fn is_done(&self) -> bool {
        self.incumbent.attains(self.problem, self.target)
    }

    /// Changes `from` step by step. A change to the worse is accepted with a probability that falls
    /// with its size and with the number of steps; with `heat` 0 none is. Ends after `budget`
    /// evaluations, or when the best mapping attains the target.
    pub(super) fn anneal(&mut self, from: &Candidate, heat: f64, budget: u64) {
        let end = self.evaluated + budget;
        let Some(score) = self.offer(from) else { return };
        let (mut at, mut now) = (from.clone(), self.height(&score));
        let mut by_memory = score.by_memory;
        let mut next = at.clone();
        // Changes that do not evaluate anything are limited too.
        for _ in 0..4 * budget {
            if self.evaluated >= end || self.is_done() {
                return;
            }
            next.clone_from(&at);
            if !self.change(&mut next, by_memory) {
                continue;
            }
            if self.problem.excess(&next) > 0 && now < INFEASIBLE {
                continue;
            }
            let left = (end - self.evaluated) as f64 / budget as f64;
            let Some(score) = self.offer(&next) else { continue };
            let height = self.height(&score);
            let rise = height - now;
            let accepted = rise <= 0.0
                || (heat > 0.0
                    && self.random.random::<f64>() < (-rise / (heat * left * left)).exp());
            if accepted {
                (now, by_memory) = (height, score.by_memory);
                std::mem::swap(&mut at, &mut next);
            }
        }
    }

    /// Logarithm of the objective, with a small part of the other quantity, so that it falls where the
    /// objective is level.
    fn height(&self, score: &Score) -> f64 {
        if score.excess > 0 {
            return INFEASIBLE + score.excess as f64;
        }
        let Value { cycles, energy_pj } = score.value;
        let [cycles, energy] = [cycles.max(1) as f64, energy_pj.max(1.0)].map(f64::ln);
        match self.problem.objective {
            Objective::Cycles => cycles + 0.01 * energy,
            Objective::Energy => energy + 0.01 * cycles,
            Objective::Edp => energy + cycles,
            Objective::EnergyWithin(limit) if score.value.cycles > limit => TOO_SLOW + cycles,
            Objective::EnergyWithin(_) => energy + 0.01 * cycles,
        }
    }

    /// Makes one random change; returns whether the candidate changed within the mapspace. Loops above the
    /// shared memory come where memory limits the mapping.
    fn change(&mut self, candidate: &mut Candidate, by_memory: bool) -> bool {
        let level = self.below(candidate.levels.len());
        match self.below(9) {
            0..=4 => self.resize(candidate, level),
            5 | 6 => self.reorder(candidate, level),
            7 => self.respread(candidate, level),
            _ if candidate.has_off_chip => {
                candidate.remove_off_chip();
                true
            }
            _ if by_memory && self.problem.space.off_chip => {
                candidate.add_off_chip(self.problem.nest);
                self.resize(candidate, 0)
            }
            _ => false,
        }
    }

    /// Evaluates `from` with each single loop above the shared memory.
    pub(super) fn split_above(&mut self, from: &Candidate) {
        if !self.problem.space.off_chip {
            return;
        }
        let mut split = from.clone();
        split.remove_off_chip();
        split.add_off_chip(self.problem.nest);
        for axis in Axis::ALL {
            let extent = self.problem.nest.extent(axis);
            for size in self.problem.space.sizes.of(extent) {
                if size < extent {
                    let mut next = split.clone();
                    next.levels[0].sizes[axis as usize] = size;
                    next.clip(self.problem.nest);
                    self.offer(&next);
                }
            }
        }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random.next_u32() as usize) % end.max(1)
    }

    /// Changes the size of an axis on a level. Deeper sizes follow if they were equal, or stay.
    fn resize(&mut self, candidate: &mut Candidate, level: usize) -> bool {
        let nest = self.problem.nest;
        let space = self.problem.space.level_of(candidate.place_on_chip(level));
        let axis = Axis::ALL[self.below(N_AXES)];
        let at = axis as usize;
        let extent = candidate.entering(nest, level)[at];
        let allowed =
            space.temporal.contains(axis) || candidate.levels[level].spatial == Some(axis);
        if extent == 1 || !allowed || space.fixed.iter().any(|(fixed, _)| *fixed == axis) {
            return false;
        }
        let old = candidate.levels[level].sizes[at];
        let sizes = self.problem.space.sizes.clone();
        let list = self.sizes.entry(extent).or_insert_with(|| sizes.of(extent));
        let place = list.partition_point(|&size| size < old);
        let count = list.len();
        let roll = self.random.next_u32();
        let target = match roll % 4 {
            0 => place.saturating_sub(1),
            1 => (place + 1).min(count - 1),
            _ => (self.random.next_u32() as usize) % count,
        };
        let list = &self.sizes[&extent];
        let new = list[target];
        if new == old {
            return false;
        }
        let follows = roll & 0x100 != 0;
        for choice in &mut candidate.levels[level..] {
            let size = &mut choice.sizes[at];
            if *size == old && follows {
                *size = new;
            }
        }
        candidate.levels[level].sizes[at] = new;
        candidate.clip(nest);
        true
    }

    /// Moves one loop of a level to another place among the loops with more than one chunk.
    fn reorder(&mut self, candidate: &mut Candidate, level: usize) -> bool {
        let space = self.problem.space.level_of(candidate.place_on_chip(level));
        if space.order.is_some() {
            return false;
        }
        let entering = *candidate.entering(self.problem.nest, level);
        let choice = &mut candidate.levels[level];
        let split = |axis: &Axis| choice.sizes[*axis as usize] < entering[*axis as usize];
        let mut loops: Vec<_> = choice.order.iter().copied().filter(split).collect();
        if loops.len() < 2 {
            return false;
        }
        let rest: Vec<_> = choice.order.iter().copied().filter(|axis| !split(axis)).collect();
        let (from, to) = (self.below(loops.len()), self.below(loops.len()));
        if from == to {
            return false;
        }
        let axis = loops.remove(from);
        loops.insert(to, axis);
        let order = loops.into_iter().chain(rest);
        candidate.levels[level].order.iter_mut().zip(order).for_each(|(place, axis)| *place = axis);
        true
    }

    /// Spreads another axis on a level, in one fold if its units suffice.
    fn respread(&mut self, candidate: &mut Candidate, level: usize) -> bool {
        let nest = self.problem.nest;
        let entering = *candidate.entering(nest, level);
        let allowed = self.problem.space.level_of(candidate.place_on_chip(level)).spatial;
        let splits = |axis: &Axis| entering[*axis as usize] > 1;
        let axes: Vec<_> = allowed.iter().filter(splits).collect();
        if axes.is_empty() {
            return false;
        }
        let axis = axes[self.below(axes.len())];
        let choice = &mut candidate.levels[level];
        if choice.spatial == Some(axis) {
            return false;
        }
        if let Some(old) = choice.spatial.replace(axis) {
            // The old axis is no longer split here; deeper levels take what they had.
            choice.sizes[old as usize] = entering[old as usize];
        }
        let size = &mut choice.sizes[axis as usize];
        *size = (*size).min(entering[axis as usize].div_ceil(choice.units));
        candidate.clip(nest);
        true
    }
}

/// Height of a mapping with more than the allowed latency, above all others that run.
const TOO_SLOW: f64 = 1e3;

/// Height of a mapping that does not run, above all others.
const INFEASIBLE: f64 = 1e6;

//! Climbs from mapping to mapping by random changes, with annealing (docs/explanation/mapper.md, section 5).

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cancel::Steps;
use crate::cost::loop_nest::Axis;

use super::candidate::{Candidate, LevelChoice, N_AXES};
use super::estimate::Estimator;
use super::exact::Incumbent;
use super::objective::{Objective, Value};
use super::problem::{Problem, Score};

/// Climbs over the mappings of one form of a layer, and the best mapping that they met.
pub(super) struct Improve<'a> {
    problem: &'a Problem<'a>,
    random: ChaCha8Rng,
    /// Latency and energy that no mapping is below, at least 1.
    least: (f64, f64),
    pub incumbent: Incumbent,
    /// Number of mappings that the cost model evaluated.
    pub evaluated: u64,
    estimator: Estimator<'a>,
    steps: Steps,
}

/// What gives mappings their heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judge {
    /// The cost model. Its mappings are offered.
    Model,
    /// The estimate, in a tenth of the time.
    Estimate,
}

/// The mapping at which a climb stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub at: Candidate,
    pub height: Height,
    by_memory: bool,
}

/// Height of a mapping; less is better. Only sums, products and quotients make it, so that it is the same on
/// every machine.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Height {
    tier: Tier,
    value: f64,
}

/// What a mapping lacks, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Tier {
    Nothing,
    /// It has more than the allowed latency.
    TooSlow,
    /// It does not run.
    TooLarge,
}

impl Height {
    /// Order of two heights.
    pub(super) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
    }

    /// Rise from here to `to`, as a fraction.
    fn rise(self, to: Self) -> f64 {
        match self.tier.partial_cmp(&to.tier) {
            Some(std::cmp::Ordering::Equal) => to.value / self.value - 1.0,
            Some(std::cmp::Ordering::Less) => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }
}

impl<'a> Improve<'a> {
    /// Climbs by random numbers that follow from `seed`.
    pub(super) fn new(problem: &'a Problem<'a>, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (incumbent, steps) = (Incumbent::default(), Steps::default());
        let Value { cycles, energy_pj } = problem.machine_bound();
        let least = (cycles.max(1) as f64, energy_pj.max(1.0));
        let estimator = Estimator::new(problem);
        Self { problem, random, least, incumbent, evaluated: 0, estimator, steps }
    }

    /// Evaluates a mapping that counts even if the mapspace does not have it.
    pub(super) fn seed(&mut self, candidate: &Candidate) {
        self.evaluated += 1;
        if let Some(score) = self.problem.score(candidate) {
            self.incumbent.offer(self.problem, score, candidate);
        }
    }

    /// A mapping of the mapspace with its height by `judge`. `None` if it cannot be counted.
    pub(super) fn place(&mut self, candidate: Candidate, judge: Judge) -> Option<Place> {
        let (height, by_memory) = self.judge(&candidate, judge)?;
        Some(Place { at: candidate, height, by_memory })
    }

    /// Height of a mapping, and whether memory limits it. A mapping that loses the stationary tensor is on
    /// the way to others, and is not offered.
    fn judge(&mut self, candidate: &Candidate, judge: Judge) -> Option<(Height, bool)> {
        self.steps.step();
        let score = match judge {
            Judge::Estimate => self.estimator.score(candidate),
            Judge::Model => {
                self.evaluated += 1;
                self.problem.score(candidate)?
            }
        };
        let height = self.height(&score);
        if !self.problem.is_stationary(candidate) {
            let value = height.value * LOST;
            return Some((Height { value, ..height }, score.by_memory));
        }
        if judge == Judge::Model {
            self.incumbent.offer(self.problem, score, candidate);
        }
        Some((height, score.by_memory))
    }

    /// Changes `place` step by step, with at most `budget` heights by `judge`, until the best mapping has at most
    /// `target` of the objective. A change to the worse is accepted with a probability that falls with its
    /// size and with the number of steps; with `heat` 0 none is. The lowest place of the climb is its end.
    pub(super) fn climb(
        &mut self,
        place: &mut Place,
        heat: f64,
        budget: u64,
        target: f64,
        judge: Judge,
    ) {
        let mut judged = 0;
        let mut next = place.at.clone();
        let mut lowest = place.clone();
        // Changes that give no height are limited too.
        for _ in 0..4 * budget {
            if judged >= budget || self.incumbent.attains(self.problem, target) {
                break;
            }
            next.clone_from(&place.at);
            let changes = [1, 1, 1, 1, 2, 2, 2, 3][self.below(8)];
            let mut changed = false;
            for _ in 0..changes {
                changed |= self.change(&mut next, place.by_memory);
            }
            let too_large =
                || self.problem.excess(&next) > 0 && place.height.tier != Tier::TooLarge;
            if !changed || too_large() {
                continue;
            }
            let left = (budget - judged) as f64 / budget as f64;
            judged += 1;
            let Some((height, by_memory)) = self.judge(&next, judge) else { continue };
            let rise = place.height.rise(height);
            let accepted = rise <= 0.0
                || (heat > 0.0
                    && self.random.random::<f64>() < chance(rise / (heat * left * left)));
            if accepted {
                (place.height, place.by_memory) = (height, by_memory);
                std::mem::swap(&mut place.at, &mut next);
                if place.height.compare(&lowest.height).is_lt() {
                    lowest.clone_from(place);
                }
            }
        }
        *place = lowest;
    }

    /// Changes `place` by every size of one axis on a level and every place of one loop in turn, each time
    /// by the first that lowers it, until none does or `budget` estimates are made.
    pub(super) fn polish(&mut self, place: &mut Place, budget: u64) {
        let mut next = place.at.clone();
        let mut left = budget;
        let mut lowered = true;
        while lowered && left > 0 {
            lowered = false;
            for level in 0..place.at.levels.len() {
                for axis in Axis::ALL {
                    lowered |= self.polish_size(place, &mut next, (level, axis), &mut left);
                }
                lowered |= self.polish_order(place, &mut next, level, &mut left);
            }
        }
    }

    /// Tries sizes of one axis on a level, each with and without those of deeper levels that were equal.
    fn polish_size(
        &mut self,
        place: &mut Place,
        next: &mut Candidate,
        (level, axis): (usize, Axis),
        left: &mut u64,
    ) -> bool {
        let at = axis as usize;
        if !self.may_resize(&place.at, level, axis) {
            return false;
        }
        let extent = place.at.entering(self.problem.nest, level)[at];
        let mut lowered = false;
        for size in sizes_near(extent, place.at.levels[level].sizes[at]) {
            let size = self.problem.space.sizes.nearest(size, extent);
            for follows in [false, true] {
                let sizes = place.at.levels[level..].iter().map(|it| it.sizes[at]);
                let n_equal = sizes.clone().take_while(|&it| Some(it) == sizes.clone().next());
                let n_equal = n_equal.count();
                if size == place.at.levels[level].sizes[at] || follows && n_equal == 1 {
                    continue;
                }
                next.clone_from(&place.at);
                let n_levels = if follows { n_equal } else { 1 };
                for choice in &mut next.levels[level..level + n_levels] {
                    choice.sizes[at] = size;
                }
                next.clip(self.problem.nest);
                lowered |= self.lowers(place, next, left);
            }
        }
        lowered
    }

    /// Tries every place of every loop of a level.
    fn polish_order(
        &mut self,
        place: &mut Place,
        next: &mut Candidate,
        level: usize,
        left: &mut u64,
    ) -> bool {
        if self.problem.space.level_of(place.at.place_on_chip(level)).order.is_some() {
            return false;
        }
        let entering = *place.at.entering(self.problem.nest, level);
        let mut lowered = false;
        for (from, to) in (0..N_AXES).flat_map(|from| (0..N_AXES).map(move |to| (from, to))) {
            let choice = &place.at.levels[level];
            let splits = |at: usize| {
                let axis = choice.order[at] as usize;
                choice.sizes[axis] < entering[axis]
            };
            if from == to || !splits(from) || !splits(to) {
                continue;
            }
            next.clone_from(&place.at);
            move_loop(&mut next.levels[level].order, from, to);
            lowered |= self.lowers(place, next, left);
        }
        lowered
    }

    /// Moves `place` to a mapping if the estimate of that is lower; returns whether it is.
    fn lowers(&mut self, place: &mut Place, next: &mut Candidate, left: &mut u64) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let Some((height, by_memory)) = self.judge(next, Judge::Estimate) else { return false };
        let is_lower = height.compare(&place.height).is_lt();
        if is_lower {
            (place.height, place.by_memory) = (height, by_memory);
            std::mem::swap(&mut place.at, next);
        }
        is_lower
    }

    /// Whether the mapspace lets the size of an axis of more than one position change on a level.
    fn may_resize(&self, candidate: &Candidate, level: usize, axis: Axis) -> bool {
        let space = self.problem.space.level_of(candidate.place_on_chip(level));
        let may = space.temporal.contains(axis) || candidate.levels[level].spatial == Some(axis);
        let is_fixed = space.fixed.iter().any(|(fixed, _)| *fixed == axis);
        candidate.entering(self.problem.nest, level)[axis as usize] > 1 && may && !is_fixed
    }

    /// The objective, with a small part of the other quantity, so that it falls where the objective is
    /// level.
    fn height(&self, score: &Score) -> Height {
        if score.excess > 0 {
            return Height { tier: Tier::TooLarge, value: score.excess as f64 };
        }
        let Value { cycles, energy_pj } = score.value;
        let (cycles, energy) = (cycles.max(1) as f64, energy_pj.max(1.0));
        let with = |main: f64, other: f64| main * (1.0 + OTHER * other);
        let least = &self.least;
        let (of_cycles, of_energy) = (cycles / least.0, energy / least.1);
        let height = |tier, value| Height { tier, value };
        match self.problem.objective {
            Objective::Cycles => height(Tier::Nothing, with(cycles, of_energy)),
            Objective::Edp => height(Tier::Nothing, energy * cycles),
            Objective::EnergyWithin(limit) if score.value.cycles > limit => {
                height(Tier::TooSlow, cycles)
            }
            Objective::Energy | Objective::EnergyWithin(_) => {
                height(Tier::Nothing, with(energy, of_cycles))
            }
        }
    }

    /// Makes one random change; returns whether the candidate changed within the mapspace. Loops above the
    /// shared memory come where memory limits the mapping.
    fn change(&mut self, candidate: &mut Candidate, by_memory: bool) -> bool {
        let level = self.below(candidate.levels.len());
        match self.below(12) {
            0..=6 => self.resize(candidate, level),
            7..=9 => self.reorder(candidate, level),
            10 => self.respread(candidate, level),
            _ if candidate.has_off_chip => {
                if by_memory {
                    return self.resize(candidate, 0);
                }
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

    fn below(&mut self, end: usize) -> usize {
        (self.random.next_u32() as usize) % end.max(1)
    }

    /// Changes the size of an axis on a level. Deeper sizes follow if they were equal, or stay.
    fn resize(&mut self, candidate: &mut Candidate, level: usize) -> bool {
        let nest = self.problem.nest;
        let (mut axes, mut n_axes) = ([Axis::N; N_AXES], 0);
        for axis in Axis::ALL {
            if self.may_resize(candidate, level, axis) {
                axes[n_axes] = axis;
                n_axes += 1;
            }
        }
        if n_axes == 0 {
            return false;
        }
        let axis = axes[self.below(n_axes)];
        let at = axis as usize;
        let extent = candidate.entering(nest, level)[at];
        let LevelChoice { units, spatial, sizes, .. } = candidate.levels[level];
        let old = sizes[at];
        let folds = 1 + self.random.next_u32() % 4;
        let roll = self.random.next_u32();
        let new = match roll % 8 {
            0 => old - 1,
            1 => old + 1,
            2 => old / 2,
            3 => old.saturating_mul(2),
            // Folds in which no unit is idle.
            4 if spatial == Some(axis) => extent.div_ceil(units.saturating_mul(folds)),
            4 | 5 => extent.div_ceil(1 + self.random.next_u32() % extent.min(64)),
            6 => {
                let below = candidate.levels[level + 1..].iter();
                let spread = below.filter(|it| it.spatial == Some(axis));
                let units = spread.fold(1u32, |product, it| product.saturating_mul(it.units));
                old.div_ceil(units).saturating_mul(units)
            }
            _ => extent,
        };
        let new = self.problem.space.sizes.nearest(new, extent);
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
        let split = |axis: Axis| choice.sizes[axis as usize] < entering[axis as usize];
        let (mut order, mut n_loops) = (choice.order, 0);
        for axis in choice.order.into_iter().filter(|&axis| split(axis)) {
            order[n_loops] = axis;
            n_loops += 1;
        }
        if n_loops < 2 {
            return false;
        }
        let rest = choice.order.into_iter().filter(|&axis| !split(axis));
        order[n_loops..].iter_mut().zip(rest).for_each(|(place, axis)| *place = axis);
        let (from, to) = (self.below(n_loops), self.below(n_loops));
        move_loop(&mut order, from, to);
        candidate.levels[level].order = order;
        from != to
    }

    /// Spreads another axis on a level, in one fold if its units suffice.
    fn respread(&mut self, candidate: &mut Candidate, level: usize) -> bool {
        let nest = self.problem.nest;
        let entering = *candidate.entering(nest, level);
        let allowed = self.problem.space.level_of(candidate.place_on_chip(level)).spatial;
        let splits = |axis: &Axis| entering[*axis as usize] > 1;
        let n_axes = allowed.iter().filter(splits).count();
        let chosen = self.below(n_axes);
        let Some(axis) = allowed.iter().filter(splits).nth(chosen) else { return false };
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

/// Moves one loop of an order to another place.
fn move_loop(order: &mut [Axis; N_AXES], from: usize, to: usize) {
    match from < to {
        true => order[from..=to].rotate_left(1),
        false => order[to..=from].rotate_right(1),
    }
}

/// Sizes of chunks of an axis of this extent that are tried: near the present one, and those of few or of small
/// chunks.
fn sizes_near(extent: u32, size: u32) -> impl Iterator<Item = u32> {
    let chunks = extent.div_ceil(size);
    let few = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64].into_iter();
    let near = [chunks.saturating_sub(1).max(1), chunks + 1, 2 * chunks, chunks.div_ceil(2)];
    let of_chunks = few.chain(near).map(move |chunks| extent.div_ceil(chunks));
    let small = [1, 2, 4, 8, 16, 32].into_iter();
    let own = [size.saturating_sub(1).max(1), size + 1, size.saturating_mul(2), size.div_ceil(2)];
    of_chunks.chain(small).chain(own).filter(move |&it| it <= extent)
}

/// Chance of a step upwards by `x` times the heat: a rational function near exp(-x), of which every machine
/// makes the same bits.
fn chance(x: f64) -> f64 {
    1.0 / (1.0 + x * (1.0 + x * (0.5 + x / 6.0)))
}

/// Part of the other quantity in a height, in units of its bound.
const OTHER: f64 = 0.003;

/// Height of a mapping that loses the stationary tensor, for one that keeps it.
const LOST: f64 = 1.05;

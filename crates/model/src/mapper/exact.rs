//! Exact search: every mapping of a mapspace, from the outermost level inwards (docs/explanation/mapper.md,
//! section 4).
//!
//! The search visits lists of cluster sizes and spatial axes first, then sizes and orders level by level.
//! A partial choice is given up if its bound shows that no mapping with it is better than the best one
//! so far. Every rule can be switched off; without rules the search is plain enumeration.

use std::collections::HashMap;

use crate::cancel::Steps;
use crate::cost::loop_nest::{Axis, Extents, Machine, NocLevel};
use crate::hardware::Fill;

use super::bound::{Skeleton, cycles_of, exposed_cycles};
use super::candidate::{Candidate, LevelChoice, N_AXES};
use super::objective::Value;
use super::problem::{Problem, Score};
use super::skeletons::{OwnSkeleton, Unspread, skeletons};

/// Rules by which exact search leaves out mappings. None of them changes the value that it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Orders that differ only in the place of a spatial loop with a single fold are one. Without effect on
    /// systolic levels, whose fill depends on the order of all loops.
    pub order_classes: bool,
    /// Lists of clusters and axes whose time of computation cannot beat the best mapping are left out.
    pub skeleton_bounds: bool,
    /// Sizes of a level whose computation, first fill and last drain cannot beat the best mapping are left
    /// out before their orders are visited.
    pub tile_bounds: bool,
    /// Outer levels whose exact traffic cannot beat the best mapping, or whose tiles do not fit into the
    /// shared memory, are left out before the levels below them are visited.
    pub level_bounds: bool,
}

impl Rules {
    /// Every rule.
    pub const ALL: Self =
        Self { order_classes: true, skeleton_bounds: true, tile_bounds: true, level_bounds: true };
    /// No rule.
    pub const NONE: Self = Self {
        order_classes: false,
        skeleton_bounds: false,
        tile_bounds: false,
        level_bounds: false,
    };

    /// Names of the rules.
    pub const NAMES: [&'static str; 4] =
        ["order-classes", "skeleton-bounds", "tile-bounds", "level-bounds"];

    /// The rules without the named one; `None` if no rule has this name.
    pub fn without(mut self, name: &str) -> Option<Self> {
        let rule = match name {
            "order-classes" => &mut self.order_classes,
            "skeleton-bounds" => &mut self.skeleton_bounds,
            "tile-bounds" => &mut self.tile_bounds,
            "level-bounds" => &mut self.level_bounds,
            _ => return None,
        };
        *rule = false;
        Some(self)
    }
}

/// Numbers of mappings that a search decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Mappings that the cost model evaluated.
    pub evaluated: u64,
    /// Mappings of which a unit box exceeds a buffer, or whose tiles exceed the shared memory.
    pub infeasible: u64,
    /// Choices of all or some levels that a rule left out.
    pub excluded: u64,
    /// Evaluated mappings that attain the best value so far.
    pub best: u64,
}

impl Counts {
    /// Adds the numbers of another search of the same layer.
    pub(super) fn add(&mut self, other: &Self) {
        self.evaluated += other.evaluated;
        self.infeasible += other.infeasible;
        self.excluded += other.excluded;
        self.best = self.best.max(other.best);
    }
}

/// The best mapping so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Incumbent {
    pub best: Option<(Score, Candidate)>,
}

impl Incumbent {
    /// Takes `candidate` if it is better than the best one so far: runs where that does not, or exceeds
    /// capacities by less, or has a better value. Returns the order of the two.
    pub(super) fn offer(
        &mut self,
        problem: &Problem,
        score: Score,
        candidate: &Candidate,
    ) -> std::cmp::Ordering {
        let order = match &self.best {
            None => std::cmp::Ordering::Less,
            Some((best, _)) => compare(problem, &score, best),
        };
        if order.is_lt() {
            self.best = Some((score, candidate.clone()));
        }
        order
    }

    /// Whether the best mapping runs and its objective is at most `target`, within the latency that the
    /// objective allows.
    pub(super) fn attains(&self, problem: &Problem, target: f64) -> bool {
        let objective = problem.objective;
        self.value().is_some_and(|best| objective.allows(best) && objective.of(best) <= target)
    }

    /// Value of the best mapping that runs.
    pub(super) fn value(&self) -> Option<&Value> {
        self.best.as_ref().filter(|(score, _)| score.excess == 0).map(|(score, _)| &score.value)
    }
}

/// Order of scores, the better one first.
pub(super) fn compare(problem: &Problem, a: &Score, b: &Score) -> std::cmp::Ordering {
    a.excess.cmp(&b.excess).then_with(|| problem.objective.compare(&a.value, &b.value))
}

/// A search in progress.
pub(super) struct Exact<'a> {
    problem: &'a Problem<'a>,
    rules: Rules,
    floor: Value,
    /// The machine on which outer levels are bounded.
    relaxed: Machine,
    /// Whether the place of a spatial loop with one fold has no effect, and is left out.
    merges_orders: bool,
    sizes: HashMap<u32, Vec<u32>>,
    progress: Progress,
    pub incumbent: Incumbent,
    pub counts: Counts,
    /// Value of the objective at which the search ends.
    target: f64,
}

/// Sizes of one level, and the steps of a PE with them.
#[derive(Debug, Clone, Copy)]
struct Tile {
    sizes: Extents,
    /// Product of the least steps along the axes whose sizes are chosen.
    steps: u128,
}

/// Choices of the sizes of one level.
struct Tiles {
    /// Extents that enter the level.
    entering: Extents,
    /// Sizes of every axis, with the least steps of a PE along it.
    lists: [Vec<(u32, u64)>; N_AXES],
    /// Product of the least steps along an axis and those after it.
    least: [u128; N_AXES + 1],
    /// Number of choices of an axis and those after it.
    counts: [f64; N_AXES + 1],
}

/// Work of a search, and the part of the mapspace that is behind it.
struct Progress {
    /// Visited choices after which the search gives up.
    budget: f64,
    /// Visited choices; a look at sizes counts as a small part of one.
    visited: f64,
    /// Work at which the search estimates next whether it will end.
    estimates_at: f64,
    /// Choices of the sizes of the outermost level that were begun or left out, and all of them.
    begun: f64,
    all: f64,
    steps: Steps,
}

impl Progress {
    fn new(budget: u64) -> Self {
        let budget = budget as f64;
        let steps = Steps::default();
        Self { budget, visited: 0.0, estimates_at: ESTIMATE * budget, begun: 0.0, all: 0.0, steps }
    }

    /// Counts a look at sizes.
    fn look(&mut self) -> Result<(), Unfinished> {
        self.add(LOOK)
    }

    /// Counts a visited choice.
    fn visit(&mut self) -> Result<(), Unfinished> {
        self.add(1.0)
    }

    /// Fails when the budget is spent, or when a part of it shows that the whole will be spent long before
    /// the end of the mapspace.
    fn add(&mut self, work: f64) -> Result<(), Unfinished> {
        self.steps.step();
        self.visited += work;
        if self.visited > self.budget {
            return Err(Unfinished);
        }
        if self.visited >= self.estimates_at {
            self.estimates_at += ESTIMATE * self.budget;
            if self.visited / self.budget * HOPE > self.begun / self.all {
                return Err(Unfinished);
            }
        }
        Ok(())
    }
}

/// Work of a look at sizes, of a visited choice.
const LOOK: f64 = 1.0 / 32.0;

/// Part of the budget from one estimate to the next.
const ESTIMATE: f64 = 0.1;

/// Least part of the mapspace, for the spent part of the budget, with which a search goes on: later
/// choices have worse bounds, and are left out faster.
const HOPE: f64 = 0.25;

/// The budget was spent, or the target was met, before every mapping was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unfinished;

impl<'a> Exact<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        rules: Rules,
        incumbent: Incumbent,
        budget: u64,
    ) -> Self {
        let floor = problem.machine_bound();
        let is_systolic = |level: &NocLevel| level.fill == Fill::Systolic;
        let systolic = problem.machine.noc_levels.iter().any(is_systolic);
        Self {
            problem,
            rules,
            floor,
            relaxed: problem.relaxed(),
            merges_orders: rules.order_classes && !systolic,
            sizes: HashMap::new(),
            progress: Progress::new(budget),
            incumbent,
            counts: Counts::default(),
            target: f64::NEG_INFINITY,
        }
    }

    /// The same search, which ends at a mapping whose objective is at most `target`.
    #[must_use]
    pub(super) fn until(self, target: f64) -> Self {
        Self { target, ..self }
    }

    /// Visits every mapping of the mapspace.
    pub(super) fn run(&mut self) -> Result<(), Unfinished> {
        let mut skeletons = skeletons(self.problem, Unspread::Any);
        if self.problem.space.off_chip {
            let above =
                skeletons.iter().filter_map(OwnSkeleton::under_off_chip).collect::<Vec<_>>();
            skeletons.extend(above);
        }
        if self.rules.skeleton_bounds {
            skeletons.sort_by_key(|skeleton| skeleton.compute);
        }
        let counts: Vec<_> = skeletons.iter().map(|it| self.outermost_sizes(it)).collect();
        self.progress.all = counts.iter().sum();
        let mut before = 0.0;
        for (skeleton, count) in skeletons.iter().zip(counts) {
            self.progress.begun = before;
            before += count;
            let cycles = self.floor.cycles.max(skeleton.compute);
            let bound = Value { cycles, ..self.floor };
            if self.rules.skeleton_bounds && !self.may_improve(&bound) {
                self.counts.excluded += 1;
                continue;
            }
            let mut outer = Candidate { has_off_chip: skeleton.has_off_chip, levels: Vec::new() };
            self.descend(&skeleton.as_ref(), &mut outer)?;
        }
        Ok(())
    }

    /// Number of choices of the sizes of the outermost level.
    fn outermost_sizes(&mut self, skeleton: &OwnSkeleton) -> f64 {
        let outer = Candidate { has_off_chip: skeleton.has_off_chip, levels: Vec::new() };
        let extents = *self.problem.nest.extents();
        let count = |axis| self.choices(&skeleton.as_ref(), &outer, &extents, axis).len() as f64;
        Axis::ALL.into_iter().map(count).product()
    }

    fn may_improve(&self, bound: &Value) -> bool {
        self.incumbent.value().is_none_or(|best| self.problem.objective.may_improve(bound, best))
    }

    /// Visits every choice of the next level after those of `outer`, and of all deeper levels.
    fn descend(&mut self, skeleton: &Skeleton, outer: &mut Candidate) -> Result<(), Unfinished> {
        let tiles = self.tiles(skeleton, outer);
        self.each_size(skeleton, outer, &tiles, Tile { sizes: tiles.entering, steps: 1 }, 0)
    }

    /// Sizes of every axis on the next level after those of `outer`.
    fn tiles(&mut self, skeleton: &Skeleton, outer: &Candidate) -> Tiles {
        let nest = self.problem.nest;
        let level = outer.levels.len();
        let entering = *outer.entering(nest, level);
        let mut known: Vec<Extents> = outer.levels.iter().map(|level| level.sizes).collect();
        known.push(entering);
        let lists = std::array::from_fn(|_| Vec::new());
        let (least, counts) = ([1; N_AXES + 1], [1.0; N_AXES + 1]);
        let mut tiles = Tiles { entering, lists, least, counts };
        for axis in Axis::ALL {
            let at = axis as usize;
            let with_steps = |size| {
                known[level][at] = size;
                (size, skeleton.steps_along(axis, nest.extents(), &known))
            };
            let sizes = self.choices(skeleton, outer, &entering, axis);
            tiles.lists[at] = sizes.into_iter().map(with_steps).collect();
        }
        for at in (0..N_AXES).rev() {
            let list = &tiles.lists[at];
            let least = list.iter().map(|(_, steps)| *steps).min().unwrap_or(0);
            tiles.least[at] = tiles.least[at + 1] * u128::from(least);
            tiles.counts[at] = tiles.counts[at + 1] * list.len() as f64;
        }
        tiles
    }

    /// Visits every size of the axes from `axis` on. `tile` has the sizes of those before it.
    fn each_size(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        tiles: &Tiles,
        tile: Tile,
        axis: usize,
    ) -> Result<(), Unfinished> {
        let is_outermost = outer.levels.is_empty();
        if self.rules.tile_bounds && !self.may_improve(&self.bound(tile.steps * tiles.least[axis]))
        {
            self.counts.excluded += 1;
            self.progress.begun += if is_outermost { tiles.counts[axis] } else { 0.0 };
            return Ok(());
        }
        if axis == N_AXES {
            self.progress.begun += f64::from(u8::from(is_outermost));
            // An off-chip level without loops is none.
            return match is_outermost && outer.has_off_chip && tile.sizes == tiles.entering {
                true => Ok(()),
                false => self.each_order(skeleton, outer, &tiles.entering, tile),
            };
        }
        for &(size, steps) in &tiles.lists[axis] {
            let mut longer = Tile { steps: tile.steps * u128::from(steps), ..tile };
            longer.sizes[axis] = size;
            self.each_size(skeleton, outer, tiles, longer, axis + 1)?;
        }
        Ok(())
    }

    /// Bound of mappings whose PEs take at least these steps.
    fn bound(&self, steps: u128) -> Value {
        let compute = cycles_of(steps, self.problem.machine.rate);
        Value { cycles: self.floor.cycles.max(compute), ..self.floor }
    }

    /// Sizes of an axis on the next level after those of `outer`. A spread axis has at least two chunks,
    /// since one chunk is another skeleton.
    fn choices(
        &mut self,
        skeleton: &Skeleton,
        outer: &Candidate,
        entering: &Extents,
        axis: Axis,
    ) -> Vec<u32> {
        let level = outer.levels.len();
        let space = self.problem.space.level_of(outer.place_on_chip(level));
        let extent = entering[axis as usize];
        let is_spread = skeleton.axes[level] == Some(axis);
        let fixed = space.fixed.iter().find(|(it, _)| *it == axis).map(|&(_, size)| size);
        let mut sizes = match fixed {
            Some(size) => vec![size.clamp(1, extent)],
            None if is_spread || space.temporal.contains(axis) => self.sizes_of(extent),
            None => vec![extent],
        };
        sizes.retain(|&size| !is_spread || size < extent);
        sizes
    }

    fn sizes_of(&mut self, extent: u32) -> Vec<u32> {
        let space = self.problem.space;
        self.sizes.entry(extent).or_insert_with(|| space.sizes.of(extent)).clone()
    }

    /// Visits every order of the loops of a level with these sizes.
    fn each_order(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        entering: &Extents,
        tile: Tile,
    ) -> Result<(), Unfinished> {
        let (level, sizes) = (outer.levels.len(), &tile.sizes);
        let (units, spatial) = (skeleton.units[level], skeleton.axes[level]);
        self.progress.look()?;
        if self.rules.tile_bounds && !self.tile_may_improve(skeleton, outer, &tile) {
            self.counts.excluded += 1;
            return Ok(());
        }
        let split = |axis: &Axis| sizes[*axis as usize] < entering[*axis as usize];
        let mut loops: Vec<_> = Axis::ALL.into_iter().filter(split).collect();
        // A spatial loop with a single fold does not advance: its place has no effect.
        let one_fold = spatial.filter(|&axis| {
            let at = axis as usize;
            self.merges_orders && entering[at].div_ceil(sizes[at]) <= units
        });
        if let Some(axis) = one_fold {
            loops.retain(|&it| it != axis);
        }
        let rest = Axis::ALL.into_iter().filter(|axis| !loops.contains(axis));
        let mut order: Vec<_> = loops.iter().copied().chain(rest).collect();
        let given = self.problem.space.level_of(outer.place_on_chip(level)).order.clone();
        if let Some(given) = given {
            let place = |axis: &Axis| given.iter().position(|it| it == axis).unwrap_or(usize::MAX);
            order[..loops.len()].sort_by_key(place);
            return self.visit(skeleton, outer, &tile, &order);
        }
        self.permute(skeleton, outer, &tile, &mut order, [0, loops.len()])
    }

    /// Whether a mapping with these sizes of the next level may be better than the best one so far.
    fn tile_may_improve(&self, skeleton: &Skeleton, outer: &Candidate, tile: &Tile) -> bool {
        let Problem { nest, machine, .. } = *self.problem;
        let level = outer.levels.len();
        let compute = self.bound(tile.steps);
        if outer.place_on_chip(level) != Some(0) {
            return self.may_improve(&compute);
        }
        let (axis, units) = (skeleton.axes[level], skeleton.units[level]);
        let entering = outer.entering(nest, level);
        let exposed = exposed_cycles(nest, machine, entering, &tile.sizes, axis, units);
        let cycles = cycles_of(tile.steps, machine.rate).saturating_add(exposed);
        self.may_improve(&Value { cycles: compute.cycles.max(cycles), ..compute })
    }

    /// Visits every permutation of a part of `order`.
    fn permute(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        tile: &Tile,
        order: &mut [Axis],
        [at, end]: [usize; 2],
    ) -> Result<(), Unfinished> {
        if at >= end {
            return self.visit(skeleton, outer, tile, order);
        }
        for other in at..end {
            order.swap(at, other);
            self.permute(skeleton, outer, tile, order, [at + 1, end])?;
            order.swap(at, other);
        }
        Ok(())
    }

    /// Visits a level with all its choices made: evaluates the mapping, or descends.
    fn visit(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        tile: &Tile,
        order: &[Axis],
    ) -> Result<(), Unfinished> {
        self.progress.visit()?;
        let level = outer.levels.len();
        let mut choice = LevelChoice::whole(skeleton.units[level], &tile.sizes);
        choice.spatial = skeleton.axes[level];
        choice.order.copy_from_slice(order);
        outer.levels.push(choice);
        let result = if level + 1 == skeleton.units.len() {
            self.leaf(outer);
            match self.incumbent.attains(self.problem, self.target) {
                true => Err(Unfinished),
                false => Ok(()),
            }
        } else if self.rules.level_bounds && !self.prefix_may_improve(skeleton, outer, tile) {
            self.counts.excluded += 1;
            Ok(())
        } else {
            self.descend(skeleton, outer)
        };
        outer.levels.pop();
        result
    }

    fn prefix_may_improve(&mut self, skeleton: &Skeleton, outer: &Candidate, tile: &Tile) -> bool {
        if self.incumbent.value().is_none() {
            return true;
        }
        let within = skeleton.units[outer.levels.len()..].iter().product();
        let walked = self.problem.least_cycles(outer, within, &mut self.relaxed);
        let compute = self.bound(tile.steps);
        walked.is_some_and(|walked| {
            self.may_improve(&Value { cycles: compute.cycles.max(walked), ..compute })
        })
    }

    fn leaf(&mut self, candidate: &Candidate) {
        if !self.problem.is_stationary(candidate) {
            return;
        }
        let Some(score) = self.problem.score(candidate) else {
            self.counts.infeasible += 1;
            return;
        };
        self.counts.evaluated += 1;
        self.counts.infeasible += u64::from(score.excess > 0);
        match self.incumbent.offer(self.problem, score, candidate) {
            std::cmp::Ordering::Less => self.counts.best = 1,
            std::cmp::Ordering::Equal => self.counts.best += 1,
            std::cmp::Ordering::Greater => {}
        }
    }
}

//! Exact search: every mapping of a mapspace, from the outermost level inwards (docs/mapper.md,
//! section 4).
//!
//! The search visits lists of cluster sizes and spatial axes first, then sizes and orders level by level.
//! A partial choice is given up if its bound shows that no mapping with it is better than the best one
//! so far. Every rule can be switched off; without rules the search is plain enumeration.

use std::collections::HashMap;

use crate::cost::loop_nest::{Axis, Extents};

use super::bound::{Skeleton, exposed_cycles};
use super::candidate::{Candidate, LevelChoice, N_AXES};
use super::objective::Value;
use super::problem::{Problem, Score};
use super::space::Mapspace;

/// Rules by which exact search leaves out mappings. None of them changes the value that it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Orders that differ only in the place of a spatial loop with a single fold are one.
    pub order_classes: bool,
    /// Lists of clusters and axes whose time of computation cannot beat the best mapping are left out.
    pub skeleton_bounds: bool,
    /// Sizes of a level whose computation, first fill and last drain cannot beat the best mapping are left
    /// out before their orders are visited.
    pub tile_bounds: bool,
    /// Outer levels whose exact traffic cannot beat the best mapping are left out before the levels below
    /// them are visited.
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
    sizes: HashMap<u32, Vec<u32>>,
    pub incumbent: Incumbent,
    pub counts: Counts,
    /// Visited choices after which the search gives up.
    budget: u64,
}

/// The budget was spent before the search ended.
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
        Self {
            problem,
            rules,
            floor,
            sizes: HashMap::new(),
            incumbent,
            counts: Counts::default(),
            budget,
        }
    }

    /// Visits every mapping of the mapspace.
    pub(super) fn run(&mut self) -> Result<(), Unfinished> {
        let mut skeletons = self.skeletons();
        if self.rules.skeleton_bounds {
            skeletons.sort_by_key(|it| it.2);
        }
        for (units, axes, compute) in skeletons {
            let bound = Value { cycles: self.floor.cycles.max(compute), ..self.floor };
            if self.rules.skeleton_bounds && !self.may_improve(&bound) {
                self.counts.excluded += 1;
                continue;
            }
            let skeleton = Skeleton { units: &units, axes: &axes };
            self.descend(&skeleton, &mut Candidate::on_chip(Vec::new()))?;
        }
        Ok(())
    }

    /// Lists of units and axes with the least cycles of computation.
    fn skeletons(&self) -> Vec<(Vec<u32>, Vec<Option<Axis>>, u64)> {
        let Problem { nest, machine, space, .. } = *self.problem;
        let mut found = Vec::new();
        for clusters in &space.clusters {
            let Some(units) = Mapspace::units(clusters, machine) else { continue };
            let mut lists = vec![Vec::new()];
            for level in 0..units.len() {
                let splits = |axis: &Axis| nest.extent(*axis) > 1;
                let axes = space.level(level).spatial.iter().filter(splits).map(Some);
                let choices: Vec<_> = std::iter::once(None).chain(axes).collect();
                let longer = |list: &Vec<Option<Axis>>| {
                    let list = list.clone();
                    choices.clone().into_iter().map(move |axis| [list.as_slice(), &[axis]].concat())
                };
                lists = lists.iter().flat_map(longer).collect();
            }
            found.extend(lists.into_iter().map(|axes| {
                let skeleton = Skeleton { units: &units, axes: &axes };
                let compute = skeleton.compute_cycles(nest.extents(), &[], machine.rate);
                (units.clone(), axes, compute)
            }));
        }
        found
    }

    fn may_improve(&self, bound: &Value) -> bool {
        self.incumbent.value().is_none_or(|best| self.problem.objective.may_improve(bound, best))
    }

    /// Visits every choice of the next level after those of `outer`, and of all deeper levels.
    fn descend(&mut self, skeleton: &Skeleton, outer: &mut Candidate) -> Result<(), Unfinished> {
        let level = outer.levels.len();
        let entering = *outer.entering(self.problem.nest, level);
        let mut sizes = entering;
        self.each_size(skeleton, outer, &entering, &mut sizes, 0)
    }

    /// Visits every size of the axes from `axis` on.
    fn each_size(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        entering: &Extents,
        sizes: &mut Extents,
        axis: usize,
    ) -> Result<(), Unfinished> {
        if axis == N_AXES {
            return self.each_order(skeleton, outer, entering, sizes);
        }
        let level = outer.levels.len();
        let space = self.problem.space.level(level);
        let this = Axis::ALL[axis];
        let extent = entering[axis];
        let is_spread = skeleton.axes[level] == Some(this);
        let fixed = space.fixed.iter().find(|(axis, _)| *axis == this).map(|&(_, size)| size);
        let list = match fixed {
            Some(size) => vec![size.clamp(1, extent)],
            None if is_spread || space.temporal.contains(this) => self.sizes_of(extent),
            None => vec![extent],
        };
        for size in list {
            // A spread axis without two chunks is another skeleton.
            if is_spread && size == extent {
                continue;
            }
            sizes[axis] = size;
            self.each_size(skeleton, outer, entering, sizes, axis + 1)?;
        }
        sizes[axis] = extent;
        Ok(())
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
        sizes: &Extents,
    ) -> Result<(), Unfinished> {
        let level = outer.levels.len();
        let (units, spatial) = (skeleton.units[level], skeleton.axes[level]);
        let bounded = self.rules.tile_bounds;
        if bounded && !self.tile_may_improve(skeleton, outer, sizes) {
            self.counts.excluded += 1;
            return Ok(());
        }
        let split = |axis: &Axis| sizes[*axis as usize] < entering[*axis as usize];
        let mut loops: Vec<_> = Axis::ALL.into_iter().filter(split).collect();
        // A spatial loop with a single fold does not advance: its place has no effect.
        let one_fold = spatial.filter(|&axis| {
            let at = axis as usize;
            self.rules.order_classes && entering[at].div_ceil(sizes[at]) <= units
        });
        if let Some(axis) = one_fold {
            loops.retain(|&it| it != axis);
        }
        let rest = Axis::ALL.into_iter().filter(|axis| !loops.contains(axis));
        let mut order: Vec<_> = loops.iter().copied().chain(rest).collect();
        let given = self.problem.space.level(level).order.clone();
        if let Some(given) = given {
            let place = |axis: &Axis| given.iter().position(|it| it == axis).unwrap_or(usize::MAX);
            order[..loops.len()].sort_by_key(place);
            return self.visit(skeleton, outer, sizes, &order);
        }
        self.permute(skeleton, outer, sizes, &mut order, 0, loops.len())
    }

    /// Whether a mapping with these sizes of the next level may be better than the best one so far.
    fn tile_may_improve(&self, skeleton: &Skeleton, outer: &Candidate, sizes: &Extents) -> bool {
        let Some(best) = self.incumbent.value() else { return true };
        let Problem { nest, machine, .. } = *self.problem;
        let level = outer.levels.len();
        let mut known: Vec<Extents> = outer.levels.iter().map(|level| level.sizes).collect();
        known.push(*sizes);
        let compute = skeleton.compute_cycles(nest.extents(), &known, machine.rate);
        let exposed = if level == 0 {
            exposed_cycles(nest, machine, sizes, skeleton.axes[0], skeleton.units[0])
        } else {
            0
        };
        let cycles = self.floor.cycles.max(compute.saturating_add(exposed));
        self.problem.objective.may_improve(&Value { cycles, ..self.floor }, best)
    }

    /// Visits every permutation of `order` from `at` up to `end`.
    fn permute(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        sizes: &Extents,
        order: &mut [Axis],
        at: usize,
        end: usize,
    ) -> Result<(), Unfinished> {
        if at >= end {
            return self.visit(skeleton, outer, sizes, order);
        }
        for other in at..end {
            order.swap(at, other);
            self.permute(skeleton, outer, sizes, order, at + 1, end)?;
            order.swap(at, other);
        }
        Ok(())
    }

    /// Visits a level with all its choices made: evaluates the mapping, or descends.
    fn visit(
        &mut self,
        skeleton: &Skeleton,
        outer: &mut Candidate,
        sizes: &Extents,
        order: &[Axis],
    ) -> Result<(), Unfinished> {
        self.budget = self.budget.checked_sub(1).ok_or(Unfinished)?;
        let level = outer.levels.len();
        let mut choice = LevelChoice::whole(skeleton.units[level], sizes);
        choice.spatial = skeleton.axes[level];
        choice.order.copy_from_slice(order);
        outer.levels.push(choice);
        let result = if level + 1 == skeleton.units.len() {
            self.leaf(outer);
            Ok(())
        } else if self.rules.level_bounds && !self.prefix_may_improve(skeleton, outer) {
            self.counts.excluded += 1;
            Ok(())
        } else {
            self.descend(skeleton, outer)
        };
        outer.levels.pop();
        result
    }

    fn prefix_may_improve(&self, skeleton: &Skeleton, outer: &Candidate) -> bool {
        let Some(best) = self.incumbent.value() else { return true };
        let bound = self.problem.partial_bound(outer, skeleton, &self.floor);
        bound.is_some_and(|bound| self.problem.objective.may_improve(&bound, best))
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

//! Best-first search with exact elimination.
//!
//! Every system has an upper bound of each objective, which falls as more is known: table look-ups, UB1 of
//! every draw, then draws themselves. After `r` of `R` draws the mean can still reach the sum of what was
//! scored and of the bounds of the other draws, over `R`; a system that cannot reach the best one then is
//! excluded without any statistics. Systems with the largest bounds are refined first, a fixed number at a
//! time, so that results depend neither on threads nor on timing.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use ordered_float::OrderedFloat;

use xrsim_model::cancel;
use xrsim_sim::bounds::Class;

use super::evaluation::{Job, Task};
use super::front::covers;
use super::goal::Question;
use super::view::View;
use super::{Observe, Search, StopReason};

/// Systems that are refined at a time.
const BATCH: usize = 32;

/// Most systems of which any scheduler is bounded.
const MAX_MOVING: usize = 10_000;

/// A system under a scheduler whose draws are all known.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Index of the system.
    pub system: u32,
    /// Index of the scheduler.
    pub scheduler: usize,
    /// Objectives, larger is better.
    pub(super) goods: Vec<f64>,
}

/// A system that may still be part of the answer, by its largest bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    bound: OrderedFloat<f64>,
    /// The first of equals comes first.
    system: std::cmp::Reverse<u32>,
}

/// Number of systems by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// All systems that were listed or reached.
    pub systems: u64,
    /// Excluded by a constraint, without runs.
    pub constrained: u64,
    /// Unable to run a model.
    pub infeasible: u64,
    /// Excluded by bounds, without runs.
    pub bounded: u64,
    /// Simulated in part, then excluded.
    pub partly: u64,
    /// Simulated in all draws under a scheduler.
    pub complete: u64,
}

/// State of the search for the answer to one question.
pub(super) struct Hunt {
    pub(super) question: Question,
    open: BinaryHeap<Open>,
    /// The best points: one for a single objective, else those that none covers.
    pub(super) best: Vec<Point>,
    pub(super) counts: Counts,
    /// Whether bounds exclude systems.
    excludes: bool,
}

impl Hunt {
    pub(super) fn new(question: Question, excludes: bool) -> Self {
        let (open, best) = (BinaryHeap::new(), Vec::new());
        Self { question, open, best, counts: Counts::default(), excludes }
    }

    /// The best value of a single objective.
    pub(super) fn incumbent(&self) -> Option<f64> {
        self.best.first().map(|point| point.goods[0])
    }

    /// Whether anything is open.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The largest bound of what is open.
    pub(super) fn upper(&self) -> Option<f64> {
        self.open.peek().map(|open| open.bound.0)
    }

    /// Relative distance of the best result from the largest bound of what is open; 0 if nothing is.
    pub(super) fn gap(&self) -> Option<f64> {
        let best = self.incumbent()?;
        gap(best, self.upper())
    }
}

/// Relative distance of a result from the largest bound of what is open; `None` if that is no bound.
pub(super) fn gap(best: f64, upper: Option<f64>) -> Option<f64> {
    let upper = upper.map_or(best, |upper| upper.max(best));
    match upper - best {
        0.0 => Some(0.0),
        distance if upper.is_finite() && upper != 0.0 => Some(distance / upper.abs()),
        _ => None,
    }
}

impl Search<'_> {
    /// Adds a system to what is open, unless it is excluded at once.
    pub(super) fn open(&self, hunt: &mut Hunt, system: u32) {
        hunt.counts.systems += 1;
        if self.is_homeless(&hunt.question, self.members(system)) {
            hunt.counts.infeasible += 1;
            return;
        }
        cancel::check();
        if !self.may_keep_limits(hunt, system, None) {
            hunt.counts.constrained += 1;
            return;
        }
        let goods = self.best_goods(hunt, system, None);
        if self.is_excluded(hunt, &goods, system, 0) {
            hunt.counts.bounded += 1;
            return;
        }
        let bound = OrderedFloat(goods[0]);
        hunt.open.push(Open { bound, system: std::cmp::Reverse(system) });
    }

    /// Refines what is open until nothing is, or until `observe` or a rule stops the search.
    pub(super) fn refine(
        &mut self,
        hunt: &mut Hunt,
        observe: &mut Observe<'_>,
    ) -> Result<(), StopReason> {
        loop {
            let batch = self.next_batch(hunt);
            if batch.is_empty() {
                return Ok(());
            }
            self.advance(hunt, &batch);
            for &system in &batch {
                self.settle(hunt, system);
            }
            self.check_stop(hunt, observe)?;
        }
    }

    fn next_batch(&mut self, hunt: &mut Hunt) -> Vec<u32> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let Some(Open { system, .. }) = hunt.open.pop() else { break };
            let system = system.0;
            // An earlier question may have made all of its runs.
            if self.evaluation.state(system).is_some() {
                (0..self.schedulers.len()).for_each(|it| self.offer(hunt, system, it));
            }
            let goods = self.best_goods(hunt, system, None);
            if self.is_out(hunt, system, &goods) {
                self.count_excluded(hunt, system);
                continue;
            }
            self.evaluation.touch(system);
            batch.push(system);
        }
        batch
    }

    /// Whether no scheduler that is not known yet can make the system part of the answer.
    fn is_out(&self, hunt: &Hunt, system: u32, goods: &[f64]) -> bool {
        self.is_excluded(hunt, goods, system, 0)
            || (self.evaluation.state(system).is_some()
                && self.alive(hunt, system).is_empty()
                && self.needs_runs(&hunt.question))
    }

    fn count_excluded(&self, hunt: &mut Hunt, system: u32) {
        let state = self.evaluation.state(system);
        let has_runs = state.is_some_and(|state| {
            hunt.question.loads().any(|load| state.scenes[load].tested.iter().any(|it| it.done > 0))
        });
        let is_complete = (0..self.schedulers.len()).any(|it| self.is_complete(hunt, system, it));
        match (is_complete, has_runs) {
            (true, _) => hunt.counts.complete += 1,
            (_, true) => hunt.counts.partly += 1,
            _ => hunt.counts.bounded += 1,
        }
    }

    /// Does the next work on every system of a batch.
    fn advance(&mut self, hunt: &Hunt, batch: &[u32]) {
        let mut jobs = Vec::new();
        for &system in batch {
            self.add_jobs(hunt, system, &mut jobs);
        }
        self.work(&jobs);
    }

    fn add_jobs(&self, hunt: &Hunt, system: u32, jobs: &mut Vec<Job>) {
        let question = &hunt.question;
        let Some(state) = self.evaluation.state(system) else { return };
        if !self.needs_runs(question) || state.failure.is_some() {
            return;
        }
        let uses_bounds = hunt.excludes && self.evaluation.has_bounds();
        let before = jobs.len();
        if uses_bounds {
            let is_alive = |class: &Class| {
                let mut alive = self.alive(hunt, system).into_iter();
                alive.any(|it| self.schedulers[it].class() == *class)
            };
            for class in Class::ALL.into_iter().filter(is_alive) {
                let lacks = |load: &usize| state.scenes[*load].bounds(class).is_none();
                let job = |load| Job { system, load, task: Task::Isolation(class) };
                jobs.extend(question.loads().filter(lacks).map(job));
            }
        }
        if jobs.len() > before {
            return;
        }
        for load in question.loads() {
            let mut by_end: Vec<(usize, Vec<usize>)> = Vec::new();
            for scheduler in self.alive(hunt, system) {
                let Some(end) = self.next_end(question, system, scheduler) else { continue };
                let end = end.min(self.evaluation.loads[load].n_draws());
                if (state.scenes[load].tested[scheduler].done as usize) < end {
                    match by_end.iter_mut().find(|(known, _)| *known == end) {
                        Some((_, schedulers)) => schedulers.push(scheduler),
                        None => by_end.push((end, vec![scheduler])),
                    }
                }
            }
            jobs.extend(by_end.into_iter().map(|(until, schedulers)| Job {
                system,
                load,
                task: Task::Runs { schedulers, until },
            }));
        }
    }

    /// Schedulers under which a system may be part of the answer and that have draws to make.
    fn alive(&self, hunt: &Hunt, system: u32) -> Vec<usize> {
        let is_alive = |&scheduler: &usize| {
            let goods = self.best_goods(hunt, system, Some(scheduler));
            !self.is_complete(hunt, system, scheduler)
                && self.may_keep_limits(hunt, system, Some(scheduler))
                && !self.is_excluded(hunt, &goods, system, scheduler)
        };
        (0..self.schedulers.len()).filter(is_alive).collect()
    }

    /// The number of draws to which the runs of a system under a scheduler go next: 1, 2, 4 and so on.
    fn next_end(&self, question: &Question, system: u32, scheduler: usize) -> Option<usize> {
        let state = self.evaluation.state(system)?;
        let n_draws = |load: usize| self.evaluation.loads[load].n_draws();
        let most = question.loads().map(n_draws).max()?;
        let ends =
            std::iter::successors(Some(1), |end| Some(end * 2)).map(|end: usize| end.min(most));
        let lacks = |end: &usize| {
            question.loads().any(|load| {
                let done = state.scenes[load].tested[scheduler].done as usize;
                done < n_draws(load).min(*end)
            })
        };
        ends.take(usize::BITS as usize).find(lacks)
    }

    pub(super) fn is_complete(&self, hunt: &Hunt, system: u32, scheduler: usize) -> bool {
        if !self.needs_runs(&hunt.question) {
            return true;
        }
        let Some(state) = self.evaluation.state(system) else { return false };
        hunt.question.loads().all(|load| {
            let done = state.scenes[load].tested[scheduler].done as usize;
            done == self.evaluation.loads[load].n_draws()
        })
    }

    /// Takes over what is known of a system after some work, and leaves it open unless it is settled.
    fn settle(&self, hunt: &mut Hunt, system: u32) {
        if self.evaluation.state(system).is_some_and(|state| state.failure.is_some()) {
            hunt.counts.infeasible += 1;
            return;
        }
        for scheduler in 0..self.schedulers.len() {
            self.offer(hunt, system, scheduler);
            if !self.needs_runs(&hunt.question) {
                hunt.counts.complete += 1;
                return;
            }
        }
        let alive = self.alive(hunt, system);
        if alive.is_empty() {
            self.count_excluded(hunt, system);
            return;
        }
        let goods = alive.iter().map(|&it| self.best_goods(hunt, system, Some(it))[0]);
        let bound = OrderedFloat(goods.fold(f64::NEG_INFINITY, f64::max));
        hunt.open.push(Open { bound, system: std::cmp::Reverse(system) });
    }

    /// Makes a complete system part of the answer if it is better than what is there.
    pub(super) fn offer(&self, hunt: &mut Hunt, system: u32, scheduler: usize) {
        let keeps = self.is_complete(hunt, system, scheduler)
            && self.may_keep_limits(hunt, system, Some(scheduler));
        if !keeps || hunt.best.iter().any(|it| (it.system, it.scheduler) == (system, scheduler)) {
            return;
        }
        let goods = self.best_goods(hunt, system, Some(scheduler));
        if hunt.question.is_front() {
            if !self.is_covered(hunt, &goods, system, scheduler) {
                hunt.best.retain(|point| !covers(&goods, &point.goods));
                hunt.best.push(Point { system, scheduler, goods });
            }
        } else if !self.loses(hunt, &goods, system, scheduler) {
            hunt.best = vec![Point { system, scheduler, goods }];
        }
    }

    /// Whether what a system can still reach under a scheduler is not better than the answer.
    pub(super) fn is_beaten(&self, hunt: &Hunt, system: u32, scheduler: usize) -> bool {
        let goods = self.best_goods(hunt, system, Some(scheduler));
        self.is_excluded(hunt, &goods, system, scheduler)
    }

    /// Whether results of `goods` or less cannot change the answer.
    fn is_excluded(&self, hunt: &Hunt, goods: &[f64], system: u32, scheduler: usize) -> bool {
        hunt.excludes
            && match hunt.question.is_front() {
                true => self.is_covered(hunt, goods, system, scheduler),
                false => self.loses(hunt, goods, system, scheduler),
            }
    }

    /// Whether a single objective of `goods` is not better than the best one. Of equals, the system with
    /// less area wins, then the one with fewer PEs, with fewer accelerators, and the first one.
    fn loses(&self, hunt: &Hunt, goods: &[f64], system: u32, scheduler: usize) -> bool {
        hunt.best.first().is_some_and(|best| self.yields(goods, best, system, scheduler))
    }

    /// Whether a point of the front is as good in every objective. Of equals one is in the front, that which would win
    /// with a single objective.
    fn is_covered(&self, hunt: &Hunt, goods: &[f64], system: u32, scheduler: usize) -> bool {
        hunt.best.iter().any(|point| self.yields(goods, point, system, scheduler))
    }

    /// Whether a point is at least as good as `goods`, and of equals the one that wins.
    fn yields(&self, goods: &[f64], point: &Point, system: u32, scheduler: usize) -> bool {
        covers(&point.goods, goods)
            && (!covers(goods, &point.goods)
                || self.rank(system, scheduler) >= self.rank(point.system, point.scheduler))
    }

    fn rank(&self, system: u32, scheduler: usize) -> (OrderedFloat<f64>, u64, usize, u32, usize) {
        let members = self.members(system);
        let area = self.areas.as_ref().map_or(0.0, |areas| areas.area(members));
        let types = self.space.types();
        let pes = members.iter().map(|&it| u64::from(types[it as usize].pes)).sum();
        (OrderedFloat(area), pes, members.len(), system, scheduler)
    }

    /// Whether the limits can be kept, as far as is known.
    pub(super) fn may_keep_limits(
        &self,
        hunt: &Hunt,
        system: u32,
        scheduler: Option<usize>,
    ) -> bool {
        hunt.question.constraints.iter().all(|limit| {
            let of = self.view().range(system, scheduler, &hunt.question, limit.quantity);
            limit.holds(if limit.is_most { of.low } else { of.high })
        })
    }

    /// Best values of the objectives that a system can reach, as far as is known; larger is better.
    pub(super) fn best_goods(
        &self,
        hunt: &Hunt,
        system: u32,
        scheduler: Option<usize>,
    ) -> Vec<f64> {
        let view = self.view();
        let best = |&quantity: &super::Quantity| {
            view.range(system, scheduler, &hunt.question, quantity).best(quantity)
        };
        hunt.question.objectives.iter().map(best).collect()
    }

    pub(super) fn view(&self) -> View<'_, '_> {
        View {
            evaluation: &self.evaluation,
            systems: &self.systems,
            coarse: &self.coarse,
            areas: self.areas.as_ref(),
            seconds: &self.seconds,
        }
    }

    /// Whether an answer needs runs.
    pub(super) fn needs_runs(&self, question: &Question) -> bool {
        let limits = question.constraints.iter().map(|it| it.quantity);
        question.objectives.iter().copied().chain(limits).any(super::Quantity::is_sampled)
    }

    /// The largest upper bound of the score of any system under the schedulers of a class: UB3 of the systems that
    /// can have the largest. `None` if the question of `answered` has no such bound, if it would take too long, or if
    /// `observe` stops the work.
    pub(super) fn certificate(
        &mut self,
        answered: &Hunt,
        class: Class,
        observe: &mut Observe<'_>,
    ) -> Option<f64> {
        let question = &answered.question;
        let [quantity] = question.objectives[..] else { return None };
        let is_bounded = quantity.has_bound() && self.evaluation.has_bounds();
        if !is_bounded || !question.constraints.is_empty() {
            return None;
        }
        // No table bounds these, so that each system takes bounds of every draw.
        if class == Class::Any && self.systems.len() > MAX_MOVING {
            return None;
        }
        let is_able = |&it: &u32| !self.is_homeless(question, self.members(it));
        let able = (0..self.systems.len() as u32).filter(is_able);
        let mut open: BinaryHeap<_> =
            able.map(|it| self.largest_score((question, class), quantity, it)).collect();
        loop {
            let batch = match self.loosest((question, class), &mut open) {
                ControlFlow::Continue(batch) => batch,
                ControlFlow::Break(bound) => return bound,
            };
            let mut jobs = Vec::new();
            for &system in &batch {
                let task = match self.level((question, class), system) {
                    Level::Table => Task::Isolation(class),
                    _ => Task::Program(class),
                };
                jobs.extend(question.loads().map(|load| Job { system, load, task: task.clone() }));
            }
            self.work(&jobs);
            let has_failed =
                |it: &u32| self.evaluation.state(*it).is_some_and(|state| state.failure.is_some());
            let left = batch.into_iter().filter(|it| !has_failed(it));
            open.extend(left.map(|it| self.largest_score((question, class), quantity, it)));
            if self.check_stop(answered, observe) == Err(StopReason::Stopped) {
                return None;
            }
        }
    }

    /// A system by the tightest bound of its score that is known.
    fn largest_score(
        &self,
        (question, class): (&Question, Class),
        quantity: super::Quantity,
        system: u32,
    ) -> Open {
        let members = self.members(system);
        let state = self.evaluation.state(system);
        let of = |load: usize| match state.and_then(|it| it.scenes[load].bounds(class)) {
            Some(bounds) => bounds.iter().sum::<f64>() / bounds.len() as f64 * (1.0 + 1e-12),
            None => self.coarse.score(members, load, class),
        };
        let bound = OrderedFloat(question.over(quantity, of));
        Open { bound, system: std::cmp::Reverse(system) }
    }

    /// Takes the systems with the largest bounds that can be tighter. Breaks with the largest bound of all if that one
    /// cannot, or if nothing is open.
    fn loosest(
        &mut self,
        of: (&Question, Class),
        open: &mut BinaryHeap<Open>,
    ) -> ControlFlow<Option<f64>, Vec<u32>> {
        let mut batch: Vec<u32> = Vec::new();
        while batch.len() < BATCH / 4
            && let Some(&Open { bound, system }) = open.peek()
        {
            if self.level(of, system.0) == Level::Program {
                if batch.is_empty() {
                    return ControlFlow::Break(Some(bound.0));
                }
                break;
            }
            open.pop();
            self.evaluation.touch(system.0);
            batch.push(system.0);
        }
        if batch.is_empty() { ControlFlow::Break(None) } else { ControlFlow::Continue(batch) }
    }

    /// The tightest bound that is known of a system in all scenarios of a question.
    fn level(&self, (question, class): (&Question, Class), system: u32) -> Level {
        let Some(state) = self.evaluation.state(system) else { return Level::Table };
        let of = |load: usize| match state.scenes[load].of(class) {
            scene if scene.program.is_some() => Level::Program,
            scene if scene.isolation.is_some() => Level::Isolation,
            _ => Level::Table,
        };
        question.loads().map(of).min().unwrap_or(Level::Table)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Table,
    Isolation,
    Program,
}

//! Many ready jobs by what their costs depend on, kept from one decision to the next.
//!
//! Jobs of one class, of the same work and the same next layer, differ in arrival, deadline and waiting time only. A
//! policy orders them by one of these, so that one or two jobs of a class stand for all of it.

use std::collections::btree_map::Values;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use xrsim_model::ids::{AccelId, FrameId, ModelId, RequestId, WorkId};
use xrsim_model::units::SimTime;

use super::limits::{Descending, Limits, Line};
use super::ready::Change;
use super::tie::{Tie, tie};
use super::view::Kind;
use super::{Job, View};

/// Place of a job in its class: the earliest deadline first.
type Place = (Tie, RequestId);

fn place(job: &Job) -> Place {
    (tie(job), job.request)
}

/// The first place of jobs that are due after `time`.
fn place_after(time: SimTime) -> Place {
    let due = SimTime::from_ns(time.ns().saturating_add(1));
    ((due, SimTime::ZERO, ModelId::new(0), FrameId::new(0)), RequestId::new(0))
}

/// Places in order of a time.
type ByTime = BTreeSet<(SimTime, Place)>;

/// Begin of a wait, by which a policy wants the jobs of a class in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Its arrival.
    Arrival,
    /// When it became ready, less its earlier waits: the earliest has waited longest in all.
    AllWaits,
    /// When it became ready, or ran last.
    Ready,
}

impl Since {
    fn of(self, job: &Job) -> SimTime {
        match self {
            Self::Arrival => job.arrival,
            Self::AllWaits => SimTime::from_ns(job.ready_since.ns() - job.waited.ns()),
            Self::Ready => job.ready_since,
        }
    }
}

/// What a policy needs to know of classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needs {
    /// Orders of the jobs of a class besides that of their deadlines.
    pub(super) orders: &'static [Since],
    /// Number of orders of the classes by upper bounds.
    pub(super) n_limits: usize,
}

/// Jobs with equal costs, a class.
#[derive(Debug)]
pub struct Alike {
    due: BTreeMap<Place, Job>,
    waits: Box<[(Since, ByTime)]>,
    /// Number of neighbours of which the one that is due later arrived or became ready earlier.
    n_descents: usize,
}

/// Whether `next`, which is due at the same time or later, arrived or became ready before `job`.
fn descends(job: Option<&Job>, next: Option<&Job>) -> usize {
    let is_before = |(a, b): (&Job, &Job)| b.ready_since < a.ready_since || b.arrival < a.arrival;
    usize::from(job.zip(next).is_some_and(is_before))
}

impl Alike {
    fn new(orders: &[Since]) -> Self {
        let waits = orders.iter().map(|since| (*since, ByTime::new())).collect();
        Self { due: BTreeMap::new(), waits, n_descents: 0 }
    }

    fn add(&mut self, job: Job) {
        let (before, after) = self.neighbours(place(&job));
        let change = descends(before, Some(&job)) + descends(Some(&job), after);
        self.n_descents = self.n_descents + change - descends(before, after);
        for (since, order) in &mut self.waits {
            order.insert((since.of(&job), place(&job)));
        }
        self.due.insert(place(&job), job);
    }

    fn remove(&mut self, job: &Job) {
        for (since, order) in &mut self.waits {
            order.remove(&(since.of(job), place(job)));
        }
        self.due.remove(&place(job));
        let (before, after) = self.neighbours(place(job));
        let change = descends(before, Some(job)) + descends(Some(job), after);
        self.n_descents = self.n_descents + descends(before, after) - change;
    }

    fn neighbours(&self, at: Place) -> (Option<&Job>, Option<&Job>) {
        let before = self.due.range(..at).next_back();
        (before.map(|(_, job)| job), self.after(at))
    }

    fn after(&self, at: Place) -> Option<&Job> {
        self.due.range((Bound::Excluded(at), Bound::Unbounded)).next().map(|(_, job)| job)
    }

    /// All jobs, the earliest deadline first.
    pub(super) fn jobs(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.due.values()
    }

    /// Jobs that are due after `now`, the earliest deadline first.
    pub(super) fn on_time(&self, now: SimTime) -> impl Iterator<Item = &Job> {
        self.due.range(place_after(now)..).map(|(_, job)| job)
    }

    /// The first job of every deadline after `now`.
    pub(super) fn deadlines(&self, now: SimTime) -> impl Iterator<Item = &Job> {
        let first = move |time| self.on_time(time).next().filter(|job| job.deadline > time);
        std::iter::successors(first(now), move |job| first(job.deadline))
    }

    /// All jobs, that with the earliest begin of its wait first; of equals, the earliest deadline. The policy needs this
    /// order ([`Needs`]).
    pub(super) fn by(&self, wanted: Since) -> impl DoubleEndedIterator<Item = &Job> {
        let order = self.waits.iter().find(|(since, _)| *since == wanted);
        let (_, order) = order.expect("the order is among the needs of the policy");
        order.iter().map(|(_, place)| &self.due[place])
    }

    /// Jobs of which one is the best for a policy whose `value` is larger for an earlier deadline, of which it depends up
    /// to the deadline alone, and for an earlier [`Since::Ready`].
    pub(super) fn candidates<V: PartialEq>(
        &self,
        now: SimTime,
        value: impl Fn(&Job) -> V,
    ) -> impl Iterator<Item = &Job> {
        let most = if self.n_descents == 0 { 1 } else { usize::MAX };
        let late = self.by(Since::Ready).filter(move |job| job.deadline <= now);
        equals(late, value).take(most).chain(self.on_time(now).take(most))
    }

    /// The first job with the largest `value`, which is larger for a later deadline, or equal after rounding.
    pub(super) fn first_of_largest<V: PartialEq>(&self, value: impl Fn(&Job) -> V) -> Option<&Job> {
        let (mut low, mut high) = (self.jobs().next()?, self.jobs().next_back()?);
        let largest = value(high);
        if value(low) == largest {
            return Some(low);
        }
        // `low` has a smaller value, `high` has the largest: half of the time between them is left after each step.
        loop {
            let middle = low.deadline.ns() + (high.deadline.ns() - low.deadline.ns()) / 2;
            let before = self.due.range(..place_after(SimTime::from_ns(middle))).next_back();
            let before = before.map(|(_, job)| job).filter(|job| place(job) > place(low));
            let next = before.or_else(|| self.after(place(low)))?;
            match value(next) == largest {
                true if next.request == high.request => return Some(high),
                true => high = next,
                false => low = next,
            }
        }
    }

    /// Jobs that are first and equal but for their number.
    pub(super) fn firsts(&self) -> impl Iterator<Item = &Job> {
        let first = self.due.keys().next().map(|(tie, _)| *tie);
        self.due.iter().take_while(move |((tie, _), _)| Some(*tie) == first).map(|(_, job)| job)
    }
}

/// The first job and those after it with the same `value`. A value in the order of which jobs are is equal for some of
/// them after rounding; among these, ties decide.
pub(super) fn equals<'j, V: PartialEq>(
    jobs: impl Iterator<Item = &'j Job>,
    value: impl Fn(&Job) -> V,
) -> impl Iterator<Item = &'j Job> {
    let mut first: Option<(&Job, Option<V>)> = None;
    jobs.take_while(move |job| match &mut first {
        Some((first, known)) => *known.get_or_insert_with(|| value(first)) == value(job),
        None => {
            first = Some((job, None));
            true
        }
    })
}

/// Ready jobs in classes.
#[derive(Debug)]
pub struct Classes {
    needs: Needs,
    by_kind: BTreeMap<Kind, Alike>,
    limits: Limits,
    /// Jobs by the accelerator that they ran on last, in the order in which they became ready.
    cut: BTreeMap<(AccelId, ModelId), BTreeSet<(SimTime, RequestId)>>,
    /// Number of the first change that is not applied yet.
    next_change: u64,
}

impl Classes {
    /// Updates `classes` and returns them; discards them and returns `None` if there are few jobs.
    pub(super) fn up_to_date<'c>(
        classes: &'c mut Option<Self>,
        needs: Needs,
        view: &View<'_>,
    ) -> Option<&'c mut Self> {
        if !view.ready.is_worth_an_order(classes.is_some()) {
            *classes = None;
            return None;
        }
        if !classes.as_mut().is_some_and(|known| known.update(view)) {
            *classes = Some(Self::of_all(needs, view));
        }
        classes.as_mut()
    }

    fn of_all(needs: Needs, view: &View<'_>) -> Self {
        let mut classes = Self {
            needs,
            by_kind: BTreeMap::new(),
            limits: Limits::new(needs.n_limits),
            cut: BTreeMap::new(),
            next_change: view.ready.next_change(),
        };
        view.ready.iter().for_each(|job| classes.add(job));
        classes
    }

    /// Applies the changes of the ready jobs; `false` if some of them are not logged any more.
    fn update(&mut self, view: &View<'_>) -> bool {
        let Some(changes) = view.ready.changes_since(self.next_change) else { return false };
        for change in changes {
            self.apply(change);
        }
        self.next_change = view.ready.next_change();
        true
    }

    fn apply(&mut self, change: &Change) {
        if let Some(job) = change.removed() {
            self.remove(job);
        }
        if let Some(job) = change.added() {
            self.add(job);
        }
    }

    fn add(&mut self, job: &Job) {
        let class = self.by_kind.entry(job.kind());
        class.or_insert_with(|| Alike::new(self.needs.orders)).add(*job);
        self.limits.touch(job.kind());
        if let Some(accelerator) = job.last_accelerator {
            let cut = self.cut.entry((accelerator, job.model)).or_default();
            cut.insert((job.ready_since, job.request));
        }
    }

    fn remove(&mut self, job: &Job) {
        if let Some(class) = self.by_kind.get_mut(&job.kind()) {
            class.remove(job);
            if class.due.is_empty() {
                self.by_kind.remove(&job.kind());
            }
        }
        self.limits.touch(job.kind());
        if let Some(cut) = job.last_accelerator.and_then(|it| self.cut.get_mut(&(it, job.model))) {
            cut.remove(&(job.ready_since, job.request));
        }
    }

    /// Every class.
    pub(super) fn all(&self) -> impl Iterator<Item = &Alike> {
        self.by_kind.values()
    }

    /// Every class of `work`.
    pub(super) fn of(&self, work: WorkId) -> impl Iterator<Item = &Alike> {
        self.by_kind.range((work, 0)..=(work, u32::MAX)).map(|(_, class)| class)
    }

    /// Brings an order of the classes by upper bounds up to date. `line` returns the bound of a class.
    pub(super) fn limit(&mut self, index: usize, now: SimTime, line: impl Fn(&Alike) -> Line) {
        let class = |kind| self.by_kind.get(&kind);
        self.limits.settle(index, now, |kind| class(kind).map_or(Line::LOWEST, &line));
    }

    /// Classes in the order of their upper bounds at `now`, the largest first; all of them in any order if there are no
    /// such bounds.
    pub(super) fn promising(&self, index: usize, now: SimTime) -> Promising<'_> {
        match self.limits.descending(index, now) {
            Some(descending) => Promising::Limited(self, descending),
            None => Promising::All(self.by_kind.values()),
        }
    }

    /// The request of `model` that waits to go on at `accelerator` and became ready last.
    pub(super) fn last_cut(&self, accelerator: AccelId, model: ModelId) -> Option<RequestId> {
        let cut = self.cut.get(&(accelerator, model))?;
        cut.last().map(|(_, request)| *request)
    }

    /// The first request that ran on `accelerator` until `now`.
    pub(super) fn cut_at(&self, accelerator: AccelId, now: SimTime) -> Option<RequestId> {
        let models =
            (accelerator, ModelId::new(0))..=(accelerator, ModelId::new(u32::MAX as usize));
        let first = |cut: &BTreeSet<(SimTime, RequestId)>| {
            cut.range((now, RequestId::new(0))..).next().map(|(_, request)| *request)
        };
        self.cut.range(models).filter_map(|(_, cut)| first(cut)).min()
    }
}

/// Classes that can have the best job.
pub(super) enum Promising<'c> {
    /// All of them.
    All(Values<'c, Kind, Alike>),
    /// Those with the largest bounds first.
    Limited(&'c Classes, Descending<'c>),
}

impl<'c> Promising<'c> {
    /// The next class that can have a job of value `most` or larger. `most` never falls from call to call.
    pub(super) fn next(&mut self, most: f64) -> Option<&'c Alike> {
        match self {
            Self::All(classes) => classes.next(),
            Self::Limited(classes, descending) => loop {
                if let Some(class) = classes.by_kind.get(&descending.next(most)?) {
                    return Some(class);
                }
            },
        }
    }
}

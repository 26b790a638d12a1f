//! Many ready jobs by what their costs depend on, kept from one decision to the next.
//!
//! Jobs of one class, of the same work and the same next layer, differ in arrival, deadline and waiting time only. Where
//! a policy prefers the one that is due and ready first, one or two jobs of a class stand for all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use xrsim_model::ids::{AccelId, FrameId, ModelId, RequestId, WorkId};
use xrsim_model::units::SimTime;

use super::ready::{Change, FEW};
use super::tie::{Tie, tie};
use super::{Job, View};

/// Number of ready jobs above which classes are kept, until there are at most [`FEW`].
const MANY: usize = 2 * FEW;

/// Place of a job in its class: the earliest deadline first.
type Place = (Tie, RequestId);

fn place(job: &Job) -> Place {
    (tie(job), job.request)
}

/// Jobs with equal costs, a class.
#[derive(Debug, Default)]
pub struct Alike {
    order: BTreeMap<Place, Job>,
    /// The same in the order in which they became ready.
    waits: BTreeSet<(SimTime, Place)>,
    /// Number of neighbours of which the one that is due later arrived or became ready earlier.
    n_descents: usize,
}

/// Whether `next`, which is due at the same time or later, arrived or became ready before `job`.
fn descends(job: Option<&Job>, next: Option<&Job>) -> usize {
    let is_before = |(a, b): (&Job, &Job)| b.ready_since < a.ready_since || b.arrival < a.arrival;
    usize::from(job.zip(next).is_some_and(is_before))
}

impl Alike {
    fn add(&mut self, job: Job) {
        let (before, after) = self.neighbours(place(&job));
        let change = descends(before, Some(&job)) + descends(Some(&job), after);
        self.n_descents = self.n_descents + change - descends(before, after);
        self.waits.insert((job.ready_since, place(&job)));
        self.order.insert(place(&job), job);
    }

    fn remove(&mut self, job: &Job) {
        self.waits.remove(&(job.ready_since, place(job)));
        self.order.remove(&place(job));
        let (before, after) = self.neighbours(place(job));
        let change = descends(before, Some(job)) + descends(Some(job), after);
        self.n_descents = self.n_descents + descends(before, after) - change;
    }

    fn neighbours(&self, at: Place) -> (Option<&Job>, Option<&Job>) {
        let before = self.order.range(..at).next_back();
        let after = self.order.range((Bound::Excluded(at), Bound::Unbounded)).next();
        (before.map(|(_, job)| job), after.map(|(_, job)| job))
    }

    /// Whether the jobs became ready in the order in which they are due.
    pub(super) fn is_in_order(&self) -> bool {
        self.n_descents == 0
    }

    /// All jobs, the earliest deadline first.
    pub(super) fn jobs(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.order.values()
    }

    /// Jobs that are due after `now`, the earliest deadline first.
    fn on_time(&self, now: SimTime) -> impl Iterator<Item = &Job> {
        self.order.range(place_after(now)..).map(|(_, job)| job)
    }

    /// All jobs, that which has waited longest first.
    pub(super) fn waits(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.waits.iter().map(|(_, place)| &self.order[place])
    }

    /// Jobs of which one is the best for a policy whose `value` is larger for an earlier deadline, of which it depends up
    /// to the deadline alone, and for an earlier start of the wait. Equal values are equal after rounding.
    pub(super) fn candidates<V: PartialEq + Clone>(
        &self,
        now: SimTime,
        value: impl Fn(&Job) -> V,
    ) -> impl Iterator<Item = &Job> {
        let most = if self.is_in_order() { 1 } else { usize::MAX };
        let mut largest = None;
        let late = self.waits().filter(move |job| job.deadline <= now);
        let late = late.take_while(move |job| {
            let value = value(job);
            *largest.get_or_insert_with(|| V::clone(&value)) == value
        });
        late.take(most).chain(self.on_time(now).take(most))
    }

    /// Jobs that are first and equal but for their number.
    pub(super) fn firsts(&self) -> impl Iterator<Item = &Job> {
        let first = self.order.keys().next().map(|(tie, _)| *tie);
        self.order.iter().take_while(move |((tie, _), _)| Some(*tie) == first).map(|(_, job)| job)
    }
}

/// The first place of jobs that are due after `now`.
fn place_after(now: SimTime) -> Place {
    let due = SimTime::from_ns(now.ns().saturating_add(1));
    ((due, SimTime::ZERO, ModelId::new(0), FrameId::new(0)), RequestId::new(0))
}

/// Ready jobs in classes.
#[derive(Debug)]
pub(crate) struct Classes {
    by_class: BTreeMap<(WorkId, u32), Alike>,
    /// Jobs by the accelerator that they ran on last, in the order in which they became ready.
    cut: BTreeMap<(AccelId, ModelId), BTreeSet<(SimTime, RequestId)>>,
    /// Number of the first change that is not applied yet.
    next_change: u64,
}

impl Classes {
    /// Updates `classes` and returns them; discards them and returns `None` if there are few jobs.
    pub(super) fn up_to_date<'c>(
        classes: &'c mut Option<Self>,
        view: &View<'_>,
    ) -> Option<&'c Self> {
        let enough = if classes.is_some() { FEW } else { MANY };
        if view.ready.len() <= enough {
            *classes = None;
            return None;
        }
        if !classes.as_mut().is_some_and(|known| known.update(view)) {
            *classes = Some(Self::of_all(view));
        }
        classes.as_ref()
    }

    fn of_all(view: &View<'_>) -> Self {
        let next_change = view.ready.next_change();
        let mut classes = Self { by_class: BTreeMap::new(), cut: BTreeMap::new(), next_change };
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
        self.by_class.entry((job.work, job.next_layer)).or_default().add(*job);
        if let Some(accelerator) = job.last_accelerator {
            let cut = self.cut.entry((accelerator, job.model)).or_default();
            cut.insert((job.ready_since, job.request));
        }
    }

    fn remove(&mut self, job: &Job) {
        let key = (job.work, job.next_layer);
        if let Some(class) = self.by_class.get_mut(&key) {
            class.remove(job);
            if class.order.is_empty() {
                self.by_class.remove(&key);
            }
        }
        if let Some(cut) = job.last_accelerator.and_then(|it| self.cut.get_mut(&(it, job.model))) {
            cut.remove(&(job.ready_since, job.request));
        }
    }

    /// Every class.
    pub(super) fn all(&self) -> impl Iterator<Item = &Alike> {
        self.by_class.values()
    }

    /// The request of `model` that waits to go on at `accelerator` and became ready last.
    pub(super) fn last_cut(&self, accelerator: AccelId, model: ModelId) -> Option<RequestId> {
        let cut = self.cut.get(&(accelerator, model))?;
        cut.last().map(|(_, request)| *request)
    }
}

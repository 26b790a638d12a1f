//! An order of many ready jobs, kept from one decision to the next.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::ids::RequestId;

use super::ranked::{Tie, tie};
use super::ready::{Change, FEW};
use super::{Job, Rank, View};

/// From so many ready jobs on an order is kept; until there are few again.
const MANY: usize = 2 * FEW;

/// Ready jobs in the order of a [`Rank`] whose order is fixed. A decision costs the logarithm of
/// their number, where looking at all of them costs their number.
pub(super) struct Queue<K> {
    order: BTreeSet<Place<K>>,
    /// Jobs whose place is not final yet.
    unsettled: Vec<RequestId>,
    /// Number of the first change that it does not know.
    next_change: u64,
}

/// The place of a job in an order.
#[derive(Clone, Copy)]
pub(super) struct Place<K> {
    pub(super) key: K,
    tie: Tie,
    pub(super) request: RequestId,
}

impl<K: PartialOrd> Ord for Place<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.key.partial_cmp(&other.key).unwrap_or(Ordering::Equal);
        keys.then_with(|| (self.tie, self.request).cmp(&(other.tie, other.request)))
    }
}

impl<K: PartialOrd> PartialOrd for Place<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: PartialOrd> PartialEq for Place<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: PartialOrd> Eq for Place<K> {}

fn place<R: Rank>(rank: &R, job: &Job, view: &View<'_>) -> Place<R::Key> {
    Place { key: rank.key(job, view), tie: tie(job), request: job.request }
}

impl<K: PartialOrd + Copy> Queue<K> {
    /// The order in `queue`, brought up to date; `None`, and none is kept, where jobs are few.
    pub(super) fn up_to_date<'q, R: Rank<Key = K>>(
        queue: &'q mut Option<Self>,
        rank: &R,
        view: &View<'_>,
    ) -> Option<&'q mut Self> {
        let enough = if queue.is_some() { FEW } else { MANY };
        if view.ready.len() <= enough {
            *queue = None;
            return None;
        }
        if !queue.as_mut().is_some_and(|known| known.follow(rank, view)) {
            *queue = Some(Self::of_all(rank, view));
        }
        queue.as_mut()
    }

    fn of_all<R: Rank<Key = K>>(rank: &R, view: &View<'_>) -> Self {
        let next_change = view.ready.next_change();
        let mut queue = Self { order: BTreeSet::new(), unsettled: Vec::new(), next_change };
        view.ready.iter().for_each(|job| queue.add(rank, job, view));
        queue
    }

    /// Does what was done to the ready jobs; `false` if that is not known any more.
    fn follow<R: Rank<Key = K>>(&mut self, rank: &R, view: &View<'_>) -> bool {
        let Some(changes) = view.ready.changes_since(self.next_change) else { return false };
        for change in changes {
            self.apply(rank, change, view);
        }
        self.next_change = view.ready.next_change();
        self.settle(rank, view);
        true
    }

    fn apply<R: Rank<Key = K>>(&mut self, rank: &R, change: &Change, view: &View<'_>) {
        if let Some(old) = change.leaving() {
            match self.unsettled.iter().position(|request| *request == old.request) {
                Some(index) => drop(self.unsettled.swap_remove(index)),
                None => drop(self.order.remove(&place(rank, old, view))),
            }
        }
        if let Some(new) = change.coming() {
            self.add(rank, new, view);
        }
    }

    fn add<R: Rank<Key = K>>(&mut self, rank: &R, job: &Job, view: &View<'_>) {
        match rank.is_settled(job, view) {
            true => drop(self.order.insert(place(rank, job, view))),
            false => self.unsettled.push(job.request),
        }
    }

    /// Gives their places to jobs that have got them since.
    fn settle<R: Rank<Key = K>>(&mut self, rank: &R, view: &View<'_>) {
        for request in std::mem::take(&mut self.unsettled) {
            if let Some(job) = view.ready.get(request) {
                self.add(rank, job, view);
            }
        }
    }

    /// Takes the first job out of the order, if its key is below `limit`.
    pub(super) fn pop_below(&mut self, limit: K) -> Option<RequestId> {
        let place = self.order.first().filter(|place| place.key < limit)?;
        let request = place.request;
        self.order.pop_first();
        Some(request)
    }

    /// The first job; `None` only if there is none.
    pub(super) fn first<R: Rank<Key = K>>(&self, rank: &R, view: &View<'_>) -> Option<Place<K>> {
        let unsettled = self.unsettled.iter().filter_map(|request| view.ready.get(*request));
        let unsettled = unsettled.map(|job| place(rank, job, view));
        self.order.first().copied().into_iter().chain(unsettled).min()
    }
}

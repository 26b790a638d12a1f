//! Order of many ready jobs, kept from one decision to the next.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use xrsim_model::ids::RequestId;

use super::rank::Rank;
use super::ready::{Change, FEW};
use super::tie::{Tie, tie};
use super::{Job, View};

/// Number of ready jobs above which an order is kept, until there are at most [`FEW`].
const MANY: usize = 2 * FEW;

/// Ready jobs in the order of a [`Rank`] whose order is fixed. A decision costs the logarithm of their
/// number, where a scan costs their number.
pub(super) struct Queue<K> {
    order: BTreeSet<Place<K>>,
    /// Jobs whose key can still change.
    unsettled: Vec<RequestId>,
    /// Number of the first change that is not applied yet.
    next_change: u64,
}

/// Place of a job in an order.
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
    /// Updates the order in `queue` and returns it; discards it and returns `None` if there are few jobs.
    #[inline]
    pub(super) fn up_to_date<'q, R: Rank<Key = K>>(
        queue: &'q mut Option<Self>,
        rank: &R,
        view: &View<'_>,
    ) -> Option<&'q mut Self> {
        let enough = if queue.is_some() { FEW } else { MANY };
        if view.ready.len() <= enough {
            if queue.is_some() {
                *queue = None;
            }
            return None;
        }
        Self::updated(queue, rank, view)
    }

    fn updated<'q, R: Rank<Key = K>>(
        queue: &'q mut Option<Self>,
        rank: &R,
        view: &View<'_>,
    ) -> Option<&'q mut Self> {
        if !queue.as_mut().is_some_and(|known| known.update(rank, view)) {
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

    /// Applies the changes of the ready jobs; `false` if some of them are not logged any more.
    fn update<R: Rank<Key = K>>(&mut self, rank: &R, view: &View<'_>) -> bool {
        let Some(changes) = view.ready.changes_since(self.next_change) else { return false };
        for change in changes {
            self.apply(rank, change, view);
        }
        self.next_change = view.ready.next_change();
        self.settle(rank, view);
        true
    }

    fn apply<R: Rank<Key = K>>(&mut self, rank: &R, change: &Change, view: &View<'_>) {
        if let Some(old) = change.removed() {
            match self.unsettled.iter().position(|request| *request == old.request) {
                Some(index) => drop(self.unsettled.swap_remove(index)),
                None => drop(self.order.remove(&place(rank, old, view))),
            }
        }
        if let Some(new) = change.added() {
            self.add(rank, new, view);
        }
    }

    fn add<R: Rank<Key = K>>(&mut self, rank: &R, job: &Job, view: &View<'_>) {
        match rank.is_settled(job, view) {
            true => drop(self.order.insert(place(rank, job, view))),
            false => self.unsettled.push(job.request),
        }
    }

    /// Inserts jobs whose key has become final.
    fn settle<R: Rank<Key = K>>(&mut self, rank: &R, view: &View<'_>) {
        for request in std::mem::take(&mut self.unsettled) {
            if let Some(job) = view.ready.get(request) {
                self.add(rank, job, view);
            }
        }
    }

    /// Removes the first job from the order if its key is below `limit`.
    pub(super) fn pop_below(&mut self, limit: K) -> Option<RequestId> {
        let place = self.order.first().filter(|place| place.key < limit)?;
        let request = place.request;
        self.order.pop_first();
        Some(request)
    }

    /// The first job; `None` if there are no jobs.
    pub(super) fn first<R: Rank<Key = K>>(&self, rank: &R, view: &View<'_>) -> Option<Place<K>> {
        let unsettled = self.unsettled.iter().filter_map(|request| view.ready.get(*request));
        let unsettled = unsettled.map(|job| place(rank, job, view));
        self.order.first().copied().into_iter().chain(unsettled).min()
    }
}

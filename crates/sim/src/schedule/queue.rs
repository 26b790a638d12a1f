//! Order of many ready jobs, kept from one decision to the next.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use xrsim_model::ids::RequestId;

use super::rank::Rank;
use super::ready::Change;
use super::tie::{Tie, tie};
use super::view::Kind;
use super::{Job, View};

/// Ready jobs in the order of a [`Rank`] whose order is fixed. A decision costs the logarithm of their
/// number, where a scan costs their number.
pub(super) struct Queue<K> {
    /// One order of all jobs, or one for each class of jobs with the same work and next layer.
    orders: BTreeMap<Option<Kind>, BTreeSet<Place<K>>>,
    is_by_class: bool,
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
        is_by_class: bool,
        rank: &R,
        view: &View<'_>,
    ) -> Option<&'q mut Self> {
        if !view.ready.is_worth_an_order(queue.is_some()) {
            if queue.is_some() {
                *queue = None;
            }
            return None;
        }
        Self::updated(queue, is_by_class, rank, view)
    }

    fn updated<'q, R: Rank<Key = K>>(
        queue: &'q mut Option<Self>,
        is_by_class: bool,
        rank: &R,
        view: &View<'_>,
    ) -> Option<&'q mut Self> {
        if !queue.as_mut().is_some_and(|known| known.update(rank, view)) {
            *queue = Some(Self::of_all(is_by_class, rank, view));
        }
        queue.as_mut()
    }

    fn of_all<R: Rank<Key = K>>(is_by_class: bool, rank: &R, view: &View<'_>) -> Self {
        let next_change = view.ready.next_change();
        let orders = BTreeMap::new();
        let mut queue = Self { orders, is_by_class, unsettled: Vec::new(), next_change };
        view.ready.iter().for_each(|job| queue.add(rank, job, view));
        queue
    }

    /// The order that a job belongs to.
    fn order_of(&self, job: &Job) -> Option<Kind> {
        self.is_by_class.then(|| job.kind())
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
                None => self.remove(rank, old, view),
            }
        }
        if let Some(new) = change.added() {
            self.add(rank, new, view);
        }
    }

    fn remove<R: Rank<Key = K>>(&mut self, rank: &R, job: &Job, view: &View<'_>) {
        let key = self.order_of(job);
        if let Some(order) = self.orders.get_mut(&key) {
            order.remove(&place(rank, job, view));
            if order.is_empty() {
                self.orders.remove(&key);
            }
        }
    }

    fn add<R: Rank<Key = K>>(&mut self, rank: &R, job: &Job, view: &View<'_>) {
        if rank.is_settled(job, view) {
            let order = self.orders.entry(self.order_of(job)).or_default();
            order.insert(place(rank, job, view));
        } else {
            self.unsettled.push(job.request);
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
        let is_below = |order: &BTreeSet<Place<K>>| order.first().is_some_and(|it| it.key < limit);
        let order = self.orders.values_mut().find(|order| is_below(order))?;
        order.pop_first().map(|place| place.request)
    }

    /// The first job for which `runs` holds, which does for all jobs of an order or for none; `None` if there is no such
    /// job.
    pub(super) fn first<R: Rank<Key = K>>(
        &self,
        rank: &R,
        runs: impl Fn(&Job) -> bool,
        view: &View<'_>,
    ) -> Option<Place<K>> {
        let unsettled = self.unsettled.iter().filter_map(|request| view.ready.get(*request));
        let unsettled = unsettled.map(|job| place(rank, job, view));
        let firsts = self.orders.values().filter_map(BTreeSet::first).copied().chain(unsettled);
        firsts.filter(|place| view.ready.get(place.request).is_some_and(&runs)).min()
    }
}

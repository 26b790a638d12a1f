//! Ready requests.

use std::cell::Cell;
use std::ops::Index;

use xrsim_model::ids::RequestId;

use super::Job;

/// Largest number of jobs in a chunk.
const CHUNK: usize = 128;

/// Number of jobs up to which a scan is faster than to keep an order. Changes are not logged then.
const FEW: usize = 16;

/// Number of jobs above which an order is kept, until there are at most [`FEW`].
const MANY: usize = 2 * FEW;

/// Ready jobs in order of request.
///
/// To add or take a job moves at most one chunk of jobs. A log of changes lets policies update an order
/// of their own, so that a decision need not look at all jobs.
#[derive(Debug)]
pub struct Ready {
    /// None is empty, unless it is the only one.
    chunks: Vec<Vec<Job>>,
    len: usize,
    /// The newest changes, oldest first.
    changes: Vec<Change>,
    /// Number of the first change in `changes`, counted from the first change of the run.
    first_change: u64,
    /// Whether changes are logged from the beginning.
    is_logged: bool,
    looked_at: Cell<u64>,
}

/// A change of the ready jobs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// The job became ready.
    Added(Job),
    /// The job is not ready any more.
    Taken(Job),
    /// The job was replaced by another one of the same request.
    Replaced(Job, Job),
}

impl Change {
    /// Request of the job.
    pub(super) fn request(&self) -> RequestId {
        match self {
            Self::Added(job) | Self::Taken(job) | Self::Replaced(job, _) => job.request,
        }
    }

    /// The job that is not ready any more.
    pub(super) fn removed(&self) -> Option<&Job> {
        match self {
            Self::Added(_) => None,
            Self::Taken(old) | Self::Replaced(old, _) => Some(old),
        }
    }

    /// The job that became ready.
    pub(super) fn added(&self) -> Option<&Job> {
        match self {
            Self::Taken(_) => None,
            Self::Added(new) | Self::Replaced(_, new) => Some(new),
        }
    }
}

impl Default for Ready {
    fn default() -> Self {
        Self {
            chunks: vec![Vec::new()],
            len: 0,
            changes: Vec::new(),
            first_change: 0,
            is_logged: true,
            looked_at: Cell::new(0),
        }
    }
}

/// Jobs without a log of changes. Policies look through all of them.
impl FromIterator<Job> for Ready {
    fn from_iter<I: IntoIterator<Item = Job>>(jobs: I) -> Self {
        let mut ready = Self { is_logged: false, ..Self::default() };
        jobs.into_iter().for_each(|job| ready.add(job));
        ready
    }
}

/// The job at an index in order of request.
impl Index<usize> for Ready {
    type Output = Job;

    fn index(&self, place: usize) -> &Job {
        self.iter().nth(place).expect("the index is below the number of jobs")
    }
}

impl Ready {
    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no jobs.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All jobs in order of request.
    pub fn iter(&self) -> impl Iterator<Item = &Job> + Clone {
        self.chunks().flatten()
    }

    /// All jobs in order of request, in chunks. No chunk is empty unless there are no jobs.
    pub fn chunks(&self) -> impl Iterator<Item = &[Job]> + Clone {
        self.looked_at.set(self.looked_at.get() + self.len as u64);
        self.chunks.iter().map(Vec::as_slice)
    }

    /// Number of jobs that scans have looked at so far: a measure of the work of a policy.
    pub fn looked_at(&self) -> u64 {
        self.looked_at.get()
    }

    /// The job of a request, if it is ready.
    pub fn get(&self, request: RequestId) -> Option<&Job> {
        let chunk = &self.chunks[self.chunk_of(request)];
        let place = chunk.binary_search_by_key(&request, |job| job.request).ok()?;
        Some(&chunk[place])
    }

    /// Jobs of `request` and of later requests.
    pub fn from(&self, request: RequestId) -> impl Iterator<Item = &Job> {
        let first = self.chunk_of(request);
        let start = self.chunks[first].partition_point(|job| job.request < request);
        self.chunks[first][start..].iter().chain(self.chunks[first + 1..].iter().flatten())
    }

    /// Index of the chunk to which a request belongs.
    fn chunk_of(&self, request: RequestId) -> usize {
        match self.chunks.len() {
            1 => 0,
            _ => self.chunks[1..].partition_point(|chunk| chunk[0].request <= request),
        }
    }

    /// Adds a job.
    pub(crate) fn add(&mut self, job: Job) {
        let index = self.chunk_of(job.request);
        let chunk = &mut self.chunks[index];
        let place = chunk.partition_point(|other| other.request < job.request);
        chunk.insert(place, job);
        self.len += 1;
        if self.chunks[index].len() > CHUNK {
            self.split(index);
        }
        self.log(|| Change::Added(job));
    }

    /// Splits a chunk in half. The last chunk, to which most jobs are added, stays nearly full.
    fn split(&mut self, index: usize) {
        let is_last = index + 1 == self.chunks.len();
        let at = if is_last { CHUNK } else { CHUNK / 2 };
        let upper = self.chunks[index].split_off(at);
        self.chunks.insert(index + 1, upper);
    }

    /// Removes the job of a request; `None` if it is not ready.
    pub(crate) fn take(&mut self, request: RequestId) -> Option<Job> {
        let index = self.chunk_of(request);
        let chunk = &mut self.chunks[index];
        let place = chunk.binary_search_by_key(&request, |job| job.request).ok()?;
        let job = chunk.remove(place);
        self.len -= 1;
        if self.chunks.len() > 1 {
            self.join(index);
        }
        self.log(|| Change::Taken(job));
        Some(job)
    }

    /// Removes a chunk if it is empty; merges it with the next chunk if both are small.
    fn join(&mut self, index: usize) {
        let next = self.chunks.get(index + 1).map_or(CHUNK, Vec::len);
        if self.chunks[index].is_empty() {
            self.chunks.remove(index);
        } else if self.chunks[index].len() + next <= CHUNK / 2 {
            let next = self.chunks.remove(index + 1);
            self.chunks[index].extend(next);
        }
    }

    /// Changes the job of a request, if it is ready.
    pub(crate) fn change(&mut self, request: RequestId, change: impl FnOnce(&mut Job)) {
        let index = self.chunk_of(request);
        let chunk = &mut self.chunks[index];
        if let Ok(place) = chunk.binary_search_by_key(&request, |job| job.request) {
            let old = chunk[place];
            change(&mut chunk[place]);
            let new = chunk[place];
            self.log(|| Change::Replaced(old, new));
        }
    }

    /// Logs a change. The log holds at most twice as many changes as there are jobs: whoever missed more
    /// has less work with a scan.
    #[inline]
    fn log(&mut self, change: impl FnOnce() -> Change) {
        if self.len <= FEW {
            self.first_change += self.changes.len() as u64 + 1;
            self.changes.clear();
        } else {
            self.push_change(change());
        }
    }

    fn push_change(&mut self, change: Change) {
        self.changes.push(change);
        if self.changes.len() > 2 * self.len {
            let n_old = self.changes.len() / 2;
            self.changes.drain(..n_old);
            self.first_change += n_old as u64;
        }
    }

    /// Whether a policy that `has` an order of the jobs keeps it, or one that has none begins one.
    #[inline]
    pub(super) fn is_worth_an_order(&self, has: bool) -> bool {
        self.len > if has { FEW } else { MANY } && self.is_logged
    }

    /// Number that the next change will have.
    pub(super) fn next_change(&self) -> u64 {
        self.first_change + self.changes.len() as u64
    }

    /// Changes from number `number`; `None` if some of them are not logged any more.
    pub(super) fn changes_since(&self, number: u64) -> Option<&[Change]> {
        let index = number.checked_sub(self.first_change).filter(|_| self.is_logged)?;
        self.changes.get(usize::try_from(index).ok()?..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::ids::{FrameId, ModelId};
    use xrsim_model::units::SimTime;

    fn job(request: usize) -> Job {
        let model = ModelId::new(0);
        let (id, frame) = (RequestId::new(request), FrameId::new(request));
        Job::new(id, model, frame, SimTime::ZERO, SimTime::ZERO)
    }

    fn requests(ready: &Ready) -> Vec<usize> {
        ready.iter().map(|job| job.request.index()).collect()
    }

    /// Steps of 7 modulo 1,009, a prime, reach every number in another order.
    #[test]
    fn jobs_stay_in_order_of_request() {
        let mut ready = Ready::default();
        let places = || (0..1009usize).map(|step| step * 7 % 1009);
        places().for_each(|request| ready.add(job(request)));
        assert_eq!(requests(&ready), (0..1009).collect::<Vec<_>>());
        assert_eq!(ready.from(RequestId::new(1000)).count(), 9);
        for request in places().filter(|request| request % 3 != 0) {
            assert_eq!(ready.take(RequestId::new(request)), Some(job(request)));
            assert_eq!(ready.get(RequestId::new(request)), None);
        }
        assert_eq!(requests(&ready), (0..1009).step_by(3).collect::<Vec<_>>());
        assert_eq!((ready.len(), ready[1].request), (337, RequestId::new(3)));
        assert!(ready.chunks.iter().all(|chunk| !chunk.is_empty() && chunk.len() <= CHUNK));
        (0..1009).for_each(|request| _ = ready.take(RequestId::new(request)));
        assert!(ready.is_empty() && ready.iter().next().is_none());
    }

    #[test]
    fn changes_are_known_unless_too_many_were_missed() {
        let mut ready = Ready::default();
        (0..FEW).for_each(|request| ready.add(job(request)));
        let few = ready.next_change();
        (FEW..2 * FEW).for_each(|request| ready.add(job(request)));
        let told = ready.changes_since(few).expect("all are logged");
        assert_eq!(told.len(), FEW);
        let seen = ready.next_change();
        ready.take(RequestId::new(5));
        ready.change(RequestId::new(6), |job| job.next_layer = 1);
        let told = ready.changes_since(seen).expect("all are logged");
        assert!(matches!(told, [Change::Taken(_), Change::Replaced(..)]));
        for _ in 0..4 * FEW {
            ready.add(job(5));
            ready.take(RequestId::new(5));
        }
        assert!(ready.changes_since(seen).is_none());
        assert!(ready.changes.len() <= 4 * FEW);
        let all: Ready = (0..3).map(job).collect();
        assert!(all.changes_since(all.next_change()).is_none());
    }
}

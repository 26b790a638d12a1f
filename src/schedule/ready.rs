//! The requests that could start, however many they are.

use std::cell::Cell;
use std::ops::Index;

use crate::ids::RequestId;

use super::Job;

/// Most jobs of a chunk.
const CHUNK: usize = 128;

/// So few jobs are looked through faster than an order of them is kept; their changes are not kept
/// either.
pub(super) const FEW: usize = 64;

/// Ready jobs in order of request.
///
/// Adding and taking one moves no more than a chunk of them. Policies that keep an order of their own
/// learn what has changed, so that a decision need not look at all of them.
#[derive(Debug)]
pub struct Ready {
    /// None is empty, but that there may be a single one that is.
    chunks: Vec<Vec<Job>>,
    len: usize,
    /// The newest changes, oldest first.
    changes: Vec<Change>,
    /// Number of the first of them, counted from the first change of all.
    first_change: u64,
    /// Whether `changes` tell the whole story.
    is_logged: bool,
    looked_at: Cell<u64>,
}

/// What happened to a ready job.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// It came.
    Added(Job),
    /// It went.
    Taken(Job),
    /// It stays as another one of the same request.
    Replaced(Job, Job),
}

impl Change {
    /// Its request.
    pub(super) fn request(&self) -> RequestId {
        match self {
            Self::Added(job) | Self::Taken(job) | Self::Replaced(job, _) => job.request,
        }
    }

    /// The job that is ready no more.
    pub(super) fn leaving(&self) -> Option<&Job> {
        match self {
            Self::Added(_) => None,
            Self::Taken(old) | Self::Replaced(old, _) => Some(old),
        }
    }

    /// The job that has become ready.
    pub(super) fn coming(&self) -> Option<&Job> {
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

/// Jobs whose past is not known.
impl FromIterator<Job> for Ready {
    fn from_iter<I: IntoIterator<Item = Job>>(jobs: I) -> Self {
        let mut ready = Self { is_logged: false, ..Self::default() };
        jobs.into_iter().for_each(|job| ready.add(job));
        ready
    }
}

/// The job at a place.
impl Index<usize> for Ready {
    type Output = Job;

    fn index(&self, place: usize) -> &Job {
        self.iter().nth(place).expect("the place is one of a job")
    }
}

impl Ready {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All jobs in order of request.
    pub fn iter(&self) -> impl Iterator<Item = &Job> + Clone {
        self.chunks().flatten()
    }

    /// The same in chunks, of which none is empty unless all are.
    pub fn chunks(&self) -> impl Iterator<Item = &[Job]> + Clone {
        self.looked_at.set(self.looked_at.get() + self.len as u64);
        self.chunks.iter().map(Vec::as_slice)
    }

    /// How many jobs were looked at so far one by one. Tells how the work of a policy grows.
    pub fn looked_at(&self) -> u64 {
        self.looked_at.get()
    }

    /// The job of a request, if it is ready.
    pub fn get(&self, request: RequestId) -> Option<&Job> {
        let chunk = &self.chunks[self.chunk_of(request)];
        let place = chunk.binary_search_by_key(&request, |job| job.request).ok()?;
        Some(&chunk[place])
    }

    /// Jobs of `request` and of those after it.
    pub fn from(&self, request: RequestId) -> impl Iterator<Item = &Job> {
        let first = self.chunk_of(request);
        let start = self.chunks[first].partition_point(|job| job.request < request);
        self.chunks[first][start..].iter().chain(self.chunks[first + 1..].iter().flatten())
    }

    /// The chunk that has a request, or would have it.
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
        self.log(Change::Added(job));
    }

    /// Halves a chunk; of the last one, after which most jobs come, little.
    fn split(&mut self, index: usize) {
        let is_last = index + 1 == self.chunks.len();
        let at = if is_last { CHUNK } else { CHUNK / 2 };
        let behind = self.chunks[index].split_off(at);
        self.chunks.insert(index + 1, behind);
    }

    /// Takes the job of a request away; `None` if it is not ready.
    pub(crate) fn take(&mut self, request: RequestId) -> Option<Job> {
        let index = self.chunk_of(request);
        let chunk = &mut self.chunks[index];
        let place = chunk.binary_search_by_key(&request, |job| job.request).ok()?;
        let job = chunk.remove(place);
        self.len -= 1;
        if self.chunks.len() > 1 {
            self.join(index);
        }
        self.log(Change::Taken(job));
        Some(job)
    }

    /// Removes a chunk that is empty, and joins a small one with the next.
    fn join(&mut self, index: usize) {
        let next = self.chunks.get(index + 1).map_or(CHUNK, Vec::len);
        if self.chunks[index].is_empty() {
            self.chunks.remove(index);
        } else if self.chunks[index].len() + next <= CHUNK / 2 {
            let behind = self.chunks.remove(index + 1);
            self.chunks[index].extend(behind);
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
            self.log(Change::Replaced(old, new));
        }
    }

    /// Keeps a change, of so many that a reader who misses some has no more work than they made.
    fn log(&mut self, change: Change) {
        if self.len <= FEW {
            self.first_change += self.changes.len() as u64 + 1;
            self.changes.clear();
            return;
        }
        self.changes.push(change);
        if self.changes.len() > 2 * self.len {
            let n_old = self.changes.len() / 2;
            self.changes.drain(..n_old);
            self.first_change += n_old as u64;
        }
    }

    /// Number of the next change.
    pub(super) fn next_change(&self) -> u64 {
        self.first_change + self.changes.len() as u64
    }

    /// What has changed since the change of a number was the next; `None` if that is not known any
    /// more.
    pub(super) fn changes_since(&self, number: u64) -> Option<&[Change]> {
        let index = number.checked_sub(self.first_change).filter(|_| self.is_logged)?;
        self.changes.get(usize::try_from(index).ok()?..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FrameId, ModelId};
    use crate::load::Request;
    use crate::units::SimTime;

    fn job(request: usize) -> Job {
        let model = ModelId::new(0);
        let made = Request::new(model, FrameId::new(request), SimTime::ZERO, SimTime::ZERO);
        Job::new(RequestId::new(request), &made, model.into())
    }

    fn requests(ready: &Ready) -> Vec<usize> {
        ready.iter().map(|job| job.request.index()).collect()
    }

    /// Steps of 7 among 1,009 places reach all of them in another order.
    #[test]
    fn jobs_stay_in_order_of_request_however_they_come_and_go() {
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
    fn changes_are_told_to_whoever_has_not_missed_too_many() {
        let mut ready = Ready::default();
        (0..FEW).for_each(|request| ready.add(job(request)));
        let few = ready.next_change();
        (FEW..2 * FEW).for_each(|request| ready.add(job(request)));
        let told = ready.changes_since(few).expect("none was missed");
        assert_eq!(told.len(), FEW);
        let seen = ready.next_change();
        ready.take(RequestId::new(5));
        ready.change(RequestId::new(6), |job| job.next_layer = 1);
        let told = ready.changes_since(seen).expect("none was missed");
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

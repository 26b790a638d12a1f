//! Requests of a run and their stages: requests of the load, in order of arrival, and submitted requests.
//!
//! A request is here from the moment at which it is taken from the feed, or is submitted, until it leaves. Requests
//! leave in order, each after its end, so that memory does not grow with the length of the run.

use std::collections::VecDeque;

use crate::load::{Feed, Request};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{RequestId, WorkId};
use xrsim_model::trace::{Absence, Record};
use xrsim_model::units::SimTime;

use super::segments::Place;

/// Stage of a request. A request moves down this list to one of the last two stages, and back and forth
/// between running and suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its input data has not arrived.
    Expected,
    /// It waits for results of other requests.
    Blocked,
    /// It waits for an accelerator.
    Ready,
    /// It runs on an accelerator.
    Running,
    /// It was cut and waits for an accelerator.
    Suspended,
    /// It ran to completion.
    Executed,
    /// It ended without a result: dropped, or not triggered.
    Cancelled,
}

/// A request that has not left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Live {
    /// Its record, without a result until it ends.
    pub(super) record: Record,
    /// Variant of its model that it runs.
    pub(super) variant: u32,
    /// Number of its phase of a profile.
    pub(super) phase: u32,
    /// Whether its upstream results trigger it.
    pub(super) triggered: bool,
    /// Whether it is the first of the requests of its frame.
    pub(super) begins: bool,
    /// Whether it is the last of the requests of its frame.
    pub(super) ends: bool,
    /// Why a frame of a sensor is not there.
    pub(super) absence: Option<Absence>,
    pub(super) stage: Stage,
    /// Progress, if it has begun and was cut.
    pub(super) begun: Option<Place>,
    /// Whether a result that it needs will never come.
    is_hopeless: bool,
    /// Number of results that it needs and that are still to come.
    n_missing: u32,
    /// Requests that wait for its result.
    waiting: Waiting,
}

impl Live {
    fn new(request: &Request, stage: Stage) -> Self {
        Self {
            record: request.record(),
            variant: request.variant,
            phase: request.phase,
            triggered: request.triggered,
            begins: request.begins,
            ends: request.ends,
            absence: request.absence,
            stage,
            begun: None,
            is_hopeless: false,
            n_missing: 0,
            waiting: Waiting::NONE,
        }
    }

    /// State of the results that it needs, taken together.
    pub(super) fn upstream(&self) -> Upstream {
        match (self.is_hopeless, self.n_missing) {
            (true, _) => Upstream::Cancelled,
            (false, 0) => Upstream::Done,
            (false, _) => Upstream::Pending,
        }
    }

    /// Whether others wait for its result.
    pub(super) fn is_awaited(&self) -> bool {
        self.waiting.first != END
    }

    fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Executed | Stage::Cancelled)
    }

    /// Row of `costs` that it runs.
    pub(super) fn work(&self, costs: &CostTable) -> WorkId {
        let work = costs.variant(self.record.model, self.variant);
        work.expect("the costs have all variants of the scenario")
    }
}

/// State of the requests that a request depends on, taken together.
pub(super) enum Upstream {
    /// All results are there.
    Done,
    /// Some results are still to come.
    Pending,
    /// Some result will never come.
    Cancelled,
}

/// Requests that have not left, in order.
#[derive(Default)]
struct Window {
    /// Index of the first one.
    first: usize,
    live: VecDeque<Live>,
}

impl Window {
    fn end(&self) -> usize {
        self.first + self.live.len()
    }

    /// The first request, if it has ended.
    #[inline]
    fn ended(&self) -> Option<(RequestId, &Live)> {
        let live = self.live.front().filter(|it| it.has_ended())?;
        Some((RequestId::new(self.first), live))
    }

    /// Takes the first request.
    fn pop(&mut self) -> Option<(RequestId, Live)> {
        let live = self.live.pop_front()?;
        self.first += 1;
        Some((RequestId::new(self.first - 1), live))
    }
}

/// Requests of a run. Submitted requests are numbered after those of the load, and have no
/// dependencies.
pub(super) struct Requests<'a> {
    feed: Feed<'a>,
    /// Requests of the load that were taken from the feed.
    load: Window,
    submitted: Window,
    /// Number of requests of the load.
    n_load: usize,
    /// Number of those that have arrived.
    n_arrived: usize,
    /// Those that left without a result.
    cancelled: Marks,
    waits: Waits,
    /// Needs (upstream, request) of requests that do not arrive next, in order of request.
    needs: VecDeque<(RequestId, RequestId)>,
    /// Requests that the last one needs.
    upstream: Vec<RequestId>,
}

impl<'a> Requests<'a> {
    pub(super) fn new(feed: Feed<'a>) -> Self {
        let n_load = feed.n_requests();
        let mut requests = Self {
            feed,
            load: Window::default(),
            submitted: Window { first: n_load, ..Window::default() },
            n_load,
            n_arrived: 0,
            cancelled: Marks::default(),
            waits: Waits::default(),
            needs: VecDeque::new(),
            upstream: Vec::new(),
        };
        requests.expect_next();
        requests
    }

    /// Number of requests that have not left.
    pub(super) fn n_live(&self) -> usize {
        self.load.live.len() + self.submitted.live.len()
    }

    /// Requests of the load that have arrived and not left, then submitted ones that have not left.
    pub(super) fn arrived(&self) -> impl Iterator<Item = RequestId> + use<> {
        let submitted = self.submitted.first..self.submitted.end();
        (self.load.first..self.n_arrived).chain(submitted).map(RequestId::new)
    }

    /// Records of the requests of the load that are here.
    pub(super) fn records(&self) -> impl Iterator<Item = (&Record, u32)> {
        self.load.live.iter().map(|request| (&request.record, request.variant))
    }

    /// Time of the next arrival.
    #[inline]
    pub(super) fn next_arrival(&self) -> Option<SimTime> {
        let next = self.load.live.get(self.n_arrived - self.load.first)?;
        Some(next.record.arrival)
    }

    /// Takes the next arrival that is due at `now`.
    pub(super) fn arrive(&mut self, now: SimTime) -> Option<RequestId> {
        let due = self.next_arrival()? <= now;
        due.then(|| {
            self.n_arrived += 1;
            self.expect_next();
            RequestId::new(self.n_arrived - 1)
        })
    }

    /// Makes sure that the next request that arrives is here, and those that it needs.
    fn expect_next(&mut self) {
        if self.load.end() == self.n_arrived {
            self.take();
        }
        // Only those of this request: if results come late, the needs of all that are here reach ever further.
        while let Some(&(needed, request)) = self.needs.front()
            && request.index() == self.n_arrived
        {
            self.needs.pop_front();
            while self.load.end() <= needed.index() {
                self.take();
            }
            self.note(needed, request);
        }
    }

    /// Takes the next request from the feed.
    fn take(&mut self) {
        let Some(request) = self.feed.take(&mut self.upstream) else { return };
        let id = RequestId::new(self.load.end());
        self.needs.extend(self.upstream.iter().map(|&needed| (needed, id)));
        self.load.live.push_back(Live::new(&request, Stage::Expected));
    }

    /// Notes that `request` needs the result of `needed`.
    fn note(&mut self, needed: RequestId, request: RequestId) {
        let stage = match needed.index() < self.load.first {
            true if self.cancelled.contains(needed) => Stage::Cancelled,
            true => Stage::Executed,
            false => self.get(needed).stage,
        };
        match stage {
            Stage::Executed => {}
            Stage::Cancelled => self.get_mut(request).is_hopeless = true,
            _ => {
                self.get_mut(request).n_missing += 1;
                let upstream = &mut self.load.live[needed.index() - self.load.first];
                self.waits.add(&mut upstream.waiting, request);
            }
        }
    }

    /// The requests that wait for the result of `id`, which has ended.
    pub(super) fn waiting_for(&mut self, id: RequestId) -> Waiting {
        std::mem::replace(&mut self.get_mut(id).waiting, Waiting::NONE)
    }

    /// Takes the first request from a list of waiting ones and tells it the result of `upstream`. Requests that have
    /// left are passed over.
    pub(super) fn tell_next(&mut self, list: &mut Waiting, is_executed: bool) -> Option<RequestId> {
        loop {
            let id = self.waits.take(list)?;
            if id.index() < self.load.first {
                continue;
            }
            let request = self.get_mut(id);
            match is_executed {
                true => request.n_missing -= 1,
                false => request.is_hopeless = true,
            }
            return Some(id);
        }
    }

    /// Adds a submitted request.
    pub(super) fn submit(&mut self, request: &Request) -> RequestId {
        self.submitted.live.push_back(Live::new(request, Stage::Ready));
        RequestId::new(self.submitted.end() - 1)
    }

    /// Whether a request was submitted.
    #[inline]
    pub(super) fn is_submitted(&self, id: RequestId) -> bool {
        id.index() >= self.n_load
    }

    /// A request that has not left.
    #[inline]
    pub(super) fn get(&self, id: RequestId) -> &Live {
        let window = if self.is_submitted(id) { &self.submitted } else { &self.load };
        &window.live[id.index() - window.first]
    }

    /// A request that has not left.
    #[inline]
    pub(super) fn get_mut(&mut self, id: RequestId) -> &mut Live {
        let window = if self.is_submitted(id) { &mut self.submitted } else { &mut self.load };
        &mut window.live[id.index() - window.first]
    }

    /// Whether the timer of a request has an effect. Timers of requests that run or were cut have none unless late
    /// requests are aborted.
    pub(super) fn can_expire(&self, id: RequestId, aborts: bool) -> bool {
        match self.stage(id) {
            Some(Stage::Expected | Stage::Blocked | Stage::Ready) => true,
            Some(Stage::Running | Stage::Suspended) => aborts,
            Some(Stage::Executed | Stage::Cancelled) | None => false,
        }
    }

    /// Stage of a request of the load that has arrived; `None` if it has left.
    #[inline]
    pub(super) fn stage(&self, id: RequestId) -> Option<Stage> {
        (id.index() >= self.load.first).then(|| self.get(id).stage)
    }

    /// Whether a request is expected by now, or was submitted.
    pub(super) fn is_known(&self, id: RequestId) -> bool {
        id.index() < self.load.end() || self.is_submitted(id)
    }

    /// Hands the first requests of the load to `each`, as far as they have ended. They leave.
    #[inline]
    pub(super) fn leave(&mut self, mut each: impl FnMut(RequestId, &Live)) {
        while let Some((id, live)) = self.load.ended() {
            each(id, live);
            if live.stage == Stage::Cancelled {
                self.cancelled.add(id);
            }
            self.load.pop();
        }
    }

    /// Hands the first submitted requests to `each`, as far as they have ended. They leave.
    pub(super) fn leave_submitted(&mut self, mut each: impl FnMut(&Live)) {
        while let Some((_, live)) = self.submitted.ended() {
            each(live);
            self.submitted.pop();
        }
    }

    /// Takes the first request of the load, whether it has ended or not, then the submitted ones. If no further one of the
    /// load arrives, there are none but submitted ones, and these only if the whole load has left: numbers have no gaps.
    pub(super) fn next(&mut self, no_further_arrives: bool) -> Option<(RequestId, Live)> {
        if no_further_arrives && self.load.first < self.n_load {
            return None;
        }
        if self.load.live.is_empty() {
            self.take();
        }
        self.load.pop().or_else(|| self.submitted.pop())
    }
}

/// A list of requests that wait for the result of another one, in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    first: u32,
    last: u32,
}

impl Waiting {
    const NONE: Self = Self { first: END, last: END };
}

/// End of a list.
const END: u32 = u32::MAX;

/// The lists of waiting requests, in one allocation.
#[derive(Default)]
struct Waits {
    /// Waiting requests, each with the place of the next one in its list.
    nodes: Vec<(RequestId, u32)>,
    /// Places that are free.
    free: Vec<u32>,
}

impl Waits {
    /// Adds a request at the end of a list.
    fn add(&mut self, list: &mut Waiting, request: RequestId) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.nodes.push((request, END));
            self.nodes.len() as u32 - 1
        });
        self.nodes[place as usize] = (request, END);
        match list.last {
            END => list.first = place,
            last => self.nodes[last as usize].1 = place,
        }
        list.last = place;
    }

    /// Takes the first request of a list.
    fn take(&mut self, list: &mut Waiting) -> Option<RequestId> {
        let place = list.first;
        let &(request, next) = self.nodes.get(place as usize)?;
        self.free.push(place);
        list.first = next;
        Some(request)
    }
}

/// A set of requests, of one bit each.
#[derive(Default)]
struct Marks(Vec<u64>);

impl Marks {
    fn add(&mut self, id: RequestId) {
        let word = id.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (id.index() % 64);
    }

    fn contains(&self, id: RequestId) -> bool {
        self.0.get(id.index() / 64).is_some_and(|word| word >> (id.index() % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::RequestStream;
    use xrsim_model::ids::{FrameId, ModelId};

    const N: usize = 10_000;

    /// A request each nanosecond, with these needs (upstream, request).
    fn stream(needs: &[(usize, usize)]) -> RequestStream {
        let request = |index| {
            let at = SimTime::from_ns(index as u64);
            Request::new(ModelId::new(0), FrameId::new(index), at, at)
        };
        let ids = |&(up, down): &(usize, usize)| (RequestId::new(up), RequestId::new(down));
        let needs: Vec<_> = needs.iter().map(ids).collect();
        RequestStream::new((0..N).map(request).collect(), &needs)
    }

    fn end(requests: &mut Requests<'_>, id: RequestId, stage: Stage) {
        requests.get_mut(id).stage = stage;
        let mut waiting = requests.waiting_for(id);
        while requests.tell_next(&mut waiting, stage == Stage::Executed).is_some() {}
    }

    fn arrive(requests: &mut Requests<'_>) -> RequestId {
        requests.arrive(SimTime::MAX).expect("there are more")
    }

    /// Each one needs the one three before it and the one two after it, and ends five arrivals later.
    #[test]
    fn only_requests_on_their_way_are_in_memory() {
        let before = (3..N).map(|index| (index - 3, index));
        let after = (2..N).map(|index| (index, index - 2));
        let stream = stream(&before.chain(after).collect::<Vec<_>>());
        let mut requests = Requests::new((&stream).into());
        for index in 0..N {
            assert_eq!(arrive(&mut requests), RequestId::new(index));
            if let Some(ended) = index.checked_sub(5) {
                let id = RequestId::new(ended);
                assert!(matches!(requests.get(id).upstream(), Upstream::Pending) || ended < 3);
                end(&mut requests, id, Stage::Executed);
                let mut left = Vec::new();
                requests.leave(|id, _| left.push(id.index()));
                assert_eq!(left, [ended]);
            }
            assert!(requests.n_live() <= 9 && requests.waits.nodes.len() <= 32);
        }
        assert_eq!(requests.next_arrival(), None);
    }

    /// Request 9 needs 0, 1 and 2, of which the first two have left.
    #[test]
    fn results_of_requests_that_have_left_are_known() {
        for (of_0, of_1) in
            [(Stage::Executed, Stage::Executed), (Stage::Executed, Stage::Cancelled)]
        {
            let stream = stream(&[(0, 9), (1, 9), (2, 9)]);
            let mut requests = Requests::new((&stream).into());
            let ids: Vec<_> = (0..3).map(|_| arrive(&mut requests)).collect();
            end(&mut requests, ids[0], of_0);
            end(&mut requests, ids[1], of_1);
            requests.leave(|_, _| ());
            let last = (3..10).map(|_| arrive(&mut requests)).last().expect("there are some");
            let is_hopeless = |requests: &Requests<'_>| {
                matches!(requests.get(last).upstream(), Upstream::Cancelled)
            };
            assert_eq!(is_hopeless(&requests), of_1 == Stage::Cancelled);
            end(&mut requests, ids[2], Stage::Executed);
            assert_eq!(
                matches!(requests.get(last).upstream(), Upstream::Done),
                of_1 == Stage::Executed
            );
        }
    }

    #[test]
    fn requests_are_told_in_order_and_those_that_left_are_passed_over() {
        let stream = stream(&[(0, 3), (0, 1), (0, 2)]);
        let mut requests = Requests::new((&stream).into());
        (0..4).for_each(|_| _ = arrive(&mut requests));
        let mut waiting = requests.waiting_for(RequestId::new(0));
        end(&mut requests, RequestId::new(0), Stage::Executed);
        end(&mut requests, RequestId::new(1), Stage::Cancelled);
        requests.leave(|_, _| ());
        let told = std::iter::from_fn(|| requests.tell_next(&mut waiting, true));
        assert_eq!(told.map(RequestId::index).collect::<Vec<_>>(), [2, 3]);
    }
}

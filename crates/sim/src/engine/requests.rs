//! Requests of a run and their stages: requests of the load, which are known in advance, and submitted
//! requests.

use std::collections::VecDeque;

use crate::load::{Request, RequestStream};
use xrsim_model::ids::RequestId;
use xrsim_model::trace::{Outcome, Record};

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

/// Requests of a run. Submitted requests are numbered after those of the load, and have no
/// dependencies.
pub(super) struct Requests<'a> {
    load: &'a RequestStream,
    /// Stages of the load, indexed by [`RequestId`].
    stages: Vec<Stage>,
    /// Records of the load, indexed by [`RequestId`]; [`Outcome::Lost`] until the request ends.
    records: Vec<Record>,
    submitted: VecDeque<Submitted>,
    /// Number of submitted requests that were recycled. They are the first ones, and all have ended.
    n_recycled: usize,
    /// Whether submitted requests are recycled.
    recycles: bool,
}

/// A submitted request.
struct Submitted {
    request: Request,
    /// [`Outcome::Lost`] until it ends.
    outcome: Outcome,
}

impl Submitted {
    fn has_ended(&self) -> bool {
        !matches!(self.outcome, Outcome::Lost { .. })
    }
}

impl<'a> Requests<'a> {
    /// Requests of `load`. If `recycles`, submitted requests are recycled after completion.
    pub(super) fn new(load: &'a RequestStream, recycles: bool) -> Self {
        Self {
            load,
            stages: vec![Stage::Expected; load.requests().len()],
            records: load.requests().iter().map(|it| record(it, UNFINISHED)).collect(),
            submitted: VecDeque::new(),
            n_recycled: 0,
            recycles,
        }
    }

    /// Adds a submitted request.
    pub(super) fn submit(&mut self, request: Request) -> RequestId {
        self.submitted.push_back(Submitted { request, outcome: UNFINISHED });
        RequestId::new(self.first_kept() + self.submitted.len() - 1)
    }

    /// Index of the first submitted request that was not recycled.
    fn first_kept(&self) -> usize {
        self.stages.len() + self.n_recycled
    }

    /// Whether a request was submitted.
    pub(super) fn is_submitted(&self, id: RequestId) -> bool {
        id.index() >= self.stages.len()
    }

    fn submitted(&self, id: RequestId) -> &Submitted {
        &self.submitted[id.index() - self.first_kept()]
    }

    fn submitted_mut(&mut self, id: RequestId) -> &mut Submitted {
        let first = self.first_kept();
        &mut self.submitted[id.index() - first]
    }

    /// A request that has not ended, or belongs to the load.
    pub(super) fn request(&self, id: RequestId) -> &Request {
        match self.is_submitted(id) {
            true => &self.submitted(id).request,
            false => self.load.request(id),
        }
    }

    /// Changes the number of samples of a submitted request.
    pub(super) fn set_batch(&mut self, id: RequestId, batch: u32) {
        self.submitted_mut(id).request.batch = batch;
    }

    /// Stage of a request of the load.
    pub(super) fn stage(&self, id: RequestId) -> Stage {
        self.stages[id.index()]
    }

    /// Moves a request to another stage, and returns the old one; `None` for submitted requests, which
    /// neither wait for others nor expire.
    pub(super) fn enter(&mut self, id: RequestId, stage: Stage) -> Option<Stage> {
        let place = self.stages.get_mut(id.index())?;
        Some(std::mem::replace(place, stage))
    }

    /// Ends a request.
    pub(super) fn end(&mut self, id: RequestId, outcome: Outcome) {
        if let Some(record) = self.records.get_mut(id.index()) {
            record.outcome = outcome;
            return;
        }
        self.submitted_mut(id).outcome = outcome;
        while self.recycles && self.submitted.front().is_some_and(Submitted::has_ended) {
            self.submitted.pop_front();
            self.n_recycled += 1;
        }
    }

    /// Records of the requests of the load.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Record of a request of the load.
    pub(super) fn record(&self, id: RequestId) -> &Record {
        &self.records[id.index()]
    }

    /// Requests whose results `id` needs.
    pub(super) fn upstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.upstream(id) }
    }

    /// Requests that need the result of `id`.
    pub(super) fn downstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.downstream(id) }
    }

    /// Records of all requests that were not recycled, and the number of samples of each. The second
    /// list is empty if every request has one sample.
    pub(super) fn into_records(self) -> (Vec<Record>, Vec<u32>) {
        let mut records = self.records;
        records.extend(self.submitted.iter().map(|it| record(&it.request, it.outcome)));
        let submitted = self.submitted.iter().map(|it| &it.request);
        let batches = || self.load.requests().iter().chain(submitted.clone()).map(|it| it.batch);
        let is_batched = batches().any(|batch| batch != 1);
        (records, if is_batched { batches().collect() } else { Vec::new() })
    }
}

const UNFINISHED: Outcome = Outcome::Lost { attempt: None };

fn record(request: &Request, outcome: Outcome) -> Record {
    Record {
        model: request.model,
        frame: request.frame,
        arrival: request.arrival,
        deadline: request.deadline,
        outcome,
    }
}

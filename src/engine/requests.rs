//! The requests of a run and where each is on its way: those of its load, and those that come as it
//! goes.

use std::collections::VecDeque;

use crate::ids::RequestId;
use crate::load::{Request, RequestStream};
use crate::trace::{Outcome, Record};

/// Where a request is on its way; it moves down this list to one of the last two, back and forth
/// between running and being suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its input data is not there yet.
    Expected,
    /// It waits for results of other requests.
    Blocked,
    /// It waits for an accelerator.
    Ready,
    /// It is on an accelerator.
    Running,
    /// It was cut and waits for an accelerator to go on.
    Suspended,
    /// It ran to completion.
    Executed,
    /// It ended without a result: dropped, or not asked for.
    Cancelled,
}

/// The requests of a run. Submitted ones are numbered behind those of the load, and depend on nothing.
pub(super) struct Requests<'a> {
    load: &'a RequestStream,
    /// Of the load, indexed by [`RequestId`].
    stages: Vec<Stage>,
    /// Likewise; [`Outcome::Lost`] until the request ends.
    records: Vec<Record>,
    submitted: VecDeque<Submitted>,
    /// Submitted requests that are forgotten: the first ones, all of which have ended.
    n_forgotten: usize,
    /// Whether submitted requests are forgotten at all.
    forgets: bool,
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
    /// Those of `load`; submitted ones are not kept for longer than they last if it `forgets`.
    pub(super) fn new(load: &'a RequestStream, forgets: bool) -> Self {
        Self {
            load,
            stages: vec![Stage::Expected; load.requests().len()],
            records: load.requests().iter().map(|it| record(it, UNFINISHED)).collect(),
            submitted: VecDeque::new(),
            n_forgotten: 0,
            forgets,
        }
    }

    /// Adds a request.
    pub(super) fn submit(&mut self, request: Request) -> RequestId {
        self.submitted.push_back(Submitted { request, outcome: UNFINISHED });
        RequestId::new(self.first_kept() + self.submitted.len() - 1)
    }

    /// Index of the first submitted request that is kept.
    fn first_kept(&self) -> usize {
        self.stages.len() + self.n_forgotten
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

    /// Changes the samples of a submitted request.
    pub(super) fn set_batch(&mut self, id: RequestId, batch: u32) {
        self.submitted_mut(id).request.batch = batch;
    }

    /// Where a request of the load is.
    pub(super) fn stage(&self, id: RequestId) -> Stage {
        self.stages[id.index()]
    }

    /// Moves a request to another stage, and gives where it was; `None` of submitted ones, which neither
    /// wait for others nor expire.
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
        while self.forgets && self.submitted.front().is_some_and(Submitted::has_ended) {
            self.submitted.pop_front();
            self.n_forgotten += 1;
        }
    }

    /// Requests whose results `id` needs.
    pub(super) fn upstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.upstream(id) }
    }

    /// Requests that need the result of `id`.
    pub(super) fn downstream(&self, id: RequestId) -> &'a [RequestId] {
        if self.is_submitted(id) { &[] } else { self.load.downstream(id) }
    }

    /// What became of every request that is not forgotten, and the samples of each; without entries if
    /// each has one.
    pub(super) fn into_records(self) -> (Vec<Record>, Vec<u32>) {
        let mut records = self.records;
        records.extend(self.submitted.iter().map(|it| record(&it.request, it.outcome)));
        let submitted = self.submitted.iter().map(|it| &it.request);
        let batches = self.load.requests().iter().chain(submitted).map(|it| it.batch);
        let batches =
            if batches.clone().all(|batch| batch == 1) { Vec::new() } else { batches.collect() };
        (records, batches)
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

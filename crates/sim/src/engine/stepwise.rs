//! Runs whose decisions come from outside, one at a time.

use thiserror::Error;

use crate::load::RequestStream;
use crate::plan::Plan;
use crate::schedule::{Decision, Job, PolicyFailure, View};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{Entry, Record, Trace};
use xrsim_model::units::SimTime;

use super::Run;
use super::step::Engine;

/// Decision that the view does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no question: the run has ended, or [`Stepwise::advance`] was not called.
    #[error("there is nothing to decide")]
    NoQuestion,
    /// The request is not ready.
    #[error("request {} is not ready", .0.index())]
    NotReady(RequestId),
    /// The accelerator is not idle, or cannot run the request.
    #[error("accelerator {} is not idle, or cannot run the request", .0.index())]
    NotIdle(AccelId),
    /// The model has no such network to choose, or the request has begun.
    #[error("variant {0} cannot be chosen")]
    Variant(u32),
    /// The scheduler has failed.
    #[error("{0}")]
    Failed(Box<str>),
}

/// A run in which the caller decides in place of a scheduler. Between two decisions it plays as
/// [`run`](super::run): equal decisions give equal traces.
///
/// The scheduler of the plan is not asked; its options, such as preemption, hold, but for its governor.
///
/// ```no_run
/// # use xrsim_sim::engine::Stepwise;
/// # use xrsim_sim::schedule::{Decision, Dispatch};
/// # fn play(mut run: Stepwise<'_>) {
/// while let Some(view) = run.advance() {
///     let job = view.ready.iter().next().expect("one is ready");
///     let decision = match view.fastest_idle(job) {
///         Some(accelerator) => Dispatch::new(job.request, accelerator).into(),
///         None => Decision::Wait,
///     };
///     run.answer(decision).expect("the view allows it");
/// }
/// # }
/// ```
pub struct Stepwise<'a> {
    engine: Engine<'a>,
    requests: &'a RequestStream,
    /// Requests that have left.
    trace: Trace,
    /// The instant that is played; `None` between two instants.
    now: Option<SimTime>,
    /// Whether the caller waits until the next event.
    waits: bool,
    /// Requests that have arrived and not ended when [`Stepwise::ended`] was last called.
    open: Vec<RequestId>,
    /// Number of requests that have arrived.
    n_arrived: usize,
    /// The last instant that was played.
    last: SimTime,
}

impl<'a> Stepwise<'a> {
    /// A run of `requests` before its first decision.
    ///
    /// # Errors
    ///
    /// [`PolicyFailure`] if the scheduler of the plan cannot be constructed.
    ///
    /// # Panics
    ///
    /// As [`run`](super::run).
    pub fn new(
        plan: &'a Plan,
        costs: &'a CostTable,
        requests: &'a RequestStream,
    ) -> Result<Self, PolicyFailure> {
        plan.check(costs).expect("the costs are those of the plan");
        let mut engine = Engine::new(plan, costs, requests.into())?;
        engine.keep_points();
        Ok(Self {
            engine,
            requests,
            trace: Trace::default(),
            now: None,
            waits: false,
            open: Vec::new(),
            n_arrived: 0,
            last: SimTime::ZERO,
        })
    }

    /// Plays up to the next question, and returns what there is to decide; `None` at the end of the run.
    pub fn advance(&mut self) -> Option<View<'_>> {
        loop {
            if let Some(now) = self.now {
                if !self.waits && self.engine.view(now).is_some() {
                    return self.engine.view(now);
                }
                self.engine.settle(now);
                self.engine.leave(&mut |entry| self.trace.push(entry));
                self.now = None;
            }
            let now = self.engine.next_instant()?;
            self.engine.begin(now);
            (self.now, self.last, self.waits) = (Some(now), now, false);
        }
    }

    /// The question that [`Stepwise::advance`] has returned; `None` if it was answered, or if there is none.
    pub fn view(&self) -> Option<View<'_>> {
        self.now.filter(|_| !self.waits).and_then(|now| self.engine.view(now))
    }

    /// Answers the question.
    ///
    /// # Errors
    ///
    /// [`Refused`] if the view does not allow the decision. The question then stays.
    pub fn answer(&mut self, decision: Decision) -> Result<(), Refused> {
        let now = self.now.filter(|_| !self.waits).ok_or(Refused::NoQuestion)?;
        let view = self.engine.view(now).ok_or(Refused::NoQuestion)?;
        match decision {
            Decision::Dispatch(dispatch) => {
                let job = view.ready.get(dispatch.request);
                let job = job.ok_or(Refused::NotReady(dispatch.request))?;
                let chosen = dispatch.variant.map(|variant| {
                    self.engine.chosen(job, variant).ok_or(Refused::Variant(variant))
                });
                let job = Job { work: chosen.transpose()?.unwrap_or(job.work), ..*job };
                if !view.idle_for(&job).any(|it| it == dispatch.accelerator) {
                    return Err(Refused::NotIdle(dispatch.accelerator));
                }
                self.engine.dispatch(&dispatch, now);
            }
            Decision::Drop(request) => {
                view.ready.get(request).ok_or(Refused::NotReady(request))?;
                self.engine.drop_ready(request, now);
            }
            Decision::Wait => self.waits = true,
            Decision::Fail(breakdown) => return Err(Refused::Failed(breakdown.message().into())),
        }
        Ok(())
    }

    /// Calls `each` with every request that has ended since the last call, its record, and the variant of its model that it
    /// ran.
    pub fn ended(&mut self, mut each: impl FnMut(RequestId, &Record, u32)) {
        let known = self.requests.requests();
        // At the end of the run, all have arrived.
        let is_over = self.now.is_none() && self.n_arrived > 0;
        while let Some(next) = known.get(self.n_arrived)
            && (next.arrival <= self.last || is_over)
        {
            self.open.push(RequestId::new(self.n_arrived));
            self.n_arrived += 1;
        }
        let (engine, trace) = (&self.engine, &self.trace);
        self.open.retain(|&id| {
            let left = trace.records().get(id.index()).map(|record| (record, trace.variant_of(id)));
            match left.or_else(|| engine.ended(id)) {
                Some((record, variant)) => {
                    each(id, record, variant);
                    false
                }
                None => true,
            }
        });
    }

    /// Trace of the run so far, without the segments of requests.
    pub fn trace(&self) -> Trace {
        let all = self.requests.requests();
        let mut trace = Trace::with_capacity(all.len());
        let mut add = |record: &Record, variant| {
            let request = RequestId::new(trace.records().len());
            trace.push(&Entry { request, record, variant, phase: 0, segments: &[] });
        };
        self.trace.entries().for_each(|it| add(it.record, it.variant));
        if self.engine.has_stopped() {
            return trace;
        }
        self.engine.records().for_each(|(record, variant)| add(record, variant));
        let n_known = self.trace.records().len() + self.engine.records().count();
        all[n_known..].iter().for_each(|it| add(&it.record(), it.variant));
        trace
    }

    /// Trace of the run so far, and the number of its events.
    pub fn finish(self) -> Run {
        self.engine.finish(self.trace, false)
    }
}

//! Explanation of the end of a request: the time from the nominal start of its frame to its end, in
//! parts, and the part that made it late or dropped it.
//!
//! The explanation knows the trace and the costs, and nothing about the decisions of the policy. The
//! effect of another decision shows only in another run.

mod jobs;
mod room;
mod text;
mod upstream;

use std::cmp::Reverse;

use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId, WorkId};
use xrsim_model::trace::{DropReason, Outcome, Record, Trace};
use xrsim_model::units::{ClockRate, SimSpan, SimTime};
use xrsim_sim::load::LatencyDraws;
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::sweep::RunResult;

pub use jobs::{Blocker, Occupancy};
pub use upstream::{Awaits, Dependencies, Need};

/// A part of the time from the nominal start of a frame to the end of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the nominal start of the frame to the arrival of its input data. Negative where the newest
    /// sensor frame is older than the frame, or jitter made it early.
    Sensor,
    /// From the arrival to the last result that the request depends on.
    Upstream,
    /// From then to the start.
    Accelerator,
    /// Between the segments of a preempted request, up to its end or drop.
    Preempted,
    /// Execution time added by context switches, migration and shared bandwidth.
    Interference,
    /// Execution time beyond the latency on the fastest accelerator.
    Placement,
    /// Latency on the fastest accelerator.
    Latency,
}

impl Part {
    /// All parts in order of time. The execution of a preempted request is summed over its segments.
    pub const ALL: [Self; 7] = [
        Self::Sensor,
        Self::Upstream,
        Self::Accelerator,
        Self::Preempted,
        Self::Interference,
        Self::Placement,
        Self::Latency,
    ];

    /// Index in [`Part::ALL`] of the first part of the execution.
    pub const EXECUTION: usize = 3;

    /// Parts that another schedule or another system could avoid. Of equal parts the first counts.
    const WAITS: [Self; 6] = [
        Self::Accelerator,
        Self::Upstream,
        Self::Sensor,
        Self::Placement,
        Self::Preempted,
        Self::Interference,
    ];
}

/// Durations of the parts.
///
/// They add up to the time from the nominal start to the end of execution. A dropped request counts as
/// if it had started on its fastest accelerator when it was dropped. An aborted request counts as if
/// it had run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Durations in the order of [`Part::ALL`] \[ns\]; 128 bits hold every sum.
    ns: [i128; Part::ALL.len()],
}

impl Parts {
    /// One part \[ns\].
    pub fn ns(&self, part: Part) -> i128 {
        self.ns[part as usize]
    }

    /// One part \[ms\].
    pub fn ms(&self, part: Part) -> f64 {
        self.ns(part) as f64 / 1e6
    }

    /// Sum of the parts \[ns\].
    pub fn total_ns(&self) -> i128 {
        self.ns.iter().sum()
    }

    /// The longest of `parts`; of equal ones the first.
    fn longest(&self, parts: &[Part]) -> Part {
        let longest = parts.iter().min_by_key(|part| Reverse(self.ns(**part)));
        *longest.expect("some parts are compared")
    }
}

/// Cause of the time at which a request ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cause {
    /// Its input data came late.
    Sensor,
    /// A result that it depends on came late or never, or room for its cache.
    Upstream(Need),
    /// It waited for an accelerator on which it could have met its deadline. The job took most of the
    /// wait; `None` if an accelerator was idle and the policy held the request back.
    Accelerator(Option<Blocker>),
    /// It was preempted and waited to continue. The job took most of the wait; `None` if an accelerator
    /// was idle and the policy held the request back.
    Preempted(Option<Blocker>),
    /// Its data was moved, or it had to share bandwidth.
    Interference,
    /// It ran on a slower accelerator than its fastest, which was busy with a job. The job is `None` if
    /// the fastest accelerator was idle and the policy chose the slower one.
    Placement {
        /// The fastest accelerator.
        fastest: AccelId,
        /// The job that this accelerator ran.
        job: Option<Blocker>,
    },
    /// Its own latency.
    Latency,
}

/// Breakdown of the time of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// Nominal start of the frame.
    pub nominal_start: SimTime,
    /// Durations of the parts after the nominal start.
    pub parts: Parts,
    /// From the deadline to the end of the parts \[ns\]; negative if the end is earlier.
    pub lateness_ns: i128,
    /// Whether it was late or dropped.
    pub missed: bool,
    /// Cause of the miss; the longest part if nothing was missed.
    pub cause: Cause,
}

impl Account {
    /// Whether the request would have met its deadline if this part had taken no time and the other
    /// parts had not changed.
    pub fn in_time_without(&self, part: Part) -> bool {
        self.lateness_ns <= self.parts.ns(part).max(0)
    }

    /// Time from the nominal start to the deadline \[ns\].
    fn budget_ns(&self) -> i128 {
        self.parts.total_ns() - self.lateness_ns
    }
}

/// Instants and places of a request.
pub struct Course {
    /// Row of the costs that it runs.
    pub work: WorkId,
    /// Time at which all results that it depends on were there, or at which it was dropped.
    pub ready: SimTime,
    /// Time at which it started or was dropped.
    pub left_queue: SimTime,
    /// First accelerator that it ran on.
    pub accelerator: Option<AccelId>,
    /// Times without execution after its start.
    gaps: Vec<Gap>,
    /// Execution time, or the expected one if it did not run to its end.
    execution: SimSpan,
    /// Execution time without interference, on the accelerators where it ran.
    alone: SimSpan,
}

/// A wait of a preempted request.
#[derive(Debug, Clone, Copy)]
struct Gap {
    from: SimTime,
    to: SimTime,
    /// Accelerator on which it continued; `None` if it was dropped.
    accelerator: Option<AccelId>,
}

/// Explains the end of every request of a run.
pub struct Why<'a> {
    plan: &'a Plan,
    costs: &'a CostTable,
    /// Draws of latencies; `None` if these do not differ from request to request.
    latencies: Option<LatencyDraws>,
    /// Trace of the run.
    pub trace: &'a Trace,
    names: Vec<&'a str>,
    /// Dependencies of its requests.
    pub dependencies: Dependencies<'a>,
    /// Jobs on its accelerators.
    pub occupancy: Occupancy,
}

impl<'a> Why<'a> {
    /// Prepares the explanations of the run of `plan` that gave `result`.
    pub fn new(plan: &'a Plan, result: &'a RunResult) -> Self {
        let (costs, trace) = (&result.costs, &result.trace);
        let awaits = match plan.semantics {
            Semantics::Principled => Awaits::Newest,
            Semantics::Mlsys2023 if plan.without.completion_count => Awaits::Same,
            Semantics::Mlsys2023 => Awaits::Completions,
        };
        Self {
            plan,
            costs,
            latencies: costs.has_spreads().then(|| LatencyDraws::new(&plan.scenario, &plan.load)),
            trace,
            names: crate::model_names(&plan.scenario),
            dependencies: Dependencies::new(&plan.scenario, awaits, trace).with_room(plan),
            occupancy: Occupancy::new(trace, costs.n_accelerators()),
        }
    }

    /// Row of the costs that a request runs.
    fn work_of(&self, id: RequestId) -> WorkId {
        let work = self.costs.variant(self.trace.record(id).model, self.trace.variant_of(id));
        work.expect("the costs have all variants of the scenario")
    }

    /// Time that `work` takes on `accelerator`. The published artifact has a clock of 1 GHz built in.
    fn latency(&self, work: WorkId, accelerator: AccelId) -> SimSpan {
        match self.plan.semantics {
            Semantics::Principled => self.costs.on(work, accelerator).latency(),
            Semantics::Mlsys2023 => {
                self.costs.on(work, accelerator).network().cycles.at(ClockRate::GHZ)
            }
        }
    }

    /// The accelerator that runs `work` in the shortest time, the first of equal ones, and that time.
    pub fn fastest(&self, work: WorkId) -> (AccelId, SimSpan) {
        let latencies = self.costs.offers(work).map(|id| (id, self.latency(work, id)));
        latencies.min_by_key(|&(_, latency)| latency).expect("a system has accelerators")
    }

    /// Nominal start of the frame of a request, with the initial latency of its primary sensor: its
    /// deadline minus its relative deadline, which is a period unless the model has its own. Initial
    /// latencies and phases of sensors move both instants equally.
    fn nominal_start(&self, record: &Record) -> SimTime {
        let model = self.plan.scenario.model(record.model);
        let deadline = record.deadline.ns();
        if self.plan.semantics == Semantics::Mlsys2023 {
            let frame = record.frame.index() as u64;
            // The deadline is frame + 1 periods.
            let start = u128::from(deadline) * u128::from(frame) / (u128::from(frame) + 1);
            return SimTime::from_ns(start as u64);
        }
        // A step of a sequence begins when the one before it has ended.
        if self.dependencies.before(record).is_some() {
            return record.arrival;
        }
        let relative = self.plan.load.relative_deadline(model, record.frame);
        SimTime::from_ns(deadline.saturating_sub(relative.ns()))
    }

    /// Breakdown of the time of a request; `None` if it was not triggered, or lost at the end of the
    /// run.
    ///
    /// The cause of a missed deadline is
    ///
    /// - the upstream request, if the request was dropped because of it;
    /// - its own latency, if the latency exceeds the time from the arrival of its data, or from the
    ///   nominal start if that is earlier, to the deadline;
    /// - otherwise the longest of the other parts: sensor, upstream, accelerator, waits between its
    ///   segments, interference, and the additional time on a slower accelerator. If any single part
    ///   is enough to miss the deadline, the longest one is.
    pub fn account(&self, id: RequestId) -> Option<Account> {
        let record = self.trace.record(id);
        let need = self.dependencies.last(record);
        let course = self.course(id, need)?;
        let nominal_start = self.nominal_start(record);
        let parts = self.parts(record, nominal_start, &course);
        let budget_ns = ns_between(nominal_start, record.deadline);
        let cause = self.cause(record, &course, need, &parts, budget_ns);
        let lateness_ns = parts.total_ns() - budget_ns;
        Some(Account { nominal_start, parts, lateness_ns, missed: missed(record), cause })
    }

    /// Dependencies of `id`, fulfilled or not.
    pub fn needs(&self, id: RequestId) -> impl Iterator<Item = Need> {
        self.dependencies.of(self.trace.record(id))
    }

    /// Instants and places of a request; `None` if it was not triggered, or lost at the end of the run.
    pub fn course(&self, id: RequestId, need: Option<Need>) -> Option<Course> {
        let record = self.trace.record(id);
        let (given_up, executed) = match record.outcome {
            Outcome::Executed { end, .. } => (end, true),
            Outcome::Dropped { at, .. } => (at, false),
            Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => return None,
        };
        let work = self.work_of(id);
        let first = self.trace.busy_intervals_of(id).next();
        let left_queue = first.map_or(given_up, |it| it.start).max(record.arrival);
        let came = match need {
            None => record.arrival,
            Some(need) => self.dependencies.end(need).unwrap_or(left_queue),
        };
        let [execution, alone] = match first {
            None => [self.fastest(work).1; 2],
            Some(_) if executed => self.executed(id),
            Some(_) => self.attempted(id),
        };
        Some(Course {
            work,
            ready: came.clamp(record.arrival, left_queue),
            left_queue,
            accelerator: first.map(|it| it.accelerator),
            gaps: self.gaps(id, given_up),
            execution,
            alone,
        })
    }

    /// Execution time of a request, and the same without interference.
    fn executed(&self, id: RequestId) -> [SimSpan; 2] {
        let Self { costs, trace, .. } = self;
        let work = self.work_of(id);
        let ran = trace.busy_intervals_of(id).map(|it| length(it.start, it.end));
        let ran = ran.fold(SimSpan::ZERO, SimSpan::saturating_add);
        let alone = match (trace.segments_of(id), self.plan.semantics) {
            // The published artifact completes up to 0.01 ms early, and has no interference.
            ([], Semantics::Mlsys2023) => ran,
            ([], Semantics::Principled) => {
                let places = trace.busy_intervals_of(id);
                let places = places.map(|it| match &self.latencies {
                    None => self.latency(work, it.accelerator),
                    Some(latencies) => {
                        let record = trace.record(id);
                        let share = latencies.of(record.model, record.frame);
                        costs.on(work, it.accelerator).drawn(share)
                    }
                });
                places.fold(SimSpan::ZERO, SimSpan::saturating_add)
            }
            (segments, _) => segments.iter().fold(SimSpan::ZERO, |sum, it| {
                let layers = it.first_layer..it.end_layer;
                sum + costs.on(work, it.accelerator).time_of(layers)
            }),
        };
        [ran, alone.min(ran)]
    }

    /// Execution time of a dropped request if it had continued on the accelerator where it ran last, and
    /// the same without interference.
    fn attempted(&self, id: RequestId) -> [SimSpan; 2] {
        let Self { costs, trace, .. } = self;
        let work = self.work_of(id);
        let [ran, alone] = self.executed(id);
        let Some(last) = trace.segments_of(id).last() else {
            let last = trace.busy_intervals_of(id).last();
            return [last.map_or(ran, |it| self.latency(work, it.accelerator)); 2];
        };
        let left = costs.on(work, last.accelerator).remaining(last.end_layer);
        [ran + left, alone + left]
    }

    /// Waits of a request after its start, until `given_up` at most.
    fn gaps(&self, id: RequestId, given_up: SimTime) -> Vec<Gap> {
        let segments = self.trace.segments_of(id);
        let next = segments.iter().skip(1).map(|it| (it.start, Some(it.accelerator)));
        let pairs = segments.iter().zip(next.chain([(given_up, None)]));
        let gaps =
            pairs.map(|(segment, (to, accelerator))| Gap { from: segment.end, to, accelerator });
        gaps.filter(|gap| gap.from < gap.to).collect()
    }

    fn parts(&self, record: &Record, nominal_start: SimTime, course: &Course) -> Parts {
        let best = self.fastest(course.work).1.min(course.alone).ns();
        Parts {
            ns: [
                ns_between(nominal_start, record.arrival),
                ns_between(record.arrival, course.ready),
                ns_between(course.ready, course.left_queue),
                course.gaps.iter().map(|gap| ns_between(gap.from, gap.to)).sum(),
                i128::from((course.execution - course.alone).ns()),
                i128::from(course.alone.ns() - best),
                best.into(),
            ],
        }
    }

    fn cause(
        &self,
        record: &Record,
        course: &Course,
        need: Option<Need>,
        parts: &Parts,
        budget_ns: i128,
    ) -> Cause {
        let alone_ns = parts.ns(Part::Sensor).min(0) + parts.ns(Part::Latency);
        let taken_along =
            matches!(record.outcome, Outcome::Dropped { reason: DropReason::Upstream, .. });
        let part = match missed(record) {
            true if taken_along => Part::Upstream,
            true if alone_ns > budget_ns => Part::Latency,
            true => parts.longest(&Part::WAITS),
            false => parts.longest(&Part::ALL),
        };
        match (part, need) {
            (Part::Sensor, _) => Cause::Sensor,
            (Part::Upstream, Some(need)) => Cause::Upstream(need),
            (Part::Upstream | Part::Accelerator, _) => {
                Cause::Accelerator(self.blocker(record, course))
            }
            (Part::Preempted, _) => Cause::Preempted(self.blocker_of_gaps(course)),
            (Part::Interference, _) => Cause::Interference,
            (Part::Placement, _) => self.placement(course),
            (Part::Latency, _) => Cause::Latency,
        }
    }

    /// The job that took most of the wait before the start of a request.
    fn blocker(&self, record: &Record, course: &Course) -> Option<Blocker> {
        longest(self.blockers(record, course).into_iter())
    }

    /// Jobs on the accelerators that a request waited for, before its start.
    pub fn blockers(&self, record: &Record, course: &Course) -> Vec<Blocker> {
        let places = self.places(record, course);
        let between = |&id: &AccelId| self.occupancy.between(id, course.ready, course.left_queue);
        places.iter().flat_map(between).collect()
    }

    /// The accelerators that a request waited for: all on which it would have met its deadline if it had
    /// started when it was ready. If there are none, the one on which it ran; if it never ran, all.
    pub fn places(&self, record: &Record, course: &Course) -> Vec<AccelId> {
        let all = self.costs.offers(course.work);
        let time = record.deadline.saturating_since(course.ready);
        let in_time = |id: &AccelId| self.latency(course.work, *id) <= time;
        let places: Vec<_> = all.clone().filter(in_time).collect();
        match (places.is_empty(), course.accelerator) {
            (false, _) => places,
            (true, Some(accelerator)) => vec![accelerator],
            (true, None) => all.collect(),
        }
    }

    /// The job that took most of the waits of a preempted request, on the accelerators where it
    /// continued.
    pub fn blocker_of_gaps(&self, course: &Course) -> Option<Blocker> {
        longest(course.gaps.iter().flat_map(|gap| self.jobs_of(*gap)))
    }

    /// Jobs that ran during a wait of a preempted request.
    fn jobs_of(&self, gap: Gap) -> impl Iterator<Item = Blocker> {
        let accelerators = match gap.accelerator {
            Some(accelerator) => accelerator.index()..accelerator.index() + 1,
            None => 0..self.costs.n_accelerators(),
        };
        let between = move |id| self.occupancy.between(AccelId::new(id), gap.from, gap.to);
        accelerators.flat_map(between)
    }

    fn placement(&self, course: &Course) -> Cause {
        let (fastest, _) = self.fastest(course.work);
        Cause::Placement { fastest, job: self.occupancy.at(fastest, course.left_queue) }
    }
}

/// The job that took most of a wait; of equal ones the longest job, then the one with the lowest
/// accelerator and request.
fn longest(jobs: impl Iterator<Item = Blocker>) -> Option<Blocker> {
    jobs.min_by_key(rank)
}

/// Order of jobs that a request waited for, the longest wait first.
pub fn rank(job: &Blocker) -> (Reverse<SimSpan>, Reverse<SimSpan>, AccelId, RequestId) {
    let held = job.end.saturating_since(job.start);
    (Reverse(job.overlap), Reverse(held), job.accelerator, job.request)
}

/// From `start` to `end`; zero without an end.
fn length(start: SimTime, end: Option<SimTime>) -> SimSpan {
    end.map_or(SimSpan::ZERO, |end| end.saturating_since(start))
}

/// Whether a request was late or dropped.
fn missed(record: &Record) -> bool {
    match record.outcome {
        Outcome::Executed { end, .. } => end > record.deadline,
        Outcome::Dropped { .. } => true,
        Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => false,
    }
}

/// Signed time from `a` to `b` \[ns\].
pub fn ns_between(a: SimTime, b: SimTime) -> i128 {
    i128::from(b.ns()) - i128::from(a.ns())
}

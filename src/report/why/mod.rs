//! Why a request ended when it did: its way from the nominal start of its frame to its end in parts,
//! and which of them decided that it was late or dropped.
//!
//! Knows what happened and what everything costs, nothing of how it was decided: what a policy could
//! have done otherwise shows only when the run is made again.

mod jobs;
mod story;
mod text;
mod upstream;

use std::cmp::Reverse;

use crate::cost::CostTable;
use crate::hardware::System;
use crate::ids::{AccelId, ModelId, RequestId};
use crate::scenario::Scenario;
use crate::sweep::{RunResult, RunSpec, Semantics};
use crate::trace::{DropReason, Outcome, Record, Trace};
use crate::units::{ClockRate, SimSpan, SimTime};

use jobs::Occupancy;
use upstream::Dependencies;

pub use jobs::Job;
pub use story::{Change, Fate, story};
pub use upstream::{Awaits, Need};

/// A run that was made, with what it was made of.
#[derive(Debug, Clone, Copy)]
pub struct Played<'a> {
    /// What was asked.
    pub scenario: &'a Scenario,
    /// What it ran on.
    pub system: &'a System,
    /// By which rules.
    pub semantics: Semantics,
    /// What frames waited for.
    pub awaits: Awaits,
    /// What every model costs on every accelerator.
    pub costs: &'a CostTable,
    /// What happened.
    pub trace: &'a Trace,
}

impl<'a> Played<'a> {
    /// The run of `spec` that gave `result`.
    pub fn new(spec: &'a RunSpec, result: &'a RunResult) -> Self {
        Self {
            scenario: &spec.plan.scenario,
            system: &spec.plan.system,
            semantics: spec.semantics,
            awaits: match spec.semantics {
                Semantics::Principled => Awaits::Newest,
                Semantics::Mlsys2023 if spec.without.completion_count => Awaits::Same,
                Semantics::Mlsys2023 => Awaits::Completions,
            },
            costs: &result.costs,
            trace: &result.trace,
        }
    }

    /// Time that `model` takes on `accelerator`. The published artifact has a clock of 1 GHz built in.
    fn latency(&self, model: ModelId, accelerator: AccelId) -> SimSpan {
        match self.semantics {
            Semantics::Principled => self.costs.on(model, accelerator).latency(),
            Semantics::Mlsys2023 => {
                self.costs.on(model, accelerator).network().cycles.at(ClockRate::GHZ)
            }
        }
    }

    /// The accelerator that runs `model` in the shortest time, the first of equals, and that time.
    fn fastest(&self, model: ModelId) -> (AccelId, SimSpan) {
        let accelerators = (0..self.costs.n_accelerators()).map(AccelId::new);
        let latencies = accelerators.map(|id| (id, self.latency(model, id)));
        latencies.min_by_key(|&(_, latency)| latency).expect("a system has accelerators")
    }

    /// When the frame of a request should have had its data: its deadline less the time that it is
    /// given, which is a period unless the model says otherwise. Initial latencies and phases of
    /// sensors move both alike.
    fn nominal_start(&self, record: &Record) -> SimTime {
        let model = self.scenario.model(record.model);
        let frame = record.frame.index() as u64;
        let deadline = record.deadline.ns();
        if self.semantics == Semantics::Mlsys2023 {
            // The deadline is frame + 1 periods.
            let start = u128::from(deadline) * u128::from(frame) / (u128::from(frame) + 1);
            return SimTime::from_ns(start as u64);
        }
        let period = model.rate.frame_start(frame + 1) - model.rate.frame_start(frame);
        SimTime::from_ns(deadline.saturating_sub(model.relative_deadline.unwrap_or(period).ns()))
    }
}

/// A part of the way of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the nominal start of the frame to the arrival of its input data. Negative where the newest
    /// sensor frame is older than the frame, or jitter made it early.
    Sensor,
    /// From there until the last result that it depends on.
    Upstream,
    /// From there to the start.
    Accelerator,
    /// Between its segments, if it was cut; for one that was given up, up to then.
    Preempted,
    /// What switching, migration and shared bandwidth added to its execution.
    Interference,
    /// What execution took beyond the latency on the fastest accelerator.
    Placement,
    /// Latency on the fastest accelerator.
    Latency,
}

impl Part {
    /// All parts, in order of time; of a request that was cut, those of its execution in sum.
    pub const ALL: [Self; 7] = [
        Self::Sensor,
        Self::Upstream,
        Self::Accelerator,
        Self::Preempted,
        Self::Interference,
        Self::Placement,
        Self::Latency,
    ];

    /// Place in [`Part::ALL`] from which on parts are of the execution.
    const EXECUTION: usize = 3;

    /// What another run or another system could have spared the request. Of equals the first counts.
    const WAITS: [Self; 6] = [
        Self::Accelerator,
        Self::Upstream,
        Self::Sensor,
        Self::Placement,
        Self::Preempted,
        Self::Interference,
    ];
}

/// How long each part took.
///
/// They add up to the time from the nominal start to the end of execution. For a request that was
/// dropped the end is what it would have been from the moment at which it was given up, on its fastest
/// accelerator; for one that was aborted, what it would have been without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// In the order of [`Part::ALL`] \[ns\]; wide enough for the sum of any.
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

    /// All of them \[ns\].
    pub fn total_ns(&self) -> i128 {
        self.ns.iter().sum()
    }

    /// The longest of `parts`, the first of equals.
    fn longest(&self, parts: &[Part]) -> Part {
        let longest = parts.iter().min_by_key(|part| Reverse(self.ns(**part)));
        *longest.expect("some parts are compared")
    }
}

/// What decided when a request ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cause {
    /// Its input data came late.
    Sensor,
    /// A result that it depends on came late or never.
    Upstream(Need),
    /// It waited for an accelerator on which it could have been in time: the job that took most of the
    /// wait. `None`: something was idle, and the policy held it back.
    Accelerator(Option<Job>),
    /// It was cut and waited to go on: the job that it waited for longest. `None`: something was idle,
    /// and the policy held it back.
    Preempted(Option<Job>),
    /// Its data was moved, or it had to share bandwidth.
    Interference,
    /// It ran on a slower accelerator than its fastest, which was busy with a job. `None`: it was
    /// idle, and the policy chose the slower one.
    Placement {
        /// The fastest accelerator.
        fastest: AccelId,
        /// What that one ran.
        job: Option<Job>,
    },
    /// Its own latency.
    Latency,
}

/// The way of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// Nominal start of the frame.
    pub nominal_start: SimTime,
    /// How long each part took from there on.
    pub parts: Parts,
    /// From the deadline to the end of the parts \[ns\]; negative if that is earlier.
    pub lateness_ns: i128,
    /// Whether it was late or dropped.
    pub missed: bool,
    /// What decided that; what took longest if it was neither.
    pub cause: Cause,
}

impl Account {
    /// Whether the request would have met its deadline had this part taken no time and all others as
    /// long as they did.
    pub fn in_time_without(&self, part: Part) -> bool {
        self.lateness_ns <= self.parts.ns(part).max(0)
    }

    /// Time from the nominal start to the deadline \[ns\].
    fn budget_ns(&self) -> i128 {
        self.parts.total_ns() - self.lateness_ns
    }
}

/// How far a request came, and when.
struct Course {
    /// When all that it depends on was there, or it was given up before that.
    ready: SimTime,
    /// When it started or was given up.
    left_queue: SimTime,
    /// Where it ran; of several places the first.
    accelerator: Option<AccelId>,
    /// Times without execution after its start.
    gaps: Vec<Gap>,
    /// How long it ran or would have.
    execution: SimSpan,
    /// How long that takes alone, where it ran.
    alone: SimSpan,
}

/// A time in which a request that was cut waited.
#[derive(Debug, Clone, Copy)]
struct Gap {
    from: SimTime,
    to: SimTime,
    /// Where it went on; `None` if it was given up.
    accelerator: Option<AccelId>,
}

/// Answers why, for every request of a run.
pub struct Why<'a> {
    run: Played<'a>,
    names: Vec<&'a str>,
    dependencies: Dependencies<'a>,
    occupancy: Occupancy,
}

impl<'a> Why<'a> {
    /// Prepares the answers for a run.
    pub fn new(run: Played<'a>) -> Self {
        Self {
            run,
            names: super::model_names(run.scenario),
            dependencies: Dependencies::new(run.scenario, run.awaits, run.trace),
            occupancy: Occupancy::new(run.trace, run.costs.n_accelerators()),
        }
    }

    /// The way of a request; `None` if nothing asked for it, or if it was lost at the end of the run.
    ///
    /// The cause of a missed deadline is
    ///
    /// - the upstream request, if the drop of that one took it along;
    /// - its own latency, if that exceeds the time between its data, or the nominal start if that is
    ///   earlier, and the deadline;
    /// - otherwise the longest of the waits: sensor, upstream, accelerator, between its segments, for data
    ///   and bandwidth, and what a slower accelerator took longer. If any of them alone would have been
    ///   enough, this one is.
    pub fn account(&self, id: RequestId) -> Option<Account> {
        let record = self.run.trace.record(id);
        let need = self.dependencies.last(record);
        let course = self.course(id, need)?;
        let nominal_start = self.run.nominal_start(record);
        let parts = self.parts(record, nominal_start, &course);
        let budget_ns = ns_between(nominal_start, record.deadline);
        let cause = self.cause(record, &course, need, &parts, budget_ns);
        let lateness_ns = parts.total_ns() - budget_ns;
        Some(Account { nominal_start, parts, lateness_ns, missed: missed(record), cause })
    }

    /// What `id` depends on, whether or not it came.
    pub fn needs(&self, id: RequestId) -> impl Iterator<Item = Need> {
        self.dependencies.of(self.run.trace.record(id))
    }

    fn course(&self, id: RequestId, need: Option<Need>) -> Option<Course> {
        let record = self.run.trace.record(id);
        let (given_up, executed) = match record.outcome {
            Outcome::Executed { end, .. } => (end, true),
            Outcome::Dropped { at, .. } => (at, false),
            Outcome::NotTriggered | Outcome::Lost { .. } => return None,
        };
        let first = self.run.trace.busy_intervals_of(id).next();
        let left_queue = first.map_or(given_up, |it| it.start).max(record.arrival);
        let came = match need {
            None => record.arrival,
            Some(need) => self.dependencies.end(need).unwrap_or(left_queue),
        };
        let [execution, alone] = match first {
            None => [self.run.fastest(record.model).1; 2],
            Some(_) if executed => self.executed(id),
            Some(_) => self.attempted(id),
        };
        Some(Course {
            ready: came.clamp(record.arrival, left_queue),
            left_queue,
            accelerator: first.map(|it| it.accelerator),
            gaps: self.gaps(id, given_up),
            execution,
            alone,
        })
    }

    /// How long a request ran, and how long that takes alone.
    fn executed(&self, id: RequestId) -> [SimSpan; 2] {
        let (run, model) = (&self.run, self.run.trace.record(id).model);
        let ran = run.trace.busy_intervals_of(id).map(|it| length(it.start, it.end));
        let ran = ran.fold(SimSpan::ZERO, SimSpan::saturating_add);
        let alone = match (run.trace.segments_of(id), run.semantics) {
            // The published artifact completes up to 0.01 ms early; it has nothing that interferes.
            ([], Semantics::Mlsys2023) => ran,
            ([], Semantics::Principled) => {
                let places =
                    run.trace.busy_intervals_of(id).map(|it| run.latency(model, it.accelerator));
                places.fold(SimSpan::ZERO, SimSpan::saturating_add)
            }
            (segments, _) => segments.iter().fold(SimSpan::ZERO, |sum, it| {
                let layers = it.first_layer..it.end_layer;
                sum + run.costs.on(model, it.accelerator).time_of(layers)
            }),
        };
        [ran, alone.min(ran)]
    }

    /// How long a request that was given up would have run, had it gone on where it ran last.
    fn attempted(&self, id: RequestId) -> [SimSpan; 2] {
        let (run, model) = (&self.run, self.run.trace.record(id).model);
        let [ran, alone] = self.executed(id);
        let Some(last) = run.trace.segments_of(id).last() else {
            let last = run.trace.busy_intervals_of(id).last();
            return [last.map_or(ran, |it| run.latency(model, it.accelerator)); 2];
        };
        let left = run.costs.on(model, last.accelerator).remaining(last.end_layer);
        [ran + left, alone + left]
    }

    /// Times in which a request waited after its start, up to `given_up` at most.
    fn gaps(&self, id: RequestId, given_up: SimTime) -> Vec<Gap> {
        let segments = self.run.trace.segments_of(id);
        let next = segments.iter().skip(1).map(|it| (it.start, Some(it.accelerator)));
        let pairs = segments.iter().zip(next.chain([(given_up, None)]));
        let gaps =
            pairs.map(|(segment, (to, accelerator))| Gap { from: segment.end, to, accelerator });
        gaps.filter(|gap| gap.from < gap.to).collect()
    }

    fn parts(&self, record: &Record, nominal_start: SimTime, course: &Course) -> Parts {
        let best = self.run.fastest(record.model).1.min(course.alone).ns();
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
            (Part::Placement, _) => self.placement(record.model, course),
            (Part::Latency, _) => Cause::Latency,
        }
    }

    /// The job that kept a request waiting longest before it started.
    fn blocker(&self, record: &Record, course: &Course) -> Option<Job> {
        longest(self.blockers(record, course).into_iter())
    }

    /// Jobs that ran while a request waited for its start, where it waited for.
    fn blockers(&self, record: &Record, course: &Course) -> Vec<Job> {
        let places = self.places(record, course);
        let between = |&id: &AccelId| self.occupancy.between(id, course.ready, course.left_queue);
        places.iter().flat_map(between).collect()
    }

    /// The accelerators that a request waited for: those on which it would have ended in time, had it
    /// started when it was ready. If there is none, the one where it then ran; if it never did, all.
    fn places(&self, record: &Record, course: &Course) -> Vec<AccelId> {
        let all = (0..self.run.costs.n_accelerators()).map(AccelId::new);
        let time = record.deadline.saturating_since(course.ready);
        let in_time = |id: &AccelId| self.run.latency(record.model, *id) <= time;
        let places: Vec<_> = all.clone().filter(in_time).collect();
        match (places.is_empty(), course.accelerator) {
            (false, _) => places,
            (true, Some(accelerator)) => vec![accelerator],
            (true, None) => all.collect(),
        }
    }

    /// The same of a request that was cut, where it went on.
    fn blocker_of_gaps(&self, course: &Course) -> Option<Job> {
        longest(course.gaps.iter().flat_map(|gap| self.jobs_of(*gap)))
    }

    /// Jobs in the way of a request that waited.
    fn jobs_of(&self, gap: Gap) -> impl Iterator<Item = Job> {
        let accelerators = match gap.accelerator {
            Some(accelerator) => accelerator.index()..accelerator.index() + 1,
            None => 0..self.run.costs.n_accelerators(),
        };
        let between = move |id| self.occupancy.between(AccelId::new(id), gap.from, gap.to);
        accelerators.flat_map(between)
    }

    fn placement(&self, model: ModelId, course: &Course) -> Cause {
        let (fastest, _) = self.run.fastest(model);
        Cause::Placement { fastest, job: self.occupancy.at(fastest, course.left_queue) }
    }
}

/// The job that took most of a wait; of equals the one that lasted longest in all, then that of the
/// lowest accelerator and request.
fn longest(jobs: impl Iterator<Item = Job>) -> Option<Job> {
    jobs.min_by_key(rank)
}

/// Order of jobs in the way, the worst first.
fn rank(job: &Job) -> (Reverse<SimSpan>, Reverse<SimSpan>, AccelId, RequestId) {
    let held = job.end.saturating_since(job.start);
    (Reverse(job.overlap), Reverse(held), job.accelerator, job.request)
}

/// From `start` to `end`; none for what has no end.
fn length(start: SimTime, end: Option<SimTime>) -> SimSpan {
    end.map_or(SimSpan::ZERO, |end| end.saturating_since(start))
}

/// Whether a request was late or dropped.
fn missed(record: &Record) -> bool {
    match record.outcome {
        Outcome::Executed { end, .. } => end > record.deadline,
        Outcome::Dropped { .. } => true,
        Outcome::NotTriggered | Outcome::Lost { .. } => false,
    }
}

/// Signed time from `a` to `b` \[ns\].
fn ns_between(a: SimTime, b: SimTime) -> i128 {
    i128::from(b.ns()) - i128::from(a.ns())
}

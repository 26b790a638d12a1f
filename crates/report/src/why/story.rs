//! Explanation of one request as a page of text.

use std::cmp::Reverse;

use crate::table::{Grid, Rows};
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{Absence, Outcome, Record};
use xrsim_model::units::SimTime;

use xrsim_results::why::{Account, Course, Need, Part, Why, ns_between, rank};

use super::told::{PARTS, TableFile, Told};

/// Most jobs of an accelerator in a line.
const MAX_LISTED: usize = 3;

/// Explanation of a request: its outcome, the durations of its parts, the cause, and the jobs that it waited
/// for.
pub fn story(why: &Why<'_>, id: RequestId) -> Told {
    let record = why.trace.record(id);
    let mut told = Told::default();
    told.answer(format!("{}: {}\n", why.name(id), fate(why, record)));
    let need = why.dependencies.last(record);
    let (Some(account), Some(course)) = (why.account(id), why.course(id, need)) else {
        return told;
    };
    let way = Way { why, record, need, course };
    let parts = way.table(&account);
    let file = TableFile { name: PARTS, rows: in_file(&parts), top: None };
    told.table("", parts, file);
    told.lines(way.end(&account) + "\n");
    if account.missed {
        let links = why.chain(id, account);
        let lines =
            links.map(|(id, account)| format!("  {}  {}\n", why.name(id), why.describe(&account)));
        told.list("Cause", lines.collect::<String>());
        in_the_way(why, id, account, &mut told);
    }
    told
}

/// The parts as a file has them: without the mark of those of the execution.
fn in_file(shown: &Grid) -> Rows {
    let name = |name: &String| name.replace(' ', "_");
    let cell = |cell: &String| cell.strip_prefix("- ").unwrap_or(cell).to_string();
    let row = |row: &Vec<String>| row.iter().map(cell).collect();
    (shown.header.iter().map(name).collect(), shown.rows.iter().map(row).collect())
}

/// Outcome of a request.
fn fate(why: &Why<'_>, record: &Record) -> String {
    let deadline = record.deadline;
    match record.outcome {
        Outcome::Executed { accelerator, end, .. } => {
            let place = why.accelerator(accelerator);
            let margin = deadline.ms_after(end);
            match margin < 0.0 {
                true => format!("executed on {place}, {:.3} ms late", -margin),
                false => format!("executed on {place}, in time with {margin:.3} ms to spare"),
            }
        }
        Outcome::Dropped { at, reason, .. } => {
            format!("dropped at {:.3} ms, reason: {}", at.as_ms(), reason.name())
        }
        Outcome::NotTriggered => "not triggered by its upstream result".into(),
        Outcome::NotCaptured(Absence::Lost) => "not there: a frame of a sensor is lost".into(),
        Outcome::NotCaptured(Absence::Gated) => "not there: the gate of a sensor was off".into(),
        Outcome::Lost { attempt } => {
            let state = if attempt.is_some() { "running" } else { "waiting" };
            format!("{state} when the run ended, so no count has it")
        }
    }
}

/// A request that ran or was dropped.
struct Way<'a> {
    why: &'a Why<'a>,
    record: &'a Record,
    need: Option<Need>,
    course: Course,
}

impl Way<'_> {
    /// A line for every part that took time. Parts of the execution have no start and end of their own,
    /// unless there is only one.
    fn table(&self, account: &Account) -> Grid {
        let header = ["part", "from ms", "to ms", "took ms", "without it", "what happened"];
        let mut rows = Vec::new();
        let took = |part: &Part| account.parts.ns(*part) != 0;
        let (waits, execution) = Part::ALL.split_at(Part::EXECUTION);
        let mut from_ns = i128::from(account.nominal_start.ns());
        for &part in waits.iter().filter(|part| took(part)) {
            let to_ns = from_ns + account.parts.ns(part);
            rows.push(self.row(account, part, Some([from_ns, to_ns])));
            from_ns = to_ns;
        }
        let execution: Vec<Part> = execution.iter().copied().filter(took).collect();
        let took_ns: i128 = execution.iter().map(|part| account.parts.ns(*part)).sum();
        let whole = Some([from_ns, from_ns + took_ns]);
        match execution[..] {
            [only] => {
                rows.push(self.row(account, only, whole));
            }
            _ => {
                let [from, to] = [from_ns, from_ns + took_ns].map(ms);
                let cells =
                    ["execution".into(), from, to, ms(took_ns), String::new(), self.place()];
                rows.push(cells);
                for &part in &execution {
                    rows.push(self.row(account, part, None));
                }
            }
        }
        Grid {
            header: header.map(String::from).into(),
            is_text: vec![true, false, false, false, false, true],
            rows: rows.into_iter().map(Vec::from).collect(),
        }
    }

    /// The line of a part, with start and end if it has them.
    fn row(&self, account: &Account, part: Part, interval: Option<[i128; 2]>) -> [String; 6] {
        let took_ns = account.parts.ns(part);
        let without = match account.in_time_without(part) {
            _ if !account.missed || took_ns < 0 || part == Part::Latency => "",
            true => "in time",
            false => "still late",
        };
        let (name, [from, to]) = match interval {
            Some(ends) => (label(part).to_string(), ends.map(ms)),
            None => (format!("- {}", label(part)), Default::default()),
        };
        [name, from, to, ms(took_ns), without.into(), self.happened(part)]
    }

    /// End of the request relative to its deadline.
    fn end(&self, account: &Account) -> String {
        let verb = match self.record.outcome {
            Outcome::Executed { .. } => "ended",
            _ => "would have ended",
        };
        let late_ms = account.lateness_ns as f64 / 1e6;
        let side = if late_ms > 0.0 { "after" } else { "before" };
        let deadline_ms = self.record.deadline.as_ms();
        format!("{verb} {:.3} ms {side} its deadline at {deadline_ms:.3} ms", late_ms.abs())
    }

    /// Reason for the duration of a part.
    fn happened(&self, part: Part) -> String {
        let Self { why, course, .. } = self;
        let (fastest, _) = why.fastest(course.work);
        match part {
            Part::Sensor => "arrival of its input data".into(),
            Part::Upstream if self.need.is_some_and(|need| need.makes_room) => {
                let end = self.need.and_then(|need| need.served_by).map(|id| why.name(id));
                format!("room for its cache, until the end of {}", end.unwrap_or_default())
            }
            Part::Upstream => match self.need.and_then(|need| need.decided_by) {
                Some(upstream) => format!("{} ({})", why.name(upstream), why.state(upstream)),
                None => "an upstream model without frames".into(),
            },
            Part::Accelerator => self.queue(),
            Part::Preempted => match why.blocker_of_gaps(course) {
                Some(job) => format!("longest wait for {}", why.name(job.request)),
                None => "although an accelerator was idle".into(),
            },
            Part::Interference => "context switches, migration, shared bandwidth".into(),
            Part::Placement => match why.occupancy.at(fastest, course.left_queue) {
                Some(job) => format!("{} ran {}", why.accelerator(fastest), why.name(job.request)),
                None => format!("{} was idle", why.accelerator(fastest)),
            },
            Part::Latency => match course.accelerator {
                Some(place) if place != fastest => {
                    format!("on {}, its fastest accelerator", why.accelerator(fastest))
                }
                _ => self.place(),
            },
        }
    }

    /// Accelerator on which it ran.
    fn place(&self) -> String {
        let (fastest, _) = self.why.fastest(self.course.work);
        match self.course.accelerator {
            Some(place) => format!("on {}", self.why.accelerator(place)),
            None => format!("if it had started then on {}", self.why.accelerator(fastest)),
        }
    }

    /// Jobs of the accelerators that it waited for, during the wait.
    fn queue(&self) -> String {
        let places = self.why.places(self.record, &self.course);
        places.into_iter().map(|place| self.jobs(place)).collect::<Vec<_>>().join("; ")
    }

    /// Jobs of one accelerator during the wait, the longest first.
    fn jobs(&self, place: AccelId) -> String {
        let (why, from, to) = (self.why, self.course.ready, self.course.left_queue);
        let mut jobs: Vec<_> = why.occupancy.between(place, from, to).collect();
        jobs.sort_by_key(|job| Reverse(job.overlap));
        let busy_ns: i128 = jobs.iter().map(|job| i128::from(job.overlap.ns())).sum();
        let listed = jobs.iter().take(MAX_LISTED);
        let mut parts: Vec<_> = listed
            .map(|job| format!("{} {:.3}", why.name(job.request), job.overlap.as_ms()))
            .collect();
        if jobs.len() > MAX_LISTED {
            parts.push(format!("{} more", jobs.len() - MAX_LISTED));
        }
        let idle_ns = ns_between(from, to) - busy_ns;
        if idle_ns > 0 {
            parts.push(format!("idle {:.3}", idle_ns as f64 / 1e6));
        }
        format!("{}: {}", why.accelerator(place), parts.join(", "))
    }
}

fn label(part: Part) -> &'static str {
    match part {
        Part::Sensor => "sensor",
        Part::Upstream => "upstream",
        Part::Accelerator => "accelerator",
        Part::Preempted => "preempted",
        Part::Interference => "interference",
        Part::Placement => "slower accelerator",
        Part::Latency => "own latency",
    }
}

/// Adds the jobs that a request, or the upstream request that is its cause, waited for; the longest first.
fn in_the_way(why: &Why<'_>, id: RequestId, account: Account, told: &mut Told) {
    let Some((id, account)) = why.chain(id, account).last() else { return };
    let record = why.trace.record(id);
    let course = why.course(id, why.dependencies.last(record));
    let waited = account.parts.ns(Part::Accelerator) > 0;
    let Some(course) = course.filter(|_| waited) else { return };
    let mut jobs = why.blockers(record, &course);
    jobs.sort_by_key(rank);
    let lines = jobs.iter().take(MAX_LISTED).map(|job| {
        let (name, place) = (why.name(job.request), why.accelerator(job.accelerator));
        let taken = job.overlap.as_ms();
        let start = job.start.as_ms();
        match job.end {
            SimTime::MAX => format!("  {name}  {taken:.3} ms; it held {place} from {start:.3} ms\n"),
            end => format!(
                "  {name}  {taken:.3} ms; it held {place} from {start:.3} to {:.3} ms, {:.3} ms in all\n",
                end.as_ms(),
                end.saturating_since(job.start).as_ms()
            ),
        }
    });
    let title = format!("Frames that delayed {}, longest delay first", why.name(id));
    told.list(&title, lines.collect::<String>());
}

fn ms(ns: i128) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

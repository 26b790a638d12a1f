//! The way of one request as a page of text.

use std::cmp::Reverse;

use comfy_table::CellAlignment;

use crate::ids::{AccelId, RequestId};
use crate::report::table::{Style, new_table, render};
use crate::trace::{Outcome, Record};

use super::{Account, Course, Need, Part, Why, ns_between};

/// A change to the run that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What was changed, e.g. `latency of HT`.
    pub what: String,
    /// The smallest change that is enough and the margin that it leaves \[ms\]; `None` if none is.
    pub enough: Option<(String, f64)>,
    /// Everything that was tried, e.g. `90 % to 10 % of it`.
    pub tried: String,
}

/// Jobs of an accelerator that a line lists at most.
const MAX_LISTED: usize = 3;

/// The story of a request: what became of it, how long each part of its way took, the cause, and
/// which of `changes` would have met the deadline.
pub fn story(why: &Why<'_>, id: RequestId, changes: &[Change], style: Style) -> String {
    let record = why.run.trace.record(id);
    let mut text = format!("{}: {}\n", why.name(id), fate(why, record));
    let need = why.dependencies.last(record);
    let (Some(account), Some(course)) = (why.account(id), why.course(id, need)) else {
        return text;
    };
    let way = Way { why, record, need, course };
    text += &format!("\n{}{}\n", way.table(&account, style), way.end(&account));
    if account.missed {
        let links = why.chain(id, account);
        let lines =
            links.map(|(id, account)| format!("  {}  {}\n", why.name(id), why.describe(&account)));
        text += &format!("\nCause\n{}{}", lines.collect::<String>(), remedies(changes));
    }
    text
}

/// What became of a request.
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
        Outcome::NotTriggered => "not triggered: its upstream result did not ask for it".into(),
        Outcome::Lost { attempt } => {
            let state = if attempt.is_some() { "running" } else { "waiting" };
            format!("{state} when the run ended, and in no count")
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
    /// A line for every part that took time.
    fn table(&self, account: &Account, style: Style) -> String {
        let header = ["part", "from ms", "to ms", "took ms", "without it", "what happened"];
        let mut table = new_table(style, &header, 1);
        if let Some(last) = table.column_mut(header.len() - 1) {
            last.set_cell_alignment(CellAlignment::Left);
        }
        let ms = |ns: i128| format!("{:.3}", ns as f64 / 1e6);
        let mut from_ns = i128::from(account.nominal_start.ns());
        for part in Part::ALL {
            let took_ns = account.parts.ns(part);
            if took_ns == 0 {
                continue;
            }
            let to_ns = from_ns + took_ns;
            let without = match account.in_time_without(part) {
                _ if !account.missed || took_ns < 0 || part == Part::Latency => "",
                true => "in time",
                false => "still late",
            };
            let what = self.happened(part);
            table.add_row([label(part), &ms(from_ns), &ms(to_ns), &ms(took_ns), without, &what]);
            from_ns = to_ns;
        }
        render(&table)
    }

    /// Where that ends.
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

    /// Who or what a part was spent on.
    fn happened(&self, part: Part) -> String {
        let Self { why, course, .. } = self;
        let (fastest, _) = why.run.fastest(self.record.model);
        match part {
            Part::Sensor => "arrival of its input data".into(),
            Part::Upstream => match self.need.and_then(|need| need.decided_by) {
                Some(upstream) => format!("{} ({})", why.name(upstream), why.state(upstream)),
                None => "an upstream model without frames".into(),
            },
            Part::Accelerator => self.queue(),
            Part::Preempted => match why.blocker_of_gaps(course) {
                Some(job) => format!("longest behind {}", why.name(job.request)),
                None => "beside an idle accelerator".into(),
            },
            Part::Interference => "context switches, migration, shared bandwidth".into(),
            Part::Placement => match why.occupancy.at(fastest, course.left_queue) {
                Some(job) => format!("{} ran {}", why.accelerator(fastest), why.name(job.request)),
                None => format!("{} was idle", why.accelerator(fastest)),
            },
            Part::Latency => match course.accelerator {
                Some(place) => format!("on {}", why.accelerator(place)),
                None => format!("had it then started on {}", why.accelerator(fastest)),
            },
        }
    }

    /// What its accelerator ran while it waited, or all of them if it never started.
    fn queue(&self) -> String {
        let all = (0..self.why.run.costs.n_accelerators()).map(AccelId::new);
        let places = all.filter(|id| self.course.accelerator.is_none_or(|place| place == *id));
        places.map(|place| self.jobs(place)).collect::<Vec<_>>().join("; ")
    }

    /// What one accelerator ran meanwhile, the longest jobs first.
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

fn remedies(changes: &[Change]) -> String {
    let lines = changes.iter().map(|Change { what, enough, tried }| match enough {
        Some((change, margin_ms)) => {
            format!("  {what}: {change}, {margin_ms:.3} ms to spare\n")
        }
        None => format!("  {what}: none of {tried} is enough\n"),
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\nThe smallest change that would have met the deadline, all else equal, by running again\n{lines}"
    )
}

//! The MapScore of SDRM3, the first version of DREAM.

use crate::schedule::estimate::{NextSegment, Over, Remaining};
use crate::schedule::limits::Line;
use crate::schedule::rank::first;
use crate::schedule::{Alike, Entry, Job, Parameter, Rank, Ranked, Since, Value, View};
use xrsim_model::units::SimTime;

pub(super) const ENTRY: Entry = Entry {
    name: "sdrm3",
    help: "largest urgency plus weighted starvation first (the first version of dream)",
    source: "Kim et al., arXiv:2212.03414v1, as in the published code of DySta",
    parameters: &[Parameter::number("alpha", 1.0, [0.0, 1e3]).meaning("weight of starvation")],
    options: &[("granularity", Value::Name("layer"))],
    ..Entry::new(|setup, arguments| {
        let score = MapScore {
            remaining: Remaining::new(Over::Mean, setup),
            segment: NextSegment::from_options(&setup.options),
            alpha: arguments.number("alpha"),
        };
        Box::new(Ranked::new(score, setup))
    })
};

struct MapScore {
    remaining: Remaining,
    segment: NextSegment,
    alpha: f64,
}

impl MapScore {
    /// ```text
    /// min(1, T_togo / slack) + alpha · (now − T_last) / T_next
    /// ```
    ///
    /// T_togo is the mean time left, and `slack` the time to the deadline; the fraction is 1 after the
    /// deadline. T_last is the time at which the request last ran or became ready. T_next is the mean time
    /// of its next segment.
    fn of(&self, job: &Job, view: &View<'_>) -> f64 {
        let slack_ms = view.slack_ms(job);
        let urgency = match slack_ms > 0.0 {
            true => (self.remaining.of(job, view).as_ms() / slack_ms).min(1.0),
            false => 1.0,
        };
        let idle_ns = view.now.saturating_since(job.ready_since).ns() as f64;
        urgency + self.alpha * idle_ns / self.segment.mean_ns(job, view)
    }
}

impl Rank for MapScore {
    /// Score, the largest first; then first come, first served.
    type Key = (f64, SimTime);

    const ORDERS: &'static [Since] = &[Since::Ready];

    const IS_LIMITED: bool = true;

    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        first(self, class.candidates(view.now, |job| self.of(job, view)), view)
    }

    /// The largest urgency and the longest wait.
    fn limit(&self, class: &Alike, view: &View<'_>) -> Line {
        let longest = class.by(Since::Ready).next();
        longest.map_or(Line::LOWEST, |job| Line {
            at: job.ready_since,
            value: 1.0,
            slope: self.alpha / self.segment.mean_ns(job, view),
            until: SimTime::MAX,
        })
    }

    fn value((score, _): Self::Key) -> f64 {
        -score
    }

    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key {
        (-self.of(job, view), job.arrival)
    }
}

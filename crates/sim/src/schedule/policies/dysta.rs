//! The dynamic score of DySta.

use crate::schedule::alike::equals;
use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::rank::first;
use crate::schedule::{Alike, Entry, Job, Parameter, Rank, Ranked, Since, Value, View};

pub(super) const ENTRY: Entry = Entry {
    name: "dysta",
    help: "least of remaining time, slack and waiting time in a weighted sum",
    source: "Fan et al. (Sparse-DySta), MICRO 2023, and its published code; without its predictor \
             of sparsity: times are those of the cost model",
    parameters: &[Parameter::number("beta", 0.01, [0.0, 1e3])
        .meaning("weight of slack and waiting time against remaining time")],
    options: &[("granularity", Value::Name("layer"))],
    ..Entry::new(|setup, arguments| {
        let remaining = Remaining::new(Over::Best, setup);
        Box::new(Ranked::new(Dysta { remaining, beta: arguments.number("beta") }, setup))
    })
};

struct Dysta {
    remaining: Remaining,
    beta: f64,
}

impl Rank for Dysta {
    /// Score, the smallest first.
    type Key = f64;

    const ORDERS: &'static [Since] = &[Since::Ready];

    /// Jobs that cannot end by their deadline differ in their waits only: the one that has waited least is first. The
    /// others, which are due last, are looked at one by one.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        let is_late = |job: &&Job| view.slack_ms(job) <= self.remaining.of(job, view).as_ms();
        let late = class.by(Since::Ready).rev().filter(is_late);
        let late = equals(late, |job| self.key(job, view));
        let on_time = class.jobs().rev().take_while(|job| !is_late(job));
        first(self, late.chain(on_time), view)
    }

    /// ```text
    /// T_rem + beta · (max(0, slack − T_rem) + t_idle / (T_iso · n))
    /// ```
    ///
    /// T_rem, the time left, and `slack`, the time to the deadline, in ms; t_idle, how long the
    /// request has waited since it last ran; T_iso, its whole time; n, the number of ready requests.
    fn key(&self, job: &Job, view: &View<'_>) -> f64 {
        let rest_ms = self.remaining.of(job, view).as_ms();
        let whole_ns = self.remaining.whole(job.work).ns().max(1) as f64;
        let idle_ns = view.now.saturating_since(job.ready_since).ns() as f64;
        let waiting = idle_ns / whole_ns / view.ready.len() as f64;
        rest_ms + self.beta * ((view.slack_ms(job) - rest_ms).max(0.0) + waiting)
    }
}

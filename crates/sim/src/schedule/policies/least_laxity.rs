//! Least laxity first.

use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::{Entry, Job, Parameter, Rank, Ranked, View};

pub(super) const ENTRY: Entry = Entry {
    name: "llf",
    help: "least laxity first: time to the deadline minus the remaining run time",
    source: "Dertouzos & Mok, IEEE TSE 1989; hysteresis against thrashing is this program's",
    parameters: &[
        Parameter::number("hysteresis", 0.05, [0.0, 1e3]).meaning(
            "advantage of a request that was just interrupted, as a fraction of the time of its next layer",
        ),
        Parameter::choice("estimate", &["best", "mean"])
            .meaning("remaining time: on the fastest accelerator, or the mean over all"),
    ],
    ..Entry::new(|setup, arguments| {
        let over = match arguments.name("estimate") {
            "mean" => Over::Mean,
            _ => Over::Best,
        };
        let remaining = Remaining::new(over, setup);
        let hysteresis = arguments.number("hysteresis");
        Box::new(Ranked::new(LeastLaxity { remaining, hysteresis }, setup))
    })
};

struct LeastLaxity {
    remaining: Remaining,
    hysteresis: f64,
}

impl LeastLaxity {
    /// How much smaller the laxity of `job` counts \[ns\].
    fn head_start(&self, job: &Job, view: &View<'_>) -> i128 {
        match job.last_accelerator {
            Some(accelerator) if view.was_cut_now(job) => {
                (view.next_layer(job, accelerator).ns() as f64 * self.hysteresis) as i128
            }
            _ => 0,
        }
    }
}

impl Rank for LeastLaxity {
    const IS_FIXED: bool = true;

    /// Laxity \[ns\], without the current time, which all have in common.
    type Key = i128;

    fn key(&self, job: &Job, view: &View<'_>) -> i128 {
        let latest_start =
            i128::from(job.deadline.ns()) - i128::from(self.remaining.of(job, view).ns());
        latest_start - self.head_start(job, view)
    }

    /// A head start is over at the next instant.
    fn is_settled(&self, job: &Job, view: &View<'_>) -> bool {
        !view.was_cut_now(job)
    }
}

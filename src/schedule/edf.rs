//! Earliest deadline first.

use super::{Decision, Entry, Scheduler, View};

pub(super) const ENTRY: Entry = Entry {
    name: "edf",
    help: "earliest deadline first, onto the idle accelerator that runs it in the shortest time",
    source: "Liu & Layland 1973, without preemption",
    work_conserving: true,
    build: || Box::new(EarliestDeadline),
};

struct EarliestDeadline;

impl Scheduler for EarliestDeadline {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let jobs = view.ready.iter();
        let job = jobs
            .min_by_key(|job| (job.deadline, job.release, job.model, job.frame))
            .expect("a policy is asked only with something ready");
        Decision::Dispatch { request: job.request, accelerator: view.fastest_idle(job.model) }
    }
}

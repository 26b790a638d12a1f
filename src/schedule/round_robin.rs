//! The models take turns.

use crate::ids::ModelId;

use super::{Decision, Entry, Scheduler, View};

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin",
    help: "models in turn, each its oldest request, onto the first idle accelerator",
    source: "named in XRBench section 3.5; pointer past the dispatched model, lowest idle id",
    work_conserving: true,
    build: || Box::new(RoundRobin { turn: 0 }),
};

struct RoundRobin {
    /// Index of the model whose turn it is.
    turn: usize,
}

impl RoundRobin {
    /// Turns until `model` is due, out of `n_models`.
    fn wait(&self, model: ModelId, n_models: usize) -> usize {
        (model.index() + n_models - self.turn) % n_models
    }
}

impl Scheduler for RoundRobin {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let n_models = view.rates.len();
        let jobs = view.ready.iter();
        let job = jobs
            .min_by_key(|job| self.wait(job.model, n_models))
            .expect("a policy is asked only with something ready");
        self.turn = (job.model.index() + 1) % n_models;
        Decision::Dispatch { request: job.request, accelerator: view.idle[0] }
    }
}

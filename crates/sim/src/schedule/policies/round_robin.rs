//! The models take turns.

use crate::schedule::{Alike, Entry, Job, Rank, Ranked, Value, View};
use xrsim_model::ids::ModelId;

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin",
    help: "models in turn, each its oldest request, onto the first idle accelerator",
    source: "named in XRBench section 3.5; pointer past the dispatched model, lowest idle id",
    options: &[("placement", Value::Name("first-idle"))],
    ..Entry::new(|setup, _| {
        let n_models = setup.scenario.models().len();
        Box::new(Ranked::new(RoundRobin { turn: 0, n_models }, setup))
    })
};

struct RoundRobin {
    /// Index of the model whose turn it is.
    turn: usize,
    n_models: usize,
}

impl RoundRobin {
    /// Turns until `model` is due.
    fn wait(&self, model: ModelId) -> usize {
        (model.index() + self.n_models - self.turn) % self.n_models
    }
}

impl Rank for RoundRobin {
    type Key = usize;

    /// All jobs of a model have the same key.
    fn first_of<'c>(&self, class: &'c Alike, _: &View<'_>) -> Option<&'c Job> {
        class.jobs().next()
    }

    fn key(&self, job: &Job, _: &View<'_>) -> usize {
        self.wait(job.model)
    }

    fn dispatched(&mut self, job: &Job, _: &View<'_>) {
        self.turn = (job.model.index() + 1) % self.n_models;
    }
}

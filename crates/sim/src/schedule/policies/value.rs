//! The largest expected score per time first.

use crate::schedule::paired::largest;
use crate::schedule::{Alike, Entry, Job, Paired, Utility, View};
use crate::score::{ScoreSettings, energy, realtime};
use xrsim_model::ids::AccelId;

pub(super) const ENTRY: Entry = Entry {
    name: "value",
    help: "largest expected score per time and frame rate first, over requests and idle accelerators",
    source: "value density (Jensen, Locke & Tokuda, RTSS 1985) with the scores of XRBench \
             Definitions 10 and 11",
    fixes: &["placement"],
    ..Entry::new(|setup, _| {
        let rates = setup.scenario.models().iter().map(|model| model.rate.as_fps()).collect();
        Box::new(Paired::new(ValueDensity { score: *setup.score, rates }, setup))
    })
};

struct ValueDensity {
    score: ScoreSettings,
    /// Frames per second, indexed by [`ModelId`](xrsim_model::ids::ModelId).
    rates: Box<[f64]>,
}

impl ValueDensity {
    /// RtScore · EnScore / (time · FPS) of `job` on `accelerator`, the scores as if it ended when its
    /// time has passed and had all run there. FPS stands for the frames of the whole run, by which
    /// the score of a scenario divides.
    fn density(&self, job: &Job, accelerator: AccelId, view: &View<'_>) -> f64 {
        let time = view.remaining(job, accelerator);
        let in_time = realtime::realtime(view.now + time, job.deadline, self.score.k_per_ms);
        let spent = view.execution(job, accelerator).energy();
        let value = in_time * energy::energy(spent, self.score.energy_max);
        value / (time.ns().max(1) as f64 * self.rates[job.model.index()])
    }
}

impl Utility for ValueDensity {
    /// The later a job with equal costs is due, the less late it ends.
    fn candidates<'c>(&self, class: &'c Alike, view: &View<'_>) -> impl Iterator<Item = &'c Job> {
        class.first_of_largest(|job| self.most(job, view)).into_iter()
    }

    fn best(&self, job: &Job, view: &View<'_>) -> Option<(f64, AccelId)> {
        largest(job, view, |at| self.density(job, at, view))
    }
}

//! Blocks of layers whose length falls with load, after Veltair.

use crate::schedule::{Entry, Granularity, Job, Parameter, Rank, Ranked, Setup, Value, View};
use xrsim_model::ids::AccelId;
use xrsim_model::units::{SimSpan, SimTime};

/// Variants of a block that are compiled for several levels of interference are left out.
pub(super) const ENTRY: Entry = Entry {
    name: "veltair",
    help: "blocks of layers, shorter when more requests wait, cut where few activations \
           are alive",
    source: "after Liu et al. (Veltair), ASPLOS 2022, which schedules CPUs",
    unverified: Some("all of it: the length of blocks and where they are cut are this program's"),
    parameters: &[
        Parameter::choice("order", &["fcfs", "edf"])
            .meaning("which request is next: by arrival or by deadline"),
        Parameter::number("b_min_ms", 0.5, [1e-3, 1e6]).meaning("shortest block"),
    ],
    options: &[("granularity", Value::Name("block"))],
    fixes: &["granularity"],
    ..Entry::new(|setup, arguments| {
        let shortest = SimSpan::from_ms(arguments.number("b_min_ms"));
        let blocks = Blocks {
            shortest: shortest.expect("the allowed times are times"),
            by_deadline: arguments.name("order") == "edf",
            live: live(setup),
        };
        Box::new(Ranked::new(blocks, setup))
    })
};

/// Activations alive before every layer, `[model][layer]`.
fn live(setup: &Setup<'_>) -> Box<[Box<[u64]>]> {
    let models = setup.scenario.models().iter();
    models.map(|model| model.unit.network.live_activations().into()).collect()
}

struct Blocks {
    shortest: SimSpan,
    by_deadline: bool,
    live: Box<[Box<[u64]>]>,
}

impl Blocks {
    /// The time of the whole model, divided by the number of ready requests; not below the shortest
    /// block.
    fn length(&self, job: &Job, accelerator: AccelId, view: &View<'_>) -> SimSpan {
        let whole = view.execution(job, accelerator).latency();
        SimSpan::from_ns(whole.ns() / view.ready.len() as u64).max(self.shortest)
    }

    /// Of the cuts one to two lengths ahead the one with the fewest live activations, the first of
    /// equals; as a time from now.
    fn cut(&self, job: &Job, accelerator: AccelId, view: &View<'_>) -> Option<SimSpan> {
        let length = self.length(job, accelerator, view);
        let all = view.remaining(job, accelerator);
        let layers = job.next_layer + 1..view.costs.n_layers(job.work);
        let until = |&layer: &u32| all - view.execution(job, accelerator).remaining(layer);
        let live = &self.live[job.model.index()];
        let cuts = layers.map(|layer| (until(&layer), layer));
        cuts.skip_while(|(time, _)| *time < length)
            .take_while(|(time, _)| *time <= length + length)
            .min_by_key(|(_, layer)| live.get(*layer as usize))
            .map(|(time, _)| time)
    }
}

impl Rank for Blocks {
    const IS_FIXED: bool = true;

    type Key = SimTime;

    fn key(&self, job: &Job, _: &View<'_>) -> SimTime {
        if self.by_deadline { job.deadline } else { job.arrival }
    }

    fn granularity(&self, job: &Job, accelerator: AccelId, view: &View<'_>) -> Option<Granularity> {
        let cut = self.cut(job, accelerator, view);
        Some(cut.map_or(Granularity::Model, Granularity::Block))
    }
}

//! Herald's assignment of layers, made when they become ready.

use crate::ids::{AccelId, RequestId};
use crate::schedule::estimate::NextPiece;
use crate::schedule::{
    Arguments, Decision, Entry, Granularity, Job, Parameter, Scheduler, Setup, Value, View,
};

pub(super) const ENTRY: Entry = Entry {
    name: "herald",
    help: "each layer onto the accelerator that is best for it, or the least loaded one if that is \
           not much worse; waits for it",
    source: "Kwon et al. (Herald), HPCA 2021; assignment as in the published artifact of XRBench",
    unverified: Some(
        "the order of layers; its check of memory capacity is left out, and its look-ahead is in \
         herald-list",
    ),
    work_conserving: false,
    parameters: PARAMETERS,
    options: &[("granularity", Value::Name("layer"))],
    fixes: &["accelerator"],
    ..Entry::new(|setup, arguments| Box::new(Herald::new(setup, arguments)))
};

/// Parameters of herald and herald-list.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::choice(
        "metric",
        "what is best for a layer: least energy-delay product, latency, energy, or \
         energy-delay-squared product",
        &["edp", "latency", "energy", "ed2p"],
    ),
    Parameter::number(
        "balance",
        "how many times worse the least loaded accelerator may be (1: no balancing)",
        2.0,
        [1.0, 1e6],
    ),
    Parameter::choice(
        "order",
        "which layers come first: those nearest to the start of their model, or those of the \
         first released request",
        &["breadth", "depth"],
    ),
];

/// What is best for a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    EnergyDelay,
    Latency,
    Energy,
    EnergyDelaySquared,
}

/// Assigns layers to accelerators one after another and counts what each has got.
pub(super) struct Balancer {
    metric: Metric,
    balance: f64,
    /// Time of what every accelerator was assigned \[ns\].
    loads_ns: Box<[f64]>,
}

impl Balancer {
    pub(super) fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        let metric = match arguments.name("metric") {
            "latency" => Metric::Latency,
            "energy" => Metric::Energy,
            "ed2p" => Metric::EnergyDelaySquared,
            _ => Metric::EnergyDelay,
        };
        let loads_ns = vec![0.0; setup.costs.n_accelerators()].into();
        Self { metric, balance: arguments.number("balance"), loads_ns }
    }

    /// The accelerator of the next piece of work, whose time \[ns\] and energy \[nJ\] on an
    /// accelerator is `cost`. The lowest id of equals.
    ///
    /// The rule is Herald's: an accelerator that is bad for everything and so has no load keeps all
    /// others from being balanced.
    pub(super) fn assign(&mut self, cost: impl Fn(AccelId) -> (f64, f64)) -> AccelId {
        let worth = |at: &AccelId| {
            let (ns, nj) = cost(*at);
            match self.metric {
                Metric::EnergyDelay => nj * ns,
                Metric::Latency => ns,
                Metric::Energy => nj,
                Metric::EnergyDelaySquared => nj * ns * ns,
            }
        };
        let all = || (0..self.loads_ns.len()).map(AccelId::new);
        let best = all().min_by(|a, b| worth(a).total_cmp(&worth(b)));
        let best = best.expect("a system has accelerators");
        let load = |at: &AccelId| self.loads_ns[at.index()];
        let idlest = all().min_by(|a, b| load(a).total_cmp(&load(b))).unwrap_or(best);
        let moves = idlest != best && worth(&idlest) < self.balance * worth(&best);
        let accelerator = if moves { idlest } else { best };
        self.loads_ns[accelerator.index()] += cost(accelerator).0;
        accelerator
    }
}

/// A layer that is ready, and where it will run.
struct Assigned {
    request: RequestId,
    layer: u32,
    accelerator: AccelId,
    load_ns: f64,
}

struct Herald {
    balancer: Balancer,
    piece: NextPiece,
    extent: Granularity,
    breadth_first: bool,
    /// In order of request.
    assigned: Vec<Assigned>,
    /// Indices of the ready jobs while they are sorted.
    order: Vec<usize>,
}

impl Herald {
    fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        Self {
            balancer: Balancer::new(setup, arguments),
            piece: NextPiece::of(&setup.options),
            extent: setup.options.granularity,
            breadth_first: arguments.name("order") == "breadth",
            assigned: Vec::new(),
            order: Vec::new(),
        }
    }

    fn accelerator_of(&mut self, job: &Job, view: &View<'_>) -> AccelId {
        let place = self.assigned.partition_point(|it| it.request < job.request);
        if let Some(known) = self.assigned.get(place)
            && known.request == job.request
        {
            return known.accelerator;
        }
        let Job { request, next_layer: layer, .. } = *job;
        let piece = self.piece;
        let cost = |at| (piece.ns(job, at, view), piece.nj(job, at, view));
        let accelerator = self.balancer.assign(cost);
        let load_ns = cost(accelerator).0;
        self.assigned.insert(place, Assigned { request, layer, accelerator, load_ns });
        accelerator
    }

    /// Forgets, with their load, layers that are ready no more without having run.
    fn forget(&mut self, view: &View<'_>) {
        let balancer = &mut self.balancer;
        self.assigned.retain(|it| {
            let job = view.ready.binary_search_by_key(&it.request, |job| job.request);
            let stays = job.is_ok_and(|index| view.ready[index].next_layer == it.layer);
            if !stays {
                balancer.loads_ns[it.accelerator.index()] -= it.load_ns;
            }
            stays
        });
    }
}

impl Scheduler for Herald {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.forget(view);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..view.ready.len());
        if self.breadth_first {
            order.sort_by_key(|&index| view.ready[index].next_layer);
        }
        // Every layer is assigned when it is first seen, whether or not it runs now.
        let mut runs = None;
        for &index in &order {
            let job = &view.ready[index];
            let accelerator = self.accelerator_of(job, view);
            if runs.is_none() && view.is_idle(accelerator) {
                runs = Some((job.request, accelerator));
            }
        }
        self.order = order;
        let Some((request, accelerator)) = runs else {
            return Decision::Wait;
        };
        self.assigned.retain(|it| it.request != request);
        Decision::Dispatch { request, accelerator, extent: self.extent }
    }
}

//! Herald's assignment of layers, made when they become ready.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedule::estimate::NextSegment;
use crate::schedule::ready::Change;
use crate::schedule::{
    Arguments, Decision, Dispatch, Entry, Granularity, Job, Parameter, Scheduler, Setup, Value,
    View,
};
use xrsim_model::ids::{AccelId, RequestId};

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
    fixes: &["placement"],
    ..Entry::new(|setup, arguments| Box::new(Herald::new(setup, arguments)))
};

/// Parameters of herald and herald-list.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::choice("metric", &["edp", "latency", "energy", "ed2p"]).meaning(
        "what is best for a layer: least energy-delay product, latency, energy, or \
         energy-delay-squared product",
    ),
    Parameter::number("balance", 2.0, [1.0, 1e6])
        .meaning("how many times worse the least loaded accelerator may be (1: no balancing)"),
    Parameter::choice("order", &["breadth", "depth"]).meaning(
        "which layers come first: those nearest to the start of their model, or those of the \
         request that arrived first",
    ),
];

/// Metric by which the best accelerator for a layer is chosen.
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
    /// Time of the work assigned to every accelerator \[ns\].
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

    /// The accelerator of the next segment of work, whose time \[ns\] and energy \[nJ\] on an
    /// accelerator is `cost`, among the accelerators `offers` that can run it. The lowest id of equals.
    ///
    /// The rule is Herald's: an accelerator that is bad for everything and so has no load keeps all
    /// others from being balanced.
    pub(super) fn assign(
        &mut self,
        offers: impl Iterator<Item = AccelId> + Clone,
        cost: impl Fn(AccelId) -> (f64, f64),
    ) -> AccelId {
        let utility = |at: &AccelId| {
            let (ns, nj) = cost(*at);
            match self.metric {
                Metric::EnergyDelay => nj * ns,
                Metric::Latency => ns,
                Metric::Energy => nj,
                Metric::EnergyDelaySquared => nj * ns * ns,
            }
        };
        let best = offers.clone().min_by(|a, b| utility(a).total_cmp(&utility(b)));
        let best = best.expect("some accelerator can run it");
        let load = |at: &AccelId| self.loads_ns[at.index()];
        let idlest = offers.min_by(|a, b| load(a).total_cmp(&load(b))).unwrap_or(best);
        let moves = idlest != best && utility(&idlest) < self.balance * utility(&best);
        let accelerator = if moves { idlest } else { best };
        self.loads_ns[accelerator.index()] += cost(accelerator).0;
        accelerator
    }
}

/// A ready layer with its accelerator.
struct Assigned {
    layer: u32,
    accelerator: AccelId,
    load_ns: f64,
}

/// Place of a layer in the order in which layers run.
type Turn = (u32, RequestId);

struct Herald {
    balancer: Balancer,
    segment: NextSegment,
    granularity: Granularity,
    breadth_first: bool,
    assigned: BTreeMap<RequestId, Assigned>,
    /// The assigned layers of every accelerator, in the order in which they run there.
    turns: Box<[BTreeSet<Turn>]>,
    /// Number of the first change of the ready jobs that is not applied yet.
    next_change: u64,
    /// Requests that may have changed.
    touched: Vec<RequestId>,
    /// Layers to be assigned.
    new: Vec<Turn>,
}

impl Herald {
    fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        Self {
            balancer: Balancer::new(setup, arguments),
            segment: NextSegment::from_options(&setup.options),
            granularity: setup.options.granularity,
            breadth_first: arguments.name("order") == "breadth",
            assigned: BTreeMap::new(),
            turns: vec![BTreeSet::new(); setup.costs.n_accelerators()].into(),
            next_change: 0,
            touched: Vec::new(),
            new: Vec::new(),
        }
    }

    fn turn(&self, request: RequestId, layer: u32) -> Turn {
        (if self.breadth_first { layer } else { 0 }, request)
    }

    /// Collects the requests that may have changed: those in the log of changes, or all.
    fn touch(&mut self, view: &View<'_>) {
        self.touched.clear();
        match view.ready.changes_since(self.next_change) {
            Some(changes) => self.touched.extend(changes.iter().map(Change::request)),
            None => {
                self.touched.extend(self.assigned.keys());
                self.touched.extend(view.ready.iter().map(|job| job.request));
            }
        }
        self.next_change = view.ready.next_change();
        self.touched.sort_unstable();
        self.touched.dedup();
    }

    /// Removes layers, with their load, that are not ready any more although they did not run, and assigns
    /// layers that are ready for the first time, whether or not they run now.
    fn follow(&mut self, view: &View<'_>) {
        self.touch(view);
        self.new.clear();
        for request in self.touched.iter().copied() {
            let job = view.ready.get(request);
            let known = self.assigned.get(&request);
            if let Some(Assigned { layer, accelerator, load_ns }) = known
                && job.is_none_or(|job| job.next_layer != *layer)
            {
                self.balancer.loads_ns[accelerator.index()] -= load_ns;
                let turn = self.turn(request, *layer);
                self.turns[accelerator.index()].remove(&turn);
                self.assigned.remove(&request);
            }
            if let Some(job) = job
                && !self.assigned.contains_key(&request)
            {
                let turn = self.turn(request, job.next_layer);
                self.new.push(turn);
            }
        }
        self.new.sort_unstable();
        for turn in std::mem::take(&mut self.new) {
            if let Some(job) = view.ready.get(turn.1) {
                self.assign(turn, job, view);
            }
        }
    }

    fn assign(&mut self, turn: Turn, job: &Job, view: &View<'_>) {
        let segment = self.segment;
        let cost = |at| (segment.ns(job, at, view), segment.nj(job, at, view));
        let accelerator = self.balancer.assign(view.costs.offers(job.work), cost);
        let load_ns = cost(accelerator).0;
        self.turns[accelerator.index()].insert(turn);
        self.assigned.insert(job.request, Assigned { layer: job.next_layer, accelerator, load_ns });
    }
}

impl Scheduler for Herald {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.follow(view);
        let first = |at: &AccelId| self.turns[at.index()].first().map(|turn| (*turn, *at));
        let Some((turn, accelerator)) = view.idle.iter().filter_map(first).min() else {
            return Decision::Wait;
        };
        let request = turn.1;
        self.turns[accelerator.index()].remove(&turn);
        self.assigned.remove(&request);
        Dispatch::new(request, accelerator).with_granularity(self.granularity).into()
    }
}

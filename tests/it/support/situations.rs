//! Artificial situations for schedulers, and schedulers with random parameters.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::load::RequestStream;
use xrsim::scenario::Scenario;
use xrsim::schedule::{
    AcceleratorState, Activity, Allowed, Decision, Dispatch, Entry, Granularity, History, Job,
    OPTIONS, Parameter, Policy, Scheduler, Setup, Value, View,
};
use xrsim::score::ScoreSettings;
use xrsim::units::{Cycles, Millijoules, SimSpan, SimTime};

use super::runs::{after, model, scenario, triggered_by};

pub const N_MODELS: usize = 5;
pub const N_ACCELERATORS: usize = 4;
const N_LAYERS: usize = 3;
const NOW: u64 = 100;

/// No request is known before the run.
static UNKNOWN: LazyLock<RequestStream> = LazyLock::new(RequestStream::default);

/// Constant part of all situations.
#[derive(Debug, Clone)]
pub struct World {
    pub scenario: Scenario,
    pub costs: CostTable,
    pub score: ScoreSettings,
}

impl World {
    pub fn build(&self, policy: &Policy) -> Box<dyn Scheduler> {
        policy.build(&self.setup(policy)).expect("the policy comes")
    }

    pub fn setup(&self, policy: &Policy) -> Setup<'_> {
        Setup {
            scenario: &self.scenario,
            costs: &self.costs,
            score: &self.score,
            options: policy.options(),
            known_requests: &UNKNOWN,
            supplied: &[],
        }
    }
}

/// The parts of a view, owned.
#[derive(Debug, Clone)]
pub struct Situation {
    pub ready: Vec<Job>,
    pub idle: Vec<AccelId>,
    pub history: Vec<History>,
    pub blocked: Vec<u32>,
}

impl Situation {
    /// Asks `scheduler` what to do.
    pub fn ask(&self, world: &World, scheduler: &mut dyn Scheduler) -> Decision {
        let accelerators: Vec<_> =
            (0..N_ACCELERATORS).map(AccelId::new).map(|a| self.state(a)).collect();
        scheduler.decide(&View {
            now: SimTime::from_ns(NOW),
            ready: &self.ready.iter().copied().collect(),
            accelerators: &accelerators,
            idle: &self.idle,
            costs: &world.costs,
            history: &self.history,
            blocked: &self.blocked,
            supplies: None,
        })
    }

    fn state(&self, accelerator: AccelId) -> AcceleratorState {
        let since = SimTime::from_ns(50);
        let model = ModelId::new(0);
        let activity = match self.idle.contains(&accelerator) {
            true => Activity::Idle { since },
            false => Activity::Running {
                request: RequestId::new(1_000_000 + accelerator.index()),
                model,
                since,
                predicted_end: SimTime::from_ns(NOW + 3),
            },
        };
        AcceleratorState { activity, resident: (accelerator.index() > 1).then_some(model) }
    }

    pub fn now(&self) -> SimTime {
        SimTime::from_ns(NOW)
    }

    pub fn shows(&self, request: RequestId) -> bool {
        self.ready.iter().any(|job| job.request == request)
    }

    /// Error of a decision in this situation, if there is one.
    pub fn check(&self, decision: &Decision) -> Result<(), String> {
        match *decision {
            Decision::Dispatch(Dispatch { request, accelerator, granularity, .. }) => {
                let block = matches!(granularity, Granularity::Block(SimSpan::ZERO));
                match self.shows(request) && self.idle.contains(&accelerator) && !block {
                    true => Ok(()),
                    false => Err(format!("{decision:?}")),
                }
            }
            Decision::Drop(request) if !self.shows(request) => Err(format!("{decision:?}")),
            Decision::Drop(_) | Decision::Wait => Ok(()),
            Decision::Fail(ref breakdown) => Err(breakdown.message().into()),
        }
    }
}

prop_compose! {
    /// Few distinct times, so that ties are common. Some requests are already late, some were cut just now.
    fn any_job()(
        model in 0..N_MODELS,
        frame in 0..3usize,
        arrival in 0u64..4,
        slack in 0u64..8,
        next_layer in 0..N_LAYERS as u32,
        waited in 0u64..4,
        cut_now in any::<bool>(),
        last in 0..N_ACCELERATORS,
    ) -> Job {
        let is_cut = next_layer > 0;
        let [arrival, deadline] = [arrival, NOW - 2 + slack].map(SimTime::from_ns);
        let model = ModelId::new(model);
        let (request, frame) = (RequestId::new(0), FrameId::new(frame));
        let mut job = Job::new(request, model, frame, arrival, deadline);
        if is_cut {
            job.next_layer = next_layer;
            job.ready_since = if cut_now { SimTime::from_ns(NOW) } else { arrival };
            job.waited = SimSpan::from_ns(waited);
            job.last_accelerator = Some(AccelId::new(last));
        }
        job
    }
}

prop_compose! {
    fn any_history()(
        on_time in 0u32..20,
        late in 0u32..20,
        dropped in 0u32..20,
        misses in any::<u64>(),
        drops in any::<u64>(),
    ) -> History {
        History {
            on_time,
            late,
            dropped,
            misses: misses | drops,
            drops,
            last_start: (on_time > 0).then_some(SimTime::from_ns(50)),
            energy: Millijoules::new(f64::from(on_time)),
        }
    }
}

prop_compose! {
    fn any_situation()(
        mut ready in prop::collection::vec(any_job(), 1..8),
        idle in subsequence((0..N_ACCELERATORS).collect::<Vec<_>>(), 1..=N_ACCELERATORS),
        history in prop::collection::vec(any_history(), N_MODELS),
        blocked in prop::collection::vec(0u32..2, N_MODELS),
    ) -> Situation {
        ready.sort_by_key(|job| (job.arrival, job.deadline, job.model, job.frame));
        ready.dedup_by_key(|job| (job.model, job.frame));
        for (index, job) in ready.iter_mut().enumerate() {
            job.request = RequestId::new(10 * index);
        }
        Situation { ready, idle: idle.into_iter().map(AccelId::new).collect(), history, blocked }
    }
}

prop_compose! {
    /// A scenario with a chain and a trigger. Costs are of layers, from zero to small, or (`coarse`) of whole
    /// networks only.
    fn any_world()(
        layers in prop::collection::vec((0u64..4, 0u32..4), N_MODELS * N_ACCELERATORS * N_LAYERS),
        coarse in any::<bool>(),
    ) -> World {
        let cells = layers.chunks(N_LAYERS).map(|layers| Arc::new(cost(layers, coarse)));
        World {
            scenario: five_models(),
            costs: CostTable::new(cells.collect(), N_ACCELERATORS),
            score: ScoreSettings::default(),
        }
    }
}

prop_compose! {
    /// A world with some situations. Without costs of layers, no request was cut at a layer.
    pub fn any_case()(
        world in any_world(),
        mut situations in prop::collection::vec(any_situation(), 1..6),
    ) -> (World, Vec<Situation>) {
        let whole = (ModelId::new(0), AccelId::new(0));
        if world.costs.on(whole.0, whole.1).network().layers.is_empty() {
            for job in situations.iter_mut().flat_map(|situation| &mut situation.ready) {
                (job.next_layer, job.waited, job.last_accelerator) = (0, SimSpan::ZERO, None);
            }
        }
        (world, situations)
    }
}

fn cost(layers: &[(u64, u32)], coarse: bool) -> NetworkCost {
    let layers = layers.iter().map(|&(cycles, nj)| LayerCost {
        cycles,
        energy_nj: nj.into(),
        ..LayerCost::default()
    });
    let layers: Vec<_> = layers.collect();
    let cycles = layers.iter().map(|layer| layer.cycles).sum();
    NetworkCost {
        cycles: Cycles::new(cycles),
        latency: SimSpan::from_ns(cycles),
        energy_nj: layers.iter().map(|layer| layer.energy_nj).sum(),
        layers: if coarse { Vec::new() } else { layers },
        choices: None,
        spread: None,
    }
}

fn five_models() -> Scenario {
    let models = vec![
        model("A", 60.0),
        after(0, model("B", 60.0)),
        model("C", 30.0),
        model("D", 10.0),
        triggered_by(3, 0.5, model("E", 3.0)),
    ];
    scenario(Vec::new(), models)
}

/// Picks values for some of the parameters that `entry` has and does not fix.
pub fn with_parameters(entry: &'static Entry, picks: &[(Index, Index)]) -> Policy {
    let own = entry.parameters.iter().chain(OPTIONS);
    let free: Vec<_> = own.filter(|it| !entry.fixes.contains(&it.name)).collect();
    let mut given: Vec<(&str, String)> = Vec::new();
    for (which, value) in picks {
        give(&mut given, entry, free[which.index(free.len())], value);
    }
    let text: Vec<_> = given.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let policy = Policy::parse(&format!("{}:{}", entry.name, text.join(",")));
    // Values that contradict each other are refused, as they should be.
    policy.unwrap_or_else(|_| Policy::from_entry(entry))
}

fn give(
    given: &mut Vec<(&'static str, String)>,
    entry: &Entry,
    parameter: &Parameter,
    pick: &Index,
) {
    if given.iter().any(|(name, _)| *name == parameter.name) {
        return;
    }
    if let Some((other, value)) = parameter.only_with {
        if given.iter().any(|(name, _)| *name == other) || entry.fixes.contains(&other) {
            return;
        }
        given.push((other, value.into()));
    }
    let value = match parameter.allowed {
        Allowed::Names(names) => (*pick.get(names)).into(),
        Allowed::Number(min, max) => {
            let default = match parameter.default {
                Value::Number(default) => default,
                Value::Name(_) => min,
            };
            pick.get(&[min, default, max]).to_string()
        }
        // Not the longest search.
        Allowed::Whole(min, max) => pick.get(&[min, max.min(min + 40)]).to_string(),
    };
    given.push((parameter.name, value));
}

//! Decisions of policies in single situations.

use std::sync::Arc;

use super::layered;
use crate::support::runs::*;
use xrsim::cost::CostTable;
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::load::RequestStream;
use xrsim::model::{Layer, Network, Operator, VectorOp, VectorShape};
use xrsim::scenario::Scenario;
use xrsim::schedule::{
    AcceleratorState, Activity, BandwidthDemand, Decision, Dispatch, Granularity, History, Job,
    Policy, Scheduler, Setup, View,
};
use xrsim::score::ScoreSettings;

/// Situation of one accelerator at 100 ms.
struct Scene {
    scenario: Scenario,
    costs: CostTable,
    ready: Vec<Job>,
    history: Vec<History>,
}

impl Scene {
    fn new(scenario: Scenario, costs: CostTable, ready: Vec<Job>) -> Self {
        let history = vec![History::default(); scenario.models().len()];
        Self { scenario, costs, ready, history }
    }

    fn build(&self, scheduler: &str) -> Box<dyn Scheduler> {
        let policy = Policy::parse(scheduler).expect("a policy of a test exists");
        let setup = Setup {
            scenario: &self.scenario,
            costs: &self.costs,
            score: &ScoreSettings::default(),
            options: policy.options(),
            known_requests: &RequestStream::default(),
            supplied: &[],
        };
        policy.build(&setup).expect("policies of this program come")
    }

    /// The model that runs next, and how much of it.
    fn next(&self, scheduler: &str) -> (usize, Granularity) {
        let idle = Activity::Idle { since: at_ms(100.0) };
        let view = View {
            now: at_ms(100.0),
            ready: &self.ready.iter().copied().collect(),
            accelerators: &[AcceleratorState { activity: idle, resident: None }],
            idle: &[AccelId::new(0)],
            costs: &self.costs,
            history: &self.history,
            blocked: &vec![0; self.history.len()],
            supplies: None,
        };
        match self.build(scheduler).decide(&view) {
            Decision::Dispatch(Dispatch { request, granularity, .. }) => {
                let job = self.ready.iter().find(|job| job.request == request);
                (job.expect("it was shown").model.index(), granularity)
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A job of `model` that arrives at 90 and is due at `deadline_ms`.
fn waiting(model: usize, deadline_ms: f64) -> Job {
    let (request, model) = (RequestId::new(model), ModelId::new(model));
    Job::new(request, model, FrameId::new(0), at_ms(90.0), at_ms(deadline_ms))
}

/// The same, cut before `next_layer` just now.
fn cut(next_layer: u32, mut job: Job) -> Job {
    job.next_layer = next_layer;
    job.ready_since = at_ms(100.0);
    job.last_accelerator = Some(AccelId::new(0));
    job
}

fn two_models(fps: [f64; 2]) -> Scenario {
    scenario(Vec::new(), vec![model("A", fps[0]), model("B", fps[1])])
}

/// A takes 20 ms, of which 3 are left; B takes 5.
#[test]
fn shortest_job_and_shortest_rest_differ_once_a_job_is_cut() {
    let costs = layered(&[&[&[(17.0, 1.0), (3.0, 1.0)]], &[&[(5.0, 1.0)]]]);
    let ready = vec![cut(1, waiting(0, 150.0)), waiting(1, 150.0)];
    let scene = Scene::new(two_models([10.0; 2]), costs, ready);
    assert_eq!(scene.next("sjf").0, 1);
    assert_eq!(scene.next("srpt").0, 0);
}

/// Laxity of A, which was cut: 130.3 − 100 − 10 = 20.3. Of B: 125 − 100 − 5 = 20. A has a head start
/// of 5 % of the 10 ms of its next layer.
#[test]
fn least_laxity_does_not_switch_for_less_than_its_hysteresis() {
    let costs = layered(&[&[&[(1.0, 1.0), (10.0, 1.0)]], &[&[(5.0, 1.0)]]]);
    let ready = vec![cut(1, waiting(0, 130.3)), waiting(1, 125.0)];
    let mut scene = Scene::new(two_models([10.0; 2]), costs, ready);
    assert_eq!(scene.next("llf").0, 0);
    assert_eq!(scene.next("llf:hysteresis=0").0, 1);
    // Not if it was cut before.
    scene.ready[0].ready_since = at_ms(99.0);
    assert_eq!(scene.next("llf").0, 1);
}

/// A has priority 1 and 2 of 20 ms left, B priority 9 and takes 10. B is the candidate. If A makes
/// way it waits 10/20 of its own time; if B waits, 2/10.
#[test]
fn prema_can_let_a_request_finish_that_is_nearly_done() {
    let costs = layered(&[&[&[(18.0, 1.0), (2.0, 1.0)]], &[&[(10.0, 1.0)]]]);
    let ready = vec![cut(1, waiting(0, 150.0)), waiting(1, 150.0)];
    let mut scene = Scene::new(two_models([10.0, 60.0]), costs, ready);
    assert_eq!(scene.next("prema").0, 1);
    assert_eq!(scene.next("prema:mechanism=dynamic").0, 0);
    // What waited elsewhere has nothing to finish here.
    scene.ready[0].ready_since = at_ms(99.0);
    assert_eq!(scene.next("prema:mechanism=dynamic").0, 1);
}

/// Both have 1 + 10/10 = 2 tokens from their wait since 90. A waited 10 ms more before its first
/// layer: 3 tokens, in the class of 3; it is the only candidate, though B has less left.
#[test]
fn prema_remembers_how_long_a_request_waited_before_it_was_cut() {
    let costs = layered(&[&[&[(1.0, 1.0), (9.0, 1.0)]], &[&[(8.0, 1.0)]]]);
    let mut before = cut(1, waiting(0, 150.0));
    before.ready_since = at_ms(90.0);
    let mut scene = Scene::new(two_models([10.0; 2]), costs, vec![before, waiting(1, 150.0)]);
    assert_eq!(scene.next("prema").0, 1);
    scene.ready[0].waited = span_ms(10.0);
    assert_eq!(scene.next("prema").0, 0);
}

/// B is due first. A missed its last two frames, the most that it may of ten: its eighth newest hit is
/// the oldest of ten frames, 10 − 10 + 1 = 1 miss from failure. B is 10 − 8 + 1 = 3 away.
#[test]
fn mk_firm_prefers_whom_one_more_miss_would_fail() {
    let costs = || table_ms(&[[5.0], [5.0]]);
    let ready = vec![waiting(0, 150.0), waiting(1, 140.0)];
    let mut scene = Scene::new(two_models([10.0; 2]), costs(), ready);
    assert_eq!(scene.next("mk-firm").0, 1);
    scene.history[0].misses = 0b11;
    assert_eq!(scene.next("mk-firm").0, 0);
}

/// A network of ten layers whose outputs have these sizes.
fn network_of(outputs: [u64; 10]) -> Arc<Network> {
    let layer = |size| {
        let shape = VectorShape::new(VectorOp::Add, 1, size, 1);
        Layer::new("layer", Operator::Vector(shape))
    };
    Arc::new(Network::new("ten", outputs.map(layer).to_vec()).expect("ten layers are a network"))
}

/// Ten layers of 1 ms. With another request ready a block has 10/2 = 5 ms; of the cuts from 5 to 10
/// ms the one after layer 6, at 7 ms, has the fewest live activations. Alone it runs to its end.
#[test]
fn veltair_cuts_blocks_where_few_activations_are_alive() {
    let mut models = vec![model("A", 10.0), model("B", 10.0)];
    models[0].unit.network = network_of([9, 9, 9, 1, 9, 9, 2, 9, 9, 9]);
    let costs = layered(&[&[&[(1.0, 1.0); 10]], &[&[(1.0, 1.0)]]]);
    let ready = vec![waiting(0, 150.0), waiting(1, 160.0)];
    let mut scene = Scene::new(scenario(Vec::new(), models), costs, ready);
    assert_eq!(scene.next("veltair"), (0, Granularity::Block(span_ms(7.0))));
    scene.ready.pop();
    assert_eq!(scene.next("veltair"), (0, Granularity::Model));
}

/// Half of ten layers of 0.1 ms is a block of 0.5 ms; the whole model is shorter than 3 ms.
#[test]
fn veltair_has_a_shortest_block() {
    let costs = layered(&[&[&[(0.1, 1.0); 10]], &[&[(1.0, 1.0)]]]);
    let ready = vec![waiting(0, 150.0), waiting(1, 160.0)];
    let scene = Scene::new(two_models([10.0; 2]), costs, ready);
    assert_eq!(scene.next("veltair"), (0, Granularity::Block(span_ms(0.5))));
    assert_eq!(scene.next("veltair:b_min_ms=0.7"), (0, Granularity::Block(span_ms(0.7))));
    assert_eq!(scene.next("veltair:b_min_ms=3"), (0, Granularity::Model));
}

#[test]
fn pieces_are_as_long_as_the_user_says() {
    let costs = table_ms(&[[5.0], [5.0]]);
    let scene = Scene::new(two_models([10.0; 2]), costs, vec![waiting(0, 150.0)]);
    assert_eq!(scene.next("edf").1, Granularity::Model);
    assert_eq!(scene.next("value:granularity=layer").1, Granularity::Layer);
    let block = Granularity::Block(span_ms(2.5));
    assert_eq!(scene.next("heft:granularity=block,block_ms=2.5").1, block);
    assert_eq!(scene.next("dream").1, Granularity::Layer);
}

fn demand(model: usize, wanted: f64) -> BandwidthDemand {
    BandwidthDemand {
        accelerator: AccelId::new(model),
        request: RequestId::new(model),
        model: ModelId::new(model),
        remaining: span_ms(10.0),
        slack: span_ms(100.0),
        wanted,
    }
}

/// Scores: A (1 + 9)/4 + 10 · 10/100 = 3.5, B (1 + 1)/4 + 1 = 1.5. Of 10 byte/ns A wants 8 and B 6, 4
/// too many. Weights 3.5 · 8 = 28 and 1.5 · 6 = 9: A gets 8 − 4 · 9/37, B 6 − 4 · 28/37 = 2.97.
#[test]
fn moca_takes_the_excess_from_whom_it_hurts_least() {
    let costs = table_ms(&[[5.0, 5.0], [5.0, 5.0]]);
    let scene = Scene::new(two_models([60.0, 10.0]), costs, Vec::new());
    let granted = |scheduler: &str, wanted: [f64; 2], capacity: f64| {
        let mut grants = [0.0; 2];
        let demands = [demand(0, wanted[0]), demand(1, wanted[1])];
        assert!(scene.build(scheduler).grant(&demands, capacity, &mut grants));
        grants
    };
    let close = |found: [f64; 2], expected: [f64; 2]| {
        let near = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
        assert!(found.into_iter().zip(expected).all(near), "{found:?} is not {expected:?}");
    };
    let [a, b] = [8.0 - 36.0 / 37.0, 6.0 - 112.0 / 37.0];
    close(granted("moca", [8.0, 6.0], 10.0), [a, b]);
    // A floor of 4 for B; what is then above 10 is taken from both in proportion.
    let scale = 10.0 / (a + 4.0);
    close(granted("moca:floor_percent=40", [8.0, 6.0], 10.0), [a * scale, 4.0 * scale]);
    close(granted("moca", [3.0, 6.0], 10.0), [3.0, 6.0]);
    assert!(!scene.build("edf").grant(&[demand(0, 1.0)], 10.0, &mut [0.0]));
}

//! Device effects between requests: context switches, migration, shared bandwidth.

use crate::support::layers;
use crate::support::runs;

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::sample::select;

use layers::{
    any_arrivals, any_options, busy_intervals, check_segments, fixed_priorities, layer, requests,
    stream, table, table_ns,
};
use xrsim::cost::{CostTable, LayerCost, Traffic};
use xrsim::engine;
use xrsim::ids::{AccelId, ModelId, RequestId};
use xrsim::load::RequestStream;
use xrsim::model::{ConvShape, Layer, Network};
use xrsim::plan::{DeadlineMiss, Division, Migration, SharedBandwidth, Switch};
use xrsim::schedule::{
    Admission, BandwidthDemand, Decision, Dispatch, Governor, Granularity, Options, Placement,
    Policy, Preemption, Quality, Scheduler, Setup, View,
};
use xrsim::trace::{Outcome, Segment, Trace};
use xrsim::units::SimSpan;

const BY_LAYER: Options = Options {
    granularity: Granularity::Layer,
    preemption: Preemption::None,
    admission: Admission::All,
    placement: Placement::Latency,
    quality: Quality::First,
    governor: Governor::Fixed(None),
};

fn play(plan: &runs::Case, requests: &RequestStream) -> Trace {
    let run =
        engine::run(plan, &plan.costs, requests).expect("policies of this program do not fail");
    check_segments(plan, &run.trace);
    run.trace
}

/// A layer of `weights` weights and `outputs` outputs.
fn shape(weights: u32, outputs: u32) -> ConvShape {
    ConvShape { c: weights, k: 1, y: outputs, ..ConvShape::UNIT }
}

/// A plan of models of these layers (weights, outputs), under fixed priorities.
fn plan_of(networks: &[&[(u32, u32)]], costs: CostTable, options: Options) -> runs::Case {
    let model = |(index, layers): (usize, &&[(u32, u32)])| {
        let name = format!("model {index}");
        let layers =
            layers.iter().map(|&(weights, outputs)| Layer::new("layer", shape(weights, outputs)));
        let network = Network::new(&*name, layers.collect()).expect("a network of a test is legal");
        let mut model = runs::model(&name, 1.0);
        model.unit.network = Arc::new(network);
        model
    };
    let models = networks.iter().enumerate().map(model);
    let plan = runs::plan(runs::scenario(vec![], models.collect()), costs);
    plan.scheduled(fixed_priorities(options))
}

/// 10 ns, and 1 nJ for 125 bytes. Accelerators have 1 byte/ns.
fn switching(mut plan: runs::Case) -> runs::Case {
    plan.engine.effects.switch =
        Switch { enabled: true, fixed: SimSpan::from_ns(10), dram_pj_per_bit: 1.0 };
    plan
}

fn migrating(mut plan: runs::Case) -> runs::Case {
    plan.engine.effects.migration = Migration { enabled: true, hop: SimSpan::from_ns(3) };
    plan
}

fn sharing(
    dram: Option<f64>,
    noc: Option<f64>,
    division: Division,
    mut plan: runs::Case,
) -> runs::Case {
    plan.engine.effects.bandwidth = SharedBandwidth { dram, noc, division };
    plan
}

fn moving(trace: &Trace, id: usize) -> Vec<u64> {
    let segments = trace.segments_of(RequestId::new(id)).iter();
    segments.map(|segment| segment.moving.ns()).collect()
}

fn energy_nj(trace: &Trace, id: usize) -> f64 {
    match trace.record(RequestId::new(id)).outcome {
        Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } => energy.get() * 1e6,
        _ => 0.0,
    }
}

fn assert_nj(trace: &Trace, id: usize, expected: f64) {
    let found = energy_nj(trace, id);
    // Sums of a few numbers near 100, converted to mJ and back.
    assert!((found - expected).abs() < 1e-9, "{found} nJ in place of {expected}");
}

/// Model 0 has 100 bytes of weights, model 1 has 50; both take 20 ns and 20 nJ.
#[test]
fn a_model_that_is_not_resident_brings_its_weights() {
    let costs = table_ns(&[vec![vec![20]], vec![vec![20]]]);
    let plan = switching(plan_of(&[&[(100, 1)], &[(50, 1)]], costs, BY_LAYER));
    let trace = play(&plan, &stream(&[(0, 0, 1000), (0, 1, 1000), (1, 2, 1000), (0, 500, 1000)]));
    // 10 + 100, then nothing, then 10 + 50, then again 10 + 100.
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 130)]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 130, 150)]);
    assert_eq!(busy_intervals(&trace, 2), [(0, 150, 230)]);
    assert_eq!(busy_intervals(&trace, 3), [(0, 500, 630)]);
    assert_eq!([0, 1, 2, 3].map(|id| moving(&trace, id)), [vec![110], vec![], vec![60], vec![110]]);
    [20.8, 20.0, 20.4, 20.8].iter().enumerate().for_each(|(id, &nj)| assert_nj(&trace, id, nj));
}

/// Model 1 is cut between two layers with 7 live bytes for model 0; weights of 100 and 50 bytes.
#[test]
fn a_request_that_is_cut_goes_to_dram_and_comes_back() {
    let costs = table_ns(&[vec![vec![20]], vec![vec![20, 20]]]);
    let networks: [&[_]; 2] = [&[(100, 1)], &[(30, 7), (20, 1)]];
    let plan = switching(plan_of(&networks, costs, BY_LAYER));
    let trace = play(&plan, &stream(&[(1, 0, 1000), (0, 5, 1000)]));
    // Model 1: 10 + 50 + 20. Model 0: 10 + 100 + 7 + 20. Model 1 again: 10 + 50 + 7 + 20.
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 80), (0, 217, 304)]);
    assert_eq!(moving(&trace, 0), [60, 67]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 80, 217)]);
    assert_nj(&trace, 0, 40.0 + 0.008 * (50.0 + 57.0));
    assert_nj(&trace, 1, 20.0 + 0.008 * 107.0);
}

/// Twin frames of one model: the later one, more urgent, pushes out the activations of the first, but
/// no weights.
#[test]
fn the_resident_model_brings_no_weights_but_its_activations() {
    let costs = table_ns(&[vec![vec![20, 20]]]);
    let plan = switching(plan_of(&[&[(30, 7), (20, 1)]], costs, BY_LAYER));
    let plan = runs::by("edf:granularity=layer", plan);
    let trace = play(&plan, &stream(&[(0, 0, 1000), (0, 5, 200)]));
    // 60 + 20; then 10 + 7 + 40; then 10 + 7 + 20.
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 80), (0, 137, 174)]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 80, 137)]);
}

#[test]
fn what_was_given_up_is_not_taken_away() {
    let costs = table_ns(&[vec![vec![20]], vec![vec![20, 20]]]);
    let networks: [&[_]; 2] = [&[(100, 1)], &[(30, 7), (20, 1)]];
    // Model 1 is cut at 80 and has 20 ns to go. With a deadline at 90 it is dropped there and then.
    let admission = Admission::SkipHopeless { tolerance: SimSpan::ZERO };
    let plan = switching(plan_of(&networks, costs, Options { admission, ..BY_LAYER }));
    let brought = |deadline| {
        let trace = play(&plan, &stream(&[(1, 0, deadline), (0, 70, 2000)]));
        moving(&trace, 1)
    };
    assert_eq!([brought(100), brought(90)], [[117], [110]]);
}

/// Accelerator 0 is twice as fast. Request 1 starts on accelerator 1 and continues with 7 live bytes on
/// accelerator 0.
#[test]
fn activations_move_when_a_request_goes_on_elsewhere() {
    let costs = table_ns(&[vec![vec![20, 20], vec![40, 40]]]);
    let plan = migrating(plan_of(&[&[(30, 7), (20, 1)]], costs, BY_LAYER));
    let trace = play(&plan, &stream(&[(0, 0, 1000), (0, 0, 1000)]));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 40)]);
    // 7 bytes at 1 byte/ns and a hop of 3 ns.
    assert_eq!(busy_intervals(&trace, 1), [(1, 0, 40), (0, 40, 70)]);
    assert_eq!(moving(&trace, 1), [0, 10]);
    // The network of the fixture takes 0.6 pJ a byte.
    assert_nj(&trace, 1, 40.0 + 20.0 + 7.0 * 0.6e-3);
}

/// Two accelerators, each with a layer of 100 ns and a number of bytes.
fn two_layers(bytes: [u64; 2], times: [u64; 2]) -> runs::Case {
    let cost = |index: usize| {
        let never = layer(1_000_000);
        let mut row = vec![vec![never], vec![never]];
        row[index] = vec![LayerCost { dram_bytes: bytes[index], ..layer(times[index]) }];
        row
    };
    plan_of(&[&[(1, 1)], &[(1, 1)]], table(&[cost(0), cost(1)]), BY_LAYER)
}

fn both() -> RequestStream {
    stream(&[(0, 0, 10_000), (1, 0, 10_000)])
}

#[test]
fn equal_demands_for_twice_the_bandwidth_run_at_half_speed() {
    let plan = sharing(Some(1.0), None, Division::MaxMin, two_layers([100, 100], [100, 100]));
    let trace = play(&plan, &both());
    assert_eq!(
        [busy_intervals(&trace, 0), busy_intervals(&trace, 1)],
        [[(0, 0, 200)], [(1, 0, 200)]]
    );
    assert_eq!(energy_nj(&trace, 0), 100.0, "bandwidth costs time and no energy");
}

/// 3 and 1 byte/ns of 2. Fair: 1 each, so the first has run 100/3 ns at 100, when the second is done;
/// then it has 2 of 3: (300 - 100/3) · 3/2 = 400 more. In proportion: half each, the second is done at
/// 200, the first has 200 left at 2/3.
#[test]
fn bandwidth_is_divided_anew_when_a_layer_ends() {
    let layers = || two_layers([900, 100], [300, 100]);
    let trace = play(&sharing(Some(2.0), None, Division::MaxMin, layers()), &both());
    assert_eq!(
        [busy_intervals(&trace, 0), busy_intervals(&trace, 1)],
        [[(0, 0, 500)], [(1, 0, 100)]]
    );
    let trace = play(&sharing(Some(2.0), None, Division::Proportional, layers()), &both());
    assert_eq!(
        [busy_intervals(&trace, 0), busy_intervals(&trace, 1)],
        [[(0, 0, 500)], [(1, 0, 200)]]
    );
}

/// A layer of 100 ns at 1 byte/ns, alone until 50, with an equal one until it ends: 50 + 2 · 50.
#[test]
fn bandwidth_is_divided_anew_when_a_layer_starts() {
    let plan = sharing(Some(1.0), None, Division::MaxMin, two_layers([100, 100], [100, 100]));
    let trace = play(&plan, &stream(&[(0, 0, 10_000), (1, 50, 10_000)]));
    assert_eq!(
        [busy_intervals(&trace, 0), busy_intervals(&trace, 1)],
        [[(0, 0, 150)], [(1, 50, 200)]]
    );
}

/// DRAM halves both; then they ask for 1 byte/ns each of the NoC's 1, which halves them again.
#[test]
fn what_dram_slows_asks_for_less_of_the_noc() {
    let mut plan = two_layers([100, 100], [100, 100]);
    let cost = LayerCost { dram_bytes: 100, noc_bytes: 200, ..layer(100) };
    plan.costs = Arc::new(table(&[
        vec![vec![cost], vec![layer(1_000_000)]],
        vec![vec![layer(1_000_000)], vec![cost]],
    ]));
    let slow = sharing(Some(1.0), Some(1.0), Division::MaxMin, plan.clone());
    assert_eq!(busy_intervals(&play(&slow, &both()), 0), [(0, 0, 400)]);
    let enough = sharing(Some(1.0), Some(2.0), Division::MaxMin, plan);
    assert_eq!(busy_intervals(&play(&enough, &both()), 0), [(0, 0, 200)]);
}

/// Bringing weights takes DRAM bandwidth like anything else: 100 bytes in 110 ns beside 1 byte/ns, of 1.
#[test]
fn moving_data_takes_its_share_of_bandwidth() {
    let mut plan = switching(two_layers([0, 1000], [100, 1000]));
    let mut models = plan.scenario.models().to_vec();
    let network = |weights| {
        let layers = vec![Layer::new("layer", shape(weights, 1))];
        Arc::new(Network::new("network", layers).expect("a legal network"))
    };
    models[0].unit.network = network(100);
    models[1].unit.network = network(1);
    plan.scenario = Arc::new(runs::scenario(vec![], models));
    let plan = sharing(Some(1.0), None, Division::MaxMin, plan);
    let trace = play(&plan, &stream(&[(1, 0, 10_000), (0, 500, 10_000)]));
    // Alone until 500. Then half of it for each until the 110 ns are done: 100/110 of a byte/ns, at
    // 0.5, take 200 ns. Then the layer of model 0 asks for nothing: 700 to 800.
    assert_eq!(busy_intervals(&trace, 1), [(0, 500, 800)]);
    // 11 ns for its own byte, 489 until 500, 100 until 700, and the rest alone.
    assert_eq!(busy_intervals(&trace, 0), [(1, 0, 700 + 1000 - 589)]);
}

/// Demands for a bandwidth, and how much of it there is.
type Asked = (Vec<BandwidthDemand>, f64);

/// Takes the first request and the first accelerator, and gives the first demand three quarters.
struct Generous(Arc<Mutex<Vec<Asked>>>);

impl Scheduler for Generous {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let job = &view.ready[0];
        let accelerator = view.fastest_idle(job).expect("every pair is offered");
        Dispatch::new(job.request, accelerator).into()
    }

    fn grant(&mut self, demands: &[BandwidthDemand], capacity: f64, grants: &mut [f64]) -> bool {
        self.0.lock().expect("nobody panics").push((demands.to_vec(), capacity));
        grants.copy_from_slice(&[0.75 * capacity, 0.25 * capacity]);
        true
    }
}

#[test]
fn a_policy_may_divide_bandwidth_itself() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&asked);
    let build = move |_: &Setup<'_>| {
        let policy: Box<dyn Scheduler> = Box::new(Generous(Arc::clone(&shown)));
        Ok(policy)
    };
    let plan = two_layers([100, 100], [100, 100]).scheduled(Policy::new(
        "generous",
        BY_LAYER,
        true,
        Arc::new(build),
    ));
    let trace = play(&sharing(Some(1.0), None, Division::MaxMin, plan), &both());
    // 100 / 0.75 = 133 1/3, rounded up; then the other has 66 2/3 left, alone, and ends at 200.
    assert_eq!(
        [busy_intervals(&trace, 0), busy_intervals(&trace, 1)],
        [[(0, 0, 134)], [(1, 0, 200)]]
    );
    let asked = asked.lock().expect("nobody panics");
    let [(demands, capacity)] = &asked[..] else {
        panic!("{asked:?}: asked once, where it is scarce")
    };
    assert_eq!(*capacity, 1.0);
    let demand = |index: usize| BandwidthDemand {
        accelerator: AccelId::new(index),
        request: RequestId::new(index),
        model: ModelId::new(index),
        remaining: SimSpan::from_ns(100),
        slack: SimSpan::from_ns(10_000),
        wanted: 1.0,
    };
    assert_eq!(*demands, [demand(0), demand(1)]);
}

/// 10 cycles hide 4: half of them exposed are 2 more, all of them 4. 3 hide 1: rounded up.
#[test]
fn what_is_not_hidden_takes_time() {
    let layers = [(10, 4), (3, 1), (5, 0)];
    let layers = layers.map(|(cycles, dram_cycles)| LayerCost {
        chip_cycles: cycles,
        dram_cycles,
        ..layer(cycles)
    });
    let costs = table(&[vec![layers.to_vec()]]);
    let system = runs::system(1);
    let cycles = |share: f64| {
        let exposed = costs.with_non_overlapped(share, system.accelerators());
        let network = exposed.on(ModelId::new(0), AccelId::new(0)).network().clone();
        assert_eq!(network.latency.ns(), network.cycles.get());
        network.layers.iter().map(|layer| layer.cycles).collect::<Vec<_>>()
    };
    assert_eq!(costs.with_non_overlapped(0.0, system.accelerators()), costs);
    assert_eq!(cycles(0.5), [12, 4, 5]);
    assert_eq!(cycles(1.0), [14, 4, 5]);
}

/// Layers of up to four models on up to three accelerators: time, bytes to and from DRAM and over the
/// NoC.
type Costs = Vec<Vec<Vec<(u64, u64, u64)>>>;

fn costs() -> impl Strategy<Value = Costs> {
    let time = prop_oneof![1 => Just(0), 9 => 1u64..30];
    let layer = (time, 0u64..60, 0u64..60);
    let model = move |n_accelerators: usize| {
        let layer = layer.clone();
        (1usize..5).prop_flat_map(move |n_layers| {
            let layers = prop::collection::vec(layer.clone(), n_layers);
            prop::collection::vec(layers, n_accelerators)
        })
    };
    (1usize..4).prop_flat_map(move |n| prop::collection::vec(model(n), 1..5))
}

fn table_of(costs: &Costs) -> CostTable {
    let cost = |&(ns, dram_bytes, noc_bytes): &_| {
        // What takes no time moves nothing.
        let bytes = |bytes: u64| if ns > 0 { bytes } else { 0 };
        LayerCost { dram_bytes: bytes(dram_bytes), noc_bytes: bytes(noc_bytes), ..layer(ns) }
    };
    let layers = |layers: &Vec<_>| layers.iter().map(cost).collect();
    let rows: Vec<Vec<_>> = costs.iter().map(|row| row.iter().map(layers).collect()).collect();
    table(&rows)
}

prop_compose! {
    fn any_plan()(
        costs in costs(), options in any_options(BY_LAYER), networks in prop::collection::vec(
            prop::collection::vec((1u32..40, 1u32..40), 4), 4
        ),
        late in select(&[DeadlineMiss::Finish, DeadlineMiss::Finish, DeadlineMiss::Abort]),
        arrivals in any_arrivals(1..300, 40),
    ) -> (runs::Case, RequestStream) {
        let networks = networks.iter().zip(&costs).map(|(layers, row)| &layers[..row[0].len()]);
        let networks: Vec<_> = networks.collect();
        let mut plan = plan_of(&networks, table_of(&costs), options);
        plan.engine.deadline_miss = late;
        (plan, requests(&arrivals, costs.len()))
    }
}

fn executed_segments(trace: &Trace) -> impl Iterator<Item = &Segment> {
    let executed = |id: RequestId| matches!(trace.record(id).outcome, Outcome::Executed { .. });
    trace.segments().iter().filter(move |segment| executed(segment.request))
}

/// Time that the layers of a segment take alone.
fn alone(plan: &runs::Case, trace: &Trace, segment: &Segment) -> SimSpan {
    let model = trace.record(segment.request).model;
    plan.costs.on(model, segment.accelerator).time_of(segment.first_layer..segment.end_layer)
}

/// In no span of time are more bytes moved for layers than the bandwidth allows: of every segment that
/// lies in it as a whole.
fn check_budget(plan: &runs::Case, trace: &Trace, bytes_of: fn(Traffic) -> u64, capacity: f64) {
    let bytes = |id: RequestId| {
        let record = trace.record(id);
        let Outcome::Executed { accelerator, start, end, .. } = record.outcome else {
            return vec![];
        };
        let layers = 0..plan.costs.n_layers(record.model);
        let of = |accelerator, layers: std::ops::Range<u32>| {
            let execution = plan.costs.on(record.model, accelerator);
            layers.map(|layer| bytes_of(execution.traffic_of(layer))).sum::<u64>()
        };
        match trace.segments_of(id) {
            [] => vec![(start, end, of(accelerator, layers))],
            segments => segments
                .iter()
                .map(|it| (it.start, it.end, of(it.accelerator, it.first_layer..it.end_layer)))
                .collect(),
        }
    };
    let moved: Vec<_> =
        (0..trace.records().len()).flat_map(|index| bytes(RequestId::new(index))).collect();
    for &(from, ..) in &moved {
        for &(_, to, _) in moved.iter().filter(|(_, to, _)| *to >= from) {
            let inside = moved.iter().filter(|(start, end, _)| from <= *start && *end <= to);
            let sum: u64 = inside.map(|it| it.2).sum();
            let most = capacity * (to - from).ns() as f64;
            // Ends of segments are off by at most 1e-4 ns each; a request has up to four.
            let n_segments = 4.0 * moved.len() as f64;
            assert!(
                sum as f64 <= most + 1e-4 * capacity * n_segments,
                "{sum} bytes in place of {most}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20231),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn with_bandwidth_to_spare_nothing_changes(
        (plan, requests) in any_plan(), moves in any::<bool>(),
        division in select(&[Division::MaxMin, Division::Proportional]),
    ) {
        let plan = if moves { switching(migrating(plan)) } else { plan };
        let shared = sharing(Some(1e9), Some(1e9), division, plan.clone());
        prop_assert_eq!(play(&shared, &requests), play(&plan, &requests));
    }

    #[test]
    fn bandwidth_that_is_handed_out_stays_within_the_budget(
        (plan, requests) in any_plan(), dram in 0.1..4.0, noc in 0.1..4.0, moves in any::<bool>(),
        division in select(&[Division::MaxMin, Division::Proportional]),
    ) {
        let plan = if moves { switching(migrating(plan)) } else { plan };
        let shared = sharing(Some(dram), Some(noc), division, plan);
        let trace = play(&shared, &requests);
        check_budget(&shared, &trace, |it| it.dram_bytes, dram);
        check_budget(&shared, &trace, |it| it.noc_bytes, noc);
        for segment in executed_segments(&trace) {
            prop_assert!(segment.end - segment.start >= alone(&shared, &trace, segment));
        }
    }

    /// Energy that is moved is in the segments, and time too.
    #[test]
    fn moving_data_adds_up((plan, requests) in any_plan()) {
        let moving = switching(migrating(plan.clone()));
        let trace = play(&moving, &requests);
        for segment in executed_segments(&trace) {
            let layers = segment.first_layer..segment.end_layer;
            let model = trace.record(segment.request).model;
            prop_assert_eq!(segment.end - segment.start, segment.moving + alone(&plan, &trace, segment));
            let computing = plan.costs.on(model, segment.accelerator).energy_of(layers);
            let moved = segment.energy.get() - computing.get();
            // Something is moved just where it takes time; sums of numbers near 1e-4.
            prop_assert_eq!(moved > 1e-15, segment.moving > SimSpan::ZERO, "{:?}", segment);
        }
        let parts: f64 = trace.busy_intervals().map(|it| it.energy.get()).sum();
        let total = plan.score(&trace).total.counts.energy;
        prop_assert!((parts - total.get()).abs() <= 1e-12 * parts);
    }

    /// One model on one accelerator is never switched, whatever a switch takes.
    #[test]
    fn with_one_model_layers_and_models_move_the_same(
        layers in prop::collection::vec(1u64..30, 4), arrivals in prop::collection::vec(0u64..400, 1..40),
        slack in 1u64..300, options in any_options(BY_LAYER),
    ) {
        let requests = arrivals.iter().map(|&arrival| (0, arrival, arrival + slack));
        let requests = stream(&requests.collect::<Vec<_>>());
        let network: &[_] = &[(3, 5), (2, 4), (7, 1), (1, 1)];
        let plan = |options| {
            switching(migrating(plan_of(&[network], table_ns(&[vec![layers.clone()]]), options)))
        };
        let whole = Options { granularity: Granularity::Model, ..BY_LAYER };
        prop_assert_eq!(play(&plan(options), &requests), play(&plan(whole), &requests));
    }
}

#[test]
fn energy_of_dram_is_by_bit() {
    let switch = Switch { dram_pj_per_bit: 14.8, ..Switch::default() };
    let off = switch.energy(1_000_000).get() - 0.1184;
    assert!(off.abs() < 1e-15, "two roundings: {off}");
}

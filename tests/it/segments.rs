//! Requests that run in segments: granularity, preemption at layer boundaries, and what becomes of
//! requests that were cut.

use crate::support::layers;
use crate::support::runs;

use proptest::prelude::*;
use proptest::sample::select;

use layers::{
    any_arrivals, any_options, busy_intervals, check_segments, fixed_priorities, layers, plan,
    requests, stream, table_ns,
};
use runs::{Case, by};
use xrsim::engine;
use xrsim::ids::{AccelId, ModelId, RequestId};
use xrsim::load::RequestStream;
use xrsim::plan::DeadlineMiss;
use xrsim::schedule::{Granularity, Options, Preemption};
use xrsim::trace::{Attempt, DropReason, Outcome, Trace};
use xrsim::units::{Millijoules, SimSpan, SimTime};

const LAYERS: Options = Options {
    granularity: Granularity::Layer,
    preemption: Preemption::None,
    admission: xrsim::schedule::Admission::All,
    placement: xrsim::schedule::Placement::Latency,
    quality: xrsim::schedule::Quality::First,
    governor: xrsim::schedule::Governor::Fixed(None),
};

const PREEMPTIVE: Options =
    Options { granularity: Granularity::Model, preemption: Preemption::LayerBoundary, ..LAYERS };

fn play(plan: &Case, requests: &RequestStream) -> Trace {
    let run =
        engine::run(plan, &plan.costs, requests).expect("policies of this program do not fail");
    check_segments(plan, &run.trace);
    run.trace
}

/// The plan under fixed priorities.
fn prioritised(options: Options, plan: Case) -> Case {
    plan.scheduled(fixed_priorities(options))
}

fn at(ns: u64) -> SimTime {
    SimTime::from_ns(ns)
}

/// Model 0 takes 2 ns, model 1 three layers of 4 ns, on one accelerator.
fn short_and_long() -> Case {
    plan(table_ns(&[vec![vec![2]], vec![vec![4, 4, 4]]]))
}

/// Request 0 is the long one, from time 0 on; request 1 the short one, that becomes ready at `ns`.
fn interrupted_at(ns: u64) -> RequestStream {
    stream(&[(1, 0, 1000), (0, ns, 1000)])
}

#[test]
fn a_request_that_becomes_ready_cuts_what_runs_at_the_end_of_its_layer() {
    let plan = prioritised(PREEMPTIVE, short_and_long());
    let trace = play(&plan, &interrupted_at(5));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8), (0, 10, 14)]);
    assert_eq!(layers(&trace, 0), [(0, 2), (2, 3)]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 8, 10)]);
    assert_eq!(trace.segments().len(), 2, "a request that was not cut has no segments");
    let energy = Millijoules::from_nj(8.0) + Millijoules::from_nj(4.0);
    let (accelerator, start, end) = (AccelId::new(0), at(0), at(14));
    assert_eq!(
        trace.record(RequestId::new(0)).outcome,
        Outcome::Executed { accelerator, start, end, energy }
    );
}

#[test]
fn between_two_layers_it_cuts_at_once() {
    let plan = prioritised(PREEMPTIVE, short_and_long());
    let trace = play(&plan, &interrupted_at(4));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 4), (0, 6, 14)]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 4, 6)]);
}

#[test]
fn in_the_last_layer_there_is_nothing_to_cut() {
    let plan = prioritised(PREEMPTIVE, short_and_long());
    let trace = play(&plan, &interrupted_at(9));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 12)]);
    assert_eq!(trace.segments(), []);
}

/// The policy is asked at 4, 8 and 12 ns anyway.
#[test]
fn a_policy_that_is_asked_after_every_layer_needs_no_preemption() {
    for ready in 0..14 {
        let [layers, preemptive] = [LAYERS, PREEMPTIVE]
            .map(|options| play(&prioritised(options, short_and_long()), &interrupted_at(ready)));
        assert_eq!(layers, preemptive, "{ready}");
    }
}

/// 5 ns take two layers of 4.
#[test]
fn a_block_is_as_few_whole_layers_as_take_its_time() {
    let granularity = Granularity::Block(SimSpan::from_ns(5));
    let plan = prioritised(Options { granularity, ..LAYERS }, short_and_long());
    let trace = play(&plan, &interrupted_at(1));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8), (0, 10, 14)]);
    let trace = play(&plan, &interrupted_at(9));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 12)], "the rest is shorter than a block");
}

/// A preempted request becomes ready again. If that preempted the running ones, all would continue
/// layer by layer.
#[test]
fn what_was_cut_cuts_nothing() {
    // Model 2 comes at 1 and model 0 at 2: the former starts at 4 with the latter waiting already.
    let costs = table_ns(&[vec![vec![2]], vec![vec![4, 4, 4]], vec![vec![1, 1, 1]]]);
    let plan = prioritised(PREEMPTIVE, plan(costs));
    let trace = play(&plan, &stream(&[(2, 0, 1000), (1, 1, 1000), (0, 2, 1000)]));
    // At 1 the first layer of model 2 has just ended; model 1 runs its first layer until 5, since
    // model 0 came meanwhile; then 0, the rest of 1 in one go, the rest of 2.
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 1), (0, 15, 17)]);
    assert_eq!(busy_intervals(&trace, 1), [(0, 1, 5), (0, 7, 15)]);
    assert_eq!(busy_intervals(&trace, 2), [(0, 5, 7)]);
}

/// The first accelerator is twice as fast. Request 1 starts on the second, is asked again after its
/// first layer when the first is idle, and continues there.
#[test]
fn a_request_may_go_on_elsewhere() {
    let costs = table_ns(&[vec![vec![2, 2, 2], vec![4, 4, 4]]]);
    let plan = prioritised(LAYERS, plan(costs));
    let trace = play(&plan, &stream(&[(0, 0, 1000), (0, 0, 1000)]));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 6)]);
    assert_eq!(busy_intervals(&trace, 1), [(1, 0, 8), (0, 8, 10)]);
    let energies: Vec<_> = trace.segments().iter().map(|segment| segment.energy.get()).collect();
    assert_eq!(energies, [8.0, 2.0].map(|nj| Millijoules::from_nj(nj).get()));
}

#[test]
fn a_request_that_has_begun_is_not_dropped_at_its_deadline() {
    let plan = prioritised(PREEMPTIVE, short_and_long());
    // At 9 ns, its deadline, the long request waits for the short one.
    let trace = play(&plan, &stream(&[(1, 0, 9), (0, 5, 1000)]));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8), (0, 10, 14)]);
}

#[test]
fn late_runs_are_aborted_wherever_they_are() {
    let mut plan = prioritised(PREEMPTIVE, short_and_long());
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    let attempt = Some(Attempt { accelerator: AccelId::new(0), start: at(0) });
    let dropped = |deadline, nj: f64| Outcome::Dropped {
        at: at(deadline),
        reason: DropReason::Aborted,
        energy: Millijoules::from_nj(nj),
        attempt,
    };
    // Waiting to go on: two layers have run.
    let trace = play(&plan, &stream(&[(1, 0, 9), (0, 5, 1000)]));
    assert_eq!(trace.record(RequestId::new(0)).outcome, dropped(9, 8.0));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8)]);
    // In its second segment: three quarters of the third layer have run.
    let trace = play(&plan, &stream(&[(1, 0, 13), (0, 5, 1000)]));
    let Outcome::Dropped { energy, .. } = trace.record(RequestId::new(0)).outcome else {
        panic!("it ends after its deadline");
    };
    assert_eq!(energy, Millijoules::from_nj(8.0) + Millijoules::from_nj(3.0));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8), (0, 10, 13)]);
    assert_eq!(layers(&trace, 0), [(0, 2), (2, 2)], "the last layer has not ended");
}

#[test]
fn a_newer_frame_does_not_replace_one_that_has_begun() {
    let mut plan = prioritised(PREEMPTIVE, short_and_long());
    plan.engine.replace_by_newer = true;
    let trace = play(&plan, &stream(&[(1, 0, 1000), (0, 5, 1000), (1, 9, 1000), (1, 9, 1000)]));
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8), (0, 10, 14)]);
    let reason = |id| match trace.record(RequestId::new(id)).outcome {
        Outcome::Dropped { reason, .. } => Some(reason),
        _ => None,
    };
    assert_eq!([2, 3].map(reason), [Some(DropReason::Replaced), None]);
}

#[test]
fn a_policy_may_drop_what_has_begun_and_its_energy_stays() {
    // Hopeless when it is cut at 8 with 4 ns to go and 3 to its deadline.
    let options = Options {
        admission: xrsim::schedule::Admission::SkipHopeless { tolerance: SimSpan::ZERO },
        ..PREEMPTIVE
    };
    let plan = prioritised(options, plan(table_ns(&[vec![vec![1]], vec![vec![4, 4, 4]]])));
    let trace = play(&plan, &stream(&[(1, 0, 12), (0, 5, 1000)]));
    let outcome = Outcome::Dropped {
        at: at(9),
        reason: DropReason::Scheduler,
        energy: Millijoules::from_nj(8.0),
        attempt: Some(Attempt { accelerator: AccelId::new(0), start: at(0) }),
    };
    assert_eq!(trace.record(RequestId::new(0)).outcome, outcome);
    assert_eq!(busy_intervals(&trace, 0), [(0, 0, 8)]);
}

#[test]
fn a_model_that_one_accelerator_knows_as_a_whole_is_one_layer() {
    let costs = table_ns(&[vec![vec![2, 2, 2], vec![]]]);
    assert_eq!(costs.n_layers(ModelId::new(0)), 1);
    let trace = play(&prioritised(LAYERS, plan(costs)), &stream(&[(0, 0, 1000)]));
    assert_eq!(trace.segments(), []);
}

/// Times of layers of up to six models on up to three accelerators \[ns\].
fn costs() -> impl Strategy<Value = Vec<Vec<Vec<u64>>>> {
    let layer = prop_oneof![1 => Just(0), 9 => 1u64..30];
    let model = move |n_accelerators: usize| {
        let layer = layer.clone();
        (1usize..6).prop_flat_map(move |n_layers| {
            let layers = prop::collection::vec(layer.clone(), n_layers);
            prop::collection::vec(layers, n_accelerators)
        })
    };
    (1usize..4).prop_flat_map(move |n| prop::collection::vec(model(n), 1..6))
}

/// Duration of an executed request: the time of its layers where each segment ran.
fn check_times(plan: &Case, trace: &Trace) {
    for segment in trace.segments() {
        let record = trace.record(segment.request);
        if matches!(record.outcome, Outcome::Executed { .. }) {
            let layers = segment.first_layer..segment.end_layer;
            let took = plan.costs.on(record.model, segment.accelerator).time_of(layers);
            assert_eq!(segment.end - segment.start, took, "{segment:?}");
        }
    }
    for (index, record) in trace.records().iter().enumerate() {
        let uncut = trace.segments_of(RequestId::new(index)).is_empty();
        if let Outcome::Executed { accelerator, start, end, energy } = record.outcome
            && uncut
        {
            assert_eq!(end - start, plan.costs.on(record.model, accelerator).latency());
            assert_eq!(energy, plan.costs.on(record.model, accelerator).energy());
        }
    }
}

/// Without preemption a segment is as long as was asked; with it, it may end at the first boundary
/// after the arrival of some request.
fn check_extents(plan: &Case, options: Options, trace: &Trace) {
    for segment in trace.segments() {
        let record = trace.record(segment.request);
        let model = record.model;
        let is_last = segment.end_layer == plan.costs.n_layers(model);
        let is_executed = matches!(record.outcome, Outcome::Executed { .. });
        if is_last || !is_executed || options.granularity != Granularity::Model {
            continue;
        }
        assert_eq!(options.preemption, Preemption::LayerBoundary, "{segment:?}");
        // Layers of no time end with the one before them.
        let execution = plan.costs.on(model, segment.accelerator);
        let times = (segment.first_layer..segment.end_layer).rev();
        let mut times = times.map(|layer| execution.time_of(layer..layer + 1));
        let longest = times.find(|time| *time > SimSpan::ZERO).unwrap_or_default();
        let arrived = |ready: SimTime| ready <= segment.end && segment.end - ready <= longest;
        assert!(trace.records().iter().any(|it| arrived(it.arrival)), "{segment:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: proptest::test_runner::RngSeed::Fixed(19730101),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn pieces_are_in_order_without_overlap_and_as_long_as_their_layers(
        costs in costs(), arrivals in any_arrivals(1..200, 60), options in any_options(LAYERS),
        edf in any::<bool>(), late in select(&[DeadlineMiss::Finish, DeadlineMiss::Abort]),
    ) {
        let requests = requests(&arrivals, costs.len());
        let mut plan = prioritised(options, plan(table_ns(&costs)));
        plan.engine.deadline_miss = late;
        if edf {
            let granularity = match options.granularity {
                Granularity::Model => "model".to_owned(),
                Granularity::Layer => "layer".to_owned(),
                Granularity::Block(_) => "block,block_ms=0.001".to_owned(),
            };
            let preemption = match options.preemption {
                Preemption::None => "none",
                Preemption::LayerBoundary => "layer-boundary",
            };
            plan = by(&format!("edf:granularity={granularity},preemption={preemption}"), plan);
        }
        let trace = play(&plan, &requests);
        check_times(&plan, &trace);
        check_extents(&plan, options, &trace);
        let counts = plan.score(&trace).total.counts;
        prop_assert_eq!(counts.requests, counts.executed + counts.dropped);
        prop_assert_eq!(counts.requests + counts.not_triggered, requests.requests().len() as u64);
    }

    /// Nothing interrupts the requests of one model on one accelerator: under any order that a request
    /// keeps to, the one that has begun continues.
    #[test]
    fn with_one_model_it_does_not_matter_where_it_may_be_cut(
        layers in prop::collection::vec(0u64..30, 1..8),
        arrivals in prop::collection::vec(0u64..400, 1..60), slack in 1u64..200,
        options in any_options(LAYERS), policy in select(&["edf", "latency-greedy", "round-robin"]),
    ) {
        let requests = arrivals.iter().map(|&arrival| (0, arrival, arrival + slack));
        let requests = stream(&requests.collect::<Vec<_>>());
        let plan = plan(table_ns(&[vec![layers]]));
        let whole = play(&by(policy, plan.clone()), &requests);
        for options in ["granularity=layer", "preemption=layer-boundary"] {
            let plan = by(&format!("{policy}:{options}"), plan.clone());
            prop_assert_eq!(&whole, &play(&plan, &requests));
        }
        prop_assert_eq!(&whole, &play(&prioritised(options, plan), &requests));
    }

    /// To be asked after every layer or when something becomes ready is the same for an order that
    /// does not change while a request runs.
    #[test]
    fn preemption_is_layer_granularity_that_costs_no_events(
        layers in prop::collection::vec(prop::collection::vec(1u64..30, 1..6), 1..5),
        arrivals in any_arrivals(1..200, 60),
    ) {
        let costs: Vec<_> = layers.into_iter().map(|layers| vec![layers]).collect();
        let requests = requests(&arrivals, costs.len());
        let plan = plan(table_ns(&costs));
        let run = |plan: Case| engine::run(&plan, &plan.costs, &requests).unwrap();
        let by_layer = run(prioritised(LAYERS, plan.clone()));
        let preemptive = run(prioritised(PREEMPTIVE, plan));
        prop_assert_eq!(by_layer.trace, preemptive.trace);
        prop_assert!(preemptive.events <= by_layer.events);
    }
}

//! Plans whose models have layers, and checks that hold for each of their traces.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::load::{Request, RequestStream};
use xrsim::schedule::{Granularity, Job, Options, Policy, Preemption, Rank, Ranked, View};
use xrsim::trace::{BusyInterval, Outcome, Segment, Trace};
use xrsim::units::{SimSpan, SimTime};

use super::runs;

/// A layer that takes `ns` ns on an accelerator, at 1 nJ/ns.
pub fn layer(ns: u64) -> LayerCost {
    LayerCost { cycles: ns, energy_nj: ns as f64, ..LayerCost::default() }
}

/// A table of layers, `[model][accelerator][layer]`.
pub fn table(costs: &[Vec<Vec<LayerCost>>]) -> CostTable {
    let system = runs::system(1);
    let network = |layers: &Vec<LayerCost>| {
        Arc::new(NetworkCost::of_layers(layers.clone(), &system.accelerators()[0]))
    };
    CostTable::new(costs.iter().flatten().map(network).collect(), costs[0].len())
}

/// A table of the times of layers \[ns\], `[model][accelerator][layer]`.
pub fn table_ns(costs: &[Vec<Vec<u64>>]) -> CostTable {
    let layers = |ns: &Vec<u64>| ns.iter().copied().map(layer).collect();
    let rows: Vec<Vec<_>> = costs.iter().map(|row| row.iter().map(layers).collect()).collect();
    table(&rows)
}

/// A plan of models without sensors on accelerators of these `costs`; their requests are made by
/// hand.
pub fn plan(costs: CostTable) -> runs::Case {
    let models = (0..costs.n_models()).map(|index| runs::model(&format!("model {index}"), 1.0));
    runs::plan(runs::scenario(vec![], models.collect()), costs)
}

/// Requests (model, arrival, deadline) \[ns\] without dependencies.
pub fn stream(requests: &[(usize, u64, u64)]) -> RequestStream {
    let mut requests: Vec<_> = requests.to_vec();
    requests.sort_by_key(|&(model, arrival, deadline)| (arrival, deadline, model));
    let mut n_frames = vec![0; 1 + requests.iter().map(|request| request.0).max().unwrap_or(0)];
    let request = |(model, arrival, deadline): (usize, u64, u64)| {
        n_frames[model] += 1;
        let frame = FrameId::new(n_frames[model] - 1);
        let [arrival, deadline] = [arrival, deadline].map(SimTime::from_ns);
        Request::new(ModelId::new(model), frame, arrival, deadline)
    };
    RequestStream::new(requests.into_iter().map(request).collect(), &[])
}

/// Requests of `n_models` models at up to 400 ns: which model, arrival and slack.
pub fn any_arrivals(
    slack: std::ops::Range<u64>,
    at_most: usize,
) -> impl Strategy<Value = Vec<(Index, u64, u64)>> {
    prop::collection::vec((any::<Index>(), 0u64..400, slack), 1..at_most)
}

/// The requests of [`any_arrivals`].
pub fn requests(arrivals: &[(Index, u64, u64)], n_models: usize) -> RequestStream {
    let request = |(model, arrival, slack): &(Index, u64, u64)| {
        (model.index(n_models), *arrival, arrival + slack)
    };
    stream(&arrivals.iter().map(request).collect::<Vec<_>>())
}

/// `base` with any granularity and preemption.
pub fn any_options(base: Options) -> impl Strategy<Value = Options> {
    let granularity = prop_oneof![
        Just(Granularity::Model),
        (0u64..60).prop_map(|ns| Granularity::Block(SimSpan::from_ns(ns))),
        Just(Granularity::Layer),
    ];
    let preemption = select(&[Preemption::None, Preemption::LayerBoundary]);
    (granularity, preemption).prop_map(move |(granularity, preemption)| Options {
        granularity,
        preemption,
        ..base
    })
}

/// Fixed priorities: models in the order of the scenario.
struct InOrder;

impl Rank for InOrder {
    type Key = ModelId;

    fn key(&self, job: &Job, _: &View<'_>) -> ModelId {
        job.model
    }
}

/// The policy of fixed priorities, the first model first.
pub fn fixed_priorities(options: Options) -> Policy {
    let build = |setup: &xrsim::schedule::Setup<'_>| {
        let policy: Box<dyn xrsim::schedule::Scheduler> = Box::new(Ranked::new(InOrder, setup));
        Ok(policy)
    };
    Policy::new("fixed priorities", options, true, Arc::new(build))
}

/// A of two layers of 30 ms is cut by B, which comes at 10 ms, is due at 80 and takes 50.
pub fn preempted() -> runs::Case {
    let mut late_sensor = runs::sensor("late", 10.0);
    late_sensor.initial_latency = runs::span_ms(10.0);
    let urgent = runs::model("B", 10.0).with_relative_deadline(runs::span_ms(70.0));
    let models = vec![runs::model("A", 10.0), runs::reading(&[0], urgent)];
    let ms = |ms: u64| ms * 1_000_000;
    let costs = table_ns(&[vec![vec![ms(30), ms(30)]], vec![vec![ms(50)]]]);
    let plan = runs::plan(runs::scenario(vec![late_sensor], models), costs);
    runs::by("edf:preemption=layer-boundary", runs::lasting_ms(50.0, plan))
}

/// Every stretch of a request: accelerator, start and end \[ns\].
pub fn busy_intervals(trace: &Trace, id: usize) -> Vec<(usize, u64, u64)> {
    let plain = |it: BusyInterval| {
        let end = it.end.expect("every run of the engine ends");
        (it.accelerator.index(), it.start.ns(), end.ns())
    };
    trace.busy_intervals_of(RequestId::new(id)).map(plain).collect()
}

/// Layers of every segment of a request: the first one, and the one after the last.
pub fn layers(trace: &Trace, id: usize) -> Vec<(u32, u32)> {
    let segments = trace.segments_of(RequestId::new(id)).iter();
    segments.map(|segment| (segment.first_layer, segment.end_layer)).collect()
}

/// Checks what must hold of the segments of any run without effects: on every accelerator one at a time;
/// of every request one after another, of adjoining layers from the first one on, up to the last one
/// if it was executed; each as long as its layers take; energies that add up.
pub fn check_segments(plan: &runs::Case, trace: &Trace) {
    check_occupancy(plan, trace);
    for index in 0..trace.records().len() {
        let id = RequestId::new(index);
        let record = trace.record(id);
        let segments = trace.segments_of(id);
        let (mut layer, mut now) = (0, record.arrival);
        for segment in segments {
            assert_eq!(segment.first_layer, layer, "{segment:?}");
            assert!(now <= segment.start && segment.start <= segment.end, "{segment:?}");
            (layer, now) = (segment.end_layer, segment.end);
        }
        for pair in segments.windows(2) {
            let goes_on = pair[0].accelerator == pair[1].accelerator
                && pair[0].end == pair[1].start
                && pair[1].moving == SimSpan::ZERO;
            assert!(!goes_on || takes_no_time(trace, &pair[1]), "{pair:?} is one segment");
        }
        match record.outcome {
            Outcome::Executed { start, end, energy, accelerator } if !segments.is_empty() => {
                assert_eq!(layer, plan.costs.n_layers(record.model));
                assert_eq!((segments[0].start, now), (start, end));
                assert_eq!(segments[segments.len() - 1].accelerator, accelerator);
                let sum: f64 = segments.iter().map(|segment| segment.energy.get()).sum();
                // Rounding of as many additions as there are segments.
                assert!((sum - energy.get()).abs() <= 1e-12 * sum, "{sum} {energy:?}");
            }
            Outcome::Dropped { at, energy, attempt, .. } => {
                assert!(now <= at);
                assert_eq!(attempt.is_some(), trace.busy_intervals_of(id).next().is_some());
                let sum: f64 = trace.busy_intervals_of(id).map(|it| it.energy.get()).sum();
                assert!((sum - energy.get()).abs() <= 1e-12 * sum, "{sum} {energy:?}");
            }
            _ => {}
        }
    }
}

/// Whether something that takes no time ran where and when a segment starts.
fn takes_no_time(trace: &Trace, segment: &Segment) -> bool {
    let now = (segment.accelerator, segment.start, Some(segment.start));
    trace.busy_intervals().any(|it| (it.accelerator, it.start, it.end) == now)
}

/// Checks that no accelerator runs two stretches at once.
fn check_occupancy(plan: &runs::Case, trace: &Trace) {
    for accelerator in (0..plan.costs.n_accelerators()).map(AccelId::new) {
        let here = trace.busy_intervals().filter(|it| it.accelerator == accelerator);
        let mut spans: Vec<_> = here.map(|it| (it.start, it.end)).collect();
        spans.sort();
        for pair in spans.windows(2) {
            assert!(pair[0].1.is_some_and(|end| end <= pair[1].0), "{pair:?}");
        }
    }
}

//! DRAM that accelerators share, against a fluid that is computed in another way.
//!
//! `XRSIM_CASES=10000 cargo test --release --test it shared_dram` checks 10,000 runs each.

use crate::bounds::{random_plan, random_policy};
use crate::support::{layers, n_cases, runs};

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use layers::{busy_intervals, fixed_priorities, layer, stream, table};
use xrsim::Experiment;
use xrsim::bounds::{Bounds, Class};
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::engine::{self, Session, Traced};
use xrsim::hardware::{Accelerator, Dram, System};
use xrsim::ids::{AccelId, FrameId, ModelId};
use xrsim::load::{Request, RequestStream};
use xrsim::plan::Division;
use xrsim::schedule::{Admission, Granularity, Options, Placement, Preemption};
use xrsim::units::SimTime;

/// A request with an accelerator of its own: its arrival, and time \[ns\] and bytes of its layers.
struct Course {
    arrival: u64,
    layers: Vec<(u64, u64)>,
}

/// Ends of the requests \[ns\] as a fluid: at every moment, the layers that run divide the capacity \[byte/ns\].
/// Follows single layers in floating point; the level of max-min fairness is found by bisection.
fn fluid(courses: &[Course], capacity: f64, division: Division) -> Vec<u64> {
    struct Flow {
        layer: usize,
        left: f64,
        end: Option<f64>,
    }
    let mut flows: Vec<Flow> = courses
        .iter()
        .map(|it| Flow { layer: 0, left: it.layers[0].0 as f64, end: None })
        .collect();
    let mut now = 0.0;
    while flows.iter().any(|flow| flow.end.is_none()) {
        for (flow, course) in flows.iter_mut().zip(courses) {
            while flow.end.is_none() && flow.left <= 1e-9 && course.arrival as f64 <= now {
                flow.layer += 1;
                match course.layers.get(flow.layer) {
                    Some(&(ns, _)) => flow.left = ns as f64,
                    None => flow.end = Some(now),
                }
            }
        }
        let runs =
            |(flow, course): (&Flow, &Course)| flow.end.is_none() && course.arrival as f64 <= now;
        let demand = |(flow, course): (&Flow, &Course)| {
            if !runs((flow, course)) {
                return 0.0;
            }
            let (ns, bytes) = course.layers[flow.layer];
            if ns == 0 { 0.0 } else { bytes as f64 / ns as f64 }
        };
        let demands: Vec<f64> = flows.iter().zip(courses).map(demand).collect();
        let total: f64 = demands.iter().sum();
        let grant = |demand: f64| match division {
            _ if total <= capacity => demand,
            Division::Proportional => demand * capacity / total,
            Division::MaxMin => {
                let (mut low, mut high) = (0.0, capacity);
                for _ in 0..200 {
                    let level: f64 = (low + high) / 2.0;
                    let granted: f64 = demands.iter().map(|it| it.min(level)).sum();
                    if granted <= capacity { low = level } else { high = level }
                }
                demand.min(low)
            }
        };
        let speeds: Vec<f64> =
            demands.iter().map(|&it| if it > 0.0 { grant(it) / it } else { 1.0 }).collect();
        let served: f64 = speeds.iter().zip(&demands).map(|(speed, demand)| speed * demand).sum();
        assert!(served <= capacity * (1.0 + 1e-12), "{served} of {capacity}");
        let pairs = || flows.iter().zip(courses);
        let ends = pairs().zip(&speeds).filter(|(pair, _)| runs(*pair));
        let ends = ends.map(|((flow, _), speed)| flow.left / speed);
        let arrivals = courses.iter().map(|it| it.arrival as f64 - now).filter(|it| *it > 0.0);
        let step = ends.chain(arrivals).fold(f64::INFINITY, f64::min);
        if !step.is_finite() {
            break;
        }
        let moves: Vec<bool> = pairs().map(runs).collect();
        now += step;
        for ((flow, moves), speed) in flows.iter_mut().zip(moves).zip(speeds) {
            flow.left -= if moves { speed * step } else { 0.0 };
        }
    }
    // What is off from a whole number by rounding is whole.
    flows.iter().map(|flow| (flow.end.expect("it ended") - 1e-4).ceil().max(0.0) as u64).collect()
}

/// Request i of model i, which is fast on accelerator i only.
fn plan_of(courses: &[Course], capacity: f64, division: Division) -> (runs::Case, RequestStream) {
    let never = layer(1_000_000_000);
    let cost = |&(ns, dram_bytes): &(u64, u64)| LayerCost { dram_bytes, ..layer(ns) };
    let row = |(own, course): (usize, &Course)| {
        let on = |index: usize| match index == own {
            true => course.layers.iter().map(cost).collect(),
            false => vec![never; course.layers.len()],
        };
        (0..courses.len()).map(on).collect::<Vec<_>>()
    };
    let rows: Vec<_> = courses.iter().enumerate().map(row).collect();
    let mut plan = layers::plan(table(&rows)).scheduled(fixed_priorities(Options {
        granularity: Granularity::Model,
        preemption: Preemption::None,
        admission: Admission::All,
        placement: Placement::Latency,
        ..Options::default()
    }));
    plan.engine.effects.bandwidth.dram = Some(capacity);
    plan.engine.effects.bandwidth.division = division;
    let request = |(index, it): (usize, &Course)| (index, it.arrival, 1_000_000_000);
    let requests: Vec<_> = courses.iter().enumerate().map(request).collect();
    (plan, stream(&requests))
}

/// Ends of the requests in the engine.
fn ends(courses: &[Course], capacity: f64, division: Division) -> Vec<u64> {
    let (plan, requests) = plan_of(courses, capacity, division);
    let run = engine::run(&plan, &plan.costs, &requests).expect("the policy does not fail");
    let mut ends = vec![0; courses.len()];
    for index in 0..courses.len() {
        let id = xrsim::ids::RequestId::new(index);
        let &[(accelerator, _, end)] = &busy_intervals(&run.trace, index)[..] else {
            panic!("{index} is one stretch")
        };
        let model = run.trace.record(id).model.index();
        assert_eq!(accelerator, model);
        ends[model] = end;
    }
    ends
}

fn random_course(draws: &mut ChaCha8Rng) -> Course {
    let layer = |draws: &mut ChaCha8Rng| match draws.random_bool(0.1) {
        true => (0, 0),
        false => {
            let ns = draws.random_range(1..300);
            let demand = [0.0, 0.5, 3.0, 8.0][draws.random_range(0..4)];
            (ns, (ns as f64 * demand * draws.random_range(0.5..1.0)) as u64)
        }
    };
    let n_layers = draws.random_range(1..12);
    let layers = (0..n_layers).map(|_| layer(draws)).collect();
    Course { arrival: draws.random_range(0..600), layers }
}

#[test]
fn requests_end_as_a_fluid_says_to_the_nanosecond() {
    let mut draws = ChaCha8Rng::seed_from_u64(5);
    let mut n_slowed = 0;
    for case in 0..n_cases(100, 500) {
        let courses: Vec<_> =
            (0..draws.random_range(2..6)).map(|_| random_course(&mut draws)).collect();
        let capacity = draws.random_range(1.0..16.0);
        for division in [Division::MaxMin, Division::Proportional] {
            let found = ends(&courses, capacity, division);
            assert_eq!(found, fluid(&courses, capacity, division), "case {case}: {division:?}");
            let alone = |it: &Course| it.arrival + it.layers.iter().map(|it| it.0).sum::<u64>();
            n_slowed += u64::from(found.iter().zip(&courses).any(|(&end, it)| end > alone(it)));
        }
    }
    assert!(
        n_slowed > n_cases(100, 500),
        "bandwidth is scarce in {n_slowed} of 2 * {}",
        n_cases(100, 500)
    );
}

/// Layer by layer, two equal requests take the larger one of their time and that of twice their bytes, in whole
/// numbers: the sum over the layers, rounded up once.
#[test]
fn two_equal_requests_end_at_the_sum_over_their_layers() {
    let mut draws = ChaCha8Rng::seed_from_u64(6);
    for case in 0..n_cases(100, 500) {
        let course = Course { arrival: 0, ..random_course(&mut draws) };
        let capacity = draws.random_range(3u64..16);
        let layer = |&(ns, bytes): &(u64, u64)| (ns * capacity).max(2 * bytes);
        let sum = course.layers.iter().map(layer).sum::<u64>().div_ceil(capacity);
        let both = [Course { layers: course.layers.clone(), ..course }, course];
        assert_eq!(ends(&both, capacity as f64, Division::MaxMin), [sum, sum], "case {case}");
    }
}

/// What one submits is known late, after the engine has looked ahead.
#[test]
fn a_submitted_request_shares_from_its_submission_on() {
    let mut draws = ChaCha8Rng::seed_from_u64(7);
    for case in 0..n_cases(100, 500) {
        let mut courses: Vec<_> = (0..3).map(|_| random_course(&mut draws)).collect();
        courses[0].arrival = 0;
        let late = courses[2].arrival;
        let capacity = draws.random_range(1.0..8.0);
        let expected = ends(&courses, capacity, Division::MaxMin);
        let (plan, requests) = plan_of(&courses, capacity, Division::MaxMin);
        let known = requests.requests().iter().filter(|it| it.model != ModelId::new(2)).copied();
        let known = RequestStream::new(known.collect(), &[]);
        let mut session = Session::new(&plan, &plan.costs, &known, Traced::All).expect("it starts");
        let (mut events, mut submitted) = (Vec::new(), false);
        loop {
            let next = session.next_event();
            if !submitted && next.is_none_or(|it| it >= SimTime::from_ns(late)) {
                let at = SimTime::from_ns(late);
                let end = SimTime::from_ns(1_000_000_000);
                session.submit(Request::new(ModelId::new(2), FrameId::new(0), at, end), at);
                submitted = true;
                continue;
            }
            let Some(now) = next else { break };
            session.play(now, &mut events).expect("the policy does not fail");
        }
        let trace = session.finish().trace;
        for index in 0..3 {
            let model = trace.record(xrsim::ids::RequestId::new(index)).model.index();
            assert_eq!(busy_intervals(&trace, index)[0].2, expected[model], "case {case}");
        }
    }
}

/// The costs with random bytes for every layer, up to `most` byte/ns.
fn with_bytes(costs: &CostTable, most: f64, draws: &mut ChaCha8Rng) -> CostTable {
    let mut networks = Vec::new();
    for model in (0..costs.n_models()).map(ModelId::new) {
        for accelerator in (0..costs.n_accelerators()).map(AccelId::new) {
            let mut network: NetworkCost = costs.on(model, accelerator).network().as_ref().clone();
            for layer in &mut network.layers {
                layer.dram_bytes = (layer.cycles as f64 * draws.random_range(0.0..most)) as u64;
            }
            networks.push(Arc::new(network));
        }
    }
    CostTable::new(networks, costs.n_accelerators())
}

#[test]
fn bounds_at_the_whole_bandwidth_are_never_exceeded() {
    let mut draws = ChaCha8Rng::seed_from_u64(8);
    for case in 0..n_cases(100, 500) {
        let mut plan = random_plan(&mut draws);
        plan.costs = Arc::new(with_bytes(&plan.costs, 16.0, &mut draws));
        let requests = runs::requests(&plan);
        let bounds =
            Bounds::compute(&plan.scenario, &plan.costs, &requests, &plan.score, Class::Any);
        plan.engine.effects.bandwidth.dram = Some(16.0);
        let plan = plan.scheduled(random_policy(&mut draws));
        let run = engine::run(&plan, &plan.costs, &requests).expect("the policy does not fail");
        let score = plan.score(&run.trace).total.score_executed_mean;
        for upper in bounds.values() {
            assert!(score <= upper, "case {case}, {}: {score} {upper}", plan.scheduler.label());
        }
    }
}

/// Some segments that end after a layer of much data have moved, but for rounding, all of their bytes before their end, and
/// are no further then. The run panicked where the layer under way was found after the segment.
#[test]
fn rounding_does_not_lead_past_the_last_layer_of_a_segment() {
    let runs = Experiment::new().scenario("AR_Assistant").system("G").pes(4096);
    let runs = runs.scheduler("herald").set("platform", "headset").seed(7).replications(2).run();
    assert_eq!(runs.expect("it runs").len(), 2);
}

/// Two accelerators of 1,024 PEs and one of 2,048, at 1 GHz.
fn three(bandwidths: [u64; 3]) -> System {
    let base = runs::system(1).accelerators()[0].clone();
    let pes = [1024, 1024, 2048];
    let accelerator = |(dram_bandwidth, pes): (u64, u32)| {
        let memory = xrsim::hardware::Memory { dram_bandwidth, ..base.memory.clone() };
        Accelerator { pes, memory, ..base.clone() }
    };
    let accelerators = bandwidths.into_iter().zip(pes).map(accelerator).collect();
    System::new("three", accelerators).expect("a system")
}

#[test]
fn a_system_shares_the_sum_of_its_parts_and_splits_it_by_pes() {
    let bandwidths = |it: &System| {
        it.accelerators().iter().map(|it| it.memory.dram_bandwidth).collect::<Vec<_>>()
    };
    let split = three([8, 8, 16]);
    assert_eq!(split.shared_dram(), None);
    let ghz = split.accelerators()[0].clock.as_mhz() / 1e3;
    let shared = split.clone().in_dram(Dram::Shared);
    assert_eq!(bandwidths(&shared), [32, 32, 32]);
    assert_eq!(shared.shared_dram(), Some(32.0 * ghz));
    assert_eq!(shared.clone().in_dram(Dram::Shared), shared);
    assert_eq!(bandwidths(&shared.in_dram(Dram::Split)), [8, 8, 16]);
    let one = System::new("one", split.accelerators()[..1].to_vec()).expect("a system");
    assert_eq!(one.with_dram(Dram::Shared).shared_dram(), None, "nobody shares it");
    let narrow = three([8, 32, 16]).with_dram(Dram::Shared);
    assert_eq!(narrow.shared_dram(), Some(32.0 * ghz), "that of the widest");
}

#[test]
fn the_smaller_of_two_limits_counts() {
    let (mut plan, _) =
        plan_of(&[Course { arrival: 0, layers: vec![(1, 1)] }], 1.0, Division::MaxMin);
    let system = three([32; 3]).with_dram(Dram::Shared);
    let whole = system.shared_dram().expect("it is shared");
    plan.system = Arc::new(system);
    for (limit, expected) in [(None, whole), (Some(1.0), 1.0), (Some(1e9), whole)] {
        plan.engine.effects.bandwidth.dram = limit;
        assert_eq!(plan.shared_bandwidth().dram, Some(expected));
    }
    assert!(plan.needs_layers());
}

//! Metrics of runs that can be followed by hand.

use crate::support::runs;

use std::sync::Arc;

use runs::*;
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::hardware::device::Display;
use xrsim::hardware::{Accelerator, Memory, Noc, NocLevel};
use xrsim::ids::ModelId;
use xrsim::metrics::{
    ChainMetrics, Drops, MAX_CHAINS, Metrics, ModelMetrics, RunMetrics, Usage, chains,
};
use xrsim::plan::DeadlineMiss;
use xrsim::scenario::{ActiveModel, Scenario};
use xrsim::units::{Bytes, Cycles, Millijoules, SimSpan};

fn metrics(plan: &Case) -> Metrics {
    Metrics::compute(
        &plan.scenario,
        &trace(plan),
        &plan.costs,
        (&plan.load, &plan.score),
        None,
        None,
    )
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

/// A for 4 ms and then B for 3 ms, ten times a second on one accelerator, for 0.3 s.
fn pair() -> Case {
    let models = vec![model("A", 10.0), after(0, model("B", 10.0))];
    lasting_ms(300.0, plan(scenario(vec![], models), table_ms(&[[4.0], [3.0]])))
}

/// C takes 15 ms a hundred times a second: frames 0 and 1 end late at 15 and 30 ms, frame 2 is dropped
/// then, and so on: 15, 20, 15 and 20 ms late from their arrivals, two dropped.
fn overload() -> Case {
    let models = vec![model("C", 100.0)];
    lasting_ms(60.0, plan(scenario(vec![], models), table_ms(&[[15.0]])))
}

/// Results of A end at 4, 104 and 204 ms, those of B at 7, 107 and 207 ms, of data of 0, 100 and 200 ms. A display of 10 FPS
/// begins pictures at 50, 150 and 250 ms. With 44 ms to compose, those of B come one picture later.
#[test]
fn a_display_shows_the_newest_results_of_models_and_chains() {
    let pair = pair();
    let shown = |compose_ms: f64| {
        let (phase, scanout) = (span_ms(50.0), span_ms(11.0));
        let display = Display { rate: rate(10.0), phase, compose: span_ms(compose_ms), scanout };
        let settings = (&pair.plan.load, &pair.plan.score);
        let trace = trace(&pair);
        let found =
            Metrics::compute(&pair.scenario, &trace, &pair.costs, settings, None, Some(&display));
        let of = |it: &xrsim::metrics::Freshness| {
            let shown = it.shown.expect("pictures show it");
            assert_eq!(shown.motion_to_photon_ms, shown.mean_ms + 5.5);
            (shown.pictures, shown.mean_ms, shown.p99_ms, shown.max_ms)
        };
        [&found.models[0].freshness, &found.models[1].freshness, &found.chains[0].freshness].map(of)
    };
    assert_eq!(shown(0.0), [(3, 50.0, 50.0, 50.0); 3]);
    let later = (2, 150.0, 150.0, 150.0);
    assert_eq!(shown(44.0), [(3, 50.0, 50.0, 50.0), later, later]);
    assert_eq!(metrics(&pair).models[0].freshness.shown, None);
}

#[test]
fn a_chain_takes_from_the_first_arrival_to_the_last_end() {
    let metrics = metrics(&pair());
    let [ChainMetrics { models, service, .. }] = &metrics.chains[..] else { panic!("one chain") };
    assert_eq!(models[..], [0, 1].map(ModelId::new));
    let latencies = service.latencies.expect("it ran");
    assert_eq!((latencies.p50_ms, latencies.max_ms), (7.0, 7.0));
    assert_eq!((service.requests, service.missed()), (3, 0));
    close(service.achieved_fps, 10.0);
    assert_eq!(service.jitter_ms, Some(0.0));
}

/// The accelerator idles for 300 ms - 3 · 7 ms at 1 GHz, and uses 2,000 pJ a cycle then: 2 W.
#[test]
fn idle_accelerators_use_their_energy_until_the_last_deadline() {
    let (noc, memory) =
        (Noc::uniform(NocLevel::new(8)), Memory::new(Bytes::new(64), Bytes::new(64), 8));
    let dataflow = xrsim::Catalog::new().dataflow("WS").expect("it is shipped");
    let mut accelerator = Accelerator::new("one", dataflow, 1024, noc, memory);
    let usage = Usage::from_trace(2, 1, &trace(&pair()));
    assert_eq!(usage.idle_energy(std::slice::from_ref(&accelerator)), Millijoules::ZERO);
    accelerator.byte_energy.idle = 2000.0;
    close(usage.idle_energy(&[accelerator]).get(), 279.0 * 2.0);
}

/// 3 · 7 ms of 300 ms. A takes as long as alone and B, which waits for A, 7/3 of that. Nothing is missed,
/// so 1/6 stands for either, and all energy is that of the only accelerator: (1/6 + 1/6)·(1 + 1).
#[test]
fn a_run_without_misses_by_hand() {
    let run = metrics(&pair()).run;
    assert_eq!(run.span_ms, 300.0);
    close(run.utilisation[0], 0.07);
    assert_eq!((run.miss_ratio, run.fairness), (0.0, Some(1.0)));
    close(run.antt.expect("it ran"), (1.0 + 7.0 / 3.0) / 2.0);
    close(run.stp, 1.0 + 3.0 / 7.0);
    assert_eq!(run.energy_per_frame_mj, Some(1.0));
    close(run.power_without_leakage_mw, 20.0);
    close(run.uxcost, 2.0 / 3.0);
}

#[test]
fn a_model_that_is_always_late_by_hand() {
    let metrics = metrics(&overload());
    let ModelMetrics { service, drops, energy, .. } = metrics.models[0];
    assert_eq!((service.requests, service.executed, service.late), (6, 4, 4));
    assert_eq!((service.missed(), service.miss_ratio(), service.longest_misses), (6, 1.0, 6));
    assert_eq!(drops, Drops { deadline: 2, ..Drops::default() });
    let latencies = service.latencies.expect("some ended");
    assert_eq!((latencies.mean_ms, latencies.p50_ms, latencies.max_ms), (17.5, 20.0, 20.0));
    close(service.achieved_fps, 400.0 / 6.0);
    assert_eq!(service.jitter_ms, Some(0.0));
    assert_eq!(energy.get(), 4.0);
    assert!(metrics.chains.is_empty());
    // All missed, and 4 of 6 mJ spent.
    close(metrics.run.uxcost, 4.0 / 6.0);
    close(metrics.run.miss_ratio, 1.0);
    close(metrics.run.utilisation[0], 1.0);
    close(metrics.run.antt.expect("some ended"), 17.5 / 15.0);
}

/// Aborted at its deadline each frame runs for 10 of 15 ms and costs 2/3 mJ, all for nothing.
#[test]
fn aborted_runs_are_busy_and_cost_energy() {
    let mut plan = overload();
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    let metrics = metrics(&plan);
    let model = metrics.models[0];
    assert_eq!(model.drops, Drops { aborted: 6, ..Drops::default() });
    assert_eq!((model.service.executed, model.energy_per_frame_mj()), (0, None));
    close(model.energy.get(), 4.0);
    close(metrics.run.utilisation[0], 1.0);
    assert_eq!((metrics.run.antt, metrics.run.stp, metrics.run.fairness), (None, 0.0, None));
    close(metrics.run.power_without_leakage_mw, 4.0 / 0.06);
}

/// B at 30 FPS after A at 60 FPS: frame 1 of B, which starts at 33.3 ms, needs frame 2 of A. On its
/// accelerator alone A takes 4 ms and B 3 ms.
#[test]
fn chains_across_rates_go_back_to_the_newest_frame() {
    let models = vec![model("A", 60.0), after(0, model("B", 30.0))];
    let plan = lasting_ms(100.0, plan(scenario(vec![], models), table_ms(&[[4.0], [3.0]])));
    let service = metrics(&plan).chains[0].service;
    assert_eq!((service.requests, service.executed), (3, 3));
    assert_eq!(service.latencies.expect("it ran").max_ms, 7.0);
    close(service.achieved_fps, 30.0);
}

#[test]
fn frames_that_nothing_asked_for_count_nowhere() {
    let models = vec![model("A", 10.0), triggered_by(0, 0.0, model("B", 10.0))];
    let plan = lasting_ms(300.0, plan(scenario(vec![], models), table_ms(&[[4.0], [3.0]])));
    let metrics = metrics(&plan);
    for service in [metrics.models[1].service, metrics.chains[0].service] {
        assert_eq!((service.requests, service.missed(), service.miss_ratio()), (0, 0, 0.0));
    }
    assert_eq!(metrics.run.stp, 1.0);
    close(metrics.run.uxcost, 1.0 / 6.0);
}

#[test]
fn the_warm_up_is_left_out() {
    let mut plan = pair();
    plan.score.warm_up = span_ms(150.0);
    let metrics = metrics(&plan);
    assert_eq!(metrics.models[0].service.requests, 1);
    assert_eq!(metrics.chains[0].service.requests, 1);
    // The accelerator does not know of it.
    close(metrics.run.utilisation[0], 0.07);
}

/// A takes four layers of 10 ms within 90 ms; B, 2 ms within 19 ms every 20 ms, runs first or cuts in
/// after the layer under way. 40 + 5 · 2 ms of work until the last deadline, at 99 ms, while A is on
/// its way for 44 ms or more.
#[test]
fn an_interrupted_run_is_busy_only_in_its_pieces() {
    let due = |ms, model: ActiveModel| model.with_relative_deadline(span_ms(ms));
    let models = vec![due(90.0, model("A", 10.0)), due(19.0, model("B", 50.0))];
    let costs = CostTable::new(vec![layers_of_ms(&[10; 4]), layers_of_ms(&[2])], 1);
    let plan = lasting_ms(100.0, plan(scenario(vec![], models), costs));
    let plan = by("edf:granularity=layer,preemption=layer-boundary", plan);
    assert!(!trace(&plan).segments().is_empty());
    let metrics = metrics(&plan);
    close(metrics.run.miss_ratio, 0.0);
    close(metrics.run.utilisation[0], 50.0 / 99.0);
    let latencies = metrics.models[0].service.latencies.expect("it ran");
    assert!(latencies.max_ms >= 44.0);
}

fn layers_of_ms(layers_ms: &[u64]) -> Arc<NetworkCost> {
    let cycles = |ms: &u64| LayerCost { cycles: ms * 1_000_000, ..LayerCost::default() };
    let layers: Vec<_> = layers_ms.iter().map(cycles).collect();
    let total = layers.iter().map(|layer| layer.cycles).sum();
    Arc::new(NetworkCost {
        layers,
        cycles: Cycles::new(total),
        latency: SimSpan::from_ns(total),
        energy_nj: 0.0,
        choices: None,
        spread: None,
    })
}

#[test]
fn chains_are_the_paths_through_the_graph() {
    let models = vec![
        model("A", 30.0),
        after(0, model("B", 30.0)),
        after(0, model("C", 30.0)),
        after(2, after(1, model("D", 30.0))),
        model("alone", 30.0),
    ];
    let found: Vec<Vec<_>> = chains(&scenario(vec![], models))
        .iter()
        .map(|chain| chain.iter().map(|id| id.index()).collect())
        .collect();
    assert_eq!(found, [[0, 1, 3], [0, 2, 3]]);
}

/// Layer upon layer of two models that both depend on both below: 2^20 paths.
#[test]
fn a_dense_graph_has_only_so_many_chains() {
    let of = |index: usize| {
        let model = model(&format!("model {index}"), 30.0);
        match index {
            0 | 1 => model,
            _ => after(index / 2 * 2 - 1, after(index / 2 * 2 - 2, model)),
        }
    };
    let scenario: Scenario = scenario(vec![], (0..40).map(of).collect());
    assert_eq!(chains(&scenario).len(), MAX_CHAINS);
}

#[test]
fn every_column_of_an_ordinary_run_has_a_value() {
    let metrics = metrics(&pair());
    assert!(RunMetrics::COLUMNS.iter().all(|it| it.of(&metrics.run).is_some()));
    // A model with one sensor has no skew, and one that misses nothing no streak.
    let has_none = ["skew_mean_ms", "skew_max_ms", "consistent", "streak_mean"];
    for (name, value) in ModelMetrics::names().zip(metrics.models[0].values()) {
        assert_eq!(value.is_some(), !has_none.contains(&name), "{name}");
    }
}

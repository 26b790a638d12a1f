//! Scores of models, scenarios and the benchmark (Definitions 10 to 16).

use crate::support::runs::*;
use xrsim::score::{NeverTriggered, benchmark_score};
use xrsim::units::Millijoules;

/// A at 40 FPS for 100 ms: 4 frames. A 0 is due before the hog and runs first, to 10; the hog
/// runs from there to 75, while A 1 and A 2 are dropped at 50 and 75; A 3 runs. Each run of A
/// spends 375 of 1500 mJ: energy score 3/4. It ends 15 ms early: e^(-15·15) vanishes beside 1.
#[test]
fn the_model_score_is_definition_15_as_printed_beside_the_mean_over_executed_frames() {
    let hog = model("hog", 1.0).with_relative_deadline(span_ms(1000.0));
    let models = scenario(Vec::new(), vec![hog, model("A", 40.0)]);
    let costs = table(&[vec![(65_000_000, 0.0)], vec![(10_000_000, 375e6)]]);
    let plan = lasting_ms(100.0, plan(models, costs));
    let card = plan.score(&trace(&plan));
    let a = card.models[1];
    assert_eq!((a.counts.requests, a.counts.executed, a.counts.dropped), (4, 2, 2));
    assert_eq!((a.realtime, a.energy, a.accuracy, a.qoe), (1.0, 0.75, 1.0, 0.5));
    assert_eq!(a.score, (0.75 + 0.75) / 4.0 * 0.5);
    assert_eq!(a.score_executed_mean, 0.75 * 0.5);
    assert_eq!(a.counts.energy, Millijoules::new(750.0));
    // The hog is perfect: 1 in everything.
    assert_eq!((card.total.realtime, card.total.energy, card.total.qoe), (1.0, 0.875, 0.75));
    assert_eq!(card.total.score, (1.0 + 0.1875) / 2.0);
    assert_eq!(card.total.score_executed_mean, (1.0 + 0.375) / 2.0);
    assert_eq!(card.total.counts.requests, 5);
    assert_eq!(card.total.counts.energy, Millijoules::new(750.0));
}

/// A request that ends exactly at its deadline scores 1/2 and is on time; 1 ns later it is a miss.
#[test]
fn a_result_on_the_deadline_is_in_time() {
    for (latency_ns, misses) in [(100_000_000, 0), (100_000_001, 10)] {
        let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
        let costs = table(&[vec![(latency_ns, 0.0); 2]]);
        let plan = plan(scenario, costs);
        let card = plan.score(&trace(&plan));
        assert_eq!((card.total.counts.executed, card.total.counts.late), (10, misses));
        assert!((card.total.realtime - 0.5).abs() < 1e-5, "k · 10^-6 ms / 4 at most");
    }
}

#[test]
fn a_model_that_executes_nothing_scores_zero() {
    let scenario = scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]);
    let plan = plan(scenario, table_ms(&[[100.0], [1.0]]));
    let card = plan.score(&trace(&plan));
    let b = card.models[1];
    assert_eq!((b.counts.requests, b.counts.executed), (10, 0));
    assert_eq!([b.realtime, b.energy, b.accuracy, b.qoe, b.score], [0.0; 5]);
    assert_eq!(card.total.qoe, 0.5);
}

#[test]
fn a_model_that_was_never_triggered_has_no_part_unless_it_is_given_one() {
    let models = vec![model("KD", 3.0), triggered_by(0, 0.0, model("SR", 3.0))];
    let mut plan = plan(scenario(Vec::new(), models), table(&[vec![(1, 0.0)], vec![(1, 0.0)]]));
    let trace = trace(&plan);
    for (never_triggered, expected) in
        [(NeverTriggered::Excluded, 1.0), (NeverTriggered::One, 1.0), (NeverTriggered::Zero, 0.5)]
    {
        plan.score.never_triggered = never_triggered;
        let card = plan.score(&trace);
        assert_eq!((card.total.score, card.total.qoe), (expected, expected));
        assert_eq!(card.total.counts.not_triggered, 3);
    }
}

/// 10 FPS: frames 0 to 2 start before 250 ms, frames 3 to 9 are counted.
#[test]
fn frames_of_the_warm_up_are_not_counted() {
    let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
    let mut plan = plan(scenario, table_ms(&[[150.0]]));
    plan.score.warm_up = span_ms(250.0);
    let trace = trace(&plan);
    let counts = plan.score(&trace).total.counts;
    assert_eq!(counts.requests, 7);
    assert_eq!((counts.executed, counts.dropped), (5, 2), "5 and 8 are dropped");
    plan.score.warm_up = span_ms(5000.0);
    assert_eq!(plan.score(&trace).total.score, 0.0);
}

/// Definition 16.
#[test]
fn the_benchmark_score_is_the_mean_over_the_scenarios() {
    assert_eq!(benchmark_score(&[0.5, 0.75, 1.0]), 0.75);
    assert_eq!(benchmark_score(&[]), 0.0);
}

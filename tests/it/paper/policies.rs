//! Order and placement of requests.

use crate::support::runs::*;
use xrsim::scenario::{ActiveModel, InputStream};

/// Both arrive at 0; B is faster on accelerator 0, which A has taken.
#[test]
fn latency_greedy_never_waits_for_a_faster_accelerator() {
    let trace = trace(&plan(
        scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
        table_ms(&[[10.0, 11.0], [1.0, 50.0]]),
    ));
    assert_eq!(execution(&trace, 0, 0), (0, 0.0, 10.0));
    assert_eq!(execution(&trace, 1, 0), (1, 0.0, 50.0));
}

#[test]
fn equally_fast_accelerators_are_taken_from_the_first() {
    let trace = trace(&plan(
        scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
        table_ms(&[[10.0, 10.0, 10.0]; 2]),
    ));
    assert_eq!(execution(&trace, 0, 0), (0, 0.0, 10.0));
    assert_eq!(execution(&trace, 1, 0), (1, 0.0, 10.0));
}

/// The hog arrives at 0 and takes the accelerator until 30. A arrives at 10 with deadline 200, B arrives at
/// 20 with deadline 50: the order by arrival differs from the order by deadline.
fn first_come_or_first_due(scheduler: &str) -> (f64, f64) {
    let delayed =
        |name: &str, ms| InputStream { initial_latency: span_ms(ms), ..sensor(name, 5.0) };
    let due = |ms, model: ActiveModel| model.with_relative_deadline(span_ms(ms));
    let models = vec![
        model("hog", 5.0),
        due(190.0, reading(&[0], model("A", 5.0))),
        due(30.0, reading(&[1], model("B", 5.0))),
    ];
    let streams = vec![delayed("early", 10.0), delayed("late", 20.0)];
    let costs = table_ms(&[[30.0], [5.0], [5.0]]);
    let trace = trace(&by(scheduler, plan(scenario(streams, models), costs)));
    (execution(&trace, 1, 0).1, execution(&trace, 2, 0).1)
}

#[test]
fn latency_greedy_serves_the_first_released_and_edf_the_first_due() {
    assert_eq!(first_come_or_first_due("latency-greedy"), (30.0, 35.0));
    assert_eq!(first_come_or_first_due("edf"), (35.0, 30.0));
}

/// One accelerator, runs of 60 ms. A arrives at 0 and 50, B at 0, C at 60. After A 0, B runs,
/// then C, although A 1 has waited longer.
#[test]
fn round_robin_moves_past_the_model_it_served() {
    let late = InputStream { initial_latency: span_ms(60.0), ..sensor("late", 1.0) };
    let patient = |model: ActiveModel| model.with_relative_deadline(span_ms(500.0));
    let models = vec![
        patient(model("A", 20.0)),
        patient(model("B", 1.0)),
        patient(reading(&[0], model("C", 1.0))),
    ];
    let scenario = scenario(vec![late], models);
    let plan = lasting_ms(100.0, plan(scenario, table_ms(&[[60.0]; 3])));
    let starts = |scheduler: &str| {
        let trace = trace(&by(scheduler, plan.clone()));
        [(0, 0), (1, 0), (2, 0), (0, 1)].map(|(m, frame)| execution(&trace, m, frame).1)
    };
    assert_eq!(starts("round-robin"), [0.0, 60.0, 120.0, 180.0]);
    assert_eq!(starts("latency-greedy"), [0.0, 60.0, 180.0, 120.0]);
}

/// Accelerator 1 is faster, and idle.
#[test]
fn round_robin_takes_the_first_idle_accelerator() {
    let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
    let trace = trace(&by("round-robin", plan(scenario, table_ms(&[[20.0, 10.0]]))));
    assert_eq!(execution(&trace, 0, 0), (0, 0.0, 20.0));
}

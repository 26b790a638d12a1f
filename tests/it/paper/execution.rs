//! Execution of requests: when each one runs, waits, is dropped or replaced.

use super::idle_plan;
use crate::support::runs::*;
use xrsim::ids::AccelId;
use xrsim::plan::{DeadlineMiss, PlanError};
use xrsim::scenario::InputStream;
use xrsim::trace::{Attempt, DropReason, Outcome};
use xrsim::units::SimTime;

/// Social interaction A (section 3.6, Figure 3): eye segmentation and gaze estimation at 60 FPS,
/// hand tracking and depth refinement at 30 FPS; the lidar is 1 ms later than the camera.
///
/// At 0 the fast accelerator 0 takes ES (the earlier deadline), 1 takes HT. DR arrives at 1 and
/// finds both busy. At 4 GE may start: it arrived before DR, so it runs first. At 7 DR follows.
#[test]
fn the_deep_dive_example_runs_as_drawn_by_hand() {
    let lidar = InputStream { initial_latency: span_ms(1.0), ..sensor("lidar", 60.0) };
    let trace = trace(&plan(
        scenario(
            vec![sensor("camera", 60.0), lidar],
            vec![
                reading(&[0], model("ES", 60.0)),
                after(0, reading(&[0], model("GE", 60.0))),
                reading(&[0], model("HT", 30.0)),
                reading(&[0, 1], model("DR", 30.0)),
            ],
        ),
        table_ms(&[[4.0, 6.0], [3.0, 5.0], [10.0, 12.0], [8.0, 7.0]]),
    ));
    assert_eq!(execution(&trace, 0, 0), (0, 0.0, 4.0));
    assert_eq!(execution(&trace, 2, 0), (1, 0.0, 12.0));
    assert_eq!(execution(&trace, 1, 0), (0, 4.0, 7.0));
    assert_eq!(execution(&trace, 3, 0), (0, 7.0, 15.0));
    assert_eq!(execution(&trace, 0, 1), (0, 16.666_666, 20.666_666));
    assert_eq!(execution(&trace, 1, 1), (0, 20.666_666, 23.666_666));
    assert_eq!(execution(&trace, 0, 2), (0, 33.333_333, 37.333_333));
    assert_eq!(execution(&trace, 2, 1), (1, 33.333_333, 45.333_333));
    assert!(trace.records().iter().all(|r| matches!(r.outcome, Outcome::Executed { .. })));
}

fn periodic(latency_ms: f64, n_accelerators: usize, frames: usize) -> Case {
    let costs = vec![vec![(span_ms(latency_ms).ns(), 1e6); n_accelerators]];
    let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
    lasting_ms(100.0 * frames as f64, plan(scenario, table(&costs)))
}

/// Latency L up to the period P = 100 ms: every frame starts on arrival and meets its deadline,
/// L = P exactly on it.
#[test]
fn a_latency_up_to_the_period_meets_every_deadline() {
    for latency_ms in [0.0, 0.001, 37.5, 99.999, 100.0] {
        let plan = periodic(latency_ms, 1, 30);
        let counts = plan.score(&trace(&plan)).total.counts;
        assert_eq!((counts.executed, counts.late), (30, 0), "{latency_ms}");
    }
}

/// L > P on one accelerator: something always waits, so starts are L apart, at 0, L, 2L, … before
/// the last deadline N·P: ceil(N·P/L) are executed, each on the newest frame, the rest dropped.
#[test]
fn a_latency_above_the_period_executes_exactly_what_fits() {
    for (latency_ms, executed) in
        [(150.0, 20), (130.0, 24), (100.001, 30), (300.0, 10), (299.0, 11)]
    {
        let plan = periodic(latency_ms, 1, 30);
        let counts = plan.score(&trace(&plan)).total.counts;
        assert_eq!((counts.executed, counts.dropped), (executed, 30 - executed), "{latency_ms}");
        assert_eq!(counts.late, executed, "each takes longer than a period");
    }
}

/// L = 150: frame 0 runs to 150, frame 1 to 300; then frame 2 is dropped as frame 3 arrives.
#[test]
fn a_latency_of_one_and_a_half_periods_loses_every_third_frame() {
    let trace = trace(&periodic(150.0, 1, 30));
    assert_eq!(execution(&trace, 0, 1), (0, 150.0, 300.0));
    assert_eq!(dropped(&trace, 0, 2), (300.0, DropReason::Deadline));
    assert_eq!(execution(&trace, 0, 3), (0, 300.0, 450.0));
    assert_eq!(dropped(&trace, 0, 29), (3000.0, DropReason::Deadline));
}

/// n accelerators keep up with L ≤ n·P, frame j on accelerator j mod n where L > (n − 1)·P.
#[test]
fn n_accelerators_keep_up_with_n_periods() {
    for (latency_ms, n) in [(150.0, 2), (200.0, 2), (250.0, 3), (400.0, 4)] {
        let trace = trace(&periodic(latency_ms, n, 30));
        for frame in 0..30 {
            let start_ms = 100.0 * frame as f64;
            let expected = (frame % n, start_ms, start_ms + latency_ms);
            assert_eq!(execution(&trace, 0, frame), expected);
        }
    }
}

/// L > n·P: accelerator k starts at k·P, k·P + L, … before N·P, so the executed frames are
/// sum over k < n of ceil((N − k)·P/L).
#[test]
fn n_overloaded_accelerators_execute_exactly_what_fits() {
    for (latency_us, n) in [(250_000u64, 2), (333_000, 3), (990_000, 4), (201_000, 2)] {
        let plan = periodic(latency_us as f64 / 1e3, n, 30);
        let counts = plan.score(&trace(&plan)).total.counts;
        let fits = |k: u64| ((30 - k) * 100_000).div_ceil(latency_us);
        let executed: u64 = (0..n as u64).map(fits).sum();
        assert_eq!(counts.executed, executed, "{latency_us} on {n}");
        assert_eq!(counts.requests, 30);
    }
}

/// A period is 100 ms; the first model takes the whole period.
#[test]
fn a_request_that_waits_is_dropped_at_its_deadline_and_not_started() {
    let trace = trace(&plan(
        scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
        table_ms(&[[100.0], [1.0]]),
    ));
    for frame in 0..10 {
        let start_ms = 100.0 * frame as f64;
        assert_eq!(execution(&trace, 0, frame), (0, start_ms, start_ms + 100.0));
        assert_eq!(dropped(&trace, 1, frame), (start_ms + 100.0, DropReason::Deadline));
    }
}

#[test]
fn a_grace_keeps_waiting_requests_beyond_their_deadline() {
    let mut plan = plan(
        scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
        table_ms(&[[150.0], [1.0]]),
    );
    plan.load.duration = span_ms(100.0);
    assert_eq!(dropped(&trace(&plan), 1, 0), (100.0, DropReason::Deadline));
    plan.engine.grace = span_ms(50.0);
    assert_eq!(dropped(&trace(&plan), 1, 0), (150.0, DropReason::Deadline));
    plan.engine.grace = span_ms(50.001);
    assert_eq!(execution(&trace(&plan), 1, 0), (0, 150.0, 151.0));
}

/// At its deadline the request has run 100 of 150 ms and spent two thirds of its 1 mJ.
#[test]
fn late_runs_can_be_aborted_at_their_deadline() {
    let mut plan = periodic(150.0, 1, 3);
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    let trace = trace(&plan);
    for frame in 0..3 {
        let Outcome::Dropped { at, reason, energy, attempt } = record(&trace, 0, frame).outcome
        else {
            panic!("aborted")
        };
        assert_eq!((at, reason), (at_ms(100.0 * (frame + 1) as f64), DropReason::Aborted));
        assert!((energy.get() - 2.0 / 3.0).abs() < 1e-12, "one division and one product");
        let (accelerator, start) = (AccelId::new(0), at_ms(100.0 * frame as f64));
        assert_eq!(attempt, Some(Attempt { accelerator, start }));
    }
    assert!((plan.score(&trace).total.counts.energy.get() - 2.0).abs() < 1e-12);
}

#[test]
fn a_run_that_ends_on_its_deadline_is_not_aborted() {
    let mut plan = periodic(100.0, 1, 3);
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    assert_eq!(execution(&trace(&plan), 0, 2), (0, 200.0, 300.0));
}

/// Deadlines of 1 s, runs of 250 ms. While frame 0 runs, frame 2 replaces 1; while frame 2 runs,
/// frame 4 replaces 3, and frame 5, which arrives as frame 2 ends, replaces 4.
#[test]
fn a_newer_frame_can_replace_a_waiting_older_one() {
    let patient = model("A", 10.0).with_relative_deadline(span_ms(1000.0));
    let scenario = scenario(Vec::new(), vec![patient]);
    let mut plan = lasting_ms(600.0, plan(scenario, table_ms(&[[250.0]])));
    plan.engine.replace_by_newer = true;
    let trace = trace(&plan);
    assert_eq!(execution(&trace, 0, 0), (0, 0.0, 250.0));
    assert_eq!(dropped(&trace, 0, 1), (200.0, DropReason::Replaced));
    assert_eq!(execution(&trace, 0, 2), (0, 250.0, 500.0));
    assert_eq!(dropped(&trace, 0, 3), (400.0, DropReason::Replaced));
    assert_eq!(dropped(&trace, 0, 4), (500.0, DropReason::Replaced));
    assert_eq!(execution(&trace, 0, 5), (0, 500.0, 750.0));
}

/// The explicit deadline (1 ms after the nominal start) is before the arrival of the sensor frame.
#[test]
fn a_request_whose_deadline_is_over_on_arrival_is_dropped_on_arrival() {
    let hasty = reading(&[0, 1], model("A", 10.0)).with_relative_deadline(span_ms(1.0));
    let late = InputStream { initial_latency: span_ms(2.0), ..sensor("late", 10.0) };
    let trace =
        trace(&plan(scenario(vec![sensor("prompt", 10.0), late], vec![hasty]), table_ms(&[[1.0]])));
    assert_eq!(dropped(&trace, 0, 0), (2.0, DropReason::Deadline));
}

#[test]
fn a_latency_that_never_ends_still_ends_the_run() {
    let costs = table(&[vec![(u64::MAX, 1.0)]]);
    let trace = trace(&plan(scenario(Vec::new(), vec![model("A", 10.0)]), costs));
    let Outcome::Executed { end, .. } = record(&trace, 0, 0).outcome else {
        panic!("it was started")
    };
    assert_eq!(end, SimTime::MAX);
    assert_eq!(dropped(&trace, 0, 9), (1000.0, DropReason::Deadline));
}

/// One arrival and one end for each of 20 requests.
#[test]
fn events_are_arrivals_completions_and_expiries() {
    let scenario = scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]);
    assert_eq!(run(&plan(scenario, table_ms(&[[100.0], [1.0]]))).events, 40);
}

#[test]
fn costs_of_another_plan_are_refused() {
    let good = idle_plan(six_models());
    assert_eq!(good.check(&good.costs), Ok(()));
    let other = table_ms(&[[1.0, 2.0]]);
    let (found, wanted) = ((1, 2), (6, 1));
    assert_eq!(good.check(&other), Err(PlanError::CostTable { found, wanted }));
}

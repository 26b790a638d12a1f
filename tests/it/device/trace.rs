//! The device in traces and in the rows of requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ledger::case;
use super::play;
use crate::support::layers::stream;
use crate::support::runs::{self, Case, lasting_ms, model, reading, sensor, table_ms};

use serde_json::Value;
use xrsim::engine;
use xrsim::ids::{AccelId, PointId};
use xrsim::report::RunLabel;
use xrsim::report::trace_events;
use xrsim::scenario::{Dwells, Gate, InputStream, Scenario};
use xrsim::sweep::run_at_costs;
use xrsim::trace::Outcome;

/// The instants of [`super::ledger`]: 0, gated after 5.4 ms, 700 MHz from 10 ms on, gated after 16.262858 ms.
#[test]
fn a_trace_has_the_points_of_accelerators_and_when_they_are_gated() {
    let requests = stream(&[(0, 0, 9_000_000), (0, 10_000_000, 19_000_000)]);
    let case = case();
    let run = play(&case, &requests);
    let changes = run.trace.points().of(AccelId::new(0));
    let found: Vec<_> = changes.iter().map(|it| (it.at.ns(), it.point)).collect();
    let [slow, fast] = [0, 1].map(|index| Some(PointId::new(index)));
    let expected = [(0, fast), (5_400_000, None), (10_000_000, slow), (16_262_858, None)];
    assert_eq!(found, expected);
    let points: Vec<_> =
        run.trace.busy_intervals().map(|it| run.trace.points().during(&it)).collect();
    assert_eq!(points, [fast, slow]);
    assert!(run.trace.points().of(AccelId::new(1)).is_empty());
    let mut n_requests = 0;
    let played = engine::play(&case, &case.costs, (&requests).into(), &mut |_| n_requests += 1);
    assert_eq!((played.expect("it runs").ledger, n_requests), (run.ledger, 2));
}

/// Events of a trace.
fn events(case: &Case) -> Vec<Value> {
    let result = run_at_costs(case, Arc::clone(&case.costs)).expect("the run is feasible");
    let mut text = Vec::new();
    let label = RunLabel::from_plan(case, "given");
    trace_events::write(&mut text, case, &label, &result).expect("a vector grows");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    document["traceEvents"].as_array().expect("a list of events").clone()
}

/// Values of the counters of the device by name, over time [us].
fn counters(case: &Case) -> BTreeMap<String, Vec<(f64, f64)>> {
    let events = events(case);
    let is_of = |event: &&Value, kind: &str| event["ph"] == kind && event["pid"] == 4;
    let group = events.iter().find(|event| is_of(event, "M") && event["name"] == "process_name");
    let group = group.and_then(|it| it["args"]["name"].as_str());
    assert_eq!(group, case.plan.device.as_ref().map(|_| "device"));
    let mut counters = BTreeMap::<_, Vec<_>>::new();
    for event in events.iter().filter(|event| is_of(event, "C")) {
        let (unit, value) =
            event["args"].as_object().and_then(|it| it.iter().next()).expect("a value");
        let sample = (event["ts"].as_f64().expect("a time"), value.as_f64().expect("a number"));
        let name = format!("{} {unit}", event["name"].as_str().expect("a name"));
        counters.entry(name).or_default().push(sample);
    }
    counters
}

/// A scenario of one model that reads a camera of 100 FPS.
fn scenario() -> Arc<Scenario> {
    let model = reading(&[0], model("HT", 100.0));
    Arc::new(runs::scenario(vec![sensor("camera", 100.0)], vec![model]))
}

#[test]
fn the_counters_of_a_device_have_its_clocks_and_its_energy() {
    let mut case = case();
    case.plan.scenario = scenario();
    let counters = counters(&case);
    let clock = "clock accelerator 0 [MHz]";
    let items = ["base", "dram background", "dynamic", "gated", "idle", "leak running", "wake"];
    let items = items.map(|item| format!("power {item} [W]"));
    // Nothing is moved before a segment.
    let mut expected: Vec<&str> = items.iter().map(String::as_str).collect();
    expected.extend(["age HT [ms]", clock, "power [W]"]);
    expected.sort_unstable();
    assert_eq!(counters.keys().collect::<Vec<_>>(), expected);
    let clock = &counters[clock];
    assert_eq!(clock[0], (0.0, 1000.0));
    assert!(clock.iter().all(|(_, mhz)| [0.0, 700.0, 1000.0].contains(mhz)), "{clock:?}");
    // The mean power of each sample holds until the next one.
    let power = &counters["power [W]"];
    let result = runs::run(&case);
    let ledger = result.ledger.expect("there is a device");
    let end = ledger.duration().ns() as f64 / 1e3;
    let ends = power.iter().skip(1).map(|sample| sample.0).chain([end]);
    let joules: f64 = power.iter().zip(ends).map(|(it, end)| it.1 * (end - it.0) / 1e6).sum();
    let expected = ledger.total_microjoules() / 1e6;
    assert!((joules - expected).abs() < 1e-9 * expected, "{joules} {expected}");
    assert_eq!(power[0].0, 0.0);
    // The items of every sample make its power.
    for (at, (time, watts)) in power.iter().enumerate() {
        assert!(items.iter().all(|item| counters[item][at].0 == *time));
        let sum: f64 = items.iter().map(|item| counters[item][at].1).sum();
        assert!((sum - watts).abs() < 1e-9 * watts, "{sum} {watts}");
    }
}

/// Frames arrive at 0 and 10 ms and take more than 2.1 ms, so that the age of each at its end is the time since its arrival.
#[test]
fn an_age_rises_with_time_and_falls_with_a_result() {
    let mut case = case();
    case.plan.scenario = scenario();
    let ages = &counters(&case)["age HT [ms]"];
    let ends: Vec<f64> = runs::run(&case)
        .trace
        .records()
        .iter()
        .filter_map(|it| match it.outcome {
            Outcome::Executed { end, .. } => Some(end.as_ms()),
            _ => None,
        })
        .collect();
    let [first, second] = ends[..] else { panic!("{ends:?}") };
    // Four samples for each result, in equal distances of whole nanoseconds.
    let close = |a: f64, b: f64| (a - b).abs() < 4e-6;
    assert_eq!(ages.len(), 8);
    for (index, (us, age)) in ages.iter().enumerate() {
        let ms = us / 1e3;
        assert!(close(*age, if index < 4 { ms } else { ms - 10.0 }), "{ages:?}");
    }
    assert!(close(ages[0].0 / 1e3, first) && close(ages[4].0 / 1e3, second), "{ages:?}");
    assert!(close(ages[2].1, (first + second) / 2.0), "{ages:?}");
}

#[test]
fn a_model_without_data_has_no_age() {
    let mut case = case();
    case.plan.scenario = Arc::new(runs::scenario(Vec::new(), vec![model("HT", 100.0)]));
    let counters = counters(&case);
    assert!(counters.contains_key("power [W]"));
    assert!(!counters.keys().any(|name| name.starts_with("age ")), "{:?}", counters.keys());
}

/// A camera of 100 FPS that is off from 5 to 9 ms, and from 14 to 18 ms.
#[test]
fn closed_gates_are_slices_of_a_track_each() {
    let ms = runs::span_ms;
    let dwells = Dwells::Recorded([(ms(5.0), ms(4.0))].into());
    let gate = Some(Gate { name: "hands".into(), dwells });
    let camera = InputStream { gate, ..sensor("camera", 100.0) };
    let scenario = runs::scenario(vec![camera], vec![reading(&[0], model("HT", 100.0))]);
    let case = lasting_ms(20.0, runs::plan(scenario, table_ms(&[[5.0]])));
    let events = events(&case);
    let closed = events.iter().filter(|it| it["cat"] == "gate");
    let times: Vec<_> = closed.map(|it| [&it["ts"], &it["dur"]].map(Value::as_f64)).collect();
    assert_eq!(times, [[Some(5e3), Some(4e3)], [Some(14e3), Some(4e3)]]);
    let names = events.iter().filter(|it| it["name"] == "thread_name" && it["pid"] == 5);
    let names: Vec<_> = names.map(|it| &it["args"]["name"]).collect();
    assert_eq!(names, ["gate hands"]);
}

#[test]
fn a_run_without_a_device_has_no_group_of_one() {
    let scenario = Arc::unwrap_or_clone(scenario());
    let case = lasting_ms(200.0, runs::plan(scenario, table_ms(&[[5.0]])));
    assert!(counters(&case).is_empty());
    let run = runs::run(&case);
    assert!(run.trace.points().of(AccelId::new(0)).is_empty());
    assert!(run.trace.busy_intervals().all(|it| run.trace.points().during(&it).is_none()));
}

//! Traces in the trace-event format, read back as a viewer reads them. Every reading also checks the rules
//! of the format: slices of a track nest, arrows start and end in slices, tracks have names.

use crate::support::binary;
use crate::support::layers;
use crate::support::runs;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use binary::{path, stderr, xrsim};
use runs::*;
use serde_json::Value;
use xrsim::ids::RequestId;
use xrsim::plan::{DeadlineMiss, Semantics};
use xrsim::report::RunLabel;
use xrsim::report::trace_events::{self, Summary};
use xrsim::scenario::ActiveModel;
use xrsim::sweep::{RunResult, run_at_costs};
use xrsim::trace::{Outcome, Trace};
use xrsim::units::SimTime;

/// A slice or an instant: track, name, start and end [ns].
#[derive(Debug, Clone, PartialEq)]
struct Span {
    track: String,
    name: String,
    start: u64,
    end: u64,
    args: Value,
}

/// A document as a viewer sees it.
struct View {
    slices: Vec<Span>,
    /// Events without length.
    instants: Vec<Span>,
    /// Kind, and the names of the slices at both ends.
    arrows: Vec<(String, String, String)>,
    /// Values by counter, over time [ns].
    counters: BTreeMap<String, Vec<(u64, f64)>>,
    tracks: Vec<String>,
}

impl View {
    fn parse(text: &[u8]) -> Self {
        let document: Value = serde_json::from_slice(text).expect("the document is JSON");
        let events = document["traceEvents"].as_array().expect("a list of events");
        let of_kind = |kind: &'static str| events.iter().filter(move |event| event["ph"] == kind);
        let (tracks, names) = tracks(events);
        let span = |event: &Value| {
            let (start, length) = (ns(&event["ts"]), event["dur"].as_f64().map_or(0, to_ns));
            Span {
                track: names[&place(event)].clone(),
                name: text_of(&event["name"]),
                start,
                end: start + length,
                args: event["args"].clone(),
            }
        };
        let slices: Vec<Span> = of_kind("X").map(span).collect();
        let mut view = Self {
            instants: of_kind("i").map(span).collect(),
            arrows: arrows(of_kind("s"), of_kind("f"), &slices, &names),
            counters: BTreeMap::new(),
            slices,
            tracks,
        };
        for event in of_kind("C") {
            let args = event["args"].as_object().expect("a counter has values");
            let (unit, value) = args.iter().next().expect("a value");
            let name = format!("{} {unit}", text_of(&event["name"]));
            let sample = (ns(&event["ts"]), value.as_f64().expect("a number"));
            view.counters.entry(name).or_default().push(sample);
        }
        let known = ["X", "i", "s", "f", "C", "M"].map(|kind| of_kind(kind).count());
        assert_eq!(known.iter().sum::<usize>(), events.len(), "no event of another kind");
        view.check();
        view
    }

    /// Slices of a track do not overlap, and counters go forward.
    fn check(&self) {
        let mut by_track: HashMap<&str, Vec<&Span>> = HashMap::new();
        for slice in &self.slices {
            by_track.entry(&slice.track).or_default().push(slice);
        }
        for slices in by_track.values_mut() {
            slices.sort_by_key(|slice| (slice.start, slice.end));
            for pair in slices.windows(2) {
                assert!(pair[0].end <= pair[1].start, "{pair:?}");
            }
        }
        for samples in self.counters.values() {
            assert!(samples.windows(2).all(|pair| pair[0].0 < pair[1].0), "{samples:?}");
            assert!(samples.iter().all(|sample| sample.1 >= 0.0), "{samples:?}");
        }
    }

    /// Name, start and end \[ms\] of the slices of a track.
    fn on(&self, track: &str) -> Vec<(&str, f64, f64)> {
        let slices = self.slices.iter().filter(|slice| slice.track == track);
        slices.map(|it| (&*it.name, it.start as f64 / 1e6, it.end as f64 / 1e6)).collect()
    }

    /// Name and time \[ms\] of the instants of a track.
    fn marks(&self, track: &str) -> Vec<(&str, f64)> {
        let instants = self.instants.iter().filter(|instant| instant.track == track);
        instants.map(|it| (&*it.name, it.start as f64 / 1e6)).collect()
    }

    /// A counter summed over time \[value x s\].
    fn integral(&self, counter: &str) -> f64 {
        let pairs = self.counters[counter].windows(2);
        pairs.map(|pair| pair[0].1 * (pair[1].0 - pair[0].0) as f64 / 1e9).sum()
    }

    fn counter_ms(&self, counter: &str) -> Vec<(f64, f64)> {
        self.counters[counter].iter().map(|&(at, value)| (at as f64 / 1e6, value)).collect()
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().expect("text").to_string()
}

/// Microseconds with three decimals as nanoseconds; other numbers fail.
fn to_ns(us: f64) -> u64 {
    let ns = (us * 1e3).round();
    assert_eq!(ns / 1e3, us, "a whole number of nanoseconds");
    ns as u64
}

fn ns(us: &Value) -> u64 {
    to_ns(us.as_f64().expect("a time"))
}

type Place = (u64, u64);

fn place(event: &Value) -> Place {
    let number = |key: &str| event[key].as_u64().expect("a number");
    (number("pid"), number("tid"))
}

/// Names of all tracks, in their order and by number.
fn tracks(events: &[Value]) -> (Vec<String>, HashMap<Place, String>) {
    let meta = |name: &'static str| {
        events.iter().filter(move |event| event["ph"] == "M" && event["name"] == name)
    };
    let group = |pid: u64| {
        let found = meta("process_name").find(|event| event["pid"] == pid);
        text_of(&found.expect("every group has a name")["args"]["name"])
    };
    let name =
        |event: &Value| format!("{}/{}", group(place(event).0), text_of(&event["args"]["name"]));
    let names: HashMap<_, _> =
        meta("thread_name").map(|event| (place(event), name(event))).collect();
    let group_order = |event: &Value| {
        let mut orders = meta("process_sort_index");
        let order = orders.find(|it| it["pid"] == event["pid"]).expect("an order of groups");
        order["args"]["sort_index"].as_u64()
    };
    let order = |event: &Value| (group_order(event), event["args"]["sort_index"].as_u64());
    let mut sorted: Vec<_> = meta("thread_sort_index").collect();
    sorted.sort_by_key(|event| order(event));
    (sorted.into_iter().map(|event| names[&place(event)].clone()).collect(), names)
}

fn arrows<'a>(
    starts: impl Iterator<Item = &'a Value>,
    ends: impl Iterator<Item = &'a Value>,
    slices: &[Span],
    names: &HashMap<Place, String>,
) -> Vec<(String, String, String)> {
    let around = |event: &Value| {
        let (at, track) = (ns(&event["ts"]), &names[&place(event)]);
        let holds = |it: &&Span| it.start <= at && (at < it.end || at == it.start);
        let found = slices.iter().filter(|slice| slice.track == *track).find(holds);
        found.unwrap_or_else(|| panic!("{event} is in no slice"))
    };
    let ends: HashMap<u64, &Value> =
        ends.map(|end| (end["id"].as_u64().expect("an id"), end)).collect();
    let arrow = |start: &Value| {
        let end = ends[&start["id"].as_u64().expect("an id")];
        assert!(ns(&start["ts"]) <= ns(&end["ts"]), "{start} {end}");
        assert_eq!(
            (&end["bp"], &end["name"], &end["cat"]),
            (&"e".into(), &start["name"], &start["cat"])
        );
        (text_of(&start["name"]), around(start).name.clone(), around(end).name.clone())
    };
    let arrows: Vec<_> = starts.map(arrow).collect();
    assert_eq!(arrows.len(), ends.len(), "every end has its start");
    arrows
}

/// A run, its document and the view of it.
struct Made {
    result: RunResult,
    summary: Summary,
    view: View,
}

fn made_by(plan: &Case, semantics: Semantics) -> Made {
    let by_rules = under(semantics, plan);
    let result = run_at_costs(&by_rules, Arc::clone(&plan.costs)).expect("the run is feasible");
    let mut text = Vec::new();
    let label = RunLabel::from_plan(&by_rules, "given");
    let summary =
        trace_events::write(&mut text, &by_rules, &label, &result).expect("a vector grows");
    assert_eq!(summary.bytes, text.len() as u64);
    Made { result, summary, view: View::parse(&text) }
}

fn made(plan: &Case) -> Made {
    made_by(plan, Semantics::Principled)
}

/// A (60 ms) and B (50 ms) arrive together on one accelerator, 1 mJ each; B ends at 110 ms.
#[test]
fn executions_waits_deadlines_and_power_are_where_they_belong() {
    let models = vec![model("A", 10.0), model("B", 10.0)];
    let plan = plan(scenario(vec![], models), table_ms(&[[60.0], [50.0]]));
    let view = made(&lasting_ms(50.0, plan)).view;
    assert_eq!(
        view.tracks,
        [
            "accelerators/accelerator 0",
            "model queues/A",
            "model queues/B",
            "request deadlines/A",
            "request deadlines/B"
        ]
    );
    let ran = [("A:0", 0.0, 60.0), ("B:0 (late)", 60.0, 110.0)];
    assert_eq!(view.on("accelerators/accelerator 0"), ran);
    assert_eq!(view.on("model queues/A"), [], "it started at once");
    assert_eq!(view.on("model queues/B"), [("B:0", 0.0, 60.0)]);
    assert_eq!(view.marks("request deadlines/A"), [("A:0 met", 100.0)]);
    assert_eq!(view.marks("request deadlines/B"), [("B:0 missed", 100.0)]);
    assert_eq!(view.counter_ms("B waiting requests"), [(0.0, 1.0), (60.0, 0.0)]);
    // 1 mJ in 60 ms, then in 50 ms.
    let watts = [(0.0, 1.0 / 60.0), (60.0, 1.0 / 50.0), (110.0, 0.0)];
    assert_eq!(view.counter_ms("power of accelerator 0 W"), watts);
    assert_eq!(view.counter_ms("power of all W"), watts);
    let late = view.slices.iter().find(|slice| slice.name == "B:0 (late)").expect("it ran");
    assert_eq!(late.args["cause"], "accelerator: 60.000 ms behind A:0 on accelerator 0");
    assert_eq!((&late.args["energy_mj"], &late.args["end_ms"]), (&1.0.into(), &110.0.into()));
}

/// A runs until 30 ms, is preempted by B, and continues at 80.
#[test]
fn a_request_that_was_cut_shows_its_pieces_and_waits_in_between() {
    let view = made(&layers::preempted()).view;
    let ran = [("A:0 (late)", 0.0, 30.0), ("B:0", 30.0, 80.0), ("A:0 (late)", 80.0, 110.0)];
    assert_eq!(view.on("accelerators/accelerator 0"), ran);
    assert_eq!(view.on("model queues/A"), [("A:0", 30.0, 80.0)]);
    assert_eq!(view.counter_ms("A waiting requests"), [(0.0, 0.0), (30.0, 1.0), (80.0, 0.0)]);
    let segments: Vec<_> = view.slices.iter().filter(|it| it.name == "A:0 (late)").collect();
    assert_eq!(
        (&segments[0].args["segment"], &segments[0].args["layers"]),
        (&"1 of 2".into(), &"0..1".into())
    );
    // 30 ms at 1 nJ/ns in each.
    assert_eq!(
        segments.iter().map(|it| it.args["energy_mj"].as_f64()).collect::<Vec<_>>(),
        [Some(30.0); 2]
    );
}

/// D follows A by data, C by control.
#[test]
fn arrows_go_from_results_to_what_used_them() {
    let models =
        vec![model("A", 10.0), triggered_by(0, 1.0, model("C", 10.0)), after(0, model("D", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[10.0], [10.0], [10.0]]));
    let arrows = made(&lasting_ms(50.0, plan)).view.arrows;
    let arrow = |kind: &str, to: &str| (kind.to_string(), "A:0".to_string(), to.to_string());
    assert_eq!(arrows, [arrow("control", "C:0"), arrow("data", "D:0")]);
}

/// X keeps the accelerator; A is dropped at 100 ms, and B with it.
#[test]
fn arrows_go_from_drops_to_what_they_took_along() {
    let models = vec![model("X", 10.0), model("A", 10.0), after(1, model("B", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[300.0], [1.0], [1.0]]));
    let view = made(&lasting_ms(50.0, plan)).view;
    assert_eq!(view.arrows, [("drop".to_string(), "A:0".to_string(), "B:0".to_string())]);
    // Within the slice that the drop ends.
    let just_before = 100.0 - 1e-6;
    assert_eq!(view.marks("model queues/A"), [("A:0 dropped: deadline", just_before)]);
    assert_eq!(view.marks("model queues/B"), [("B:0 dropped: upstream", just_before)]);
}

/// At its deadline the run has used 100 of 150 ms, and as much of 1 mJ.
#[test]
fn aborted_runs_are_on_their_accelerator() {
    let mut plan = plan(scenario(vec![], vec![model("A", 10.0)]), table_ms(&[[150.0]]));
    plan.engine.deadline_miss = DeadlineMiss::Abort;
    let view = made(&lasting_ms(50.0, plan)).view;
    assert_eq!(view.on("accelerators/accelerator 0"), [("A:0 (aborted)", 0.0, 100.0)]);
    let energy_mj = view.integral("power of all W") * 1e3;
    assert!((energy_mj - 2.0 / 3.0).abs() < 1e-12, "{energy_mj}: sums and products of three");
}

/// Deadlines of 400 ms; three frames wait for X at the same time.
#[test]
fn frames_that_wait_together_are_on_lanes_of_their_own() {
    let due = |ms, model: ActiveModel| model.with_relative_deadline(span_ms(ms));
    let models = vec![due(50.0, model("X", 1.0)), due(400.0, model("A", 10.0))];
    let plan = plan(scenario(vec![], models), table_ms(&[[250.0], [1.0]]));
    let view = made(&lasting_ms(250.0, plan)).view;
    assert_eq!(view.on("model queues/A"), [("A:0", 0.0, 250.0)]);
    assert_eq!(view.on("model queues/A +1"), [("A:1", 100.0, 251.0)]);
    assert_eq!(view.on("model queues/A +2"), [("A:2", 200.0, 252.0)]);
    let lengths =
        [(0.0, 1.0), (100.0, 2.0), (200.0, 3.0), (250.0, 2.0), (251.0, 1.0), (252.0, 0.0)];
    assert_eq!(view.counter_ms("A waiting requests"), lengths);
}

/// Power over time is energy, and queue length over time is time in the queue.
#[test]
fn counters_add_up_to_the_energy_and_the_waits_of_the_run() {
    let mut plan = plan(six_models(), six_models_table());
    for (late, seed) in [(DeadlineMiss::Finish, 1), (DeadlineMiss::Abort, 2)] {
        (plan.engine.deadline_miss, plan.load.seed) = (late, seed);
        let Made { result, view, summary } = made(&plan);
        let energy_mj = result.scorecard.total.counts.energy.get();
        let drawn_mj = view.integral("power of all W") * 1e3;
        assert!((drawn_mj / energy_mj - 1.0).abs() < 1e-9, "hundreds of roundings at most");
        for model in plan.scenario.models() {
            let task = &model.unit.task;
            let waited_s = view.integral(&format!("{task} waiting requests"));
            let of_model = |it: &&Span| it.track.starts_with(&format!("model queues/{task}"));
            let slices = view.slices.iter().filter(of_model);
            let drawn_s: f64 = slices.map(|it| (it.end - it.start) as f64 / 1e9).sum();
            assert!((waited_s - drawn_s).abs() < 1e-9, "{task}");
        }
        let n_samples: usize = view.counters.values().map(Vec::len).sum();
        let counted = [view.slices.len(), view.arrows.len(), view.instants.len(), n_samples];
        let Summary { slices, arrows, instants, samples, .. } = summary;
        assert_eq!(counted.map(|n| n as u64), [slices, arrows, instants, samples]);
    }
}

#[test]
fn every_result_that_was_used_has_its_arrow() {
    let plan = plan(six_models(), six_models_table());
    let Made { result, view, .. } = made(&plan);
    let stream = requests(&plan);
    let used = stream.requests().iter().enumerate().map(|(index, _)| {
        let id = RequestId::new(index);
        if executed(&result.trace, id) { stream.upstream(id).len() } else { 0 }
    });
    let of_results = view.arrows.iter().filter(|arrow| arrow.0 != "drop").count();
    assert_eq!(of_results, used.sum::<usize>());
    assert!(view.arrows.iter().all(|(_, from, to)| {
        let pair = (from.split(':').next(), to.split(':').next());
        [(Some("ES"), Some("GE")), (Some("KD"), Some("SR"))].contains(&pair)
    }));
}

fn executed(trace: &Trace, id: RequestId) -> bool {
    matches!(trace.record(id).outcome, Outcome::Executed { .. })
}

/// The artifact overlaps jobs by up to 0.01 ms and loses unfinished requests at the end; [`View`]
/// refuses overlaps and arrows to the past.
#[test]
fn runs_of_the_artifact_are_drawn_without_overlaps() {
    let mut n_arrows = 0;
    for (first, second) in [(15.995, 3.0), (20.0, 5.0), (7.999, 7.999)] {
        let models = vec![model("A", 60.0), after(0, model("B", 60.0)), model("C", 45.0)];
        let costs = table_ms(&[[first, 30.0], [second, 9.0], [11.0, 13.0]]);
        let Made { result, view, .. } =
            made_by(&plan(scenario(vec![], models), costs), Semantics::Mlsys2023);
        let records = result.trace.records();
        let is_lost = |it: &Outcome| matches!(it, Outcome::Lost { attempt: Some(_) });
        let lost = records.iter().filter(|record| is_lost(&record.outcome)).count();
        let drawn = view.slices.iter().filter(|slice| slice.name.ends_with("(lost)")).count();
        assert_eq!(drawn, lost);
        n_arrows += view.arrows.len();
        let starts = view.slices.iter().map(|slice| SimTime::from_ns(slice.start));
        assert!(starts.max() <= records.iter().map(|record| record.deadline).max());
    }
    assert!(n_arrows > 20, "{n_arrows}");
}

#[test]
fn the_trace_of_one_run_is_written_whole() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = path(&folder, "run.json");
    let run =
        ["run", "--scenario", "VR_gaming", "--system", "J", "--pes", "4096", "--trace", &file];
    let started = Instant::now();
    let assert = xrsim(&run).assert().success();
    let took = started.elapsed();
    let said = stderr(&assert);
    let text = fs::read(&file).expect("the trace was written");
    let started = Instant::now();
    let view = View::parse(&text);
    println!(
        "VR_gaming on J: {} slices, {} arrows, {} KiB, run and written in {took:?}, read in {:?}",
        view.slices.len(),
        view.arrows.len(),
        text.len() / 1024,
        started.elapsed()
    );
    assert!(said.contains(&format!("{} slices, {} arrows", view.slices.len(), view.arrows.len())));
    // 60 of ES and GE each, 45 of HT, none of them late or dropped on so large a system.
    let ran = view.slices.iter().filter(|slice| slice.track.starts_with("accelerators")).count();
    assert_eq!((ran, view.arrows.len()), (165, 60));
    let again = xrsim(&run).assert().success();
    assert!(!again.get_output().stdout.is_empty(), "the table of scores is printed as always");
    assert_eq!(fs::read(&file).expect("it was written again"), text, "the same bytes");
}

#[test]
fn a_trace_of_several_runs_is_refused_and_a_file_in_the_way_too() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = path(&folder, "run.json");
    fs::write(&file, "precious").expect("a file can be written");
    let refused = |run: &[&str]| {
        let assert = xrsim(run).assert().code(2);
        assert_eq!(fs::read_to_string(&file).expect("it is still there"), "precious");
        stderr(&assert)
    };
    let message = refused(&["run", "--scenario", "AR_gaming", "--trace", &file]);
    assert!(message.contains("--trace takes one run, and this command makes 26"), "{message}");
    let run = ["run", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let message = refused(&[&run[..], &["--replications", "3", "--trace", &file]].concat());
    assert!(message.contains("makes 3"), "{message}");
    let message = refused(&[&run[..], &["--trace", &path(&folder, "")]].concat());
    assert!(message.contains("cannot write"), "{message}");
}

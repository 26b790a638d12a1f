//! Sequences: costs of their steps against closed forms, and their runs.

use crate::support::binary;

use std::sync::Arc;

use xrsim::config::{Catalog, Edition, Hardware, Source};
use xrsim::cost::CostModel as _;
use xrsim::cost::NetworkCost;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::hardware::{Accelerator, Flexibility};
use xrsim::ids::RequestId;
use xrsim::report::why::{Part, Why};
use xrsim::scenario::{cache_bytes, weight_bytes};
use xrsim::trace::{Outcome, Record};
use xrsim::units::SimTime;
use xrsim::{Experiment, Plan, RunResult, Scenario};

/// An accelerator of style A with 4096 PEs on the platform `headset`.
fn accelerator() -> Accelerator {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("headset").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware("A") else { panic!("A is a style") };
    let system = style.instantiate(4096, &platform).expect("it is a system");
    system.accelerators()[0].clone()
}

fn step(text: &str, new: u32, past: u32, on: &Accelerator) -> (NetworkCost, [u64; 2]) {
    let mut catalog = Catalog::new();
    let reference = match text {
        "" => "assistant_1b",
        _ => {
            catalog.provide(Source::new("net.yaml", text));
            "net.yaml"
        }
    };
    let reference = format!("{reference}:new={new},past={past}");
    let network = catalog.network(&reference).expect("it is a network");
    let bytes = [weight_bytes(&network), cache_bytes(&network)];
    (LoopNest.network(&network, on).expect("it runs"), bytes)
}

/// Products of a decoder with 256 features, of one head.
const PRODUCTS: &str = "network:
  name: products
  parameters: {new: {default: 1}, past: {default: 0, range: [0, 100000]}}
  layers:
    - matmul: {rows: new, c: 256, k: 256}
    - matmul: {rows: new, c: 256, k: 256, from: 0}
    - matmul: {rows: new, c: 256, k: 256, from: 0}
    - batched_matmul: {instances: 1, rows: new, c: 256, k: past + new, from: [1, 0]}
    - batched_matmul: {instances: 1, rows: new, c: past + new, k: 256, from: [1, 0]}
    - matmul: {rows: new, c: 256, k: 1024}
    - matmul: {rows: new, c: 1024, k: 256}
";

/// DRAM sends a byte a cycle without latency, so that it bounds every layer. A step reads 3 · 256² + 2 · 256 · 1024 bytes
/// of weights, 2 · 256 bytes of the cache for each token before it and for its own, writes those of its own, and reads
/// and writes 256 bytes of the first and the last layer. All three first layers read the input.
#[test]
fn a_token_takes_the_time_of_its_weights_and_its_cache_to_the_cycle() {
    let mut on = accelerator();
    (on.memory.dram_bandwidth, on.memory.dram_latency) = (1, 0);
    on.flexibility = Flexibility::None;
    let mut n = 0;
    for past in [0, 1, 63, 64, 100, 1000, 4095] {
        let (cost, [weights, cache]) = step(PRODUCTS, 1, past, &on);
        assert_eq!(weights, 3 * 256 * 256 + 2 * 256 * 1024);
        assert_eq!(cache, 512 * (u64::from(past) + 1));
        let first_and_last = 3 * 256 + 256;
        assert_eq!(cost.cycles.get(), weights + cache + 512 + first_and_last, "{past}");
        n += 1;
    }
    assert_eq!(n, 7);
}

/// Each of the 4096 PEs makes one product a cycle: n tokens take at least n times the weights of all layers but the last
/// one, which computes one token.
#[test]
fn a_prompt_takes_the_time_of_its_products() {
    let on = accelerator();
    let (_, [bytes, _]) = step("", 1, 0, &on);
    let weights = bytes * 2 - 2048 * 32_000;
    for new in [1, 64, 128, 512] {
        let (cost, _) = step("", new, 0, &on);
        assert!(cost.cycles.get() >= u64::from(new) * weights / 4096, "{new}");
    }
}

/// The published sizes, and 22 layers of 4 heads of keys and values of 64 bytes each.
#[test]
fn the_shipped_decoder_has_the_published_parameters() {
    let model = Catalog::new().model("assistant_1b").expect("it is embedded");
    let layers: u64 = model.network.layers().iter().map(|it| it.operator.weights()).sum();
    assert_eq!(layers + model.other_parameters, 1_100_048_384);
    assert_eq!(cache_bytes(&model.network), 22 * 2 * 4 * 64);
}

fn scenario(sequence: &str) -> Arc<Scenario> {
    let text = format!(
        "scenario:\n  name: speaks\n  models:\n    - {{network: HT, fps: 45}}\n    - {{network: assistant_1b, fps: 2, sequence: {{{sequence}}}}}\n"
    );
    let mut catalog = Catalog::new();
    catalog.provide(Source::new("speaks.yaml", text));
    catalog.scenario("speaks.yaml", Edition::Reference).unwrap_or_else(|error| panic!("{error}"))
}

fn run(sequence: &str, set: &[(&str, &str)]) -> (Plan, RunResult) {
    let scenario = Arc::unwrap_or_clone(scenario(sequence));
    let mut experiment = Experiment::new().scenario(scenario).system("A").pes(4096);
    for (key, value) in set {
        experiment = experiment.set(key, value);
    }
    let runs = experiment.run().expect("the description is right");
    let plan = runs[0].plan.clone();
    (plan, runs[0].result().expect("it runs").clone())
}

/// Requests of the assistant in order of frame, with start and token.
fn steps(plan: &Plan, result: &RunResult) -> Vec<(u64, Option<u64>, Record)> {
    let model = &plan.scenario.models()[1];
    let sequence = model.sequence.as_ref().expect("it is a sequence");
    let records = result.trace.records().iter().filter(|it| it.model.index() == 1);
    let mut all: Vec<_> = records
        .map(|it| {
            let (start, token) = sequence.place(it.frame);
            (start, token, *it)
        })
        .collect();
    all.sort_by_key(|it| it.2.frame);
    all
}

fn ran(record: &Record) -> (SimTime, SimTime) {
    match record.outcome {
        Outcome::Executed { start, end, .. } => (start, end),
        other => panic!("{other:?}"),
    }
}

const SHORT: &str =
    "prompt_tokens: 200, new_tokens: 5, ttft_deadline_ms: 300, tpot_deadline_ms: 40";

/// Two starts of two chunks and four further tokens each. A token is due 40 ms after the one before it, or after
/// 300 ms + 40 ms a token; none is dropped, however late.
#[test]
fn tokens_follow_each_other_with_deadlines_of_their_own() {
    for pace in ["chained", "absolute"] {
        let (plan, result) = run(&format!("{SHORT}, pace: {pace}"), &[]);
        let steps = steps(&plan, &result);
        assert_eq!(steps.len(), 12);
        for pair in steps.windows(2) {
            let [(start, _, before), (next, token, record)] = pair else { continue };
            if start != next {
                continue;
            }
            let (begin, _) = ran(record);
            let (_, end) = ran(before);
            assert!(begin >= end && record.arrival == end);
            let first = SimTime::from_ns(start * 500_000_000 + 300_000_000);
            let due = match (token, pace) {
                (None | Some(0), _) => first,
                (Some(_), "chained") => SimTime::from_ns(end.ns() + 40_000_000),
                (Some(token), _) => SimTime::from_ns(first.ns() + token * 40_000_000),
            };
            assert_eq!(record.deadline, due, "{pace} {token:?}");
        }
        let counts = result.scorecard.models[1].counts;
        assert_eq!((counts.requests, counts.executed), (10, 10));
    }
    let (_, late) = run(&SHORT.replace("40", "1"), &[]);
    let counts = late.scorecard.models[1].counts;
    assert_eq!((counts.executed, counts.dropped), (10, 0));
    assert!(counts.late >= 8);
}

/// A cache of 2048 tokens is 22 MiB, and the weights are 493 MiB. With room for one cache, the second start begins when
/// the first one has ended; with room for none, there is no run.
#[test]
fn a_start_waits_for_room_for_its_cache() {
    let long = "prompt_tokens: 128, new_tokens: 40, ttft_deadline_ms: 300, tpot_deadline_ms: 40, context: 2048";
    let (plan, result) = run(long, &[("engine.dram_gib", "0.51")]);
    let all = steps(&plan, &result);
    let last_of_first = all.iter().rfind(|it| it.0 == 0).expect("it has steps");
    let first_of_second = all.iter().find(|it| it.0 == 1).expect("it has steps");
    assert!(ran(&last_of_first.2).1 > first_of_second.2.arrival);
    assert!(ran(&first_of_second.2).0 >= ran(&last_of_first.2).1);
    let why = Why::new(&plan, &result);
    let ids = (0..result.trace.records().len()).map(RequestId::new);
    let second = ids.clone().find(|id| result.trace.record(*id) == &first_of_second.2);
    let account = why.account(second.expect("it is a record")).expect("it ended");
    assert_eq!(account.parts.ns(Part::Accelerator), 0);
    let told = why.describe(&account);
    assert!(
        told.starts_with("memory: ") && told.ends_with(" ms for the cache of AG:0 token 39"),
        "{told}"
    );
    let (plan, free) = run(long, &[]);
    let all = steps(&plan, &free);
    let last_of_first = all.iter().rfind(|it| it.0 == 0).expect("it has steps");
    let first_of_second = all.iter().find(|it| it.0 == 1).expect("it has steps");
    assert!(ran(&first_of_second.2).0 < ran(&last_of_first.2).1);

    let scenario = Arc::unwrap_or_clone(scenario(long));
    let small = Experiment::new().scenario(scenario).system("A").pes(4096);
    let runs = small.set("engine.dram_gib", "0.5").run().expect("the description is right");
    let error = runs[0].result().expect_err("there is no room").to_string();
    assert!(error.contains("needs 23068672 bytes of DRAM"), "{error}");
}

/// Prompts and answers are those of (seed, replication, model, start), whatever schedules them.
#[test]
fn lengths_are_equal_for_every_scheduler() {
    let drawn = "prompt_tokens: {values: [40, 90, 300]}, new_tokens: {mean: 6, most: 20}, ttft_deadline_ms: 300, tpot_deadline_ms: 40";
    let of = |scheduler: &str| {
        let scenario = Arc::unwrap_or_clone(scenario(drawn));
        let experiment =
            Experiment::new().scenario(scenario).system("A").pes(4096).scheduler(scheduler);
        let runs = experiment.set("duration_ms", "4000").run().expect("the description is right");
        let result = runs[0].result().expect("it runs").clone();
        steps(&runs[0].plan, &result).iter().map(|it| it.2.frame).collect::<Vec<_>>()
    };
    let first = of("edf");
    assert!(first.len() > 8);
    for scheduler in ["fcfs", "herald", "heft", "round-robin"] {
        assert_eq!(of(scheduler), first, "{scheduler}");
    }
}

/// Costs between lengths of 128 and 256 tokens against those of every length: 0.5 % at most, and never below by more
/// than that.
#[test]
fn interpolated_tokens_take_about_the_time_of_exact_ones() {
    let text = "prompt_tokens: 128, new_tokens: 130, ttft_deadline_ms: 300, tpot_deadline_ms: 40";
    let cycles = |text: &str| {
        let (plan, result) = run(text, &[]);
        let model = xrsim::ids::ModelId::new(1);
        let variants = plan.scenario.models()[1].sequence.as_ref().expect("it is one");
        let at = xrsim::ids::AccelId::new(0);
        variants
            .steps(128, 130)
            .map(|step| {
                let work = result.costs.variant(model, step.variant).expect("it has a row");
                result.costs.on(work, at).network().cycles.get() as f64
            })
            .collect::<Vec<_>>()
    };
    let (near, exact) = (cycles(text), cycles(&format!("{text}, exact: true")));
    assert_eq!((near.len(), exact.len()), (130, 130));
    for (near, exact) in near.into_iter().zip(exact) {
        assert!((near / exact - 1.0).abs() < 0.005, "{near} for {exact}");
    }
}

#[test]
fn mistakes_of_sequences_say_what_is_allowed() {
    let refused = |model: &str| {
        let text = format!(
            "scenario:\n  name: wrong\n  models:\n    - {{network: HT, fps: 45}}\n    - {model}\n"
        );
        let mut catalog = Catalog::new();
        catalog.provide(Source::new("wrong.yaml", text));
        catalog.scenario("wrong.yaml", Edition::Reference).expect_err("it is wrong").to_string()
    };
    let of = |keys: &str, sequence: &str| {
        refused(&format!("{{network: assistant_1b, fps: 2{keys}, sequence: {{{sequence}}}}}"))
    };
    let wrong = refused(&format!("{{network: KD, fps: 2, sequence: {{{SHORT}}}}}"));
    assert!(wrong.contains("has no parameters `new` and `past`"), "{wrong}");
    let wrong = of("", &format!("{SHORT}, context: 100"));
    assert!(wrong.contains("up to 205 tokens; `context` is 100"), "{wrong}");
    let wrong = of(", parameters: {past: 7}", SHORT);
    assert!(wrong.contains("follow from the sequence"), "{wrong}");
    let wrong = of("", &SHORT.replace("200", "{values: []}"));
    assert!(wrong.contains("this list of numbers is empty"), "{wrong}");
    let wrong = of("", &SHORT.replace("5,", "{mean: 9000, most: 9000},"));
    assert!(wrong.contains("at most 4096 are allowed"), "{wrong}");
}

/// A plan of the whole run would have the arrivals of tokens, which follow from the run.
#[test]
fn schedulers_that_plan_before_the_run_are_refused() {
    for scheduler in ["magma", "herald-list"] {
        let experiment = Experiment::new().scenario(Arc::unwrap_or_clone(scenario(SHORT)));
        let runs = experiment.system("A").pes(4096).scheduler(scheduler).run();
        let runs = runs.expect("the description is right");
        let error = runs[0].result().expect_err("nobody knows when tokens arrive").to_string();
        assert!(error.contains(&format!("scheduler `{scheduler}` plans all requests")), "{error}");
    }
}

/// A token takes 20 ms of its 40 ms. Deadlines of first tokens that have passed when their step arrives are no time.
#[test]
fn the_headroom_of_a_sequence_is_that_of_its_tokens() {
    let (_, result) = run(&SHORT.replace("300", "1"), &[]);
    let counts = result.scorecard.models[1].counts;
    assert!((0.0..0.6).contains(&counts.headroom), "{}", counts.headroom);
    assert!((20.0..40.0).contains(&counts.latency_p99_ms), "{}", counts.latency_p99_ms);
}

/// Chunks of a prompt before the last one are executed and have no scores.
#[test]
fn results_with_prompts_of_several_chunks_have_a_page() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = binary::path(&folder, "speaks.yaml");
    let text = format!(
        "scenario:\n  name: speaks\n  models:\n    - {{network: HT, fps: 45}}\n    - {{network: assistant_1b, fps: 2, sequence: {{{SHORT}}}}}\n"
    );
    std::fs::write(&file, text).expect("the file can be written");
    let (out, page) = (binary::path(&folder, "out"), binary::path(&folder, "page.html"));
    let command = ["run", "--scenario", &file, "--system", "A", "--pes", "4096"];
    let none = ["--flexibility", "none", "--replications", "1", "--out", &out];
    binary::output(&[&command[..], &none].concat());
    binary::output(&["report", &out, "-o", &page]);
    assert!(std::fs::read_to_string(page).is_ok_and(|it| it.contains("<html")));
}

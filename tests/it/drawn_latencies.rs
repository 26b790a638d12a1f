//! Latencies that differ from request to request: quantiles and samples of a table.

use crate::support::{binary, runs};

use std::fs;
use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tempfile::{TempDir, tempdir};

use binary::{output, path, stderr, xrsim};
use runs::*;
use xrsim::bounds::{Bounds, Class};
use xrsim::cost::{CostTable, NetworkCost, Spread};
use xrsim::engine;
use xrsim::ids::{AccelId, FrameId, ModelId};
use xrsim::load::{LatencyDraws, LoadSettings, Request, RequestStream, least_costs};
use xrsim::schedule::{self, Policy};
use xrsim::trace::Outcome;
use xrsim::units::Cycles;

/// Network of a median [ms] and 1 mJ, with this quantile at 0.95 over the median.
fn network(median_ms: f64, p95: f64) -> Arc<NetworkCost> {
    let latency = span_ms(median_ms);
    Arc::new(NetworkCost {
        cycles: Cycles::new(latency.ns()),
        latency,
        energy_nj: 1e6,
        spread: (p95 > 1.0).then(|| Spread::log_normal(p95)),
        ..NetworkCost::default()
    })
}

/// Standard errors of quantiles of 100,000 draws with σ = ln(1.3) / 1.645 = 0.16: 0.06 % of the median, 0.11 % of the
/// quantile at 0.95.
#[test]
fn quantiles_of_draws_are_those_that_were_given() {
    let table = CostTable::new(vec![network(2.0, 1.3)], 1);
    let scenario = scenario(vec![], vec![model("palm", 30.0)]);
    let draws = LatencyDraws::new(&scenario, &LoadSettings::default());
    let (palm, npu) = (ModelId::new(0), AccelId::new(0));
    let drawn = |frame| table.on(palm, npu).drawn(draws.of(palm, FrameId::new(frame))).as_ms();
    let mut drawn: Vec<f64> = (0..100_000).map(drawn).collect();
    drawn.sort_by(f64::total_cmp);
    for (place, expected) in [(50_000, 2.0), (95_000, 2.6)] {
        let found = drawn[place];
        assert!((found / expected - 1.0).abs() < 0.005, "{found} in place of {expected}");
    }
}

/// Waiting times \[ms\] of 200,000 requests that arrive at random, `load` of the time of one processor being used.
fn waits(cost: Arc<NetworkCost>, mean_ms: f64, load: f64) -> Vec<f64> {
    let case = plan(scenario(vec![], vec![model("palm", 1.0)]), CostTable::new(vec![cost], 1));
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut now_ms = 0.0;
    let requests = (0..200_000).map(|frame| {
        now_ms -= (1.0 - random.random::<f64>()).ln() * mean_ms / load;
        let deadline = at_ms(now_ms + 1e7);
        Request::new(ModelId::new(0), FrameId::new(frame), at_ms(now_ms), deadline)
    });
    let requests = RequestStream::new(requests.collect(), &[]);
    let run = engine::run(&case, &case.costs, &requests).expect("it does not fail");
    let wait = |record: &xrsim::trace::Record| match record.outcome {
        Outcome::Executed { start, .. } => (start - record.arrival).as_ms(),
        other => panic!("{other:?}"),
    };
    run.trace.records().iter().map(wait).collect()
}

/// Whether the mean wait is that of Pollaczek and Khinchine, λ E[S²] / 2 (1 − ρ), within four standard errors, which are
/// those of the means of 64 stretches.
fn check_wait(what: &str, waits: &[f64], [mean_ms, square_ms2]: [f64; 2], load: f64) {
    let expected = load / mean_ms * square_ms2 / (2.0 * (1.0 - load));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<_> = waits.chunks_exact(waits.len() / 64).map(mean).collect();
    let centre = mean(&means);
    let variance = means.iter().map(|one| (one - centre).powi(2)).sum::<f64>() / 63.0;
    let error = (variance / 64.0).sqrt();
    assert!((centre - expected).abs() < 4.0 * error, "{what}: {centre} +- {error}, {expected}");
    assert!(error < 0.05 * expected, "{what}: {error} of {expected}");
}

/// E[S] = m e^(σ²/2), E[S²] = m² e^(2σ²) with σ = ln(2) / 1.645.
#[test]
fn waiting_times_are_those_of_queueing_theory() {
    check_wait("M/D/1", &waits(network(2.0, 1.0), 2.0, 0.7), [2.0, 4.0], 0.7);
    let variance = (2.0f64.ln() / xrsim::cost::spread::Z95).powi(2);
    let moments = [2.0 * (variance / 2.0).exp(), 4.0 * (2.0 * variance).exp()];
    check_wait("M/G/1", &waits(network(2.0, 2.0), moments[0], 0.7), moments, 0.7);
}

/// Two models on two processors, one of which is three times as slow.
fn case() -> Case {
    let models = vec![model("a", 60.0), model("b", 45.0)];
    let costs =
        [(4.0, 1.5), (12.0, 1.5), (6.0, 2.5), (18.0, 1.0)].map(|(ms, p95)| network(ms, p95));
    plan(scenario(vec![], models), CostTable::new(costs.into(), 2))
}

/// On the second processor, `a` takes three times as long as it would have on the first. Under all policies the fast one
/// takes one time for each frame.
#[test]
fn a_frame_draws_the_same_number_under_every_policy_and_on_every_processor() {
    let case = case();
    let requests = requests(&case);
    let draws = LatencyDraws::new(&case.scenario, &case.load);
    let mut n_slow = 0;
    for entry in schedule::ALL {
        let case = case.clone().scheduled(Policy::from_entry(entry));
        let run = engine::run(&case, &case.costs, &requests).expect("it does not fail");
        for record in run.trace.records() {
            let Outcome::Executed { accelerator, start, end, energy } = record.outcome else {
                continue;
            };
            let execution = case.costs.on(record.model, accelerator);
            let factor = match (record.model.index(), accelerator.index()) {
                (0, _) => Spread::log_normal(1.5).factor(draws.of(record.model, record.frame)),
                (_, 0) => Spread::log_normal(2.5).factor(draws.of(record.model, record.frame)),
                _ => 1.0,
            };
            let expected = execution.latency().ns() as f64 * factor;
            assert!(
                ((end - start).ns() as f64 - expected).abs() <= 0.5,
                "{}: {record:?}",
                entry.name
            );
            assert!((energy.get() - factor).abs() < 1e-6, "{}: {record:?}", entry.name);
            n_slow += u32::from(accelerator.index() == 1);
        }
    }
    assert!(n_slow > 0);
}

#[test]
fn draws_differ_between_replications_models_and_frames() {
    let case = case();
    let of = |replication, model, frame| {
        let load = LoadSettings { replication, ..case.load.clone() };
        LatencyDraws::new(&case.scenario, &load).of(ModelId::new(model), FrameId::new(frame))
    };
    let first = of(0, 0, 0);
    assert_eq!(first, of(0, 0, 0));
    assert!([of(1, 0, 0), of(0, 1, 0), of(0, 0, 1)].iter().all(|it| *it != first));
}

/// The bounds know what was drawn; policies do not.
#[test]
fn no_score_exceeds_its_bounds() {
    for replication in 0..5 {
        let mut case = case();
        case.plan.load.replication = replication;
        let requests = requests(&case);
        let least = least_costs(&case.scenario, &case.load, &case.costs);
        let bounds = [Class::Keeping, Class::Any]
            .map(|class| Bounds::compute(&case.scenario, &least, &requests, &case.score, class));
        for entry in schedule::ALL {
            let case = case.clone().scheduled(Policy::from_entry(entry));
            let run = engine::run(&case, &case.costs, &requests).expect("it does not fail");
            let score = case.score(&run.trace).total.score_executed_mean;
            let all = bounds.iter().flat_map(Bounds::values);
            assert!(all.into_iter().all(|it| score <= it), "{}: {score} {bounds:?}", entry.name);
        }
    }
}

/// Schedulers see the end by the median, whatever was drawn.
#[test]
fn schedulers_see_the_median() {
    let case = plan(
        scenario(vec![], vec![model("a", 100.0)]),
        CostTable::new(vec![network(2.0, 9.0), network(3.0, 1.0)], 2),
    );
    let requests = requests(&case);
    let run = engine::Stepwise::new(&case, &case.costs, &requests);
    let mut run = run.expect("policies of this program do not fail");
    let mut ends = Vec::new();
    while let Some(view) = run.advance() {
        let states = view.accelerators.iter().map(|it| it.activity);
        for activity in states {
            if let schedule::Activity::Running { since, predicted_end, .. } = activity {
                ends.push(predicted_end - since);
            }
        }
        let job = view.ready.iter().next().expect("one is ready");
        let at = view.fastest_idle(job).expect("one is idle");
        let decision = schedule::Dispatch::new(job.request, at).into();
        run.answer(decision).expect("it is allowed");
    }
    assert!(
        !ends.is_empty() && ends.iter().all(|it| *it == span_ms(2.0) || *it == span_ms(3.0)),
        "{ends:?}"
    );
}

fn folder(rows: &str) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let files = [
        ("palm.yaml", "network: {name: palm, measured: true}\n"),
        (
            "mine.yaml",
            "scenario:\n  name: mine\n  models:\n    - {network: ./palm.yaml, fps: 30}\n",
        ),
        (
            "chip.yaml",
            "system:\n  name: chip\n  accelerators:\n    - processor: {name: npu, active_mw: 900}\n",
        ),
        ("times.txt", "# ms\n2\n1\n\n4\n"),
        ("t.csv", rows),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn run(folder: &TempDir, more: &[&str]) -> (Option<i32>, String) {
    let [scenario, system, table] = ["mine.yaml", "chip.yaml", "t.csv"].map(|it| path(folder, it));
    let words = ["run", "--scenario", &scenario, "--system", &system, "--cost-model", &table];
    let assert = xrsim(&[&words[..], more].concat()).assert();
    (assert.get_output().status.code(), stderr(&assert))
}

/// 2^(2.3263 / 1.6449) = 2.6651 ms in place of 4: -33 %.
#[test]
fn a_table_gives_quantiles_or_samples() {
    let quantiles = folder(
        "network,accelerator,latency_p50_ms,latency_p95_ms,latency_p99_ms\npalm,npu,1,2,4\n",
    );
    let out = path(&quantiles, "out");
    let (status, messages) = run(&quantiles, &["--out", &out]);
    assert_eq!(status, Some(0), "{messages}");
    let misfit =
        "t.csv:2: the log-normal through p50 and p95 has a p99 of 2.665 in place of 4 ms (-33 %)";
    assert!(messages.contains(misfit), "{messages}");
    let samples = folder("network,accelerator,samples\npalm,npu,times.txt\n");
    let out = path(&samples, "out");
    let (status, messages) = run(&samples, &["--out", &out, "--replications", "1"]);
    assert_eq!(status, Some(0), "{messages}");
    let rows = fs::read_to_string(samples.path().join("out/inferences.csv")).expect("written");
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name| header.iter().position(|it| *it == name).expect(name);
    let [start, end] = ["start_ms", "end_ms"].map(column);
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let mut times: Vec<_> =
        lines.map(|row| (1e3 * (number(row[end]) - number(row[start]))).round() as u32).collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!(times, [1000, 2000, 4000]);
}

#[test]
fn a_table_that_contradicts_itself_is_refused_at_its_place() {
    for (rows, message) in [
        (
            "network,accelerator,latency_ms,latency_p50_ms\npalm,npu,1,1\n",
            "t.csv:2:12: both a latency and its median",
        ),
        (
            "network,accelerator,latency_p50_ms,latency_p95_ms\npalm,npu,2,1\n",
            "t.csv:2:12: the quantile `1` is too small",
        ),
        (
            "network,accelerator,latency_ms,samples\npalm,npu,2,times.txt\n",
            "t.csv:2:10: a row with `samples` has no other latency",
        ),
        (
            "network,accelerator,latency_p50_ms,latency_p99_ms\npalm,npu,2,9\n",
            "t.csv:2:12: a 99th percentile without `latency_p95_ms`",
        ),
        ("network,accelerator,samples\npalm,npu,none.txt\n", "none.txt"),
        (
            "network,accelerator,samples\npalm,npu,t.csv\n",
            "t.csv:1: `network,accelerator,samples` is no latency",
        ),
        ("network,accelerator,energy_mj\npalm,npu,1\n", "no column `latency_ms`"),
    ] {
        let folder = folder(rows);
        let (status, messages) = run(&folder, &[]);
        assert_eq!(status, Some(2), "{messages}");
        assert!(messages.contains(message), "{message} is not in\n{messages}");
    }
}

#[test]
fn commands_say_that_latencies_are_drawn() {
    let folder = folder("network,accelerator,latency_p50_ms,latency_p95_ms\npalm,npu,20,40\n");
    let [scenario, system, table] = ["mine.yaml", "chip.yaml", "t.csv"].map(|it| path(&folder, it));
    let words = ["run", "--scenario", &scenario, "--system", &system, "--cost-model", &table];
    let text = output(&words);
    assert!(text.contains("means of 30 draws (seed 0) of latencies"), "{text}");
}

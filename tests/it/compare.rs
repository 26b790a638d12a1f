//! Comparisons of schedulers: every policy on the same requests, the differences between them, and the
//! command.

use crate::support::binary;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use binary::{on_threads, output, refused, stderr, stdout, xrsim};
use tempfile::tempdir;

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::maestro::Maestro;
use xrsim::plan::Plan;
use xrsim::report::comparison::{Measure, Ranking};
use xrsim::schedule::Policy;
use xrsim::score::Score;
use xrsim::statistics::Summary;
use xrsim::sweep;
use xrsim::sweep::comparison::{Comparison, Sample, Triggers};
use xrsim::sweep::enumeration::possibilities;

/// A principled run on a system of 4096 PEs with published layer costs.
fn plan(scenario: &str, system: &str) -> Plan {
    let mut catalog = Catalog::with_networks(Edition::Artifact);
    let platform = catalog.platform("artifact").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(system) else { panic!("{system}") };
    let scenario = catalog.scenario(scenario, Edition::Reference).expect("it is embedded");
    let system = style.instantiate(4096, &platform).expect("a system");
    Plan::new(scenario, Arc::new(system))
}

fn policies(names: &[&str]) -> Vec<Policy> {
    names.iter().map(|name| Policy::parse(name).expect("it exists")).collect()
}

const NAMES: [&str; 3] = ["edf", "round-robin", "edf:admission=hopeless"];

fn compare(plans: Vec<Plan>, triggers: Triggers, n_replications: u64) -> Comparison {
    let mut comparison = Comparison::new(plans, policies(&NAMES), triggers, &Maestro);
    comparison.extend(n_replications, |_| {});
    comparison
}

fn column(sample: &Sample, name: &str) -> f64 {
    let at = Sample::columns().position(|column| column.name == name).expect(name);
    sample.values()[at]
}

#[test]
fn every_sample_is_that_of_the_run_by_itself() {
    let plan = plan("outdoor_activity_A", "J");
    let library = CostLibrary::evaluate(&Maestro, [(&*plan.scenario, &*plan.system)]);
    let comparison = compare(vec![plan.clone()], Triggers::Drawn, 3);
    let (_, replications) = comparison.feasible().next().expect("it can run");
    assert_eq!(replications.len(), 3);
    for (number, replication) in replications.iter().enumerate() {
        for (policy, sample) in comparison.policies().iter().zip(&replication.samples) {
            let mut alone = plan.clone();
            alone.scheduler = policy.clone();
            alone.load.replication = number as u64;
            let total = sweep::run(&alone, &library).expect("it can run").scorecard.total;
            let missed = total.counts.late + total.counts.dropped;
            for (value, score) in sample.values().iter().zip(Score::SCORES) {
                assert_eq!(Some(*value), score.of(&total));
            }
            assert_eq!(column(sample, "requests"), total.counts.requests as f64);
            assert_eq!(column(sample, "missed"), missed as f64);
            assert_eq!(column(sample, "energy_mj"), total.counts.energy.get());
        }
    }
}

#[test]
fn replications_that_are_added_are_those_that_would_have_been_made_at_once() {
    let plans = || vec![plan("AR_gaming", "J"), plan("VR_gaming", "A")];
    let mut added = compare(plans(), Triggers::Drawn, 2);
    added.extend(5, |_| {});
    let at_once = compare(plans(), Triggers::Drawn, 5);
    for ((_, added), (_, at_once)) in added.feasible().zip(at_once.feasible()) {
        assert_eq!(added, at_once);
    }
}

/// The sum over all patterns of probability times sample; sums of floating-point numbers in the same
/// order are equal.
#[test]
fn enumerated_triggers_give_the_expectation() {
    let plan = plan("outdoor_activity_A", "J");
    let library = CostLibrary::evaluate(&Maestro, [(&*plan.scenario, &*plan.system)]);
    let comparison = compare(vec![plan.clone()], Triggers::Enumerated, 1);
    let (_, replications) = comparison.feasible().next().expect("it can run");
    for (policy, sample) in comparison.policies().iter().zip(&replications[0].samples) {
        let mut alone = plan.clone();
        alone.scheduler = policy.clone();
        let all = possibilities(&alone, &library).expect("it can run").expect("they are few");
        assert_eq!(all.len(), 8);
        let mut expected = 0.0;
        for possibility in &all {
            expected += possibility.probability * possibility.result.scorecard.total.qoe;
        }
        assert_eq!(column(sample, "qoe"), expected);
    }
}

#[test]
fn the_ranking_compares_with_the_best_and_counts_where_each_wins() {
    let plans = vec![plan("AR_gaming", "J"), plan("AR_Assistant", "A"), plan("VR_gaming", "D")];
    let comparison = compare(plans, Triggers::Drawn, 4);
    let measure = Measure::named("score_executed_mean").expect("a column");
    let ranking = Ranking::new(&comparison, measure);
    assert!(ranking.standings.is_sorted_by(|a, b| a.measure.mean >= b.measure.mean));
    assert_eq!(ranking.standings[0].difference, None);
    let [first, others @ ..] = &ranking.standings[..] else { panic!("three policies") };
    for standing in others {
        let found = standing.difference.expect("it is compared").difference.mean;
        let difference = standing.measure.mean - first.measure.mean;
        assert!((found - difference).abs() < 1e-15, "{found} is not {difference}");
        assert!(standing.measure.mean <= ranking.best_of_each);
    }
    // Every configuration has one winner, or several that tie.
    let wins: usize = ranking.standings.iter().map(|standing| standing.wins).sum();
    let ties: usize = ranking.standings.iter().map(|standing| standing.ties).sum();
    assert!(wins <= 3 && (ties == 0) == (wins == 3) && wins + ties >= 3, "{wins} and {ties}");
    // The measure of the first policy, by hand.
    let index = comparison.policies().iter().position(|it| *it.label() == first.policy).unwrap();
    let mean = |replication: usize| {
        let here = comparison
            .feasible()
            .map(|(_, runs)| column(&runs[replication].samples[index], "score_executed_mean"));
        Summary::of(here).mean
    };
    assert_eq!(first.measure, Summary::of((0..4).map(mean)));
}

#[test]
fn fewer_misses_and_less_energy_are_better() {
    let comparison = compare(vec![plan("AR_gaming", "J")], Triggers::Drawn, 2);
    for name in ["missed", "energy_mj"] {
        let ranking = Ranking::new(&comparison, Measure::named(name).expect("a column"));
        assert!(ranking.standings.is_sorted_by(|a, b| a.measure.mean <= b.measure.mean));
        assert_eq!(ranking.best_of_each, ranking.standings[0].measure.mean);
    }
    assert!(Measure::named("speed").is_none());
}

const SMALL: [&str; 11] = [
    "compare",
    "--scheduler",
    "edf",
    "--scheduler",
    "edf:admission=hopeless",
    "--scenario",
    "AR_gaming",
    "--system",
    "J",
    "--pes",
    "4096",
];

/// Standard output and the two tables of the folder.
fn files(folder: &Path, threads: &str) -> [String; 3] {
    let out = folder.join(threads);
    let assert = on_threads(threads, &SMALL)
        .args(["--replications", "3", "--out"])
        .arg(&out)
        .assert()
        .success();
    let printed = stdout(&assert);
    assert!(out.join("comparison.svg").exists() && out.join("comparison.png").exists());
    let read = |name| fs::read_to_string(out.join(name)).expect("the file was written");
    [printed, read("policies.csv"), read("configurations.csv")]
}

/// Everything for a paper, at the width of a column.
#[test]
fn a_comparison_for_print_has_tables_and_figures_with_captions_beside() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().join("out");
    let command = [
        "compare",
        "--scheduler",
        "edf",
        "--scheduler",
        "rm",
        "--scheduler",
        "sjf",
        "--scenario",
        "AR_gaming",
        "--scenario",
        "VR_gaming",
        "--system",
        "J",
        "--pes",
        "4096",
        "--replications",
        "3",
    ];
    let print = ["--width", "85mm", "--pairs", "--explain-columns", "--out"];
    let printed = stdout(&xrsim(&command).args(print).arg(&out).assert().success());
    let read = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    // A printed column has the name that it has in the file.
    let names: Vec<_> = ["d_z", "p_holm", "wins", "ties", "gap_to_bound", "score"].into();
    let policies = read("policies.csv");
    let header = policies.lines().next().unwrap_or_default();
    for name in names {
        assert!(header.split(',').any(|it| it == name), "{name} in {header}");
        assert!(printed.lines().any(|line| line.contains(name)), "{name} in {printed}");
    }
    for explained in ["UB1 ", "UB2 ", "UB3 ", "paired t-test", "Holm", "primary metric", "Nemenyi"]
    {
        assert!(printed.contains(explained), "{explained} in {printed}");
    }
    // Three schedulers over all scenarios and in each of two; three pairs likewise.
    assert_eq!(policies.lines().count(), 1 + 3 * 3);
    assert_eq!(read("pairs.csv").lines().count(), 1 + 3 * 3);
    for line in read("pairs.csv").lines().skip(1) {
        let shares = line.split(',').skip(7).map(|cell| cell.parse::<f64>().expect("a share"));
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-12, "{line}");
    }
    for name in ["policies.tex", "scenarios.tex", "pairs.tex"] {
        let text = read(name);
        let rules =
            ["\\begin{tabular}", "\\toprule", "\\midrule", "\\bottomrule", "\\end{tabular}"];
        assert!(rules.iter().all(|rule| text.contains(rule)), "{text}");
        let rows = text.lines().filter(|line| line.ends_with("\\\\"));
        let columns: std::collections::BTreeSet<_> =
            rows.map(|row| row.matches(" & ").count()).collect();
        assert_eq!(columns.len(), 1, "{text}");
    }
    for name in ["comparison", "critical_difference"] {
        let svg = read(&format!("{name}.svg"));
        let caption = read(&format!("{name}.txt"));
        let title = caption.split('.').next().unwrap_or_default();
        assert!(svg.contains(" width=\"240.945pt\"") && !title.is_empty());
        assert!(!svg.contains(&format!(">{title}\n")), "the title is in the caption alone");
        assert!(
            fs::read(out.join(format!("{name}.pdf"))).expect("it is there").starts_with(b"%PDF")
        );
    }
    let page = folder.path().join("page.html");
    let report = xrsim(&["report"]).arg(&out).arg("-o").arg(&page).assert().success();
    assert!(stdout(&report).is_empty() && page.exists());
    // A file that was changed is refused.
    fs::write(out.join("pairs.csv"), read("pairs.csv").replace("edf", "foo"))
        .expect("it is written");
    xrsim(&["report"]).arg(&out).arg("-o").arg(&page).assert().failure();
}

#[test]
fn every_format_of_a_comparison_has_every_scheduler() {
    let command = [
        "compare",
        "--scheduler",
        "edf",
        "--scheduler",
        "rm",
        "--scenario",
        "VR_gaming",
        "--system",
        "A",
        "--pes",
        "4096",
        "--replications",
        "2",
        "--format",
    ];
    let of = |format: &str| stdout(&xrsim(&command).arg(format).assert().success());
    assert_eq!(of("csv").lines().count(), 3);
    let json: serde_json::Value = serde_json::from_str(&of("json")).expect("it is JSON");
    assert_eq!(json["schedulers"].as_array().map(Vec::len), Some(2));
    // Both have equal scores on equal requests: a tie, and no winner.
    assert_eq!(
        (&json["schedulers"][0]["ties"], &json["schedulers"][0]["wins"]),
        (&1.into(), &0.into())
    );
    assert!(of("latex").contains("rm & "));
}

#[test]
fn the_same_bytes_come_whatever_the_number_of_threads() {
    let folder = tempdir().expect("a folder can be made");
    let [printed, policies, configurations] = files(folder.path(), "1");
    assert_eq!([&printed, &policies, &configurations], files(folder.path(), "2").each_ref());
    assert!(printed.is_ascii() && printed.contains("1 configuration, 3 replications"), "{printed}");
    assert_eq!(policies.lines().count(), 3);
    assert_eq!(configurations.lines().count(), 3);
    assert!(policies.contains("\"edf:admission=hopeless\"") || policies.contains("edf:admission"));
}

#[test]
fn replications_go_on_until_the_interval_is_narrow() {
    let mut narrow = [&SMALL[..], &["--half-width", "0.01", "--flexibility", "none"]].concat();
    narrow[6] = "outdoor_activity_A";
    let printed = output(&narrow);
    let n = printed.split_once("configuration, ").and_then(|(_, n)| n.split_once(' '));
    let n: u64 = n.expect(&printed).0.parse().expect("a number");
    assert!((31..1000).contains(&n), "{printed}");
}

/// Windows of one frame are frames in isolation; in larger windows frames compete for accelerators.
#[test]
fn exact_optima_of_windows_bound_every_policy() {
    let comparison = compare(vec![plan("VR_gaming", "D")], Triggers::Drawn, 1);
    let [one, four] = [1, 4].map(|n| comparison.window_bound(n).expect("it is solved"));
    assert!(four <= one + 1e-9, "{four} is above {one}");
    let ranking =
        Ranking::new(&comparison, Measure::named("score_executed_mean").expect("a column"));
    assert!(ranking.standings[0].measure.mean <= four + 1e-9);
    assert!(comparison.runs_whole());
}

/// The search of DREAM puts its parameters into the label and prints the cost that it found.
#[test]
fn dream_is_tuned_to_the_runs() {
    let tuned = [&SMALL[..5], &["--scheduler", "dream", "--tune"], &SMALL[5..]].concat();
    let short = ["--replications", "2", "--duration", "300"];
    let assert = xrsim(&tuned).args(short).assert().success();
    let said = stderr(&assert);
    assert!(said.contains("dream:alpha=") && said.contains("candidates"), "{said}");
    let twice = [&tuned[..6], &["dream:alpha=1"], &tuned[7..]].concat();
    assert!(refused(&twice).contains("alpha is given twice"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let cases: [(&[&str], &str); 6] = [
        (&["--semantics", "mlsys2023"], "no other scheduler to compare it with"),
        (&["--scheduler", "edf"], "scheduler `edf` is given twice"),
        (&["--scheduler", "edff"], "no scheduler named `edff`; did you mean `edf`?"),
        (&["--scheduler", "edf:speed=1"], "edf has no parameter `speed`"),
        (&["--by", "scores"], "did you mean `score`?"),
        (&["--half-width", "0"], "allowed is a number > 0"),
    ];
    for (arguments, expected) in cases {
        let message = refused(&[&SMALL[..], arguments].concat());
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

/// The effect changes the costs of layers, which a comparison takes from the same place as a run.
#[test]
fn a_comparison_has_the_costs_of_a_run_with_non_overlapped_transfers() {
    let arguments = ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let effect = ["--scheduler", "edf", "--set", "effects.non_overlapped=1", "--replications", "1"];
    let run = output(&[&["run", "--format", "csv"], &arguments[..], &effect].concat());
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().join("compared");
    let out = out.to_str().expect("the path is UTF-8");
    let other = ["--scheduler", "fcfs", "--out", out];
    output(&[&["compare"], &arguments[..], &effect, &other].concat());
    let table = fs::read_to_string(Path::new(out).join("configurations.csv")).expect("it is there");
    let energy_of_edf = |table: &str| {
        let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let at = header.iter().position(|name| *name == "energy_mj").expect("a column");
        lines.find(|cells| cells.contains(&"edf")).expect("a row")[at].to_string()
    };
    assert_eq!(energy_of_edf(&table), energy_of_edf(&run));
}

/// Without any option: every scheduler that knows no future, in a case that is named, with few lines below.
#[test]
fn a_comparison_without_options_names_its_case() {
    let table = output(&["compare", "--replications", "2"]);
    let rows: Vec<_> = table.lines().collect();
    let first_line = rows
        .iter()
        .position(|it| it.starts_with("upper bounds of score_executed_mean"))
        .expect("a bound");
    assert_eq!(first_line, 24, "{table}");
    assert!(rows.len() - first_line <= 5, "{table}");
    assert!(table.contains("scenario AR_gaming, system M, pes 8192, flexibility"), "{table}");
    let one = output(&[
        "compare",
        "--scenario",
        "VR_gaming",
        "--replications",
        "2",
        "--scheduler",
        "edf,rm",
    ]);
    assert!(!one.contains("scenario VR_gaming, system"), "{one}");
    assert_eq!(one.lines().position(|it| it.starts_with("upper bounds of ")), Some(3), "{one}");
}

//! The table of the best systems, which `xrsim run` prints of many scenarios and systems.

use std::collections::BTreeMap;
use std::fs;

use crate::support::binary::{on_threads, output, path, refused, stderr, stdout, xrsim};
use tempfile::tempdir;

/// 26 pairs of scenario and system, all of them random, for a third of a second.
const MANY: [&str; 9] = [
    "run",
    "--scenario",
    "AR_gaming",
    "--scenario",
    "VR_gaming",
    "--pes",
    "4096",
    "--duration",
    "333",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    MANY.into_iter().chain(more.iter().copied()).collect()
}

/// Cells of the line that begins with `name`. Cells are two or more spaces apart.
fn line<'t>(table: &'t str, name: &str) -> Vec<&'t str> {
    let line = table.lines().find(|line| line.starts_with(name)).expect(name);
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// Means over the replications of a column, by system.
fn means(csv: &str, scenario: &str, column: &str) -> BTreeMap<String, f64> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = |name: &str| header.iter().position(|known| *known == name).expect("a column");
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in lines.filter(|row| row[at("scenario")] == scenario) {
        let value = row[at(column)].parse().expect("a number");
        values.entry(row[at("system")].into()).or_default().push(value);
    }
    assert!(values.values().all(|values| values.len() == 30), "{scenario}");
    values.into_iter().map(|(system, it)| (system, it.iter().sum::<f64>() / 30.0)).collect()
}

#[test]
fn many_runs_are_printed_as_the_best_systems_with_intervals_limits_and_energy() {
    let assert = xrsim(&MANY).assert().success();
    let (table, notes) = (stdout(&assert), stderr(&assert));
    assert!(notes.contains("780 runs in "), "{notes}");
    assert!(table.is_ascii() && table.contains("means of 30 draws (seed 0)"), "{table}");
    let assumed = "networks reference, platform headset, dram shared, cost model loop-nest, scheduler \
                   latency-greedy\n";
    assert!(
        table.contains("assumed (principled): flexibility ") && table.contains(assumed),
        "{table}"
    );
    let csv = output(&with(&["--replications", "30", "--format", "csv"]));
    for scenario in ["AR_gaming", "VR_gaming"] {
        let cells = line(&table, scenario);
        let score = means(&csv, scenario, "score");
        let (best, highest) = score.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("systems");
        assert_eq!(cells[1], "4096");
        let first = cells[2].split(' ').next().expect("a name");
        assert_eq!(first.trim_end_matches('?'), best, "{table}");
        for (at, frames) in [(3, "late"), (4, "dropped")] {
            let mean: f64 = cells[at].parse().expect("a number");
            assert!((means(&csv, scenario, frames)[best] - mean).abs() < 0.051, "{table}");
        }
        // One model is the nearest to its deadline in all draws.
        let [p99_ms, headroom] =
            ["latency_p99_ms", "headroom"].map(|it| means(&csv, scenario, it)[best]);
        let words: Vec<_> = cells[5].split(' ').collect();
        let [latency, allowed] = [1, 3].map(|at: usize| words[at].parse::<f64>().expect("ms"));
        // Digits that are printed.
        assert!((latency / allowed - (1.0 - headroom)).abs() < 0.005, "{table}");
        assert!(latency <= p99_ms + 0.05, "{table}");
        assert_eq!(cells[6], format!("{:.0} %", 100.0 * headroom), "{table}");
        assert!(cells[9].starts_with(&format!("{highest:.3}")), "{highest}: {table}");
        let behind = cells[10].strip_suffix(" behind").expect("the runner-up");
        let (next, distance) = behind.split_once(' ').expect("a name");
        let distance: f64 = distance.parse().expect("a number");
        assert!((highest - score[next] - distance).abs() < 6e-4, "{next}: {table}");
        let alike = score.values().filter(|it| **it >= highest - 0.01).count();
        assert_eq!(cells[11], format!("{alike}/13"), "{table}");
        let [energy, executed] =
            ["energy_mj", "executed"].map(|it| means(&csv, scenario, it)[best]);
        assert_eq!(cells[15], format!("{:.1}", energy / executed), "{table}");
        let share = |cell: &str| cell.ends_with(" %");
        assert!(share(cells[13]) && share(cells[14]), "{table}");
        assert!(["compute", "NoC", "DRAM"].iter().any(|it| cells[14].starts_with(it)), "{table}");
    }
    let mean = line(&table, "XRBench score");
    let scores = ["AR_gaming", "VR_gaming"].map(|scenario| means(&csv, scenario, "score"));
    let all = scores[0].iter().map(|(system, score)| (score + scores[1][system]) / 2.0);
    let highest = all.fold(0.0, f64::max);
    assert!(mean[9].starts_with(&format!("{highest:.3}")), "{highest}: {table}");
}

#[test]
fn what_is_not_random_is_run_once() {
    let fixed =
        ["run", "--scenario", "AR_gaming", "--scenario", "outdoor_activity_A", "--pes", "4096"];
    let assert = xrsim(&[&fixed[..], &["--set", "load.jitter=false"]].concat()).assert().success();
    let (table, notes) = (stdout(&assert), stderr(&assert));
    assert!(notes.contains(&format!("{} runs in ", 13 + 13 * 30)), "{notes}");
    assert!(
        table.contains(" of triggers;") && table.contains("other scenarios are exact"),
        "{table}"
    );
    // The score of AR_gaming has no interval; that of the mean has one.
    assert!(!line(&table, "AR_gaming")[9].contains(' '), "{table}");
    assert!(line(&table, "XRBench score")[9].contains(" +- "), "{table}");
}

#[test]
fn the_matrix_every_column_and_single_draws_are_one_option_away() {
    let matrix = output(&with(&["--matrix"]));
    assert!(
        matrix.starts_with("PEs   system") && matrix.contains("* best of its size"),
        "{matrix}"
    );
    let detail = output(&with(&["--detail"]));
    assert_eq!(detail.lines().filter(|line| line.contains("  4096  ")).count(), 26, "{detail}");
    let once = output(&with(&["--replications", "1"]));
    assert!(once.starts_with("PEs   system") && once.contains("~ one draw (seed 0)"), "{once}");
    let message = refused(&with(&["--matrix", "--detail"]));
    assert!(message.contains("cannot be used with"), "{message}");
}

#[test]
fn programs_get_one_replication_unless_they_ask_for_more() {
    let folder = tempdir().expect("a folder can be made");
    let printed = output(&with(&["--out", &path(&folder, "")]));
    assert!(printed.contains("AR_gaming~"), "the table is that of the files: {printed}");
    let scores = fs::read_to_string(folder.path().join("scores.csv")).expect("it was written");
    assert_eq!(scores, output(&with(&["--format", "csv"])));
    assert_eq!(scores.lines().count(), 1 + 26);
    let artifact =
        ["run", "--semantics", "mlsys2023", "--scenario", "outdoor_activity_A", "--system", "A"];
    assert!(output(&artifact).contains("outdoor_activity_A~"));
}

#[test]
fn the_best_systems_are_the_same_bytes_at_any_number_of_threads() {
    let run = |threads: &str| stdout(&on_threads(threads, &MANY).assert().success());
    assert_eq!(run("1"), run("3"));
}

#[test]
fn sizes_of_one_style_are_compared_with_each_other() {
    let run = ["run", "--system", "J", "--pes", "1024,2048,4096", "--flexibility", "none"];
    let table = output(&run);
    let cells = line(&table, "VR_gaming");
    assert!(cells[2].starts_with("J@") && cells[10].starts_with("J@"), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("VR_gaming")).count(), 1, "{table}");
}

//! `xrsim sensitivity`: effects of settings on scores and rankings.

use std::collections::HashMap;

use crate::support::binary;

use binary::{output, refused};

/// Two systems in one scenario without a search for mappings.
const RUNS: [&str; 14] = [
    "--platform",
    "paper",
    "--scenario",
    "VR_gaming",
    "--system",
    "A,J",
    "--pes",
    "4096",
    "--flexibility",
    "none",
    "--replications",
    "3",
    "--format",
    "csv",
];

/// Rows by factor and level: every column by its name.
fn rows(more: &[&str]) -> HashMap<(String, String), HashMap<String, String>> {
    let text = output(&[&["sensitivity"], &RUNS[..], more].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let row = |row: csv::StringRecord| {
        let cells = header.iter().zip(row.iter()).map(|(a, b)| (a.to_string(), b.to_string()));
        ((row[0].to_string(), row[3].to_string()), cells.collect())
    };
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// Mean scores of the systems in the same runs, by `run`.
fn scores(more: &[&str]) -> Vec<f64> {
    let text = output(&[&["run"], &RUNS[..], more].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let at = reader.headers().expect("a header").iter().position(|name| name == "score");
    let score = |row: csv::StringRecord| row[at.expect("a column")].parse().expect("a number");
    reader.records().map(|row| score(row.expect("a row"))).collect()
}

/// Settings of one cost model or device have no effect where that is not used.
#[test]
fn a_factor_that_cannot_matter_has_an_effect_of_exactly_zero() {
    let rows = rows(&[
        "--only",
        "--factor",
        "effects.switch_fixed_us=1000",
        "--factor",
        "hardware.scratchpad_kib=x4",
    ]);
    assert_eq!(rows.len(), 2);
    for row in rows.values() {
        for column in ["change", "realtime_change", "energy_change", "qoe_change"] {
            assert_eq!(number(row, column), 0.0, "{row:?}");
        }
        // Without a spread there is no interval.
        assert_eq!((&*row["low"], &*row["high"]), ("", ""), "{row:?}");
        assert_eq!((number(row, "energy_ratio"), number(row, "tau_4096")), (1.0, 1.0));
        assert_eq!(row["told_apart"], "false");
    }
}

#[test]
fn effects_are_the_differences_of_the_runs_that_have_the_level() {
    let rows =
        rows(&["--only", "--factor", "hardware.clock_mhz=500,x2", "--factor", "score.k_per_ms=1"]);
    let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
    let base = mean(scores(&[]));
    for (key, level, setting) in [
        ("hardware.clock_mhz", "500", "hardware.clock_mhz=500"),
        // The platform has 1000 MHz.
        ("hardware.clock_mhz", "x2", "hardware.clock_mhz=2000"),
        ("score.k_per_ms", "1", "score.k_per_ms=1"),
    ] {
        let row = &rows[&(key.to_string(), level.to_string())];
        let changed = mean(scores(&["--set", setting]));
        // The same sums in another order.
        assert!((number(row, "change") - (changed - base)).abs() < 1e-12, "{row:?}");
        assert!((number(row, "score") - changed).abs() < 1e-12, "{row:?}");
    }
    let text =
        output(&[&["sensitivity"], &RUNS[..12], &["--only", "--factor", "pes=8192"]].concat());
    assert!(text.contains("base: score") && text.contains("assumed (principled)"), "{text}");
}

#[test]
fn default_factors_are_sorted_by_effect_and_levels_that_cannot_be_had_are_left_out() {
    let text = output(&[&["sensitivity"], &RUNS[..]].concat());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut sizes: Vec<(String, f64)> = Vec::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let size: f64 = row[5].parse::<f64>().expect("a number").abs();
        match sizes.last_mut().filter(|(key, _)| *key == row[0]) {
            Some((_, largest)) => *largest = largest.max(size),
            None => sizes.push((row[0].to_string(), size)),
        }
    }
    assert!(sizes.len() > 25, "{sizes:?}");
    assert!(sizes.is_sorted_by(|a, b| a.1 >= b.1), "{sizes:?}");
    let artifact =
        ["sensitivity", "--semantics", "mlsys2023", "--scenario", "VR_gaming", "--system", "A"];
    let text = output(&[&artifact[..], &["--pes", "4096", "--replications", "1"]].concat());
    assert!(text.contains("load.jitter is left out: the published artifact fixes it"), "{text}");
    assert!(text.contains("load.trigger_probability"), "{text}");
}

#[test]
fn a_screening_design_writes_its_effects_and_a_chart() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let out = folder.path().to_str().expect("the path is UTF-8");
    let factors =
        ["--factor", "hardware.clock_mhz=x0.5,x2", "--factor", "score.k_per_ms=1,100", "--only"];
    let design = ["--screening", "--out", out];
    let text = output(&[&["sensitivity"], &RUNS[..12], &factors[..], &design[..]].concat());
    assert!(
        text.contains("2 factors at two levels in 16 settings") && text.contains("resolution IV"),
        "{text}"
    );
    for name in ["sensitivity.csv", "tornado.svg", "tornado.png", "tornado.csv", "sensitivity.json"]
    {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    // Both factors at two levels: the mean of the differences at both levels of the other one.
    let score = |clock: &str, k: &str| {
        let [clock, k] = [format!("hardware.clock_mhz={clock}"), format!("score.k_per_ms={k}")];
        let scores = scores(&["--set", &clock, "--set", &k]);
        scores.iter().sum::<f64>() / scores.len() as f64
    };
    let [slow, fast] = ["500", "2000"].map(|clock| (score(clock, "1") + score(clock, "100")) / 2.0);
    let csv = std::fs::read_to_string(folder.path().join("sensitivity.csv")).expect("a table");
    let row =
        csv.lines().find(|line| line.starts_with("hardware.clock_mhz,x0.5,x2,")).expect("a row");
    let change: f64 = row.split(',').nth(3).and_then(|cell| cell.parse().ok()).expect("a number");
    assert!((change - (fast - slow)).abs() < 1e-12, "{change} is not {}", fast - slow);
}

#[test]
fn bad_factors_are_refused_with_the_nearest_name_or_the_allowed_values() {
    let refusal =
        |factor: &str| refused(&[&["sensitivity"], &RUNS[..], &["--factor", factor]].concat());
    assert!(
        refusal("hardware.dram_latency=5").contains("did you mean `hardware.dram_latency_cycles`?")
    );
    assert!(refusal("load.deadline_factor=0").contains("from 0.001 to 1000"));
    assert!(refusal("hardware.clock_mhz=x0").contains("a multiple such as `x0.5`"));
    assert!(refusal("scenario=AR_gaming").contains("cannot be a factor"));
    assert!(refusal("scheduler=edff").contains("did you mean `edf`?"));
    assert!(refused(&["sensitivity", "--only"]).contains("--factor"));
}

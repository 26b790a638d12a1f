//! Marking of random results: marks and footnotes in tables of runs, confidence intervals, and statements
//! about the best.

use crate::support::binary;

use std::fs;

use binary::{output, path};
use tempfile::tempdir;

/// Options with more scenarios and systems than a table with every column has.
const MANY: [&str; 5] = ["run", "--scenario", "outdoor_activity_A", "--scenario", "AR_gaming"];

fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [first, more].concat()
}

fn header(table: &str) -> &str {
    table.lines().next().expect("a table has a header")
}

#[test]
fn a_matrix_of_one_draw_says_so_and_names_no_best() {
    let table = output(&with(&MANY, &["--seed", "7", "--replications", "1"]));
    assert!(header(&table).contains("outdoor_activity_A~"), "{table}");
    assert!(header(&table).contains("XRBench score~"), "{table}");
    assert!(!table.contains('*') && !table.contains("best of its size"), "{table}");
    assert!(table.contains("~ one draw (seed 7)") && table.contains("triggers, jitter"), "{table}");
    assert!(table.contains("--replications"), "{table}");
}

#[test]
fn without_draws_the_best_is_named_and_the_scores_are_exact() {
    let fixed = ["--set", "load.jitter=false", "--set", "load.trigger_probability=1", "--matrix"];
    let table = output(&with(&MANY, &fixed));
    assert!(!table.contains('~') && table.contains("* best of its size"), "{table}");
    assert!(table.contains("no random draws"), "{table}");
    let artifact = ["--semantics", "mlsys2023"];
    let table = output(&with(&MANY, &artifact));
    assert!(header(&table).contains("outdoor_activity_A~"), "{table}");
    assert!(!header(&table).contains("AR_gaming~"), "the artifact never uses its jitter: {table}");
}

/// The interval is that of Student with Hall's correction for half of the skewness, which is small here: t(29) times the
/// standard error, and at most a tenth more.
#[test]
fn plus_minus_is_half_of_the_interval_of_the_mean() {
    let run = ["run", "--scenario", "outdoor_activity_A", "--system", "C", "--pes", "4096"];
    let run = with(&run, &["--replications", "30", "--platform", "paper"]);
    let csv = output(&with(&run, &["--format", "csv"]));
    let mut lines = csv.lines();
    let column = lines.next().and_then(|it| it.split(',').position(|name| name == "score"));
    let column = column.expect("a column `score`");
    let cell = |line: &str| line.split(',').nth(column).and_then(|it| it.parse::<f64>().ok());
    let scores: Vec<f64> = lines.map(|line| cell(line).expect("a score")).collect();
    let mean = scores.iter().sum::<f64>() / 30.0;
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    let half = 2.045_229_642 * (squares / 29.0 / 30.0).sqrt();
    let cubes: f64 = scores.iter().map(|score| (score - mean).powi(3)).sum();
    let skewness = cubes / 30.0 / (squares / 29.0).powf(1.5);
    let a = 0.5 * skewness.abs() / 30f64.sqrt();
    let longer = 3.0 / a * (1.0 - (1.0 - a * (2.045_229_642 + a / 6.0)).cbrt()) / 2.045_229_642;
    assert!((1.0..1.1).contains(&longer), "{longer}");
    let (table, half) = (output(&run), half * longer);
    assert!(
        table.contains(&format!("{mean:.3} +- {half:.3}").replace("+- 0.000", "+- <0.001")),
        "{mean} {half}\n{table}"
    );
    assert!(table.contains("means of 30 draws") && table.contains("95 %"), "{table}");
}

#[test]
fn a_best_among_replications_is_named_only_where_the_differences_tell_it_apart() {
    for (n, sign) in [("2", '?'), ("4", '*')] {
        let table = output(&with(&MANY, &["--replications", n, "--matrix"]));
        assert!(table.contains(&format!("means of {n} draws")), "{table}");
        assert!(table.contains("no 95 % intervals below 25 draws"), "{table}");
        let marked = table.lines().skip(1).take(26).any(|line| line.contains(sign));
        assert!(marked && !table.contains("+-"), "{sign}: {table}");
        let said = table.contains("? not significantly different from the best");
        assert_eq!(said, table.lines().take(27).any(|line| line.contains('?')), "{table}");
    }
}

#[test]
fn equal_values_have_no_spread() {
    let run = ["run", "--scenario", "AR_gaming", "--system", "A", "--pes", "4096"];
    let table = output(&with(&run, &["--set", "load.jitter=false", "--replications", "3"]));
    assert!(table.contains("no spread") && !table.contains("+-"), "{table}");
}

/// Output of one run of a scenario of the user with its own sensor.
fn own(jitter_ms: &str, probability: &str, more: &[&str]) -> String {
    let folder = tempdir().expect("a folder can be made");
    let text = format!(
        "scenario:\n  name: own\n  sensors:\n    s: {{rate_fps: 30, max_jitter_ms: {jitter_ms}}}\n  \
         models:\n    - {{network: KD, fps: 3, inputs: [s]}}\n    - {{network: SR, fps: 3, inputs: [s], \
         depends_on: {{KD: {{control: {{probability: {probability}}}}}}}}}\n"
    );
    let file = path(&folder, "own.yaml");
    fs::write(&file, text).expect("the file can be written");
    let run = ["run", "--scenario", &file, "--system", "A", "--pes", "4096", "--replications", "1"];
    output(&with(&run, more))
}

/// The rule depends on the draws, not on names.
#[test]
fn a_run_is_random_where_something_of_it_is_drawn() {
    let phase = ["--set", "load.random_phase=true"];
    for (jitter, probability, more, drawn) in [
        ("0", "1", &[][..], None),
        ("0", "0", &[], None),
        ("0", "0.5", &[], Some("triggers")),
        ("0.05", "1", &[], Some("jitter")),
        ("0", "1", &phase, Some("phases")),
        ("0.05", "0.5", &phase, Some("triggers, jitter, phases")),
        ("0.05", "0.5", &["--set", "load.jitter=false"], Some("triggers")),
    ] {
        let table = own(jitter, probability, more);
        match drawn {
            None => assert!(!table.contains('~') && table.contains("no random draws"), "{table}"),
            Some(names) => {
                assert!(table.contains("own~"), "{jitter} {probability}: {table}");
                assert!(
                    table.contains(&format!("one draw (seed 0) of {names},")),
                    "{names}: {table}"
                );
            }
        }
    }
}

#[test]
fn a_comparison_of_one_draw_says_so_and_explains_its_columns() {
    let compare = ["compare", "--scenario", "outdoor_activity_A", "--system", "J", "--pes", "4096"];
    let compare = with(&compare, &["--scheduler", "edf", "--scheduler", "fcfs"]);
    let once = output(&with(&compare, &["--replications", "1"]));
    assert!(once.contains("1 replication: one draw of triggers, jitter"), "{once}");
    assert!(!once.contains("+- 0"), "{once}");
    let text = output(&with(&compare, &["--replications", "3", "--explain-columns"]));
    for said in [
        "no 95 % intervals below 25 draws",
        "paired t-test",
        "Holm",
        "wins, ties: number of configurations",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(
        ["UB1", "UB2", "UB3"].iter().all(|bound| text.contains(&format!("  {bound} "))),
        "{text}"
    );
}

/// A single layer of PD dominates AR_gaming under the lists of directives of the styles.
#[test]
fn a_score_that_hangs_on_one_layer_says_so() {
    let none = ["--flexibility", "none"];
    let table = output(&with(&["run", "--scenario", "AR_gaming", "--pes", "4096"], &none));
    let notes: Vec<&str> = table.lines().filter(|line| line.starts_with("note: ")).collect();
    let note = notes.first().expect("a note at the foot");
    assert!(
        note.contains("AR_gaming: on 13 systems") && note.contains(" of the time of PD "),
        "{note}"
    );
    // Several systems: no single command costs the layer as they do.
    assert!(!note.contains("xrsim cost"), "{note}");
    assert!(notes.len() <= 3, "{table}");
    let small = ["run", "--scenario", "social_interactionB", "--system", "A", "--pes", "4096"];
    assert!(!output(&small).contains(" of PD takes "));
}

/// A front with more designs than a figure can show is thinned and not refused.
#[test]
fn a_front_of_very_many_designs_is_drawn() {
    let folder = tempdir().expect("a folder can be made");
    let rows = (0..25_000).map(|i| format!("{i},x{i},X,A,{},0,{},{}\n", i + 1, i, 1000 + i));
    let text = "point,id,scenario,system,pes,seed,score,energy_mj\n".to_string();
    let sweep = path(&folder, "sweep.csv");
    fs::write(&sweep, rows.fold(text, |text, row| text + &row)).expect("the file can be written");
    let picture = path(&folder, "front.svg");
    let table = output(&["plot", &sweep, "--kind", "pareto", "--out", &picture]);
    assert!(table.contains("one draw of each run"), "it says how many draws");
    let drawn = fs::read_to_string(folder.path().join("front.csv")).expect("its data");
    assert!((10_000..=20_001).contains(&drawn.lines().count()), "{}", drawn.lines().count());
    assert!(fs::read_to_string(&picture).expect("a picture").contains("One in "));
}

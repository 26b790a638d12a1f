//! `xrsim run` with frames that do not count, runs that fail, and too many threads or requests.

use std::fs;

use crate::support::binary::{after, output, path, refused, stderr, stdout, xrsim};
use tempfile::tempdir;

const RUN: [&str; 7] = ["run", "--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];

fn run(more: &[&str]) -> Vec<String> {
    RUN.iter().chain(more).map(|text| text.to_string()).collect()
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Frames start every 16.7 ms or more, the last one 983.3 ms after the first.
#[test]
fn a_run_without_a_frame_that_counts_has_no_score() {
    let message = refused(&words(&run(&["--set", "score.warm_up_ms=999"])));
    assert!(message.contains("no score for VR_gaming on A: no frame is counted"), "{message}");
    assert!(message.contains("no run was feasible"), "{message}");
    output(&words(&run(&["--set", "score.warm_up_ms=983"])));
    let ones = ["--set", "score.never_triggered=one", "--set", "score.warm_up_ms=999"];
    assert!(output(&words(&run(&ones))).contains("1.000"));
}

#[test]
fn frames_of_the_warm_up_are_marked() {
    let folder = tempdir().expect("a folder can be made");
    let out = path(&folder, "out");
    output(&words(&run(&["--set", "score.warm_up_ms=500", "--out", &out])));
    let mut table = csv::Reader::from_path(format!("{out}/inferences.csv")).expect("a table");
    let columns = table.headers().expect("a header").clone();
    let column = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let (model, frame, counted) = (column("model"), column("frame"), column("counted"));
    let mut first = [("HT", 23), ("ES", 30), ("GE", 30)].to_vec();
    for row in table.records() {
        let row = row.expect("a row");
        let (_, first) = first.iter_mut().find(|(name, _)| *name == &row[model]).expect("a model");
        let is_counted = row[frame].parse::<u32>().expect("a number") >= *first;
        assert_eq!(&row[counted], if is_counted { "yes" } else { "no" }, "{row:?}");
    }
    output(&["report", &out, "--out", &path(&folder, "page.html")]);
}

/// Threads make the text of rows, unless the whole run is needed for its trace.
#[test]
fn files_are_the_same_whether_threads_make_their_rows_or_not() {
    let folder = tempdir().expect("a folder can be made");
    let [by_threads, traced, trace] =
        ["threads", "traced", "trace.json"].map(|it| path(&folder, it));
    output(&words(&run(&["--out", &by_threads])));
    output(&words(&run(&["--out", &traced, "--trace", &trace])));
    for name in ["scores.csv", "models.csv", "inferences.csv"] {
        let [a, b] = [&by_threads, &traced]
            .map(|it| fs::read_to_string(format!("{it}/{name}")).expect("it was written"));
        assert_eq!(a, b, "{name}");
        assert!(a.lines().count() > 1, "{name}");
    }
}

/// A scheduler that gives up every request, except that its first process ends by itself.
#[cfg(unix)]
#[test]
fn a_replication_that_fails_does_not_hide_the_others_and_is_told_by_the_exit_status() {
    let folder = tempdir().expect("a folder can be made");
    let script = "mkdir \"$0\" 2>/dev/null && exit 3; read -r setup; n=0; while read -r view; do n=$((n+1)); \
                  echo {\\\"id\\\":$n,\\\"do\\\":\\\"wait\\\"}; done";
    let first = path(&folder, "first");
    let first = shlex::try_quote(&first).expect("a path has no null character");
    let policy = format!("external:sh -c '{script}' {first}");
    let arguments = run(&["--replications", "3", "--duration", "50", "--scheduler", &policy]);
    let assert = xrsim(&words(&arguments)).assert().code(1);
    let (table, message) = (stdout(&assert), stderr(&assert));
    assert!(table.contains("0.000 no spread"), "{table}");
    assert!(message.contains(" of 0 to 2: scheduler external:"), "{message}");
    assert!(message.contains("ended without an answer (exit status: 3)"), "{message}");
    assert!(message.contains("error: 1 of 3 runs failed; means are over the others"), "{message}");
}

#[test]
fn a_number_of_threads_that_cannot_be_is_refused() {
    for threads in ["20000", "many"] {
        let assert = xrsim(&RUN).env("RAYON_NUM_THREADS", threads).assert().code(2);
        let expected = format!(
            "error: RAYON_NUM_THREADS is `{threads}`; allowed is a whole number from 1 to 1024, or 0 \
             for one thread per core\n"
        );
        assert_eq!(stderr(&assert), expected);
    }
}

/// 256 stacks do not fit. If the shell cannot limit memory, the test checks nothing.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_an_error_and_no_panic() {
    let mut shell = after("ulimit -v 200000", &RUN);
    let assert = shell.env("RAYON_NUM_THREADS", "256").assert().code(2);
    let message = stderr(&assert);
    assert!(message.starts_with("error: cannot start 256 threads: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

/// Half a day with 165 requests per second. The output cannot be written, so nothing is run.
#[test]
fn memory_is_told_before_it_is_taken() {
    let folder = tempdir().expect("a folder can be made");
    fs::write(folder.path().join("file"), "").expect("a file can be written");
    let out = path(&folder, "file/results");
    let message = refused(&words(&run(&["--duration", "6e7", "--out", &out])));
    let note = "note: the runs take about 1.5 GB of memory, by the number of their requests; \
                a shorter --duration takes less\n";
    assert!(message.starts_with(note), "{message}");
    let message = refused(&words(&run(&["--duration", "4e7", "--out", &out])));
    assert!(!message.contains("memory"), "{message}");
}

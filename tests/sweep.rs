//! Sweeps as a user meets them: rows, interruptions, parts, messages; and the layer costs they share.

#[path = "support/binary.rs"]
mod binary;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use binary::{stderr, stdout, xrsim};
use tempfile::{TempDir, tempdir};

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::{CostModel, Infeasible, LayerCost};
use xrsim::hardware::{Accelerator, System};
use xrsim::model::Operator;

/// Twelve points, four of them without scores: WS needs 256 PEs, of which 3/4 of 96 and 96 are too few.
const SPEC: &str = "\
sweep:
  name: small
  grid:
    scenario: [VR_gaming, AR_gaming]
    system: [\"WS:3 + OS:1\", A]
    pes: [4096, 1000, 96]
  replications: 1
";

/// A folder with a sweep in `spec.yaml`.
struct Study {
    folder: TempDir,
}

impl Study {
    fn of(spec: &str) -> Self {
        let study = Self { folder: tempdir().expect("a folder can be made") };
        fs::write(study.path("spec.yaml"), spec).expect("a file can be written");
        study
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = xrsim(arguments);
        command.current_dir(self.folder.path());
        command
    }

    /// Standard output and standard error of a command that succeeds.
    fn done(&self, arguments: &[&str]) -> (String, String) {
        let assert = self.command(arguments).assert().success();
        (stdout(&assert), stderr(&assert))
    }

    /// Standard error of a command that is refused.
    fn refused(&self, arguments: &[&str]) -> String {
        stderr(&self.command(arguments).assert().code(2))
    }

    /// The file that `arguments` make.
    fn sweep(&self, out: &str, arguments: &[&str]) -> String {
        self.done(&[&["sweep", "--out", out], arguments].concat());
        self.read(out)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file is there")
    }
}

/// The cell of `row` in `column`; for rows without quoted cells.
fn cell<'r>(csv: &str, row: &'r str, column: &str) -> &'r str {
    let header = csv.lines().next().expect("there is a header");
    let at = header.split(',').position(|name| name == column).expect("the column is there");
    row.split(',').nth(at).expect("rows are as long as the header")
}

#[test]
fn rows_are_what_run_says_of_the_same_points() {
    let study = Study::of(
        "sweep:\n  name: s\n  grid:\n    scenario: [AR_gaming, outdoor_activity_A]\n    pes: [4096, 8192]\n    \
         system: [A, J]\n  replications: 2\n",
    );
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let scope = ["run", "--scenario", "AR_gaming", "--scenario", "outdoor_activity_A"];
    let systems = ["--system", "A", "--system", "J", "--replications", "2", "--format", "csv"];
    let (run, _) = study.done(&[&scope[..], &systems].concat());
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 2 * 2);
    for (index, (row, run)) in rows.lines().zip(run.lines()).enumerate() {
        // `point,id,<the columns of scores.csv>,reason`
        let inner = row.splitn(3, ',').nth(2).expect("a row has columns");
        match index {
            0 => assert_eq!(row, format!("point,id,{run},reason")),
            _ => assert_eq!(inner, format!("{run},")),
        }
    }
}

#[test]
fn points_without_scores_are_rows_with_a_reason() {
    let study = Study::of(SPEC);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let has_score = |row| !cell(&rows, row, "score").is_empty();
    let has_scores: Vec<_> = rows.lines().skip(1).map(has_score).collect();
    assert_eq!(has_scores, [[true, true, false, true, true, false]; 2].concat());
    for pes in [72, 96] {
        let reason =
            format!(",\"accelerator `WS-0` has {pes} PEs, but one unit of dataflow WS needs 256");
        assert_eq!(rows.matches(&reason).count(), 2, "{rows}");
    }
    let uneven = study.sweep("uneven.csv", &["--system", "WS:3 + OS:1", "--pes", "4098"]);
    let reason = "style WS:3 + OS:1 cannot split 4098 PEs 3:1: 4098 is not a multiple of 4";
    assert_eq!(uneven.matches(reason).count(), 7, "{uneven}");
}

#[test]
fn a_file_that_ends_at_any_byte_of_its_last_row_becomes_whole_again() {
    let study =
        Study::of("sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: [64, 96]}}");
    let whole = study.sweep("rows.csv", &["spec.yaml"]);
    let last = whole[..whole.len() - 1].rfind('\n').expect("there are two rows") + 1;
    for end in last..=whole.len() {
        fs::write(study.path("rows.csv"), &whole[..end]).expect("the file can be written");
        assert_eq!(study.sweep("rows.csv", &["spec.yaml"]), whole, "cut at byte {end}");
    }
    for end in [0, 1, whole.find('\n').expect("there is a header"), last - 1] {
        fs::write(study.path("rows.csv"), &whole[..end]).expect("the file can be written");
        assert_eq!(study.sweep("rows.csv", &["spec.yaml"]), whole, "cut at byte {end}");
    }
}

/// Killed wherever it is, which differs from machine to machine; the file in the end does not.
#[test]
#[cfg(unix)]
fn a_killed_sweep_goes_on_to_the_same_file() {
    let spec =
        "sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: [4096]}, replications: 6000}";
    let study = Study::of(spec);
    let whole = study.sweep("whole.csv", &["spec.yaml"]);
    for wait_ms in [0, 5, 20, 40, 60, 80, 100] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_xrsim"))
            .args(["sweep", "spec.yaml", "--out", "rows.csv"])
            .current_dir(study.folder.path())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        // An error says that it was done before.
        let _ = child.kill();
        child.wait().expect("the child can be waited for");
    }
    assert_eq!(study.sweep("rows.csv", &["spec.yaml"]), whole);
}

#[test]
fn parts_join_to_the_file_of_the_whole_however_many_there_are() {
    let study = Study::of(SPEC);
    let whole = study.sweep("whole.csv", &["spec.yaml"]);
    for count in 1..=5usize {
        let names: Vec<_> = (1..=count)
            .map(|part| {
                study.done(&["sweep", "spec.yaml", "--shard", &format!("{part}/{count}")]);
                format!("spec.{part}-of-{count}.csv")
            })
            .collect();
        let mut shuffled: Vec<_> = names.iter().map(String::as_str).collect();
        shuffled.rotate_left(count / 2);
        shuffled.swap(0, count / 3);
        let out = format!("joined-{count}.csv");
        study.done(&[&["merge", "--out", &out], &shuffled[..]].concat());
        assert_eq!(study.read(&out), whole, "{count} parts");
        let (_, note) = study.done(&["sweep", "spec.yaml", "--out", &out]);
        assert!(note.contains("12 points, 0 of them new"), "{note}");
    }
}

#[test]
fn parts_that_are_no_whole_are_refused() {
    let study = Study::of(SPEC);
    for part in ["1/3", "2/3", "3/3"] {
        study.done(&["sweep", "spec.yaml", "--shard", part]);
    }
    let [first, second, third] = [1, 2, 3].map(|part| format!("spec.{part}-of-3.csv"));
    let merge = |files: &[&str]| study.refused(&[&["merge", "--out", "all.csv"], files].concat());
    let message = merge(&[&first, &third]);
    assert!(message.contains("points 4 to 7 are in none of the files"), "{message}");
    let message = merge(&[&first, &second]);
    assert!(message.contains("points 8 to 11 are in none of the files"), "{message}");
    let message = merge(&[&first, &second, &third, &second]);
    assert!(message.contains("point 4 is in another file too"), "{message}");
    let rows = study.read(&second);
    fs::write(study.path(&second), &rows[..rows.len() - 5]).expect("the file can be written");
    let message = merge(&[&first, &second, &third]);
    assert!(message.contains("3 of its 4 points are there"), "{message}");
    study.done(&["sweep", "--scenario", "VR_gaming", "--system", "A", "--out", "other.csv"]);
    let message = merge(&[&first, "other.csv"]);
    assert!(message.contains("are not of one sweep: the keys or values"), "{message}");
    let message = merge(&["spec.yaml"]);
    assert!(message.contains("spec.yaml.json is absent"), "{message}");
    assert!(!study.path("all.csv").exists());
}

#[test]
fn the_bytes_are_the_same_at_any_number_of_threads() {
    let study = Study::of(SPEC);
    let sweep = |threads: &str| {
        let out = format!("{threads}.csv");
        let mut command = study.command(&["sweep", "spec.yaml", "--out", &out]);
        command.env("RAYON_NUM_THREADS", threads).assert().success();
        study.read(&out)
    };
    let one = sweep("1");
    assert_eq!(one, sweep("2"));
    assert_eq!(one, sweep("7"));
}

#[test]
fn options_make_the_same_rows_as_a_file() {
    let study = Study::of(
        "sweep:\n  name: s\n  grid:\n    scenario: [VR_gaming]\n    pes: 1024..4096 step x2\n    \
         system: [A, \"WS:3 + OS:1\"]\n    score.k_per_ms: [5, 15]\n  replications: 2\n",
    );
    let of_file = study.sweep("file.csv", &["spec.yaml"]);
    let scope = ["--scenario", "VR_gaming", "--pes", "1024..4096 step x2", "--system", "A"];
    let rest = ["--system", "WS:3 + OS:1", "--set", "score.k_per_ms=5, 15", "--replications", "2"];
    assert_eq!(study.sweep("options.csv", &[&scope[..], &rest].concat()), of_file);
    assert_eq!(of_file.lines().count(), 1 + 3 * 2 * 2 * 2);
    let header = of_file.lines().next().expect("there is a header");
    assert!(header.contains(",replication,score.k_per_ms,realtime,"), "{header}");
}

#[test]
fn paths_in_a_sweep_are_relative_to_it() {
    let study = Study::of("sweep: {name: s, grid: {scenario: my/vr.yaml, system: A, pes: 96}}");
    fs::create_dir(study.path("sub")).expect("a folder can be made");
    fs::create_dir(study.path("my")).expect("a folder can be made");
    let (scenario, _) = study.done(&["show", "VR_gaming"]);
    fs::write(study.path("my/vr.yaml"), scenario).expect("a file can be written");
    let here = study.sweep("here.csv", &["spec.yaml"]);
    let mut command = study.command(&["sweep", "../spec.yaml", "--out", "there.csv"]);
    command.current_dir(study.path("sub")).assert().success();
    assert_eq!(study.read("sub/there.csv"), here);
}

#[test]
fn a_file_goes_on_only_with_what_it_began_with() {
    let study = Study::of("sweep: {name: s, grid: {scenario: my.yaml, system: A, pes: [96, 128]}}");
    let (scenario, _) = study.done(&["show", "VR_gaming"]);
    fs::write(study.path("my.yaml"), &scenario).expect("a file can be written");
    let whole = study.sweep("rows.csv", &["spec.yaml"]);
    let again = ["sweep", "spec.yaml", "--out", "rows.csv"];

    fs::write(study.path("my.yaml"), scenario.replace("fps: 60", "fps: 30")).expect("written");
    let message = study.refused(&again);
    assert!(message.contains("my.yaml has changed; --restart begins it anew"), "{message}");
    assert_eq!(study.read("rows.csv"), whole);
    fs::write(study.path("my.yaml"), &scenario).expect("a file can be written");

    let spec = study.read("spec.yaml");
    fs::write(study.path("spec.yaml"), spec.replace("128", "160")).expect("written");
    let message = study.refused(&again);
    assert!(message.contains("the keys or values of the sweep have changed"), "{message}");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "rows.csv", "--shard", "1/2"]);
    assert!(message.contains("the keys or values of the sweep have changed"), "{message}");
    assert_eq!(study.read("rows.csv"), whole);
    // Neither comments nor blanks are what a sweep says.
    fs::write(study.path("spec.yaml"), format!("# mine\n{spec}\n")).expect("written");
    let (_, note) = study.done(&again);
    assert!(note.contains("2 points, 0 of them new"), "{note}");

    let manifest = study.read("rows.csv.json");
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version), "{manifest}");
    let older = manifest.replace(&version, "\"version\":\"0.0.1\"");
    fs::write(study.path("rows.csv.json"), older).expect("a file can be written");
    let message = study.refused(&again);
    assert!(message.contains("made by xrsim 0.0.1"), "{message}");

    fs::write(study.path("rows.csv.json"), "{}").expect("a file can be written");
    let message = study.refused(&again);
    assert!(message.contains("not the record of a sweep"), "{message}");
    study.done(&[&again[..], &["--restart"]].concat());
    assert_eq!(study.read("rows.csv"), whole);
}

#[test]
fn files_that_are_no_rows_are_left_alone() {
    let study = Study::of(SPEC);
    fs::write(study.path("mine.csv"), "important\n").expect("a file can be written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "mine.csv"]);
    assert!(message.contains("it is not the file of a sweep"), "{message}");
    assert_eq!(study.read("mine.csv"), "important\n");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "/dev/null"]);
    assert!(message.contains("not a file, which a sweep could go on with"), "{message}");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "absent/rows.csv"]);
    assert!(message.contains("cannot write absent/rows.csv"), "{message}");
}

/// What `xrsim check` says of a sweep, without the path.
fn messages(spec: &str) -> Vec<String> {
    let study = Study::of(spec);
    let assert = study.command(&["check", "spec.yaml"]).assert().code(1);
    let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let lines = text.lines().filter(|line| !line.starts_with("1 of 1 files"));
    let plain = |line: &str| {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        line.strip_prefix("spec.yaml:").unwrap_or(line).to_string()
    };
    lines.map(plain).collect()
}

#[test]
fn problems_of_a_sweep_are_reported_together_with_their_places() {
    let bad = "\
sweep:
  name: s
  grid:
    scenarios: [VR_gaming]
    pes: [4096, many, 0]
    semantics: mlsys
    score.k_pre_ms: 5
    load.trigger_probability: 0..2 step 1
    engine.grace_ms: 5..1
    scheduler: [edf, lff]
";
    assert_eq!(
        messages(bad),
        ["9:22: 5 to 1 goes downward (a range is FIRST..LAST, FIRST..LAST step N, or FIRST..LAST \
          step xN)"]
    );
    assert_eq!(
        messages(&bad.replace("5..1", "1..5")),
        [
            "4:5: a sweep has no key `scenarios` (did you mean `scenario`?)",
            "5:17: `pes` is `many` (allowed is a whole number from 1 to 16777216)",
            "5:23: `pes` is `0` (allowed is a whole number from 1 to 16777216)",
            "6:16: no semantics named `mlsys` (did you mean `mlsys2023`?)",
            "7:5: a sweep has no key `score.k_pre_ms` (did you mean `score.k_per_ms`?)",
            "8:31: `load.trigger_probability` is `2` (allowed is a number from 0 to 1, or `scenario`)",
            "10:22: no scheduler named `lff` (did you mean `llf`?)",
        ]
    );
}

#[test]
fn names_and_files_of_a_sweep_are_looked_up_before_anything_runs() {
    let spec = "\
sweep:
  name: s
  grid:
    scenario: [VR_gamin, absent.yaml]
    system: [Z, \"WS:0 + OS:1\", \"WS + XS\"]
    platform: papre
    cost_model: rooflin
";
    let found = messages(spec);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("5:14: no system named `Z` (known: A, B, C"), "{found:#?}");
    assert!(
        found[1].starts_with("5:17: `WS:0 + OS:1`: expected a dataflow and its share of the PEs"),
        "{found:#?}"
    );
    assert!(found[2].starts_with("5:32: no dataflow named `WS + XS`"), "{found:#?}");
    let found = messages(&spec.replace("[Z, \"WS:0 + OS:1\", \"WS + XS\"]", "A"));
    let starts =
        ["4:16: no scenario named `VR_gamin` (did you mean `VR_gaming`?)", "4:26: absent.yaml: "];
    for (line, start) in found.iter().zip(starts) {
        assert!(line.starts_with(start), "{found:#?}");
    }
}

#[test]
fn hostile_products_are_refused_with_their_number() {
    let axes = "{seed: 0..9999, replication: 0..9999, pes: 1..10000}";
    let spec =
        format!("sweep: {{name: s, points: [{{scenario: VR_gaming, system: A}}], grid: {axes}}}");
    assert_eq!(messages(&spec), ["1:1: 1000000000000 points; at most 100000000 are allowed"]);
    let endless = "sweep: {name: s, grid: {seed: 0..1e15}}";
    assert!(messages(endless)[0].contains("more than 100000 values"), "{:?}", messages(endless));
    let twice = "sweep: {name: s, grid: {seed: [1, 2, 1]}}";
    assert_eq!(messages(twice), ["1:38: given twice"]);
    let same = "sweep: {name: s, grid: {system: [J, j]}}";
    assert_eq!(messages(same), ["1:37: `j` and `J` are both called `J`"]);
}

#[test]
fn systems_in_full_fix_their_pes() {
    let both = "sweep: {name: s, grid: {scenario: VR_gaming, system: [A, three_unequal]}}";
    assert!(messages(both)[0].contains("fixes its own PEs"), "{:?}", messages(both));
    let points = "{system: three_unequal}, {system: A, pes: 96}, {system: A}";
    let study = Study::of(&format!(
        "sweep: {{name: s, points: [{points}], grid: {{scenario: VR_gaming}}}}"
    ));
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let systems: Vec<_> = rows.lines().skip(1).map(|row| cell(&rows, row, "system")).collect();
    assert_eq!(systems, ["three_unequal", "A", "A"]);
    assert!(!cell(&rows, rows.lines().nth(1).expect("a row"), "score").is_empty());
    assert!(rows.lines().nth(3).is_some_and(|row| row.ends_with("style A needs `pes`")), "{rows}");
}

#[test]
fn points_may_differ_in_what_they_give() {
    let points = "{semantics: mlsys2023}, {cost_model: roofline}, {platform: eyeriss}, {seed: 7}";
    let study = Study::of(&format!(
        "sweep: {{name: s, points: [{points}], grid: {{scenario: VR_gaming, system: A, pes: 4096}}}}"
    ));
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let said: Vec<_> = rows
        .lines()
        .skip(1)
        .map(|row| ["semantics", "cost_model", "platform", "seed"].map(|it| cell(&rows, row, it)))
        .collect();
    assert_eq!(
        said,
        [
            ["mlsys2023", "mlsys2023", "", "0"],
            ["principled", "roofline", "", "0"],
            ["principled", "principled", "eyeriss", "0"],
            ["principled", "principled", "", "7"],
        ]
    );
    let lacking =
        "sweep: {name: s, points: [{system: A, pes: 96}, {scenario: VR_gaming, system: A}]}";
    assert_eq!(messages(lacking), ["1:36: this point has no `scenario`, which others have"]);
}

#[test]
fn what_has_no_effect_under_the_semantics_is_a_reason() {
    let study = Study::of(SPEC);
    let scope = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];
    let axes = ["--semantics", "principled,mlsys2023", "--scheduler", "edf"];
    let rows = study.sweep("rows.csv", &[&scope[..], &axes].concat());
    let scores: Vec<_> =
        rows.lines().skip(1).map(|row| !cell(&rows, row, "score").is_empty()).collect();
    assert_eq!(scores, [true, false]);
    assert!(rows.contains("scheduler has no effect under --semantics mlsys2023"), "{rows}");
}

/// `beta=2` belongs to the policy before it, between commas and in a list of YAML.
#[test]
fn lists_of_schedulers_keep_parameters_with_their_policy() {
    let spec = "\
sweep:
  name: policies
  grid:
    scenario: VR_gaming
    system: A
    pes: 4096
    scheduler: [edf, dream:alpha=0.5, beta=2, \"llf:hysteresis=0,estimate=mean\", fcfs]
";
    let study = Study::of(spec);
    let expected = ["edf", "dream:alpha=0.5,beta=2", "llf:hysteresis=0,estimate=mean", "fcfs"];
    let schedulers = |rows: &str| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(rows.as_bytes());
        let column = reader.headers().expect("a header").iter().position(|it| it == "scheduler");
        let rows = reader.records().map(|row| row.expect("rows are even"));
        rows.map(|row| row[column.expect("it is there")].to_string()).collect()
    };
    assert_eq!(schedulers(&study.sweep("file.csv", &["spec.yaml"])), expected);
    let options = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096", "--scheduler"];
    let list = ["edf, dream:alpha=0.5, beta=2,llf:hysteresis=0,estimate=mean,fcfs"];
    let rows = study.sweep("options.csv", &[&options[..], &list].concat());
    assert_eq!(schedulers(&rows), expected);
    let wrong = spec.replace("beta=2", "gamma=2");
    let known = "alpha, beta, switch_pj, drop, drops, window, admission, epsilon_ms, guard_ms, \
                 granularity, block_ms, preemption";
    assert_eq!(
        messages(&wrong),
        [format!("7:22: dream has no parameter `gamma` (known: {known})")]
    );
}

#[test]
fn bandwidth_and_memory_of_the_chip_are_swept_and_run_alike() {
    let study = Study::of(SPEC);
    let scope = ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let keys = [
        "hardware.noc_bandwidth_bytes_per_cycle=128,256",
        "hardware.shared_memory_kib=1024,8192",
        "hardware.offchip_bandwidth_bytes_per_cycle=32,128",
        "hardware.clock_mhz=500,1000",
    ];
    for key in keys {
        let rows =
            study.sweep(&format!("{}.csv", key.len()), &[&scope[..], &["--set", key]].concat());
        let (name, values) = key.split_once('=').expect("a key has values");
        let (first, platform) = values.split_once(',').expect("there are two");
        for (row, value) in rows.lines().skip(1).zip([first, platform]) {
            let set = format!("{name}={value}");
            let arguments = [&["run"], &scope[..], &["--set", &set, "--format", "csv"]].concat();
            let (run, _) = study.done(&arguments);
            let run = run.lines().nth(1).expect("there is a row");
            assert_eq!(
                cell(&rows, row, "energy_mj"),
                run.rsplit(',').next().expect("cells"),
                "{set}"
            );
        }
        let (plain, _) = study.done(&[&["run"], &scope[..], &["--format", "csv"]].concat());
        let plain = plain.lines().nth(1).expect("there is a row").to_string();
        let last = rows.lines().last().expect("there are rows");
        assert_eq!(cell(&rows, last, "score"), plain.split(',').nth(12).expect("a score"), "{key}");
        let scores: Vec<_> = rows.lines().skip(1).map(|row| cell(&rows, row, "score")).collect();
        assert_ne!(scores[0], scores[1], "{key} has no effect");
    }
}

#[test]
fn plots_are_drawn_from_a_sweep_and_never_in_its_place() {
    let study = Study::of(SPEC);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    for kind in [["--kind", "pareto"], ["--kind", "heatmap"]] {
        let name = format!("{}.svg", kind[1]);
        study.done(&[&["plot", "rows.csv", "--out", &name], &kind[..]].concat());
        assert!(study.read(&name).starts_with("<svg"), "{name}");
        assert!(study.path(&name).with_extension("csv").exists());
        let message =
            study.refused(&[&["plot", "rows.csv", "--out", "rows.svg"], &kind[..]].concat());
        assert!(message.contains("would take the place of rows.csv"), "{message}");
    }
    assert_eq!(study.read("rows.csv"), rows);
    let (best, _) = study.done(&["plot", "rows.csv", "--kind", "best"]);
    let scenarios: Vec<_> =
        best.lines().skip(1).map(|line| line.split_whitespace().next().expect("cells")).collect();
    assert_eq!(scenarios, ["VR_gaming", "AR_gaming", "mean"], "{best}");
    let (front, _) = study.done(&["plot", "rows.csv", "--kind", "pareto", "--z", "pes"]);
    assert!(front.starts_with("system"), "{front}");
    let message = study.refused(&["plot", "rows.csv", "--kind", "best", "--z", "scoer"]);
    assert!(message.contains("no column `scoer`; known: scenario"), "{message}");
    let message = study.refused(&["plot", "spec.yaml", "--kind", "best"]);
    assert!(message.contains("no column `scenario`"), "{message}");
}

/// Costs nothing and counts how often it is asked; two PEs are too few.
#[derive(Default)]
struct Counting(AtomicUsize);

impl CostModel for Counting {
    fn layer(&self, _: &Operator, accelerator: &Accelerator) -> Result<LayerCost, Infeasible> {
        Ok(LayerCost { cycles: accelerator.pes.into(), energy_nj: 1.0, ..LayerCost::default() })
    }

    fn network(
        &self,
        network: &xrsim::model::Network,
        accelerator: &Accelerator,
    ) -> Result<xrsim::cost::NetworkCost, Infeasible> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if accelerator.pes == 2048 {
            let accelerator = accelerator.name.clone();
            return Err(Infeasible::TooFewPes { accelerator, needed: 4096 });
        }
        xrsim::cost::NetworkCost::of_operators(network, accelerator, |operator| {
            self.layer(operator, accelerator)
        })
    }
}

fn system(catalog: &mut Catalog, mix: &str, pes: u32) -> Arc<System> {
    let platform = catalog.platform("paper").expect("the platform is there");
    let Ok(Hardware::Style(style)) = catalog.hardware(mix) else { panic!("{mix} is a style") };
    Arc::new(style.instantiate(pes, &platform).expect("the PEs divide"))
}

/// VR gaming has two networks, and `WS:1 + WS:1` two accelerators that cost the same.
#[test]
fn every_pair_of_network_and_accelerator_is_costed_once_for_a_whole_sweep() {
    let mut catalog = Catalog::new();
    let scenario = catalog.scenario("VR_gaming", Edition::Paper).expect("the scenario is there");
    let n_networks = scenario.models().len();
    let (twins, one) = (system(&mut catalog, "WS:1 + WS:1", 8192), system(&mut catalog, "A", 4096));
    let model = Counting::default();
    let mut library = CostLibrary::totals(&model);
    for _ in 0..3 {
        library.extend(&model, [(&*scenario, &*twins), (&*scenario, &*twins)]);
        assert_eq!(model.0.load(Ordering::Relaxed), n_networks);
    }
    library.extend(&model, [(&*scenario, &*one), (&*scenario, &*twins)]);
    // Half of the chip of 8192 PEs has 4096, but half of the bandwidth.
    assert_eq!(model.0.load(Ordering::Relaxed), 2 * n_networks);
    let table = library.table(&scenario, &twins).expect("it is feasible");
    assert_eq!(table, {
        let whole = CostLibrary::evaluate(&model, [(&*scenario, &*twins)]);
        let whole = whole.table(&scenario, &twins).expect("it is feasible");
        let bare = |model, accelerator| {
            let mut cost = whole.network(model, accelerator).clone();
            assert!(!cost.layers.is_empty());
            cost.layers.clear();
            Arc::new(cost)
        };
        let accelerators = (0..2).map(xrsim::ids::AccelId::new);
        let cells = scenario
            .model_ids()
            .flat_map(|id| accelerators.clone().map(move |accelerator| (id, accelerator)));
        xrsim::cost::CostTable::new(cells.map(|(id, at)| bare(id, at)).collect(), 2)
    });
}

/// The reason names the accelerator that was asked about, not the equal one that was costed first.
#[test]
fn what_is_said_of_a_system_does_not_depend_on_the_systems_before_it() {
    let mut catalog = Catalog::new();
    let scenario = catalog.scenario("VR_gaming", Edition::Paper).expect("the scenario is there");
    let first = system(&mut catalog, "WS:1 + OS:3", 8192);
    let second = system(&mut catalog, "OS:3 + WS:1", 8192);
    let model = Counting::default();
    let reason = |systems: &[&System]| {
        let library = CostLibrary::evaluate(&model, systems.iter().map(|it| (&*scenario, *it)));
        library.table(&scenario, &second).expect_err("2048 PEs are too few").to_string()
    };
    let alone = reason(&[&second]);
    assert!(alone.contains("WS-1"), "{alone}");
    assert_eq!(reason(&[&first, &second]), alone);
}

/// The shipped sweep is one, and its description says what it writes.
#[test]
fn the_shipped_sweep_runs() {
    let study = Study::of(SPEC);
    let scope = ["sweep", "pe_scaling", "--shard", "1/180", "--out", "one.csv"];
    study.done(&scope);
    assert_eq!(study.read("one.csv").lines().count(), 2);
    let (list, _) = study.done(&["list", "sweeps"]);
    assert!(list.contains("pe_scaling"), "{list}");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("sweeps/README.md").exists());
}

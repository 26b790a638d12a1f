//! Sweeps from the command line: rows, interruptions, parts, plots.

use crate::support::binary;
mod costs;
mod damage;
mod extension;
mod policies;
mod profiles;
mod specs;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use binary::{on_threads, process, stderr, stdout, xrsim};
use tempfile::{TempDir, tempdir};

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
    fn new(spec: &str) -> Self {
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
    let study = Study::new(
        "sweep:\n  name: s\n  grid:\n    scenario: [AR_gaming, outdoor_activity_A]\n    pes: [4096, 8192]\n    \
         system: [A, J]\n  replications: 2\n",
    );
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let scope = ["run", "--scenario", "AR_gaming", "--scenario", "outdoor_activity_A"];
    let systems = ["--system", "A", "--system", "J", "--replications", "2", "--format", "csv"];
    let (run, _) = study.done(&[&scope[..], &systems].concat());
    assert_eq!(rows.lines().count(), 1 + 2 * 2 * 2 * 2);
    for (index, (row, run)) in rows.lines().zip(run.lines()).enumerate() {
        // `point,id,<the columns of scores.csv>,reason,check`
        let (row, check) = row.rsplit_once(',').expect("a row has columns");
        let inner = row.splitn(3, ',').nth(2).expect("a row has columns");
        match index {
            0 => assert_eq!((row, check), (&*format!("point,id,{run},reason"), "check")),
            _ => assert_eq!((inner, check.len()), (&*format!("{run},"), 8)),
        }
    }
}

#[test]
fn points_without_scores_are_rows_with_a_reason() {
    let study = Study::new(SPEC);
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
        Study::new("sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: [64, 96]}}");
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

/// The moment of the kill differs from machine to machine; the final file does not.
#[test]
#[cfg(unix)]
fn a_killed_sweep_goes_on_to_the_same_file() {
    let spec =
        "sweep: {name: s, grid: {scenario: VR_gaming, system: A, pes: [4096]}, replications: 6000}";
    let study = Study::new(spec);
    let whole = study.sweep("whole.csv", &["spec.yaml"]);
    for wait_ms in [0, 5, 20, 40, 60, 80, 100] {
        let mut child = process(&["sweep", "spec.yaml", "--out", "rows.csv"])
            .current_dir(study.folder.path())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        // An error means that it ended before.
        let _ = child.kill();
        child.wait().expect("the child can be waited for");
    }
    assert_eq!(study.sweep("rows.csv", &["spec.yaml"]), whole);
}

#[test]
fn parts_join_to_the_file_of_the_whole_however_many_there_are() {
    let study = Study::new(SPEC);
    let whole = study.sweep("whole.csv", &["spec.yaml"]);
    for count in [1, 2, 5] {
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
        study.done(&[&["parts", "merge", "--out", &out], &shuffled[..]].concat());
        assert_eq!(study.read(&out), whole, "{count} parts");
        let (_, note) = study.done(&["sweep", "spec.yaml", "--out", &out]);
        assert!(note.contains("12 points, 0 of them new"), "{note}");
    }
}

#[test]
fn parts_that_are_no_whole_are_refused() {
    let study = Study::new(SPEC);
    for part in ["1/3", "2/3", "3/3"] {
        study.done(&["sweep", "spec.yaml", "--shard", part]);
    }
    let [first, second, third] = [1, 2, 3].map(|part| format!("spec.{part}-of-3.csv"));
    let merge =
        |files: &[&str]| study.refused(&[&["parts", "merge", "--out", "all.csv"], files].concat());
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

/// The twelve points with small networks, since every number of threads chooses all mappings anew.
#[test]
fn the_bytes_are_the_same_at_any_number_of_threads() {
    let study = Study::new(&SPEC.replace("[VR_gaming, AR_gaming]", "[words.yaml, shapes.yaml]"));
    let tiny = "network:\n  name: tiny\n  layers:\n    - conv: {k: 64, c: 32, y: 28, x: 28, r: 3, s: 3, pad: 1}\n    \
                - dwconv: {c: 64, y: 28, x: 28, r: 3, s: 3, pad: 1}\n    - matmul: {rows: 784, c: 64, k: 48}\n";
    fs::write(study.path("tiny.yaml"), tiny).expect("a file can be written");
    for (name, models) in [
        ("words", "{network: KD, fps: 3}, {network: tiny.yaml, fps: 60}"),
        ("shapes", "{network: tiny.yaml, fps: 45}"),
    ] {
        let text = format!("scenario: {{name: {name}, models: [{models}]}}\n");
        fs::write(study.path(&format!("{name}.yaml")), text).expect("a file can be written");
    }
    let sweep = |threads: &str| {
        let out = format!("{threads}.csv");
        let mut command = on_threads(threads, &["sweep", "spec.yaml", "--out", &out]);
        command.current_dir(study.folder.path()).assert().success();
        study.read(&out)
    };
    let one = sweep("1");
    let has_score = |row: &&str| !cell(&one, row, "score").is_empty();
    assert_eq!((one.lines().count(), one.lines().skip(1).filter(has_score).count()), (1 + 12, 8));
    assert_eq!(one, sweep("2"));
    assert_eq!(one, sweep("7"));
}

#[test]
fn options_make_the_same_rows_as_a_file() {
    let study = Study::new(
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
    let study = Study::new("sweep: {name: s, grid: {scenario: my/vr.yaml, system: A, pes: 96}}");
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
    let study =
        Study::new("sweep: {name: s, grid: {scenario: my.yaml, system: A, pes: [96, 128]}}");
    let (scenario, _) = study.done(&["show", "VR_gaming"]);
    fs::write(study.path("my.yaml"), &scenario).expect("a file can be written");
    let whole = study.sweep("rows.csv", &["spec.yaml"]);
    let again = ["sweep", "spec.yaml", "--out", "rows.csv"];

    fs::write(study.path("my.yaml"), scenario.replace("fps: 60", "fps: 30")).expect("written");
    let message = study.refused(&again);
    assert!(message.contains("my.yaml has changed; --restart begins it again"), "{message}");
    assert_eq!(study.read("rows.csv"), whole);
    fs::write(study.path("my.yaml"), &scenario).expect("a file can be written");

    let spec = study.read("spec.yaml");
    fs::write(study.path("spec.yaml"), spec.replace("128", "160")).expect("written");
    let message = study.refused(&again);
    let change = "the sweep have changed: `pes` has the new `160`, `pes` has no longer `128`;";
    assert!(message.contains(change), "{message}");
    let only = spec.replace("96, 128", "160").replace("system: A", "system: A, duration_ms: 500");
    fs::write(study.path("spec.yaml"), &only).expect("written");
    study.sweep("only.csv", &["spec.yaml"]);
    fs::write(study.path("spec.yaml"), only.replace("500", "700")).expect("written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "only.csv"]);
    assert!(message.contains("changed: `duration_ms` was `500`, is `700`;"), "{message}");
    fs::write(study.path("spec.yaml"), spec.replace("128", "160")).expect("written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "rows.csv", "--shard", "1/2"]);
    assert!(message.contains("the keys or values of the sweep have changed"), "{message}");
    fs::write(study.path("spec.yaml"), spec.replace("pes:", "scheduler: edf, pes:"))
        .expect("written");
    let message = study.refused(&again);
    assert!(message.contains("have changed: the key `scheduler` is new;"), "{message}");
    fs::write(study.path("spec.yaml"), spec.replace("96, 128", "128, 96")).expect("written");
    let (_, note) = study.done(&again);
    assert!(
        note.contains("2 rows kept; the order or combinations of values have changed"),
        "{note}"
    );
    fs::write(study.path("spec.yaml"), &spec).expect("written");
    let (_, note) = study.done(&again);
    assert!(note.contains("2 points, 0 of them new"), "{note}");
    assert_eq!(study.read("rows.csv"), whole);
    // Comments and blanks do not change a sweep.
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
    let study = Study::new(SPEC);
    fs::write(study.path("mine.csv"), "important\n").expect("a file can be written");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "mine.csv"]);
    assert!(message.contains("it is not the file of a sweep"), "{message}");
    assert_eq!(study.read("mine.csv"), "important\n");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "/dev/null"]);
    assert!(message.contains("not a file, which a command could continue"), "{message}");
    let message = study.refused(&["sweep", "spec.yaml", "--out", "absent/rows.csv"]);
    assert!(message.contains("cannot write absent/rows.csv"), "{message}");
}

#[test]
fn bandwidth_and_memory_of_the_chip_are_swept_and_run_alike() {
    let study = Study::new(SPEC);
    // Without choices, which accelerators of a sweep compare with each other.
    let scope = ["--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let scope = [&scope[..], &["--flexibility", "none", "--platform", "paper"]].concat();
    let keys = [
        "hardware.noc_bandwidth_bytes_per_cycle=128,256",
        "hardware.shared_memory_kib=1024,8192",
        "hardware.dram_bandwidth_bytes_per_cycle=32,128",
        "hardware.clock_mhz=500,1000",
    ];
    for (index, key) in keys.into_iter().enumerate() {
        let rows = study.sweep(&format!("{index}.csv"), &[&scope[..], &["--set", key]].concat());
        let (name, values) = key.split_once('=').expect("a key has values");
        let (first, platform) = values.split_once(',').expect("there are two");
        for (row, value) in rows.lines().skip(1).zip([first, platform]) {
            let set = format!("{name}={value}");
            let arguments = [&["run"], &scope[..], &["--set", &set, "--format", "csv"]].concat();
            let (run, _) = study.done(&arguments);
            let first = run.lines().nth(1).expect("there is a row");
            assert_eq!(cell(&rows, row, "energy_mj"), cell(&run, first, "energy_mj"), "{set}");
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
    let study = Study::new(SPEC);
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    for kind in [["--kind", "pareto"], ["--kind", "heatmap"]] {
        let name = format!("{}.svg", kind[1]);
        study.done(&[&["plot", "rows.csv", "--out", &name], &kind[..]].concat());
        assert!(study.read(&name).starts_with("<svg"), "{name}");
        assert!(study.path(&name).with_extension("csv").exists());
        let message =
            study.refused(&[&["plot", "rows.csv", "--out", "rows.svg"], &kind[..]].concat());
        assert!(message.contains("would overwrite rows.csv"), "{message}");
    }
    assert_eq!(study.read("rows.csv"), rows);
    let (best, _) = study.done(&["plot", "rows.csv", "--kind", "best"]);
    let scenarios: Vec<_> =
        best.lines().skip(1).map(|line| line.split_whitespace().next().expect("cells")).collect();
    assert_eq!(scenarios, ["VR_gaming", "AR_gaming", "mean", "one"], "{best}");
    assert!(best.ends_with("one draw of each run, without intervals\n"), "{best}");
    let (front, _) = study.done(&["plot", "rows.csv", "--kind", "pareto", "--z", "pes"]);
    assert!(front.starts_with("system"), "{front}");
    let message = study.refused(&["plot", "rows.csv", "--kind", "best", "--z", "scoer"]);
    assert!(message.contains("no column `scoer`; known: scenario"), "{message}");
    let message = study.refused(&["plot", "spec.yaml", "--kind", "best"]);
    assert!(message.contains("no rows of a sweep"), "{message}");
}

/// The shipped sweep is valid, and its description names the file that it writes.
#[test]
fn the_shipped_sweep_runs() {
    let study = Study::new(SPEC);
    let scope = ["sweep", "pe_scaling", "--shard", "1/180", "--out", "one.csv"];
    study.done(&scope);
    assert_eq!(study.read("one.csv").lines().count(), 2);
    let (list, _) = study.done(&["list", "sweeps"]);
    assert!(list.contains("pe_scaling"), "{list}");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/sweeps/README.md").exists());
}

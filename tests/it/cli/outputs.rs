//! Files that commands write: complete, from one command, and never over an input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use binary::{after, output, path, process, refused, stderr, xrsim};
use tempfile::{TempDir, tempdir};

use crate::support::binary;

const RUN: [&str; 6] = ["run", "--scenario", "VR_gaming", "--system", "A", "--pes"];

fn run(pes: &str, out: &str) {
    output(&[&RUN[..], &[pes, "--out", out]].concat());
}

/// Every file below `folder` with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("it can be listed").flatten() {
        let name = entry.file_name().into_string().expect("names are UTF-8");
        match entry.path().is_dir() {
            true => found.extend(
                files(&entry.path()).into_iter().map(|(file, it)| (format!("{name}/{file}"), it)),
            ),
            false => {
                found.insert(name, fs::read(entry.path()).expect("it can be read"));
            }
        }
    }
    found
}

/// Runs the command in a shell that refuses files larger than `kib` KiB.
#[cfg(unix)]
fn refused_on_a_full_disk(kib: u32, arguments: &[&str]) -> String {
    let limit = format!("trap '' XFSZ; ulimit -f {}", 2 * kib);
    stderr(&after(&limit, arguments).assert().code(2))
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_a_results_folder_as_it_was() {
    let folder = tempdir().expect("a folder can be made");
    let results = path(&folder, "results");
    run("4096", &results);
    let before = files(folder.path());
    let largest = before.values().map(Vec::len).max().expect("there are files") as u32 / 1024;
    for kib in [0, 1, 4, largest - 1] {
        let arguments = [&RUN[..], &["8192", "--out", &results]].concat();
        let said = refused_on_a_full_disk(kib, &arguments);
        assert!(said.contains("cannot write"), "{said}");
        assert_eq!(files(folder.path()), before, "{kib} KiB");
    }
    let tests = path(&folder, "tests");
    let arguments = [
        "mlperf",
        "inference",
        "--task",
        "image_classification_light",
        "--load",
        "single-stream",
        "--min-duration",
        "0.1",
        "--out",
        &tests,
    ];
    output(&arguments);
    let before = files(folder.path());
    refused_on_a_full_disk(4, &[&arguments[..], &["--pes", "1024"]].concat());
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_folder_of_two_commands_is_no_results() {
    let folder = tempdir().expect("a folder can be made");
    let [one, two, page] = ["one", "two", "page.html"].map(|name| path(&folder, name));
    run("4096", &one);
    run("8192", &two);
    for name in ["scores.csv", "models.csv", "inferences.csv", "run.json"] {
        let mixed = path(&folder, "mixed");
        fs::create_dir_all(&mixed).expect("it can be made");
        for (file, bytes) in files(Path::new(&one)) {
            fs::write(Path::new(&mixed).join(file), bytes).expect("it can be written");
        }
        fs::copy(Path::new(&two).join(name), Path::new(&mixed).join(name)).expect("copied");
        let message = refused(&["report", &mixed, "-o", &page]);
        assert!(message.contains("is not the file that"), "{message}");
        let is_plotted = xrsim(&["plot", &format!("{mixed}/scores.csv"), "--kind", "best"]);
        let is_plotted = { is_plotted }.assert().get_output().status.success();
        assert_eq!(is_plotted, !["scores.csv", "run.json"].contains(&name), "{name}");
    }
    output(&["report", &one, "-o", &page]);
    let record = Path::new(&one).join("run.json");
    let text = fs::read_to_string(&record).expect("it is there");
    fs::write(&record, text.replace("\"seed\": 0", "\"seed\": 1")).expect("it can be written");
    let message = refused(&["report", &one, "-o", &page]);
    assert!(message.contains("run.json was changed after it was written"), "{message}");
}

#[test]
fn a_record_without_hashes_is_read_with_a_warning() {
    let folder = tempdir().expect("a folder can be made");
    let (results, page) = (path(&folder, "results"), path(&folder, "page.html"));
    run("4096", &results);
    let record = Path::new(&results).join("run.json");
    let text = fs::read_to_string(&record).expect("it is there");
    let mut json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let members = json.as_object_mut().expect("an object");
    members.remove("files").expect("it has files");
    members.remove("record_sha256").expect("it is sealed");
    fs::write(&record, json.to_string()).expect("it can be written");
    let said = stderr(&xrsim(&["report", &results, "-o", &page]).assert().success());
    assert!(said.contains("the program cannot check that they come from one command"), "{said}");
}

/// The page of a load test without a curve does not show the curve of an earlier test.
#[test]
fn files_of_an_earlier_command_are_no_part_of_a_page() {
    let folder = tempdir().expect("a folder can be made");
    let [results, page] = ["results", "page.html"].map(|name| path(&folder, name));
    let test = [
        "mlperf",
        "inference",
        "--task",
        "image_classification_light",
        "--load",
        "server",
        "--min-duration",
        "0.1",
        "--min-queries",
        "100",
        "--out",
        &results,
    ];
    output(&[&test[..], &["--curve", "2"]].concat());
    output(&test);
    output(&["report", &results, "-o", &page]);
    let with_rest = fs::read(&page).expect("it is there");
    fs::remove_dir_all(&results).expect("it can be removed");
    output(&test);
    output(&["report", &results, "-o", &page]);
    assert!(with_rest == fs::read(&page).expect("it is there"));
}

#[test]
#[cfg(unix)]
fn a_second_writer_into_a_folder_is_refused() {
    let folder = tempdir().expect("a folder can be made");
    let results = path(&folder, "results");
    fs::create_dir(&results).expect("it can be made");
    let lock = fs::File::open(&results).expect("it can be opened");
    lock.lock().expect("it can be locked");
    let writers: [&[&str]; 4] = [
        &["run", "--scenario", "VR_gaming", "--system", "A", "--pes", "4096"],
        &["compare", "--scheduler", "edf", "--scheduler", "rm", "--scenario", "VR_gaming"],
        &["mlperf", "inference", "--load", "single-stream"],
        &["reproduce", "--figure", "8"],
    ];
    for arguments in writers {
        let call = xrsim(&[arguments, &["--out", &results]].concat()).assert().code(75);
        let message = stderr(&call);
        assert!(message.contains("another command is writing to it; try again"), "{message}");
        assert!(files(Path::new(&results)).is_empty());
    }
    drop(lock);
    output(&["reproduce", "--figure", "8", "--out", &results]);
    assert!(files(Path::new(&results)).keys().all(|name| !name.ends_with(".part")));
}

#[test]
fn part_files_of_dead_writers_are_removed() {
    let folder = tempdir().expect("a folder can be made");
    let results = path(&folder, "results");
    run("4096", &results);
    let left = Path::new(&results).join(".xrsim-K1lled.part");
    fs::write(&left, "half a row").expect("it can be written");
    run("4096", &results);
    assert!(!left.exists());
    let left = folder.path().join(".xrsim-K1lled.part");
    fs::write(&left, "half a page").expect("it can be written");
    output(&["report", &results, "-o", &path(&folder, "page.html")]);
    assert!(!left.exists());
}

#[test]
#[cfg(unix)]
fn a_replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempdir().expect("a folder can be made");
    let results = path(&folder, "results");
    run("4096", &results);
    let file = Path::new(&results).join("scores.csv");
    for mode in [0o600, 0o640, 0o666] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("it can be set");
        run("4096", &results);
        let found = fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(found & 0o777, mode, "{found:o}");
    }
}

/// A folder with a scenario, and tables of costs.
fn inputs() -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("in.yaml", &output(&["show", "VR_gaming"]));
    fs::create_dir(folder.path().join("o")).expect("it can be made");
    for name in ["costs.csv", "o/scores.csv"] {
        write(name, "network,accelerator,latency_ms,energy_mj\nKD_res8_narrow,WS@4096,0.13,0.16\n");
    }
    folder
}

#[test]
fn no_command_writes_where_it_reads_or_writes_twice() {
    let folder = inputs();
    let before = files(folder.path());
    #[cfg(unix)]
    std::os::unix::fs::symlink("in.yaml", folder.path().join("link.yaml")).expect("linked");
    fs::hard_link(folder.path().join("in.yaml"), folder.path().join("hard.yaml")).expect("linked");
    let run = ["run", "--scenario", "in.yaml", "--system", "A", "--pes", "4096"];
    let replay = ["replay", "--model-file", "m.m", "--dataflow-file", "d.m", "--hw-file", "h.m"];
    let mut calls: Vec<(Vec<&str>, &str)> = vec![
        ([&run[..], &["--trace", "in.yaml"]].concat(), "in.yaml"),
        ([&run[..], &["--trace", "./hard.yaml"]].concat(), "in.yaml"),
        ([&run[..], &["--out", "o", "--trace", "o/run.json"]].concat(), "o/run.json"),
        ([&run[..], &["--cost-model", "o/scores.csv", "--out", "o"]].concat(), "o/scores.csv"),
        (vec!["cost", "--cost-model", "costs.csv", "--plot", "costs.svg"], "costs.csv"),
        (vec!["cost", "--plot", "a.svg", "--plot-cycles", "a.svg"], "a.svg"),
        (vec!["cost", "--plot", "a.svg", "--roofline", "a.png"], "a.csv"),
        ([&replay[..], &["--timeline", "t", "--summary", "./t"]].concat(), "t"),
        ([&replay[..], &["--timeline", "m.m"]].concat(), "m.m"),
    ];
    if cfg!(unix) {
        calls.push(([&run[..], &["--trace", "link.yaml"]].concat(), "in.yaml"));
    }
    for (arguments, named) in calls {
        let mut command = xrsim(&arguments);
        let message = stderr(&command.current_dir(folder.path()).assert().code(2));
        assert!(message.contains("would overwrite"), "{arguments:?}: {message}");
        assert!(message.contains(named), "{arguments:?}: {message}");
    }
    for name in ["link.yaml", "hard.yaml"] {
        fs::remove_file(folder.path().join(name)).expect("it is there");
    }
    assert_eq!(files(folder.path()), before);
}

/// Runs the command with a closed standard output.
fn unread(arguments: &[&str]) {
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    let status = process(arguments).stdout(writer).stderr(Stdio::null()).status();
    assert!(status.expect("it can be started").success());
}

#[test]
fn files_are_written_whether_or_not_anyone_reads_on() {
    let folder = tempdir().expect("a folder can be made");
    let [results, trace, alone, study] =
        ["results", "t.json", "alone.json", "study"].map(|name| path(&folder, name));
    let run = [&RUN[..], &["4096"]].concat();
    unread(&[&run[..], &["--out", &results, "--trace", &trace]].concat());
    for format in ["table", "csv", "json"] {
        unread(&[&run[..], &["--trace", &alone, "--format", format]].concat());
        let [whole, alone] = [&trace, &alone].map(|path| fs::read(path).expect("it is there"));
        assert!(whole == alone, "{format}");
        fs::remove_file(path(&folder, "alone.json")).expect("it can be removed");
    }
    assert!(Path::new(&results).join("run.json").exists());
    unread(&["reproduce", "--figure", "8", "--out", &study]);
    assert!(Path::new(&study).join("reproduce.json").exists());
}

/// The record in a file.
fn record(folder: &str, name: &str) -> serde_json::Value {
    let text = fs::read_to_string(Path::new(folder).join(name)).expect("it is there");
    serde_json::from_str(&text).expect("it is JSON")
}

const LOAD: [&str; 10] = [
    "mlperf",
    "inference",
    "--system",
    "A",
    "--pes",
    "4096",
    "--min-duration",
    "0.1",
    "--min-queries",
    "100",
];
const TASK: &str = "image_classification_light";

#[test]
fn the_kind_of_a_results_folder_is_that_of_its_record() {
    let folder = tempdir().expect("a folder can be made");
    let [results, page] = ["results", "page.html"].map(|name| path(&folder, name));
    output(&[&LOAD[..], &["--task", TASK, "--load", "single-stream", "--out", &results]].concat());
    let tenant = format!("{TASK}:qps=10");
    output(&[&LOAD[..], &["--tenant", &tenant, "--out", &results]].concat());
    output(&["report", &results, "-o", &page]);
    let inputs = record(&results, "mlperf.json")["inputs_sha256"].clone();
    assert!(inputs.as_object().is_some_and(|inputs| !inputs.is_empty()), "{inputs}");
}

#[test]
fn the_record_of_a_comparison_has_the_parameters_that_were_found() {
    let folder = tempdir().expect("a folder can be made");
    let [results, tuned] = ["results", "tuned"].map(|name| path(&folder, name));
    let scope = ["compare", "--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];
    let short = ["--replications", "2", "--duration", "300"];
    let two = [&["--scheduler", "dream", "--scheduler", "edf"][..], &short].concat();
    output(&[&scope[..], &two, &["--tune", "--out", &tuned]].concat());
    let found = record(&tuned, "compare.json")["tuned_schedulers"].clone();
    let label = found[0].as_str().unwrap_or_default();
    assert!(label.starts_with("dream:alpha=") && label.contains(",beta="), "{found}");
    assert_eq!(found[1], "edf");
    output(&[&scope[..], &two, &["--out", &results]].concat());
    assert!(record(&results, "compare.json")["tuned_schedulers"].is_null());
}

#[test]
fn a_record_that_is_too_long_is_an_error() {
    let folder = tempdir().expect("a folder can be made");
    let results = path(&folder, "results");
    run("4096", &results);
    let scores = Path::new(&results).join("scores.csv");
    let record = fs::File::create(Path::new(&results).join("run.json")).expect("it can be made");
    record.set_len((256 << 20) + 1).expect("it can be long");
    let scores = scores.to_str().expect("the path is UTF-8");
    let message = refused(&["plot", scores, "--kind", "best"]);
    assert!(message.contains("run.json: larger than 256 MiB"), "{message}");
}

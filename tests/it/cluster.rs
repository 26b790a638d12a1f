//! Job scripts of parts, and the state of parts.

use std::fs;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::support::binary::{stderr, stdout, xrsim};

const SPEC: &str = "sweep:\n  name: s\n  grid: {scenario: AR_gaming, system: [A, J], pes: [4096], flexibility: [none]}\n  \
                    replications: 20\n";

/// A folder with a sweep of 40 points.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("my spec.yaml"), SPEC).expect("it can be written");
    folder
}

fn call(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = xrsim(arguments);
    command.current_dir(folder.path());
    command
}

/// The script of 4 parts, with names that have to be quoted.
const SCRIPT: &str = r##"#!/bin/bash
#SBATCH --job-name=xrsim-it_s
#SBATCH --array=1-4
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="it's.parts/%a.log"
#SBATCH --signal=B:USR1@120
#SBATCH -p long
#SBATCH --mem=2G
#SBATCH "--comment=x y"
# Made by xrsim VERSION from my spec.yaml, SHA-256 DIGEST; 40 points, at most 10 a task.
# Slurm writes logs into this folder, which has to be there before: mkdir -p "it's.parts"
# The parts are joined by: PROGRAM merge "it's.parts/it's".*-of-4.csv --out "it's.csv"
set -u
task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
# Before the time limit the task goes back into the queue; what it has written stays.
trap 'scontrol requeue "$task"' USR1
part="it's.parts/it's".$SLURM_ARRAY_TASK_ID-of-4.csv
PROGRAM sweep 'my spec.yaml' --quiet --shard "$SLURM_ARRAY_TASK_ID/4" --out "$part" &
child=$!
wait "$child"; status=$?
# A signal ends the wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
# 128 and above: ended by a signal, such as that of a kernel that is short of memory. 75: another process writes to
# the part, such as this task on a node that was given up. Up to 5 times the task goes back into the queue.
if { [ "$status" -ge 128 ] || [ "$status" -eq 75 ]; } && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then
    scontrol requeue "$task"; sleep 60
fi
exit "$status"
"##;

/// A script with what differs from build to build replaced.
fn general(script: &str) -> String {
    let program = crate::support::binary::program().to_string_lossy().into_owned();
    let script = script.replace(&program, "PROGRAM").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let (before, after) = script.split_once("SHA-256 ").expect("a digest");
    format!("{before}SHA-256 DIGEST{}", &after[64..])
}

#[test]
fn the_script_of_a_sweep_is_quoted_and_complete() {
    let folder = folder();
    let options =
        ["sweep", "my spec.yaml", "--quiet", "--out", "it's.csv", "--restart", "--sbatch", "4"];
    let sbatch = ["--", "-p", "long", "--mem=2G", "--comment=x y"];
    let arguments = [&options[..], &sbatch].concat();
    let script = stdout(&call(&folder, &arguments).assert().success());
    assert_eq!(general(&script), SCRIPT);
    let path = folder.path().join("script");
    fs::write(&path, &script).expect("it can be written");
    Command::new("bash").arg("-n").arg(&path).assert().success();
}

#[test]
fn a_submission_without_sbatch_says_how_to_go_on() {
    let folder = folder();
    let arguments = ["sweep", "my spec.yaml", "--sbatch", "2", "--submit"];
    let assert = call(&folder, &arguments).env("PATH", "").assert().code(2);
    let message = "error: sbatch is not here; without --submit the script is printed\n";
    assert_eq!(stderr(&assert), message);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn wrong_numbers_of_parts_and_options_are_refused() {
    let folder = folder();
    let refused = |arguments: &[&str]| {
        let words = [&["sweep", "my spec.yaml"], arguments].concat();
        stderr(&call(&folder, &words).assert().code(2))
    };
    for parts in ["0", "-1", "10001", "many"] {
        let message = refused(&[&format!("--sbatch={parts}")]);
        assert!(
            message.contains("allowed is a number of parts from 1 to 10000, or `auto`"),
            "{message}"
        );
    }
    assert!(refused(&["--sbatch", "2", "--out", "a\nb.csv"]).contains("a line break in"));
    assert!(refused(&["--sbatch", "2", "--out", "a\"b.csv"]).contains("sbatch takes no path with"));
    assert!(
        refused(&["--sbatch", "2", "--", "long"])
            .contains("`long` after `--` is no option of sbatch")
    );
    assert!(refused(&["--submit"]).contains("--sbatch"));
    assert!(refused(&["--sbatch", "2", "--shard", "1/2"]).contains("cannot be used with"));
    let folders = xrsim(&["search", "--sbatch", "2", "--scenario", "AR_gaming"]).assert().code(2);
    assert!(stderr(&folders).contains("--sbatch takes --out"), "{}", stderr(&folders));
}

#[test]
fn more_parts_than_points_are_empty_parts() {
    let folder = folder();
    let assert = call(&folder, &["sweep", "my spec.yaml", "--sbatch", "50"]).assert().success();
    let message = "warning: 50 parts, but 40 points: some parts are empty";
    assert!(stderr(&assert).starts_with(message), "{}", stderr(&assert));
}

#[test]
fn a_dry_run_says_that_a_minute_needs_no_cluster() {
    let folder = folder();
    let text = stdout(&call(&folder, &["sweep", "my spec.yaml", "--dry-run"]).assert().success());
    assert!(text.starts_with("40 points, 40 of them timed\nprocessor time  about "), "{text}");
    assert!(text.contains("A cluster is not worth it"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Lines of the state of parts without what depends on the time, and the exit status.
fn status(folder: &TempDir) -> (Vec<String>, i32, String) {
    let assert = call(folder, &["status", "p.parts"]).assert();
    let lines = stdout(&assert);
    let lines = lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let words = lines.map(|words| match words.iter().position(|word| *word == "writing") {
        Some(at) => [&words[..3], &words[at..at + 1]].concat().join(" "),
        None => words.join(" "),
    });
    let code = assert.get_output().status.code().expect("it ends by itself");
    (words.collect(), code, stderr(&assert))
}

#[test]
fn states_of_parts_are_told_from_their_files() {
    let folder = folder();
    let parts = folder.path().join("p.parts");
    fs::create_dir(&parts).expect("a folder");
    let (_, code, message) = status(&folder);
    assert_eq!(code, 2);
    assert!(
        message.contains("p.parts: no file there is a part, such as mine.1-of-16.csv"),
        "{message}"
    );
    let make = |part: u32| {
        let out = format!("p.parts/p.{part}-of-3.csv");
        let shard = format!("{part}/3");
        let arguments = ["sweep", "my spec.yaml", "--shard", &shard, "--out", &out];
        call(&folder, &arguments).assert().success();
        folder.path().join(out)
    };
    // 13 points; its last rows are not there yet.
    let first = make(1);
    let whole = fs::read_to_string(&first).expect("it is there");
    let some: String = whole.split_inclusive('\n').take(6).collect();
    fs::write(&first, some + "5,torn").expect("it can be written");
    make(2);
    let (lines, code, message) = status(&folder);
    assert_eq!(lines[0], "part points done rows/s last row state");
    assert_eq!(lines[1], "1-of-3 13 5 writing");
    assert!(lines[2].starts_with("2-of-3 13 13 ") && lines[2].ends_with(" done"), "{lines:?}");
    assert_eq!(lines[3], "3-of-3 waiting");
    assert!(lines[4].starts_with("all 39 18 "), "{lines:?}");
    assert_eq!((code, message.as_str()), (1, "1 of 3 parts are done\n"));
    // Damaged: the last row has another byte.
    fs::write(&first, whole.replace(",12,", ",13,").replace("\n12,", "\n11,")).expect("written");
    let (lines, code, message) = status(&folder);
    assert!(lines[1].ends_with("its last row is damaged"), "{lines:?}");
    assert_eq!((code, message.as_str()), (2, "error: 1 part is damaged or of another command\n"));
    fs::write(&first, &whole).expect("it can be written");
    make(3);
    assert_eq!(status(&folder).1, 0);
    // Of another sweep.
    fs::write(folder.path().join("my spec.yaml"), SPEC.replace("20", "21")).expect("written");
    fs::remove_file(&first).expect("it is there");
    fs::remove_file(parts.join("p.1-of-3.csv.json")).expect("it is there");
    make(1);
    let (lines, code, _) = status(&folder);
    assert!(lines[2].ends_with("of another command or of other inputs"), "{lines:?}");
    assert_eq!(code, 2);
}

/// A script for sbatch that notes how it was called, and refuses the second job.
#[cfg(unix)]
#[test]
fn nothing_is_left_of_a_job_that_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let bin = TempDir::new().expect("a folder");
    let script = |name: &str, text: &str| {
        let path = bin.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    let notes = bin.path().join("notes");
    let notes = notes.display();
    script(
        "sbatch",
        &format!(
            "echo \"sbatch $*\" >> '{notes}'\ncase \"$*\" in *join*) echo 'no account' >&2; exit 1;; esac\necho 7"
        ),
    );
    script("scancel", &format!("echo \"scancel $*\" >> '{notes}'"));
    let arguments = ["sweep", "my spec.yaml", "--out", "p.csv", "--sbatch", "2", "--submit"];
    let path = format!("{}:/bin:/usr/bin", bin.path().display());
    let assert = call(&folder, &arguments).env("PATH", path).assert().code(1);
    assert_eq!(stderr(&assert), "sbatch refuses the job: no account\n");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let noted = fs::read_to_string(bin.path().join("notes")).expect("it was called");
    let expected = "sbatch --parsable p.parts/array.sbatch\n\
                    sbatch --parsable --dependency=afterok:7 --kill-on-invalid-dep=yes p.parts/join.sbatch\n\
                    scancel 7\n";
    assert_eq!(noted, expected);
}

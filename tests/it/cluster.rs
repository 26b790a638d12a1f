//! Job scripts of parts, and the state of parts.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;
use tempfile::TempDir;

use crate::support::binary::{process, program, stderr, stdout, xrsim};

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
# When all tasks are done, this joins the parts:
#   PROGRAM parts merge "it's.parts/it's".*-of-4.csv --out "it's.csv"
set -u
task=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
export RAYON_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
part="it's.parts/it's".$SLURM_ARRAY_TASK_ID-of-4.csv
tries="it's.parts"/$SLURM_ARRAY_TASK_ID.tries
rows() { if [ -f "$part" ]; then wc -l <"$part"; else echo 0; fi; }
# Tries in a row that made no row, and the rows after the last of them. Preemption and other causes for which
# Slurm itself puts the task back into the queue do not count.
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || echo "0 $(rows)" >"$tries"
requeued=
again() {
    [ -z "$requeued" ] || return 0
    local n=0 before=0 now
    now=$(rows)
    read -r n before <"$tries"
    if [ "$now" -eq "${before:-0}" ]; then n=$((n + 1)); else n=0; fi
    echo "$n $now" >"$tries" || return 1
    if [ "$n" -gt 5 ]; then
        echo "$n tries in a row made no row: the task does not go back into the queue" >&2; return 1
    fi
    scontrol requeue "$task" && requeued=yes
}
# Before the time limit the task goes back into the queue; what it has written stays.
trap again USR1
PROGRAM sweep 'my spec.yaml' --quiet '--expect=VERSION:DIGEST' --shard "$SLURM_ARRAY_TASK_ID/4" --out "$part" &
child=$!
wait "$child"; status=$?
# A signal ends the wait, not the child.
while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
# 128 and above: ended by a signal, such as that of a kernel that is short of memory. 75: another process writes to
# the part, such as this task on a node that was given up.
if [ "$status" -ge 128 ] || [ "$status" -eq 75 ]; then
    again && sleep 60
fi
exit "$status"
"##;

/// SHA-256 of the inputs that a script names.
fn digest(script: &str) -> &str {
    let (_, after) = script.split_once("SHA-256 ").expect("it has one");
    after.split_once(';').expect("it ends").0
}

/// A script with what differs from build to build replaced.
fn general(script: &str) -> String {
    let program = crate::support::binary::program().to_string_lossy().into_owned();
    let script = script.replace(&program, "PROGRAM").replace(digest(script), "DIGEST");
    script.replace(build(&script), "VERSION")
}

/// Version and commit that a script names.
fn build(script: &str) -> &str {
    let (_, after) = script.split_once("--expect=").expect("it has one");
    after.split_once(':').expect("it ends").0
}

/// The printed script of the sweep in 4 parts.
fn script(folder: &TempDir) -> String {
    let options = ["sweep", "my spec.yaml", "--quiet", "--out", "it's.csv", "--sbatch", "4"];
    let sbatch = ["--", "-p", "long", "--mem=2G", "--comment=x y"];
    let arguments = [&options[..], &sbatch].concat();
    stdout(&call(folder, &arguments).assert().success())
}

#[test]
fn the_script_of_a_sweep_is_quoted_and_complete() {
    let folder = folder();
    let script = script(&folder);
    assert_eq!(general(&script), SCRIPT);
    let path = folder.path().join("script");
    fs::write(&path, &script).expect("it can be written");
    Command::new("bash").arg("-n").arg(&path).assert().success();
}

#[test]
fn shellcheck_finds_nothing_in_scripts_and_templates() {
    let shellcheck = |folder: &std::path::Path, files: &[&str]| {
        let mut command = std::process::Command::new("shellcheck");
        command.args(["--norc", "--shell=bash"]).args(files).current_dir(folder).output()
    };
    let folder = folder();
    fs::write(folder.path().join("script"), script(&folder)).expect("it can be written");
    let Ok(of_script) = shellcheck(folder.path(), &["script"]) else {
        println!("skipped: shellcheck is not here");
        return;
    };
    let templates = ["array.sh", "join.sh", "join_files.sh", "join_folders.sh"];
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/cli/src/cluster");
    let of_templates = shellcheck(&source, &templates).expect("it is here");
    for found in [of_script, of_templates] {
        assert_eq!(String::from_utf8_lossy(&found.stdout), "");
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    }
}

/// A folder of programs for the shell.
#[cfg(unix)]
struct Programs(TempDir);

#[cfg(unix)]
impl Programs {
    fn new(programs: &[(&str, &str)]) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempDir::new().expect("a folder");
        for (name, text) in programs {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/bash\n{text}\n")).expect("it can be written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        Self(folder)
    }

    /// A search path that begins with them.
    fn path(&self) -> String {
        format!("{}:/bin:/usr/bin", self.0.path().display())
    }

    /// What they noted in the file `notes` beside them.
    fn notes(&self) -> String {
        fs::read_to_string(self.0.path().join("notes")).unwrap_or_default()
    }
}

#[cfg(unix)]
#[test]
fn a_task_goes_back_into_the_queue_as_long_as_it_makes_rows() {
    let folder = folder();
    let programs = Programs::new(&[
        ("scontrol", "echo \"$*\" >> \"${0%/*}/notes\""),
        ("sleep", ""),
        // The last argument is the file of the part. A row is added if asked for.
        (
            "part",
            "printf '%s\\n' \"$@\" > arguments; [ -z \"${ADDS-}\" ] || echo row >> \"${@: -1}\"\n\
             [ -z \"${STATUS-}\" ] || exit \"$STATUS\"\nkill -KILL $$",
        ),
    ]);
    let program = program().to_string_lossy().into_owned();
    let part = programs.0.path().join("part").display().to_string();
    let text = script(&folder).replace(&program, &part);
    fs::write(folder.path().join("script"), &text).expect("it can be written");
    fs::create_dir(folder.path().join("it's.parts")).expect("a folder");
    // Times so far that the task went back, and whether the script gave up, after a start with these variables.
    let start = |n_restarts: u32, variables: &[(&str, &str)], status: i32| {
        let mut shell = Command::new("bash");
        shell.arg("script").current_dir(folder.path()).env("PATH", programs.path());
        shell.envs([("SLURM_ARRAY_JOB_ID", "9"), ("SLURM_ARRAY_TASK_ID", "3")]);
        if n_restarts > 0 {
            shell.env("SLURM_RESTART_COUNT", n_restarts.to_string());
        }
        let assert = shell.envs(variables.iter().copied()).assert().code(status);
        assert_eq!(programs.notes().replace("requeue 9_3\n", ""), "");
        let gave_up = stderr(&assert).contains("6 tries in a row made no row");
        (programs.notes().lines().count(), gave_up)
    };
    // Tries that make rows count for nothing. Five without one go back, and the next does not.
    for n in 1..=10 {
        assert_eq!(start(n - 1, &[("ADDS", "a row")], 137), (n as usize, false));
    }
    for n in 11..=15 {
        assert_eq!(start(n - 1, &[], 137), (n as usize, false));
    }
    assert_eq!(start(15, &[], 137), (15, true));
    // A new submission counts from the beginning.
    assert_eq!(start(0, &[], 137), (16, false));
    // Another process writes, and makes rows.
    assert_eq!(start(1, &[("ADDS", "a row"), ("STATUS", "75")], 75), (17, false));
    // An end, good or bad.
    assert_eq!(start(2, &[("STATUS", "0")], 0), (17, false));
    assert_eq!(start(2, &[("STATUS", "2")], 2), (17, false));
    let arguments = fs::read_to_string(folder.path().join("arguments")).expect("it was called");
    let expect = format!("--expect={}:{}", build(&text), digest(&text));
    let words = [
        "sweep",
        "my spec.yaml",
        "--quiet",
        &expect,
        "--shard",
        "3/4",
        "--out",
        "it's.parts/it's.3-of-4.csv",
    ];
    assert_eq!(arguments.lines().collect::<Vec<_>>(), words);
}

#[test]
fn parts_refuse_inputs_that_changed_while_they_waited() {
    let folder = folder();
    let cases: [(&str, &str, &str); 4] = [
        ("sweep 'my spec.yaml' --out p.csv", "p.parts/p.1-of-2.csv", ""),
        (
            "search --scenario AR_gaming --dataflow WS --accelerators 1 --pes 512 --set flexibility=none --out p",
            "p",
            "--pes=1024",
        ),
        (
            "compare --scenario AR_gaming --system A --pes 4096 --scheduler edf --replications 2 --out p",
            "p",
            "--replications=3",
        ),
        ("map --network KD --pes 64 --effort quick --out p", "p", "--pes=32"),
    ];
    for (command, out, change) in cases {
        let words = shlex::split(command).expect("it is quoted");
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let script = call(&folder, &[&words[..], &["--sbatch", "2"]].concat()).assert().success();
        let script = stdout(&script);
        let before = digest(&script).to_string();
        let expect = format!("--expect={}:{before}", build(&script));
        // The same command, with the last value of an option changed, or with another file.
        let name = change.split('=').next().unwrap_or_default();
        let is_changed =
            |at: usize| !name.is_empty() && (words[at] == name || at > 0 && words[at - 1] == name);
        let mut changed: Vec<_> =
            (0..words.len()).filter(|at| !is_changed(*at)).map(|at| words[at]).collect();
        changed.extend((!change.is_empty()).then_some(change));
        if change.is_empty() {
            fs::write(folder.path().join("my spec.yaml"), SPEC.replace("20", "21"))
                .expect("written");
        }
        let end = changed.iter().position(|word| *word == "--out").expect("it has one");
        changed.drain(end..end + 2);
        let refused = |more: &[&str]| {
            let assert = call(&folder, &[&changed[..], more].concat()).assert().code(2);
            let message = stderr(&assert);
            assert!(message.contains("not of the job that --sbatch made"), "{message}");
            message
        };
        let message = refused(&[&expect, "--shard", "1/2", "--out", out]);
        let sha256 = |it: &&str| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit());
        let named: Vec<_> = message.split([' ', ',', ';']).filter(sha256).collect();
        assert!(named.len() == 2 && named[0] != before && named[1] == before, "{message}");
        assert!(!folder.path().join(out).exists());
        let other = refused(&[&format!("--expect=0.0.1:{before}"), "--shard", "1/2", "--out", out]);
        assert!(other.contains("it was made by xrsim 0.0.1"), "{other}");
        if command.starts_with("map") || command.starts_with("compare") {
            refused(&[&expect, "--join", "absent"]);
        }
        let build = build(&script);
        let version = build.split('+').next().expect("it has a version");
        let another = format!("--expect={version}+0123456789:{before}");
        let other = refused(&[&another, "--shard", "1/2", "--out", out]);
        assert!(
            other.contains(&format!(
                "made by xrsim {version} (commit 0123456789); this is {version} ("
            )),
            "{other}"
        );
        let now = format!("--expect={build}:{}", named[0]);
        let made = [&changed[..], &[&now, "--shard", "1/2", "--out", out]].concat();
        fs::create_dir_all(folder.path().join("p.parts")).expect("a folder");
        call(&folder, &made).assert().success();
        let place = folder.path().join(out);
        if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) }
            .expect("it is ours");
    }
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
    for other in [&["--shard", "1/2"][..], &["--restart"], &["--expect", "0.1.0:12"]] {
        let message = refused(&[&["--sbatch", "2"], other].concat());
        assert!(message.contains("cannot be used with"), "{message}");
    }
    assert!(refused(&["--expect", "12"]).contains("expected VERSION:SHA256"));
    assert!(
        refused(&["--sbatch", "2", "--", "--comment", ""]).contains("an empty word after `--`")
    );
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
    assert!(text.contains("A cluster is not needed"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// Lines of the state of parts without what depends on the time, and the exit status.
fn status(folder: &TempDir) -> (Vec<String>, i32, String) {
    let assert = call(folder, &["parts", "status", "p.parts"]).assert();
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
    assert_eq!(lines[0], "part points done rows/s last sign state");
    assert_eq!(lines[1], "1-of-3 13 5 writing");
    assert!(lines[2].starts_with("2-of-3 13 13 ") && lines[2].ends_with(" done"), "{lines:?}");
    assert_eq!(lines[3], "3-of-3 waiting");
    assert!(lines[4].starts_with("all 39 18 "), "{lines:?}");
    assert_eq!((code, message.as_str()), (1, "1 of 3 parts are done\n"));
    // Long points: the mark of a process that lives decides, not the row.
    age(&first, 110);
    assert_eq!(status(&folder).0[1], "1-of-3 13 5 writing");
    age(&first, 130);
    assert!(status(&folder).0[1].contains(" stopped"));
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

/// Lets the modification time of a file be `seconds` ago.
fn age(path: &std::path::Path, seconds: u64) {
    let file = fs::File::options().append(true).open(path).expect("it is there");
    let then = SystemTime::now() - Duration::from_secs(seconds);
    file.set_modified(then).expect("it is ours");
}

#[cfg(unix)]
#[test]
fn a_search_that_was_interrupted_is_not_done() {
    let folder = folder();
    let search = |more: &[&str]| {
        // Far more runs than are made before the signal.
        let words = "search --scenario AR_gaming --dataflow WS,OS,RS --accelerators 1..3 --pes 4096 --step 64 --method exhaustive";
        let part =
            "--set flexibility=none --replications 100 --shard 1/2 --out p.parts/p.1-of-2 --quiet";
        let words: Vec<_> =
            words.split(' ').chain(part.split(' ')).chain(more.iter().copied()).collect();
        let mut command = process(&words);
        command.current_dir(folder.path()).stdout(Stdio::null());
        command
    };
    let part = folder.path().join("p.parts/p.1-of-2");
    let (journal, record) = (part.join("journal.csv"), part.join("search.json"));
    let mut child = search(&[]).spawn().expect("the program is there");
    let has_runs =
        || fs::read(&journal).is_ok_and(|it| it.iter().filter(|it| **it == b'\n').count() > 1);
    while !has_runs() {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (lines, code, _) = status(&folder);
    assert!(lines[1].ends_with(" writing"), "{lines:?}");
    assert_eq!(code, 1);
    Command::new("kill").args(["-INT", &child.id().to_string()]).assert().success();
    // From 128 on, the script of a job puts its task back into the queue.
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(record.exists());
    age(&journal, 2);
    age(&record, 1);
    let (lines, code, message) = status(&folder);
    assert!(lines[1].contains(" stopped"), "{lines:?}");
    assert_eq!((code, message.as_str()), (1, "0 of 2 parts are done\n"));
    // It goes on beside the record of before.
    age(&journal, 0);
    assert!(status(&folder).0[1].ends_with(" writing"));
    // A rule that ends it is an end.
    let done = search(&["--stop", "runs=1"]).status().expect("the program is there");
    assert!(done.success());
    let (lines, code, _) = status(&folder);
    assert!(lines[1].ends_with(" done"), "{lines:?}");
    assert_eq!(code, 1);
    // The part of another search.
    let other = folder.path().join("p.parts/p.2-of-2");
    fs::create_dir(&other).expect("a folder");
    fs::write(other.join("journal.csv"), "xrsim search 0.1.0 other\n").expect("it can be written");
    let (lines, code, _) = status(&folder);
    assert!(lines[2].ends_with("of another command or of other inputs"), "{lines:?}");
    assert_eq!(code, 2);
}

#[cfg(unix)]
#[test]
fn nothing_is_left_of_a_job_that_is_refused() {
    let folder = folder();
    let programs = Programs::new(&[
        (
            "sbatch",
            "echo \"sbatch $*\" >> \"${0%/*}/notes\"; cat > /dev/null\n\
             if [ -n \"${ACCEPTS-}\" ]; then echo \"8;${ACCEPTS}\"; exit; fi\n\
             case \"$*\" in *afterok*) echo 'no account' >&2; exit 1;; esac\necho 7",
        ),
        ("scancel", "echo \"scancel $*\" >> \"${0%/*}/notes\""),
    ]);
    let submit = |parts: &str, accepts: &str| {
        let arguments = ["sweep", "my spec.yaml", "--out", "p.csv", "--sbatch", parts, "--submit"];
        let mut command = call(&folder, &arguments);
        command.env("PATH", programs.path()).env("ACCEPTS", accepts).assert()
    };
    let refused = submit("2", "").code(1);
    assert_eq!(stderr(&refused), "sbatch refuses the job: no account\n");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    let expected = "sbatch --parsable\n\
                    sbatch --parsable --dependency=afterok:7 --kill-on-invalid-dep=yes\n\
                    scancel 7\n";
    assert_eq!(programs.notes(), expected);
    // Of several clusters, the second job goes to that of the first one.
    let accepted = submit("2", "north").success();
    assert_eq!(stdout(&accepted), "array 8, join 8 on north\n");
    let expected = "sbatch --parsable\n\
                    sbatch --parsable --dependency=afterok:8 --kill-on-invalid-dep=yes --clusters=north\n";
    assert!(programs.notes().ends_with(expected), "{}", programs.notes());
    // A refused submission leaves the scripts of the one before.
    let scripts = || {
        ["array", "join"].map(|it| {
            fs::read_to_string(folder.path().join(format!("p.parts/{it}.sbatch")))
                .expect("it is there")
        })
    };
    let before = scripts();
    assert!(before[0].contains("--array=1-2"));
    submit("3", "").code(1);
    assert_eq!(scripts(), before);
    submit("3", "north").success();
    assert!(scripts()[0].contains("--array=1-3"));
}

//! Mistakes that people make, each with what the answer has to say.

use std::fs;

use tempfile::tempdir;

use super::binary::{output, stderr, xrsim};

/// A command in a folder with [`FILES`], and parts of its answer.
type Mistake = (&'static str, &'static [&'static str]);

/// Commands that are refused with exit status 2, or 1 if they check.
const MISTAKES: &[Mistake] = &[
    ("run AR_gaming", &["did you mean `--scenario AR_gaming`?"]),
    ("run --set clock_mhz=800", &["no setting named `clock_mhz`", "`hardware.clock_mhz`?"]),
    ("sensitivity --factor clock=x2 --only", &["did you mean `hardware.clock_mhz`?"]),
    ("cost --network unet", &["the file `unet.yaml` is here: give its name with the ending"]),
    ("run --scenario desk", &["the file `desk.yaml` is here"]),
    ("cost --dataflow weight-stationary", &["did you mean `WS`?"]),
    ("check stationary.yaml", &["stationary.yaml:8:31: no dataflow", "did you mean `OS`?"]),
    (
        "check desk.yaml",
        &["desk.yaml:5:42: expected a mapping", "write {ES: data}, or {ES: {control"],
    ),
    ("import unet.yaml", &["a file of xrsim already, a `network`", "`xrsim check`"]),
    ("plot unet.yaml --kind best", &["no rows of a sweep", "first line is `network:`"]),
    (
        "plot rows.csv --kind best --columns score",
        &["--columns is for --kind means; --kind best takes --z, --where"],
    ),
    (
        "plot rows.csv --kind means --y score",
        &["--y is for --kind pareto, heatmap; --kind means takes --columns, --where"],
    ),
    (
        "plot rows.csv more.csv --kind best",
        &["takes one file, found 2; --kind energy takes several"],
    ),
    (
        "plot a b --kind energy --x pes",
        &["--x of --kind energy is mean_w or energy_j, found `pes`"],
    ),
    ("show edff", &["did you mean `edf`?"]),
    ("run --system unet.yaml", &["this is a `network` file; a `style` or `system` file is needed"]),
    ("run --system a.yaml,b.yaml", &["both describe a system `chip@512`", "NAME=b.yaml"]),
    ("check same.yaml", &["`main` is named twice"]),
    ("run --scheduler edf,rm", &["takes one scheduler", "`xrsim compare --scheduler edf,rm`"]),
    (
        "compare --scenario AR_gaming --device one.yaml,equal.yaml --scheduler edf,rm",
        &["device `toy` is given twice"],
    ),
    (
        "compare --scenario AR_gaming --device one.yaml,two.yaml --scheduler edf,rm",
        &["device `toy` is given twice"],
    ),
    ("check trip.yaml", &["trip.yaml:4:111: `main` is named twice"]),
    ("check nameless.yaml", &["nameless.yaml:2:9: expected text that is not empty"]),
    ("run --replications -1", &["-1 is not in 1..=1000000"]),
    ("plot rows.csv --kind energy", &["rows.csv:1: no column", "device.csv of `xrsim day`"]),
    ("run --scheduler external", &["needs a command: external:COMMAND"]),
    ("run --scheduler edf=external:a", &["`edf` is a scheduler of the program"]),
    (
        "sweep --scenario VR_gaming --system A --pes 1024..4096",
        &["3073 sizes, one PE apart", "step x2"],
    ),
    ("search --pes 512 --max-pes 512", &["cannot be used with"]),
    ("mergee", &["'parts merge'"]),
    ("parts status absent", &["absent"]),
];

/// A system of two accelerators.
const CHIP: &str = "\
system:
  name: chip
  clock_mhz: 1000
  energy: {mac_nj: 0.0003, scratchpad_per_mac: 1, shared_memory_per_mac: 60, dram_per_mac: 540}
  accelerators:
    - {name: main, dataflow: WS, pes: 256, noc_bandwidth_bytes_per_cycle: 64, shared_memory_kib: 512,
       scratchpad_kib: 4, dram_bandwidth_bytes_per_cycle: 16}
    - {name: other, dataflow: OS, pes: 256, noc_bandwidth_bytes_per_cycle: 64, shared_memory_kib: 512,
       scratchpad_kib: 4, dram_bandwidth_bytes_per_cycle: 16}
";

const UNET: &str = "\
network:
  name: unet
  layers: [{conv: {k: 8, c: 3, y: 16, x: 16, r: 3, s: 3}}]
";

const DESK: &str = "\
scenario:
  name: desk
  models:
    - {network: ES, fps: 60}
    - {network: GE, fps: 30, depends_on: ES}
";

const TOY: &str = "\
device:
  name: toy
  base_mw: 500
";

const TRIP: &str = "  thermal: {nodes: {die: {j_per_k: 1, k_per_w: {air: 1}}}, trips: [{node: die, at_c: 90, do: halt, of: [main, main]}]}
";

#[test]
fn a_mistake_is_answered_with_what_to_do() {
    let folder = tempdir().expect("a folder can be made");
    let files = [
        ("a.yaml", CHIP.into()),
        ("b.yaml", CHIP.into()),
        ("same.yaml", CHIP.replace("other", "main")),
        ("stationary.yaml", CHIP.replace(" OS", " output-stationary")),
        ("unet.yaml", UNET.into()),
        ("desk.yaml", DESK.into()),
        ("one.yaml", TOY.into()),
        ("equal.yaml", TOY.into()),
        ("two.yaml", TOY.replace("500", "700")),
        ("trip.yaml", [TOY, TRIP].concat()),
        ("nameless.yaml", TOY.replace("toy", "\"\"")),
        ("rows.csv", "score\n1\n".into()),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    for (command, parts) in MISTAKES {
        let words: Vec<_> = command.split(' ').collect();
        let call = xrsim(&words).current_dir(folder.path()).assert().failure();
        let message = stderr(&call);
        for part in *parts {
            assert!(message.contains(part), "xrsim {command}: `{part}` is not in\n{message}");
        }
    }
}

#[test]
fn a_list_without_a_name_has_the_names_of_all() {
    let text = output(&["list"]);
    assert!(text.contains("schedulers ") && text.contains("settings "), "{text}");
}

#[test]
fn an_old_name_of_an_option_is_told_once() {
    let search = ["search", "--scenario", "VR_gaming", "--accelerators", "1", "--step", "512"];
    let pes = |name| [&search[..], &[name, "512", "--dry-run"]].concat();
    let (old, new) = (xrsim(&pes("--pes")).assert(), xrsim(&pes("--max-pes")).assert());
    let said = stderr(&old.success());
    let warning = "warning: option `--pes` is called `--max-pes` since 0.2";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    assert!(!stderr(&new.success()).contains(warning));
}

/// The cause is no note, which `--quiet` would hide.
#[test]
fn the_cause_of_a_failed_scheduler_is_told_in_spite_of_quiet() {
    let scheduler = "mine=external:no-such-program";
    let of = [
        "--scenario",
        "VR_gaming",
        "--system",
        "A",
        "--pes",
        "4096",
        "--quiet",
        "--scheduler",
        scheduler,
    ];
    for command in ["run", "compare"] {
        let said = stderr(&xrsim(&[&[command][..], &of].concat()).assert().failure());
        assert!(said.contains("warning: no"), "{said}");
        assert!(said.contains("cannot start `no-such-program`"), "{said}");
    }
}

/// A scheduler that lets every request wait is `mine` in results, and has its command in the record.
#[cfg(unix)]
#[test]
fn an_external_scheduler_has_the_name_that_it_is_given() {
    let folder = tempdir().expect("a folder can be made");
    let waits = "read setup; n=0; while read view; do n=$((n+1)); echo {\\\"id\\\":$n,\\\"do\\\":\\\"wait\\\"}; done";
    let mine = format!("mine=external:sh -c '{waits}'");
    let of = ["--scenario", "VR_gaming", "--system", "A", "--pes", "4096", "--duration", "50"];
    let out = folder.path().join("out");
    let out = out.to_str().expect("a path is text");
    let run = [&["run"][..], &of, &["--scheduler", &mine, "-o", out]].concat();
    output(&run);
    let read = |name: &str| fs::read_to_string(format!("{out}/{name}")).expect("it is written");
    assert!(read("scores.csv").contains(",mine,"), "{}", read("scores.csv"));
    let record: serde_json::Value = serde_json::from_str(&read("run.json")).expect("JSON");
    assert_eq!(record["effective"]["scheduler"], *mine);
    let latex =
        ["--replications", "2", "--format", "latex", "--scheduler", "edf", "--scheduler", &mine];
    let text = output(&[&["compare"][..], &of, &latex].concat());
    assert!(text.contains("\nmine & ") && !text.contains("external:"), "{text}");
    for head in ["effect size", "p (Holm)", "energy, mJ", "gap to bound"] {
        assert!(text.contains(&format!("& {head} ")), "{head}: {text}");
    }
    let two = [&["compare"][..], &of, &["--scheduler", &mine, "--scheduler", "mine=external:true"]];
    let said = stderr(&xrsim(&two.concat()).assert().code(2));
    assert!(said.contains("scheduler `mine` is given twice"), "{said}");
}

#[test]
fn a_run_that_fails_at_two_sizes_is_told_for_each() {
    let run = ["run", "--scenario", "AR_gaming", "--system", "A", "--pes", "4096,8192"];
    let more = ["--flexibility", "none", "--replications", "1", "--scheduler", "external:false"];
    let said = stderr(&xrsim(&[&run[..], &more].concat()).assert().code(2));
    for size in ["4096", "8192"] {
        let start = format!("warning: no score for AR_gaming on A@{size}: ");
        assert_eq!(said.lines().filter(|line| line.starts_with(&start)).count(), 1, "{said}");
    }
}

/// Each of three replications fails for the same reason.
#[test]
fn a_run_that_fails_in_every_replication_is_told_once() {
    let run = ["run", "--scenario", "AR_gaming", "--system", "A", "--pes", "4096"];
    let more = ["--flexibility", "none", "--replications", "3", "--scheduler", "external:false"];
    let said = stderr(&xrsim(&[&run[..], &more].concat()).assert().code(2));
    let warnings = said.lines().filter(|line| line.starts_with("warning: no score for "));
    let warnings: Vec<_> = warnings.collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(warnings[0].starts_with("warning: no score for AR_gaming on A: "), "{said}");
}

//! Sweeps of profiles.

use super::*;

/// Two minutes on a headset, after which the small battery of `cell.yaml` is empty in the last phase.
const ERRAND: &str = "\
profile:
  name: errand
  phases:
    - {name: play, scenario: AR_gaming, minutes: 1}
    - {name: pause, scenario: standby, minutes: 1, base_mw: 0}
    - {name: play, scenario: AR_gaming, minutes: 1}
";

const CELL: &str = "\
device:
  name: cell
  accelerators: {points: rk3588_npu, leakage_mw_per_1024_pes: 100}
  base_mw: 3000
  battery: {wh: 0.15, efficiency: 0.85}
  thermal:
    nodes: {die: {j_per_k: 0.1, k_per_w: {skin: 4}}, skin: {j_per_k: 60, k_per_w: {air: 10}}}
    heat: {accelerators: die, base: skin}
";

/// The same device whose die has nearly no way for its heat.
const OVEN: &str = "\
device:
  name: oven
  base_mw: 3000
  thermal:
    nodes: {die: {j_per_k: 0.01, k_per_w: {air: 400}}}
    heat: {accelerators: die, base: die}
";

const SPEC: &str = "\
sweep:
  name: days
  grid:
    profile: errand.yaml
    device: [cell.yaml, oven.yaml]
    system: J
    pes: 4096
    platform: paper
    flexibility: none
    scheduler: [edf, \"edf:admission=hopeless\"]
  replications: 2
";

fn study() -> Study {
    let study = Study::new(SPEC);
    for (name, text) in [("errand.yaml", ERRAND), ("cell.yaml", CELL), ("oven.yaml", OVEN)] {
        fs::write(study.path(name), text).expect("a file can be written");
    }
    study
}

#[test]
fn rows_have_what_day_says_of_the_same_profile() {
    let study = study();
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let header = rows.lines().next().expect("there is a header");
    let results = "profile_score,missed_share,hours,energy_j,accelerator_share,mean_w,peak_w,outside_c,capped_share,\
                   halted_s,charge_left,stopped_at_s,highest_c,reason,check";
    assert!(header.ends_with(&format!("platform,flexibility,score,{results}")), "{header}");
    let day = ["day", "--profile", "errand.yaml", "--device", "cell.yaml", "--system", "J"];
    let rest = ["--pes", "4096", "--platform", "paper", "--flexibility", "none", "--no-changes"];
    let scheduler = ["--scheduler", "edf:admission=hopeless", "--out", "day"];
    let (text, _) = study.done(&[&day[..], &rest, &scheduler].concat());
    let device = study.read("day/device.csv");
    // Points vary in the order of the keys: 0 and 1 are the draws of edf, 2 is the run of the command.
    let row = rows.lines().nth(3).expect("there are eight points");
    let own = device.lines().nth(1).expect("there is a run");
    let number = |name: &str| -> f64 { cell(&rows, row, name).parse().expect("it is a number") };
    for name in ["energy_j", "mean_w", "peak_w", "charge_left", "stopped_at_s", "capped_share"] {
        assert_eq!(Ok(number(name)), cell(&device, own, name).parse(), "{name}");
    }
    assert_eq!(cell(&rows, row, "highest_c"), cell(&device, own, "highest_c"));
    assert!(text.contains(&format!("score: {:.4},", number("score"))), "{text}");
    assert!(text.contains(&format!("after {:.2} h of 0.05 h", number("hours"))), "{text}");
    // The time after the battery is empty scores 0.
    let share = number("hours") / 0.05;
    assert!(share < 1.0 && (number("profile_score") - share * number("score")).abs() < 1e-12);
    assert_eq!(
        (cell(&rows, row, "scenario"), cell(&rows, row, "profile")),
        ("errand", "errand.yaml")
    );
}

/// 1.5 J at 3 W and more are used up within half a second.
#[test]
fn rows_and_the_summary_tell_that_a_battery_ended_runs() {
    let study = study();
    let small = "device:\n  name: small\n  base_mw: 3000\n  battery: {wh: 0.000416}\n";
    fs::write(study.path("small.yaml"), small).expect("a file can be written");
    let runs = ["--scenario", "VR_gaming", "--system", "J", "--pes", "4096", "--platform", "paper"];
    let device = ["--flexibility", "none", "--device", "small.yaml"];
    let sweep = [&["sweep", "--out", "rows.csv"][..], &runs, &device, &["--device", "cell.yaml"]];
    let (_, said) = study.done(&sweep.concat());
    assert!(
        said.ends_with("new; 1 of the new ones ended by an empty battery, see `stopped_at_s`\n"),
        "{said}"
    );
    study.done(&[&["run", "--out", "run"][..], &runs, &device].concat());
    let (rows, of_run) = (study.read("rows.csv"), study.read("run/device.csv"));
    let own = cell(&of_run, of_run.lines().nth(1).expect("there is a run"), "stopped_at_s");
    assert!(own.parse::<f64>().is_ok_and(|it| it < 0.5), "{own}");
    let stopped = rows.lines().skip(1).map(|row| cell(&rows, row, "stopped_at_s"));
    assert_eq!(stopped.collect::<Vec<_>>(), [own, ""]);
}

#[test]
fn a_device_that_gets_too_hot_is_a_row_with_a_reason() {
    let study = study();
    let rows = study.sweep("rows.csv", &["spec.yaml"]);
    let of_oven: Vec<_> = rows.lines().filter(|row| row.contains(",oven.yaml,")).collect();
    assert_eq!(of_oven.len(), 4);
    for row in of_oven {
        assert!(row.contains("node `die` is hotter than 200 C after "), "{row}");
        assert_eq!(cell(&rows, row, "score"), "");
    }
    let foresees = ["--profile", "errand.yaml", "--system", "J", "--pes", "4096"];
    let rows = study.sweep("other.csv", &[&foresees[..], &["--scheduler", "magma"]].concat());
    assert!(rows.contains("plans all requests before the run"), "{rows}");
    let rows =
        study.sweep("artifact.csv", &[&foresees[..], &["--semantics", "mlsys2023"]].concat());
    assert!(rows.contains("profile has no effect under --semantics mlsys2023"), "{rows}");
}

#[test]
fn a_sweep_of_profiles_goes_on_is_divided_extended_and_drawn_as_any_other() {
    let study = study();
    let whole = study.sweep("whole.csv", &["spec.yaml"]);
    fs::write(study.path("spec.yaml"), SPEC.replace("replications: 2", "replications: 1"))
        .expect("the file can be written");
    let fewer = study.sweep("rows.csv", &["spec.yaml"]);
    fs::write(study.path("rows.csv"), &fewer[..fewer.len() - 9]).expect("the file can be written");
    fs::write(study.path("spec.yaml"), SPEC).expect("the file can be written");
    assert_eq!(study.sweep("rows.csv", &["spec.yaml"]), whole);
    for part in ["1/2", "2/2"] {
        study.done(&["sweep", "spec.yaml", "--shard", part]);
    }
    let parts = ["spec.1-of-2.csv", "spec.2-of-2.csv"];
    study.done(&[&["parts", "merge", "--out", "joined.csv"], &parts[..]].concat());
    assert_eq!(study.read("joined.csv"), whole);
    let (best, _) = study.done(&["plot", "whole.csv", "--kind", "best"]);
    assert!(best.contains("profile_score") && best.contains("means of 2 draws"), "{best}");
    let (front, _) = study.done(&["plot", "whole.csv", "--kind", "pareto"]);
    assert!(front.contains("mean_w") && front.contains("profile_score"), "{front}");
}

#[test]
fn keys_that_a_profile_brings_itself_are_refused_beside_it() {
    let study = study();
    let base = ["sweep", "--profile", "errand.yaml", "--system", "J", "--pes", "4096"];
    for (option, value, expected) in [
        ("--scenario", "AR_gaming", "a profile has scenarios of its own"),
        ("--duration", "5", "a profile has durations of its own"),
        (
            "--set",
            "parameters.HT.scale=2",
            "a profile has the networks of its scenarios as they are",
        ),
    ] {
        let message = study.refused(&[&base[..], &[option, value]].concat());
        assert!(message.contains(expected), "{message}");
    }
    let message = study.refused(&["sweep", "--profile", "evenin", "--system", "J"]);
    assert!(
        message.contains("no profile named `evenin`") && message.contains("evening"),
        "{message}"
    );
    let message = study.refused(&["run", "--set", "profile=evening"]);
    assert!(message.contains("`xrsim day` runs a profile"), "{message}");
    let spec = "sweep: {name: s, points: [{profile: errand.yaml}, {pes: 1024}], grid: {system: A}}";
    fs::write(study.path("spec.yaml"), spec).expect("the file can be written");
    let message = study.refused(&["sweep", "spec.yaml"]);
    assert!(message.contains("this point has no `profile`, which others have"), "{message}");
}

/// 25 draws have intervals (`statistics::LEAST_VALUES`). What AR_Assistant is asked for differs from draw to draw.
#[test]
fn a_table_of_means_has_intervals_and_reasons() {
    let study = study();
    let spec = SPEC.replace("replications: 2", "replications: 25").replace("edf, ", "");
    fs::write(study.path("spec.yaml"), spec).expect("the file can be written");
    let short = ERRAND.replace("AR_gaming", "AR_Assistant").replace("minutes: 1", "minutes: 0.02");
    fs::write(study.path("errand.yaml"), short).expect("the file can be written");
    study.sweep("rows.csv", &["spec.yaml"]);
    let kind = ["plot", "rows.csv", "--kind", "means"];
    let columns = ["--columns", "hours,energy_j"];
    let (text, _) = study.done(&[&kind[..], &columns].concat());
    assert!(text.contains("means of 25 draws; +- is half of the 95 % interval"), "{text}");
    let row = |device: &str| text.lines().find(|line| line.contains(device)).expect("a row");
    assert!(row("cell.yaml").contains(" +- ") && row("cell.yaml").contains("no spread"), "{text}");
    assert!(row("oven.yaml").ends_with(" 1"), "{text}");
    assert!(text.contains("\n1: node `die` is hotter than 200 C"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    study.done(&[&kind[..], &columns, &["--out", "means.csv"]].concat());
    let header = "scenario,device,hours,hours_half_width,energy_j,energy_j_half_width,reason";
    assert_eq!(study.read("means.csv").lines().next(), Some(header));
    let (all, _) = study.done(&kind);
    assert!(all.contains("profile_score") && all.contains("outside_c"), "{all}");
}

#[test]
fn a_sweep_of_profiles_without_a_device_has_a_page_and_means() {
    let study = study();
    let short = ERRAND.replace("minutes: 1", "minutes: 0.02");
    fs::write(study.path("errand.yaml"), short).expect("the file can be written");
    let spec = SPEC.replace("    device: [cell.yaml, oven.yaml]\n", "");
    fs::write(study.path("spec.yaml"), spec).expect("the file can be written");
    study.sweep("rows.csv", &["spec.yaml"]);
    study.done(&["report", "rows.csv", "-o", "page.html"]);
    let (means, _) = study.done(&["plot", "rows.csv", "--kind", "means"]);
    assert!(means.contains("missed_share") && !means.contains("mean_w"), "{means}");
}

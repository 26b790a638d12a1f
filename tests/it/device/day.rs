//! Runs of profiles.

use std::fs;
use std::path::Path;

use xrsim::Experiment;
use xrsim::config::Notes;
use xrsim::experiment::DayRun;
use xrsim::sweep::day::Day;

/// J with 4096 PEs under edf:admission=hopeless, on a device of this text.
fn run(folder: &Path, profile: &str, device: &str) -> Day {
    let path = folder.join("device.yaml");
    fs::write(&path, device).expect("a file can be written");
    let experiment = Experiment::new()
        .system("J")
        .pes(4096)
        .scheduler("edf:admission=hopeless")
        .set("device", path.display());
    let run = DayRun::new(&experiment, profile, &Notes::default()).expect("the inputs are right");
    run.run(&|_| {}).expect("the run can be made")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

/// Charges of section 4.3 of the specification of devices, in Wh of 18.88 at 0.85, from mean powers over 100 s of each
/// scenario. Ripple, drains at the ends of phases and single draws make the rest: 0.5 %.
#[test]
fn the_charge_of_an_evening_is_that_of_its_mean_powers() {
    let folder = folder();
    let device =
        "device:\n  name: cell\n  base_mw: 3000\n  battery: {wh: 18.88, efficiency: 0.85}\n";
    let day = run(folder.path(), "evening", device);
    let sections = day.body.as_ref().expect("a device").sections().to_vec();
    let expected = [14.873683, 14.863796, 11.168855, 7.723335, 6.825234, 6.795573];
    for (section, wh) in sections.iter().zip(expected) {
        let found = 18.88 * section.charge.expect("a battery");
        assert!((found / wh - 1.0).abs() < 5e-3, "{found} in place of {wh} Wh");
    }
    // 8476.988 s, in the second social phase: the ninth.
    let end = day.end.ns() as f64 / 1e9;
    assert!((end / 8476.988 - 1.0).abs() < 5e-3, "{end}");
    assert_eq!((day.phases.len(), sections.len()), (9, 9));
    let ledger = day.ledger.as_ref().expect("a device");
    let charge = day.body.as_ref().and_then(|body| body.charge()).expect("a battery");
    let joules: f64 = sections.iter().map(|section| section.joules).sum();
    let all = ledger.total_microjoules() / 1e6;
    assert!((joules - all).abs() < 1e-9 * all);
    assert!((charge.taken_j() * 0.85 - all).abs() < 1e-9 * all);
    assert!(charge.is_empty());
}

/// With phases, windows of any length and no windows are one: the generator makes requests as they are taken
/// (`load::generator`). The scores are those of a run, to the last bit.
#[test]
fn a_profile_of_one_phase_scores_as_a_run() {
    let folder = folder();
    let profile = folder.path().join("one.yaml");
    let text =
        "profile:\n  name: one\n  phases:\n    - {name: only, scenario: AR_gaming, minutes: 0.5}\n";
    fs::write(&profile, text).expect("a file can be written");
    let day = run(folder.path(), &profile.display().to_string(), "device:\n  name: none\n");
    let runs = Experiment::new()
        .scenario("AR_gaming")
        .system("J")
        .pes(4096)
        .scheduler("edf:admission=hopeless")
        .set("duration_ms", 30_000)
        .run()
        .expect("the run can be made");
    let expected = runs[0].scorecard().expect("it has scores");
    assert_eq!(day.phases[0].scorecard.as_ref(), Some(expected));
    assert_eq!(day.score().score, expected.total.score);
}

/// A minute in air of 25 C, then one of 45 C, each without a load: the skin follows with 600 s.
#[test]
fn phases_change_base_power_and_air() {
    let folder = folder();
    let profile = folder.path().join("two.yaml");
    let text = "profile:
  name: two
  phases:
    - {name: warm, scenario: standby, minutes: 1, base_mw: 2500}
    - {name: hot, minutes: 1, base_mw: 0, ambient_c: 45}
";
    fs::write(&profile, text).expect("a file can be written");
    let device = "device:
  name: one
  thermal:
    nodes: {skin: {j_per_k: 60, k_per_w: {air: 10}}}
    heat: {base: skin}
";
    let day = run(folder.path(), &profile.display().to_string(), device);
    let body = day.body.as_ref().expect("a device");
    let [warm, hot] = body.sections() else { panic!("two phases") };
    // 2.5 W from 25 C for 60 s: 27.3790645491 C. Then 45 + (27.379 - 45) e^(-60/600).
    assert!((warm.highest_c[0] - 27.3790645491).abs() < 1e-9);
    let expected = 45.0 + (27.379_064_549_1 - 45.0) * (-0.1f64).exp();
    assert!((hot.highest_c[0] - expected).abs() < 1e-9, "{} {expected}", hot.highest_c[0]);
    assert!((warm.joules - 150.0).abs() < 0.05 && hot.joules.abs() < 1e-9);
}

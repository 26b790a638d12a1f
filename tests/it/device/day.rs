//! Runs of profiles.

use std::fs;

use xrsim::config::Notes;
use xrsim::experiment::DayRun;
use xrsim::sweep::day::Day;
use xrsim::{Catalog, Experiment};

/// J with 4096 PEs under edf:admission=hopeless.
fn experiment() -> Experiment {
    let experiment = Experiment::new().system("J").pes(4096).scheduler("edf:admission=hopeless");
    experiment.set("platform", "paper").set("flexibility", "none")
}

/// A run of a profile on a device, each of this text.
fn run(profile: &str, device: &str) -> Day {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let [profile, device] = [("profile", profile), ("device", device)].map(|(name, text)| {
        let path = folder.path().join(name).with_extension("yaml");
        fs::write(&path, text).expect("a file can be written");
        path.display().to_string()
    });
    let experiment = experiment().set("device", device);
    let run = DayRun::new(&experiment, &profile, &Notes::default()).expect("inputs are right");
    run.run(&|_| {}).expect("the run can be made")
}

/// Mean power of the accelerators in a minute of a scenario \[W\].
fn mean_w(scenario: &str) -> f64 {
    let runs = experiment().scenario(scenario).set("duration_ms", 60_000).run();
    let runs = runs.expect("the run can be made");
    runs[0].scorecard().expect("it has scores").total.counts.energy.get() / 60e3
}

/// The evening of the manual, ten times as fast and with a tenth of the battery, against drains of mean powers piece by
/// piece. Ripple, drains at the ends of phases and single draws make the rest: 0.5 %.
#[test]
fn the_charge_of_an_evening_is_that_of_its_mean_powers() {
    let phases = [
        ("VR_gaming", 2.5, 3.0),
        ("standby", 1.0, 0.05),
        ("social_interactionA", 1.5, 3.0),
        ("AR_Assistant", 1.0, 3.0),
        ("AR_gaming", 0.5, 3.0),
        ("standby", 3.0, 0.05),
    ];
    let lines = phases.map(|(scenario, minutes, base_w)| {
        let base_mw = base_w * 1e3;
        format!("{{name: one, scenario: {scenario}, minutes: {minutes}, base_mw: {base_mw}}}")
    });
    let lines = lines.join(",\n      ");
    let profile =
        format!("profile:\n  name: fast\n  phases:\n    - repeat: 2\n      phases: [{lines}]\n");
    let day = run(&profile, "device:\n  name: cell\n  battery: {wh: 1.888, efficiency: 0.85}\n");
    let powers = phases.map(|(scenario, ..)| mean_w(scenario));
    let sections = day.body.as_ref().expect("a device").sections().to_vec();
    let (mut left, mut time, mut n_sections) = (1.888 * 3600.0, 0.0, 0);
    for (power, (_, minutes, base_w)) in powers.iter().zip(phases).cycle().take(12) {
        let drain = (power + base_w) / 0.85;
        n_sections += 1;
        if left < drain * minutes * 60.0 {
            time += left / drain;
            break;
        }
        left -= drain * minutes * 60.0;
        time += minutes * 60.0;
        let found = 1.888 * 3600.0 * sections[n_sections - 1].charge.expect("a battery");
        assert!((found / left - 1.0).abs() < 5e-3, "{found} in place of {left} J");
    }
    // In the second social phase.
    assert_eq!(n_sections, 9);
    let end = day.end.ns() as f64 / 1e9;
    assert!((end / time - 1.0).abs() < 5e-3, "{end} {time}");
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
    let profile = "profile:
  name: one
  phases:
    - {name: only, scenario: AR_gaming, minutes: 0.5}
";
    let day = run(profile, "device:\n  name: none\n");
    let runs = experiment().scenario("AR_gaming").set("duration_ms", 30_000).run();
    let runs = runs.expect("the run can be made");
    let expected = runs[0].scorecard().expect("it has scores");
    assert_eq!(day.phases[0].scorecard.as_ref(), Some(expected));
    assert_eq!(day.score().score, expected.total.score);
}

/// A minute in air of 25 C, then one of 45 C, each without a load: the skin follows with 600 s.
#[test]
fn phases_change_base_power_and_air() {
    let profile = "profile:
  name: two
  phases:
    - {name: warm, scenario: standby, minutes: 1, base_mw: 2500}
    - {name: hot, minutes: 1, base_mw: 0, ambient_c: 45}
";
    let device = "device:
  name: one
  thermal:
    nodes: {skin: {j_per_k: 60, k_per_w: {air: 10}}}
    heat: {base: skin}
";
    let day = run(profile, device);
    let body = day.body.as_ref().expect("a device");
    let [warm, hot] = body.sections() else { panic!("two phases") };
    // 2.5 W from 25 C for 60 s: 27.3790645491 C. Then 45 + (27.379 - 45) e^(-60/600).
    assert!((warm.highest_c[0] - 27.3790645491).abs() < 1e-9);
    let expected = 45.0 + (27.379_064_549_1 - 45.0) * (-0.1f64).exp();
    assert!((hot.highest_c[0] - expected).abs() < 1e-9, "{} {expected}", hot.highest_c[0]);
    assert!((warm.joules - 150.0).abs() < 0.05 && hot.joules.abs() < 1e-9);
}

/// A profile of this text, or the message of its first problem.
fn read(text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("profile.yaml");
    fs::write(&path, text).expect("a file can be written");
    let read = Catalog::new().profile(&path.display().to_string());
    read.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_wrong_profile_is_refused_where_it_is_wrong() {
    let chain = "profile:
  name: mine
  chain:
    start: idle
    hours: 1
    states:
      idle: {scenario: standby, minutes: {mean: 5, least: 1}, next: {game: 1}}
      game: {scenario: VR_gaming, minutes: {mean: 5}, next: {idle: 0.5, game: 0.5}}
";
    let fixed = "profile:
  name: mine
  phases:
    - {name: game, scenario: VR_gaming, minutes: 5}
    - repeat: 3
      phases: [{name: pause, minutes: 5}]
";
    assert_eq!((read(chain), read(fixed)), (Ok(()), Ok(())));
    for (text, from, to, expected) in [
        (chain, "start: idle", "start: idel", "no state named `idel`"),
        (chain, "game: 0.5", "game: 0.6", "sum to 1.1, not to 1"),
        (chain, "least: 1", "least: 6", "the shortest time is longer than the mean"),
        (chain, "hours: 1", "hours: 721", "a time above 0 up to 720 h"),
        (chain, "least: 1", "least: -1", "a time from 0 to 43200 min"),
        (chain, "  chain:", "  chian:", "did you mean `chain`?"),
        (chain, "VR_gaming", "VR_gamin", "no scenario named `VR_gamin`"),
        (chain, "  chain:", "  phases: []\n  chain:", "empty"),
        (
            fixed,
            "minutes: 5}\n    - repeat",
            "minutes: 0}\n    - repeat",
            "a time above 0 up to 43200 min",
        ),
        (fixed, "repeat: 3", "repeat: 10001", "1 to 10000"),
        (fixed, "repeat: 3", "repeat: 10000", "10001 phases; at most 10000 are allowed"),
        (fixed, "repeat: 3", "repeat: 9000", "750 h in all; at most 720 h are allowed"),
        (fixed, "scenario: VR_gaming, ", "", "nothing has a scenario"),
        (
            "profile:\n  name: mine\n",
            "  name",
            "  name",
            "a profile lacks the key `phases` or `chain`",
        ),
        (fixed, "{name: pause,", "{name: pause, gates: {camera: {on_s: 1}},", "gate"),
    ] {
        assert!(text.contains(from), "{from}");
        let message = read(&text.replace(from, to)).expect_err(to);
        assert!(message.contains(expected), "{message} for {to}");
    }
    let idle = chain.replace("scenario: standby, ", "").replace("scenario: VR_gaming, ", "");
    let message = read(&idle.replace("start: idle", "start: idel")).expect_err("two mistakes");
    assert!(message.contains("no state named `idel`"), "{message}");
}

/// Each phase with gates of its own is a scenario with costs of its own; alike ones are one.
#[test]
fn a_profile_has_at_most_100_scenarios() {
    let profile = |on_s: &dyn Fn(u32) -> u32| {
        let phase = |n| {
            let gates = format!(
                "{{camera: {{on_s: {{mean: {}, cv: 1}}, off_s: {{mean: 1, cv: 1}}}}}}",
                on_s(n)
            );
            format!("    - {{name: game, scenario: AR_gaming, minutes: 1, gates: {gates}}}\n")
        };
        format!("profile:\n  name: mine\n  phases:\n{}", (1..=101).map(phase).collect::<String>())
    };
    assert_eq!(read(&profile(&|n| n % 100 + 1)), Ok(()));
    let message = read(&profile(&|n| n)).expect_err("they are too many");
    let expected = "101 different scenarios (with their gates); at most 100 are allowed";
    assert!(message.contains(expected) && message.contains("profile.yaml:104:"), "{message}");
    assert_eq!(message.matches("different scenarios").count(), 1);
}

/// `fixed` at 300 MHz: what is tried in place of `edf` runs at 300 MHz, too.
#[test]
fn changes_that_are_tried_leave_the_options_of_a_governor_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = folder.path().join("profile.yaml");
    let text = "profile:\n  name: short\n  phases:\n    - {name: game, scenario: VR_gaming, minutes: 0.01}\n";
    fs::write(&profile, text).expect("a file can be written");
    let experiment = Experiment::new().system("J").pes(4096).set("flexibility", "none");
    let experiment = experiment.set("device", "headset").scheduler("edf:governor=fixed,mhz=300");
    let profile = profile.display().to_string();
    let run = DayRun::new(&experiment, &profile, &Notes::default()).expect("inputs are right");
    let changes = run.changes();
    let options: Vec<_> = changes.iter().map(|it| &*it.option).collect();
    let schedulers = || options.iter().filter(|it| it.starts_with("--scheduler "));
    assert!(schedulers().count() >= 3, "{options:?}");
    assert!(schedulers().all(|it| it.ends_with("mhz=300")), "{options:?}");
}

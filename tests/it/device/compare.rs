//! Comparisons of schedulers and governors on profiles, and on several devices.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use xrsim::config::Notes;
use xrsim::experiment::DayRun;
use xrsim::report::comparison::{Beside, Measure, Ranking};
use xrsim::sweep::comparison::{Comparison, Subject, Triggers};
use xrsim::sweep::day::DayMetrics;
use xrsim::{Experiment, ExperimentError};

use crate::support::binary::{output, refused, stderr, stdout, xrsim};
use crate::support::page::data;

/// Games and walks of drawn times, 36 s in all.
const PROFILE: &str = "profile:
  name: short
  chain:
    start: game
    hours: 0.01
    states:
      game: {scenario: AR_gaming, minutes: {mean: 0.1}, next: {walk: 1}}
      walk: {scenario: outdoor_activity_A, minutes: {mean: 0.1}, next: {game: 1}}
";

/// A battery that is empty before the profile ends: 0.02 Wh for 36 s are 2 W.
const DEVICE: &str = "device:
  name: cell
  base_mw: 1500
  battery: {wh: 0.02}
";

const SCHEDULERS: [&str; 3] = ["edf", "latency-greedy", "edf:admission=hopeless"];

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file can be written");
    path.display().to_string()
}

/// The experiment on the profile, and the files of both.
fn experiment(folder: &TempDir) -> (Experiment, String) {
    let profile = file(folder.path(), "profile.yaml", PROFILE);
    let device = file(folder.path(), "cell.yaml", DEVICE);
    let experiment = Experiment::new().system("M").pes(1024).set("platform", "paper");
    (experiment.set("flexibility", "none").set("device", device), profile)
}

fn compared(experiment: Experiment, n: u64) -> Comparison {
    let experiment = experiment.schedulers(SCHEDULERS).replications(n);
    experiment.compare(Triggers::Drawn).expect("inputs are right")
}

/// The draws of a replication, times of phases included, do not depend on the scheduler, and are those of `xrsim day`.
#[test]
fn every_sample_is_that_of_the_day_by_itself() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (experiment, profile) = experiment(&folder);
    let comparison = compared(experiment.clone().profile(&profile), 3);
    assert_eq!(comparison.subject(), Subject::Profiles);
    let (_, replications) = comparison.feasible().next().expect("it can run");
    for (index, scheduler) in SCHEDULERS.iter().enumerate() {
        let alone = experiment.clone().scheduler(*scheduler);
        let day = DayRun::new(&alone, &profile, &Notes::default()).expect("inputs are right");
        let days = day.replications(3, &|_| {});
        for (replication, day) in replications.iter().zip(days) {
            let day = day.expect("the run can be made");
            assert!(day.stopped_at_s.is_some(), "the battery of {scheduler} is not empty");
            assert_eq!(replication.bounds, None);
            for name in
                ["profile_score", "score", "missed_share", "hours", "energy_j", "charge_left"]
            {
                let expected = DayMetrics::column(name).expect("a column").of(&day);
                assert_eq!(replication.samples[index].value(name), expected, "{name}");
            }
            // There are no temperatures.
            assert_eq!(replication.samples[index].value("outside_c"), None);
        }
    }
    let hours = |at: usize| replications[at].samples[0].value("hours");
    assert_ne!(hours(0), hours(1), "replications have the same draws");
}

#[test]
fn the_ranking_of_profiles_is_by_their_score_and_has_no_bounds() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (experiment, profile) = experiment(&folder);
    let comparison = compared(experiment.profile(&profile), 2);
    let measure = Measure::primary(Subject::Profiles);
    assert_eq!(measure.name(), "profile_score");
    let ranking = Ranking::new(&comparison, measure);
    assert_eq!((ranking.bounds, ranking.n_replications), (None, 2));
    assert!(ranking.standings.is_sorted_by(|a, b| a.measure.mean >= b.measure.mean));
    let (_, replications) = comparison.feasible().next().expect("it can run");
    for standing in &ranking.standings {
        let policies = comparison.policies();
        let at = policies.iter().position(|it| it.label() == &standing.policy).expect("a policy");
        let values: Vec<_> =
            replications.iter().filter_map(|it| it.samples[at].value("profile_score")).collect();
        let mean = (values[0] + values[1]) / 2.0;
        assert!((standing.measure.mean - mean).abs() < 1e-12);
        assert!(matches!(standing.beside, Beside::Profiles(_)));
    }
}

#[test]
fn profiles_have_scenarios_and_durations_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (experiment, profile) = experiment(&folder);
    let with = experiment.profile(&profile).schedulers(["edf"]);
    let message = |experiment: &Experiment| {
        let error = experiment.compare(Triggers::Drawn).err().expect("it is wrong");
        error.to_string()
    };
    assert!(
        message(&with.clone().scenario("AR_gaming")).contains("choose --profile or --scenario")
    );
    assert!(message(&with.clone().set("duration_ms", 500)).contains("durations of its own"));
    let artifact = Experiment::new().profile(&profile).system("J").pes(4096);
    let artifact = artifact.set("semantics", "mlsys2023");
    assert!(message(&artifact).contains("no `mlsys2023` semantics"));
    assert!(message(&with.clone().profile(&profile)).contains("profile `short` is given twice"));
    assert!(
        message(&with.clone().scheduler("magma")).contains("plans all requests before the run")
    );
    let error = with.run().expect_err("runs are of scenarios");
    assert!(matches!(error, ExperimentError::Conflict(_)), "{error}");
    let alone = Experiment::new().scenario("AR_gaming").system("J").pes(4096);
    let governed = alone.scheduler("edf:governor=slack");
    assert!(message(&governed).contains("no effect without a device"));
}

/// Two devices, on which the battery of one is empty: names of configurations say which.
#[test]
fn a_comparison_on_two_devices_has_a_row_for_each() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let profile = file(folder.path(), "profile.yaml", PROFILE);
    let cell = file(folder.path(), "cell.yaml", DEVICE);
    let mains = file(folder.path(), "mains.yaml", "device:\n  name: mains\n  base_mw: 1500\n");
    let (devices, out) = (format!("{cell},{mains}"), folder.path().join("out"));
    let out = out.display().to_string();
    let runs = [
        "compare",
        "--profile",
        &profile,
        "--device",
        &devices,
        "--system",
        "M",
        "--pes",
        "1024",
        "--platform",
        "paper",
        "--flexibility",
        "none",
        "--scheduler",
        "edf,latency-greedy",
        "--replications",
        "2",
    ];
    let made = xrsim(&[&runs[..], &["--out", &out]].concat()).assert().success();
    let (text, notes) = (stdout(&made), stderr(&made));
    assert!(text.contains("short/cell") && text.contains("short/mains"), "{text}");
    assert!(text.contains("by profile_score: score of the whole profile"), "{text}");
    assert!(text.contains("no 95 % intervals below 25 draws"), "{text}");
    assert!(!text.contains("upper bound"), "{text}");
    assert!(notes.contains("policies.csv") && !notes.contains("metrics.csv"), "{notes}");
    let read = |name: &str| fs::read_to_string(Path::new(&out).join(name)).expect(name);
    let rows = read("configurations.csv");
    let header = rows.lines().next().expect("a header");
    assert!(
        header.starts_with("scenario,system,pes,device,scheduler,replications,score,"),
        "{header}"
    );
    let starts = rows.lines().skip(1).map(|row| row.split(',').take(5).collect::<Vec<_>>());
    let starts: Vec<_> = starts.collect();
    let expected = [
        ("cell", "edf"),
        ("cell", "latency-greedy"),
        ("mains", "edf"),
        ("mains", "latency-greedy"),
    ];
    let expected: Vec<Vec<_>> =
        expected.map(|(device, it)| vec!["short", "M", "1024", device, it]).into();
    assert_eq!(starts, expected);
    assert!(read("policies.csv").contains("short/mains,"));
    assert!(!Path::new(&out).join("metrics.csv").exists());
    let record = read("compare.json");
    assert!(record.contains("\"by\": \"profile_score\""), "{record}");
    // The page has the columns of profiles.
    let page = folder.path().join("page.html").display().to_string();
    output(&["report", &out, "--out", &page]);
    let page = data(&fs::read_to_string(page).expect("the page")).to_string();
    assert!(page.contains("Schedulers over all profiles"), "{page}");
    assert!(page.contains("has the best score of the profile"), "{page}");
    // Parts join to the same files.
    let part = folder.path().join("part").display().to_string();
    output(&[&runs[..], &["--shard", "1/1", "--out", &part]].concat());
    let joined = folder.path().join("joined").display().to_string();
    output(&[&runs[..], &["--join", &part, "--out", &joined]].concat());
    for name in ["policies.csv", "pairs.csv", "configurations.csv"] {
        let again = fs::read_to_string(Path::new(&joined).join(name)).expect(name);
        assert_eq!(again, read(name), "{name}");
    }
}

#[test]
fn options_of_scenarios_are_refused_beside_a_profile() {
    let runs = ["compare", "--profile", "evening", "--system", "J", "--pes", "4096"];
    let message = |options: &[&str]| refused(&[&runs[..], options].concat());
    assert!(message(&["--enumerate"]).contains("leave it out with --profile"));
    assert!(message(&["--window", "4"]).contains("no bound knows a battery"));
    assert!(message(&["--tune"]).contains("UXCost"));
    assert!(message(&["--steady"]).contains("durations of its own"));
    assert!(message(&["--by", "outside_c"]).contains("without a device have no `outside_c`"));
    assert!(message(&["--by", "headroom"]).contains("known: score, profile_score"));
    assert!(message(&["--set", "profile=workday"]).contains("an option of its own: --profile"));
    let twice = message(&["--device", "headset,headset"]);
    assert!(twice.contains("device `headset` is given twice"), "{twice}");
    let day = ["day", "--profile", "evening", "--system", "J", "--pes", "4096"];
    let day = refused(&[&day[..], &["--set", "profile=workday"]].concat());
    assert!(day.contains("`profile` has an option of its own: --profile"), "{day}");
    let run = refused(&["run", "--set", "profile=evening"]);
    assert!(run.contains("`xrsim day` runs a profile"), "{run}");
}

/// 9.94 W of the first frames and the base empty 1e-4 Wh, which are 0.36 J, within 0.036 s.
#[test]
fn runs_that_end_with_the_charge_are_told() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let device = file(folder.path(), "cell.yaml", &DEVICE.replace("0.02", "1e-4"));
    let of = ["--scenario", "AR_gaming", "--system", "M", "--pes", "1024", "--platform", "paper"];
    let of =
        [&of[..], &["--flexibility", "none", "--replications", "3", "--device", &device]].concat();
    let run = output(&[&["run"], &of[..]].concat());
    let line =
        run.lines().find(|line| line.contains("battery: empty after 0.036 s")).expect("a line");
    assert!(line.ends_with(" in 3 of 3 runs; later requests do not count"), "{line}");
    let compare = [&["compare", "--scheduler", "edf,rm"], &of[..]].concat();
    let notes = stderr(&xrsim(&compare).assert().success());
    let note = "AR_gaming on M: an empty battery ends 6 runs early; later requests do not count";
    assert!(notes.contains(note), "{notes}");
}

/// 1.5 W heat a die of 1 mJ/K above 200 C within a millisecond.
#[test]
fn schedulers_on_a_device_that_is_too_hot_have_no_scores() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let heat = "thermal:
    ambient_c: 199
    nodes: {die: {j_per_k: 0.001, k_per_w: {air: 1000}}}
    heat: {base: die}";
    let device = DEVICE.replace("battery: {wh: 0.02}", heat);
    let device = file(folder.path(), "oven.yaml", &device);
    let of = ["compare", "--scenario", "AR_gaming", "--system", "M", "--pes", "1024"];
    let options = ["--scheduler", "edf,rm", "--device", &device];
    let message = refused(&[&of[..], &options].concat());
    assert!(message.contains("node `die` is hotter than 200 C"), "{message}");
}

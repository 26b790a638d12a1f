//! Experiments as a library user describes them.

use std::fs;

use crate::support::binary::output;

use tempfile::tempdir;
use xrsim::experiment::{KEYS, Prepared};
use xrsim::ids::AccelId;
use xrsim::schedule::Granularity;
use xrsim::trace::Outcome;
use xrsim::{
    Catalog, Decision, Dispatch, Edition, Experiment, ExperimentError, Scheduler, Triggers, View,
    experiment,
};

fn ar_gaming() -> Experiment {
    Experiment::new().scenario("AR_gaming").system("J").pes(4096)
}

fn refused(experiment: &Experiment) -> String {
    experiment.prepare().expect_err("it is wrong").to_string()
}

/// Values of a key in every run, and the systems, in order.
fn order(prepared: &Prepared) -> Vec<String> {
    let plans = prepared.plans();
    let text = plans.map(|it| format!("{} {}", it.score.k_per_ms, it.system.name()));
    text.collect()
}

#[test]
fn runs_by_name_and_by_value_are_equal() {
    let scenario = Catalog::new().scenario("AR_gaming", Edition::Reference).expect("it exists");
    let system = experiment::system("J", 4096).expect("it is legal");
    let by_value = Experiment::new().scenario(scenario).system(system).run().expect("it runs");
    let by_name = ar_gaming().run().expect("it runs");
    assert_eq!((by_value.len(), by_name.len()), (1, 1));
    assert_eq!(by_value[0].label(), by_name[0].label());
    assert_eq!(by_value[0].result, by_name[0].result);
}

#[test]
fn tables_are_those_of_the_command() {
    let folder = tempdir().expect("a folder can be made");
    let [library, command] = ["library", "command"].map(|name| folder.path().join(name));
    let runs = ar_gaming().scheduler("edf").replications(2).seed(3).set("score.k_per_ms", 5);
    runs.run().expect("it runs").write_tables(&library).expect("they are written");
    let scope = ["run", "--scenario", "AR_gaming", "--system", "J", "--pes", "4096"];
    let how = ["--scheduler", "edf", "--replications", "2", "--seed", "3"];
    let out = command.display().to_string();
    output(&[&scope[..], &how, &["--set", "score.k_per_ms=5", "--out", &out]].concat());
    for file in ["scores.csv", "models.csv", "inferences.csv"] {
        let read = |folder: &std::path::Path| fs::read_to_string(folder.join(file)).expect(file);
        assert_eq!(read(&library), read(&command), "{file}");
    }
}

#[test]
fn varied_keys_are_slower_than_systems() {
    let experiment = ar_gaming().system("A").vary("score.k_per_ms", [5, 15]);
    let prepared = experiment.prepare().expect("it is right");
    assert_eq!(order(&prepared), ["5 J", "5 A", "15 J", "15 A"]);
}

#[test]
fn varied_keys_are_columns_of_the_tables() {
    let folder = tempdir().expect("a folder can be made");
    let experiment = ar_gaming().system("A").vary("score.k_per_ms", [5, 15]).vary("seed", [1, 2]);
    let runs = experiment.run().expect("it runs");
    let values: Vec<_> = runs.iter().filter_map(|run| run.varied("score.k_per_ms")).collect();
    assert_eq!(values, ["5", "5", "5", "5", "15", "15", "15", "15"]);
    assert_eq!((runs[7].varied("seed"), runs[7].varied("duration_ms")), (Some("2"), None));
    runs.write_tables(folder.path()).expect("they are written");
    for file in ["scores.csv", "models.csv", "inferences.csv"] {
        let text = fs::read_to_string(folder.path().join(file)).expect(file);
        let (header, rows) = text.split_once('\n').expect("it has a header");
        assert!(header.contains(",seed,replication,score.k_per_ms,"), "{header}");
        assert_eq!(header.matches("seed").count(), 1, "{header}");
        let at = header.split(',').position(|name| name == "score.k_per_ms").expect("a column");
        let last = rows.lines().last().expect("it has rows");
        assert_eq!(last.split(',').nth(at), Some("15"), "{last}");
    }
}

#[test]
fn the_first_mistake_is_the_error() {
    let unknown = refused(&ar_gaming().set("score.k_pre_ms", 3).scheduler("edff"));
    assert!(unknown.contains("did you mean `score.k_per_ms`?"), "{unknown}");
    let scheduler = refused(&ar_gaming().scheduler("edff"));
    assert!(scheduler.contains("no scheduler named `edff`"), "{scheduler}");
    let pes = refused(&ar_gaming().pes(0));
    assert!(pes.contains("pes is `0`; allowed is a whole number from 1"), "{pes}");
    let twice = refused(&ar_gaming().system("J"));
    assert!(twice.contains("system `J@4096` is given twice"), "{twice}");
    let part = ar_gaming().only_replications(5..10).compare(Triggers::Drawn);
    assert!(part.err().is_some_and(|it| it.to_string().contains("from 0 on")));
    let none = refused(&ar_gaming().vary("score.k_per_ms", [0; 0]));
    assert!(none.contains("has no values"), "{none}");
    let fixed = refused(&ar_gaming().set("semantics", "mlsys2023").scheduler("edf"));
    assert!(fixed.contains("scheduler has no effect"), "{fixed}");
}

#[test]
fn a_run_that_does_not_fit_is_an_error_of_its_own() {
    let runs = ar_gaming().set("hardware.scratchpad_kib", 0.0009765625).run();
    let runs = runs.expect("the description is right");
    assert!(matches!(runs[0].scorecard(), Err(ExperimentError::Run(_))));
}

/// Gives up every request.
struct Idle;

impl Scheduler for Idle {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        Decision::Drop(view.ready[0].request)
    }
}

/// Starts the first request.
struct First;

impl Scheduler for First {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let job = &view.ready[0];
        Dispatch::new(job.request, view.fastest_idle(job).expect("every pair is offered")).into()
    }
}

/// Runs one layer of every request on the first accelerator, and leaves all of them there.
struct Begin;

impl Scheduler for Begin {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        match view.ready.iter().find(|job| job.next_layer == 0 && view.is_idle(AccelId::new(0))) {
            Some(job) => Dispatch::new(job.request, AccelId::new(0))
                .with_granularity(Granularity::Layer)
                .into(),
            None => Decision::Wait,
        }
    }
}

#[test]
fn scores_alone_are_those_of_the_requests_even_if_these_never_end() {
    let experiment = ar_gaming().own_scheduler("begin", |_| Begin).scheduler("herald-list");
    let prepared = experiment.prepare().expect("it is right");
    let mut alone = Vec::new();
    let made = prepared.score_each(|_, _, result| {
        alone.push(result.expect("frames count"));
        Ok::<_, std::convert::Infallible>(())
    });
    let Ok(()) = made;
    let runs = prepared.run();
    assert_eq!(runs.len(), alone.len());
    for (run, alone) in runs.iter().zip(&alone) {
        let whole = run.result.as_ref().expect("it ran");
        assert_eq!(alone.scorecard, whole.scorecard);
        assert_eq!((&alone.usage, alone.device), (&whole.usage, whole.device));
    }
    let trace = &runs[0].result.as_ref().expect("it ran").trace;
    let lost =
        trace.records().iter().filter(|it| matches!(it.outcome, Outcome::Lost { .. })).count();
    assert!(lost > 20, "{lost} never end");
}

#[test]
fn schedulers_of_the_caller_are_compared_on_equal_draws() {
    let experiment = ar_gaming().own_scheduler("idle", |_| Idle).own_scheduler("first", |_| First);
    let comparison = experiment.replications(3).compare(Triggers::Drawn).expect("it is right");
    assert_eq!(comparison.n_replications(), 3);
    let (_, replications) = comparison.feasible().next().expect("it can run");
    let labels: Vec<_> = comparison.policies().iter().map(|it| it.label().to_string()).collect();
    assert_eq!(labels, ["idle", "first"]);
    assert_eq!(replications.len(), 3);
}

#[test]
fn every_key_is_listed_with_its_default_and_range() {
    let listed = output(&["list", "settings"]);
    for key in KEYS {
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(key.name));
        let line = line.unwrap_or_else(|| panic!("{key:?} is not listed"));
        for cell in [key.default_text(), key.allowed.to_string()] {
            assert!(line.contains(&cell), "{line} lacks {cell}");
        }
    }
}

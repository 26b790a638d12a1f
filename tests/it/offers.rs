//! Systems with an accelerator that cannot run every network: it is not offered for the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::hardware::{Flexibility, System};
use xrsim::ids::{AccelId, ModelId};
use xrsim::trace::Outcome;
use xrsim::units::{Bytes, SimSpan};
use xrsim::{Experiment, ExperimentError, Scenario, schedule};

/// Style J with 4096 PEs, whose second accelerator has scratchpads of `bytes`.
fn system(bytes: u64) -> System {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware("J") else { panic!("J is a style") };
    let mut accelerators =
        style.instantiate(4096, &platform).expect("a system").accelerators().to_vec();
    accelerators[1].memory.scratchpad = Bytes::new(bytes);
    for accelerator in &mut accelerators {
        accelerator.flexibility = Flexibility::None;
    }
    System::new("tight", accelerators).expect("a system")
}

fn scenario() -> Arc<Scenario> {
    Catalog::new().scenario("AR_gaming", Edition::Reference).expect("it is embedded")
}

/// Pairs of AR_gaming that are not offered on a system.
fn gaps(system: &System) -> BTreeSet<(ModelId, AccelId)> {
    let scenario = &*scenario();
    let library = CostLibrary::evaluate(&LoopNest, [(scenario, system)]);
    let costs = library.offers(scenario, system).expect("the first accelerator runs all");
    let pairs = scenario
        .model_ids()
        .flat_map(|model| (0..costs.n_accelerators()).map(move |at| (model, AccelId::new(at))));
    pairs.filter(|&(model, at)| !costs.on(model, at).is_offered()).collect()
}

/// A system that can run some networks of AR_gaming on its second accelerator, but not all.
fn mixed() -> (System, BTreeSet<(ModelId, AccelId)>) {
    let sizes = [40, 48, 64, 96, 128, 160, 192, 224, 256, 288, 320].into_iter();
    let systems = sizes.map(|bytes| (system(bytes), gaps(&system(bytes))));
    let n_models = scenario().models().len();
    let mut mixed = systems.filter(|(_, gaps)| !gaps.is_empty() && gaps.len() < n_models);
    mixed.next().expect("some size is too small for some of the networks")
}

#[test]
fn no_scheduler_places_a_request_where_it_cannot_run() {
    let (system, gaps) = mixed();
    assert!(gaps.iter().all(|(_, at)| at.index() == 1));
    for entry in schedule::ALL {
        let experiment = Experiment::new().scenario("AR_gaming").system(system.clone());
        let runs = experiment.scheduler(entry.name).run().expect("the description is right");
        let result = runs[0].result().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let mut used = BTreeSet::new();
        for record in result.trace.records() {
            if let Outcome::Executed { accelerator, .. } = record.outcome {
                assert!(!gaps.contains(&(record.model, accelerator)), "{}", entry.name);
                used.insert(accelerator);
            }
        }
        assert!(used.contains(&AccelId::new(0)), "{}: {used:?}", entry.name);
        assert_eq!(result.costs.not_offered().len(), gaps.len());
    }
}

#[test]
fn the_other_accelerator_still_runs_what_it_can() {
    let (system, gaps) = mixed();
    let runs = Experiment::new().scenario("AR_gaming").system(system).run().expect("it is right");
    let result = runs[0].result().expect("every network runs somewhere");
    let second = AccelId::new(1);
    let on_second = result.trace.records().iter().filter(|record| {
        matches!(record.outcome, Outcome::Executed { accelerator, .. } if accelerator == second)
    });
    assert!(on_second.count() > 0 && !gaps.is_empty());
}

#[test]
fn costs_of_pairs_that_are_offered_are_those_of_a_system_where_all_are() {
    let (tight, gaps) = mixed();
    let whole = system(8 << 10);
    let scenario = &*scenario();
    let library = CostLibrary::evaluate(&LoopNest, [(scenario, &tight), (scenario, &whole)]);
    let complete = library.offers(scenario, &whole).expect("every pair is feasible");
    assert!(complete.is_complete() && complete.not_offered().is_empty());
    assert_eq!(Some(complete.clone()), library.table(scenario, &whole).ok());
    assert!(library.table(scenario, &tight).is_err());
    let offered = library.offers(scenario, &tight).expect("the first accelerator runs all");
    for model in scenario.model_ids() {
        for at in [0, 1].map(AccelId::new) {
            let [cost, known] = [&offered, &complete].map(|table| table.on(model, at).latency());
            let is_gap = gaps.contains(&(model, at));
            assert_eq!(cost == known, !is_gap);
            assert_eq!(cost > SimSpan::from_ms(1e9).expect("a span"), is_gap);
        }
        assert_eq!(offered.n_layers(model), complete.n_layers(model));
    }
}

#[test]
fn a_network_that_runs_nowhere_is_an_error() {
    let tight = system(1);
    let mut accelerators = tight.accelerators().to_vec();
    accelerators[0].memory.scratchpad = Bytes::new(1);
    let nowhere = System::new("nowhere", accelerators).expect("a system");
    let runs = Experiment::new().scenario("AR_gaming").system(nowhere).run();
    let runs = runs.expect("the description is right");
    assert!(matches!(runs[0].scorecard(), Err(ExperimentError::Run(_))));
}

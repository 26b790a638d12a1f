//! Enumerated triggers: probabilities, agreement with draws, and every published random point.

use std::sync::Arc;

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::{CostModel, maestro::Maestro};
use xrsim::plan::{Plan, Semantics};
use xrsim::sweep;
use xrsim::sweep::enumeration::{Possibility, possibilities};

/// A run of the published study, and its costs.
fn study(scenario: &str, system: &str, semantics: Semantics) -> (Plan, CostLibrary) {
    let mut catalog = Catalog::with_networks(Edition::Artifact);
    let scenario = catalog.scenario(scenario, Edition::Artifact).expect("it is embedded");
    let platform = catalog.platform("artifact").expect("it is embedded");
    let Ok(Hardware::Style(style)) = catalog.hardware(system) else { panic!("{system}") };
    let system = Arc::new(style.instantiate(4096, &platform).expect("a system"));
    let plan = Plan { semantics, ..Plan::new(scenario, system) };
    let model: &dyn CostModel = &Maestro;
    let library = CostLibrary::evaluate(model, [(&*plan.scenario, &*plan.system)]);
    (plan, library)
}

fn enumerated(plan: &Plan, library: &CostLibrary) -> Vec<Possibility> {
    possibilities(plan, library).expect("it is feasible").expect("there are few frames")
}

#[test]
fn a_run_without_random_triggers_has_one_outcome() {
    for semantics in [Semantics::Principled, Semantics::Mlsys2023] {
        let (plan, library) = study("VR_gaming", "J", semantics);
        let outcomes = enumerated(&plan, &library);
        assert_eq!(outcomes.len(), 1);
        assert_eq!(outcomes[0].probability, 1.0);
        assert_eq!(outcomes[0].result, sweep::run(&plan, &library).expect("it is feasible"));
    }
}

#[test]
fn probabilities_are_those_of_independent_coins() {
    // Speech is asked for with 0.2 in outdoor activity: three frames a second, of which 700 ms hold
    // two. The artifact's single precision makes 0.2 a little more.
    let (plan, library) = study("outdoor_activity_A", "A", Semantics::Mlsys2023);
    let outcomes = enumerated(&plan, &library);
    let probabilities: Vec<_> = outcomes.iter().map(|outcome| outcome.probability).collect();
    for (found, expected) in probabilities.iter().zip([0.64, 0.16, 0.16, 0.04]) {
        assert!((found - expected).abs() < 1e-12, "{probabilities:?}");
    }
    let (plan, library) = study("AR_Assistant", "A", Semantics::Principled);
    let outcomes = enumerated(&plan, &library);
    assert_eq!(outcomes.len(), 8);
    assert!(outcomes.iter().all(|outcome| outcome.probability == 0.125));
}

#[test]
fn every_draw_is_one_of_the_outcomes() {
    for semantics in [Semantics::Principled, Semantics::Mlsys2023] {
        let (mut plan, library) = study("AR_Assistant", "J", semantics);
        let outcomes = enumerated(&plan, &library);
        let mut seen = vec![false; outcomes.len()];
        for seed in 0..40 {
            // The jitter of the principled runs stays as it is: only the triggers are drawn anew.
            plan.load.seed = if semantics == Semantics::Mlsys2023 { seed } else { 0 };
            plan.load.fixed_triggers.clear();
            let drawn = sweep::run(&plan, &library).expect("it is feasible");
            let same = outcomes.iter().position(|outcome| outcome.result.trace == drawn.trace);
            seen[same.expect("a draw is an outcome")] = true;
        }
        assert!(seen.iter().any(|seen| *seen));
    }
}

#[test]
fn too_many_frames_are_not_enumerated() {
    let (mut plan, library) = study("AR_Assistant", "A", Semantics::Principled);
    // Five seconds hold 15 frames of speech.
    plan.load.duration = xrsim::units::SimSpan::from_ms(5000.0).expect("a duration");
    assert_eq!(possibilities(&plan, &library).expect("it is feasible"), None);
}

//! Mappings that accelerators choose.

use std::sync::Arc;

use xrsim::Catalog;
use xrsim::cost::CostModel as _;
use xrsim::cost::LayerCost;
use xrsim::cost::loop_nest::{ChosenLoopNest, LoopNest};
use xrsim::hardware::{Accelerator, Flexibility, MappingObjective, Memory, Noc, NocLevel};
use xrsim::mapper::{Chooser, Effort, Store};
use xrsim::units::Bytes;

/// Costs of the layers of KD on 1,024 PEs, by flexibility, the least first.
fn costs(dataflow: &str, objective: MappingObjective) -> Vec<(&'static str, Vec<LayerCost>)> {
    let mut catalog = Catalog::new();
    let network = catalog.network("KD").expect("a network");
    let memory = Memory::new(Bytes::new(8 << 20), Bytes::new(8192), 128);
    let noc = Noc::uniform(NocLevel::new(256));
    let dataflow = catalog.dataflow(dataflow).expect("a dataflow");
    let mut accelerator = Accelerator::new("one", dataflow, 1024, noc, memory);
    accelerator.mapping_objective = objective;
    let chooser = Chooser::new(Effort::new(40, 0, 2), Arc::default());
    let model = ChosenLoopNest::new(Arc::new(chooser));
    let cost = |(name, flexibility)| {
        accelerator.flexibility = flexibility;
        (name, model.network(&network, &accelerator).expect("it runs").layers)
    };
    let all: Vec<_> = Flexibility::ALL.into_iter().map(cost).collect();
    accelerator.flexibility = Flexibility::None;
    assert_eq!(all[0].1, LoopNest.network(&network, &accelerator).expect("it runs").layers);
    all
}

/// Under `cycles` 1 % of the latency may be given for energy, but not that of less flexibility.
#[test]
fn more_flexibility_is_never_slower() {
    for dataflow in ["WS", "OS", "RS"] {
        for pair in costs(dataflow, MappingObjective::Cycles).windows(2) {
            for (less, more) in pair[0].1.iter().zip(&pair[1].1) {
                assert!(more.cycles <= less.cycles, "{dataflow} {}: {more:?} {less:?}", pair[1].0);
            }
        }
    }
}

#[test]
fn more_flexibility_never_takes_more_of_another_objective() {
    let energy = |cost: &LayerCost| cost.energy_nj;
    let edp = |cost: &LayerCost| cost.energy_nj * cost.cycles as f64;
    // Energies are sums whose terms may come in another order.
    let rounding = 1.0 + 1e-12;
    for (objective, of) in [
        (MappingObjective::Energy, &energy as &dyn Fn(&LayerCost) -> f64),
        (MappingObjective::Edp, &edp),
    ] {
        for pair in costs("OS", objective).windows(2) {
            for (less, more) in pair[0].1.iter().zip(&pair[1].1) {
                assert!(of(more) <= of(less) * rounding, "{objective} {}: {more:?}", pair[1].0);
            }
        }
    }
}

#[test]
fn objectives_differ() {
    let total = |objective| {
        let all = costs("OS", objective);
        let (_, layers) = all.last().expect("every flexibility");
        let cycles: u64 = layers.iter().map(|it| it.cycles).sum();
        (cycles, layers.iter().map(|it| it.energy_nj).sum::<f64>())
    };
    let [cycles, energy] = [MappingObjective::Cycles, MappingObjective::Energy].map(total);
    assert!(cycles.0 < energy.0 && energy.1 < cycles.1, "{cycles:?} {energy:?}");
}

#[test]
fn costs_say_what_is_known_of_the_mappings_that_they_are_of() {
    let mut catalog = Catalog::new();
    let network = catalog.network("KD").expect("a network");
    let memory = Memory::new(Bytes::new(8 << 20), Bytes::new(8192), 128);
    let noc = Noc::uniform(NocLevel::new(256));
    let dataflow = catalog.dataflow("OS").expect("a dataflow");
    let mut accelerator = Accelerator::new("one", dataflow, 1024, noc, memory);
    let cost = |accelerator: &Accelerator, store: &Arc<Store>| {
        let chooser = Chooser::new(Effort::new(40, 0, 2), Arc::clone(store));
        let model = ChosenLoopNest::new(Arc::new(chooser));
        model.network(&network, accelerator).expect("it runs")
    };
    let store = Arc::default();
    accelerator.flexibility = Flexibility::None;
    assert_eq!(cost(&accelerator, &store).choices(), None);
    let mut digests = Vec::new();
    for flexibility in [Flexibility::Forms, Flexibility::Tiles] {
        accelerator.flexibility = flexibility;
        let cold = cost(&accelerator, &store);
        assert_eq!(cost(&accelerator, &store), cold, "known choices are the same");
        let choices = cold.choices().expect("it chooses");
        assert_eq!(choices.layers.len(), network.layers().len());
        for (layer, (cost, known)) in
            network.layers().iter().zip(cold.layers.iter().zip(&choices.layers))
        {
            assert_eq!(known.is_some(), layer.operator.macs() > 0, "{}", layer.name);
            if let Some(known) = known {
                assert_eq!(known.cycles, cost.cycles, "{}", layer.name);
                assert!(
                    known.bound_cycles <= known.cycles && known.effort == "own",
                    "{}",
                    layer.name
                );
            }
        }
        digests.push(choices.digest);
    }
    assert_ne!(digests[0], digests[1]);
}

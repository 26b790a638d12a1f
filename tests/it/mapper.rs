//! Mappings that accelerators choose.

use std::sync::Arc;

use xrsim::Catalog;
use xrsim::cost::loop_nest::{ChosenLoopNest, LoopNest};
use xrsim::cost::{CostModel as _, Infeasible, LayerCost, NetworkCost};
use xrsim::hardware::{
    Accelerator, Flexibility, MappingDeadline, MappingObjective, Memory, Noc, NocLevel,
};
use xrsim::mapper::{Chooser, Effort, Store};
use xrsim::model::Network;
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

/// KD on 1,024 PEs with a period, or without one, and the accelerator.
struct Periodic {
    network: Arc<Network>,
    accelerator: Accelerator,
    model: ChosenLoopNest,
}

impl Periodic {
    fn new() -> Self {
        let mut catalog = Catalog::new();
        let memory = Memory::new(Bytes::new(8 << 20), Bytes::new(8192), 128);
        let noc = Noc::uniform(NocLevel::new(256));
        let dataflow = catalog.dataflow("OS").expect("a dataflow");
        let accelerator = Accelerator::new("one", dataflow, 1024, noc, memory);
        let chooser = Chooser::new(Effort::new(40, 0, 2), Arc::default());
        let model = ChosenLoopNest::new(Arc::new(chooser));
        Self { network: catalog.network("KD").expect("a network"), accelerator, model }
    }

    fn by(&self, mapping_objective: MappingObjective) -> NetworkCost {
        let accelerator = Accelerator { mapping_objective, ..self.accelerator.clone() };
        self.model.network(&self.network, &accelerator).expect("it runs")
    }

    fn within(&self, cycles: Option<u64>) -> Result<NetworkCost, Infeasible> {
        let accelerator = Accelerator {
            mapping_objective: MappingObjective::Deadline,
            mapping_deadline: MappingDeadline { cycles, ..MappingDeadline::default() },
            ..self.accelerator.clone()
        };
        self.model.network(&self.network, &accelerator)
    }
}

/// Energy and cycles of all combinations of the choices that single objectives make for each layer, those that others
/// beat left out.
fn combinations(by: &[NetworkCost]) -> Vec<(u64, f64)> {
    let mut sums = vec![(0, 0.0)];
    for layer in 0..by[0].layers.len() {
        let choices = by.iter().map(|cost| cost.layers[layer]);
        let with = |choice: LayerCost| {
            sums.iter().map(move |(c, e)| (c + choice.cycles, e + choice.energy_nj))
        };
        let mut next: Vec<_> = choices.flat_map(with).collect();
        next.sort_by(|a: &(u64, f64), b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut least = f64::INFINITY;
        next.retain(|it| {
            let is_less = it.1 < least;
            least = least.min(it.1);
            is_less
        });
        sums = next;
    }
    sums
}

#[test]
fn a_deadline_takes_the_least_energy_of_all_combinations_of_choices_within_its_limit() {
    let periodic = Periodic::new();
    let by = MappingObjective::OF_LAYERS.map(|objective| periodic.by(objective));
    let all = combinations(&by);
    let (fastest, least) = (all[0].0, all[all.len() - 1]);
    assert!(all.len() > 10 && least.0 > fastest, "{} combinations", all.len());
    let mut before = f64::INFINITY;
    for step in 0..=40 {
        let limit = fastest + (least.0 - fastest) * step / 40;
        let cost = periodic.within(Some(limit)).expect("it runs");
        let choices = cost.choices().expect("it chooses");
        let found = choices.selected.expect("a limit chose");
        let within = all.iter().rev().find(|(cycles, _)| *cycles <= limit).expect("the fastest");
        // Energies are sums whose terms come in another order.
        let is_close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(is_close(cost.energy_nj, within.1), "{step}: {found:?} {within:?}");
        assert!(is_close(found.energy_nj, cost.energy_nj) && found.gap_percent() == 0.0);
        assert!(cost.cycles.get() <= limit && found.cycles == cost.cycles.get(), "{step}");
        assert!(cost.energy_nj <= before * (1.0 + 1e-12), "more time never takes more energy");
        before = cost.energy_nj;
    }
}

#[test]
fn a_deadline_that_nothing_meets_takes_the_fastest_choices_and_a_network_by_itself_has_none() {
    let periodic = Periodic::new();
    let by = MappingObjective::OF_LAYERS.map(|objective| periodic.by(objective));
    let fastest: u64 = (0..by[0].layers.len())
        .filter_map(|layer| by.iter().map(|cost| cost.layers[layer].cycles).min())
        .sum();
    for limit in [0, 1, fastest - 1, fastest] {
        let cost = periodic.within(Some(limit)).expect("it runs");
        assert_eq!(cost.cycles.get(), fastest);
        let found = cost.choices().and_then(|it| it.selected).expect("a limit chose");
        assert_eq!(found.is_met(), limit == fastest);
    }
    assert_eq!(periodic.within(None), Err(Infeasible::NoPeriod));
    let message = Infeasible::NoPeriod.to_string();
    assert!(message.contains("`deadline`") && message.contains("`edp`"), "{message}");
    // Without choices there is nothing that a period decides.
    let fixed = Accelerator {
        flexibility: Flexibility::None,
        mapping_objective: MappingObjective::Deadline,
        ..periodic.accelerator.clone()
    };
    assert_eq!(
        periodic.model.network(&periodic.network, &fixed),
        LoopNest.network(&periodic.network, &fixed)
    );
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

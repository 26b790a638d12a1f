//! Costs that the points of a sweep share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::{CostModel, CostTable, Infeasible, LayerCost, NetworkCost};
use xrsim::hardware::{Accelerator, DeadlineShare, MappingObjective, MappingSettings, System};
use xrsim::ids::AccelId;
use xrsim::model::{Network, Operator};
use xrsim::scenario::{ActiveModel, Scenario, UnitModel};
use xrsim::units::FrameRate;

/// Cost model with zero costs that counts its calls; two PEs are too few.
#[derive(Default)]
struct Counting(AtomicUsize);

impl CostModel for Counting {
    fn layer(&self, _: &Operator, accelerator: &Accelerator) -> Result<LayerCost, Infeasible> {
        Ok(LayerCost { cycles: accelerator.pes.into(), energy_nj: 1.0, ..LayerCost::default() })
    }

    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if accelerator.pes == 2048 {
            return Err(Infeasible::TooFewPes { needed: 4096 });
        }
        NetworkCost::of_operators(network, accelerator, |operator, _| {
            self.layer(operator, accelerator)
        })
    }
}

fn system(catalog: &mut Catalog, mix: &str, pes: u32) -> Arc<System> {
    let platform = catalog.platform("paper").expect("the platform is there");
    let Ok(Hardware::Style(style)) = catalog.hardware(mix) else { panic!("{mix} is a style") };
    Arc::new(style.instantiate(pes, &platform).expect("the PEs divide"))
}

/// VR gaming has two networks, and `WS:1 + WS:1` two accelerators that cost the same.
#[test]
fn every_pair_of_network_and_accelerator_is_costed_once_for_a_whole_sweep() {
    let mut catalog = Catalog::new();
    let scenario =
        catalog.scenario("VR_gaming", Edition::Reference).expect("the scenario is there");
    let n_networks = scenario.models().len();
    let (twins, one) = (system(&mut catalog, "WS:1 + WS:1", 8192), system(&mut catalog, "A", 4096));
    let model = Counting::default();
    let mut library = CostLibrary::totals(&model);
    for _ in 0..3 {
        library.extend(&model, [(&*scenario, &*twins), (&*scenario, &*twins)]);
        assert_eq!(model.0.load(Ordering::Relaxed), n_networks);
    }
    library.extend(&model, [(&*scenario, &*one), (&*scenario, &*twins)]);
    // Half of the chip of 8192 PEs has 4096, but half of the bandwidth.
    assert_eq!(model.0.load(Ordering::Relaxed), 2 * n_networks);
    let table = library.table(&scenario, &twins).expect("it is feasible");
    assert_eq!(table, {
        let whole = CostLibrary::evaluate(&model, [(&*scenario, &*twins)]);
        let whole = whole.table(&scenario, &twins).expect("it is feasible");
        let bare = |model, accelerator| {
            let mut cost = whole.on(model, accelerator).network().as_ref().clone();
            assert!(!cost.layers.is_empty());
            cost.layers.clear();
            Arc::new(cost)
        };
        let accelerators = (0..2).map(AccelId::new);
        let cells = scenario
            .model_ids()
            .flat_map(|id| accelerators.clone().map(move |accelerator| (id, accelerator)));
        CostTable::new(cells.map(|(id, at)| bare(id, at)).collect(), 2)
    });
}

/// Each of two accelerators runs 11 of 22 requests a second of one network, which have room for 1/11 s each. The period
/// of 20 FPS is shorter, so that there are two limits.
#[test]
fn a_pair_is_costed_once_for_each_period_only_if_mappings_are_chosen_by_it() {
    let mut catalog = Catalog::new();
    let network = catalog.network("KD").expect("a network");
    let model = |name: &str, fps: f64| {
        let rate = FrameRate::from_fps(fps).expect("a rate");
        ActiveModel::new(UnitModel::new(name, Arc::clone(&network)), rate)
    };
    let models = vec![model("a", 1.0), model("b", 1.0), model("c", 20.0)];
    let scenario = Scenario::new("mine", Vec::new(), models).expect("a scenario");
    let by_edp = system(&mut catalog, "WS:1 + WS:1", 8192);
    let by_period = |share: f64| {
        let settings = MappingSettings {
            objective: Some(MappingObjective::Deadline),
            deadline_share: DeadlineShare::new(share),
            ..MappingSettings::default()
        };
        let all = by_edp.accelerators().iter().map(|it| it.clone().mapped(&settings)).collect();
        by_edp.with_accelerators(all).expect("a system")
    };
    let (whole, half) = (by_period(1.0), by_period(0.5));
    let cost_model = Counting::default();
    let mut library = CostLibrary::totals(&cost_model);
    let mut n_costed = |system: &System| {
        library.extend(&cost_model, [(&scenario, system)]);
        library.table(&scenario, system).expect("it is feasible");
        cost_model.0.load(Ordering::Relaxed)
    };
    assert_eq!(n_costed(&by_edp), 1);
    assert_eq!(n_costed(&whole), 3);
    assert_eq!(n_costed(&whole), 3);
    assert_eq!(n_costed(&half), 5);
}

/// The reason names the accelerator of the point, not the equal one that was costed first.
#[test]
fn what_is_said_of_a_system_does_not_depend_on_the_systems_before_it() {
    let mut catalog = Catalog::new();
    let scenario =
        catalog.scenario("VR_gaming", Edition::Reference).expect("the scenario is there");
    let first = system(&mut catalog, "WS:1 + OS:3", 8192);
    let second = system(&mut catalog, "OS:3 + WS:1", 8192);
    let model = Counting::default();
    let reason = |systems: &[&System]| {
        let library = CostLibrary::evaluate(&model, systems.iter().map(|it| (&*scenario, *it)));
        library.table(&scenario, &second).expect_err("2048 PEs are too few").to_string()
    };
    let alone = reason(&[&second]);
    assert!(alone.contains("WS-1"), "{alone}");
    assert_eq!(reason(&[&first, &second]), alone);
}

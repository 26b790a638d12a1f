//! Time and energy at operating points.

use std::sync::Arc;

use super::points;

use xrsim::Catalog;
use xrsim::config::Hardware;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::cost::{CostModel, CostTable, LayerCost, NetworkCost};
use xrsim::hardware::device::DeviceError;
use xrsim::hardware::{Device, Flexibility, System, WriteBack};
use xrsim::ids::{AccelId, ModelId, PointId};

/// RK3588 NPU; `hw_configs/points/rk3588_npu.yaml`.
const RK3588: [(f64, f64); 8] = [
    (300.0, 0.7),
    (400.0, 0.7),
    (500.0, 0.7),
    (600.0, 0.7),
    (700.0, 0.7),
    (800.0, 0.75),
    (900.0, 0.8),
    (1000.0, 0.85),
];

/// WS with 4096 PEs on the platform of the paper, without choices of mappings, and with a pass for every operator.
fn ws() -> System {
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it ships");
    let Ok(Hardware::Style(style)) = catalog.hardware("A") else { panic!("style A ships") };
    let system = style.instantiate(4096, &platform).expect("it has PEs");
    let mut accelerators = system.accelerators().to_vec();
    for it in &mut accelerators {
        (it.flexibility, it.write_back) = (Flexibility::None, WriteBack::default());
    }
    system.with_accelerators(accelerators).expect("it was a system")
}

fn device() -> Device {
    let mut device = Device::default();
    device.accelerators.points = Some(points(&RK3588));
    device
}

/// C and D cycles, energy and DRAM energy \[nJ\].
pub(super) fn layer(
    chip_cycles: u64,
    dram_cycles: u64,
    energy_nj: f64,
    dram_energy_nj: f64,
) -> LayerCost {
    let cycles = chip_cycles.max(dram_cycles);
    LayerCost {
        cycles,
        energy_nj,
        chip_cycles,
        dram_cycles,
        dram_energy_nj,
        ..LayerCost::default()
    }
}

fn at_points(layers: Vec<LayerCost>) -> CostTable {
    let system = ws();
    let cost = NetworkCost::of_layers(layers, &system.accelerators()[0]);
    let costs = CostTable::new(vec![Arc::new(cost)], 1);
    costs.with_points(&device().on(&system).expect("it fits")).expect("layers have parts")
}

/// (1000, 400), (300, 900), (500, 500) cycles: 2400 ns at 1000 MHz. At 900 MHz 1000 + 810 + 500 = 2310 cycles, at 700 MHz
/// 1000 + 630 + 500 = 2130, at 300 MHz 1000 + 300 + 500 = 1800. 1500 nJ with 300 of DRAM at 0.70 of 0.85 V: 1200 (70/85)^2 + 300.
#[test]
fn dram_does_not_slow_down_with_the_clock() {
    let layers = [(1000, 400), (300, 900), (500, 500)];
    let costs = at_points(layers.map(|(c, d)| layer(c, d, 500.0, 100.0)).to_vec());
    let at = |point: usize| {
        let network = costs.at(PointId::new(point)).on(ModelId::new(0), AccelId::new(0)).network();
        (network.cycles.get(), network.latency.ns(), network.energy_nj)
    };
    assert_eq!((at(7).0, at(7).1), (2400, 2400));
    assert_eq!((at(6).0, at(6).1), (2310, 2567));
    assert_eq!((at(4).0, at(4).1), (2130, 3043));
    assert_eq!((at(0).0, at(0).1), (1800, 6000));
    assert_eq!(at(7).2, 1500.0);
    // Two additions and products of numbers around 1000.
    assert!((at(4).2 - 1_113.840_830_449_827).abs() < 1e-9, "{}", at(4).2);
}

/// A layer of 100 chip and 999 DRAM cycles waits for DRAM at every clock; cycles are whole.
#[test]
fn a_layer_bound_by_dram_takes_as_long_at_every_clock_but_for_a_cycle() {
    let costs = at_points(vec![layer(100, 999, 1.0, 1.0)]);
    let ns = |point: usize| {
        costs.at(PointId::new(point)).on(ModelId::new(0), AccelId::new(0)).latency().ns()
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(ns), [1000, 1000, 1000, 1000, 1000, 1000, 1000, 999]);
}

/// 88 rows that were computed outside of this program from the layers of `xrsim cost`.
#[test]
fn networks_take_the_time_and_energy_of_the_table_at_every_point() {
    let table = include_str!("../../reference/device/points_of_networks.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|it| it.split(',').collect()).collect();
    assert_eq!(rows.len(), 88);
    let (system, mut catalog) = (ws(), Catalog::new());
    let supplied = device().on(&system).expect("it fits");
    let tasks = ["AS", "DE", "DR", "ES", "GE", "HT", "KD", "OD", "PD", "SR", "SS"];
    for task in tasks {
        let network = Arc::clone(&catalog.model(task).expect("it ships").network);
        let cost = LoopNest.network(&network, &system.accelerators()[0]).expect("it runs");
        let costs = CostTable::new(vec![Arc::new(cost)], 1).with_points(&supplied);
        let costs = costs.expect("layers have parts");
        let own = rows.iter().filter(|row| row[0] == network.name());
        assert_eq!(own.clone().count(), 8, "{}", network.name());
        for (point, row) in own.enumerate() {
            let at = costs.at(PointId::new(point)).on(ModelId::new(0), AccelId::new(0)).network();
            let found = (at.cycles.get().to_string(), at.latency.ns().to_string());
            assert_eq!(found, (row[2].into(), row[3].into()), "{row:?}");
            let energy: f64 = row[4].parse().expect("a number");
            // Sums of some hundreds of terms in different orders.
            assert!((at.energy_nj - energy).abs() <= 1e-12 * energy, "{row:?}: {}", at.energy_nj);
        }
    }
}

#[test]
fn costs_without_parts_are_refused_at_several_points() {
    let system = ws();
    let supplied = device().on(&system).expect("it fits");
    let measured = LayerCost { cycles: 100, energy_nj: 1.0, ..LayerCost::default() };
    let cost = NetworkCost::of_layers(vec![measured], &system.accelerators()[0]);
    let costs = CostTable::new(vec![Arc::new(cost)], 1);
    let pair = (ModelId::new(0).into(), AccelId::new(0));
    assert_eq!(costs.clone().with_points(&supplied), Err(pair));
    let only = Device::default().on(&system).expect("it fits");
    assert_eq!(costs.clone().with_points(&only), Ok(costs));
}

#[test]
fn a_device_must_fit_the_system() {
    let system = ws();
    let mut other = Device::default();
    other.accelerators.points = Some(points(&[(300.0, 0.7), (800.0, 0.8)]));
    assert_eq!(
        other.on(&system).expect_err("no point").to_string(),
        "accelerator `WS-0` has a clock of 1000 MHz, at which `some` has no point (points: 300, 800 MHz)"
    );
    let named = Device { named: vec![("OS-0".into(), Default::default())], ..Device::default() };
    assert_eq!(
        named.on(&system).expect_err("no such accelerator").to_string(),
        "device `` has a supply of `OS-0`; the accelerators are WS-0"
    );
    let mut accelerators = system.accelerators().to_vec();
    accelerators[0].byte_energy.leakage = 1.0;
    let leaky = system.with_accelerators(accelerators).expect("it was a system");
    assert_eq!(Device::default().on(&leaky).map(|it| it.len()), Ok(1));
    let mut leaks = Device::default();
    leaks.accelerators.leakage.amount = xrsim::hardware::device::LeakageAmount::PerPes(1.0);
    let refusal = leaks.on(&leaky).expect_err("it leaks twice");
    assert_eq!(refusal, DeviceError::LeaksTwice { accelerator: "WS-0".into() });
}

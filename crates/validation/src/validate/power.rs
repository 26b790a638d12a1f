//! The laws of power and the costs at operating points, against published powers, two chips, and a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use xrsim_config::{Catalog, Hardware};
use xrsim_model::cost::loop_nest::LoopNest;
use xrsim_model::cost::{CostModel as _, CostTable};
use xrsim_model::hardware::device::PowerLaw;
use xrsim_model::hardware::{Device, Flexibility, System, WriteBack};
use xrsim_model::ids::{AccelId, ModelId, PointId};

use super::{Comparison, ValidateError, Verdict};

/// Points with published powers, with the error that the law may have.
const PUBLISHED: [(&str, f64); 2] = [("mt6885_mdla", 0.04), ("mt6885_vpu", 0.01)];

/// Energy of networks at two points of a chip.
const TWO_POINTS: &str = include_str!("../../../../tests/reference/device/vf_two_points.csv");

/// Costs of networks at points, computed outside of this program.
const NETWORKS: &str = include_str!("../../../../tests/reference/device/points_of_networks.csv");

/// Error that the law may have for the energy at two points of a chip.
const TWO_POINTS_WITHIN: f64 = 0.03;

/// Comparisons of power.
pub(super) fn compare() -> Result<Vec<Comparison>, ValidateError> {
    let mut comparisons = Vec::new();
    let mut catalog = Catalog::new();
    for (name, allowed) in PUBLISHED {
        let points = catalog.points(name)?;
        let Some([law, alone]) = PowerLaw::of(&points) else { continue };
        comparisons.push(Comparison {
            what: format!("power at {} points of {name}, a V^2 f + b V", points.all().len()),
            with: "published powers",
            result: format!(
                "errors up to {} (mean {}); without b {}",
                percent(law.errors[0]),
                percent(law.errors[1]),
                percent(alone.errors[0])
            ),
            verdict: Verdict::from_equal(law.errors[0] < allowed),
        });
    }
    comparisons.extend(two_points());
    comparisons.push(networks(&mut catalog)?);
    Ok(comparisons)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Voltage and clock \[MHz\] of two points, and the ratio of the energies there.
struct Pair {
    points: [(f64, f64); 2],
    ratio: f64,
}

impl Pair {
    /// Error of E = V^2 + r V / f for the ratio.
    fn error(&self, r: f64) -> f64 {
        let [first, second] = self.points.map(|(volt, mhz)| volt * volt + r * volt / mhz);
        second / first / self.ratio - 1.0
    }
}

/// E = a V^2 + b V / f with one b / a for each chip, fitted by least squares, for the energy of an inference.
fn two_points() -> Vec<Comparison> {
    let mut chips = BTreeMap::<&str, Vec<Pair>>::new();
    for line in TWO_POINTS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers: Vec<f64> = cells.iter().skip(2).filter_map(|it| it.parse().ok()).collect();
        if let [v1, mhz1, energy1, _, v2, mhz2, energy2, _] = numbers[..] {
            let pair = Pair { points: [(v1, mhz1), (v2, mhz2)], ratio: energy2 / energy1 };
            chips.entry(cells[0]).or_default().push(pair);
        }
    }
    let comparison = |(chip, pairs): (&str, Vec<Pair>)| {
        let largest = |r: f64| pairs.iter().map(|it| it.error(r).abs()).fold(0.0, f64::max);
        let squares = |r: &f64| pairs.iter().map(|it| it.error(*r).powi(2)).sum::<f64>();
        // b / a [MHz] in steps of 0.01 %.
        let candidates = std::iter::successors(Some(1e-1), |r| Some(r * 1.0001)).take(92_000);
        let best = candidates.min_by(|a, b| squares(a).total_cmp(&squares(b)));
        let error = largest(best.unwrap_or_default());
        Comparison {
            what: format!("energy of {} networks at two points of {chip}", pairs.len()),
            with: "MLPerf Tiny",
            result: format!("errors up to {}; V^2 alone {}", percent(error), percent(largest(0.0))),
            verdict: Verdict::from_equal(error < TWO_POINTS_WITHIN),
        }
    };
    chips.into_iter().map(comparison).collect()
}

/// The networks at the points of the RK3588 NPU, on WS with 4096 PEs, where mappings are fixed and nothing rides along.
fn networks(catalog: &mut Catalog) -> Result<Comparison, ValidateError> {
    let mut device = Device::default();
    device.accelerators.points = Some(catalog.points("rk3588_npu")?);
    let platform = catalog.platform("paper")?;
    let system = match catalog.hardware("A")? {
        Hardware::Style(style) => style.instantiate(4096, &platform).ok(),
        _ => None,
    };
    let fixed = |system: System| {
        let mut accelerators = system.accelerators().to_vec();
        for it in &mut accelerators {
            (it.flexibility, it.write_back) = (Flexibility::None, WriteBack::default());
        }
        system.with_accelerators(accelerators).ok()
    };
    let system = system.and_then(fixed);
    let (mut n_rows, mut n_equal) = (0, 0);
    let supplied = system.as_ref().and_then(|system| device.on(system).ok());
    let parts = system.as_ref().zip(supplied.as_ref());
    let mut costs = BTreeMap::<String, CostTable>::new();
    for task in catalog.names(xrsim_config::Kind::Network) {
        let network = Arc::clone(&catalog.model(&task)?.network);
        let Some((system, supplied)) = parts else { continue };
        let Ok(cost) = LoopNest.network(&network, &system.accelerators()[0]) else { continue };
        let table = CostTable::new(vec![Arc::new(cost)], 1).with_points(supplied);
        costs.extend(table.ok().map(|table| (network.name().to_string(), table)));
    }
    for line in NETWORKS.lines().skip(1) {
        n_rows += 1;
        let cells: Vec<&str> = line.split(',').collect();
        let [network, mhz, cycles, latency, energy] = cells[..] else { continue };
        let numbers =
            [mhz, cycles, latency, energy].map(|it| it.parse::<f64>().unwrap_or(f64::NAN));
        let [mhz, cycles, latency, energy] = numbers;
        let points = device.accelerators.points.as_ref();
        let point = points.and_then(|it| it.all().iter().position(|it| it.clock.as_mhz() == mhz));
        let (Some(table), Some(point)) = (costs.get(network), point) else { continue };
        let found = table.at(PointId::new(point)).on(ModelId::new(0), AccelId::new(0)).network();
        let is_equal = found.cycles.get() as f64 == cycles
            && found.latency.ns() as f64 == latency
            && (found.energy_nj - energy).abs() <= 1e-12 * energy;
        n_equal += usize::from(is_equal);
    }
    Ok(Comparison {
        what: "cycles, latency and energy of 11 networks at 8 points".into(),
        with: "a computation from layers",
        result: format!("{n_equal} of {n_rows} rows equal"),
        verdict: Verdict::from_equal(n_equal == n_rows),
    })
}

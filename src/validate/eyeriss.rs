//! The loop-nest model against a measured chip: AlexNet on Eyeriss (Chen et al., JSSC 2017, Table V) with
//! batch 4, 168 PEs and 200 MHz; processing latency without DRAM.
//!
//! The plain model double-buffers everything. The second case adds one published fact: the scratchpad
//! for filters has no room for the next filters, so that loading them is not hidden. This switch was
//! introduced in the knowledge that models with full overlap undershoot the chip; the plain model is the
//! blind prediction.

use crate::config::Catalog;
use crate::cost::CostError;
use crate::cost::loop_nest::LayerReport;
use crate::experiment::whole_chip;
use crate::hardware::Accelerator;
use crate::units::Cycles;

use super::{Comparison, ValidateError, Verdict};

const NETWORK: &str = "alexnet/AlexNet";
const PLATFORM: &str = "eyeriss";
const PES: u32 = 168;

/// Layer, measured latency \[ms\], and the cycles of both cases according to the specification of the
/// model.
const SILICON: &str = include_str!("../../validation/eyeriss_silicon.csv");

/// Latency of one layer, measured and modelled.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerLatency {
    /// Name of the layer.
    pub layer: String,
    /// Measured latency \[ms\].
    pub silicon_ms: f64,
    /// Modelled latency in each of [`CASES`] \[ms\].
    pub model_ms: [f64; 3],
    /// Whether the cycles of the first two cases equal the specification of the model.
    is_exact: [bool; 2],
}

/// Names of the modelled cases.
pub const CASES: [&str; 3] = ["double-buffered", "weights single-buffered", "compute only"];

/// Latencies of all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Eyeriss {
    /// Convolutional layers of AlexNet, in order.
    pub layers: Vec<LayerLatency>,
}

impl Eyeriss {
    /// Evaluates every layer on the chip.
    ///
    /// # Errors
    ///
    /// [`ValidateError`] if an embedded input file is invalid or a layer cannot run.
    pub(super) fn compare() -> Result<Self, ValidateError> {
        let mut catalog = Catalog::new();
        let network = catalog.network(NETWORK)?;
        let mut layers = Vec::new();
        for (line, layer) in SILICON.lines().skip(1).zip(network.layers()) {
            let mut cells = line.split(',').skip(1).map(|cell| cell.parse().unwrap_or(f64::NAN));
            let mut next = || cells.next().unwrap_or(f64::NAN);
            let (silicon_ms, expected) = (next(), [next(), next()]);
            let plain = accelerator(&mut catalog, &layer.name)?;
            let mut single = plain.clone();
            single.noc.set(&[true, false], |level, single| level.single_weights = single);
            let report = |accelerator| {
                let report = LayerReport::new(&layer.operator, accelerator);
                report.map_err(|reason| CostError::new(NETWORK, accelerator, reason))
            };
            let (first, second) = (report(&plain)?, report(&single)?);
            let cycles = [first.cycles, second.cycles, first.compute_cycles];
            layers.push(LayerLatency {
                layer: layer.name.to_string(),
                silicon_ms,
                model_ms: cycles.map(|cycles| Cycles::new(cycles).at(plain.clock).as_ms()),
                is_exact: [0, 1].map(|case| cycles[case] as f64 == expected[case]),
            });
        }
        Ok(Self { layers })
    }

    /// Mean absolute error over the layers, of a case, as a fraction of the measured latency.
    pub fn mean_error(&self, case: usize) -> f64 {
        let errors = self.layers.iter().map(|it| (it.model_ms[case] / it.silicon_ms - 1.0).abs());
        errors.sum::<f64>() / self.layers.len() as f64
    }

    /// Error of the sum over the layers, of a case, as a fraction of the measured sum.
    pub fn total_error(&self, case: usize) -> f64 {
        let total = |of: &dyn Fn(&LayerLatency) -> f64| self.layers.iter().map(of).sum::<f64>();
        total(&|it| it.model_ms[case]) / total(&|it| it.silicon_ms) - 1.0
    }

    /// Comparisons with the specification and with the chip.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let what = |case: usize| format!("Eyeriss, AlexNet CONV1-5, {}", CASES[case]);
        let exact = |case: usize| {
            let n_equal = self.layers.iter().filter(|it| it.is_exact[case]).count();
            Comparison {
                what: what(case),
                with: "cycles of the specification",
                result: format!("{n_equal} of {} layers equal", self.layers.len()),
                verdict: Verdict::of(n_equal == self.layers.len()),
            }
        };
        let silicon = |case: usize| Comparison {
            what: what(case),
            with: "silicon (JSSC 2017)",
            result: format!(
                "mean error {:.1} %, total {:+.1} %",
                100.0 * self.mean_error(case),
                100.0 * self.total_error(case)
            ),
            verdict: Verdict::Stated,
        };
        [0, 1].map(exact).into_iter().chain([0, 1].map(silicon)).collect()
    }
}

/// The chip with the mapping of one layer.
fn accelerator(catalog: &mut Catalog, layer: &str) -> Result<Accelerator, ValidateError> {
    let dataflow = catalog.dataflow(&format!("eyeriss/{layer}"))?;
    Ok(whole_chip(catalog, PLATFORM, &dataflow, PES)?)
}

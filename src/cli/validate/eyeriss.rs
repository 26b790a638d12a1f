//! The loop-nest model against a chip that was measured: AlexNet on Eyeriss (Chen et al., JSSC 2017,
//! Table V), batch 4, 168 PEs, 200 MHz, processing latency without DRAM.
//!
//! The plain model double-buffers everything. The second case adds one published fact: a filter
//! scratchpad has no room for the next filters, so that loading them is exposed. That switch was
//! introduced knowing that models with full overlap undershoot the chip; the plain model is the blind
//! prediction.

use crate::config::Catalog;
use crate::cost::loop_nest::LayerReport;
use crate::hardware::platform::{Budget, Instance, Resources};
use crate::hardware::{Accelerator, System};
use crate::report::table::{Style, new_table, render};

use super::super::argument;
use super::super::message::Failure;
use super::Comparison;

const PES: u32 = 168;

/// Layer, measured latency \[ms\], and the cycles of both cases that the specification of the model
/// gives.
const SILICON: &str = include_str!("../../../validation/eyeriss_silicon.csv");

/// One layer.
struct Row {
    layer: String,
    silicon_ms: f64,
    /// Double-buffered, with single-buffered weights, and computing only \[ms\].
    model_ms: [f64; 3],
    /// Whether the cycles of the first two are those of the specification.
    exact: [bool; 2],
}

/// All layers.
pub(super) struct Eyeriss {
    rows: Vec<Row>,
}

/// Evaluates every layer on the chip.
///
/// # Errors
///
/// None for the embedded files that the tests have seen.
pub(super) fn compare() -> Result<Eyeriss, Failure> {
    let mut catalog = Catalog::new();
    let network = catalog.network("alexnet/AlexNet")?;
    let mut rows = Vec::new();
    for (line, layer) in SILICON.lines().skip(1).zip(network.layers()) {
        let mut cells = line.split(',').skip(1).map(|cell| cell.parse::<f64>().unwrap_or(f64::NAN));
        let mut next = || cells.next().unwrap_or(f64::NAN);
        let (silicon_ms, expected) = (next(), [next(), next()]);
        let plain = accelerator(&mut catalog, &layer.name)?;
        let mut single = plain.clone();
        single.noc.set(&[true, false], |level, single| level.single_weights = single);
        let report = |accelerator| LayerReport::new(&layer.operator, accelerator).map_err(argument);
        let (first, second) = (report(&plain)?, report(&single)?);
        let cycles = [first.cycles, second.cycles, first.compute_cycles];
        let ms = |cycles: u64| crate::units::Cycles::new(cycles).at(plain.clock).as_ms();
        rows.push(Row {
            layer: layer.name.to_string(),
            silicon_ms,
            model_ms: cycles.map(ms),
            exact: [0, 1].map(|case| cycles[case] as f64 == expected[case]),
        });
    }
    Ok(Eyeriss { rows })
}

/// The chip with the mapping of one layer.
fn accelerator(catalog: &mut Catalog, layer: &str) -> Result<Accelerator, Failure> {
    let platform = catalog.platform("eyeriss")?;
    let dataflow = catalog.dataflow(&format!("eyeriss/{layer}"))?;
    let Resources::Budget(budget) = &platform.resources else {
        return Err(Failure::Argument("platform eyeriss has tables; a budget is needed".into()));
    };
    let Budget { noc, memory, .. } = (**budget).clone();
    let instance = Instance { name: "Eyeriss".into(), pes: PES, noc, memory };
    let accelerator = instance.with(instance.name.clone(), &dataflow, &platform);
    let system = System::new("Eyeriss", vec![accelerator]).map_err(argument)?;
    Ok(system.accelerators()[0].clone())
}

impl Eyeriss {
    /// Mean of the absolute errors, and error of the sum, of one case.
    fn errors(&self, case: usize) -> [f64; 2] {
        let mean = self.rows.iter().map(|row| (row.model_ms[case] / row.silicon_ms - 1.0).abs());
        let total = |of: &dyn Fn(&Row) -> f64| self.rows.iter().map(of).sum::<f64>();
        let sum = total(&|row| row.model_ms[case]) / total(&|row| row.silicon_ms) - 1.0;
        [mean.sum::<f64>() / self.rows.len() as f64, sum]
    }

    /// Lines of the table of comparisons.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let cases = ["double-buffered", "weights single-buffered"];
        let exact = |case: usize| {
            let equal = self.rows.iter().filter(|row| row.exact[case]).count();
            Comparison {
                what: format!("Eyeriss, AlexNet CONV1-5, {}", cases[case]),
                with: "cycles of the specification",
                result: format!("{equal} of {} layers equal", self.rows.len()),
                passes: Some(equal == self.rows.len()),
            }
        };
        let silicon = |case: usize| {
            let [mean, total] = self.errors(case).map(|error| 100.0 * error);
            Comparison {
                what: format!("Eyeriss, AlexNet CONV1-5, {}", cases[case]),
                with: "silicon (JSSC 2017)",
                result: format!("mean error {mean:.1} %, total {total:+.1} %"),
                passes: None,
            }
        };
        [0, 1].map(exact).into_iter().chain([0, 1].map(silicon)).collect()
    }

    /// Latency of every layer, measured and modelled.
    pub(super) fn to_table(&self, style: Style) -> String {
        let header = [
            "Eyeriss, AlexNet batch 4",
            "silicon ms",
            "double-buffered",
            "error",
            "weights single-buffered",
            "error",
            "compute only",
            "error",
        ];
        let mut table = new_table(style, &header, 1);
        for row in &self.rows {
            let mut cells = vec![row.layer.clone(), format!("{:.1}", row.silicon_ms)];
            for ms in row.model_ms {
                let error = 100.0 * (ms / row.silicon_ms - 1.0);
                cells.extend([format!("{ms:.2}"), format!("{error:+.1} %")]);
            }
            table.add_row(cells);
        }
        for (index, name) in ["mean absolute error", "error of the total"].into_iter().enumerate() {
            let mut cells = vec![name.to_string(), String::new()];
            for case in 0..3 {
                let error = 100.0 * self.errors(case)[index];
                let error =
                    if index == 0 { format!("{error:.1} %") } else { format!("{error:+.1} %") };
                cells.extend([String::new(), error]);
            }
            table.add_row(cells);
        }
        render(&table)
    }
}

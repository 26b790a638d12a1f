//! The loop-nest cost model against the published one, network by network, in steps that say where
//! the difference comes from.

use crate::config::{Catalog, Edition, Kind};
use crate::cost::loop_nest::LoopNest;
use crate::cost::maestro::Maestro;
use crate::cost::{CostModel, NetworkCost};
use crate::hardware::platform::{Budget, Instance, Platform, Resources};
use crate::hardware::{Accelerator, System, sram_pj_per_byte};
use crate::model::Network;
use crate::report::table::{Style, new_table, render};
use crate::units::Bytes;

use super::super::argument;
use super::super::message::Failure;

const DATAFLOWS: [&str; 3] = ["WS", "OS", "RS"];
const PES: u32 = 4096;

/// Bandwidth and memory that never limit [byte/cycle], \[byte\].
const UNLIMITED_BANDWIDTH: u64 = 1 << 32;
const UNLIMITED_MEMORY: Bytes = Bytes::new(1 << 47);

/// What the steps are, under the table.
const LEGEND: &str = "\
published   cycles and energy of the published cost model on its own layers
counting    the loop-nest model on the same layers and under the same assumptions (partial sums of 1 byte, no
            latency, no DRAM) instead: kernel extents as they are (the published model takes 4 rows for 1 and 3),
            edges cut, data held from step to step; energy also by its own table
memory      partial sums of 4 bytes, latency, an L2 of 8 MiB, DRAM
operators   the networks with their true operators: strides, depthwise layers, attention, regions of interest,
            operators without multiply-accumulates
total       the product: loop-nest costs of true operators over published costs
";

/// One network on one dataflow: costs after each step, cycles and energy \[nJ\].
pub(super) struct Row {
    task: String,
    dataflow: &'static str,
    steps: [[f64; 2]; 4],
}

impl Row {
    /// Factor of each step and of all, of cycles (0) or energy (1).
    fn factors(&self, of: usize) -> [f64; 4] {
        let step = |index: usize| self.steps[index][of];
        [step(1) / step(0), step(2) / step(1), step(3) / step(2), step(3) / step(0)]
    }
}

/// Costs every network of both editions on every dataflow.
///
/// # Errors
///
/// A layer that cannot run; none of the embedded ones.
pub(super) fn compare() -> Result<Vec<Row>, Failure> {
    let mut published = Catalog::with_networks(Edition::Artifact);
    let mut reference = Catalog::with_networks(Edition::Reference);
    let platform = published.platform("paper")?;
    let mut rows = Vec::new();
    for task in published.names(Kind::Network) {
        let (before, after) = (published.network(&task)?, reference.network(&task)?);
        for name in DATAFLOWS {
            let dataflow = published.dataflow(name)?;
            let Resources::Budget(budget) = &platform.resources else {
                return Err(Failure::Argument("platform paper is a budget".into()));
            };
            let Budget { noc, memory, .. } = (**budget).clone();
            let instance = Instance { name: name.into(), pes: PES, noc, memory };
            let accelerator = checked(instance.with(name.into(), &dataflow, &platform))?;
            let idealised = checked(idealised(&accelerator, &platform))?;
            let cost = |model: &dyn CostModel, network: &Network, accelerator: &Accelerator| {
                model.network(network, accelerator).map(both).map_err(argument)
            };
            let steps = [
                cost(&Maestro, &before, &accelerator)?,
                cost(&LoopNest, &before, &idealised)?,
                cost(&LoopNest, &before, &accelerator)?,
                cost(&LoopNest, &after, &accelerator)?,
            ];
            rows.push(Row { task: task.clone(), dataflow: name, steps });
        }
    }
    Ok(rows)
}

fn both(cost: NetworkCost) -> [f64; 2] {
    [cost.cycles.get() as f64, cost.energy_nj]
}

fn checked(accelerator: Accelerator) -> Result<Accelerator, Failure> {
    let system = System::new("study", vec![accelerator]).map_err(argument)?;
    Ok(system.accelerators()[0].clone())
}

/// The same accelerator under the assumptions of the published cost model.
fn idealised(accelerator: &Accelerator, platform: &Platform) -> Accelerator {
    let mut ideal = accelerator.clone();
    ideal.noc.set(&[0], |level, latency| level.latency = latency);
    ideal.datapath.widths.partial_sum = 1;
    ideal.byte_energy = platform.byte_energy;
    ideal.byte_energy.shared_memory =
        Some(sram_pj_per_byte(accelerator.memory.shared.get() as f64));
    ideal.byte_energy.dram = 0.0;
    ideal.memory.shared = UNLIMITED_MEMORY;
    ideal.memory.dram_bandwidth = UNLIMITED_BANDWIDTH;
    ideal
}

/// Header and rows for a CSV file.
pub(super) fn rows(rows: &[Row]) -> (Vec<String>, Vec<Vec<String>>) {
    let steps = ["published", "counting", "memory", "operators"];
    let mut header = vec!["network".to_string(), "dataflow".into()];
    for of in ["cycles", "energy_nj"] {
        header.extend(steps.map(|step| format!("{of}_{step}")));
    }
    let row = |row: &Row| {
        let mut cells = vec![row.task.clone(), row.dataflow.to_string()];
        for of in 0..2 {
            cells.extend(row.steps.map(|step| step[of].to_string()));
        }
        cells
    };
    (header, rows.iter().map(row).collect())
}

/// The table for people, means over networks last.
pub(super) fn to_text(rows: &[Row], style: Style) -> String {
    let header = [
        "network",
        "dataflow",
        "published cycles",
        "x counting",
        "x memory",
        "x operators",
        "= total",
        "published mJ",
        "x counting",
        "x memory",
        "x operators",
        "= total",
    ];
    let mut table = new_table(style, &header, 2);
    for row in rows {
        let [cycles, energy_nj] = row.steps[0];
        let mut cells = vec![row.task.clone(), row.dataflow.to_string(), format!("{cycles:.0}")];
        cells.extend(row.factors(0).map(|factor| format!("{factor:.3}")));
        cells.push(format!("{:.2}", energy_nj / 1e6));
        cells.extend(row.factors(1).map(|factor| format!("{factor:.3}")));
        table.add_row(cells);
    }
    for dataflow in DATAFLOWS {
        let of: Vec<_> = rows.iter().filter(|row| row.dataflow == dataflow).collect();
        let mean = |quantity: usize| {
            [0, 1, 2, 3].map(|step| {
                let logs = of.iter().map(|row| row.factors(quantity)[step].ln());
                format!("{:.3}", (logs.sum::<f64>() / of.len() as f64).exp())
            })
        };
        let mut cells = vec!["geometric mean".to_string(), dataflow.into(), String::new()];
        cells.extend(mean(0));
        cells.push(String::new());
        cells.extend(mean(1));
        table.add_row(cells);
    }
    format!("{}\n{LEGEND}", render(&table))
}

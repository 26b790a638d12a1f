//! The loop-nest cost model against the published one, network by network, in steps that show where the
//! difference comes from.

use xrsim_config::{Catalog, Edition, Kind};
use xrsim_experiment::{BENCHMARK_PLATFORM, DEFAULT_PES, whole_chip};
use xrsim_model::cost::loop_nest::LoopNest;
use xrsim_model::cost::maestro::Maestro;
use xrsim_model::cost::{CostError, CostModel};
use xrsim_model::hardware::platform::Platform;
use xrsim_model::hardware::{Accelerator, MemoryEnergy, Width, sram_pj_per_byte};
use xrsim_model::model::Network;
use xrsim_model::units::Bytes;

use super::{ReproduceError, Table};

const DATAFLOWS: [&str; 3] = ["WS", "OS", "RS"];

/// Bandwidth that never limits [byte/cycle].
const UNLIMITED_BANDWIDTH: u64 = 1 << 32;

/// Memory that never limits \[byte\].
const UNLIMITED_MEMORY: Bytes = Bytes::new(1 << 47);

/// Meaning of the steps, for a legend below the table.
pub const LEGEND: &str = "\
published   cycles and energy of the published cost model on its own layers
counting    the loop-nest model on the same layers and under the same assumptions (partial sums of 1 byte, no
            latency, no DRAM). It uses each kernel extent as it is (the published model takes 4 rows for 1 and
            3), cuts tiles at edges, and keeps data from step to step; energy also follows its own table
memory      partial sums of 4 bytes, latency, a shared memory of 8 MiB, DRAM
operators   the true operators of the networks: strides, depthwise layers, attention, regions of interest,
            operators without multiply-accumulates
total       the product: loop-nest costs of the true operators over the published costs
";

/// Names of the steps.
pub const STEPS: [&str; 4] = ["published", "counting", "memory", "operators"];

/// Cycles and energy of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CyclesAndEnergy {
    /// Latency \[cycle\].
    pub cycles: f64,
    /// Energy \[nJ\].
    pub energy_nj: f64,
}

/// Costs of one network on one dataflow after each step.
#[derive(Debug, Clone, PartialEq)]
pub struct CostSteps {
    /// Task of the network.
    pub task: String,
    /// Dataflow.
    pub dataflow: &'static str,
    /// Costs after each of [`STEPS`].
    pub steps: [CyclesAndEnergy; 4],
}

impl CostSteps {
    /// Factors of the cycles: of each step after the first, and of all.
    pub fn cycle_factors(&self) -> [f64; 4] {
        factors(self.steps.map(|step| step.cycles))
    }

    /// Factors of the energy: of each step after the first, and of all.
    pub fn energy_factors(&self) -> [f64; 4] {
        factors(self.steps.map(|step| step.energy_nj))
    }

    /// The costs as a table, one row for each network and dataflow.
    pub fn table(all: &[Self]) -> Table {
        let mut header = vec!["network".to_string(), "dataflow".into()];
        for quantity in ["cycles", "energy_nj"] {
            header.extend(STEPS.map(|step| format!("{quantity}_{step}")));
        }
        let row = |it: &Self| {
            let mut cells = vec![it.task.clone(), it.dataflow.to_string()];
            cells.extend(it.steps.map(|step| step.cycles.to_string()));
            cells.extend(it.steps.map(|step| step.energy_nj.to_string()));
            cells
        };
        Table { header, rows: all.iter().map(row).collect() }
    }
}

fn factors([published, counting, memory, operators]: [f64; 4]) -> [f64; 4] {
    [counting / published, memory / counting, operators / memory, operators / published]
}

/// Geometric mean of each factor over the networks on one dataflow.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanFactors {
    /// Dataflow.
    pub dataflow: &'static str,
    /// Means of [`CostSteps::cycle_factors`].
    pub cycles: [f64; 4],
    /// Means of [`CostSteps::energy_factors`].
    pub energy: [f64; 4],
}

/// Means over the networks of `all`, for each dataflow.
pub fn means(all: &[CostSteps]) -> Vec<MeanFactors> {
    let of_dataflow = |dataflow: &'static str| {
        let of: Vec<_> = all.iter().filter(|it| it.dataflow == dataflow).collect();
        let mean = |factors: fn(&CostSteps) -> [f64; 4]| {
            [0, 1, 2, 3].map(|step| {
                let logs = of.iter().map(|it| factors(it)[step].ln());
                (logs.sum::<f64>() / of.len() as f64).exp()
            })
        };
        let (cycles, energy) = (mean(CostSteps::cycle_factors), mean(CostSteps::energy_factors));
        MeanFactors { dataflow, cycles, energy }
    };
    DATAFLOWS.map(of_dataflow).to_vec()
}

/// Evaluates every network of both editions on every dataflow with 4096 PEs.
///
/// # Errors
///
/// [`ReproduceError::Cost`] if a layer cannot run, and any other if an embedded input file is invalid.
pub fn compare() -> Result<Vec<CostSteps>, ReproduceError> {
    let mut published = Catalog::with_networks(Edition::Artifact);
    let mut reference = Catalog::with_networks(Edition::Reference);
    let platform = published.platform(BENCHMARK_PLATFORM)?;
    let mut all = Vec::new();
    for task in published.names(Kind::Network) {
        let (before, after) = (published.network(&task)?, reference.network(&task)?);
        for dataflow in DATAFLOWS {
            let directives = published.dataflow(dataflow)?;
            let actual = whole_chip(&mut published, BENCHMARK_PLATFORM, &directives, DEFAULT_PES)?;
            let ideal = idealised(&actual, &platform);
            let steps = [
                cost(&Maestro, &before, &actual)?,
                cost(&LoopNest, &before, &ideal)?,
                cost(&LoopNest, &before, &actual)?,
                cost(&LoopNest, &after, &actual)?,
            ];
            all.push(CostSteps { task: task.clone(), dataflow, steps });
        }
    }
    Ok(all)
}

fn cost(
    model: &dyn CostModel,
    network: &Network,
    accelerator: &Accelerator,
) -> Result<CyclesAndEnergy, ReproduceError> {
    let cost = model.network(network, accelerator);
    let cost = cost.map_err(|reason| CostError::new(network.name(), accelerator, reason))?;
    Ok(CyclesAndEnergy { cycles: cost.cycles.get() as f64, energy_nj: cost.energy_nj })
}

/// The same accelerator under the assumptions of the published cost model.
fn idealised(accelerator: &Accelerator, platform: &Platform) -> Accelerator {
    let mut ideal = accelerator.clone();
    ideal.noc.set(&[0], |level, latency| level.latency = latency);
    ideal.datapath.widths.partial_sum = Width::of_bytes(1);
    ideal.byte_energy = platform.byte_energy;
    let shared = accelerator.memory.shared.get() as f64;
    ideal.byte_energy.shared_memory = MemoryEnergy::PerByte(sram_pj_per_byte(shared));
    ideal.byte_energy.dram = 0.0;
    ideal.memory.shared = UNLIMITED_MEMORY;
    ideal.memory.dram_bandwidth = UNLIMITED_BANDWIDTH;
    ideal
}

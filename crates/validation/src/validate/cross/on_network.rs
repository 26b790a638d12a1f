//! Chips that are described by sizes alone, and whole networks on them with the default cost model.

use std::sync::Arc;

use xrsim_config::cross_tables::CrossRow;
use xrsim_config::{Catalog, Problem, Source};
use xrsim_experiment::{NamedCostModel, whole_chip};
use xrsim_model::cost::NetworkCost;
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::Network;

use super::super::ValidateError;

/// Cost model of systems that name none.
const COST_MODEL: &str = "loop-nest";

/// Size of a chip whose array multiplies a block of input channels by filters, with one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub pes: u32,
    /// Input channels of a block, the rows of the array.
    pub channels: u32,
    pub clock_mhz: u32,
    pub memory_kib: u32,
    /// Bandwidth of DRAM [byte/cycle].
    pub dram: u32,
}

/// Makes such chips and costs networks on them.
pub(super) struct Maker {
    catalog: Catalog,
    model: NamedCostModel,
}

impl Maker {
    /// A maker that knows the networks that come with the program, and these `texts` by their names.
    ///
    /// # Errors
    ///
    /// [`ValidateError`] if there is no default cost model.
    pub(super) fn new(texts: &[(&str, String)]) -> Result<Self, ValidateError> {
        let mut catalog = Catalog::new();
        for &(name, ref text) in texts {
            catalog.provide(Source::new(name, text.as_str()));
        }
        let model = NamedCostModel::find(&mut catalog, COST_MODEL)?;
        Ok(Self { catalog, model })
    }

    /// A chip of a size: elements of 8 bits, ports of 256 byte/cycle, operators that ride along, and energies by the cost model's own table.
    ///
    /// # Errors
    ///
    /// [`ValidateError`] if the size makes no chip.
    pub(super) fn chip(&mut self, size: Size) -> Result<Accelerator, ValidateError> {
        let Size { pes, channels, clock_mhz, memory_kib, dram } = size;
        let name = format!("blocks-{pes}-{channels}-{clock_mhz}-{memory_kib}-{dram}");
        let platform = format!(
            "platform:\n  name: {name}\n  clock_mhz: {clock_mhz}\n  fusion: elementwise\n  \
             energy: {{mac_nj: 0.0003, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 200}}\n  \
             budget:\n    noc_bandwidth_bytes_per_cycle: 256\n    shared_memory_kib: {memory_kib}\n    \
             scratchpad_kib: 0.5\n    dram_bandwidth_bytes_per_cycle: {dram}\n"
        );
        let dataflow = format!(
            "dataflow:\n  name: {name}\n  directives:\n    - SpatialMap(1,1) K\n    - TemporalMap(1,1) R\n    \
             - TemporalMap(1,1) S\n    - TemporalMap({channels},{channels}) C\n    - TemporalMap(1,1) Y'\n    \
             - TemporalMap(1,1) X'\n    - Cluster({channels})\n    - SpatialMap(1,1) C\n"
        );
        let names = [format!("./{name}-platform.yaml"), format!("./{name}-dataflow.yaml")];
        for (name, text) in names.iter().map(String::as_str).zip([platform, dataflow]) {
            self.catalog.provide(Source::new(name, text.as_str()));
        }
        let [platform, dataflow] = names;
        let dataflow = self.catalog.dataflow(&dataflow)?;
        Ok(whole_chip(&mut self.catalog, &platform, &dataflow, pes)?)
    }

    /// The network called `name`, or why there is none.
    ///
    /// # Errors
    ///
    /// The reason in words.
    pub(super) fn network_called(&mut self, name: &str) -> Result<Arc<Network>, String> {
        self.catalog.network(name).map_err(|error| error.to_string())
    }

    /// Cost of a network on a chip with the default cost model.
    ///
    /// # Errors
    ///
    /// A problem of the column `name` of the row if it cannot run.
    pub(super) fn cost(
        &self,
        row: &CrossRow,
        name: &str,
        network: &Network,
        chip: &Accelerator,
    ) -> Result<NetworkCost, Problem> {
        let cost = self.model.model.network(network, chip);
        cost.map_err(|reason| row.problem(name, reason.to_string()))
    }
}

//! Costs of many networks on many accelerators, each pair evaluated once however many runs share it.

use std::sync::Arc;

use rayon::prelude::*;
use thiserror::Error;

use crate::hardware::{Accelerator, System};
use crate::model::Network;
use crate::scenario::Scenario;

use super::{CostModel, CostTable, Infeasible, NetworkCost};

/// A network that cannot run on an accelerator of the system.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{network} on {accelerator}: {reason}")]
pub struct CostError {
    /// Network.
    pub network: Box<str>,
    /// Accelerator.
    pub accelerator: Box<str>,
    /// Why.
    pub reason: Infeasible,
}

/// Cost of every pair that some run needs. Accelerators that cost the same are one.
pub struct CostLibrary {
    /// Whether accelerators of different names cost differently.
    by_name: bool,
    networks: Vec<Arc<Network>>,
    accelerators: Vec<Accelerator>,
    /// Row-major `[network][accelerator]`; `None` where no run needs the pair.
    costs: Vec<Option<Result<Arc<NetworkCost>, CostError>>>,
}

impl CostLibrary {
    /// Evaluates, in parallel, every network of every scenario on every accelerator of the system
    /// that it is paired with.
    pub fn evaluate<'a>(
        model: &dyn CostModel,
        runs: impl IntoIterator<Item = (&'a Scenario, &'a System)>,
    ) -> Self {
        let mut library = Self {
            by_name: model.costs_by_name(),
            networks: Vec::new(),
            accelerators: Vec::new(),
            costs: Vec::new(),
        };
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (scenario, system) in runs {
            let columns: Vec<_> =
                system.accelerators().iter().map(|a| library.intern_accelerator(a)).collect();
            for active in scenario.models() {
                let row = library.intern_network(&active.unit.network);
                pairs.extend(columns.iter().map(|&column| (row, column)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let results: Vec<_> = pairs
            .par_iter()
            .map(|&(row, column)| {
                evaluate_pair(model, &library.networks[row], &library.accelerators[column])
            })
            .collect();
        let width = library.accelerators.len();
        library.costs.resize(library.networks.len() * width, None);
        for ((row, column), result) in pairs.into_iter().zip(results) {
            library.costs[row * width + column] = Some(result);
        }
        library
    }

    /// The table of `scenario` on `system`.
    ///
    /// # Errors
    ///
    /// The first pair that is infeasible.
    ///
    /// # Panics
    ///
    /// If the pair was not among the runs given to [`CostLibrary::evaluate`].
    pub fn table(&self, scenario: &Scenario, system: &System) -> Result<CostTable, CostError> {
        let columns: Vec<_> =
            system.accelerators().iter().map(|a| self.find_accelerator(a)).collect();
        let mut cells = Vec::with_capacity(scenario.models().len() * columns.len());
        for active in scenario.models() {
            let row = self.find_network(&active.unit.network);
            for &column in &columns {
                let cell = self.costs[row * self.accelerators.len() + column].as_ref();
                cells.push(cell.expect("the pair was evaluated").clone()?);
            }
        }
        Ok(CostTable::new(cells, columns.len()))
    }

    fn intern_network(&mut self, network: &Arc<Network>) -> usize {
        self.networks.iter().position(|known| Arc::ptr_eq(known, network)).unwrap_or_else(|| {
            self.networks.push(Arc::clone(network));
            self.networks.len() - 1
        })
    }

    fn intern_accelerator(&mut self, accelerator: &Accelerator) -> usize {
        self.position_of(accelerator).unwrap_or_else(|| {
            self.accelerators.push(accelerator.clone());
            self.accelerators.len() - 1
        })
    }

    fn find_network(&self, network: &Arc<Network>) -> usize {
        let found = self.networks.iter().position(|known| Arc::ptr_eq(known, network));
        found.expect("the network was given to `evaluate`")
    }

    fn find_accelerator(&self, accelerator: &Accelerator) -> usize {
        self.position_of(accelerator).expect("the accelerator was given to `evaluate`")
    }

    fn position_of(&self, accelerator: &Accelerator) -> Option<usize> {
        let mut known = self.accelerators.iter();
        known.position(|known| {
            known.costs_as(accelerator) && (!self.by_name || same_names(known, accelerator))
        })
    }
}

fn same_names(a: &Accelerator, b: &Accelerator) -> bool {
    a.name == b.name && a.dataflow.name() == b.dataflow.name()
}

fn evaluate_pair(
    model: &dyn CostModel,
    network: &Network,
    accelerator: &Accelerator,
) -> Result<Arc<NetworkCost>, CostError> {
    model.network(network, accelerator).map(Arc::new).map_err(|reason| CostError {
        network: network.name().into(),
        accelerator: accelerator.name.clone(),
        reason,
    })
}

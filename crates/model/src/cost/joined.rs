//! Rows of a table joined with another cost model, pair by pair.

use std::sync::Arc;

use crate::hardware::{Accelerator, CostOrigin, LocalBuffers};
use crate::model::{Network, Operator};

use super::loop_nest::{Choose, Role};
use super::table::CostRecords;
use super::{CostModel, Explanation, Infeasible, LayerCost, NetworkCost};

/// A cost model, and a table before it if there is one. Processors and networks that were measured as a whole have
/// costs in a table alone.
///
/// With a table, accelerators that stand beside processors take their rows in it, and the cost model for networks
/// without a row; all others have rows alone.
#[derive(Clone)]
pub struct Joined {
    records: Option<Arc<CostRecords>>,
    model: Arc<dyn CostModel>,
}

impl Joined {
    /// `model` alone.
    pub fn alone(model: Arc<dyn CostModel>) -> Self {
        Self { records: None, model }
    }

    /// The rows of `records`, and `model` for the accelerators beside processors.
    pub fn of_rows(records: Arc<CostRecords>, model: Arc<dyn CostModel>) -> Self {
        Self { records: Some(records), model }
    }

    /// Who costs a pair.
    fn of(&self, network: &Network, at: &Accelerator) -> Result<&dyn CostModel, Infeasible> {
        let needs_row = at.processor().is_some() || network.is_measured();
        match &self.records {
            None if at.processor().is_some() => Err(Infeasible::NoTable),
            None if needs_row => Err(Infeasible::Measured),
            None => Ok(&*self.model),
            Some(records) => {
                let is_joined = at.origin == CostOrigin::RowOrModel && !needs_row;
                Ok(if is_joined && !records.has(network, at) { &*self.model } else { &**records })
            }
        }
    }

    /// The table, or the model if there is none.
    fn first(&self) -> &dyn CostModel {
        self.records.as_ref().map_or(&*self.model, |records| &**records)
    }
}

impl CostModel for Joined {
    fn layer(&self, operator: &Operator, at: &Accelerator) -> Result<LayerCost, Infeasible> {
        self.first().layer(operator, at)
    }

    fn explain(&self, operator: &Operator, at: &Accelerator) -> Result<Explanation, Infeasible> {
        self.first().explain(operator, at)
    }

    fn explain_network(
        &self,
        network: &Network,
        at: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        self.of(network, at)?.explain_network(network, at)
    }

    fn network(&self, network: &Network, at: &Accelerator) -> Result<NetworkCost, Infeasible> {
        self.of(network, at)?.network(network, at)
    }

    fn shared_network(
        &self,
        network: &Network,
        at: &Accelerator,
    ) -> Result<Arc<NetworkCost>, Infeasible> {
        self.of(network, at)?.shared_network(network, at)
    }

    fn local_buffers(
        &self,
        network: &Network,
        at: &Accelerator,
    ) -> Result<Option<LocalBuffers>, Infeasible> {
        self.of(network, at)?.local_buffers(network, at)
    }

    fn local_buffers_of_all(
        &self,
        networks: &[Arc<Network>],
        at: &Accelerator,
    ) -> Option<LocalBuffers> {
        if networks.iter().all(|network| self.records.is_none() && self.of(network, at).is_ok()) {
            return self.model.local_buffers_of_all(networks, at);
        }
        let of = |network: &Arc<Network>| self.local_buffers(network, at).ok().flatten();
        networks.iter().filter_map(of).reduce(|all, it| all.and(&it))
    }

    fn networks(
        &self,
        network: &Network,
        accelerators: &[Accelerator],
    ) -> Vec<Result<NetworkCost, Infeasible>> {
        if self.records.is_none() && accelerators.iter().all(|at| self.of(network, at).is_ok()) {
            return self.model.networks(network, accelerators);
        }
        accelerators.iter().map(|at| self.network(network, at)).collect()
    }

    fn roles(&self, network: &Network, at: &Accelerator) -> Result<Vec<Role>, Infeasible> {
        self.of(network, at)?.roles(network, at)
    }

    fn costs_by_name(&self) -> bool {
        self.first().costs_by_name()
    }

    fn supports_batches(&self) -> bool {
        self.first().supports_batches()
    }

    fn chooses_mappings(&self) -> bool {
        self.first().chooses_mappings()
    }

    fn chooser(&self) -> Option<&dyn Choose> {
        self.first().chooser()
    }

    fn costs_alike(&self, a: &Accelerator, b: &Accelerator) -> bool {
        self.first().costs_alike(a, b)
    }
}

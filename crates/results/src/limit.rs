//! Resources that limit the layers of a network.

use xrsim_model::cost::{CostModel, Quantity};
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::Network;

/// The resource that limits the layers of a network for most of its latency.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Resource.
    pub resource: String,
    /// Share of the latency of the layers that it limits, from 0 to 1.
    pub share: f64,
}

impl Limit {
    /// The limit of `network` on `accelerator`, each layer alone in the order of the network; `None` if
    /// `cost_model` does not report what bounds a layer.
    pub fn compute(
        cost_model: &dyn CostModel,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Option<Self> {
        let layers = cost_model.explain_network(network, accelerator).ok()?;
        let mut resources: Vec<(&str, f64)> = Vec::new();
        for layer in &layers {
            let value = |name: &str| layer.iter().find(|(known, _)| *known == name);
            let (_, Quantity::Text(bound)) = value("bound")? else { return None };
            let (_, Quantity::Count(cycles)) = value("runtime_cycles")? else { return None };
            let cycles = *cycles as f64;
            match resources.iter_mut().find(|(known, _)| known == bound) {
                Some((_, sum)) => *sum += cycles,
                None => resources.push((bound, cycles)),
            }
        }
        let all: f64 = resources.iter().map(|(_, cycles)| cycles).sum();
        let (bound, cycles) = resources.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let resource = match bound {
            "noc" => "NoC",
            "dram" => "DRAM",
            other => other,
        };
        (all > 0.0).then(|| Self { resource: resource.into(), share: cycles / all })
    }
}

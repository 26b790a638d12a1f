//! The cost model of layers and networks: operators are lowered to loop nests, which run one after
//! another, and tensors stay in shared memory from layer to layer where they fit
//! (docs/explanation/cost-model-loop-nest.md, section 6.6).

use std::collections::HashSet;
use std::sync::Arc;

use crate::cancel;
use crate::hardware::{Accelerator, LocalBuffers};
use crate::model::{Network, Operator};

use super::super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost};
use super::Machine;
use super::choose::Choose;
use super::fusion::Role;
use super::network::{cost_by, with_all};
use super::prepared::{MemoryContext, NestReport, PreparedNetwork, PreparedOperator};
use super::relatives::{Family, Relatives};
use super::report::LayerReport;
use super::rules::{self, LayerRules};

/// Registry entry.
pub(in crate::cost) const ENTRY: Entry = Entry {
    name: "loop-nest",
    help: "exact counts and cycles of a loop nest in tiles; shared memory, DRAM, energy by component",
    source: "docs/explanation/cost-model-loop-nest.md, checked against enumeration and Eyeriss",
    build: Some(|| Box::new(LoopNest)),
};

/// The loop-nest cost model (docs/explanation/cost-model-loop-nest.md).
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopNest;

impl LoopNest {
    /// Name of the model.
    pub const NAME: &str = ENTRY.name;
}

/// The same model on accelerators that choose forms and mappings for every layer by a rule.
#[derive(Debug, Clone)]
pub struct ChosenLoopNest {
    rule: Arc<dyn Choose>,
}

impl ChosenLoopNest {
    /// The model with choices by `rule`.
    pub fn new(rule: Arc<dyn Choose>) -> Self {
        Self { rule }
    }

    /// The model with choices by `rule`, compared in a family of accelerators.
    pub fn among(rule: Arc<dyn Choose>, family: Family) -> Self {
        Self::new(Arc::new(Relatives::new(rule, family)))
    }
}

/// Both forms of the model.
trait Ruled: Send + Sync {
    /// The rule of accelerators that choose; `None` if none chooses.
    fn rule(&self) -> Option<&dyn Choose>;
}

impl Ruled for LoopNest {
    fn rule(&self) -> Option<&dyn Choose> {
        None
    }
}

impl Ruled for ChosenLoopNest {
    fn rule(&self) -> Option<&dyn Choose> {
        Some(&*self.rule)
    }
}

impl<M: Ruled> CostModel for M {
    /// Cost of a layer by itself: its inputs come from DRAM and its outputs go there.
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible> {
        Ok(report(operator, accelerator, self.rule())?.cost())
    }

    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(report(operator, accelerator, self.rule())?.explanation())
    }

    /// Cost of the layers in the context of their network: tensors stay in shared memory from layer
    /// to layer where they fit.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        self.shared_network(network, accelerator).map(Arc::unwrap_or_clone)
    }

    fn shared_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Arc<NetworkCost>, Infeasible> {
        network_cost(network, accelerator, self.rule())
    }

    fn networks(
        &self,
        network: &Network,
        accelerators: &[Accelerator],
    ) -> Vec<Result<NetworkCost, Infeasible>> {
        let chooses = |rule: &dyn Choose| accelerators.iter().any(|it| rule.on(it).is_some());
        match self.rule().is_some_and(chooses) {
            true => accelerators.iter().map(|it| self.network(network, it)).collect(),
            false => networks(network, accelerators),
        }
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        for_each_layer(network, accelerator, self.rule(), LayerReport::explanation)
    }

    fn local_buffers(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Option<LocalBuffers>, Infeasible> {
        local_buffers(network, accelerator, self.rule()).map(Some)
    }

    fn roles(&self, network: &Network, accelerator: &Accelerator) -> Result<Vec<Role>, Infeasible> {
        with_rules(network, accelerator, self.rule(), |prepared, _| {
            prepared.groups.roles().to_vec()
        })
    }

    fn chooser(&self) -> Option<&dyn Choose> {
        self.rule()
    }
}

impl LayerReport {
    /// Report of a layer by itself.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] if the dataflow does not compute the layer exactly once, a tile does not fit
    /// into the scratchpad of a PE or the buffer of a cluster, a box of the off-chip level does not fit into
    /// the shared memory, or counts exceed 64 bits.
    pub fn new(operator: &Operator, accelerator: &Accelerator) -> Result<Self, Infeasible> {
        report(operator, accelerator, None)
    }

    /// Reports of the layers of a network in their context, in execution order.
    ///
    /// # Errors
    ///
    /// As [`LayerReport::new`], for the first layer that cannot run.
    pub fn of_network(
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Self>, Infeasible> {
        for_each_layer(network, accelerator, None, Self::clone)
    }

    /// As [`LayerReport::of_network`], with choices by `rule`.
    ///
    /// # Errors
    ///
    /// As [`LayerReport::new`], for the first layer that cannot run.
    pub fn of_network_by(
        network: &Network,
        accelerator: &Accelerator,
        rule: &dyn Choose,
    ) -> Result<Vec<Self>, Infeasible> {
        for_each_layer(network, accelerator, Some(rule), Self::clone)
    }
}

/// Report of a layer by itself, with choices by `rule` if there is one.
fn report(
    operator: &Operator,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<LayerReport, Infeasible> {
    if rule.is_some() && accelerator.chooses_by_period() {
        return Err(Infeasible::NoPeriod);
    }
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let (machine, chooser) = (Machine::from_accelerator(accelerator), chooser.as_deref());
    let mut prepared = PreparedOperator::new(operator, accelerator, machine, false, chooser)?;
    Ok(prepared.report(&MemoryContext::default(), chooser))
}

/// `extract` of the report of every layer, in execution order. Layers with equal operator and
/// context are evaluated once.
fn for_each_layer<T: Clone>(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
    extract: impl Fn(&LayerReport) -> T,
) -> Result<Vec<T>, Infeasible> {
    cancel::check();
    with_rules(network, accelerator, rule, |prepared, rules| prepared.each_layer(rules, extract))
}

/// Cost of a network, with choices by `rule` if there is one.
fn network_cost(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<Arc<NetworkCost>, Infeasible> {
    if let Some(cost) = rule.and_then(|rule| rule.cost(network, accelerator)) {
        return cost;
    }
    let candidates = rules::candidates(accelerator);
    cost_by(network, accelerator, rules::of_all(rule, &candidates, network)).map(Arc::new)
}

/// `work` with a network on an accelerator and the rules of its layers, which are those of `rule` if there is one.
fn with_rules<T>(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
    work: impl FnOnce(&mut PreparedNetwork<'_>, &LayerRules<'_>) -> T,
) -> Result<T, Infeasible> {
    let candidates = rules::candidates(accelerator);
    with_all(network, accelerator, rules::of_all(rule, &candidates, network), work)
}

/// Costs of a network on accelerators without choices. Neighbours that differ in shared memory and DRAM bandwidth
/// only share everything that does not depend on these.
fn networks(
    network: &Network,
    accelerators: &[Accelerator],
) -> Vec<Result<NetworkCost, Infeasible>> {
    let mut costs = Vec::with_capacity(accelerators.len());
    for alike in accelerators.chunk_by(walk_alike) {
        match PreparedNetwork::new(network, &alike[0], None) {
            Ok(mut prepared) if !prepared.has_off_chip_loops() => {
                costs.extend(alike.iter().map(|accelerator| {
                    prepared.move_to(accelerator);
                    let layers = prepared.each_layer(&LayerRules::none(), |it| it.cost());
                    Ok(NetworkCost::of_layers(layers, accelerator))
                }));
            }
            _ => costs.extend(alike.iter().map(|it| cost_by(network, it, Vec::new()))),
        }
    }
    costs
}

/// Whether two accelerators differ in their names, shared memory and DRAM bandwidth only.
fn walk_alike(a: &Accelerator, b: &Accelerator) -> bool {
    let mut memory = b.memory.clone();
    (memory.shared, memory.dram_bandwidth) = (a.memory.shared, a.memory.dram_bandwidth);
    let moved = Accelerator { memory, ..b.clone() };
    a.costs_as(&moved)
}

/// The least buffers that the layers of a network need (section 4.10), with choices by `rule`. Without choices
/// the declared buffers have no effect. With the objective `deadline` they hold every mapping among which a period
/// decides.
fn local_buffers(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<LocalBuffers, Infeasible> {
    let candidates = rules::candidates(accelerator);
    let all = rules::of_all(rule, &candidates, network);
    let rules = LayerRules::first(all);
    let unlimited = accelerator.with_unlimited_buffers();
    let accelerator = if rules.choose() { accelerator } else { &unlimited };
    let mut prepared = PreparedNetwork::new(network, accelerator, rules.of(0))?;
    let (mut buffers, mut seen) = (LocalBuffers::default(), HashSet::new());
    for index in 0..network.layers().len() {
        let (operator, context) = prepared.layer(index);
        if !seen.insert((network.operator_of()[index], context)) {
            continue;
        }
        for rule in rules.each() {
            operator.set_context(&context, rule);
            for nest in &operator.nests {
                let units: Vec<_> = nest.unit_bytes(operator.widths()).collect();
                buffers.hold(units.into_iter());
            }
        }
    }
    Ok(buffers)
}

/// The loop nests of layer number `layer` of a network, in the context of the network, with choices by
/// `rule` if there is one; empty for an operator without MACs.
///
/// # Errors
///
/// As [`LayerReport::new`], for the first layer that cannot run.
///
/// # Panics
///
/// If the network has no such layer.
pub fn nests_of_layer(
    network: &Network,
    layer: usize,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<Vec<NestReport>, Infeasible> {
    with_rules(network, accelerator, rule, |prepared, rules| prepared.nests(layer, rules))
}

/// The loop nests of every layer of a network, indexed by layer, as [`nests_of_layer`] has them.
///
/// # Errors
///
/// As [`LayerReport::new`], for the first layer that cannot run.
pub fn nests_of_network(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<Vec<Vec<NestReport>>, Infeasible> {
    let layers = 0..network.layers().len();
    with_rules(network, accelerator, rule, |prepared, rules| {
        layers.map(|layer| prepared.nests(layer, rules)).collect()
    })
}

//! The cost model of layers and networks: operators are lowered to loop nests, which run one after
//! another, and tensors stay in shared memory from layer to layer where they fit
//! (docs/cost-model-loop-nest.md, section 6.6).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::hardware::{Accelerator, LocalBuffers, Memory};
use crate::model::{Layer, MatmulShape, Network, Operator, PerOperand, PerTensor, VectorShape};
use crate::units::Bytes;

use super::super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost};
use super::choose::{Choice, Choose, ChooseLayer};
use super::nest::{outputs, weights};
use super::report::LayerReport;
use super::residency::{self, Residency, SharedMemoryNeed};
use super::{
    Evaluation, Illegal, Listed, Machine, Mapping, Nest, Walk, dram, lower, off_chip, vector,
};

/// Registry entry.
pub(in crate::cost) const ENTRY: Entry = Entry {
    name: "loop-nest",
    help: "exact counts and cycles of a loop nest in tiles; shared memory, DRAM, energy by component",
    source: "docs/cost-model-loop-nest.md, checked against enumeration and Eyeriss",
    build: Some(|| Box::new(LoopNest)),
};

/// The loop-nest cost model (docs/cost-model-loop-nest.md).
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
}

impl CostModel for ChosenLoopNest {
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible> {
        Ok(report(operator, accelerator, Some(&*self.rule))?.cost())
    }

    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(report(operator, accelerator, Some(&*self.rule))?.explanation())
    }

    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        let rule = Some(&*self.rule);
        let layers = for_each_layer(network, accelerator, rule, |layer| layer.cost())?;
        Ok(NetworkCost::of_layers(layers, accelerator))
    }

    fn networks(
        &self,
        network: &Network,
        accelerators: &[Accelerator],
    ) -> Vec<Result<NetworkCost, Infeasible>> {
        let chooses = accelerators.iter().any(|it| self.rule.on(it).is_some());
        match chooses {
            true => accelerators.iter().map(|it| self.network(network, it)).collect(),
            false => networks(network, accelerators),
        }
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        for_each_layer(network, accelerator, Some(&*self.rule), LayerReport::explanation)
    }

    fn local_buffers(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Option<LocalBuffers>, Infeasible> {
        local_buffers(network, accelerator, Some(&*self.rule)).map(Some)
    }

    fn chooses_mappings(&self) -> bool {
        true
    }
}

impl CostModel for LoopNest {
    /// Cost of a layer by itself: its inputs come from DRAM and its outputs go there.
    fn layer(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<LayerCost, Infeasible> {
        Ok(LayerReport::new(operator, accelerator)?.cost())
    }

    fn explain(
        &self,
        operator: &Operator,
        accelerator: &Accelerator,
    ) -> Result<Explanation, Infeasible> {
        Ok(LayerReport::new(operator, accelerator)?.explanation())
    }

    /// Cost of the layers in the context of their network: tensors stay in shared memory from layer
    /// to layer where they fit.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        let layers = for_each_layer(network, accelerator, None, |layer| layer.cost())?;
        Ok(NetworkCost::of_layers(layers, accelerator))
    }

    fn networks(
        &self,
        network: &Network,
        accelerators: &[Accelerator],
    ) -> Vec<Result<NetworkCost, Infeasible>> {
        networks(network, accelerators)
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        for_each_layer(network, accelerator, None, LayerReport::explanation)
    }

    fn local_buffers(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Option<LocalBuffers>, Infeasible> {
        local_buffers(network, accelerator, None).map(Some)
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
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let (machine, chooser) = (Machine::of(accelerator), chooser.as_deref());
    let mut prepared = PreparedOperator::new(operator, accelerator, &machine, chooser)?;
    Ok(prepared.report(&MemoryContext::default(), chooser))
}

/// Shared memory as a layer finds it: which of its tensors are resident, and how much other tensors
/// occupy (section 6.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct MemoryContext {
    /// Whether each tensor is resident; the weight of a matrix product is its second operand.
    resident: PerTensor<bool>,
    /// Number of sources that the layer reads.
    n_sources: u32,
    /// Number of these that are resident.
    n_resident_sources: u32,
    /// Bytes that other layers keep there meanwhile.
    reserved: u64,
}

impl MemoryContext {
    /// The context of `operator`, which has `n_sources`, in a plan. An operand with several sources
    /// is resident only if all of them are; otherwise DRAM supplies it whole.
    fn new(operator: &Operator, n_sources: usize, plan: &Residency) -> Self {
        let n_resident = (0..n_sources).filter(|&source| plan.source(source)).count();
        let all = n_sources > 0 && n_resident == n_sources;
        let PerOperand { input, weight } = match operator {
            Operator::Matmul(MatmulShape { activations: true, .. }) if n_sources > 1 => {
                PerOperand {
                    input: plan.source(0),
                    weight: (1..n_sources).all(|source| plan.source(source)),
                }
            }
            Operator::Matmul(MatmulShape { activations, .. }) => {
                PerOperand { input: all, weight: all && *activations }
            }
            _ => PerOperand { input: all, weight: false },
        };
        Self {
            resident: PerTensor { input, weight, output: plan.output },
            n_sources: n_sources as u32,
            n_resident_sources: n_resident as u32,
            reserved: plan.reserved,
        }
    }

    /// Share of the inputs of an operator without MACs that DRAM supplies, from 0 to 1. All sources
    /// weigh the same, whatever their size.
    fn dram_share(&self) -> f64 {
        match self.n_sources {
            0 => 1.0,
            n_sources => 1.0 - f64::from(self.n_resident_sources) / f64::from(n_sources),
        }
    }
}

/// An operator on an accelerator, with everything that does not depend on its context.
struct PreparedOperator<'a> {
    accelerator: &'a Accelerator,
    machine: Machine,
    nests: Vec<PreparedNest>,
    vector: Option<VectorShape>,
}

/// One loop nest of an operator, mapped and walked.
struct PreparedNest {
    /// Loop nest as it is lowered, if the accelerator or the dataflow has choices for it.
    written: Option<Nest>,
    nest: Nest,
    mapping: Mapping,
    walk: Walk,
}

impl PreparedNest {
    /// A loop nest under the directives of a dataflow.
    fn listed(
        nest: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let listed = Listed::new(&accelerator.dataflow, nest, machine)?;
        let written = listed.of_layer.then(|| nest.clone());
        let mapping = Mapping::new(listed.directives, &listed.nest, machine).map_err(illegal)?;
        let nest = listed.nest.into_owned();
        let walk = Walk::new(&nest, &mapping, machine).map_err(illegal)?;
        let prepared = Self { written, nest, mapping, walk };
        fits_buffers(&prepared, &accelerator.memory)?;
        fits_shared_memory(&prepared, machine, accelerator)?;
        Ok(prepared)
    }

    /// The loop nest `written` as `chooser` maps it on `machine`; `None` if no mapping runs.
    fn chosen(written: &Nest, machine: &Machine, chooser: &dyn ChooseLayer) -> Option<Self> {
        let Choice { nest, mapping } = chooser.choose(written, machine)?;
        let walk = Walk::new(&nest, &mapping, machine).ok()?;
        Some(Self { written: Some(written.clone()), nest, mapping, walk })
    }
}

impl<'a> PreparedOperator<'a> {
    fn new(
        operator: &Operator,
        accelerator: &'a Accelerator,
        machine: &Machine,
        chooser: Option<&dyn ChooseLayer>,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        // With choices, the directives still plan the shared memory of the network, where they can.
        let prepare = |nest: Nest| {
            let Some(chooser) = chooser else {
                return PreparedNest::listed(&nest, accelerator, machine);
            };
            match PreparedNest::listed(&nest, accelerator, machine) {
                Ok(listed) => Ok(PreparedNest { written: Some(nest), ..listed }),
                Err(reason) => PreparedNest::chosen(&nest, machine, chooser).ok_or(reason),
            }
        };
        let nests = lower::lower(operator).map_err(illegal)?;
        let nests = nests.into_iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
        let vector = match operator {
            Operator::Vector(shape) => Some(*shape),
            _ => None,
        };
        Ok(Self { accelerator, machine: machine.clone(), nests, vector })
    }

    /// Shared memory that the operator needs.
    fn need(&mut self, operator: &Operator) -> SharedMemoryNeed {
        let widths = self.machine.widths;
        let stored = widths.output.bytes(operator.outputs());
        if let Some(shape) = self.vector {
            let input = widths.input.bytes(shape.inputs);
            let operands = PerOperand { input, weight: input };
            return SharedMemoryNeed { least: 0, operands, computed: stored, stored };
        }
        self.machine.resident = PerTensor::splat(false);
        self.machine.shared_bytes = Some(0);
        let has_two_activations =
            matches!(operator, Operator::Matmul(MatmulShape { activations: true, .. }));
        let mut need = SharedMemoryNeed { stored, ..SharedMemoryNeed::default() };
        for PreparedNest { nest, mapping, .. } in &self.nests {
            let extents = nest.extents();
            let second =
                if has_two_activations { widths.weight.bytes(weights(extents)) } else { 0 };
            let first = widths.input.bytes(nest.inputs(extents));
            let least = match mapping.off_chip() {
                Some(level) => off_chip::shared_bytes(nest, level, &self.machine),
                None => dram::plan(nest, mapping, &self.machine).shared_bytes,
            };
            need.least = need.least.max(least);
            need.operands.input = need.operands.input.max(first);
            need.operands.weight = need.operands.weight.max(second);
            need.computed += widths.partial_sum.bytes(outputs(extents));
        }
        need
    }

    fn report(
        &mut self,
        context: &MemoryContext,
        chooser: Option<&dyn ChooseLayer>,
    ) -> LayerReport {
        match self.vector {
            Some(shape) => {
                let share = context.dram_share();
                let resident = PerTensor { input: share == 0.0, weight: false, ..context.resident };
                vector::report(&shape, self.accelerator, &self.machine, share, resident)
            }
            None => {
                self.set_context(context, chooser);
                self.report_nests(context)
            }
        }
    }

    /// Sets the shared memory as the layer finds it, and chooses mappings for it.
    fn set_context(&mut self, context: &MemoryContext, chooser: Option<&dyn ChooseLayer>) {
        let capacity = self.accelerator.memory.shared.get();
        self.machine.resident = context.resident;
        self.machine.shared_bytes = Some(capacity.saturating_sub(context.reserved));
        for prepared in &mut self.nests {
            let Some(written) = &prepared.written else { continue };
            let chosen = match chooser {
                Some(chooser) => PreparedNest::chosen(written, &self.machine, chooser),
                None => PreparedNest::listed(written, self.accelerator, &self.machine).ok(),
            };
            if let Some(chosen) = chosen {
                *prepared = chosen;
            }
        }
    }

    fn report_nests(&mut self, context: &MemoryContext) -> LayerReport {
        let Machine { pes, rate, .. } = self.machine;
        let evaluations =
            self.nests.iter().map(|it| it.walk.with_memory(&it.nest, &it.mapping, &self.machine));
        let mut report = LayerReport::empty(context.resident);
        let mut longest = 0;
        for evaluation in evaluations {
            report.add(&evaluation, &self.machine.widths);
            if evaluation.cycles > longest {
                (longest, report.bound) = (evaluation.cycles, evaluation.bound);
            }
        }
        let peak = report.cycles as f64 * f64::from(pes) * f64::from(rate.max(1));
        report.utilisation = if peak > 0.0 { report.macs as f64 / peak } else { 0.0 };
        report
    }
}

/// Checks that two of the largest tiles of every tensor fit into the buffer of a unit on every level
/// (section 4.10).
fn fits_buffers(nest: &PreparedNest, memory: &Memory) -> Result<(), Infeasible> {
    let counts = nest.walk.levels(&nest.mapping);
    for (index, needed) in counts.iter().map(|level| level.unit_bytes).enumerate() {
        let level = (index + 1 < counts.len()).then_some(index);
        let buffer = match level {
            Some(level) => memory.cluster(level),
            None => Some(memory.scratchpad),
        };
        if let Some(available) = buffer.map(Bytes::get).filter(|&bytes| needed > bytes) {
            return Err(Infeasible::TileTooLarge { level, needed, available });
        }
    }
    Ok(())
}

/// Checks that the box of the off-chip level fits into the shared memory while no tensor is resident (section
/// 6.7).
fn fits_shared_memory(
    nest: &PreparedNest,
    machine: &Machine,
    accelerator: &Accelerator,
) -> Result<(), Infeasible> {
    let Some(level) = nest.mapping.off_chip() else {
        return Ok(());
    };
    let needed = off_chip::shared_bytes(&nest.nest, level, machine);
    let available = accelerator.memory.shared.get();
    if needed <= available {
        return Ok(());
    }
    Err(Infeasible::BoxTooLarge { needed, available })
}

/// A network on an accelerator: every operator prepared, and residency planned.
struct PreparedNetwork<'a> {
    network: &'a Network,
    operators: Vec<PreparedOperator<'a>>,
    /// Shared memory that each layer needs.
    needs: Vec<SharedMemoryNeed>,
    plans: Vec<Residency>,
}

impl<'a> PreparedNetwork<'a> {
    fn new(
        network: &'a Network,
        accelerator: &'a Accelerator,
        chooser: Option<&dyn ChooseLayer>,
    ) -> Result<Self, Infeasible> {
        let machine = Machine::of(accelerator);
        let prepare = |operator| PreparedOperator::new(operator, accelerator, &machine, chooser);
        let mut operators: Vec<_> =
            network.operators().iter().map(prepare).collect::<Result<_, _>>()?;
        let needs: Vec<_> = operators
            .iter_mut()
            .zip(network.operators())
            .map(|(prepared, operator)| prepared.need(operator))
            .collect();
        let needs: Vec<_> = network.operator_of().iter().map(|&at| needs[at as usize]).collect();
        let plans = residency::plan(network, &needs, accelerator.memory.shared.get());
        Ok(Self { network, operators, needs, plans })
    }

    /// Puts the network on an accelerator that differs from the current one in its shared memory and its DRAM
    /// bandwidth only, so that mappings and walks stay.
    fn move_to(&mut self, accelerator: &'a Accelerator) {
        let machine = Machine::of(accelerator);
        for operator in &mut self.operators {
            operator.accelerator = accelerator;
            operator.machine.clone_from(&machine);
        }
        self.plans = residency::plan(self.network, &self.needs, accelerator.memory.shared.get());
    }

    /// Whether some mapping has loops above the shared memory, whose legality depends on its size.
    fn has_off_chip_loops(&self) -> bool {
        let mut nests = self.operators.iter().flat_map(|operator| &operator.nests);
        nests.any(|nest| nest.mapping.off_chip().is_some())
    }

    /// `extract` of the report of every layer, in execution order. Layers with equal operator and context
    /// are evaluated once.
    fn each_layer<T: Clone>(
        &mut self,
        chooser: Option<&dyn ChooseLayer>,
        extract: impl Fn(&LayerReport) -> T,
    ) -> Vec<T> {
        let mut known = HashMap::new();
        let network = self.network;
        let evaluate = |index: usize| {
            let at = network.operator_of()[index];
            let (operator, context) = self.layer(index);
            let report = || extract(&operator.report(&context, chooser));
            known.entry((at, context)).or_insert_with(report).clone()
        };
        (0..network.layers().len()).map(evaluate).collect()
    }

    /// The prepared operator of a layer, and the context of the layer.
    fn layer(&mut self, index: usize) -> (&mut PreparedOperator<'a>, MemoryContext) {
        let Layer { operator, sources, .. } = &self.network.layers()[index];
        let context = MemoryContext::new(operator, sources.len(), &self.plans[index]);
        (&mut self.operators[self.network.operator_of()[index] as usize], context)
    }
}

impl PreparedNetwork<'_> {
    /// The loop nests of a layer in its context.
    fn nests(&mut self, layer: usize, chooser: Option<&dyn ChooseLayer>) -> Vec<NestReport> {
        let (operator, context) = self.layer(layer);
        operator.set_context(&context, chooser);
        let machine = &operator.machine;
        let report = |it: &PreparedNest| NestReport {
            written: it.written.clone().unwrap_or_else(|| it.nest.clone()),
            nest: it.nest.clone(),
            mapping: it.mapping,
            machine: machine.clone(),
            evaluation: it.walk.with_memory(&it.nest, &it.mapping, machine),
        };
        operator.nests.iter().map(report).collect()
    }
}

/// `extract` of the report of every layer, in execution order. Layers with equal operator and
/// context are evaluated once.
fn for_each_layer<T: Clone>(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
    extract: impl Fn(&LayerReport) -> T,
) -> Result<Vec<T>, Infeasible> {
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let chooser = chooser.as_deref();
    Ok(PreparedNetwork::new(network, accelerator, chooser)?.each_layer(chooser, extract))
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
                    let layers = prepared.each_layer(None, |layer| layer.cost());
                    Ok(NetworkCost::of_layers(layers, accelerator))
                }));
            }
            _ => costs.extend(alike.iter().map(|it| {
                let layers = for_each_layer(network, it, None, |layer| layer.cost())?;
                Ok(NetworkCost::of_layers(layers, it))
            })),
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
/// the declared buffers have no effect.
fn local_buffers(
    network: &Network,
    accelerator: &Accelerator,
    rule: Option<&dyn Choose>,
) -> Result<LocalBuffers, Infeasible> {
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let chooser = chooser.as_deref();
    let unlimited = accelerator.with_unlimited_buffers();
    let accelerator = if chooser.is_some() { accelerator } else { &unlimited };
    let mut prepared = PreparedNetwork::new(network, accelerator, chooser)?;
    let (mut buffers, mut seen) = (LocalBuffers::default(), HashSet::new());
    for index in 0..network.layers().len() {
        let (operator, context) = prepared.layer(index);
        if seen.insert((network.operator_of()[index], context)) {
            operator.set_context(&context, chooser);
            for PreparedNest { mapping, walk, .. } in &operator.nests {
                buffers.hold(walk.levels(mapping).iter().map(|level| level.unit_bytes));
            }
        }
    }
    Ok(buffers)
}

/// One loop nest of a layer with its mapping, machine and evaluation.
#[derive(Debug, Clone)]
pub struct NestReport {
    /// Loop nest as the layer is written.
    pub written: Nest,
    /// Loop nest of the form in which it is computed.
    pub nest: Nest,
    /// Mapping of the form.
    pub mapping: Mapping,
    /// Machine model, with the tensors that are resident.
    pub machine: Machine,
    /// Counts, cycles and energy.
    pub evaluation: Evaluation,
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
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let chooser = chooser.as_deref();
    let mut prepared = PreparedNetwork::new(network, accelerator, chooser)?;
    Ok(prepared.nests(layer, chooser))
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
    let chooser = rule.and_then(|rule| rule.on(accelerator));
    let chooser = chooser.as_deref();
    let mut prepared = PreparedNetwork::new(network, accelerator, chooser)?;
    Ok((0..network.layers().len()).map(|layer| prepared.nests(layer, chooser)).collect())
}

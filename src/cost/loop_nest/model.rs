//! The cost model of layers and networks: operators are lowered to loop nests, which run one after
//! another, and tensors stay in shared memory from layer to layer where they fit
//! (docs/cost-model-loop-nest.md, section 6.6).

use std::collections::HashMap;

use crate::hardware::{Accelerator, Widths};
use crate::model::{
    Layer, MatmulShape, Network, Operator, PerOperand, PerTensor, TensorRole, VectorShape,
};

use super::super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost, Quantity};
use super::nest::{outputs, weights};
use super::residency::{self, Residency, SharedMemoryNeed};
use super::{
    DramTraffic, EnergyPj, Evaluation, Illegal, LayerBound, LevelCounts, Machine, Mapping, Nest,
    Walk, dram, lower, vector,
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
        let layers = for_each_layer(network, accelerator, |layer| layer.cost())?;
        Ok(NetworkCost::of_layers(layers, accelerator))
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        for_each_layer(network, accelerator, LayerReport::explanation)
    }
}

/// Counts, times and energy of one layer, summed over its loop nests.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerReport {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Cycles of the PEs or vector lanes if all transfers took no time.
    pub compute_cycles: u64,
    /// Cycles of the PEs and all NoC levels, without DRAM.
    pub chip_cycles: u64,
    /// Cycles of DRAM, which overlap with those of the chip.
    pub dram_cycles: u64,
    /// Executed MACs.
    pub macs: u64,
    /// Executed MACs divided by those that all PEs could execute in the latency, from 0 to 1.
    pub utilisation: f64,
    /// Limiting resource; that of the longest loop nest if there are several.
    pub bound: LayerBound,
    /// Counts of every level, outermost first; empty for operators without MACs.
    pub levels: Vec<LevelCounts>,
    /// Traffic of DRAM.
    pub dram: DramTraffic,
    /// Bytes on the outermost NoC level: sent by the shared memory to the units, and partial sums
    /// that arrive there. For operators without MACs: bytes read from and written to shared memory.
    pub noc_bytes: u64,
    /// Shared memory in use, the largest of the loop nests \[byte\].
    pub shared_bytes: u64,
    /// Whether that fits.
    pub shared_fits: bool,
    /// Whether each tensor stays in shared memory before or after the layer.
    pub resident: PerTensor<bool>,
    /// Energy by component.
    pub energy: EnergyPj,
}

impl LayerReport {
    /// Report of a layer by itself.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] if the dataflow does not compute the layer exactly once, a tile does not fit
    /// into the scratchpad of a PE, or counts exceed 64 bits.
    pub fn new(operator: &Operator, accelerator: &Accelerator) -> Result<Self, Infeasible> {
        let mut prepared = PreparedOperator::new(operator, accelerator, &Machine::of(accelerator))?;
        Ok(prepared.report(&MemoryContext::default()))
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
        for_each_layer(network, accelerator, Self::clone)
    }

    /// Latency, energy and traffic.
    pub fn cost(&self) -> LayerCost {
        LayerCost {
            cycles: self.cycles,
            energy_nj: self.energy.total() / 1e3,
            dram_bytes: self.dram.total_bytes(),
            noc_bytes: self.noc_bytes,
            hidden_cycles: self.chip_cycles + self.dram_cycles - self.cycles,
        }
    }

    /// Every field as a column. Lists have an entry for each level, outermost first, joined by `;`.
    fn explanation(&self) -> Explanation {
        let count = |count: u64| Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX));
        let list = |of: &dyn Fn(&LevelCounts) -> u64| {
            let values: Vec<_> = self.levels.iter().map(|level| of(level).to_string()).collect();
            Quantity::Text(values.join(";"))
        };
        let mut columns = self.cost().explanation();
        columns.extend([
            ("macs", count(self.macs)),
            ("utilisation", Quantity::Real(self.utilisation)),
            ("bound", Quantity::Text(self.bound.to_string())),
            ("compute_cycles", count(self.compute_cycles)),
            ("chip_cycles", count(self.chip_cycles)),
            ("dram_cycles", count(self.dram_cycles)),
            ("resident", Quantity::Text(self.resident_letters())),
            ("shared_bytes", count(self.shared_bytes)),
            ("shared_fits", Quantity::Count(self.shared_fits.into())),
            ("dram_rd_i_bytes", count(self.dram.inputs_read)),
            ("dram_rd_w_bytes", count(self.dram.weights_read)),
            ("dram_rd_psum_bytes", count(self.dram.partial_sums_read)),
            ("dram_wr_o_bytes", count(self.dram.outputs_written)),
            ("send_i", list(&|level| level.sent.input)),
            ("send_w", list(&|level| level.sent.weight)),
            ("deliver_i", list(&|level| level.delivered.input)),
            ("deliver_w", list(&|level| level.delivered.weight)),
            ("forward_i", list(&|level| level.forwarded.input)),
            ("forward_w", list(&|level| level.forwarded.weight)),
            ("arrive", list(&|level| level.arrived)),
            ("leave", list(&|level| level.left)),
            ("accum", list(&|level| level.accumulated)),
            ("steps", list(&|level| level.steps)),
            ("active", list(&|level| level.active)),
            ("unit_bytes", list(&|level| level.unit_bytes)),
        ]);
        let energies = self.energy.components();
        columns.extend(energies.map(|(name, energy)| (name, Quantity::Real(energy))));
        columns
    }

    /// Letters of the tensors that stay in shared memory, e.g. `i;o`.
    fn resident_letters(&self) -> String {
        let letters = PerTensor { input: "i", weight: "w", output: "o" };
        let resident = TensorRole::ALL.into_iter().filter(|&tensor| self.resident[tensor]);
        resident.map(|tensor| letters[tensor]).collect::<Vec<_>>().join(";")
    }
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
    nest: Nest,
    mapping: Mapping,
    walk: Walk,
}

impl<'a> PreparedOperator<'a> {
    fn new(
        operator: &Operator,
        accelerator: &'a Accelerator,
        machine: &Machine,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let prepare = |nest: Nest| {
            let mapping = Mapping::new(accelerator.dataflow.levels(), &nest, machine)?;
            let walk = Walk::new(&nest, &mapping, machine)?;
            Ok(PreparedNest { nest, mapping, walk })
        };
        let nests = lower::lower(operator).map_err(illegal)?;
        let nests: Vec<_> =
            nests.into_iter().map(prepare).collect::<Result<_, _>>().map_err(illegal)?;
        for nest in &nests {
            fits_scratchpad(nest, accelerator)?;
        }
        let vector = match operator {
            Operator::Vector(shape) => Some(*shape),
            _ => None,
        };
        Ok(Self { accelerator, machine: machine.clone(), nests, vector })
    }

    /// Shared memory that the operator needs.
    fn need(&mut self, operator: &Operator) -> SharedMemoryNeed {
        let widths = self.machine.widths;
        let stored = operator.outputs() * u64::from(widths.output);
        if let Some(shape) = self.vector {
            let input = shape.inputs * u64::from(widths.input);
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
                if has_two_activations { weights(extents) * u64::from(widths.weight) } else { 0 };
            let first = nest.inputs(extents) * u64::from(widths.input);
            need.least = need.least.max(dram::plan(nest, mapping, &self.machine).shared_bytes);
            need.operands.input = need.operands.input.max(first);
            need.operands.weight = need.operands.weight.max(second);
            need.computed += outputs(extents) * u64::from(widths.partial_sum);
        }
        need
    }

    fn report(&mut self, context: &MemoryContext) -> LayerReport {
        match self.vector {
            Some(shape) => self.report_vector(&shape, context),
            None => self.report_nests(context),
        }
    }

    fn set_context(&mut self, context: &MemoryContext) {
        let capacity = self.accelerator.memory.shared.get();
        self.machine.resident = context.resident;
        self.machine.shared_bytes = Some(capacity.saturating_sub(context.reserved));
    }

    fn report_nests(&mut self, context: &MemoryContext) -> LayerReport {
        self.set_context(context);
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

    fn report_vector(&self, shape: &VectorShape, context: &MemoryContext) -> LayerReport {
        let output = context.resident.output;
        let share = context.dram_share();
        let cost = vector::evaluate(shape, self.accelerator, &self.machine, share, !output);
        LayerReport {
            cycles: cost.cycles,
            compute_cycles: cost.compute_cycles,
            chip_cycles: cost.compute_cycles.max(cost.shared_cycles),
            dram_cycles: cost.dram_cycles,
            macs: Operator::Vector(*shape).macs(),
            bound: cost.bound,
            dram: cost.dram,
            noc_bytes: cost.shared_bytes,
            energy: cost.energy,
            ..LayerReport::empty(PerTensor { input: share == 0.0, weight: false, output })
        }
    }
}

impl LayerReport {
    fn empty(resident: PerTensor<bool>) -> Self {
        Self {
            cycles: 0,
            compute_cycles: 0,
            chip_cycles: 0,
            dram_cycles: 0,
            macs: 0,
            utilisation: 0.0,
            bound: LayerBound::Compute,
            levels: Vec::new(),
            dram: DramTraffic::default(),
            noc_bytes: 0,
            shared_bytes: 0,
            shared_fits: true,
            resident,
            energy: EnergyPj::default(),
        }
    }

    /// Adds a loop nest that runs after those added before.
    fn add(&mut self, evaluation: &Evaluation, widths: &Widths) {
        let memory = &evaluation.memory;
        self.cycles += evaluation.cycles;
        self.compute_cycles += evaluation.compute_cycles;
        self.chip_cycles += evaluation.chip_cycles;
        self.dram_cycles += evaluation.dram_cycles;
        self.macs += evaluation.macs_executed;
        self.shared_bytes = self.shared_bytes.max(memory.shared_bytes);
        self.shared_fits &= memory.fits;
        self.dram += memory.dram;
        self.noc_bytes += evaluation.levels()[0].bytes(widths);
        self.energy = self.energy.plus(&evaluation.energy);
        if self.levels.is_empty() {
            self.levels = evaluation.levels().to_vec();
        } else {
            self.levels.iter_mut().zip(evaluation.levels()).for_each(|(sum, it)| sum.add(it));
        }
    }
}

impl LevelCounts {
    /// Bytes on the NoC level; a multicast element counts once.
    fn bytes(&self, widths: &Widths) -> u64 {
        self.sent.input * u64::from(widths.input)
            + self.sent.weight * u64::from(widths.weight)
            + self.arrived * u64::from(widths.partial_sum)
    }

    /// Adds the counts of a loop nest that runs after those added before. Buffers are reused, so
    /// that the largest requirement counts.
    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.forwarded += other.forwarded;
        self.arrived += other.arrived;
        self.left += other.left;
        self.accumulated += other.accumulated;
        self.steps += other.steps;
        self.active += other.active;
        self.unit_bytes = self.unit_bytes.max(other.unit_bytes);
    }
}

impl EnergyPj {
    /// Components with the names of their columns \[pJ\].
    pub fn components(&self) -> [(&'static str, f64); 8] {
        [
            ("energy_mac_pJ", self.mac),
            ("energy_reg_pJ", self.register),
            ("energy_scratchpad_pJ", self.scratchpad),
            ("energy_cluster_pJ", self.cluster),
            ("energy_shared_pJ", self.shared),
            ("energy_noc_pJ", self.noc),
            ("energy_dram_pJ", self.dram),
            ("energy_leak_pJ", self.leakage),
        ]
    }

    /// Sum, component by component.
    fn plus(&self, other: &Self) -> Self {
        Self {
            mac: self.mac + other.mac,
            register: self.register + other.register,
            scratchpad: self.scratchpad + other.scratchpad,
            cluster: self.cluster + other.cluster,
            shared: self.shared + other.shared,
            noc: self.noc + other.noc,
            dram: self.dram + other.dram,
            leakage: self.leakage + other.leakage,
        }
    }
}

/// Checks that two of the largest tiles of every tensor fit into the scratchpad of a PE (section
/// 4.10).
fn fits_scratchpad(nest: &PreparedNest, accelerator: &Accelerator) -> Result<(), Infeasible> {
    let needed = nest.walk.pe_bytes(&nest.mapping);
    let available = accelerator.memory.scratchpad.get();
    if needed <= available {
        return Ok(());
    }
    Err(Infeasible::TileTooLarge { needed, available })
}

/// A network on an accelerator: every operator prepared, and residency planned.
struct PreparedNetwork<'a> {
    network: &'a Network,
    operators: Vec<PreparedOperator<'a>>,
    plans: Vec<Residency>,
}

impl<'a> PreparedNetwork<'a> {
    fn new(network: &'a Network, accelerator: &'a Accelerator) -> Result<Self, Infeasible> {
        let machine = Machine::of(accelerator);
        let prepare = |operator| PreparedOperator::new(operator, accelerator, &machine);
        let mut operators: Vec<_> =
            network.operators().iter().map(prepare).collect::<Result<_, _>>()?;
        let needs: Vec<_> = operators
            .iter_mut()
            .zip(network.operators())
            .map(|(prepared, operator)| prepared.need(operator))
            .collect();
        let needs: Vec<_> = network.operator_of().iter().map(|&at| needs[at as usize]).collect();
        let plans = residency::plan(network, &needs, accelerator.memory.shared.get());
        Ok(Self { network, operators, plans })
    }

    /// The prepared operator of a layer, and the context of the layer.
    fn layer(&mut self, index: usize) -> (&mut PreparedOperator<'a>, MemoryContext) {
        let Layer { operator, sources, .. } = &self.network.layers()[index];
        let context = MemoryContext::new(operator, sources.len(), &self.plans[index]);
        (&mut self.operators[self.network.operator_of()[index] as usize], context)
    }
}

/// `extract` of the report of every layer, in execution order. Layers with equal operator and
/// context are evaluated once.
fn for_each_layer<T: Clone>(
    network: &Network,
    accelerator: &Accelerator,
    extract: impl Fn(&LayerReport) -> T,
) -> Result<Vec<T>, Infeasible> {
    let mut prepared = PreparedNetwork::new(network, accelerator)?;
    let mut known = HashMap::new();
    let evaluate = |index: usize| {
        let (operator, context) = prepared.layer(index);
        let key = (network.operator_of()[index], context);
        known.entry(key).or_insert_with(|| extract(&operator.report(&context))).clone()
    };
    Ok((0..network.layers().len()).map(evaluate).collect())
}

/// One loop nest of a layer with its mapping, machine and evaluation.
#[derive(Debug, Clone)]
pub struct NestReport {
    /// Loop nest.
    pub nest: Nest,
    /// Mapping.
    pub mapping: Mapping,
    /// Machine model, with the tensors that are resident.
    pub machine: Machine,
    /// Counts, cycles and energy.
    pub evaluation: Evaluation,
}

/// The loop nests of layer number `layer` of a network, in the context of the network; empty for an
/// operator without MACs.
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
) -> Result<Vec<NestReport>, Infeasible> {
    let mut prepared = PreparedNetwork::new(network, accelerator)?;
    let (operator, context) = prepared.layer(layer);
    operator.set_context(&context);
    let machine = &operator.machine;
    let report = |it: &PreparedNest| NestReport {
        nest: it.nest.clone(),
        mapping: it.mapping,
        machine: machine.clone(),
        evaluation: it.walk.with_memory(&it.nest, &it.mapping, machine),
    };
    Ok(operator.nests.iter().map(report).collect())
}

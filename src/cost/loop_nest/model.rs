//! The cost model of layers and networks: operators lowered onto the core, one after another, with
//! what stays in the L2 between them.

use std::collections::HashMap;

use crate::hardware::{Accelerator, Widths};
use crate::model::{Layer, MatmulShape, Network, Operator, VectorShape};

use super::super::{CostModel, Entry, Explanation, Infeasible, LayerCost, NetworkCost, Quantity};
use super::nest::{outputs, weights};
use super::residency::{Need, Residency, plan};
use super::{
    Bound, Chip, EnergyPj, Evaluation, Illegal, LevelCounts, Machine, Mapping, Nest, dram, lower,
    vector,
};

/// Registry entry.
pub(in crate::cost) const ENTRY: Entry = Entry {
    name: "loop-nest",
    help: "exact counts and cycles of a walk over nested tiles; L2, DRAM and energy by component",
    source: "the semantics in src/cost/loop_nest, checked against enumeration and Eyeriss",
    build: Some(|| Box::new(LoopNest)),
};

/// The loop-nest cost model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoopNest;

impl CostModel for LoopNest {
    /// A layer by itself: DRAM brings its inputs and takes its outputs.
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

    /// Layers in the places that they have in the network: what fits stays in the L2 from layer to
    /// layer.
    fn network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        let layers = in_place(network, accelerator, |layer| layer.cost())?;
        Ok(NetworkCost::of_layers(layers, accelerator))
    }

    fn explain_network(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Explanation>, Infeasible> {
        in_place(network, accelerator, LayerReport::explanation)
    }
}

/// What the model says of one layer, all its loop nests together.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerReport {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Cycles of the PEs or vector lanes if nothing had to be moved.
    pub compute_cycles: u64,
    /// Cycles with the networks, but not DRAM.
    pub chip_cycles: u64,
    /// Cycles of DRAM, which overlap with those of the chip.
    pub dram_cycles: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Multiply-accumulates over those of all PEs in the latency.
    pub utilisation: f64,
    /// What bounds it; of several loop nests the longest.
    pub bound: Bound,
    /// Counts of every level, outermost first; empty for operators without multiply-accumulates.
    pub levels: Vec<LevelCounts>,
    /// Inputs, weights and partial sums read from DRAM, and outputs written to it \[byte\].
    pub dram_bytes: [u64; 4],
    /// Sent by the L2 to the units of the outermost level, and partial sums that arrive there; of
    /// operators without multiply-accumulates what is read and written there \[byte\].
    pub noc_bytes: u64,
    /// What the L2 holds of the layer at once \[byte\].
    pub l2_bytes: u64,
    /// Whether that fits.
    pub l2_fits: bool,
    /// Whether inputs, weights (or the second operand) and outputs stay in the L2.
    pub resident: [bool; 3],
    /// Energy by component.
    pub energy: EnergyPj,
}

impl LayerReport {
    /// A layer by itself.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] where it cannot run.
    pub fn new(operator: &Operator, accelerator: &Accelerator) -> Result<Self, Infeasible> {
        let mut chip = OnChip::new(operator, accelerator, &Machine::of(accelerator))?;
        Ok(chip.report(&Place::default()))
    }

    /// Layers of a network in their places, in execution order.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] of the first layer that cannot run.
    pub fn of_network(
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Vec<Self>, Infeasible> {
        in_place(network, accelerator, Self::clone)
    }

    /// Latency, energy and traffic.
    pub fn cost(&self) -> LayerCost {
        LayerCost {
            cycles: self.cycles,
            energy_nj: self.energy.total() / 1e3,
            dram_bytes: self.dram_bytes.iter().sum(),
            noc_bytes: self.noc_bytes,
            hidden_cycles: self.chip_cycles + self.dram_cycles - self.cycles,
        }
    }

    /// All of it as columns.
    fn explanation(&self) -> Explanation {
        let count = |count: u64| Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX));
        let list = |of: &dyn Fn(&LevelCounts) -> u64| {
            let values: Vec<_> = self.levels.iter().map(|level| of(level).to_string()).collect();
            Quantity::Text(values.join(";"))
        };
        let [read_i, read_w, read_sums, written] = self.dram_bytes;
        let mut columns = self.cost().explanation();
        columns.extend([
            ("macs", count(self.macs)),
            ("utilisation", Quantity::Real(self.utilisation)),
            ("bound", Quantity::Text(self.bound.to_string())),
            ("compute_cycles", count(self.compute_cycles)),
            ("chip_cycles", count(self.chip_cycles)),
            ("dram_cycles", count(self.dram_cycles)),
            ("resident", Quantity::Text(self.residents())),
            ("l2_bytes", count(self.l2_bytes)),
            ("l2_fits", Quantity::Count(self.l2_fits.into())),
            ("dram_rd_i_bytes", count(read_i)),
            ("dram_rd_w_bytes", count(read_w)),
            ("dram_rd_psum_bytes", count(read_sums)),
            ("dram_wr_o_bytes", count(written)),
            ("send_i", list(&|level| level.sent[0])),
            ("send_w", list(&|level| level.sent[1])),
            ("deliver_i", list(&|level| level.delivered[0])),
            ("deliver_w", list(&|level| level.delivered[1])),
            ("forward_i", list(&|level| level.forwarded[0])),
            ("forward_w", list(&|level| level.forwarded[1])),
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

    /// Tensors that stay in the L2, e.g. `i;o`.
    fn residents(&self) -> String {
        let names = ["i", "w", "o"].into_iter().zip(self.resident);
        let names: Vec<_> = names.filter(|(_, stays)| *stays).map(|(name, _)| name).collect();
        names.join(";")
    }
}

/// Where a layer stands: what the L2 keeps of it and for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Place {
    /// Of inputs, second operand and outputs.
    resident: [bool; 3],
    /// Of the inputs of an operator without MACs: sources in the L2, and all.
    sources: [u32; 2],
    /// Kept for other layers \[byte\].
    reserved: u64,
}

impl Place {
    /// The place of `operator`, which has `n_sources`, in a plan. Of an operand with several sources
    /// all must stay, or else DRAM brings it.
    fn new(operator: &Operator, n_sources: usize, plan: &Residency) -> Self {
        let resident = (0..n_sources).filter(|&source| plan.source(source)).count();
        let all = n_sources > 0 && resident == n_sources;
        let [inputs, second] = match operator {
            Operator::Matmul(MatmulShape { activations: true, .. }) if n_sources > 1 => {
                [plan.source(0), (1..n_sources).all(|source| plan.source(source))]
            }
            Operator::Matmul(MatmulShape { activations, .. }) => [all, all && *activations],
            _ => [all, false],
        };
        Self {
            resident: [inputs, second, plan.output],
            sources: [resident, n_sources].map(|count| count as u32),
            reserved: plan.reserved,
        }
    }

    /// Share of the inputs of an operator without MACs that DRAM brings; sources count alike.
    fn dram_share(&self) -> f64 {
        let [resident, all] = self.sources.map(f64::from);
        if all == 0.0 { 1.0 } else { 1.0 - resident / all }
    }
}

/// An operator on an accelerator, with everything that does not depend on its place.
struct OnChip<'a> {
    accelerator: &'a Accelerator,
    machine: Machine,
    parts: Vec<Part>,
    vector: Option<VectorShape>,
}

/// One loop nest of it.
struct Part {
    nest: Nest,
    mapping: Mapping,
    chip: Chip,
}

impl<'a> OnChip<'a> {
    fn new(
        operator: &Operator,
        accelerator: &'a Accelerator,
        machine: &Machine,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let part = |nest: Nest| {
            let mapping = Mapping::new(accelerator.dataflow.levels(), &nest, machine)?;
            let chip = Chip::new(&nest, &mapping, machine)?;
            Ok(Part { nest, mapping, chip })
        };
        let nests = lower::lower(operator).map_err(illegal)?;
        let parts: Vec<_> =
            nests.into_iter().map(part).collect::<Result<_, _>>().map_err(illegal)?;
        for part in &parts {
            fits_scratchpad(&part.chip, &part.mapping, accelerator)?;
        }
        let vector = match operator {
            Operator::Vector(shape) => Some(*shape),
            _ => None,
        };
        Ok(Self { accelerator, machine: machine.clone(), parts, vector })
    }

    /// L2 that it needs.
    fn need(&mut self, operator: &Operator) -> Need {
        let widths = self.machine.widths;
        let stored = operator.outputs() * u64::from(widths.output);
        if let Some(shape) = self.vector {
            let inputs = [shape.inputs * u64::from(widths.input); 2];
            return Need { least: 0, inputs, output: stored, stored };
        }
        self.machine.resident = [false; 3];
        self.machine.l2_bytes = Some(0);
        let activations =
            matches!(operator, Operator::Matmul(MatmulShape { activations: true, .. }));
        let mut need = Need { stored, ..Need::default() };
        for Part { nest, mapping, .. } in &self.parts {
            let extents = nest.extents();
            let second = if activations { weights(extents) * u64::from(widths.weight) } else { 0 };
            let first = nest.inputs(extents) * u64::from(widths.input);
            let output = outputs(extents) * u64::from(widths.partial_sum);
            need.least = need.least.max(dram::dram(nest, mapping, &self.machine).l2_bytes);
            need.inputs = [need.inputs[0].max(first), need.inputs[1].max(second)];
            need.output += output;
        }
        need
    }

    fn report(&mut self, place: &Place) -> LayerReport {
        match self.vector {
            Some(shape) => self.report_vector(&shape, place),
            None => self.report_nests(place),
        }
    }

    fn set_place(&mut self, place: &Place) {
        let l2 = self.accelerator.memory.shared.get();
        self.machine.resident = place.resident;
        self.machine.l2_bytes = Some(l2.saturating_sub(place.reserved));
    }

    fn report_nests(&mut self, place: &Place) -> LayerReport {
        self.set_place(place);
        let Machine { pes, rate, .. } = self.machine;
        let evaluations = self
            .parts
            .iter()
            .map(|part| part.chip.with_memory(&part.nest, &part.mapping, &self.machine));
        let mut report = LayerReport::empty(place.resident);
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

    fn report_vector(&self, shape: &VectorShape, place: &Place) -> LayerReport {
        let [.., output] = place.resident;
        let cost =
            vector::evaluate(shape, self.accelerator, &self.machine, place.dram_share(), !output);
        LayerReport {
            cycles: cost.cycles,
            compute_cycles: cost.compute_cycles,
            chip_cycles: cost.compute_cycles.max(cost.l2_cycles),
            dram_cycles: cost.dram_cycles,
            macs: Operator::Vector(*shape).macs(),
            bound: cost.bound,
            dram_bytes: [cost.dram_bytes[0], 0, 0, cost.dram_bytes[1]],
            noc_bytes: cost.l2_bytes,
            energy: cost.energy,
            ..LayerReport::empty([place.dram_share() == 0.0, false, output])
        }
    }
}

impl LayerReport {
    fn empty(resident: [bool; 3]) -> Self {
        Self {
            cycles: 0,
            compute_cycles: 0,
            chip_cycles: 0,
            dram_cycles: 0,
            macs: 0,
            utilisation: 0.0,
            bound: Bound::Compute,
            levels: Vec::new(),
            dram_bytes: [0; 4],
            noc_bytes: 0,
            l2_bytes: 0,
            l2_fits: true,
            resident,
            energy: EnergyPj::default(),
        }
    }

    /// Adds a loop nest that runs after those before.
    fn add(&mut self, evaluation: &Evaluation, widths: &Widths) {
        let dram = &evaluation.dram;
        self.cycles += evaluation.cycles;
        self.compute_cycles += evaluation.compute_cycles;
        self.chip_cycles += evaluation.chip_cycles;
        self.dram_cycles += evaluation.dram_cycles;
        self.macs += evaluation.macs_executed;
        self.l2_bytes = self.l2_bytes.max(dram.l2_bytes);
        self.l2_fits &= dram.fits;
        let bytes =
            [dram.inputs_read, dram.weights_read, dram.partial_sums_read, dram.outputs_written];
        self.dram_bytes.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
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
    /// What crosses the network of the level, each element once however many units take it \[byte\].
    fn bytes(&self, widths: &Widths) -> u64 {
        self.sent[0] * u64::from(widths.input)
            + self.sent[1] * u64::from(widths.weight)
            + self.arrived * u64::from(widths.partial_sum)
    }

    /// Adds the counts of a loop nest that runs after those before; buffers are used again.
    fn add(&mut self, other: &Self) {
        for tensor in 0..2 {
            self.sent[tensor] += other.sent[tensor];
            self.delivered[tensor] += other.delivered[tensor];
            self.forwarded[tensor] += other.forwarded[tensor];
        }
        self.arrived += other.arrived;
        self.left += other.left;
        self.accumulated += other.accumulated;
        self.steps += other.steps;
        self.active += other.active;
        self.unit_bytes = self.unit_bytes.max(other.unit_bytes);
    }
}

impl EnergyPj {
    /// Components with their names in tables \[pJ\].
    pub fn components(&self) -> [(&'static str, f64); 8] {
        [
            ("energy_mac_pJ", self.mac),
            ("energy_reg_pJ", self.register),
            ("energy_l1_pJ", self.l1),
            ("energy_cluster_pJ", self.cluster),
            ("energy_l2_pJ", self.l2),
            ("energy_noc_pJ", self.network),
            ("energy_dram_pJ", self.dram),
            ("energy_leak_pJ", self.leakage),
        ]
    }

    /// Component by component.
    fn plus(&self, other: &Self) -> Self {
        Self {
            mac: self.mac + other.mac,
            register: self.register + other.register,
            l1: self.l1 + other.l1,
            cluster: self.cluster + other.cluster,
            l2: self.l2 + other.l2,
            network: self.network + other.network,
            dram: self.dram + other.dram,
            leakage: self.leakage + other.leakage,
        }
    }
}

/// Whether the largest boxes of a PE, two of each, fit into its scratchpad (4.10).
fn fits_scratchpad(
    chip: &Chip,
    mapping: &Mapping,
    accelerator: &Accelerator,
) -> Result<(), Infeasible> {
    let needed = chip.unit_bytes(mapping.levels().len() - 1);
    let available = accelerator.memory.local.get();
    if needed <= available {
        return Ok(());
    }
    Err(Infeasible::TileTooLarge { needed, available })
}

/// A network on an accelerator, every operator prepared and the L2 planned.
struct InNetwork<'a> {
    network: &'a Network,
    chips: Vec<OnChip<'a>>,
    plans: Vec<Residency>,
}

impl<'a> InNetwork<'a> {
    fn new(network: &'a Network, accelerator: &'a Accelerator) -> Result<Self, Infeasible> {
        let machine = Machine::of(accelerator);
        let on_chip = |operator| OnChip::new(operator, accelerator, &machine);
        let mut chips: Vec<_> =
            network.operators().iter().map(on_chip).collect::<Result<_, _>>()?;
        let needs: Vec<_> =
            chips.iter_mut().zip(network.operators()).map(|(chip, it)| chip.need(it)).collect();
        let needs: Vec<_> = network.operator_of().iter().map(|&at| needs[at as usize]).collect();
        let plans = plan(network, &needs, accelerator.memory.shared.get());
        Ok(Self { network, chips, plans })
    }

    /// The operator of a layer, and where the layer stands.
    fn at(&mut self, layer: usize) -> (&mut OnChip<'a>, Place) {
        let Layer { operator, sources, .. } = &self.network.layers()[layer];
        let place = Place::new(operator, sources.len(), &self.plans[layer]);
        (&mut self.chips[self.network.operator_of()[layer] as usize], place)
    }
}

/// `what` of every layer of a network, in execution order; layers of equal operator and place are
/// evaluated once.
fn in_place<T: Clone>(
    network: &Network,
    accelerator: &Accelerator,
    what: impl Fn(&LayerReport) -> T,
) -> Result<Vec<T>, Infeasible> {
    let mut placed = InNetwork::new(network, accelerator)?;
    let mut known = HashMap::new();
    let evaluate = |layer: usize| {
        let (chip, place) = placed.at(layer);
        let key = (network.operator_of()[layer], place);
        known.entry(key).or_insert_with(|| what(&chip.report(&place))).clone()
    };
    Ok((0..network.layers().len()).map(evaluate).collect())
}

/// One loop nest of a layer and everything that is known of it.
#[derive(Debug, Clone)]
pub struct NestReport {
    /// The loop nest.
    pub nest: Nest,
    /// Its levels.
    pub mapping: Mapping,
    /// The machine, with what is resident.
    pub machine: Machine,
    /// Counts, cycles and energy.
    pub evaluation: Evaluation,
}

/// The loop nests that layer number `layer` of a network is run as, in its place; none for an operator
/// without multiply-accumulates.
///
/// # Errors
///
/// [`Infeasible`] of the first layer that cannot run.
///
/// # Panics
///
/// If the network has no such layer.
pub fn nests_in_place(
    network: &Network,
    layer: usize,
    accelerator: &Accelerator,
) -> Result<Vec<NestReport>, Infeasible> {
    let mut placed = InNetwork::new(network, accelerator)?;
    let (chip, place) = placed.at(layer);
    chip.set_place(&place);
    let machine = &chip.machine;
    let report = |part: &Part| NestReport {
        nest: part.nest.clone(),
        mapping: part.mapping,
        machine: machine.clone(),
        evaluation: part.chip.with_memory(&part.nest, &part.mapping, machine),
    };
    Ok(chip.parts.iter().map(report).collect())
}

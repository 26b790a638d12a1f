//! Operators and networks on an accelerator, with everything that does not depend on the shared memory as a
//! layer finds it (docs/explanation/cost-model-loop-nest.md, section 6.6).

use std::cell::Cell;
use std::iter::successors;
use std::mem;
use std::sync::Arc;

use crate::hardware::{Accelerator, Widths};
use crate::model::{
    Bits, Layer, MatmulShape, Network, Operator, PerOperand, PerTensor, VectorShape,
};

use super::super::{Certainty, Infeasible};
use super::choose::{ChooseLayer, add_choice};
use super::fusion::{Groups, Role};
use super::nest::{outputs, weights};
use super::prepared_nest::PreparedNest;
use super::report::LayerReport;
use super::residency::{self, Residency, SharedMemoryNeed};
use super::rules::LayerRules;
use super::{Evaluation, Illegal, Machine, Mapping, Nest, Riders, lower, off_chip, shared, vector};
use crate::digest::FastDigest;

/// Shared memory as a layer finds it: which of its tensors are resident, and how much other tensors
/// occupy (section 6.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct MemoryContext {
    /// Whether each tensor is resident; the weight of a matrix product is its second operand.
    resident: PerTensor<bool>,
    /// Number of sources that the layer reads.
    n_sources: u32,
    /// Number of these that are resident.
    n_resident_sources: u32,
    /// Bytes that other layers keep there meanwhile.
    reserved: u64,
    /// Operators that ride along.
    riders: Option<Riders>,
    /// What moves because outputs have their places in concatenations.
    placed: Placed,
}

impl MemoryContext {
    /// The context of `operator`, which has `n_sources`, in a plan. An operand with several sources
    /// is resident only if all of them are; otherwise DRAM supplies it whole.
    fn new(
        operator: &Operator,
        n_sources: usize,
        plan: &Residency,
        riders: Option<Riders>,
        placed: Placed,
    ) -> Self {
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
            riders,
            placed,
        }
    }

    /// What an operator without MACs moves, and the share of its inputs that DRAM supplies.
    fn moved(&self, shape: VectorShape) -> (VectorShape, f64) {
        match self.placed.copies {
            None => (shape, self.dram_share()),
            Some(Copies { elements, from_dram }) => {
                let share = from_dram as f64 / elements.max(1) as f64;
                (VectorShape { inputs: elements, outputs: elements, ..shape }, share)
            }
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

/// What moves because outputs have their places in concatenations (section 6.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Placed {
    /// Parts of a concatenation that do not lie in their places; `None`: the layer is no concatenation in place.
    pub copies: Option<Copies>,
    /// Elements that DRAM receives although they stay in shared memory too.
    pub also_written: u64,
}

/// Elements that a concatenation in place moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Copies {
    pub elements: u64,
    /// Those of them that DRAM supplies.
    pub from_dram: u64,
}

/// An operator on an accelerator, with everything that does not depend on its context.
pub(super) struct PreparedOperator<'a> {
    accelerator: &'a Accelerator,
    machine: Machine,
    pinned: PinnedWeights,
    pub(super) nests: Vec<PreparedNest>,
    vector: Option<VectorShape>,
}

/// Weights that stay in shared memory, as an operator finds them (section 6.11).
#[derive(Debug, Clone, Copy, Default)]
struct PinnedWeights {
    /// Whether those of the operator do.
    own: bool,
    /// Bytes beside those of a loop nest of the operator.
    others: u64,
}

impl PinnedWeights {
    fn new(accelerator: &Accelerator, is_pinned: bool, nests: &[Nest], machine: &Machine) -> Self {
        let bytes = |nest: &Nest| machine.widths.weight.bytes(weights(nest.extents()));
        let own = nests.iter().map(bytes).min().filter(|_| is_pinned);
        let others = accelerator.pinned.bytes().saturating_sub(own.unwrap_or(0));
        Self { own: own.is_some(), others }
    }

    /// Shared memory that is left for the operator \[byte\].
    fn capacity(self, accelerator: &Accelerator) -> u64 {
        accelerator.memory.shared.get().saturating_sub(self.others)
    }
}

impl<'a> PreparedOperator<'a> {
    pub(super) fn new(
        operator: &Operator,
        accelerator: &'a Accelerator,
        mut machine: Machine,
        is_pinned: bool,
        chooser: Option<&dyn ChooseLayer>,
    ) -> Result<Self, Infeasible> {
        let illegal = |reason: Illegal| Infeasible::Illegal { reason: Box::new(reason) };
        let nests = lower::lower(operator).map_err(illegal)?;
        let is_pinned = is_pinned && operator.weights() > 0;
        let pinned = PinnedWeights::new(accelerator, is_pinned, &nests, &machine);
        let capacity = pinned.capacity(accelerator);
        machine.resident.weight = pinned.own;
        machine.shared_bytes = Some(capacity);
        // With choices, the directives still plan the shared memory of the network, where they can.
        let prepare = |nest: Nest| {
            let plans = chooser.is_some();
            let listed = PreparedNest::listed(&nest, accelerator, &machine, capacity, plans);
            match (chooser, listed) {
                (None, listed) => listed,
                (_, Ok(mut listed)) => {
                    listed.written = Some(nest);
                    Ok(listed)
                }
                (Some(chooser), Err(reason)) => {
                    PreparedNest::chosen(&nest, &machine, chooser).ok_or(reason)
                }
            }
        };
        let mut prepared = Vec::with_capacity(nests.len());
        for nest in nests {
            prepared.push(prepare(nest)?);
        }
        let vector = match operator {
            Operator::Vector(shape) => Some(*shape),
            _ => None,
        };
        Ok(Self { accelerator, machine, pinned, nests: prepared, vector })
    }

    /// Shared memory that the operator needs.
    fn need(&mut self, operator: &Operator) -> SharedMemoryNeed {
        let widths = self.machine.widths;
        let stored = widths.output.bytes(operator.outputs());
        if let Some(shape) = self.vector {
            let input = widths.input.bytes(shape.inputs);
            let operands = PerOperand { input, weight: input };
            let least = self.pinned.others;
            return SharedMemoryNeed { least, operands, computed: stored, stored };
        }
        self.machine.resident = PerTensor { weight: self.pinned.own, ..PerTensor::default() };
        self.machine.shared_bytes = Some(0);
        let has_two_activations =
            matches!(operator, Operator::Matmul(MatmulShape { activations: true, .. }));
        let mut need = SharedMemoryNeed { stored, ..SharedMemoryNeed::default() };
        for prepared in &self.nests {
            let PreparedNest { nest, mapping, .. } = prepared;
            let extents = nest.extents();
            let second =
                if has_two_activations { widths.weight.bytes(weights(extents)) } else { 0 };
            let first = widths.input.bytes(nest.inputs(extents));
            let least = match mapping.off_chip() {
                Some(level) => off_chip::shared_bytes(nest, level, &self.machine),
                None => prepared.plan(&self.machine).shared_bytes,
            };
            need.least = need.least.max(least.saturating_add(self.pinned.others));
            need.operands.input = need.operands.input.max(first);
            need.operands.weight = need.operands.weight.max(second);
            need.computed += widths.partial_sum.bytes(outputs(extents));
        }
        need
    }

    pub(super) fn report(
        &mut self,
        context: &MemoryContext,
        chooser: Option<&dyn ChooseLayer>,
    ) -> LayerReport {
        match self.vector {
            Some(shape) => {
                let also_written = context.placed.also_written;
                let (shape, share) = context.moved(shape);
                let resident = PerTensor { input: share == 0.0, weight: false, ..context.resident };
                let Self { accelerator, machine, .. } = self;
                vector::report(&shape, accelerator, machine, share, resident, also_written)
            }
            None => {
                self.set_context(context, chooser);
                let mut report = self.report_nests(context, chooser);
                if chooser.is_some() {
                    report.certainty = self.certainty();
                    report.choice = Some(self.choice());
                }
                report
            }
        }
    }

    /// Widths of elements.
    pub(super) fn widths(&self) -> &Widths {
        &self.machine.widths
    }

    /// Bytes of DRAM in a context, with the mappings as they are.
    fn dram_bytes(&mut self, context: &MemoryContext) -> u64 {
        if let Some(shape) = self.vector {
            let Placed { also_written, .. } = context.placed;
            let (shape, share) = context.moved(shape);
            let (machine, resident) = (&self.machine, context.resident.output);
            return vector::dram(&shape, machine, share, resident, also_written).total_bytes();
        }
        self.set_memory(context);
        let n_nests = self.nests.len() as u64;
        let mut sum = 0;
        for (index, prepared) in self.nests.iter().enumerate() {
            self.machine.riders = context.riders.map(|it| it.part(index as u64, n_nests));
            sum += prepared.plan(&self.machine).dram.total_bytes();
        }
        sum
    }

    /// Sets the shared memory as the layer finds it.
    fn set_memory(&mut self, context: &MemoryContext) {
        let capacity = self.pinned.capacity(self.accelerator);
        self.machine.resident = context.resident;
        self.machine.resident.weight |= self.pinned.own;
        self.machine.shared_bytes = Some(capacity.saturating_sub(context.reserved));
    }

    /// Sets the shared memory as the layer finds it, and chooses mappings for it.
    pub(super) fn set_context(
        &mut self,
        context: &MemoryContext,
        chooser: Option<&dyn ChooseLayer>,
    ) {
        self.set_memory(context);
        let n_nests = self.nests.len() as u64;
        for (index, prepared) in self.nests.iter_mut().enumerate() {
            self.machine.riders = context.riders.map(|it| it.part(index as u64, n_nests));
            match (chooser, &prepared.written) {
                (Some(chooser), _) => prepared.choose(&self.machine, chooser),
                (None, Some(written)) => {
                    let Self { accelerator, machine, pinned, .. } = self;
                    let capacity = pinned.capacity(accelerator);
                    let listed =
                        PreparedNest::listed(written, accelerator, machine, capacity, false);
                    if let Ok(listed) = listed {
                        *prepared = listed;
                    }
                }
                (None, None) => {}
            }
        }
    }

    /// Certainty about the mappings of all loop nests, one after the other; `None` if directives map one of them.
    fn certainty(&self) -> Option<Certainty> {
        let all: Option<Vec<_>> = self.nests.iter().map(|it| it.certainty).collect();
        all.and_then(|all| all.into_iter().reduce(Certainty::and))
    }

    /// Digest of the forms and mappings of all loop nests.
    fn choice(&self) -> FastDigest {
        let mut digest = FastDigest::default();
        self.nests.iter().for_each(|it| add_choice(&mut digest, &it.nest, &it.mapping));
        digest
    }

    fn report_nests(
        &mut self,
        context: &MemoryContext,
        chooser: Option<&dyn ChooseLayer>,
    ) -> LayerReport {
        let Machine { pes, rate, .. } = self.machine;
        let n_nests = self.nests.len() as u64;
        let mut report = LayerReport::empty(self.machine.resident);
        let mut longest = 0;
        for (index, it) in self.nests.iter().enumerate() {
            self.machine.riders = context.riders.map(|it| it.part(index as u64, n_nests));
            let PreparedNest { written, nest, mapping, .. } = it;
            let evaluation = it.evaluation(&self.machine);
            if let (Some(chooser), Some(written)) = (chooser, written) {
                chooser.note(written, (nest, mapping), &evaluation, &self.machine);
            }
            if evaluation.cycles > longest {
                (longest, report.bound) = (evaluation.cycles, evaluation.bound);
            }
            report.add(evaluation, &self.machine);
        }
        let peak = report.cycles as f64 * f64::from(pes) * f64::from(rate.max(1));
        report.utilisation = if peak > 0.0 { report.macs as f64 / peak } else { 0.0 };
        report
    }
}

/// Most layers of an operator that are compared with a further one, so that the time of all is bounded.
const MOST_ALIKE: usize = 64;

/// A layer that is evaluated.
struct Evaluated {
    layer: usize,
    context: MemoryContext,
    /// Number of its rule.
    rule: usize,
    /// Place of the one before it that has the same operator.
    before: Option<usize>,
}

/// Bytes of DRAM of a layer.
#[derive(Debug, Clone, Copy)]
struct KnownBytes {
    /// Residency of a layer on which nothing else has an effect.
    alone: Option<Residency>,
    context: MemoryContext,
    bytes: u64,
}

/// Number of layers that few networks exceed.
const USUAL_LAYERS: usize = 4096;

thread_local! {
    /// Empty lists, whose memory networks use one after the other.
    static KNOWN: Cell<Vec<Option<KnownBytes>>> = const { Cell::new(Vec::new()) };
    static EVALUATED: Cell<Vec<Evaluated>> = const { Cell::new(Vec::new()) };
}

/// A network on an accelerator: every operator prepared, and residency planned.
pub(super) struct PreparedNetwork<'a> {
    pub(super) network: &'a Network,
    operators: Vec<PreparedOperator<'a>>,
    /// Shared memory that each layer needs.
    needs: Vec<SharedMemoryNeed>,
    pub(super) groups: Arc<Groups>,
    pub(super) plan: residency::Plan,
}

impl<'a> PreparedNetwork<'a> {
    pub(super) fn new(
        network: &'a Network,
        accelerator: &'a Accelerator,
        chooser: Option<&dyn ChooseLayer>,
    ) -> Result<Self, Infeasible> {
        if accelerator.pinned.is_open() {
            return Err(Infeasible::OpenPinned);
        }
        shared::begin(network);
        let machine = Machine::from_accelerator(accelerator);
        let is_pinned = accelerator.pinned.holds(network);
        let prepare = |(operator, &bits): (&Operator, &Bits)| {
            let machine = match bits.are_of_hardware() {
                true => machine.clone(),
                false => machine.with_bits(bits, operator),
            };
            PreparedOperator::new(operator, accelerator, machine, is_pinned, chooser)
        };
        let mut operators = Vec::with_capacity(network.operators().len());
        for pair in network.operators().iter().zip(network.bits()) {
            operators.push(prepare(pair)?);
        }
        let needs: Vec<_> = operators
            .iter_mut()
            .zip(network.operators())
            .map(|(prepared, operator)| prepared.need(operator))
            .collect();
        let needs: Vec<_> = network.operator_of().iter().map(|&at| needs[at as usize]).collect();
        let (groups, plan) = Default::default();
        let mut prepared = Self { network, operators, needs, groups, plan };
        prepared.settle(accelerator);
        Ok(prepared)
    }

    /// Puts the network on an accelerator that differs from the current one in its shared memory and its DRAM
    /// bandwidth only, so that mappings and walks stay.
    pub(super) fn move_to(&mut self, accelerator: &'a Accelerator) {
        let machine = Machine::from_accelerator(accelerator);
        for operator in &mut self.operators {
            operator.accelerator = accelerator;
            let widths = operator.machine.widths;
            operator.machine.clone_from(&machine);
            operator.machine.widths = widths;
        }
        self.settle(accelerator);
    }

    /// Plans what rides along and what stays in shared memory: of several plans the first one that moves the fewest
    /// bytes with the mappings as they are.
    fn settle(&mut self, accelerator: &Accelerator) {
        let mut best: Option<(u64, Arc<Groups>, residency::Plan)> = None;
        let mut known = KNOWN.take();
        known.resize(self.n_layers(), None);
        let plans = residency::plans(self.network, accelerator, &self.needs);
        let is_only = plans.len() == 1;
        for (groups, plan) in plans {
            (self.groups, self.plan) = (groups, plan);
            let bytes = if is_only { 0 } else { self.dram_bytes(&mut known) };
            if best.as_ref().is_none_or(|best| bytes < best.0) {
                let (groups, plan) = (mem::take(&mut self.groups), mem::take(&mut self.plan));
                best = Some((bytes, groups, plan));
            }
        }
        (_, self.groups, self.plan) = best.unwrap_or_default();
        known.clear();
        known.shrink_to(USUAL_LAYERS);
        KNOWN.set(known);
    }

    /// Bytes of DRAM of all layers with the mappings as they are. Those of a layer in its last context are `known`.
    fn dram_bytes(&mut self, known: &mut [Option<KnownBytes>]) -> u64 {
        let mut sum = 0u64;
        for (index, known) in known.iter_mut().enumerate() {
            if matches!(self.groups.role(index), Role::Rides(_)) {
                continue;
            }
            let alone = self.groups.is_alone(index).then_some(self.plan.layers[index]);
            if let Some(known) = known.filter(|it| alone.is_some() && it.alone == alone) {
                sum = sum.saturating_add(known.bytes);
                continue;
            }
            let (operator, context) = self.layer(index);
            let bytes = match known {
                Some(it) if it.context == context => it.bytes,
                _ => operator.dram_bytes(&context),
            };
            *known = Some(KnownBytes { alone, context, bytes });
            sum = sum.saturating_add(bytes);
        }
        sum
    }

    /// Whether some mapping has loops above the shared memory, whose legality depends on its size.
    pub(super) fn has_off_chip_loops(&self) -> bool {
        let mut nests = self.operators.iter().flat_map(|operator| &operator.nests);
        nests.any(|nest| nest.mapping.off_chip().is_some())
    }

    /// `extract` of the report of every layer, in execution order. Layers with equal operator, context and rule
    /// are evaluated once.
    pub(super) fn each_layer<T: Clone>(
        &mut self,
        rules: &LayerRules<'_>,
        extract: impl Fn(&LayerReport) -> T,
    ) -> Vec<T> {
        // The layers of each operator that differ: its last one, and for each one the one before it.
        let mut last = vec![None; self.operators.len()];
        let mut known = EVALUATED.take();
        let mut all: Vec<T> = Vec::with_capacity(self.n_layers());
        for index in 0..self.n_layers() {
            if matches!(self.groups.role(index), Role::Rides(_)) {
                all.push(extract(&LayerReport::empty(PerTensor::splat(false))));
                continue;
            }
            let last = &mut last[self.network.operator_of()[index] as usize];
            let rule = rules.number_of(index);
            let (operator, context) = self.layer(index);
            let earlier = |it: &&Evaluated| it.before.map(|at| &known[at]);
            let mut alike = successors(last.map(|at: usize| &known[at]), earlier).take(MOST_ALIKE);
            all.push(match alike.find(|it| it.rule == rule && it.context == context) {
                Some(it) => all[it.layer].clone(),
                None => {
                    known.push(Evaluated { layer: index, context, rule, before: *last });
                    *last = Some(known.len() - 1);
                    extract(&operator.report(&context, rules.of(index)))
                }
            });
        }
        known.clear();
        known.shrink_to(USUAL_LAYERS);
        EVALUATED.set(known);
        all
    }

    /// Number of layers.
    pub(super) fn n_layers(&self) -> usize {
        self.network.layers().len()
    }

    /// The prepared operator of a layer, and the context of the layer.
    pub(super) fn layer(&mut self, index: usize) -> (&mut PreparedOperator<'a>, MemoryContext) {
        let Layer { operator, sources, .. } = &self.network.layers()[index];
        let (riders, placed) = match self.groups.is_alone(index) {
            true => Default::default(),
            false => (self.riders(index), self.placed(index)),
        };
        let plan = &self.plan.layers[index];
        let context = MemoryContext::new(operator, sources.len(), plan, riders, placed);
        (&mut self.operators[self.network.operator_of()[index] as usize], context)
    }
}

impl PreparedNetwork<'_> {
    /// The machine as the operator of a layer finds it, without its context.
    pub(super) fn machine(&self, layer: usize) -> &Machine {
        &self.operators[self.network.operator_of()[layer] as usize].machine
    }

    /// The loop nests of a layer in its context.
    pub(super) fn nests(&mut self, layer: usize, rules: &LayerRules<'_>) -> Vec<NestReport> {
        let (operator, context) = self.layer(layer);
        operator.set_context(&context, rules.of(layer));
        let machine = &operator.machine;
        let report = |it: &PreparedNest| NestReport {
            written: it.written.clone().unwrap_or_else(|| it.nest.clone()),
            nest: it.nest.clone(),
            mapping: *it.mapping,
            machine: machine.clone(),
            evaluation: it.evaluation(machine),
            certainty: it.certainty,
        };
        operator.nests.iter().map(report).collect()
    }
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
    /// Certainty about the mapping; `None` if it is not chosen.
    pub certainty: Option<Certainty>,
}

//! Classes of equal steps by level, for explaining a layer (docs/explanation/cost-model-loop-nest.md, section 5.3).

use crate::dataflow::LevelId;
use crate::model::PerOperand;

use super::context::{Context, Phase};
use super::egress::egress;
use super::fill::FoldFill;
use super::ingress::{Transfer, ingress};
use super::machine::{Machine, NocLevel};
use super::mapping::Mapping;
use super::nest::{N_AXES, Nest, macs};
use super::off_chip::{self, Dram, Kind, Moved, StepBytes};
use super::transition::{Cluster, Transition, Trips, each_child, each_class};

/// Upper limit of the number of contexts of a level. Further contexts are left out.
const MAX_CONTEXTS: usize = 4096;

/// Situation of a cluster at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The cluster works for the first time: the fill is exposed.
    First,
    /// The cluster worked before.
    Next,
    /// The cluster falls idle: partial sums leave.
    Flush,
}

/// A class of equal steps of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepClass {
    /// Level.
    pub level: LevelId,
    /// Situation of the cluster.
    pub start: Start,
    /// Number of such steps, over all clusters of the level.
    pub times: u64,
    /// Number of units that work in each step.
    pub units: u32,
    /// Inputs and weights that the NoC level of one cluster sends in each step \[element\].
    pub sent: PerOperand<u64>,
    /// Partial sums that arrive above in each step \[element\].
    pub arrived: u64,
    /// Cycles of the NoC level for inputs and weights in each step, without latency; on the off-chip level
    /// those of DRAM for all that it reads.
    pub down_cycles: u64,
    /// Cycles of the NoC level for partial sums in each step, without latency; on the off-chip level those
    /// of DRAM for all that it writes.
    pub up_cycles: u64,
    /// Cycles of the fill in each step (4.12).
    pub fill_cycles: u64,
    /// Cycles of the slowest PE in each step; 0 where units are clusters.
    pub pe_cycles: u64,
}

/// All classes of steps of a layer: outermost level first, within a level the most frequent class first.
pub fn step_classes(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Vec<StepClass> {
    let mut largest = *nest.extents();
    let mut contexts = vec![(Context::cold(&largest), 1), (Context::flush(&largest), 1)];
    let mut classes = Vec::new();
    let dram = Dram::new(nest, machine);
    for (index, level) in mapping.all_levels().iter().enumerate() {
        let id = mapping.id(index);
        let noc = match id {
            LevelId::OffChip => &NocLevel::IDEAL,
            LevelId::OnChip(level) => machine.noc_level(level),
        };
        let cluster = Cluster::new(level, noc, &largest);
        let fill = FoldFill::new(noc, level, mapping.all_levels().get(index + 1), &largest);
        let last = index + 1 == mapping.all_levels().len();
        let mut below: Vec<(Context, u64)> = Vec::new();
        let mut here: Vec<StepClass> = Vec::new();
        let mut trips = [Trips::NONE; N_AXES];
        for (context, visits) in contexts {
            each_class(&cluster, Transition::whole(&context), &mut trips, |step, advance| {
                let times = visits * step.times;
                let class = class(nest, machine, &cluster, step, (id, times), last);
                let class = StepClass { fill_cycles: fill.of(step, cluster.spatial()), ..class };
                if id == LevelId::OffChip {
                    let kinds = off_chip::kinds(cluster.largest_trips(), advance, times);
                    let kinds = kinds.into_iter().filter(|kind| kind.times > 0);
                    kinds.for_each(|kind| add(&mut here, class.off_chip(kind, &dram, machine)));
                } else {
                    add(&mut here, class);
                }
                if !last {
                    each_child(&cluster, step, |units, child| {
                        visit(&mut below, child, times * units);
                    });
                }
            });
        }
        here.sort_by_key(|class| std::cmp::Reverse(class.times));
        classes.extend(here);
        contexts = below;
        largest = level.unit_extents(&largest);
    }
    classes
}

fn visit(contexts: &mut Vec<(Context, u64)>, context: &Context, visits: u64) {
    if let Some((_, known)) = contexts.iter_mut().find(|(known, _)| known == context) {
        *known += visits;
    } else if contexts.len() < MAX_CONTEXTS {
        contexts.push((*context, visits));
    }
}

/// Adds a class to the equal one that is known, if there is one.
fn add(classes: &mut Vec<StepClass>, class: StepClass) {
    let alike = |known: &&mut StepClass| StepClass { times: class.times, ..**known } == class;
    match classes.iter_mut().find(alike) {
        Some(known) => known.times += class.times,
        None => classes.push(class),
    }
}

fn class(
    nest: &Nest,
    machine: &Machine,
    cluster: &Cluster<'_>,
    step: &Transition,
    (level, times): (LevelId, u64),
    units_are_pes: bool,
) -> StepClass {
    let (noc, spatial) = (cluster.noc(), cluster.spatial());
    let works = step.unit.phase != Phase::Flush;
    let moved = match works {
        true => ingress(nest, noc, step, spatial),
        false => PerOperand::<Transfer>::default(),
    };
    let sent = moved.map(|tensor| tensor.sent);
    let arrived = egress(step, spatial, noc.reduce).arrived;
    let widths = &machine.widths;
    let (inputs, weights) = (widths.input.bits_of(sent.input), widths.weight.bits_of(sent.weight));
    let down_cycles = noc.down_cycles(inputs, weights);
    let up_cycles = noc.up.cycles_of_bits(widths.partial_sum.bits_of(arrived));
    StepClass {
        level,
        start: match step.unit.phase {
            Phase::Cold => Start::First,
            Phase::Warm => Start::Next,
            Phase::Flush => Start::Flush,
        },
        times,
        units: if works { step.units } else { 0 },
        sent,
        arrived,
        down_cycles,
        up_cycles,
        fill_cycles: 0,
        pe_cycles: if units_are_pes && works { pe_cycles(machine, cluster, step) } else { 0 },
    }
}

impl StepClass {
    /// The steps of this class on the off-chip level whose partial sums are of a kind, with the cycles of
    /// DRAM.
    fn off_chip(&self, kind: Kind, dram: &Dram, machine: &Machine) -> Self {
        let StepBytes { read, written } =
            dram.bytes(&Moved { sent: self.sent, arrived: self.arrived }, kind);
        let [down_cycles, up_cycles] =
            [read, written].map(|bytes| machine.dram_bandwidth.cycles(bytes));
        Self { times: kind.times, down_cycles, up_cycles, ..*self }
    }
}

/// Cycles of the PE with the most MACs (section 4.1).
fn pe_cycles(machine: &Machine, cluster: &Cluster<'_>, step: &Transition) -> u64 {
    if step.units == 0 {
        return 0;
    }
    let mut extents = step.unit.now;
    if let Some(map) = cluster.spatial().filter(|_| step.units > 1) {
        extents[map.axis as usize] = map.size;
    }
    macs(&extents).div_ceil(u64::from(machine.rate.max(1)))
}

//! Version of cost model and search: a digest of what they compute on fixed small cases. Choices that are kept
//! depend on it, so that those of another cost model or search are not taken.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use crate::cost::loop_nest::lower::lower;
use crate::cost::loop_nest::{
    Axis, Bandwidth, Compression, Energies, Fill, Loop, Machine, Mapping, Nest, NocLevel, Riders,
    Width, Widths, evaluate,
};
use crate::dataflow::{self, ClusterLevel, Dataflow, Directive, Size, Stationary};
use crate::digest::Digest;
use crate::hardware::{self, Accelerator, Flexibility, MappingObjective, Memory, Noc};
use crate::model::{ConvKind, ConvShape, MatmulShape, Operator, Padding, PerTensor};
use crate::units::Bytes;

use super::capacity;
use super::chooser::Chooser;
use super::kept::LayerKey;
use super::outer;
use super::row;
use super::search::{self, Effort};
use super::store::Store;

/// The version of cost model and search of this program: choices of another one may differ. The first call computes
/// it, in less time than the search for one layer takes.
pub fn current() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    // Work that is cancelled unwinds and leaves the cell empty.
    VERSION.get_or_init(compute)
}

/// 16 hexadecimal digits of what is computed.
fn compute() -> String {
    let text = costs(&nests()) + &choices() + &limits();
    Digest::compute(text.as_bytes()).hex()[..16].into()
}

/// Limits of searches and bounds that tiny layers do not reach.
fn limits() -> String {
    format!("{:?} {:?} {:?} {:?}", Effort::ALL, search::LIMITS, outer::LIMITS, capacity::LIMITS)
}

/// What the cost model computes for every layer on every machine, with mappings in turn.
fn costs(nests: &[Nest]) -> String {
    let mut text = String::new();
    for (at, nest) in nests.iter().enumerate() {
        for (of, machine) in machines().iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match cost(nest, at + of, machine) {
                Some(cost) => writeln!(text, "{cost}"),
                None => writeln!(text, "illegal"),
            };
        }
    }
    text
}

/// Latency, traffic and energy of a layer under mapping number `which`.
fn cost(nest: &Nest, which: usize, machine: &Machine) -> Option<String> {
    let part = |axis: Axis, parts: u32| nest.extent(axis).div_ceil(parts);
    let split = |axis: Axis, parts: u32| Loop::new(axis, part(axis, parts), false);
    let spread = |axis: Axis, parts: u32| Loop::new(axis, part(axis, parts), true);
    use Axis::{C, G, K, N, OutputX, OutputY, R};
    let off_chip = [split(K, 2), split(OutputY, 2)];
    let (off_chip, levels) = match which % 3 {
        0 => (None, vec![(4, vec![spread(K, 4), split(C, 2), split(OutputY, 3), split(G, 2)])]),
        1 => {
            let outer = vec![split(N, 2), spread(OutputY, 3), split(K, 4)];
            (None, vec![(3, outer), (4, vec![spread(C, 4), split(OutputX, 5), split(R, 3)])])
        }
        _ => {
            let outer = vec![split(C, 3), spread(OutputX, 2)];
            (Some(&off_chip[..]), vec![(2, outer), (2, vec![spread(K, 4), split(OutputY, 5)])])
        }
    };
    let levels: Vec<_> = levels.iter().map(|(units, loops)| (*units, &loops[..])).collect();
    let mapping = Mapping::of_loops(off_chip, &levels, nest, machine).ok()?;
    let it = evaluate(nest, &mapping, machine).ok()?;
    let units: Vec<_> = it.levels().iter().map(|level| level.unit_bytes).collect();
    Some(format!(
        "{} {} {} {} {} {:?} {:?} {units:?}",
        it.cycles,
        it.compute_cycles,
        it.chip_cycles,
        it.dram_cycles,
        it.bound,
        it.memory,
        it.energy
    ))
}

/// Small layers of every kind.
pub(super) fn nests() -> Vec<Nest> {
    let conv = ConvShape { k: 6, c: 5, y: 9, x: 8, r: 3, s: 3, ..ConvShape::UNIT };
    let padding = Padding { top: 1, bottom: 1, left: 1, right: 1 };
    let operators: [Operator; 8] = [
        ConvShape { padding, ..conv }.into(),
        ConvShape { n: 2, stride_y: 2, stride_x: 2, ..conv }.into(),
        ConvShape { dilation_y: 2, dilation_x: 2, ..conv }.into(),
        ConvShape { groups: 2, k: 4, c: 4, ..conv }.into(),
        ConvShape { kind: ConvKind::Depthwise, k: 1, c: 6, padding, ..conv }.into(),
        ConvShape { kind: ConvKind::Transposed, stride_y: 2, stride_x: 2, padding, ..conv }.into(),
        ConvShape { k: 8, c: 6, y: 6, x: 4, ..ConvShape::UNIT }.into(),
        Operator::Matmul(MatmulShape { instances: 2, rows: 6, k: 7, c: 8, activations: true }),
    ];
    // A layer that is none has no loop nest, which the digest of the others shows.
    operators.iter().filter_map(|it| lower(it).ok()?.into_iter().next()).collect()
}

/// Machines that differ in everything that the cost model knows.
fn machines() -> Vec<Machine> {
    let bandwidth = |bytes| Bandwidth::new(bytes).unwrap_or(Bandwidth::INFINITE);
    let noc = NocLevel { down: bandwidth(3), up: bandwidth(2), latency: 2, ..NocLevel::IDEAL };
    let base = Machine {
        noc_levels: vec![noc],
        shared_bytes: Some(600),
        dram_bandwidth: bandwidth(2),
        dram_latency: 7,
        widths: Widths::of_bytes([1, 1, 4, 1]),
        ..Machine::new(16)
    };
    let with = |noc: NocLevel| Machine { noc_levels: vec![noc, noc_below()], ..base.clone() };
    let factor = |millionths: f64| Compression::new(millionths).unwrap_or_default();
    let compression = PerTensor { input: factor(0.7), weight: factor(0.4), output: factor(1.1) };
    let bits = |bits| Width::of_bits(bits);
    let widths =
        Widths { input: bits(4), weight: bits(2), partial_sum: bits(24), output: bits(16) };
    let riders = Riders { read: 40, written: 30, operands: 50, operations: 60, cycles: 9 };
    let energies = Energies { leakage: 0.3, clock: 0.2, ..Energies::default() };
    vec![
        base.clone(),
        with(NocLevel { multicast: false, step_latency: true, ..noc }),
        with(NocLevel { forward: true, reduce: false, ..noc }),
        with(NocLevel { weights: Some(bandwidth(1)), single_weights: true, ..noc }),
        with(NocLevel { fill: Fill::Systolic, ..noc }),
        with(NocLevel { fill: Fill::Cycles(5), latency: 1, ..noc }),
        Machine { compression, widths, ..base.clone() },
        Machine { rate: 2, units_limit: Some(3), energies, ..base.clone() },
        Machine {
            resident: PerTensor { input: true, weight: false, output: true },
            shared_bytes: Some(4000),
            shared_copies: PerTensor { input: 1, weight: 2, output: 3 },
            ..base.clone()
        },
        Machine { shared_bytes: None, ..base.clone() },
        Machine { riders: Some(riders), ..base.clone() },
        Machine {
            riders: Some(Riders { cycles: 700, ..riders }),
            resident: PerTensor { input: false, weight: false, output: true },
            ..base.clone()
        },
    ]
}

/// A level below the outermost one.
fn noc_below() -> NocLevel {
    NocLevel { down: Bandwidth::new(1).unwrap_or(Bandwidth::INFINITE), ..NocLevel::IDEAL }
}

/// Work of the searches.
const EFFORTS: [Effort; 2] = [Effort::new(24, 0, 2), Effort::new(12, 24, 1)];

/// Tiny layers, each with a flexibility. Every step of a search takes part in one of them.
fn searched() -> Vec<(Nest, Flexibility)> {
    let conv = ConvShape { k: 3, c: 2, y: 5, x: 4, r: 3, s: 2, ..ConvShape::UNIT };
    // The bounds of layers with more loops take most of the time, and no other step.
    let operators: [(Operator, Flexibility); 5] = [
        (ConvShape { x: 3, r: 2, ..conv }.into(), Flexibility::Tiles),
        (ConvShape { c: 1, stride_y: 2, ..conv }.into(), Flexibility::Axes),
        (ConvShape { kind: ConvKind::Depthwise, k: 1, ..conv }.into(), Flexibility::Tiles),
        (ConvShape { k: 5, c: 7, x: 3, ..ConvShape::UNIT }.into(), Flexibility::Any),
        (
            Operator::Matmul(MatmulShape { instances: 1, rows: 4, k: 3, c: 8, activations: false }),
            Flexibility::Forms,
        ),
    ];
    let first = |operator| lower(operator).ok()?.into_iter().next();
    operators.iter().filter_map(|(operator, it)| Some((first(operator)?, *it))).collect()
}

/// What is chosen for tiny layers by each objective.
fn choices() -> String {
    let Some(accelerator) = accelerator() else { return String::new() };
    let objectives = MappingObjective::OF_LAYERS;
    let mut text = String::new();
    for (at, (nest, flexibility)) in searched().into_iter().enumerate() {
        let mapping_objective = objectives[at % objectives.len()];
        let accelerator = Accelerator { flexibility, mapping_objective, ..accelerator.clone() };
        let machine = Machine::from_accelerator(&accelerator);
        // A store of its own without files asks for no version.
        let chooser = Chooser::new(EFFORTS[at % EFFORTS.len()], Arc::<Store>::default());
        let found = chooser.search(&nest, &accelerator, &machine, None);
        let line = found.map(|kept| row::write(&LayerKey::new(&nest, &machine), &kept));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line.as_deref().unwrap_or("none"));
    }
    text
}

/// A small accelerator whose directives keep weights in its PEs.
pub(super) fn accelerator() -> Option<Accelerator> {
    use dataflow::Axis::{C, K, OutputX, OutputY};
    let outer = vec![
        Directive::temporal(4, 4, C),
        Directive::temporal(1, 1, OutputY),
        Directive::temporal(1, 1, OutputX),
        Directive::spatial(1, 1, K),
    ];
    let inner = vec![Directive::spatial(1, 1, C)];
    let units = Some(Size::Fixed(4));
    let levels = vec![
        ClusterLevel { units: None, directives: outer },
        ClusterLevel { units, directives: inner },
    ];
    let flow = Dataflow::new("small", levels).ok()?.keeping(Some(Stationary::Weights));
    let mut memory = Memory::new(Bytes::new(700), Bytes::new(256), 2);
    memory.dram_latency = 5;
    memory.clusters = vec![Bytes::new(512)];
    let noc = Noc::uniform(hardware::NocLevel::new(4));
    Some(Accelerator::new("small", flow.into(), 16, noc, memory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::loop_nest::Choose as _;

    #[test]
    fn the_cases_are_legal_and_cover_what_they_are_for() {
        let nests = nests();
        assert_eq!(nests.len(), 8);
        let costs = costs(&nests);
        let legal: Vec<_> = costs.lines().filter(|line| *line != "illegal").collect();
        assert!(legal.len() >= 60, "{} of {}", legal.len(), costs.lines().count());
        let mut distinct = legal.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() >= 60, "{} show something of their own", distinct.len());
        let choices = choices();
        assert!(!choices.lines().any(|line| line == "none"), "{choices}");
        assert!(choices.lines().all(|line| !line.contains(" none ")), "{choices}");
    }

    /// Every property of a machine that a section may depend on changes the version.
    #[test]
    fn every_machine_shows_another_cost() {
        let nests = nests();
        let machines = machines();
        for (at, machine) in machines.iter().enumerate().skip(1) {
            let of = |machine| (0..3).map(|it| cost(&nests[0], it, machine)).collect::<Vec<_>>();
            assert_ne!(of(machine), of(&machines[0]), "machine {at}");
        }
    }

    #[test]
    fn the_version_depends_on_no_cache_no_order_and_no_threads() {
        let first = compute();
        assert_eq!(first.len(), 16);
        // Choices that are kept, in whatever order, change nothing.
        let accelerator =
            Accelerator { flexibility: Flexibility::Tiles, ..accelerator().expect("legal") };
        let chooser = Chooser::default();
        let machine = Machine::from_accelerator(&accelerator);
        for nest in nests().iter().rev() {
            let _ = chooser.on(&accelerator).expect("it may choose").choose(nest, &machine);
        }
        let others: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..4).map(|_| scope.spawn(compute)).collect();
            started.into_iter().map(|it| it.join().expect("it ends")).collect()
        });
        assert!(others.iter().all(|other| *other == first), "{others:?} {first}");
        assert_eq!(current(), first);
    }
}

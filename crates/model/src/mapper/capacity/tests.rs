//! Bounds against mappings of small layers, which the cost model evaluates one by one. Mappings are made of random
//! loops here, and their legality is read off their evaluation: nothing of the bounds takes part.
//!
//! `XRSIM_CASES=10000 cargo test --release -p xrsim-model capacity` takes 10^7 mappings and more.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cost::loop_nest::{
    Axis, Bandwidth, Compression, Energies, Evaluation, Extents, Fill, Loop, Machine, Mapping,
    Nest, NocLevel, Riders, Width, Widths, Window, evaluate,
};
use crate::mapper::objective::{Objective, Value};
use crate::mapper::problem::{Limits, Problem};
use crate::mapper::sizes::Sizes;
use crate::mapper::space::{AxisSet, LevelSpace, Mapspace};
use crate::model::{PerTensor, TensorRole};

use super::{Bound, bounds_within};

/// A layer on a machine with limits, within a mapspace.
struct Case {
    nest: Nest,
    machine: Machine,
    limits: Limits,
    space: Mapspace,
    units: Vec<u32>,
}

/// Loops of every level of a mapping, the one above the shared memory first.
struct Loops {
    off_chip: Vec<Loop>,
    levels: Vec<Vec<Loop>>,
}

fn below(random: &mut ChaCha8Rng, n: u32) -> u32 {
    random.next_u32() % n
}

fn chance(random: &mut ChaCha8Rng, one_in: u32) -> bool {
    below(random, one_in) == 0
}

fn nest(random: &mut ChaCha8Rng) -> Nest {
    let mut extents: Extents = [1; 8];
    let kernels = chance(random, 2);
    for axis in [Axis::K, Axis::C, Axis::OutputY, Axis::OutputX] {
        extents[axis as usize] = 1 + below(random, 5);
    }
    for axis in [Axis::N, Axis::G] {
        extents[axis as usize] = if chance(random, 4) { 1 + below(random, 3) } else { 1 };
    }
    for axis in [Axis::R, Axis::S] {
        extents[axis as usize] = if kernels { 1 + below(random, 3) } else { 1 };
    }
    let windows = Axis::WINDOWS.map(|[output, kernel]| {
        let [output, kernel] = [extents[output as usize], extents[kernel as usize]];
        let stride = if chance(random, 3) { 2 } else { 1 };
        let dilation = if chance(random, 6) { 2 } else { 1 };
        let all = Window { stride, dilation, stored: 1, padding: 0 };
        let reach = all.reach(output, kernel);
        let padding = below(random, 2).min(reach - 1);
        Window { stored: (reach - padding).max(1), padding, ..all }
    });
    Nest::new(extents, windows, false).expect("a small layer")
}

fn machine(random: &mut ChaCha8Rng, nest: &Nest) -> Machine {
    let bandwidth = |most: u32, random: &mut ChaCha8Rng| {
        if chance(random, 5) {
            Bandwidth::INFINITE
        } else {
            Bandwidth::new(u64::from(1 + below(random, most))).expect("above 0")
        }
    };
    let noc_levels = (0..2)
        .map(|_| NocLevel {
            down: bandwidth(6, random),
            up: bandwidth(6, random),
            weights: chance(random, 5).then(|| bandwidth(4, random)),
            single_weights: chance(random, 6),
            fill: if chance(random, 5) { Fill::Systolic } else { Fill::Cycles(0) },
            latency: below(random, 3),
            step_latency: chance(random, 6),
            multicast: !chance(random, 5),
            forward: chance(random, 5),
            reduce: !chance(random, 5),
        })
        .collect();
    let widths = match below(random, 3) {
        0 => Widths::of_bytes([1; 4]),
        1 => Widths::of_bytes([1, 1, 4, 1]),
        _ => Widths {
            input: Width::of_bits(4),
            weight: Width::of_bits(12),
            ..Widths::of_bytes([1, 1, 3, 2])
        },
    };
    let whole = nest.footprints(nest.extents());
    let all = whole.input + whole.weight + 4 * whole.output;
    let part = |random: &mut ChaCha8Rng| random.random_range(0.0..1.0f64);
    let mut energies = Energies { leakage: 0.5 * part(random), clock: 0.5, ..Energies::default() };
    energies.cluster = [2.0 * part(random); Mapping::MAX_LEVELS];
    energies.dram = 20.0 * part(random);
    let factor = |random: &mut ChaCha8Rng| {
        if chance(random, 4) {
            Compression::new(f64::from(1 + below(random, 15)) / 10.0).expect("allowed")
        } else {
            Compression::NONE
        }
    };
    Machine {
        units_limit: None,
        rate: 1 + u32::from(chance(random, 4)),
        noc_levels,
        widths,
        compression: PerTensor::from_fn(|_| factor(random)),
        shared_bytes: (!chance(random, 6)).then(|| 8 + (all as f64 * 1.5 * part(random)) as u64),
        shared_copies: PerTensor::from_fn(|_| 1 + below(random, 2)),
        resident: PerTensor::from_fn(|_| chance(random, 5)),
        riders: chance(random, 3).then(|| riders(random, &whole)),
        dram_bandwidth: bandwidth(4, random),
        dram_latency: below(random, 10),
        energies,
        ..Machine::new(1)
    }
}

/// Operators that ride along, of which some move less than the outputs of the layer.
fn riders(random: &mut ChaCha8Rng, whole: &PerTensor<u64>) -> Riders {
    let all = whole.output as u32;
    let [read, written, operands, operations, cycles] =
        [2 * all, all, 2 * all, 4 * all, 3 * all].map(|most| u64::from(below(random, most + 1)));
    Riders { read, written, operands, operations, cycles }
}

fn case(seed: u64) -> Case {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let nest = nest(random);
    let mut machine = machine(random, &nest);
    let mut units: Vec<u32> = vec![1 + below(random, 4)];
    if chance(random, 2) {
        units.push(2 + below(random, 2));
    }
    machine.pes = units.iter().product();
    let whole = nest.footprints(nest.extents());
    let all = 2 * (whole.input + whole.weight + 4 * whole.output);
    let limit = |random: &mut ChaCha8Rng| 14 + u64::from(random.next_u32()) % (all / 2 + 1);
    let limits = match chance(random, 4) {
        true => Limits::default(),
        false => Limits::new(Some(limit(random)), vec![limit(random)]),
    };
    let axes: Vec<_> = Axis::ALL.into_iter().filter(|axis| nest.extent(*axis) > 1).collect();
    let level = |random: &mut ChaCha8Rng| {
        let n_axes = 1 + usize::from(chance(random, 3));
        let set = (0..n_axes)
            .filter(|_| !axes.is_empty())
            .map(|_| axes[below(random, axes.len() as u32) as usize]);
        LevelSpace { spatial: AxisSet::from_axes(set.collect::<Vec<_>>()), ..LevelSpace::FREE }
    };
    let levels = units.iter().map(|_| level(random)).collect();
    let clusters = vec![units[1..].to_vec()];
    let stationary =
        [None, Some(TensorRole::Output), Some(TensorRole::Weight)][below(random, 3) as usize];
    let space =
        Mapspace { levels, off_chip: true, stationary, ..Mapspace::free(clusters, Sizes::All) };
    Case { nest, machine, limits, space, units }
}

/// Loops of a level over a box, in a random order, and the box of a unit.
fn level(
    random: &mut ChaCha8Rng,
    extents: &mut Extents,
    spatial: AxisSet,
    split: u32,
) -> Vec<Loop> {
    let mut loops: Vec<Loop> = Vec::new();
    let may_spread: Vec<_> = spatial.iter().filter(|axis| extents[*axis as usize] > 1).collect();
    let spread = match may_spread.len() {
        0 => None,
        n => {
            let n = n as u32 + u32::from(chance(random, 4));
            may_spread.get(below(random, n) as usize).copied()
        }
    };
    for axis in Axis::ALL {
        let extent = &mut extents[axis as usize];
        let splits = spread == Some(axis) || below(random, 100) < split;
        if *extent > 1 && splits {
            *extent = 1 + below(random, *extent - 1);
            let map = Loop::new(axis, *extent, spread == Some(axis));
            loops.insert(below(random, loops.len() as u32 + 1) as usize, map);
        }
    }
    loops
}

/// Loops of random sizes in random orders.
fn loops(random: &mut ChaCha8Rng, case: &Case) -> Loops {
    let mut extents = *case.nest.extents();
    let split = [20, 50, 90][below(random, 3) as usize];
    let has_off_chip = chance(random, 2);
    let off_chip =
        if has_off_chip { level(random, &mut extents, AxisSet::EMPTY, split) } else { Vec::new() };
    let of_level = |at| level(random, &mut extents, case.space.level(at).spatial, split);
    Loops { off_chip, levels: (0..case.units.len()).map(of_level).collect() }
}

impl Case {
    /// Evaluation of loops; `None` if the mapping is no legal one of the mapspace.
    fn evaluate(&self, loops: &Loops) -> Option<Evaluation> {
        let levels: Vec<_> = self
            .units
            .iter()
            .zip(&loops.levels)
            .map(|(units, loops)| (*units, &loops[..]))
            .collect();
        let off_chip = Some(&loops.off_chip[..]).filter(|loops| !loops.is_empty());
        let mapping = Mapping::of_loops(off_chip, &levels, &self.nest, &self.machine).ok()?;
        let it = evaluate(&self.nest, &mapping, &self.machine).ok()?;
        let n_levels = self.units.len();
        let fits = |(level, unit_bytes): (usize, u64)| {
            let limit = if level + 1 == n_levels {
                self.limits.scratchpad
            } else {
                self.limits.clusters.first().copied()
            };
            limit.is_none_or(|limit| unit_bytes <= limit)
        };
        let mut units = it.levels().iter().map(|it| it.unit_bytes).enumerate();
        let shared = self.machine.shared_bytes.unwrap_or(u64::MAX);
        (units.all(fits) && it.memory.shared_bytes <= shared && self.keeps(loops)).then_some(it)
    }

    /// Whether the innermost temporal loop does not index the stationary tensor, or every one does.
    fn keeps(&self, loops: &Loops) -> bool {
        let Some(tensor) = self.space.stationary else { return true };
        let levels = std::iter::once(&loops.off_chip).chain(&loops.levels);
        let temporal: Vec<_> =
            levels.flatten().filter(|it| !it.spatial).map(|it| it.axis.indexes(tensor)).collect();
        temporal.last().is_none_or(|last| !last) || temporal.iter().all(|it| *it)
    }

    /// Bounds of every objective.
    fn bound(&self, most: usize) -> Bound {
        let none = Value { cycles: u64::MAX, energy_pj: f64::INFINITY };
        let of = |objective| {
            let Self { nest, machine, limits, space, .. } = self;
            let problem = Problem { nest, machine, limits, space, objective };
            bounds_within(&[problem], Value::default(), &none, [most; 2])
        };
        of(Objective::Edp).max(of(Objective::Cycles)).max(of(Objective::Energy))
    }
}

/// Least values that mappings of a case attain, with their numbers.
#[derive(Default)]
struct Found {
    mappings: u64,
    legal: u64,
    ratios: Vec<[f64; 3]>,
}

/// Compares a case with random mappings.
fn compare(seed: u64, mappings: u64, found: &mut Found) {
    let case = case(seed);
    let random = &mut ChaCha8Rng::seed_from_u64(!seed);
    let bound = case.bound([40, 400, 20_000][seed as usize % 3]);
    let mut least = [f64::INFINITY; 3];
    for _ in 0..mappings {
        let loops = loops(random, &case);
        found.mappings += 1;
        let Some(it) = case.evaluate(&loops) else { continue };
        found.legal += 1;
        let value = Value { cycles: it.cycles, energy_pj: it.energy.total() };
        let rounding = 1.0 + 1e-10;
        let is_bounded = value.cycles >= bound.value.cycles
            && value.energy_pj * rounding >= bound.value.energy_pj
            && value.edp() * rounding >= bound.edp;
        assert!(
            is_bounded,
            "case {seed}: {value:?} {} is below {bound:?}\n{:?}\n{:?}\n{:?} {:?}\n{:?}\n{:?} {:?}\n{it:?}",
            value.edp(),
            case.nest,
            case.machine,
            case.limits,
            case.units,
            case.space,
            loops.off_chip,
            loops.levels,
        );
        for (least, value) in
            least.iter_mut().zip([value.cycles as f64, value.energy_pj, value.edp()])
        {
            *least = least.min(value);
        }
    }
    if least[0].is_finite() {
        let of = [bound.value.cycles as f64, bound.value.energy_pj, bound.edp];
        found.ratios.push(std::array::from_fn(|at| least[at] / of[at].max(1e-9)));
    }
}

#[test]
fn no_mapping_is_below_the_bounds() {
    let cases = std::env::var("XRSIM_CASES").ok().and_then(|it| it.parse().ok());
    let first = std::env::var("XRSIM_FIRST").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let cases = cases.unwrap_or(if cfg!(debug_assertions) { 150 } else { 300 });
    let mut found = Found::default();
    for seed in first..first + cases {
        compare(seed, 1000, &mut found);
    }
    println!("{} mappings, {} of them legal", found.mappings, found.legal);
    for (at, name) in ["cycles", "energy", "edp"].into_iter().enumerate() {
        let mut of: Vec<_> = found.ratios.iter().map(|it| it[at]).collect();
        of.sort_by(f64::total_cmp);
        println!(
            "{name}: median {:.3}, p90 {:.3}, worst {:.3}",
            of[of.len() / 2],
            of[of.len() * 9 / 10],
            of[of.len() - 1]
        );
    }
    assert!(found.legal > found.mappings / 20, "{} of {}", found.legal, found.mappings);
}

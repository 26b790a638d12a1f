//! Tiles of the outermost levels: what the shared memory and the units of level 0 hold decides the traffic of
//! DRAM and of the shared memory (docs/explanation/mapper.md, section 5).
//!
//! A tile stands above the shared memory, where one box holds parts of all tensors, on level 0, where some
//! tensors may be held whole, or on both. Its value estimates the best mapping with it, so that tiles are tried in
//! the order of their values.

use crate::cost::loop_nest::{Axis, Extents};
use crate::model::{PerTensor, TensorRole};

use super::bound::{cycles_of, least_dram_bytes};
use super::candidate::{LevelChoice, N_AXES};
use super::objective::Value;
use super::problem::Problem;
use super::sizes::Sizes;
use super::skeletons::OwnSkeleton;

/// Choices of the outermost levels.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// Level above the shared memory.
    pub off_chip: Option<LevelChoice>,
    /// Level 0.
    pub first: Option<LevelChoice>,
    /// Estimate of latency and energy.
    pub value: Value,
}

/// Orders of the three groups of axes, outermost first.
const ORDERS: [[Group; 3]; 6] = {
    use Group::{Channels, Positions, Reduction};
    [
        [Positions, Channels, Reduction],
        [Channels, Positions, Reduction],
        [Positions, Reduction, Channels],
        [Reduction, Positions, Channels],
        [Channels, Reduction, Positions],
        [Reduction, Channels, Positions],
    ]
};

/// Axes that index the same tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Positions,
    Channels,
    Reduction,
}

impl Group {
    fn of(axis: Axis) -> Self {
        match axis {
            Axis::N | Axis::OutputY | Axis::OutputX => Self::Positions,
            Axis::K => Self::Channels,
            Axis::G | Axis::C | Axis::R | Axis::S => Self::Reduction,
        }
    }
}

/// Most sizes of one axis.
const MOST_SIZES: usize = 7;

/// Most tiles of a skeleton that are looked at, without their channels.
const MOST_TILES: f64 = 20_000.0;

/// Tiles above the shared memory within which tiles of level 0 are looked for.
const MOST_ABOVE: usize = 4;

/// Limits of the tiles that are looked at.
pub(super) const LIMITS: [f64; 3] = [MOST_SIZES as f64, MOST_TILES, MOST_ABOVE as f64];

/// Every tensor is held whole.
const ALL_WHOLE: u8 = 0b111;

/// Tiles of a skeleton with the least values, at most `most` of each kind. `above` asks for tiles above the shared
/// memory too.
pub(super) fn tiles(
    problem: &Problem,
    skeleton: &OwnSkeleton,
    floor: &Value,
    above: bool,
    most: usize,
) -> Vec<Tile> {
    let search = |is_off_chip, above, most| {
        let mut search = TileSearch::new(problem, skeleton, floor, is_off_chip, above, most);
        search.run();
        search.best
    };
    let mut best = search(false, None, most);
    if above && problem.space.off_chip && skeleton.under_off_chip().is_some() {
        let outer = search(true, None, most);
        for tile in outer.iter().take(MOST_ABOVE) {
            best.extend(search(false, Some(tile), most / MOST_ABOVE));
        }
        best.extend(outer);
    }
    best
}

/// A search for the tiles of one level.
struct TileSearch<'a> {
    problem: &'a Problem<'a>,
    skeleton: &'a OwnSkeleton,
    floor: &'a Value,
    is_off_chip: bool,
    /// Tile above the shared memory.
    above: Option<&'a Tile>,
    /// Extents that enter the level.
    entering: Extents,
    /// Number of boxes that enter the level.
    boxes: f64,
    /// Elements that enter the level with a box.
    whole: PerTensor<f64>,
    /// Bytes of one element on chip and in DRAM.
    on_chip: PerTensor<f64>,
    in_dram: PerTensor<f64>,
    least_dram: f64,
    least_moved: f64,
    /// Shared memory, and buffer of a unit of level 0 \[byte\].
    capacity: f64,
    unit_capacity: f64,
    most: usize,
    best: Vec<Tile>,
}

impl<'a> TileSearch<'a> {
    fn new(
        problem: &'a Problem<'a>,
        skeleton: &'a OwnSkeleton,
        floor: &'a Value,
        is_off_chip: bool,
        above: Option<&'a Tile>,
        most: usize,
    ) -> Self {
        let (nest, machine) = (problem.nest, problem.machine);
        let outer = above.and_then(|tile| tile.off_chip);
        let entering = outer.map_or(*nest.extents(), |level| level.sizes);
        let chunks = |at: usize| f64::from(nest.extents()[at].div_ceil(entering[at]));
        let boxes = (0..N_AXES).map(chunks).product();
        let elements = |extents: &Extents| {
            let footprints = nest.footprints(extents);
            PerTensor::from_fn(|tensor| footprints[tensor] as f64)
        };
        let (all, whole) = (elements(nest.extents()), elements(&entering));
        let widths = &machine.widths;
        let on_chip = PerTensor {
            input: widths.input.bytes_per_element(),
            weight: widths.weight.bytes_per_element(),
            output: widths.partial_sum.bytes_per_element(),
        };
        let in_dram = PerTensor::from_fn(|tensor| {
            machine.dram_bytes(tensor, all[tensor] as u64) as f64 / all[tensor].max(1.0)
        });
        let limit = problem.limits.of_level(0, skeleton.units().len());
        Self {
            problem,
            skeleton,
            floor,
            is_off_chip,
            above,
            entering,
            boxes,
            whole,
            on_chip,
            in_dram,
            least_dram: least_dram_bytes(nest, machine) as f64,
            least_moved: TensorRole::ALL.into_iter().map(|it| all[it] * on_chip[it]).sum(),
            capacity: machine.shared_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            unit_capacity: limit.map_or(f64::INFINITY, |bytes| bytes as f64),
            most,
            best: Vec::new(),
        }
    }

    /// Axis that the level spreads, and its units.
    fn spread(&self) -> (Option<Axis>, u32) {
        match self.is_off_chip {
            true => (None, 1),
            false => (self.skeleton.axes()[0], self.skeleton.units()[0]),
        }
    }

    /// Visits every tile.
    fn run(&mut self) {
        let level = self.problem.space.level_of((!self.is_off_chip).then_some(0));
        let (spread, units) = self.spread();
        let of_axis = |axis: Axis| -> Vec<u32> {
            let extent = self.entering[axis as usize];
            let is_fixed = level.fixed.iter().any(|(fixed, _)| *fixed == axis);
            let may_split = level.temporal.contains(axis) || spread == Some(axis);
            if extent == 1 || is_fixed || !may_split || matches!(axis, Axis::R | Axis::S) {
                return vec![extent];
            }
            // A spread axis is held in multiples of its units.
            let units = if spread == Some(axis) { units } else { 1 };
            let mut sizes = few_sizes(extent.div_ceil(units));
            sizes.iter_mut().for_each(|size| *size = size.saturating_mul(units).min(extent));
            sizes.dedup();
            sizes
        };
        let lists = Axis::ALL.map(of_axis);
        let n_tiles: f64 = lists.iter().map(|list| list.len() as f64).product();
        if n_tiles / lists[Axis::C as usize].len() as f64 <= MOST_TILES {
            let mut sizes = self.entering;
            self.each(&lists, &mut sizes, 0);
        }
    }

    /// Visits every size of the axes from `axis` on, with the most channels that fit.
    fn each(&mut self, lists: &[Vec<u32>; N_AXES], sizes: &mut Extents, axis: usize) {
        let c = Axis::C as usize;
        if axis == c {
            return self.each(lists, sizes, axis + 1);
        }
        if axis < N_AXES {
            for &size in &lists[axis] {
                sizes[axis] = size;
                self.each(lists, sizes, axis + 1);
            }
            return;
        }
        // What fits whole is held whole.
        let ways = match (self.is_off_chip, self.bytes(sizes, ALL_WHOLE) <= self.capacity) {
            (true, _) => 0..1,
            (false, fits) if fits || self.above.is_some() => ALL_WHOLE..ALL_WHOLE + 1,
            (false, _) => 0..ALL_WHOLE,
        };
        for held in ways {
            // Sizes fall along the list.
            let fits = |&size: &u32| {
                let mut sizes = *sizes;
                sizes[c] = size;
                let fits = self.above.is_some() || self.bytes(&sizes, held) <= self.capacity;
                fits && (self.is_off_chip || self.unit_bytes(&sizes) <= self.unit_capacity)
            };
            let at = lists[c].partition_point(|size| !fits(size));
            let Some(&size) = lists[c].get(at) else { continue };
            let mut sizes = *sizes;
            sizes[c] = size;
            for order in ORDERS {
                self.offer(sizes, order, held);
            }
        }
    }

    /// The unit box for what all units hold together.
    fn unit(&self, sizes: &Extents) -> Extents {
        let mut unit = *sizes;
        if let (Some(axis), units) = self.spread() {
            let size = &mut unit[axis as usize];
            *size = size.div_ceil(units);
        }
        unit
    }

    /// Buffer that a unit of level 0 needs.
    fn unit_bytes(&self, sizes: &Extents) -> f64 {
        let footprints = self.problem.nest.footprints(&self.unit(sizes));
        let of = |tensor: TensorRole| footprints[tensor] as f64 * self.on_chip[tensor];
        2.0 * TensorRole::ALL.into_iter().map(of).sum::<f64>()
    }

    /// Shared memory that a tile needs. `held` has a bit for each tensor that is held whole.
    fn bytes(&self, sizes: &Extents, held: u8) -> f64 {
        let Problem { nest, machine, .. } = *self.problem;
        let footprints = nest.footprints(sizes);
        let of = |tensor: TensorRole| {
            let is_whole = held & (1 << tensor as u8) != 0 || machine.resident[tensor];
            let split = |axis: &Axis| sizes[*axis as usize] < nest.extent(*axis);
            let changes = Axis::ALL.iter().any(|axis| axis.indexes(tensor) && split(axis));
            let (elements, copies) = match (is_whole, changes) {
                (true, _) => (self.whole[tensor], 1),
                (false, false) => (footprints[tensor] as f64, 1),
                (false, true) => (footprints[tensor] as f64, machine.shared_copies[tensor]),
            };
            elements * f64::from(copies) * self.on_chip[tensor]
        };
        TensorRole::ALL.into_iter().map(of).sum()
    }

    /// Times that a tensor is loaded with these sizes in this order.
    fn loads(&self, tensor: TensorRole, sizes: &Extents, order: [Group; 3]) -> f64 {
        let split = |axis: Axis| sizes[axis as usize] < self.entering[axis as usize];
        let depends = |axis: &Axis| axis.indexes(tensor) && split(*axis);
        let innermost = Axis::ALL.into_iter().filter(depends).map(|axis| place(order, axis)).max();
        let outside = |axis: &Axis| {
            let is_outside = innermost.is_some_and(|innermost| place(order, *axis) < innermost);
            !axis.indexes(tensor) && split(*axis) && is_outside
        };
        let chunks =
            |axis: Axis| f64::from(self.entering[axis as usize].div_ceil(sizes[axis as usize]));
        Axis::ALL.into_iter().filter(outside).map(chunks).product()
    }

    /// Estimates a tile and keeps it if it is among the best ones.
    fn offer(&mut self, sizes: Extents, order: [Group; 3], held: u8) {
        let Problem { nest, machine, objective, .. } = *self.problem;
        let (mut dram, mut down, mut up, mut read) = (0.0, 0.0, 0.0, 0.0);
        for tensor in TensorRole::ALL {
            let loads = self.loads(tensor, &sizes, order);
            let moves = if held & (1 << tensor as u8) != 0 { 1.0 } else { loads };
            let (elements, on_chip) = (self.whole[tensor], self.on_chip[tensor]);
            let is_resident = machine.resident[tensor];
            let in_dram = if is_resident { 0.0 } else { elements * self.in_dram[tensor] };
            if tensor == TensorRole::Output {
                up = self.boxes * elements * loads * on_chip;
                read = self.boxes * elements * (loads - 1.0) * on_chip;
                let spilled = if is_resident { 0.0 } else { elements * (moves - 1.0) };
                dram += machine.output_dram_bytes(elements as u64) as f64 + 2.0 * spilled * on_chip;
            } else {
                down += self.boxes * elements * loads * on_chip;
                dram += in_dram * moves;
            }
        }
        let unit = self.unit(&sizes);
        let (spread, units) = self.spread();
        let mut level = LevelChoice::whole(units, &unit);
        level.spatial = spread;
        level.order.sort_by_key(|&axis| place(order, axis));
        let outer = self.above.and_then(|tile| tile.off_chip);
        let off_chip = if self.is_off_chip { Some(level) } else { outer };
        let first = (!self.is_off_chip).then_some(level);
        let skeleton = match off_chip {
            Some(_) => self.skeleton.under_off_chip(),
            None => Some(*self.skeleton),
        };
        let Some(skeleton) = skeleton else { return };
        let mut known = [[0; N_AXES]; 2];
        let chosen = off_chip.iter().chain(&first).map(|level| level.sizes);
        let n_known = known.iter_mut().zip(chosen).map(|(to, sizes)| *to = sizes).count();
        let known = &known[..n_known];
        let steps = |axis| u128::from(skeleton.as_ref().steps_along(axis, nest.extents(), known));
        let compute = cycles_of(Axis::ALL.into_iter().map(steps).product(), machine.rate);
        let table = &machine.energies;
        let mut value = self.above.map_or(*self.floor, |tile| tile.value);
        if self.above.is_none() {
            value.cycles = value.cycles.max(machine.dram_cycles(dram.ceil() as u64));
            value.energy_pj += (dram - self.least_dram).max(0.0) * (table.dram + table.shared);
        }
        if !self.is_off_chip {
            let noc = machine.noc_level(0);
            let busy = noc.down.cycles(down as u64).max(noc.up.cycles(up as u64));
            value.cycles = value.cycles.max(busy);
            let moved = (down + up - self.least_moved).max(0.0);
            value.energy_pj += moved * (table.shared + table.noc) + read * table.shared;
        }
        value.cycles = value.cycles.max(compute);
        // Of equal tiles those that move less.
        let key = |value: &Value| (objective.of(value), value.energy_pj);
        let (own, worst) = (key(&value), self.best.last().map(|it| key(&it.value)));
        if self.best.len() >= self.most && worst.is_some_and(|worst| own >= worst) {
            return;
        }
        let tile = Tile { off_chip, first, value };
        if self.best.iter().any(|it| (it.off_chip, it.first) == (tile.off_chip, tile.first)) {
            return;
        }
        let at = self.best.partition_point(|it| key(&it.value) <= own);
        self.best.insert(at, tile);
        self.best.truncate(self.most);
    }
}

/// Place of the loop over an axis.
fn place(order: [Group; 3], axis: Axis) -> usize {
    order.iter().position(|group| *group == Group::of(axis)).unwrap_or(0)
}

/// Sizes that make chunks most equal, the largest first, denser for large ones, not more than
/// [`MOST_SIZES`].
fn few_sizes(extent: u32) -> Vec<u32> {
    let mut sizes = Sizes::Balanced.of(extent);
    sizes.reverse();
    let n = sizes.len();
    if n > MOST_SIZES {
        let at = |index: usize| {
            let part = index as f64 / (MOST_SIZES - 1) as f64;
            ((part * part * (n - 1) as f64).round() as usize).max(index)
        };
        sizes = (0..MOST_SIZES).map(|index| sizes[at(index)]).collect();
    }
    sizes
}

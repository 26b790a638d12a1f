//! Random small layers with legal mappings on random machine models.

use xrsim::cost::loop_nest::{
    Axis, Bandwidth, Compression, Evaluation, Extents, Fill, Machine, Mapping, Nest, NocLevel,
    Width, Widths, Window, evaluate,
};
use xrsim::dataflow::{Axis as MapAxis, ClusterLevel, Directive, Directives, Size};
use xrsim::model::PerTensor;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    fn within(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % u64::from(high - low + 1)) as u32
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: u32) -> bool {
        self.within(1, n) == 1
    }
}

/// A dense, grouped or depthwise convolution or a matrix product of at most 600 MACs.
fn random_nest(random: &mut Random) -> Nest {
    loop {
        let kind = random.within(0, 3);
        let mut up_to = |high: u32, wanted: bool| if wanted { random.within(1, high) } else { 1 };
        let (conv, depthwise, gemm) = (kind == 0, kind == 2, kind == 3);
        let extents: Extents = [
            up_to(2, true),
            up_to(4, !conv && !gemm),
            up_to(6, !depthwise),
            up_to(6, !depthwise),
            up_to(7, true),
            up_to(7, !gemm),
            up_to(4, !gemm),
            up_to(4, !gemm),
        ];
        let windows =
            [(extents[4], extents[6]), (extents[5], extents[7])].map(|(output, kernel)| {
                let (stride, dilation) = (random.within(1, 3), random.within(1, 2));
                let window = Window { stride, dilation, stored: 1, padding: 0 };
                let reach = window.reach(output, kernel);
                let padding = random.within(0, kernel - 1).min(reach - 1);
                Window { stored: reach - padding, ..window }.padded(output, kernel)
            });
        let nest = Nest::new(extents, windows, depthwise).expect("the layer is small");
        if nest.macs() <= 600 {
            return nest;
        }
    }
}

fn random_bandwidth(random: &mut Random) -> Bandwidth {
    Bandwidth::new(u64::from(random.within(0, 9))).unwrap_or(Bandwidth::INFINITE)
}

fn random_network(random: &mut Random) -> NocLevel {
    NocLevel {
        down: random_bandwidth(random),
        up: random_bandwidth(random),
        weights: random.once_in(3).then(|| random_bandwidth(random)),
        single_weights: random.once_in(4),
        latency: random.within(0, 3),
        step_latency: random.once_in(4),
        multicast: !random.once_in(3),
        forward: random.once_in(2),
        reduce: !random.once_in(3),
        fill: random_fill(random),
    }
}

fn random_fill(random: &mut Random) -> Fill {
    match random.within(0, 5) {
        0 => Fill::Cycles(u64::from(random.within(1, 9))),
        1 | 2 => Fill::Systolic,
        _ => Fill::Cycles(0),
    }
}

/// A whole number of bytes or any number of bits.
fn random_width(random: &mut Random) -> Width {
    match random.once_in(3) {
        true => Width::of_bits(random.within(1, 32)),
        false => Width::of_bytes(random.within(1, 4)),
    }
}

/// No compression, or a factor up to 2.
fn random_compression(random: &mut Random) -> Compression {
    let factor = if random.once_in(3) { random.within(1, 2000) } else { 1000 };
    Compression::new(f64::from(factor) / 1000.0).expect("it is above 0 and at most 2")
}

fn random_machine(random: &mut Random, pes: u32) -> Machine {
    let [input, weight, partial_sum, output] = [0; 4].map(|_| random_width(random));
    let noc_levels = (0..random.within(0, 3)).map(|_| random_network(random)).collect();
    Machine {
        units_limit: random.once_in(6).then(|| random.within(1, 4)),
        rate: random.within(1, 3),
        noc_levels,
        widths: Widths { input, weight, partial_sum, output },
        allow_overlap: random.once_in(3),
        ..Machine::new(pes)
    }
}

fn map(spatial: bool, size: u32, offset: u32, axis: MapAxis) -> Directive {
    let map = if spatial { Directive::spatial } else { Directive::temporal };
    map(size, offset, axis)
}

/// The axis of directives for an axis of the nest.
fn written(axis: Axis) -> MapAxis {
    match axis {
        Axis::N => MapAxis::N,
        Axis::G => MapAxis::G,
        Axis::K => MapAxis::K,
        Axis::C => MapAxis::C,
        Axis::OutputY => MapAxis::OutputY,
        Axis::OutputX => MapAxis::OutputX,
        Axis::R => MapAxis::R,
        Axis::S => MapAxis::S,
    }
}

/// Where a level stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    OffChip,
    OnChip,
}

/// Directives of one level in random order. Reduces `left` to the extents that enter the next level.
fn random_level(
    random: &mut Random,
    nest: &Nest,
    overlap: bool,
    place: Place,
    left: &mut Extents,
) -> Vec<Directive> {
    let mut axes = Axis::ALL.to_vec();
    for at in (1..axes.len()).rev() {
        axes.swap(at, random.within(0, at as u32) as usize);
    }
    let mut lines = Vec::new();
    let mut spatial_is_free = place == Place::OnChip;
    let mut tied = None;
    if spatial_is_free && random.once_in(6) {
        let (tap, lines_of_diagonal) = random_diagonal(random, nest, left);
        lines.extend(lines_of_diagonal);
        (spatial_is_free, tied) = (false, Some(tap));
    }
    for axis in axes {
        let extent = left[axis as usize];
        if tied.is_some_and(|at| Axis::WINDOWS[at].contains(&axis)) || random.once_in(3) {
            continue;
        }
        let parts = random.within(1, 3);
        let size = random.within(1, extent.div_ceil(parts));
        let spatial = spatial_is_free && size < extent && random.once_in(3);
        spatial_is_free &= !spatial;
        let beyond = overlap && !axis.is_reduction() && random.once_in(2);
        let offset = if beyond { random.within(1, size) } else { size };
        lines.push(map(spatial, size, offset, written(axis)));
        left[axis as usize] = size;
    }
    lines
}

/// A diagonal (section 3.6) on rows (0) or columns (1): its direction and its two directives.
fn random_diagonal(
    random: &mut Random,
    nest: &Nest,
    left: &mut Extents,
) -> (usize, [Directive; 2]) {
    let at = random.within(0, 1) as usize;
    let [output, kernel] = Axis::WINDOWS[at];
    let size = random.within(1, left[kernel as usize]);
    let window = nest.windows()[at];
    let reach = window.reach(left[output as usize], size);
    let input = [MapAxis::Y, MapAxis::X][at];
    left[kernel as usize] = size;
    let rows = map(true, reach, size * window.dilation, input);
    (at, [rows, map(true, size, size, written(kernel))])
}

/// A layer, its mapping on a machine, and the machine.
pub struct Case {
    pub nest: Nest,
    pub mapping: Mapping,
    pub machine: Machine,
}

/// Gives a machine random DRAM, copies in shared memory, and resident tensors.
fn add_random_memory(random: &mut Random, machine: &mut Machine) {
    machine.dram_bandwidth = random_bandwidth(random);
    machine.dram_latency = random.within(0, 5);
    machine.shared_copies = PerTensor::from([0; 3].map(|_| random.within(1, 3)));
    machine.resident = PerTensor::from([0; 3].map(|_| random.once_in(6)));
    machine.compression = PerTensor::from([0; 3].map(|_| random_compression(random)));
    machine.shared_bytes = random.once_in(2).then(|| u64::from(random.within(0, 1000)));
}

impl Case {
    /// The case of a seed, with an off-chip level or without; `None` if its directives are illegal.
    fn new(seed: u64, place: Place) -> Option<Self> {
        let random = &mut Random(seed);
        let nest = random_nest(random);
        let clusters: Vec<u32> = (0..random.within(0, 2)).map(|_| random.within(1, 4)).collect();
        let pes = clusters.iter().product::<u32>() * random.within(1, 4) + random.within(0, 1);
        let mut machine = random_machine(random, pes);
        let mut left = *nest.extents();
        let overlap = machine.allow_overlap;
        let mut off_chip = Vec::new();
        if place == Place::OffChip {
            add_random_memory(random, &mut machine);
            off_chip = random_level(random, &nest, overlap, place, &mut left);
        }
        let mut level = |units: Option<u32>| {
            let directives = random_level(random, &nest, overlap, Place::OnChip, &mut left);
            ClusterLevel { units: units.map(Size::Fixed), directives }
        };
        let mut levels = vec![level(None)];
        levels.extend(clusters.into_iter().map(|units| level(Some(units))));
        let mapping = Mapping::new(&Directives { off_chip, levels }, &nest, &machine).ok()?;
        Some(Self { nest, mapping, machine })
    }

    /// Result of the model with changed NoC levels.
    pub fn with(&self, change: impl Fn(&mut NocLevel)) -> Evaluation {
        let mut machine = self.machine.clone();
        if machine.noc_levels.is_empty() {
            machine.noc_levels.push(NocLevel::IDEAL);
        }
        machine.noc_levels.iter_mut().for_each(change);
        evaluate(&self.nest, &self.mapping, &machine).expect("the layer is small")
    }
}

/// Random cases of a test, where the user does not set their number: fewer without optimisation, which makes
/// them ten times as slow.
pub const N_CASES: u64 = if cfg!(debug_assertions) { 800 } else { 2000 };

/// Legal cases without an off-chip level, with their seeds. Environment variables set their number and the
/// first seed.
pub fn cases() -> impl Iterator<Item = (u64, Case)> {
    cases_of(Place::OnChip)
}

/// The same with an off-chip level.
pub fn off_chip_cases() -> impl Iterator<Item = (u64, Case)> {
    cases_of(Place::OffChip).filter(|(_, case)| case.mapping.off_chip().is_some())
}

fn cases_of(place: Place) -> impl Iterator<Item = (u64, Case)> {
    let number = |name: &str, default: u64| {
        let text = std::env::var(name).ok();
        text.map_or(default, |text| text.parse().expect("the variable is a number"))
    };
    let count = number("XRSIM_CASES", N_CASES);
    let seeds = number("XRSIM_FIRST", 0)..;
    let legal = seeds.filter_map(move |seed| Some((seed, Case::new(seed, place)?)));
    legal.take(count as usize)
}

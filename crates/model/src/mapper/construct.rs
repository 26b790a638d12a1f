//! Construction of a first mapping for given units and spatial axes (docs/explanation/mapper.md, section 5).

use crate::cost::loop_nest::{Axis, Extents};

use super::candidate::{Candidate, LevelChoice, N_AXES};
use super::outer::Tile;
use super::problem::Problem;

/// A mapping that spreads every axis of `axes` over the units of its level in one fold where it can, and
/// splits boxes until they fit into their buffers: each time along the axis that keeps most MACs for a
/// byte. `outer` has outermost levels that are known.
pub(super) fn construct(
    problem: &Problem,
    units: &[u32],
    axes: &[Option<Axis>],
    outer: Option<&Tile>,
) -> Candidate {
    let mut levels = Vec::with_capacity(units.len() + 1);
    let mut entering = *problem.nest.extents();
    let off_chip = outer.and_then(|tile| tile.off_chip);
    if let Some(level) = off_chip {
        entering = level.sizes;
        levels.push(level);
    }
    for (level, (&units, &axis)) in units.iter().zip(axes).enumerate() {
        let mut choice = LevelChoice::whole(units, &entering);
        choice.spatial = axis;
        let given = outer.and_then(|tile| tile.first).filter(|_| level == 0);
        if let Some(first) = given {
            choice = first;
        } else if let Some(axis) = axis {
            let size = &mut choice.sizes[axis as usize];
            *size = size.div_ceil(units);
        }
        fix(problem, level, &entering, &mut choice.sizes);
        shrink(problem, level, axes, &mut choice.sizes);
        if given.is_none() {
            choice.order = order(problem, &choice.sizes);
        }
        entering = choice.sizes;
        levels.push(choice);
    }
    Candidate { has_off_chip: off_chip.is_some(), levels }
}

/// Sets the sizes that the mapspace fixes, and undoes splits that it does not allow.
fn fix(problem: &Problem, level: usize, entering: &Extents, sizes: &mut Extents) {
    for &(axis, size) in &problem.space.level(level).fixed {
        sizes[axis as usize] = size.clamp(1, entering[axis as usize]);
    }
}

/// Halves axes of a unit box until it fits into its buffer, or nothing is left to split.
fn shrink(problem: &Problem, level: usize, axes: &[Option<Axis>], sizes: &mut Extents) {
    let space = problem.space.level(level);
    let may_split = |axis: Axis| {
        space.temporal.contains(axis) && space.fixed.iter().all(|(fixed, _)| *fixed != axis)
    };
    while problem.level_excess(level, axes.len(), sizes) > 0 {
        let halved = |axis: Axis| {
            let mut sizes = *sizes;
            let size = &mut sizes[axis as usize];
            *size = size.div_ceil(2);
            sizes
        };
        let splits =
            Axis::ALL.into_iter().filter(|&axis| sizes[axis as usize] > 1 && may_split(axis));
        // An axis that deeper levels spread keeps its parallelism as long as others can be split.
        let later = |axis: &Axis| axes[level + 1..].contains(&Some(*axis));
        let best = splits.map(|axis| (later(&axis), intensity(problem, &halved(axis)), axis));
        let best = best.min_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let Some((.., axis)) = best else { return };
        *sizes = halved(axis);
    }
}

/// MACs of a box for each byte of its tensors.
fn intensity(problem: &Problem, sizes: &Extents) -> f64 {
    let macs: f64 = sizes.iter().map(|&size| f64::from(size)).product();
    let footprints = problem.nest.footprints(sizes);
    let widths = &problem.machine.widths;
    let bytes = footprints.input as f64 * widths.input.bytes_per_element()
        + footprints.weight as f64 * widths.weight.bytes_per_element()
        + 2.0 * footprints.output as f64 * widths.partial_sum.bytes_per_element();
    macs / bytes
}

/// Loops of the axes that do not index the largest tensor of the box innermost, so that it stays.
fn order(problem: &Problem, sizes: &Extents) -> [Axis; N_AXES] {
    use crate::model::TensorRole;
    let footprints = problem.nest.footprints(sizes);
    let widths = &problem.machine.widths;
    let bits = |tensor| match tensor {
        TensorRole::Input => widths.input.bits_of(footprints.input),
        TensorRole::Weight => widths.weight.bits_of(footprints.weight),
        TensorRole::Output => widths.partial_sum.bits_of(2 * footprints.output),
    };
    let stays = problem.space.stationary;
    let stays = stays.or(TensorRole::ALL.into_iter().max_by_key(|&tensor| bits(tensor)));
    let mut order = Axis::ALL;
    order.sort_by_key(|axis| !stays.is_none_or(|tensor| axis.indexes(tensor)));
    order
}

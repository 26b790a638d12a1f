//! Structures of tuples: loops that select what the shared memory holds of a tensor, and loops that load it again.

use std::sync::{LazyLock, OnceLock};

use crate::cost::loop_nest::Axis;
use crate::mapper::space::AxisSet;
use crate::model::{PerTensor, TensorRole};

/// Where the loops of a tuple stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// On level 0, with a depth for each tensor: a mapping without loops above the shared memory.
    OnChip,
    /// Above the shared memory, with one box for all tensors.
    OffChip,
}

/// What orders and depths of the loops have in common that hold the same tiles and load them as often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Structure {
    /// Axes of each tensor of which a tile is held; the others are held whole.
    pub sliced: PerTensor<AxisSet>,
    /// Axes with another iteration of which each tensor is loaded again.
    pub reloads: PerTensor<AxisSet>,
    /// Axes inside K of which tiles of inputs are held.
    pub inside: AxisSet,
    /// Tensor that stays while the innermost loop advances.
    pub stays: TensorRole,
}

/// Axes that are sliced wherever a tensor is, and load no tensor again: the best case of them.
const FREE: [Axis; 3] = [Axis::G, Axis::R, Axis::S];

/// Axes whose orders are told apart.
const ORDERED: [Axis; 5] = [Axis::N, Axis::K, Axis::C, Axis::OutputY, Axis::OutputX];

/// Axes that do not index a tensor.
fn others(tensor: TensorRole) -> AxisSet {
    AxisSet::from_axes(Axis::ALL.into_iter().filter(|axis| !axis.indexes(tensor)))
}

/// Axes that index a tensor.
fn own(tensor: TensorRole) -> AxisSet {
    AxisSet::from_axes(Axis::ALL.into_iter().filter(|axis| axis.indexes(tensor)))
}

/// Axes with another iteration of which each tensor is loaded again, if one follows all loops: all that do not
/// index it, but for the tensor that stays.
pub(super) fn reloads(stays: TensorRole) -> PerTensor<AxisSet> {
    PerTensor::from_fn(|tensor| if tensor == stays { AxisSet::EMPTY } else { others(tensor) })
}

/// Axes of which one is the innermost loop where a tensor stays.
pub(super) fn innermost(stays: TensorRole) -> AxisSet {
    others(stays)
}

/// Structures of loops above the shared memory: one box for all tensors.
pub(super) fn off_chip() -> &'static [Structure] {
    static ALL: LazyLock<[Structure; TensorRole::ALL.len()]> = LazyLock::new(|| {
        TensorRole::ALL.map(|stays| Structure {
            sliced: PerTensor::from_fn(own),
            reloads: reloads(stays),
            inside: innermost(stays),
            stays,
        })
    });
    &*ALL
}

/// Structures of the loops of level 0 over the axes `present`: of all orders and depths those that no other one is
/// better than. They are found once for each set of axes.
pub(super) fn on_chip(present: AxisSet) -> &'static [Structure] {
    static OF_AXES: [OnceLock<Vec<Structure>>; 1 << ORDERED.len()] =
        [const { OnceLock::new() }; 1 << ORDERED.len()];
    let is_present = |at: &usize| present.contains(ORDERED[*at]);
    let present: Vec<_> = (0..ORDERED.len()).filter(is_present).collect();
    let number: usize = present.iter().map(|at| 1 << at).sum();
    OF_AXES[number].get_or_init(|| find_on_chip(present.iter().map(|at| ORDERED[*at]).collect()))
}

fn find_on_chip(mut axes: Vec<Axis>) -> Vec<Structure> {
    let mut best = Vec::new();
    let n_axes = axes.len();
    permute(&mut axes, n_axes, &mut |order| add_depths(order, &mut best));
    let with_stays =
        |structure: Structure| TensorRole::ALL.map(|stays| Structure { stays, ..structure });
    best.into_iter().flat_map(with_stays).collect()
}

/// Calls `visit` with every order of the first `n` axes.
fn permute(axes: &mut [Axis], n: usize, visit: &mut dyn FnMut(&[Axis])) {
    if n <= 1 {
        return visit(axes);
    }
    for at in 0..n {
        axes.swap(at, n - 1);
        permute(axes, n - 1, visit);
        axes.swap(at, n - 1);
    }
}

/// Adds the structures of all depths of the tensors in an order of loops.
fn add_depths(order: &[Axis], best: &mut Vec<Structure>) {
    let of_tensor = |tensor: TensorRole| {
        let depends = |depth: &usize| *depth == 0 || order[*depth - 1].indexes(tensor);
        (0..=order.len()).filter(depends).collect::<Vec<_>>()
    };
    let depths = PerTensor::from_fn(of_tensor);
    for &input in &depths.input {
        for &weight in &depths.weight {
            for &output in &depths.output {
                add(structure(order, &PerTensor { input, weight, output }), best);
            }
        }
    }
}

/// The structure of an order in which each tensor is held inside so many loops, the last of which indexes it.
fn structure(order: &[Axis], depths: &PerTensor<usize>) -> Structure {
    let free = AxisSet::from_axes(FREE);
    let within = |tensor| AxisSet::from_axes(order[..depths[tensor]].iter().copied());
    let sliced =
        PerTensor::from_fn(|tensor| within(tensor).and(own(tensor)).or(free.and(own(tensor))));
    let reloads = PerTensor::from_fn(|tensor| within(tensor).and(others(tensor)));
    let after_k = order.iter().skip_while(|axis| **axis != Axis::K).copied();
    let inside =
        AxisSet::from_axes(after_k).and(within(TensorRole::Input)).and(own(TensorRole::Input));
    Structure { sliced, reloads, inside, stays: TensorRole::Output }
}

/// Adds a structure unless another one is at least as good, and takes those out that it is better than.
fn add(new: Structure, best: &mut Vec<Structure>) {
    let is_better = |a: &Structure, b: &Structure| {
        let of = |tensor| {
            a.sliced[tensor].and(b.sliced[tensor]) == b.sliced[tensor]
                && a.reloads[tensor].and(b.reloads[tensor]) == a.reloads[tensor]
        };
        // Fewer loops inside K leave more of the inputs in place.
        let keeps = a.reloads.input == AxisSet::EMPTY || a.inside.and(b.inside) == a.inside;
        TensorRole::ALL.into_iter().all(of) && keeps
    };
    if best.iter().any(|known| is_better(known, &new)) {
        return;
    }
    best.retain(|known| !is_better(&new, known));
    best.push(new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_axes_has_structures_of_its_own() {
        for set in 0..1 << Axis::ALL.len() {
            let is_in = |axis: &Axis| set >> (*axis as usize) & 1 == 1;
            let present = AxisSet::from_axes(Axis::ALL.into_iter().filter(is_in));
            let axes = ORDERED.into_iter().filter(|axis| present.contains(*axis)).collect();
            assert_eq!(on_chip(present), find_on_chip(axes), "{set:b}");
        }
    }
}

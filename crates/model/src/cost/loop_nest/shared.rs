//! Walks that several machines share. The steps of a walk do not depend on bandwidths, widths and energies, nor on units
//! without work, so that those of layers are kept while their network is costed on one machine after the other.

use std::cell::RefCell;
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::hardware::{Compression, Fill, Widths};
use crate::model::{Network, PerTensor};

use super::dram::Holds;
use super::nest::Window;
use super::steps::Steps;
use super::walk::{is_countable, with_steps};
use super::{Evaluation, Illegal, Loop, Machine, Mapping, Nest, NocLevel, Walk};

/// Most walks that a thread keeps.
const MOST_WALKS: usize = 2048;
/// Most steps of a walk that is kept.
const MOST_STEPS: usize = 256;

thread_local! {
    static WALKS: RefCell<Walks> = RefCell::default();
}

/// Walks of a thread.
#[derive(Default)]
struct Walks {
    /// By hash, in two places each. A walk moves that in its first place to the second one.
    kept: Vec<Option<Box<Kept>>>,
    /// Key of the walk that is asked for.
    key: Key,
    /// Network whose layers are walked.
    network: Option<Network>,
    /// Walks through layers of other networks, whose memory is used again.
    #[expect(clippy::vec_box, reason = "they go back to their places as they are")]
    free: Vec<Box<Kept>>,
}

/// Tells the thread of which network the next walks are. Those of another one are kept no longer: few networks share
/// layers.
pub(super) fn begin(network: &Network) {
    WALKS.with_borrow_mut(|Walks { kept, network: last, free, .. }| {
        if last.as_ref().is_none_or(|last| !last.shares_layers(network)) {
            free.extend(kept.iter_mut().filter_map(Option::take));
            *last = Some(network.clone());
        }
    });
}

/// A walk through a layer, and the depths at which the shared memory can hold its tensors.
#[derive(Default)]
struct Kept {
    key: Key,
    steps: Steps,
    /// Those depths, and that on which they depend; `None` if DRAM has loops.
    holds: Option<(Storage, Rc<Holds>)>,
}

/// Widths, compression in DRAM, and copies of tiles in shared memory.
type Storage = (Widths, PerTensor<Compression>, PerTensor<u32>);

/// Everything on which the steps of a walk depend, in words.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Key(Vec<u32>);

impl Key {
    /// Sets the key to that of a loop nest under a mapping, without units that never work, and to multicast,
    /// forwarding, reduction and fill of every level on chip.
    fn set(&mut self, nest: &Nest, mapping: &Mapping, machine: &Machine) {
        let Self(words) = self;
        words.clear();
        words.extend_from_slice(nest.extents());
        for &Window { stride, dilation, stored, padding } in nest.windows() {
            words.extend_from_slice(&[stride, dilation, stored, padding]);
        }
        let n_levels = mapping.levels().len();
        let kind = [nest.is_depthwise(), mapping.off_chip().is_some()].map(u32::from);
        words.extend_from_slice(&[kind[0], kind[1], n_levels as u32]);
        let switches = |level: usize| {
            let &NocLevel { multicast, forward, reduce, fill, .. } = machine.noc_level(level);
            let bits = [multicast, forward, reduce, fill != Fill::default()];
            bits.into_iter().fold(0, |all, bit| all << 1 | u32::from(bit))
        };
        words.push((0..n_levels).fold(0, |all, level| all << 4 | switches(level)));
        let mut extents = *nest.extents();
        for level in mapping.all_levels() {
            let chunks = level.spatial().map_or(1, |map| map.chunks(extents[map.axis as usize]));
            // The number of loops tells levels apart.
            words.extend_from_slice(&[level.units().min(chunks), level.loops().len() as u32]);
            for &Loop { axis, size, offset, spatial } in level.loops() {
                let kind = (axis as u32) << 1 | u32::from(spatial);
                words.extend_from_slice(&[kind, size, offset]);
            }
            extents = level.unit_extents(&extents);
        }
    }

    /// Place among those of the thread.
    fn place(&self) -> usize {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish() as usize % MOST_WALKS
    }
}

/// Depths at which the tensors of a mapping can be held, none of which is resident; `None` if DRAM has loops.
pub(super) fn holds(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Option<Rc<Holds>> {
    let has_loops = mapping.off_chip().is_some();
    (!has_loops).then(|| Rc::new(Holds::new(nest, mapping, machine, PerTensor::default())))
}

/// As [`Walk::new`], with the [`holds`] of the mapping.
///
/// # Errors
///
/// As [`Walk::new`].
pub(super) fn walk(
    nest: &Nest,
    mapping: &Mapping,
    machine: &Machine,
) -> Result<(Walk, Option<Rc<Holds>>), Illegal> {
    if !is_countable(nest, mapping, machine) {
        return Err(Illegal::Overflow);
    }
    let storage = (machine.widths, machine.compression, machine.shared_copies);
    let holds = || holds(nest, mapping, machine);
    WALKS.with_borrow_mut(|Walks { kept: all, key, free, .. }| {
        key.set(nest, mapping, machine);
        all.resize_with(MOST_WALKS, || None);
        let first = key.place();
        let is_it = |at: &usize| all[*at].as_ref().is_some_and(|kept| kept.key == *key);
        let at = [first, first ^ 1].into_iter().find(is_it);
        if let Some(Kept { steps, holds: known, .. }) = at.and_then(|at| all[at].as_deref_mut()) {
            if known.as_ref().is_some_and(|(of, _)| *of != storage) {
                *known = holds().map(|holds| (storage, holds));
            }
            let holds = known.as_ref().map(|(_, holds)| Rc::clone(holds));
            return Ok((steps.walk(nest, mapping, machine), holds));
        }
        with_steps(nest, mapping, machine, |steps| {
            let (walk, holds) = (steps.walk(nest, mapping, machine), holds());
            if steps.len() <= MOST_STEPS {
                if all[first].is_some() {
                    all.swap(first, first ^ 1);
                }
                let kept = all[first].get_or_insert_with(|| free.pop().unwrap_or_default());
                kept.key.0.clone_from(&key.0);
                kept.steps.copy(steps);
                kept.holds = holds.clone().map(|holds| (storage, holds));
            }
            (walk, holds)
        })
    })
}

/// As [`evaluate`](super::evaluate), of a mapping that several machines have.
///
/// # Errors
///
/// As [`Walk::new`].
pub(crate) fn evaluate_shared(
    nest: &Nest,
    mapping: &Mapping,
    machine: &Machine,
) -> Result<Evaluation, Illegal> {
    let (walk, holds) = walk(nest, mapping, machine)?;
    let plan = match &holds {
        Some(holds) => holds.plan(machine),
        None => walk.plan(nest, mapping, machine),
    };
    Ok(walk.with_plan(nest, mapping, machine, plan))
}

#[cfg(test)]
mod tests {
    use super::super::nest::Window;
    use super::super::walk::most_classes;
    use super::super::{Axis, Bandwidth, Loop, evaluate};
    use super::*;

    /// Levels of the NoC that share steps with some of the others and not with the rest.
    fn nocs() -> Vec<NocLevel> {
        let [slow, fast] = [3, 40].map(|bytes| Bandwidth::new(bytes).expect("not 0"));
        let slow = NocLevel { down: slow, up: slow, latency: 2, ..NocLevel::IDEAL };
        let weights = Some(fast);
        let split = NocLevel { weights, single_weights: true, step_latency: true, ..slow };
        let filled = [Fill::Cycles(5), Fill::Cycles(9), Fill::Systolic];
        let filled = filled.map(|fill| NocLevel { fill, ..slow });
        let others = [
            NocLevel::IDEAL,
            split,
            NocLevel { multicast: false, ..slow },
            NocLevel { forward: true, ..slow },
            NocLevel { reduce: false, ..split },
        ];
        [slow].into_iter().chain(filled).chain(others).collect()
    }

    #[test]
    fn a_walk_that_machines_share_is_that_of_each_of_them() {
        let windows = [Window::new(7, 3, 9), Window::new(6, 2, 7)];
        let nest = Nest::new([2, 1, 5, 6, 7, 6, 3, 2], windows, false).expect("a layer");
        let of = Loop::new;
        let off_chip = [of(Axis::N, 1, false), of(Axis::C, 5, false)];
        let outer = [of(Axis::K, 2, true), of(Axis::OutputY, 3, false), of(Axis::C, 4, false)];
        let inner = [of(Axis::OutputX, 4, true), of(Axis::R, 1, false)];
        let narrow = Widths::of_bytes([1; 4]);
        // K has 3 chunks and X' 2: further units are idle.
        for units in [[1, 1], [2, 2], [3, 2], [4, 2], [9, 7]] {
            for (above, noc) in [None, Some(&off_chip[..])]
                .into_iter()
                .flat_map(|above| nocs().into_iter().map(move |noc| (above, noc)))
            {
                for widths in [narrow, Widths::of_bytes([2, 1, 4, 2])] {
                    let noc_levels = vec![noc, NocLevel { fill: Fill::default(), ..noc }];
                    let machine = Machine { noc_levels, widths, ..Machine::new(64) };
                    let levels = [(units[0], &outer[..]), (units[1], &inner[..])];
                    let mapping = Mapping::of_loops(above, &levels, &nest, &machine);
                    let mapping = mapping.expect("it is legal");
                    let shared = evaluate_shared(&nest, &mapping, &machine);
                    assert_eq!(shared, evaluate(&nest, &mapping, &machine), "{mapping:?} {noc:?}");
                    let n_classes = shared.expect("it is small").transitions;
                    assert!(n_classes <= most_classes(&mapping), "{n_classes} {mapping:?}");
                }
            }
        }
    }
}

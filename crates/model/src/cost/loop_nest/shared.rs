//! Walks that several machines share. The steps of a walk do not depend on bandwidths, widths and energies, nor on units
//! without work, so that those of layers are kept while their network is costed on one machine after the other.

use std::cell::RefCell;
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

use rustc_hash::FxHasher;

use crate::hardware::{Compression, Fill, Widths};
use crate::model::PerTensor;

use super::dram::Holds;
use super::steps::Steps;
use super::walk::{is_countable, with_steps};
use super::{Evaluation, Illegal, Machine, Mapping, Nest, NocLevel, Walk};

/// Most walks that a thread keeps.
const MOST_WALKS: usize = 1024;
/// Most steps of a walk that is kept.
const MOST_STEPS: usize = 256;

thread_local! {
    /// Walks of the thread, by hash. A walk replaces the one before it in its place.
    static WALKS: RefCell<Vec<Option<Box<Kept>>>> = RefCell::default();
}

/// A walk through a layer, and the depths at which the shared memory can hold its tensors.
struct Kept {
    key: Key,
    steps: Steps,
    /// `None` if DRAM has loops.
    holds: Option<Rc<Holds>>,
    /// That on which `holds` depend.
    storage: Storage,
}

/// Widths, compression in DRAM, and copies of tiles in shared memory.
type Storage = (Widths, PerTensor<Compression>, PerTensor<u32>);

/// That on which the steps of a walk depend.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    nest: Nest,
    /// The mapping without units that never work.
    mapping: Mapping,
    /// Multicast, forwarding, reduction and fill of every level on chip, in one bit each.
    switches: u32,
}

impl Key {
    fn new(nest: &Nest, mapping: &Mapping, machine: &Machine) -> Self {
        let bits = |level: usize| {
            let &NocLevel { multicast, forward, reduce, fill, .. } = machine.noc_level(level);
            let bits = [multicast, forward, reduce, fill != Fill::default()];
            bits.into_iter().fold(0, |all, bit| all << 1 | u32::from(bit))
        };
        let levels = 0..mapping.levels().len();
        Self {
            nest: nest.clone(),
            mapping: mapping.without_idle_units(nest),
            switches: levels.fold(0, |all, level| all << 4 | bits(level)),
        }
    }

    /// Place among those of the thread.
    fn place(&self) -> usize {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish() as usize % MOST_WALKS
    }
}

/// As [`Walk::new`], with the depths at which tensors can be held, none of which is resident; `None` if DRAM has loops.
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
    let holds = || {
        let has_loops = mapping.off_chip().is_some();
        (!has_loops).then(|| Rc::new(Holds::new(nest, mapping, machine, PerTensor::default())))
    };
    let key = Key::new(nest, mapping, machine);
    WALKS.with_borrow_mut(|walks| {
        walks.resize_with(MOST_WALKS, || None);
        let place = &mut walks[key.place()];
        if let Some(kept) = place.as_mut().filter(|kept| kept.key == key) {
            if kept.storage != storage {
                (kept.holds, kept.storage) = (holds(), storage);
            }
            return Ok((kept.steps.walk(nest, mapping, machine), kept.holds.clone()));
        }
        with_steps(nest, mapping, machine, |steps| {
            let (walk, holds) = (steps.walk(nest, mapping, machine), holds());
            if steps.len() <= MOST_STEPS {
                let (steps, holds) = (steps.clone(), holds.clone());
                *place = Some(Box::new(Kept { key, steps, holds, storage }));
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
                }
            }
        }
    }
}

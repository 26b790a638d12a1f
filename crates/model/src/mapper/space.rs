//! Mapspaces: the mappings among which a search finds the best one.

use crate::cost::loop_nest::{Axis, Extents, Machine};
use crate::model::TensorRole;

use super::candidate::LevelChoice;
use super::sizes::Sizes;

/// A set of axes of the iteration space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisSet(u8);

impl AxisSet {
    /// No axis.
    pub const EMPTY: Self = Self(0);
    /// Every axis.
    pub const ALL: Self = Self(u8::MAX);

    /// The set of these axes.
    pub fn from_axes(axes: impl IntoIterator<Item = Axis>) -> Self {
        Self(axes.into_iter().fold(0, |set, axis| set | 1 << axis as u8))
    }

    /// Whether `axis` is in the set.
    pub fn contains(self, axis: Axis) -> bool {
        self.0 & 1 << axis as u8 != 0
    }

    /// The set with `axis`.
    #[must_use]
    pub fn with(self, axis: Axis) -> Self {
        Self(self.0 | 1 << axis as u8)
    }

    /// The set without `axis`.
    #[must_use]
    pub fn without(self, axis: Axis) -> Self {
        Self(self.0 & !(1 << axis as u8))
    }

    /// Axes of both sets.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Axes of either set.
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Axes of the set, in the order of [`Axis::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Axis> {
        Axis::ALL.into_iter().filter(move |&axis| self.contains(axis))
    }
}

/// Free choices of one level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LevelSpace {
    /// Axes that may be spread over the units.
    pub spatial: AxisSet,
    /// Axes that may be split in time.
    pub temporal: AxisSet,
    /// Order of the loops, outermost first, if it is fixed. Axes that it does not name come after the
    /// named ones, in the order of [`Axis::ALL`].
    pub order: Option<Vec<Axis>>,
    /// Sizes that are fixed, by axis.
    pub fixed: Vec<(Axis, u32)>,
}

impl LevelSpace {
    /// The level above the shared memory: one unit.
    pub(super) const OFF_CHIP: Self =
        Self { spatial: AxisSet::EMPTY, temporal: AxisSet::ALL, order: None, fixed: Vec::new() };

    /// Whether the level may have these choices, apart from the family of sizes, where `entering` enters it.
    pub(super) fn allows(&self, choice: &LevelChoice, entering: &Extents) -> bool {
        let splits = |axis: &Axis| choice.sizes[*axis as usize] < entering[*axis as usize];
        let may_split = |axis: Axis| match choice.spatial == Some(axis) {
            true => self.spatial.contains(axis),
            false => self.temporal.contains(axis),
        };
        let is_fixed = |&(axis, size): &(Axis, u32)| {
            let at = axis as usize;
            choice.sizes[at] == size.clamp(1, entering[at])
        };
        let loops = || choice.order.iter().copied().filter(|axis| splits(axis));
        let is_ordered = self.order.as_ref().is_none_or(|order| {
            let place = |axis| order.iter().position(|it| *it == axis).unwrap_or(usize::MAX);
            loops().is_sorted_by_key(place)
        });
        loops().all(may_split) && self.fixed.iter().all(is_fixed) && is_ordered
    }

    /// A level on which everything is free.
    pub const FREE: Self =
        Self { spatial: AxisSet::ALL, temporal: AxisSet::ALL, order: None, fixed: Vec::new() };
}

/// The mappings among which a search finds the best one of a layer: lists of cluster sizes, and for each
/// level the axes, sizes and orders of its loops. At most one axis is spread on a level, and sizes equal
/// offsets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mapspace {
    /// Lists of cluster sizes, outermost first. A list of n sizes makes mappings of n + 1 levels.
    pub clusters: Vec<Vec<u32>>,
    /// Choices of every level, outermost first. The last one stands for all deeper levels.
    pub levels: Vec<LevelSpace>,
    /// Sizes of chunks.
    pub sizes: Sizes,
    /// Whether loops above the shared memory are allowed.
    pub off_chip: bool,
    /// Tensor that a PE keeps from one step to the next: the innermost temporal loop with more than one
    /// chunk does not index it, if any temporal loop does not.
    pub stationary: Option<TensorRole>,
}

impl Mapspace {
    /// Every mapping on chip with one of these lists of cluster sizes and these sizes of chunks.
    pub fn free(clusters: Vec<Vec<u32>>, sizes: Sizes) -> Self {
        Self { clusters, levels: vec![LevelSpace::FREE], sizes, off_chip: false, stationary: None }
    }

    /// Every mapping of 1 to `levels` levels whose cluster sizes are powers of two, at least 2, with a
    /// product of at most `pes`.
    pub fn any(pes: u32, levels: usize, sizes: Sizes) -> Self {
        let mut clusters = vec![vec![]];
        let mut longest = clusters.clone();
        for _ in 1..levels {
            longest = longest.iter().flat_map(|list| longer_lists(list, pes)).collect();
            clusters.extend(longest.iter().cloned());
        }
        Self { off_chip: true, ..Self::free(clusters, sizes) }
    }

    /// Choices of a level on chip, or of the one above the shared memory (`None`).
    pub(super) fn level_of(&self, level: Option<usize>) -> &LevelSpace {
        const OFF_CHIP: &LevelSpace = &LevelSpace::OFF_CHIP;
        level.map_or(OFF_CHIP, |level| self.level(level))
    }

    /// Choices of a level on chip.
    pub(super) fn level(&self, level: usize) -> &LevelSpace {
        const FREE: &LevelSpace = &LevelSpace::FREE;
        self.levels.get(level).or(self.levels.last()).unwrap_or(FREE)
    }

    /// Units of every level for a list of cluster sizes; `None` if the machine has too few PEs.
    pub(super) fn units(clusters: &[u32], machine: &Machine) -> Option<Vec<u32>> {
        let cluster = clusters.iter().try_fold(1u32, |product, &size| product.checked_mul(size))?;
        let units = machine.pes.checked_div(cluster)?.min(machine.units_limit.unwrap_or(u32::MAX));
        (units > 0).then(|| std::iter::once(units).chain(clusters.iter().copied()).collect())
    }
}

/// Lists with one more cluster, within `pes`.
fn longer_lists(list: &[u32], pes: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
    let product: u64 = list.iter().map(|&size| u64::from(size)).product();
    let sizes = (1..32).map(|power| 1u32 << power);
    let fits = move |&size: &u32| product * u64::from(size) <= u64::from(pes);
    sizes.take_while(fits).map(move |size| [list, &[size]].concat())
}

//! Sizes of an axis on the outermost level, of which no other one needs less memory, fewer chunks and fewer steps.

use crate::cost::loop_nest::{Axis, Extents};

use crate::mapper::bound::Skeleton;

/// A size of an axis, or a bound of several sizes with equal numbers of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Extent that is held at once.
    pub held: u32,
    /// Extent of a unit.
    pub unit: u32,
    /// Number of iterations.
    pub trips: u32,
    /// Number of working units, summed over the iterations.
    pub working: u32,
    /// Steps of a PE along the axis.
    pub steps: u64,
}

/// Sizes of one axis, the smallest first: tiles grow along the list, and numbers of iterations and of working units fall.
#[derive(Debug, Clone)]
pub(super) struct AxisSizes {
    sizes: Vec<Size>,
    /// Least steps of 2^n sizes from each on.
    least_steps: Vec<Vec<u64>>,
}

/// First and last place in a list of sizes.
pub(super) type Range = [u16; 2];

impl AxisSizes {
    /// Sizes of `axis` on the first level of a skeleton.
    pub(super) fn new(skeleton: &Skeleton, axis: Axis, extents: &Extents) -> Self {
        let sizes = sizes(skeleton, axis, extents);
        let mut least_steps = vec![sizes.iter().map(|size| size.steps).collect::<Vec<_>>()];
        let mut width = 1;
        while 2 * width <= sizes.len() {
            let last = &least_steps[least_steps.len() - 1];
            let both = (0..=sizes.len() - 2 * width).map(|at| last[at].min(last[at + width]));
            let both = both.collect();
            least_steps.push(both);
            width *= 2;
        }
        Self { sizes, least_steps }
    }

    /// Range of all sizes.
    pub(super) fn all(&self) -> Range {
        [0, (self.sizes.len() - 1) as u16]
    }

    /// The smallest and the largest size of a range.
    pub(super) fn ends(&self, range: Range) -> [&Size; 2] {
        range.map(|at| &self.sizes[usize::from(at)])
    }

    /// Least steps of a PE of all sizes of a range.
    pub(super) fn least_steps(&self, [first, last]: Range) -> u64 {
        let (first, last) = (usize::from(first), usize::from(last));
        let level = (last - first + 1).ilog2() as usize;
        let row = &self.least_steps[level];
        row[first].min(row[last + 1 - (1 << level)])
    }
}

/// Most sizes of an axis. Longer axes are bounded by a few ranges of sizes.
const MOST: usize = 4000;

fn sizes(skeleton: &Skeleton, axis: Axis, extents: &Extents) -> Vec<Size> {
    let extent = extents[axis as usize];
    let units = if skeleton.axes[0] == Some(axis) { skeleton.units[0] } else { 1 };
    let least = skeleton.steps_along(axis, extents, &[]);
    let steps_of = |unit: u32| {
        let mut sizes = *extents;
        sizes[axis as usize] = unit;
        skeleton.steps_along(axis, extents, &[sizes])
    };
    let size = |unit: u32, trips: u32, working: u32, steps: u64| Size {
        held: unit.saturating_mul(units).min(extent),
        unit,
        trips,
        working,
        steps,
    };
    let mut found = Vec::new();
    let mut unit = 1;
    while unit <= extent {
        let chunks = extent.div_ceil(unit);
        let trips = chunks.div_ceil(units);
        // All sizes from `unit` to `last` have equal numbers of iterations.
        let (last, working) = match trips {
            1 => (last_with(extent, chunks), chunks),
            _ => (last_with(extent, (trips - 1) * units + 1), (trips - 1) * units + 1),
        };
        let steps = steps_of(unit);
        found.push(size(unit, trips, working, steps));
        // Within one iteration, steps grow with the size.
        if trips > 1 && steps > least && last > unit {
            found.push(size(unit + 1, trips, working, least));
        }
        unit = last + 1;
    }
    if found.len() > MOST {
        // One size that bounds all.
        let (first, last) = (found[0], found[found.len() - 1]);
        return vec![Size { steps: least, trips: last.trips, working: last.working, ..first }];
    }
    found
}

/// Largest size that makes at least `chunks` chunks.
fn last_with(extent: u32, chunks: u32) -> u32 {
    if chunks == 1 { extent } else { (extent - 1) / (chunks - 1) }
}

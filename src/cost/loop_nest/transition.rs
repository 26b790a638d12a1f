//! The steps of a cluster on one box, in classes of equal steps (5.2, 5.3), and what the units of
//! the cluster do in each (5.7).

use super::context::{Context, Phase, Span};
use super::machine::NocLevel;
use super::mapping::{Level, Loop};
use super::nest::{Axis, Extents, N_AXES};

/// The chunk at which a loop is: `units` working units of which the last has extent `edge` and the
/// others the size of the map. Temporal loops have one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Working units; 0 in a ghost.
    pub units: u32,
    /// Extent of the last of them.
    pub edge: u32,
}

impl Chunk {
    const NONE: Self = Self { units: 0, edge: 0 };
}

/// The two kinds of chunks of a loop in a box (5.2).
#[derive(Debug, Clone, Copy)]
pub struct Trips {
    /// The axis.
    pub axis: Axis,
    /// Whether the chunks are folds over units.
    pub spatial: bool,
    /// Number of steps of this loop, T; at least 1.
    pub count: u32,
    /// Positions from one step to the next; 0 if there is one step only.
    pub advance: i32,
    /// Every chunk but the last.
    pub full: Chunk,
    /// The last chunk.
    pub last: Chunk,
}

impl Trips {
    /// A loop of one step without work.
    pub const NONE: Self = Self {
        axis: Axis::N,
        spatial: false,
        count: 1,
        advance: 0,
        full: Chunk::NONE,
        last: Chunk::NONE,
    };

    /// Chunks of `map` over `units` in an extent, which is 0 in a ghost.
    pub fn new(map: &Loop, units: u32, extent: u32) -> Self {
        let &Loop { axis, size, offset, spatial } = map;
        if extent == 0 {
            return Self { axis, spatial, ..Self::NONE };
        }
        let chunks = map.chunks(extent);
        let edge = extent - (chunks - 1) * offset;
        let side_by_side = if spatial { units } else { 1 };
        let count = chunks.div_ceil(side_by_side);
        Self {
            axis,
            spatial,
            count,
            advance: if count > 1 { (side_by_side * offset) as i32 } else { 0 },
            full: Chunk { units: side_by_side, edge: size },
            last: Chunk { units: chunks - (count - 1) * side_by_side, edge },
        }
    }

    /// The first chunk.
    pub fn first(&self) -> Chunk {
        if self.count > 1 { self.full } else { self.last }
    }

    /// Positions from the first chunk to the last.
    pub fn length(&self) -> i32 {
        (self.count - 1) as i32 * self.advance
    }

    /// Whether its chunks are of two kinds.
    fn is_mixed(&self) -> bool {
        self.count > 1 && self.full != self.last
    }
}

/// The clusters of a level: loops, units, and the trips of the loops in the largest box, where
/// they mostly are.
pub struct Cluster<'a> {
    noc: &'a NocLevel,
    loops: &'a [Loop],
    spatial: Option<&'a Loop>,
    units: u32,
    largest: &'a Extents,
    trips: [Trips; N_AXES],
}

impl<'a> Cluster<'a> {
    /// The clusters of `level`, whose boxes have at most the extents `largest`.
    pub fn new(level: &'a Level, noc: &'a NocLevel, largest: &'a Extents) -> Self {
        let (loops, spatial, units) = (level.loops(), level.spatial(), level.units());
        let mut trips = [Trips::NONE; N_AXES];
        for (trips, map) in trips.iter_mut().zip(loops) {
            *trips = Trips::new(map, units, largest[map.axis as usize]);
        }
        Self { noc, loops, spatial, units, largest, trips }
    }

    /// What feeds the units.
    pub fn noc(&self) -> &'a NocLevel {
        self.noc
    }

    /// The loop over the units.
    pub fn spatial(&self) -> Option<&'a Loop> {
        self.spatial
    }

    /// Trips of a loop in a box of this extent.
    fn trips(&self, index: usize, extent: u32) -> Trips {
        let map = &self.loops[index];
        if extent == self.largest[map.axis as usize] {
            self.trips[index]
        } else {
            Trips::new(map, self.units, extent)
        }
    }
}

/// A class of equal steps: each has the same boxes before and now, and follows the same shift.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// What the last working unit does; other units differ on the spatial axis only. `leaves` is
    /// that of the cluster (5.4).
    pub unit: Context,
    /// Whether the cluster was idle before.
    pub ghost: bool,
    /// How many such steps there are.
    pub times: u64,
    /// Units that work, A.
    pub units: u32,
    /// Units that worked before, A'.
    pub units_before: u32,
}

impl Transition {
    /// The step of a cluster without loops.
    pub fn whole(context: &Context) -> Self {
        Self {
            unit: *context,
            ghost: context.is_ghost(),
            times: 1,
            units: u32::from(context.phase != Phase::Flush),
            units_before: u32::from(context.phase != Phase::Cold),
        }
    }

    /// From the boxes of the cluster to those of its units in the step into the box (5.3 i); `trips`
    /// become those of the box.
    fn enter(&mut self, cluster: &Cluster, trips: &mut [Trips]) {
        for (index, trips) in trips.iter_mut().enumerate() {
            let Span { before, now, shift } = self.span(cluster.loops[index].axis);
            let before = cluster.trips(index, before);
            *trips = cluster.trips(index, now);
            self.set(trips, before.last, trips.first(), shift - before.length());
        }
    }

    fn set(&mut self, trips: &Trips, before: Chunk, now: Chunk, shift: i32) {
        self.unit.spans[trips.axis as usize] = Span { before: before.edge, now: now.edge, shift };
        if trips.spatial {
            (self.units_before, self.units) = (before.units, now.units);
        }
    }

    /// Loop `trips` as in a step in which loops outside it advance: from its last chunk to its first.
    fn rewind(&mut self, trips: &Trips) {
        self.set(trips, trips.last, trips.first(), -trips.length());
    }

    /// Between steps within the box that the step into it leads to.
    fn settle(&mut self, cluster: &Cluster) {
        self.unit.phase = Phase::Warm;
        (self.unit.leaves, self.ghost) = (false, false);
        // Axes that no loop of the level maps do not change.
        for span in &mut self.unit.spans {
            *span = Span::still(span.now);
        }
        if cluster.spatial.is_none() {
            (self.units, self.units_before) = (1, 1);
        }
    }

    /// One axis of the boxes of the last working unit.
    pub fn span(&self, axis: Axis) -> Span {
        self.unit.spans[axis as usize]
    }
}

/// Calls `visit` with every class of steps of a cluster (5.3), of which `transition` is the one of a
/// cluster without loops. `trips` becomes those of the box.
pub fn each_transition(
    cluster: &Cluster,
    mut transition: Transition,
    trips: &mut [Trips; N_AXES],
    mut visit: impl FnMut(&mut Transition),
) {
    let trips = &mut trips[..cluster.loops.len()];
    transition.enter(cluster, trips);
    visit(&mut transition);
    if trips.iter().any(|trips| trips.count > 1) {
        transition.settle(cluster);
        each_advance(trips, &mut transition, visit);
    }
}

/// Calls `visit` with every class of steps in which one of `trips`, loops of one box from the
/// outermost to the innermost, advances (5.3 ii). `transition` gives all other axes.
fn each_advance(
    trips: &[Trips],
    transition: &mut Transition,
    mut visit: impl FnMut(&mut Transition),
) {
    for (index, advancing) in trips.iter().enumerate().filter(|(_, trips)| trips.count > 1) {
        let (outer, inner) = (&trips[..index], &trips[index + 1..]);
        inner.iter().for_each(|trips| transition.rewind(trips));
        let mixed = outer.iter().filter(|trips| trips.is_mixed()).count();
        for at_last in 0..1u32 << mixed {
            let stays = stay(outer, transition, at_last);
            each_step_of(advancing, transition, |transition, times| {
                transition.times = stays * times;
                visit(transition);
            });
        }
    }
}

/// Calls `visit` with the kinds of steps of one loop and how many there are.
fn each_step_of(
    trips: &Trips,
    transition: &mut Transition,
    mut visit: impl FnMut(&mut Transition, u64),
) {
    let &Trips { full, last, advance, count, .. } = trips;
    let to_full = count - 1 - u32::from(full != last);
    if to_full > 0 {
        transition.set(trips, full, full, advance);
        visit(transition, u64::from(to_full));
    }
    if full != last {
        transition.set(trips, full, last, advance);
        visit(transition, 1);
    }
}

/// Puts the loops `outer` where they stay: those with two kinds of chunks at the last one if their
/// bit of `at_last` is set, in order. Gives the number of ways.
fn stay(outer: &[Trips], transition: &mut Transition, at_last: u32) -> u64 {
    let mut bits = at_last;
    let mut ways = 1;
    for trips in outer {
        let (chunk, count) = if !trips.is_mixed() {
            (trips.last, trips.count)
        } else {
            let is_last = bits & 1 == 1;
            bits >>= 1;
            if is_last { (trips.last, 1) } else { (trips.full, trips.count - 1) }
        };
        transition.set(trips, chunk, chunk, 0);
        ways *= u64::from(count);
    }
    ways
}

/// Calls `visit` with the context of every class of units of a step and its number of units (5.7).
/// In the end, `step` is what it was.
pub fn each_child(cluster: &Cluster, step: &mut Transition, mut visit: impl FnMut(u64, &Context)) {
    let Transition { units, units_before: before, .. } = *step;
    let last = cluster.spatial.map(|map| (map, step.span(map.axis)));
    let leaves = step.unit.leaves;
    let (fewer, more) = (units.min(before), units.max(before));
    let mut start = 0;
    // Where units differ from the one before them; an end before its start bounds no class.
    for end in [fewer.saturating_sub(1), fewer, more.saturating_sub(1), more] {
        if end <= start {
            continue;
        }
        if let Some((map, Span { before: edge_before, now: edge, shift })) = last {
            let now = extent_of(start, units, edge, map.size);
            let before = extent_of(start, before, edge_before, map.size);
            step.unit.spans[map.axis as usize] = Span { before, now, shift };
        }
        if start < units {
            step.unit.leaves = leaves || step.unit.changes_outputs();
            visit(u64::from(end - start), &step.unit);
        } else if !step.ghost {
            let idle = Context::flush(&step.unit.spans.map(|span| span.before));
            visit(u64::from(end - start), &idle);
        }
        start = end;
    }
    step.unit.leaves = leaves;
    if let Some((map, span)) = last {
        step.unit.spans[map.axis as usize] = span;
    }
}

/// Extent of a unit along the spatial axis; 0 if it is idle.
fn extent_of(unit: u32, units: u32, edge: u32, size: u32) -> u32 {
    match (unit + 1).cmp(&units) {
        std::cmp::Ordering::Less => size,
        std::cmp::Ordering::Equal => edge,
        std::cmp::Ordering::Greater => 0,
    }
}

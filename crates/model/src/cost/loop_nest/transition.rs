//! Transitions: the steps of a cluster on one box in classes of equal steps, and the contexts of its
//! units in each class (docs/explanation/cost-model-loop-nest.md, sections 5.2, 5.3 and 5.7).

use super::context::{Context, Phase, Span};
use super::machine::NocLevel;
use super::mapping::{Level, Loop};
use super::nest::{Axis, Extents, N_AXES};

/// State of a loop (section 5.2): `units` units work, the last of them on a chunk of extent `edge`, the
/// others on chunks of the size of the map. Temporal loops have one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopState {
    /// Number of working units; 0 in a ghost.
    pub units: u32,
    /// Extent of the chunk of the last working unit.
    pub edge: u32,
}

impl LoopState {
    const NONE: Self = Self { units: 0, edge: 0 };
}

/// Iterations of a loop in a box: their number, stride, and two states (section 5.2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trips {
    /// Axis.
    pub axis: Axis,
    /// Whether the loop is spatial: its iterations are folds over the units.
    pub spatial: bool,
    /// Number of iterations, T; at least 1.
    pub count: u32,
    /// Stride per iteration, adv; 0 if there is only one iteration.
    pub stride: i32,
    /// State in every iteration but the last.
    pub full: LoopState,
    /// State in the last iteration.
    pub last: LoopState,
}

impl Trips {
    /// A loop of one iteration without work.
    pub(super) const NONE: Self = Self {
        axis: Axis::N,
        spatial: false,
        count: 1,
        stride: 0,
        full: LoopState::NONE,
        last: LoopState::NONE,
    };

    /// Iterations of `map` over `units` units in an extent, which is 0 in a ghost.
    pub(super) fn new(map: &Loop, units: u32, extent: u32) -> Self {
        let &Loop { axis, size, offset, spatial } = map;
        if extent == 0 {
            return Self { axis, spatial, ..Self::NONE };
        }
        let chunks = map.chunks(extent);
        let edge = extent - (chunks - 1) * offset;
        let parallel = if spatial { units } else { 1 };
        let count = chunks.div_ceil(parallel);
        Self {
            axis,
            spatial,
            count,
            stride: if count > 1 { (parallel * offset) as i32 } else { 0 },
            full: LoopState { units: parallel, edge: size },
            last: LoopState { units: chunks - (count - 1) * parallel, edge },
        }
    }

    /// State in the first iteration.
    pub(super) fn first(&self) -> LoopState {
        if self.count > 1 { self.full } else { self.last }
    }

    /// Distance from the first iteration to the last \[position\].
    pub(super) fn length(&self) -> i32 {
        (self.count - 1) as i32 * self.stride
    }

    /// Whether iterations are of both states.
    pub(super) fn is_mixed(&self) -> bool {
        self.count > 1 && self.full != self.last
    }
}

/// The clusters of a level: loops and units. Iterations of the loops in the largest box, which most
/// boxes equal, are computed once.
pub(super) struct Cluster<'a> {
    noc: &'a NocLevel,
    loops: &'a [Loop],
    spatial: Option<&'a Loop>,
    units: u32,
    largest: &'a Extents,
    trips: [Trips; N_AXES],
}

impl<'a> Cluster<'a> {
    /// The clusters of `level`, whose boxes have at most the extents `largest`.
    pub(super) fn new(level: &'a Level, noc: &'a NocLevel, largest: &'a Extents) -> Self {
        let (loops, spatial, units) = (level.loops(), level.spatial(), level.units());
        let mut trips = [Trips::NONE; N_AXES];
        for (trips, map) in trips.iter_mut().zip(loops) {
            *trips = Trips::new(map, units, largest[map.axis as usize]);
        }
        Self { noc, loops, spatial, units, largest, trips }
    }

    /// NoC level that connects the units to the buffer above.
    pub(super) fn noc(&self) -> &'a NocLevel {
        self.noc
    }

    /// Iterations of the loops in the largest box, outermost first.
    pub(super) fn largest_trips(&self) -> &[Trips] {
        &self.trips[..self.loops.len()]
    }

    /// Loop over the units, if there is one.
    pub(super) fn spatial(&self) -> Option<&'a Loop> {
        self.spatial
    }

    /// Iterations of a loop in a box of this extent.
    fn trips(&self, index: usize, extent: u32) -> Trips {
        let map = &self.loops[index];
        if extent == self.largest[map.axis as usize] {
            self.trips[index]
        } else {
            Trips::new(map, self.units, extent)
        }
    }
}

/// A class of equal steps: previous box, present box and shift are the same in each (section 5.3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transition {
    /// Context of the last working unit. Other units differ on the spatial axis only. The flag `leaves`
    /// is that of the cluster (section 5.4).
    pub unit: Context,
    /// Whether the cluster was idle before.
    pub ghost: bool,
    /// Number of such steps in one visit of the box.
    pub times: u64,
    /// Number of units that work now, A.
    pub units: u32,
    /// Number of units that worked before, A'.
    pub units_before: u32,
}

impl Transition {
    /// The only step of a cluster without loops.
    pub(super) fn whole(context: &Context) -> Self {
        Self {
            unit: *context,
            ghost: context.is_ghost(),
            times: 1,
            units: u32::from(context.phase != Phase::Flush),
            units_before: u32::from(context.phase != Phase::Cold),
        }
    }

    /// Narrows the boxes of the cluster to those of its last working unit in the entry step (section
    /// 5.3). Sets `trips` to the iterations in the present box.
    fn enter(&mut self, cluster: &Cluster, trips: &mut [Trips]) {
        for (index, trips) in trips.iter_mut().enumerate() {
            let Span { before, now, shift } = self.span(cluster.loops[index].axis);
            let before = cluster.trips(index, before);
            *trips = cluster.trips(index, now);
            self.set(trips, before.last, trips.first(), shift - before.length());
        }
    }

    fn set(&mut self, trips: &Trips, before: LoopState, now: LoopState, shift: i32) {
        self.unit.set(trips.axis, Span { before: before.edge, now: now.edge, shift });
        if trips.spatial {
            (self.units_before, self.units) = (before.units, now.units);
        }
    }

    /// Sets a loop to rewind, from its last state to its first: a loop outside it advances.
    fn rewind(&mut self, trips: &Trips) {
        self.set(trips, trips.last, trips.first(), -trips.length());
    }

    /// Prepares for the steps after the entry, which stay within the box.
    fn start_advances(&mut self, cluster: &Cluster) {
        self.unit.phase = Phase::Warm;
        (self.unit.leaves, self.ghost) = (false, false);
        // Axes without a loop on this level do not change within the box.
        (self.unit.before, self.unit.shifts) = (self.unit.now, [0; N_AXES]);
        if cluster.spatial.is_none() {
            (self.units, self.units_before) = (1, 1);
        }
    }

    /// Intervals of the last working unit along one axis.
    pub(super) fn span(&self, axis: Axis) -> Span {
        self.unit.span(axis)
    }
}

/// Advance of a loop in a class of steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Advance {
    /// Position of the loop that advances; 0 is the outermost.
    pub index: usize,
    /// Whether it advances to its last state, where that differs from the others.
    pub to_last: bool,
    /// States of the loops outside it, as in [`keep_outer`].
    pub at_last: u32,
}

/// Calls `visit` with every class of steps of a cluster (section 5.3), and with the loop that advances; `None` in the
/// entry step. `transition` is the step of a cluster without loops. Sets `trips` to the iterations in the present box.
pub(super) fn each_class(
    cluster: &Cluster,
    mut transition: Transition,
    trips: &mut [Trips; N_AXES],
    mut visit: impl FnMut(&mut Transition, Option<Advance>),
) {
    let trips = &mut trips[..cluster.loops.len()];
    transition.enter(cluster, trips);
    visit(&mut transition, None);
    if trips.iter().any(|trips| trips.count > 1) {
        transition.start_advances(cluster);
        each_advance(trips, &mut transition, |transition, at| visit(transition, Some(at)));
    }
}

/// Calls `visit` with every class of steps in which one of the loops `trips`, outermost first, advances
/// (section 5.3). `transition` gives the axes without a loop.
fn each_advance(
    trips: &[Trips],
    transition: &mut Transition,
    mut visit: impl FnMut(&mut Transition, Advance),
) {
    for (index, advancing) in trips.iter().enumerate().filter(|(_, trips)| trips.count > 1) {
        let (outer, inner) = (&trips[..index], &trips[index + 1..]);
        inner.iter().for_each(|trips| transition.rewind(trips));
        let mixed = outer.iter().filter(|trips| trips.is_mixed()).count();
        for at_last in 0..1u32 << mixed {
            let ways = keep_outer(outer, transition, at_last);
            each_advance_of(advancing, transition, |transition, times, to_last| {
                transition.times = ways * times;
                visit(transition, Advance { index, to_last, at_last });
            });
        }
    }
}

/// Calls `visit` with the transitions of one loop as it advances, with the number of each, and whether
/// it is to the last state where that differs from the others.
fn each_advance_of(
    trips: &Trips,
    transition: &mut Transition,
    mut visit: impl FnMut(&mut Transition, u64, bool),
) {
    let &Trips { full, last, stride, count, .. } = trips;
    let to_full = count - 1 - u32::from(full != last);
    if to_full > 0 {
        transition.set(trips, full, full, stride);
        visit(transition, u64::from(to_full), false);
    }
    if full != last {
        transition.set(trips, full, last, stride);
        visit(transition, 1, true);
    }
}

/// Sets the loops `outer` to stay in one state. Of the loops with two states, number i is in its last
/// state if bit i of `at_last` is set, and in its full state otherwise. Returns the number of ways.
fn keep_outer(outer: &[Trips], transition: &mut Transition, at_last: u32) -> u64 {
    let mut bits = at_last;
    let mut ways = 1;
    for trips in outer {
        let (state, count) = if !trips.is_mixed() {
            (trips.last, trips.count)
        } else {
            let is_last = bits & 1 == 1;
            bits >>= 1;
            if is_last { (trips.last, 1) } else { (trips.full, trips.count - 1) }
        };
        transition.set(trips, state, state, 0);
        ways *= u64::from(count);
    }
    ways
}

/// Calls `visit` with the number of units and the context of every class of units in a step (section
/// 5.7). Restores `step` before it returns.
pub(crate) fn each_child(
    cluster: &Cluster,
    step: &mut Transition,
    mut visit: impl FnMut(u64, &Context),
) {
    let Transition { units, units_before: before, .. } = *step;
    let last = cluster.spatial.map(|map| (map, step.span(map.axis)));
    let leaves = step.unit.leaves;
    let (fewer, more) = (units.min(before), units.max(before));
    let mut start = 0;
    // Ends of the classes, along the index of units. An end before its start bounds no class.
    for end in [fewer.saturating_sub(1), fewer, more.saturating_sub(1), more] {
        if end <= start {
            continue;
        }
        if let Some((map, Span { before: edge_before, now: edge, shift })) = last {
            let now = extent_of(start, units, edge, map.size);
            let before = extent_of(start, before, edge_before, map.size);
            step.unit.set(map.axis, Span { before, now, shift });
        }
        if start < units {
            step.unit.leaves = leaves || step.unit.changes_outputs();
            visit(u64::from(end - start), &step.unit);
        } else if !step.ghost {
            visit(u64::from(end - start), &Context::flush(&step.unit.before));
        }
        start = end;
    }
    step.unit.leaves = leaves;
    if let Some((map, span)) = last {
        step.unit.set(map.axis, span);
    }
}

/// Extent of the chunk of a unit along the spatial axis; 0 if the unit is idle.
fn extent_of(unit: u32, units: u32, edge: u32, size: u32) -> u32 {
    match (unit + 1).cmp(&units) {
        std::cmp::Ordering::Less => size,
        std::cmp::Ordering::Equal => edge,
        std::cmp::Ordering::Greater => 0,
    }
}

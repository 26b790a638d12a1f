//! The steps of a cluster on one box, in classes of equal steps (5.2, 5.3), and what the units of
//! the cluster do in each (5.7).

use super::context::{Context, Phase, Span};
use super::mapping::{Level, Loop};
use super::nest::{Axis, N_AXES};

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
    /// Positions from one step to the next.
    pub advance: i64,
    /// Every chunk but the last.
    pub full: Chunk,
    /// The last chunk.
    pub last: Chunk,
}

impl Trips {
    /// A loop of one step.
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
            advance: i64::from(side_by_side) * i64::from(offset),
            full: Chunk { units: side_by_side, edge: size },
            last: Chunk { units: chunks - (count - 1) * side_by_side, edge },
        }
    }

    /// The first chunk.
    pub fn first(&self) -> Chunk {
        if self.count > 1 { self.full } else { self.last }
    }

    /// Positions from the first chunk to the last.
    pub fn length(&self) -> i64 {
        i64::from(self.count - 1) * self.advance
    }
}

/// A class of equal steps: each has the same boxes before and now, and follows the same shift.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// Whether it is the first step of all, another one, or a flush.
    pub phase: Phase,
    /// Whether the owner's output box changes (5.4).
    pub leaves: bool,
    /// Whether the cluster was idle before.
    pub ghost: bool,
    /// How many such steps there are.
    pub times: u64,
    /// Units that work, A.
    pub units: u32,
    /// Units that worked before, A'.
    pub units_before: u32,
    /// Axes of the unit boxes before and now; on the spatial axis those of the last working unit.
    pub spans: [Span; N_AXES],
}

impl Transition {
    fn set(&mut self, trips: &Trips, before: Chunk, now: Chunk, shift: i64) {
        let shift = shift as i32;
        self.spans[trips.axis as usize] = Span { before: before.edge, now: now.edge, shift };
        if trips.spatial {
            self.units_before = before.units;
            self.units = now.units;
        }
    }

    /// Loop `trips` as in a step in which loops outside it advance: from its last chunk to its first.
    fn rewind(&mut self, trips: &Trips) {
        self.set(trips, trips.last, trips.first(), -trips.length());
    }
}

/// Calls `visit` with every class of steps of a cluster that walks `level` in `context` (5.3).
pub fn each_transition(level: &Level, context: &Context, mut visit: impl FnMut(&Transition)) {
    let mut trips = [Trips::NONE; N_AXES];
    let trips = &mut trips[..level.loops().len()];
    let mut transition = entry(level, context, trips);
    visit(&transition);
    if context.phase == Phase::Flush {
        return;
    }
    transition.phase = Phase::Warm;
    transition.leaves = false;
    transition.ghost = false;
    settle(&mut transition, level);
    each_advance(trips, &mut transition, |transition, _| visit(transition));
}

/// The step into the box; `trips` become those of the box.
fn entry(level: &Level, context: &Context, trips: &mut [Trips]) -> Transition {
    let mut transition = Transition {
        phase: context.phase,
        leaves: context.leaves,
        ghost: context.is_ghost(),
        times: 1,
        units: u32::from(context.phase != Phase::Flush),
        units_before: u32::from(context.phase != Phase::Cold),
        spans: context.spans,
    };
    for (map, trips) in level.loops().iter().zip(trips) {
        let span = context.spans[map.axis as usize];
        let before = Trips::new(map, level.units(), span.before);
        *trips = Trips::new(map, level.units(), span.now);
        let shift = match context.phase {
            Phase::Warm => i64::from(span.shift) - before.length(),
            Phase::Cold | Phase::Flush => 0,
        };
        transition.set(trips, before.last, trips.first(), shift);
    }
    transition
}

/// Axes that no loop of the level maps do not change within the box.
fn settle(transition: &mut Transition, level: &Level) {
    for span in &mut transition.spans {
        *span = Span { before: span.now, now: span.now, shift: 0 };
    }
    if level.spatial().is_none() {
        (transition.units, transition.units_before) = (1, 1);
    }
}

/// Calls `visit` with every class of steps in which one of `trips`, loops of one box from the
/// outermost to the innermost, advances, and the index of that loop (5.3 ii). `transition` gives
/// all other axes.
pub fn each_advance(
    trips: &[Trips],
    transition: &mut Transition,
    mut visit: impl FnMut(&Transition, usize),
) {
    for inner in trips {
        transition.rewind(inner);
    }
    for (index, advancing) in trips.iter().enumerate().filter(|(_, trips)| trips.count > 1) {
        let outer = &trips[..index];
        for inner in &trips[index + 1..] {
            transition.rewind(inner);
        }
        let mixed = outer.iter().filter(|trips| trips.full != trips.last && trips.count > 1);
        for at_last in 0..1u32 << mixed.count() {
            let stays = stay(outer, transition, at_last);
            let count = u64::from(advancing.count);
            let &Trips { full, last, advance, .. } = advancing;
            let to_full = if full == last { count - 1 } else { count - 2 };
            if to_full > 0 {
                transition.set(advancing, full, full, advance);
                transition.times = stays * to_full;
                visit(transition, index);
            }
            if full != last {
                transition.set(advancing, full, last, advance);
                transition.times = stays;
                visit(transition, index);
            }
        }
    }
}

/// Puts the loops `outer` where they stay: those with two kinds of chunks at the last one if their
/// bit of `at_last` is set, in order. Gives the number of ways.
fn stay(outer: &[Trips], transition: &mut Transition, at_last: u32) -> u64 {
    let mut bits = at_last;
    let mut ways = 1;
    for trips in outer {
        let (chunk, count) = if trips.count == 1 || trips.full == trips.last {
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
pub fn each_child(level: &Level, step: &Transition, mut visit: impl FnMut(u64, Context)) {
    let spatial = level.spatial();
    let (units, before) = (step.units, step.units_before);
    let mut cuts = [units.saturating_sub(1), units, before.saturating_sub(1), before];
    cuts.sort_unstable();
    let mut start = 0;
    for end in cuts {
        if end > start {
            let mut spans = step.spans;
            if let Some(map) = spatial {
                let span = &mut spans[map.axis as usize];
                span.now = extent_of(start, units, span.now, map.size);
                span.before = extent_of(start, before, span.before, map.size);
            }
            if let Some(context) = child(step, start, spans) {
                visit(u64::from(end - start), context);
            }
            start = end;
        }
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

/// What a unit does in a step; `None` if it is idle and was.
fn child(step: &Transition, unit: u32, spans: [Span; N_AXES]) -> Option<Context> {
    if unit >= step.units {
        return (!step.ghost).then(|| Context::flush(&spans.map(|span| span.before)));
    }
    Some(match step.phase {
        Phase::Cold => Context::cold(&spans.map(|span| span.now)),
        _ => Context::warm(spans, step.leaves),
    })
}

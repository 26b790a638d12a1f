//! Levels and loops of a mapping in numbers, for its estimate (docs/explanation/mapper.md, section 5.1).

use crate::cost::loop_nest::{Axis, Extents, Mapping, Nest};
use crate::model::TensorRole;

use super::candidate::{LevelChoice, N_AXES};

/// Most levels of a mapping, with the one above the shared memory.
pub(super) const MOST_LEVELS: usize = Mapping::MAX_LEVELS + 1;

/// Most loops of a mapping.
pub(super) const MOST_LOOPS: usize = MOST_LEVELS * N_AXES;

/// A loop with more than one iteration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub axis: Axis,
    pub level: usize,
    /// Iterations.
    pub trips: f64,
    /// The same in units of the work of a full one.
    pub steps: f64,
    /// Positions by which an iteration advances.
    pub advance: u32,
}

/// A level of a mapping in numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    /// Box of all units together.
    pub together: Extents,
    /// Box of one unit.
    pub unit: Extents,
    pub spatial: Option<Axis>,
    /// Mean number of units that work.
    pub active: f64,
    /// Number of boxes of all units together along every axis, over the layer.
    pub boxes: [f64; N_AXES],
    /// The same of units.
    pub unit_boxes: [f64; N_AXES],
    /// Number of loops of this and outer levels.
    pub n_loops: usize,
}

/// Levels and loops of a mapping in numbers.
pub(super) struct Plan {
    pub stages: [Stage; MOST_LEVELS],
    pub n_stages: usize,
    pub loops: [Turn; MOST_LOOPS],
    pub n_loops: usize,
}

impl Stage {
    const NONE: Self = Self {
        together: [1; N_AXES],
        unit: [1; N_AXES],
        spatial: None,
        active: 1.0,
        boxes: [1.0; N_AXES],
        unit_boxes: [1.0; N_AXES],
        n_loops: 0,
    };
}

impl Turn {
    const NONE: Self = Self { axis: Axis::N, level: 0, trips: 1.0, steps: 1.0, advance: 1 };
}

impl Plan {
    pub(super) fn new(nest: &Nest, levels: &[LevelChoice]) -> Self {
        let mut plan = Self {
            stages: [Stage::NONE; MOST_LEVELS],
            n_stages: levels.len(),
            loops: [Turn::NONE; MOST_LOOPS],
            n_loops: 0,
        };
        let mut boxes = [1.0; N_AXES];
        for (at, level) in levels.iter().enumerate() {
            plan.add(nest, levels, at, level, &mut boxes);
        }
        plan
    }

    /// Adds a level. `boxes` has the number of boxes that enter it along every axis, and those of its units after
    /// it.
    fn add(
        &mut self,
        nest: &Nest,
        levels: &[LevelChoice],
        at: usize,
        level: &LevelChoice,
        boxes: &mut [f64; N_AXES],
    ) {
        let entering = if at == 0 { nest.extents() } else { &levels[at - 1].sizes };
        let stage = &mut self.stages[at];
        (stage.together, stage.unit) = (level.sizes, level.sizes);
        (stage.boxes, stage.unit_boxes) = (*boxes, *boxes);
        for axis in level.order {
            let index = axis as usize;
            let (extent, size) = (entering[index], level.sizes[index]);
            if size >= extent {
                continue;
            }
            let chunks = extent.div_ceil(size);
            let (mut trips, mut advance) = (chunks, size);
            if level.spatial == Some(axis) {
                trips = chunks.div_ceil(level.units);
                advance = size.saturating_mul(level.units).min(extent);
                stage.spatial = Some(axis);
                stage.active = f64::from(chunks) / f64::from(trips);
                stage.together[index] = advance;
            }
            // The last of the boxes that enter is smaller.
            let full = boxes[index] - 1.0;
            let rest = f64::from(nest.extents()[index]) - full * f64::from(extent);
            let last = (rest / f64::from(size)).ceil().clamp(1.0, f64::from(chunks));
            let units = full * f64::from(chunks) + last;
            stage.unit_boxes[index] = units;
            stage.boxes[index] = (units / f64::from(chunks) * f64::from(trips)).max(boxes[index]);
            boxes[index] = units;
            if trips > 1 {
                let inner = &levels[at + 1..];
                let [all, one] = [(extent, level), (advance, level)]
                    .map(|(extent, level)| steps_along(index, extent, level, inner));
                let steps = f64::from(all) / f64::from(one.max(1));
                self.loops[self.n_loops] =
                    Turn { axis, level: at, trips: f64::from(trips), steps, advance };
                self.n_loops += 1;
            }
        }
        stage.n_loops = self.n_loops;
    }

    pub(super) fn loops(&self, stage: &Stage) -> &[Turn] {
        &self.loops[..stage.n_loops]
    }
}

/// Steps of a PE along an axis in a box of this extent that enters `level`.
fn steps_along(axis: usize, extent: u32, level: &LevelChoice, inner: &[LevelChoice]) -> u32 {
    let within = |extent: u32| match inner.split_first() {
        Some((next, inner)) => steps_along(axis, extent, next, inner),
        None => extent,
    };
    let size = level.sizes[axis];
    if size >= extent {
        return within(extent);
    }
    let chunks = extent.div_ceil(size);
    let last = extent - (chunks - 1) * size;
    let (full, last) = match level.spatial.is_some_and(|it| it as usize == axis) {
        false => (chunks - 1, last),
        true => {
            let folds = chunks.div_ceil(level.units);
            (folds - 1, if chunks - (folds - 1) * level.units > 1 { size } else { last })
        }
    };
    let of_full = within(size);
    let of_last = if last == size { of_full } else { within(last) };
    full.saturating_mul(of_full).saturating_add(of_last)
}

/// Number of the innermost of `loops` that indexes a tensor, counted from 1; 0 if none does.
pub(super) fn innermost(loops: &[Turn], tensor: TensorRole) -> usize {
    loops.iter().rposition(|turn| turn.axis.indexes(tensor)).map_or(0, |at| at + 1)
}

/// Iterations of the loops outside the innermost one that indexes a tensor which do not index it themselves:
/// how many times each of its elements moves.
pub(super) fn reloads(loops: &[Turn], tensor: TensorRole) -> f64 {
    let outside = &loops[..innermost(loops, tensor)];
    let others = outside.iter().filter(|turn| !turn.axis.indexes(tensor));
    others.map(|turn| turn.trips).product()
}

/// Window of which a loop is an axis, if it moves over inputs.
pub(super) fn window_of(loops: &[Turn]) -> Option<(&Turn, usize)> {
    let turn = loops.get(innermost(loops, TensorRole::Input).checked_sub(1)?)?;
    turn.axis.window().map(|window| (turn, window))
}

//! Timeloop's count of the inputs that the units of a level fetch (docs/explanation/cost-model-loop-nest.md,
//! section 10.4.1).
//!
//! A unit keeps what the present and the previous tile share only while one loop advances. As soon as a
//! loop starts again, because one outside it advances, a tile that is not there already is fetched
//! whole. One send serves several units only if they fetch exactly the same box.

use xrsim_model::cost::loop_nest::{Axis, Extents, Level, Nest};

/// Most tiles of units that are counted step by step.
const MAX_TILES: u64 = 1 << 24;

/// Input coordinates n, g, c, row and column: begin and end.
type Box5 = [(u64, u64); 5];

/// Inputs that are fetched over the whole layer \[element\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fetches {
    /// Sends, with multicast of identical boxes.
    pub sent: u64,
    /// Sends if boxes that another unit of the cluster held in the previous step come from there.
    pub sent_beside_forwards: u64,
    /// Deliveries to the units.
    pub delivered: u64,
    /// Whether a tile was fetched whole although the previous one had a part of it.
    pub restarts: bool,
}

/// A loop that moves the tile of the first unit.
struct Step {
    axis: usize,
    /// Distance of the tiles of neighbouring iterations, in positions of the axis.
    distance: u32,
    count: u32,
}

/// The loops above and in one level.
pub(super) struct Walk<'a> {
    nest: &'a Nest,
    steps: Vec<Step>,
    /// Axis, distance and number of the units of one cluster.
    units: (usize, u32, u32),
    /// Extents of the tile of a unit.
    tile: Extents,
    /// Clusters of the level, which all do the same.
    clusters: u64,
}

impl<'a> Walk<'a> {
    /// Walk of the units of `level`. `None` if a loop does not divide its axis into equal chunks.
    pub(super) fn of_level(nest: &'a Nest, levels: &[Level], level: usize) -> Option<Self> {
        let mut walk =
            Self { nest, steps: Vec::new(), units: (0, 0, 1), tile: *nest.extents(), clusters: 1 };
        for (index, one) in levels.iter().enumerate().take(level + 1) {
            for map in one.loops() {
                let axis = map.axis as usize;
                let chunks = map.chunks(walk.tile[axis]);
                let units = if map.spatial { one.units().min(chunks) } else { 1 };
                if map.size != map.offset
                    || !walk.tile[axis].is_multiple_of(map.size)
                    || !chunks.is_multiple_of(units)
                {
                    return None;
                }
                let distance = map.size.checked_mul(units)?;
                walk.steps.push(Step { axis, distance, count: chunks / units });
                if map.spatial && index == level {
                    walk.units = (axis, map.size, units);
                } else if map.spatial {
                    walk.clusters = walk.clusters.checked_mul(units.into())?;
                }
            }
            walk.tile = one.unit_extents(&walk.tile);
        }
        Some(walk)
    }

    /// Walk of one unit through loops over axes, outermost first, each with its number of equal chunks.
    /// `None` if a loop does not divide its axis.
    pub(super) fn of_loops(nest: &'a Nest, loops: &[(Axis, u32)]) -> Option<Self> {
        let mut tile = *nest.extents();
        let mut steps = Vec::new();
        for &(axis, count) in loops {
            let axis = axis as usize;
            if count == 0 || !tile[axis].is_multiple_of(count) {
                return None;
            }
            tile[axis] /= count;
            steps.push(Step { axis, distance: tile[axis], count });
        }
        Some(Self { nest, steps, units: (0, 0, 1), tile, clusters: 1 })
    }

    /// Counts all fetches. `None` if there are too many tiles.
    pub(super) fn count(&self) -> Option<Fetches> {
        let (axis, distance, n_units) = self.units;
        let n_steps = self.steps.iter().try_fold(1u64, |n, it| n.checked_mul(it.count.into()))?;
        n_steps.checked_mul(n_units.into()).filter(|&tiles| tiles <= MAX_TILES)?;
        let mut at = vec![0; self.steps.len()];
        let (mut before, mut now): (Vec<Box5>, Vec<Box5>) = (Vec::new(), Vec::new());
        let mut total = Fetches { sent: 0, sent_beside_forwards: 0, delivered: 0, restarts: false };
        let mut advanced = 0;
        loop {
            let start = self.start(&at);
            now.clear();
            now.extend((0..n_units).map(|unit| {
                let mut start = start;
                start[axis] += u64::from(unit) * u64::from(distance);
                self.inputs(&start)
            }));
            total.add(&before, &now, advanced > 1);
            std::mem::swap(&mut before, &mut now);
            advanced = self.advance(&mut at);
            if advanced == 0 {
                break;
            }
        }
        let all = |count: u64| count.checked_mul(self.clusters);
        Some(Fetches {
            sent: all(total.sent)?,
            sent_beside_forwards: all(total.sent_beside_forwards)?,
            delivered: all(total.delivered)?,
            ..total
        })
    }

    /// Moves to the next iteration and returns how many loops changed; 0 at the end.
    fn advance(&self, at: &mut [u32]) -> usize {
        let mut changed = 0;
        for (at, step) in at.iter_mut().zip(&self.steps).rev() {
            changed += usize::from(step.count > 1);
            *at += 1;
            if *at < step.count {
                return changed;
            }
            *at = 0;
        }
        0
    }

    fn start(&self, at: &[u32]) -> [u64; 8] {
        let mut start = [0; 8];
        for (&at, step) in at.iter().zip(&self.steps) {
            start[step.axis] += u64::from(at) * u64::from(step.distance);
        }
        start
    }

    /// Inputs of the tile at `start`.
    fn inputs(&self, start: &[u64; 8]) -> Box5 {
        let plain = Axis::INPUT.map(|axis| {
            let begin = start[axis as usize];
            (begin, begin + u64::from(self.tile[axis as usize]))
        });
        let window = |direction: usize| {
            let [output, kernel] = Axis::WINDOWS[direction].map(|axis| axis as usize);
            let steps = self.nest.compact()[direction];
            let begin =
                start[output] * u64::from(steps.stride) + start[kernel] * u64::from(steps.dilation);
            (begin, begin + steps.reach(self.tile[output], self.tile[kernel]))
        };
        [plain[0], plain[1], plain[2], window(0), window(1)]
    }
}

impl Fetches {
    /// Adds one step of all units; `is_restart` if an inner loop started again.
    fn add(&mut self, before: &[Box5], now: &[Box5], is_restart: bool) {
        let mut pieces = Vec::with_capacity(now.len());
        for (unit, tile) in now.iter().enumerate() {
            let Some(old) = before.get(unit) else {
                pieces.push(*tile);
                continue;
            };
            let Some(piece) = missing(tile, old) else { continue };
            self.restarts |= is_restart && piece != *tile;
            pieces.push(if is_restart { *tile } else { piece });
        }
        self.delivered += pieces.iter().map(volume).sum::<u64>();
        pieces.sort_unstable();
        pieces.dedup();
        self.sent += pieces.iter().map(volume).sum::<u64>();
        pieces.retain(|piece| before.iter().all(|old| missing(piece, old).is_some()));
        self.sent_beside_forwards += pieces.iter().map(volume).sum::<u64>();
    }
}

/// Box of the elements of `tile` that `old` lacks, the whole tile if they are no box; `None` if there are
/// none.
fn missing(tile: &Box5, old: &Box5) -> Option<Box5> {
    let mut shared = *tile;
    for (shared, old) in shared.iter_mut().zip(old) {
        *shared = (shared.0.max(old.0), shared.1.min(old.1));
        if shared.0 >= shared.1 {
            return Some(*tile);
        }
    }
    let mut cut = (0..5).filter(|&index| shared[index] != tile[index]);
    let index = cut.next()?;
    let (whole, part) = (tile[index], shared[index]);
    let rest = match (whole.0 == part.0, whole.1 == part.1) {
        _ if cut.next().is_some() => return Some(*tile),
        (true, _) => (part.1, whole.1),
        (_, true) => (whole.0, part.0),
        _ => return Some(*tile),
    };
    let mut piece = *tile;
    piece[index] = rest;
    Some(piece)
}

fn volume(tile: &Box5) -> u64 {
    tile.iter().map(|(begin, end)| end - begin).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::cost::loop_nest::Window;

    /// Four rows of outputs under three kernel rows: six input rows of one column.
    fn nest() -> Nest {
        let windows = [Window::new(4, 3, 6), Window::new(1, 1, 1)];
        Nest::new([1, 1, 1, 1, 4, 1, 3, 1], windows, false).expect("a layer")
    }

    #[test]
    fn a_sliding_tile_fetches_the_difference() {
        // Output rows 0-1, then 2-3: input rows 0-3, then 4-5.
        let nest = nest();
        let fetches = Walk::of_loops(&nest, &[(Axis::OutputY, 2)]).and_then(|walk| walk.count());
        let fetches = fetches.expect("it is small");
        assert_eq!((fetches.sent, fetches.delivered, fetches.restarts), (6, 6, false));
    }

    #[test]
    fn a_tile_is_fetched_whole_after_an_inner_loop_starts_again() {
        // Kernel row r outside output rows y: rows r and r + 2 in turn, 2 rows each time, though row
        // r + 1 of the first tile was there: 2 + 2, then 2 + 2, then 2 + 2.
        let nest = nest();
        let loops = [(Axis::R, 3), (Axis::OutputY, 2)];
        let fetches = Walk::of_loops(&nest, &loops).and_then(|walk| walk.count());
        let fetches = fetches.expect("it is small");
        assert_eq!((fetches.sent, fetches.restarts), (12, true));
    }

    #[test]
    fn loops_that_do_not_divide_and_long_walks_are_not_counted() {
        let nest = nest();
        assert!(Walk::of_loops(&nest, &[(Axis::OutputY, 3)]).is_none());
        let windows = [Window::new(1 << 25, 1, 1 << 25), Window::new(1, 1, 1)];
        let long = Nest::new([1, 1, 1, 1, 1 << 25, 1, 1, 1], windows, false).expect("a layer");
        let walk = Walk::of_loops(&long, &[(Axis::OutputY, 1 << 25)]).expect("it divides");
        assert!(walk.count().is_none());
    }
}

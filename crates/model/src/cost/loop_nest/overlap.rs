//! Overlaps of the intervals of units along the coordinate that differs between them: the six numbers
//! of section 5.5 (docs/explanation/cost-model-loop-nest.md).

use super::context::overlap;

/// Intervals of the units of a cluster along one coordinate. Unit u needs the `width` positions that
/// start at `u * pitch`, and had the `width_before` positions that start at `u * pitch - shift`. The
/// last units have the widths `edge` and `edge_before`, which are no larger than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitIntervals {
    /// Number of units that work now, A.
    pub units: u32,
    /// Number of units that worked before, A'.
    pub units_before: u32,
    /// Distance of the starts of neighbouring units, d; at least 1.
    pub pitch: i64,
    /// Number of positions that a unit needs, w.
    pub width: i64,
    /// Number of positions that the last unit needs, w_e.
    pub edge: i64,
    /// Number of positions that a unit had, w'.
    pub width_before: i64,
    /// Number of positions that the last unit had, w'_e.
    pub edge_before: i64,
    /// Start of the present interval minus start of the previous one, s.
    pub shift: i64,
}

impl UnitIntervals {
    fn width_of(&self, unit: i64) -> i64 {
        let units = i64::from(self.units);
        if unit >= units {
            0
        } else if unit == units - 1 {
            self.edge
        } else {
            self.width
        }
    }

    fn width_before_of(&self, unit: i64) -> i64 {
        let units = i64::from(self.units_before);
        if unit >= units {
            0
        } else if unit == units - 1 {
            self.edge_before
        } else {
            self.width_before
        }
    }

    /// n1: positions that units need, summed over the units.
    pub(super) fn needed(&self) -> u64 {
        total(self.units, self.width, self.edge)
    }

    /// n2: positions that units need and had themselves, summed over the units.
    pub(super) fn kept(&self) -> u64 {
        let both = i64::from(self.units.min(self.units_before));
        if both == 0 {
            return 0;
        }
        let kept = |width: i64, before: i64| overlap(before, width, self.shift);
        let last = kept(self.width_of(both - 1), self.width_before_of(both - 1));
        (both - 1) as u64 * kept(self.width, self.width_before) + last
    }

    /// n3: positions that at least one unit needs.
    pub(crate) fn needed_by_any(&self) -> u64 {
        covered(self.units, self.pitch, self.width, self.edge)
    }

    /// n4: positions that are new to at least one unit that needs them.
    pub(crate) fn fresh_for_any(&self) -> u64 {
        let (needed, kept) = (self.needed(), self.kept());
        if kept == needed || self.width <= self.pitch {
            return needed - kept;
        }
        if kept == 0 {
            return self.needed_by_any();
        }
        let mut fresh = [Comb::EMPTY; MAX_COMBS];
        let mut start = 0;
        for (end, pair) in self.cuts().into_iter().zip(fresh.chunks_exact_mut(2)) {
            if start < end {
                let comb = |[from, to]: [i64; 2]| Comb {
                    start: start * self.pitch + from,
                    length: to - from,
                    count: end - start,
                };
                pair.copy_from_slice(&self.fresh_of(start).map(comb));
                start = end;
            }
        }
        length_of_union(&fresh, self.pitch)
    }

    /// Ends of the runs of units with equal widths, in ascending order.
    fn cuts(&self) -> [i64; MAX_COMBS / 2] {
        let (units, before) = (i64::from(self.units), i64::from(self.units_before));
        let mut cuts = [units - 1, before - 1, before, units].map(|cut| cut.clamp(0, units));
        cuts.sort_unstable();
        cuts
    }

    /// Intervals that are new to a unit: the one before its previous interval and the one after it, each
    /// from start to end, relative to the first position of the unit.
    fn fresh_of(&self, unit: i64) -> [[i64; 2]; 2] {
        let (width, before) = (self.width_of(unit), self.width_before_of(unit));
        if before == 0 {
            return [[0, width], [width, width]];
        }
        let front = (-self.shift).clamp(0, width);
        let after = (before - self.shift).clamp(front, width);
        [[0, front], [after, width]]
    }

    /// n5: positions that at least one unit needs and at least one unit had.
    pub(crate) fn kept_by_any(&self) -> u64 {
        let needed = self.needed_by_any();
        let had = covered(self.units_before, self.pitch, self.width_before, self.edge_before);
        if self.width >= self.pitch && self.width_before >= self.pitch {
            return overlap(had as i64, needed as i64, self.shift);
        }
        let [needing, having] = [self.intervals(), self.intervals_before()];
        let either = [needing[0], needing[1], having[0], having[1]];
        needed + had - length_of_union(&either, self.pitch)
    }

    /// n6: positions that units need and at least one unit had, summed over the units.
    pub(crate) fn held_by_any(&self) -> u64 {
        if self.width <= self.pitch {
            return self.kept_by_any();
        }
        let [needing, having] = [self.intervals(), self.intervals_before()];
        let all = [needing[0], needing[1], having[0], having[1]];
        let mut held = 0;
        each_residue(&all, self.pitch, |residue, residues| {
            let needing = needing.map(|comb| comb.blocks(residue, self.pitch));
            each_run(&having, residue, self.pitch, |from, to| {
                let times: i64 = needing.iter().map(|it| it.below(to) - it.below(from)).sum();
                held += times * residues;
            });
        });
        held as u64
    }

    /// Present intervals: those of all units but the last, and that of the last.
    fn intervals(&self) -> [Comb; 2] {
        Comb::of_units(self.units, self.pitch, self.width, self.edge, 0)
    }

    /// Previous intervals: those of all units but the last, and that of the last.
    fn intervals_before(&self) -> [Comb; 2] {
        let (width, edge) = (self.width_before, self.edge_before);
        Comb::of_units(self.units_before, self.pitch, width, edge, -self.shift)
    }
}

/// Sum of the widths of `units` units, of which the last has `edge`.
fn total(units: u32, width: i64, edge: i64) -> u64 {
    match units {
        0 => 0,
        _ => (i64::from(units - 1) * width + edge) as u64,
    }
}

/// Number of positions in the union of `units` intervals, of which the last has `edge`.
fn covered(units: u32, pitch: i64, width: i64, edge: i64) -> u64 {
    if units < 2 || width <= pitch {
        return total(units, width, edge);
    }
    let end = |unit: u32, width: i64| i64::from(unit) * pitch + width;
    end(units - 2, width).max(end(units - 1, edge)) as u64
}

/// Largest number of combs in one count: two for each of the four runs of units with equal widths.
const MAX_COMBS: usize = 8;

/// `count` intervals of equal length whose starts are one pitch apart.
///
/// Positions of combs are counted residue by residue. For one residue, position
/// `block * pitch + residue` lies in the comb for a contiguous range of blocks, whether intervals
/// overlap or not. All residues between two neighbouring ends of intervals have the same ranges.
#[derive(Debug, Clone, Copy)]
struct Comb {
    start: i64,
    length: i64,
    count: i64,
}

impl Comb {
    const EMPTY: Self = Self { start: 0, length: 0, count: 0 };

    fn of_units(units: u32, pitch: i64, width: i64, edge: i64, start: i64) -> [Self; 2] {
        if units == 0 {
            return [Self::EMPTY; 2];
        }
        let count = i64::from(units) - 1;
        [
            Self { start, length: width, count },
            Self { start: start + count * pitch, length: edge, count: 1 },
        ]
    }

    fn blocks(&self, residue: i64, pitch: i64) -> Blocks {
        let first_from = |position: i64| -(residue - position).div_euclid(pitch);
        let start = first_from(self.start);
        let length = first_from(self.start + self.length) - start;
        Blocks { start, length, count: self.count }
    }
}

/// Blocks at which a residue lies in a comb: `count` ranges of `length` blocks, each of which starts one
/// block after the previous one.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    start: i64,
    length: i64,
    count: i64,
}

impl Blocks {
    /// Union of the ranges, from start to end.
    fn run(&self) -> [i64; 2] {
        let is_empty = self.length == 0 || self.count == 0;
        let length = if is_empty { 0 } else { self.length + self.count - 1 };
        [self.start, self.start + length]
    }

    /// Number of blocks below `end`, summed over the ranges.
    fn below(&self, end: i64) -> i64 {
        // Range i has min(end - start - i, length) blocks below `end`, but at least 0.
        let from_first = |reached: i64| {
            let rising = reached.clamp(0, self.length);
            rising * (rising + 1) / 2 + (reached - rising).max(0) * self.length
        };
        from_first(end - self.start) - from_first(end - self.start - self.count)
    }
}

/// Calls `visit` with one residue of every group of residues that lie in the same intervals of all
/// `combs`, and with the size of the group.
fn each_residue(combs: &[Comb], pitch: i64, mut visit: impl FnMut(i64, i64)) {
    let mut cuts = [pitch; 2 * MAX_COMBS];
    for (comb, pair) in combs.iter().zip(cuts.chunks_exact_mut(2)) {
        let ends = [comb.start, comb.start + comb.length];
        pair.copy_from_slice(&ends.map(|end| end.rem_euclid(pitch)));
    }
    cuts.sort_unstable();
    let mut start = 0;
    for end in cuts.into_iter().chain([pitch]) {
        if start < end {
            visit(start, end - start);
            start = end;
        }
    }
}

/// Calls `visit` with start and end of every run of blocks at which a residue lies in any of `combs`.
/// Runs may touch but do not overlap.
fn each_run(combs: &[Comb], residue: i64, pitch: i64, mut visit: impl FnMut(i64, i64)) {
    let mut runs = [[0; 2]; MAX_COMBS];
    let runs = &mut runs[..combs.len()];
    for (run, comb) in runs.iter_mut().zip(combs) {
        *run = comb.blocks(residue, pitch).run();
    }
    runs.sort_unstable();
    let mut reached = i64::MIN;
    for &mut [start, end] in runs {
        if start.max(reached) < end {
            visit(start.max(reached), end);
            reached = end;
        }
    }
}

/// Number of positions in the union of `combs`.
fn length_of_union(combs: &[Comb], pitch: i64) -> u64 {
    let mut length = 0;
    each_residue(combs, pitch, |residue, residues| {
        each_run(combs, residue, pitch, |from, to| length += (to - from) * residues);
    });
    length as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    type Positions = BTreeSet<i64>;

    fn union(sets: &[Positions]) -> Positions {
        sets.iter().flatten().copied().collect()
    }

    /// The six numbers by their definition as sets.
    fn one_by_one(row: &UnitIntervals) -> [u64; 6] {
        let units = 0..i64::from(row.units);
        let before = 0..i64::from(row.units_before);
        let need = units.map(|u| (u * row.pitch..u * row.pitch + row.width_of(u)).collect());
        let need: Vec<Positions> = need.collect();
        let had = |u: i64| {
            let start = u * row.pitch - row.shift;
            (start..start + row.width_before_of(u)).collect()
        };
        let had_by_all = union(&before.map(had).collect::<Vec<_>>());
        let mut kept = 0;
        let mut fresh = Vec::new();
        for (u, need) in need.iter().enumerate() {
            let had: Positions = had(u as i64);
            kept += need.intersection(&had).count();
            fresh.push(need.difference(&had).copied().collect());
        }
        let any = union(&need);
        let near = |need: &Positions| need.intersection(&had_by_all).count();
        [
            need.iter().map(Positions::len).sum(),
            kept,
            any.len(),
            union(&fresh).len(),
            near(&any),
            need.iter().map(near).sum(),
        ]
        .map(|count| count as u64)
    }

    #[test]
    fn the_six_numbers_are_those_of_the_sets() {
        let mut state = 1u64;
        let mut draw = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % bound) as i64
        };
        for _ in 0..20_000 {
            let (width, width_before) = (1 + draw(9), 1 + draw(9));
            let row = UnitIntervals {
                units: draw(6) as u32,
                units_before: draw(6) as u32,
                pitch: 1 + draw(5),
                width,
                edge: 1 + draw(width as u64),
                width_before,
                edge_before: 1 + draw(width_before as u64),
                shift: draw(31) - 15,
            };
            let found = [
                row.needed(),
                row.kept(),
                row.needed_by_any(),
                row.fresh_for_any(),
                row.kept_by_any(),
                row.held_by_any(),
            ];
            assert_eq!(found, one_by_one(&row), "{row:?}");
        }
    }
}

//! What a row of units needs and already has along the coordinate that differs between them: the
//! six numbers of 5.5.

/// Intervals of the units of a cluster along one coordinate: unit u needs `width` positions from
/// `u * pitch` on and had `width_before` from `u * pitch - shift` on; the last units have `edge`
/// and `edge_before`. No edge is wider than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Working units, A.
    pub units: u32,
    /// Units that worked before, A'.
    pub units_before: u32,
    /// Distance of neighbouring units, d; at least 1.
    pub pitch: i64,
    /// Positions that a unit needs, w.
    pub width: i64,
    /// Positions that the last unit needs, w_e.
    pub edge: i64,
    /// Positions that a unit had, w'.
    pub width_before: i64,
    /// Positions that the last unit had, w'_e.
    pub edge_before: i64,
    /// Start now less start before, s.
    pub shift: i64,
}

impl Row {
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

    /// n1: positions that units need, each for itself.
    pub fn needed(&self) -> u64 {
        total(self.units, self.width, self.edge)
    }

    /// n2: positions that units need and had themselves.
    pub fn kept(&self) -> u64 {
        let both = i64::from(self.units.min(self.units_before));
        if both == 0 {
            return 0;
        }
        let last = self.kept_by(self.width_of(both - 1), self.width_before_of(both - 1));
        (both - 1) as u64 * self.kept_by(self.width, self.width_before) + last
    }

    fn kept_by(&self, width: i64, before: i64) -> u64 {
        super::context::overlap(before, width, self.shift)
    }

    /// n3: positions that any unit needs.
    pub fn needed_by_any(&self) -> u64 {
        length_of_union(self.pitch, &mut self.intervals())
    }

    /// n4: positions that any unit needs and did not have itself.
    pub fn fresh_for_any(&self) -> u64 {
        if self.width <= self.pitch {
            return self.needed() - self.kept();
        }
        let mut fresh = Comb::EMPTY_LIST;
        let mut count = 0;
        let units = i64::from(self.units);
        let cuts = self.cuts();
        for [start, end] in [[0, cuts[0]], [cuts[0], cuts[1]], [cuts[1], cuts[2]], [cuts[2], units]]
        {
            if start < end {
                for (from, to) in self.fresh_of(start) {
                    fresh[count] = Comb {
                        start: start * self.pitch + from,
                        length: to - from,
                        count: end - start,
                    };
                    count += 1;
                }
            }
        }
        length_of_union(self.pitch, &mut fresh[..count])
    }

    /// Units at which the widths change, in order.
    fn cuts(&self) -> [i64; 3] {
        let (units, before) = (i64::from(self.units), i64::from(self.units_before));
        let mut cuts = [units - 1, before - 1, before].map(|cut| cut.clamp(0, units));
        cuts.sort_unstable();
        cuts
    }

    /// What a unit needs and did not have: in front of what it had and behind, relative to its
    /// first position.
    fn fresh_of(&self, unit: i64) -> [(i64, i64); 2] {
        let (width, before) = (self.width_of(unit), self.width_before_of(unit));
        if before == 0 {
            return [(0, width), (width, width)];
        }
        let front = (-self.shift).clamp(0, width);
        let behind = (before - self.shift).clamp(front, width);
        [(0, front), (behind, width)]
    }

    /// n5: positions that any unit needs and any unit had.
    pub fn kept_by_any(&self) -> u64 {
        let needed = self.intervals();
        let had = self.intervals_before();
        let apart = length_of_union(self.pitch, &mut needed.clone())
            + length_of_union(self.pitch, &mut had.clone());
        apart - length_of_union(self.pitch, &mut [needed[0], needed[1], had[0], had[1]])
    }

    /// n6: positions that units need, each for itself, and any unit had.
    pub fn near(&self) -> u64 {
        if self.units_before == 0 {
            return 0;
        }
        if self.width <= self.pitch {
            return self.kept_by_any();
        }
        let had = self.intervals_before();
        let solid = self.width_before >= self.pitch || self.units_before <= 1;
        let below = |position: i64| -> i64 {
            if solid {
                let end = had.iter().map(|comb| comb.end(self.pitch)).max().unwrap_or(0);
                (position.min(end) + self.shift).max(0)
            } else {
                had.iter().map(|comb| comb.below(position, self.pitch)).sum()
            }
        };
        let near = |unit: i64| {
            let start = unit * self.pitch;
            below(start + self.width_of(unit)) - below(start)
        };
        (0..i64::from(self.units)).map(near).sum::<i64>() as u64
    }

    /// What units need: all but the last, and the last.
    fn intervals(&self) -> [Comb; 2] {
        Comb::of_units(self.units, self.pitch, self.width, self.edge, 0)
    }

    /// What units had.
    fn intervals_before(&self) -> [Comb; 2] {
        let (width, edge) = (self.width_before, self.edge_before);
        Comb::of_units(self.units_before, self.pitch, width, edge, -self.shift)
    }
}

/// Sum of the widths of `units` of which the last has `edge`.
fn total(units: u32, width: i64, edge: i64) -> u64 {
    match units {
        0 => 0,
        _ => (i64::from(units - 1) * width + edge) as u64,
    }
}

/// `count` intervals of one length at the pitch of the row.
#[derive(Debug, Clone, Copy)]
struct Comb {
    start: i64,
    length: i64,
    count: i64,
}

impl Comb {
    const EMPTY: Self = Self { start: 0, length: 0, count: 0 };
    /// Room for two of every run of units with equal widths.
    const EMPTY_LIST: [Self; 8] = [Self::EMPTY; 8];

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

    fn is_empty(&self) -> bool {
        self.length <= 0 || self.count == 0
    }

    /// Whether no position between its first and its last is left out.
    fn is_solid(&self, pitch: i64) -> bool {
        self.count == 1 || self.length >= pitch
    }

    fn end(&self, pitch: i64) -> i64 {
        if self.is_empty() { i64::MIN } else { self.start + (self.count - 1) * pitch + self.length }
    }

    /// Positions of a comb that is not solid below `position`.
    fn below(&self, position: i64, pitch: i64) -> i64 {
        if self.is_empty() {
            return 0;
        }
        let index = (position - self.start).div_euclid(pitch).clamp(0, self.count);
        let rest = position - self.start - index * pitch;
        let partial = if index < self.count { rest.clamp(0, self.length) } else { 0 };
        index * self.length + partial
    }
}

/// Number of positions in any of `combs`, which are reordered.
///
/// One comb with gaps is counted by formula; more of them, which takes several narrow widths at
/// once, interval by interval.
fn length_of_union(pitch: i64, combs: &mut [Comb]) -> u64 {
    let with_gaps = |comb: &Comb| !comb.is_empty() && !comb.is_solid(pitch);
    let mut gaps = combs.iter().copied().filter(with_gaps);
    let (first, second) = (gaps.next(), gaps.next());
    if second.is_some() {
        let teeth = |comb: &Comb| {
            let Comb { start, length, count } = *comb;
            (0..count).map(move |index| Comb { start: start + index * pitch, length, count: 1 })
        };
        let mut teeth: Vec<Comb> = combs.iter().flat_map(teeth).collect();
        return length_of_union(pitch, &mut teeth);
    }
    let comb = first.unwrap_or(Comb::EMPTY);
    let mut length = comb.length * comb.count;
    combs.sort_unstable_by_key(|comb| comb.start);
    let mut reached = i64::MIN;
    for solid in combs.iter().filter(|comb| !comb.is_empty() && comb.is_solid(pitch)) {
        let (start, end) = (solid.start.max(reached), solid.end(pitch));
        if end > start {
            length += end - start - (comb.below(end, pitch) - comb.below(start, pitch));
            reached = end;
        }
    }
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

    /// The six numbers by their definition.
    fn one_by_one(row: &Row) -> [u64; 6] {
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
            let row = Row {
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
                row.near(),
            ];
            assert_eq!(found, one_by_one(&row), "{row:?}");
        }
    }
}

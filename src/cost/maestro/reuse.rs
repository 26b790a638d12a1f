//! What must be sent to the units in one case (section 5), given what they still hold.

use super::cases::SpatialEdge;
use super::elaboration::{Level, Map, N_AXES};
use super::positions::Positions;

/// Elements of one tensor that units receive in one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Load {
    /// Of the first unit.
    pub lead: i64,
    /// Of every further unit what is not on its neighbour; zero where one send serves them all.
    pub rest: i64,
}

impl Load {
    const NONE: Self = Self { lead: 0, rest: 0 };

    /// Elements that `active` units take from upstream (5.4).
    ///
    /// Quirk 17: multicast and forwarding between neighbours are free.
    pub(super) fn ingress(self, active: i64) -> i64 {
        self.lead + (active - 1).max(0) * self.rest
    }
}

/// A: units at work (5.1), by [`Status`](super::status::Status) of the first spatial map.
pub(super) fn active_units(level: &Level, edge: SpatialEdge) -> [i64; 3] {
    let rewound = if level.maps[level.leader].oversized { edge.units } else { level.units };
    [rewound, level.units, edge.units]
}

/// Reuse of one input tensor at one level.
pub(super) struct Reuse {
    coupled: Positions,
    /// Loops that units do not hold in full while they stand at their first step.
    live: Positions,
    fresh: Load,
    /// Load when the loop at this position advances; of coupled loops that move.
    sliding: [Load; N_AXES],
}

impl Reuse {
    /// Reuse of the tensor that the loops `coupled` index, on a level where the loops `moving` move
    /// in some case.
    pub(super) fn of(level: &Level, coupled: Positions, moving: Positions) -> Self {
        let maps = &level.maps;
        let mut sliding = [Load::NONE; N_AXES];
        for advanced in coupled.intersection(moving).iter() {
            let factor = |position, map: &Map| retained(map, position == advanced);
            sliding[advanced] = product(maps, coupled, factor);
        }
        Self {
            coupled,
            live: level.live,
            fresh: product(maps, coupled, |_, map| fresh(map)),
            sliding,
        }
    }

    /// Load of the case in which the loops `moved` are at a further or partial step (section 5.3).
    ///
    /// Quirk 15: a tensor that the innermost moved loop does not index counts as stationary if any
    /// loop outside indexes it and is not held, even though loops inside were rewound. Quirk 16: an
    /// advancing window is charged what is new to it, even though loops inside were rewound.
    #[inline]
    pub(super) fn load(&self, moved: Positions) -> Load {
        let Some(advanced) = moved.last() else {
            return self.fresh;
        };
        if self.coupled.contains(advanced) {
            return self.sliding[advanced];
        }
        let not_held = self.live.union(moved);
        match self.coupled.intersection(not_held).first() {
            Some(outermost) if outermost > advanced => self.fresh,
            _ => Load::NONE,
        }
    }
}

/// Factor of a temporal map when nothing is held (5.2).
///
/// Quirk 14: what a map larger than its axis should load in full counts as the remainder by its
/// offset, which is often zero.
fn fresh(map: &Map) -> i64 {
    if map.oversized { map.extent % map.offset } else { map.size }
}

/// Factor of a temporal map once something is held (5.3).
fn retained(map: &Map, advanced: bool) -> i64 {
    map.size.min(if advanced { map.offset } else { map.extent })
}

/// Product over the coupled axes: on spatial maps what neighbours do not share, on temporal ones
/// the factor of the map and its position.
fn product(
    maps: &[Map; N_AXES],
    coupled: Positions,
    temporal: impl Fn(usize, &Map) -> i64,
) -> Load {
    let mut load = Load { lead: 1, rest: 1 };
    let mut spread = 0;
    for position in coupled.iter() {
        let map = &maps[position];
        if map.spatial {
            load.lead *= map.size;
            load.rest *= map.size.min(map.offset);
            spread = 1;
        } else {
            let factor = temporal(position, map);
            load.lead *= factor;
            load.rest *= factor;
        }
    }
    Load { rest: load.rest * spread, ..load }
}

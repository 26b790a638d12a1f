//! Reuse (section 5): the elements that the units receive in one case, given those that they hold.

use super::cases::SpatialEdge;
use super::elaboration::{Level, Map, N_AXES};
use super::positions::Positions;

/// Elements of one tensor that units receive in one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Load {
    /// Elements for the first unit.
    pub lead: i64,
    /// Elements for every further unit, those of its neighbour excluded; 0 if one multicast serves all
    /// units.
    pub rest: i64,
}

impl Load {
    const NONE: Self = Self { lead: 0, rest: 0 };

    /// Ingress of `active` units: elements that come from upstream (5.4).
    ///
    /// Quirk 17: multicast and forwarding between neighbours are free.
    pub(super) fn ingress(self, active: i64) -> i64 {
        self.lead + (active - 1).max(0) * self.rest
    }
}

/// A: active units (5.1), by [`Status`](super::status::Status) of the first spatial map.
pub(super) fn active_units(level: &Level, edge: SpatialEdge) -> [i64; 3] {
    let rewound = if level.maps[level.leader].oversized { edge.units } else { level.units };
    [rewound, level.units, edge.units]
}

/// Reuse of one operand (input or weight) at one level.
pub(super) struct Reuse {
    coupled: Positions,
    /// Loops that do not cover their axis, so that they are not held at their first step.
    live: Positions,
    fresh: Load,
    /// Load of the cases in which the loop at this position advances, for coupled loops that move.
    sliding: [Load; N_AXES],
}

impl Reuse {
    /// Reuse of the tensor that the loops `coupled` index, at a level whose loops `moving` move in some
    /// case.
    pub(super) fn compute(level: &Level, coupled: Positions, moving: Positions) -> Self {
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

    /// Load of the case in which the loops `moved` are at a further or at a partial step (section 5.3).
    ///
    /// Quirk 15: if the innermost moved loop does not index the tensor, one loop outside of it that indexes
    /// the tensor and is not held makes the tensor stationary, although loops inside start again. Quirk 16:
    /// an advancing window loads only its new part, although loops inside start again.
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

/// Factor of a temporal map if the unit holds nothing (5.2).
///
/// Quirk 14: an oversized map loads the remainder by its offset, which is often zero, instead of the whole
/// axis.
fn fresh(map: &Map) -> i64 {
    if map.oversized { map.extent % map.offset } else { map.size }
}

/// Factor of a temporal map if the unit holds a part of the tensor (5.3).
fn retained(map: &Map, advanced: bool) -> i64 {
    map.size.min(if advanced { map.offset } else { map.extent })
}

/// Product over the coupled axes. The factor of a spatial map is its size, or for further units the part
/// that neighbours do not share. The factor of a temporal map comes from `temporal`, given its position.
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

//! Iteration cases of one level (section 4): the combinations of loops at their first step, at a further
//! step or at a partial last step, and the count of each.

use super::elaboration::{Level, Map, N_AXES};
use super::positions::Positions;
use super::status::{Label, Status};
use super::work::Work;

/// Partial last trip of the first spatial map (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpatialEdge {
    /// Whether the last trip is partial.
    pub exists: bool,
    /// U_edge: units that work in it.
    pub units: i64,
}

impl SpatialEdge {
    /// Spatial edge of `level`.
    ///
    /// Quirk 13: a unit that would be filled only in part is not counted.
    pub(super) fn from_level(level: &Level) -> Self {
        let map = &level.maps[level.leader];
        let leftover = map.effective % map.stride;
        let units = if map.effective <= map.size { 1 } else { leftover / map.offset };
        Self { exists: leftover != 0, units }
    }
}

/// Count of each [`Status`] of a loop (4.4).
pub(super) type Counts = [i64; 3];

/// Counts of a loop that never moves.
const STILL: Counts = [1, 0, 0];

/// Counts of the statuses of every loop of a level.
pub(super) fn counts(level: &Level, spatial_edge: SpatialEdge) -> [Counts; N_AXES] {
    let mut counts = [STILL; N_AXES];
    for (counts, map) in counts.iter_mut().zip(&level.maps) {
        *counts = counts_of(map, spatial_edge);
    }
    counts
}

/// Counts of the statuses of one loop (4.4).
///
/// Quirk 10: a second spatial map takes the edge of the first. Quirk 12: the steady count is -1 if the
/// only trip is an edge of an axis that is neither covered nor absorbed.
fn counts_of(map: &Map, spatial_edge: SpatialEdge) -> Counts {
    if map.covered && map.absorbed {
        return STILL;
    }
    let partial = map.effective % map.stride != 0;
    let edge = if map.spatial { spatial_edge.exists } else { partial };
    let trips = map.effective / map.stride + i64::from(partial);
    let steady = if map.covered { 0 } else { trips - 1 - i64::from(edge) };
    [1, steady, i64::from(edge && !map.absorbed)]
}

/// One iteration case of a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    /// Number of its occurrences (4.5); may be negative.
    pub count: i64,
    /// Loops at a further or at a partial step; none in the first case.
    pub moved: Positions,
    /// Status of the first spatial map.
    pub leader: Status,
    /// Work of one unit.
    pub work: Work,
}

impl Case {
    /// Case of no loops, from which the cases are built loop by loop.
    const EMPTY: Self =
        Self { count: 1, moved: Positions::NONE, leader: Status::Init, work: Work::ONE };
}

/// All cases of one level. They form a tree with a loop at each depth. Only branches that occur are
/// visited, and loops that never move have no branches.
pub(super) struct Cases {
    /// First case: every loop is at its first step.
    pub first: Case,
    /// Loops that move in some case.
    pub moving: Positions,
    /// Contribution of the loops that never move to every case but the first.
    still: Case,
    leader: usize,
    /// Contributions of the loops that move, at `[position][status]`.
    branches: [[Branch; 3]; N_AXES],
}

/// Contribution of a loop in one [`Status`].
#[derive(Debug, Clone, Copy)]
struct Branch {
    count: i64,
    work: Work,
}

impl Branch {
    const NONE: Self = Self { count: 0, work: Work::ONE };
}

impl Cases {
    /// Cases of `level`, with `counts` of the statuses of its loops.
    pub(super) fn from_counts(level: &Level, counts: &[Counts; N_AXES]) -> Self {
        let mut cases = Self {
            first: Case::EMPTY,
            moving: Positions::NONE,
            still: Case::EMPTY,
            leader: level.leader,
            branches: [[Branch::NONE; 3]; N_AXES],
        };
        for (position, map) in level.maps.iter().enumerate() {
            let is_output = level.coupling.output.contains(position);
            cases.add(position, map, &counts[position], is_output);
        }
        cases
    }

    fn add(&mut self, position: usize, map: &Map, counts: &Counts, is_output: bool) {
        let work = |label| Work::from_label(map, label, is_output);
        let rewound = work(Label::from_status(Status::Init, map));
        // Only for spatial maps does a held axis differ from one that starts.
        let starting = if map.spatial { work(Label::Init) } else { rewound };
        self.first.work = self.first.work.times(&starting);
        if *counts == STILL {
            self.still.work = self.still.work.times(&rewound);
            return;
        }
        self.moving = self.moving.with(position);
        let branches = &mut self.branches[position];
        branches[0] = Branch { count: 1, work: rewound };
        for status in [Status::Steady, Status::Edge] {
            let count = counts[status as usize];
            if count != 0 {
                let work = work(Label::from_status(status, map));
                branches[status as usize] = Branch { count, work };
            }
        }
    }

    /// Calls `visit` with every case that occurs, except the first one.
    pub(super) fn for_each_further(&self, visit: &mut impl FnMut(&Case)) {
        if !self.moving.is_empty() {
            self.descend(self.moving, &self.still, visit);
        }
    }

    fn descend(&self, open: Positions, case: &Case, visit: &mut impl FnMut(&Case)) {
        let Some(position) = open.first() else {
            if !case.moved.is_empty() {
                visit(case);
            }
            return;
        };
        for status in Status::ALL {
            let branch = &self.branches[position][status as usize];
            if branch.count != 0 {
                let case = self.extended(case, position, status, branch);
                self.descend(open.without(position), &case, visit);
            }
        }
    }

    #[inline]
    fn extended(&self, case: &Case, position: usize, status: Status, branch: &Branch) -> Case {
        Case {
            count: case.count * branch.count,
            moved: match status {
                Status::Init => case.moved,
                Status::Steady | Status::Edge => case.moved.with(position),
            },
            leader: if position == self.leader { status } else { case.leader },
            work: case.work.times(&branch.work),
        }
    }
}

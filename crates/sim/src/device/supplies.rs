//! State of the supply of every accelerator, as schedulers see it.

use super::Body;
use xrsim_model::cost::{CostTable, Execution};
use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId, WorkId};
use xrsim_model::units::{SimSpan, SimTime};

/// State of the supply of one accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The point that it has, or had last.
    pub point: PointId,
    /// The highest point at which segments start.
    pub cap: PointId,
    /// Instant after which it is gated if it still idles.
    pub gated_after: SimTime,
}

/// The supplies of a system at an instant.
#[derive(Debug, Clone)]
pub struct Supplies {
    /// Indexed by [`AccelId`].
    pub supplied: Vec<Supplied>,
    /// Indexed by [`AccelId`].
    pub standing: Vec<Standing>,
    /// Heat, charge, base power.
    pub body: Body,
}

/// Time and energy before a segment starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overhead {
    /// Time.
    pub time: SimSpan,
    /// Energy \[nJ\].
    pub nj: f64,
    /// Whether the accelerator wakes up.
    pub wakes: bool,
    /// Whether it changes its point.
    pub changes: bool,
}

impl Supplies {
    /// The point of a segment that starts on `accelerator`: `point`, or the nominal one, but at most the cap.
    #[inline]
    pub fn allowed(&self, accelerator: AccelId, point: Option<PointId>) -> PointId {
        let index = accelerator.index();
        let point = point.unwrap_or(self.supplied[index].nominal);
        point.min(self.standing[index].cap)
    }

    /// Costs of `work` on `accelerator` at its nominal point, or at the cap if that is lower.
    #[inline]
    pub fn execution<'a>(
        &self,
        costs: &'a CostTable,
        work: WorkId,
        accelerator: AccelId,
    ) -> Execution<'a> {
        let supplied = &self.supplied[accelerator.index()];
        match self.allowed(accelerator, None) {
            point if point == supplied.nominal => costs.on(work, accelerator),
            point => costs.at(point).on(work, accelerator),
        }
    }

    /// Whether each accelerator is gated at `now`, if it idles.
    pub fn gated(&self, now: SimTime) -> impl Iterator<Item = bool> {
        let each = self.supplied.iter().zip(&self.standing);
        each.map(move |(supplied, it)| supplied.gate.is_some() && it.gated_after < now)
    }

    /// Time and energy before a segment at `point` that starts at `now` on an idle accelerator: to wake up if it is gated,
    /// and to change the point.
    #[inline]
    pub fn overhead(&self, accelerator: AccelId, point: PointId, now: SimTime) -> Overhead {
        let supplied = &self.supplied[accelerator.index()];
        let standing = &self.standing[accelerator.index()];
        let mut overhead = Overhead { changes: point != standing.point, ..Overhead::default() };
        if overhead.changes {
            overhead.time = supplied.transition;
        }
        if let Some(gate) = supplied.gate
            && standing.gated_after < now
        {
            overhead.wakes = true;
            overhead.time += gate.wake;
            overhead.nj = gate.wake_uj * 1e3;
        }
        overhead
    }
}

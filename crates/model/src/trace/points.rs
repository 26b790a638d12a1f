//! Operating points of accelerators over a run.

use crate::ids::{AccelId, PointId};
use crate::units::SimTime;

use super::BusyInterval;

/// Change of the operating point of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointChange {
    /// The accelerator.
    pub accelerator: AccelId,
    /// The instant.
    pub at: SimTime,
    /// Its point from then on; `None` while it is gated.
    pub point: Option<PointId>,
}

/// Operating points of all accelerators over a run; none without a device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PointChanges {
    /// In order of accelerator and time.
    changes: Vec<PointChange>,
}

impl PointChanges {
    /// These changes, of which those of each accelerator are in order of time.
    pub fn new(mut changes: Vec<PointChange>) -> Self {
        changes.sort_by_key(|change| change.accelerator);
        Self { changes }
    }

    /// Changes of one accelerator, in order of time.
    pub fn of(&self, accelerator: AccelId) -> &[PointChange] {
        let from = self.changes.partition_point(|change| change.accelerator < accelerator);
        let n = self.changes[from..].partition_point(|change| change.accelerator == accelerator);
        &self.changes[from..from + n]
    }

    /// The point at which a request runs in a busy interval; `None` without a device.
    pub fn during(&self, interval: &BusyInterval) -> Option<PointId> {
        let changes = self.of(interval.accelerator);
        let n_before = changes.partition_point(|change| change.at <= interval.start);
        changes[..n_before].last()?.point
    }
}

//! Device effects: time and energy that requests take beyond the cost table ([`plan::Effects`]).
//!
//! The engine calls the hooks of [`DeviceEffects`] and knows nothing else of effects. An effect that
//! depends on the course of the run (temperature, battery) is a module of this folder, a field of
//! [`DeviceEffects`], and a line in every hook that it needs. An effect that is off costs a test of its
//! field. An effect that is fixed before the run (a constant voltage and frequency) belongs into the cost
//! table, where schedulers and bounds read it.
//!
//! Hooks of time do not combine: with shared bandwidth, that effect alone sets the ends of segments. No
//! hook changes the energy of layers.
//!
//! [`plan::Effects`]: crate::plan::Effects

mod allocation;
mod course;
mod few;
mod sharing;
mod switching;

use crate::plan::Plan;
use crate::schedule::Scheduler;
use xrsim_model::cost::CostTable;
use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::units::{Millijoules, SimTime};

use super::agenda::Completions;
use super::running::RunningSegment;
use sharing::Sharing;
use switching::{DataMoves, Transfer};

/// Effects that are on in a run.
pub(super) struct DeviceEffects<'a> {
    costs: &'a CostTable,
    /// Context switches and migration; `None` if both are off.
    data_moves: Option<DataMoves<'a>>,
    /// Shared bandwidth; `None` if it is unlimited.
    sharing: Option<Sharing<'a>>,
}

impl<'a> DeviceEffects<'a> {
    /// Effects of `plan` at time 0.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable) -> Self {
        Self { costs, data_moves: DataMoves::new(plan), sharing: Sharing::new(plan, costs) }
    }

    /// Whether ends of segments depend on what else runs. If so, [`DeviceEffects::advance`] sets all
    /// completions.
    #[inline]
    pub(super) fn set_completions(&self) -> bool {
        self.sharing.is_some()
    }

    /// Starts `running`, whose data transfer it sets. Returns the end of the segment if nothing
    /// interferes.
    #[inline]
    pub(super) fn start(&mut self, running: &mut RunningSegment) -> SimTime {
        let moved = match &mut self.data_moves {
            None => Transfer::default(),
            Some(moves) => moves.load(&running.job, running.accelerator),
        };
        running.moving = moved.time;
        if let Some(sharing) = &mut self.sharing {
            sharing.start(running, &moved);
        }
        running.end(self.costs)
    }

    /// Index after the layer of `running` that is under way at `now`, before which it can be cut, and
    /// the time of that cut if nothing else interferes.
    pub(super) fn next_cut(&self, running: &RunningSegment, now: SimTime) -> (u32, SimTime) {
        match &self.sharing {
            None => running.next_cut(self.costs, now),
            Some(sharing) => sharing.next_cut(running.accelerator, now),
        }
    }

    /// The layer of `running` that is under way at `now`, and the fraction of that layer that has run.
    pub(super) fn reached(&self, running: &RunningSegment, now: SimTime) -> (u32, f64) {
        match &self.sharing {
            None => running.reached(self.costs, now),
            Some(sharing) => sharing.reached(running.accelerator),
        }
    }

    /// Ends the segment on `accelerator` before `layer`.
    pub(super) fn shorten(&mut self, accelerator: AccelId, layer: u32) {
        if let Some(sharing) = &mut self.sharing {
            sharing.shorten(accelerator, layer);
        }
    }

    /// Stops what runs on `accelerator`, or ran to its end.
    #[inline]
    pub(super) fn stop(&mut self, accelerator: AccelId) {
        if let Some(sharing) = &mut self.sharing {
            sharing.stop(accelerator);
        }
    }

    /// Leaves the data of the job of `running`, which was cut, on its accelerator.
    #[inline]
    pub(super) fn suspend(&mut self, running: &RunningSegment) {
        if let Some(moves) = &mut self.data_moves {
            moves.suspend(running);
        }
    }

    /// Discards the data of a request that ended while it was suspended.
    #[inline]
    pub(super) fn discard(&mut self, request: RequestId) {
        if let Some(moves) = &mut self.data_moves {
            moves.discard(request);
        }
    }

    /// Energy of the data transfer before the segment that runs, or ran last, on `accelerator`.
    #[inline]
    pub(super) fn transfer_energy(&self, accelerator: AccelId) -> Millijoules {
        let energy = |moves: &DataMoves<'_>| moves.last_transfer(accelerator).energy;
        self.data_moves.as_ref().map_or(Millijoules::ZERO, energy)
    }

    /// Sets the completions up to the next one, or to `limit` if that is earlier.
    #[inline]
    pub(super) fn advance(
        &mut self,
        limit: Option<SimTime>,
        scheduler: &mut dyn Scheduler,
        completions: &mut Completions,
    ) {
        if let Some(sharing) = &mut self.sharing {
            sharing.advance(limit, scheduler, completions);
        }
    }

    /// Begins the instant `now`, which is not after the one that [`DeviceEffects::advance`] reached.
    #[inline]
    pub(super) fn reach(
        &mut self,
        now: SimTime,
        scheduler: &mut dyn Scheduler,
        completions: &mut Completions,
    ) {
        if let Some(sharing) = &mut self.sharing {
            sharing.reach(now, scheduler, completions);
        }
    }

    /// Ends the instant `now`, after everything that happens then.
    #[inline]
    pub(super) fn settle(&mut self, now: SimTime) {
        if let Some(sharing) = &mut self.sharing {
            sharing.settle(now);
        }
    }
}

//! Device effects: time and energy that requests take beyond the cost table ([`plan::Effects`]).
//!
//! The engine calls the hooks of [`DeviceEffects`] and knows nothing else of effects. An effect that
//! depends on the course of the run (temperature, battery) is a module of this folder, a field of
//! [`DeviceEffects`], and a line in every hook that it needs. An effect that is off costs a test of its
//! field. An effect that is fixed before the run (a constant voltage and frequency) belongs into the cost
//! table, where schedulers and bounds read it.
//!
//! With shared bandwidth, that effect sets the ends of segments. The point of a segment holds for all of it, so that the
//! segment demands bandwidth as its costs at the point do, and the energy follows the work that is done.
//!
//! [`plan::Effects`]: crate::plan::Effects

mod allocation;
mod course;
mod division;
mod profile;
mod sharing;
mod supply;
mod switching;

use std::sync::Arc;

use crate::device::{Body, Ledger, Supplies};
use crate::plan::Plan;
use crate::schedule::Scheduler;
use xrsim_model::cost::CostTable;
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId, RequestId};
use xrsim_model::trace::PointChanges;
use xrsim_model::units::{Millijoules, SimTime};

use super::agenda::Completions;
use super::running::RunningSegment;
use sharing::Sharing;
use supply::Supply;
use switching::{DataMoves, Transfer};

/// Account of the energy, heat and charge, and the points of accelerators if they are kept.
pub(super) type Account = (Option<Box<Ledger>>, Option<Box<Body>>, PointChanges);

/// Effects that are on in a run.
pub(super) struct DeviceEffects<'a> {
    /// Context switches and migration; `None` if both are off.
    data_moves: Option<DataMoves<'a>>,
    /// Shared bandwidth; `None` if it is unlimited.
    sharing: Option<Sharing<'a>>,
    /// Points, leakage, gates and the account of energy; `None` without a device.
    supply: Option<Box<Supply>>,
    /// Whether any of them is on. Where none is, the engine tests this alone.
    any: bool,
}

impl<'a> DeviceEffects<'a> {
    /// Effects of `plan` at time 0. The device of the plan supplies the accelerators so.
    pub(super) fn new(plan: &'a Plan, costs: &'a CostTable, supplied: Vec<Supplied>) -> Self {
        let duration = plan.load.duration;
        let supply = |device: &Arc<Device>| {
            Box::new(Supply::new(device, supplied, plan.changes(), duration))
        };
        let (data_moves, sharing) = (DataMoves::new(plan), Sharing::new(plan, costs));
        let any = data_moves.is_some() || sharing.is_some() || plan.device.is_some();
        Self { data_moves, sharing, supply: plan.device.as_ref().map(supply), any }
    }

    /// Whether any effect is on. The hooks do nothing otherwise.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Supplies as schedulers see them; `None` without a device.
    #[inline]
    pub(super) fn supplies(&self) -> Option<&Supplies> {
        self.supply.as_ref().map(|supply| supply.supplies())
    }

    /// The point at which a segment starts for which a policy answers `point`.
    #[inline]
    pub(super) fn point(&self, accelerator: AccelId, point: Option<PointId>) -> PointId {
        match &self.supply {
            None => PointId::new(0),
            Some(supply) => supply.supplies().allowed(accelerator, point),
        }
    }

    /// Whether the device lets nothing start on some accelerator.
    pub(super) fn has_halts(&self) -> bool {
        self.supply.as_ref().is_some_and(|supply| supply.has_halts())
    }

    /// Whether the device lets nothing start on `accelerator`.
    pub(super) fn halts(&self, accelerator: AccelId) -> bool {
        self.supply.as_ref().is_some_and(|supply| supply.halts(accelerator))
    }

    /// The next instant at which the device may let something start.
    pub(super) fn wake_up(&self) -> Option<SimTime> {
        self.supply.as_ref().and_then(|supply| supply.wake_up())
    }

    /// Plays what happens in the device up to `now`, to which the segments have proceeded.
    pub(super) fn account(&mut self, now: SimTime) {
        if let Some(supply) = &mut self.supply {
            let sharing = self.sharing.as_ref();
            supply.advance(now, |accelerator| Some(sharing?.work_left(accelerator)));
        }
    }

    /// Since when the device has stopped.
    #[inline]
    pub(super) fn stopped(&self) -> Option<SimTime> {
        Some(self.supply.as_ref()?.stopped()?.0)
    }

    /// Energy of the layers of what runs on `accelerator`, which the device breaks off as it stops, less what was not drawn.
    pub(super) fn power_off(&mut self, accelerator: AccelId) -> Millijoules {
        let supply = self.supply.as_mut();
        supply.map_or(Millijoules::ZERO, |supply| supply.break_off(accelerator))
    }

    /// The account of the energy up to `end`, or to the last instant, and heat and charge then; `None` without a device.
    pub(super) fn finish(&mut self, end: SimTime) -> Option<Account> {
        let (ledger, body, points) = self.supply.take()?.finish(end);
        Some((Some(Box::new(ledger)), Some(Box::new(body)), points))
    }

    /// The account of the energy as of `end`, and heat and charge then, of a run that goes on; `None` without a device.
    pub(super) fn account_at(&self, end: SimTime) -> Option<(Ledger, Body)> {
        let (ledger, body, _) = Supply::clone(self.supply.as_ref()?).finish(end);
        Some((ledger, body))
    }

    /// Requests will be submitted from outside.
    pub(super) fn expect_submissions(&mut self) {
        if let Some(sharing) = &mut self.sharing {
            sharing.expect_submissions();
        }
    }

    /// Keeps the points of the accelerators from now on.
    pub(super) fn keep_points(&mut self) {
        if let Some(supply) = &mut self.supply {
            supply.keep_points();
        }
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
    pub(super) fn start(&mut self, running: &mut RunningSegment<'a>) -> SimTime {
        let moved = match &mut self.data_moves {
            None => Transfer::default(),
            Some(moves) => moves.load(&running.job, running.accelerator),
        };
        running.moving = moved.time;
        if self.supply.is_some() {
            self.power_on(running, moved.energy);
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.start(running, &Transfer { time: running.moving, ..moved });
        }
        running.end()
    }

    /// Supplies `running`, for which data of the energy `moved` is moved first. Apart, so that runs without a device do not
    /// pay for it.
    #[cold]
    #[inline(never)]
    fn power_on(&mut self, running: &mut RunningSegment<'a>, moved: Millijoules) {
        let Some(supply) = &mut self.supply else { return };
        let RunningSegment { accelerator, point, start, continues, .. } = *running;
        let overhead = supply.start(accelerator, point, start, continues);
        running.moving += overhead.time;
        let work = running.end() - start;
        supply.run(accelerator, work, [running.layer_energy(), moved], overhead.nj);
    }

    /// Index after the layer of `running` that is under way at `now`, before which it can be cut, and
    /// the time of that cut if nothing else interferes.
    pub(super) fn next_cut(&self, running: &RunningSegment<'_>, now: SimTime) -> (u32, SimTime) {
        match &self.sharing {
            None => running.next_cut(now),
            Some(sharing) => sharing.next_cut(running.accelerator, now),
        }
    }

    /// The layer of `running` that is under way at `now`, and the fraction of that layer that has run.
    pub(super) fn reached(&self, running: &RunningSegment<'_>, now: SimTime) -> (u32, f64) {
        match &self.sharing {
            None => running.reached(now),
            Some(sharing) => sharing.reached(running.accelerator),
        }
    }

    /// The segment `running`, which was shortened at `now`, ends at `end` if nothing else interferes.
    pub(super) fn shorten(&mut self, running: &RunningSegment<'_>, end: SimTime, now: SimTime) {
        let RunningSegment { accelerator, end_layer, .. } = *running;
        if let Some(sharing) = &mut self.sharing {
            sharing.shorten(accelerator, end_layer);
        }
        if let Some(supply) = &mut self.supply {
            let work = match &self.sharing {
                None => end.saturating_since(now).ns() as f64,
                Some(sharing) => sharing.work_left(accelerator),
            };
            supply.revise(accelerator, running.layer_energy(), work);
        }
    }

    /// The layers of `running`, which is about to stop before its end, take `energy` in all.
    pub(super) fn break_off(&mut self, running: &RunningSegment<'_>, energy: Millijoules) {
        if let Some(supply) = &mut self.supply {
            supply.revise(running.accelerator, energy, 0.0);
        }
    }

    /// Stops what runs on `accelerator`, or ran to its end, at `now`.
    #[inline]
    pub(super) fn stop(&mut self, accelerator: AccelId, now: SimTime) {
        if let Some(sharing) = &mut self.sharing {
            sharing.stop(accelerator);
        }
        if let Some(supply) = &mut self.supply {
            supply.stop(accelerator, now);
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

    /// Energy of the segment that runs, or ran last, on `accelerator` beside that of its layers: of the data transfer
    /// before it, to wake up, and leakage so far.
    #[inline]
    pub(super) fn energy_beside(&self, accelerator: AccelId) -> Millijoules {
        if !self.any {
            return Millijoules::ZERO;
        }
        let energy = |moves: &DataMoves<'_>| moves.last_transfer(accelerator).energy;
        let moved = self.data_moves.as_ref().map_or(Millijoules::ZERO, energy);
        match &self.supply {
            None => moved,
            Some(supply) => moved + supply.beside(accelerator),
        }
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

//! Segments that end before their last layer: preempted, aborted, or without power.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{DropReason, Segment};
use xrsim_model::units::{Millijoules, SimTime};

use super::Engine;
use crate::device::{Body, Ledger};
use crate::engine::requests::Stage;

impl Engine<'_> {
    /// Ends all running segments with their current layers. A layer that has just ended counts as
    /// current.
    pub(super) fn preempt_running(&mut self, now: SimTime) {
        for accelerator in (0..self.costs.n_accelerators()).map(AccelId::new) {
            let Some(running) = self.state.running(accelerator) else { continue };
            let (cut, end) = self.effects.next_cut(running, now);
            if cut < running.end_layer {
                self.cut(accelerator, cut, end, now);
            }
        }
    }

    /// Cuts the segment on an accelerator before `layer`, which starts at `end` at full speed.
    fn cut(&mut self, accelerator: AccelId, layer: u32, end: SimTime, now: SimTime) {
        self.state.shorten(accelerator, layer, end);
        self.effects.shorten(self.state.last_segment(accelerator), end, now);
        if end <= now {
            self.events += 1;
            self.stop(accelerator, now);
            self.suspend(accelerator, now);
        } else if !self.effects.set_completions() {
            self.completions.set(accelerator, end);
        }
    }

    /// Makes an accelerator idle before its segment has ended.
    fn stop(&mut self, accelerator: AccelId, now: SimTime) {
        self.completions.clear(accelerator);
        self.effects.stop(accelerator, now);
        self.state.stop(accelerator, now);
    }

    /// Aborts a running request. Its energy is that of the layers that ran, and a fraction of that of
    /// the layer under way.
    pub(super) fn abort(&mut self, request: RequestId, now: SimTime) {
        let accelerator = self.state.accelerator_of(request);
        let accelerator = accelerator.expect("a running request is on an accelerator");
        let running = *self.state.last_segment(accelerator);
        let (layer, fraction) = self.effects.reached(&running, now);
        let execution = running.execution();
        let energy_from = |first_layer: u32| {
            let under_way = if fraction > 0.0 { execution.layer_energy(layer).get() } else { 0.0 };
            execution.energy_of(first_layer..layer) + Millijoules::new(fraction * under_way)
        };
        self.effects.break_off(&running, energy_from(running.job.next_layer));
        self.stop(accelerator, now);
        let energy_of = |segment: &Segment| energy_from(segment.first_layer);
        self.keep(&running, layer, now, energy_of);
        self.give_up(request, DropReason::Aborted, now);
    }

    /// The device has stopped at `now`: requests that have arrived and not ended are dropped, with the energy of what
    /// ran.
    pub(super) fn power_off(&mut self, now: SimTime) {
        for accelerator in (0..self.costs.n_accelerators()).map(AccelId::new) {
            let Some(running) = self.state.running(accelerator).copied() else { continue };
            let energy = self.effects.power_off(accelerator);
            self.stop(accelerator, now);
            let (execution, next) = (running.execution(), running.job.next_layer);
            let energy_of = |it: &Segment| execution.energy_of(it.first_layer..next) + energy;
            self.keep(&running, next, now, energy_of);
        }
        for request in self.requests.arrived() {
            let stage = self.requests.stage(request);
            if matches!(stage, Some(Stage::Ready | Stage::Suspended)) {
                self.state.take(request);
            }
            if !matches!(stage, Some(Stage::Executed | Stage::Cancelled) | None) {
                self.give_up(request, DropReason::Power, now);
            }
        }
        self.submissions.clear();
    }

    /// The instant at which the device stopped, if it did.
    #[inline]
    pub(in crate::engine) fn stopped(&self) -> Option<SimTime> {
        self.effects.stopped()
    }

    /// Whether the device lets nothing start on some accelerator.
    pub(in crate::engine) fn is_halted(&self) -> bool {
        self.effects.has_halts()
    }

    /// The account of the energy as of `end`, and heat and charge then; `None` without a device.
    pub(in crate::engine) fn account(&self, end: SimTime) -> Option<(Ledger, Body)> {
        self.effects.account_at(end)
    }
}

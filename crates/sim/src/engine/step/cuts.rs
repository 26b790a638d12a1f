//! Segments that end early.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::{DropReason, Segment};
use xrsim_model::units::{Millijoules, SimTime};

use super::Engine;

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
        self.effects.shorten(accelerator, layer);
        if end <= now {
            self.events += 1;
            self.stop(accelerator, now);
            self.suspend(accelerator, now);
        } else if !self.effects.set_completions() {
            self.completions.set(accelerator, end);
        }
    }

    /// Aborts a running request. Its energy is that of the layers that ran, and a fraction of that of
    /// the layer under way.
    pub(super) fn abort(&mut self, request: RequestId, now: SimTime) {
        let accelerator = self.state.accelerator_of(request);
        let accelerator = accelerator.expect("a running request is on an accelerator");
        let running = *self.state.last_segment(accelerator);
        let (layer, fraction) = self.effects.reached(&running, now);
        self.stop(accelerator, now);
        let execution = running.execution(self.costs);
        let energy_of = |segment: &Segment| {
            let under_way = if fraction > 0.0 { execution.layer_energy(layer).get() } else { 0.0 };
            execution.energy_of(segment.first_layer..layer) + Millijoules::new(fraction * under_way)
        };
        self.keep(&running, layer, now, energy_of);
        self.give_up(request, DropReason::Aborted, now);
    }
}

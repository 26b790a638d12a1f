//! Progress of requests that run in several segments.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::trace::Segment;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

/// Segments of all requests.
#[derive(Default)]
pub(super) struct Segments {
    /// Requests that have begun, indexed by [`RequestId`]; empty until the first request is cut.
    begun: Vec<Option<Begun>>,
    /// Segments that are complete, in order of their ends.
    done: Vec<Segment>,
}

/// Progress of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    /// Start of its first segment.
    pub(super) start: SimTime,
    /// Energy of the segments before the last one.
    earlier: Millijoules,
    /// Whether its segments are part of the trace: there are several, or data was moved for the only
    /// one.
    is_traced: bool,
    /// The last segment, which another one may continue.
    last: Segment,
    /// Energy of the data transfer before the last segment.
    transfer: Millijoules,
}

impl Begun {
    /// Accelerator of its last segment.
    pub(super) fn accelerator(&self) -> AccelId {
        self.last.accelerator
    }

    /// Energy of all segments.
    pub(super) fn energy(&self) -> Millijoules {
        self.earlier + self.last.energy
    }
}

impl Segments {
    /// Extends the last segment of a request by `next`, which continues it at once on the same
    /// accelerator. `energy_of` gives the energy of a segment without its data transfer.
    pub(super) fn extend(&mut self, next: &Segment, energy_of: impl Fn(&Segment) -> Millijoules) {
        let begun = self.begun(next.request).expect("the segment that it continues was added");
        let last = &mut begun.last;
        (last.end, last.end_layer) = (next.end, next.end_layer);
        // Computed from the first layer, so that the result does not depend on possible cuts.
        last.energy = begun.transfer + energy_of(last);
    }

    /// Adds a segment, whose energy includes that of its data `transfer`.
    pub(super) fn add(&mut self, segment: Segment, transfer: Millijoules) {
        let index = segment.request.index();
        if self.begun.len() <= index {
            self.begun.resize(index + 1, None);
        }
        let last = segment;
        self.begun[index] = Some(match self.begun[index] {
            None => {
                let (earlier, is_traced) = (Millijoules::ZERO, segment.moving > SimSpan::ZERO);
                Begun { start: segment.start, earlier, is_traced, last, transfer }
            }
            Some(begun) => {
                self.done.push(begun.last);
                let earlier = begun.energy();
                Begun { start: begun.start, earlier, is_traced: true, last, transfer }
            }
        });
    }

    fn begun(&mut self, request: RequestId) -> Option<&mut Begun> {
        self.begun.get_mut(request.index())?.as_mut()
    }

    /// Completes the last segment of a request that ends at `now`, and returns its progress. `None` if
    /// the request never ran, or only in a segment that was not added.
    pub(super) fn close(&mut self, request: RequestId, now: SimTime) -> Option<Begun> {
        let begun = *self.begun(request)?;
        let was_suspended = begun.last.end != now;
        if begun.is_traced || was_suspended {
            self.done.push(begun.last);
        }
        Some(begun)
    }

    /// Segments that tell more than the outcome of their request.
    pub(super) fn into_segments(self) -> Vec<Segment> {
        self.done
    }
}

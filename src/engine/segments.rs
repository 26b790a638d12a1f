//! What has become so far of requests that run in several segments.

use crate::ids::{AccelId, RequestId};
use crate::trace::Segment;
use crate::units::{Millijoules, SimSpan, SimTime};

/// The segments of all requests.
#[derive(Default)]
pub(super) struct Segments {
    /// Indexed by [`RequestId`]; empty until the first request is cut.
    begun: Vec<Option<Begun>>,
    /// In order of their ends.
    done: Vec<Segment>,
}

/// What a request has done so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    /// When its first segment started.
    pub(super) start: SimTime,
    /// Energy of the segments before the last one.
    earlier: Millijoules,
    /// Whether there were any, or data was moved for the last one.
    is_kept: bool,
    /// The last segment, which may go on.
    last: Segment,
    /// Energy of moving data for that one.
    moved: Millijoules,
}

impl Begun {
    /// Where its last segment ran.
    pub(super) fn accelerator(&self) -> AccelId {
        self.last.accelerator
    }

    /// Energy of all segments.
    pub(super) fn energy(&self) -> Millijoules {
        self.earlier + self.last.energy
    }
}

impl Segments {
    /// Lengthens the last segment of a request by one that went on at once, at its place, with nothing
    /// else in between. `energy_of` gives the energy of a segment without what was moved for it.
    pub(super) fn lengthen(&mut self, next: &Segment, energy_of: impl Fn(&Segment) -> Millijoules) {
        let begun = self.begun(next.request).expect("the segment that it goes on from was added");
        let last = &mut begun.last;
        (last.end, last.end_layer) = (next.end, next.end_layer);
        // Anew from the first layer on, so that it does not matter where it could have been cut.
        last.energy = begun.moved + energy_of(last);
    }

    /// Adds a segment; of its energy `moved` went into moving data.
    pub(super) fn add(&mut self, segment: Segment, moved: Millijoules) {
        let index = segment.request.index();
        if self.begun.len() <= index {
            self.begun.resize(index + 1, None);
        }
        let last = segment;
        self.begun[index] = Some(match self.begun[index] {
            None => {
                let (earlier, is_kept) = (Millijoules::ZERO, segment.moving > SimSpan::ZERO);
                Begun { start: segment.start, earlier, is_kept, last, moved }
            }
            Some(begun) => {
                self.done.push(begun.last);
                let earlier = begun.energy();
                Begun { start: begun.start, earlier, is_kept: true, last, moved }
            }
        });
    }

    fn begun(&mut self, request: RequestId) -> Option<&mut Begun> {
        self.begun.get_mut(request.index())?.as_mut()
    }

    /// What a request that ends has done, whose last segment ends with it at `now` unless it was waiting
    /// to go on; `None` if it never ran, or only in a segment that was not added.
    pub(super) fn close(&mut self, request: RequestId, now: SimTime) -> Option<Begun> {
        let begun = *self.begun(request)?;
        if begun.is_kept || begun.last.end != now {
            self.done.push(begun.last);
        }
        Some(begun)
    }

    /// All segments that are more than their outcome says.
    pub(super) fn into_segments(self) -> Vec<Segment> {
        self.done
    }
}

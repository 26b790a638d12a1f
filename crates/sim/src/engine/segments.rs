//! Progress of requests that run in several segments.

use xrsim_model::ids::AccelId;
use xrsim_model::trace::Segment;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

/// Segments of all requests that have begun, were cut and have not left.
#[derive(Default)]
pub(super) struct Segments {
    begun: Vec<Begun>,
    /// Places that are free.
    free: Vec<Place>,
}

/// Place of the progress of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(u32);

/// Progress of a request.
#[derive(Debug)]
struct Begun {
    /// Start of its first segment.
    start: SimTime,
    /// Energy of the segments before the last one.
    earlier: Millijoules,
    /// Whether its segments are part of the trace: there are several, or data was moved for the only
    /// one.
    is_traced: bool,
    /// The last segment, which another one may continue.
    last: Segment,
    /// Energy of the last segment beside that of its layers, such as of the data transfer before it.
    beside: Millijoules,
    /// Segments that are complete and tell more than the outcome of the request.
    done: Vec<Segment>,
}

/// Execution of a request so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Execution {
    /// Accelerator of its last segment.
    pub(super) accelerator: AccelId,
    /// Start of its first segment.
    pub(super) start: SimTime,
    /// Energy of all segments.
    pub(super) energy: Millijoules,
}

impl Segments {
    /// Extends the last segment of a request to `end` and `end_layer`, because it was continued at once on the same
    /// accelerator. `beside` is the energy beside that of its layers since then, and `energy_of` gives that of the layers of a
    /// segment.
    #[inline]
    pub(super) fn extend(
        &mut self,
        place: Place,
        (end, end_layer): (SimTime, u32),
        beside: Millijoules,
        energy_of: impl Fn(&Segment) -> Millijoules,
    ) {
        let begun = &mut self.begun[place.0 as usize];
        let last = &mut begun.last;
        (last.end, last.end_layer) = (end, end_layer);
        begun.beside += beside;
        // Computed from the first layer, so that the result does not depend on possible cuts.
        last.energy = begun.beside + energy_of(last);
    }

    /// Adds a segment to a request, whose energy includes that `beside` its layers, and returns the place of its progress.
    pub(super) fn add(
        &mut self,
        place: Option<Place>,
        segment: Segment,
        beside: Millijoules,
    ) -> Place {
        let Some(place) = place else { return self.begin(segment, beside) };
        let begun = &mut self.begun[place.0 as usize];
        begun.done.push(begun.last);
        begun.earlier += begun.last.energy;
        begun.is_traced = true;
        (begun.last, begun.beside) = (segment, beside);
        place
    }

    /// Adds the first segment of a request.
    fn begin(&mut self, segment: Segment, beside: Millijoules) -> Place {
        let begun = |done| Begun {
            start: segment.start,
            earlier: Millijoules::ZERO,
            is_traced: segment.moving > SimSpan::ZERO,
            last: segment,
            beside,
            done,
        };
        match self.free.pop() {
            Some(place) => {
                let old = &mut self.begun[place.0 as usize];
                old.done.clear();
                *old = begun(std::mem::take(&mut old.done));
                place
            }
            None => {
                self.begun.push(begun(Vec::new()));
                Place(self.begun.len() as u32 - 1)
            }
        }
    }

    /// Completes the last segment of a request that ends at `now`, and returns its execution.
    pub(super) fn close(&mut self, place: Place, now: SimTime) -> Execution {
        let begun = &mut self.begun[place.0 as usize];
        let was_suspended = begun.last.end != now;
        if begun.is_traced || was_suspended {
            begun.done.push(begun.last);
        }
        Execution {
            accelerator: begun.last.accelerator,
            start: begun.start,
            energy: begun.earlier + begun.last.energy,
        }
    }

    /// Complete segments of a request that tell more than its outcome. The request leaves.
    pub(super) fn take(&mut self, place: Option<Place>) -> &[Segment] {
        let Some(place) = place else { return &[] };
        self.free.push(place);
        &self.begun[place.0 as usize].done
    }
}

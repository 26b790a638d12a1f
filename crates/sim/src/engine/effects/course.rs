//! Where a running segment is, and its steps.

use std::sync::Arc;

use xrsim_model::ids::AccelId;

use super::super::running::RunningSegment;
use super::profile::{N_RESOURCES, Profile, ROUNDING, Stretches, demand, first_after};
use super::switching::Transfer;

/// Times that differ by less than this are the same \[ns\]; places are exact to 1e-7 ns.
const SAME: f64 = 1e-9;

/// A running segment on its course.
pub(super) struct Load {
    profile: Arc<Profile>,
    place: Place,
    /// Time until what is under way ends \[ns\].
    left: f64,
    /// Index after the layer under way, while its place looks at the end of a stretch.
    next: u32,
    first_layer: u32,
    end_layer: u32,
    pub(super) accelerator: AccelId,
    /// Place where its last layer ends.
    end: f64,
    /// Where it was at the last instant of the engine.
    before: Place,
    /// Demand of the NoC of the data transfer \[byte/ns\].
    moving_noc: f64,
}

/// Larger ones are copied by a call, and layers that are segments of their own come and go.
const _: () = assert!(size_of::<Load>() <= 128);

/// A place is the time at full speed since the start of the network \[ns\]. The data transfer before a segment lies
/// before the start of its first layer.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: f64,
    /// Place where the layer or data transfer under way ends.
    until: f64,
    /// Its demand of DRAM at full speed \[byte/ns\].
    wanted: f64,
    /// Its speed, as a fraction of full speed.
    rate: f64,
    /// Index after that layer; that of the first layer during the data transfer.
    next: u32,
}

impl Load {
    /// A segment that starts, after its data transfer `moved`.
    pub(super) fn new(
        running: &RunningSegment<'_>,
        moved: &Transfer,
        profile: Arc<Profile>,
    ) -> Self {
        let RunningSegment { ref job, accelerator, end_layer, .. } = *running;
        let (next, takes) = (job.next_layer, moved.time.ns() as f64);
        let (from, end) = (profile.start_of(next), profile.start_of(end_layer));
        let [wanted, moving_noc] = demand(moved.traffic, takes);
        let place = Place { at: from - takes, until: from, wanted, rate: 1.0, next };
        let mut load = Self {
            profile,
            place,
            left: takes,
            next,
            first_layer: next,
            end_layer,
            accelerator,
            end,
            before: place,
            moving_noc,
        };
        if takes == 0.0 {
            load.arrive();
        }
        load
    }

    fn is_moving(&self) -> bool {
        self.place.next == self.first_layer
    }

    /// Time at full speed to its end \[ns\].
    pub(super) fn work_left(&self) -> f64 {
        (self.end - self.place.at).max(0.0)
    }

    /// Whether its last layer is done.
    pub(super) fn is_done(&self) -> bool {
        self.place.at >= self.end
    }

    /// Layer under way; during the data transfer, the first one.
    pub(super) fn layer(&self) -> u32 {
        if self.is_moving() { self.place.next } else { self.place.next - 1 }
    }

    /// Demand of what is under way at full speed \[byte/ns\].
    pub(super) fn wanted(&self) -> [f64; N_RESOURCES] {
        match self.is_moving() {
            true => [self.place.wanted, self.moving_noc],
            false => self.profile.wanted[self.layer() as usize],
        }
    }

    /// Demand of DRAM of what is under way at full speed \[byte/ns\].
    #[inline]
    pub(super) fn dram(&self) -> f64 {
        self.place.wanted
    }

    /// Its speed, as a fraction of full speed.
    #[inline]
    pub(super) fn rate(&self) -> f64 {
        self.place.rate
    }

    /// Sets its speed.
    #[inline]
    pub(super) fn set_rate(&mut self, rate: f64) {
        self.place.rate = rate;
    }

    /// Ends it before `layer`.
    pub(super) fn shorten(&mut self, layer: u32) {
        self.end_layer = layer;
        self.end = self.profile.start_of(layer);
    }

    /// Remembers where it is.
    pub(super) fn keep(&mut self) {
        self.before = self.place;
    }

    /// Goes back to where it last was kept.
    pub(super) fn go_back(&mut self) {
        self.place = self.before;
    }

    /// Is at the place that it looked at. Returns whether the last layer is done.
    #[inline]
    fn arrive(&mut self) -> bool {
        let place = &mut self.place;
        place.at = place.until;
        // Layers of no time are done too.
        while place.until <= place.at {
            if place.next == self.end_layer {
                return true;
            }
            place.next += 1;
            place.until = self.profile.starts[place.next as usize];
        }
        place.wanted = self.profile.wanted[place.next as usize - 1][0];
        false
    }

    /// Finds the layer under way, which is that of its place or one after it.
    fn locate(&mut self) {
        if self.is_moving() {
            return;
        }
        let place = &mut self.place;
        let ends = &self.profile.starts[place.next as usize..self.end_layer as usize];
        place.next += first_after(ends, place.at) as u32;
        place.until = self.profile.start_of(place.next);
        place.wanted = self.profile.wanted[place.next as usize - 1][0];
    }

    /// Looks at the end of the stretch that the layer under way begins for 2^`level` loads.
    #[inline]
    fn look_ahead(&mut self, level: usize, end: impl Fn(Stretches) -> u32) {
        let next = self.place.next;
        self.next = next;
        if !self.is_moving() {
            let end = end(self.profile.stretches_from(next - 1, level));
            self.place.next = end.min(self.end_layer).max(next);
            self.place.until = self.profile.start_of(self.place.next);
        }
    }

    /// DRAM bytes before its place.
    fn bytes(&self) -> f64 {
        self.profile.bytes_at(self.place.next - 1, self.place.at)
    }

    /// Moves `bytes` more.
    fn flow(&mut self, bytes: f64) {
        let (layer, at) = self.profile.place_of(self.place.next - 1, self.bytes() + bytes);
        // Rounding does not lead past its end.
        (self.place.at, self.place.next) = (at.min(self.end), self.end_layer.min(layer + 1));
        self.locate();
    }

    /// Index of the layer before which it can be cut next, at least one after its first, and the time until
    /// then at full speed \[ns\].
    pub(super) fn next_cut(&self) -> (u32, f64) {
        let (profile, first) = (&self.profile, self.first_layer);
        let cut = match self.is_moving() {
            true => profile.steps[first as usize],
            false => profile.steps[profile.boundary(first, self.place.at) as usize - 1],
        };
        (cut, (profile.start_of(cut) - self.place.at).max(0.0))
    }

    /// The layer under way, and the fraction of it that has run.
    pub(super) fn reached(&self) -> (u32, f64) {
        if self.is_moving() {
            return (self.first_layer, 0.0);
        }
        let (profile, at) = (&self.profile, self.place.at);
        let cut = profile.boundary(self.first_layer, at);
        let left = (profile.start_of(cut) - at).max(0.0);
        if left <= ROUNDING {
            return (cut, 0.0);
        }
        let start = profile.start_of(cut - 1);
        (cut - 1, (at - start) / (profile.start_of(cut) - start))
    }
}

/// A rule by which loads divide bandwidth.
pub(super) trait Rule {
    /// Whether `load` demands so little that all are at full speed if all do.
    fn is_quiet(&self, load: &Load) -> bool;

    /// Whether `load` demands so much that each has [`Rule::part`] if all do; never if that part is not known.
    fn is_loud(&self, load: &Load) -> bool;

    /// Part of DRAM that each of `n_loads` loads has where all are loud \[byte/ns\].
    fn part(&self, n_loads: usize) -> f64;

    /// Sets the speeds of `loads` `passed` ns after the last instant, as long as nothing changes.
    fn divide(&mut self, loads: &mut [Load], passed: f64);
}

/// What [`step`] did.
pub(super) struct Step {
    /// Time since the last instant of the engine \[ns\].
    pub(super) passed: f64,
    /// Whether some layer, data transfer or stretch has ended.
    pub(super) changes: bool,
    /// Whether some load is done.
    pub(super) ends: bool,
}

/// Moves `loads`, `passed` ns after the last instant, to where one of them may change its speed, or to `most`.
///
/// Inlined, so that it is compiled for each rule and number of loads.
#[inline(always)]
pub(super) fn step(loads: &mut [Load], rule: &mut impl Rule, passed: f64, most: f64) -> Step {
    let n_loads = loads.len();
    if loads.iter().all(|it| rule.is_quiet(it)) {
        // The part of more loads is smaller, and that of fewer is larger.
        let level = n_loads.next_power_of_two().ilog2();
        for load in loads.iter_mut() {
            load.look_ahead(level as usize, |it| it.quiet);
            load.left = load.place.until - load.place.at;
        }
        return proceed(loads, passed, most, |load, ns| {
            load.place.next = load.next;
            load.place.at += ns;
            load.locate();
        });
    }
    if loads.iter().all(|it| rule.is_loud(it)) && !loads.iter().any(Load::is_moving) {
        let part = rule.part(n_loads);
        let level = n_loads.ilog2();
        for load in loads.iter_mut() {
            let bytes = load.bytes();
            load.look_ahead(level as usize, |it| it.loud);
            load.left = (load.profile.bytes[load.place.next as usize] - bytes) / part;
        }
        return proceed(loads, passed, most, |load, ns| {
            load.place.next = load.next;
            load.flow(part * ns);
        });
    }
    rule.divide(loads, passed);
    for load in loads.iter_mut() {
        let Place { at, until, rate, .. } = load.place;
        load.left = (until - at) / rate;
    }
    proceed(loads, passed, most, |load, ns| load.place.at += ns * load.place.rate)
}

/// Moves `loads` to where the first of them looks, or to `most`; those that are not there `run` for the ns up to then.
#[inline(always)]
fn proceed(
    loads: &mut [Load],
    passed: f64,
    most: f64,
    mut run: impl FnMut(&mut Load, f64),
) -> Step {
    let mut ns = most - passed;
    for load in loads.iter() {
        ns = if load.left < ns { load.left } else { ns };
    }
    let passed = passed + ns;
    // At a whole ns, an end that is off by rounding is there.
    let near_end = if passed >= most { ROUNDING } else { SAME };
    let (mut changes, mut ends) = (false, false);
    for load in loads {
        let near = if load.place.next == load.end_layer { near_end } else { SAME };
        if load.left - ns <= near {
            changes = true;
            ends |= load.arrive();
        } else {
            run(load, ns);
        }
    }
    Step { passed, changes, ends }
}

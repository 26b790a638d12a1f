//! A few segments that share DRAM, layer by layer.
//!
//! Where some demand little and others much, no sum over layers leads to the next change. A step is then a few
//! numbers for each segment. Quiet and loud stretches between such steps are short, so that they are passed here too.

use std::array;
use std::sync::Arc;

use super::course::{Load, Profile, ROUNDING, SAME, Stretches};

/// Most segments of [`run_layers`].
pub(super) const MAX_FEW: usize = 4;

/// Moves loads that run layers on, `passed` ns after the last instant and up to `most`, until one is done, or until a
/// quiet or a loud stretch begins that lasts to `most`. They share `capacity` max-min fair. Returns how much has passed
/// then.
pub(super) fn run_layers<const N: usize>(
    loads: &mut [Load; N],
    profiles: &[Option<Arc<Profile>>],
    capacity: f64,
    mut passed: f64,
    most: f64,
) -> f64 {
    let profile = |load: &Load| profiles[load.profile].as_ref().expect("it runs");
    let mut runners: [Runner<'_>; N] =
        array::from_fn(|index| Runner::new(&loads[index], profile(&loads[index])));
    let quiet_part = capacity / N.next_power_of_two() as f64;
    let loud_part = capacity / (1u32 << N.ilog2()) as f64;
    let mut is_done = false;
    while !is_done && passed < most {
        let is_quiet = runners.iter().all(|it| it.wanted <= quiet_part);
        let part = match is_quiet {
            true => None,
            false => {
                let is_loud = runners.iter().all(|it| it.wanted >= loud_part);
                is_loud.then(|| capacity / N as f64)
            }
        };
        let stretches = (is_quiet || part.is_some())
            .then(|| runners.each_ref().map(|it| it.stretch(N, part)))
            .filter(|stretches| stretches.iter().zip(&runners).all(|(it, at)| it.end > at.layer));
        if let Some(stretches) = stretches {
            let step = stretches.iter().map(|it| it.left).fold(f64::INFINITY, f64::min);
            if step >= most - passed {
                break;
            }
            passed += step;
            let near = if passed >= most { ROUNDING } else { SAME };
            for (runner, stretch) in runners.iter_mut().zip(&stretches) {
                is_done |= runner.pass(stretch, step, near);
            }
            continue;
        }
        let speeds = speeds(&runners, capacity);
        let lefts: [f64; N] = array::from_fn(|index| runners[index].left() / speeds[index]);
        let step = lefts.iter().copied().fold(most - passed, f64::min);
        passed += step;
        // At a whole ns, an end that is off by rounding is there.
        let near = if passed >= most { ROUNDING } else { SAME };
        for (runner, (speed, left)) in runners.iter_mut().zip(speeds.into_iter().zip(lefts)) {
            is_done |= runner.proceed(step * speed, left - step, near);
        }
    }
    for (runner, load) in runners.into_iter().zip(loads) {
        load.set_place(runner.layer.min(runner.end_layer - 1), runner.at);
    }
    passed
}

/// Speeds as fractions of full speed.
#[inline]
fn speeds<const N: usize>(runners: &[Runner<'_>; N], capacity: f64) -> [f64; N] {
    let mut speeds = [1.0; N];
    let total: f64 = runners.iter().map(|it| it.wanted).sum();
    if total <= capacity {
        return speeds;
    }
    let (mut left, mut n_left, mut is_granted) = (capacity, N, [false; N]);
    loop {
        let equal_part = left / n_left as f64;
        let n_before = n_left;
        for (runner, is_granted) in runners.iter().zip(&mut is_granted) {
            if !*is_granted && runner.wanted <= equal_part {
                *is_granted = true;
                left -= runner.wanted;
                n_left -= 1;
            }
        }
        if n_left == n_before {
            for index in 0..N {
                if !is_granted[index] {
                    speeds[index] = equal_part / runners[index].wanted;
                }
            }
            return speeds;
        }
        if n_left == 0 {
            return speeds;
        }
    }
}

/// A stretch of layers that a load passes at one speed.
struct Stretch {
    /// Index after its last layer.
    end: u32,
    /// Time to its end \[ns\].
    left: f64,
    /// DRAM bytes so far, and those per ns, if the load is slowed.
    flow: Option<[f64; 2]>,
}

/// A load on its course.
struct Runner<'p> {
    profile: &'p Profile,
    layer: u32,
    end_layer: u32,
    at: f64,
    /// Place where the layer ends.
    until: f64,
    /// DRAM bandwidth that the layer demands \[byte/ns\].
    wanted: f64,
}

impl<'p> Runner<'p> {
    fn new(load: &Load, profile: &'p Profile) -> Self {
        let (layer, end_layer, at) = load.place();
        let (until, wanted) = (profile.start_of(layer + 1), profile.demand_of(layer));
        Self { profile, layer, end_layer, at, until, wanted }
    }

    /// The stretch that the layer begins for `n_loads` loads: a quiet one, or a loud one with `part` \[byte/ns\] of DRAM.
    #[inline]
    fn stretch(&self, n_loads: usize, part: Option<f64>) -> Stretch {
        let profile = self.profile;
        let Stretches { quiet, loud } = profile.stretches_from(self.layer, n_loads);
        match part {
            None => {
                let end = quiet.min(self.end_layer);
                Stretch { end, left: profile.start_of(end) - self.at, flow: None }
            }
            Some(part) => {
                let (end, bytes) =
                    (loud.min(self.end_layer), profile.bytes_at(self.layer, self.at));
                let left = (profile.bytes_before(end) - bytes) / part;
                Stretch { end, left, flow: Some([bytes, part]) }
            }
        }
    }

    /// Passes through `stretch` for `ns`; an end of the last layer may be `near` ns further. Returns whether that is done.
    #[inline]
    fn pass(&mut self, stretch: &Stretch, ns: f64, near: f64) -> bool {
        let (until, end) =
            (self.profile.start_of(stretch.end), self.profile.start_of(self.end_layer));
        let near = if until >= end { near } else { SAME };
        match stretch.flow {
            _ if stretch.left <= ns + near => {
                (self.layer, self.at) = (stretch.end.min(self.end_layer - 1), until);
            }
            None => self.at += ns,
            Some([bytes, part]) => {
                (self.layer, self.at) = self.profile.place_of(self.layer, bytes + part * ns);
            }
        }
        if self.at >= end {
            return true;
        }
        self.layer = self.profile.layer_at(self.layer, self.end_layer, self.at);
        self.until = self.profile.start_of(self.layer + 1);
        self.wanted = self.profile.demand_of(self.layer);
        false
    }

    /// Time at full speed to the end of the layer \[ns\].
    #[inline]
    fn left(&self) -> f64 {
        self.until - self.at
    }

    /// Proceeds by `ns` at full speed; then the layer takes another `left`. Returns whether the last layer is done.
    #[inline]
    fn proceed(&mut self, ns: f64, left: f64, near: f64) -> bool {
        let is_last = self.layer + 1 == self.end_layer;
        if left > if is_last { near } else { SAME } {
            self.at += ns;
            return false;
        }
        self.at = self.until;
        // Layers of no time are done too.
        while self.until <= self.at {
            self.layer += 1;
            if self.layer == self.end_layer {
                return true;
            }
            self.until = self.profile.start_of(self.layer + 1);
        }
        self.wanted = self.profile.demand_of(self.layer);
        false
    }
}

//! A few segments that share DRAM, layer by layer.
//!
//! Where some demand little and others much, no sum over layers leads to the next change. A step is then a few
//! numbers for each segment.

use std::array;
use std::sync::Arc;

use super::course::{Load, Profile, ROUNDING, SAME};

/// Most segments of [`run_layers`].
pub(super) const MAX_FEW: usize = 4;

/// Moves loads that run layers on, `passed` ns after the last instant and up to `most`, until one is done, or until a
/// quiet or a loud stretch begins. They share `capacity` max-min fair. Returns how much has passed then.
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
    loop {
        let speeds = speeds(&runners, capacity);
        let lefts: [f64; N] = array::from_fn(|index| runners[index].left() / speeds[index]);
        let step = lefts.iter().copied().fold(most - passed, f64::min);
        passed += step;
        // At a whole ns, an end that is off by rounding is there.
        let near = if passed >= most { ROUNDING } else { SAME };
        let mut is_done = false;
        for (runner, (speed, left)) in runners.iter_mut().zip(speeds.into_iter().zip(lefts)) {
            is_done |= runner.proceed(step * speed, left - step, near);
        }
        let is_quiet = runners.iter().all(|it| it.wanted <= quiet_part);
        let is_loud = runners.iter().all(|it| it.wanted >= loud_part);
        if is_done || is_quiet || is_loud || passed >= most {
            break;
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

//! Two segments, one of which demands at most half of the DRAM bandwidth and the other one more.
//!
//! The first one runs at full speed, whatever its layer. The second one has what is left. No sum over layers
//! leads to its end, but a step takes a division only.

use super::course::{Load, Profile, ROUNDING, SAME};

/// Moves two loads on, `passed` ns after the last instant and up to `most`, while one of them is light and one is
/// heavy, and until one is done. Returns how much has passed then.
pub(super) fn run_mixed(
    loads: [&mut Load; 2],
    profiles: [&Profile; 2],
    capacity: f64,
    mut passed: f64,
    most: f64,
) -> f64 {
    let [one, other] = loads;
    let mut first = Runner::new(one, profiles[0]);
    let mut second = Runner::new(other, profiles[1]);
    let half = capacity / 2.0;
    let mut is_done = false;
    while !is_done && passed < most {
        let (light, heavy) = match (first.demand() <= half, second.demand() <= half) {
            (true, false) => (&mut first, &mut second),
            (false, true) => (&mut second, &mut first),
            _ => break,
        };
        let speed = ((capacity - light.demand()) / heavy.demand()).min(1.0);
        let left = [light.left(), heavy.left() / speed];
        let step = left[0].min(left[1]).min(most - passed);
        passed += step;
        // At a whole ns, an end that is off by rounding is there.
        let near = if passed >= most { ROUNDING } else { SAME };
        is_done = light.proceed(step, left[0] - step, near);
        is_done |= heavy.proceed(step * speed, left[1] - step, near);
    }
    first.store(one);
    second.store(other);
    passed
}

/// A load on its course.
struct Runner<'p> {
    profile: &'p Profile,
    layer: u32,
    end_layer: u32,
    at: f64,
}

impl<'p> Runner<'p> {
    fn new(load: &Load, profile: &'p Profile) -> Self {
        let (layer, end_layer, at) = load.place();
        Self { profile, layer, end_layer, at }
    }

    fn store(&self, load: &mut Load) {
        load.set_place(self.layer.min(self.end_layer - 1), self.at);
    }

    /// DRAM bandwidth that it demands \[byte/ns\].
    #[inline]
    fn demand(&self) -> f64 {
        self.profile.demand_of(self.layer)
    }

    /// Time at full speed to the end of the layer \[ns\].
    #[inline]
    fn left(&self) -> f64 {
        self.profile.start_of(self.layer + 1) - self.at
    }

    /// Proceeds by `ns` at full speed; then the layer takes another `left`. Returns whether the last layer is done.
    #[inline]
    fn proceed(&mut self, ns: f64, left: f64, near: f64) -> bool {
        let is_last = self.layer + 1 == self.end_layer;
        if left > if is_last { near } else { SAME } {
            self.at += ns;
            return false;
        }
        self.at = self.profile.start_of(self.layer + 1);
        self.layer += 1;
        // Layers of no time.
        while self.layer < self.end_layer && self.profile.start_of(self.layer + 1) <= self.at {
            self.layer += 1;
        }
        self.layer == self.end_layer
    }
}

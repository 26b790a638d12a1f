//! Allocation of a capacity to demands. Reuses its buffers.

/// Demands for a capacity, and a grant for each.
#[derive(Default)]
pub(super) struct Allocation {
    /// Index of every user that demands something.
    users: Vec<usize>,
    /// Demand of every user, above 0.
    demands: Vec<f64>,
    /// Grant to every user.
    grants: Vec<f64>,
}

/// Smallest fraction of a demand that is granted, so that every user makes progress.
const MIN_FRACTION: f64 = 1.0 / 1_048_576.0;

impl Allocation {
    /// Takes the demands of all users, by index; returns their sum.
    pub(super) fn set_demands(&mut self, demands: impl Iterator<Item = f64>) -> f64 {
        self.users.clear();
        self.demands.clear();
        for (index, demand) in demands.enumerate().filter(|(_, demand)| *demand > 0.0) {
            self.users.push(index);
            self.demands.push(demand);
        }
        self.grants.clear();
        self.grants.resize(self.users.len(), 0.0);
        self.demands.iter().sum()
    }

    /// Users that demand something, each with its demand.
    pub(super) fn demands(&self) -> impl Iterator<Item = (usize, f64)> {
        self.users.iter().copied().zip(self.demands.iter().copied())
    }

    /// Grants, in the order of [`Allocation::demands`].
    pub(super) fn grants(&mut self) -> &mut [f64] {
        &mut self.grants
    }

    /// Max-min fairness: a demand below an equal part of the remaining capacity is granted in full.
    pub(super) fn max_min_fair(&mut self, capacity: f64) {
        let Self { demands, grants, .. } = self;
        let (mut left, mut n_left) = (capacity, demands.len());
        grants.fill(0.0);
        loop {
            let equal_part = left / n_left as f64;
            let n_before = n_left;
            // A grant of 0 is still to be made.
            for (grant, &demand) in grants.iter_mut().zip(&*demands) {
                if *grant == 0.0 && demand <= equal_part {
                    *grant = demand;
                    left -= demand;
                    n_left -= 1;
                }
            }
            if n_left == n_before || n_left == 0 {
                let open = grants.iter_mut().filter(|grant| **grant == 0.0);
                open.for_each(|grant| *grant = equal_part);
                return;
            }
        }
    }

    /// Proportional division: every user is granted the same fraction of its demand.
    pub(super) fn proportional(&mut self, capacity: f64) {
        let fraction = capacity / self.demands.iter().sum::<f64>();
        for (grant, demand) in self.grants.iter_mut().zip(&self.demands) {
            *grant = demand * fraction;
        }
    }

    /// Clamps grants that a scheduler made: each above zero and at most its demand, their sum at most
    /// the capacity.
    pub(super) fn clamp_to_capacity(&mut self, capacity: f64) {
        for (grant, demand) in self.grants.iter_mut().zip(&self.demands) {
            *grant = grant.max(demand * MIN_FRACTION).min(*demand);
        }
        let granted: f64 = self.grants.iter().sum();
        if granted > capacity {
            self.grants.iter_mut().for_each(|grant| *grant *= capacity / granted);
        }
    }

    /// Fraction of its demand that every user is granted.
    pub(super) fn fractions(&self) -> impl Iterator<Item = (usize, f64)> {
        let fractions = self.grants.iter().zip(&self.demands).map(|(grant, demand)| grant / demand);
        self.users.iter().copied().zip(fractions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocated(demands: &[f64], allocate: impl Fn(&mut Allocation)) -> Vec<f64> {
        let mut allocation = Allocation::default();
        allocation.set_demands(demands.iter().copied());
        allocate(&mut allocation);
        allocation.grants.clone()
    }

    /// Capacity 10 for four users: equal parts are 2.5. The demand of 1 is granted, and 9 remain for
    /// three. The demand of 2 is granted, and 3.5 remain for each of the other two.
    #[test]
    fn max_min_fairness_grants_small_demands_in_full() {
        let grants = allocated(&[4.0, 1.0, 8.0, 2.0], |it| it.max_min_fair(10.0));
        assert_eq!(grants, [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn proportional_division_slows_all_users_by_the_same_factor() {
        let grants = allocated(&[4.0, 1.0, 0.0, 5.0], |it| it.proportional(5.0));
        assert_eq!(grants, [2.0, 0.5, 2.5], "a demand of zero is left out");
    }

    /// Demands are 4, 4 and 2. Grants are more than the demand, negative, and not a number.
    #[test]
    fn grants_of_a_scheduler_are_clamped() {
        let mut allocation = Allocation::default();
        allocation.set_demands([4.0, 4.0, 2.0].into_iter());
        allocation.grants().copy_from_slice(&[9.0, -1.0, f64::NAN]);
        allocation.clamp_to_capacity(2.0);
        let sum: f64 = allocation.grants.iter().sum();
        // Two roundings of numbers near 2.
        assert!(sum <= 2.0 + 1e-15, "{sum}");
        assert!(allocation.grants.iter().all(|grant| *grant > 0.0));
        assert!(allocation.grants[0] > 1.99);
    }

    /// Over many random rounds: grants stay within demands and capacity, no capacity is left while a
    /// demand is not met, and with max-min fairness no user gets more than one whose demand is not met.
    #[test]
    fn allocations_use_the_capacity_and_never_exceed_it() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / 16_777_216.0
        };
        for round in 0..10_000 {
            let demands: Vec<f64> = (0..1 + round % 12).map(|_| 100.0 * random()).collect();
            let capacity = (1e-3 + random()) * demands.iter().sum::<f64>();
            for fair in [true, false] {
                let mut allocation = Allocation::default();
                if allocation.set_demands(demands.iter().copied()) <= capacity {
                    continue;
                }
                if fair {
                    allocation.max_min_fair(capacity);
                } else {
                    allocation.proportional(capacity);
                }
                let sum: f64 = allocation.grants.iter().sum();
                // One rounding for every user.
                assert!((sum - capacity).abs() <= 1e-12 * capacity, "{sum} {capacity}");
                let pairs = || allocation.grants.iter().zip(&allocation.demands);
                assert!(pairs().all(|(grant, demand)| *grant > 0.0 && grant <= demand));
                let short = pairs().filter(|(grant, demand)| grant < demand).map(|it| *it.0);
                let least = short.fold(f64::INFINITY, f64::min);
                let most = allocation.grants.iter().copied().fold(0.0, f64::max);
                assert!(!fair || most <= least * (1.0 + 1e-12), "{most} {least}");
            }
        }
    }
}

//! Max-min division of DRAM among running segments.

use super::course::{Load, Rule};

/// Max-min fairness, if DRAM alone is shared.
pub(super) struct MaxMin {
    capacity: f64,
    quiet_part: f64,
    loud_part: f64,
}

impl MaxMin {
    /// Division of `capacity` among `n_loads` loads.
    #[inline]
    pub(super) fn new(capacity: f64, n_loads: usize) -> Self {
        // Stretches are known for powers of two.
        let quiet_part = capacity / n_loads.next_power_of_two() as f64;
        let loud_part = capacity / (1u64 << n_loads.ilog2()) as f64;
        Self { capacity, quiet_part, loud_part }
    }
}

impl Rule for MaxMin {
    #[inline(always)]
    fn is_quiet(&self, load: &Load) -> bool {
        load.dram() <= self.quiet_part
    }

    #[inline(always)]
    fn is_loud(&self, load: &Load) -> bool {
        load.dram() >= self.loud_part
    }

    #[inline(always)]
    fn part(&self, n_loads: usize) -> f64 {
        self.capacity / n_loads as f64
    }

    #[inline(always)]
    fn divide(&mut self, loads: &mut [Load], _: f64) {
        let total: f64 = loads.iter().map(Load::dram).sum();
        if total <= self.capacity {
            loads.iter_mut().for_each(|load| load.set_rate(1.0));
            return;
        }
        let part = match loads {
            // Most often there are two, of which one demands less than half.
            [one, other] => {
                let (one, other) = (one.dram(), other.dram());
                let left = self.capacity - if one < other { one } else { other };
                if left > self.loud_part { left } else { self.loud_part }
            }
            _ => self.open_part(loads),
        };
        loads.iter_mut().for_each(|load| load.set_rate((part / load.dram()).min(1.0)));
    }
}

impl MaxMin {
    /// Most that a load is granted if all demand more than the capacity: demands below an equal part of what is left are
    /// granted, until each of the others has more.
    #[inline(always)]
    fn open_part(&self, loads: &[Load]) -> f64 {
        let mut n_open = loads.len();
        let mut part = self.part(n_open);
        loop {
            let (mut left, n_before) = (self.capacity, n_open);
            n_open = 0;
            for load in loads {
                let is_open = load.dram() > part;
                left -= if is_open { 0.0 } else { load.dram() };
                n_open += usize::from(is_open);
            }
            if n_open == n_before || n_open == 0 {
                return part;
            }
            // Rounding does not take back what was granted.
            part = part.max(left / n_open as f64);
        }
    }
}

//! A capacity divided among those that ask for it. Keeps its memory from one time to the next.

/// Who asks for how much of a capacity, and what each gets.
#[derive(Default)]
pub(super) struct Division {
    /// Who asks for something.
    askers: Vec<usize>,
    /// How much, above 0.
    wanted: Vec<f64>,
    grants: Vec<f64>,
    /// Indices into the three, the one that asks for least first.
    ascending: Vec<usize>,
}

/// Least part of what it asks for that an asker is given, so that everything goes on.
const LEAST_PART: f64 = 1.0 / 1_048_576.0;

impl Division {
    /// Takes in what everybody asks for, by index, and gives the sum.
    pub(super) fn ask(&mut self, wanted: impl Iterator<Item = f64>) -> f64 {
        self.askers.clear();
        self.wanted.clear();
        for (index, wanted) in wanted.enumerate().filter(|(_, wanted)| *wanted > 0.0) {
            self.askers.push(index);
            self.wanted.push(wanted);
        }
        self.grants.clear();
        self.grants.resize(self.askers.len(), 0.0);
        self.wanted.iter().sum()
    }

    /// Who asks for something, and for how much.
    pub(super) fn askers(&self) -> impl Iterator<Item = (usize, f64)> {
        self.askers.iter().copied().zip(self.wanted.iter().copied())
    }

    /// What each of the askers gets, in their order.
    pub(super) fn grants(&mut self) -> &mut [f64] {
        &mut self.grants
    }

    /// Max-min fair: whoever asks for less than an equal part of what is left gets it.
    pub(super) fn max_min_fair(&mut self, capacity: f64) {
        let Self { wanted, grants, ascending, .. } = self;
        ascending.clear();
        ascending.extend(0..wanted.len());
        ascending.sort_unstable_by(|&a, &b| wanted[a].total_cmp(&wanted[b]).then(a.cmp(&b)));
        let mut left = capacity;
        for (done, &index) in ascending.iter().enumerate() {
            let equal_part = left / (wanted.len() - done) as f64;
            grants[index] = wanted[index].min(equal_part);
            left -= grants[index];
        }
    }

    /// The same part of what it asks for to each.
    pub(super) fn in_proportion(&mut self, capacity: f64) {
        let part = capacity / self.wanted.iter().sum::<f64>();
        for (grant, wanted) in self.grants.iter_mut().zip(&self.wanted) {
            *grant = wanted * part;
        }
    }

    /// Keeps grants that somebody else made within what is wanted and what there is, and above zero.
    pub(super) fn clamp_to_capacity(&mut self, capacity: f64) {
        for (grant, wanted) in self.grants.iter_mut().zip(&self.wanted) {
            *grant = grant.max(wanted * LEAST_PART).min(*wanted);
        }
        let granted: f64 = self.grants.iter().sum();
        if granted > capacity {
            self.grants.iter_mut().for_each(|grant| *grant *= capacity / granted);
        }
    }

    /// The part of what it asks for that each asker gets.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, f64)> {
        let parts = self.grants.iter().zip(&self.wanted).map(|(grant, wanted)| grant / wanted);
        self.askers.iter().copied().zip(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(wanted: &[f64], divide: impl Fn(&mut Division)) -> Vec<f64> {
        let mut division = Division::default();
        division.ask(wanted.iter().copied());
        divide(&mut division);
        division.grants.clone()
    }

    /// 10 among four: equal parts are 2.5. The one that asks for 1 gets it, the others divide 9; the
    /// one that asks for 2 gets it, two are left with 3.5 each.
    #[test]
    fn max_min_fairness_gives_the_modest_what_they_ask_for() {
        let grants = divided(&[4.0, 1.0, 8.0, 2.0], |it| it.max_min_fair(10.0));
        assert_eq!(grants, [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn proportional_division_slows_everybody_alike() {
        let grants = divided(&[4.0, 1.0, 0.0, 5.0], |it| it.in_proportion(5.0));
        assert_eq!(grants, [2.0, 0.5, 2.5], "who asks for nothing is not among them");
    }

    /// Asked for 4, 4 and 2; made were too much, nothing and nonsense.
    #[test]
    fn grants_of_others_are_kept_within_bounds() {
        let mut division = Division::default();
        division.ask([4.0, 4.0, 2.0].into_iter());
        division.grants().copy_from_slice(&[9.0, -1.0, f64::NAN]);
        division.clamp_to_capacity(2.0);
        let sum: f64 = division.grants.iter().sum();
        // Two roundings of numbers near 2.
        assert!(sum <= 2.0 + 1e-15, "{sum}");
        assert!(division.grants.iter().all(|grant| *grant > 0.0));
        assert!(division.grants[0] > 1.99);
    }

    /// Over many random rounds: within what is wanted and what there is, nothing is left over while
    /// somebody wants more, and with max-min fairness nobody gets more than one who is short.
    #[test]
    fn divisions_use_the_capacity_and_never_exceed_it() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / 16_777_216.0
        };
        for round in 0..10_000 {
            let wanted: Vec<f64> = (0..1 + round % 12).map(|_| 100.0 * random()).collect();
            let capacity = (1e-3 + random()) * wanted.iter().sum::<f64>();
            for fair in [true, false] {
                let mut division = Division::default();
                if division.ask(wanted.iter().copied()) <= capacity {
                    continue;
                }
                if fair {
                    division.max_min_fair(capacity);
                } else {
                    division.in_proportion(capacity);
                }
                let sum: f64 = division.grants.iter().sum();
                // As many roundings as there are askers.
                assert!((sum - capacity).abs() <= 1e-12 * capacity, "{sum} {capacity}");
                let pairs = || division.grants.iter().zip(&division.wanted);
                assert!(pairs().all(|(grant, wanted)| *grant > 0.0 && grant <= wanted));
                let short = pairs().filter(|(grant, wanted)| grant < wanted).map(|it| *it.0);
                let least = short.fold(f64::INFINITY, f64::min);
                let most = division.grants.iter().copied().fold(0.0, f64::max);
                assert!(!fair || most <= least * (1.0 + 1e-12), "{most} {least}");
            }
        }
    }
}

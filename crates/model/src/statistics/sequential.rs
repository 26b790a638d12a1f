//! How many replications are enough.

use super::{Fraction, LEAST_VALUES, NoInterval, Summary};

/// Stopping rule for replications: a pilot, then as many replications as its spread requires, checked again
/// after that, until the confidence interval of the mean is narrow enough or a cap is reached.
///
/// The count follows from the spread so far, `(t·SD / half width)²`. A sample that has a small spread by
/// chance stops early, so the true confidence is a little below the level; a larger pilot reduces the
/// difference (Chow & Robbins 1965).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequential {
    /// Half the width of the interval to reach, above 0.
    pub half_width: f64,
    /// Confidence of the interval.
    pub level: Fraction,
    /// Replications before the spread is estimated; at least [`LEAST_VALUES`] are made.
    pub pilot: u64,
    /// Largest number of replications.
    pub cap: u64,
}

/// Decision of a [`Sequential`] rule after some replications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopping {
    /// The interval is narrow enough.
    Reached,
    /// The interval is too wide, but the cap is reached.
    Capped,
    /// More replications are needed, up to this number in all; then the rule decides again.
    Until(u64),
}

impl Sequential {
    /// Rule for an interval of ± `half_width` at 95 %, with a pilot of 30 and at most 1000 replications.
    pub fn to(half_width: f64) -> Self {
        Self { half_width, level: Fraction::P95, pilot: 30, cap: 1000 }
    }

    /// Decision after the replications `so_far`.
    pub fn decide(&self, so_far: &Summary) -> Stopping {
        let pilot = self.pilot.max(LEAST_VALUES);
        let half = match so_far.no_interval() {
            Some(NoInterval::NoSpread) => Some(0.0),
            // Two values that differ say nothing about the width: twice as many may.
            Some(NoInterval::FewOthers) => Some(self.half_width * 2f64.sqrt()),
            _ => so_far.half_width(self.level),
        };
        match half {
            Some(half) if so_far.n >= pilot && half <= self.half_width => Stopping::Reached,
            _ if so_far.n >= self.cap => Stopping::Capped,
            Some(half) if so_far.n >= pilot => {
                let wanted = so_far.n as f64 * (half / self.half_width).powi(2);
                Stopping::Until((wanted.ceil() as u64).max(so_far.n + 1).min(self.cap))
            }
            _ => Stopping::Until(pilot.min(self.cap)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: u64, sd: f64) -> Summary {
        Summary::symmetric(n, 0.0, sd)
    }

    #[test]
    fn the_pilot_comes_first() {
        let rule = Sequential::to(0.5);
        assert_eq!(rule.decide(&of(0, 0.0)), Stopping::Until(30));
        assert_eq!(rule.decide(&of(29, 0.0)), Stopping::Until(30));
        assert_eq!(rule.decide(&of(30, 0.0)), Stopping::Reached);
    }

    /// t(29, 0.975)·3 = 6.1357, and (6.1357/0.5)² = 150.6.
    #[test]
    fn the_spread_of_the_pilot_says_how_many_more() {
        assert_eq!(Sequential::to(0.5).decide(&of(30, 3.0)), Stopping::Until(151));
    }

    /// t(150, 0.975) = 1.9759. A half width of 3.11·1.9759/√151 = 0.50009 is just too wide; 3.10 gives
    /// 0.49848.
    #[test]
    fn a_width_that_is_just_missed_asks_for_at_least_one_more() {
        assert_eq!(Sequential::to(0.5).decide(&of(151, 3.11)), Stopping::Until(152));
        assert_eq!(Sequential::to(0.5).decide(&of(151, 3.10)), Stopping::Reached);
    }

    #[test]
    fn the_cap_ends_everything() {
        let rule = Sequential::to(0.5);
        assert_eq!(rule.decide(&of(30, 30.0)), Stopping::Until(1000));
        assert_eq!(rule.decide(&of(1000, 30.0)), Stopping::Capped);
        assert_eq!(rule.decide(&of(1000, 3.0)), Stopping::Reached);
    }

    /// The pilot needs 10 replications, but only 5 are allowed.
    #[test]
    fn a_cap_below_the_pilot_holds() {
        let rule = Sequential { pilot: 10, cap: 5, ..Sequential::to(0.5) };
        assert_eq!(rule.decide(&of(0, 0.0)), Stopping::Until(5));
        assert_eq!(rule.decide(&of(5, 0.0)), Stopping::Capped);
    }

    #[test]
    fn two_values_that_differ_double_the_replications() {
        let so_far = Summary { n_others: 2, ..of(30, 1e-9) };
        assert_eq!(Sequential::to(0.5).decide(&so_far), Stopping::Until(61));
    }

    #[test]
    fn a_width_of_zero_is_reached_by_the_cap_only() {
        let rule = Sequential::to(0.0);
        assert_eq!(rule.decide(&of(30, 1.0)), Stopping::Until(1000));
        assert_eq!(rule.decide(&of(30, 0.0)), Stopping::Reached);
    }
}

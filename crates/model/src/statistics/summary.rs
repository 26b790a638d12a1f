//! Mean, standard deviation and confidence interval of the mean.

use statrs::distribution::{Continuous as _, ContinuousCDF as _, StudentsT};

use super::Fraction;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Summary of a sample, e.g. of the replications of a score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Number of values.
    pub n: u64,
    /// Mean; 0 without values.
    pub mean: f64,
    /// Standard deviation with the divisor `n − 1`; 0 below two values.
    pub sd: f64,
}

impl Summary {
    /// Summary of finite `values` by Welford's recurrence (Technometrics 4, 1962): one pass, without a
    /// difference of large squares.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut n, mut mean, mut squares) = (0u64, 0.0, 0.0);
        for value in values {
            n += 1;
            let before = value - mean;
            mean += before / n as f64;
            squares += before * (value - mean);
        }
        let sd = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        Self { n, mean, sd }
    }

    /// Standard deviation of the mean; `None` below two values.
    pub fn standard_error(&self) -> Option<f64> {
        (self.n >= 2).then(|| self.sd / (self.n as f64).sqrt())
    }

    /// Half the width of the confidence interval of the mean; `None` below two values.
    ///
    /// ```text
    /// t(n − 1, (1 + level)/2) · SD / √n
    /// ```
    ///
    /// where `t(ν, p)` is the `p` quantile of Student's distribution with `ν` degrees of freedom. The level is
    /// exact for normal values, and nearly exact for means of some tens of bounded values.
    pub fn half_width(&self, level: Fraction) -> Option<f64> {
        Some(t_quantile(self.n.checked_sub(1)?, level)? * self.standard_error()?)
    }

    /// Confidence interval of the mean at `level`; `None` below two values.
    pub fn interval(&self, level: Fraction) -> Option<Interval> {
        let half = self.half_width(level)?;
        Some(Interval { low: self.mean - half, high: self.mean + half })
    }

    /// Two-sided p-value of the t-test for the hypothesis that the true mean is `mean`; `None` below two
    /// values. Without spread it is 1 if the mean of the sample is `mean`, and 0 otherwise.
    pub fn p_value(&self, mean: f64) -> Option<f64> {
        let error = self.standard_error()?;
        let distance = (self.mean - mean).abs();
        if distance == 0.0 {
            return Some(1.0);
        }
        Some(2.0 * student(self.n - 1)?.sf(distance / error))
    }
}

/// Two-sided quantile of Student's distribution: a fraction `level` of it lies between minus and plus this
/// value.
///
/// The quantile of `statrs` has errors of up to 10^-4 for many degrees of freedom. Its tail and density are
/// exact, so two steps of Newton's method correct the quantile.
fn t_quantile(degrees: u64, level: Fraction) -> Option<f64> {
    let student = student(degrees)?;
    let tail = (1.0 - level.get()) / 2.0;
    let polish = |t: f64| t + (student.sf(t) - tail) / student.pdf(t);
    Some(polish(polish(-student.inverse_cdf(tail))))
}

/// Student's distribution with these degrees of freedom; `None` for 0.
fn student(degrees: u64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    /// The squared distances from 5 are 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; the variance is 32/7.
    #[test]
    fn mean_and_deviation_of_a_textbook_sample() {
        let summary = Summary::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((summary.n, summary.mean), (8, 5.0));
        close(summary.sd, (32.0f64 / 7.0).sqrt(), 1e-15);
    }

    #[test]
    fn a_large_offset_does_not_swallow_the_deviation() {
        let summary = Summary::of([1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]);
        assert_eq!((summary.mean, summary.sd), (1e9 + 2.0, 1.0));
    }

    #[test]
    fn below_two_values_there_is_no_interval() {
        for values in [&[][..], &[3.0]] {
            let summary = Summary::of(values.iter().copied());
            assert_eq!(summary.interval(Fraction::P95), None);
            assert_eq!(summary.p_value(0.0), None);
        }
    }

    /// Quantiles from printed tables of Student's distribution. The last one is close to 1.959964 of the
    /// normal distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let tabled = [
            (1, Fraction::P95, 12.706_204_736_175),
            (2, Fraction::P95, 4.302_652_730),
            (10, Fraction::P99, 3.169_272_673),
            (29, Fraction::P95, 2.045_229_642),
            (29, Fraction::P90, 1.699_127_027),
            (199, Fraction::P95, 1.971_956_544),
            (999, Fraction::P99, 2.580_759_637),
            (1_000_000, Fraction::P95, 1.959_966_357),
        ];
        for (degrees, level, expected) in tabled {
            close(t_quantile(degrees, level).unwrap(), expected, 1e-9);
        }
        assert_eq!(t_quantile(0, Fraction::P95), None);
    }

    /// With one degree of freedom, the quantile is tan(π·level/2).
    #[test]
    fn extreme_levels_have_their_quantiles() {
        for level in [0.01, 0.5, 0.999_999] {
            let expected = (std::f64::consts::FRAC_PI_2 * level).tan();
            let found = t_quantile(1, Fraction::new(level).unwrap()).unwrap();
            close(found / expected, 1.0, 1e-9);
        }
    }

    /// SD = √2.5, SE = √0.5, t(4, 0.975) = 2.776445105.
    #[test]
    fn the_interval_is_the_quantile_times_the_standard_error() {
        let interval = Summary::of([1.0, 2.0, 3.0, 4.0, 5.0]).interval(Fraction::P95).unwrap();
        let half = 2.776_445_105 * 0.5f64.sqrt();
        close(interval.low, 3.0 - half, 1e-8);
        close(interval.high, 3.0 + half, 1e-8);
    }

    /// With two degrees of freedom, P[|T| > t] = 1 − t/√(2 + t²); here t = 2/(1/√3) = 2√3.
    #[test]
    fn the_p_value_is_the_area_of_both_tails() {
        let t = 12.0f64.sqrt();
        let p = Summary::of([1.0, 2.0, 3.0]).p_value(0.0).unwrap();
        close(p, 1.0 - t / (2.0 + t * t).sqrt(), 1e-14);
    }

    #[test]
    fn an_end_of_the_interval_has_the_p_value_of_its_level() {
        let summary = Summary::of([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]);
        let interval = summary.interval(Fraction::P99).unwrap();
        close(summary.p_value(interval.low).unwrap(), 0.01, 1e-10);
        close(summary.p_value(interval.high).unwrap(), 0.01, 1e-10);
    }

    #[test]
    fn without_spread_only_the_mean_itself_is_possible() {
        let summary = Summary::of([2.0, 2.0, 2.0]);
        assert_eq!(summary.interval(Fraction::P95), Some(Interval { low: 2.0, high: 2.0 }));
        assert_eq!(summary.p_value(2.0), Some(1.0));
        assert_eq!(summary.p_value(1.0), Some(0.0));
    }
}

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

/// Fewest values of which a mean has an interval.
///
/// Below it, an outcome that comes once in eight draws is missing from more than 4 % of all samples. Such a sample looks
/// harmless, and no method that sees nothing else can cover (docs/explanation/comparisons.md, section 2.1).
pub const LEAST_VALUES: u64 = 25;

/// Fewest values that have to differ from the most common one.
const LEAST_OTHERS: u64 = 3;

/// Distance up to which two values are one, but for rounding.
const SAME: f64 = 1e-9;

/// Part of the skewness of a sample that its interval is corrected for. The whole of it covers too often, since large
/// values of a small sample are those by chance (measured, docs/explanation/comparisons.md, section 2.1).
const CORRECTED: f64 = 0.5;

/// Reason why a mean has no interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInterval {
    /// Fewer than [`LEAST_VALUES`] values.
    FewValues,
    /// All values are equal.
    NoSpread,
    /// All but one or two values are equal.
    FewOthers,
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
    /// Third central moment over the cube of `sd`; 0 without spread.
    pub skewness: f64,
    /// Number of values that differ from the most common one, 3 if there are more.
    pub n_others: u64,
}

impl Summary {
    /// Summary of finite `values` by the recurrences of Welford (Technometrics 4, 1962) and Pébay (SAND2008-6212):
    /// one pass, without a difference of large powers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut n, mut mean, mut squares, mut cubes) = (0u64, 0.0, 0.0, 0.0);
        let mut common = Common::default();
        for value in values {
            let before = n as f64;
            n += 1;
            let distance = value - mean;
            let step = distance / n as f64;
            let grown = distance * step * before;
            mean += step;
            cubes += grown * step * (before - 1.0) - 3.0 * step * squares;
            squares += distance * (value - mean);
            common.add(value);
        }
        let sd = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        let skewness = if sd > 0.0 { cubes / n as f64 / sd.powi(3) } else { 0.0 };
        Self { n, mean, sd, skewness, n_others: common.n_others() }
    }

    /// Summary of `n` values of which only the standard deviation is known: of a symmetric distribution without
    /// values that are common.
    pub fn symmetric(n: u64, mean: f64, sd: f64) -> Self {
        Self { n, mean, sd, skewness: 0.0, n_others: LEAST_OTHERS }
    }

    /// Standard deviation of the mean; `None` below two values.
    pub fn standard_error(&self) -> Option<f64> {
        (self.n >= 2).then(|| self.sd / (self.n as f64).sqrt())
    }

    /// Reason why the mean has no interval; `None` if it has one.
    pub fn no_interval(&self) -> Option<NoInterval> {
        match self {
            it if it.n < LEAST_VALUES => Some(NoInterval::FewValues),
            it if it.n_others == 0 || it.sd == 0.0 => Some(NoInterval::NoSpread),
            it if it.n_others < LEAST_OTHERS => Some(NoInterval::FewOthers),
            _ => None,
        }
    }

    /// Half the width of the confidence interval of the mean; `None` if there is a reason against it
    /// ([`NoInterval`]).
    ///
    /// Student's interval is too short for skewed values. Hall's transformation (Journal of the Royal Statistical
    /// Society B 54, 1992) turns the studentized mean `T` into one that has lost the skewness `γ`:
    ///
    /// ```text
    /// g(T) = T + a (T²/3 + 1/6) + a² T³/27    with a = γ/√n
    /// ```
    ///
    /// Its inverse at `±t(n − 1, (1 + level)/2)` gives two distances from the mean, here with half of `γ`. The longer
    /// one is taken on both sides, so that the interval stays symmetric, and that of Student without skewness.
    pub fn half_width(&self, level: Fraction) -> Option<f64> {
        if self.no_interval().is_some() {
            return None;
        }
        let t = t_quantile(self.n.checked_sub(1)?, level)?;
        let a = CORRECTED * self.skewness.abs() / (self.n as f64).sqrt();
        let longer = match a < 1e-6 {
            true => t,
            false => 3.0 / a * (1.0 - (1.0 - a * (t + a / 6.0)).cbrt()),
        };
        Some(longer * self.standard_error()?)
    }

    /// Confidence interval of the mean at `level`; `None` as for [`half_width`](Self::half_width).
    pub fn interval(&self, level: Fraction) -> Option<Interval> {
        let half = self.half_width(level)?;
        Some(Interval { low: self.mean - half, high: self.mean + half })
    }

    /// Whether the mean is told apart from 0 at 95 %: 0 is outside of the interval. Without one, by the t-test, which
    /// needs fewer values than an interval because differences without an effect are not skewed.
    pub fn is_told_apart(&self) -> bool {
        match self.interval(Fraction::P95) {
            Some(interval) => interval.low > 0.0 || interval.high < 0.0,
            None => self.p_value(0.0).is_none_or(|p| p < 1.0 - Fraction::P95.get()),
        }
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

/// The first distinct values of a sample, with their counts: enough to know whether fewer than [`LEAST_OTHERS`] values
/// differ from the most common one, in one pass.
#[derive(Debug, Default)]
struct Common {
    values: [(f64, u64); LEAST_OTHERS as usize],
    n_distinct: usize,
    is_varied: bool,
}

impl Common {
    fn add(&mut self, value: f64) {
        if self.is_varied {
            return;
        }
        let is_same = |(it, _): &(f64, u64)| (it - value).abs() <= SAME * value.abs().max(1.0);
        match self.values[..self.n_distinct].iter().position(is_same) {
            Some(at) => self.values[at].1 += 1,
            None if self.n_distinct < self.values.len() => {
                self.values[self.n_distinct] = (value, 1);
                self.n_distinct += 1;
            }
            None => self.is_varied = true,
        }
    }

    fn n_others(&self) -> u64 {
        let counts = self.values.iter().map(|(_, count)| count);
        let others = counts.clone().sum::<u64>() - counts.max().unwrap_or(&0);
        if self.is_varied { LEAST_OTHERS } else { others.min(LEAST_OTHERS) }
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
    fn below_two_values_there_is_no_test() {
        for values in [&[][..], &[3.0]] {
            let summary = Summary::of(values.iter().copied());
            assert_eq!(summary.interval(Fraction::P95), None);
            assert_eq!(summary.p_value(0.0), None);
        }
    }

    #[test]
    fn an_interval_needs_values_enough_and_three_that_differ_from_the_most_common_one() {
        let reason = |values: Vec<f64>| Summary::of(values).no_interval();
        let mostly = |others: usize| {
            let value = |at: usize| if at < others { 0.1 * at as f64 } else { 1.0 };
            reason((0..30).map(value).collect())
        };
        assert_eq!(reason((0..24).map(f64::from).collect()), Some(NoInterval::FewValues));
        assert_eq!(reason((0..25).map(f64::from).collect()), None);
        assert_eq!(mostly(0), Some(NoInterval::NoSpread));
        assert_eq!([mostly(1), mostly(2)], [Some(NoInterval::FewOthers); 2]);
        assert_eq!(mostly(3), None);
        // Rounding is no spread.
        let rounded = |at: i32| 0.7 + 1e-13 * f64::from(at);
        assert_eq!(reason((0..30).map(rounded).collect()), Some(NoInterval::NoSpread));
    }

    /// Twenty zeros and ten ones: mean 1/3, third central moment 2/27, variance 2/9 * 30/29.
    #[test]
    fn the_skewness_is_that_of_a_case_by_hand() {
        let summary = Summary::of((0..30).map(|at| f64::from(u8::from(at % 3 == 0))));
        close(summary.skewness, 2.0 / 27.0 / (2.0 / 9.0 * 30.0 / 29.0f64).powf(1.5), 1e-14);
        let offset = Summary::of((0..30).map(|at| 1e6 + f64::from(u8::from(at % 3 == 0))));
        close(offset.skewness, summary.skewness, 1e-8);
    }

    /// The longer distance of Hall's interval undoes the transformation.
    #[test]
    fn the_interval_of_skewed_values_is_that_of_hall_at_half_of_the_skewness() {
        let values = |sign: f64| Summary::of((0..30).map(move |at| sign * f64::from(at).powi(3)));
        let summary = values(1.0);
        let half = summary.half_width(Fraction::P95).unwrap();
        let a = 0.5 * summary.skewness / 30f64.sqrt();
        let t = -half / summary.standard_error().unwrap();
        let transformed = t + a * (t * t / 3.0 + 1.0 / 6.0) + a * a * t.powi(3) / 27.0;
        close(transformed, -t_quantile(29, Fraction::P95).unwrap(), 1e-9);
        assert!(-t > 2.1, "longer than Student's: {t}");
        close(values(-1.0).half_width(Fraction::P95).unwrap(), half, 1e-9);
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

    /// Values -12 to 12: SD = √(1300/24), t(24, 0.975) = 2.063898562.
    #[test]
    fn the_interval_of_symmetric_values_is_the_quantile_times_the_standard_error() {
        let interval = Summary::of((-12..=12).map(f64::from)).interval(Fraction::P95).unwrap();
        let half = 2.063_898_562 * (1300.0f64 / 24.0 / 25.0).sqrt();
        close(interval.low, -half, 1e-8);
        close(interval.high, half, 1e-8);
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
        let summary = Summary::symmetric(40, 3.9, 2.7);
        let interval = summary.interval(Fraction::P99).unwrap();
        close(summary.p_value(interval.low).unwrap(), 0.01, 1e-10);
        close(summary.p_value(interval.high).unwrap(), 0.01, 1e-10);
    }

    #[test]
    fn without_spread_only_the_mean_itself_is_possible() {
        let summary = Summary::of([2.0, 2.0, 2.0]);
        assert_eq!(summary.interval(Fraction::P95), None);
        assert_eq!(summary.p_value(2.0), Some(1.0));
        assert_eq!(summary.p_value(1.0), Some(0.0));
    }
}

//! Arrivals of queries: periodic, as a Poisson process, or in bursts.
//!
//! LoadGen has the first two. Bursts are a Poisson process whose rate changes, with the same draws: the
//! number of expected arrivals between two arrivals is exponential, and the current rates turn it into a
//! span. Constant rates give LoadGen's own schedule up to rounding to nanoseconds.

use std::cell::Cell;

use thiserror::Error;

use xrsim_model::cancel::Steps;
use xrsim_model::units::{SimSpan, SimTime};

use crate::settings::{MAX_RATE, SettingsError};

use super::random::{MersenneTwister, gap};

/// Longest period of bursts: a day.
const MAX_PERIOD: SimSpan = SimSpan::from_ns(86_400_000_000_000);

/// Reason why bursts are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum BurstError {
    /// A rate is negative, too high or not a number.
    #[error("a rate of {0} queries per second; allowed is a number from 0 to {MAX_RATE}")]
    Rate(f64),
    /// Queries never arrive.
    #[error("both rates are 0, or that of bursts which have no length; no query would ever come")]
    Silent,
    /// The period is zero or longer than a day, or shorter than the burst in it.
    #[error(
        "bursts of {} ms every {} ms; allowed is a period above 0, up to a day, that the burst fits into",
        .length.as_ms(),
        .period.as_ms()
    )]
    Period {
        /// Span from the begin of a burst to that of the next.
        period: SimSpan,
        /// Length of a burst.
        length: SimSpan,
    },
    /// A group has no query.
    #[error("groups of 0 queries; allowed is 1 or more")]
    Group,
}

/// A load with bursts: one rate within a burst and another between bursts. The first burst begins with
/// the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bursts {
    period: SimSpan,
    length: SimSpan,
    /// Rates within and between bursts \[1/s\].
    rates: [f64; 2],
    group: u32,
}

impl Bursts {
    /// Bursts of `length`, one in each `period`, with the rate `rates[0]`; between bursts the rate is
    /// `rates[1]` \[1/s\]. Groups of `group` queries arrive at the same time, which divides the number of
    /// arrivals by `group`.
    ///
    /// # Errors
    ///
    /// [`BurstError`] for the first invalid argument.
    pub fn new(
        period: SimSpan,
        length: SimSpan,
        rates: [f64; 2],
        group: u32,
    ) -> Result<Self, BurstError> {
        if let Some(rate) = rates.into_iter().find(|rate| !(0.0..=MAX_RATE).contains(rate)) {
            return Err(BurstError::Rate(rate));
        }
        if period == SimSpan::ZERO || period > MAX_PERIOD || length > period {
            return Err(BurstError::Period { period, length });
        }
        if group == 0 {
            return Err(BurstError::Group);
        }
        let bursts = Self { period, length, rates, group };
        // A rate below one query in thirty years counts as none.
        if bursts.mean_rate() < 1e-9 {
            return Err(BurstError::Silent);
        }
        Ok(bursts)
    }

    /// Mean rate \[1/s\].
    pub(crate) fn mean_rate(&self) -> f64 {
        self.queries_per_period() / seconds(self.period)
    }

    fn queries_per_period(&self) -> f64 {
        let between = SimSpan::from_ns(self.period.ns() - self.length.ns());
        self.rates[0] * seconds(self.length) + self.rates[1] * seconds(between)
    }

    /// Instant up to which `queries` arrivals are expected after `from`.
    fn after(&self, from: SimTime, queries: f64) -> SimTime {
        let per_period = self.queries_per_period();
        let periods = (queries / per_period).floor();
        let mut left = (queries - periods * per_period).max(0.0);
        let skipped = SimSpan::from_ns((periods * self.period.ns() as f64) as u64);
        let mut at = from + skipped;
        // The rate changes at most three more times within one period.
        for _ in 0..4 {
            let phase = at.ns() % self.period.ns();
            let (rate, end) = match phase < self.length.ns() {
                true => (self.rates[0], self.length.ns()),
                false => (self.rates[1], self.period.ns()),
            };
            let rest = SimSpan::from_ns(end - phase);
            let expected = rate * seconds(rest);
            if left < expected {
                return at + SimSpan::from_ns((left / rate * 1e9) as u64);
            }
            left -= expected;
            at = at + rest;
        }
        at
    }
}

fn seconds(span: SimSpan) -> f64 {
    span.ns() as f64 / 1e9
}

/// Arrival process of queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// One query in each period, the first at the start.
    Periodic(SimSpan),
    /// A Poisson process of this rate \[1/s\], the first query at the start.
    Poisson(f64),
    /// Bursts, the first query at the start.
    Bursts(Bursts),
}

impl Arrivals {
    /// Mean rate \[1/s\].
    pub fn mean_rate(self) -> f64 {
        match self {
            Self::Periodic(period) => 1.0 / seconds(period),
            Self::Poisson(rate) => rate,
            Self::Bursts(bursts) => bursts.mean_rate(),
        }
    }

    /// These arrivals with all rates multiplied by `factor`; the period of bursts stays.
    ///
    /// # Errors
    ///
    /// [`SettingsError::OutOfRange`] if a rate is out of range.
    pub fn scaled(self, factor: f64) -> Result<Self, SettingsError> {
        let rate = |rate: f64| match rate * factor {
            allowed if (0.0..=MAX_RATE).contains(&allowed) => Ok(allowed),
            other => Err(SettingsError::OutOfRange {
                field: "qps",
                value: other.to_string(),
                allowed: format!("a number from 0 to {MAX_RATE}"),
            }),
        };
        Ok(match self {
            Self::Periodic(period) => {
                Self::Periodic(SimSpan::from_ns((1e9 / rate(1.0 / seconds(period))?) as u64))
            }
            Self::Poisson(mean) => Self::Poisson(rate(mean)?),
            Self::Bursts(bursts) => {
                let [within, between] = bursts.rates;
                Self::Bursts(Bursts { rates: [rate(within)?, rate(between)?], ..bursts })
            }
        })
    }

    /// Endless arrivals in ascending order, with the draws of `seed`.
    pub fn times(self, seed: u64) -> ArrivalTimes {
        self.with_draws(Exponentials::new(seed, 0))
    }

    fn with_draws(self, draws: Exponentials) -> ArrivalTimes {
        let group = match self {
            Self::Bursts(bursts) => bursts.group,
            Self::Periodic(_) | Self::Poisson(_) => 1,
        };
        ArrivalTimes { arrivals: self, draws, next: SimTime::ZERO, group, left: group }
    }

    /// Arrivals until the last one is at or after `least` and there are `min_queries` (at least one), with
    /// the arrival after them. `None` if there would be more than `most`.
    pub fn until(
        self,
        seed: u64,
        least: SimTime,
        min_queries: u64,
        most: usize,
    ) -> Option<(Vec<SimTime>, SimTime)> {
        if min_queries > most as u64 {
            return None;
        }
        let mut times = self.with_draws(Exponentials::kept(seed));
        let (mut all, mut steps) = (Vec::new(), Steps::default());
        while all.last().is_none_or(|&last: &SimTime| last < least)
            || (all.len() as u64) < min_queries
        {
            if all.len() == most {
                return None;
            }
            steps.step();
            all.push(times.next()?);
        }
        times.draws.keep();
        Some((all, times.next))
    }
}

/// Most draws that a thread keeps, of 8 bytes each.
const MOST_KEPT: usize = 1 << 20;

thread_local! {
    /// Draws of the last arrivals of the thread: the trials of a search differ in the rate only.
    static KEPT: Cell<Option<Exponentials>> = const { Cell::new(None) };
}

/// Exponential numbers with mean 1, as [`MersenneTwister::exponential`] draws them from a seed.
#[derive(Debug, Clone)]
struct Exponentials {
    seed: u64,
    stream: MersenneTwister,
    /// The first draws, at most `most`.
    drawn: Vec<f64>,
    most: usize,
    /// Index of the next draw.
    at: usize,
}

impl Exponentials {
    fn new(seed: u64, most: usize) -> Self {
        Self { seed, stream: MersenneTwister::new(seed), drawn: Vec::new(), most, at: 0 }
    }

    /// The draws of `seed`, which are those that the thread keeps if it has any.
    fn kept(seed: u64) -> Self {
        match KEPT.take() {
            Some(kept) if kept.seed == seed => Self { at: 0, ..kept },
            _ => Self::new(seed, MOST_KEPT),
        }
    }

    /// Keeps the draws for the thread, unless there were more than it keeps.
    fn keep(self) {
        if self.drawn.len() < self.most {
            KEPT.set(Some(self));
        }
    }

    fn next(&mut self) -> f64 {
        let known = self.drawn.get(self.at).copied();
        self.at += 1;
        known.unwrap_or_else(|| {
            let next = self.stream.exponential();
            if self.drawn.len() < self.most {
                self.drawn.push(next);
            }
            next
        })
    }
}

/// Iterator over arrivals.
#[derive(Debug, Clone)]
pub struct ArrivalTimes {
    arrivals: Arrivals,
    draws: Exponentials,
    next: SimTime,
    group: u32,
    /// Number of queries that still arrive at `next`.
    left: u32,
}

impl Iterator for ArrivalTimes {
    type Item = SimTime;

    fn next(&mut self) -> Option<SimTime> {
        let now = self.next;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.group;
            self.next = match &self.arrivals {
                Arrivals::Periodic(period) => now + *period,
                Arrivals::Poisson(rate) => now + gap(self.draws.next(), *rate),
                Arrivals::Bursts(bursts) => {
                    bursts.after(now, self.draws.next() * f64::from(self.group))
                }
            };
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(ms: u64) -> SimSpan {
        SimSpan::from_ns(ms * MS)
    }

    fn at(ms: u64) -> SimTime {
        SimTime::from_ns(ms * MS)
    }

    /// Bursts of 20 ms every 100 ms with 1000 queries per second, 100 between them: 20 + 8 queries in a
    /// period.
    fn bursts(group: u32) -> Bursts {
        Bursts::new(ms(100), ms(20), [1000.0, 100.0], group).unwrap()
    }

    /// Three draws are kept at most. The thread keeps a list with room left only, as a full one may lack later draws of its
    /// stream; what is drawn is the same in each case.
    #[test]
    fn draws_up_to_the_limit_are_kept_and_are_the_same_again() {
        let expected: Vec<f64> = {
            let mut stream = MersenneTwister::new(7);
            (0..8).map(|_| stream.exponential()).collect()
        };
        for (n_drawn, n_kept) in [(2, 2), (3, 0), (4, 0)] {
            KEPT.set(None);
            let mut first = Exponentials::new(7, 3);
            let drawn: Vec<f64> = (0..n_drawn).map(|_| first.next()).collect();
            assert_eq!(drawn, expected[..n_drawn]);
            assert_eq!(first.drawn.len(), n_drawn.min(3));
            first.keep();
            let mut again = Exponentials::kept(7);
            assert_eq!(again.drawn.len(), n_kept, "{n_drawn}");
            // Beyond the limit, too.
            let drawn: Vec<f64> = (0..8).map(|_| again.next()).collect();
            assert_eq!(drawn, expected);
        }
        KEPT.set(None);
        assert_eq!((MOST_KEPT, Exponentials::kept(8).most), (1 << 20, MOST_KEPT));
    }

    #[test]
    fn expected_queries_become_time() {
        let bursts = bursts(1);
        assert_eq!(bursts.mean_rate(), 280.0);
        // 5 in 5 ms of the burst; 20 until its end and 4 in the 40 ms after it; 28 in a period.
        assert_eq!(bursts.after(at(0), 5.0), at(5));
        assert_eq!(bursts.after(at(0), 24.0), at(60));
        assert_eq!(bursts.after(at(0), 28.0 * 3.0 + 5.0), at(305));
        // From 95 ms: 0.5 until the end of the period, 20 in the burst, 1 in 10 ms.
        assert_eq!(bursts.after(at(95), 21.5), at(130));
        // From 10 ms: 10 to the end of the burst, 8 to that of the period, 3 in 3 ms.
        assert_eq!(bursts.after(at(10), 21.0), at(103));
    }

    /// Without a rate between bursts, expected queries are left for the next burst.
    #[test]
    fn without_a_rate_no_query_arrives_between_bursts() {
        let bursts = Bursts::new(ms(100), ms(20), [1000.0, 0.0], 1).unwrap();
        assert_eq!(bursts.after(at(15), 7.0), at(102));
        let times = Arrivals::Bursts(bursts).times(1).take(10_000);
        assert!(times.into_iter().all(|at| at.ns() % (100 * MS) <= 20 * MS));
    }

    #[test]
    fn a_constant_rate_is_a_poisson_process() {
        let constant = Bursts::new(ms(10), ms(3), [100.0, 100.0], 1).unwrap();
        let bursts = Arrivals::Bursts(constant).times(12_345).take(10_000);
        let poisson = Arrivals::Poisson(100.0).times(12_345).take(10_000);
        for (index, (found, expected)) in bursts.zip(poisson).enumerate() {
            // Every gap is cut to nanoseconds.
            assert!(found.ns().abs_diff(expected.ns()) <= index as u64 + 1);
        }
    }

    #[test]
    fn the_queries_of_a_group_arrive_together() {
        let times: Vec<_> = Arrivals::Bursts(bursts(4)).times(1).take(4000).collect();
        for group in times.chunks(4) {
            assert!(group.iter().all(|&at| at == group[0]));
        }
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    /// The rate is 280 queries per second for every group size: 28,000 in 100 s, within four standard
    /// deviations √(28,000 · group), because groups of g queries have g times the variance.
    #[test]
    fn the_mean_rate_is_kept() {
        for group in [1, 4, 16] {
            let times = Arrivals::Bursts(bursts(group)).times(3);
            let n = times.take_while(|&time| time < at(100_000)).count() as f64;
            let deviation = (28_000.0 * f64::from(group)).sqrt();
            assert!((n - 28_000.0).abs() < 4.0 * deviation, "{group}: {n}");
        }
    }

    /// Two rates in turns, and another seed between them.
    #[test]
    fn arrivals_do_not_depend_on_those_before() {
        for (rate, seed, n) in [(3.0, 1, 100), (7.0, 1, 50), (7.0, 2, 50), (3.0, 1, 200)] {
            let poisson = Arrivals::Poisson(rate);
            let (found, next) = poisson.until(seed, at(0), n, 1000).unwrap();
            let mut expected = poisson.times(seed);
            assert_eq!(found, expected.by_ref().take(n as usize).collect::<Vec<_>>());
            assert_eq!(Some(next), expected.next());
        }
    }

    #[test]
    fn arrivals_end_with_duration_and_count() {
        let periodic = Arrivals::Periodic(ms(10));
        let (times, next) = periodic.until(0, at(25), 0, 100).unwrap();
        assert_eq!((times, next), (vec![at(0), at(10), at(20), at(30)], at(40)));
        let (times, next) = periodic.until(0, at(0), 3, 100).unwrap();
        assert_eq!((times.len(), next), (3, at(30)));
        assert_eq!(periodic.until(0, at(10_000), 0, 100), None);
    }

    #[test]
    fn invalid_bursts_are_refused() {
        let new = |period, length, rates, group| Bursts::new(ms(period), ms(length), rates, group);
        assert_eq!(new(1, 1, [-1.0, 1.0], 1), Err(BurstError::Rate(-1.0)));
        assert!(matches!(new(1, 1, [1.0, f64::NAN], 1), Err(BurstError::Rate(_))));
        assert_eq!(new(1, 0, [1.0, 0.0], 1), Err(BurstError::Silent));
        let length = ms(2);
        assert_eq!(new(1, 2, [1.0, 1.0], 1), Err(BurstError::Period { period: ms(1), length }));
        assert!(new(0, 0, [1.0, 1.0], 1).is_err());
        assert_eq!(new(1, 1, [1.0, 1.0], 0), Err(BurstError::Group));
    }
}

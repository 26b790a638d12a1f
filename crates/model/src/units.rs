//! Physical units: simulated time, cycles, rates, energy, bytes, and every conversion between them.
//!
//! Simulated time is whole nanoseconds. There is no float clock and no epsilon: two instants are
//! equal or they are not. Conversions that must round say in which direction.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds in one second.
const NS_PER_S: u64 = 1_000_000_000;

/// An instant of simulated time [ns since the start of the run].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

/// A length of simulated time \[ns\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimSpan(u64);

impl SimTime {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// An instant after every other.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Milliseconds since the start, for formulas and reports.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Length from `earlier` to here, zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> SimSpan {
        SimSpan(self.0.saturating_sub(earlier.0))
    }

    /// Signed distance from `other` to here \[ms\]: positive when this instant is the later one.
    pub fn ms_after(self, other: Self) -> f64 {
        match self.0.checked_sub(other.0) {
            Some(ns) => ns as f64 / 1e6,
            None => -((other.0 - self.0) as f64 / 1e6),
        }
    }

    /// This instant moved by `offset_ns` in either direction; never before the start of the run.
    pub const fn offset_by(self, offset_ns: i64) -> Self {
        Self(self.0.saturating_add_signed(offset_ns))
    }
}

impl SimSpan {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span; stands for a latency that never ends.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// The longest span that is read from a number \[ms\], 104 days: in nanoseconds numbers are exact up
    /// to 2^53.
    pub const MAX_MS: f64 = 9_007_199_254.0;

    /// The shortest span above 0 that is read from a number \[ms\].
    pub const MIN_MS: f64 = 1e-6;

    /// The longest span that is read from a number \[s\].
    pub const MAX_S: f64 = 9_007_199.0;

    /// The longest span that is read from a number.
    pub(crate) const LONGEST: Self = Self(9_007_199_254_000_000);

    /// A span of `ms` milliseconds, rounded to the nearest nanosecond; `None` unless `ms` is a number
    /// from 0 to [`SimSpan::MAX_MS`].
    pub fn from_ms(ms: f64) -> Option<Self> {
        (0.0..=Self::MAX_MS).contains(&ms).then(|| Self((ms * 1e6).round() as u64))
    }

    /// A span of `ms` milliseconds like [`SimSpan::from_ms`], but at least a nanosecond.
    pub fn from_positive_ms(ms: f64) -> Option<Self> {
        Self::from_ms(ms).filter(|_| ms >= Self::MIN_MS)
    }

    /// A span of `s` seconds, rounded to the nearest nanosecond; `None` unless `s` is a number from 0 to
    /// [`SimSpan::MAX_S`].
    pub fn from_s(s: f64) -> Option<Self> {
        (0.0..=Self::MAX_S).contains(&s).then(|| Self((s * 1e9).round() as u64))
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Milliseconds, for formulas and reports.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Hours, for reports.
    pub fn as_hours(self) -> f64 {
        self.0 as f64 / 3.6e12
    }

    /// Sum, or [`SimSpan::MAX`] where it does not fit.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add<SimSpan> for SimTime {
    type Output = Self;
    fn add(self, span: SimSpan) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for SimTime {
    type Output = SimSpan;
    fn sub(self, earlier: Self) -> SimSpan {
        debug_assert!(earlier <= self, "time runs forward");
        self.saturating_since(earlier)
    }
}

impl Add for SimSpan {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Sub for SimSpan {
    type Output = Self;
    /// Zero if `other` is longer.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for SimSpan {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Clock cycles of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycles(u64);

impl Cycles {
    /// `count` cycles.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number of cycles.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Time that these cycles take at `clock`, rounded up to the next nanosecond: a result is never
    /// available before the hardware has it.
    pub fn at(self, clock: ClockRate) -> SimSpan {
        let ns = (u128::from(self.0) * u128::from(NS_PER_S)).div_ceil(u128::from(clock.hertz));
        SimSpan(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl Add for Cycles {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Clock rate of an accelerator; at least 1 Hz, at most 1 THz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockRate {
    hertz: u64,
}

impl ClockRate {
    /// 1 GHz, the clock of every accelerator of XRBench section 4.1.
    pub const GHZ: Self = Self { hertz: NS_PER_S };

    /// A clock of `mhz` megahertz rounded to whole hertz; `None` outside [1 Hz, 1 THz].
    pub fn from_mhz(mhz: f64) -> Option<Self> {
        let hertz = (mhz * 1e6).round();
        ((1.0..=1e12).contains(&hertz)).then_some(Self { hertz: hertz as u64 })
    }

    /// Megahertz.
    pub fn as_mhz(self) -> f64 {
        self.hertz as f64 / 1e6
    }

    /// Cycles that pass in `span`, rounded to the nearest: the inverse of [`Cycles::at`] for
    /// latencies that were measured in time.
    pub fn cycles_in(self, span: SimSpan) -> Cycles {
        let half = u128::from(NS_PER_S) / 2;
        let cycles = (u128::from(span.ns()) * u128::from(self.hertz) + half) / u128::from(NS_PER_S);
        Cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    /// The fewest cycles of `other` that take as long as `cycles` of this clock: `ceil(cycles · other / self)`.
    pub fn cycles_at(self, cycles: u64, other: Self) -> u64 {
        let cycles = u128::from(cycles) * u128::from(other.hertz);
        u64::try_from(cycles.div_ceil(u128::from(self.hertz))).unwrap_or(u64::MAX)
    }

    /// Cycles that end within `span`: the most whose time ([`Cycles::at`]) is at most `span`.
    pub fn whole_cycles_in(self, span: SimSpan) -> Cycles {
        let cycles = u128::from(span.ns()) * u128::from(self.hertz) / u128::from(NS_PER_S);
        Cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
    }
}

/// Rate of a sensor or a model [frames per second], held in millihertz so that 29.97 is exact.
///
/// The period is never stored: the start of a frame is computed from its index, so that 45 FPS is
/// as exact after an hour as in its first second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameRate {
    millihertz: u64,
}

impl FrameRate {
    /// A rate of `fps` frames per second rounded to a thousandth; `None` outside [0.001, 10^6].
    pub fn from_fps(fps: f64) -> Option<Self> {
        let millihertz = (fps * 1e3).round();
        ((1.0..=1e9).contains(&millihertz)).then_some(Self { millihertz: millihertz as u64 })
    }

    /// Frames per second.
    pub fn as_fps(self) -> f64 {
        self.millihertz as f64 / 1e3
    }

    /// Thousandths of a frame per second.
    pub const fn millihertz(self) -> u64 {
        self.millihertz
    }

    /// Frames per second if that is a whole number.
    pub const fn whole_fps(self) -> Option<u64> {
        if self.millihertz.is_multiple_of(1000) { Some(self.millihertz / 1000) } else { None }
    }

    /// Nominal start of frame `index`: `floor(index / fps)` in nanoseconds.
    pub fn frame_start(self, index: u64) -> SimTime {
        const SCALE: u64 = NS_PER_S * 1000;
        if let Some(scaled) = index.checked_mul(SCALE) {
            return SimTime(scaled / self.millihertz);
        }
        let ns = u128::from(index) * u128::from(SCALE) / u128::from(self.millihertz);
        SimTime(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Span from the start of the first frame to that of the second, in whole nanoseconds.
    pub fn period(self) -> SimSpan {
        self.frame_start(1) - SimTime::ZERO
    }

    /// Sum of [`FrameRate::frame_start`] of the first `n` frames \[ns\].
    pub fn sum_of_starts(self, n: u64) -> u128 {
        // Sum of floor((a i + b) / m) for i below n, with a and m swapped in turn as in the algorithm of Euclid.
        let (mut n, mut a, mut b) = (u128::from(n), u128::from(NS_PER_S) * 1000, 0u128);
        let (mut m, mut sum) = (u128::from(self.millihertz), 0u128);
        loop {
            sum += n * n.saturating_sub(1) / 2 * (a / m) + n * (b / m);
            (a, b) = (a % m, b % m);
            let top = a * n + b;
            if top < m {
                return sum;
            }
            (n, b) = (top / m, top % m);
            (a, m) = (m, a);
        }
    }

    /// Number of frames whose start lies before `end`: `ceil(end · fps)`.
    pub fn frames_before(self, end: SimSpan) -> u64 {
        let scaled = u128::from(end.ns()) * u128::from(self.millihertz);
        u64::try_from(scaled.div_ceil(u128::from(NS_PER_S) * 1000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} FPS", self.as_fps())
    }
}

/// Energy \[mJ\].
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Millijoules(f64);

impl Millijoules {
    /// No energy.
    pub const ZERO: Self = Self(0.0);

    /// `mj` millijoules.
    pub const fn new(mj: f64) -> Self {
        Self(mj)
    }

    /// `nj` nanojoules.
    pub fn from_nj(nj: f64) -> Self {
        Self(nj / 1e6)
    }

    /// Millijoules.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Add for Millijoules {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Millijoules {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A size in memory \[byte\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// `count` bytes.
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_starts_are_exact_and_never_drift() {
        let rate = FrameRate::from_fps(45.0).unwrap();
        assert_eq!(rate.frame_start(1).ns(), 22_222_222);
        assert_eq!(rate.frame_start(45 * 3600), SimTime::from_ns(3600 * NS_PER_S));
        assert_eq!(rate.frames_before(SimSpan::from_ns(NS_PER_S)), 45);
    }

    #[test]
    fn cycles_round_up_to_the_next_nanosecond() {
        let clock = ClockRate::from_mhz(300.0).unwrap();
        assert_eq!(Cycles::new(1).at(clock).ns(), 4);
        assert_eq!(Cycles::new(3).at(clock).ns(), 10);
        assert_eq!(Cycles::new(7).at(ClockRate::GHZ).ns(), 7);
        assert_eq!(clock.cycles_in(SimSpan::from_ns(10)), Cycles::new(3));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert_eq!(FrameRate::from_fps(0.0), None);
        assert_eq!(FrameRate::from_fps(f64::NAN), None);
        assert_eq!(ClockRate::from_mhz(-1.0), None);
        assert_eq!(SimSpan::from_ms(-0.1), None);
        assert_eq!(SimSpan::from_ms(f64::INFINITY), None);
        assert_eq!(SimSpan::from_ms(-1e-9), None);
        assert_eq!(SimSpan::from_ms(SimSpan::MAX_MS), Some(SimSpan::LONGEST));
        assert_eq!(SimSpan::from_ms(SimSpan::MAX_MS.next_up()), None);
        assert_eq!(SimSpan::from_positive_ms(1e-6), Some(SimSpan::from_ns(1)));
        assert_eq!(SimSpan::from_positive_ms(9e-7), None);
        assert_eq!(SimSpan::from_s(9_007_199.0).map(SimSpan::ns), Some(9_007_199_000_000_000));
        assert_eq!(SimSpan::from_s(9_007_199.0f64.next_up()), None);
    }
}

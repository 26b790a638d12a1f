//! From values to pixels: scales and their ticks.

use super::decimal::{decade, exponent, round_down, round_up};
use super::number::{prefixed, short, thousands};

/// Share of a step by which a value may miss a tick: the rounding of sums and divisions. A mean of
/// 1.0000000000000002 ends its axis at 1.
const SLACK: f64 = 1e-9;

/// Factor between the last power of two and the end of its axis.
const END_SPACE: f64 = 1.15;

/// Spacing of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios.
    Log,
}

/// A value that an axis shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

/// The values of an axis on a stretch of the page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    spacing: Spacing,
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
    /// Marked values in ascending order, from `low` to `high`.
    pub ticks: Vec<Tick>,
}

/// Largest share of the range of the data that is empty at an end of a linear scale.
const MOST_EMPTY: f64 = 0.12;

/// Share of the range of the data between the data and an end without a tick.
const ROOM: f64 = 0.04;

impl Scale {
    /// A linear scale that has about `count` steps and holds all from `low` to `high`. It begins and ends with a tick, or
    /// near the data if this tick would leave much of the scale empty.
    pub(super) fn linear(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = widened(low, high);
        let step = Step::at_least((high - low) / count.max(1) as f64);
        let first = (low / step.size() + SLACK).floor() * step.size();
        let last = (high / step.size() - SLACK).ceil() * step.size();
        let [most, room] = [MOST_EMPTY, ROOM].map(|share| share * (high - low));
        let begin = if low - first > most { low - room } else { first };
        let end = if last - high > most { high + room } else { last };
        Self::stepped(begin, end, step)
    }

    /// A linear scale from exactly `low` to `high`, with about `count` steps.
    pub(super) fn exact(low: f64, high: f64, count: usize) -> Self {
        let (low, high) = widened(low, high);
        Self::stepped(low, high, Step::at_least((high - low) / count.max(1) as f64))
    }

    fn stepped(low: f64, high: f64, step: Step) -> Self {
        let first = (low / step.size() - SLACK).ceil();
        let last = (high / step.size() + SLACK).floor();
        let largest = low.abs().max(high.abs());
        let thousands = thousands(largest);
        let decimals = (3 * thousands - step.power).clamp(0, 15) as usize;
        let ticks = (0..=(last - first).clamp(0.0, 1000.0) as usize)
            .map(|index| (first + index as f64) * step.size())
            .map(|value| Tick { value, label: prefixed(value, thousands, decimals) })
            .collect();
        Self { spacing: Spacing::Linear, low, high, from_px: 0.0, to_px: 1.0, ticks }
    }

    /// A logarithmic scale that holds all from `low` to `high`, both above zero, and ends on a 1, 2
    /// or 5 times a power of ten on either side.
    pub(super) fn log(low: f64, high: f64) -> Self {
        let (low, high) = (round_down(low.min(high)), round_up(high.max(low)));
        let (low, high) = if low < high { (low, high) } else { (low / 10.0, high * 10.0) };
        let (first, last) = (exponent(low), exponent(high));
        let every = ((last - first) as usize / 8).max(1);
        let multiples: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = (first..=last)
            .step_by(every)
            .flat_map(|power| multiples.iter().map(move |multiple| multiple * decade(power)))
            .filter(|value| (low..=high).contains(value))
            .map(|value| Tick { value, label: short(value) })
            .collect();
        Self { spacing: Spacing::Log, low, high, from_px: 0.0, to_px: 1.0, ticks }
    }

    /// A scale of the given spacing that holds all from `low` to `high`.
    pub(crate) fn spaced(spacing: Spacing, low: f64, high: f64, count: usize) -> Self {
        match spacing {
            Spacing::Linear => Self::linear(low, high, count),
            Spacing::Log => Self::log(low, high),
        }
    }

    /// A scale that fits these values: for logarithmic ones that are powers of two, the ticks are powers of two.
    pub(super) fn of_values(
        spacing: Spacing,
        values: impl Iterator<Item = f64>,
        count: usize,
    ) -> Self {
        let values: Vec<f64> = values.collect();
        let (low, high) = extent(values.iter().copied());
        let is_binary = values.into_iter().all(is_power_of_two);
        match spacing == Spacing::Log && low < high && is_binary {
            true => Self::powers_of_two(low, high, count),
            false => Self::spaced(spacing, low, high, count),
        }
    }

    /// A logarithmic scale from one power of two to another, with at most `count` + 1 ticks.
    fn powers_of_two(low: f64, high: f64, count: usize) -> Self {
        let (first, last) = (low.log2().round() as i32, high.log2().round() as i32);
        let every = ((last - first) as usize).div_ceil(count.max(2)).max(1);
        let label = |value: f64| match value {
            value if (1.0..1e6).contains(&value) => value.to_string(),
            value => short(value),
        };
        let ticks = (first..=last).step_by(every).map(|power| f64::from(power).exp2());
        let ticks = ticks.map(|value| Tick { value, label: label(value) }).collect();
        // Marks at the ends stay within the axis.
        let (low, high) = (low / END_SPACE, high * END_SPACE);
        Self { spacing: Spacing::Log, low, high, from_px: 0.0, to_px: 1.0, ticks }
    }

    /// The same values on the stretch of the page from `from_px` (least) to `to_px` (most).
    pub(crate) fn onto(&self, from_px: f64, to_px: f64) -> Self {
        Self { from_px, to_px, ..self.clone() }
    }

    /// Position of a value \[px\]; values beyond an end are at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.from_px + self.share(value) * (self.to_px - self.from_px)
    }

    /// Position of a value between the ends, 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => (value / self.low).log10() / (self.high / self.low).log10(),
        }
    }

    /// Least and largest value.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// A step of 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy)]
struct Step {
    multiple: f64,
    power: i32,
}

impl Step {
    /// The least step that is not below `size`.
    fn at_least(size: f64) -> Self {
        let power = exponent(size);
        let steps = [(1.0, power), (2.0, power), (5.0, power), (1.0, power + 1)];
        let found = steps
            .into_iter()
            .find(|&(multiple, power)| multiple * decade(power) >= size * (1.0 - 1e-9));
        let (multiple, power) = found.unwrap_or((1.0, power + 1));
        Self { multiple, power }
    }

    fn size(self) -> f64 {
        self.multiple * decade(self.power)
    }
}

/// A range of some length. A range without length, or too short for its numbers, is extended to zero.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.min(high), low.max(high));
    let largest = low.abs().max(high.abs());
    if high - low > largest * 1e-9 && high - low > 1e-90 {
        return (low, high);
    }
    match largest {
        tiny if tiny < 1e-90 => (0.0, 1.0),
        _ if low >= 0.0 => (0.0, high),
        _ if high <= 0.0 => (low, 0.0),
        _ => (low, high),
    }
}

/// Whether a value is a whole power of two from 1/1024 to 2^60.
pub fn is_power_of_two(value: f64) -> bool {
    value > 0.0 && (-10.0..=60.0).contains(&value.log2()) && value.log2().fract() == 0.0
}

/// Least and largest of numbers; 1 if there are none.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    ends.unwrap_or((1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn a_linear_scale_has_round_ticks_with_one_prefix() {
        assert_eq!(labels(&Scale::linear(0.0, 1.0, 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Scale::linear(0.0, 13_000.0, 3)), ["0", "5k", "10k"]);
        assert_eq!(labels(&Scale::linear(0.0, 4.1e-5, 3)), ["0", "20µ", "40µ"]);
        assert_eq!(labels(&Scale::linear(-1.0, 1.0, 2)), ["−1", "0", "1"]);
        // A sum that rounding takes past a tick needs no further one.
        let (low, high) = (-f64::EPSILON, 1.0 + f64::EPSILON);
        assert_eq!(labels(&Scale::linear(low, high, 2)), ["0", "0.5", "1.0"]);
    }

    #[test]
    fn a_value_lies_in_proportion() {
        let scale = Scale::linear(0.0, 10.0, 5).onto(100.0, 0.0);
        assert_eq!((scale.at(0.0), scale.at(2.5), scale.at(10.0)), (100.0, 75.0, 0.0));
        assert_eq!(scale.at(-3.0), 100.0);
        let scale = Scale::log(1.0, 100.0).onto(0.0, 50.0);
        assert_eq!((scale.at(1.0), scale.at(10.0), scale.at(100.0)), (0.0, 25.0, 50.0));
    }

    #[test]
    fn a_logarithmic_scale_marks_decades_or_finer() {
        assert_eq!(labels(&Scale::log(0.3, 900.0)), ["1", "10", "100", "1000"]);
        assert_eq!(labels(&Scale::log(3.0, 40.0)), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(&Scale::log(1e-30, 1e30)).len(), 9);
    }

    #[test]
    fn powers_of_two_have_ticks_at_powers_of_two() {
        let of = |values: &[f64]| Scale::of_values(Spacing::Log, values.iter().copied(), 7);
        assert_eq!(labels(&of(&[1024.0, 4096.0, 8192.0])), ["1024", "2048", "4096", "8192"]);
        assert_eq!(labels(&of(&[1.0, 4096.0])), ["1", "4", "16", "64", "256", "1024", "4096"]);
        // Others have those of decades, as do single values.
        assert_eq!(labels(&of(&[3.0, 40.0])), ["2", "5", "10", "20", "50"]);
        assert!(of(&[4096.0]).ticks.len() > 1);
    }

    #[test]
    fn every_range_gives_a_scale() {
        let values = [0.0, 1e-100, -1e-100, 5e-324, 1.0, 1.0 + 1e-15, -1.0, 1e9, 1e100, -1e100];
        for low in values {
            for high in values {
                let linear = Scale::linear(low, high, 5);
                assert!(linear.at(low).is_finite() && linear.at(high).is_finite());
                assert!((1..=12).contains(&linear.ticks.len()), "{low} {high} {linear:?}");
                let exact = Scale::exact(low, high, 5);
                assert!(exact.at(low).is_finite() && exact.ticks.len() <= 12, "{exact:?}");
                if low >= 1e-100 && high >= 1e-100 {
                    let log = Scale::log(low, high);
                    assert!(log.at(low).is_finite() && !log.ticks.is_empty(), "{low} {high}");
                }
            }
        }
    }
}

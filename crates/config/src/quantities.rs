//! Numbers with units, as files give them, and their limits.

use std::ops::RangeInclusive;

use xrsim_model::hardware::Accelerator;
use xrsim_model::units::{ClockRate, FrameRate, SimSpan};

use super::form::{self, Form};
use super::yaml::read::Problems;
use super::yaml::values::{Reader, converted, number};
use super::yaml::{Node, Value};

/// A number above 0.
pub(super) fn positive() -> impl Reader<Value = f64> {
    let is_positive = |value: f64| (value > 0.0 && value.is_finite()).then_some(value);
    converted("a number above 0", form::positive, is_positive)
}

/// Largest power that files give \[mW\]: a kilowatt.
pub(super) const MAX_MW: f64 = 1e6;

/// The sum of probabilities if it is not 1: they may be rounded to nine decimals.
pub(super) fn wrong_sum(probabilities: impl Iterator<Item = f64>) -> Option<f64> {
    let sum: f64 = probabilities.sum();
    ((sum - 1.0).abs() > 1e-9).then_some(sum)
}

/// A quantity called `noun`, within a range in this unit.
pub(super) fn quantity<T>(
    noun: &str,
    range: RangeInclusive<f64>,
    unit: &str,
    convert: impl Fn(f64) -> Option<T>,
) -> impl Reader<Value = T> {
    let expected = format!("{noun} from {} to {} {unit}", range.start(), range.end());
    converted(expected, move || form::number(range.clone()), convert)
}

/// A number that is given or drawn: a number, a mapping with `values`, or one with `mean` and `most`.
pub(super) fn drawn<T>(
    one: impl Reader<Value = T>,
    values: impl Reader<Value = T>,
    geometric: impl Reader<Value = T>,
) -> impl Reader<Value = T> {
    Drawn { one, values, geometric }
}

struct Drawn<A, B, C> {
    one: A,
    values: B,
    geometric: C,
}

impl<T, A, B, C> Reader for Drawn<A, B, C>
where
    A: Reader<Value = T>,
    B: Reader<Value = T>,
    C: Reader<Value = T>,
{
    type Value = T;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<T> {
        match &node.value {
            Value::Mapping(entries) if entries.iter().any(|it| *it.key == *"values") => {
                self.values.read(node, problems)
            }
            Value::Mapping(_) => self.geometric.read(node, problems),
            _ => self.one.read(node, problems),
        }
    }

    fn form(&self) -> Form {
        form::any_of([self.one.form(), self.values.form(), self.geometric.form()])
    }
}

/// A span of time \[ms\].
pub(super) fn ms() -> impl Reader<Value = SimSpan> {
    quantity("a time", 0.0..=SimSpan::MAX_MS, "ms", SimSpan::from_ms)
}

/// A span of time \[us\], up to that of [`ms`].
pub(super) fn us() -> impl Reader<Value = SimSpan> {
    let range = 0.0..=SimSpan::MAX_MS * 1e3;
    quantity("a time", range, "us", |us| SimSpan::from_ms(us / 1e3))
}

/// A span of time above 0 \[ms\].
pub(super) fn positive_ms() -> impl Reader<Value = SimSpan> {
    quantity("a time", SimSpan::MIN_MS..=SimSpan::MAX_MS, "ms", SimSpan::from_positive_ms)
}

/// A span of time \[s\].
pub(super) fn seconds() -> impl Reader<Value = SimSpan> {
    quantity("a time", 0.0..=SimSpan::MAX_S, "s", SimSpan::from_s)
}

/// A rate of frames [frames/s].
pub(super) fn frame_rate() -> impl Reader<Value = FrameRate> {
    quantity("a rate", 0.001..=1e6, "FPS", FrameRate::from_fps)
}

/// Clocks \[MHz\].
pub(super) const CLOCKS: RangeInclusive<f64> = 1e-6..=1e6;

/// A clock \[MHz\].
pub(super) fn clock() -> impl Reader<Value = ClockRate> {
    quantity("a clock", CLOCKS, "MHz", ClockRate::from_mhz)
}

/// A number of PEs.
pub(super) fn pes() -> impl Reader<Value = u32> {
    number(1..=Accelerator::MAX_PES)
}

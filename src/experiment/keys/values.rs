//! Values of keys as text.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Value, json};

use crate::units::{Bytes, ClockRate, SimSpan};

use super::Allowed;

/// Numbers far beyond any useful value, so that products of a few stay finite.
pub(super) const ANY: Allowed = Allowed::Number("a number from 0 to 1e100");

pub(super) const POSITIVE: Allowed = Allowed::Number("a number from 1e-100 to 1e100");

pub(super) const FRACTION: Allowed = Allowed::Number("a number from 0 to 1");

pub(super) const TIME_MS: Allowed = Allowed::Number("a number from 0 to 9007199254");

pub(super) const TIME_US: Allowed = Allowed::Number("a number from 0 to 9007199254000");

pub(super) const RATE: Allowed = Allowed::Text("a number from 1e-100 to 1e100, or `unlimited`");

pub(super) const CLOCK: Allowed = Allowed::Text("a number from 0.000001 to 1000000, or `platform`");

pub(super) const BANDWIDTH: Allowed =
    Allowed::Text("a whole number from 1 to 4294967296, or `platform`");

pub(super) const MEMORY: Allowed = Allowed::Text(
    "a number from 0.0009765625 to 274877906944 that is a whole number of bytes, or `platform`",
);

/// Names of a list of names with their values.
pub(super) const fn names<T, const N: usize>(
    spellings: &[(&'static str, T); N],
) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = spellings[index].0;
        index += 1;
    }
    names
}

/// The value called `text`.
pub(super) fn value<T: Copy>(spellings: &[(&str, T)], text: &str) -> Option<T> {
    spellings.iter().find(|(name, _)| *name == text).map(|&(_, value)| value)
}

/// The name of `value`.
pub(super) fn name<T: PartialEq>(spellings: &[(&'static str, T)], value: T) -> &'static str {
    let found = spellings.iter().find(|(_, known)| *known == value);
    found.expect("every value has a name").0
}

fn number(text: &str, allowed: RangeInclusive<f64>) -> Option<f64> {
    text.parse().ok().filter(|value| allowed.contains(value))
}

/// A number in the range of [`ANY`].
pub(super) fn any(text: &str) -> Option<f64> {
    number(text, 0.0..=1e100)
}

/// A number in the range of [`POSITIVE`].
pub(super) fn positive(text: &str) -> Option<f64> {
    number(text, 1e-100..=1e100)
}

/// A number in the range of [`FRACTION`].
pub(super) fn fraction(text: &str) -> Option<f64> {
    number(text, 0.0..=1.0)
}

/// `Some(None)` for `word`, else the value that `read` makes of the text.
pub(super) fn or_word<T>(
    text: &str,
    word: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Option<Option<T>> {
    if text == word { Some(None) } else { read(text).map(Some) }
}

/// `value`, or `word` without one.
pub(super) fn word_or<T: Serialize>(word: &str, value: Option<T>) -> Value {
    value.map_or(json!(word), |value| json!(value))
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

/// A span \[ms\] in the range of [`TIME_MS`].
pub(super) fn ms(text: &str) -> Option<SimSpan> {
    SimSpan::from_ms(any(text)?)
}

/// A span \[us\] in the range of [`TIME_US`].
pub(super) fn us(text: &str) -> Option<SimSpan> {
    SimSpan::from_ms(number(text, 0.0..=9_007_199_254_000.0)? / 1e3)
}

pub(super) fn in_us(span: SimSpan) -> Value {
    json!(span.ns() as f64 / 1e3)
}

/// A clock \[MHz\] in the range of [`CLOCK`].
pub(super) fn clock(text: &str) -> Option<ClockRate> {
    ClockRate::from_mhz(number(text, 1e-6..=1e6)?)
}

/// A bandwidth \[byte/cycle\] in the range of [`BANDWIDTH`].
pub(super) fn bandwidth(text: &str) -> Option<u64> {
    text.parse().ok().filter(|value| (1..=1 << 32).contains(value))
}

/// A size \[KiB\] of up to 256 TiB, below which numbers of KiB are exact.
pub(super) fn kib(text: &str) -> Option<Bytes> {
    let bytes = positive(text)? * 1024.0;
    let whole = (1.0..=2f64.powi(48)).contains(&bytes) && bytes.fract() == 0.0;
    whole.then_some(Bytes::new(bytes as u64))
}

pub(super) fn in_kib(size: Bytes) -> f64 {
    size.get() as f64 / 1024.0
}

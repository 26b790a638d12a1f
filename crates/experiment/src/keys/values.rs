//! Values of keys as text.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Value, json};

use xrsim_model::hardware::{Accelerator, Change, DeadlineShare, Pinned, Tasks, Width, WriteBack};
use xrsim_model::text::is_name;
use xrsim_model::units::{Bytes, ClockRate, SimSpan};

use super::Allowed;

/// Numbers far beyond any useful value, so that products of a few stay finite.
pub(super) const ANY: Allowed = Allowed::Number("a number from 0 to 1e100");

pub(super) const POSITIVE: Allowed = Allowed::Number("a number from 1e-100 to 1e100");

pub(super) const FRACTION: Allowed = Allowed::Number("a number from 0 to 1");

pub(super) const TIME_MS: Allowed = Allowed::Number("a number from 0 to 9007199254");

pub(super) const TIME_US: Allowed = Allowed::Number("a number from 0 to 9007199254000");

pub(super) const RATE: Allowed = Allowed::Text("a number from 1e-100 to 1e100, or `unlimited`");

pub(super) const CLOCK: Allowed =
    Allowed::Text("a number from 0.000001 to 1000000, a multiple such as `x0.5`, or `platform`");

pub(super) const BANDWIDTH: Allowed =
    Allowed::Text("a whole number from 1 to 4294967296, a multiple such as `x0.5`, or `platform`");

pub(super) const PES: Allowed =
    Allowed::Text("a whole number from 1 to 16777216, a multiple such as `x0.5`, or `platform`");

pub(super) const MEMORY: Allowed = Allowed::Text(
    "a number from 0.0009765625 to 274877906944 that is a whole number of bytes, a multiple such as \
     `x0.5`, or `platform`",
);

pub(super) const ENERGY: Allowed =
    Allowed::Text("a number from 0 to 1000000000, a multiple such as `x0.5`, or `platform`");

/// Latencies of DRAM and of a NoC level.
pub(super) const LATENCY: Allowed =
    Allowed::Text("a whole number from 0 to 1048576, or `platform`");

pub(super) const COPIES: Allowed = Allowed::Text("a whole number from 1 to 16, or `platform`");

pub(super) const MACS: Allowed = Allowed::Text("a whole number from 1 to 65536, or `platform`");

pub(super) const LANES: Allowed = Allowed::Text("a whole number from 1 to 16777216, or `platform`");

pub(super) const READS: Allowed = Allowed::Text("a whole number from 0 to 16, or `platform`");

pub(super) const BITS: Allowed = Allowed::Text("a whole number from 1 to 512, or `platform`");

pub(super) const SWITCH: Allowed = Allowed::Text("`true`, `false` or `platform`");

pub(super) const TASKS: Allowed =
    Allowed::Text("tasks with `+` between them, such as `KD+ES`, `none`, or `platform`");

pub(super) const SHARE: Allowed = Allowed::Number("a number from 0.000001 to 1");

/// Factors within which times and sizes stay useful.
pub(super) const FACTOR: Allowed = Allowed::Number("a number from 0.001 to 1000");

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

/// A share in the range of [`SHARE`].
pub(super) fn share(text: &str) -> Option<DeadlineShare> {
    DeadlineShare::new(text.parse().ok()?)
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

/// A number in the range of [`FACTOR`].
pub(super) fn factor(text: &str) -> Option<f64> {
    number(text, 1e-3..=1e3)
}

/// A multiple such as `x0.5`, with a factor in the range of [`FACTOR`], or else the value that `read` makes
/// of the text.
pub(super) fn change<T>(text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Change<T>> {
    match text.strip_prefix('x') {
        Some(multiple) => factor(multiple).map(Change::Times),
        None => read(text).map(Change::To),
    }
}

/// The text of a change whose value is written by `write`.
pub(super) fn in_change<T>(change: Change<T>, write: impl FnOnce(T) -> Value) -> Value {
    match change {
        Change::To(value) => write(value),
        Change::Times(factor) => json!(format!("x{factor}")),
    }
}

/// A whole number in `allowed`.
fn whole<T: FromStr + PartialOrd>(text: &str, allowed: RangeInclusive<T>) -> Option<T> {
    text.parse().ok().filter(|value| allowed.contains(value))
}

/// A latency \[cycle\].
pub(super) fn latency(text: &str) -> Option<u64> {
    whole(text, 0..=1 << 20)
}

/// Copies of a tile.
pub(super) fn copies(text: &str) -> Option<u32> {
    whole(text, 1..=16)
}

/// Multiply-accumulates of a PE in a cycle.
pub(super) fn macs(text: &str) -> Option<u32> {
    whole(text, 1..=1 << 16)
}

/// Vector lanes of an accelerator.
pub(super) fn lanes(text: &str) -> Option<u32> {
    whole(text, 1..=Accelerator::MAX_PES)
}

/// Other operands of a group of operators.
pub(super) fn reads(text: &str) -> Option<u32> {
    whole(text, 0..=WriteBack::MAX_READS)
}

/// Tasks of a scenario, each once, with `+` between them; `none` for none.
pub(super) fn tasks(text: &str) -> Option<Tasks> {
    let tasks: Vec<Box<str>> = match text {
        "none" => Vec::new(),
        _ => text.split('+').map(|it| it.trim().into()).collect(),
    };
    let mut seen = HashSet::new();
    let is_right = |task: &str| is_name(task) && seen.insert(task.to_string());
    (tasks.len() <= Pinned::MAX && tasks.iter().map(|it| &**it).all(is_right)).then(|| tasks.into())
}

/// The text that [`tasks`] reads.
pub(super) fn in_tasks(tasks: &[Box<str>]) -> String {
    if tasks.is_empty() { "none".into() } else { tasks.join("+") }
}

/// A width \[bit\].
pub(super) fn bits(text: &str) -> Option<Width> {
    whole(text, 1..=Width::MAX.bits()).map(Width::of_bits)
}

/// An energy \[pJ\] in the range of [`ENERGY`].
pub(super) fn energy(text: &str) -> Option<f64> {
    number(text, 0.0..=1e9)
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
    whole(text, 1..=1 << 32)
}

/// PEs of an accelerator.
pub(super) fn pes(text: &str) -> Option<u64> {
    whole(text, 1..=u64::from(Accelerator::MAX_PES))
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

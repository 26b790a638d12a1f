//! Numbers as text: three significant digits and an SI prefix.

use super::decimal::{decade, exponent};

/// SI prefixes from 10^-24 to 10^24, a thousand apart.
const PREFIXES: [&str; 17] =
    ["y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"];

/// The power of a thousand that numbers up to `largest` are written with. Numbers from 0.001 to
/// below 10 000 need none.
pub(super) fn thousands(largest: f64) -> i32 {
    match exponent(largest.abs()) {
        -3..=3 => 0,
        power => power.div_euclid(3),
    }
}

/// `value` in units of `1000^thousands`, with `decimals` decimals and the prefix.
pub(super) fn prefixed(value: f64, thousands: i32, decimals: usize) -> String {
    let prefix = usize::try_from(thousands + 8).ok().and_then(|index| PREFIXES.get(index));
    match prefix {
        _ if value == 0.0 => "0".to_owned(),
        Some(prefix) => {
            format!("{:.decimals$}{prefix}", value / decade(3 * thousands)).replace('-', "−")
        }
        None => format!("{value:.1e}").replace('-', "−"),
    }
}

/// `value` with three significant digits and an SI prefix: `12.5k`, `3µ`.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = significant(value);
    if digits.contains('e') {
        return digits; // There is no prefix for it.
    }
    let end = digits.trim_end_matches(|c: char| c.is_alphabetic()).len();
    let (number, prefix) = digits.split_at(end);
    if !number.contains('.') {
        return digits;
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{prefix}")
}

/// Largest ratio of numbers that are written with the same decimals.
const MAX_RATIO: f64 = 1e3;

/// Numbers with one precision: the same decimals and prefix, such that the largest has two significant digits, or
/// three if numbers would look alike otherwise or if the rounding is more than a hundredth of their range; or three
/// significant digits each, if they differ by more than a factor of 1000. Whole numbers below 10 000 stay whole.
pub(super) fn alike(values: &[f64]) -> Vec<String> {
    let sizes = || values.iter().map(|value| value.abs()).filter(|size| *size > 0.0);
    let (least, largest) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let is_whole = largest < 1e4 && values.iter().all(|value| value.fract() == 0.0);
    if !is_whole && largest > MAX_RATIO * least {
        return values.iter().map(|&value| significant(value)).collect();
    }
    let (thousands, decimals) = match is_whole {
        true => (0, 0),
        false => precision(largest),
    };
    let with = |decimals: usize| -> Vec<String> {
        values.iter().map(|&value| prefixed(value, thousands, decimals)).collect()
    };
    let distinct =
        |numbers: &[String]| numbers.iter().collect::<std::collections::BTreeSet<_>>().len();
    let (long, fewer) = (with(decimals), decimals.saturating_sub(1));
    let short = with(fewer);
    let ends = || values.iter().copied();
    let range = ends().fold(f64::NEG_INFINITY, f64::max) - ends().fold(f64::INFINITY, f64::min);
    let rounding = decade(3 * thousands - fewer as i32) / 2.0;
    let is_enough = rounding <= range / 100.0 && distinct(&short) == distinct(&long);
    if is_enough { short } else { long }
}

/// `value` with two significant digits, or all before the point, and an SI prefix: `6.2`, `43`, `574`, `15M`.
pub(super) fn brief(value: f64) -> String {
    let (thousands, decimals) = precision(value);
    prefixed(value, thousands, decimals.saturating_sub(1))
}

/// `value` with three significant digits, zeros included, and an SI prefix.
fn significant(value: f64) -> String {
    let (thousands, decimals) = precision(value);
    prefixed(value, thousands, decimals)
}

/// Power of a thousand and decimals of a number with three significant digits.
fn precision(value: f64) -> (i32, usize) {
    let thousands = thousands(value);
    let before_point = exponent(value.abs()) - 3 * thousands;
    (thousands, (2 - before_point).clamp(0, 5) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_side_by_side_have_the_same_decimals() {
        assert_eq!(alike(&[0.86, 0.882, 0.2]), ["0.86", "0.88", "0.20"]);
        // With two digits the first two were equal.
        assert_eq!(alike(&[0.876, 0.882, 0.2]), ["0.876", "0.882", "0.200"]);
        // A range of 0.38, of which a half of the second decimal is more than a hundredth.
        assert_eq!(alike(&[0.86, 0.882, 0.5]), ["0.860", "0.882", "0.500"]);
        assert_eq!(alike(&[1.0, 0.882]), ["1.00", "0.88"]);
        assert_eq!(alike(&[12_000.0, 800.0, 9_900.0]), ["12.0k", "0.8k", "9.9k"]);
        assert_eq!(alike(&[3.0, 1024.0, 0.0]), ["3", "1024", "0"]);
        // A factor of a million: three digits each.
        assert_eq!(alike(&[1.5, 2e6]), ["1.50", "2.00M"]);
        assert!(alike(&[]).is_empty());
    }

    #[test]
    fn three_digits_and_a_prefix() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.25, "0.25"),
            (0.001, "0.001"),
            (9999.0, "9999"),
            (12_500.0, "12.5k"),
            (-12_500.0, "−12.5k"),
            (3e-6, "3µ"),
            (4.567e11, "457G"),
            (1e30, "1.0e30"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}

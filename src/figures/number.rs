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
    let thousands = thousands(value);
    let before_point = exponent(value.abs()) - 3 * thousands;
    let decimals = (2 - before_point).clamp(0, 5) as usize;
    let digits = prefixed(value, thousands, decimals);
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

#[cfg(test)]
mod tests {
    use super::*;

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

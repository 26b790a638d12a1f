//! Text of numbers in cells, byte for byte as the standard library writes it, in a third of the time.

use std::fmt::{self, Write as _};

use xrsim_model::units::SimTime;

/// Adds a whole number.
pub(super) fn push_whole(text: &mut String, value: u64) {
    text.push_str(itoa::Buffer::new().format(value));
}

/// Adds the shortest text that reads back to `value`, without an exponent.
pub(super) fn push_number(text: &mut String, value: f64) {
    let whole = value as u64;
    if value.to_bits() == (whole as f64).to_bits() && whole < 1 << 53 {
        return push_whole(text, whole);
    }
    let is_usual = value == 0.0 || (1e-4..1e15).contains(&value.abs());
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format(value);
    if is_usual && !is_halfway(value, shortest) {
        text.push_str(shortest.strip_suffix(".0").unwrap_or(shortest));
    } else {
        write!(text, "{value}").expect("writing to a string cannot fail");
    }
}

/// Whether `value`, usual, lies halfway between two numbers with as many decimals as `rounded`. The standard library
/// rounds it up, others to an even digit. Every binary digit of a fraction takes a decimal one, the last of which is 5.
fn is_halfway(value: f64, rounded: &str) -> bool {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | 1 << MANTISSA_BITS;
    let exponent = bits >> MANTISSA_BITS & 0x7ff;
    let binary_digits = 0x3ff + u64::from(MANTISSA_BITS - mantissa.trailing_zeros());
    let decimals = || rounded.find('.').map_or(0, |point| rounded.len() - point - 1);
    binary_digits <= exponent + MOST_DECIMALS + 1
        && binary_digits == exponent + decimals() as u64 + 1
}

/// Bits of a mantissa but for the first, which is not stored.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Most decimals of a usual number: 17 digits after three zeros.
const MOST_DECIMALS: u64 = 20;

/// Adds a time in milliseconds with all six decimals.
pub(super) fn push_ms(text: &mut String, time: SimTime) {
    let (ms, ns) = (time.ns() / 1_000_000, time.ns() % 1_000_000);
    push_whole(text, ms);
    text.push('.');
    text.push_str(&itoa::Buffer::new().format(1_000_000 + ns)[1..]);
}

/// A span of this many ns, written in milliseconds with three decimals.
pub(super) struct Ms(pub(super) i128);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u64::try_from(self.0) {
            // Halfway, and where a number has no digits for single ns, binary fractions decide.
            Ok(ns) if ns < 1 << 50 && ns % 1000 != 500 => {
                let us = (ns + 500) / 1000;
                f.write_str(itoa::Buffer::new().format(us / 1000))?;
                f.write_str(".")?;
                f.write_str(&itoa::Buffer::new().format(1000 + us % 1000)[1..])
            }
            _ => write!(f, "{:.3}", self.0 as f64 / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut String)) -> String {
        let mut text = String::new();
        push(&mut text);
        text
    }

    fn check(value: f64) {
        for value in [value, -value] {
            let pushed = text(|text| push_number(text, value));
            assert_eq!(pushed, value.to_string(), "{:x}", value.to_bits());
        }
    }

    /// Bits of every exponent and of many mantissas, and of numbers as scores, shares and energies are.
    #[test]
    fn numbers_are_as_the_standard_library_writes_them() {
        for value in [0.0, 1.0, f64::MIN_POSITIVE, f64::MAX, f64::EPSILON, f64::INFINITY, f64::NAN]
        {
            check(value);
        }
        let mut bits = 1u64;
        for exponent in 0..0x7ff {
            let first = exponent << 52;
            for mantissa in [0, 1, (1 << 52) - 1, 1 << 51] {
                check(f64::from_bits(first | mantissa));
            }
            for _ in 0..100 {
                bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                check(f64::from_bits(first | bits >> 12));
            }
        }
        // Halfway between two numbers of 17 digits.
        for shift in 1..=60 {
            for odd in (1..400u64).step_by(2) {
                check(((1 << 52) + odd) as f64 / 2f64.powi(shift));
                check(((1 << 47) + odd) as f64 / 2f64.powi(shift));
            }
        }
        for power in -330..=310 {
            check(format!("1e{power}").parse().expect("it is a number"));
        }
        for whole in 0..20_000u64 {
            check(whole as f64 / 1000.0);
            check(1.0 / (whole + 1) as f64);
            check((whole * whole * whole) as f64 * 1e-7);
            check((u64::MAX / (whole + 1)) as f64);
            check(((1 << 53) + whole) as f64);
        }
    }

    /// Of every rest by 1000 ns, up to half a month and beyond.
    #[test]
    fn spans_are_rounded_as_the_standard_library_rounds_milliseconds() {
        for first in [0, 1_000, 16_666_000, 999_999_000, 1 << 40, 1 << 50, 1 << 60] {
            for ns in first - 1500..first + 1500 {
                assert_eq!(Ms(ns).to_string(), format!("{:.3}", ns as f64 / 1e6), "{ns}");
            }
        }
    }

    #[test]
    fn whole_numbers_and_times_have_all_digits() {
        for value in [0, 9, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(text(|text| push_whole(text, value)), value.to_string());
        }
        for ns in [0, 1, 999_999, 1_000_000, 123_000_456, u64::MAX] {
            let expected = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
            assert_eq!(text(|text| push_ms(text, SimTime::from_ns(ns))), expected);
        }
    }
}

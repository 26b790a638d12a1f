//! Ranges of numbers: `1024..16384 step x2`, `0.1..0.5 step 0.1`, `1..30`.
//!
//! Computed in decimals, so that every value is the text that a person would have written.

use std::fmt;

/// Most digits after the point.
const MAX_SCALE: u32 = 30;

/// The values of the range written `text`, ends included and at most `max`; `None` if it is not a
/// range at all.
///
/// # Errors
///
/// Returns the problem of the range.
pub(super) fn values(text: &str, max: usize) -> Option<Result<Vec<String>, String>> {
    let (first, rest) = text.split_once("..")?;
    let first: Decimal = Decimal::parse(first.trim())?;
    Some(Range::parse(first, rest).and_then(|range| range.values(max)))
}

struct Range {
    first: Decimal,
    last: Decimal,
    step: Step,
}

enum Step {
    Add(Decimal),
    Multiply(Decimal),
}

impl Range {
    fn parse(first: Decimal, rest: &str) -> Result<Self, String> {
        let (last, step) = rest.split_once("step").unwrap_or((rest, "1"));
        let number = |text: &str| {
            let text = text.trim();
            Decimal::parse(text).ok_or_else(|| format!("`{text}` is not a number"))
        };
        let last = number(last)?;
        let step = match step.trim().strip_prefix('x') {
            Some(factor) => Step::Multiply(number(factor)?),
            None => Step::Add(number(step)?),
        };
        if last.cmp_to(first).is_none_or(|order| order.is_lt()) {
            return Err(format!("{first} to {last} goes downward"));
        }
        Ok(Self { first, last, step })
    }

    fn values(&self, max: usize) -> Result<Vec<String>, String> {
        self.check_step()?;
        let mut values = Vec::new();
        let mut next = Some(self.first);
        while let Some(value) =
            next.filter(|value| value.cmp_to(self.last).is_some_and(|o| o.is_le()))
        {
            if values.len() == max {
                return Err(format!("more than {max} values, which is all that there is room for"));
            }
            values.push(value.to_string());
            next = match self.step {
                Step::Add(step) => value.plus(step),
                Step::Multiply(factor) => value.times(factor),
            };
        }
        match next {
            Some(_) => Ok(values),
            None => Err("its numbers have too many digits".into()),
        }
    }

    fn check_step(&self) -> Result<(), String> {
        let zero = Decimal { digits: 0, scale: 0 };
        let one = Decimal { digits: 1, scale: 0 };
        let above = |a: Decimal, b: Decimal| a.cmp_to(b).is_some_and(|order| order.is_gt());
        match self.step {
            Step::Add(step) if !above(step, zero) => {
                Err(format!("the step is {step}; allowed is a number > 0, or x and a number > 1"))
            }
            Step::Multiply(factor) if !above(factor, one) || !above(self.first, zero) => {
                Err(format!(
                    "{} times {factor} over and over; allowed is a start > 0 and a factor > 1",
                    self.first
                ))
            }
            _ => Ok(()),
        }
    }
}

/// `digits` times 10 to the power of minus `scale`, without trailing zeros after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    /// A number such as `-12.5` or `1e-6`.
    fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole.trim_start_matches('-')) || !plain(fraction) {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => Self::new(digits, scale),
            Err(_) => Self::new(digits.checked_mul(power(scale.unsigned_abs())?)?, 0),
        }
    }

    /// `None` if it has too many digits.
    fn new(mut digits: i128, mut scale: u32) -> Option<Self> {
        if digits == 0 {
            scale = 0;
        }
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        (scale <= MAX_SCALE).then_some(Self { digits, scale })
    }

    /// Digits of both at the larger scale, and that scale.
    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let at = |number: Self| number.digits.checked_mul(power(scale - number.scale)?);
        Some((at(self)?, at(other)?, scale))
    }

    fn plus(self, other: Self) -> Option<Self> {
        let (a, b, scale) = self.aligned(other)?;
        Self::new(a.checked_add(b)?, scale)
    }

    fn times(self, other: Self) -> Option<Self> {
        Self::new(self.digits.checked_mul(other.digits)?, self.scale + other.scale)
    }

    fn cmp_to(self, other: Self) -> Option<std::cmp::Ordering> {
        self.aligned(other).map(|(a, b, _)| a.cmp(&b))
    }
}

/// 10 to the power of `exponent`.
fn power(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let point = if scale > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match values(text, 1000) {
            Some(Ok(values)) => values.join(" "),
            Some(Err(message)) => message,
            None => "no range".into(),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn both_ends_belong_to_a_range_if_the_steps_meet_them() {
        check("1024..16384 step x2", "1024 2048 4096 8192 16384");
        check("1024..5000 step x2", "1024 2048 4096");
        check("1024..4096 step 1024", "1024 2048 3072 4096");
        check("0..3", "0 1 2 3");
        check("7..7", "7");
        check(" 1 .. 9 step  4 ", "1 5 9");
    }

    #[test]
    fn fractions_are_exact() {
        check("0.1..0.5 step 0.1", "0.1 0.2 0.3 0.4 0.5");
        check("-0.5..0.5 step 0.5", "-0.5 0 0.5");
        check("1e-6..1e-3 step x10", "0.000001 0.00001 0.0001 0.001");
        check("1..4 step x1.5", "1 1.5 2.25 3.375");
        check("1e3..2e3 step 5e2", "1000 1500 2000");
    }

    #[test]
    fn what_does_not_start_with_a_number_is_no_range() {
        for text in ["../mine.yaml", "A", "1024", "x..y", "..5", "a1..5"] {
            check(text, "no range");
        }
    }

    #[test]
    fn slips_say_what_is_allowed() {
        check("5..1", "5 to 1 goes downward");
        check("1..", "`` is not a number");
        check("1..9 step two", "`two` is not a number");
        check("1..9 step 0", "the step is 0; allowed is a number > 0, or x and a number > 1");
        check("1..9 step x1", "1 times 1 over and over; allowed is a start > 0 and a factor > 1");
        check("0..9 step x2", "0 times 2 over and over; allowed is a start > 0 and a factor > 1");
    }

    #[test]
    fn hostile_ranges_end_early() {
        check("1..1e30", "more than 1000 values, which is all that there is room for");
        check("1..1e99", "`1e99` is not a number");
        check("1..2 step x1.000000001", "its numbers have too many digits");
        check("0..1 step 1e-9", "more than 1000 values, which is all that there is room for");
        check("1..1e-999999999", "`1e-999999999` is not a number");
        check("0e-999999999..2", "0 1 2");
    }
}

//! Powers of ten, and numbers with one significant digit.

/// The power of ten at or below `value`, which is above zero; -100 for values below 1e-100.
pub(super) fn exponent(value: f64) -> i32 {
    if value < 1e-100 {
        return -100;
    }
    let guess = value.log10().floor() as i32;
    // The logarithm may be off by one unit in its last place, on either side of a power.
    if decade(guess + 1) <= value {
        guess + 1
    } else if decade(guess) > value {
        guess - 1
    } else {
        guess
    }
}

/// Ten to a power, correctly rounded on every machine.
pub(super) fn decade(power: i32) -> f64 {
    format!("1e{power}").parse().expect("an integer exponent makes a number")
}

/// The largest of 1, 2 and 5 times powers of ten that is not above `value`.
pub(super) fn round_down(value: f64) -> f64 {
    let power = exponent(value);
    [5.0, 2.0].map(|m| m * decade(power)).into_iter().find(|&v| v <= value).unwrap_or(decade(power))
}

/// The least of 1, 2 and 5 times powers of ten that is not below `value`.
pub(super) fn round_up(value: f64) -> f64 {
    let power = exponent(value);
    let candidates = [decade(power), 2.0 * decade(power), 5.0 * decade(power)];
    candidates.into_iter().find(|&v| v >= value).unwrap_or(decade(power + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_exact() {
        for power in -99..=100 {
            assert_eq!(exponent(decade(power)), power);
        }
    }
}

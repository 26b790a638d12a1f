//! Numbers as LoadGen prints them.

/// `value` as C++ streams print it: with six significant digits and without trailing zeros.
pub fn six_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent) as usize;
        return without_zeros(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_by_streams() {
        for (value, text) in [
            (200.0, "200"),
            (62.5, "62.5"),
            (7616.2588, "7616.26"),
            (150.29296875, "150.293"),
            (999_999.6, "1e+06"),
            (123_456.4, "123456"),
            (1e9, "1e+09"),
            (0.0001, "0.0001"),
            (0.000_012_345_67, "1.23457e-05"),
            (0.0, "0"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}

//! Whole numbers as expressions of parameters: `16*beams`, `words - 1`, `(rows + 1)/2`.

use std::fmt;

/// Longest expression \[byte\].
const MAX_LENGTH: usize = 200;

/// Deepest nesting of parentheses.
const MAX_DEPTH: u32 = 16;

/// Reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A name is that of no parameter.
    Unknown(String),
    /// It is no expression.
    Syntax,
    /// A number or a result is beyond 64 bits.
    Overflow,
    /// Division by a number that is not positive, or of a negative number.
    Division,
    /// It is longer or deeper than allowed.
    TooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "no parameter named `{name}`"),
            Self::Syntax => f.write_str(
                "expected a whole number, or an expression of parameters and whole numbers with `+`, `-`, \
                 `*`, `/` (rounded up) and parentheses",
            ),
            Self::Overflow => f.write_str("a number of this expression is beyond 64 bits"),
            Self::Division => {
                f.write_str("`/` takes a number that is not negative and one above 0")
            }
            Self::TooLong => write!(
                f,
                "an expression has at most {MAX_LENGTH} characters and {MAX_DEPTH} nested parentheses"
            ),
        }
    }
}

/// Value of the expression `text`, whose names have the values that `value` knows. Quotients are rounded up.
///
/// # Errors
///
/// [`Fault`].
pub(super) fn evaluate(text: &str, value: &dyn Fn(&str) -> Option<u32>) -> Result<i64, Fault> {
    if text.len() > MAX_LENGTH {
        return Err(Fault::TooLong);
    }
    let mut reader = Reader { rest: text, depth: 0, value };
    let result = reader.sum()?;
    if reader.rest.trim_start().is_empty() { Ok(result) } else { Err(Fault::Syntax) }
}

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
    value: &'t dyn Fn(&str) -> Option<u32>,
}

impl<'t> Reader<'t> {
    /// Takes the next character if it is one of `expected`.
    fn take(&mut self, expected: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let found = self.rest.chars().next().filter(|c| expected.contains(c))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    /// Takes the letters, digits and `_` that are next.
    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Result<i64, Fault> {
        let mut sum = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            let result = if sign == '+' { sum.checked_add(next) } else { sum.checked_sub(next) };
            sum = result.ok_or(Fault::Overflow)?;
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<i64, Fault> {
        let mut product = self.factor()?;
        while let Some(sign) = self.take(&['*', '/']) {
            let next = self.factor()?;
            product = match sign {
                '*' => product.checked_mul(next).ok_or(Fault::Overflow)?,
                _ if product < 0 || next <= 0 => return Err(Fault::Division),
                _ => product / next + i64::from(product % next > 0),
            };
        }
        Ok(product)
    }

    fn factor(&mut self) -> Result<i64, Fault> {
        if self.take(&['(']).is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(Fault::TooLong);
            }
            let inner = self.sum()?;
            self.depth -= 1;
            return self.take(&[')']).map(|_| inner).ok_or(Fault::Syntax);
        }
        let word = self.word();
        match word.chars().next() {
            None => Err(Fault::Syntax),
            Some(first) if first.is_ascii_digit() => {
                let is_number = word.chars().all(|c| c.is_ascii_digit());
                let fault = if is_number { Fault::Overflow } else { Fault::Syntax };
                word.parse().map_err(|_| fault)
            }
            Some(_) => match (self.value)(word) {
                Some(value) => Ok(value.into()),
                None => Err(Fault::Unknown(word.into())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<i64, Fault> {
        let value = |name: &str| match name {
            "beams" => Some(10),
            "words_2" => Some(25),
            _ => None,
        };
        evaluate(text, &value)
    }

    #[test]
    fn expressions_have_the_usual_order_and_round_quotients_up() {
        let cases = [
            ("beams", 10),
            (" 16 * beams ", 160),
            ("words_2-1", 24),
            ("1+2*beams-3", 18),
            ("2*(beams+words_2)", 70),
            ("words_2/beams", 3),
            ("30/beams", 3),
            ("0/beams", 0),
            ("100/3/2", 17),
            ("beams-words_2", -15),
            ("((1))", 1),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in
            ["", "+", "beams beams", "2beams", "(1", "1)", "1.5", "-1", "2**3", "beams,", "é"]
        {
            assert_eq!(of(text), Err(Fault::Syntax), "{text}");
        }
        assert_eq!(of("1+beam"), Err(Fault::Unknown("beam".into())));
        for text in ["9223372036854775807+1", "beams*9223372036854775807", "99999999999999999999"] {
            assert_eq!(of(text), Err(Fault::Overflow), "{text}");
        }
        for text in ["1/0", "1/(beams-10)", "(beams-11)/1", "1/(1-2)"] {
            assert_eq!(of(text), Err(Fault::Division), "{text}");
        }
        let deep = "(".repeat(17) + "1" + &")".repeat(17);
        assert_eq!(of(&deep), Err(Fault::TooLong));
        assert_eq!(of(&"1+".repeat(200)), Err(Fault::TooLong));
    }
}

//! The table of single operators.

use super::text::{Case, fact};
use crate::fact::{Fact, Number};
use crate::rules::Fault;

/// What is wrong with the answer to a line, if anything.
fn wrong(line: &str) -> Option<String> {
    let (call, expected) = line.rsplit_once(" -> ").expect("a line has an answer");
    if expected == "invalid" {
        return match Case::new(call, 1).infer() {
            Err(Fault::Invalid(_)) => None,
            other => Some(format!("{call}\n  gives {other:?}")),
        };
    }
    let expected: Vec<Fact> = expected.split_whitespace().map(fact).collect();
    let found = match Case::new(call, expected.len()).infer() {
        Ok(found) => found,
        Err(fault) => return Some(format!("{call}\n  gives {fault:?}")),
    };
    let same = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(found, expected)| {
            found.element == expected.element
                && found.shape == expected.shape
                && (expected.elements.is_none() || agree(found, expected))
        });
    (!same).then(|| format!("{call}\n  gives  {found:?}\n  not    {expected:?}"))
}

/// Whether integers are equal, and numbers but for the last of the 24 bits that the table was made with.
fn agree(found: &Fact, expected: &Fact) -> bool {
    let (Some(found), Some(expected)) = (found.known(), expected.known()) else { return false };
    let close = |(a, b): (&Number, &Number)| match (a, b) {
        (Number::Float(a), Number::Float(b)) => {
            a == b || (a - b).abs() <= b.abs() * f64::powi(2.0, -23)
        }
        _ => a == b,
    };
    found.len() == expected.len() && found.iter().zip(expected).all(close)
}

#[test]
fn single_operators_are_as_the_runtime_computes_them() {
    let wrong: Vec<String> = include_str!("cases.txt").lines().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} lines are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

//! Calls with numbers that no file should have: they are refused or answered, within the limits.

use std::sync::Arc;

use super::text::Case;
use crate::fact::Fact;

/// Replacements for a number.
const EXTREMES: [&str; 10] = [
    "9223372036854775807",
    "-9223372036854775808",
    "0",
    "-1",
    "281474976710656",
    "4294967296",
    "4097",
    "4611686018427387904",
    "1",
    "65",
];

/// Starts and ends of the numbers after the operator; a sign belongs to its number.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut start = text.find(' ').expect("an operator and more");
    while let Some(first) = (start..bytes.len()).find(|&at| bytes[at].is_ascii_digit()) {
        let end = (first..bytes.len()).find(|&at| !bytes[at].is_ascii_digit());
        let end = end.unwrap_or(bytes.len());
        let sign = usize::from(bytes[first - 1] == b'-');
        // Digits after the point of a number and extents stay as they are with a sign.
        if bytes[first - 1] != b'.' {
            found.push((first - sign, end));
        }
        start = end;
    }
    found
}

/// Forgets elements that are not as many as the shape says, which no file gives.
fn consistent(case: &mut Case) {
    for input in case.inputs.iter_mut().flatten() {
        let count = input.shape.iter().try_fold(1, |count: u64, &extent| count.checked_mul(extent));
        if input.elements.as_ref().is_some_and(|known| Some(known.len() as u64) != count) {
            *input = Arc::new(Fact { elements: None, ..(**input).clone() });
        }
    }
}

fn is_within_limits(fact: &Fact) -> bool {
    let known = fact.elements.as_ref().map(|known| known.len());
    fact.shape.iter().all(|&extent| extent <= Fact::MAX_EXTENT)
        && known.is_none_or(|known| known <= Fact::MAX_ELEMENTS && known as u64 == fact.count())
}

#[test]
fn extreme_numbers_are_refused_or_answered() {
    let mut turn = 0;
    let mut answered = 0;
    for line in include_str!("cases.txt").lines() {
        let (call, expected) = line.rsplit_once(" -> ").expect("a line has an answer");
        let outputs = expected.split_whitespace().count();
        for (start, end) in numbers(call) {
            let is_extent = call.as_bytes()[start - 1].is_ascii_alphabetic();
            turn += 1;
            let extreme = EXTREMES[turn % EXTREMES.len()];
            let extreme = if is_extent { extreme.trim_start_matches('-') } else { extreme };
            let text = format!("{}{extreme}{}", &call[..start], &call[end..]);
            let mut case = Case::new(&text, outputs);
            consistent(&mut case);
            if let Ok(facts) = case.infer() {
                answered += 1;
                assert!(facts.iter().all(is_within_limits), "{text} gives {facts:?}");
            }
        }
    }
    // Most changes leave a call valid; all would be refused if the parser of this test were wrong.
    assert!(answered > turn / 4, "{answered} of {turn}");
}

//! Mutations of any text by words and signs, and of any file by bytes.

use super::random::Random;
use super::values;

/// One to four mutations by words; `donor` is a text of the same kind.
pub fn mutate(text: &str, donor: &str, random: &mut Random) -> String {
    let mut tokens: Vec<String> = split(text).into_iter().map(Into::into).collect();
    let donor = split(donor);
    for _ in 0..=random.small(4) {
        if tokens.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        match random.below(8) {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, tokens[at].clone()),
            2 => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
            3 if !donor.is_empty() => tokens[at] = (*random.pick(&donor)).into(),
            4 if !donor.is_empty() => {
                let from = random.below(donor.len());
                let piece = &donor[from..donor.len().min(from + 1 + random.small(40))];
                tokens.insert(at, piece.concat());
            }
            5 => {
                let to = tokens.len().min(at + 1 + random.small(40));
                let piece = tokens[at..to].concat().repeat(1 + random.small(40));
                tokens.insert(at, piece);
            }
            _ => {
                let near = values::near(&tokens[at], random).filter(|_| random.one_in(2));
                tokens[at] = near.unwrap_or_else(|| values::word(random));
            }
        }
    }
    tokens.concat()
}

/// Words, numbers, blanks and signs.
fn split(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' || c == '.' => 0,
        ' ' | '\t' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if last.is_some_and(|last| last != this || this == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(this);
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

/// One to four mutations by bytes.
pub fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.small(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, *random.pick(b"\n\r\t \0:-,[]{}\"'#&*!|>%@`\x7f\xff\xc3")),
            4 => bytes.truncate(at),
            5 => {
                let end = bytes.len().min(at + 1 + random.small(64));
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let end = bytes.len().min(at + 1 + random.small(64));
                bytes.drain(at..end);
            }
        }
    }
}

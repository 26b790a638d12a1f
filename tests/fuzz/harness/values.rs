//! Values that are hard for parsers.

use super::random::Random;

/// Numbers at the limits of types and of plausible ranges.
const NUMBERS: [&str; 48] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "16",
    "31",
    "64",
    "100",
    "255",
    "256",
    "1000",
    "0.5",
    "0.1",
    "1.5",
    "1e-9",
    "1e-300",
    "1e-308",
    "5e-324",
    "1e5",
    "1e18",
    "1e19",
    "1e30",
    "1e300",
    "1.7976931348623157e308",
    "1e309",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "007",
    "0x10",
    "1_000",
    "+5",
];

/// Words that are not numbers.
const WORDS: [&str; 30] = [
    "",
    " ",
    "~",
    "null",
    "true",
    "false",
    "yes",
    "no",
    "none",
    "-",
    "--",
    "#",
    ":",
    "*",
    "&a",
    "!t x",
    "x",
    "WS",
    "tiny",
    "tiny.yaml",
    "absent.yaml",
    "loop.yaml",
    "folder",
    "a/b",
    "\u{202e}txt.exe",
    "\u{feff}",
    "\u{0}",
    "\u{1b}[31mred",
    "=1+1",
    "é\u{301}🎮",
];

/// Units at the end of keys.
const UNITS: [&str; 12] =
    ["ms", "us", "ns", "s", "mhz", "ghz", "fps", "kib", "mib", "bytes", "nj", "pj"];

/// A number at a limit.
pub fn number(random: &mut Random) -> String {
    (*random.pick(&NUMBERS)).into()
}

/// A word of any kind.
pub fn word(random: &mut Random) -> String {
    match random.below(8) {
        0..4 => number(random),
        4..7 => (*random.pick(&WORDS)).into(),
        _ => random.pick(&["x", "9", "é", "\u{202e}", "-", "a b "]).repeat(1 + random.small(3000)),
    }
}

/// A number near `text`, if `text` is a number.
pub fn near(text: &str, random: &mut Random) -> Option<String> {
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let near = match random.below(10) {
        0 => number + 1.0,
        1 => number - 1.0,
        2 => number * 2.0,
        3 => number / 2.0,
        4 => number * 10.0,
        5 => number / 3.0,
        6 => -number,
        7 => number * 1000.0,
        8 => number / 1000.0,
        _ => number + 0.5,
    };
    Some(near.to_string())
}

/// The key `key` with another unit, with one letter changed, or with one letter added.
pub fn key_like(key: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = key.chars().collect();
    match random.below(4) {
        0 => {
            let stem = key.rsplit_once('_').map_or(key, |(stem, _)| stem);
            return format!("{stem}_{}", random.pick(&UNITS));
        }
        1 if chars.len() > 1 => {
            let at = random.below(chars.len() - 1);
            chars.swap(at, at + 1);
        }
        2 if !chars.is_empty() => {
            chars.remove(random.below(chars.len()));
        }
        _ => chars.push('x'),
    }
    chars.into_iter().collect()
}

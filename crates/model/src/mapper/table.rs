//! Tables of mappings as text: sorted lines that are found without reading the others, and the files that come
//! with the program.

use std::cmp::Ordering;

use memchr::{memchr, memrchr};

/// A file of the table that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// Digest of everything that its mappings depend on, as the file states it.
    pub section: &'static str,
    /// Folder and name of the file.
    pub name: &'static str,
    /// Contents.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/mappings.rs"));

/// Files of the table, in the order of their sections.
pub const FILES: &[Shipped] = MAPPINGS;

/// Begin of lines for people, which stand above all others.
pub(super) const REMARK: &str = "# ";

/// Begin of the last line, which has the digest of all others.
pub(super) const LAST: &str = "sha256 ";

/// The lines with choices of a file: sorted by their bytes, between the remarks above and the last line.
pub(super) fn choices_of(text: &str) -> &str {
    let mut begin = 0;
    for line in text.split_inclusive('\n').take_while(|line| line.starts_with(REMARK)) {
        begin += line.len();
    }
    let choices = &text[begin..];
    let last = choices.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
    if choices[last..].starts_with(LAST) { &choices[..last] } else { choices }
}

/// The line of sorted `lines` that begins with `key` and a space; `None` if there is none. In lines that are not
/// sorted it may miss some.
pub(super) fn find<'a>(lines: &'a str, key: &str) -> Option<&'a str> {
    let bytes = lines.as_bytes();
    let (mut begin, mut end) = (0, lines.len());
    while begin < end {
        // Lines are whole between `begin` and `end`. A newline is one byte, so that no character is cut.
        let middle = begin + (end - begin) / 2;
        let start = memrchr(b'\n', &bytes[begin..middle]);
        let start = start.map_or(begin, |at| begin + at + 1);
        let stop = memchr(b'\n', &bytes[start..end]);
        let stop = stop.map_or(end, |at| start + at);
        let line = &lines[start..stop];
        match order(line, key) {
            Ordering::Equal => return Some(line),
            Ordering::Less => begin = (stop + 1).min(end),
            Ordering::Greater => end = start,
        }
    }
    None
}

/// Order of the begin of a line to a key that a space follows.
fn order(line: &str, key: &str) -> Ordering {
    let (begin, rest) = line.as_bytes().split_at(key.len().min(line.len()));
    // What follows the key is compared to the space.
    begin.cmp(key.as_bytes()).then_with(|| rest.first().cmp(&Some(&b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_by_its_key_and_no_other() {
        let mut lines: Vec<String> =
            (0..40).map(|at| format!("{},{} - {} value {at}", at % 7, at * at, at % 3)).collect();
        lines.push("1,1 - value".into());
        lines.push("é,1 - value".into());
        lines.sort_unstable();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        for line in &lines {
            let key = line.split_once(" value").expect("a value").0;
            assert_eq!(find(&text, key), Some(&**line));
            assert_eq!(find(text.trim_end(), key), Some(&**line), "without the last newline");
            assert_eq!(find(&text, &key[..key.len() - 1]), None);
            assert_eq!(find(&text, &format!("{key} ")), None);
        }
        assert_eq!(find("", "1"), None);
        assert_eq!(find("\n\n", "1"), None);
    }

    #[test]
    fn choices_stand_between_remarks_and_the_last_line() {
        assert_eq!(choices_of("# a\n# b\n1 x\n2 y\nsha256 0\n"), "1 x\n2 y\n");
        assert_eq!(choices_of("# a\nsha256 0\n"), "");
        assert_eq!(choices_of("1 x\n2 y"), "1 x\n2 y");
        assert_eq!(choices_of(""), "");
    }
}

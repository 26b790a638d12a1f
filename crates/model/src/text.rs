//! Text of users on its way to a terminal or a spreadsheet, and numbers as text.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use ordered_float::OrderedFloat;

/// Whether a terminal obeys `c` in place of showing it: control characters but for line breaks and
/// tabs, marks of direction, which can make a line read as another, and separators of lines.
pub fn is_obeyed(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => true,
        c => c.is_control(),
    }
}

/// Whether `c` has no place within a line of text: [`is_obeyed`], line breaks and tabs.
pub fn is_unfit_in_line(c: char) -> bool {
    is_obeyed(c) || c == '\n' || c == '\t'
}

/// `text` with terminal control characters escaped: `\u{1b}`. Letters of every script stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// `text` as part of a line: like [`shown`], and line breaks and tabs are written out, too.
pub fn in_line(text: &str) -> String {
    shown(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// `text` as a cell of a table: like [`in_line`], and with an apostrophe before what a spreadsheet would take for a
/// formula.
pub fn in_cell(text: &str) -> String {
    let text = in_line(text);
    if begins_formula(&text) { format!("'{text}") } else { text }
}

/// `text` without what has no place in a line, each run of which becomes a blank.
pub fn in_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || is_unfit_in_line(c));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a spreadsheet takes a cell with this text for a formula.
fn begins_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@'])
}

/// Bold type on and off, as tables write them.
const STYLES: [&str; 2] = ["\u{1b}[1m", "\u{1b}[0m"];

/// `text` with everything that a terminal would obey written out, but for bold type.
pub fn shown_styled(text: &str) -> String {
    let mut parts = vec![text];
    for style in STYLES {
        parts = parts.into_iter().flat_map(|part| part.split_inclusive(style)).collect();
    }
    let part = |part: &str| match STYLES.iter().find_map(|style| part.strip_suffix(style)) {
        Some(text) => shown(text).into_owned() + &part[text.len()..],
        None => shown(part).into_owned(),
    };
    parts.into_iter().map(part).collect()
}

/// Whether `text` can be the name of something: results carry names into terminals and spreadsheets,
/// and a spreadsheet takes a cell that begins with one of `= + - @` for a formula.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && !begins_formula(text) && !text.contains(is_unfit_in_line)
}

/// Rule of [`is_name`], for messages.
pub const NAME_RULE: &str =
    "a name has no control characters or marks of direction and does not begin with =, +, - or @";

/// A count with its noun: `1 panel`, `2 panels`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Start of a scheduler in another process, after the name that it may be given; its command follows.
pub const EXTERNAL: &str = "external:";

/// Whether a list of values begins with a scheduler in another process, whose command goes to the end of the list:
/// `external:COMMAND` or `NAME=external:COMMAND`.
pub fn is_external(list: &str) -> bool {
    let list = list.trim_start();
    // After a comma begins another value.
    let named = list.split_once('=').filter(|(name, _)| !name.contains(','));
    list.starts_with(EXTERNAL)
        || named.is_some_and(|(_, command)| command.trim_start().starts_with(EXTERNAL))
}

/// Whether a piece of a list is one more parameter of the value before: `beta=2` after `dream:alpha=1`, but not
/// `mine=external:COMMAND`.
pub fn is_parameter(piece: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, _) = piece.split_once('=').unwrap_or_default();
    let name = name.trim();
    !name.is_empty() && name.chars().all(in_name) && !is_external(piece)
}

/// Places of the pieces of a list between commas. The command of a scheduler in another process goes to the end.
pub fn pieces(list: &str) -> impl Iterator<Item = Range<usize>> {
    let mut next = Some(0);
    iter::from_fn(move || {
        let start = next?;
        let rest = &list[start..];
        let length = rest.find(',').filter(|_| !is_external(rest));
        next = length.map(|length| start + length + 1);
        Some(start..length.map_or(list.len(), |length| start + length))
    })
}

/// Values of lists between commas, each with its parameters.
pub fn listed(lists: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for list in lists {
        for (at, place) in pieces(list).enumerate() {
            let piece = &list[place];
            match found.last_mut().filter(|_| at > 0 && is_parameter(piece)) {
                Some(last) => *last += &format!(",{piece}"),
                None => found.push(piece.into()),
            }
        }
    }
    found
}

/// `value` for a file: the shortest text that reads back to the same value.
pub fn cell(value: f64) -> String {
    let plain = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}

/// Longest name that others are compared with \[byte\]; a longer one is no slip.
const MAX_COMPARED: usize = 64;

/// The candidate most similar to `name` without regard to case, if one is similar enough to be a
/// likely slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_COMPARED {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known = candidate.to_lowercase();
            let similarity = strsim::jaro_winkler(&folded, &known);
            (similarity > 0.75 && is_slip(&folded, &known)).then_some((similarity, candidate))
        })
        .max_by_key(|&(similarity, _)| OrderedFloat(similarity))
        .map(|(_, candidate)| candidate)
}

/// Whether part of `name` matches `known`, or one begins with the other. A word that differs in every
/// letter was meant to be another one.
fn is_slip(name: &str, known: &str) -> bool {
    let distance = strsim::damerau_levenshtein(name, known);
    let shorter = name.chars().count().min(known.chars().count());
    let begins = |long: &str, short: &str| shorter >= 2 && long.starts_with(short);
    distance < shorter || begins(known, name) || begins(name, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_out_and_letters_stay() {
        assert_eq!(shown("Größe 日本 عربي\n\tok"), "Größe 日本 عربي\n\tok");
        assert_eq!(shown("a\u{1b}[31mb\0\r"), "a\\u{1b}[31mb\\u{0}\\u{d}");
        assert_eq!(shown("x\u{202e}y\u{2066}\u{200f}"), "x\\u{202e}y\\u{2066}\\u{200f}");
        assert_eq!(shown("\u{9b}31m\u{7f}"), "\\u{9b}31m\\u{7f}");
    }

    #[test]
    fn bold_type_of_tables_stays_and_a_part_of_a_line_has_one_line() {
        let bold = "\u{1b}[1mbold\u{1b}[0m";
        let text = format!("{bold} a\u{1b}[31mb\n{bold}\u{202e}");
        assert_eq!(shown_styled(&text), format!("{bold} a\\u{{1b}}[31mb\n{bold}\\u{{202e}}"));
        assert_eq!(in_line("a\tb\nc\u{1b}é"), "a\\tb\\nc\\u{1b}é");
    }

    #[test]
    fn cells_are_no_formulas_and_titles_are_lines() {
        for (text, cell) in
            [("=1+1", "'=1+1"), ("@a", "'@a"), ("a=1", "a=1"), ("\t=1", "\\t=1"), ("", "")]
        {
            assert_eq!(in_cell(text), cell);
        }
        assert_eq!(in_one_line("\n a\n\u{1b}[0m  evil: yes\u{202e}"), "a [0m evil: yes");
    }

    #[test]
    fn names_are_neither_formulas_nor_orders() {
        for name in ["KD", "日本", "my system (2)", "WS:3 + OS:1", "3=3", "a-b"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "=1+1", "+x", "-x", "@x", "\tx", "\rx", "a\nb", "a\u{1b}b", "a\u{202e}b"] {
            assert!(!is_name(text), "{text:?}");
        }
    }

    #[test]
    fn a_cell_reads_back_to_the_same_number() {
        for value in [0.0, 0.1, -3.5, 1e-7, 1.0 / 3.0, 6.02e23, f64::MIN_POSITIVE] {
            assert_eq!(cell(value).parse(), Ok(value));
        }
    }

    #[test]
    fn a_word_that_shares_no_more_than_a_letter_is_no_slip() {
        assert_eq!(nearest("foo", ["F", "A"]), None);
        assert_eq!(nearest("fx", ["F"]), None);
        assert_eq!(nearest("KDD", ["KD", "AS"]), Some("KD"));
        assert_eq!(nearest("ar_gamin", ["AR_gaming", "VR_gaming"]), Some("AR_gaming"));
        assert_eq!(nearest("outdoor", ["outdoor_activity_A"]), Some("outdoor_activity_A"));
    }

    #[test]
    fn lists_keep_parameters_and_commands_whole() {
        let of =
            |texts: &[&str]| listed(&texts.iter().map(|it| it.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["edf,rm", "sjf"]), ["edf", "rm", "sjf"]);
        assert_eq!(
            of(&["dream:alpha=1,beta=2,edf:admission=hopeless,rm"]),
            ["dream:alpha=1,beta=2", "edf:admission=hopeless", "rm"]
        );
        assert_eq!(
            of(&["edf,external:a 'b,c',timeout_ms=5"]),
            ["edf", "external:a 'b,c',timeout_ms=5"]
        );
        assert_eq!(
            of(&["edf:placement=edp,mine=external:a b,c"]),
            ["edf:placement=edp", "mine=external:a b,c"]
        );
        assert_eq!(
            of(&["PD:regions=100,detections=10,KD"]),
            ["PD:regions=100,detections=10", "KD"]
        );
        // The parser says what is wrong with these.
        assert_eq!(of(&["a=1,edf", "", "edf,"]), ["a=1", "edf", "", "edf", ""]);
    }
}

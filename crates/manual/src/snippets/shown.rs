//! What a page shows against what a command prints.

/// Stands for anything that is printed.
const ANYTHING: &str = "...";

/// Whether `printed` is what `shown` says; `...` stands for anything there.
pub(super) fn is_as_shown(shown: &str, printed: &str) -> bool {
    let parts: Vec<_> = shown.split(ANYTHING).collect();
    let [first, middle @ .., last] = &parts[..] else { return shown == printed };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Lines that differ: those between the first and the last difference, as `-` shown and `+` printed.
pub(super) fn difference(shown: &str, printed: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (shown.lines().collect(), printed.lines().collect());
    let same = |(a, b): &(&&str, &&str)| is_as_shown(a, b);
    let before = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[before..], &new[before..]);
    let after = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let lines = |sign: &str, lines: &[&str]| -> String {
        lines.iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    lines("-", &old[..old.len() - after]) + &lines("+", &new[..new.len() - after])
}

/// `printed` with the omissions of `shown`, as far as the lines beside them are still printed.
pub(super) fn updated(shown: &str, printed: &str) -> String {
    let mut rest: Vec<_> = printed.split_inclusive('\n').collect();
    let mut text = String::new();
    let old: Vec<_> = shown.split_inclusive('\n').collect();
    for (index, line) in old.iter().enumerate() {
        if line.trim_end() == ANYTHING {
            let next = old.get(index + 1);
            let resumed = next
                .map_or(Some(rest.len()), |next| rest.iter().position(|it| is_as_shown(next, it)));
            if let Some(n_left_out) = resumed {
                rest.drain(..n_left_out);
                text += line;
            }
        } else if line.contains(ANYTHING) && rest.first().is_some_and(|it| is_as_shown(line, it)) {
            rest.remove(0);
            text += line;
        } else if !rest.is_empty() {
            text += rest.remove(0);
        }
    }
    text.extend(rest);
    match is_as_shown(&text, printed) {
        true => text,
        false => printed.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_anything() {
        assert!(is_as_shown("a\n", "a\n"));
        assert!(!is_as_shown("a\n", "a\nb\n"));
        assert!(is_as_shown("runs in ...\n", "runs in 0.4 s\n"));
        assert!(is_as_shown("a\n...\nd\n...", "a\nb\nc\nd\ne\n"));
        assert!(!is_as_shown("a ... b ... c", "a b c"));
        assert!(!is_as_shown("a...a", "a"), "the ends do not overlap");
    }

    #[test]
    fn a_difference_leaves_out_equal_lines_around_it() {
        assert_eq!(difference("a\nb\nin ...\n", "a\nc\nd\nin 3 s\n"), "-b\n+c\n+d\n");
    }

    #[test]
    fn an_update_keeps_what_is_left_out() {
        assert_eq!(updated("a 1\n...\n", "a 2\nb\nc\n"), "a 2\n...\n");
        assert_eq!(updated("a 1\nin ...\n", "a 2\nin 3 s\n"), "a 2\nin ...\n");
        assert_eq!(updated("a 1\n...\nz\n", "a 2\nb\nz\n"), "a 2\n...\nz\n");
        assert_eq!(updated("a 1\n...\ny\n", "a 2\nb\nz\n"), "a 2\nb\nz\n");
        assert_eq!(updated("a 1\nb\n", "a 2\n"), "a 2\n");
    }
}

//! Several files as one text, so that every input is one file:
//!
//! ```text
//! ==> scores.csv <==
//! scenario,system
//! ==> run.json <==
//! {}
//! ```

use super::random::Random;

/// Name and contents of every file.
pub fn split(text: &str) -> Vec<(&str, &str)> {
    let mut files = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = header(rest) {
        let next = after.find("\n==> ").map_or(after.len(), |at| at + 1);
        files.push((name, &after[..next]));
        rest = &after[next..];
    }
    files
}

/// The text of `files`.
pub fn join<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let file = |(name, text): (&str, &str)| {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("==> {name} <==\n{text}{end}")
    };
    files.into_iter().map(file).collect()
}

/// The bundle with one of its files changed by `change`. The largest file is not chosen too often.
pub fn change_one(
    text: &str,
    random: &mut Random,
    change: impl FnOnce(&str, &str, &mut Random) -> String,
) -> String {
    let files = split(text);
    if files.is_empty() {
        return text.into();
    }
    let at = random.below(files.len());
    let changed = change(files[at].0, files[at].1, random);
    join(
        files.iter().enumerate().map(|(index, &(name, text))| {
            (name, if index == at { changed.as_str() } else { text })
        }),
    )
}

fn header(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("==> ")?.split_once(" <==\n")
}

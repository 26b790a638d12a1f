//! Paragraphs that stand in two places: one of them is a copy that nobody keeps true.

use std::collections::BTreeMap;
use std::error::Error;

use crate::repository::Repository;

/// Words from which on a paragraph is compared; shorter ones are often phrases.
const WORDS: usize = 15;

/// Compares the paragraphs of all pages and README files. Prints those that come twice. Returns whether there
/// are none.
///
/// # Errors
///
/// An error if a page cannot be read.
pub(crate) fn check(repository: &Repository) -> Result<bool, Box<dyn Error>> {
    let mut pages = Vec::new();
    for path in repository.pages()? {
        pages.push((path.display().to_string(), repository.read(&path)?));
    }
    let found = repeated(pages.iter().map(|(name, text)| (&**name, &**text)));
    for (first, second, start) in &found {
        println!("FAILED  {second}: the paragraph stands in {first} too: {start} ...");
    }
    Ok(found.is_empty())
}

/// Places of paragraphs that come twice, with their first words.
fn repeated<'a>(pages: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String, String)> {
    let mut seen = BTreeMap::new();
    let mut found = Vec::new();
    for (name, text) in pages {
        for (line, words) in paragraphs(text) {
            let here = format!("{name}:{line}");
            let start = words[..5].join(" ");
            match seen.get(&words) {
                Some(first) => found.push((String::clone(first), here, start)),
                None => drop(seen.insert(words, here)),
            }
        }
    }
    found
}

/// Paragraphs outside of code and tables, as their first line and their words.
fn paragraphs(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut paragraphs = Vec::new();
    let (mut first, mut words, mut is_code) = (0, Vec::new(), false);
    for (index, line) in text.lines().chain([""]).enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        let is_prose =
            !is_code && !is_fence && !line.starts_with(['|', '#', '<']) && !line.trim().is_empty();
        is_code ^= is_fence;
        if is_prose {
            if words.is_empty() {
                first = index + 1;
            }
            words.extend(line.split_whitespace());
        } else if words.len() >= WORDS {
            paragraphs.push((first, std::mem::take(&mut words)));
        } else {
            words.clear();
        }
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_that_comes_twice_is_found_and_code_is_not() {
        let long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
        let first = format!("# Title\n\n{long}\n\n```sh\n{long}\n```\n");
        let second = format!("short words\n\n{}\n", long.replace(" eight ", "\neight "));
        let found = repeated([("a.md", &*first), ("b.md", &*second)].into_iter());
        assert_eq!(found, [("a.md:3".into(), "b.md:3".into(), "one two three four five".into())]);
    }
}

//! Blocks of code of a page.

use std::ops::Range;

/// First words of a block that is not run.
pub(super) const NEEDS: &str = "# needs ";

/// First line of a block that runs in a copy of the repository.
const IN_REPOSITORY: &str = "# in this repository";

/// Start of a command in a transcript.
const PROMPT: &str = "$ ";

/// A fenced block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Line of its fence, from 1.
    pub(super) line: usize,
    /// Words after the fence: the language and `name=value`.
    info: &'a str,
    /// Content, with the last line break.
    pub(super) text: &'a str,
    /// Place of the content in the page \[byte\].
    pub(super) range: Range<usize>,
}

impl<'a> Block<'a> {
    /// The language; empty without one.
    pub(super) fn language(&self) -> &'a str {
        self.info.split_whitespace().next().unwrap_or_default()
    }

    /// The value of a word `name=value` after the fence.
    pub(super) fn option(&self, name: &str) -> Option<&'a str> {
        let values = self.info.split_whitespace().filter_map(|word| word.split_once('='));
        values.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }

    /// What the block needs, if it is not run.
    pub(super) fn needs(&self) -> Option<&'a str> {
        let first = self.text.lines().next()?;
        first.starts_with(NEEDS).then(|| first.trim_start_matches("# "))
    }

    /// Whether the block runs in a copy of the repository.
    pub(super) fn is_in_repository(&self) -> bool {
        self.text.starts_with(IN_REPOSITORY)
    }

    /// Whether the block is commands with what they print.
    pub(super) fn is_transcript(&self) -> bool {
        self.language() == "text" && self.body().starts_with(PROMPT)
    }

    /// Whether the block has commands in another place than its start.
    pub(super) fn has_late_commands(&self) -> bool {
        let is_command = |line: &str| line.starts_with(PROMPT);
        self.language() == "text" && !self.is_transcript() && self.text.lines().any(is_command)
    }

    /// Whether the block is an input file.
    pub(super) fn is_input_file(&self) -> bool {
        let key = self.text.split_once(':').map_or("", |(key, _)| key);
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        self.language() == "yaml" && !key.is_empty() && key.chars().all(is_name)
    }

    /// The content without the line that says where it runs.
    pub(super) fn body(&self) -> &'a str {
        match self.is_in_repository() {
            true => self.text.split_once('\n').map_or("", |(_, rest)| rest),
            false => self.text,
        }
    }

    /// The line that says where the block runs, with its line break; mostly empty.
    pub(super) fn head(&self) -> &'a str {
        &self.text[..self.text.len() - self.body().len()]
    }

    /// Pairs of a command and what it prints. A backslash at the end of a line continues a command.
    pub(super) fn commands(&self) -> Vec<(&'a str, &'a str)> {
        let body = self.body();
        let mut pairs: Vec<(Range<usize>, usize)> = Vec::new();
        let (mut at, mut goes_on) = (0, false);
        for line in body.split_inclusive('\n') {
            let end = at + line.len();
            match pairs.last_mut() {
                Some((command, shown_end)) if goes_on => (command.end, *shown_end) = (end, end),
                _ if line.starts_with(PROMPT) => pairs.push((at + PROMPT.len()..end, end)),
                Some((_, shown_end)) => *shown_end = end,
                None => {}
            }
            let is_command = pairs.last().is_some_and(|(command, _)| command.end == end);
            goes_on = is_command && line.ends_with("\\\n");
            at = end;
        }
        let pair = |(command, end): (Range<usize>, usize)| {
            (&body[command.clone()], &body[command.end..end])
        };
        pairs.into_iter().map(pair).collect()
    }

    /// Number of commands in a script: lines that are neither empty nor comments nor continuations.
    pub(super) fn n_lines(&self) -> usize {
        let mut goes_on = false;
        let is_command = |line: &str| {
            let starts = !goes_on && !line.trim().is_empty() && !line.trim_start().starts_with('#');
            goes_on = line.ends_with('\\');
            starts
        };
        self.body().lines().map(is_command).filter(|it| *it).count()
    }
}

/// Every block of a page whose fence begins its line, in order.
pub(super) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, &str, &str, usize)> = None;
    let mut at = 0;
    for (index, line) in page.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match open {
            None if ticks.len() >= 3 => {
                open = Some((index + 1, ticks, line[ticks.len()..].trim(), end))
            }
            Some((line_number, fence, info, start)) if line.trim_end() == fence => {
                let range = start..at;
                blocks.push(Block { line: line_number, info, text: &page[range.clone()], range });
                open = None;
            }
            _ => {}
        }
        at = end;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
Words.

```sh
# comment
one \\
  more
two
```

```text fails=2
# in this repository
$ first \\
    --on
printed
$ second
```

````yaml file=a.yaml
sweep:
```
````
```text
a diagram
```
```text
words
$ late
```
```sh
# needs a cat
purr
```
";

    #[test]
    fn blocks_have_their_lines_languages_and_options() {
        let found = blocks(PAGE);
        let heads: Vec<_> = found.iter().map(|it| (it.line, it.language())).collect();
        assert_eq!(
            heads,
            [(3, "sh"), (10, "text"), (18, "yaml"), (22, "text"), (25, "text"), (29, "sh")]
        );
        assert_eq!(found[1].option("fails"), Some("2"));
        assert_eq!(found[2].option("file"), Some("a.yaml"));
        assert_eq!(found[2].text, "sweep:\n```\n");
        assert!(found[2].is_input_file());
        assert!(found.iter().all(|it| &PAGE[it.range.clone()] == it.text));
        assert_eq!(found[5].needs(), Some("needs a cat"));
        assert_eq!(found[0].n_lines(), 2);
    }

    #[test]
    fn a_transcript_is_commands_with_what_they_print() {
        let found = blocks(PAGE);
        assert!(found[1].is_transcript() && found[1].is_in_repository());
        let pairs = found[1].commands();
        assert_eq!(pairs, [("first \\\n    --on\n", "printed\n"), ("second\n", "")]);
        assert_eq!(found[1].head(), "# in this repository\n");
        assert!(!found[3].is_transcript() && !found[3].has_late_commands());
        assert!(found[4].has_late_commands());
    }
}

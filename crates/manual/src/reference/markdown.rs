//! Markdown of the pages.

use std::fmt::Write as _;

/// A page that is being written.
pub(super) struct Page {
    text: String,
}

impl Page {
    /// A page with its title and its first paragraph.
    pub(super) fn new(title: &str, summary: &str) -> Self {
        let note =
            "<!-- Written by `cargo run -p manual -- generate`; edit its sources instead. -->";
        Self { text: format!("# {title}\n\n{note}\n\n{summary}\n") }
    }

    /// Adds a heading of a level from 2 on.
    pub(super) fn heading(&mut self, level: usize, title: &str) {
        let _ = write!(self.text, "\n{} {title}\n", "#".repeat(level));
    }

    /// Adds a paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = write!(self.text, "\n{}\n", text.trim());
    }

    /// Adds lines that stand as they are.
    pub(super) fn verbatim(&mut self, language: &str, text: &str) {
        let _ = write!(self.text, "\n```{language}\n{}\n```\n", text.trim_end());
    }

    /// Adds a table; its cells are Markdown, and `-` stands for an empty one.
    pub(super) fn table(&mut self, header: &[&str], rows: &[Vec<String>]) {
        let _ =
            write!(self.text, "\n| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
        for row in rows {
            let cells: Vec<_> = row.iter().map(|it| if it.is_empty() { "-" } else { it }).collect();
            let _ = writeln!(self.text, "| {} |", cells.join(" | "));
        }
    }

    /// The whole page.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Plain text in one line; what is between backticks stays code.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            plain.push('`');
        }
        let is_code = index % 2 == 1;
        for it in part.chars() {
            match it {
                '\n' => plain.push(' '),
                '|' => plain.push_str("\\|"),
                '<' if !is_code => plain.push_str("&lt;"),
                '*' | '_' | '[' | ']' if !is_code => {
                    plain.push('\\');
                    plain.push(it);
                }
                it => plain.push(it),
            }
        }
    }
    plain
}

/// Code in a cell; empty text stays empty.
pub(super) fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("`{}`", text.replace('|', "\\|")),
    }
}

/// Text that ends in a full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', ':', '!', '?']) {
        true => plain(text),
        false => format!("{}.", plain(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_its_meaning_in_markdown() {
        assert_eq!(plain("a|b <c> *d* `<e>|f`\n[g]"), "a\\|b &lt;c> \\*d\\* `<e>\\|f` \\[g\\]");
        assert_eq!(code("N|FILE"), "`N\\|FILE`");
        assert_eq!(sentence("Seed"), "Seed.");
    }
}

//! The page of words on the site: each term is a heading, because the search ranks headings above text.

/// First line of a table of terms.
const HEADER: &str = "| term | meaning |";

/// `text` with the rows of its tables of terms as headings, each with its meaning below.
pub(super) fn entries(text: &str) -> String {
    let mut written = String::new();
    let mut is_table = false;
    for line in text.lines() {
        if line == HEADER {
            is_table = true;
            written += "<div class=\"glossary\">\n";
            continue;
        }
        match (is_table, cells(line)) {
            (true, Some((term, _))) if term.starts_with("---") => {}
            (true, Some((term, meaning))) => written += &format!("\n### {term}\n\n{meaning}\n"),
            (true, None) => {
                is_table = false;
                written += &format!("\n</div>\n{line}\n");
            }
            (false, _) => written += &format!("{line}\n"),
        }
    }
    if is_table {
        written += "\n</div>\n";
    }
    written
}

/// Both cells of a row.
fn cells(line: &str) -> Option<(&str, &str)> {
    let row = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let (term, meaning) = row.split_once('|')?;
    Some((term.trim(), meaning.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_terms_become_headings_and_other_tables_stay() {
        let text = "# Words\n\n| term | meaning |\n|---|---|\n| late | After it. |\n\n| a | b |\n|---|---|\n| c | d |\n";
        let expected = "# Words\n\n<div class=\"glossary\">\n\n### late\n\nAfter it.\n\n</div>\n\n| a | b |\n|---|---|\n| c | d |\n";
        assert_eq!(entries(text), expected);
    }
}

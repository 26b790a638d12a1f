//! LaTeX tables: `tabular` environments that need the package booktabs and nothing else.

use super::table::Grid;

/// The table, with `notes` as comments above it. A line separates rows that differ in the first column, if it has
/// equal cells in a row.
pub(crate) fn tabular(grid: &Grid, notes: &[String]) -> String {
    let mut text = String::new();
    for note in notes.iter().flat_map(|note| note.lines()) {
        // A line break would end the comment.
        text.push_str(&format!("% {}\n", note.replace(char::is_control, " ")));
    }
    text.push_str("% needs \\usepackage{booktabs}\n");
    let alignment: String = grid.is_text.iter().map(|is| if *is { 'l' } else { 'r' }).collect();
    text.push_str(&format!("\\begin{{tabular}}{{{alignment}}}\n\\toprule\n"));
    text.push_str(&line(&grid.header));
    text.push_str("\\midrule\n");
    let is_grouped = grid.rows.windows(2).any(|pair| pair[0].first() == pair[1].first());
    let mut before: Option<&String> = None;
    for row in &grid.rows {
        let is_same = before.is_some() && before == row.first();
        if is_grouped && before.is_some() && !is_same {
            text.push_str("\\midrule\n");
        }
        match is_grouped && is_same {
            true => text.push_str(&line(&[&[String::new()], &row[1..]].concat())),
            false => text.push_str(&line(row)),
        }
        before = row.first();
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|it| cell(it)).collect();
    format!("{} \\\\\n", cells.join(" & "))
}

/// A cell: a number with signs of mathematics, or escaped text.
fn cell(text: &str) -> String {
    match text.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        Some(number) => format!("$-${}", escaped(number)),
        None if text == "-" => "--".into(),
        None => escaped(text),
    }
}

/// Text in which nothing is a command of LaTeX. Letters beyond Latin-1, which the default fonts lack, become `?`.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.replace(" +- ", " ± ").chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => escaped.extend(['\\', c]),
            '<' | '>' | '|' => escaped.push_str(&format!("${c}$")),
            '"' => escaped.push_str("''"),
            '±' => escaped.push_str("$\\pm$"),
            'µ' => escaped.push_str("$\\mu$"),
            '×' => escaped.push_str("$\\times$"),
            '−' => escaped.push_str("$-$"),
            ' '..='~' => escaped.push(c),
            '\u{a1}'..='\u{ff}' if c.is_alphabetic() => escaped.push(c),
            c if c.is_whitespace() => escaped.push(' '),
            _ => escaped.push('?'),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_a_command() {
        assert_eq!(
            escaped(r"a_b & 50% of #1 {x} ~ ^ $\end"),
            concat!(
                r"a\_b \& 50\% of \#1 \{x\} \textasciitilde{} \textasciicircum{} \$",
                r"\textbackslash{}end"
            )
        );
        assert_eq!(escaped("0.5 +- <0.0001"), r"0.5 $\pm$ $<$0.0001");
        assert_eq!(escaped("Zoë\n目\u{7}"), "Zoë ??");
        assert_eq!(
            (cell("-0.5"), cell("-"), cell("-x")),
            ("$-$0.5".into(), "--".into(), "-x".into())
        );
    }

    #[test]
    fn a_table_has_rules_and_a_line_between_groups() {
        let text = |cells: &[&str]| cells.iter().map(|it| (*it).to_string()).collect::<Vec<_>>();
        let grid = Grid {
            header: text(&["scenario", "scheduler", "score"]),
            is_text: vec![true, true, false],
            rows: vec![text(&["a", "x", "1"]), text(&["a", "y", "2"]), text(&["b", "x", "3"])],
        };
        let expected = "% note\n% needs \\usepackage{booktabs}\n\\begin{tabular}{llr}\n\\toprule\n\
                        scenario & scheduler & score \\\\\n\\midrule\na & x & 1 \\\\\n & y & 2 \\\\\n\
                        \\midrule\nb & x & 3 \\\\\n\\bottomrule\n\\end{tabular}\n";
        assert_eq!(tabular(&grid, &["note".into()]), expected);
    }
}

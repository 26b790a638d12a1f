//! Page of an explanation, from the files of `xrsim explain --out`: the lines of the terminal, and the tables.

use serde::Deserialize;

use crate::why::TABLES;
use crate::words::capitalised;

use super::article::{Article, Section};
use super::comparison::{Table, problem};
use super::sweep::facts;
use super::{ReadError, Source};

/// The files of an explanation.
#[derive(Debug, Clone)]
pub struct ExplainFiles<'a> {
    /// `explain.json`.
    pub record: Source<'a>,
    /// The tables of the folder, with their names.
    pub tables: Vec<(&'static str, Source<'a>)>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// What the page takes from the record.
#[derive(Deserialize)]
struct Record {
    explains: String,
    told: Vec<Part>,
}

/// Lines or a table, as [`Told::parts`](crate::why::Told::parts) writes them.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    title: String,
    #[serde(default)]
    lines: Vec<String>,
    #[serde(default)]
    answer: bool,
    table: Option<String>,
    by: Option<String>,
    most: Option<usize>,
}

/// Page of an explanation, and the number of its tables.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim explain --out`.
pub fn explain_page(files: &ExplainFiles<'_>) -> Result<(String, usize), ReadError> {
    let record: Record = serde_json::from_str(files.record.text)
        .map_err(|error| problem(files.record, error.line(), error.to_string()))?;
    let mut answers = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut n_tables = 0;
    for part in &record.told {
        match &part.table {
            Some(name) => {
                add_table(&mut sections, files, part, name)?;
                n_tables += 1;
            }
            None if part.answer => answers.extend(part.lines.iter().map(|it| sentence(it))),
            None => add_lines(&mut sections, part),
        }
    }
    let article = Article {
        title: record.explains,
        summary: answers.join(" "),
        command: files.command.map(String::from),
        sections,
        facts: facts(files.record.text),
    };
    Ok((article.page(), n_tables))
}

fn sentence(line: &str) -> String {
    let line = capitalised(line);
    if line.ends_with('.') { line } else { line + "." }
}

/// Adds lines to the section before them.
fn add_lines(sections: &mut Vec<Section>, part: &Part) {
    if sections.is_empty() {
        sections.push(Section::new("explanation", "Explanation", ""));
    }
    let Some(section) = sections.last_mut() else { return };
    let titled = |line: &String| match &*part.title {
        "" => sentence(line),
        title => format!("{title}: {line}"),
    };
    section.points.extend(part.lines.iter().map(titled));
}

/// Adds a table to its section.
fn add_table(
    sections: &mut Vec<Section>,
    files: &ExplainFiles<'_>,
    part: &Part,
    name: &str,
) -> Result<(), ReadError> {
    let known = TABLES.iter().find(|it| it.file == name);
    let source = files.tables.iter().find(|(file, _)| *file == name);
    let (Some(kind), Some((_, source))) = (known, source) else {
        return Err(problem(files.record, 1, format!("`{name}` is no table of this folder")));
    };
    let mut table = Table::read(*source, &[])?;
    if let (Some(by), Some(most)) = (&part.by, part.most) {
        let at = table.place(by).ok_or_else(|| {
            problem(*source, 1, format!("no column `{by}`, by which the page sorts"))
        })?;
        let size = |row: &Vec<String>| row[at].parse::<f64>().unwrap_or(0.0);
        table.rows.sort_by(|a, b| size(b).total_cmp(&size(a)));
        table.rows.truncate(most);
    }
    let (caption, lead) = part.title.split_once(", ").unwrap_or((&part.title, ""));
    if sections.last().is_none_or(|it| it.id != kind.id) {
        // The half of an interval is in no file.
        let lead = lead.split(';').next().unwrap_or_default();
        let lead = if lead.is_empty() { String::new() } else { sentence(lead) };
        sections.push(Section::new(kind.id, kind.heading, &lead));
    }
    // The landmarks of a page have different names.
    let caption = match caption.is_empty() || caption.eq_ignore_ascii_case(kind.heading) {
        true => &format!("{}, {}", kind.heading, kind.file),
        false => caption,
    };
    if let Some(section) = sections.last_mut() {
        section.add(caption, &(table.header, table.rows));
    }
    Ok(())
}

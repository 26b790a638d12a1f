//! Page of a search, from the files of `xrsim search --out`: the answers with their proofs, fronts, and every system
//! that was simulated.

use serde_json::Value;

use xrsim_figures::{Caption, Quantity, Scatter, ScatterPoint, ScatterSeries, Spacing};
use xrsim_model::text::counted;
use xrsim_search as search;
use xrsim_sim::sweep::pareto;

use crate::table::Columns;
use crate::words;

use super::article::{Article, Section};
use super::comparison::Table;
use super::sweep::facts;
use super::{ReadError, Source};

/// The files of a search.
#[derive(Debug, Clone, Copy)]
pub struct SearchFiles<'a> {
    /// `search.json`.
    pub record: Source<'a>,
    /// `answers.csv`.
    pub answers: Source<'a>,
    /// `evaluated.csv`.
    pub evaluated: Source<'a>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// Most systems in the table of a question.
const MAX_ROWS: usize = 2000;

/// Page of a search, and the number of its questions.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim search --out`.
pub fn search_page(files: &SearchFiles<'_>) -> Result<(String, usize), ReadError> {
    let first = ["question", "system", "scheduler"];
    let answers = Table::read(files.answers, &first)?;
    let evaluated = Table::read(files.evaluated, &first)?;
    let record: Value = serde_json::from_str(files.record.text).unwrap_or_default();
    let questions = record["answers"].as_array().cloned().unwrap_or_default();
    let mut sections = vec![summary(&questions, &answers)];
    for (index, question) in questions.iter().enumerate() {
        sections.push(section(index, question, &answers, &evaluated));
    }
    let name = record["name"].as_str().unwrap_or("search");
    let first = questions.first().map(|it| best(it, &answers));
    let article = Article {
        title: format!("Search {name}"),
        summary: match (questions.len(), first) {
            (1, Some(best)) => best,
            (n, _) => format!("{}: the best systems are below.", counted(n, "question")),
        },
        command: files.command.map(String::from),
        sections,
        facts: facts(files.record.text),
    };
    Ok((article.page(), questions.len()))
}

/// The best system of every question.
fn summary(questions: &[Value], answers: &Table) -> Section {
    let lead = "The best system of every question. Bounds are values that no system of the space exceeds, under any \
                scheduler or under schedulers that keep a request where it began.";
    let mut section = Section::new("answers", "Answers", lead);
    let best = |question: &Value, column: Option<usize>| -> String {
        let name = text(&question["question"]);
        let best = answers.rows.iter().find(|row| row[0] == name);
        best.zip(column).map_or(String::new(), |(row, at)| row[at].clone())
    };
    let value = |it: &Value| best(it, answers.place(objective(it, 0)));
    let simulated = |it: &Value| {
        let count = |name: &str| it["counts"][name].as_u64().unwrap_or(0);
        count("simulated") + count("partly_simulated")
    };
    let gap = |it: &Value| it["gap"].as_f64().map_or(String::new(), |it| (100.0 * it).to_string());
    let table = Columns::<&Value>::new()
        .text("question", |it| text(&it["question"]))
        .number("value", |it| value(it))
        .number("half_width", |it| best(it, answers.place("half_width")))
        .text("system", |it| best(it, Some(1)))
        .text("scheduler", |it| best(it, Some(2)))
        .text("stop", |it| text(&it["stop"]))
        .number("gap_percent", |it| gap(it))
        .number("certificate_keeping", |it| text(&it["certificate_keeping"]))
        .number("certificate", |it| text(&it["certificate"]))
        .number("simulated", |it| simulated(it))
        .number("systems", |it| text(&it["counts"]["systems"]))
        .number("area_mm2", |it| best(it, answers.place("area_mm2")));
    section.add("Best systems", &table.of(questions).into_rows());
    section
}

/// The first system of the answer of a question, in a sentence.
fn best(question: &Value, answers: &Table) -> String {
    let name = text(&question["question"]);
    let Some(row) = answers.rows.iter().find(|row| row[0] == name) else {
        return "No system is the answer.".into();
    };
    let number = |name: &str| -> Option<f64> { row[answers.place(name)?].parse().ok() };
    let first = objective(question, 0);
    let shown = |name: &str| number(name).map(|value| words::spoken(name, &short(value)));
    let half = number("half_width").map_or(String::new(), |it| format!(" ± {}", short(it)));
    let area = shown("area_mm2").filter(|_| first != "area_mm2");
    let parts = [shown(first).map(|it| it + &half), area].into_iter().flatten();
    let n_found = question["found"].as_array().map_or(0, Vec::len);
    let head = match (question["objectives"].as_array().map_or(0, Vec::len), n_found) {
        (0 | 1, _) => "The best system is".to_string(),
        (_, n) => format!("{} on the front; the first is", counted(n, "system")),
    };
    let parts = parts.collect::<Vec<_>>().join(", ");
    let under = if row[2].is_empty() { String::new() } else { format!(" under {}", row[2]) };
    format!("{head} {}{under}: {parts}.", row[1])
}

/// About four digits.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}

/// A value as the text of a cell; empty for nothing.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An objective of a question.
fn objective(question: &Value, at: usize) -> &str {
    question["objectives"][at].as_str().unwrap_or_default()
}

/// One question: its answer in words, the front or what was close to the best, and the simulated systems.
fn section(index: usize, question: &Value, answers: &Table, evaluated: &Table) -> Section {
    const IDS: [&str; 12] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth", "eleventh", "twelfth",
    ];
    let name = text(&question["question"]);
    let id = IDS.get(index).copied().unwrap_or("more");
    let mut section = Section::new(id, &name, &best(question, answers));
    // The first line of the text says the best system again.
    let lines = text(&question["text"]);
    let lines = lines.lines().map(str::trim).filter(|line| !line.starts_with("best "));
    section.points = lines.map(|it| words::capitalised(&words::in_text(it))).collect();
    let of_question = |table: &Table| -> Vec<Vec<String>> {
        table.rows.iter().filter(|row| row[0] == name).cloned().collect()
    };
    let (found, rows) = (of_question(answers), of_question(evaluated));
    let first = objective(question, 0);
    let second = match objective(question, 1) {
        "" => "area_mm2",
        other => other,
    };
    // One objective has no front.
    let is_front = !objective(question, 1).is_empty();
    if let Some(figure) = scatter(evaluated, &rows, first, second).filter(|_| is_front) {
        // What cannot be drawn still has its table.
        section.draw(&figure).unwrap_or_default();
    }
    let columns = [
        "system",
        first,
        "half_width",
        "scheduler",
        second,
        "energy_mj",
        "miss_ratio",
        "pes",
        "idle_pes",
    ];
    let caption = format!("Systems of the answer for {name}");
    section.add(&caption, &answers.pick(&columns, &found));
    let columns = [
        "system",
        first,
        "half_width",
        "scheduler",
        "excluded_by",
        "draws",
        second,
        "ub1_isolation",
        "ub3_linear_program",
        "bound_for",
        "energy_mj",
        "miss_ratio",
    ];
    let shown = evaluated.pick(&columns, &rows[..rows.len().min(MAX_ROWS)]);
    section.add(&format!("Simulated systems for {name}"), &shown);
    section
}

/// Systems that were simulated in all draws, in two quantities, and which of them no other one beats.
fn scatter(table: &Table, rows: &[Vec<String>], first: &str, second: &str) -> Option<Scatter> {
    let quantity = |name: &str| search::Quantity::find(name);
    let (up, right) = (quantity(first)?, quantity(second)?);
    let (at_y, at_x) = (table.place(first)?, table.place(second)?);
    let excluded = table.place("excluded_by")?;
    let complete = rows.iter().filter(|row| row[excluded].is_empty());
    let points = complete.filter_map(|row| {
        Some((row[1].clone(), row[at_x].parse::<f64>().ok()?, row[at_y].parse::<f64>().ok()?))
    });
    let points: Vec<_> = points.collect();
    let is_higher = |it: search::Quantity| it.better() == xrsim_model::column::Better::Higher;
    let cost = |it: search::Quantity, value: f64| if is_higher(it) { -value } else { value };
    let costs: Vec<_> =
        points.iter().map(|(_, x, y)| [cost(right, *x), cost(up, *y), 0.0]).collect();
    let mut front = pareto::front(&costs);
    // Schedulers that do equally well on a system are one point.
    for at in 0..points.len() {
        front[at] &= !points[..at].contains(&points[at]);
    }
    let point =
        |((name, x, y), front): ((String, f64, f64), bool)| ScatterPoint { name, x, y, front };
    let points: Vec<_> = points.into_iter().zip(front).map(point).collect();
    let axis = |it: search::Quantity| {
        let words = words::of(it.name());
        Quantity::new(words.label.into_owned(), words.unit)
    };
    (points.len() > 1).then(|| Scatter {
        caption: Caption::titled(
            "Systems that were simulated in all draws; a line joins the Pareto-optimal systems",
        ),
        x_axis: axis(right),
        x_spacing: Spacing::Linear,
        y_axis: axis(up),
        y_spacing: Spacing::Linear,
        less_x_is_better: !is_higher(right),
        series: vec![ScatterSeries { name: "systems".into(), points }],
    })
}

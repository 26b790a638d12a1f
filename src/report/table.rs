//! Tables for people: box-drawn in a terminal, aligned plain text when piped.

use std::collections::BTreeMap;

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::score::benchmark_score;

/// How tables look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Lines and bold type.
    Terminal,
    /// Spaces only, every character ASCII where the data is.
    Plain,
}

/// An empty table in `style` with a header; the first `text_columns` are left-aligned, the rest
/// right-aligned.
pub fn new_table(style: Style, header: &[&str], text_columns: usize) -> Table {
    let mut table = Table::new();
    match style {
        Style::Terminal => {
            table.load_style(presets::UTF8_HORIZONTAL_ONLY);
        }
        Style::Plain => {
            table.load_style(presets::NOTHING).force_no_tty();
        }
    }
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|name| emphasised(name, style)));
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= text_columns {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if style == Style::Plain {
            column.set_padding((0, 2));
        }
    }
    table
}

fn emphasised(text: &str, style: Style) -> Cell {
    let cell = Cell::new(text);
    match style {
        Style::Terminal => cell.add_attribute(Attribute::Bold),
        Style::Plain => cell,
    }
}

/// Renders `table` without trailing blanks, ending with a line break.
pub fn render(table: &Table) -> String {
    let mut text: String =
        table.lines().flat_map(|line| [line.trim_end().into(), "\n".to_string()]).collect();
    if text.is_empty() {
        text.push('\n');
    }
    text
}

/// One score of a table of runs, already averaged over replications.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRow {
    /// Scenario.
    pub scenario: String,
    /// System.
    pub system: String,
    /// PEs of the system.
    pub pes: u64,
    /// Columns of the detail table: real-time, energy, accuracy, QoE, score, mean over executed.
    pub scores: [f64; 6],
    /// Standard deviation of `score` over replications, if there are any.
    pub score_sd: Option<f64>,
    /// Executed, released and late requests, means over replications.
    pub executed: f64,
    /// NumFrm.
    pub released: f64,
    /// Executed after their deadline.
    pub late: f64,
    /// Energy \[mJ\].
    pub energy_mj: f64,
    /// Why there is no score.
    pub infeasible: Option<String>,
}

/// Scores of one run each, with their breakdown; `-` where there is none.
pub fn detail(rows: &[ScoreRow], style: Style) -> String {
    let header = [
        "scenario",
        "system",
        "PEs",
        "realtime",
        "energy",
        "accuracy",
        "QoE",
        "score",
        "executed mean",
        "executed",
        "released",
        "late",
        "energy mJ",
    ];
    let plus_minus = if style == Style::Terminal { "±" } else { "+-" };
    let mut table = new_table(style, &header, 2);
    for row in rows {
        let mut cells = vec![row.scenario.clone(), row.system.clone(), row.pes.to_string()];
        match &row.infeasible {
            Some(_) => cells.resize(header.len(), "-".into()),
            None => {
                for (index, value) in row.scores.iter().enumerate() {
                    cells.push(match row.score_sd {
                        Some(sd) if index == 4 => format!("{value:.3} {plus_minus} {sd:.3}"),
                        _ => format!("{value:.3}"),
                    });
                }
                for value in [row.executed, row.released, row.late, row.energy_mj] {
                    cells.push(if value.fract() == 0.0 {
                        format!("{value:.0}")
                    } else {
                        format!("{value:.1}")
                    });
                }
            }
        }
        table.add_row(cells);
    }
    render(&table)
}

/// Overall scores as a matrix: a row a system, a column a scenario, and the benchmark score
/// (Definition 16) last. The best system of a column, for each number of PEs, is marked with `*`.
pub fn matrix(rows: &[ScoreRow], style: Style) -> String {
    let mut scenarios: Vec<&str> = Vec::new();
    let mut systems: Vec<(u64, &str)> = Vec::new();
    let mut scores: BTreeMap<(u64, &str, &str), f64> = BTreeMap::new();
    for row in rows {
        if !scenarios.contains(&&*row.scenario) {
            scenarios.push(&row.scenario);
        }
        if !systems.contains(&(row.pes, &row.system)) {
            systems.push((row.pes, &row.system));
        }
        if row.infeasible.is_none() {
            scores.insert((row.pes, &row.system, &row.scenario), row.scores[4]);
        }
    }
    systems.sort_by_key(|&(pes, _)| pes);
    let column = |scenario: usize, (pes, system): (u64, &str)| -> Option<f64> {
        match scenarios.get(scenario) {
            Some(name) => scores.get(&(pes, system, name)).copied(),
            None => {
                let all: Option<Vec<f64>> = scenarios
                    .iter()
                    .map(|name| scores.get(&(pes, system, name)).copied())
                    .collect();
                all.map(|all| benchmark_score(&all))
            }
        }
    };
    let mut header = vec!["PEs", "system"];
    header.extend(&scenarios);
    header.push("XRBench score");
    let mut table = new_table(style, &header, 2);
    for (index, &system) in systems.iter().enumerate() {
        let new_size = index == 0 || systems[index - 1].0 != system.0;
        let pes =
            if new_size || style == Style::Plain { system.0.to_string() } else { String::new() };
        let mut cells = vec![Cell::new(pes), Cell::new(system.1)];
        for scenario in 0..=scenarios.len() {
            let value = column(scenario, system);
            let best = systems
                .iter()
                .filter(|other| other.0 == system.0)
                .filter_map(|&other| column(scenario, other))
                .fold(0.0, f64::max);
            cells.push(match value {
                None => Cell::new("-"),
                Some(value) if value == best && value > 0.0 => {
                    emphasised(&format!("{value:.3}*"), style)
                }
                Some(value) => Cell::new(format!("{value:.3} ")),
            });
        }
        table.add_row(cells);
    }
    render(&table)
}

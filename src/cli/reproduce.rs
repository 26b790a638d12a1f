//! `xrsim reproduce`: the figures, quotes and conclusions of the paper, under its own semantics and under
//! principled ones, side by side.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::figures::Format;
use crate::plan::Semantics;
use crate::report::table::{Style, new_table, render};
use crate::reproduce::ablation::{QuirkEffect, quirk_effects};
use crate::reproduce::costs::{self, CostSteps, MeanFactors};
use crate::reproduce::{
    Deviation, FIGURES, FigureEntry, ReproduceError, Study, Table, all_studies, conclusions,
};

use super::message::Failure;
use super::output::OutputSet;
use super::{figure, output, table_style};

/// Reproduce the figures and quotes of the paper, and compare its conclusions under each semantics.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --figure and --semantics: every figure under both semantics, the conclusions of the paper \
    under each, the effect of every quirk of the published artifact, and a comparison of the cost models.\n\n\
    Examples:\n  \
    xrsim reproduce --out plots\n  \
    xrsim reproduce --figure 5 --semantics mlsys2023 --out plots"
)]
pub(super) struct ReproduceArgs {
    /// Figure of the paper; repeat for more.
    #[arg(long, value_name = "5|6|7|8", value_parser = clap::value_parser!(u8).range(5..=8))]
    figure: Vec<u8>,
    /// Rules of the runs; repeat for both.
    #[arg(long, value_name = "SEMANTICS")]
    semantics: Vec<Semantics>,
    /// Folder for the tables, and for each figure as SVG and PNG with its data as CSV.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Record of the folder.
const RECORD: &str = "reproduce.json";

/// Draws the figures, prints their deviations from the published ones, and compares the conclusions of
/// the paper and the costs that they rest on.
///
/// # Errors
///
/// Returns a failure if the folder cannot be written to.
pub(super) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let mut set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let figures: Vec<&FigureEntry> = match &args.figure[..] {
        [] => FIGURES.iter().collect(),
        given => given.iter().filter_map(|n| FIGURES.iter().find(|it| it.number == *n)).collect(),
    };
    let semantics = match &args.semantics[..] {
        [] => &[Semantics::Mlsys2023, Semantics::Principled][..],
        given => given,
    };
    let mut deviations = Vec::new();
    for entry in &figures {
        let n_studies = if entry.depends_on_semantics { semantics.len() } else { 1 };
        for study in semantics[..n_studies].iter().map(|&semantics| Study::of(semantics)) {
            deviations.extend(reproduce(entry, &study, &mut set)?);
        }
    }
    let deviations = Deviation::table(&deviations);
    let mut text = to_text(&deviations, 3, table_style());
    write(&mut set, "deviations", deviations)?;
    if args.figure.is_empty() && args.semantics.is_empty() {
        text.push_str(&changes(&mut set)?);
    }
    set.map_or(Ok(()), |set| set.commit(RECORD, record(&figures, semantics)))?;
    output::print_text(&text)
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        match error {
            ReproduceError::Input(error) => error.into(),
            error => super::argument(error),
        }
    }
}

/// Record that makes the figures repeatable.
fn record(figures: &[&FigureEntry], semantics: &[Semantics]) -> Map<String, Value> {
    output::object(json!({
        "program": "xrsim", "version": env!("CARGO_PKG_VERSION"),
        "figures": figures.iter().map(|it| it.number).collect::<Vec<_>>(),
        "semantics": semantics.iter().map(|it| it.name()).collect::<Vec<_>>(),
    }))
}

/// Files of the output folder, if there is one.
type Out = Option<OutputSet>;

/// Makes a figure, writes it if a folder is given, and returns its deviations.
fn reproduce(entry: &FigureEntry, study: &Study, out: &mut Out) -> Result<Vec<Deviation>, Failure> {
    let reproduction = entry.reproduce(study)?;
    if let Some(set) = out {
        figure::add(set, &entry.file_stem(study), Format::ALL, &*reproduction.drawing)?;
    }
    Ok(reproduction.deviations)
}

/// Compares conclusions, quirks and cost models.
fn changes(out: &mut Out) -> Result<String, Failure> {
    let studies = all_studies()?;
    let costs = costs::compare()?;
    let effects = QuirkEffect::table(&quirk_effects()?);
    let [findings, best] = [conclusions::findings(&studies), conclusions::best_systems(&studies)];
    let style = table_style();
    let conclusions = [&findings, &best].map(|it| to_text(it, it.header.len(), style)).join("\n");
    let note = "scores of Figure 5 are one draw; the others are expected values over the triggers, and one \
                draw (seed 0) of jitter where it has an effect\n";
    let quirks = to_text(&effects, 1, style);
    let cost_text = costs_to_text(&costs, style);
    write(out, "conclusions", findings)?;
    write(out, "best_systems", best)?;
    write(out, "costs", CostSteps::table(&costs))?;
    write(out, "ablation", effects)?;
    Ok(format!("\n{conclusions}{note}\n{quirks}\n{cost_text}"))
}

/// Writes a table as CSV, if a folder is given.
fn write(out: &mut Out, name: &str, table: Table) -> Result<(), Failure> {
    out.as_mut().map_or(Ok(()), |set| set.csv(&format!("{name}.csv"), (table.header, table.rows)))
}

/// The table for a terminal, with the first `n_text` columns left-aligned.
fn to_text(table: &Table, n_text: usize, style: Style) -> String {
    let header: Vec<_> = table.header.iter().map(String::as_str).collect();
    let mut text = new_table(style, &header, n_text);
    for row in &table.rows {
        text.add_row(row);
    }
    render(&text)
}

/// Factors of every step for a terminal, with means over the networks last.
fn costs_to_text(all: &[CostSteps], style: Style) -> String {
    let mut header = vec!["network", "dataflow"];
    for quantity in ["published cycles", "published mJ"] {
        header.extend([quantity, "x counting", "x memory", "x operators", "= total"]);
    }
    let mut table = new_table(style, &header, 2);
    let cells = |first: String, factors: [f64; 4]| {
        [first].into_iter().chain(factors.map(|factor| format!("{factor:.3}")))
    };
    for it in all {
        let [published, ..] = it.steps;
        let mut row = vec![it.task.clone(), it.dataflow.to_string()];
        row.extend(cells(format!("{:.0}", published.cycles), it.cycle_factors()));
        row.extend(cells(format!("{:.2}", published.energy_nj / 1e6), it.energy_factors()));
        table.add_row(row);
    }
    for MeanFactors { dataflow, cycles, energy } in costs::means(all) {
        let mut row = vec!["geometric mean".to_string(), dataflow.into()];
        row.extend(cells(String::new(), cycles));
        row.extend(cells(String::new(), energy));
        table.add_row(row);
    }
    format!("{}\n{}", render(&table), costs::LEGEND)
}

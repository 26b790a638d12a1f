//! `xrsim reproduce`: the figures, quotes and conclusions of the paper, under its own semantics and under
//! principled ones, side by side, and how networks scale with the number of PEs.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value, json};

use xrsim_figures::Format;
use xrsim_model::hardware::Flexibility;
use xrsim_model::mapper::Chooser;
use xrsim_sim::plan::Semantics;
use xrsim_validation::reproduce::ablation::{QuirkEffect, quirk_effects};
use xrsim_validation::reproduce::costs::{self, CostSteps, MeanFactors};
use xrsim_validation::reproduce::scaling::Scaling;
use xrsim_validation::reproduce::{
    Deviation, FIGURES, FigureEntry, ReproduceError, Study, Table, all_studies, conclusions,
};

use super::figure::PictureOptions;
use super::message::Failure;
use super::options::semantics;
use super::output::OutputSet;
use super::progress::Progress;
use super::{output, record};

/// Reproduce the figures and quotes of the paper, and compare its conclusions under each semantics.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --figure and --semantics: every figure of the paper under both semantics, the conclusions \
    of the paper under each, the effect of every quirk of the published artifact, and a comparison of the cost models.\n\n\
    `--figure scaling` is not a figure of the paper. It shows the cycles of every network on WS, OS and RS with 1,024 to 16,384 \
    PEs under every flexibility, beside a lower bound. It searches mappings for minutes, and continues where it was interrupted.\n\n\
    Examples:\n  \
    xrsim reproduce --out plots\n  \
    xrsim reproduce --figure 5 --semantics mlsys2023 --out plots\n  \
    xrsim reproduce --figure 5 --semantics principled --flexibility none --out plots\n  \
    xrsim reproduce --figure scaling --out plots"
)]
pub(super) struct ReproduceArgs {
    /// Figure of the paper, or `scaling`; repeat for more, or separate them by commas.
    #[arg(long, value_name = "5|6|7|8|scaling", value_delimiter = ',', value_parser = part())]
    figure: Vec<Part>,
    /// Rules of the runs; repeat for both, or separate them by commas.
    #[arg(long, value_name = "SEMANTICS", value_delimiter = ',', value_parser = semantics())]
    semantics: Vec<Semantics>,
    /// Choices of every accelerator for each layer, in figures with principled semantics, and in the last
    /// column of the conclusions [default: tiles, as `xrsim run` has it].
    #[arg(long, value_name = "F", value_parser = flexibility())]
    flexibility: Option<Flexibility>,
    /// Folder for the tables, and for each figure as SVG, PDF and PNG with its data as CSV.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pictures: PictureOptions,
}

/// A part that is made by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A figure of the paper.
    Figure(u8),
    /// Cycles against PEs.
    Scaling,
}

/// Flexibility of `xrsim run`, which figures have too.
const FLEXIBILITY: Flexibility = Flexibility::Tiles;

/// Name of [`Part::Scaling`].
const SCALING: &str = "scaling";

fn part() -> impl TypedValueParser<Value = Part> {
    let names = PossibleValuesParser::new(["5", "6", "7", "8", SCALING]);
    names.map(|name| name.parse().map_or(Part::Scaling, Part::Figure))
}

fn flexibility() -> impl TypedValueParser<Value = Flexibility> {
    let names = PossibleValuesParser::new(Flexibility::ALL.map(|(name, _)| name));
    let of = |name: String| Flexibility::ALL.iter().find(|(known, _)| **known == *name);
    names.map(move |name| of(name).map_or(Flexibility::None, |(_, flexibility)| *flexibility))
}

/// Draws the figures, prints their deviations from the published ones, and compares the conclusions of
/// the paper and the costs that they rest on.
///
/// # Errors
///
/// Returns a failure if the folder cannot be written to.
pub(super) fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    record::refuse_other_kind(args.out.as_deref(), "reproduce")?;
    let mut set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let is_wanted = |entry: &&FigureEntry| args.figure.contains(&Part::Figure(entry.number));
    let figures: Vec<&FigureEntry> = match &args.figure[..] {
        [] => FIGURES.iter().collect(),
        _ => FIGURES.iter().filter(is_wanted).collect(),
    };
    let semantics = match &args.semantics[..] {
        [] => &[Semantics::Mlsys2023, Semantics::Principled][..],
        given => given,
    };
    let mut text = of_paper(args, &figures, semantics, &mut set)?;
    if args.figure.contains(&Part::Scaling) {
        text.push_str(&scaling(args, &mut set)?);
    }
    set.map_or(Ok(()), |set| set.commit(record::REPRODUCE, record(args, &figures, semantics)))?;
    output::print_text(&text)
}

/// Makes the figures of the paper and, unless only some parts are asked for, its tables.
fn of_paper(
    args: &ReproduceArgs,
    figures: &[&FigureEntry],
    semantics: &[Semantics],
    set: &mut Out,
) -> Result<String, Failure> {
    if figures.is_empty() {
        return Ok(String::new());
    }
    let _progress = Progress::of_unknown_length("reproducing the study");
    let flexibility = args.flexibility.unwrap_or(FLEXIBILITY);
    let mut deviations = Vec::new();
    for entry in figures {
        let n_studies = if entry.depends_on_semantics { semantics.len() } else { 1 };
        for &semantics in &semantics[..n_studies] {
            let study = Study::with_semantics(semantics).with_flexibility(flexibility);
            deviations.extend(reproduce(args, entry, &study, set)?);
        }
    }
    let deviations = Deviation::table(&deviations);
    let mut text = to_text(&deviations, 3);
    write(set, "deviations", deviations)?;
    if args.figure.is_empty() && args.semantics.is_empty() {
        text.push_str(&changes(args.flexibility.unwrap_or(FLEXIBILITY), set)?);
    }
    Ok(text)
}

/// Measures how networks scale with the number of PEs.
fn scaling(args: &ReproduceArgs, out: &mut Out) -> Result<String, Failure> {
    let progress = Progress::counting("networks on accelerators");
    let points = Scaling::default()
        .measure(&Chooser::default(), &|done, total| progress.set_of(done, total))?;
    progress.finish();
    if let Some(set) = out {
        for (dataflow, lines) in points.figures() {
            args.pictures.add(set, &format!("{SCALING}_{dataflow}"), Format::ALL, &lines)?;
        }
    }
    write(out, SCALING, points.table())?;
    let summary = points.summary();
    let text = to_text(&summary, 3);
    write(out, "scaling_summary", summary)?;
    Ok(format!(
        "{text}Mcycles; bound: the larger of MACs / PEs and compulsory bytes / DRAM bandwidth; limited by, \
         where the speedup is less than half of the growth in PEs: the resource that limits most \
         of the latency, and the longest layer\n"
    ))
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
fn record(
    args: &ReproduceArgs,
    figures: &[&FigureEntry],
    semantics: &[Semantics],
) -> Map<String, Value> {
    record::of_results(json!({
        "figures": figures.iter().map(|it| it.number).collect::<Vec<_>>(),
        "scaling": args.figure.contains(&Part::Scaling),
        "semantics": semantics.iter().map(|it| it.name()).collect::<Vec<_>>(),
        "flexibility": args.flexibility.map(|it| it.to_string()),
    }))
}

/// Files of the output folder, if there is one.
type Out = Option<OutputSet>;

/// Makes a figure, writes it if a folder is given, and returns its deviations.
fn reproduce(
    args: &ReproduceArgs,
    entry: &FigureEntry,
    study: &Study,
    out: &mut Out,
) -> Result<Vec<Deviation>, Failure> {
    let reproduction = entry.reproduce(study)?;
    if let Some(set) = out {
        args.pictures.add(set, &entry.file_stem(study), Format::ALL, &*reproduction.drawing)?;
    }
    Ok(reproduction.deviations)
}

/// Compares conclusions, quirks and cost models.
fn changes(flexibility: Flexibility, out: &mut Out) -> Result<String, Failure> {
    let studies = all_studies(flexibility)?;
    let costs = costs::compare()?;
    let effects = QuirkEffect::table(&quirk_effects()?);
    let [findings, best] = [conclusions::findings(&studies), conclusions::best_systems(&studies)];
    let conclusions = [&findings, &best].map(|it| to_text(it, it.header.len())).join("\n");
    let note = "scores of Figure 5 are one draw; the others are expected values over the triggers, and one \
                draw (seed 0) of jitter where it has an effect\n";
    let quirks = to_text(&effects, 1);
    let cost_text = costs_to_text(&costs);
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
fn to_text(table: &Table, n_text: usize) -> String {
    output::table_text(&table.header, &table.rows, n_text)
}

/// Factors of every step for a terminal, with means over the networks last.
fn costs_to_text(all: &[CostSteps]) -> String {
    let mut header = vec!["network", "dataflow"];
    for quantity in ["published cycles", "published mJ"] {
        header.extend([quantity, "x counting", "x memory", "x operators", "= total"]);
    }
    let mut rows = Vec::new();
    let cells = |first: String, factors: [f64; 4]| {
        [first].into_iter().chain(factors.map(|factor| format!("{factor:.3}")))
    };
    for it in all {
        let [published, ..] = it.steps;
        let mut row = vec![it.task.clone(), it.dataflow.to_string()];
        row.extend(cells(format!("{:.0}", published.cycles), it.cycle_factors()));
        row.extend(cells(format!("{:.2}", published.energy_nj / 1e6), it.energy_factors()));
        rows.push(row);
    }
    for MeanFactors { dataflow, cycles, energy } in costs::means(all) {
        let mut row = vec!["geometric mean".to_string(), dataflow.into()];
        row.extend(cells(String::new(), cycles));
        row.extend(cells(String::new(), energy));
        rows.push(row);
    }
    format!("{}\n{}", output::table_text(&header, rows, 2), costs::LEGEND)
}

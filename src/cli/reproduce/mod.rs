//! `xrsim reproduce`: the paper's figures, quotes and conclusions, under its own semantics and under
//! principled ones, side by side.

mod ablation;
mod conclusions;
mod costs;
mod deviations;
mod figure5;
mod figure6;
mod figure7;
mod figure8;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::config::Edition;
use crate::figures::{Figure, Format};
use crate::sweep::Semantics;

use super::message::Failure;
use super::output::OutputSet;
use super::study::{Bars, Study, published};
use super::{figure, output, table_style};

use conclusions::Scores;
use deviations::Deviation;

/// Reproduce the paper's figures and quotes, and say what changes under which semantics.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --figure and --semantics: every figure under both semantics, and what changes in the \
    conclusions of the paper.\n\n\
    Examples:\n  \
    xrsim reproduce --out plots\n  \
    xrsim reproduce --figure 5 --semantics mlsys2023 --out plots"
)]
pub struct ReproduceArgs {
    /// Figure of the paper; repeat for several.
    #[arg(long, value_name = "5|6|7|8", value_parser = clap::value_parser!(u8).range(5..=8))]
    pub figure: Vec<u8>,
    /// Rules of the runs; repeat for both.
    #[arg(long, value_name = "SEMANTICS")]
    pub semantics: Vec<Semantics>,
    /// Folder for each figure as SVG and PNG with the CSV that it was drawn from, and the tables.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Figures that can be asked for.
const FIGURES: [u8; 4] = [5, 6, 7, 8];

/// Draws the figures, prints how they deviate from what was published, and what changes in the
/// conclusions of the paper and in the costs that they rest on.
///
/// # Errors
///
/// A folder that cannot be written to.
pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let mut set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let figures = if args.figure.is_empty() { &FIGURES[..] } else { &args.figure };
    let semantics = match &args.semantics[..] {
        [] => &[Semantics::Mlsys2023, Semantics::Principled][..],
        given => given,
    };
    let mut found = Vec::new();
    for &number in figures {
        for study in semantics.iter().map(|&semantics| Study::of(semantics)) {
            found.extend(reproduce(number, &study, &mut set)?);
        }
    }
    let mut text = deviations::to_text(&found, table_style());
    write_table(&mut set, "deviations", deviations::rows(&found))?;
    if args.figure.is_empty() && args.semantics.is_empty() {
        text.push_str(&what_changes(&mut set)?);
    }
    set.map_or(Ok(()), |set| set.commit(RECORD, record(figures, semantics)))?;
    output::print_text(&text)
}

/// The record of the folder.
const RECORD: &str = "reproduce.json";

/// Record that makes the figures repeatable.
fn record(figures: &[u8], semantics: &[Semantics]) -> Map<String, Value> {
    output::object(json!({
        "program": "xrsim", "version": env!("CARGO_PKG_VERSION"), "figures": figures,
        "semantics": semantics.iter().map(|it| it.name()).collect::<Vec<_>>(),
    }))
}

/// Where the files go, if a folder is given.
type Out = Option<OutputSet>;

/// Draws one figure under one semantics; gives its deviations.
fn reproduce(number: u8, study: &Study, out: &mut Out) -> Result<Vec<Deviation>, Failure> {
    let semantics = study.semantics.name();
    let name = format!("figure{number}_{semantics}");
    match number {
        5 => {
            let expected = study.expect()?;
            draw(out, &name, &figure5::draw(semantics, &expected))?;
            Ok(figure5::deviations(semantics, &expected))
        }
        6 => {
            let runs = figure6::run(study)?;
            draw(out, &name, &runs.draw(semantics))?;
            Ok(runs.deviations(semantics))
        }
        7 => {
            let curves = figure7::run(study)?;
            draw(out, &name, &curves.draw(semantics))?;
            Ok(curves.deviations(semantics))
        }
        // A formula, the same under any semantics.
        _ => draw(out, "figure8", &figure8::draw()).map(|()| Vec::new()),
    }
}

/// Writes a figure as SVG and PNG, with its data, if a folder is given.
fn draw(out: &mut Out, name: &str, drawn: &dyn Figure) -> Result<(), Failure> {
    out.as_mut().map_or(Ok(()), |set| figure::add(set, name, Format::ALL, drawn))
}

/// Says which conclusions hold where, what each quirk does, and where the costs come from.
fn what_changes(out: &mut Out) -> Result<String, Failure> {
    let studies = studies()?;
    let costs = costs::compare()?;
    let ablation = ablation::run()?;
    write_table(out, "conclusions", conclusions::rows(&studies))?;
    write_table(out, "best_systems", conclusions::best(&studies))?;
    write_table(out, "costs", costs::rows(&costs))?;
    write_table(out, "ablation", ablation::rows(&ablation))?;
    let conclusions = conclusions::to_text(&studies, table_style());
    let ablation = ablation::to_text(&ablation, table_style());
    let costs = costs::to_text(&costs, table_style());
    Ok(format!("\n{conclusions}\n{ablation}\n{costs}"))
}

/// The paper's own figure, and the study under every semantics and edition of networks.
fn studies() -> Result<Vec<Scores>, Failure> {
    let expected = |name: &str, study: Study| -> Result<Scores, Failure> {
        let bars: Vec<Bars> = study.expect()?.into_iter().map(|it| it.mean).collect();
        Ok(Scores { name: name.into(), bars })
    };
    Ok(vec![
        Scores { name: "Figure 5".into(), bars: published() },
        expected("mlsys2023", Study::mlsys2023())?,
        expected("principled, published layers", Study::principled(Edition::Artifact))?,
        expected("principled, true operators", Study::principled(Edition::Reference))?,
    ])
}

/// Writes a table as CSV, if a folder is given.
fn write_table(
    out: &mut Out,
    name: &str,
    table: (Vec<String>, Vec<Vec<String>>),
) -> Result<(), Failure> {
    out.as_mut().map_or(Ok(()), |set| set.csv(&format!("{name}.csv"), table))
}

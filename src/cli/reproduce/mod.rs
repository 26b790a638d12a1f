//! `xrsim reproduce`: the paper's results under every semantics, side by side.

mod conclusions;
mod costs;

use std::path::Path;

use crate::config::NetworkEdition;

use super::args::ReproduceArgs;
use super::message::Failure;
use super::study::{Study, published};
use super::{output, table_style};

use conclusions::Scores;

/// Prints what changes in the conclusions of the paper and in the costs that they rest on, and writes
/// it to a folder if one is given.
///
/// # Errors
///
/// A folder that cannot be written to.
pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    let studies = studies()?;
    let costs = costs::compare()?;
    if let Some(folder) = &args.out {
        output::create_folder(folder)?;
        write_csv(&folder.join("conclusions.csv"), conclusions::rows(&studies))?;
        write_csv(&folder.join("best_systems.csv"), conclusions::best(&studies))?;
        write_csv(&folder.join("costs.csv"), costs::rows(&costs))?;
    }
    output::print(&conclusions::to_text(&studies, table_style()))?;
    output::print(&format!("\n{}", costs::to_text(&costs, table_style())))
}

/// The paper's own figure, and the study under every semantics and edition of networks.
fn studies() -> Result<Vec<Scores>, Failure> {
    let named =
        |name: &str, study: Study| study.run().map(|bars| Scores { name: name.into(), bars });
    Ok(vec![
        Scores { name: "Figure 5".into(), bars: published() },
        named("mlsys2023", Study::mlsys2023())?,
        named("principled, published layers", Study::principled(NetworkEdition::Mlsys2023))?,
        named("principled, true operators", Study::principled(NetworkEdition::Reference))?,
    ])
}

fn write_csv(path: &Path, (header, rows): (Vec<String>, Vec<Vec<String>>)) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let records = std::iter::once(&header).chain(&rows);
    let written = records.into_iter().try_for_each(|record| table.write_record(record));
    let bytes = written.ok().and_then(|()| table.into_inner().ok()).unwrap_or_default();
    output::write_text(path, &String::from_utf8_lossy(&bytes))
}

//! Cost models and accelerators as the command line names them.

use std::path::Path;
use std::sync::Arc;

use crate::config::{Catalog, cost_csv};
use crate::cost::{self, CostModel};
use crate::dataflow::Dataflow;
use crate::hardware::System;
use crate::hardware::platform::{Instance, Platform};
use crate::text;

use super::message::Failure;

/// The model that leaves batches out, as the published artifact does: they would be free.
pub const WITHOUT_BATCHES: &str = "mlsys2023";

/// A cost model and the name that results give it.
pub struct CostChoice {
    /// Name.
    pub name: String,
    /// Model.
    pub model: Box<dyn CostModel>,
}

/// The cost model called `text`, or the table of measurements in the CSV file `text`.
///
/// # Errors
///
/// An unknown name, or a file that cannot be used.
pub fn choose(catalog: &mut Catalog, text: &str) -> Result<CostChoice, Failure> {
    if let Some(entry) = cost::ALL.iter().find(|entry| entry.name == text) {
        let Some(build) = entry.build else {
            let message = format!("cost model `{text}` needs data: give the CSV file in its place");
            return Err(Failure::Argument(message));
        };
        return Ok(CostChoice { name: text.into(), model: build() });
    }
    if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        let source = catalog.read(Path::new(text))?;
        let records = cost_csv::parse(&source)?;
        let name = Path::new(text).file_name().map_or(text.into(), |name| name.to_string_lossy());
        return Ok(CostChoice { name: format!("table:{name}"), model: Box::new(records) });
    }
    Err(super::unknown("cost model", text, cost::ALL.iter().map(|entry| entry.name)))
}

/// The system of `instances`, the i-th running the i-th dataflow, with the platform's clock and
/// energy. Instances beyond the last dataflow stay unused, as in the published artifact.
///
/// # Errors
///
/// Without dataflows or with more of them than instances, or what [`System::new`] says.
pub fn pair(
    name: &str,
    instances: &[Instance],
    dataflows: &[Arc<Dataflow>],
    platform: &Platform,
) -> Result<System, Failure> {
    if dataflows.is_empty() || dataflows.len() > instances.len() {
        return Err(Failure::Argument(format!(
            "{name} has {} accelerators and is given {} dataflows; each runs one dataflow (--dataflow, \
             in order)",
            instances.len(),
            dataflows.len()
        )));
    }
    let accelerators = instances
        .iter()
        .zip(dataflows)
        .map(|(instance, dataflow)| instance.with(instance.name.clone(), dataflow, platform))
        .collect();
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    if !text::is_name(&stem) {
        let message = format!("{name}: the system has the name of its file; {}", text::NAME_RULE);
        return Err(Failure::Argument(message));
    }
    System::new(stem, accelerators).map_err(super::argument)
}

//! Whether hardware can run any network, for `xrsim check`. Whether a dataflow maps a layer depends on
//! the layer, so that every network is tried.

use std::path::Path;

use crate::config::{Catalog, Hardware, Kind};
use crate::cost::{CostModel, PairNames};
use crate::hardware::Accelerator;
use crate::model::Network;

use super::message::Failure;
use super::{cost, costs};

/// Costs the networks of `xrsim cost` on the hardware in the file at `path`. Returns a remark on how many
/// of them can run there, if not all can. `None` for files of another `kind`, and for accelerators
/// without a dataflow.
///
/// # Errors
///
/// Returns a failure with a reason if no network can run.
pub fn check(kind: Kind, path: &Path) -> Result<Option<String>, Failure> {
    let mut catalog = Catalog::new();
    let accelerators = accelerators(kind, path, &mut catalog)?;
    if accelerators.is_empty() {
        return Ok(None);
    }
    let model = costs::choose(&mut catalog, cost::COST_MODEL)?.model;
    let names = catalog.names(Kind::Network);
    let mut reasons = Vec::new();
    for name in &names {
        let network = catalog.network(name)?;
        if let Err(reason) = runs(&network, &accelerators, &*model) {
            reasons.push(format!("{}: {reason}", network.name()));
        }
    }
    let path = path.display();
    match (names.len() - reasons.len(), reasons.first()) {
        (0, Some(first)) => Err(Failure::Argument(format!(
            "{path}: the cost model `{}` can run none of the {} networks with this {kind}, e.g. {first}",
            cost::COST_MODEL,
            names.len()
        ))),
        (_, None) => Ok(None),
        (runs, Some(first)) => Ok(Some(format!(
            "it runs {runs} of the {} networks, but not e.g. {first}",
            names.len()
        ))),
    }
}

/// Whether a network runs on one of the accelerators; the error says why it does not run on the first.
fn runs(
    network: &Network,
    accelerators: &[Accelerator],
    model: &dyn CostModel,
) -> Result<(), String> {
    let mut first = None;
    for accelerator in accelerators {
        match model.network(network, accelerator) {
            Ok(_) => return Ok(()),
            Err(reason) => {
                let names = PairNames::new(network.name(), accelerator);
                first.get_or_insert_with(|| reason.of(&names).to_string());
            }
        }
    }
    first.map_or(Ok(()), Err)
}

fn accelerators(
    kind: Kind,
    path: &Path,
    catalog: &mut Catalog,
) -> Result<Vec<Accelerator>, Failure> {
    let reference = path.to_string_lossy();
    let dataflows = match kind {
        Kind::Dataflow => catalog.dataflows(&reference)?,
        Kind::Style | Kind::System => match catalog.hardware(&reference)? {
            Hardware::Style(style) => style.shares.into_iter().map(|it| it.dataflow).collect(),
            Hardware::System(system) => return Ok(system.accelerators().to_vec()),
            Hardware::Instances(_) => return Ok(Vec::new()),
        },
        _ => return Ok(Vec::new()),
    };
    let accelerator = |dataflow| cost::default_accelerator(dataflow, catalog);
    dataflows.iter().map(accelerator).collect()
}

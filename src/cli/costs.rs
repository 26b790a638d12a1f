//! Cost models as the command line names them.

use crate::config::Catalog;
use crate::experiment::NamedCostModel;
use crate::hardware::Accelerator;

use super::message::{self, Failure, hint};

/// The cost model called `text`, or the table of measurements in the CSV file `text`. Prints the hint
/// for an old name.
///
/// # Errors
///
/// See [`NamedCostModel::find`].
pub(super) fn choose(catalog: &mut Catalog, text: &str) -> Result<NamedCostModel, Failure> {
    let cost_model = NamedCostModel::find(catalog, text)?;
    cost_model.renamed.into_iter().for_each(hint);
    Ok(cost_model)
}

/// Prints the warnings about rows of a table of measurements, see [`NamedCostModel::warnings`].
pub(super) fn warn<'n, 'a>(
    cost_model: &NamedCostModel,
    catalog: &Catalog,
    networks: impl Iterator<Item = &'n str>,
    accelerators: impl Iterator<Item = &'a Accelerator>,
) {
    for warning in cost_model.warnings(catalog, networks, accelerators) {
        message::warn(format_args!("{warning}"));
    }
}

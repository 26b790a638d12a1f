//! Cost models as the command line names them.

use crate::config::Catalog;
use crate::experiment::NamedCostModel;
use crate::hardware::Accelerator;

use super::message;

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

//! Cost models as the command line names them.

use xrsim_config::Catalog;
use xrsim_experiment::NamedCostModel;
use xrsim_model::hardware::{Accelerator, Flexibility, MappingSettings};

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

/// Prints a warning if mappings are to be chosen that the cost model does not choose.
pub(super) fn warn_of_fixed_mappings(cost_model: &NamedCostModel, settings: MappingSettings) {
    let asks = settings.flexibility.is_some_and(|it| it != Flexibility::None);
    if asks && let Some(warning) = cost_model.fixed_mappings() {
        message::warn(format_args!("{warning}"));
    }
}

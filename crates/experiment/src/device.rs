//! Devices of runs.

use std::sync::Arc;

use xrsim_config::{Catalog, ConfigError};
use xrsim_model::hardware::Device;
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::Governor;

use super::{ExperimentError, Settings};

/// The device that the settings name.
pub(super) fn named(
    settings: &Settings,
    catalog: &mut Catalog,
) -> Result<Option<Arc<Device>>, ConfigError> {
    settings.device.as_deref().map(|name| catalog.device(name)).transpose()
}

/// The run on `device`, which must fit its system.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] if the device does not fit, or if a governor has no device to govern.
pub(super) fn on(plan: Plan, device: &Option<Arc<Device>>) -> Result<Plan, ExperimentError> {
    let plan = Plan { device: device.clone(), ..plan };
    check_governor(&plan)?;
    match plan.supplied() {
        Ok(_) => Ok(plan),
        Err(error) => Err(ExperimentError::Conflict(error.to_string())),
    }
}

/// Refuses a governor without a device.
pub(super) fn check_governor(plan: &Plan) -> Result<(), ExperimentError> {
    if plan.device.is_some() || plan.scheduler.options().governor == Governor::default() {
        return Ok(());
    }
    Err(ExperimentError::Conflict(format!(
        "the governor of {} has no effect without a device (--device)",
        plan.scheduler.label()
    )))
}

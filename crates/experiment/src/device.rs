//! Devices of runs.

use std::sync::Arc;

use xrsim_config::{Catalog, ConfigError};
use xrsim_model::hardware::{Device, System};
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::{Governor, Policy};

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
/// [`ExperimentError::Conflict`] as [`check_device`].
pub(super) fn on(plan: Plan, device: &Option<Arc<Device>>) -> Result<Plan, ExperimentError> {
    check_device(device.as_deref(), &plan.system, &plan.scheduler)?;
    Ok(Plan { device: device.clone(), ..plan })
}

/// Checks that `device`, if there is one, fits `system`, and that the governor of `scheduler` has a device to govern.
///
/// # Errors
///
/// [`ExperimentError::Conflict`] if not.
pub fn check_device(
    device: Option<&Device>,
    system: &System,
    scheduler: &Policy,
) -> Result<(), ExperimentError> {
    let conflict = match device {
        None if scheduler.options().governor != Governor::default() => format!(
            "the governor of {} has no effect without a device (--device)",
            scheduler.label()
        ),
        None => return Ok(()),
        Some(device) => match device.on(system) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
    };
    Err(ExperimentError::Conflict(conflict))
}

//! Metrics of the hardware of a run: area, idle PEs, leakage and power (docs/explanation/area.md).

use xrsim_model::column::Column;
use xrsim_model::hardware::{System, Technology};
use xrsim_model::units::Millijoules;

use super::Usage;

/// Metrics of the hardware of a run. No score counts any of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct DeviceMetrics {
    /// Area of the system in its technology \[mm2\]; `None` without a technology.
    pub area_mm2: Option<f64>,
    /// PEs that no mapping uses ([`Accelerator::idle_pes`](xrsim_model::hardware::Accelerator::idle_pes)).
    pub idle_pes: u64,
    /// Leakage of the system \[mW\]; `None` if its technology has none.
    pub leakage_mw: Option<f64>,
    /// Leakage of accelerators over the time in which they idle \[mJ\]. It is no part of any other energy.
    pub idle_leakage_mj: Option<f64>,
    /// Energy of all executions over the span \[mW\]; 0 if that is empty.
    pub power_without_leakage_mw: f64,
}

impl DeviceMetrics {
    /// The metrics as columns.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::quantity("area_mm2", "mm2", "Area", |it: &Self| it.area_mm2)
            .lower("area of the system, +-30 %")
            .headed("mm2"),
        Column::count("idle_pes", "Idle PEs", |it: &Self| Some(it.idle_pes as f64))
            .lower("PEs outside of the clusters of the dataflows"),
        Column::quantity("leakage_mw", "mW", "Leakage", |it: &Self| it.leakage_mw)
            .lower("power of the system that does nothing, by its technology, an order of magnitude; a device has its own (device.csv)"),
        Column::quantity("idle_leakage_mj", "mJ", "Idle leakage", |it: &Self| it.idle_leakage_mj)
            .lower("leakage of accelerators while they idle, by the technology; no score counts it, and a device has its own (device.csv)"),
        Column::quantity("power_without_leakage_mw", "mW", "Power without leakage", |it: &Self| {
            Some(it.power_without_leakage_mw)
        })
        .lower("energy of all executions over the span, with the warm-up; on a device with the leakage of accelerators that run"),
    ];

    /// The column called `name`.
    pub fn column(name: &str) -> Option<&'static Column<Self>> {
        Self::COLUMNS.iter().find(|column| column.name == name)
    }

    /// The metrics of a run that used `system` so.
    pub fn compute(system: &System, usage: &Usage) -> Self {
        let technology = system.technology();
        let idle_pes = system.accelerators().iter().map(|it| u64::from(it.idle_pes())).sum();
        Self {
            area_mm2: technology.map(|it| it.total_mm2(system)),
            idle_pes,
            leakage_mw: technology.and_then(|it| it.system_leakage_mw(system)),
            idle_leakage_mj: technology
                .and_then(|it| idle_leakage(it, system, usage))
                .map(Millijoules::get),
            power_without_leakage_mw: usage.power_without_leakage_mw(),
        }
    }
}

/// Leakage of every accelerator over the part of the span in which it is not busy (docs/explanation/area.md, (6)).
fn idle_leakage(technology: &Technology, system: &System, usage: &Usage) -> Option<Millijoules> {
    let energies = system.accelerators().iter().zip(usage.busy_ms()).map(|(accelerator, busy)| {
        let milliwatts = technology.leakage_mw(accelerator)?;
        Some(milliwatts * (usage.span().as_ms() - busy).max(0.0) * 1e-3)
    });
    energies.sum::<Option<f64>>().map(Millijoules::new)
}

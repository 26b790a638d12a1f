//! The device around the accelerators of a system: their operating points, leakage and gates, the background power of
//! DRAM, and the power of everything else.

mod battery;
mod display;
mod law;
mod points;
mod power;
mod thermal;

use std::sync::Arc;

use thiserror::Error;

pub use battery::{Battery, Peukert};
pub use display::Display;
pub use law::PowerLaw;
pub use points::{Point, Points, PointsError};
pub use power::{DramPower, Gate, Leakage, LeakageAmount};
pub use thermal::{Heat, HeatPaths, Link, Modes, NodeId};
pub use thermal::{ThermalError, ThermalNetwork, ThermalNode, Trip, TripAction};

use crate::ids::PointId;
use crate::units::{ClockRate, SimSpan};

use super::{Accelerator, System};

/// A device. It fits any system with accelerators of the names and clocks that it names ([`Device::on`]).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    /// Name.
    pub name: Box<str>,
    /// Supply of accelerators that have none of their own.
    pub accelerators: Supply,
    /// Supplies of accelerators by their names.
    pub named: Vec<(Box<str>, Supply)>,
    /// Background power of DRAM.
    pub dram: DramPower,
    /// Power of everything else, such as display, cameras and radio \[mW\].
    pub base_mw: f64,
    /// Temperatures; `None`: each accelerator has that at which its leakage is given.
    pub heat: Option<Heat>,
    /// Battery; `None`: the run never lacks energy.
    pub battery: Option<Battery>,
    /// Display; `None`: nothing is shown.
    pub display: Option<Display>,
}

/// Supply of accelerators.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Supply {
    /// Operating points; `None`: one, at the clock of the accelerator.
    pub points: Option<Arc<Points>>,
    /// Leakage.
    pub leakage: Leakage,
    /// Power while it idles, beyond leakage, for each 1024 PEs \[mW\].
    pub idle_mw_per_1024_pes: f64,
    /// Gate; `None`: never gated.
    pub gate: Option<Gate>,
    /// Time to change the point.
    pub transition: SimSpan,
}

/// Supply of one accelerator of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Supplied {
    /// Operating points.
    pub points: Arc<Points>,
    /// The point at the clock of the accelerator.
    pub nominal: PointId,
    /// Leakage at the nominal point and the reference temperature \[W\].
    pub leakage_w: f64,
    /// Its law.
    pub leakage: Leakage,
    /// Power while it idles, beyond leakage \[W\].
    pub idle_w: f64,
    /// Gate; `None`: never gated.
    pub gate: Option<Gate>,
    /// Time to change the point.
    pub transition: SimSpan,
    /// Node that it heats; `None`: its heat leaves the device.
    pub node: Option<NodeId>,
    /// Trips that limit it, as places in [`Heat::trips`].
    pub trips: Vec<usize>,
}

impl Supplied {
    /// Largest number of points of these accelerators, at least 1.
    pub fn most_points(all: &[Self]) -> usize {
        all.iter().map(|it| it.points.all().len()).max().unwrap_or(1)
    }

    /// Leakage at a point and a temperature \[C\], in W.
    pub fn leakage_at(&self, point: PointId, celsius: f64) -> f64 {
        if self.leakage_w == 0.0 {
            return 0.0;
        }
        let [point, nominal] = [point, self.nominal].map(|it| self.points.get(it));
        self.leakage_w * self.leakage.factor(point, nominal, celsius)
    }
}

/// A device that does not fit a system.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No accelerator has the name that the device gives.
    #[error("device `{device}` has {what} of `{name}`; the accelerators are {known}")]
    Unknown {
        /// Device.
        device: Box<str>,
        /// Kind of what it gives.
        what: &'static str,
        /// Name.
        name: Box<str>,
        /// Names of the accelerators.
        known: String,
    },
    /// No point is at the clock of an accelerator, for which the mappings are chosen.
    #[error(
        "accelerator `{accelerator}` has a clock of {mhz} MHz, at which `{points}` has no point (points: {known} MHz)",
        mhz = .clock.as_mhz()
    )]
    NoPoint {
        /// Accelerator.
        accelerator: Box<str>,
        /// Its clock.
        clock: ClockRate,
        /// Name of the points.
        points: Box<str>,
        /// Clocks of the points.
        known: String,
    },
    /// The energy table has leakage too.
    #[error(
        "accelerator `{accelerator}` leaks twice: its energy table has `leakage_per_cycle`, and the device a leakage; set one of them to 0"
    )]
    LeaksTwice {
        /// Accelerator.
        accelerator: Box<str>,
    },
    /// A processor was measured at one point.
    #[error(
        "`{accelerator}` is a processor, which was measured at one point; leave `points` out of its supply"
    )]
    Processor {
        /// Processor.
        accelerator: Box<str>,
    },
}

impl Device {
    /// Whether an accelerator may run at several points.
    pub fn has_points(&self) -> bool {
        let mut supplies = self.named.iter().map(|(_, supply)| supply).chain([&self.accelerators]);
        supplies.any(|it| it.points.as_ref().is_some_and(|points| points.all().len() > 1))
    }

    /// Supply of every accelerator of `system`. A processor has one point, the idle power that it was measured with, and
    /// no leakage beside its power.
    ///
    /// # Errors
    ///
    /// [`DeviceError`] if the device does not fit.
    pub fn on(&self, system: &System) -> Result<Vec<Supplied>, DeviceError> {
        let accelerators = system.accelerators();
        let has = |name: &str| accelerators.iter().any(|it| &*it.name == name);
        let supplies = self.named.iter().map(|(name, _)| ("a supply", name));
        let mut names = supplies.chain(self.heat.iter().flat_map(Heat::names));
        if let Some((what, name)) = names.find(|(_, name)| !has(name)) {
            let known: Vec<&str> = accelerators.iter().map(|it| &*it.name).collect();
            let (device, name) = (self.name.clone(), name.clone());
            return Err(DeviceError::Unknown { device, what, name, known: known.join(", ") });
        }
        accelerators.iter().map(|it| self.supply_of(it, system)).collect()
    }

    fn supply_of(&self, on: &Accelerator, system: &System) -> Result<Supplied, DeviceError> {
        let own = self.named.iter().find(|(name, _)| *name == on.name).map(|(_, supply)| supply);
        let supply = own.unwrap_or(&self.accelerators);
        let accelerator = || on.name.clone();
        let is_processor = on.processor().is_some();
        let points = match &supply.points {
            Some(points) if !is_processor => Arc::clone(points),
            Some(_) if own.is_some() => {
                return Err(DeviceError::Processor { accelerator: accelerator() });
            }
            _ => Arc::new(Points::only(on.clock)),
        };
        let Some(nominal) = points.at(on.clock) else {
            let known: Vec<_> =
                points.all().iter().map(|it| it.clock.as_mhz().to_string()).collect();
            return Err(DeviceError::NoPoint {
                accelerator: accelerator(),
                clock: on.clock,
                points: points.name().into(),
                known: known.join(", "),
            });
        };
        let per_pes = |mw: f64| mw * f64::from(on.pes) / 1024.0 / 1e3;
        let leakage_w = match supply.leakage.amount {
            LeakageAmount::PerPes(mw) => per_pes(mw),
            LeakageAmount::Technology => {
                let technology = system.technology();
                technology.and_then(|it| it.leakage_mw(on)).unwrap_or(0.0) / 1e3
            }
        };
        if leakage_w > 0.0 && on.byte_energy.leakage > 0.0 {
            return Err(DeviceError::LeaksTwice { accelerator: accelerator() });
        }
        let idle_w = match on.processor() {
            Some(processor) => processor.idle_mw / 1e3,
            None => per_pes(supply.idle_mw_per_1024_pes),
        };
        let trips = self.heat.iter().flat_map(|heat| heat.trips.iter().enumerate());
        let trips = trips.filter(|(_, trip)| trip.limits(&on.name)).map(|(at, _)| at).collect();
        Ok(Supplied {
            points,
            nominal,
            leakage_w,
            leakage: supply.leakage,
            idle_w,
            gate: supply.gate,
            transition: supply.transition,
            node: self.heat.as_ref().and_then(|heat| heat.node_of(&on.name)),
            trips,
        })
    }
}

//! `device:` files: the supply of the accelerators of a system, and the power of what is around them.

use std::sync::Arc;

use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::{
    Battery, Display, DramPower, Gate, Heat, Leakage, LeakageAmount, Points, Supply,
};
use xrsim_model::units::SimSpan;

use super::heat;
use super::quantities::{MAX_MW, frame_rate, ms, us};
use super::reference;
use super::yaml::keys::keys;
use super::yaml::read::At;
use super::yaml::values::{Reader, named, number, number_or, proper_name};

/// A device whose points are still names.
pub(super) struct RawDevice {
    name: Box<str>,
    accelerators: RawSupply,
    named: Vec<(At<Box<str>>, RawSupply)>,
    dram: DramPower,
    base_mw: f64,
    heat: Option<Heat>,
    battery: Option<Battery>,
    display: Option<Display>,
}

/// Body of a `device:` file.
pub(super) fn device() -> impl Reader<Value = RawDevice> {
    keys().then(|raw: Keys, _, _| {
        let accelerators = raw.accelerators.map(|it| (it.all, it.named.unwrap_or_default()));
        let (accelerators, named) = accelerators.unwrap_or_default();
        Some(RawDevice {
            name: raw.name,
            accelerators,
            named,
            dram: raw.dram.unwrap_or_default(),
            base_mw: raw.base_mw,
            heat: raw.thermal,
            battery: raw.battery,
            display: raw.display,
        })
    })
}

keys! {
    /// Device: operating points, leakage and gates of accelerators, background power of DRAM, power of everything else.
    fn keys() -> struct Keys: "a device" {
        /// Name of the device.
        name: Box<str> = required(proper_name());
        /// Supply of the accelerators. Without it, each has one point and no power beside that of its layers.
        accelerators: Option<RawAccelerators> = optional(accelerators());
        /// Background power of DRAM.
        dram: Option<DramPower> = optional(dram());
        /// Power of everything else, such as display, cameras and radio \[mW\].
        base_mw: f64 = or(0, number(0.0..=MAX_MW));
        /// Temperatures. Without them, an accelerator leaks as at the temperature of its leakage.
        thermal: Option<Heat> = optional(heat::thermal());
        /// Battery. Without it, a run never lacks energy.
        battery: Option<Battery> = optional(heat::battery());
        /// Display: when it takes the newest results. Without it, nothing is shown.
        display: Option<Display> = optional(display());
    }
}

keys! {
    /// Supply of all accelerators.
    fn accelerators() -> struct RawAccelerators: "a supply" {
        all: RawSupply = among(supply());
        /// Supplies of single accelerators of the system by their names, each a whole one.
        named: Option<Vec<(At<Box<str>>, RawSupply)>> = optional(named("supplies", supply()));
    }
}

keys! {
    /// Supply of accelerators.
    fn supply() -> struct RawSupply: "a supply" {
        /// Operating points. Without it, one at the clock of the accelerator.
        points: Option<At<Box<str>>> = optional(reference::points());
        /// Leakage of 1,024 PEs at the nominal voltage and at `leakage_at_c` \[mW\], or `technology`: that of the technology
        /// of the system, an order of magnitude.
        leakage_mw_per_1024_pes: Option<LeakageAmount> = optional(leakage_amount().with_default(0));
        /// Exponent of the voltage in the leakage.
        leakage_exponent: f64 = or(1, number(0.0..=5.0));
        /// Growth of the leakage with the temperature \[1/K\], as the exponent of e.
        leakage_per_k: f64 = or(0.035, number(0.0..=0.2));
        /// Temperature at which the leakage is given \[C\]. Without temperatures, it is that of the accelerator.
        leakage_at_c: f64 = or(55, number(-40.0..=150.0));
        /// Power of 1,024 PEs that idle, beyond leakage \[mW\].
        idle_mw_per_1024_pes: f64 = or(0, number(0.0..=MAX_MW));
        /// When an idle accelerator is cut from its supply. Without it, never.
        gate: Option<Gate> = optional(gate());
        /// Time to change the operating point \[us\].
        transition_us: SimSpan = or(0, us());
    }
}

impl Default for RawSupply {
    fn default() -> Self {
        let Leakage { exponent, per_k, at_c, .. } = Leakage::default();
        Self {
            points: None,
            leakage_mw_per_1024_pes: None,
            leakage_exponent: exponent,
            leakage_per_k: per_k,
            leakage_at_c: at_c,
            idle_mw_per_1024_pes: 0.0,
            gate: None,
            transition_us: SimSpan::ZERO,
        }
    }
}

keys! {
    /// When an idle accelerator is cut from its supply, and the price of that.
    fn gate() -> Gate: "a gate" {
        /// Time that it idles before \[ms\].
        after as "after_ms" = required(ms());
        /// Share of its leakage that is left.
        left = or(0, number(0.0..=1.0));
        /// Time to wake up \[us\].
        wake as "wake_us" = or(0, us());
        /// Energy to wake up \[uJ\].
        wake_uj = or(0, number(0.0..=1e9));
    }
}

keys! {
    /// Background power of DRAM.
    fn dram() -> DramPower: "the DRAM of a device" {
        /// While an accelerator runs \[mW\].
        active_mw = or(0, number(0.0..=MAX_MW));
        /// While none runs \[mW\].
        idle_mw = or(0, number(0.0..=MAX_MW));
    }
}

keys! {
    /// A display, which shows the newest results. Rendering is not simulated.
    fn display() -> Display: "a display" {
        /// Pictures per second.
        rate as "fps" = required(frame_rate());
        /// Begin of the first picture \[ms\].
        phase as "phase_ms" = or(0, ms());
        /// Time before the begin of a picture by which results must have ended that it shows \[ms\].
        compose as "compose_ms" = or(0, ms());
        /// Time in which a picture is shown line by line \[ms\].
        scanout as "scanout_ms" = or(0, ms());
    }
}

/// A leakage \[mW\], or the word for that of the technology.
fn leakage_amount() -> impl Reader<Value = LeakageAmount> {
    number_or("technology", 0.0..=MAX_MW)
        .then(|mw, _, _| Some(mw.map_or(LeakageAmount::Technology, LeakageAmount::PerPes)))
}

impl RawDevice {
    /// Names of the points, with their places.
    pub(super) fn points(&self) -> impl Iterator<Item = &At<Box<str>>> {
        let supplies = self.named.iter().map(|(_, supply)| supply);
        [&self.accelerators].into_iter().chain(supplies).filter_map(|it| it.points.as_ref())
    }

    /// The device with these `points`, one for each name.
    pub(super) fn resolve(self, points: Vec<Arc<Points>>) -> Device {
        let mut points = points.into_iter();
        let accelerators = self.accelerators.resolve(&mut points);
        let named = self.named.into_iter();
        let named = named.map(|(name, supply)| (name.value, supply.resolve(&mut points))).collect();
        Device {
            name: self.name,
            accelerators,
            named,
            dram: self.dram,
            base_mw: self.base_mw,
            heat: self.heat,
            battery: self.battery,
            display: self.display,
        }
    }
}

impl RawSupply {
    fn resolve(self, points: &mut impl Iterator<Item = Arc<Points>>) -> Supply {
        Supply {
            points: self.points.and_then(|_| points.next()),
            leakage: Leakage {
                amount: self.leakage_mw_per_1024_pes.unwrap_or(LeakageAmount::PerPes(0.0)),
                exponent: self.leakage_exponent,
                per_k: self.leakage_per_k,
                at_c: self.leakage_at_c,
            },
            idle_mw_per_1024_pes: self.idle_mw_per_1024_pes,
            gate: self.gate,
            transition: self.transition_us,
        }
    }
}

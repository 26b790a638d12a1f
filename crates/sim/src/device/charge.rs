//! Charge of a battery.

use super::Sum;
use super::thermal::seconds;
use xrsim_model::hardware::device::Battery;
use xrsim_model::units::SimSpan;

/// Charge of a battery, which falls piece by piece of constant power:
///
/// ```text
/// dE/dt = -P (P / rated)^(exponent - 1) / efficiency          while E > 0
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Charge {
    battery: Battery,
    /// Energy taken from the cell \[J\].
    taken: Sum,
    /// Energy that reached the load \[J\].
    delivered: Sum,
    is_empty: bool,
}

impl Charge {
    /// A full battery.
    pub fn new(battery: Battery) -> Self {
        Self { battery, taken: Sum::default(), delivered: Sum::default(), is_empty: false }
    }

    /// Power taken from the cell for a load \[W\].
    pub fn drain_w(&self, load_w: f64) -> f64 {
        let law = self.battery.peukert.filter(|it| it.exponent != 1.0 && load_w > 0.0);
        let factor = law.map_or(1.0, |it| libm::pow(load_w / it.rated_w, it.exponent - 1.0));
        load_w * factor / self.battery.efficiency
    }

    /// Energy that is left in the cell \[J\], 0 or more.
    pub fn left_j(&self) -> f64 {
        (self.battery.joules() - self.taken.get()).max(0.0)
    }

    /// Energy that is left, as a share of the full cell.
    pub fn left(&self) -> f64 {
        self.left_j() / self.battery.joules()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Energy taken from the cell \[J\].
    pub fn taken_j(&self) -> f64 {
        self.taken.get()
    }

    /// Energy that the battery turned into heat \[J\].
    pub fn loss_j(&self) -> f64 {
        self.taken.get() - self.delivered.get()
    }

    /// Time after which it is empty at this load \[W\], rounded up to a whole nanosecond; `None` if that is beyond all
    /// times.
    pub fn empties_after(&self, load_w: f64) -> Option<SimSpan> {
        let drain = self.drain_w(load_w);
        let ns = (self.left_j() / drain * 1e9).ceil();
        (drain > 0.0 && ns < SimSpan::MAX.ns() as f64).then(|| SimSpan::from_ns(ns as u64))
    }

    /// Takes the energy of an instant \[J\]; a negative one is given back. Returns what is lost.
    pub fn strike(&mut self, joules: f64) -> f64 {
        let taken = joules / self.battery.efficiency;
        self.taken.add(taken);
        self.delivered.add(joules);
        taken - joules
    }

    /// Lets `span` pass at this load \[W\]. A negative load gives back energy that was thought to be needed. Returns the
    /// time after which the cell is empty, if that is by the end of `span`. An empty cell gives nothing more.
    pub fn advance(&mut self, load_w: f64, span: SimSpan) -> Option<SimSpan> {
        let drain = self.drain_w(load_w);
        if self.is_empty {
            return None;
        }
        let emptied = self.empties_after(load_w).filter(|it| *it <= span);
        self.is_empty = emptied.is_some();
        // Up to the whole nanosecond in which it becomes empty.
        let span = seconds(emptied.unwrap_or(span));
        self.taken.add(drain * span);
        self.delivered.add(load_w * span);
        emptied
    }
}

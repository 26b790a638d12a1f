//! Power that does not follow from layers: leakage, idling, gating, DRAM background.

use crate::units::SimSpan;

use super::Point;

/// Leakage of an accelerator by voltage and temperature:
///
/// ```text
/// L(V, T) = L_0 (V / V_0)^n exp(kappa (T - T_0))                       [W]
/// ```
///
/// n = 1 is the law of the published powers of two NPUs (`xrsim validate power`). kappa is the slope of the polynomial of
/// ARM's Mali power model (RK3368, RK3399), which exp(0.035 (T - 55)) follows within 2.6 % from 25 to 85 C. The model has n = 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leakage {
    /// L_0, where it comes from.
    pub amount: LeakageAmount,
    /// n, from 0 to 5.
    pub exponent: f64,
    /// kappa \[1/K\], from 0 to 0.2.
    pub per_k: f64,
    /// T_0 \[C\], from -40 to 150.
    pub at_c: f64,
}

/// Leakage at the nominal voltage and the reference temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeakageAmount {
    /// For each 1024 PEs \[mW\].
    PerPes(f64),
    /// That of the technology of the system, which is an order of magnitude; none if the system has no technology.
    Technology,
}

impl Default for Leakage {
    fn default() -> Self {
        Self { amount: LeakageAmount::PerPes(0.0), exponent: 1.0, per_k: 0.035, at_c: 55.0 }
    }
}

impl Leakage {
    /// Factor of the leakage at a point and temperature \[C\], where `nominal` is the nominal point.
    pub fn factor(&self, point: Point, nominal: Point, celsius: f64) -> f64 {
        let by_volt = match self.exponent {
            1.0 => point.volt / nominal.volt,
            exponent => libm::pow(point.volt / nominal.volt, exponent),
        };
        match celsius == self.at_c {
            true => by_volt,
            false => by_volt * libm::exp(self.per_k * (celsius - self.at_c)),
        }
    }
}

/// When an idle accelerator is cut from its supply, and the price of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// Time that it idles before.
    pub after: SimSpan,
    /// Share of its leakage that is left, from 0 to 1.
    pub left: f64,
    /// Time to wake up.
    pub wake: SimSpan,
    /// Energy to wake up \[uJ\].
    pub wake_uj: f64,
}

/// Power of DRAM beyond that of its transfers \[mW\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DramPower {
    /// While an accelerator runs.
    pub active_mw: f64,
    /// While none runs.
    pub idle_mw: f64,
}

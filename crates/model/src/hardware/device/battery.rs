//! Batteries.

/// A battery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Battery {
    /// Energy of the full cell \[Wh\], above 0.
    pub wh: f64,
    /// Share of the energy of the cell that reaches the load, above 0 up to 1.
    pub efficiency: f64,
    /// Loss at high power; `None`: the cell gives its energy at any power.
    pub peukert: Option<Peukert>,
}

/// Peukert's law in terms of power: a load of P drains the cell with `P (P / rated)^(exponent - 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peukert {
    /// Exponent, 1 to 1.5.
    pub exponent: f64,
    /// Power at which the energy of the cell was rated \[W\].
    pub rated_w: f64,
}

impl Battery {
    /// Most energy \[Wh\].
    pub const MAX_WH: f64 = 1e6;

    /// Energy of the full cell \[J\].
    pub fn joules(&self) -> f64 {
        self.wh * 3600.0
    }
}

//! Operating points: clocks with their voltages.

use thiserror::Error;

use crate::ids::PointId;
use crate::units::ClockRate;

/// An operating point of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Clock.
    pub clock: ClockRate,
    /// Voltage \[V\].
    pub volt: f64,
}

impl Point {
    /// Energy at `point` of work that takes `energy` here, of which `dram` does not depend on the voltage:
    /// `(e - d) (V_p / V_0)^2 + d`, in the unit of both.
    pub fn scaled_energy(self, energy: f64, dram: f64, point: Self) -> f64 {
        let ratio = point.volt / self.volt;
        (energy - dram) * (ratio * ratio) + dram
    }
}

/// Operating points in ascending order of clock; the voltage does not descend.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    name: Box<str>,
    points: Box<[Point]>,
    /// Published power at each point \[mW\]; empty without any. Nothing computes with it but checks of the law.
    powers_mw: Box<[f64]>,
    source: Box<str>,
}

/// Points that are no table.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PointsError {
    /// None, or too many.
    #[error("{0} points; allowed are 1 to {most}", most = Points::MOST)]
    Number(usize),
    /// A clock that is not above the one before it.
    #[error("{} MHz after {} MHz; clocks ascend", .clocks[1], .clocks[0])]
    Clock {
        /// Index of the point.
        index: usize,
        /// Clock before it and its own \[MHz\].
        clocks: [f64; 2],
    },
    /// A voltage that is below the one before it.
    #[error("{} V after {} V; voltages do not descend", .volts[1], .volts[0])]
    Volt {
        /// Index of the point.
        index: usize,
        /// Voltage before it and its own \[V\].
        volts: [f64; 2],
    },
    /// A voltage out of range.
    #[error("{volt} V; allowed is {} to {} V", Points::VOLTS[0], Points::VOLTS[1])]
    Range {
        /// Index of the point.
        index: usize,
        /// Its voltage \[V\].
        volt: f64,
    },
    /// Powers of some points only.
    #[error("{given} of {points} points have a power; give all of them or none")]
    Powers {
        /// Points with a power.
        given: usize,
        /// All points.
        points: usize,
    },
}

impl PointsError {
    /// Index of the point that is wrong.
    pub fn index(&self) -> Option<usize> {
        match *self {
            Self::Clock { index, .. } | Self::Volt { index, .. } | Self::Range { index, .. } => {
                Some(index)
            }
            Self::Number(_) | Self::Powers { .. } => None,
        }
    }
}

impl Points {
    /// Most points.
    pub const MOST: usize = 32;

    /// Least and largest voltage \[V\].
    pub const VOLTS: [f64; 2] = [0.2, 2.0];

    /// Points called `name`, with their published powers \[mW\], of which there may be none.
    ///
    /// # Errors
    ///
    /// [`PointsError`] if their number, order or voltages are not allowed.
    pub fn new(
        name: impl Into<Box<str>>,
        points: Vec<Point>,
        powers_mw: Vec<f64>,
    ) -> Result<Self, PointsError> {
        if !(1..=Self::MOST).contains(&points.len()) {
            return Err(PointsError::Number(points.len()));
        }
        if !powers_mw.is_empty() && powers_mw.len() != points.len() {
            return Err(PointsError::Powers { given: powers_mw.len(), points: points.len() });
        }
        for (index, &Point { clock, volt }) in points.iter().enumerate() {
            if !(Self::VOLTS[0]..=Self::VOLTS[1]).contains(&volt) {
                return Err(PointsError::Range { index, volt });
            }
            let Some(before) = index.checked_sub(1).map(|before| points[before]) else { continue };
            if clock <= before.clock {
                let clocks = [before.clock, clock].map(ClockRate::as_mhz);
                return Err(PointsError::Clock { index, clocks });
            }
            if volt < before.volt {
                return Err(PointsError::Volt { index, volts: [before.volt, volt] });
            }
        }
        let (points, powers_mw) = (points.into(), powers_mw.into());
        Ok(Self { name: name.into(), points, powers_mw, source: "".into() })
    }

    /// One point, at `clock`. No energy depends on its voltage.
    pub fn only(clock: ClockRate) -> Self {
        let point = Point { clock, volt: 1.0 };
        let (name, powers_mw, source) = ("nominal".into(), Box::default(), "".into());
        Self { name, points: [point].into(), powers_mw, source }
    }

    /// The same points with the source of the table.
    #[must_use]
    pub fn from_source(self, source: impl Into<Box<str>>) -> Self {
        Self { source: source.into(), ..self }
    }

    /// Source of the table; empty if it is not known.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All points, indexed by [`PointId`].
    pub fn all(&self) -> &[Point] {
        &self.points
    }

    /// Published power at each point \[mW\]; empty without any.
    pub fn powers_mw(&self) -> &[f64] {
        &self.powers_mw
    }

    /// A point.
    ///
    /// # Panics
    ///
    /// If there is no such point.
    #[inline]
    pub fn get(&self, point: PointId) -> Point {
        self.points[point.index()]
    }

    /// The point with the highest clock.
    pub fn highest(&self) -> PointId {
        PointId::new(self.points.len() - 1)
    }

    /// The point at `clock`; `None` if there is none.
    pub fn at(&self, clock: ClockRate) -> Option<PointId> {
        self.points.iter().position(|it| it.clock == clock).map(PointId::new)
    }

    /// The lowest point with at least `clock`; the highest one if there is none.
    pub fn at_least(&self, clock: ClockRate) -> PointId {
        let below = self.points.partition_point(|it| it.clock < clock);
        PointId::new(below.min(self.points.len() - 1))
    }

    /// The highest point with at most `clock`; the lowest one if there is none.
    pub fn at_most(&self, clock: ClockRate) -> PointId {
        let upto = self.points.partition_point(|it| it.clock <= clock);
        PointId::new(upto.saturating_sub(1))
    }

    /// The point of least energy for work that scales with the clock and takes `dynamic` and `static_share` parts of power
    /// at `nominal`, of equals the one with the higher clock. The static part is proportional to V^`exponent`.
    pub fn critical(&self, nominal: PointId, static_share: f64, exponent: f64) -> PointId {
        let reference = self.get(nominal);
        let energy = |point: &Point| {
            let volt = point.volt / reference.volt;
            let time = reference.clock.as_mhz() / point.clock.as_mhz();
            volt * volt + static_share * volt.powf(exponent) * time
        };
        let mut best = (0, f64::INFINITY);
        for (index, energy) in self.points.iter().map(energy).enumerate() {
            if energy <= best.1 {
                best = (index, energy);
            }
        }
        PointId::new(best.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RK3588 NPU (Rockchip, device tree `npu_opp_table`, first voltages).
    pub(super) const RK3588_NPU: [(f64, f64); 8] = [
        (300.0, 0.7),
        (400.0, 0.7),
        (500.0, 0.7),
        (600.0, 0.7),
        (700.0, 0.7),
        (800.0, 0.75),
        (900.0, 0.8),
        (1000.0, 0.85),
    ];

    fn points(of: &[(f64, f64)]) -> Result<Points, PointsError> {
        let point = |&(mhz, volt): &(f64, f64)| Point {
            clock: ClockRate::from_mhz(mhz).expect("a clock"),
            volt,
        };
        Points::new("some", of.iter().map(point).collect(), Vec::new())
    }

    #[test]
    fn clocks_ascend_and_voltages_do_not_descend() {
        let refused = |of: &[(f64, f64)]| points(of).expect_err("it is wrong").to_string();
        assert_eq!(refused(&[]), "0 points; allowed are 1 to 32");
        assert_eq!(refused(&[(300.0, 0.7), (300.0, 0.8)]), "300 MHz after 300 MHz; clocks ascend");
        assert_eq!(
            refused(&[(300.0, 0.8), (400.0, 0.7)]),
            "0.7 V after 0.8 V; voltages do not descend"
        );
        assert_eq!(refused(&[(300.0, 2.5)]), "2.5 V; allowed is 0.2 to 2 V");
        assert_eq!(refused(&[(300.0, f64::NAN)]), "NaN V; allowed is 0.2 to 2 V");
        assert!(points(&RK3588_NPU).is_ok());
    }

    #[test]
    fn points_are_found_by_their_clock() {
        let points = points(&RK3588_NPU).unwrap();
        let clock = |mhz| ClockRate::from_mhz(mhz).unwrap();
        let found = |it: PointId| points.get(it).clock.as_mhz();
        assert_eq!(points.at(clock(700.0)).map(found), Some(700.0));
        assert_eq!(points.at(clock(750.0)), None);
        assert_eq!(found(points.at_least(clock(750.0))), 800.0);
        assert_eq!(found(points.at_least(clock(2000.0))), 1000.0);
        assert_eq!(found(points.at_most(clock(750.0))), 700.0);
        assert_eq!(found(points.at_most(clock(100.0))), 300.0);
    }

    /// Below 700 MHz the voltage is flat and only the time of leakage grows. From 800 MHz up haste pays if leakage is more
    /// than r = min over f of ((V_f/V0)^2 - (V_700/V0)^2) / ((V_700/V0) f0/700 - (V_f/V0) f0/f) = 1.365 of the dynamic power.
    #[test]
    fn the_critical_point_of_the_rk3588_is_700_mhz_up_to_1365_per_mille_of_leakage() {
        let points = points(&RK3588_NPU).unwrap();
        let critical =
            |share| points.get(points.critical(points.highest(), share, 1.0)).clock.as_mhz();
        assert_eq!([0.0, 0.01, 0.5, 1.36].map(critical), [700.0; 4]);
        assert!(critical(1.37) > 700.0);
    }
}

//! `points:` files: operating points of accelerators.

use xrsim_model::hardware::device::{Point, Points, PointsError};
use xrsim_model::units::ClockRate;

use super::Problem;
use super::quantities::clock;
use super::yaml::Node;
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems};
use super::yaml::values::{Reader, at, at_most, list, number, proper_name, text};

/// Body of a `points:` file.
pub(super) fn points() -> impl Reader<Value = Points> {
    raw_points().then(|raw, node, problems| raw.check(node, problems))
}

keys! {
    /// Operating points of accelerators: clocks with their voltages, in ascending order.
    fn raw_points() -> struct RawPoints: "operating points" {
        /// Name of the points.
        name: Box<str> = required(proper_name());
        /// Source of the table, or the word `choice`.
        source: Box<str> = required(text());
        /// The points. Clocks ascend, voltages do not descend. An accelerator needs one at its own clock, for which mappings
        /// are chosen.
        points: Vec<At<RawPoint>> = required(at_most(Points::MOST, list("points", at(point()))));
    }
}

keys! {
    /// An operating point.
    fn point() -> struct RawPoint: "an operating point" {
        /// Clock \[MHz\].
        clock_mhz: ClockRate = required(clock());
        /// Voltage \[V\].
        volt: f64 = required(number(Points::VOLTS[0]..=Points::VOLTS[1]));
        /// Published power \[mW\], of all points or of none. Nothing computes with it: `xrsim validate power` compares it with
        /// the law.
        mw: Option<f64> = optional(number(0.0..=1e9));
    }
}

impl RawPoints {
    fn check(self, node: &Node<'_>, problems: &mut Problems) -> Option<Points> {
        let place = |at: &At<RawPoint>| at.span.clone();
        let places: Vec<_> = self.points.iter().map(place).collect();
        let powers: Vec<f64> = self.points.iter().filter_map(|at| at.value.mw).collect();
        let point = |at: &At<RawPoint>| Point { clock: at.value.clock_mhz, volt: at.value.volt };
        let points = self.points.iter().map(point).collect();
        match Points::new(self.name, points, powers) {
            Ok(points) => Some(points.from_source(self.source)),
            Err(error) => {
                let index = match error {
                    PointsError::Powers { .. } => {
                        self.points.iter().position(|at| at.value.mw.is_none())
                    }
                    _ => error.index(),
                };
                let place = index.and_then(|index| places.get(index).cloned());
                let place = place.unwrap_or(node.span.clone());
                problems.push(Problem::new(place, error.to_string()));
                None
            }
        }
    }
}

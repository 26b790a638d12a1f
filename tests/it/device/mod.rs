//! The device around the accelerators: operating points, leakage, gates, and the account of the energy.

mod body;
mod compare;
mod day;
mod files;
mod gating;
mod governors;
mod ledger;
mod limits;
mod mlperf;
mod points;
mod random;
mod trace;

use std::sync::Arc;

use crate::support::runs::Case;

use xrsim::device::Ledger;
use xrsim::engine::{self, Run};
use xrsim::hardware::Device;
use xrsim::hardware::device::{Point, Points};
use xrsim::load::RequestStream;
use xrsim::units::ClockRate;

/// Points of these clocks \[MHz\] and voltages \[V\].
fn points(of: &[(f64, f64)]) -> Arc<Points> {
    let point = |&(mhz, volt): &(f64, f64)| Point {
        clock: ClockRate::from_mhz(mhz).expect("a clock"),
        volt,
    };
    let points = Points::new("some", of.iter().map(point).collect(), Vec::new());
    Arc::new(points.expect("points of a test are good"))
}

/// The same plan on `device`, with costs at its points.
fn on(device: Device, mut case: Case) -> Case {
    case.plan.device = Some(Arc::new(device));
    let supplied = case.plan.supplied().expect("the device fits");
    let costs = Arc::unwrap_or_clone(case.costs).with_points(&supplied);
    case.costs = Arc::new(costs.expect("the layers have parts"));
    case
}

fn play(case: &Case, requests: &RequestStream) -> Run {
    engine::run(case, &case.costs, requests).expect("policies of this program do not fail")
}

fn account(case: &Case, requests: &RequestStream) -> Ledger {
    *play(case, requests).ledger.expect("there is a device")
}

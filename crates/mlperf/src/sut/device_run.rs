//! The device over a test: where the energy went, and what became of heat and charge.

use xrsim_model::hardware::device::Heat;
use xrsim_model::units::Millijoules;
use xrsim_sim::device::{Body, Item, Ledger, Stop};

/// The device from the start of a test to the end of its last sample, or to the instant at which it stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRun {
    /// Energy by item.
    pub ledger: Ledger,
    /// Heat and charge at the end.
    pub body: Body,
}

/// Items that are energy of requests.
const OF_REQUESTS: [Item; 4] = [Item::Dynamic, Item::Moved, Item::Wake, Item::LeakRunning];

impl DeviceRun {
    /// Energy of everything, of which `of_requests` is that of all requests.
    pub(crate) fn energy(&self, of_requests: Millijoules) -> Millijoules {
        let others = Item::ALL.into_iter().filter(|(item, _)| !OF_REQUESTS.contains(item));
        let others = others.map(|(item, _)| self.ledger.microjoules(item) / 1e3);
        others.fold(of_requests, |sum, mj| sum + Millijoules::new(mj))
    }

    /// Energy of everything.
    pub(crate) fn total(&self) -> Millijoules {
        Millijoules::new(self.ledger.total_microjoules() / 1e3)
    }

    /// Reason why nothing ran any more at the end, of a test that was not finished.
    pub fn why_stopped(&self) -> String {
        let after = |ns: u64| format!("{:.3} s", ns as f64 / 1e9);
        match self.body.stopped() {
            Some((at, Stop::Empty)) => format!("the battery is empty after {}", after(at.ns())),
            Some((at, Stop::TooHot(node))) => {
                format!(
                    "node `{node}` is hotter than {} C after {}",
                    Heat::HOTTEST_C,
                    after(at.ns())
                )
            }
            None => {
                let end = after(self.ledger.duration().ns());
                format!("trips let nothing start, at the end of {end}")
            }
        }
    }
}

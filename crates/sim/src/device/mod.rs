//! The device during a run: what has become of the energy, the state of every accelerator's supply, temperatures and
//! charge. Nothing here knows the engine.
//!
//! Power is piecewise constant. Temperatures and charge then follow in closed form, so that there is no step size and
//! no tolerance: a span in one step or in many gives the same but for rounding.

mod body;
mod charge;
mod ledger;
mod sum;
mod supplies;
mod thermal;
mod trips;

pub use body::{Body, Change, Sample, Section, Stop};
pub use charge::Charge;
pub use ledger::{Item, Ledger};
pub use sum::Sum;
pub use supplies::{Overhead, Standing, Supplies};
pub use thermal::Thermal;
pub use trips::{Limit, Trips};

#[cfg(test)]
mod tests;

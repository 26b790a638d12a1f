//! Events of submitted requests, as a load generator sees them.

use xrsim_model::ids::{AccelId, RequestId};
use xrsim_model::units::Millijoules;

/// An event of a submitted request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequestEvent {
    /// Its first layer started on this accelerator.
    Started(RequestId, AccelId),
    /// It ran to its end and took this energy.
    Executed(RequestId, Millijoules),
    /// The scheduler gave it up.
    Dropped(RequestId),
}

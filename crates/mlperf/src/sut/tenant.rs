//! Tenants, which queries are issued for, and a usage scenario in the background.

use std::sync::Arc;

use crate::rules::{Load, Test};
use xrsim_model::model::Network;
use xrsim_model::scenario::Scenario;
use xrsim_model::units::SimSpan;
use xrsim_sim::load::LoadSettings;

use super::batching::Batching;

/// A network that queries are issued for.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Network.
    pub network: Arc<Network>,
    /// How waiting samples become batches.
    pub batching: Batching,
    /// Relative deadline of a batch, from the arrival of its first sample, for schedulers that
    /// consider deadlines.
    pub relative_deadline: SimSpan,
}

impl Tenant {
    /// The tenant of `test`. Its relative deadline is the latency bound of a server, the interval of
    /// multi-stream, and one second under the loads without a bound.
    pub fn of_test(test: &Test, batching: Batching) -> Self {
        let relative_deadline = match test.load {
            Load::Server { bound, .. } => bound,
            Load::MultiStream { interval, .. } => interval,
            Load::SingleStream | Load::Offline => SimSpan::from_ns(1_000_000_000),
        };
        Self { network: Arc::clone(&test.task.network), batching, relative_deadline }
    }

    /// Whether samples wait for others while an accelerator is idle.
    pub(crate) fn holds_samples_back(&self) -> bool {
        self.batching.wait > SimSpan::ZERO
    }
}

/// A usage scenario whose frames arrive for as long as queries do.
#[derive(Debug, Clone)]
pub struct Background {
    /// Usage scenario.
    pub scenario: Arc<Scenario>,
    /// Seed and other settings of its frames; their duration is replaced by that of the test.
    pub load: LoadSettings,
}

impl Background {
    /// The background of `scenario` with the random draws of `seed`.
    pub fn new(scenario: Arc<Scenario>, seed: u64) -> Self {
        Self { scenario, load: LoadSettings { seed, ..LoadSettings::default() } }
    }
}

//! Sustained rates: whether a run shows a rate that the system can keep up.
//!
//! LoadGen judges a server by latencies alone. The latencies of a run that ends before a queue has grown
//! meet the bound at any rate: 64 queries of 3 ms that arrive at once are done after 192 ms, within a
//! bound of 250 ms. LoadGen calls such a run valid, and so does its summary here. Results of this program
//! also compare the rate with the throughput bound of the system, and the length of a run with its
//! latency bound.

use thiserror::Error;

use xrsim_model::units::{SimSpan, SimTime};

use crate::settings::{EffectiveSettings, LoadScenario};

use super::performance::{Metric, Performance};

/// Minimum length of a server run in latency bounds. If a system is too slow by some fraction, latency
/// grows by that fraction of the run; over ten bounds, a tenth too much load exceeds the bound.
const MIN_BOUNDS: u64 = 10;

/// Reason why the system does not sustain the rate of a run.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Unsustained {
    /// There is a single query, or queries take no time.
    #[error(
        "there is no rate of {queries} quer{} within {} ms; --min-queries and --min-duration make a test \
         longer",
        if *queries == 1 { "y" } else { "ies" },
        .lasted.as_ms()
    )]
    NoRate {
        /// Number of queries that were issued.
        queries: u64,
        /// Span of the run.
        lasted: SimSpan,
    },
    /// The rate exceeds the throughput bound of the system.
    #[error("{rate:.6} queries per second came, and the system completes at most {most:.6}")]
    TooFast {
        /// Rate of the queries \[1/s\].
        rate: f64,
        /// Throughput bound of the system \[1/s\].
        most: f64,
    },
    /// The run is too short for a queue to show.
    #[error(
        "the run is too short to show a queue: its last query is due after {} ms, and the bound is {} ms; \
         --min-duration {} is long enough",
        .lasted.as_ms(),
        .bound.as_ms(),
        least(*bound).as_ms() / 1e3
    )]
    TooShort {
        /// Span until the last query was due.
        lasted: SimSpan,
        /// Latency bound.
        bound: SimSpan,
    },
}

impl Unsustained {
    /// Reason against the rate of a run on a system whose throughput bound is `max_samples_per_s`; `None` if
    /// there is none, or if the result is not a rate.
    pub fn find(
        settings: &EffectiveSettings,
        performance: &Performance,
        max_samples_per_s: f64,
    ) -> Option<Self> {
        let queries = performance.queries;
        let (rate, lasted) = match performance.metric(settings) {
            Metric::Rate(rate) => {
                (rate.and(performance.scheduled_rate()), performance.last_scheduled - SimTime::ZERO)
            }
            Metric::Throughput(rate) => (rate, performance.sample_latency.max),
            Metric::Latency(_) | Metric::Streams(_) => return None,
        };
        let Some(rate) = rate else { return Some(Self::NoRate { queries, lasted }) };
        let bound = settings.target_latency;
        let is_server = settings.scenario == LoadScenario::Server;
        if is_server && lasted < least(bound) {
            return Some(Self::TooShort { lasted, bound });
        }
        (is_server && rate > max_samples_per_s)
            .then_some(Self::TooFast { rate, most: max_samples_per_s })
    }
}

/// Minimum length of a server run with this latency bound.
fn least(bound: SimSpan) -> SimSpan {
    SimSpan::from_ns(bound.ns().saturating_mul(MIN_BOUNDS))
}

/// Whether a run meets its latency constraint at a rate that a system with the throughput bound
/// `max_samples_per_s` sustains. A search for the highest rate uses this criterion. If the queries have no
/// rate, the target rate counts.
pub(crate) fn sustains_rate(
    settings: &EffectiveSettings,
    performance: &Performance,
    max_samples_per_s: f64,
) -> bool {
    performance.validity.meets_constraint()
        && !exceeds_capacity(settings, performance.scheduled_rate(), max_samples_per_s)
}

/// Whether queries arrive at a server faster than `max_samples_per_s`: at `scheduled_rate`, or at the target rate if
/// there is none.
pub(crate) fn exceeds_capacity(
    settings: &EffectiveSettings,
    scheduled_rate: Option<f64>,
    max_samples_per_s: f64,
) -> bool {
    let rate = scheduled_rate.unwrap_or(settings.target_qps);
    settings.scenario == LoadScenario::Server && rate > max_samples_per_s
}

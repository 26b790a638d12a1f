//! Whether a run shows a rate that the system can go on with.
//!
//! LoadGen judges a server by latencies alone, and those of a run that ends before a queue has grown keep
//! their bound at any rate: 64 queries of 3 ms that all come at once are done after 192 ms, within a bound
//! of 250 ms. LoadGen calls such a run valid, and so does its summary here. What is said of a system beyond
//! that summary holds a rate against what the system can complete, and a run against its bound.

use thiserror::Error;

use crate::units::{SimSpan, SimTime};

use crate::mlperf::settings::{EffectiveSettings, LoadScenario};

use super::performance::{Metric, Performance};

/// Times the bound that a server run lasts at least. While a system falls behind by a share of the time,
/// the latency grows by that share of the run; in ten bounds a tenth too much exceeds the bound.
const MIN_BOUNDS: u64 = 10;

/// Why the rate of a run is none that the system sustains.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Unsustained {
    /// A single query, or queries that take no time.
    #[error(
        "there is no rate of {queries} quer{} within {} ms; --min-queries and --min-duration make a test \
         longer",
        if *queries == 1 { "y" } else { "ies" },
        .lasted.as_ms()
    )]
    NoRate {
        /// Queries that were issued.
        queries: u64,
        /// What a rate would be over.
        lasted: SimSpan,
    },
    /// The system cannot complete as many.
    #[error("{rate:.6} queries per second came, and the system completes at most {most:.6}")]
    TooFast {
        /// Queries per second.
        rate: f64,
        /// What the system completes at most \[1/s\].
        most: f64,
    },
    /// A queue would not show.
    #[error(
        "the run is too short to show a queue: its last query is due after {} ms, and the bound is {} ms; \
         --min-duration {} is long enough",
        .lasted.as_ms(),
        .bound.as_ms(),
        least(*bound).as_ms() / 1e3
    )]
    TooShort {
        /// Until the last query was due.
        lasted: SimSpan,
        /// Latency bound.
        bound: SimSpan,
    },
}

impl Unsustained {
    /// What speaks against the rate of a run on a system that completes `most_per_s` samples per second at
    /// most; nothing against results that are no rates.
    pub fn of(
        settings: &EffectiveSettings,
        performance: &Performance,
        most_per_s: f64,
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
        (is_server && rate > most_per_s).then_some(Self::TooFast { rate, most: most_per_s })
    }
}

/// How long a server run with this bound lasts at least.
fn least(bound: SimSpan) -> SimSpan {
    SimSpan::from_ns(bound.ns().saturating_mul(MIN_BOUNDS))
}

/// Whether a run holds what is asked of its latencies at a rate that a system can complete which completes
/// `most_per_s` samples per second at most: what a search for the highest rate goes by. Where queries have
/// no rate, the one that was asked for counts.
pub fn sustains_rate(
    settings: &EffectiveSettings,
    performance: &Performance,
    most_per_s: f64,
) -> bool {
    performance.validity.holds() && !exceeds_capacity(settings, performance, most_per_s)
}

/// Whether queries come to a server faster than `most_per_s`.
pub(crate) fn exceeds_capacity(
    settings: &EffectiveSettings,
    performance: &Performance,
    most_per_s: f64,
) -> bool {
    let rate = || performance.scheduled_rate().unwrap_or(settings.target_qps);
    settings.scenario == LoadScenario::Server && rate() > most_per_s
}

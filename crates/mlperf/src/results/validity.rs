//! Validity of a run, with LoadGen's reasons.

use xrsim_model::statistics::{EarlyStopping, Fraction};
use xrsim_model::units::SimSpan;

use crate::run::STOPPED;
use crate::settings::{EffectiveSettings, LoadScenario};

/// Percentile of multi-stream that a single-stream run estimates too.
pub(crate) const INFERRED_PERCENTILE: Fraction = Fraction::P99;

/// Upper estimate of a percentile by [`EarlyStopping`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Percentile.
    pub percentile: Fraction,
    /// Minimum number of queries for an estimate.
    pub needed: u64,
    /// Number of queries of the run.
    pub queries: u64,
    /// Number of the largest latencies that could exceed the percentile, at least 1, and the estimate;
    /// `None` with too few queries.
    pub found: Option<(u64, SimSpan)>,
}

impl Estimate {
    /// Rank of the estimate among the latencies of `n` queries, from 0.
    pub(crate) fn rank(n: usize, percentile: Fraction) -> Option<usize> {
        EarlyStopping::at(percentile).estimate(n as u64).map(|rank| rank as usize)
    }

    /// Estimate from `latencies` of queries, which hold at [`Self::rank`] the value that a sorted list
    /// holds there.
    pub(crate) fn compute(latencies: &[SimSpan], percentile: Fraction) -> Self {
        let n = latencies.len();
        let found = Self::rank(n, percentile).map(|rank| ((n - rank) as u64, latencies[rank]));
        let needed = EarlyStopping::at(percentile).queries(1);
        Self { percentile, needed, queries: n as u64, found }
    }

    /// Estimated latency; zero, as LoadGen reports it, without an estimate.
    pub fn latency(&self) -> SimSpan {
        self.found.map_or(SimSpan::ZERO, |(_, latency)| latency)
    }
}

/// Outcome of [`EarlyStopping`] for a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EarlyStoppingOutcome {
    /// Offline: early stopping does not apply.
    NotNeeded,
    /// Server: the bound holds if there are enough queries for the number of those above it.
    Bound {
        /// Number of queries of the run.
        queries: u64,
        /// Number of queries above the bound.
        overlatency: u64,
        /// Number of queries that is enough if no further query exceeds the bound.
        required: u64,
    },
    /// Single-stream and multi-stream: the percentile is estimated.
    Estimates {
        /// Estimate of the percentile of the result.
        target: Estimate,
        /// Single-stream: estimate of the percentile of multi-stream.
        inferred: Option<Estimate>,
    },
}

impl EarlyStoppingOutcome {
    /// Server: outcome for `overlatency` of `queries` queries above the bound.
    pub(crate) fn of_bound(queries: u64, overlatency: u64, percentile: Fraction) -> Self {
        let required = EarlyStopping::at(percentile).queries(overlatency);
        Self::Bound { queries, overlatency, required }
    }

    /// Whether the run is long enough for its percentile.
    pub fn is_satisfied(&self) -> bool {
        match self {
            Self::NotNeeded => true,
            Self::Bound { queries, required, .. } => queries >= required,
            Self::Estimates { target, .. } => target.found.is_some(),
        }
    }
}

/// Conditions of a valid run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validity {
    scenario: LoadScenario,
    fixed_interval: bool,
    /// Whether the latency bound of Server, or the interval, holds; `None` in other scenarios.
    pub performance: Option<bool>,
    /// Whether the minimum duration was reached.
    pub min_duration: bool,
    /// Whether the minimum numbers of queries and samples were reached.
    pub min_queries: bool,
    /// Outcome of early stopping; `None` before LoadGen v2.0.
    pub early_stopping: Option<EarlyStoppingOutcome>,
    /// Whether every sample was done, which LoadGen takes for granted.
    pub is_finished: bool,
}

impl Validity {
    pub(crate) fn new(
        settings: &EffectiveSettings,
        performance: Option<bool>,
        min_duration: bool,
        min_queries: bool,
        early_stopping: EarlyStoppingOutcome,
    ) -> Self {
        Self {
            scenario: settings.scenario,
            fixed_interval: settings.loadgen.has_fixed_interval(),
            performance,
            min_duration,
            min_queries,
            early_stopping: settings.loadgen.has_early_stopping().then_some(early_stopping),
            is_finished: true,
        }
    }

    /// Whether every condition holds.
    pub fn is_valid(&self) -> bool {
        self.meets_constraint() && self.min_duration && self.min_queries
    }

    /// Whether the latency constraint holds, of samples that were all done, with enough queries for early stopping.
    pub fn meets_constraint(&self) -> bool {
        self.is_finished
            && self.performance != Some(false)
            && self.early_stopping.is_none_or(|early_stopping| early_stopping.is_satisfied())
    }

    /// LoadGen's recommendation for each condition that does not hold, except early stopping, which has a
    /// text of its own.
    pub(crate) fn recommendations(&self) -> Vec<&'static str> {
        let latency = (self.performance == Some(false)).then_some(self.lower_the_load());
        let duration = (!self.min_duration).then_some(self.make_more_queries());
        let queries = (!self.min_queries).then_some(EXITED_EARLY);
        let stopped = (!self.is_finished).then_some(STOPPED);
        stopped.into_iter().chain(latency).chain(duration).chain(queries).collect()
    }

    /// These recommendations as LoadGen's detailed log has them under `result_invalid_reason`.
    pub fn invalid_reason(&self) -> String {
        let spaced =
            |text: &str| if text == EXITED_EARLY { text.into() } else { format!("{text} ") };
        self.recommendations().into_iter().map(spaced).collect()
    }

    fn lower_the_load(&self) -> &'static str {
        match self.scenario {
            LoadScenario::MultiStream => "Reduce samples per query to improve latency.",
            _ => "Reduce target QPS to improve latency.",
        }
    }

    fn make_more_queries(&self) -> &'static str {
        match self.scenario {
            LoadScenario::MultiStream if self.fixed_interval => {
                "MultiStream should always meet the minimum duration. Please file a bug."
            }
            LoadScenario::SingleStream | LoadScenario::MultiStream => {
                "Decrease the expected latency so the loadgen pre-generates more queries."
            }
            LoadScenario::Server => {
                "Increase the target QPS so the loadgen pre-generates more queries."
            }
            LoadScenario::Offline => {
                "Increase expected QPS so the loadgen pre-generates a larger (coalesced) query."
            }
        }
    }
}

/// LoadGen's message about too few queries.
pub(crate) const EXITED_EARLY: &str = "The test exited early, before enough queries were issued.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};

    fn validity(scenario: LoadScenario, loadgen: LoadGenVersion, holds: [bool; 3]) -> Validity {
        let library = QuerySampleLibrary { performance_samples: 1, total_samples: 1 };
        let settings =
            EffectiveSettings::new(&TestSettings::new(scenario), library, loadgen).unwrap();
        let [performance, duration, queries] = holds;
        let performance = (scenario == LoadScenario::Server).then_some(performance);
        Validity::new(&settings, performance, duration, queries, EarlyStoppingOutcome::NotNeeded)
    }

    #[test]
    fn a_run_is_valid_if_every_condition_holds() {
        assert!(validity(LoadScenario::Server, LoadGenVersion::V6_0, [true; 3]).is_valid());
        for broken in 0..3 {
            let mut holds = [true; 3];
            holds[broken] = false;
            assert!(!validity(LoadScenario::Server, LoadGenVersion::V6_0, holds).is_valid());
        }
        let mut stopped = validity(LoadScenario::Server, LoadGenVersion::V6_0, [true; 3]);
        stopped.is_finished = false;
        assert!(!stopped.is_valid());
        assert_eq!(stopped.invalid_reason().trim(), STOPPED);
        let short = EarlyStoppingOutcome::of_bound(236, 0, Fraction::P99);
        assert_eq!(
            short,
            EarlyStoppingOutcome::Bound { queries: 236, overlatency: 0, required: 459 }
        );
        let mut server = validity(LoadScenario::Server, LoadGenVersion::V6_0, [true; 3]);
        server.early_stopping = Some(short);
        assert!(!server.is_valid());
        assert_eq!(
            validity(LoadScenario::Server, LoadGenVersion::V0_5, [true; 3]).early_stopping,
            None
        );
    }

    #[test]
    fn reasons_are_those_of_loadgen() {
        let server = validity(LoadScenario::Server, LoadGenVersion::V6_0, [false, false, false]);
        assert_eq!(
            server.invalid_reason(),
            "Reduce target QPS to improve latency. Increase the target QPS so the loadgen \
             pre-generates more queries. The test exited early, before enough queries were issued."
        );
        let single = validity(LoadScenario::SingleStream, LoadGenVersion::V6_0, [true, true, true]);
        assert_eq!(single.invalid_reason(), "");
    }

    /// 64 latencies of 0 to 63 give t* = 1, so that the estimate is the largest; 63 are too few.
    #[test]
    fn estimates_are_order_statistics() {
        let latencies: Vec<_> = (0..64).map(SimSpan::from_ns).collect();
        let found = Estimate::compute(&latencies, Fraction::P90);
        assert_eq!((found.needed, found.found), (64, Some((1, SimSpan::from_ns(63)))));
        let few = Estimate::compute(&latencies[..63], Fraction::P90);
        assert_eq!((few.found, few.latency()), (None, SimSpan::ZERO));
    }
}

//! Versions of LoadGen, as far as they behave differently.

/// Version of LoadGen. Each variant is named for the first round with its behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LoadGenVersion {
    /// v0.5 and v0.7.
    V0_5,
    /// v1.0 and v1.1: the detailed log is JSON; names have no spaces.
    V1_0,
    /// v2.0: multi-stream issues on completion; early stopping.
    V2_0,
    /// v2.1 to v4.0: the log has the time that the name of the system takes.
    V2_1,
    /// v4.1 and v5.0: the server result is the rate of completion.
    V4_1,
    /// v5.1: the log has the number of errors; percentiles have a decimal.
    V5_1,
    /// LoadGen 6.0.17: the performance set is a permutation of the first samples.
    V6_0,
}

impl LoadGenVersion {
    /// Whether multi-stream queries have a fixed interval, which is skipped while too many queries are
    /// outstanding. Otherwise the next query is issued on completion.
    pub(crate) fn has_fixed_interval(self) -> bool {
        self < Self::V2_0
    }

    /// Whether runs must be long enough for [`EarlyStopping`](xrsim_model::statistics::EarlyStopping).
    pub fn has_early_stopping(self) -> bool {
        self >= Self::V2_0
    }

    /// Whether the server result is the rate of completion instead of the scheduled rate.
    pub(crate) fn reports_completion(self) -> bool {
        self >= Self::V4_1
    }

    /// Number of decimals of percentiles in messages.
    pub(crate) fn percentile_decimals(self) -> usize {
        usize::from(self >= Self::V5_1)
    }

    /// Whether the performance set is drawn from the whole library instead of its first samples.
    pub(crate) fn draws_from_all_samples(self) -> bool {
        self < Self::V6_0
    }

    /// Whether the permutations of equal issue mode are drawn before the samples in every run.
    pub(crate) fn draws_equal_issue(self) -> bool {
        self >= Self::V2_0
    }
}

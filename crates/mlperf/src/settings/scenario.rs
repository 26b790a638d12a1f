//! Load scenarios and test modes.

use std::fmt;

use super::version::LoadGenVersion;

/// Load scenario (ISCA 2020, Table II).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadScenario {
    /// One sample a query; the next query is issued when the one before is done.
    SingleStream,
    /// Several samples a query. `LoadGenVersion::has_fixed_interval` tells when the next query is
    /// issued.
    MultiStream,
    /// Poisson arrivals of queries of one sample, under a latency bound.
    Server,
    /// All samples in one query.
    Offline,
}

impl LoadScenario {
    /// Every scenario, in the order of the paper.
    pub const ALL: [Self; 4] = [Self::SingleStream, Self::MultiStream, Self::Server, Self::Offline];

    /// LoadGen's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleStream => "SingleStream",
            Self::MultiStream => "MultiStream",
            Self::Server => "Server",
            Self::Offline => "Offline",
        }
    }

    /// Name in the summary of `loadgen`.
    pub(crate) fn name_in_summary(self, loadgen: LoadGenVersion) -> &'static str {
        match self {
            Self::SingleStream if loadgen < LoadGenVersion::V1_0 => "Single Stream",
            Self::MultiStream if loadgen < LoadGenVersion::V1_0 => "Multi Stream",
            _ => self.name(),
        }
    }
}

impl fmt::Display for LoadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Mode of a test. Accuracy mode is not simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TestMode {
    /// Performance mode: one run.
    PerformanceOnly,
    /// Search for the highest rate, or the largest number of streams, whose run passes.
    FindPeakPerformance,
}

impl TestMode {
    /// LoadGen's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PerformanceOnly => "PerformanceOnly",
            Self::FindPeakPerformance => "FindPeakPerformance",
        }
    }

    /// Name in the summary of `loadgen`.
    pub(crate) fn name_in_summary(self, loadgen: LoadGenVersion) -> &'static str {
        match self {
            _ if loadgen >= LoadGenVersion::V1_0 => self.name(),
            Self::PerformanceOnly => "Performance",
            Self::FindPeakPerformance => "Find Peak Performance",
        }
    }
}

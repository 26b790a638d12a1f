//! Suites of MLPerf: tasks with network, data set and quality target, and the tests of each.
//!
//! Sources: Reddi et al., MLPerf Inference Benchmark (ISCA 2020), Tables I to V; Janapa Reddi et al.,
//! MLPerf Mobile Inference Benchmark (MLSys 2022), Table 1 and section 6 of the paper; MLPerf Mobile v3.0 results.

use std::sync::Arc;

use crate::settings::LoadScenario;
use xrsim_model::model::Network;
use xrsim_model::sequence::distinct_by;
use xrsim_model::units::SimSpan;

/// Benchmark of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Benchmark {
    /// MLPerf Inference.
    Inference,
    /// MLPerf Mobile.
    Mobile,
}

/// Tests of one round of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Name, e.g. `inference_v0.5`.
    pub name: Box<str>,
    /// Benchmark.
    pub benchmark: Benchmark,
    /// Round, e.g. `v0.5`.
    pub round: Box<str>,
    /// Tests, in the order in which they run.
    pub tests: Vec<Test>,
    /// Pauses in which the system cools down, if the rules have them.
    pub cooldown: Option<Cooldown>,
    /// Statements about deviations from the publication and about unverified values.
    pub deviations: Vec<Box<str>>,
}

/// Test: one task under one load.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Task; all tests of one task share it.
    pub task: Arc<Task>,
    /// Load scenario with its latency constraint.
    pub load: Load,
    /// Percentile of the result or of the constraint, as a fraction in (0, 1): percent times 0.01, as
    /// LoadGen computes it. `None` for [`Load::Offline`].
    pub percentile: Option<f64>,
    /// Minimum number of queries; of samples for [`Load::Offline`], which has one query. At least 1.
    pub min_count: u64,
    /// Minimum duration.
    pub min_duration: SimSpan,
    /// Whether a submission may omit the test.
    pub is_optional: bool,
}

/// Task: network, data set and quality target (ISCA 2020, Table I).
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Name, e.g. `image_classification_heavy`.
    pub name: Box<str>,
    /// Name in words.
    pub title: Box<str>,
    /// Reference model.
    pub network: Arc<Network>,
    /// Data set.
    pub dataset: Box<str>,
    /// Size of an input, in words, e.g. `224x224`.
    pub input: Box<str>,
    /// Quality target.
    pub quality: Quality,
    /// Number of samples in memory during a test, which queries draw from; at least 1.
    pub performance_samples: u64,
}

/// Quality target of a submission; higher is better in every metric of MLPerf.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// Metric, e.g. `mAP`.
    pub metric: Box<str>,
    /// Unit of its values, e.g. `%`; empty for plain numbers.
    pub unit: Box<str>,
    /// Required value.
    pub target: QualityTarget,
}

/// Value of a quality metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QualityTarget {
    /// A share of the value of the reference model in 32-bit floating point.
    OfFp32 {
        /// Value of the reference model, above 0.
        fp32: f64,
        /// Share \[%\], above 0.
        percent: f64,
    },
    /// An absolute value, above 0.
    Absolute(f64),
}

impl QualityTarget {
    /// Value that has to be reached.
    pub fn value(self) -> f64 {
        match self {
            Self::OfFp32 { fp32, percent } => fp32 * percent / 100.0,
            Self::Absolute(value) => value,
        }
    }
}

/// Load scenario (ISCA 2020, Table II) with its constraint on latency (Table III).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// One sample a query; the next query is issued when the one before is done.
    SingleStream,
    /// Several samples a query, one query in each interval.
    MultiStream {
        /// Interval and latency bound.
        ///
        /// Deviation: Table III prints 66 ms where LoadGen's configuration has 15 queries a second.
        interval: SimSpan,
        /// Rate from which LoadGen computes its ticks \[1/s\].
        queries_per_s: f64,
    },
    /// Poisson arrivals of queries of one sample.
    Server {
        /// Latency bound.
        bound: SimSpan,
        /// Number of runs, the lowest result of which counts.
        runs: u32,
    },
    /// All samples in one query.
    Offline,
}

impl Load {
    /// Scenario of LoadGen.
    pub fn scenario(self) -> LoadScenario {
        match self {
            Self::SingleStream => LoadScenario::SingleStream,
            Self::MultiStream { .. } => LoadScenario::MultiStream,
            Self::Server { .. } => LoadScenario::Server,
            Self::Offline => LoadScenario::Offline,
        }
    }

    /// Names of all loads, in the order of the paper.
    pub const NAMES: [&str; 4] = ["single-stream", "multi-stream", "server", "offline"];

    /// Name.
    pub fn name(self) -> &'static str {
        let index = match self {
            Self::SingleStream => 0,
            Self::MultiStream { .. } => 1,
            Self::Server { .. } => 2,
            Self::Offline => 3,
        };
        Self::NAMES[index]
    }
}

/// Pauses between tests (MLPerf Mobile, section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cooldown {
    /// Pause between two tests.
    pub between_tests: SimSpan,
    /// Longest pause that may be chosen instead.
    pub max_between_tests: SimSpan,
    /// Recommended pause between two runs of the suite.
    pub between_runs: SimSpan,
}

impl Suite {
    /// The test of the task called `task` under `scenario`, if the suite has it.
    pub fn test(&self, task: &str, scenario: LoadScenario) -> Option<&Test> {
        let is_asked = |test: &&Test| *test.task.name == *task && test.load.scenario() == scenario;
        self.tests.iter().find(is_asked)
    }

    /// Tasks in the order of their first tests.
    pub fn tasks(&self) -> Vec<&Arc<Task>> {
        distinct_by(self.tests.iter().map(|test| &test.task), |a, b| Arc::ptr_eq(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_reference_is_a_value() {
        let target = QualityTarget::OfFp32 { fp32: 76.0, percent: 99.0 };
        assert_eq!(target.value(), 76.0 * 99.0 / 100.0);
        assert_eq!(QualityTarget::Absolute(33.0).value(), 33.0);
    }

    #[test]
    fn names_of_loads_do_not_depend_on_their_constraints() {
        let loads = [
            Load::SingleStream,
            Load::MultiStream { interval: SimSpan::ZERO, queries_per_s: 1.0 },
            Load::Server { bound: SimSpan::ZERO, runs: 1 },
            Load::Offline,
        ];
        assert_eq!(loads.map(Load::name), Load::NAMES);
    }
}

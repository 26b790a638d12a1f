//! Reasons why no further query was issued.

use std::fmt;

use xrsim_model::units::SimSpan;

/// Reason why an issuing thread issued no further query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The minimum number of queries and the minimum duration were reached; in Server, all queries were
    /// issued.
    Natural,
    /// The generated queries were not enough.
    RanOut,
    /// The maximum number of queries was reached.
    MaxQueries {
        /// Issuing thread.
        thread: usize,
        /// Queries that the thread issued.
        issued: u64,
    },
    /// The maximum duration was exceeded.
    MaxDuration {
        /// Issuing thread.
        thread: usize,
        /// Span from the start to the last query.
        elapsed: SimSpan,
    },
    /// More queries were outstanding than allowed.
    TooManyOutstanding {
        /// Issuing thread.
        thread: usize,
        /// Queries issued by all threads.
        issued: u64,
        /// Queries of these that were not completed.
        outstanding: u64,
    },
    /// The system stopped before every sample was done. LoadGen has no such ending.
    Stopped,
}

/// Message about a system that stopped.
pub(crate) const STOPPED: &str = "The system stopped before every sample was done.";

impl Ending {
    /// Whether LoadGen logs the ending as an error. An error alone does not make a run invalid.
    pub fn is_error(self) -> bool {
        self != Self::Natural
    }
}

/// Writes LoadGen's message.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Natural => {
                write!(f, "Ending naturally: Minimum query count and test duration met.")
            }
            Self::RanOut => write!(
                f,
                "Ending early: Ran out of generated queries to issue before the minimum query count \
                 and test duration were reached. Please update the relevant expected latency or \
                 target qps in the TestSettings so they are more accurate."
            ),
            Self::MaxQueries { thread, issued } => write!(
                f,
                "IssueQueryThread {thread} Ending early: Max query count reached. query_count {issued}"
            ),
            Self::MaxDuration { thread, elapsed } => write!(
                f,
                "IssueQueryThread {thread} Ending early: Max test duration reached. duration_ns {}",
                elapsed.ns()
            ),
            Self::TooManyOutstanding { thread, issued, outstanding } => write!(
                f,
                "IssueQueryThread {thread} Ending early: Too many outstanding queries. issued \
                 {issued} outstanding {outstanding}"
            ),
            Self::Stopped => write!(f, "Ending early: {STOPPED}"),
        }
    }
}

//! The tables of scores. A new score is a module with a definition, and a line in a table below.
//!
//! The order of a table is the order of the columns in every output.

use xrsim_model::column::{Column, Kind};
use xrsim_model::scenario::ActiveModel;
use xrsim_model::units::{Millijoules, SimTime};

use super::{Counts, ScoreSettings, accuracy, energy, inference, overall, qoe, realtime};

/// An executed request, as unit scores see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Executed<'a> {
    /// Model of the request.
    pub model: &'a ActiveModel,
    /// Variant of the model that it ran.
    pub variant: u32,
    /// Deadline (T_dl).
    pub deadline: SimTime,
    /// End of the execution.
    pub end: SimTime,
    /// Energy of the execution (En).
    pub energy: Millijoules,
    /// Parameters.
    pub settings: &'a ScoreSettings,
}

/// Sums over the requests of one model, from which the scores of the model are computed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// Sums of the scores of executed requests.
    pub sums: InferenceScore,
    /// Counts of requests.
    pub counts: Counts,
}

/// Definition of a score: its names, its meaning and its computation.
///
/// `F` is `fn(&Executed, &InferenceScore) -> f64` for scores of a request, and
/// `fn(&Tally, &Score) -> f64` for scores of a model. The second argument has the scores of the
/// lines above in the table; those below are still 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Definition<F> {
    /// Heading in tables of a terminal.
    pub heading: &'static str,
    /// Title of an axis and heading in pages.
    pub label: &'static str,
    /// Meaning, in a phrase.
    pub help: &'static str,
    /// [`Kind::Overall`] for the score that stands for a run, [`Kind::Score`] for others.
    pub kind: Kind,
    /// Computes the score.
    pub of: F,
}

/// Definition of a score of executed requests.
pub(super) type RequestScore = Definition<fn(&Executed<'_>, &InferenceScore) -> f64>;

/// Definition of a score of models; a score of a run is the mean over its models.
pub(super) type ModelScore = Definition<fn(&Tally, &Score) -> f64>;

impl<F> Definition<F> {
    /// The column of a record whose field `name` holds the score.
    const fn column<R>(&self, name: &'static str, value: fn(&R) -> Option<f64>) -> Column<R> {
        let Self { heading, label, help, kind, .. } = *self;
        Column::share(name, label, value).higher(help).headed(heading).of_kind(kind)
    }
}

/// Makes a record with a field and a column for every line of the table.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $Record:ident of $Source:ty {
            $($(#[$doc:meta])* $field:ident: $definition:expr,)*
        }
        $($(#[$rest_doc:meta])* with $rest:ident: $Rest:ty)?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        #[non_exhaustive]
        pub struct $Record {
            $($(#[$doc])* pub $field: f64,)*
            $($(#[$rest_doc])* pub $rest: $Rest,)?
        }

        impl $Record {
            /// The scores, in the order of every output.
            pub const SCORES: &[Column<Self>] =
                &[$($definition.column(stringify!($field), |it: &Self| Some(it.$field)),)*];

            /// Setters of the scores, in the same order.
            const SETTERS: &[fn(&mut Self, f64)] = &[$(|it, value| it.$field = value,)*];

            /// The scores of `source`.
            pub(super) fn compute(source: &$Source) -> Self {
                let mut scores = Self::default();
                $(scores.$field = ($definition.of)(source, &scores);)*
                scores
            }

            /// Adds the scores of `other`.
            pub(super) fn add_scores(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// Reads the scores column by column, for instance from a row of a file.
            ///
            /// # Errors
            ///
            /// The first error of `value`.
            pub fn read_scores<E>(
                mut value: impl FnMut(&'static Column<Self>) -> Result<f64, E>,
            ) -> Result<Self, E> {
                let mut scores = Self::default();
                for (column, set) in Self::SCORES.iter().zip(Self::SETTERS) {
                    set(&mut scores, value(column)?);
                }
                Ok(scores)
            }
        }
    };
}

table! {
    /// Scores of one executed request, each in [0, 1].
    pub struct InferenceScore of Executed<'_> {
        /// Definition 10.
        realtime: realtime::OF_REQUEST,
        /// Definition 11.
        energy: energy::OF_REQUEST,
        /// Definition 12.
        accuracy: accuracy::OF_REQUEST,
        /// Definition 14: the product of the three scores above.
        inference: inference::OF_REQUEST,
    }
}

table! {
    /// Scores and counts of one model, or of a run: means and sums over its models.
    pub struct Score of Tally {
        /// Mean real-time score over executed requests; 0 if there are none.
        realtime: realtime::OF_MODEL,
        /// Mean energy score over executed requests; 0 if there are none.
        energy: energy::OF_MODEL,
        /// Mean accuracy score over executed requests; 0 if there are none.
        accuracy: accuracy::OF_MODEL,
        /// Definition 13.
        qoe: qoe::OF_MODEL,
        /// Definition 15 as printed: sum of inference scores over NumFrm, times QoE.
        score: overall::PRINTED,
        /// The reading of section 3.7 of the paper: mean of inference scores over *executed* requests, times QoE.
        score_executed_mean: overall::EXECUTED_MEAN,
    }
    /// Counts.
    with counts: Counts
}

impl Score {
    /// The primary metric: the score of a run, Definition 15 as printed. All commands rank by it unless another
    /// column is asked for.
    ///
    /// It is the score of the benchmark and of its published results, and its mean over scenarios is the XRBench
    /// score (Definition 16). `score_executed_mean` is the other reading of the paper; bounds hold for both, because it
    /// is never below the primary metric.
    pub fn primary() -> &'static Column<Self> {
        let is_primary = |column: &&Column<Self>| column.kind == Kind::Overall;
        Self::SCORES.iter().find(is_primary).expect("the table has an overall score")
    }
}

impl Tally {
    /// Mean over executed requests of a sum; 0 if there are none.
    pub(super) fn mean_over_executed(&self, sum: f64) -> f64 {
        mean(sum, self.counts.executed)
    }

    /// Mean over all requests of a sum; 0 if there are none.
    pub(super) fn mean_over_requests(&self, sum: f64) -> f64 {
        mean(sum, self.counts.requests)
    }
}

/// `sum / n`; 0 if `n` is 0.
pub(super) fn mean(sum: f64, n: u64) -> f64 {
    match n {
        0 => 0.0,
        _ => sum / n as f64,
    }
}

/// Number of requests.
pub(crate) const REQUESTS: Column<Score> =
    Column::count("requests", "Requests", |it: &Score| Some(it.counts.requests as f64))
        .higher("requests that the sensors asked for");

/// Energy of all executions \[mJ\].
pub const ENERGY: Column<Score> =
    Column::quantity("energy_mj", "mJ", "Energy", |it: &Score| Some(it.counts.energy.get()))
        .lower("energy of all executions after the warm-up, finished or aborted")
        .headed("energy mJ");

/// 99th percentile of the response times \[ms\].
pub(crate) const LATENCY_P99: Column<Score> =
    Column::quantity("latency_p99_ms", "ms", "Latency p99", |it: &Score| {
        Some(it.counts.latency_p99_ms)
    })
    .lower("99th percentile of the response times of executed requests, of sequences those of the tokens after the first, of the model where it is largest; 0 without executed requests")
    .headed("p99 ms");

/// Share of the time to the deadline that remains.
pub(crate) const HEADROOM: Column<Score> =
    Column::quantity("headroom", "", "Headroom", |it: &Score| Some(it.counts.headroom))
        .higher("share of the time from arrival to deadline that 99 % of the executed requests leave at least, of the model \
            that leaves least; negative if more are late");

impl Score {
    /// Counts and energy, in the order of every output, after the scores.
    pub(crate) const COUNTS: &[Column<Self>] = &[
        REQUESTS,
        Column::count("executed", "Executed", |it: &Self| Some(it.counts.executed as f64))
            .higher("requests that ran to their end, on time or late"),
        Column::count("dropped", "Dropped", |it: &Self| Some(it.counts.dropped as f64))
            .lower("requests that were given up"),
        Column::count("not_triggered", "Not triggered", |it: &Self| {
            Some(it.counts.not_triggered as f64)
        })
        .lower("requests that their upstream result did not trigger"),
        Column::count("late", "Late", |it: &Self| Some(it.counts.late as f64))
            .lower("executed requests that ended after their deadline"),
        ENERGY,
        LATENCY_P99,
        HEADROOM,
    ];

    /// Counts of requests that were not captured. Outputs have them only where they can differ from 0.
    pub const UNCAPTURED: &[Column<Self>] = &[
        Column::count("lost", "Lost", |it: &Self| Some(it.counts.lost as f64))
            .lower("requests that are not there because a frame of a recorded sensor is lost"),
        Column::count("gated", "Gated", |it: &Self| Some(it.counts.gated as f64))
            .lower("requests that are not there because the gate of a sensor was off"),
    ];

    /// All columns, in the order of every output, but [`Score::UNCAPTURED`].
    pub fn columns() -> impl Iterator<Item = &'static Column<Self>> + Clone {
        Self::SCORES.iter().chain(Self::COUNTS)
    }

    /// All columns, with those of [`Score::UNCAPTURED`] at the end.
    pub fn all_columns() -> impl Iterator<Item = &'static Column<Self>> + Clone {
        Self::columns().chain(Self::UNCAPTURED)
    }

    /// The column called `name`.
    pub fn column(name: &str) -> Option<&'static Column<Self>> {
        Self::columns().find(|column| column.name == name)
    }

    /// Reads scores and counts column by column, for instance from a row of a file.
    ///
    /// # Errors
    ///
    /// The first error of `value`.
    pub fn read<E>(
        mut value: impl FnMut(&'static Column<Self>) -> Result<f64, E>,
    ) -> Result<Self, E> {
        let scores = Self::read_scores(&mut value)?;
        let [requests, executed, dropped, not_triggered, late, energy, p99, headroom] =
            Self::COUNTS
        else {
            unreachable!("the table above has eight lines");
        };
        let counts = Counts {
            requests: value(requests)? as u64,
            executed: value(executed)? as u64,
            dropped: value(dropped)? as u64,
            not_triggered: value(not_triggered)? as u64,
            late: value(late)? as u64,
            lost: 0,
            gated: 0,
            energy: Millijoules::new(value(energy)?),
            latency_p99_ms: value(p99)?,
            headroom: value(headroom)?,
            tightest_ms: value(p99)?,
        };
        Ok(Self { counts, ..scores })
    }

    /// Mean of the scores and sum of the counts; zeros without `scores`.
    pub fn mean<'a>(scores: impl Iterator<Item = &'a Self>) -> Self {
        let mut sums = Self::default();
        let mut n = 0;
        for score in scores {
            n += 1;
            sums.counts = sums.counts + score.counts;
            sums.add_scores(score);
        }
        let mean = |column: &Column<Self>| Ok::<_, Never>(mean(column.of(&sums).unwrap_or(0.0), n));
        match Self::read_scores(mean) {
            Ok(means) => Self { counts: sums.counts, ..means },
        }
    }

    /// The same value for every score.
    pub(super) fn uniform(value: f64, counts: Counts) -> Self {
        match Self::read_scores(|_| Ok::<_, Never>(value)) {
            Ok(scores) => Self { counts, ..scores },
        }
    }
}

/// The error of functions that cannot fail.
type Never = std::convert::Infallible;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_explained() {
        let names: Vec<_> = Score::columns().map(|column| column.name).collect();
        for (index, column) in Score::columns().enumerate() {
            assert!(!names[..index].contains(&column.name), "{column:?} is there twice");
            assert!(!column.help.is_empty() && !column.label.is_empty(), "{column:?}");
        }
        let overall = Score::columns().filter(|column| column.kind == Kind::Overall);
        assert_eq!(overall.map(|column| column.name).collect::<Vec<_>>(), ["score"]);
    }

    #[test]
    fn what_is_read_has_the_values_of_its_columns() {
        let mut n = 0.0;
        let read = Score::read(|_| {
            n += 1.0;
            Ok::<_, Never>(n)
        });
        let Ok(score) = read;
        let values: Vec<_> = Score::columns().filter_map(|column| column.of(&score)).collect();
        assert_eq!(values, (1..=values.len()).map(|n| n as f64).collect::<Vec<_>>());
    }
}

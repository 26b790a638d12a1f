//! Results of one policy in one replication.

use crate::score::{self, Score};
use xrsim_model::column::Column;

use super::super::day::DayMetrics;

/// What the configurations of a comparison run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Scenarios.
    Scenarios,
    /// Profiles.
    Profiles,
}

impl Subject {
    /// Columns of samples, without their values.
    pub fn columns(self) -> Vec<Column<()>> {
        match self {
            Self::Scenarios => Sample::columns().map(Column::of_nothing).collect(),
            Self::Profiles => of_days().map(Column::of_nothing).collect(),
        }
    }

    /// Name of the column by which policies are ranked unless another one is named.
    pub fn primary(self) -> &'static str {
        match self {
            Self::Scenarios => Score::primary().name,
            Self::Profiles => "profile_score",
        }
    }
}

/// Columns in which every run of a profile has a value.
const ALWAYS: [&str; 2] = ["profile_score", "hours"];

/// Columns of samples of profiles: all quantities but the instant of the stop, which runs that do not stop have not.
fn of_days() -> impl Iterator<Item = &'static Column<DayMetrics>> {
    DayMetrics::COLUMNS.iter().filter(|column| column.name != "stopped_at_s")
}

/// Results of one policy in one replication of one configuration; expectations where triggers are
/// enumerated.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    subject: Subject,
    values: Box<[f64]>,
}

/// Requests that missed their deadline.
const MISSED: Column<Score> = Column::count("missed", "Missed", |it: &Score| {
    Some((it.counts.late + it.counts.dropped) as f64)
})
.lower("requests that ended after their deadline or were dropped");

/// Columns of samples of scenarios after the scores.
const OTHERS: [Column<Score>; 5] =
    [score::REQUESTS, MISSED, score::ENERGY, score::LATENCY_P99, score::HEADROOM];

impl Sample {
    /// Number of columns of samples of scenarios.
    pub const N_COLUMNS: usize = Score::SCORES.len() + OTHERS.len();

    /// Columns of samples of scenarios: the scores (means over the models of the run), the number of requests,
    /// those that were late or dropped, the energy \[mJ\], the 99th percentile of the response times \[ms\], and the
    /// headroom.
    pub fn columns() -> impl Iterator<Item = &'static Column<Score>> {
        Score::SCORES.iter().chain(&OTHERS)
    }

    /// The sample of a run of a scenario with these scores.
    pub fn new(total: &Score) -> Self {
        let values = Self::columns().map(|column| column.of(total).unwrap_or(0.0)).collect();
        Self { subject: Subject::Scenarios, values }
    }

    /// The sample of a run of a profile.
    pub fn of_day(day: &DayMetrics) -> Self {
        let values = of_days().map(|column| column.of(day).unwrap_or(f64::NAN)).collect();
        Self { subject: Subject::Profiles, values }
    }

    /// The values, in the order of [`Subject::columns`]; NaN where the run has none, as a charge without a battery.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The value in the column called `name`; `None` if there is no such column, or no value in it.
    pub fn value(&self, name: &str) -> Option<f64> {
        let at = self.subject.columns().iter().position(|column| column.name == name)?;
        Some(self.values[at]).filter(|value| !value.is_nan())
    }

    /// The sample of these values, in the order of [`Subject::columns`]; `None` if they are not as many, or if one is
    /// missing that every run has.
    pub(super) fn of_values(subject: Subject, values: &[f64]) -> Option<Self> {
        let has_all = match subject {
            Subject::Scenarios => !values.iter().any(|it| it.is_nan()),
            Subject::Profiles => subject
                .columns()
                .iter()
                .zip(values)
                .all(|(column, it)| !it.is_nan() || !ALWAYS.contains(&column.name)),
        };
        let fits = has_all && values.len() == subject.columns().len();
        fits.then(|| Self { subject, values: values.into() })
    }

    /// The sum of no samples of scenarios.
    pub(super) fn zero() -> Self {
        Self { subject: Subject::Scenarios, values: [0.0; Self::N_COLUMNS].into() }
    }

    pub(super) fn add(&mut self, other: &Self, weight: f64) {
        self.values.iter_mut().zip(&other.values).for_each(|(sum, value)| *sum += weight * value);
    }
}

//! Random draws of LoadGen by seed, and counts of its early stopping.

use std::sync::Arc;

use crate::yaml::read::Problems;
use crate::yaml::tree::Entry;
use crate::yaml::values::{Reader, entries, list, number};
use crate::yaml::{self, Fields, Node, Value};
use crate::{ConfigError, Problem, Source};
use xrsim_model::statistics::Fraction;

use super::expected::or_null;
use super::finish;
use super::inputs::whole;

/// Draws of one seed. Each list has the length that it has in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// The seed.
    pub seed: u64,
    /// `canonical_u`: uniform numbers in [0, 1).
    pub canonical: Vec<f64>,
    /// `schedule_ns_100qps_first20`: arrivals at 100 per second \[ns\].
    pub arrivals_ns: Vec<u64>,
    /// `shuffle_0_15`: the numbers from 0 on, permuted.
    pub shuffled: Vec<u64>,
    /// `uniform_below_1024_first10`: whole numbers below 1024.
    pub below_1024: Vec<u64>,
}

/// Counts of early stopping at one percentile.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlyStoppingVector {
    /// Percentile.
    pub percentile: Fraction,
    /// Late queries, and the queries within the bound that they require.
    pub within_bound: Vec<(u64, u64)>,
    /// Queries, and the late queries that they allow; `None` for too few queries.
    pub discardable: Vec<(u64, Option<u64>)>,
}

/// Draws and counts of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vectors {
    /// Draws by seed.
    pub draws: Vec<Vector>,
    /// Counts by percentile.
    pub early_stopping: Vec<EarlyStoppingVector>,
}

impl Vectors {
    /// Reads a file of draws. Unknown keys are skipped.
    pub(super) fn parse(source: &Arc<Source>) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        let vectors = read(source, &mut problems);
        finish(source, problems.into_vec())?;
        Ok(vectors.unwrap_or_default())
    }
}

fn read(source: &Source, problems: &mut Problems) -> Option<Vectors> {
    let root = yaml::parse(source.text(), problems)?;
    let Value::Mapping(entries) = &root.value else {
        problems.push(root.mismatch(&"a mapping of draws"));
        return None;
    };
    let mut vectors = Vectors::default();
    for entry in entries {
        match (entry.key.parse(), &*entry.key) {
            (Ok(seed), _) => vectors.draws.extend(draws(seed, &entry.value, problems)),
            (_, "early_stopping_min_under") => {
                for (percentile, pairs) in
                    by_percentile(&entry.value, whole(0..=u64::MAX), problems)?
                {
                    vectors.at(percentile).within_bound = pairs;
                }
            }
            (_, "early_stopping_t_for_n") => {
                for (percentile, pairs) in
                    by_percentile(&entry.value, or_null(whole(0..=u64::MAX)), problems)?
                {
                    vectors.at(percentile).discardable = pairs;
                }
            }
            _ => {}
        }
    }
    Some(vectors)
}

impl Vectors {
    fn at(&mut self, percentile: Fraction) -> &mut EarlyStoppingVector {
        let found = self.early_stopping.iter().position(|known| known.percentile == percentile);
        let index = found.unwrap_or(self.early_stopping.len());
        if found.is_none() {
            let (within_bound, discardable) = (Vec::new(), Vec::new());
            self.early_stopping.push(EarlyStoppingVector { percentile, within_bound, discardable });
        }
        &mut self.early_stopping[index]
    }
}

fn draws(seed: u64, node: &Node<'_>, problems: &mut Problems) -> Option<Vector> {
    let mut fields = Fields::from_mapping(node, "draws", problems)?;
    let canonical = fields.required("canonical_u", list("draws", number(0.0..=1.0)));
    let mut counts = |key| fields.required(key, list("draws", whole(0..=u64::MAX)));
    let arrivals_ns = counts("schedule_ns_100qps_first20");
    let shuffled = counts("shuffle_0_15");
    let below_1024 = counts("uniform_below_1024_first10");
    fields.finish_open();
    let (canonical, arrivals_ns) = (canonical?, arrivals_ns?);
    Some(Vector { seed, canonical, arrivals_ns, shuffled: shuffled?, below_1024: below_1024? })
}

/// Reads pairs of a count, which is the key, and a value of `reader`, under `p=<percentile>`.
#[allow(clippy::type_complexity)]
fn by_percentile<T>(
    node: &Node<'_>,
    reader: impl Reader<Value = T>,
    problems: &mut Problems,
) -> Option<Vec<(Fraction, Vec<(u64, T)>)>> {
    let pair = |entry: &Entry<'_>, problems: &mut Problems| {
        let key = key(entry, entry.key.parse().ok(), problems);
        key.zip(reader.read(&entry.value, problems))
    };
    let at_percentile = |entry: &Entry<'_>, problems: &mut Problems| {
        let percentile = entry.key.strip_prefix("p=").and_then(|text| text.parse().ok());
        let percentile = key(entry, percentile.and_then(Fraction::new), problems);
        percentile.zip(entries("counts", pair).read(&entry.value, problems))
    };
    entries("percentiles", at_percentile).read(node, problems)
}

fn key<T>(entry: &Entry<'_>, value: Option<T>, problems: &mut Problems) -> Option<T> {
    if value.is_none() {
        problems.push(Problem::new(entry.key_span.clone(), "this key is out of place"));
    }
    value
}

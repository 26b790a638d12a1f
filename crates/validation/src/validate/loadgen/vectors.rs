//! Random draws and counts of early stopping, against those of LoadGen.

use crate::validate::Tally;
use xrsim_config::loadgen_cases::{EarlyStoppingVector, Vector, Vectors};
use xrsim_mlperf::load::MersenneTwister;
use xrsim_model::statistics::EarlyStopping;

/// Compares everything in `vectors`.
pub(super) fn compare(vectors: &Vectors) -> Tally {
    let mut tally = Tally::default();
    vectors.draws.iter().for_each(|draws| compare_draws(draws, &mut tally));
    vectors.early_stopping.iter().for_each(|counts| compare_counts(counts, &mut tally));
    tally
}

fn compare_draws(draws: &Vector, tally: &mut Tally) {
    let stream = || MersenneTwister::new(draws.seed);
    let what = |name: &str, index: usize| format!("seed {}, {name}[{index}]", draws.seed);
    let mut canonical = stream();
    for (index, &expected) in draws.canonical.iter().enumerate() {
        tally.equal(what("canonical_u", index), expected, canonical.canonical());
    }
    let (mut gaps, mut at) = (stream(), 0);
    for (index, &expected) in draws.arrivals_ns.iter().enumerate() {
        tally.equal(what("schedule_ns_100qps", index), expected, at);
        at += gaps.exponential_gap(100.0).ns();
    }
    let mut shuffled: Vec<u64> = (0..draws.shuffled.len() as u64).collect();
    stream().shuffle(&mut shuffled);
    for (index, (&expected, found)) in draws.shuffled.iter().zip(shuffled).enumerate() {
        tally.equal(what("shuffle", index), expected, found);
    }
    let mut below = stream();
    for (index, &expected) in draws.below_1024.iter().enumerate() {
        tally.equal(what("uniform_below_1024", index), expected, u64::from(below.below(1024)));
    }
}

fn compare_counts(counts: &EarlyStoppingVector, tally: &mut Tally) {
    let (rule, percentile) = (EarlyStopping::at(counts.percentile), counts.percentile.get());
    for &(late, expected) in &counts.within_bound {
        let found = rule.required(late);
        tally.equal(format_args!("early stopping, p={percentile}, t={late}"), expected, found);
    }
    for &(queries, expected) in &counts.discardable {
        let text = |count: Option<u64>| count.map_or("none".into(), |count| count.to_string());
        let found = rule.estimate(queries).map(|index| queries - index);
        let what = format!("early stopping, p={percentile}, n={queries}");
        tally.equal(what, text(expected), text(found));
    }
}

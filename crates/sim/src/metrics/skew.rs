//! Differences of the ages of the data that a frame joins (docs/explanation/freshness.md, section 2).

use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::Outcome;
use xrsim_model::units::SimTime;

use crate::load::{Generations, upstream_frame};

use super::{Frames, NS_PER_MS, per};

/// Difference between the latest and the earliest generation of what a frame joins: data of its sensors, and those of the
/// frames that it depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skew {
    /// Mean over executed frames \[ms\].
    pub mean_ms: f64,
    /// Largest \[ms\].
    pub max_ms: f64,
    /// Share of executed frames with a skew below one period of the fastest of these sources.
    pub consistent: f64,
}

/// Earliest and latest generation of the data of the frames of a model.
struct Sources {
    /// Indexed by frame.
    spans: Vec<(SimTime, SimTime)>,
    /// Number of different sensors, and of models without any at the root of a path.
    n_sources: usize,
    /// Period of the fastest source \[ns\].
    period_ns: u64,
}

/// Skew of every model, indexed by [`ModelId`]; `None` for models with one source.
pub(super) fn skews(
    scenario: &Scenario,
    frames: &Frames<'_>,
    generations: &Generations<'_>,
) -> Vec<Option<Skew>> {
    let mut all: Vec<Option<Sources>> = scenario.models().iter().map(|_| None).collect();
    let mut roots: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for &model in scenario.topological() {
        let active = scenario.model(model);
        if active.sequence.is_some() {
            continue;
        }
        let mut own: Vec<usize> = active.inputs.iter().map(|it| it.index()).collect();
        let upstream = || active.dependencies.iter().map(|it| it.upstream);
        if own.is_empty() && active.dependencies.is_empty() {
            own.push(scenario.streams().len() + model.index());
        }
        own.extend(upstream().flat_map(|it| roots[it.index()].iter().copied()));
        own.sort_unstable();
        own.dedup();
        let rates = active.inputs.iter().map(|it| scenario.streams()[it.index()].rate);
        let period = rates.max().unwrap_or(active.rate).period().ns();
        let periods = upstream().filter_map(|it| Some(all[it.index()].as_ref()?.period_ns));
        let period_ns = periods.fold(period, u64::min);
        let n_frames = frames.records[model.index()].last().map_or(0, |it| it.frame.index() + 1);
        // A model that reads no sensor has the data of the models that it depends on.
        let reads = !active.inputs.is_empty() || active.dependencies.is_empty();
        let span = |frame: FrameId| {
            let own = generations.of(model, frame).filter(|_| reads).map(|it| (it, it));
            let of_upstream = |it: ModelId| {
                let frame = upstream_frame(frame, active.rate, scenario.model(it).rate);
                all[it.index()].as_ref()?.spans.get(frame.index()).copied()
            };
            let join = |(a, b): (SimTime, SimTime), (first, last)| (a.min(first), b.max(last));
            own.chain(upstream().filter_map(of_upstream)).reduce(join).unwrap_or_default()
        };
        let spans = (0..n_frames).map(FrameId::new).map(span).collect();
        all[model.index()] = Some(Sources { spans, n_sources: own.len(), period_ns });
        roots[model.index()] = own;
    }
    let of = |(model, sources): (ModelId, Option<Sources>)| {
        let Sources { spans, period_ns, .. } = sources.filter(|it| it.n_sources > 1)?;
        let (mut n, mut sum, mut max, mut n_consistent) = (0u64, 0u128, 0, 0u64);
        for record in frames.counted(model) {
            if let Outcome::Executed { .. } = record.outcome {
                let (first, last) = spans[record.frame.index()];
                let skew = last.ns() - first.ns();
                n += 1;
                sum += u128::from(skew);
                max = max.max(skew);
                // Both are rounded to whole ns.
                n_consistent += u64::from(skew + 1 < period_ns);
            }
        }
        Some(Skew {
            mean_ms: per(sum as f64 / NS_PER_MS, n as f64)?,
            max_ms: max as f64 / NS_PER_MS,
            consistent: n_consistent as f64 / n as f64,
        })
    };
    scenario.model_ids().zip(all).map(of).collect()
}

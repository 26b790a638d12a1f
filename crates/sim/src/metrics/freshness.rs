//! Freshness of results: the age of the newest one, the difference of the ages of what a frame joins, and frames that are
//! missed in a row (docs/explanation/freshness.md).

use xrsim_model::column::Column;
use xrsim_model::hardware::device::Display;
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{Outcome, Trace};
use xrsim_model::units::{SimSpan, SimTime};

use crate::load::{Generations, LoadSettings};
use crate::score::ScoreSettings;

use super::age::{Age, Update, fresh};
use super::chain::first_of;
use super::service::Served;
use super::shown::Shown;
use super::skew::{Skew, skews};
use super::{Frames, per, served};

/// Freshness of the results of a model, or of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Freshness {
    /// Age of the newest result; `None` without a result in the window.
    pub age: Option<Age>,
    /// Skew of executed frames; `None` without any, for models with one source, and for chains.
    pub skew: Option<Skew>,
    /// Frames that are missed in a row.
    pub streaks: Streaks,
    /// What a display shows of the results; `None` without one. It has columns of its own.
    pub shown: Option<Shown>,
}

impl Freshness {
    /// Freshness as columns.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::quantity("age_mean_ms", "ms", "Mean age", |it: &Self| it.age.map(|it| it.mean_ms))
            .lower("age of the newest result, mean over time"),
        Column::quantity("age_p50_ms", "ms", "Median age", |it: &Self| {
            it.age.map(|it| it.quantiles_ms[0])
        })
        .lower("age that is not exceeded in 50 % of the time"),
        Column::quantity("age_p95_ms", "ms", "95th percentile of the age", |it: &Self| {
            it.age.map(|it| it.quantiles_ms[1])
        })
        .lower("age that is not exceeded in 95 % of the time"),
        Column::quantity("age_p99_ms", "ms", "99th percentile of the age", |it: &Self| {
            it.age.map(|it| it.quantiles_ms[2])
        })
        .lower("age that is not exceeded in 99 % of the time"),
        Column::quantity("peak_mean_ms", "ms", "Mean peak age", |it: &Self| it.age?.peak_mean_ms)
            .lower("age just before a fresher result, mean over these results"),
        Column::quantity("peak_max_ms", "ms", "Largest peak age", |it: &Self| it.age?.peak_max_ms)
            .lower("largest age just before a fresher result"),
        Column::count("fresh", "Fresh", |it: &Self| Some(it.age?.fresh as f64))
            .higher("results that were the newest when they ended"),
        Column::count("stale", "Stale", |it: &Self| Some(it.age?.stale as f64))
            .lower("results that ended after a fresher one"),
        Column::quantity("skew_mean_ms", "ms", "Mean skew", |it: &Self| {
            it.skew.map(|it| it.mean_ms)
        })
        .lower("difference of the ages of the inputs of a frame, mean over executed frames"),
        Column::quantity("skew_max_ms", "ms", "Largest skew", |it: &Self| {
            it.skew.map(|it| it.max_ms)
        })
        .lower("largest difference of the ages of the inputs of a frame"),
        Column::share("consistent", "Consistent", |it: &Self| it.skew.map(|it| it.consistent))
            .higher("share of executed frames with a skew below a period of the fastest input"),
        Column::count("streaks_1", "Streaks of 1", |it: &Self| Some(it.streaks.counts[0] as f64))
            .lower("requests that were missed between two that were not"),
        Column::count("streaks_2", "Streaks of 2", |it: &Self| Some(it.streaks.counts[1] as f64))
            .lower("times that 2 requests were missed in a row"),
        Column::count("streaks_3", "Streaks of 3", |it: &Self| Some(it.streaks.counts[2] as f64))
            .lower("times that 3 requests were missed in a row"),
        Column::count("streaks_4_7", "Streaks of 4 to 7", |it: &Self| {
            Some(it.streaks.counts[3] as f64)
        })
        .lower("times that 4 to 7 requests were missed in a row"),
        Column::count("streaks_8_15", "Streaks of 8 to 15", |it: &Self| {
            Some(it.streaks.counts[4] as f64)
        })
        .lower("times that 8 to 15 requests were missed in a row"),
        Column::count("streaks_16", "Streaks from 16 on", |it: &Self| {
            Some(it.streaks.counts[5] as f64)
        })
        .lower("times that 16 or more requests were missed in a row"),
        Column::quantity("streak_mean", "", "Mean streak", |it: &Self| it.streaks.mean())
            .lower("requests that were missed in a row, mean over the streaks"),
    ];

    /// Values of the columns of [`Shown`]; none without a display.
    pub fn shown(&self) -> impl Iterator<Item = Option<f64>> {
        self.shown.iter().flat_map(|shown| Shown::COLUMNS.iter().map(move |it| it.of(shown)))
    }

    /// Values of all columns; `None` where there is none.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> {
        Self::COLUMNS.iter().map(|column| column.of(self))
    }
}

/// Freshness of every model and chain of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunFreshness {
    /// Indexed by [`ModelId`].
    pub(super) models: Vec<Freshness>,
    /// In the order of [`chains`].
    pub(super) chains: Vec<Freshness>,
}

impl RunFreshness {
    /// Freshness of the results of a run of `scenario` under `load`. Of `score` only the warm-up counts.
    pub(super) fn of(
        scenario: &Scenario,
        frames: &Frames<'_>,
        chains: &[Vec<ModelId>],
        (load, score): (&LoadSettings, &ScoreSettings),
        display: Option<&Display>,
    ) -> Self {
        let generations = Generations::new(scenario, load);
        let begin = SimTime::ZERO + score.warm_up;
        let window = (begin, SimTime::ZERO + load.duration);
        let age = |updates: Vec<Update>| {
            let shown = display.and_then(|display| {
                Shown::of(updates.clone(), window, generations.lead(), display)
            });
            (Age::of(updates, window, generations.lead()), shown)
        };
        let generated =
            |model, frame| generations.of(model, frame).next().expect("a model has data");
        let update = |first: ModelId, frame: FrameId, outcome: Outcome| match outcome {
            Outcome::Executed { end, .. } => {
                Some(Update { generated: generated(first, frame), end })
            }
            _ => None,
        };
        let streaks = |last: ModelId| {
            let served: Vec<_> = frames.counted(last).iter().filter_map(|it| served(it)).collect();
            Streaks::of(&served)
        };
        let skews = skews(scenario, frames, &generations);
        // Tokens have no generation.
        let is_frame = |model: &ModelId| scenario.model(*model).sequence.is_none();
        let of_model = |(model, skew): (ModelId, Option<Skew>)| {
            let records = frames.records[model.index()].iter().filter(|_| is_frame(&model));
            let updates = records.filter_map(|it| update(model, it.frame, it.outcome));
            let (age, shown) = age(updates.collect());
            Freshness { age, skew, streaks: streaks(model), shown }
        };
        let of_chain = |chain: &Vec<ModelId>| {
            let last = chain[chain.len() - 1];
            let records = frames.records[last.index()].iter();
            let records = records.filter(|_| chain.iter().all(is_frame));
            let updates = records.filter_map(|it| {
                let first = first_of(scenario, frames, chain, it)?;
                update(chain[0], first.frame, it.outcome)
            });
            let (age, shown) = age(updates.collect());
            Freshness { age, skew: None, streaks: streaks(last), shown }
        };
        Self {
            models: scenario.model_ids().zip(skews).map(of_model).collect(),
            chains: chains.iter().map(of_chain).collect(),
        }
    }
}

/// Results of every model that were its newest ones when they ended: the ends in their order, and the ages of the data
/// then, from which the age rises until the next one. Indexed by [`ModelId`]; tokens have no age.
pub fn newest_results(
    scenario: &Scenario,
    load: &LoadSettings,
    trace: &Trace,
) -> Vec<Vec<(SimTime, SimSpan)>> {
    let generations = Generations::new(scenario, load);
    let mut updates = vec![Vec::new(); scenario.models().len()];
    for record in trace.records() {
        if let Outcome::Executed { end, .. } = record.outcome
            && scenario.model(record.model).sequence.is_none()
            && let Some(generated) = generations.of(record.model, record.frame).next()
        {
            updates[record.model.index()].push(Update { generated, end });
        }
    }
    let aged = |it: Update| (it.end, (it.end + generations.lead()).saturating_since(it.generated));
    let newest = |updates| {
        let (updates, _) = fresh(updates, SimTime::ZERO, SimTime::MAX);
        updates.into_iter().map(aged).collect()
    };
    updates.into_iter().map(newest).collect()
}

/// Numbers of requested frames that were missed in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streaks {
    /// Number of streaks of 1, 2, 3, 4 to 7, 8 to 15, and 16 or more frames.
    pub counts: [u64; 6],
    /// Frames in all of them.
    pub missed: u64,
}

impl Streaks {
    pub(super) fn of(served: &[Served]) -> Self {
        let mut all = Self::default();
        for streak in served.split(Served::is_in_time).map(<[_]>::len).filter(|it| *it > 0) {
            let class = match streak {
                1..=3 => streak - 1,
                4..=7 => 3,
                8..=15 => 4,
                _ => 5,
            };
            all.counts[class] += 1;
            all.missed += streak as u64;
        }
        all
    }

    /// Mean length of a streak; `None` without any.
    pub fn mean(&self) -> Option<f64> {
        per(self.missed as f64, self.counts.iter().sum::<u64>() as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use xrsim_model::ids::{AccelId, StreamId};
    use xrsim_model::model::{ConvShape, Layer, Network};
    use xrsim_model::scenario::{ActiveModel, Dependency, DependencyKind, InputStream, UnitModel};
    use xrsim_model::trace::{Record, Trace};
    use xrsim_model::units::{FrameRate, Millijoules, SimSpan};

    use super::super::chains;
    use super::*;

    const MS: u64 = 1_000_000;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} {expected}");
    }

    /// Misses 0 1 1 0 1 0 0 1 1 1: streaks of 2, 1 and 3.
    #[test]
    fn misses_in_a_row_are_counted_by_their_number() {
        let served = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1].map(|missed| match missed {
            1 => Served::Not,
            _ => Served::Done { end: SimTime::ZERO, latency_ms: 0.0, in_time: true },
        });
        let streaks = Streaks::of(&served);
        assert_eq!((streaks.counts, streaks.missed), ([1, 1, 1, 0, 0, 0], 6));
        assert_eq!(streaks.mean(), Some(2.0));
        assert_eq!(Streaks::of(&[Served::Not; 16]).counts, [0, 0, 0, 0, 0, 1]);
        assert_eq!(Streaks::of(&[Served::Not; 7]).counts, [0, 0, 0, 1, 0, 0]);
        assert_eq!(Streaks::of(&[]).mean(), None);
    }

    /// A model at 45 FPS reads a camera of 60 FPS and depends on one that reads a lidar of 10 FPS. Frame j joins camera
    /// frame floor(4j/3) and lidar frame floor(2j/9): skews of 0, 1, 2, 4 and 5 periods of the camera.
    #[test]
    fn a_frame_has_the_skew_of_all_data_that_it_joins() {
        let rate = |fps| FrameRate::from_fps(fps).unwrap();
        let model = |fps, input| {
            let network = Network::new("one", vec![Layer::new("layer", ConvShape::UNIT)]).unwrap();
            let mut model = ActiveModel::new(UnitModel::new("task", Arc::new(network)), rate(fps));
            model.inputs = vec![StreamId::new(input)];
            model
        };
        let mut joins = model(45.0, 0);
        let kind = DependencyKind::Data;
        joins.dependencies = vec![Dependency { upstream: ModelId::new(1), kind }];
        let streams = [("camera", 60.0), ("lidar", 10.0)];
        let streams = streams.map(|(name, fps)| InputStream::new(name, rate(fps)));
        let models = vec![joins, model(10.0, 1)];
        let scenario = Scenario::new("test", streams.to_vec(), models).unwrap();
        let record = |model: usize, frame: usize| {
            let arrival = rate(45.0).frame_start(frame as u64);
            let end = arrival + SimSpan::from_ns(MS);
            let (start, accelerator) = (arrival, AccelId::new(0));
            let energy = Millijoules::ZERO;
            let outcome = Outcome::Executed { accelerator, start, end, energy };
            let (model, frame) = (ModelId::new(model), FrameId::new(frame));
            Record { model, frame, arrival, deadline: end, outcome }
        };
        let records = (0..5).map(|frame| record(0, frame)).chain([record(1, 0), record(1, 1)]);
        let load = LoadSettings::default();
        let score = ScoreSettings::default();
        let trace = Trace::new(records.collect());
        let frames = Frames::from_trace(&scenario, &trace, &score);
        let found = RunFreshness::of(&scenario, &frames, &chains(&scenario), (&load, &score), None);
        let skew = found.models[0].skew.unwrap();
        close(skew.mean_ms, 40.0);
        close(skew.max_ms, 83.333_333);
        assert_eq!(skew.consistent, 0.2);
        assert_eq!(found.models[1].skew, None);
        // The chain has the generation of the lidar frame, which all five frames share.
        assert_eq!(found.chains.len(), 1);
        assert_eq!(found.chains[0].age.unwrap().fresh, 1);
        assert_eq!(found.chains[0].age.unwrap().stale, 4);
    }
}

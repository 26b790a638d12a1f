//! Freshness of results: the age of the newest one, the difference of the ages of what a frame joins, and frames that are
//! missed in a row (docs/explanation/freshness.md).

use std::cmp::Reverse;

use xrsim_model::column::Column;
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{Outcome, Trace};
use xrsim_model::units::{SimSpan, SimTime};

use crate::load::{Generations, LoadSettings, upstream_frame};
use crate::score::ScoreSettings;

use super::chain::{chains, first_of};
use super::service::Served;
use super::{Frames, per, served};

const NS_PER_MS: f64 = 1e6;

/// Freshness of the results of a model, or of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Freshness {
    /// Age of the newest result; `None` without a result in the window.
    pub age: Option<Age>,
    /// Skew of executed frames; `None` without any, for models with one source, and for chains.
    pub skew: Option<Skew>,
    /// Frames that are missed in a row.
    pub streaks: Streaks,
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

    /// Values of all columns; `None` where there is none.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> {
        Self::COLUMNS.iter().map(|column| column.of(self))
    }
}

/// Freshness of every model and chain of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFreshness {
    /// Indexed by [`ModelId`].
    pub models: Vec<Freshness>,
    /// In the order of [`chains`].
    pub chains: Vec<Freshness>,
}

impl RunFreshness {
    /// Freshness of the results of `trace`, a run of `scenario` under `load`. Of `score` only the warm-up counts.
    ///
    /// # Panics
    ///
    /// If `trace` is not of the scenario.
    pub fn compute(
        scenario: &Scenario,
        trace: &Trace,
        load: &LoadSettings,
        score: &ScoreSettings,
    ) -> Self {
        let frames = Frames::from_trace(scenario, trace, score);
        Self::of(scenario, &frames, &chains(scenario), load, score)
    }

    pub(super) fn of(
        scenario: &Scenario,
        frames: &Frames<'_>,
        chains: &[Vec<ModelId>],
        load: &LoadSettings,
        score: &ScoreSettings,
    ) -> Self {
        let generations = Generations::new(scenario, load);
        let begin = SimTime::ZERO + score.warm_up;
        let window = (begin, SimTime::ZERO + load.duration);
        let age = |updates: Vec<Update>| Age::of(updates, window, generations.lead());
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
            Freshness { age: age(updates.collect()), skew, streaks: streaks(model) }
        };
        let of_chain = |chain: &Vec<ModelId>| {
            let last = chain[chain.len() - 1];
            let records = frames.records[last.index()].iter();
            let records = records.filter(|_| chain.iter().all(is_frame));
            let updates = records.filter_map(|it| {
                let first = first_of(scenario, frames, chain, it)?;
                update(chain[0], first.frame, it.outcome)
            });
            Freshness { age: age(updates.collect()), skew: None, streaks: streaks(last) }
        };
        Self {
            models: scenario.model_ids().zip(skews).map(of_model).collect(),
            chains: chains.iter().map(of_chain).collect(),
        }
    }
}

/// Age of the newest result over time (Kaul, Yates & Gruteser, INFOCOM 2012): at instant t, t minus the latest generation of
/// the data of the frames that ended by t.
///
/// The data of a frame are generated when the primary sensor takes them, jitter apart; without sensors, at the nominal
/// start of the frame. The window is from the first result, or the end of the warm-up if that is later, to the end of the
/// duration, after which no frame arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Age {
    /// Length of the window \[ns\], above 0.
    pub window_ns: u64,
    /// Twice the integral of the age over the window \[ns^2\].
    pub twice_integral: u128,
    /// Mean over time \[ms\].
    pub mean_ms: f64,
    /// Least ages that are not exceeded in 50, 95 and 99 % of the window \[ms\].
    pub quantiles_ms: [f64; 3],
    /// Mean of the ages just before a fresher result in the window \[ms\]; `None` without.
    pub peak_mean_ms: Option<f64>,
    /// The largest of them \[ms\].
    pub peak_max_ms: Option<f64>,
    /// Results in the window that were the newest when they ended.
    pub fresh: u64,
    /// Results in the window that ended after a fresher one.
    pub stale: u64,
}

/// A result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Update {
    /// Generation of its data.
    pub generated: SimTime,
    /// End of its frame.
    pub end: SimTime,
}

/// Shares of the window of [`Age::quantiles_ms`] in hundredths.
const SHARES: [u128; 3] = [50, 95, 99];

impl Age {
    /// Age from `updates` in any order, from `begin` or the first of them to `until`; `None` if that is empty.
    /// Generations are `lead` later than they were.
    pub(super) fn of(
        mut updates: Vec<Update>,
        (begin, until): (SimTime, SimTime),
        lead: SimSpan,
    ) -> Option<Self> {
        updates.retain(|it| it.end <= until);
        // Of equal ends the freshest is first.
        updates.sort_unstable_by_key(|it| (it.end, Reverse(it.generated)));
        let (mut newest, mut stale) = (None, 0);
        updates.retain(|it| {
            let is_fresh = newest.is_none_or(|newest| it.generated > newest);
            if is_fresh {
                newest = Some(it.generated);
            } else {
                stale += u64::from(it.end >= begin);
            }
            is_fresh
        });
        let start = updates.first()?.end.max(begin);
        let (mut pieces, mut fresh) = (Vec::with_capacity(updates.len()), 0);
        let (mut n_peaks, mut peaks_ns, mut peak_max) = (0u64, 0u128, 0);
        for (at, it) in updates.iter().enumerate() {
            let next = updates.get(at + 1).map(|it| it.end);
            let (from, to) = (it.end.max(start), next.unwrap_or(until));
            fresh += u64::from(it.end >= start);
            let age = |at: SimTime| (at + lead).ns().saturating_sub(it.generated.ns());
            if to > from {
                pieces.push((age(from), age(to)));
            }
            if next.is_some_and(|next| next >= start) {
                n_peaks += 1;
                peaks_ns += u128::from(age(to));
                peak_max = peak_max.max(age(to));
            }
        }
        let square = |ns: u64| u128::from(ns) * u128::from(ns);
        let twice_integral = pieces.iter().map(|&(from, to)| square(to) - square(from)).sum();
        let window_ns: u64 = pieces.iter().map(|&(from, to)| to - from).sum();
        if window_ns == 0 {
            return None;
        }
        Some(Self {
            window_ns,
            twice_integral,
            mean_ms: twice_integral as f64 / (2.0 * window_ns as f64) / NS_PER_MS,
            quantiles_ms: quantiles(&pieces, window_ns).map(|ns| ns / NS_PER_MS),
            peak_mean_ms: per(peaks_ns as f64 / NS_PER_MS, n_peaks as f64),
            peak_max_ms: (n_peaks > 0).then_some(peak_max as f64 / NS_PER_MS),
            fresh,
            stale,
        })
    }
}

/// Least ages \[ns\] that are not exceeded in [`SHARES`] of a window, in which the age rises through `pieces` in turn.
fn quantiles(pieces: &[(u64, u64)], window_ns: u64) -> [f64; 3] {
    let [mut starts, mut ends] = [0, 1].map(|_| Vec::with_capacity(pieces.len()));
    for &(from, to) in pieces {
        starts.push(from);
        ends.push(to);
    }
    starts.sort_unstable();
    ends.sort_unstable();
    let mut found = [0.0; SHARES.len()];
    let (mut at_share, mut at_start, mut low, mut passed) = (0, 0, 0, 0u128);
    for (at_end, &end) in ends.iter().enumerate() {
        // The age passes from `low` on through as many pieces as have started and not ended.
        loop {
            let start = starts.get(at_start).copied().filter(|start| *start < end);
            let high = start.unwrap_or(end);
            let n = (at_start - at_end) as u128;
            let further = n * u128::from(high.saturating_sub(low));
            while let Some(share) = SHARES.get(at_share)
                && further > 0
                && (passed + further) * 100 >= share * u128::from(window_ns)
            {
                let missing = (share * u128::from(window_ns)).saturating_sub(passed * 100);
                found[at_share] = low as f64 + missing as f64 / (100 * n) as f64;
                at_share += 1;
            }
            passed += further;
            low = high;
            if start.is_none() {
                break;
            }
            at_start += 1;
        }
    }
    found
}

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
fn skews(
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
    use xrsim_model::trace::Record;
    use xrsim_model::units::{FrameRate, Millijoules};

    use super::*;

    const MS: u64 = 1_000_000;

    fn update(generated_ns: u64, end_ns: u64) -> Update {
        Update { generated: SimTime::from_ns(generated_ns), end: SimTime::from_ns(end_ns) }
    }

    fn age(updates: Vec<Update>, until_ns: u64) -> Option<Age> {
        Age::of(updates, (SimTime::ZERO, SimTime::from_ns(until_ns)), SimSpan::ZERO)
    }

    /// Frames of a camera at 30 FPS with a latency of 8 ms; frame 2 is dropped, frame 4 takes 53.333333 ms. Fresh ends:
    /// 8, 41.333333, 108, 174.666666 ms. Numbers by exact fractions outside of this program.
    fn camera() -> Vec<Update> {
        let latencies = [(0, 8 * MS), (1, 8 * MS), (3, 8 * MS), (4, 53_333_333), (5, 8 * MS)];
        let frame = |(at, latency): (u64, u64)| (at * 1_000_000_000 / 30, latency);
        latencies.map(frame).map(|(at, latency)| update(at, at + latency)).to_vec()
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} {expected}");
    }

    #[test]
    fn every_number_of_an_age_by_hand() {
        let age = age(camera(), 200 * MS).unwrap();
        assert_eq!((age.window_ns, age.twice_integral), (192_000_000, 2 * 6_856_888_872_444_445));
        assert_eq!((age.fresh, age.stale), (4, 1));
        close(age.mean_ms, 35.712_962_877);
        close(age.peak_mean_ms.unwrap(), 190.666_666 / 3.0);
        close(age.peak_max_ms.unwrap(), 74.666_667);
        let [p50, p95, p99] = age.quantiles_ms;
        close(p50, 32.0);
        close(p95, 69.866_666);
        close(p99, 73.706_666);
    }

    #[test]
    fn the_order_of_updates_and_a_later_origin_of_time_change_nothing() {
        let mut backwards = camera();
        backwards.reverse();
        assert_eq!(age(backwards, 200 * MS), age(camera(), 200 * MS));
        // Generations 5 ms later, and every age 5 ms larger.
        let later = Age::of(
            camera(),
            (SimTime::ZERO, SimTime::from_ns(200 * MS)),
            SimSpan::from_ns(5 * MS),
        );
        close(later.unwrap().mean_ms, 40.712_962_877);
    }

    /// Period T = 20 ms, latency L = 7 ms: mean L + T/2, peaks L + T. Every third dropped: mean L + 5T/6.
    #[test]
    fn periodic_results_have_their_closed_form() {
        let frame = |at: u64| update(at * 20 * MS, (at * 20 + 7) * MS);
        let all = age((0..101).map(frame).collect(), (100 * 20 + 7) * MS).unwrap();
        close(all.mean_ms, 17.0);
        assert_eq!((all.peak_mean_ms, all.peak_max_ms), (Some(27.0), Some(27.0)));
        assert_eq!((all.fresh, all.stale), (101, 0));
        let some = (0..301).filter(|at| at % 3 != 2).map(frame).collect();
        let some = age(some, (300 * 20 + 7) * MS).unwrap();
        close(some.mean_ms, 7.0 + 5.0 * 20.0 / 6.0);
        assert_eq!(some.peak_max_ms, Some(47.0));
    }

    #[test]
    fn without_a_result_in_the_window_there_is_no_age() {
        assert_eq!(age(Vec::new(), MS), None);
        assert_eq!(age(vec![update(0, 2 * MS)], MS), None);
        assert_eq!(age(vec![update(0, MS)], MS), None);
    }

    /// The warm-up ends at 50 ms: the age begins there with that of the frame of 33.333333 ms.
    #[test]
    fn results_of_the_warm_up_count_as_what_is_known_at_its_end() {
        let window = (SimTime::from_ns(50 * MS), SimTime::from_ns(200 * MS));
        let age = Age::of(camera(), window, SimSpan::ZERO).unwrap();
        assert_eq!((age.window_ns, age.fresh, age.stale), (150_000_000, 2, 1));
        // Ages rise from 16.666667 to 74.666667, from 8 to 74.666666, and from 8.000000 to 33.333334 ms.
        let square = |ms: f64| ms * ms;
        let twice = square(74.666_667) - square(16.666_667) + square(74.666_666) - 64.0
            + square(33.333_334)
            - 64.0;
        close(age.mean_ms, twice / 300.0);
        close(age.peak_mean_ms.unwrap(), 74.666_666_5);
    }

    /// Sum of the peaks = sum of the steps of generations + sum of the latencies, over fresh results after the first.
    #[test]
    fn peaks_are_steps_of_generations_and_latencies() {
        let age = age(camera(), 200 * MS).unwrap();
        let peaks = age.peak_mean_ms.unwrap() * 3.0;
        let fresh = [0, 1, 3, 5].map(|at: u64| at * 1_000_000_000 / 30);
        let steps = (fresh[3] - fresh[0]) as f64 / NS_PER_MS;
        close(peaks, steps + 3.0 * 8.0);
    }

    #[test]
    fn quantiles_are_those_of_a_fine_sampling() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..50 {
            let updates: Vec<_> =
                (0..20).map(|at| update(at * 50, at * 50 + 1 + random(200))).collect();
            let age = age(updates.clone(), 1_000).unwrap();
            let start = updates.iter().map(|it| it.end.ns()).min().unwrap();
            // Ages in the middle of each tenth of a nanosecond.
            let mut ages: Vec<f64> = (start * 10..10_000)
                .map(|tenth| {
                    let ended = updates.iter().filter(|it| it.end.ns() * 10 <= tenth);
                    let newest = ended.map(|it| it.generated.ns()).max().unwrap();
                    (tenth as f64 + 0.5) / 10.0 - newest as f64
                })
                .collect();
            ages.sort_by(f64::total_cmp);
            for (share, found) in SHARES.iter().zip(age.quantiles_ms) {
                let at = (ages.len() * *share as usize).div_ceil(100) - 1;
                assert!((found * NS_PER_MS - ages[at]).abs() <= 0.1 + 1e-6, "{found} {}", ages[at]);
            }
            let mean = ages.iter().sum::<f64>() / ages.len() as f64;
            assert!((age.mean_ms * NS_PER_MS - mean).abs() < 1e-6);
        }
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
        let found = RunFreshness::compute(&scenario, &trace, &load, &score);
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

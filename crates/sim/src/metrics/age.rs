//! Age of the newest result over time (docs/explanation/freshness.md, section 1).

use std::cmp::Reverse;

use xrsim_model::units::{SimSpan, SimTime};

use super::{NS_PER_MS, per};

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
        updates: Vec<Update>,
        (begin, until): (SimTime, SimTime),
        lead: SimSpan,
    ) -> Option<Self> {
        let (updates, stale) = fresh(updates, begin, until);
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

/// The updates that end by `until` and were the newest when they ended, in order, and the number of others from `begin` on.
pub(super) fn fresh(
    mut updates: Vec<Update>,
    begin: SimTime,
    until: SimTime,
) -> (Vec<Update>, u64) {
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
    (updates, stale)
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

#[cfg(test)]
mod tests {
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
}

//! How a sequence of frames was served: in time, late or not at all.

use xrsim_model::column::Column;
use xrsim_model::statistics::{Fraction, Summary, percentile};
use xrsim_model::units::{FrameRate, SimTime};

use super::per;

/// A rule on misses in a row: at least `m` of any `k` consecutive frames must be in time (Hamdaoui &
/// Ramanathan 1995).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Firm {
    m: u32,
    k: u32,
}

impl Firm {
    /// The (`m`, `k`)-firm rule; `None` unless 1 ≤ `m` ≤ `k`.
    pub fn new(m: u32, k: u32) -> Option<Self> {
        (1 <= m && m <= k).then_some(Self { m, k })
    }

    /// 9 of 10 from 45 FPS on, where misses are seen at once, and 8 of 10 below.
    pub(crate) fn of_rate(rate: FrameRate) -> Self {
        Self { m: if rate.as_fps() >= 45.0 { 9 } else { 8 }, k: 10 }
    }

    /// How many windows of `k` consecutive frames have fewer than `m` that were in time.
    fn violations(self, in_time: &[bool]) -> u64 {
        let window = self.k as usize;
        let mut hits = 0;
        let mut violations = 0;
        for (index, &hit) in in_time.iter().enumerate() {
            hits += u32::from(hit);
            if let Some(gone) = index.checked_sub(window) {
                hits -= u32::from(in_time[gone]);
            }
            violations += u64::from(index + 1 >= window && hits < self.m);
        }
        violations
    }
}

/// How one released frame was served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Served {
    /// It ended.
    Done {
        end: SimTime,
        latency_ms: f64,
        /// Whether by its deadline.
        in_time: bool,
    },
    /// It never ended.
    Not,
}

impl Served {
    pub(super) fn at(end: SimTime, arrival: SimTime, deadline: SimTime) -> Self {
        Self::Done { end, latency_ms: end.ms_after(arrival), in_time: end <= deadline }
    }

    pub(super) fn is_in_time(&self) -> bool {
        matches!(self, Self::Done { in_time: true, .. })
    }
}

/// Percentiles of response times, each that of one frame ([`percentile`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latencies {
    /// Mean \[ms\].
    pub mean_ms: f64,
    /// Median \[ms\].
    pub p50_ms: f64,
    /// 95th percentile \[ms\].
    pub p95_ms: f64,
    /// 99th percentile \[ms\]; the largest response time below 100 frames, and no statement about more
    /// than this run below 459 frames: from there on it is, with 99 % confidence, not below the true
    /// 99th percentile (0.99^459 < 0.01).
    pub p99_ms: f64,
    /// Largest \[ms\].
    pub max_ms: f64,
}

impl Latencies {
    /// `None` without response times.
    fn from_samples(mut latencies_ms: Vec<f64>) -> Option<Self> {
        latencies_ms.sort_by(f64::total_cmp);
        let at = |p| percentile(&latencies_ms, p);
        Some(Self {
            mean_ms: Summary::of(latencies_ms.iter().copied()).mean,
            p50_ms: at(Fraction::P50)?,
            p95_ms: at(Fraction::P95)?,
            p99_ms: at(Fraction::P99)?,
            max_ms: *latencies_ms.last()?,
        })
    }
}

/// How a sequence of frames was served: those of a model, or of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Service {
    /// Frames that were asked for.
    pub requests: u64,
    /// Frames that ended, in time or late.
    pub executed: u64,
    /// Frames that ended late.
    pub late: u64,
    /// Response times of the executed frames, from the arrival of their data to their end, waiting for
    /// other models included; `None` without.
    pub latencies: Option<Latencies>,
    /// Most consecutive requested frames that were missed.
    pub longest_misses: u64,
    /// Windows of consecutive requested frames that violate the [`Firm`] rule; windows overlap.
    pub firm_violations: u64,
    /// Frames executed per second of the time that the frames stand for.
    pub achieved_fps: f64,
    /// Jitter of completions: standard deviation of the times between consecutive ones \[ms\]; `None`
    /// below three completions.
    pub jitter_ms: Option<f64>,
}

impl Service {
    /// The service as columns.
    pub const COLUMNS: &[Column<Self>] = &[
        Column::count("requests", "Requests", |it: &Self| Some(it.requests as f64))
            .higher("requests that the sensors asked for"),
        Column::count("executed", "Executed", |it: &Self| Some(it.executed as f64))
            .higher("requests that ran to their end, on time or late"),
        Column::count("late", "Late", |it: &Self| Some(it.late as f64))
            .lower("executed requests that ended after their deadline"),
        Column::count("missed", "Missed", |it: &Self| Some(it.missed() as f64))
            .lower("requests that were late or did not end"),
        Column::share("miss_ratio", "Miss ratio", |it: &Self| Some(it.miss_ratio()))
            .lower("missed requests over all requests"),
        Column::quantity("mean_ms", "ms", "Mean response time", |it: &Self| {
            it.latencies.map(|times| times.mean_ms)
        })
        .lower("mean response time of executed requests"),
        Column::quantity("p50_ms", "ms", "Median response time", |it: &Self| {
            it.latencies.map(|times| times.p50_ms)
        })
        .lower("median response time of executed requests"),
        Column::quantity("p95_ms", "ms", "95th percentile", |it: &Self| {
            it.latencies.map(|times| times.p95_ms)
        })
        .lower("95th percentile of the response time"),
        Column::quantity("p99_ms", "ms", "99th percentile", |it: &Self| {
            it.latencies.map(|times| times.p99_ms)
        })
        .lower("99th percentile of the response time"),
        Column::quantity("max_ms", "ms", "Largest response time", |it: &Self| {
            it.latencies.map(|times| times.max_ms)
        })
        .lower("largest response time of an executed request"),
        Column::count("longest_misses", "Longest run of misses", |it: &Self| {
            Some(it.longest_misses as f64)
        })
        .lower("most consecutive requests that were missed"),
        Column::count("firm_violations", "Violations of (m, k)", |it: &Self| {
            Some(it.firm_violations as f64)
        })
        .lower("windows of consecutive requests with too many misses"),
        Column::quantity("achieved_fps", "1/s", "Achieved rate", |it: &Self| Some(it.achieved_fps))
            .higher("executed requests per second"),
        Column::quantity("jitter_ms", "ms", "Jitter", |it: &Self| it.jitter_ms)
            .lower("standard deviation of the times between completions"),
    ];

    /// Service of the requested frames `served`, in order, of `n_frames` frames at `rate`.
    pub(super) fn from_frames(
        served: &[Served],
        n_frames: u64,
        rate: FrameRate,
        firm: Firm,
    ) -> Self {
        let in_time: Vec<_> = served.iter().map(Served::is_in_time).collect();
        let (mut ends, mut latencies) = (Vec::new(), Vec::new());
        for frame in served {
            if let &Served::Done { end, latency_ms, .. } = frame {
                ends.push(end);
                latencies.push(latency_ms);
            }
        }
        let executed = ends.len() as u64;
        let hits = in_time.iter().filter(|&&hit| hit).count() as u64;
        Self {
            requests: served.len() as u64,
            executed,
            late: executed - hits,
            latencies: Latencies::from_samples(latencies),
            longest_misses: longest_misses(&in_time),
            firm_violations: firm.violations(&in_time),
            achieved_fps: per(executed as f64 * rate.as_fps(), n_frames as f64).unwrap_or(0.0),
            jitter_ms: jitter_ms(ends),
        }
    }

    /// Released frames that did not end by their deadline.
    pub fn missed(&self) -> u64 {
        self.requests - self.executed + self.late
    }

    /// The part of the requested frames that was missed; 0 if none was released.
    pub fn miss_ratio(&self) -> f64 {
        per(self.missed() as f64, self.requests as f64).unwrap_or(0.0)
    }
}

fn longest_misses(in_time: &[bool]) -> u64 {
    let runs = in_time.split(|&hit| hit);
    runs.map(|misses| misses.len() as u64).max().unwrap_or(0)
}

fn jitter_ms(mut ends: Vec<SimTime>) -> Option<f64> {
    ends.sort();
    let gaps = ends.windows(2).map(|pair| pair[1].ms_after(pair[0]));
    let gaps = Summary::of(gaps);
    (gaps.n >= 2).then_some(gaps.sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::statistics::EarlyStopping;

    fn at_ms(ms: u64) -> SimTime {
        SimTime::from_ns(ms * 1_000_000)
    }

    /// Frames every 10 ms, due after 10 ms, that end `latencies` [ms] after their arrival if at all.
    fn service(latencies: &[Option<u64>], firm: Firm) -> Service {
        let served: Vec<_> = (0..)
            .zip(latencies)
            .map(|(frame, latency)| match latency {
                Some(ms) => {
                    Served::at(at_ms(10 * frame + ms), at_ms(10 * frame), at_ms(10 * frame + 10))
                }
                None => Served::Not,
            })
            .collect();
        let rate = FrameRate::from_fps(100.0).unwrap();
        Service::from_frames(&served, latencies.len() as u64, rate, firm)
    }

    /// Ends at 4, 18, 33, 44 ms: gaps 14, 15, 11 of mean 40/3; squares 4/9 + 25/9 + 49/9 = 26/3; SD
    /// √(13/3).
    #[test]
    fn every_number_by_hand() {
        let frames = [Some(4), Some(8), None, Some(3), Some(4)];
        let service = service(&frames, Firm::new(2, 2).unwrap());
        assert_eq!((service.requests, service.executed, service.late), (5, 4, 0));
        assert_eq!((service.missed(), service.miss_ratio()), (1, 0.2));
        let latencies = service.latencies.unwrap();
        assert_eq!((latencies.mean_ms, latencies.p50_ms), (4.75, 4.0));
        assert_eq!((latencies.p99_ms, latencies.max_ms), (8.0, 8.0));
        assert_eq!((service.longest_misses, service.firm_violations), (1, 2));
        assert_eq!(service.achieved_fps, 80.0);
        assert!((service.jitter_ms.unwrap() - (13.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_frame_that_ends_on_its_deadline_is_in_time() {
        let service = service(&[Some(10), Some(11), None], Firm::new(1, 1).unwrap());
        assert_eq!((service.late, service.missed(), service.longest_misses), (1, 2, 2));
        assert_eq!(service.firm_violations, 2);
        assert_eq!(service.jitter_ms, None);
    }

    #[test]
    fn nothing_released_is_nothing_missed() {
        let service = service(&[], Firm::new(1, 1).unwrap());
        assert_eq!((service.miss_ratio(), service.latencies), (0.0, None));
        assert_eq!((service.achieved_fps, service.longest_misses), (0.0, 0));
    }

    /// Hits 1 1 0 1 0 0 1: windows of three have 2 2 1 1 1 of them.
    #[test]
    fn every_window_with_too_few_hits_violates_the_rule() {
        let hits = [true, true, false, true, false, false, true];
        assert_eq!(Firm::new(2, 3).unwrap().violations(&hits), 3);
        assert_eq!(Firm::new(1, 3).unwrap().violations(&hits), 0);
        assert_eq!(Firm::new(8, 10).unwrap().violations(&hits), 0);
    }

    #[test]
    fn rules_that_cannot_hold_are_refused() {
        assert_eq!(Firm::new(0, 10), None);
        assert_eq!(Firm::new(11, 10), None);
        let of = |fps| Firm::of_rate(FrameRate::from_fps(fps).unwrap());
        assert_eq!(Some(of(45.0)), Firm::new(9, 10));
        assert_eq!(Some(of(30.0)), Firm::new(8, 10));
    }

    #[test]
    fn the_samples_of_a_percentile_are_those_of_early_stopping() {
        let rule = EarlyStopping::at(Fraction::P99);
        assert_eq!(rule.queries(0), 459);
    }
}

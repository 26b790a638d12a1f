//! The search for the peak: the largest rate of Server, or number of streams of a fixed interval, whose
//! run passes the test of its latencies.
//!
//! Nothing but that test counts in the search, neither duration nor early stopping. Every trial has the
//! same seeds, so that the gaps between arrivals only scale with the rate.

use rayon::prelude::*;

use crate::mlperf::settings::{EffectiveSettings, LoadScenario, SettingsError};

/// A run of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Rate \[1/s\], or number of streams.
    pub value: f64,
    /// Whether its latencies passed.
    pub passes: bool,
}

/// What a search did, and what it found.
#[derive(Debug, Clone, PartialEq)]
pub struct PeakSearch<T> {
    /// Every run, in order.
    pub trials: Vec<Trial>,
    /// The peak, and what came of its run; `None` if not even the first trial passed.
    pub peak: Option<(f64, T)>,
}

/// Searches from `settings` on. `trial` makes a run and gives whether its latencies pass, and what is
/// kept of the run at the peak.
///
/// # Errors
///
/// That of `trial`, and [`SettingsError`] if a value is out of range, as when any rate passes.
pub fn find_peak<T, E: From<SettingsError>>(
    settings: &EffectiveSettings,
    mut trial: impl FnMut(&EffectiveSettings) -> Result<(bool, T), E>,
) -> Result<PeakSearch<T>, E> {
    search_upward(&SearchMethod::of(settings)?, |value| {
        let settings = match settings.scenario {
            LoadScenario::Server => settings.with_rate(value)?,
            _ => settings.with_samples_per_query(value as u64)?,
        };
        let (passes, kept) = trial(&settings)?;
        Ok(passes.then_some(kept))
    })
}

/// How a search goes: the value is raised by the step until it fails, then the gap to the last value that
/// passed is halved until they do not differ in the decimals that are asked for.
///
/// Deviation: LoadGen would search for ever where the numbers have fewer decimals than it wants; this
/// search ends at two neighbouring numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchMethod {
    /// Where it starts.
    pub start: f64,
    /// Factor by which it goes up.
    pub factor: f64,
    /// How fine it is.
    pub precision: Precision,
    /// The largest value that is tried.
    pub largest: f64,
}

/// When a search is fine enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    /// When both ends agree in so many decimals.
    Decimals(i32),
    /// When both ends differ by a thousandth of the lower one.
    Thousandth,
    /// When both ends are neighbouring whole numbers.
    Whole,
}

impl SearchMethod {
    /// The search for the peak of `settings`. The number of streams is doubled, and found exactly.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoPeak`].
    pub fn of(settings: &EffectiveSettings) -> Result<Self, SettingsError> {
        match settings.scenario {
            LoadScenario::Server => Ok(Self {
                start: settings.target_qps,
                factor: 1.0 + settings.peak_step,
                precision: Precision::Decimals(settings.peak_decimals),
                largest: f64::MAX,
            }),
            LoadScenario::MultiStream if settings.loadgen.has_fixed_interval() => Ok(Self {
                start: settings.samples_per_query as f64,
                factor: 2.0,
                precision: Precision::Whole,
                largest: f64::MAX,
            }),
            scenario => Err(SettingsError::NoPeak { scenario }),
        }
    }

    /// A search from `start` on that is as fine as a thousandth of that.
    fn to_a_thousandth(start: f64) -> Self {
        Self { start, factor: 2.0, precision: Precision::Thousandth, largest: f64::MAX }
    }

    /// The middle, if the search is not at its end.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        let agree = |unit: f64| (low * unit).floor() + 1.0 >= (high * unit).floor();
        let middle = low + (high - low) / 2.0;
        let (middle, is_finished) = match self.precision {
            Precision::Decimals(decimals) => (middle, agree(10f64.powi(decimals))),
            Precision::Thousandth => (middle, high - low <= low / 1000.0),
            Precision::Whole => (middle.floor(), agree(1.0)),
        };
        (!is_finished && low < middle && middle < high).then_some(middle)
    }
}

/// Starts that are tried before it is said that nothing passes: a quarter each time. At a thousandth of
/// what can be served, queries hardly meet.
const MAX_STARTS: usize = 5;

/// The highest rate or load that passes, as fine as a thousandth of it, from wherever on: a start that
/// does not pass is quartered.
///
/// # Errors
///
/// That of `trial`.
pub fn find_highest<T, E>(
    start: f64,
    mut trial: impl FnMut(f64) -> Result<Option<T>, E>,
) -> Result<PeakSearch<T>, E> {
    let mut failed = Vec::new();
    let mut start = start;
    loop {
        let PeakSearch { trials, peak } =
            search_upward(&SearchMethod::to_a_thousandth(start), &mut trial)?;
        let is_over = peak.is_some() || failed.len() + 1 == MAX_STARTS;
        failed.extend(trials);
        if is_over {
            return Ok(PeakSearch { trials: failed, peak });
        }
        start /= 4.0;
    }
}

/// Likewise the highest value that passes all of `n` tests, at least one. `passes` makes test number so
/// much at a value; a test that passes at one value is taken to do so below, so that not all are made
/// everywhere. At the value that is found all have been made.
///
/// # Errors
///
/// That of `passes`.
pub fn find_common<E: Send>(
    start: f64,
    n: usize,
    passes: impl Fn(f64, usize) -> Result<bool, E> + Sync,
) -> Result<PeakSearch<()>, E> {
    let trial = |value, test| Ok(passes(value, test)?.then_some(()));
    let mut hardest = 0;
    let mut search = find_highest(start, |value| trial(value, hardest))?;
    while let Some((peak, ())) = search.peak {
        let others = (0..n).into_par_iter().filter(|&test| test != hardest);
        let verdicts: Vec<_> = others.map(|test| (test, passes(peak, test))).collect();
        let verdicts = verdicts.into_iter().map(|(test, passes)| Ok((test, passes?)));
        let verdicts = verdicts.collect::<Result<Vec<_>, E>>()?;
        let Some(&(harder, _)) = verdicts.iter().find(|(_, passes)| !passes) else { break };
        hardest = harder;
        search = descend(search.trials, peak, |value| trial(value, hardest))?;
    }
    Ok(search)
}

/// Goes on below a peak of `trials` that is none: from the next lower value that has passed so far.
fn descend<E>(
    mut trials: Vec<Trial>,
    peak: f64,
    mut trial: impl FnMut(f64) -> Result<Option<()>, E>,
) -> Result<PeakSearch<()>, E> {
    trials.push(Trial { value: peak, passes: false });
    let passed = trials.iter().filter(|it| it.passes && it.value < peak);
    let mut lower: Vec<f64> = passed.map(|it| it.value).collect();
    lower.sort_unstable_by(f64::total_cmp);
    lower.dedup();
    let mut high = peak;
    while let Some(low) = lower.pop() {
        let found = climb_between(&SearchMethod::to_a_thousandth(low), high, &mut trial)?;
        trials.extend(found.trials);
        if found.peak.is_some() {
            return Ok(PeakSearch { trials, peak: found.peak });
        }
        high = low;
    }
    let found = find_highest(high / 4.0, trial)?;
    trials.extend(found.trials);
    Ok(PeakSearch { trials, peak: found.peak })
}

/// Searches for the largest value that passes: `trial` gives what is kept of a run that does.
///
/// # Errors
///
/// That of `trial`.
pub fn search_upward<T, E>(
    method: &SearchMethod,
    mut trial: impl FnMut(f64) -> Result<Option<T>, E>,
) -> Result<PeakSearch<T>, E> {
    let mut search = Steps::new(&mut trial);
    let (mut low, mut high) = (method.start, method.start);
    while high <= method.largest && search.step(high)? {
        low = high;
        high = low * method.factor;
    }
    // What is beyond the most counts as failed; the search ends with the most.
    search.halve(method, low, high.min(method.largest + 1.0))
}

/// Likewise between the start, which is tried, and `high`, which is known to fail.
fn climb_between<T, E>(
    method: &SearchMethod,
    high: f64,
    trial: &mut impl FnMut(f64) -> Result<Option<T>, E>,
) -> Result<PeakSearch<T>, E> {
    let mut search = Steps::new(trial);
    search.step(method.start)?;
    search.halve(method, method.start, high)
}

/// A search in progress.
struct Steps<'a, T, F> {
    trial: &'a mut F,
    trials: Vec<Trial>,
    peak: Option<(f64, T)>,
}

impl<'a, T, E, F: FnMut(f64) -> Result<Option<T>, E>> Steps<'a, T, F> {
    fn new(trial: &'a mut F) -> Self {
        Self { trial, trials: Vec::new(), peak: None }
    }

    /// Tries a value above the peak so far; whether it is the new one.
    fn step(&mut self, value: f64) -> Result<bool, E> {
        let kept = (self.trial)(value)?;
        let passes = kept.is_some();
        self.trials.push(Trial { value, passes });
        if let Some(kept) = kept {
            self.peak = Some((value, kept));
        }
        Ok(passes)
    }

    /// Halves the gap between a peak and a value that fails.
    fn halve(
        mut self,
        method: &SearchMethod,
        mut low: f64,
        mut high: f64,
    ) -> Result<PeakSearch<T>, E> {
        while self.peak.is_some()
            && let Some(middle) = method.middle(low, high)
        {
            let end = if self.step(middle)? { &mut low } else { &mut high };
            *end = middle;
        }
        Ok(PeakSearch { trials: self.trials, peak: self.peak })
    }
}

/// What LoadGen's detailed log says of a search for a rate from its second trial on; nothing if not
/// even the first one passed.
pub fn search_messages<T>(search: &PeakSearch<T>) -> Vec<String> {
    let mut trials = search.trials.iter();
    let (Some(first), Some((peak, _))) = (trials.next(), &search.peak) else { return Vec::new() };
    let (mut low, mut high) = (first.value, first.value);
    let mut messages = Vec::new();
    for Trial { value, passes } in trials.by_ref() {
        messages.push(format!("FindBoundaries: Checking fields [{low:.6}, {value:.6})"));
        high = *value;
        if !passes {
            break;
        }
        low = high;
    }
    messages.push(format!("FindPeakPerformance: Found boundaries: [{low:.6}, {high:.6})"));
    for Trial { value, passes } in trials {
        let bounds = format!("[{low:.6}, {high:.6})");
        messages.push(format!(
            "FindPeakPerformanceBinarySearch: Testing the mid value of bounds {bounds}: {value:.6}"
        ));
        let end = if *passes { &mut low } else { &mut high };
        *end = *value;
    }
    messages.push(format!("FindPeakPerformance: Found peak performance field: {peak:.6}"));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlperf::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 1, total_samples: 1 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
    }

    fn search(settings: &EffectiveSettings, peak: f64) -> PeakSearch<()> {
        let value = |trial: &EffectiveSettings| SearchMethod::of(trial).unwrap().start;
        let trial = |trial: &EffectiveSettings| Ok::<_, SettingsError>((value(trial) <= peak, ()));
        find_peak(settings, trial).unwrap()
    }

    fn values(search: &PeakSearch<()>) -> Vec<f64> {
        search.trials.iter().map(|trial| trial.value).collect()
    }

    /// From 50 with a peak at 62.9: 100 fails, 75 fails, 62.5 passes, 68.75, 65.625, 64.0625 and
    /// 63.28125 fail; then both ends have 62 or 63 before the point and the search is over.
    #[test]
    fn a_rate_is_doubled_and_then_halved() {
        let requested = TestSettings {
            server_target_qps: 50.0,
            server_find_peak_qps_decimals_of_precision: 0,
            ..TestSettings::new(LoadScenario::Server)
        };
        let found = search(&settings(&requested, LoadGenVersion::V6_0), 62.9);
        let expected = [50.0, 100.0, 75.0, 62.5, 68.75, 65.625, 64.0625, 63.28125];
        assert_eq!(values(&found), expected);
        assert_eq!(found.peak, Some((62.5, ())));
        let log = search_messages(&found);
        assert_eq!(log.len(), 9);
        assert_eq!(log[0], "FindBoundaries: Checking fields [50.000000, 100.000000)");
        assert_eq!(log[1], "FindPeakPerformance: Found boundaries: [50.000000, 100.000000)");
        assert_eq!(
            log[7],
            "FindPeakPerformanceBinarySearch: Testing the mid value of bounds [62.500000, \
             64.062500): 63.281250"
        );
    }

    /// 3 doubles to 6 and 12, which fails; 9 passes, 10 passes, 11 fails.
    #[test]
    fn streams_are_found_exactly() {
        let requested = TestSettings {
            multi_stream_samples_per_query: 3,
            ..TestSettings::new(LoadScenario::MultiStream)
        };
        let found = search(&settings(&requested, LoadGenVersion::V0_5), 10.0);
        assert_eq!(values(&found), [3.0, 6.0, 12.0, 9.0, 10.0, 11.0]);
        assert_eq!(found.peak, Some((10.0, ())));
    }

    #[test]
    fn a_start_that_fails_ends_the_search() {
        let server = settings(&TestSettings::new(LoadScenario::Server), LoadGenVersion::V6_0);
        let found = search(&server, 0.5);
        assert_eq!((values(&found), found.peak), (vec![1.0], None));
        assert_eq!(search_messages(&found), Vec::<String>::new());
    }

    /// 100 and 25 fail, 6.25 passes; the thousandth of 9 is 0.009.
    #[test]
    fn a_start_that_fails_is_quartered() {
        let trial = |value: f64| Ok::<_, SettingsError>((value <= 9.0).then_some(()));
        let found = find_highest(100.0, trial).unwrap();
        let values = values(&found);
        assert_eq!(values[..4], [100.0, 25.0, 6.25, 12.5]);
        let (peak, ()) = found.peak.unwrap();
        assert!((8.991..=9.0).contains(&peak), "{peak}");
        let nothing = find_highest(1.0, |_| Ok::<_, SettingsError>(None::<()>)).unwrap();
        assert_eq!((nothing.trials.len(), nothing.peak), (5, None));
    }

    /// Five tests pass up to 100, 70.3, 99, 70.2 and 80. Each is made at the end, few before.
    #[test]
    fn the_hardest_test_decides() {
        let limits = [100.0, 70.3, 99.0, 70.2, 80.0];
        let n_trials = std::sync::atomic::AtomicUsize::new(0);
        let passes = |value: f64, test: usize| {
            n_trials.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok::<_, SettingsError>(value <= limits[test])
        };
        let found = find_common(30.0, 5, passes).unwrap();
        let (peak, ()) = found.peak.unwrap();
        assert!((70.12..=70.2).contains(&peak), "{peak}");
        // All five at every peak, and no more than one at the values on the method.
        let n_trials = n_trials.into_inner();
        assert!(n_trials < 50, "{n_trials}");
        let nothing =
            find_common(30.0, 5, |value, test| Ok::<_, SettingsError>(test != 3 && value <= 100.0))
                .unwrap();
        assert_eq!(nothing.peak, None);
    }

    #[test]
    fn a_rate_without_a_peak_is_an_error() {
        let server = settings(&TestSettings::new(LoadScenario::Server), LoadGenVersion::V6_0);
        let error = find_peak(&server, |_| Ok::<_, SettingsError>((true, ()))).unwrap_err();
        assert_eq!(error.field(), Some("server_target_qps"));
    }

    #[test]
    fn numbers_that_cannot_be_told_apart_end_the_search() {
        let requested = TestSettings {
            server_target_qps: 1e8,
            server_find_peak_qps_decimals_of_precision: 9,
            ..TestSettings::new(LoadScenario::Server)
        };
        let found = search(&settings(&requested, LoadGenVersion::V6_0), 150_000_000.1);
        assert!(found.peak.is_some_and(|(peak, ())| peak <= 150_000_000.1));
    }

    #[test]
    fn only_some_scenarios_have_a_peak() {
        for scenario in
            [LoadScenario::SingleStream, LoadScenario::MultiStream, LoadScenario::Offline]
        {
            let settings = settings(&TestSettings::new(scenario), LoadGenVersion::V6_0);
            let error = find_peak(&settings, |_| Ok::<_, SettingsError>((true, ()))).unwrap_err();
            assert_eq!(error, SettingsError::NoPeak { scenario });
        }
    }
}

//! Search for the peak: the highest rate of Server, or the largest number of streams of a fixed interval,
//! whose run meets the latency constraint.
//!
//! LoadGen's search checks the constraint alone, neither duration nor early stopping. Every trial has the
//! same seeds, so that the gaps between arrivals only scale with the rate.

use crate::settings::{EffectiveSettings, LoadScenario, SettingsError};
use xrsim_model::parallel;

/// Trial of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Rate \[1/s\], or number of streams.
    pub value: f64,
    /// Whether the trial passed.
    pub passes: bool,
}

/// Trials and result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct PeakSearch<T> {
    /// Trials, in order.
    pub trials: Vec<Trial>,
    /// Peak with the result of its trial; `None` if no trial passed.
    pub peak: Option<(f64, T)>,
}

/// Runs LoadGen's search, from the rate or number of streams of `settings` on. `trial` makes a run and
/// returns whether it passes, and the result to keep of the run at the peak.
///
/// # Errors
///
/// Errors of `trial`, and [`SettingsError`] if a value is out of range, as happens if every rate passes.
pub fn find_peak<T, E: From<SettingsError>>(
    settings: &EffectiveSettings,
    mut trial: impl FnMut(&EffectiveSettings) -> Result<(bool, T), E>,
) -> Result<PeakSearch<T>, E> {
    search_upward(&SearchMethod::from_settings(settings)?, |value| {
        let settings = match settings.scenario {
            LoadScenario::Server => settings.with_rate(value)?,
            _ => settings.with_samples_per_query(value as u64)?,
        };
        let (passes, kept) = trial(&settings)?;
        Ok(passes.then_some(kept))
    })
}

/// Method of a search: the value is multiplied by a factor until it fails; then the gap to the last value
/// that passed is halved until both ends agree in the requested precision.
///
/// Deviation: LoadGen does not end if floating-point numbers have fewer decimals than requested; this
/// search ends at two neighbouring numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SearchMethod {
    /// First value.
    pub start: f64,
    /// Factor by which the value is raised.
    pub factor: f64,
    /// Precision of the result.
    pub precision: Precision,
    /// Largest value that is tried.
    pub largest: f64,
}

/// Precision at which a search ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Precision {
    /// Both ends agree in this number of decimals.
    Decimals(i32),
    /// Both ends differ by at most a thousandth of the lower one.
    Thousandth,
    /// Both ends are neighbouring whole numbers.
    Whole,
}

impl SearchMethod {
    /// LoadGen's method for `settings`. Numbers of streams are doubled and found exactly.
    ///
    /// # Errors
    ///
    /// [`SettingsError::NoPeak`] if the scenario has neither a rate nor streams to search for.
    pub(super) fn from_settings(settings: &EffectiveSettings) -> Result<Self, SettingsError> {
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

    /// Doubling from `start` on, to a precision of a thousandth.
    fn to_a_thousandth(start: f64) -> Self {
        Self { start, factor: 2.0, precision: Precision::Thousandth, largest: f64::MAX }
    }

    /// Middle of `low` and `high`; `None` if the search ends.
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

/// Number of first values that are tried before no value is said to pass, each a quarter of the one
/// before. At a thousandth of the capacity, queries hardly overlap.
const MAX_STARTS: usize = 5;

/// Searches for the highest value that passes, to a precision of a thousandth. If `start` does not pass, the
/// search starts again from a quarter of it.
///
/// # Errors
///
/// Errors of `trial`.
pub(super) fn find_highest<T, E>(
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

/// Searches for the highest value that passes all of `n` tests, at least one, to a precision of a
/// thousandth. `passes(value, test)` makes one test. A test that passes at one value is assumed to pass at
/// lower ones, so that not every test is made at every value; at the result all have been made.
///
/// # Errors
///
/// Errors of `passes`.
pub(super) fn find_common<E: Send + Sync>(
    start: f64,
    n: usize,
    passes: impl Fn(f64, usize) -> Result<bool, E> + Sync,
) -> Result<PeakSearch<()>, E> {
    let trial = |value, test| Ok(passes(value, test)?.then_some(()));
    let mut hardest = 0;
    let mut search = find_highest(start, |value| trial(value, hardest))?;
    while let Some((peak, ())) = search.peak {
        let verdict = |test| if test == hardest { Ok(true) } else { passes(peak, test) };
        let verdicts = parallel::map_indices(n, verdict).into_iter();
        let verdicts = verdicts.collect::<Result<Vec<_>, E>>()?;
        let Some(harder) = verdicts.iter().position(|passes| !passes) else { break };
        hardest = harder;
        search = search_downward(search.trials, peak, |value| trial(value, hardest))?;
    }
    Ok(search)
}

/// Continues a search below `peak`, which failed another test: from the next lower value that has passed.
fn search_downward<E>(
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
        let found = search_between(&SearchMethod::to_a_thousandth(low), high, &mut trial)?;
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

/// Searches for the largest value that passes by `method`. `trial` returns the result to keep of a value
/// that passes.
///
/// # Errors
///
/// Errors of `trial`.
pub(super) fn search_upward<T, E>(
    method: &SearchMethod,
    mut trial: impl FnMut(f64) -> Result<Option<T>, E>,
) -> Result<PeakSearch<T>, E> {
    let mut search = SearchState::new(&mut trial);
    let (mut low, mut high) = (method.start, method.start);
    while high <= method.largest && search.step(high)? {
        low = high;
        high = low * method.factor;
    }
    // Values above the largest one count as failed; the search ends at the largest one.
    search.halve(method, low, high.min(method.largest + 1.0))
}

/// Searches between the first value of `method`, which is tried, and `high`, which is known to fail.
fn search_between<T, E>(
    method: &SearchMethod,
    high: f64,
    trial: &mut impl FnMut(f64) -> Result<Option<T>, E>,
) -> Result<PeakSearch<T>, E> {
    let mut search = SearchState::new(trial);
    search.step(method.start)?;
    search.halve(method, method.start, high)
}

/// State of a search.
struct SearchState<'a, T, F> {
    trial: &'a mut F,
    trials: Vec<Trial>,
    peak: Option<(f64, T)>,
}

impl<'a, T, E, F: FnMut(f64) -> Result<Option<T>, E>> SearchState<'a, T, F> {
    fn new(trial: &'a mut F) -> Self {
        Self { trial, trials: Vec::new(), peak: None }
    }

    /// Tries a value above the peak so far; returns whether it is the new peak.
    fn step(&mut self, value: f64) -> Result<bool, E> {
        let kept = (self.trial)(value)?;
        let passes = kept.is_some();
        self.trials.push(Trial { value, passes });
        if let Some(kept) = kept {
            self.peak = Some((value, kept));
        }
        Ok(passes)
    }

    /// Halves the gap between the peak and a value that fails until the search ends.
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

/// Messages of LoadGen's detailed log about a search for a rate, from its second trial on; none if the
/// first trial failed.
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
    use crate::settings::{LoadGenVersion, QuerySampleLibrary, TestSettings};

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 1, total_samples: 1 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
    }

    fn search(settings: &EffectiveSettings, peak: f64) -> PeakSearch<()> {
        let value = |trial: &EffectiveSettings| SearchMethod::from_settings(trial).unwrap().start;
        let trial = |trial: &EffectiveSettings| Ok::<_, SettingsError>((value(trial) <= peak, ()));
        find_peak(settings, trial).unwrap()
    }

    fn values(search: &PeakSearch<()>) -> Vec<f64> {
        search.trials.iter().map(|trial| trial.value).collect()
    }

    /// The search starts at 50 with a peak at 62.9: 100 and 75 fail, 62.5 passes, 68.75, 65.625, 64.0625
    /// and 63.28125 fail. Then the ends have 62 and 63 before the point, and the search ends.
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

    /// 3 is doubled to 6 and 12, which fails; 9 and 10 pass, 11 fails.
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

    /// 100 and 25 fail, 6.25 passes; a thousandth of 9 is 0.009.
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

    /// Five tests pass up to 100, 70.3, 99, 70.2 and 80. Every test is made at the result, few at other
    /// values.
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

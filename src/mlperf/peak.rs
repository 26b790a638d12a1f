//! The search for the peak: the largest rate of Server, or number of streams of a fixed interval, whose
//! run passes the test of its latencies.
//!
//! Nothing but that test counts in the search, neither duration nor early stopping. Every trial has the
//! same seeds, so that the gaps between arrivals only scale with the rate.

use super::settings::{Scenario, Settings, SettingsError};

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
pub struct Search<T> {
    /// Every run, in order.
    pub trials: Vec<Trial>,
    /// The peak, and what came of its run; `None` if not even the first trial passed.
    pub peak: Option<(f64, T)>,
}

/// Searches from `settings` on. `trial` makes a run and gives whether its latencies pass, and what is
/// kept of the run at the peak.
///
/// First the value is raised by the step until it fails, then the gap to the last value that passed is
/// halved until they do not differ in the decimals that are asked for. The number of streams is
/// doubled, and found exactly.
///
/// Deviation: LoadGen would search for ever where the numbers have fewer decimals than it wants; this
/// search ends at two neighbouring numbers.
///
/// # Errors
///
/// That of `trial`, and [`SettingsError`] if a value is out of range, as when any rate passes.
pub fn find_peak<T, E: From<SettingsError>>(
    settings: &Settings,
    mut trial: impl FnMut(&Settings) -> Result<(bool, T), E>,
) -> Result<Search<T>, E> {
    let field = Field::of(settings)?;
    let mut trials = Vec::new();
    let mut run = |value: f64| {
        let (passes, kept) = trial(&field.set(settings, value)?)?;
        trials.push(Trial { value, passes });
        Ok::<_, E>(passes.then_some(kept))
    };
    let mut low = field.get(settings);
    let Some(mut kept) = run(low)? else {
        return Ok(Search { trials, peak: None });
    };
    let mut high = field.raise(settings, low);
    while let Some(better) = run(high)? {
        (low, kept) = (high, better);
        high = field.raise(settings, low);
    }
    while let Some(middle) = field.middle(settings, low, high) {
        match run(middle)? {
            Some(better) => (low, kept) = (middle, better),
            None => high = middle,
        }
    }
    Ok(Search { trials, peak: Some((low, kept)) })
}

/// What is searched for.
#[derive(Debug, Clone, Copy)]
enum Field {
    Rate,
    Streams,
}

impl Field {
    fn of(settings: &Settings) -> Result<Self, SettingsError> {
        match settings.scenario {
            Scenario::Server => Ok(Self::Rate),
            Scenario::MultiStream if settings.loadgen.has_fixed_interval() => Ok(Self::Streams),
            scenario => Err(SettingsError::NoPeak { scenario }),
        }
    }

    fn get(self, settings: &Settings) -> f64 {
        match self {
            Self::Rate => settings.target_qps,
            Self::Streams => settings.samples_per_query as f64,
        }
    }

    fn set(self, settings: &Settings, value: f64) -> Result<Settings, SettingsError> {
        match self {
            Self::Rate => settings.with_rate(value),
            Self::Streams => settings.with_samples_per_query(value as u64),
        }
    }

    fn raise(self, settings: &Settings, value: f64) -> f64 {
        match self {
            Self::Rate => value * (1.0 + settings.peak_step),
            Self::Streams => 2.0 * value,
        }
    }

    /// The middle, if the search is not at its end.
    fn middle(self, settings: &Settings, low: f64, high: f64) -> Option<f64> {
        let (middle, unit) = match self {
            Self::Rate => (low + (high - low) / 2.0, 10f64.powi(settings.peak_decimals)),
            Self::Streams => ((low + (high - low) / 2.0).floor(), 1.0),
        };
        let is_finished = (low * unit).floor() + 1.0 >= (high * unit).floor();
        (!is_finished && low < middle && middle < high).then_some(middle)
    }
}

/// What LoadGen's detailed log says of a search for a rate from its second trial on; nothing if not
/// even the first one passed.
pub fn messages<T>(search: &Search<T>) -> Vec<String> {
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
    use crate::mlperf::settings::{Library, LoadGen, TestSettings};

    fn settings(requested: &TestSettings, loadgen: LoadGen) -> Settings {
        let library = Library { performance_samples: 1, total_samples: 1 };
        Settings::new(requested, library, loadgen).unwrap()
    }

    fn search(settings: &Settings, peak: f64) -> Search<()> {
        let field = Field::of(settings).unwrap();
        let trial = |trial: &Settings| Ok::<_, SettingsError>((field.get(trial) <= peak, ()));
        find_peak(settings, trial).unwrap()
    }

    fn values(search: &Search<()>) -> Vec<f64> {
        search.trials.iter().map(|trial| trial.value).collect()
    }

    /// From 50 with a peak at 62.9: 100 fails, 75 fails, 62.5 passes, 68.75, 65.625, 64.0625 and
    /// 63.28125 fail; then both ends have 62 or 63 before the point and the search is over.
    #[test]
    fn a_rate_is_doubled_and_then_halved() {
        let requested = TestSettings {
            server_target_qps: 50.0,
            server_find_peak_qps_decimals_of_precision: 0,
            ..TestSettings::new(Scenario::Server)
        };
        let found = search(&settings(&requested, LoadGen::V6_0), 62.9);
        let expected = [50.0, 100.0, 75.0, 62.5, 68.75, 65.625, 64.0625, 63.28125];
        assert_eq!(values(&found), expected);
        assert_eq!(found.peak, Some((62.5, ())));
        let log = messages(&found);
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
            ..TestSettings::new(Scenario::MultiStream)
        };
        let found = search(&settings(&requested, LoadGen::V0_5), 10.0);
        assert_eq!(values(&found), [3.0, 6.0, 12.0, 9.0, 10.0, 11.0]);
        assert_eq!(found.peak, Some((10.0, ())));
    }

    #[test]
    fn a_start_that_fails_ends_the_search() {
        let server = settings(&TestSettings::new(Scenario::Server), LoadGen::V6_0);
        let found = search(&server, 0.5);
        assert_eq!((values(&found), found.peak), (vec![1.0], None));
        assert_eq!(messages(&found), Vec::<String>::new());
    }

    #[test]
    fn a_rate_without_a_peak_is_an_error() {
        let server = settings(&TestSettings::new(Scenario::Server), LoadGen::V6_0);
        let error = find_peak(&server, |_| Ok::<_, SettingsError>((true, ()))).unwrap_err();
        assert_eq!(error.field(), Some("server_target_qps"));
    }

    #[test]
    fn numbers_that_cannot_be_told_apart_end_the_search() {
        let requested = TestSettings {
            server_target_qps: 1e8,
            server_find_peak_qps_decimals_of_precision: 9,
            ..TestSettings::new(Scenario::Server)
        };
        let found = search(&settings(&requested, LoadGen::V6_0), 150_000_000.1);
        assert!(found.peak.is_some_and(|(peak, ())| peak <= 150_000_000.1));
    }

    #[test]
    fn only_some_scenarios_have_a_peak() {
        for scenario in [Scenario::SingleStream, Scenario::MultiStream, Scenario::Offline] {
            let settings = settings(&TestSettings::new(scenario), LoadGen::V6_0);
            let error = find_peak(&settings, |_| Ok::<_, SettingsError>((true, ()))).unwrap_err();
            assert_eq!(error, SettingsError::NoPeak { scenario });
        }
    }
}

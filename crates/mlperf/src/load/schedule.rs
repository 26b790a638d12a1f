//! Schedule of the queries of a run, generated before it: the scheduled instant and the samples of each.

use xrsim_model::units::{SimSpan, SimTime};

use crate::settings::{EffectiveSettings, LoadScenario, MAX_SAMPLES, SettingsError};

use super::arrivals::Arrivals;
use super::random::MersenneTwister;

/// Schedule of all queries of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuerySchedule {
    /// Instant at which each query is due. Only Server issues queries by it; in the other scenarios it
    /// follows from the expected latency.
    pub offsets: Vec<SimTime>,
    /// Instant at which a further query would be due.
    pub end: SimTime,
    /// Number of samples of a query.
    samples_per_query: usize,
    /// Samples of the performance set, in the order in which queries cycle through it.
    order: Vec<u32>,
    /// Position in `order` at which each query begins.
    first: Vec<u32>,
}

impl QuerySchedule {
    /// Generates the queries of `settings`, one every 1/qps, or with exponential gaps in Server, until
    /// there are enough and the last one is due at or after the minimum duration. Except in Server that
    /// duration is doubled, because the system may be faster than expected.
    ///
    /// # Errors
    ///
    /// [`SettingsError::TooManySamples`] if there would be too many, and [`SettingsError::OutOfRange`] if
    /// the queries take more than a hundred years.
    pub fn generate(settings: &EffectiveSettings) -> Result<Self, SettingsError> {
        let (offsets, end) = due_times(settings)?;
        Ok(Self::at(settings, offsets, end))
    }

    /// Generates the same queries, all with the first sample, for a system to which all samples are equal.
    ///
    /// # Errors
    ///
    /// [`SettingsError::TooManySamples`] if there would be too many, and [`SettingsError::OutOfRange`] if
    /// the queries take more than a hundred years.
    pub(crate) fn without_samples(settings: &EffectiveSettings) -> Result<Self, SettingsError> {
        let (offsets, end) = due_times(settings)?;
        let first = vec![0; offsets.len()];
        Ok(Self {
            offsets,
            end,
            samples_per_query: samples_per_query(settings),
            order: vec![0],
            first,
        })
    }

    /// Schedule of queries that are due at `offsets`, ascending, with a further query at `end` and the
    /// samples that `settings` give.
    pub fn at(settings: &EffectiveSettings, offsets: Vec<SimTime>, end: SimTime) -> Self {
        let set = performance_set(settings);
        let mut stream = MersenneTwister::new(settings.seeds.sample_index);
        discard_permutations(settings, set.len(), &mut stream);
        let end_of_set = set.len() as u32;
        let samples_per_query = samples_per_query(settings);
        let mut order = set;
        let first = match settings.scenario {
            LoadScenario::Offline if settings.concatenate_permutation => {
                order = permutations(&order, samples_per_query, &mut stream);
                vec![0]
            }
            LoadScenario::Offline => vec![0],
            _ => offsets.iter().map(|_| stream.below(end_of_set)).collect(),
        };
        Self { offsets, end, samples_per_query, order, first }
    }

    /// Number of queries.
    pub fn n_queries(&self) -> usize {
        self.first.len()
    }

    /// Samples of a query.
    pub fn samples_per_query(&self) -> usize {
        self.samples_per_query
    }

    /// Samples of query `query`, as numbers in the data set. In multi-stream they are contiguous in the
    /// performance set, which wraps around.
    pub fn samples(&self, query: usize) -> impl Iterator<Item = u32> + '_ {
        let first = self.first[query] as usize;
        let repetitions = self.order[first..].iter().chain(self.order.iter().cycle());
        repetitions.take(self.samples_per_query).copied()
    }

    /// First sample of query `query`.
    pub(crate) fn first_sample(&self, query: usize) -> u32 {
        self.order[self.first[query] as usize]
    }
}

impl QuerySchedule {
    /// Frees the memory of all queries.
    pub(crate) fn clear(&mut self) {
        (self.offsets, self.order, self.first) = Default::default();
    }
}

/// Samples of a query: in Offline with permutations whole repetitions of the set.
fn samples_per_query(settings: &EffectiveSettings) -> usize {
    let samples = settings.samples_per_query as usize;
    match settings.scenario {
        LoadScenario::Offline if settings.concatenate_permutation => {
            samples.next_multiple_of(settings.library.performance_samples as usize)
        }
        _ => samples,
    }
}

/// Permuted performance set.
fn performance_set(settings: &EffectiveSettings) -> Vec<u32> {
    let size = settings.library.performance_samples;
    let drawn_from = match settings.loadgen.draws_from_all_samples() {
        true => settings.library.total_samples,
        false => size,
    };
    let mut samples: Vec<u32> = (0..drawn_from as u32).collect();
    MersenneTwister::new(settings.seeds.qsl).shuffle(&mut samples);
    samples.truncate(size as usize);
    samples
}

/// Performance set as it is loaded: in multi-stream followed by its first samples, so that queries can
/// wrap around.
pub(crate) fn loaded_set(settings: &EffectiveSettings) -> Vec<u32> {
    let set = performance_set(settings);
    let padding = match settings.scenario {
        LoadScenario::MultiStream => settings.samples_per_query as usize - 1,
        _ => 0,
    };
    set.iter().cycle().take(set.len() + padding).copied().collect()
}

/// Discards the permutations that LoadGen draws for modes that a run may not use; they advance the stream
/// that the samples are drawn from.
fn discard_permutations(
    settings: &EffectiveSettings,
    set_size: usize,
    stream: &mut MersenneTwister,
) {
    let stride = match settings.scenario {
        LoadScenario::MultiStream => settings.samples_per_query as usize,
        _ => 1,
    };
    stream.shuffle(&mut vec![(); set_size.div_ceil(stride)]);
    if settings.loadgen.draws_equal_issue() {
        // In multi-stream the set is followed by its first samples, so that queries can wrap around.
        let mut padded = vec![(); set_size + stride - 1];
        for _ in 0..settings.min_query_count.div_ceil(padded.len() as u64) {
            stream.shuffle(&mut padded);
        }
    }
}

/// Repetitions of the set up to `n` samples, each a further permutation.
fn permutations(set: &[u32], n: usize, stream: &mut MersenneTwister) -> Vec<u32> {
    let mut all = Vec::with_capacity(n);
    for _ in 0..n / set.len() {
        let mut repetition = set.to_vec();
        stream.shuffle(&mut repetition);
        all.append(&mut repetition);
    }
    all
}

/// Latest instant at which a query may be due: a hundred years, long before the end of the clock.
pub(crate) const LATEST: SimTime = SimTime::from_ns(100 * 366 * 86_400 * 1_000_000_000);

/// Arrival process and the instant that the last arrival reaches.
fn arrivals(settings: &EffectiveSettings) -> (Arrivals, SimTime) {
    let rate = settings.target_qps;
    let least = SimTime::ZERO + settings.min_duration;
    let period = SimSpan::from_ns((1.0 / rate * 1e9) as u64);
    match settings.scenario {
        LoadScenario::Server => (Arrivals::Poisson(rate), least),
        LoadScenario::Offline => (Arrivals::Periodic(period), SimTime::ZERO),
        LoadScenario::SingleStream | LoadScenario::MultiStream => {
            (Arrivals::Periodic(period), least + settings.min_duration)
        }
    }
}

/// Expected number of samples of [`QuerySchedule::generate`], from the mean rate.
pub(crate) fn expected_samples(settings: &EffectiveSettings) -> u64 {
    let (_, end) = arrivals(settings);
    let queries = (end.as_ms() / 1e3 * settings.target_qps) as u64;
    queries.max(settings.min_query_count).saturating_mul(settings.samples_per_query)
}

/// Instant at which each query is due, and that of a further query.
fn due_times(settings: &EffectiveSettings) -> Result<(Vec<SimTime>, SimTime), SettingsError> {
    let (arrivals, end) = arrivals(settings);
    let most = (MAX_SAMPLES / settings.samples_per_query) as usize;
    // Refuses counts far too large at once; the exact count of Poisson arrivals is not known in advance.
    let is_far_too_many = end.as_ms() / 1e3 * settings.target_qps > 2.0 * most as f64;
    if is_far_too_many {
        return Err(settings.too_many_samples());
    }
    let times = arrivals.until(settings.seeds.schedule, end, settings.min_query_count, most);
    let (offsets, end) = times.ok_or_else(|| settings.too_many_samples())?;
    if end > LATEST {
        return Err(settings.too_slow());
    }
    Ok((offsets, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{LoadGenVersion, QuerySampleLibrary, Seeds, TestSettings};

    /// Seeds of LoadGen 6.0.17's configuration.
    const SEEDS: Seeds = Seeds {
        qsl: 2_085_463_073_848_966_840,
        sample_index: 2_747_215_439_041_700_203,
        schedule: 16_159_082_839_903_944_936,
    };

    fn requested(scenario: LoadScenario) -> TestSettings {
        TestSettings { seeds: SEEDS, ..TestSettings::new(scenario) }
    }

    fn settings(requested: &TestSettings, loadgen: LoadGenVersion) -> EffectiveSettings {
        let library = QuerySampleLibrary { performance_samples: 256, total_samples: 1024 };
        EffectiveSettings::new(requested, library, loadgen).unwrap()
    }

    fn samples(schedule: &QuerySchedule, queries: usize) -> Vec<Vec<u32>> {
        (0..queries).map(|query| schedule.samples(query).collect()).collect()
    }

    /// Recorded with LoadGen 6.0.17.
    #[test]
    fn queries_are_those_of_loadgen() {
        let single =
            TestSettings { min_query_count: 1500, ..requested(LoadScenario::SingleStream) };
        let single = TestSettings { min_duration_ms: 1000, ..single };
        let single = QuerySchedule::generate(&settings(&single, LoadGenVersion::V6_0)).unwrap();
        assert_eq!(samples(&single, 12).concat(), SINGLE_STREAM);
        assert_eq!((single.n_queries(), single.end.ns()), (2001, 2_001_000_000));
        let multi = TestSettings {
            multi_stream_samples_per_query: 4,
            multi_stream_expected_latency_ns: 6_000_000,
            min_query_count: 700,
            min_duration_ms: 1000,
            ..requested(LoadScenario::MultiStream)
        };
        let multi = QuerySchedule::generate(&settings(&multi, LoadGenVersion::V6_0)).unwrap();
        assert_eq!(samples(&multi, 3).concat(), MULTI_STREAM);
        assert_eq!((multi.n_queries(), multi.end.ns()), (700, 4_200_000_000));
    }

    const SINGLE_STREAM: [u32; 12] = [132, 182, 55, 127, 167, 122, 99, 49, 138, 137, 170, 245];
    const MULTI_STREAM: [u32; 12] = [58, 250, 140, 196, 209, 72, 167, 205, 153, 244, 56, 120];

    /// With seeds 1, 2, 12345 at 140 per second for 10 s; recorded with LoadGen 6.0.17.
    #[test]
    fn arrivals_are_those_of_loadgen() {
        let server = TestSettings {
            server_target_qps: 140.0,
            seeds: Seeds { qsl: 1, sample_index: 2, schedule: 12_345 },
            ..TestSettings::new(LoadScenario::Server)
        };
        let server = QuerySchedule::generate(&settings(&server, LoadGenVersion::V6_0)).unwrap();
        let offsets: Vec<_> = server.offsets.iter().take(9).map(|offset| offset.ns()).collect();
        assert_eq!(
            offsets,
            [
                0, 15_776_302, 16_776_840, 17_066_636, 29_575_276, 34_999_943, 57_361_624,
                61_788_479, 80_171_211
            ]
        );
        assert_eq!(samples(&server, 9).concat(), [38, 223, 168, 31, 240, 79, 233, 237, 238]);
        assert_eq!((server.n_queries(), server.end.ns()), (1458, 10_009_613_709));
    }

    /// A query that begins with the last sample of the set continues with the first.
    #[test]
    fn contiguous_samples_wrap_around() {
        let multi = requested(LoadScenario::MultiStream);
        let schedule = QuerySchedule::generate(&settings(&multi, LoadGenVersion::V6_0)).unwrap();
        let last = schedule.first.iter().position(|&first| first == 255).expect("one in 256 does");
        let found: Vec<_> = schedule.samples(last).collect();
        assert_eq!(found[0], schedule.order[255]);
        assert_eq!(found[1..], schedule.order[..7]);
    }

    #[test]
    fn offline_repeats_the_set() {
        let offline = TestSettings { min_query_count: 600, ..requested(LoadScenario::Offline) };
        let schedule = QuerySchedule::generate(&settings(&offline, LoadGenVersion::V6_0)).unwrap();
        let found: Vec<_> = schedule.samples(0).collect();
        assert_eq!((schedule.n_queries(), found.len()), (1, 600));
        assert_eq!(found[..256], found[256..512]);
        assert_eq!(found[..88], found[512..]);
        let mut set = found[..256].to_vec();
        set.sort_unstable();
        assert!(set.into_iter().eq(0..256));
    }

    #[test]
    fn offline_permutes_every_repetition_on_request() {
        let offline = TestSettings {
            min_query_count: 600,
            sample_concatenate_permutation: true,
            ..requested(LoadScenario::Offline)
        };
        let schedule = QuerySchedule::generate(&settings(&offline, LoadGenVersion::V6_0)).unwrap();
        let found: Vec<_> = schedule.samples(0).collect();
        assert_eq!(found.len(), 768);
        assert_ne!(found[..256], found[256..512]);
        for repetition in found.chunks(256) {
            let mut set = repetition.to_vec();
            set.sort_unstable();
            assert!(set.into_iter().eq(0..256));
        }
    }

    /// With permutations, Offline has whole repetitions of the set of 256: 768 samples in place of 600.
    #[test]
    fn without_samples_queries_are_as_many_and_as_long() {
        for (permutes, expected) in [(false, 600), (true, 768)] {
            let offline = TestSettings {
                min_query_count: 600,
                sample_concatenate_permutation: permutes,
                ..requested(LoadScenario::Offline)
            };
            let settings = settings(&offline, LoadGenVersion::V6_0);
            let schedule = QuerySchedule::generate(&settings).unwrap();
            let without = QuerySchedule::without_samples(&settings).unwrap();
            for it in [&schedule, &without] {
                assert_eq!((it.n_queries(), it.samples_per_query()), (1, expected));
            }
            assert_eq!((schedule.offsets, schedule.end), (without.offsets, without.end));
        }
    }

    /// Up to v5.1 the set is drawn from the whole library. From v2.0 on, permutations are drawn before the
    /// samples. The arrivals never changed.
    #[test]
    fn releases_differ_in_samples_only() {
        let server = requested(LoadScenario::Server);
        let of = |loadgen| QuerySchedule::generate(&settings(&server, loadgen)).unwrap();
        let [old, middle, new] =
            [LoadGenVersion::V0_5, LoadGenVersion::V2_0, LoadGenVersion::V6_0].map(of);
        assert_eq!(old.order, middle.order);
        assert!(old.order.iter().any(|&sample| sample >= 256));
        assert!(new.order.iter().all(|&sample| sample < 256));
        assert_ne!(old.first, middle.first);
        assert_eq!(middle.first, new.first);
        assert_eq!((&old.offsets, &middle.offsets), (&new.offsets, &new.offsets));
    }

    /// The last query is the first one at or after the minimum duration, or completes the minimum number.
    #[test]
    fn generation_ends_with_duration_and_count() {
        let server = TestSettings { server_target_qps: 100.0, ..requested(LoadScenario::Server) };
        let by_duration =
            QuerySchedule::generate(&settings(&server, LoadGenVersion::V6_0)).unwrap();
        let [.., before, last] = by_duration.offsets[..] else { panic!("there are many") };
        assert!(before.ns() < 10_000_000_000 && last.ns() >= 10_000_000_000);
        let many = TestSettings { min_query_count: 5000, ..server };
        let by_count = QuerySchedule::generate(&settings(&many, LoadGenVersion::V6_0)).unwrap();
        assert_eq!(by_count.n_queries(), 5000);
        let none = TestSettings { min_query_count: 0, min_duration_ms: 0, ..server };
        assert_eq!(
            QuerySchedule::generate(&settings(&none, LoadGenVersion::V6_0)).unwrap().n_queries(),
            1
        );
    }

    #[test]
    fn far_too_many_queries_are_refused_at_once() {
        let server = TestSettings {
            server_target_qps: 1e9,
            min_duration_ms: 1_000_000,
            ..requested(LoadScenario::Server)
        };
        let error = QuerySchedule::generate(&settings(&server, LoadGenVersion::V6_0)).unwrap_err();
        assert!(
            error.to_string().ends_with("lower min_duration_ms or server_target_qps"),
            "{error}"
        );
    }
}

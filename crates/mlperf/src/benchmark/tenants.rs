//! Several tenants at once on one system, each with a load and a latency bound of its own.

use thiserror::Error;

use crate::load::{Arrivals, LATEST};
use crate::results::{Observations, Performance, Unsustained, sustains_rate};
use crate::run::RunError;
use crate::settings::{EffectiveSettings, MAX_SAMPLES, SettingsError};
use crate::sut::{AcceleratorSystem, Completions, DeviceRun, Sample, SystemUnderTest};
use xrsim_model::units::{Millijoules, SimSpan, SimTime};
use xrsim_sim::engine::Traced;

use super::accelerator_bed::{AcceleratorBed, AcceleratorRun};
use super::peak_search::{PeakSearch, Trial, find_highest};
use super::suite_test::BackgroundScores;
use super::test_bed::{TestBed, TestError};

/// Stream of the queries of a tenant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TenantStream {
    arrivals: Arrivals,
    seed: u64,
    /// Minimum number of queries.
    min_queries: u64,
}

/// Query of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TenantQuery {
    /// Instant at which the query is due.
    at: SimTime,
    /// Position of the tenant in the list of tenants.
    tenant: usize,
    /// Number of the query among those of the tenant, from 0.
    query: usize,
}

/// Seed of the stream of tenant `tenant`, counted from 0, in a test with the schedule seed `seed`. The
/// first tenant has `seed` itself and thus LoadGen's schedule; the others have numbers that are
/// independent of it (SplitMix64, Steele et al., OOPSLA 2014).
fn tenant_seed(seed: u64, tenant: usize) -> u64 {
    if tenant == 0 {
        return seed;
    }
    let mut mixed = seed.wrapping_add((tenant as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Queries of all `tenants`, sorted by time and, at equal times, by tenant. The queries of a tenant end
/// as those of LoadGen's Server do: with the first query at or after `least` that completes the minimum
/// number. The queries of one tenant do not depend on the other tenants.
///
/// `None` if there would be more than [`MAX_SAMPLES`] queries in total.
fn tenant_queries(tenants: &[TenantStream], least: SimTime) -> Option<Vec<TenantQuery>> {
    let mut all = Vec::new();
    for (tenant, TenantStream { arrivals, seed, min_queries }) in tenants.iter().enumerate() {
        let most = MAX_SAMPLES as usize - all.len();
        let (times, _) = arrivals.until(*seed, least, *min_queries, most)?;
        let queries = times.into_iter().enumerate();
        all.extend(queries.map(|(query, at)| TenantQuery { at, tenant, query }));
    }
    all.sort_unstable();
    Some(all)
}

/// Load of one tenant of a bed.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantTest {
    /// Arrivals of the queries.
    pub arrivals: Arrivals,
    /// Server settings with the latency bound, the percentile and LoadGen's rules of a run.
    pub settings: EffectiveSettings,
}

/// A tenant whose queries are too rare for the minimum number of queries.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "{rate} queries per second take more than a hundred years for {min_queries} queries; \
     allowed are rates from {min_rate:.3e} on (--min-queries asks for fewer queries)"
)]
pub struct SlowTenant {
    /// Position of the tenant.
    pub tenant: usize,
    /// Mean rate of its queries \[1/s\].
    pub rate: f64,
    /// Lowest allowed rate \[1/s\].
    pub min_rate: f64,
    /// Minimum number of queries.
    pub min_queries: f64,
}

/// Raises the minimum duration of every test to the time in which the slowest tenant has `min_queries`
/// queries on average.
///
/// # Errors
///
/// `SlowTenant` for the first tenant whose queries would take more than a hundred years.
pub fn extend_to_queries(tests: &mut [TenantTest], min_queries: f64) -> Result<(), SlowTenant> {
    const HUNDRED_YEARS_S: f64 = 100.0 * 365.0 * 86_400.0;
    let min_rate = min_queries / HUNDRED_YEARS_S;
    for (tenant, test) in tests.iter().enumerate() {
        let rate = test.arrivals.mean_rate();
        if rate < min_rate {
            return Err(SlowTenant { tenant, rate, min_rate, min_queries });
        }
    }
    let slowest = tests.iter().map(|it| it.arrivals.mean_rate()).fold(f64::INFINITY, f64::min);
    let duration = SimSpan::from_ms(min_queries / slowest * 1e3).unwrap_or(SimSpan::MAX);
    for test in tests {
        test.settings.min_duration = test.settings.min_duration.max(duration);
    }
    Ok(())
}

/// Result of one tenant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TenantResult {
    /// Settings with the rate and the duration of the run.
    pub settings: EffectiveSettings,
    /// Statistics and validity of its queries.
    pub performance: Performance,
    /// Scheduled instant and completion of every query.
    pub queries: Vec<(SimTime, SimTime)>,
    /// Instant at which a further query would have been due.
    pub next_due: SimTime,
    /// Energy of all queries that were done: with a device that of waking up, and of leakage while they ran, too.
    pub energy: Millijoules,
    /// Reason why the system does not sustain the rate, which LoadGen does not check.
    pub unsustained: Option<Unsustained>,
    /// Throughput bound of the tenant alone on the system \[queries/s\].
    max_queries_per_s: f64,
}

impl TenantResult {
    /// Whether the tenant meets its latency constraint at a rate that the system sustains.
    pub fn meets_constraint(&self) -> bool {
        sustains_rate(&self.settings, &self.performance, self.max_queries_per_s)
    }

    /// Whether the result is valid by LoadGen's rules and the system sustains the rate.
    pub fn is_valid(&self) -> bool {
        self.performance.validity.is_valid() && self.unsustained.is_none()
    }
}

/// Result of a test of several tenants at once.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MultiTenantResult {
    /// Factor by which all rates were multiplied.
    pub factor: f64,
    /// Trials of the search for the largest factor; empty without a search.
    pub trials: Vec<Trial>,
    /// Result of every tenant.
    pub tenants: Vec<TenantResult>,
    /// Scores of the usage scenario in the background; `None` without one, or if no frame is scored.
    pub background: Option<BackgroundScores>,
    /// The device over the test; `None` without one.
    pub device: Option<DeviceRun>,
}

/// Runs `tests` at once on `bed`, whose tenants they belong to, at the given rates or, if `finds_peak`,
/// at the largest multiple of them at which every tenant meets its latency constraint (1 if there is
/// none).
///
/// # Errors
///
/// [`TestError`] if the settings are out of range or a run fails.
///
/// # Panics
///
/// If the numbers of tests and tenants differ.
pub fn run_tenant_test(
    tests: &[TenantTest],
    finds_peak: bool,
    bed: &AcceleratorBed,
) -> Result<MultiTenantResult, TestError> {
    let (factor, trials) = match finds_peak {
        true => {
            let search = find_factor(tests, bed)?;
            (search.peak.map_or(1.0, |(factor, ())| factor), search.trials)
        }
        false => (1.0, Vec::new()),
    };
    let run = run_tenants(tests, factor, bed, Traced::Load)?;
    let completions = run.queries.iter().flat_map(|it| it.queries.iter().map(|&(_, at)| at));
    let end = completions.max().unwrap_or(SimTime::ZERO);
    let alone = bed.background_alone(end - SimTime::ZERO)?;
    let scores = run.background.zip(alone);
    let background = scores.map(|(with_queries, alone)| BackgroundScores { with_queries, alone });
    let device = run.device;
    Ok(MultiTenantResult { factor, trials, tenants: run.queries, background, device })
}

/// Runs `tests` at once on `bed`, whose tenants they belong to, for the longest of their minimum
/// durations. Every tenant has a random stream of its own, derived from the seed of the first one.
/// Every rate is multiplied by `factor`; a factor below 1 lengthens the run accordingly, so that the
/// number of queries does not shrink.
///
/// # Errors
///
/// [`TestError`] if the settings are out of range or the run fails.
///
/// # Panics
///
/// If the numbers of tests and tenants differ.
pub fn run_tenants(
    tests: &[TenantTest],
    factor: f64,
    bed: &AcceleratorBed,
    traced: Traced,
) -> Result<AcceleratorRun<Vec<TenantResult>>, TestError> {
    assert_eq!(tests.len(), bed.n_tenants(), "every tenant has a test");
    let settings = &tests[0].settings;
    let stream = |(tenant, test): (usize, &TenantTest)| {
        Ok(TenantStream {
            arrivals: test.arrivals.scaled(factor)?,
            seed: tenant_seed(settings.seeds.schedule, tenant),
            min_queries: 1,
        })
    };
    let streams =
        tests.iter().enumerate().map(stream).collect::<Result<Vec<_>, SettingsError>>()?;
    let longest = tests.iter().map(|test| test.settings.min_duration).max();
    let longest = longest.unwrap_or(SimSpan::ZERO).ns() as f64;
    let duration = SimSpan::from_ns((longest / factor.min(1.0)) as u64);
    let queries = tenant_queries(&streams, SimTime::ZERO + duration)
        .ok_or_else(|| settings.too_many_samples())?;
    if let Some(last) = queries.last().filter(|query| query.at > LATEST) {
        return Err(tests[last.tenant].settings.too_slow().into());
    }
    // After a stop of the device, the first query of a tenant stands for those that came later.
    let has_come = |query: &TenantQuery, stopped: Option<SimTime>| {
        query.query == 0 || stopped.is_none_or(|at| query.at <= at)
    };
    let run = bed.run_with_background(duration, traced, |system| {
        let (completed, stopped) = issue(&queries, system)?;
        let energies: Vec<_> = (0..tests.len()).map(|it| system.energy_of(it)).collect();
        let came = queries.iter().zip(&completed).filter(|(query, _)| has_come(query, stopped));
        let ends = came.map(|(_, end)| *end).collect();
        Ok(((completed, energies, stopped), ends))
    })?;
    let (completed, energies, stopped) = run.queries;
    let result = |(tenant, (test, energy)): (usize, (&TenantTest, Millijoules))| {
        let rate = streams[tenant].arrivals.mean_rate();
        let settings =
            EffectiveSettings { min_duration: duration, ..test.settings.with_rate(rate)? };
        let own = queries.iter().zip(&completed);
        let own = own.filter(|(query, _)| query.tenant == tenant && has_come(query, stopped));
        let own = own.map(|(query, &completed)| (query.at, completed)).collect();
        let max_queries_per_s = bed.max_samples_per_s_of(tenant);
        let mut result = tenant_result(&streams[tenant], settings, energy, own, max_queries_per_s);
        result.performance.validity.is_finished = stopped.is_none();
        Ok(result)
    };
    let results = tests.iter().zip(energies).enumerate().map(result);
    let queries = results.collect::<Result<_, TestError>>()?;
    let AcceleratorRun { energy, device, background, duration, run, .. } = run;
    Ok(AcceleratorRun { queries, energy, device, background, duration, run })
}

/// Issues every query when it is due and waits for all of them; returns their completions. If the device stops before, also
/// the instant at which it does, with which what was not done ends.
fn issue(
    queries: &[TenantQuery],
    system: &mut AcceleratorSystem<'_>,
) -> Result<(Vec<SimTime>, Option<SimTime>), RunError> {
    let mut completions = Completions::new(queries.len(), false);
    for (id, query) in queries.iter().enumerate() {
        system.run_until(query.at, false, &mut completions);
        let sample = Sample { id: id as u32, index: 0 };
        system.arrive(query.tenant, &[sample], query.at);
    }
    let mut stopped = None;
    for (sample, query) in (0..).zip(queries) {
        while completions.at(sample).is_none() {
            match system.next_event() {
                Some(next) => system.run_until(next, true, &mut completions),
                None => {
                    let at = system.stopped().ok_or(RunError::NeverDone { sample })?;
                    stopped = Some(at);
                    completions.record(sample, at.max(query.at));
                }
            }
        }
    }
    Ok((completions.into_first(queries.len()), stopped))
}

fn tenant_result(
    stream: &TenantStream,
    settings: EffectiveSettings,
    energy: Millijoules,
    queries: Vec<(SimTime, SimTime)>,
    max_queries_per_s: f64,
) -> TenantResult {
    let &(last, last_completed) = queries.last().expect("every tenant has a query");
    let observed = Observations {
        sample_latencies: queries.iter().map(|&(due, completed)| completed - due).collect(),
        query_latencies: Vec::new(),
        intervals: Vec::new(),
        queries: queries.len() as u64,
        last_scheduled: last,
        last_issued: last,
        last_completed,
    };
    let performance = Performance::compute(&settings, observed).expect("there is a latency");
    let next_due = stream.arrivals.times(stream.seed).nth(queries.len()).unwrap_or(last);
    let unsustained = Unsustained::find(&settings, &performance, max_queries_per_s);
    TenantResult {
        settings,
        performance,
        queries,
        next_due,
        energy,
        unsustained,
        max_queries_per_s,
    }
}

/// Searches for the largest factor of all rates at which every tenant meets its latency constraint.
///
/// # Errors
///
/// [`TestError`] if the settings are out of range or a run fails.
pub fn find_factor(
    tests: &[TenantTest],
    bed: &AcceleratorBed,
) -> Result<PeakSearch<()>, TestError> {
    find_highest(1.0, |factor| {
        let results = run_tenants(tests, factor, bed, Traced::Load)?.queries;
        Ok(results.iter().all(TenantResult::meets_constraint).then_some(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Bursts, QuerySchedule};
    use crate::settings::{
        EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, Seeds, TestSettings,
    };
    use xrsim_model::units::SimSpan;

    const SECOND: SimTime = SimTime::from_ns(1_000_000_000);

    fn tenants() -> Vec<TenantStream> {
        let ms = |ms: u64| SimSpan::from_ns(ms * 1_000_000);
        let bursts = Bursts::new(ms(100), ms(10), [500.0, 10.0], 2).unwrap();
        [Arrivals::Poisson(200.0), Arrivals::Poisson(200.0), Arrivals::Bursts(bursts)]
            .into_iter()
            .enumerate()
            .map(|(index, arrivals)| TenantStream {
                arrivals,
                seed: tenant_seed(9, index),
                min_queries: 1,
            })
            .collect()
    }

    fn times_of(all: &[TenantQuery], tenant: usize) -> Vec<SimTime> {
        all.iter().filter(|query| query.tenant == tenant).map(|query| query.at).collect()
    }

    #[test]
    fn streams_are_merged_in_order_of_time() {
        let all = tenant_queries(&tenants(), SECOND).unwrap();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        // The first query of every tenant is due at the start.
        assert!(all[..3].iter().map(|query| query.tenant).eq([0, 1, 2]));
        for tenant in 0..3 {
            let times = times_of(&all, tenant);
            let (last, before) = times.split_last().unwrap();
            assert!(*last >= SECOND && before.iter().all(|at| *at < SECOND));
        }
    }

    #[test]
    fn a_tenant_does_not_depend_on_the_others() {
        let tenants = tenants();
        let together = tenant_queries(&tenants, SECOND).unwrap();
        for (index, tenant) in tenants.iter().enumerate() {
            let alone = tenant_queries(std::slice::from_ref(tenant), SECOND).unwrap();
            assert_eq!(times_of(&alone, 0), times_of(&together, index));
        }
        assert_ne!(
            times_of(&together, 0),
            times_of(&together, 1),
            "tenants have different streams"
        );
    }

    #[test]
    fn the_first_tenant_has_the_schedule_of_loadgen() {
        let requested = TestSettings {
            server_target_qps: 200.0,
            min_duration_ms: 1000,
            min_query_count: 1,
            seeds: Seeds { qsl: 0, sample_index: 0, schedule: 9 },
            ..TestSettings::new(LoadScenario::Server)
        };
        let library = QuerySampleLibrary { performance_samples: 1, total_samples: 1 };
        let settings = EffectiveSettings::new(&requested, library, LoadGenVersion::V6_0).unwrap();
        let schedule = QuerySchedule::generate(&settings).unwrap();
        assert_eq!(times_of(&tenant_queries(&tenants(), SECOND).unwrap(), 0), schedule.offsets);
    }

    #[test]
    fn too_many_queries_are_refused() {
        let fast =
            TenantStream { arrivals: Arrivals::Poisson(1e9), seed: 1, min_queries: u64::MAX };
        assert_eq!(tenant_queries(&[fast], SimTime::ZERO), None);
    }
}

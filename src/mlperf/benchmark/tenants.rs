//! Several models at once on one system, each with a load and a latency bound of its own.

use crate::engine::Traced;
use crate::units::{Millijoules, SimSpan, SimTime};

use crate::mlperf::load::{Arrivals, LATEST};
use crate::mlperf::logs::LoggedRun;
use crate::mlperf::results::{Observations, Performance, Unsustained, sustains_rate};
use crate::mlperf::run::RunError;
use crate::mlperf::settings::{EffectiveSettings, MAX_SAMPLES, SettingsError};
use crate::mlperf::sut::{AcceleratorSystem, Completions, Sample, SystemUnderTest};

use super::accelerator_bed::{AcceleratorBed, AcceleratorRun};
use super::peak_search::{PeakSearch, find_highest};
use super::test_bed::TestError;

/// The stream of a tenant's queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TenantStream {
    /// When its queries are due.
    pub arrivals: Arrivals,
    /// Seed of its stream.
    pub seed: u64,
    /// Fewest queries.
    pub min_queries: u64,
}

/// A query of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TenantQuery {
    /// When it is due.
    pub at: SimTime,
    /// Whose it is, by position in the list of tenants.
    pub tenant: usize,
    /// Which of that tenant's queries it is, counted from 0.
    pub query: usize,
}

/// Seed of tenant `tenant` of a system with `seed`: that seed itself for the first one, which thus has
/// LoadGen's schedule, and a number that has nothing to do with it for every other (SplitMix64, Steele
/// et al., OOPSLA 2014).
pub fn tenant_seed(seed: u64, tenant: usize) -> u64 {
    if tenant == 0 {
        return seed;
    }
    let mut mixed = seed.wrapping_add((tenant as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The queries of all `tenants`, in order of time and, at equal times, of tenant. Each tenant's queries
/// end as those of LoadGen's Server do: with the first one at or after `least` that leaves it with
/// enough. What a tenant does depends on no other.
///
/// `None` if there would be more than [`MAX_SAMPLES`] queries in all.
pub fn tenant_queries(tenants: &[TenantStream], least: SimTime) -> Option<Vec<TenantQuery>> {
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

/// What is asked of the tenants of a bench, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantTest {
    /// When queries are due.
    pub arrivals: Arrivals,
    /// Server settings with the bound, the percentile and what LoadGen asks of a run.
    pub settings: EffectiveSettings,
}

/// What a tenant got.
#[derive(Debug, Clone, PartialEq)]
pub struct TenantResult {
    /// Settings with the rate and the duration that were played.
    pub settings: EffectiveSettings,
    /// What its queries say.
    pub performance: Performance,
    /// When each was due, and when it was done.
    pub queries: Vec<(SimTime, SimTime)>,
    /// When a further one would have been due.
    pub next_due: SimTime,
    /// Energy of all of them.
    pub energy: Millijoules,
    /// Why its rate is none that the system sustains, whatever LoadGen says.
    pub unsustained: Option<Unsustained>,
    /// Queries per second that the system could complete at most if it did nothing else.
    most_per_s: f64,
}

impl TenantResult {
    /// What the detailed log says of its run.
    pub fn pass(&self) -> LoggedRun {
        let done = self.queries.iter().map(|&(_, done)| done).max();
        LoggedRun {
            queries: self.performance.queries,
            samples_per_query: 1,
            next_due: self.next_due,
            endings: Vec::new(),
            last_issued: self.performance.last_issued,
            done: done.unwrap_or(SimTime::ZERO),
        }
    }

    /// Whether it holds its bound at a rate that can be completed.
    pub fn holds(&self) -> bool {
        sustains_rate(&self.settings, &self.performance, self.most_per_s)
    }

    /// Whether it counts: by LoadGen's rules, and as a rate that the system sustains.
    pub fn is_valid(&self) -> bool {
        self.performance.validity.is_valid() && self.unsustained.is_none()
    }
}

/// Plays `tests` beside each other on `bench`, whose tenants they belong to, for the longest of their least
/// durations. Each has a random stream of its own, from the first one's seed. Every tenant's rate is
/// `factor` times what it asks for; below 1 the test lasts longer by as much, so that there are no fewer
/// queries.
///
/// # Errors
///
/// [`TestError`].
///
/// # Panics
///
/// If there are not as many tests as tenants.
pub fn run_tenants(
    tests: &[TenantTest],
    factor: f64,
    bench: &AcceleratorBed,
    traced: Traced,
) -> Result<AcceleratorRun<Vec<TenantResult>>, TestError> {
    assert_eq!(tests.len(), bench.n_tenants(), "a test is of a tenant");
    let settings = &tests[0].settings;
    let stream = |(tenant, test): (usize, &TenantTest)| {
        Ok(TenantStream {
            arrivals: test.arrivals.times_as_fast(factor)?,
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
    if let Some(late) = queries.last().filter(|query| query.at > LATEST) {
        return Err(tests[late.tenant].settings.too_slow().into());
    }
    let played = bench.run_with_background(duration, traced, |system| {
        let done = issue(&queries, system)?;
        let energies: Vec<_> = (0..tests.len()).map(|it| system.energy_of(it)).collect();
        Ok(((done.clone(), energies), done))
    })?;
    let (done, energies) = played.queries;
    let outcome = |(tenant, (test, energy)): (usize, (&TenantTest, Millijoules))| {
        let rate = streams[tenant].arrivals.mean_rate();
        let settings =
            EffectiveSettings { min_duration: duration, ..test.settings.with_rate(rate)? };
        let own = queries.iter().zip(&done).filter(|(query, _)| query.tenant == tenant);
        let own = own.map(|(query, &done)| (query.at, done)).collect();
        Ok(outcome_of(&streams[tenant], settings, energy, own, bench.max_samples_per_s_of(tenant)))
    };
    let outcomes = tests.iter().zip(energies).enumerate().map(outcome);
    let outcomes = outcomes.collect::<Result<_, TestError>>()?;
    Ok(AcceleratorRun {
        queries: outcomes,
        energy: played.energy,
        background: played.background,
        run: played.run,
    })
}

/// Issues every query when it is due, and waits for all; when each is done.
fn issue(
    queries: &[TenantQuery],
    system: &mut AcceleratorSystem<'_>,
) -> Result<Vec<SimTime>, RunError> {
    let mut completions = Completions::new(queries.len(), false);
    for (id, query) in queries.iter().enumerate() {
        system.play(query.at, false, &mut completions);
        let sample = Sample { id: id as u32, index: 0 };
        system.arrive(query.tenant, &[sample], query.at);
    }
    for sample in 0..queries.len() as u32 {
        while completions.at(sample).is_none() {
            let next = system.next_event().ok_or(RunError::NeverDone { sample })?;
            system.play(next, true, &mut completions);
        }
    }
    Ok(completions.into_first(queries.len()))
}

fn outcome_of(
    stream: &TenantStream,
    settings: EffectiveSettings,
    energy: Millijoules,
    queries: Vec<(SimTime, SimTime)>,
    most_per_s: f64,
) -> TenantResult {
    let &(last, last_done) = queries.last().expect("every tenant has a query");
    let seen = Observations {
        sample_latencies: queries.iter().map(|&(due, done)| done - due).collect(),
        query_latencies: Vec::new(),
        intervals: Vec::new(),
        queries: queries.len() as u64,
        last_scheduled: last,
        last_issued: last,
        last_completed: last_done,
    };
    let performance = Performance::of(&settings, seen).expect("there is a latency");
    let next_due = stream.arrivals.times(stream.seed).nth(queries.len()).unwrap_or(last);
    let unsustained = Unsustained::of(&settings, &performance, most_per_s);
    TenantResult { settings, performance, queries, next_due, energy, unsustained, most_per_s }
}

/// The largest factor of all rates at which every tenant keeps its bound.
///
/// # Errors
///
/// [`TestError`].
pub fn find_factor(
    tests: &[TenantTest],
    bench: &AcceleratorBed,
) -> Result<PeakSearch<()>, TestError> {
    find_highest(1.0, |factor| {
        let outcomes = run_tenants(tests, factor, bench, Traced::Load)?.queries;
        Ok(outcomes.iter().all(TenantResult::holds).then_some(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlperf::load::{Bursts, QuerySchedule};
    use crate::mlperf::settings::{
        EffectiveSettings, LoadGenVersion, LoadScenario, QuerySampleLibrary, Seeds, TestSettings,
    };
    use crate::units::SimSpan;

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

    fn of(all: &[TenantQuery], tenant: usize) -> Vec<SimTime> {
        all.iter().filter(|query| query.tenant == tenant).map(|query| query.at).collect()
    }

    #[test]
    fn streams_are_merged_in_order_of_time() {
        let all = tenant_queries(&tenants(), SECOND).unwrap();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        // Everybody's first query is due at the start.
        assert!(all[..3].iter().map(|query| query.tenant).eq([0, 1, 2]));
        for tenant in 0..3 {
            let times = of(&all, tenant);
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
            assert_eq!(of(&alone, 0), of(&together, index));
        }
        assert_ne!(of(&together, 0), of(&together, 1), "each has a stream of its own");
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
        assert_eq!(of(&tenant_queries(&tenants(), SECOND).unwrap(), 0), schedule.offsets);
    }

    #[test]
    fn too_many_queries_are_refused() {
        let hasty =
            TenantStream { arrivals: Arrivals::Poisson(1e9), seed: 1, min_queries: u64::MAX };
        assert_eq!(tenant_queries(&[hasty], SimTime::ZERO), None);
    }
}

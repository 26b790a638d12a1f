//! Several models at once, each with a load of its own: the streams of all tenants of a system as one.

use crate::units::SimTime;

use super::arrivals::Arrivals;
use super::settings::MAX_SAMPLES;

/// A tenant: a model and its load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tenant {
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
pub fn queries(tenants: &[Tenant], least: SimTime) -> Option<Vec<TenantQuery>> {
    let mut all = Vec::new();
    for (tenant, Tenant { arrivals, seed, min_queries }) in tenants.iter().enumerate() {
        let most = MAX_SAMPLES as usize - all.len();
        let (times, _) = arrivals.until(*seed, least, *min_queries, most)?;
        let queries = times.into_iter().enumerate();
        all.extend(queries.map(|(query, at)| TenantQuery { at, tenant, query }));
    }
    all.sort_unstable();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlperf::settings::{Library, LoadGen, Scenario, Seeds, Settings, TestSettings};
    use crate::mlperf::{Schedule, arrivals::Bursts};
    use crate::units::SimSpan;

    const SECOND: SimTime = SimTime::from_ns(1_000_000_000);

    fn tenants() -> Vec<Tenant> {
        let ms = |ms: u64| SimSpan::from_ns(ms * 1_000_000);
        let bursts = Bursts::new(ms(100), ms(10), [500.0, 10.0], 2).unwrap();
        [Arrivals::Poisson(200.0), Arrivals::Poisson(200.0), Arrivals::Bursts(bursts)]
            .into_iter()
            .enumerate()
            .map(|(index, arrivals)| Tenant {
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
        let all = queries(&tenants(), SECOND).unwrap();
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
        let together = queries(&tenants, SECOND).unwrap();
        for (index, tenant) in tenants.iter().enumerate() {
            let alone = queries(std::slice::from_ref(tenant), SECOND).unwrap();
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
            ..TestSettings::new(Scenario::Server)
        };
        let library = Library { performance_samples: 1, total_samples: 1 };
        let settings = Settings::new(&requested, library, LoadGen::V6_0).unwrap();
        let schedule = Schedule::generate(&settings).unwrap();
        assert_eq!(of(&queries(&tenants(), SECOND).unwrap(), 0), schedule.offsets);
    }

    #[test]
    fn too_many_queries_are_refused() {
        let hasty = Tenant { arrivals: Arrivals::Poisson(1e9), seed: 1, min_queries: u64::MAX };
        assert_eq!(queries(&[hasty], SimTime::ZERO), None);
    }
}

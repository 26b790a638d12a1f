//! `xrsim mlperf --tenant`: several tasks at once, each with a load of its own.

mod option;
mod results;

use crate::config::Catalog;
use crate::engine::Traced;
use crate::mlperf::benchmark::{
    AcceleratorBed, BackgroundScores, TenantResult, TenantTest, TestBed as _, TestOptions, Trial,
    find_factor, run_tenants,
};
use crate::mlperf::rules::{Suite, Test};
use crate::mlperf::sut::Tenant;
use crate::units::{SimSpan, SimTime};

use super::super::message::Failure;
use super::super::output::OutputSet;
use super::options::MlperfArgs;
use super::target::Accelerators;

use option::TenantOption;
use results::Results;

/// A tenant that is asked for.
struct Asked<'a> {
    test: &'a Test,
    tenant: Tenant,
    load: TenantTest,
}

/// Plays the tenants of `args` at once.
///
/// # Errors
///
/// Bad input, a network that cannot run on the system, or output that cannot be written.
pub fn run(
    args: &MlperfArgs,
    catalog: &mut Catalog,
    suite: &Suite,
    rules: &TestOptions,
) -> Result<(), Failure> {
    let asked: Result<Vec<_>, Failure> =
        args.tenant.iter().map(|it| TenantOption::new(it, args, suite, rules)?.tenant()).collect();
    let asked = asked?;
    let accelerators = Accelerators::new(args, catalog)?;
    let networks = asked.iter().map(|it| it.tenant.network.name());
    let on = accelerators.system.accelerators().iter();
    super::super::costs::warn(&accelerators.costs, catalog, networks, on);
    let places = super::places(args, catalog).folder(args.out.as_deref(), results::files(&asked));
    places.check()?;
    let inputs = super::inputs(args, catalog)?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let bench = accelerators.bench(asked.iter().map(|it| it.tenant.clone()).collect())?;
    let loads = loads(&asked, rules)?;
    let results = Results {
        system: format!("{}@{}", accelerators.system.name(), accelerators.system.pes()),
        accelerators: &accelerators,
        rules,
        inputs,
        asked: &asked,
        played: Played::new(&loads, args.find_peak, &bench)?,
    };
    if let Some(set) = set {
        results.write(set)?;
    }
    results.print(args.format)
}

/// Queries that the slowest tenant is given time for unless others are asked for: as many as those of
/// single-stream.
const MIN_QUERIES: f64 = 1024.0;

/// A hundred years \[s\].
const LONGEST_S: f64 = 100.0 * 365.0 * 86_400.0;

/// What is asked of the tenants, who all last equally long: for the duration that is given or that of the
/// round, but long enough for the queries of the slowest.
///
/// # Errors
///
/// A tenant that would take too long for its queries.
fn loads(asked: &[Asked<'_>], rules: &TestOptions) -> Result<Vec<TenantTest>, Failure> {
    let mut loads: Vec<_> = asked.iter().map(|it| it.load.clone()).collect();
    let queries = match (rules.min_queries, rules.min_duration) {
        (Some(queries), _) => queries as f64,
        (None, None) => MIN_QUERIES,
        (None, Some(_)) => 0.0,
    };
    for Asked { test, load, .. } in asked {
        let (rate, least) = (load.arrivals.mean_rate(), queries / LONGEST_S);
        if rate < least {
            return Err(Failure::Argument(format!(
                "--tenant {}: {rate} queries per second take more than a hundred years for {queries} queries; \
                 allowed are rates from {least:.3e} on (--min-queries asks for fewer queries)",
                test.task.name
            )));
        }
    }
    let slowest = loads.iter().map(|it| it.arrivals.mean_rate()).fold(f64::INFINITY, f64::min);
    let longest = SimSpan::from_ms(queries / slowest * 1e3).unwrap_or(SimSpan::MAX);
    for load in &mut loads {
        load.settings.min_duration = load.settings.min_duration.max(longest);
    }
    Ok(loads)
}

/// What came of the tenants.
struct Played {
    /// What all rates are multiplied by.
    factor: f64,
    trials: Vec<Trial>,
    outcomes: Vec<TenantResult>,
    beside: Option<BackgroundScores>,
}

impl Played {
    fn new(
        loads: &[TenantTest],
        finds_peak: bool,
        bench: &AcceleratorBed,
    ) -> Result<Self, Failure> {
        let (factor, trials) = match finds_peak {
            true => {
                let search = find_factor(loads, bench).map_err(super::super::argument)?;
                (search.peak.map_or(1.0, |(factor, ())| factor), search.trials)
            }
            false => (1.0, Vec::new()),
        };
        let played =
            run_tenants(loads, factor, bench, Traced::Load).map_err(super::super::argument)?;
        let done = played.queries.iter().flat_map(|it| it.queries.iter().map(|&(_, done)| done));
        let end = done.max().unwrap_or(SimTime::ZERO);
        let alone = bench.background_alone(end - SimTime::ZERO).map_err(super::super::argument)?;
        let pair = played.background.zip(alone);
        let beside = pair.map(|(with_queries, alone)| BackgroundScores { with_queries, alone });
        Ok(Self { factor, trials, outcomes: played.queries, beside })
    }
}

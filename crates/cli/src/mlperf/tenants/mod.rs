//! `xrsim mlperf --tenant`: several tasks at once, each with a load of its own.

mod option;
mod results;

use xrsim_config::Catalog;
use xrsim_mlperf::benchmark::{TenantTest, TestOptions, extend_to_queries, run_tenant_test};
use xrsim_mlperf::rules::{Suite, Test};
use xrsim_mlperf::sut::Tenant;

use super::super::message::{Failure, input_hints};
use super::super::output::OutputSet;
use super::super::progress::Progress;
use super::super::record::refuse_other_kind;
use super::super::schedulers::note_untracked;
use super::options::MlperfArgs;
use super::target::Accelerators;

use option::TenantOption;
use results::Results;

/// Requested tenant.
struct Asked<'a> {
    test: &'a Test,
    tenant: Tenant,
    load: TenantTest,
}

/// Runs the tenants of `args` at once.
///
/// # Errors
///
/// Bad input, a network that cannot run on the system, or output that cannot be written.
pub(super) fn run(
    args: &MlperfArgs,
    catalog: &mut Catalog,
    suite: &Suite,
    options: &TestOptions,
) -> Result<(), Failure> {
    let asked: Result<Vec<_>, Failure> = args
        .tenant
        .iter()
        .map(|it| TenantOption::new(it, args, suite, options)?.tenant())
        .collect();
    let asked = asked?;
    let accelerators = Accelerators::new(args, catalog)?;
    input_hints(catalog.notes());
    let networks = asked.iter().map(|it| it.tenant.network.name());
    let on = accelerators.system.accelerators().iter();
    super::super::costs::warn(&accelerators.costs, catalog, networks, on);
    let places = super::places(args, catalog)
        .folder(args.out.as_deref(), results::files(&asked, args.device.is_some()));
    places.check()?;
    let inputs = super::inputs(args, catalog)?;
    refuse_other_kind(args.out.as_deref(), "mlperf")?;
    note_untracked(args.out.iter().filter_map(|_| args.scheduler.as_deref()));
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let _progress = Progress::of_unknown_length("running load tests");
    let bed = accelerators.bed(asked.iter().map(|it| it.tenant.clone()).collect())?;
    let loads = loads(&asked, options)?;
    let results = Results {
        system: format!("{}@{}", accelerators.system.name(), accelerators.system.pes()),
        accelerators: &accelerators,
        options,
        inputs,
        asked: &asked,
        measured: run_tenant_test(&loads, args.find_peak, &bed).map_err(super::super::argument)?,
    };
    if let Some(set) = set {
        results.write(set)?;
    }
    results.print(args.format)
}

/// Queries that the slowest tenant has time for by default: as many as single-stream has.
const MIN_QUERIES: f64 = 1024.0;

/// Loads of the tenants, which all last equally long: for the given duration or that of the round, and
/// long enough for the queries of the slowest tenant.
///
/// # Errors
///
/// A tenant whose queries would take too long.
fn loads(asked: &[Asked<'_>], options: &TestOptions) -> Result<Vec<TenantTest>, Failure> {
    let mut loads: Vec<_> = asked.iter().map(|it| it.load.clone()).collect();
    let queries = match (options.min_queries, options.min_duration) {
        (Some(queries), _) => queries as f64,
        (None, None) => MIN_QUERIES,
        (None, Some(_)) => 0.0,
    };
    extend_to_queries(&mut loads, queries).map_err(|error| {
        let task = &asked[error.tenant].test.task.name;
        Failure::Argument(format!("--tenant {task}: {error}"))
    })?;
    Ok(loads)
}

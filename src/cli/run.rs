//! `xrsim run`: scenarios on systems, scores out.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::config::{Catalog, Edition, Hardware, Suite};
use crate::hardware::System;
use crate::hardware::platform::Platform;
use crate::scenario::Scenario;
use crate::sweep::{self, RunSpec, Semantics};

use super::conditions::{self, Conditions};
use super::costs::{self, CostChoice};
use super::message::{Failure, input_hint, say};
use super::options::{Format, RunOptions};
use super::places::Places;
use super::programs;
use super::progress::Progress;
use super::results::{self, Results};
use super::settings::{Key, Settings};
use super::trace::TraceFile;

/// Run scenarios on systems and print their scores.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --scenario, --system or --pes: all seven scenarios, systems A to M, 4096 and 8192 PEs.\n\n\
    Examples:\n  \
    xrsim run --scenario AR_gaming --system J --system M --pes 4096\n  \
    xrsim run --scheduler edf --replications 30 --out results\n  \
    xrsim run --system my_system.yaml --set score.k_per_ms=5\n  \
    xrsim run --semantics mlsys2023 --seed 7 --format csv\n  \
    xrsim run --semantics mlsys2023 --without name-order\n  \
    xrsim run --scenario AR_gaming --system J --pes 4096 --trace run.json"
)]
pub struct RunArgs {
    /// What to run.
    #[command(flatten)]
    pub options: RunOptions,
    /// Scheduling policy, with its parameters (`edf`, `dream:alpha=0.5`; see `xrsim list schedulers`)
    /// [default: latency-greedy].
    #[arg(long, value_name = "P[:KEY=VALUE,..]")]
    pub scheduler: Option<String>,
    /// Independent replications of every run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub replications: u64,
    /// Folder for scores.csv, models.csv, inferences.csv and run.json.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Print a row a run with the breakdown of its scores, however many there are.
    #[arg(long)]
    pub detail: bool,
    /// Write the one run as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
}

/// Most runs of one command; each takes memory before the first is made.
const MAX_RUNS: u64 = 1_000_000;

/// Memory above which a user is told before it is taken \[byte\].
const MUCH_MEMORY: u64 = 1 << 30;

/// Runs what `args` ask for.
///
/// # Errors
///
/// Bad input, output that cannot be written, or no run that is feasible.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let Prepared { catalog, settings, costs, specs } =
        prepare(&args.options, args.scheduler.as_deref(), 0..args.replications)?;
    Places::default()
        .reading(catalog.opened())
        .reading(args.scheduler.as_deref().map_or(Vec::new(), programs::files))
        .folder(args.out.as_deref(), results::FILES)
        .writing(&args.trace)
        .check()?;
    let mut trace =
        args.trace.as_deref().map(|path| TraceFile::create(path, &specs)).transpose()?;
    // As they are before a policy runs.
    let inputs = programs::sha256_of_inputs(&catalog, args.scheduler.as_deref())?;
    let mut results = Results::new(args, &costs.name)?;
    let progress = Progress::new(specs.len() as u64);
    sweep::run_all(&specs, &*costs.model, |index, spec, result| {
        progress.set(index as u64 + 1);
        if let (Some(trace), Ok(result)) = (&mut trace, &result) {
            trace.write(spec, &costs.name, result)?;
        }
        results.take(spec, result)
    })?;
    progress.finish();
    let trace = trace.map(TraceFile::complete).transpose()?.flatten();
    results.finish(trace, || {
        provenance(args, &settings, &costs, &specs, catalog.network_edition(), inputs)
    })
}

/// Everything that runs need.
pub(super) struct Prepared {
    pub(super) catalog: Catalog,
    pub(super) settings: Settings,
    pub(super) costs: CostChoice,
    /// Every run, in the order of the results: scenario, PEs, system, replication.
    pub(super) specs: Vec<RunSpec>,
}

/// Reads and checks what `options` name, for some of its replications (one at least).
///
/// # Errors
///
/// Bad input.
pub(super) fn prepare(
    options: &RunOptions,
    scheduler: Option<&str>,
    replications: Range<u64>,
) -> Result<Prepared, Failure> {
    let conditions = conditions(options, scheduler)?;
    let settings = conditions.settings()?;
    conditions.check_seed(replications.end - 1)?;
    let mut catalog = Catalog::with_networks(conditions.networks()).on_old_name(input_hint);
    let costs = costs::choose(&mut catalog, conditions.cost_model())?;
    let specs = specs(options, replications, &conditions, &settings, &mut catalog)?;
    let models = specs.iter().flat_map(|spec| spec.plan.scenario.models());
    let networks = models.map(|model| model.unit.network.name());
    let accelerators = distinct_systems(&specs).into_iter().flat_map(|it| it.accelerators());
    costs.warn(&catalog, networks, accelerators);
    let memory = sweep::memory(&specs);
    if memory > MUCH_MEMORY {
        say(format_args!("{}", much_memory(memory)));
    }
    Ok(Prepared { catalog, settings, costs, specs })
}

/// Every system once.
fn distinct_systems(specs: &[RunSpec]) -> Vec<&System> {
    let mut systems: Vec<&System> = Vec::new();
    for spec in specs {
        if !systems.iter().any(|known| std::ptr::eq(*known, &*spec.plan.system)) {
            systems.push(&spec.plan.system);
        }
    }
    systems
}

/// What is said of a run that takes so much memory.
fn much_memory(bytes: u64) -> String {
    format!(
        "note: the runs take about {:.1} GB of memory, by the number of their requests; a shorter \
         --duration takes less",
        bytes as f64 / 1e9
    )
}

fn conditions<'a>(
    args: &'a RunOptions,
    scheduler: Option<&str>,
) -> Result<Conditions<'a>, Failure> {
    let scheduler = scheduler.map(conditions::scheduler).transpose()?;
    let duration = args.duration.map(|ms| {
        conditions::duration(ms).ok_or_else(|| {
            let allowed = conditions::DURATION;
            Failure::Argument(format!("--duration is {ms}; allowed is {allowed}"))
        })
    });
    let set = args.set.iter().map(|assignment| Key::split(assignment).map_err(Failure::Argument));
    Ok(Conditions {
        semantics: args.semantics,
        networks: args.networks,
        cost_model: args.cost_model.as_deref(),
        platform: args.platform.as_deref(),
        scheduler,
        duration: duration.transpose()?,
        seed: args.seed,
        without: conditions::without(args.without.iter().map(String::as_str))?,
        set: set.collect::<Result<_, _>>()?,
    })
}

/// Every run, in the order of the results: scenario, PEs, system, replication.
fn specs(
    args: &RunOptions,
    replications: Range<u64>,
    conditions: &Conditions<'_>,
    settings: &Settings,
    catalog: &mut Catalog,
) -> Result<Vec<RunSpec>, Failure> {
    let suite = catalog.suite()?;
    let scenarios: Vec<Arc<Scenario>> = or_default(&args.scenario, &suite.scenarios)
        .iter()
        .map(|name| catalog.scenario(name, conditions.edition()))
        .collect::<Result<_, _>>()?;
    let platform = catalog.platform(conditions.platform())?;
    let systems = systems(args, settings, catalog, &platform, &suite)?;
    refuse_repeated("scenario", scenarios.iter().map(|scenario| scenario.name().to_string()))?;
    refuse_repeated("system", systems.iter().map(|system| name_with_pes(system)))?;
    let pairs = (scenarios.len() as u64).saturating_mul(systems.len() as u64);
    let n_replications = replications.end - replications.start;
    if pairs.saturating_mul(n_replications) > MAX_RUNS {
        return Err(Failure::Argument(format!(
            "{} scenarios on {} systems with {n_replications} replications; at most {MAX_RUNS} runs \
             are allowed (`xrsim sweep` makes more)",
            scenarios.len(),
            systems.len()
        )));
    }
    let mut specs = Vec::new();
    for scenario in &scenarios {
        for system in &systems {
            let spec = |replication| conditions.spec(settings, scenario, system, replication);
            specs.extend(replications.clone().map(spec));
        }
    }
    Ok(specs)
}

/// Refuses two of one name: their results could not be told apart.
fn refuse_repeated(kind: &str, names: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for name in names {
        if let Some(repeated) = seen.replace(name) {
            return Err(Failure::Argument(format!("{kind} `{repeated}` is given twice")));
        }
    }
    Ok(())
}

fn name_with_pes(system: &System) -> String {
    format!("{}@{}", system.name(), system.pes())
}

fn or_default<'a, T>(given: &'a [T], default: &'a [T]) -> &'a [T] {
    if given.is_empty() { default } else { given }
}

/// Every system: styles once for each number of PEs, sizes first; then the systems that fix their
/// own.
fn systems(
    args: &RunOptions,
    settings: &Settings,
    catalog: &mut Catalog,
    platform: &Platform,
    suite: &Suite,
) -> Result<Vec<Arc<System>>, Failure> {
    let mut styles = Vec::new();
    let mut fixed = Vec::new();
    let mut paired = false;
    for name in or_default(&args.system, &suite.systems) {
        match catalog.hardware(name)? {
            Hardware::Style(style) => styles.push(style),
            Hardware::System(system) => fixed.push(system),
            Hardware::Instances(instances) => {
                let dataflows = dataflows(args, catalog)?;
                let system = costs::pair(name, &instances, &dataflows, platform)?;
                fixed.push(Arc::new(system));
                paired = true;
            }
        }
    }
    if !paired && !args.dataflow.is_empty() {
        let message =
            "--dataflow applies to hardware files (.m); styles and systems name their own";
        return Err(Failure::Argument(message.into()));
    }
    if styles.is_empty() && !args.pes.is_empty() {
        let message = "--pes applies to styles such as A to M; a system file fixes its own PEs";
        return Err(Failure::Argument(message.into()));
    }
    let mut systems = Vec::new();
    for &pes in or_default(&args.pes, &suite.pes) {
        for style in &styles {
            systems.push(conditions::style_system(style, pes, platform, settings)?);
        }
    }
    for system in fixed {
        systems.push(conditions::full_system(system, settings)?);
    }
    Ok(systems)
}

fn dataflows(
    args: &RunOptions,
    catalog: &mut Catalog,
) -> Result<Vec<Arc<crate::dataflow::Dataflow>>, Failure> {
    let mut dataflows = Vec::new();
    for reference in &args.dataflow {
        dataflows.extend(catalog.dataflows(reference)?);
    }
    Ok(dataflows)
}

/// The record that makes the runs repeatable.
fn provenance(
    args: &RunArgs,
    settings: &Settings,
    costs: &CostChoice,
    specs: &[RunSpec],
    networks: Edition,
    inputs: Map<String, Value>,
) -> Map<String, Value> {
    let mut effective = settings.effective(args.options.semantics);
    let scenarios = specs.iter().map(|spec| spec.plan.scenario.name().to_string());
    let systems = specs.iter().map(|spec| name_with_pes(&spec.plan.system));
    effective.insert("scenarios".into(), json!(distinct(scenarios)));
    effective.insert("systems".into(), json!(distinct(systems)));
    effective.insert("semantics".into(), json!(args.options.semantics.name()));
    effective.insert("cost_model".into(), json!(costs.name));
    effective.insert("networks".into(), json!(networks.name()));
    effective.insert("scheduler".into(), json!(specs[0].scheduler_name()));
    effective.insert("replications".into(), json!(args.replications));
    if args.options.semantics == Semantics::Principled {
        effective.insert("duration_ms".into(), json!(settings.load.duration.as_ms()));
    }
    let mut record = Map::new();
    record.insert("program".into(), json!("xrsim"));
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    record.insert("seed".into(), json!(args.options.seed));
    record.insert("requested".into(), json!(requested(args)));
    record.insert("effective".into(), json!(effective));
    record.insert("inputs_sha256".into(), inputs.into());
    record
}

/// Names in order of first use.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// What the command line said, option by option; absent options are left out.
fn requested(args: &RunArgs) -> Map<String, Value> {
    let options = &args.options;
    let given = [
        ("scenario", json!(options.scenario)),
        ("system", json!(options.system)),
        ("pes", json!(options.pes)),
        ("semantics", json!(options.semantics.name())),
        ("cost_model", json!(options.cost_model)),
        ("without", json!(options.without)),
        ("networks", json!(options.networks.map(Edition::name))),
        ("platform", json!(options.platform)),
        ("dataflow", json!(options.dataflow)),
        ("scheduler", json!(args.scheduler)),
        ("duration_ms", json!(options.duration)),
        ("seed", json!(options.seed)),
        ("replications", json!(args.replications)),
        ("set", json!(options.set)),
    ];
    let is_given =
        |value: &Value| !value.is_null() && value.as_array().is_none_or(|a| !a.is_empty());
    given
        .into_iter()
        .filter(|(_, value)| is_given(value))
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

//! `xrsim run`: scenarios on systems, scores out.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::config::{Catalog, Edition, Hardware, NetworkEdition};
use crate::hardware::System;
use crate::plan::Ablation;
use crate::scenario::Scenario;
use crate::schedule;
use crate::sweep::{self, RunSpec, Semantics};
use crate::units::SimSpan;

use super::args::RunArgs;
use super::costs::{self, CostChoice};
use super::message::Failure;
use super::progress::Progress;
use super::results::Results;
use super::settings::Settings;

/// Most runs of one command; each takes memory before the first is made.
const MAX_RUNS: u64 = 1_000_000;

/// Runs what `args` ask for.
///
/// # Errors
///
/// Bad input, output that cannot be written, or no run that is feasible.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::with_networks(args.networks.unwrap_or(match args.semantics {
        Semantics::Principled => NetworkEdition::Reference,
        Semantics::Mlsys2023 => NetworkEdition::Mlsys2023,
    }));
    let settings = settings(args)?;
    let cost_model = args.cost_model.as_deref().unwrap_or(args.semantics.name());
    let costs = costs::choose(&mut catalog, cost_model)?;
    let specs = specs(args, &settings, &mut catalog)?;
    let mut results = Results::new(args, &costs.name)?;
    let progress = Progress::new(specs.len());
    sweep::run_all(&specs, &*costs.model, |index, spec, result| {
        progress.set(index + 1);
        results.take(spec, result)
    })?;
    progress.finish();
    results.finish(|| provenance(args, &settings, &costs, &specs, &catalog))
}

fn settings(args: &RunArgs) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    settings.load.seed = args.seed;
    if let Some(duration) = args.duration {
        let span = SimSpan::from_ms(duration).filter(|span| *span > SimSpan::ZERO);
        settings.load.duration = span.ok_or_else(|| {
            Failure::Argument(format!("--duration is {duration}; allowed is a number of ms > 0"))
        })?;
    }
    let mlsys2023 = args.semantics == Semantics::Mlsys2023;
    for assignment in &args.set {
        let key = settings.apply(assignment).map_err(Failure::Argument)?;
        if mlsys2023 && !key.in_mlsys2023 {
            return Err(fixed_by_artifact(&format!("--set {}", key.name)));
        }
    }
    settings.engine.without = ablation(args)?;
    let fixed =
        [("--duration", args.duration.is_some()), ("--scheduler", args.scheduler.is_some())];
    match fixed.iter().find(|(_, given)| mlsys2023 && *given) {
        Some((option, _)) => Err(fixed_by_artifact(option)),
        None if mlsys2023 => libc_seeds(args).map(|()| settings),
        None => warm_up_ends(&settings).map(|()| settings),
    }
}

/// The quirks of `--without`.
fn ablation(args: &RunArgs) -> Result<Ablation, Failure> {
    if args.semantics == Semantics::Principled && !args.without.is_empty() {
        let message =
            "--without leaves out quirks of --semantics mlsys2023; principled runs have none";
        return Err(Failure::Argument(message.into()));
    }
    let mut without = Ablation::default();
    for name in &args.without {
        let known = Ablation::ALL.iter().find(|(known, _)| known == name);
        let names = Ablation::ALL.iter().map(|(name, _)| *name);
        let (_, leave_out) = known.ok_or_else(|| super::unknown("quirk", name, names))?;
        leave_out(&mut without);
    }
    Ok(without)
}

/// Refuses seeds that the C library of the artifact would cut to 32 bits, and so repeat.
fn libc_seeds(args: &RunArgs) -> Result<(), Failure> {
    match args.seed.checked_add(args.replications - 1) {
        Some(last) if u32::try_from(last).is_ok() => Ok(()),
        _ => Err(Failure::Argument(format!(
            "--seed is {} with {} replications; --semantics mlsys2023 seeds the C library with \
             their sum, below 2^32",
            args.seed, args.replications
        ))),
    }
}

/// Refuses a warm-up that leaves nothing to score.
fn warm_up_ends(settings: &Settings) -> Result<(), Failure> {
    let (warm_up, duration) = (settings.score.warm_up, settings.load.duration);
    if warm_up < duration {
        return Ok(());
    }
    Err(Failure::Argument(format!(
        "score.warm_up_ms is {}, but the run has {} ms; nothing would be scored",
        warm_up.as_ms(),
        duration.as_ms()
    )))
}

fn fixed_by_artifact(option: &str) -> Failure {
    Failure::Argument(format!(
        "{option} has no effect under --semantics mlsys2023, because the published artifact fixes \
         it; leave it out or choose --semantics principled"
    ))
}

fn scheduler(name: Option<&str>) -> Result<&'static schedule::Entry, Failure> {
    let Some(name) = name else {
        return Ok(&schedule::ALL[0]);
    };
    let known = || schedule::ALL.iter().map(|entry| entry.name);
    schedule::find(name).ok_or_else(|| super::unknown("scheduler", name, known()))
}

/// Every run, in the order of the results: scenario, PEs, system, replication.
fn specs(
    args: &RunArgs,
    settings: &Settings,
    catalog: &mut Catalog,
) -> Result<Vec<RunSpec>, Failure> {
    let suite = catalog.suite()?;
    let scheduler = scheduler(args.scheduler.as_deref())?;
    let edition = match args.semantics {
        Semantics::Principled => Edition::Paper,
        Semantics::Mlsys2023 => Edition::Mlsys2023,
    };
    let scenarios: Vec<Arc<Scenario>> = or_default(&args.scenario, &suite.scenarios)
        .iter()
        .map(|name| catalog.scenario(name, edition))
        .collect::<Result<_, _>>()?;
    let systems = systems(args, settings, catalog, &suite.systems, &suite.pes)?;
    refuse_repeated("scenario", scenarios.iter().map(|scenario| scenario.name().to_string()))?;
    refuse_repeated("system", systems.iter().map(|system| name_with_pes(system)))?;
    let pairs = (scenarios.len() as u64).saturating_mul(systems.len() as u64);
    if pairs.saturating_mul(args.replications) > MAX_RUNS {
        return Err(Failure::Argument(format!(
            "{} scenarios on {} systems with {} replications; at most {MAX_RUNS} runs are allowed",
            scenarios.len(),
            systems.len(),
            args.replications
        )));
    }
    let mut specs = Vec::new();
    for scenario in &scenarios {
        for system in &systems {
            for replication in 0..args.replications {
                let mut load = settings.load.clone();
                load.replication = replication;
                specs.push(RunSpec {
                    scenario: Arc::clone(scenario),
                    system: Arc::clone(system),
                    semantics: args.semantics,
                    load,
                    engine: settings.engine,
                    scheduler,
                    score: settings.score,
                });
            }
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
    args: &RunArgs,
    settings: &Settings,
    catalog: &mut Catalog,
    default_systems: &[String],
    default_pes: &[u32],
) -> Result<Vec<Arc<System>>, Failure> {
    let platform = catalog.platform(args.platform.as_deref().unwrap_or(match args.semantics {
        Semantics::Principled => "paper",
        Semantics::Mlsys2023 => "mlsys2023",
    }))?;
    let mut styles = Vec::new();
    let mut fixed = Vec::new();
    let mut paired = false;
    for name in or_default(&args.system, default_systems) {
        match catalog.hardware(name)? {
            Hardware::Style(style) => styles.push(style),
            Hardware::System(system) => fixed.push(system),
            Hardware::Instances(instances) => {
                let dataflows = dataflows(args, catalog)?;
                let system = costs::pair(name, &instances, &dataflows, &platform)?;
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
    for &pes in or_default(&args.pes, default_pes) {
        for style in &styles {
            let system = style.instantiate(pes, &platform).map_err(super::argument)?;
            systems.push(Arc::new(system));
        }
    }
    systems.extend(fixed);
    systems.into_iter().map(|system| with_clock(system, settings)).collect()
}

fn dataflows(
    args: &RunArgs,
    catalog: &mut Catalog,
) -> Result<Vec<Arc<crate::dataflow::Dataflow>>, Failure> {
    let mut dataflows = Vec::new();
    for reference in &args.dataflow {
        dataflows.extend(catalog.dataflows(reference)?);
    }
    Ok(dataflows)
}

/// The system with the clock of `--set hardware.clock_mhz`.
fn with_clock(system: Arc<System>, settings: &Settings) -> Result<Arc<System>, Failure> {
    let Some(clock) = settings.clock else {
        return Ok(system);
    };
    let mut accelerators = system.accelerators().to_vec();
    for accelerator in &mut accelerators {
        accelerator.clock = clock;
    }
    System::new(system.name(), accelerators).map(Arc::new).map_err(super::argument)
}

/// The record that makes the runs repeatable.
fn provenance(
    args: &RunArgs,
    settings: &Settings,
    costs: &CostChoice,
    specs: &[RunSpec],
    catalog: &Catalog,
) -> Map<String, Value> {
    let mut effective = settings.effective(args.semantics);
    let scenarios = specs.iter().map(|spec| spec.scenario.name().to_string());
    let systems = specs.iter().map(|spec| name_with_pes(&spec.system));
    effective.insert("scenarios".into(), json!(distinct(scenarios)));
    effective.insert("systems".into(), json!(distinct(systems)));
    effective.insert("semantics".into(), json!(args.semantics.name()));
    effective.insert("cost_model".into(), json!(costs.name));
    effective.insert("networks".into(), json!(catalog.network_edition().name()));
    effective.insert("scheduler".into(), json!(specs[0].scheduler_name()));
    effective.insert("replications".into(), json!(args.replications));
    if args.semantics == Semantics::Principled {
        effective.insert("duration_ms".into(), json!(settings.load.duration.as_ms()));
    }
    let inputs: Map<_, _> =
        catalog.inputs().into_iter().map(|input| (input.name, json!(input.sha256))).collect();
    let mut record = Map::new();
    record.insert("program".into(), json!("xrsim"));
    record.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    record.insert("seed".into(), json!(args.seed));
    record.insert("requested".into(), json!(requested(args)));
    record.insert("effective".into(), json!(effective));
    record.insert("inputs_sha256".into(), json!(inputs));
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
    let options = [
        ("scenario", json!(args.scenario)),
        ("system", json!(args.system)),
        ("pes", json!(args.pes)),
        ("semantics", json!(args.semantics.name())),
        ("cost_model", json!(args.cost_model)),
        ("without", json!(args.without)),
        ("networks", json!(args.networks.map(NetworkEdition::name))),
        ("platform", json!(args.platform)),
        ("dataflow", json!(args.dataflow)),
        ("scheduler", json!(args.scheduler)),
        ("duration_ms", json!(args.duration)),
        ("seed", json!(args.seed)),
        ("replications", json!(args.replications)),
        ("set", json!(args.set)),
    ];
    let given = |value: &Value| !value.is_null() && value.as_array().is_none_or(|a| !a.is_empty());
    options
        .into_iter()
        .filter(|(_, value)| given(value))
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

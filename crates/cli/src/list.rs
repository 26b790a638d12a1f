//! `xrsim list`: everything that a command takes by name, one row each.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};

use xrsim_config::{Catalog, Edition, Hardware, Kind, ModelOutline};
use xrsim_mlperf::rules::{Load, Quality, QualityTarget, Test};
use xrsim_model::cost;
use xrsim_model::hardware::device::Point;
use xrsim_model::hardware::technology::Constant;
use xrsim_model::scenario::{Course, DependencyKind, QualityDirection, QualityGoal};
use xrsim_model::units::SimSpan;
use xrsim_sim::compat::quirks;
use xrsim_validation::validate::networks::facts;

use super::message::Failure;
use super::{experiment, output, schedulers};

/// List the available inputs (models, scenarios, systems, schedulers, settings and more).
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Kind of input to list; without it, the lists that there are.
    #[arg(value_parser = listings())]
    what: Option<String>,
}

/// A list that the command prints.
struct Listing {
    name: &'static str,
    help: &'static str,
    tables: fn() -> Result<Vec<Table>, Failure>,
}

/// Header and rows of a table of text.
pub type Table = (Vec<&'static str>, Vec<Vec<String>>);

/// Every list, in the order of the help text.
const LISTINGS: &[Listing] = &[
    listing(
        "models",
        "Unit models with their networks, the networks of MLPerf, and parameters of networks",
        || Ok(vec![models()?, mlperf_networks()?, parameters()?]),
    ),
    listing("mlperf", "Tests of the MLPerf suites, in the order of each suite", || {
        mlperf_tests().map(one)
    }),
    listing("scenarios", "Usage scenarios", || scenarios().map(one)),
    listing("systems", "Accelerator styles and systems", || systems().map(one)),
    listing("platforms", "Platforms that a style is built on", || {
        Ok(one(names("platform", Kind::Platform)))
    }),
    listing("technologies", "Technologies: constants of area and leakage", || {
        technologies().map(one)
    }),
    listing("devices", "Devices: supply of accelerators, and the power around them", || {
        devices().map(one)
    }),
    listing("points", "Operating points of accelerators", || points().map(one)),
    listing("profiles", "Profiles: scenarios that follow each other over hours", || {
        profiles().map(one)
    }),
    listing(
        "uncertainties",
        "Uncertainties: ranges of constants, for `xrsim sensitivity --joint`",
        || uncertainties().map(one),
    ),
    listing("dataflows", "Dataflows", || dataflows().map(one)),
    listing("mapspaces", "Mapspaces that come with the program, for `xrsim map`", || {
        Ok(one(names("mapspace", Kind::Mapspace)))
    }),
    listing("sweeps", "Sweeps that come with the program", || Ok(one(names("sweep", Kind::Sweep)))),
    listing("searches", "Searches that come with the program", || {
        Ok(one(names("search", Kind::Search)))
    }),
    listing("schedulers", "Schedulers with their parameters", || Ok(one(schedulers::list()))),
    listing("cost-models", "Cost models", || Ok(one(cost_models()))),
    listing(
        "quirks",
        "Quirks of the published artifact that `--semantics mlsys2023` reproduces",
        || Ok(one(quirk_rules())),
    ),
    listing(
        "settings",
        "Keys of experiments with default, unit, allowed values and meaning",
        || Ok(one(experiment::list())),
    ),
];

const fn listing(
    name: &'static str,
    help: &'static str,
    tables: fn() -> Result<Vec<Table>, Failure>,
) -> Listing {
    Listing { name, help, tables }
}

fn listings() -> PossibleValuesParser {
    let value = |it: &Listing| PossibleValue::new(it.name).help(it.help);
    PossibleValuesParser::new(LISTINGS.iter().map(value))
}

/// Prints a list.
///
/// # Errors
///
/// Returns a failure if standard output cannot be written.
pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let tables = match &args.what {
        Some(what) => tables(what)?,
        None => vec![(vec!["list", "what it has"], all())],
    };
    let text = |(header, rows): Table| output::table_text(&header, rows, header.len());
    let texts: Vec<_> = tables.into_iter().map(text).collect();
    output::print_text(&texts.join("\n"))
}

/// Tables of the list called `name`.
///
/// # Errors
///
/// Returns a failure if there is no such list.
pub(super) fn tables(name: &str) -> Result<Vec<Table>, Failure> {
    match LISTINGS.iter().find(|it| it.name == name) {
        Some(listing) => (listing.tables)(),
        None => Err(super::unknown("list", name, LISTINGS.iter().map(|it| it.name))),
    }
}

/// Name and content of every list.
fn all() -> Vec<Vec<String>> {
    LISTINGS.iter().map(|it| row([it.name, it.help])).collect()
}

fn one(table: Table) -> Vec<Table> {
    vec![table]
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_string).to_vec()
}

fn names(header: &'static str, kind: Kind) -> Table {
    (vec![header], Catalog::new().names(kind).into_iter().map(|name| vec![name]).collect())
}

fn cost_models() -> Table {
    let rows = cost::ALL.iter().map(|it| row([it.name, it.help, it.source]));
    (vec!["cost model", "what it does", "source"], rows.collect())
}

fn quirk_rules() -> Table {
    let rows = quirks::ALL.iter().map(|it| row([it.name, it.rule, it.clause, it.effect]));
    (vec!["quirk", "rule", "paper", "effect"], rows.collect())
}

fn scenarios() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.suite()?.scenarios.clone() {
        let models = catalog.outlines(&name, Edition::Reference)?;
        rows.push(vec![name, describe(&models)]);
    }
    Ok((vec!["scenario", "models, target rates and dependencies"], rows))
}

/// Describes the models of a scenario in one line, e.g. `ES@60, GE@60 after ES`.
fn describe(models: &[ModelOutline]) -> String {
    let describe = |model: &ModelOutline| {
        let mut text = format!("{}@{}", model.task, model.rate.as_fps());
        for (upstream, kind) in &model.dependencies {
            text += &match kind {
                DependencyKind::Data => format!(" after {upstream}"),
                DependencyKind::Control { probability } => {
                    format!(" if {upstream} asks (p = {probability})")
                }
            };
        }
        text
    };
    models.iter().map(describe).collect::<Vec<_>>().join(", ")
}

fn models() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for name in catalog.suite()?.scenarios.clone() {
        let scenario = catalog.scenario(&name, Edition::Reference)?;
        for model in scenario.models() {
            let network = &model.unit.network;
            if rows.iter().any(|row| *row[0] == *model.unit.task) {
                continue;
            }
            let inputs: Vec<_> =
                model.inputs.iter().map(|id| &*scenario.streams()[id.index()].name).collect();
            rows.push(vec![
                model.unit.task.to_string(),
                network.name().to_string(),
                network.layers().len().to_string(),
                format!("{:.3}", network.macs() as f64 / 1e9),
                facts(&*catalog.model(&model.unit.task)?).traced(),
                model.unit.dataset.to_string(),
                quality(&model.unit.quality),
                inputs.join(", "),
            ]);
        }
    }
    rows.sort();
    Ok((
        vec!["task", "network", "layers", "GMAC", "traced", "dataset", "quality goal", "inputs"],
        rows,
    ))
}

fn mlperf_networks() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.mlperf_networks() {
        let model = catalog.model(&name)?;
        let parameters = model.network.weights().saturating_add(model.other_parameters);
        rows.push(vec![
            name,
            model.network.layers().len().to_string(),
            format!("{:.3}", model.network.macs() as f64 / 1e9),
            format!("{:.3}", parameters as f64 / 1e6),
            facts(&model).traced(),
            model.dataset.to_string(),
            model.title.to_string(),
        ]);
    }
    Ok((
        vec!["MLPerf network", "layers", "GMAC", "M parameters", "traced", "dataset", "task"],
        rows,
    ))
}

/// Parameters of the networks of the suite and of MLPerf.
fn parameters() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in [catalog.names(Kind::Network), catalog.mlperf_networks()].concat() {
        for it in catalog.network(&name)?.parameters() {
            let (low, high) = it.allowed.clone().into_inner();
            rows.push(vec![
                name.clone(),
                it.name.to_string(),
                it.default.to_string(),
                format!("{low} to {high}"),
                it.reason.to_string(),
            ]);
        }
    }
    Ok((vec!["network", "parameter", "default", "allowed", "reason of the default"], rows))
}

fn mlperf_tests() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Mlperf) {
        let suite = catalog.mlperf_suite(&name)?;
        rows.extend(suite.tests.iter().map(|test| test_row(&name, test)));
    }
    let header =
        vec!["suite", "task", "network", "load", "constraint", "at least", "quality target"];
    Ok((header, rows))
}

fn test_row(suite: &str, test: &Test) -> Vec<String> {
    let percentile = test.percentile.map_or(String::new(), |p| format!("p{}", p * 100.0));
    let constraint = match test.load {
        Load::SingleStream | Load::Offline => percentile,
        Load::MultiStream { interval, .. } => {
            format!("{percentile} in an interval of {} ms", interval.as_ms())
        }
        Load::Server { bound, .. } => format!("{percentile} within {} ms", bound.as_ms()),
    };
    let what = if test.load == Load::Offline { "samples" } else { "queries" };
    let seconds = test.min_duration.as_ms() / 1e3;
    vec![
        suite.into(),
        test.task.name.to_string(),
        test.task.network.name().into(),
        test.load.name().into(),
        constraint,
        format!("{} {what}, {seconds} s", test.min_count),
        quality_target(&test.task.quality),
    ]
}

fn quality_target(quality: &Quality) -> String {
    let Quality { metric, unit, target } = quality;
    let with_unit = |value: f64| format!("{metric} {value} {unit}").trim_end().to_string();
    match *target {
        QualityTarget::OfFp32 { fp32, percent } => {
            format!("{percent} % of FP32 ({})", with_unit(fp32))
        }
        QualityTarget::Absolute(value) => with_unit(value),
    }
}

fn quality(goal: &QualityGoal) -> String {
    let sign = match goal.better {
        QualityDirection::Higher => '>',
        QualityDirection::Lower => '<',
    };
    format!("{} {sign} {}", goal.metric, goal.target)
}

fn systems() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Style) {
        if let Hardware::Style(style) = catalog.hardware(&name)? {
            let names: Vec<_> = style.shares.iter().map(|share| share.dataflow.name()).collect();
            let shares: Vec<_> = style.shares.iter().map(|share| share.pes.to_string()).collect();
            rows.push(vec![name, style.class.to_string(), names.join(" + "), shares.join(":")]);
        }
    }
    for name in catalog.names(Kind::System) {
        if let Hardware::System(system) = catalog.hardware(&name)? {
            let accelerators = system.accelerators();
            let names: Vec<_> = accelerators.iter().map(|a| a.dataflow.name()).collect();
            let pes: Vec<_> = accelerators.iter().map(|a| a.pes.to_string()).collect();
            rows.push(vec![name, "system".into(), names.join(" + "), pes.join(" + ")]);
        }
    }
    Ok((vec!["system", "class", "dataflows", "share of the PEs"], rows))
}

fn technologies() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Technology) {
        let technology = catalog.technology(&name)?;
        let value = |constant| technology.value(constant).map_or("-".into(), |it| it.to_string());
        let node = technology.node_nm().to_string();
        let [pe, leakage] = [Constant::PeUm2, Constant::PeUw].map(value);
        let source = technology.source(Constant::PeUm2).unwrap_or_default().to_string();
        rows.push(vec![name, node, pe, leakage, source]);
    }
    Ok((vec!["technology", "node nm", "PE um2", "PE leakage uW", "source of the PE"], rows))
}

fn devices() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Device) {
        let device = catalog.device(&name)?;
        let points = device.accelerators.points.as_ref();
        let points = points.map_or("-".into(), |points| points.name().to_string());
        let gate = device.accelerators.gate;
        let gate = gate.map_or("-".into(), |gate| gate.after.as_ms().to_string());
        let dram = device.dram.active_mw.to_string();
        rows.push(vec![name, points, gate, dram, device.base_mw.to_string()]);
    }
    Ok((vec!["device", "points", "gated after ms", "DRAM mW", "base mW"], rows))
}

fn points() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Points) {
        let points = catalog.points(&name)?;
        let range = |of: fn(&Point) -> f64, unit: &str| match points.all() {
            [first, .., last] => format!("{} to {} {unit}", of(first), of(last)),
            [only] => format!("{} {unit}", of(only)),
            [] => String::new(),
        };
        let n_points = points.all().len().to_string();
        let [clocks, volts] = [range(|it| it.clock.as_mhz(), "MHz"), range(|it| it.volt, "V")];
        rows.push(vec![name, n_points, clocks, volts, points.source().to_string()]);
    }
    Ok((vec!["points", "number", "clocks", "voltages", "source"], rows))
}

fn profiles() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Profile) {
        let profile = catalog.profile(&name)?;
        let (kind, span) = match &profile.course {
            Course::Fixed(phases) => {
                let span = phases.iter().fold(SimSpan::ZERO, |sum, phase| sum + phase.duration);
                (format!("{} phases", phases.len()), span)
            }
            Course::Chain(chain) => {
                (format!("chain of {} states", chain.states.len()), chain.duration)
            }
        };
        let hours = format!("{:.2}", span.as_hours());
        let scenarios = profile.scenarios();
        let scenarios: Vec<_> = scenarios.iter().map(|it| it.name()).collect();
        rows.push(vec![name, kind, hours, scenarios.join(", ")]);
    }
    Ok((vec!["profile", "course", "h", "scenarios"], rows))
}

fn uncertainties() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Uncertainty) {
        for it in &catalog.uncertainty(&name)?.constants {
            let constant = it.constant.name().to_string();
            rows.push(vec![name.clone(), constant, it.range.to_string(), it.source.to_string()]);
        }
    }
    Ok((vec!["uncertainty", "constant", "range", "source"], rows))
}

fn dataflows() -> Result<Table, Failure> {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Dataflow) {
        let dataflow = catalog.dataflow(&name)?;
        let directives = dataflow.to_string().trim_end().replace('\n', "; ");
        rows.push(vec![name, directives]);
    }
    Ok((vec!["dataflow", "directives"], rows))
}

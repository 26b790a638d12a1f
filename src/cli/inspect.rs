//! `xrsim list`, `show`, `check` and `import`: what is there, and what a file says.

use std::path::{Path, PathBuf};

use crate::compat::quirks;
use crate::config::{Catalog, Edition, Kind, Model, Source, export};
use crate::cost;
use crate::mlperf::rules::{Load, Quality, QualityTarget, Test};
use crate::model::Connections;
use crate::report::network::Facts;
use crate::report::table;
use crate::scenario::{Better, DependencyKind, QualityGoal, Scenario};

use super::args::Listing;
use super::message::Failure;
use super::output::OutputSet;
use super::places::Places;
use super::settings::KEYS;
use super::{output, probe, schedulers, sweep, table_style};

/// Prints what is there, a line each.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn list(what: Listing) -> Result<(), Failure> {
    let (header, rows) = match what {
        Listing::Models => return list_models(),
        Listing::Mlperf => mlperf_tests()?,
        Listing::Scenarios => scenarios()?,
        Listing::Systems => systems()?,
        Listing::Platforms => (vec!["platform"], named(Kind::Platform)),
        Listing::Dataflows => dataflows()?,
        Listing::Sweeps => (vec!["sweep"], named(Kind::Sweep)),
        Listing::Schedulers => schedulers::list(),
        Listing::CostModels => (
            vec!["cost model", "what it does", "source"],
            cost::ALL.iter().map(|e| row([e.name, e.help, e.source])).collect(),
        ),
        Listing::Quirks => (
            vec!["quirk", "rule", "paper", "effect"],
            quirks::ALL.iter().map(|q| row([q.name, q.rule, q.clause, q.effect])).collect(),
        ),
        Listing::Settings => (
            vec!["key", "default", "what it is", "allowed"],
            KEYS.iter()
                .map(|key| row([key.name, &key.default_text(), key.help, key.allowed]))
                .collect(),
        ),
    };
    output::print_text(&render(&header, rows))
}

fn render(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = table::new_table(table_style(), header, header.len());
    for row in rows {
        table.add_row(row);
    }
    table::render(&table)
}

/// Prints the models of XRBench's scenarios and, behind them, the networks of MLPerf.
fn list_models() -> Result<(), Failure> {
    let tables = [models()?, mlperf_networks()?].map(|(header, rows)| render(&header, rows));
    output::print_text(&tables.join("\n"))
}

type Listed = Result<(Vec<&'static str>, Vec<Vec<String>>), Failure>;

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_string).to_vec()
}

fn named(kind: Kind) -> Vec<Vec<String>> {
    Catalog::new().names(kind).into_iter().map(|name| vec![name]).collect()
}

fn scenarios() -> Listed {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.suite()?.scenarios.clone() {
        let scenario = catalog.scenario(&name, Edition::Reference)?;
        rows.push(vec![name, describe(&scenario)]);
    }
    Ok((vec!["scenario", "models, target rates and dependencies"], rows))
}

/// The models of a scenario in one line, e.g. `ES@60, GE@60 after ES`.
fn describe(scenario: &Scenario) -> String {
    let task = |id: crate::ids::ModelId| &*scenario.model(id).unit.task;
    let models = scenario.models().iter().map(|model| {
        let mut text = format!("{}@{}", model.unit.task, model.rate.as_fps());
        for dependency in &model.dependencies {
            text += &match dependency.kind {
                DependencyKind::Data => format!(" after {}", task(dependency.upstream)),
                DependencyKind::Control { probability } => {
                    format!(" if {} asks (p = {probability})", task(dependency.upstream))
                }
            };
        }
        text
    });
    models.collect::<Vec<_>>().join(", ")
}

fn models() -> Listed {
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
                model.unit.dataset.to_string(),
                quality(&model.unit.quality),
                inputs.join(", "),
            ]);
        }
    }
    rows.sort();
    Ok((vec!["task", "network", "layers", "GMAC", "dataset", "quality goal", "inputs"], rows))
}

fn mlperf_networks() -> Listed {
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
            model.dataset.to_string(),
            model.title.to_string(),
        ]);
    }
    Ok((vec!["MLPerf network", "layers", "GMAC", "M parameters", "dataset", "task"], rows))
}

fn mlperf_tests() -> Listed {
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
        Better::Higher => '>',
        Better::Lower => '<',
    };
    format!("{} {sign} {}", goal.metric, goal.target)
}

fn systems() -> Listed {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Style) {
        if let crate::config::Hardware::Style(style) = catalog.hardware(&name)? {
            let names: Vec<_> = style.shares.iter().map(|share| share.dataflow.name()).collect();
            let shares: Vec<_> = style.shares.iter().map(|share| share.pes.to_string()).collect();
            rows.push(vec![name, style.class.to_string(), names.join(" + "), shares.join(":")]);
        }
    }
    for name in catalog.names(Kind::System) {
        if let crate::config::Hardware::System(system) = catalog.hardware(&name)? {
            let accelerators = system.accelerators();
            let names: Vec<_> = accelerators.iter().map(|a| a.dataflow.name()).collect();
            let pes: Vec<_> = accelerators.iter().map(|a| a.pes.to_string()).collect();
            rows.push(vec![name, "system".into(), names.join(" + "), pes.join(" + ")]);
        }
    }
    Ok((vec!["system", "class", "dataflows", "share of the PEs"], rows))
}

fn dataflows() -> Listed {
    let mut catalog = Catalog::new();
    let mut rows = Vec::new();
    for name in catalog.names(Kind::Dataflow) {
        let dataflow = catalog.dataflow(&name)?;
        let directives = dataflow.to_string().trim_end().replace('\n', "; ");
        rows.push(vec![name, directives]);
    }
    Ok((vec!["dataflow", "directives"], rows))
}

/// Prints the text of an embedded or named file; behind a network also what follows from it. Of a
/// scheduler its parameters.
///
/// # Errors
///
/// If there is no such file.
pub fn show(name: &str) -> Result<(), Failure> {
    if let Some(scheduler) = schedulers::find(name) {
        return output::print(&schedulers::describe(scheduler));
    }
    let mut catalog = Catalog::new();
    let mut text = catalog.text(name)?.text().to_string();
    if let Ok(model) = catalog.model(name) {
        text += &facts(&model).to_comments();
    }
    output::print(&text)
}

/// What follows from the layers of `model`, and what was published.
pub(super) fn facts(model: &Model) -> Facts<'_> {
    let published = model.published.as_ref();
    Facts {
        network: &model.network,
        other_parameters: model.other_parameters,
        batch_norm_channels: model.batch_norm_channels,
        published_parameters: published.and_then(|published| published.parameters),
        published_macs: published.and_then(|published| published.macs),
    }
}

/// Checks files and reports every problem of every one.
///
/// # Errors
///
/// If a file has a problem.
pub fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let mut n_bad = 0;
    for path in files {
        let kind = catalog.check(path).map_err(Failure::from);
        match kind.and_then(|kind| Ok((kind, check_further(kind, path, &mut catalog)?))) {
            Ok((kind, remark)) => {
                let remark = remark.map_or(String::new(), |remark| format!("; {remark}"));
                output::print_text(&format!("{}: {kind}, no problems{remark}\n", path.display()))?;
            }
            Err(failure) => {
                n_bad += 1;
                let _ = failure.report();
            }
        }
    }
    match n_bad {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{n_bad} of {} files have problems", files.len()))),
    }
}

/// Checks what the kind of a file alone does not tell: the keys of a sweep, and whether hardware can
/// run anything. Says what is left unchecked.
fn check_further(
    kind: Kind,
    path: &Path,
    catalog: &mut Catalog,
) -> Result<Option<String>, Failure> {
    match kind {
        Kind::Sweep => sweep::check(path).map(|()| None),
        Kind::Network => Ok(unchecked_shapes(path, catalog)),
        _ => probe::check(kind, path),
    }
}

/// That the shapes of a network are not checked, if so. A file of several networks, which one name
/// does not lead to, is in the artifact's format.
fn unchecked_shapes(path: &Path, catalog: &mut Catalog) -> Option<String> {
    let model = catalog.model(&path.to_string_lossy());
    let complete = model.is_ok_and(|model| model.network.connections() == Connections::Complete);
    (!complete).then(|| "connections are incomplete: shapes between layers not checked".into())
}

/// Turns an artifact file into YAML, on standard output or into a folder.
///
/// # Errors
///
/// If the file is wrong or the folder cannot be written to.
pub fn import(file: &Path, out: Option<&Path>) -> Result<(), Failure> {
    let source = Source::read(file)?;
    let files = export::import(&source)?;
    let Some(folder) = out else {
        let texts: Vec<_> = files.into_iter().map(|(_, text)| text).collect();
        return output::print(&texts.join("---\n"));
    };
    let names = files.iter().map(|(name, _)| name);
    Places::default().reading([file.to_path_buf()]).folder(Some(folder), names).check()?;
    let mut set = OutputSet::create(folder)?;
    let mut list = String::new();
    for (name, text) in files {
        set.bytes(&name, text.as_bytes())?;
        list += &format!("{}\n", folder.join(name).display());
    }
    set.rename()?;
    output::print_text(&list)
}

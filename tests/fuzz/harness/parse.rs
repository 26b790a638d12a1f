//! Parsing in memory.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use xrsim::cli;
use xrsim::config::loadgen_cases::{CaseFiles, Cases};
use xrsim::config::{ConfigError, Source, cost_cases, cost_csv, export, service_csv};
use xrsim::external;
use xrsim::figures::{self, Figure, Format};
use xrsim::mapper::{row, store};
use xrsim::report::html;
use xrsim::report::html::mlperf::{Files, Header, Place, Tests};
use xrsim::report::points::{Best, Front, Objective, PointTable, heat_map};
use xrsim::report::rows::Checked;

use super::bundle;
use super::kind::Kind;
use super::pipeline::Shop;

/// Whether `text` is accepted as an input of `kind`; the error is a finding.
pub fn parse(shop: &Shop, kind: Kind, text: &str) -> Result<bool, String> {
    let source = || Source::new(kind.file(), text);
    match kind {
        _ if kind.is_checked() => checked(shop, kind, text),
        Kind::Mix => verdict(shop.catalog().hardware(text.trim_end_matches('\n'))),
        Kind::Scheduler => said(external::policy(text.trim_end_matches('\n'))),
        Kind::Costs => verdict(cost_csv::parse(&source())),
        Kind::Service => verdict(service_csv::parse(&source())),
        Kind::CostCases => verdict(cost_cases::check(&source())),
        Kind::Loadgen => verdict(loadgen(text)),
        Kind::Rows => rows(text),
        Kind::Choices => Ok(choices(text)),
        Kind::Journal => Ok(journal(text)),
        Kind::Results => results(text),
        Kind::Tests => said(tests(text)),
        Kind::Command => said(cli::parse(std::iter::once("xrsim").chain(text.lines()))),
        Kind::Answers => Ok(true),
        _ => unreachable!("every other kind is checked"),
    }
}

/// Whether `input`, which is not text, is accepted as a file of `kind`; the error is a finding.
pub fn bytes(shop: &Shop, kind: Kind, input: &[u8]) -> Result<bool, String> {
    let path = Path::new(kind.file());
    std::fs::write(path, input).map_err(|error| error.to_string())?;
    verdict(shop.catalog().check(path))
}

fn checked(shop: &Shop, kind: Kind, text: &str) -> Result<bool, String> {
    let source = Source::new(kind.file(), text);
    let mut catalog = shop.catalog();
    catalog.provide(Arc::clone(&source));
    let accepted = verdict(catalog.check(Path::new(kind.file())))?;
    if kind.file() == "x.m" && accepted {
        return verdict(export::import(&source));
    }
    Ok(accepted)
}

/// Whether the result is a value. An error has a message, and its positions are in the text.
fn verdict<T>(result: Result<T, ConfigError>) -> Result<bool, String> {
    let Err(error) = result else { return Ok(true) };
    if let ConfigError::Invalid { file, problems } = &error {
        if problems.is_empty() {
            return Err("refused without a problem".into());
        }
        let end = file.text().len();
        if let Some(problem) =
            problems.iter().find(|it| it.span.end > end || it.span.start > it.span.end)
        {
            return Err(format!("a problem at {:?} of {end} bytes", problem.span));
        }
    }
    if matches!(&error, ConfigError::Import { problems, .. } if problems.is_empty()) {
        return Err("refused without a problem".into());
    }
    if error.to_string().is_empty() {
        return Err("refused without a word".into());
    }
    Ok(false)
}

fn said<T>(result: Result<T, impl ToString>) -> Result<bool, String> {
    match result.map_err(|error| error.to_string()) {
        Ok(_) => Ok(true),
        Err(message) if message.is_empty() => Err("refused without a word".into()),
        Err(_) => Ok(false),
    }
}

fn loadgen(text: &str) -> Result<Cases, ConfigError> {
    let files = bundle::split(text);
    let file = |name: &str| {
        let found = files.iter().find(|(known, _)| *known == name);
        found.map(|&(name, text)| Source::new(name, text))
    };
    let cases = file("cases.json").unwrap_or_else(|| Source::new("cases.json", ""));
    Cases::parse(cases, file("rng_vectors.json"), |id| {
        let detail = ["txt", "csv"].iter().find_map(|end| file(&format!("detail/{id}.{end}")));
        let (log, summary) = (format!("queries/{id}.csv"), format!("summary/{id}.txt"));
        Ok(CaseFiles { log: file(&log), summary: file(&summary), detail })
    })
}

/// Whether a line of a file of choices is one.
fn choices(text: &str) -> bool {
    let mut lines = row::lines(text).filter(|line| row::is_choice(line, 4096)).count();
    lines += usize::from(store::is_sound(text));
    lines += text.lines().filter(|line| row::layer_of(line).is_some()).count();
    lines > 0
}

/// Whether a journal has a line that is read, with its check or without.
fn journal(text: &str) -> bool {
    let mut checked = String::new();
    let _ = Checked::new(text.as_bytes()).read_to_string(&mut checked);
    let [runs, mappings, _] = cli::journal_lines(text.as_bytes());
    runs + mappings > 0
}

fn rows(text: &str) -> Result<bool, String> {
    let _ = PointTable::read(&mut Checked::new(text.as_bytes()), &[]);
    let Ok(table) = PointTable::read(text.as_bytes(), &[]) else { return Ok(false) };
    let objective = |column: &str| Objective { column: column.into(), better: None };
    let mut done = said(Best::find(&table, &objective("score")))?;
    let objectives = ["energy_mj", "score"].map(objective);
    if let Ok(front) = Front::compute(&table, &objectives) {
        let (header, rows) = front.rows();
        if rows.iter().any(|row| row.len() != header.len()) {
            return Err("a row of the front is not as long as its header".into());
        }
        drawn(&front.scatter())?;
        done = true;
    }
    if let Ok(map) = heat_map(&table, "pes", "scheduler", "score") {
        drawn(&map)?;
    }
    Ok(done)
}

/// A figure is drawn, or refused because of its contents.
fn drawn(figure: &dyn Figure) -> Result<(), String> {
    match figures::render(figure, Format::Svg) {
        Ok(svg) => {
            let svg = String::from_utf8_lossy(&svg);
            let has_none = ["=\"NaN", "=\"inf", "=\"-inf"].iter().any(|it| svg.contains(it));
            if has_none { Err("a figure with a place that is no number".into()) } else { Ok(()) }
        }
        Err(_) => Ok(()),
    }
}

fn results(text: &str) -> Result<bool, String> {
    let files = bundle::split(text);
    let file = |name: &'static str| {
        let found = files.iter().find(|(known, _)| *known == name);
        html::Source { name, text: found.map_or("", |(_, text)| text) }
    };
    said(html::page(&html::Folder {
        scores: file("scores.csv"),
        models: file("models.csv"),
        inferences: file("inferences.csv"),
        provenance: file("run.json"),
        command: None,
    }))
}

/// Makes the page of load tests, as `xrsim report` makes it from a folder.
fn tests(text: &str) -> Result<String, html::ReadError> {
    let files = bundle::split(text);
    let file = |name: &'static str, path: &str| {
        let found = files.iter().find(|(known, _)| *known == path);
        found.map(|&(_, text)| html::Source { name, text })
    };
    let header = file("mlperf.json", "mlperf.json").map(Header::read).transpose()?;
    let table =
        file("suite.csv", "suite.csv").unwrap_or(html::Source { name: "suite.csv", text: "" });
    let tests = Tests::read(html::mlperf::Kind::Suite, table, header)?;
    let of_place = |place: Place| {
        let inside = |name: &str| format!("{}/{name}", place.folder);
        Files {
            summary: file("summary", &inside("mlperf_log_summary.txt")).map_or("", |it| it.text),
            curve: file("curve.csv", &inside("curve.csv")).filter(|_| place.may_have_curve),
        }
    };
    let files: Vec<_> = tests.places().map(of_place).collect();
    tests.page(&files)
}

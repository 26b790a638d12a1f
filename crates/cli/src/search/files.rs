//! Files of a search.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};

use xrsim_config::export;
use xrsim_experiment::KEYS;
use xrsim_experiment::search::PreparedSearch;
use xrsim_figures::Format;
use xrsim_model::hardware::Accelerator;
use xrsim_model::text::cell;
use xrsim_report::search::AnswerReport;
use xrsim_search::Search;
use xrsim_sim::bounds::Class;
use xrsim_sim::schedule::Policy;

use super::super::again;
use super::super::figure::PictureOptions;
use super::super::interrupt;
use super::super::mappings::Mappings;
use super::super::message::Failure;
use super::super::output::OutputSet;
use super::super::record;
use super::super::writer::Writer;
use super::{SearchArgs, journal};

/// Key of the record of a search that was interrupted before its end; others do not have it.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Name of the table of answers.
pub(crate) const ANSWERS: &str = "answers.csv";

/// Name of the table of simulated systems.
pub(crate) const EVALUATED: &str = "evaluated.csv";

/// Names of all files that a search may write into its folder.
pub(super) fn names(prepared: &PreparedSearch, pictures: &PictureOptions) -> Vec<String> {
    let fixed = [EVALUATED, ANSWERS, "excluded.csv.gz", journal::NAME, record::SEARCH];
    let mut names: Vec<String> = fixed.map(String::from).to_vec();
    for question in &prepared.questions {
        let (best, front) = of_question(prepared, &question.name);
        names.push(best);
        names.extend(pictures.names(&front, Format::ALL));
    }
    names
}

/// File of the best system of a question, and name of the files of its front without ending.
fn of_question(prepared: &PreparedSearch, question: &str) -> (String, String) {
    let stem = match prepared.questions.len() {
        1 => String::new(),
        _ => format!("_{question}"),
    };
    (format!("best{stem}.yaml"), format!("front{stem}"))
}

/// Writes all files as one set.
///
/// # Errors
///
/// Returns a failure if a file cannot be written.
pub(super) fn write(
    folder: &Path,
    prepared: &PreparedSearch,
    search: &Search<'_>,
    reports: &[AnswerReport],
    identity: &str,
    args: &SearchArgs,
) -> Result<(), Failure> {
    let mut set = OutputSet::create(folder)?;
    let rows = reports.iter().flat_map(|report| report.evaluated.iter().cloned()).collect();
    set.csv(EVALUATED, (AnswerReport::header(), rows))?;
    let tables: Vec<_> = reports.iter().map(AnswerReport::table).collect();
    if let Some((header, _)) = tables.first() {
        let rows = tables.iter().flat_map(|(_, rows)| rows.iter().cloned()).collect();
        set.csv(ANSWERS, (header.clone(), rows))?;
    }
    for report in reports {
        let (best, front) = of_question(prepared, &report.answer.question.name);
        if report.answer.question.is_front() {
            set.csv(&format!("{front}.csv"), report.front_table())?;
            if let Some(figure) = report.figure().filter(|_| !report.found.is_empty()) {
                args.pictures.add_picture(&mut set, &front, Format::ALL, &figure)?;
            }
        }
        if let Some(text) = best_system(prepared, report, &best) {
            set.bytes(&best, text.as_bytes())?;
        }
    }
    if args.audit {
        set.bytes("excluded.csv.gz", &excluded(prepared, search, reports)?)?;
    }
    let mut record = record(prepared, reports, identity);
    Mappings::of(search.chosen_mappings()).add_to(&mut record);
    if interrupt::is_asked() {
        record.insert(INTERRUPTED.into(), true.into());
    }
    if let Some(shard) = args.shard {
        record.insert("part".into(), shard.fraction().into());
        record.insert("writer".into(), json!(Writer::of_process()));
    }
    set.commit(record::SEARCH, record)
}

/// Removes the record in `folder`, which says that a part is done: it is begun again.
///
/// # Errors
///
/// Returns a failure if the record is there and cannot be removed.
pub(super) fn remove_record(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(record::SEARCH);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::writing(&path.display(), &error))
        }
        _ => Ok(()),
    }
}

/// The best system as a file `name` that other commands take.
fn best_system(prepared: &PreparedSearch, report: &AnswerReport, file: &str) -> Option<String> {
    let best = report.found.first()?;
    let system = prepared.space.system(&best.members).ok()?;
    let text =
        prepared.schedulers.iter().find(|it| **it.label() == *best.scheduler).map(Policy::text);
    let run = run_words(report, prepared, file, text.as_ref().unwrap_or(&best.scheduler));
    let run = again::line(&run).map(|run| format!("In the folder of this file: {run}"));
    let first = format!("{} of the search {}.", best.system, prepared.name);
    let comments = std::iter::once(first).chain(run);
    let proof = report.text();
    let lines = comments.chain(proof.lines().map(String::from));
    let lines: Vec<String> = lines.collect();
    let reference = |it: &Accelerator| prepared.reference(it);
    let name = format!("{}_best", prepared.name);
    Some(export::system(&name, &system, &lines, reference))
}

/// Keys that the file of the system says, or that other words say.
const IN_FILE: [&str; 7] =
    ["system", "pes", "platform", "scenario", "scheduler", "flexibility", "mapping_objective"];

/// Words that run the system of `file` in the scenarios of a question, under the settings of the search.
fn run_words(
    report: &AnswerReport,
    prepared: &PreparedSearch,
    file: &str,
    scheduler: &str,
) -> Vec<String> {
    let words = ["xrsim", "run", "--system", file, "--scheduler", scheduler];
    let mut words: Vec<String> = words.map(String::from).to_vec();
    let weights = report.answer.question.weights.iter().zip(prepared.scenario_references());
    for (_, scenario) in weights.filter(|(weight, _)| **weight > 0.0) {
        words.extend(["--scenario".into(), scenario.clone()]);
    }
    let settings = &prepared.settings;
    for (name, value) in settings.effective() {
        let is_given = settings.has(&name) || name.starts_with("parameters.");
        if !is_given || IN_FILE.contains(&&*name) || name.starts_with("hardware.") {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), String::from);
        let option = KEYS.iter().find(|key| key.name == name).and_then(|key| key.option);
        words.extend(match option {
            Some(option) => [format!("--{}", option.long), value],
            None => ["--set".into(), format!("{name}={value}")],
        });
    }
    words
}

/// Bounds of all systems, and what each question needed, as compressed CSV: a proof that a script can check.
fn excluded(
    prepared: &PreparedSearch,
    search: &Search<'_>,
    reports: &[AnswerReport],
) -> Result<Vec<u8>, Failure> {
    let failure = |error: std::io::Error| Failure::Output(error.to_string());
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    writeln!(
        out,
        "question,system,may_keep_limits,table_bound,ub1_isolation,ub3_linear_program,ub1_isolation_keeping,\
         ub3_linear_program_keeping,best"
    )
    .map_err(failure)?;
    for report in reports {
        let question = &report.answer.question;
        let best = report.found.first().and_then(|it| it.value(question.objectives[0]));
        let best = best.map_or(String::new(), cell);
        for (system, bound) in search.table_bounds(question).into_iter().enumerate() {
            let name = prepared.space.name(search.members(system as u32));
            let bounds = Class::ALL.map(|class| search.bounds(question, system as u32, class));
            let bounds = bounds.as_flattened().iter();
            let bounds: Vec<_> = bounds.map(|it| it.map_or(String::new(), cell)).collect();
            let allowed = if search.may_be_allowed(question, system as u32) { "yes" } else { "no" };
            writeln!(
                out,
                "{},\"{name}\",{allowed},{},{},{best}",
                question.name,
                cell(bound),
                bounds.join(",")
            )
            .map_err(failure)?;
        }
    }
    out.finish().map_err(failure)
}

fn record(
    prepared: &PreparedSearch,
    reports: &[AnswerReport],
    identity: &str,
) -> Map<String, Value> {
    let inputs: Map<String, Value> =
        prepared.inputs().into_iter().map(|it| (it.name, json!(it.sha256))).collect();
    let schedulers: Vec<_> = prepared.schedulers.iter().map(Policy::text).collect();
    let scenarios: Vec<_> =
        prepared.plans.iter().map(|it| it.scenario.name().to_string()).collect();
    record::of_results(json!({
        "command": "search",
        "name": prepared.name,
        "search_sha256": identity,
        "inputs_sha256": inputs,
        "seed": prepared.settings.load.seed,
        "draws": prepared.draws,
        "scenarios": scenarios,
        "schedulers": schedulers,
        "technology": prepared.technology.name(),
        "method": prepared.method.name(),
        "settings": prepared.settings.effective(),
        "answers": reports.iter().map(AnswerReport::to_json).collect::<Vec<_>>(),
    }))
}

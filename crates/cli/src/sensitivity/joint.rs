//! `xrsim sensitivity --joint`: all uncertain constants at once.

use serde_json::json;

use xrsim_config::{Catalog, Notes};
use xrsim_experiment::{DEFAULT_PES, Joint, programs};
use xrsim_figures::Format as Picture;
use xrsim_model::text::counted;
use xrsim_report::sensitivity::{joint_chart, joint_csv, joint_draws_csv, joint_json, joint_table};

use super::super::assumed::assumed;
use super::super::experiment::prepare;
use super::super::message::{Failure, say};
use super::super::output::{self, OutputSet};
use super::super::places::Places;
use super::super::progress::Progress;
use super::super::{record, table_style};
use super::SensitivityArgs;

/// Table of the systems.
pub(crate) const SYSTEMS: &str = "joint.csv";

/// Table of the draws.
const DRAWS: &str = "draws.csv";

/// Name of the chart, without an ending.
pub(crate) const CHART: &str = "places";

/// Names of the files of the folder.
fn files(args: &SensitivityArgs) -> Vec<String> {
    let mut files = vec![SYSTEMS.to_string(), DRAWS.into()];
    files.extend(args.pictures.names(CHART, Picture::ALL));
    files.push(record::JOINT.into());
    files
}

/// Makes `n_draws` joint draws and prints how the systems do.
///
/// # Errors
///
/// Returns a failure for bad input, output that cannot be written, or if no draw has a score.
pub(super) fn run(args: &SensitivityArgs, n_draws: u64) -> Result<(), Failure> {
    let mut catalog = Catalog::new().noting(Notes::default());
    let uncertainty = catalog.uncertainty(&args.constants)?;
    let experiment = args.options.experiment(args.scheduler.text())?.replications(1);
    let has_size = !args.options.values("pes").is_empty();
    let prepared = prepare(&if has_size { experiment } else { experiment.pes(DEFAULT_PES) })?;
    let schedulers = || args.scheduler.text().into_iter().map(String::as_str);
    Places::default()
        .reading(prepared.opened())
        .reading(catalog.opened())
        .reading(schedulers().flat_map(programs::files))
        .folder(args.out.as_deref(), files(args))
        .check()?;
    let set = args.out.as_deref().map(OutputSet::create).transpose()?;
    let inputs =
        programs::sha256_of_inputs(prepared.inputs().chain(catalog.inputs()), schedulers())?;
    let joint = Joint::new(&prepared, &uncertainty)?;
    say(format_args!(
        "{} of all constants, {} each; mappings stay those of the base",
        counted(n_draws as usize, "draw"),
        counted(joint.n_runs(), "run"),
    ));
    let progress = Progress::new(n_draws);
    let joined = joint.draws(n_draws, &|more| progress.add(more as u64))?;
    progress.finish();
    let table = joint_table(&joined, table_style());
    let (json, csv) = (joint_json(&joined), joint_csv(&joined));
    if let Some(mut set) = set {
        set.csv(SYSTEMS, csv.clone())?;
        set.csv(DRAWS, joint_draws_csv(&joined))?;
        args.pictures.add(&mut set, CHART, Picture::ALL, &joint_chart(&joined))?;
        let mut record = args.options.requested();
        record.extend(record::of_results(json!({
            "scheduler": args.scheduler.text(), "joint": n_draws, "constants": args.constants,
            "cost_model": prepared.cost_model().name, "inputs_sha256": inputs,
        })));
        record.extend(prepared.mapping_record());
        record.insert("results".into(), json.clone());
        set.commit_and_say(record::JOINT, record, format_args!("{}", files(args).join(", ")))?;
    }
    let (header, rows) = &csv;
    args.format.print(
        || format!("{table}{}", assumed(&prepared)),
        || &json,
        || output::csv_text(header, rows),
    )
}

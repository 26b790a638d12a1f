//! `xrsim show`: one input file, or one scheduler.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use xrsim_config::{Catalog, ConfigError, Edition, export, nearest};
use xrsim_experiment::scheduler_names;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::device::{Points, PowerLaw};
use xrsim_model::mapper::DeclaredSpace;
use xrsim_model::scenario::{InputStream, RecordedFrame, Scenario};
use xrsim_model::statistics::Summary;
use xrsim_validation::validate::networks::facts;

use super::message::{Failure, with_hints};
use super::{output, schedulers, schema};

/// Print an input file (the YAML of a scenario, system, dataflow, mapspace, network, platform, technology,
/// device or sweep), or describe a scheduler and its parameters.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Name, e.g. `AR_gaming`, `J`, `WS`, `KD`, `edf`, or a network with values of its parameters, such as
    /// `PD:regions=100`.
    name: String,
    /// Begin an input file with the line that names its schema (for editors: the file PATH of `xrsim schema`).
    #[arg(long, value_name = "PATH")]
    schema: Option<PathBuf>,
}

/// Prints the text of an embedded or named file, and after a network its size; of a scheduler its
/// parameters.
///
/// # Errors
///
/// Returns a failure if there is no such file.
pub(super) fn run(args: &ShowArgs) -> Result<(), Failure> {
    let line = args.schema.as_deref().map(schema::modeline).transpose()?;
    if let Some(scheduler) = schedulers::find(&args.name) {
        return output::print(&schedulers::describe(scheduler));
    }
    let text = with_hints(|notes| text(&args.name, Catalog::new().noting(notes.clone())));
    let text = text.map_err(|failure| with_schedulers(failure, &args.name))?;
    let line = line.map_or(String::new(), |line| line + "\n");
    output::print(&format!("{line}{text}"))
}

/// A failure to find `name`, with a scheduler as the nearest name if no file has one.
fn with_schedulers(failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Input(error) => Failure::Input(match *error {
            ConfigError::Unknown { kind, name: of, nearest: None, file, known } => {
                let nearest = nearest(name, scheduler_names()).map(str::to_string);
                ConfigError::Unknown { kind, name: of, nearest, file, known }.into()
            }
            other => other.into(),
        }),
        other => other,
    }
}

/// The law of power that fits published powers of points best, as a comment; `None` without powers.
fn law(points: &Points) -> Option<String> {
    let [law, alone] = PowerLaw::of(points)?;
    let errors = |it: PowerLaw| {
        let [largest, mean] = it.errors.map(|it| 100.0 * it);
        format!("errors up to {largest:.1} % (mean {mean:.1} %)")
    };
    Some(format!(
        "# fit: mW = {:.4} V^2 MHz + {:.2} V, {}; without the second term {}\n",
        law.a,
        law.b,
        errors(law),
        errors(alone)
    ))
}

/// Text of the file called `name`, with facts about the network, the mapspace of the dataflow, or the law of the powers, that
/// it describes, if any.
fn text(name: &str, mut catalog: Catalog) -> Result<String, Failure> {
    let mut text = catalog.text(name)?.text().to_string();
    match catalog.model(name) {
        Ok(model) => text += &facts(&model).to_comments(),
        // A value of a parameter is wrong, not the kind of the file.
        Err(error @ ConfigError::Malformed { .. }) => return Err(error.into()),
        Err(_) => {}
    }
    if let Ok(dataflow) = catalog.dataflow(name) {
        text += &mapspace(&dataflow);
    }
    if let Ok(points) = catalog.points(name) {
        text.extend(law(&points));
    }
    if let Ok(scenario) = catalog.scenario(name, Edition::default()) {
        text.extend(recordings(&scenario).map(|line| format!("# {line}\n")));
    }
    Ok(text)
}

/// A line for each recorded sensor of a scenario: its frames and periods.
pub(super) fn recordings(scenario: &Scenario) -> impl Iterator<Item = String> {
    let recorded = |it: &InputStream| {
        let recording = Arc::clone(&it.recorded.as_ref()?.recording);
        let frames = recording.frames();
        let ms = |pair: &[RecordedFrame]| (pair[1].arrival - pair[0].arrival).as_ms();
        let periods = Summary::of(frames.windows(2).map(ms));
        let longest = frames.windows(2).map(ms).fold(0.0, f64::max);
        Some(format!(
            "{}: {} frames in {:.3} s, {} lost; periods of {:.3} ms, standard deviation {:.3} ms, longest {longest:.3} ms",
            it.name,
            frames.len(),
            recording.last().arrival.as_ms() / 1e3,
            recording.n_lost(),
            periods.mean,
            periods.sd,
        ))
    };
    scenario.streams().iter().filter_map(recorded)
}

/// Comment with the mappings that hardware of this dataflow may choose from under `flexibility: tiles`.
fn mapspace(dataflow: &Dataflow) -> String {
    if dataflow.levels().is_empty() {
        return String::new();
    }
    let Some(space) = DeclaredSpace::of_style(dataflow.levels(), dataflow.stationary()) else {
        return "# The sizes of its clusters depend on the layer: it has no mapspace.\n".into();
    };
    let text = export::mapspace(&format!("{}_tiles", dataflow.name()), &space);
    let lines = text.lines().map(|line| format!("# {line}\n"));
    let head = "# With `flexibility: tiles` every layer takes the best mapping of this mapspace:\n";
    std::iter::once(head.into()).chain(lines).collect()
}

//! `xrsim cost`: costs of layers, networks and batches on one accelerator or more.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use xrsim_config::{Catalog, Notes};
use xrsim_experiment::{DEFAULT_PES, Distinct, NamedCostModel, Settings, whole_chip};
use xrsim_model::cost::batch::BatchCosts;
use xrsim_model::cost::loop_nest::Family;
use xrsim_model::cost::{CostError, CostModel, Infeasible, PairNames};
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::{Layer, Network, Source};
use xrsim_report::cost::{BatchReport, CostReport, Report, Variant, explain_layer};
use xrsim_report::idle_pes;

use super::costs;
use super::experiment::MappingOptions;
use super::figure::PictureOptions;
use super::message::{Failure, warn, with_hints};
use super::options::{Format, LayerOptions, whole_number};
use super::output::Complete;
use super::places::Places;
use super::{output, table_style};

/// Compute cycles and energy of every layer of networks.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --network: all networks of the suite. Several values of --dataflow, --system, --pes or --cost-model \
    are compared side by side.\n\n\
    Examples:\n  \
    xrsim cost                                              every network on WS, OS and RS\n  \
    xrsim cost --network KD --dataflow WS --pes 1024\n  \
    xrsim cost --network KD --dataflow WS --layer conv2 --explain\n  \
    xrsim cost --network DE --dataflow WS --dataflow RS --plot energy.svg --roofline roofs.png\n  \
    xrsim cost --network SS --dataflow WS --flexibility tiles --format csv\n  \
    xrsim cost --network resnet50 --batch 1 --batch 8 --batch 32\n  \
    xrsim cost --networks artifact --cost-model loop-nest --cost-model maestro\n  \
    xrsim cost --network mine.yaml --dataflow RS --noc-bandwidth 256,128 --format csv\n  \
    xrsim cost --network mine.yaml --system chip.yaml       every accelerator of a system"
)]
pub(super) struct CostArgs {
    #[command(flatten)]
    pub layers: LayerOptions,
    /// Number of PEs (processing elements); repeat for more, or separate them by commas [default: 4096].
    #[arg(long, value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub pes: Vec<u32>,
    /// Bandwidth of every NoC level, outermost first [byte/cycle; default: that of the platform].
    #[arg(
        long,
        value_name = "TOP,COL",
        value_delimiter = ',',
        num_args = 1,
        value_parser = whole_number(1..),
        conflicts_with = "system"
    )]
    pub noc_bandwidth: Vec<u64>,
    /// Cost model, or a CSV file of measurements; repeat for more, or separate them by commas [default: loop-nest].
    #[arg(long, value_name = "M|FILE.csv", value_delimiter = ',')]
    pub cost_model: Vec<String>,
    #[command(flatten)]
    pub mapping: MappingOptions,
    /// Batch size: print time and energy of the batch, and the split into smaller batches that is fastest;
    /// repeat for more, or separate them by commas.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(BatchCosts::MAX_BATCH)),
        conflicts_with_all = ["layer", "explain", "plot", "plot_cycles", "roofline"]
    )]
    pub batch: Vec<u32>,
    /// Explain the layer of --layer (its levels, tiles, traffic and bottleneck).
    #[arg(long, requires = "layer", conflicts_with_all = ["format", "plot", "plot_cycles", "roofline"])]
    pub explain: bool,
    /// Draw the energy by component, one bar per layer or network, as .svg, .pdf or .png, with the data
    /// beside it as .csv.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Draw the cycles by their use, one bar per layer or network, as --plot does.
    #[arg(long, value_name = "FILE")]
    pub plot_cycles: Option<PathBuf>,
    /// Draw rooflines, of every accelerator with its layers, as --plot does.
    #[arg(long, value_name = "FILE")]
    pub roofline: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub pictures: PictureOptions,
}

/// Default of the option.
pub(super) const COST_MODEL: &str = "loop-nest";

/// Most pairs of network and variant. Each pair takes memory for every layer.
const MAX_PAIRS: usize = 10_000;

/// Prints and draws the costs.
///
/// # Errors
///
/// Returns a failure if an input is invalid, if no network can run on any accelerator, or if a file
/// cannot be written.
pub(super) fn run(args: &CostArgs) -> Result<(), Failure> {
    let inputs = with_hints(|notes| Inputs::read(args, notes))?;
    let Inputs { catalog, choices, mut networks, accelerators, remarks } = inputs;
    for choice in &choices {
        let names = networks.iter().map(|network| network.name());
        costs::warn(choice, &catalog, names, accelerators.iter());
        costs::warn_of_fixed_mappings(choice, args.mapping.settings());
        let unused = choice.unused_keys(&catalog, &Settings::default());
        unused.iter().for_each(|warning| warn(format_args!("{warning}")));
    }
    if choices.iter().any(|choice| choice.model.chooses_mappings()) {
        refuse_period(&accelerators)?;
    }
    if let Some(layer) = &args.layers.layer {
        refuse_unknown_layer(layer, &networks)?;
        stand_alone(layer, &mut networks, &choices, &accelerators);
    }
    if !args.batch.is_empty()
        && let Some(choice) = choices.iter().find(|choice| !choice.model.supports_batches())
    {
        refuse!("--batch: the cost model `{}` leaves batches out", choice.name);
    }
    if args.explain {
        return explain(args, &choices, &networks, &accelerators);
    }
    Places::default()
        .reading(catalog.opened())
        .drawing(&args.pictures, args.plot.iter().chain(&args.plot_cycles).chain(&args.roofline))
        .check()?;
    let pairs = choices.len() * accelerators.len() * networks.len();
    if pairs > MAX_PAIRS {
        refuse!("{pairs} pairs of network and accelerator; at most {MAX_PAIRS} are allowed");
    }
    let both = |accelerator: &Accelerator| {
        let variant = |choice: &NamedCostModel| Variant {
            cost_model: choice.name.clone(),
            accelerator: accelerator.clone(),
            chooses: choice.model.chooses_mappings(),
        };
        choices.iter().map(variant).collect::<Vec<_>>()
    };
    let variants: Vec<_> = accelerators.iter().flat_map(both).collect();
    let models: Vec<&dyn CostModel> =
        accelerators.iter().flat_map(|_| choices.iter().map(|choice| &*choice.model)).collect();
    if !args.batch.is_empty() {
        let report = BatchReport::new(&networks, &variants, &models, &args.batch);
        warn_of_infeasible(&report)?;
        return print(args.format, &report, &remarks);
    }
    let mut report = CostReport::new(networks, variants, &models);
    if let Some(layer) = &args.layers.layer {
        report = report.only(layer);
    }
    warn_of_infeasible(&report)?;
    if let Some(message) = report.repeated_layers() {
        warn(format_args!("{message}"));
    }
    draw(args, &report)?;
    print(args.format, &report, &remarks)
}

/// Puts the layer called `name` in the place of every network of which a dataflow lists only some layers: what stays in
/// shared memory between layers cannot be planned without the others.
fn stand_alone(
    name: &str,
    networks: &mut [Arc<Network>],
    choices: &[NamedCostModel],
    accelerators: &[Accelerator],
) {
    let lists_layers =
        |it: &&Accelerator| !it.dataflow.layers().is_empty() && it.dataflow.directives().is_empty();
    for network in networks {
        let lacks = |accelerator: &Accelerator| {
            let mut totals = choices.iter().map(|it| it.model.network(network, accelerator));
            totals.any(|total| matches!(total, Err(Infeasible::OtherLayers { .. })))
        };
        let Some(accelerator) = accelerators.iter().filter(lists_layers).find(|it| lacks(it))
        else {
            continue;
        };
        let Some(layer) = network.layers().iter().find(|layer| *layer.name == *name) else {
            continue;
        };
        let sources = vec![Source::Outside; layer.sources.len()];
        let Ok(alone) = Network::new(network.name(), vec![Layer { sources, ..layer.clone() }])
        else {
            continue;
        };
        warn(format_args!(
            "dataflow {} has no directives for other layers of `{}`: `{name}` is costed as if it were the whole network, \
             with inputs from DRAM and outputs to it",
            accelerator.dataflow.name(),
            network.name()
        ));
        *network = Arc::new(alone);
    }
}

/// Inputs of the command.
struct Inputs {
    catalog: Catalog,
    choices: Vec<NamedCostModel>,
    networks: Vec<Arc<Network>>,
    accelerators: Vec<Accelerator>,
    /// Lines about what the options change in systems, and about idle PEs.
    remarks: String,
}

impl Inputs {
    fn read(args: &CostArgs, notes: &Notes) -> Result<Self, Failure> {
        let mut catalog = args.layers.networks.catalog(notes);
        let choices = cost_models(args, &mut catalog)?;
        let networks = args.layers.networks.read(&mut catalog)?;
        let choosing = |experiment| args.mapping.add_to(experiment);
        let of_systems = {
            let by_name = choices.iter().any(NamedCostModel::is_table);
            args.layers.of_systems((&args.pes, by_name), choosing, &mut catalog)?
        };
        let (accelerators, changes) = match of_systems {
            Some(Distinct { accelerators, changes, .. }) => (accelerators, changes.concat()),
            None => (accelerators(args, &mut catalog)?, String::new()),
        };
        let remarks = changes + &idle_pes::note_of(&accelerators);
        let family = || Family::new(&accelerators, []);
        let choices = choices.iter().map(|choice| choice.among(family())).collect();
        Ok(Self { catalog, choices, networks, accelerators, remarks })
    }
}

/// Prints a report, as a table with `remarks`.
fn print(format: Format, report: &dyn Report, remarks: &str) -> Result<(), Failure> {
    format.print(
        || report.to_table(table_style()) + remarks,
        || report.to_json(),
        || output::in_memory(|out| report.write_csv(out)),
    )
}

fn draw(args: &CostArgs, report: &CostReport) -> Result<(), Failure> {
    let mut files = Vec::new();
    if let Some(path) = &args.plot {
        files.extend(args.pictures.stage(path, &report.energy_bars())?);
    }
    if let Some(path) = &args.plot_cycles {
        files.extend(args.pictures.stage(path, &report.cycle_bars())?);
    }
    if let Some(path) = &args.roofline {
        files.extend(args.pictures.stage(path, &report.roofline())?);
    }
    files.into_iter().try_for_each(Complete::rename)
}

/// Warns of every network that cannot run on an accelerator. Fails if no network can run on any.
fn warn_of_infeasible(report: &dyn Report) -> Result<(), Failure> {
    let infeasible = report.infeasible().into_iter();
    let reasons = infeasible.map(|(network, variant, reason)| {
        CostError::new(network.name(), &variant.accelerator, reason.clone()).to_string()
    });
    let reasons: Vec<_> = reasons.collect();
    if report.is_infeasible() {
        return Err(Failure::Argument(reasons.join("\n")));
    }
    reasons.iter().for_each(|reason| warn(format_args!("{reason}")));
    Ok(())
}

fn explain(
    args: &CostArgs,
    choices: &[NamedCostModel],
    networks: &[Arc<Network>],
    accelerators: &[Accelerator],
) -> Result<(), Failure> {
    if choices.iter().any(|choice| choice.name != COST_MODEL) {
        refuse!("--explain is about the cost model `{COST_MODEL}`");
    }
    let Some(model) = choices.first().map(|choice| &*choice.model) else { return Ok(()) };
    let name = args.layers.layer.as_deref().unwrap_or_default();
    let mut texts = Vec::new();
    for network in networks {
        let Some(layer) = network.layers().iter().position(|layer| *layer.name == *name) else {
            continue;
        };
        for accelerator in accelerators {
            let text = explain_layer(network, layer, accelerator, model, table_style());
            texts.push(text.map_err(|reason| {
                let names = PairNames::new(network.name(), accelerator);
                Failure::Argument(reason.display(&names).to_string())
            })?);
        }
    }
    output::print_text(&texts.join("\n"))
}

/// Refuses choices by the period of a model, which networks by themselves do not have.
fn refuse_period(accelerators: &[Accelerator]) -> Result<(), Failure> {
    if accelerators.iter().any(Accelerator::chooses_by_period) {
        refuse!(
            "--mapping-objective deadline chooses mappings by the rate of a model in a scenario, and networks by \
             themselves have none; use edp, energy or cycles here, or `xrsim run`"
        );
    }
    Ok(())
}

pub(super) fn refuse_unknown_layer(layer: &str, networks: &[Arc<Network>]) -> Result<(), Failure> {
    let mut names = networks.iter().flat_map(|network| network.layers()).map(|it| &*it.name);
    if names.any(|name| name == layer) {
        return Ok(());
    }
    let names = networks.iter().flat_map(|network| network.layers()).map(|it| &*it.name);
    let nearest = xrsim_config::nearest(layer, names);
    let hint = nearest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    Err(Failure::Argument(format!("no network has a layer `{layer}`{hint}")))
}

fn cost_models(args: &CostArgs, catalog: &mut Catalog) -> Result<Vec<NamedCostModel>, Failure> {
    let effort = args.mapping.effort();
    if args.cost_model.is_empty() {
        return Ok(vec![NamedCostModel::find(catalog, COST_MODEL)?.with_effort(effort)]);
    }
    let models = args.cost_model.iter();
    let models = models.map(|name| Ok(NamedCostModel::find(catalog, name)?.with_effort(effort)));
    models.collect()
}

/// Makes an accelerator for every dataflow and number of PEs.
fn accelerators(args: &CostArgs, catalog: &mut Catalog) -> Result<Vec<Accelerator>, Failure> {
    let dataflows = args.layers.dataflows(catalog)?;
    let mapping = args.mapping.settings();
    let sizes = if args.pes.is_empty() { &[DEFAULT_PES][..] } else { &args.pes };
    let mut accelerators = Vec::new();
    for &pes in sizes {
        for dataflow in &dataflows {
            let mut accelerator = whole_chip(catalog, args.layers.platform(), dataflow, pes)?;
            let noc = &mut accelerator.noc;
            noc.set(&args.noc_bandwidth, |level, bandwidth| level.bandwidth = bandwidth);
            accelerators.push(accelerator.mapped(&mapping));
        }
    }
    Ok(accelerators)
}

//! `xrsim area`: area and power of systems.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use xrsim_config::{Catalog, Kind, Notes};
use xrsim_experiment::{Experiment, NamedCostModel};
use xrsim_model::cost::CostError;
use xrsim_model::hardware::{Accelerator, Flexibility, LocalBuffers, System};
use xrsim_model::model::Network;
use xrsim_report::area::AreaReport;
use xrsim_report::area_terms::Sizes;
use xrsim_report::idle_pes;

use super::cost::COST_MODEL;
use super::experiment::{HardwareOptions, prepare};
use super::figure::PictureOptions;
use super::message::{Failure, warn, with_hints};
use super::options::{Format, NetworkOptions};
use super::places::Places;
use super::{output, table_style};

/// Compute the area and power of systems, term by term.
#[derive(Debug, Args)]
#[command(
    after_help = "Areas are +-30 %, leakage is an order of magnitude; docs/explanation/area.md has the formulas and the comparison with chips. \
    The totals under every other built-in technology are also printed.\n\n\
    Examples:\n  \
    xrsim area --system K --pes 4096\n  \
    xrsim area --system WS:12+WS:20 --pes 4096 --sizes needed\n  \
    xrsim area --system A,B,C --technology mine.yaml --format csv\n  \
    xrsim area --system A,J --plot area.svg"
)]
pub(super) struct AreaArgs {
    #[command(flatten)]
    hardware: HardwareOptions,
    /// Sizes of scratchpads and cluster buffers: those that the platform or system declares, or the least that
    /// the networks need. A note names the need in any case where memories take most of an area.
    #[arg(long, value_name = "SIZES", default_value = "declared")]
    sizes: SizesOption,
    #[command(flatten)]
    networks: NetworkOptions,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Draw where the area goes, a bar for each accelerator, as .svg, .pdf or .png, with the data beside it as .csv.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    pictures: PictureOptions,
}

/// Sizes of scratchpads and cluster buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SizesOption {
    /// Those of the platform or system.
    Declared,
    /// The least that hold the tiles of the networks, under the mappings that the accelerators choose.
    Needed,
}

impl From<SizesOption> for Sizes {
    fn from(option: SizesOption) -> Self {
        match option {
            SizesOption::Declared => Self::Declared,
            SizesOption::Needed => Self::Needed,
        }
    }
}

/// Prints the areas.
///
/// # Errors
///
/// Returns a failure if an input is invalid, or if an accelerator can run no network whose needs are asked
/// for.
pub(super) fn run(args: &AreaArgs) -> Result<(), Failure> {
    let prepared = prepare(&args.hardware.experiment(Experiment::new())?)?;
    Places::default().reading(prepared.opened()).drawing(&args.pictures, &args.plot).check()?;
    let mut systems = prepared.distinct_systems();
    if let Some(system) = systems.iter().find(|system| system.has_processors()) {
        refuse!("system `{}` has processors, whose area is not known", system.name());
    }
    let (mut catalog, needs) = with_hints(|notes| Needs::read(&args.networks, notes))?;
    if args.sizes == SizesOption::Needed {
        systems = systems.iter().map(|it| needs.fitted(it)).collect::<Result<_, _>>()?;
    }
    let shipped = catalog.names(Kind::Technology);
    let shipped: Vec<_> =
        shipped.iter().map(|it| catalog.technology(it)).collect::<Result<_, _>>()?;
    let needed = |it: &Accelerator| needs.under_fixed_directives(it);
    let report = AreaReport::new(&systems, &shipped, args.sizes.into(), needed);
    if let Some(path) = &args.plot {
        args.pictures.write(path, &report.bars())?;
    }
    args.format.print(
        || report.to_table(table_style()) + &idle_pes::note(&systems),
        || report.to_json(),
        || output::in_memory(|out| report.write_csv(out)),
    )
}

/// Networks whose tiles buffers have to hold, and the cost model that knows the tiles.
struct Needs {
    networks: Vec<Arc<Network>>,
    cost_model: NamedCostModel,
}

impl Needs {
    fn read(networks: &NetworkOptions, notes: &Notes) -> Result<(Catalog, Self), Failure> {
        let mut catalog = networks.catalog(notes);
        let cost_model = NamedCostModel::find(&mut catalog, COST_MODEL)?;
        let networks = networks.read(&mut catalog)?;
        Ok((catalog, Self { networks, cost_model }))
    }

    /// The least buffers that the networks need under the directives of the dataflow.
    fn under_fixed_directives(&self, accelerator: &Accelerator) -> Option<LocalBuffers> {
        let fixed = Accelerator { flexibility: Flexibility::None, ..accelerator.clone() };
        self.cost_model.model.local_buffers_of_all(&self.networks, &fixed)
    }

    /// The system with the least buffers that every network needs.
    fn fitted(&self, system: &System) -> Result<Arc<System>, Failure> {
        let accelerators = system.accelerators().iter();
        let accelerators = accelerators
            .map(|it| Ok(it.with_buffers(&self.of(it)?)))
            .collect::<Result<_, Failure>>()?;
        let fitted = system.with_accelerators(accelerators);
        Ok(Arc::new(fitted.map_err(|error| Failure::Argument(error.to_string()))?))
    }

    /// The least buffers that every network needs on `accelerator`. Networks that cannot run there are warned of.
    fn of(&self, accelerator: &Accelerator) -> Result<LocalBuffers, Failure> {
        let mut needed: Option<LocalBuffers> = None;
        for network in &self.networks {
            match self.cost_model.model.local_buffers(network, accelerator) {
                Ok(buffers) => {
                    let buffers = buffers.unwrap_or_default();
                    needed = Some(needed.map_or(buffers.clone(), |it| it.and(&buffers)));
                }
                Err(reason) => {
                    let reason = CostError::new(network.name(), accelerator, reason);
                    warn(format_args!("{reason}; its needs do not count"));
                }
            }
        }
        let none =
            || Failure::Argument(format!("{} can run none of the networks", accelerator.name));
        needed.ok_or_else(none)
    }
}

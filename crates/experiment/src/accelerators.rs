//! Single accelerators that have all resources of a platform.

use std::path::Path;
use std::sync::Arc;

use xrsim_config::{Catalog, Hardware, Kind};
use xrsim_model::cost::CostError;
use xrsim_model::cost::CostModel;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::platform::{Instance, Resources};
use xrsim_model::hardware::{
    Accelerator, Flexibility, HardwareError, MappingObjective, MappingSettings, Pinned, Share,
    System,
};
use xrsim_model::model::Network;

use super::{ExperimentError, NamedCostModel};

/// PEs of an accelerator unless they are given.
pub const DEFAULT_PES: u32 = 4096;

/// Platform of styles and single accelerators unless it is given.
pub const DEFAULT_PLATFORM: &str = "headset";

/// Platform of the benchmark: the chips that XRBench (section 4.1) describes.
pub const BENCHMARK_PLATFORM: &str = "paper";

/// The accelerator with `dataflow` and `pes` PEs that has all resources of `platform`, or those of the
/// accelerator with as many PEs in its tables. Its name is the dataflow with the PEs, e.g. `WS@4096`.
///
/// # Errors
///
/// [`ExperimentError::Config`] if there is no such platform, [`ExperimentError::Conflict`] if its tables
/// have no accelerator with `pes` PEs, [`ExperimentError::Hardware`] if it is too small for the dataflow.
pub fn whole_chip(
    catalog: &mut Catalog,
    platform: &str,
    dataflow: &Arc<Dataflow>,
    pes: u32,
) -> Result<Accelerator, ExperimentError> {
    let name = platform;
    let platform = catalog.platform(name)?;
    let (noc, memory) = match &platform.resources {
        Resources::Budget(budget) => (budget.noc.clone(), budget.memory.clone()),
        Resources::Tables(tables) => {
            let mut instances = tables.iter().flat_map(|table| &table.instances);
            let found = instances.find(|instance| instance.pes == pes).ok_or_else(|| {
                ExperimentError::Conflict(format!(
                    "platform `{name}` has no accelerator of {pes} PEs; choose a listed size or \
                     --platform {DEFAULT_PLATFORM}"
                ))
            })?;
            (found.noc.clone(), found.memory.clone())
        }
    };
    let name = format!("{}@{pes}", dataflow.name()).into();
    let instance = Instance { name, pes, noc, memory };
    let accelerator = instance.with(instance.name.clone(), dataflow, &platform);
    let system = System::new(dataflow.name(), vec![accelerator])?;
    Ok(system.accelerators()[0].clone())
}

/// The accelerator with `dataflow` on the default platform with [`DEFAULT_PES`], or with the PEs of one
/// unit of the dataflow if that is more.
fn default_chip(
    catalog: &mut Catalog,
    dataflow: &Arc<Dataflow>,
) -> Result<Accelerator, ExperimentError> {
    let unit = u32::try_from(dataflow.pes_per_unit()).unwrap_or(u32::MAX);
    whole_chip(catalog, DEFAULT_PLATFORM, dataflow, DEFAULT_PES.max(unit))
}

/// Networks that can run on the hardware of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Feasibility {
    /// Number of networks.
    pub n_networks: usize,
    /// Networks that cannot run, each with the reason on the first accelerator.
    pub infeasible: Vec<CostError>,
    /// Number of networks that the directives cannot run, and for which no mapping was searched.
    pub n_open: usize,
}

/// Distinct layers for which a check searches mappings before it leaves further networks open. A search takes up to
/// some hundredths of a second a layer.
const MAX_SEARCHED: usize = 16;

/// Tries every network of the catalog under `cost_model` on the hardware that the file at `path`
/// describes. The mapping of a dataflow depends on the layer, so that only a trial decides. Where directives do not run,
/// mappings are searched for a few layers, the smallest networks first. Returns `None`
/// for files that describe no accelerator with a dataflow. Processors have costs in tables alone.
///
/// # Errors
///
/// [`ExperimentError`] if the file is invalid or its accelerators cannot be built.
pub fn feasibility(
    kind: Kind,
    path: &Path,
    cost_model: &str,
) -> Result<Option<Feasibility>, ExperimentError> {
    let mut catalog = Catalog::new();
    let mut accelerators = described(kind, path, &mut catalog)?;
    accelerators.retain(|it| it.processor().is_none());
    if accelerators.is_empty() {
        return Ok(None);
    }
    let model = NamedCostModel::find(&mut catalog, cost_model)?.model;
    let names = catalog.names(Kind::Network);
    let mut networks =
        names.iter().map(|name| catalog.network(name)).collect::<Result<Vec<_>, _>>()?;
    networks.sort_by_key(|network| network.operators().len());
    let (mut infeasible, mut n_open, mut n_searched) = (Vec::new(), 0, 0);
    for network in &networks {
        let (listed, n_layers) =
            (listed(network, &accelerators, &*model), network.operators().len());
        let Some(reason) = listed else { continue };
        let flexible = accelerators.iter().filter(|it| it.flexibility != Flexibility::None);
        match flexible.clone().next() {
            None => infeasible.push(reason),
            Some(_) if n_searched > 0 && n_searched + n_layers > MAX_SEARCHED => n_open += 1,
            Some(_) => {
                n_searched += n_layers;
                let mut flexible = flexible;
                let runs = flexible.any(|it| runs(network, it, &*model));
                infeasible.extend((!runs).then_some(reason));
            }
        }
    }
    infeasible.sort_by(|a, b| a.names.network.cmp(&b.names.network));
    Ok(Some(Feasibility { n_networks: names.len(), infeasible, n_open }))
}

/// Reason for which the directives of the first accelerator cannot run a network; `None` if those of any can.
fn listed(
    network: &Network,
    accelerators: &[Accelerator],
    model: &dyn CostModel,
) -> Option<CostError> {
    let mut first = None;
    for accelerator in accelerators {
        let listed = Accelerator { flexibility: Flexibility::None, ..accelerator.clone() };
        let reason = model.network(network, &listed).err()?;
        first.get_or_insert_with(|| CostError::new(network.name(), accelerator, reason));
    }
    first
}

/// The accelerators of a system with the weights of its pinned tasks in shared memory, as far as networks of the catalog
/// perform all of them.
pub(super) fn pinned_in_catalog(
    system: &Arc<System>,
    catalog: &mut Catalog,
) -> Result<Vec<Accelerator>, HardwareError> {
    let with_weights = |it: &Accelerator| {
        let tasks =
            it.pinned.tasks().iter().map(|task| Some((&**task, catalog.network(task).ok()?)));
        match tasks.collect::<Option<Vec<_>>>() {
            Some(tasks) => {
                let networks: Vec<_> =
                    tasks.iter().map(|(task, network)| (*task, network)).collect();
                it.clone().with_pinned_weights("the catalog", &networks)
            }
            None => Ok(Accelerator { pinned: Pinned::default(), ..it.clone() }),
        }
    };
    system.accelerators().iter().map(with_weights).collect()
}

/// Whether a search finds mappings of every layer of a network.
fn runs(network: &Network, accelerator: &Accelerator, model: &dyn CostModel) -> bool {
    // A network by itself has no period. It runs by any objective, or by none.
    let mapping_objective = MappingObjective::DEFAULT;
    let chosen = Accelerator { mapping_objective, ..accelerator.clone() };
    model.network(network, &chosen).is_ok()
}

/// The accelerators that a file describes. A dataflow has one on the default platform, unless it is made for
/// single layers.
fn described(
    kind: Kind,
    path: &Path,
    catalog: &mut Catalog,
) -> Result<Vec<Accelerator>, ExperimentError> {
    let reference = path.to_string_lossy();
    let dataflows = match kind {
        Kind::Dataflow => {
            let with = |dataflow| (dataflow, MappingSettings::default());
            catalog.dataflows(&reference)?.into_iter().map(with).collect()
        }
        Kind::Style | Kind::System => match catalog.hardware(&reference)? {
            Hardware::Style(style) => {
                let of = |share: Share| (share.dataflow, share.mapping.or(&style.mapping));
                style.shares.into_iter().map(of).collect()
            }
            Hardware::System(system) => {
                let place = || catalog.place_of_key(system.name(), "pinned");
                return pinned_in_catalog(&system, &mut Catalog::new()).map_err(|error| {
                    ExperimentError::Pinned {
                        place: place().map_or(String::new(), |it| it + ": "),
                        error,
                    }
                });
            }
            Hardware::Instances(_) => return Ok(Vec::new()),
        },
        _ => return Ok(Vec::new()),
    };
    let dataflows: Vec<(Arc<Dataflow>, MappingSettings)> = dataflows;
    let general = dataflows.iter().filter(|(dataflow, _)| !dataflow.directives().is_empty());
    general
        .map(|(dataflow, mapping)| {
            Ok(default_chip(catalog, dataflow)?
                .mapped(&MappingSettings { pinned: None, ..mapping.clone() }))
        })
        .collect()
}

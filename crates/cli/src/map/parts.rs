//! Parts of a search for mappings: the searches of some layers each.
//!
//! Layers of one shape that find their tensors at the same places share a search. A mapping may move the
//! tensors of other layers, which are then searched again; whoever joins the parts makes these later searches.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::json;

use xrsim_config::Catalog;
use xrsim_model::cost::{ChosenBy, ChosenMappings};
use xrsim_model::digest::FastDigest;
use xrsim_model::mapper::{Goal, NetworkMapper};
use xrsim_model::model::Network;

use super::super::cluster::{Estimate, Shares};
use super::super::journal::each_result;
use super::super::message::Failure;
use super::super::parts::Division;
use super::super::progress::Progress;
use super::{MapArgs, Saver};

/// Refuses searches that cannot be divided.
///
/// # Errors
///
/// Returns a failure that says why, and what to do.
pub(super) fn refuse_undivided(args: &MapArgs) -> Result<(), Failure> {
    args.parts().refuse_undivided(&[(
        args.objective == Goal::Pareto,
        "a front has no parts; map the layers by themselves, with --layer in place of --shard and --join",
    )])
}

/// A search for mappings whose points are the first searches of layers.
pub(super) struct Divided<'a> {
    mapper: &'a NetworkMapper,
    networks: &'a [Arc<Network>],
    /// The layer that alone is mapped.
    only: Option<&'a str>,
    division: Division<'a>,
}

impl<'a> Divided<'a> {
    /// The search of `args`, whose inputs `catalog` has read.
    pub(super) fn new(
        args: &'a MapArgs,
        mapper: &'a NetworkMapper,
        networks: &'a [Arc<Network>],
        catalog: &Catalog,
    ) -> Self {
        let only = args.layers.layer.as_deref();
        let mut settings = json!({
            "network": args.layers.networks.network,
            "networks": format!("{:?}", args.layers.networks.networks),
            "layer": args.layers.layer, "dataflow": args.layers.dataflow,
            "platform": args.layers.platform(), "pes": args.pes(), "flexibility": args.flexibility,
            "mapspace": args.mapspace, "levels": args.levels, "sizes": args.sizes,
            "objective": args.objective.name(), "effort": args.effort, "gap": args.gap,
            "no_rule": args.no_rule,
        });
        for (name, value) in args.layers.systems.requested() {
            settings[name] = value;
        }
        let division = Division {
            command: "map",
            result: "search",
            things: "searches of layers",
            n_points: mapper.n_first_searches(networks, only) as u64,
            settings,
            inputs: catalog.inputs().into_iter().map(|it| (it.name, it.sha256)).collect(),
            options: args.parts(),
        };
        Self { mapper, networks, only, division }
    }

    /// Estimates the searches, or prints or submits the job of their parts.
    ///
    /// # Errors
    ///
    /// Returns a failure for options that have no parts, and those of the job.
    pub(super) fn hand_over(&self) -> Result<(), Failure> {
        let Self { mapper, networks, only, division } = self;
        division.hand_over(|| {
            Estimate::measure(division.n_points, Shares::Nothing, |index| {
                mapper.first_searches(networks, *only, &[index], &|_, _| ControlFlow::Continue(()));
                Ok(())
            })
        })
    }

    /// Makes the searches of the part that have no row in the folder yet.
    ///
    /// # Errors
    ///
    /// Returns a failure for a folder of another search, or output that cannot be written. Rows that were
    /// written stay.
    pub(super) fn make(&self) -> Result<(), Failure> {
        let Self { mapper, networks, only, division } = self;
        let saver = Saver::new(Arc::clone(&mapper.store));
        let mut part = division.part(|_, _| Progress::counting("layers"))?;
        part.record_mappings(&chosen(mapper))?;
        part.make(usize::MAX, |searches, deliver| {
            mapper.first_searches(networks, *only, searches, &|index, text| {
                saver.save();
                deliver(index, Ok(text))
            });
        })
    }

    /// Results of the searches of the parts in the folders of `--join`, as text.
    ///
    /// # Errors
    ///
    /// Returns a failure for parts of another search, and for searches that are in no part or in two.
    pub(super) fn join(&self) -> Result<Vec<String>, Failure> {
        let mut texts = Vec::new();
        each_result(&self.division.joined()?, |_, text| {
            texts.push(text.to_string());
            Ok(())
        })?;
        Ok(texts)
    }
}

/// The accelerator of `mapper` for a record. Its mappings stand in the rows themselves.
fn chosen(mapper: &NetworkMapper) -> ChosenMappings {
    let mut chosen = ChosenMappings::default();
    let dataflows: Vec<_> = mapper.dataflows.iter().map(|it| it.name()).collect();
    let label = format!("{}@{}", dataflows.join("+"), mapper.accelerator.pes);
    let digits = FastDigest::of_text(&label).short();
    let by = ChosenBy {
        objective: mapper.goal.name().into(),
        effort: mapper.effort.name().into(),
        ..ChosenBy::default()
    };
    chosen.add(&format!("{label} {}", &digits[..8]), by, []);
    chosen
}

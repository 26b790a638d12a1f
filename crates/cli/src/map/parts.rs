//! Parts of a search for mappings: the searches of some layers each, made by processes of their own and
//! joined to the result of one process.
//!
//! Layers of one shape that find their tensors at the same places share a search. A mapping may move the
//! tensors of other layers, which are then searched again; whoever joins the parts makes these later searches.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use xrsim_config::Catalog;
use xrsim_model::mapper::{Goal, NetworkMapper};
use xrsim_model::model::Network;
use xrsim_sim::sweep::grid::Shard;

use super::super::cluster::{self, Estimate, Form, Job, Shares};
use super::super::journal::{Manifest, PartRows, Parts, Sink, as_made, each_result, place};
use super::super::message::Failure;
use super::super::progress::Progress;
use super::{MapArgs, Saver};

/// Name of the command in records.
const COMMAND: &str = "map";

/// Refuses searches that cannot be divided.
///
/// # Errors
///
/// Returns a failure that says why, and what to do.
pub(super) fn refuse_undivided(args: &MapArgs) -> Result<(), Failure> {
    let has_parts = args.cluster.has_parts();
    if args.shard.is_none() && args.join.is_empty() && !has_parts {
        return Ok(());
    }
    let refuse = |message: &str| Err(Failure::Argument(message.into()));
    if has_parts && !args.join.is_empty() {
        return refuse("--join is for the end: the job of --sbatch joins its parts itself");
    }
    if args.objective == Goal::Pareto {
        return refuse(
            "a front has no parts; map the layers by themselves, with --layer in place of --shard and --join",
        );
    }
    if args.shard.is_some() && args.out.is_none() {
        return refuse(
            "a part is of use in a folder only: give --out DIR, and later --join DIR for each part",
        );
    }
    Ok(())
}

/// Files of a part in `folder`.
pub(super) fn files(folder: &Path) -> [PathBuf; 2] {
    let rows = PartRows::path(folder);
    [place(&rows), rows]
}

/// The record of a part.
fn manifest(args: &MapArgs, catalog: &Catalog, n_searches: usize, shard: Shard) -> Manifest {
    let options: Value = json!({
        "network": args.layers.networks.network,
        "networks": format!("{:?}", args.layers.networks.networks),
        "layer": args.layers.layer, "dataflow": args.layers.dataflow,
        "platform": args.layers.platform, "pes": args.pes, "flexibility": args.flexibility,
        "mapspace": args.mapspace, "levels": args.levels, "sizes": args.sizes,
        "objective": args.objective.name(), "effort": args.effort, "gap": args.gap,
        "no_rule": args.no_rule,
    });
    let inputs = catalog.inputs().into_iter().map(|input| (input.name, input.sha256)).collect();
    Manifest::of_part(COMMAND, options, inputs, n_searches as u64, shard)
}

/// Estimates the searches, or prints or submits the job of their parts.
///
/// # Errors
///
/// Returns a failure for options that have no parts, and those of the job.
pub(super) fn hand_over(
    args: &MapArgs,
    mapper: &NetworkMapper,
    networks: &[Arc<Network>],
    catalog: &Catalog,
) -> Result<(), Failure> {
    let only = args.layers.layer.as_deref();
    let n_searches = mapper.n_first_searches(networks, only);
    let job = Job {
        command: COMMAND,
        things: "searches of layers",
        n_things: n_searches as u64,
        form: Form::Folder(PartRows::NAME),
        out: args.out.as_deref().unwrap_or(Path::new("")),
        spec: None,
        digest: manifest(args, catalog, n_searches, Shard::WHOLE).digest(),
    };
    cluster::hand_over(&job, &args.cluster, || {
        Estimate::of(n_searches as u64, Shares::Nothing, |index| {
            mapper.first_searches(networks, only, &[index], &|_, _| ControlFlow::Continue(()));
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
pub(super) fn make(
    args: &MapArgs,
    (shard, folder): (Shard, &Path),
    mapper: &NetworkMapper,
    networks: &[Arc<Network>],
    catalog: &Catalog,
) -> Result<(), Failure> {
    let only = args.layers.layer.as_deref();
    let manifest = manifest(args, catalog, mapper.n_first_searches(networks, only), shard);
    args.cluster.refuse_changed(|| manifest.digest())?;
    let rows = PartRows::open(folder, args.restart, manifest)?;
    let searches: Vec<u64> = rows.to_make().into_iter().flatten().collect();
    let progress = Progress::counting("layers");
    let saver = Saver::new(Arc::clone(&mapper.store));
    let mut sink = Searches { rows, progress, saver, searches: searches.clone() };
    as_made(&mut sink, |deliver| {
        mapper.first_searches(networks, only, &searches, &|index, text| deliver(index, text));
    })?;
    sink.progress.finish();
    sink.rows.finish()
}

/// Searches under way, whose rows are written as they are made.
struct Searches {
    rows: PartRows,
    progress: Progress,
    saver: Saver,
    searches: Vec<u64>,
}

impl Sink<String> for Searches {
    fn take(&mut self, index: usize, text: String) -> Result<(), Failure> {
        self.rows.add(self.searches[index], &text)?;
        self.progress.set_of(self.rows.n_rows() as usize, self.rows.n_points() as usize);
        self.saver.save();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.rows.flush()
    }
}

/// Results of the searches of the parts in the folders of `--join`, as text.
///
/// # Errors
///
/// Returns a failure for parts of another search, and for searches that are in no part or in two.
pub(super) fn join(
    args: &MapArgs,
    mapper: &NetworkMapper,
    networks: &[Arc<Network>],
    catalog: &Catalog,
) -> Result<Vec<String>, Failure> {
    let n_searches = mapper.n_first_searches(networks, args.layers.layer.as_deref());
    let own = manifest(args, catalog, n_searches, Shard::WHOLE);
    args.cluster.refuse_changed(|| own.digest())?;
    let files: Vec<_> = args.join.iter().map(|folder| PartRows::path(folder)).collect();
    let parts = Parts::read(COMMAND, &files)?;
    if let Some(difference) = own.of_whole().difference(parts.whole()) {
        return Err(Failure::Argument(format!(
            "{} is the part of another search: {difference}; give the options of the parts with --join",
            files[0].display()
        )));
    }
    let mut texts = Vec::new();
    each_result(&parts, |_, text| {
        texts.push(text.to_string());
        Ok(())
    })?;
    Ok(texts)
}

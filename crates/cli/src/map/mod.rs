//! `xrsim map`: the best mapping of every layer of networks on an accelerator.

mod parts;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, io};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use xrsim_config::{Catalog, Notes, export};
use xrsim_experiment::{DEFAULT_PES, Distinct, fill_table, shipped_accelerators, whole_chip};
use xrsim_model::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Flexibility, Mapping, Size};
use xrsim_model::hardware::{Accelerator, MappingObjective, MappingSettings};
use xrsim_model::mapper::{
    DeclaredSpace, Effort, Goal, LevelSpace, NetworkMapper, Objective, Rules, Sizes, Space, Store,
};
use xrsim_model::model::Network;
use xrsim_report::mapping::MappingReport;
use xrsim_sim::sweep::grid::Shard;

use super::cluster::ClusterOptions;
use super::message::{Failure, with_hints};
use super::options::{Format, LayerOptions};
use super::parts::{PartOptions, shard};
use super::places::Places;
use super::progress::Progress;
use super::{cost, output, table_style};
use parts::{Divided, refuse_undivided};

/// Find the best mapping of every layer of networks, and its largest distance to the optimum.
#[derive(Debug, Args)]
#[command(
    after_help = "The search begins with the mappings of every --dataflow and compares with them. Results are kept: after an interruption the same \
    command continues where it stopped.\n\n\
    Examples:\n  \
    xrsim map --network KD --pes 1024                        layer by layer, beside WS, OS and RS\n  \
    xrsim map --network KD --layer conv2 --objective edp --levels 1..2 --out kd.yaml\n  \
    xrsim cost --network KD --dataflow kd.yaml --pes 4096    the cost of the mappings in a file\n  \
    xrsim map --network DE --dataflow WS --flexibility tiles --gap 1\n  \
    xrsim map --network mine.yaml --mapspace ws_like --format csv\n  \
    xrsim map --network mine.yaml --system chip.yaml         on every accelerator of a system\n  \
    xrsim map --network DE --shard 2/5 --out part2           the second of five parts\n\n\
    A part (--shard) has the searches of some layers. The same command with --join for each part, in place of --shard, gives \
    the same results as one command without parts.\n\n\
    Exit status: 0 done, 1 a layer has no legal mapping, 2 bad input, 75 another process is writing to the same \
    folder (try later).\n\n\
    docs/explanation/mapper.md describes mapspaces, bounds and the search."
)]
pub(super) struct MapArgs {
    #[command(flatten)]
    pub layers: LayerOptions,
    /// Number of PEs (processing elements) [default: 4096].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pes: Option<u32>,
    /// Choices that are open (`any`: all of a mapping; `tiles`: what one --dataflow leaves open, its sizes and orders;
    /// `axes`: also the axes that are spread).
    #[arg(long, value_name = "F", default_value = "any", conflicts_with = "mapspace",
        value_parser = PossibleValuesParser::new(["tiles", "axes", "any"]))]
    pub flexibility: String,
    /// Mapspace to search: a name or a file.
    #[arg(long, value_name = "M|FILE", conflicts_with_all = ["levels", "sizes"])]
    pub mapspace: Option<String>,
    /// Least and largest number of levels of a mapping, with `--flexibility any` [default: 1..3].
    #[arg(long, value_name = "A..B", value_parser = levels)]
    pub levels: Option<[usize; 2]>,
    /// Sizes of chunks [default: all, as in runs].
    #[arg(long, value_name = "SIZES", value_parser = PossibleValuesParser::new(Sizes::NAMES))]
    pub sizes: Option<String>,
    /// Objective of the search (least `cycles`, `energy` or product of both, `edp`; `cycles,energy`: least energy among
    /// mappings within 1 % of the least cycles; `pareto`: all Pareto-optimal mappings).
    #[arg(long, value_name = "O", default_value = "cycles", value_parser = goal())]
    pub objective: Goal,
    /// Work of the search for one layer (`default` as in runs, `quick` less, `full` more and with exact search).
    #[arg(long, value_name = "E", default_value = "full",
        value_parser = PossibleValuesParser::new(Effort::ALL.map(|(name, _)| name)))]
    pub effort: String,
    /// Distance to the bound [percent], at which the search of a layer ends.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, allow_negative_numbers = true, value_parser = percent)]
    pub gap: f64,
    /// Leave out a rule of exact search; repeat for more, or separate them by commas.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = PossibleValuesParser::new(Rules::NAMES))]
    pub no_rule: Vec<String>,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Write the mappings of one network, as a dataflow that `cost` and systems take; with --shard, the
    /// folder of the part.
    #[arg(long, short, value_name = "FILE.yaml|DIR")]
    pub out: Option<PathBuf>,
    /// Make the I-th of N equal parts of the searches only, into the folder of --out.
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with = "join")]
    pub shard: Option<Shard>,
    /// Folder of a part (--shard) whose results are taken; repeat for each. The result is that of a command without
    /// parts.
    #[arg(long, value_name = "DIR")]
    pub join: Vec<PathBuf>,
    /// Begin the part again, and discard what is in the folder.
    #[arg(long, requires = "shard")]
    pub restart: bool,
    /// Write the table of mappings, as it comes with the program, into this folder: all networks, or those of
    /// --network, on the accelerators of the styles A to M at 4,096 and 8,192 PEs, on the platforms `paper` and
    /// `headset`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["layer", "dataflow", "pes", "platform",
        "system", "flexibility", "mapspace", "levels", "sizes", "objective", "effort", "gap", "no_rule", "format", "out", "shard", "join", "dry_run", "sbatch"])]
    pub table: Option<PathBuf>,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

impl MapArgs {
    fn parts(&self) -> PartOptions<'_> {
        let Self { out, shard, join, restart, cluster, .. } = self;
        PartOptions { out, shard, join, restart, cluster }
    }

    fn pes(&self) -> u32 {
        self.pes.unwrap_or(DEFAULT_PES)
    }
}

/// Largest number of levels that are chosen freely: more make too many lists of clusters.
const MAX_LEVELS: usize = 4;

fn levels(text: &str) -> Result<[usize; 2], String> {
    let parsed = || {
        let (least, most) = text.split_once("..")?;
        Some([least.trim().parse().ok()?, most.trim().parse().ok()?])
    };
    match parsed() {
        Some([least, most]) if 1 <= least && least <= most && most <= MAX_LEVELS => {
            Ok([least, most])
        }
        _ => Err(format!("expected two numbers from 1 to {MAX_LEVELS}, e.g. 1..3")),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    let value = value.filter(|value| (0.0..=1e6).contains(value));
    value.ok_or_else(|| "expected a number from 0 to 1000000".into())
}

fn goal() -> impl TypedValueParser<Value = Goal> {
    let names = PossibleValuesParser::new(Goal::ALL.map(|(name, _)| name));
    let goal = |name: String| Goal::ALL.iter().find(|(known, _)| **known == *name).map(|it| it.1);
    names.map(move |name| goal(name).unwrap_or(Goal::Pareto))
}

/// Maps the layers and prints them.
///
/// # Errors
///
/// Returns a failure if an input is invalid or a file cannot be written, or if a layer has no legal mapping.
pub(super) fn run(args: &MapArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.table {
        return table(args, folder);
    }
    refuse_undivided(args)?;
    let Inputs { mappers, networks, catalog, changes } =
        with_hints(|notes| Inputs::read(args, notes))?;
    let mapper = &mappers[0];
    refuse_several(args, &mappers)?;
    if let Some(layer) = &args.layers.layer {
        cost::refuse_unknown_layer(layer, &networks)?;
    }
    let one = "--out takes one --network, and one mapping of every layer";
    if args.cluster.has_parts() && networks.len() != 1 {
        refuse!("{one}");
    }
    let divided = || Divided::new(args, mapper, &networks, &catalog);
    if args.cluster.is_asked() {
        return divided().hand_over();
    }
    let places = Places::default().reading(catalog.opened());
    if let Some(files) = args.parts().written() {
        places.writing(&files).check()?;
        return divided().make();
    }
    if args.out.is_some() && (networks.len() != 1 || mapper.goal == Goal::Pareto) {
        refuse!("{one}");
    }
    places.reading(args.parts().joined()).writing(&args.out).check()?;
    let first = match args.join.is_empty() {
        true => None,
        false => Some(divided().join()?),
    };
    let only = args.layers.layer.as_deref();
    let mapped = noting(&mapper.store, |note| match &first {
        None => Some(mappers.iter().flat_map(|it| it.map(&networks, only, note)).collect()),
        Some(first) => mapper.map_after(&networks, only, first, note),
    });
    let Some(mapped) = mapped else { refuse!("a row of the parts has no mapping of its layer") };
    if let Some(path) = &args.out {
        write(path, mapped.first().and_then(|network| network.dataflow.as_ref()))?;
    }
    let report = MappingReport {
        networks: mapped,
        objective: mapper.objective(),
        names_accelerators: args.layers.systems.is_given(),
        dataflows: match &mappers[..] {
            [mapper] => mapper.dataflows.iter().map(|dataflow| dataflow.name().into()).collect(),
            _ => Vec::new(),
        },
        space: match &mapper.space {
            Space::Any { sizes, .. } => sizes.to_string(),
            Space::Declared(space) => space.sizes.to_string(),
        },
        file: args.out.as_ref().map(|path| path.display().to_string()),
    };
    args.format.print(
        || report.to_table(table_style()) + &changes,
        || report.to_json(),
        || output::in_memory(|out| report.write_csv(out)),
    )?;
    match report.n_illegal() {
        0 => Ok(()),
        1 => Err(Failure::Check("1 layer has no legal mapping".into())),
        n => Err(Failure::Check(format!("{n} layers have no legal mapping"))),
    }
}

/// Writes the dataflow of the mappings.
fn write(path: &Path, dataflow: Option<&Dataflow>) -> Result<(), Failure> {
    let Some(dataflow) = dataflow else {
        refuse!("a layer has no legal mapping: there is nothing to write");
    };
    output::write_text(path, &export::dataflow(dataflow))
}

/// Inputs of the command.
struct Inputs {
    /// A search for every accelerator, at least one.
    mappers: Vec<NetworkMapper>,
    networks: Vec<Arc<Network>>,
    catalog: Catalog,
    /// Lines about what the options change in systems.
    changes: String,
}

impl Inputs {
    fn read(args: &MapArgs, notes: &Notes) -> Result<Self, Failure> {
        let mut catalog = args.layers.networks.catalog(notes);
        let networks = args.layers.networks.read(&mut catalog)?;
        if let Some(measured) = networks.iter().find(|it| it.is_measured()) {
            refuse!("{} is measured: it has no layers, and no mappings", measured.name());
        }
        let declared = args.mapspace.as_ref().map(|name| catalog.mapspace(name)).transpose()?;
        let seeds = declared.as_ref().map_or(&[][..], |space| &space.seeds);
        let choosing = |experiment| experiment;
        let of_systems =
            args.layers.of_systems((args.pes.as_slice(), false), choosing, &mut catalog)?;
        if let Some(Distinct { accelerators, changes, .. }) = of_systems {
            if let Some(processor) = accelerators.iter().find(|it| it.processor().is_some()) {
                refuse!(
                    "{} is a processor: its costs are rows of a table, and it has no mappings",
                    processor.name
                );
            }
            let mapper = |it: Accelerator| {
                let dataflows = [vec![Arc::clone(&it.dataflow)], seeds.to_vec()].concat();
                let chosen = runs_choose(args).map(|mapping| it.clone().mapped(&mapping));
                let mut mapper = mapper(args, it, dataflows, declared.as_deref())?;
                mapper.chosen = chosen;
                Ok(mapper)
            };
            let mappers = accelerators.into_iter().map(mapper).collect::<Result<_, Failure>>()?;
            return Ok(Self { mappers, networks, catalog, changes: changes.concat() });
        }
        let dataflows = match args.layers.dataflow.is_empty() && !seeds.is_empty() {
            true => seeds.to_vec(),
            false => [args.layers.dataflows(&mut catalog)?, seeds.to_vec()].concat(),
        };
        let mut chip =
            |dataflow| whole_chip(&mut catalog, args.layers.platform(), dataflow, args.pes());
        let carrier = Arc::new(carrier());
        let accelerator = chip(&carrier)?;
        let chosen = match (runs_choose(args), &dataflows[..]) {
            (Some(mapping), [dataflow]) => Some(chip(dataflow)?.mapped(&mapping)),
            _ => None,
        };
        let mut mapper = mapper(args, accelerator, dataflows, declared.as_deref())?;
        mapper.chosen = chosen;
        Ok(Self { mappers: vec![mapper], networks, catalog, changes: String::new() })
    }
}

/// The search on `accelerator`, which begins with `dataflows`, in the `declared` mapspace or in that of the options.
fn mapper(
    args: &MapArgs,
    accelerator: Accelerator,
    dataflows: Vec<Arc<Dataflow>>,
    declared: Option<&DeclaredSpace>,
) -> Result<NetworkMapper, Failure> {
    let space = match declared {
        Some(space) => Space::Declared(space.clone()),
        None => space(args, &dataflows)?,
    };
    if let Space::Declared(space) = &space
        && space.least_pes() > u64::from(accelerator.pes)
    {
        let (least, pes) = (space.least_pes(), accelerator.pes);
        match args.layers.systems.is_given() {
            false => refuse!("the clusters of the mapspace take {least} PEs; --pes is {pes}"),
            true => {
                refuse!(
                    "the clusters of the mapspace take {least} PEs; {} has {pes}",
                    accelerator.name
                )
            }
        }
    }
    let mut mapper = NetworkMapper::new(accelerator, dataflows);
    mapper.space = space;
    mapper.goal = args.objective;
    mapper.effort = Effort::named(&args.effort).unwrap_or_default();
    mapper.rules =
        args.no_rule.iter().fold(Rules::ALL, |rules, name| rules.without(name).unwrap_or(rules));
    mapper.gap = args.gap / 100.0;
    mapper.store = Store::of_process();
    let stem = args.out.as_ref().and_then(|path| path.file_stem());
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    if let Some(stem) = stem.filter(|stem| xrsim_model::text::is_name(stem)) {
        mapper.name = stem.into();
    }
    Ok(mapper)
}

/// Refuses files of mappings for several accelerators.
fn refuse_several(args: &MapArgs, mappers: &[NetworkMapper]) -> Result<(), Failure> {
    let is_divided = args.out.is_some() || !args.join.is_empty() || args.cluster.is_asked();
    if mappers.len() < 2 || !is_divided {
        return Ok(());
    }
    let names: Vec<_> = mappers.iter().map(|it| &*it.accelerator.name).collect();
    refuse!(
        "--out, --join and jobs take one accelerator; the systems have {}: {}",
        names.len(),
        names.join(", ")
    )
}

/// Settings with which an accelerator of runs answers the question of the options; `None` if none does.
fn runs_choose(args: &MapArgs) -> Option<MappingSettings> {
    let is_other = args.mapspace.is_some()
        || args.levels.is_some()
        || args.sizes.is_some()
        || args.gap > 0.0
        || !args.no_rule.is_empty();
    let objective = match args.objective {
        Goal::CyclesThenEnergy => MappingObjective::Cycles,
        Goal::Least(Objective::Energy) => MappingObjective::Energy,
        Goal::Least(Objective::Edp) => MappingObjective::Edp,
        _ => return None,
    };
    let named = |(name, _): &&(&str, Flexibility)| *name == args.flexibility;
    let (_, flexibility) = Flexibility::ALL.iter().find(named).filter(|_| !is_other)?;
    let (flexibility, objective) = (Some(*flexibility), Some(objective));
    Some(MappingSettings { flexibility, objective, ..MappingSettings::default() })
}

/// A dataflow that fits any number of PEs, for an accelerator whose mappings do not depend on it.
fn carrier() -> Dataflow {
    let size = Size::Extent { axis: Axis::N, plus: 0 };
    let whole = Directive { mapping: Mapping::Temporal, size, offset: size, axis: Axis::N };
    let level = ClusterLevel { units: None, directives: vec![whole] };
    Dataflow::new("mapped", vec![level]).expect("it has a directive")
}

/// The mapspace that the options describe.
fn space(args: &MapArgs, dataflows: &[Arc<Dataflow>]) -> Result<Space, Failure> {
    let sizes = args.sizes.as_deref().and_then(Sizes::parse).unwrap_or(Sizes::All);
    if args.flexibility == "any" {
        return Ok(Space::Any { levels: args.levels.unwrap_or([1, 3]), sizes });
    }
    if args.levels.is_some() {
        refuse!("--levels is for --flexibility any; a dataflow has its own");
    }
    let [dataflow] = dataflows else {
        refuse!("--flexibility {} takes one --dataflow", args.flexibility);
    };
    let space = DeclaredSpace::of_style(dataflow.levels(), dataflow.stationary());
    let Some(mut space) = space.filter(|_| !dataflow.levels().is_empty()) else {
        refuse!(
            "--flexibility {}: `{}` has clusters of sizes that depend on the layer",
            args.flexibility,
            dataflow.name()
        );
    };
    space.sizes = sizes;
    if args.flexibility == "axes" {
        space.stationary = None;
        space.levels = vec![LevelSpace::FREE];
    }
    Ok(Space::Declared(space))
}

/// Time between two times that results are kept.
const SAVE_EVERY: Duration = Duration::from_millis(500);

/// Keeps results while a search runs, so that an interruption loses little.
pub(super) struct Saver {
    store: Arc<Store>,
    last: Mutex<Instant>,
}

impl Saver {
    /// Keeps the results in `store`.
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self { store, last: Mutex::new(Instant::now()) }
    }

    /// Keeps the results so far, if the last time was long enough ago.
    pub(super) fn save(&self) {
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.elapsed() >= SAVE_EVERY {
            // The end of the command tells of a folder that cannot be written to.
            let _ = self.store.save();
            *last = Instant::now();
        }
    }
}

/// Maps layers with `map`, which notes the number of those that are done and of all. Shows it, and keeps the results
/// so far in `store`.
fn noting<T>(store: &Arc<Store>, map: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> T) -> T {
    let progress = Progress::counting("layers");
    let saver = Saver::new(Arc::clone(store));
    let mapped = map(&|done, total| {
        progress.set_of(done, total);
        saver.save();
    });
    progress.finish();
    mapped
}

/// Folder of a table that is not finished.
const UNFINISHED: &str = "unfinished";

/// Writes the table of mappings that comes with the program. Until it is finished, its choices are in a folder
/// of their own.
fn table(args: &MapArgs, folder: &Path) -> Result<(), Failure> {
    let mut catalog = Catalog::with_networks(args.layers.networks.networks);
    let networks = args.layers.networks.read(&mut catalog)?;
    let accelerators = shipped_accelerators()?;
    let (store, unfinished) = (Arc::new(Store::default()), folder.join(UNFINISHED));
    store.keep_in(&unfinished);
    noting(&store, |note| fill_table(&store, &accelerators, &networks, note));
    let failed = |path: &Path, error: &io::Error| Failure::writing(&path.display(), error);
    store.save().map_err(|error| failed(&unfinished, &error))?;
    for accelerator in &accelerators {
        let path = folder.join(accelerator.file());
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, accelerator.table_text(&store)));
        written.map_err(|error| failed(&path, &error))?;
    }
    // One that stays takes space.
    let _ = fs::remove_dir_all(&unfinished);
    Ok(())
}

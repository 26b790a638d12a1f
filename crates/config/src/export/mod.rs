//! Domain types as YAML text, and files of other formats rewritten as YAML.

mod dataflow;
mod mapspace;
mod network;
mod repeats;
mod system;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_saphyr::{FlowMap, FlowSeq};

use xrsim_model::hardware::platform::Instance;
use xrsim_model::hardware::{ByteEnergy, EnergyTable, NocLevel};
use xrsim_model::model::Network;
use xrsim_model::scenario::{ActiveModel, Dependency, DependencyKind, Scenario};
use xrsim_model::units::{Bytes, ClockRate};

use super::document::{Document, wrong_kind};
use super::format::Contents;
use super::yaml::read::printable;
use super::{Catalog, ConfigError, Kind, Problem, Source, formats};

pub use dataflow::dataflow;
pub use mapspace::mapspace;
pub(crate) use network::model_of_nodes;
pub use network::{model, network};
pub use system::system;

/// Clock that the published artifact fixes in its source; its hardware files have none.
const ARTIFACT_CLOCK: ClockRate = ClockRate::GHZ;

/// Text of a file with the one top-level key `kind`.
fn document(kind: &'static str, body: impl Serialize) -> String {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        // Keys such as `y` and `n` are plain words since YAML 1.2.
        yaml_12: true,
        no_lang_directive: true,
    };
    let document = BTreeMap::from([(kind, body)]);
    serde_saphyr::to_string_with_options(&document, options).expect("plain data serialises")
}

/// The `platform:` file of one table of accelerators, with the clock and energy of the artifact, and the default energies in pJ.
pub fn platform(name: &str, instances: &[Instance]) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        name: &'a str,
        clock_mhz: Number,
        maestro_energy: FlowMap<Energy>,
        energy_pj: FlowMap<ByteEnergies>,
        tables: [Table<'a>; 1],
    }
    #[derive(Serialize)]
    struct Energy {
        mac_nj: Number,
        scratchpad_per_mac: Number,
        shared_memory_per_mac: Number,
        dram_per_mac: Number,
    }
    #[derive(Serialize)]
    struct ByteEnergies {
        noc_per_byte: Number,
        dram_per_byte: Number,
    }
    #[derive(Serialize)]
    struct Table<'a> {
        name: &'a str,
        instances: Vec<InstanceBody<'a>>,
    }
    let maestro_energy = FlowMap(Energy {
        mac_nj: Number::from_f64(EnergyTable::ARTIFACT.mac_nj),
        scratchpad_per_mac: Number::from_f64(EnergyTable::ARTIFACT.scratchpad_per_mac),
        shared_memory_per_mac: Number::from_f64(EnergyTable::ARTIFACT.shared_memory_per_mac),
        dram_per_mac: Number::from_f64(EnergyTable::ARTIFACT.dram_per_mac),
    });
    let energy_pj = FlowMap(ByteEnergies {
        noc_per_byte: Number::from_f64(ByteEnergy::default().noc),
        dram_per_byte: Number::from_f64(ByteEnergy::default().dram),
    });
    let instances = instances.iter().map(InstanceBody::from_instance).collect();
    let tables = [Table { name, instances }];
    let clock_mhz = Number::from_f64(ARTIFACT_CLOCK.as_mhz());
    document("platform", Body { name, clock_mhz, maestro_energy, energy_pj, tables })
}

#[derive(Serialize)]
struct InstanceBody<'a> {
    name: &'a str,
    pes: u32,
    noc_bandwidth_bytes_per_cycle: FlowSeq<Vec<u64>>,
    noc_latency_cycles: FlowSeq<Vec<u64>>,
    noc_multicast: bool,
    shared_memory_kib: Number,
    scratchpad_kib: Number,
    dram_bandwidth_bytes_per_cycle: u64,
}

impl<'a> InstanceBody<'a> {
    fn from_instance(instance: &'a Instance) -> Self {
        let of_levels = |get: fn(&NocLevel) -> u64| instance.noc.levels().iter().map(get).collect();
        Self {
            name: &instance.name,
            pes: instance.pes,
            noc_bandwidth_bytes_per_cycle: FlowSeq(of_levels(|level| level.bandwidth)),
            noc_latency_cycles: FlowSeq(of_levels(|level| level.latency)),
            noc_multicast: instance.noc.levels().iter().any(|level| level.multicast),
            shared_memory_kib: kib(instance.memory.shared),
            scratchpad_kib: kib(instance.memory.scratchpad),
            dram_bandwidth_bytes_per_cycle: instance.memory.dram_bandwidth,
        }
    }
}

/// A number that is written without a decimal point if it is whole.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Real(f64),
}

impl Number {
    fn from_f64(value: f64) -> Self {
        match value as u64 {
            whole if whole as f64 == value => Self::Whole(whole),
            _ => Self::Real(value),
        }
    }
}

fn kib(size: Bytes) -> Number {
    Number::from_f64(size.get() as f64 / 1024.0)
}

/// The `scenario:` file of `scenario`, whose models are in the files called `files`, in order. Sensors
/// are left out.
pub fn scenario(scenario: &Scenario, files: &[String]) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        name: &'a str,
        models: Vec<ModelBody<'a>>,
    }
    #[derive(Serialize)]
    struct ModelBody<'a> {
        network: String,
        fps: Number,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        depends_on: BTreeMap<&'a str, DependencyBody>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum DependencyBody {
        Data,
        Control(FlowMap<BTreeMap<&'static str, f64>>),
    }
    let dependency = |dependency: &Dependency| {
        let kind = match dependency.kind {
            DependencyKind::Data => DependencyBody::Data,
            DependencyKind::Control { probability } => {
                DependencyBody::Control(FlowMap(BTreeMap::from([("probability", probability)])))
            }
        };
        (&*scenario.model(dependency.upstream).unit.task, kind)
    };
    let model = |(model, file): (&'_ ActiveModel, &String)| ModelBody {
        network: format!("./{file}"),
        fps: Number::from_f64(model.rate.as_fps()),
        depends_on: model.dependencies.iter().map(dependency).collect(),
    };
    let models = scenario.models().iter().zip(files).map(model).collect();
    document("scenario", Body { name: scenario.name(), models })
}

/// YAML files with the content of a file in another format: name and text of each. A file of
/// networks becomes a file for each network and, if they have rates, one for the scenario.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the file.
pub fn import(source: &Arc<Source>) -> Result<Vec<(String, String)>, ConfigError> {
    let path = Path::new(source.name());
    let document = Document::alone(Arc::clone(source));
    if let Some(kind) = formats::own_kind(&document) {
        let message = format!("this is a file of xrsim already, a `{kind}`");
        return Err(
            document.invalid(vec![Problem::new(0..0, message).help("`xrsim check` checks it")])
        );
    }
    let format = formats::foreign(source.name());
    let kind = (format.recognise)(&document, format.kinds)?;
    let contents = (format.read)(&document, kind, &mut Catalog::new())?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let header = format!("# Imported from {} by `xrsim import`.\n", printable(&file));
    let files = texts(&contents, &document)?.into_iter();
    Ok(files.map(|(name, text)| (name, format!("{header}{text}"))).collect())
}

/// Name of the file of a network called `name`.
pub fn file_name(name: &str) -> String {
    FileNames::default().of(name)
}

/// Name and text of the YAML files with `contents`, which `file` has in another format.
fn texts(contents: &Contents, file: &Document) -> Result<Vec<(String, String)>, ConfigError> {
    let stem = file.stem();
    let mut names = FileNames::default();
    let mut of_network = |it: &Network| (names.of(it.name()), network(it));
    Ok(match contents {
        Contents::Networks(models) => {
            models.iter().map(|model| of_network(&model.network)).collect()
        }
        Contents::Scenario(it) => {
            let networks = it.models().iter().map(|model| of_network(&model.unit.network));
            let mut files: Vec<_> = networks.collect();
            let models: Vec<_> = files.iter().map(|(name, _)| name.clone()).collect();
            files.push((names.of(&stem), scenario(it, &models)));
            files
        }
        Contents::Dataflows(flows) => {
            flows.iter().map(|flow| (names.of(flow.name()), dataflow(flow))).collect()
        }
        Contents::Instances(instances) => vec![(names.of(&stem), platform(&stem, instances))],
        other => {
            let allowed = [Kind::Network, Kind::Scenario, Kind::Dataflow];
            return Err(file.invalid(vec![wrong_kind(other.kind(), &allowed)]));
        }
    })
}

/// Gives out names of files that stay in their folder and differ from each other.
#[derive(Default)]
struct FileNames {
    /// In lower case, because some file systems know no other.
    taken: HashSet<String>,
}

impl FileNames {
    /// A name for the file of `name`.
    fn of(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' };
        let plain: String = name.trim_start_matches('.').chars().map(plain).collect();
        let stem = if plain.is_empty() { "unnamed" } else { &plain };
        let numbered = (2..).map(|number| format!("{stem}-{number}"));
        let mut candidates = std::iter::once(stem.to_string()).chain(numbered);
        let free = candidates.find(|candidate| self.taken.insert(candidate.to_lowercase()));
        format!("{}.yaml", free.expect("numbers do not end"))
    }
}

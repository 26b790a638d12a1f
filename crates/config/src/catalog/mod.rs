//! From names and paths to domain types, each file read and parsed once.

mod dims;
mod locate;
mod read;
mod shelf;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use xrsim_mlperf::rules::Suite as MlperfSuite;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::device::Points;
use xrsim_model::hardware::platform::{Instance, Platform};
use xrsim_model::hardware::{Device, Style, System, Technology};
use xrsim_model::mapper::DeclaredSpace;
use xrsim_model::model::Network;
use xrsim_model::scenario::{ActiveModel, Profile, Scenario};
use xrsim_model::text::is_name;

use super::document::wrong_kind;
use super::embedded::{self, Embedded};
use super::format::Contents;
use super::network::Model;
use super::suite::Suite;
use super::yaml::read::printable;
use super::{
    ConfigError, Edition, Kind, ModelOutline, Note, Notes, Parameters, SearchDraft, Source,
    SweepDraft, Uncertainty,
};
use super::{given, mix, parameters, scenario};
use xrsim_model::renamed::Renamed;

/// Hardware that a reference names.
#[derive(Debug, Clone)]
pub enum Hardware {
    /// A style, to be instantiated at a number of PEs on a platform.
    Style(Style),
    /// A system in full.
    System(Arc<System>),
    /// The accelerators of one of the artifact's files, which need a dataflow each.
    Instances(Vec<Instance>),
}

/// A file that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Path; within the repository for embedded files.
    pub name: String,
    /// SHA-256 of the contents, 64 hexadecimal digits; of an ONNX file, of the YAML of its import, because its
    /// weights change nothing.
    pub sha256: String,
}

/// Resolves references and caches the values, so that equal references share one value.
///
/// A reference that ends in an extension of a format (`formats::ALL`) is a path. Anything else is the name of an
/// embedded file, in any case, or else a path. Paths inside a file are relative to it.
#[derive(Debug, Default)]
pub struct Catalog {
    networks_of: Edition,
    /// Folder of paths that are not in a file; `None`: the working directory.
    folder: Option<PathBuf>,
    notes: Notes,
    used: BTreeMap<String, Arc<Source>>,
    /// Used files that do not come with the program.
    opened: BTreeSet<PathBuf>,
    /// Contents of files, by name, kind and parameters.
    contents: HashMap<(String, Kind, Parameters), Contents>,
    /// Networks of those files, by name; equal ones are one value.
    networks: HashMap<Box<str>, Vec<Arc<Network>>>,
}

impl Catalog {
    /// A catalog that has used nothing yet, with the reference edition of networks.
    pub fn new() -> Self {
        Self::default()
    }

    /// A catalog in which names of networks mean those of `networks`.
    pub fn with_networks(networks: Edition) -> Self {
        Self { networks_of: networks, ..Self::default() }
    }

    /// The same catalog for references from a file in `folder`, which paths are relative to.
    #[must_use]
    pub fn in_folder(self, folder: Option<PathBuf>) -> Self {
        Self { folder, ..self }
    }

    /// The same catalog, which adds notes about its files, such as old names, to `notes`.
    #[must_use]
    pub fn noting(self, notes: Notes) -> Self {
        Self { notes, ..self }
    }

    /// Adds an old name that a reference uses.
    pub fn note(&self, renamed: Renamed) {
        self.notes.add(renamed);
    }

    /// Takes `source` for the file of its name, which then need not be there.
    pub fn provide(&mut self, source: Arc<Source>) {
        self.used.insert(source.name().into(), source);
    }

    /// The default suite of runs.
    ///
    /// # Errors
    ///
    /// None for the embedded suite that the tests have seen.
    pub fn suite(&mut self) -> Result<Suite, ConfigError> {
        let file = self.locate(&[Kind::Suite], "suite", "", None)?;
        self.only(&file, Kind::Suite, |contents| match contents {
            Contents::Suite(suite) => Some(suite),
            _ => None,
        })
    }

    /// The scenario called `reference`, as it is in `edition`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], also of the files that the scenario refers to.
    pub fn scenario(
        &mut self,
        reference: &str,
        edition: Edition,
    ) -> Result<Arc<Scenario>, ConfigError> {
        self.scenario_read(reference, edition, Parameters::default())
    }

    /// The models of the scenario called `reference`, without their networks: of those that come with the program
    /// nothing but the task is read.
    ///
    /// # Errors
    ///
    /// [`ConfigError`]
    pub fn outlines(
        &mut self,
        reference: &str,
        edition: Edition,
    ) -> Result<Vec<ModelOutline>, ConfigError> {
        let file = self.locate(&[Kind::Scenario], reference, edition.scenarios(), None)?;
        let folder = embedded::default_folder(Kind::Network, self.networks_of);
        file.load(Kind::Scenario, scenario::scenario())?.outlines(|network| {
            let shipped = embedded::find(Kind::Network, network, folder);
            match shipped.and_then(Embedded::declared_task) {
                Some(task) => Ok(task.into()),
                None => Ok(self.planned_from(network, file.folder.as_deref())?.task.clone()),
            }
        })
    }

    /// The scenario called `reference` with these values of the parameters of its models' networks, by
    /// task. Tasks that the scenario does not have are ignored.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] as of [`Catalog::scenario`]; [`ConfigError::Malformed`] for a parameter that a network
    /// does not have, and for a value that it does not allow.
    pub fn scenario_with(
        &mut self,
        reference: &str,
        edition: Edition,
        parameters: &Parameters,
    ) -> Result<Arc<Scenario>, ConfigError> {
        let scenario = self.scenario(reference, edition)?;
        let mut parameters = parameters.clone();
        for (task, values) in parameters.clone().iter() {
            let mut models = scenario.models().iter();
            match models.find(|model| *model.unit.task == *task).map(|it| &it.unit.network) {
                Some(network) => values.check(network, task)?,
                None => parameters = parameters.only(|other| other != task),
            }
        }
        let is_task = |model: &ActiveModel| {
            let values = parameters.of(&model.unit.task);
            values.is_none_or(|values| values.are_those_of(&model.unit.network))
        };
        match scenario.models().iter().all(is_task) {
            true => Ok(scenario),
            false => self.scenario_read(reference, edition, parameters),
        }
    }

    fn scenario_read(
        &mut self,
        reference: &str,
        edition: Edition,
        parameters: Parameters,
    ) -> Result<Arc<Scenario>, ConfigError> {
        let file = self.locate(&[Kind::Scenario], reference, edition.scenarios(), None)?;
        self.only(&file.with_parameters(parameters), Kind::Scenario, |contents| match contents {
            Contents::Scenario(scenario) => Some(scenario),
            _ => None,
        })
    }

    /// The network called `reference`, with its task and quality goal: by task (`HT`), by the artifact's name,
    /// or by path; `FILE.m#NAME` picks one of several networks. Values of its parameters may follow:
    /// `PD:regions=100,detections=10`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn model(&mut self, reference: &str) -> Result<Arc<Model>, ConfigError> {
        self.planned_from(reference, None)
    }

    /// The network called `reference`, see [`Catalog::model`].
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn network(&mut self, reference: &str) -> Result<Arc<Network>, ConfigError> {
        self.model(reference).map(|model| Arc::clone(&model.network))
    }

    /// The only dataflow called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], also if a file holds several.
    pub fn dataflow(&mut self, reference: &str) -> Result<Arc<Dataflow>, ConfigError> {
        self.dataflow_from(reference, None)
    }

    /// All dataflows of the file called `reference`, in its order.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn dataflows(&mut self, reference: &str) -> Result<Vec<Arc<Dataflow>>, ConfigError> {
        let file = self.locate(&[Kind::Dataflow], reference, "", None)?;
        self.dataflows_of(&file)
    }

    /// The style, system or accelerators called `reference`, or the style that it spells out, such as
    /// `WS:3 + OS:1`. `NAME=` before it gives a style or a system another name.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn hardware(&mut self, reference: &str) -> Result<Hardware, ConfigError> {
        let Some((name, reference)) = another_name(reference) else {
            return self.hardware_read(reference);
        };
        match self.hardware_read(reference)? {
            Hardware::Style(style) => Ok(Hardware::Style(Style { name: name.into(), ..style })),
            Hardware::System(system) => {
                Ok(Hardware::System(Arc::new(Arc::unwrap_or_clone(system).with_name(name))))
            }
            Hardware::Instances(_) => Err(ConfigError::Malformed {
                text: printable(name),
                reason: format!("{} has the name of its file", printable(reference)),
            }),
        }
    }

    fn hardware_read(&mut self, reference: &str) -> Result<Hardware, ConfigError> {
        if mix::is_mix(reference) {
            return self.mix(reference).map(Hardware::Style);
        }
        let kinds = [Kind::Style, Kind::System];
        let file = self.locate(&kinds, reference, "", None)?;
        match self.contents_of(&file, &kinds)? {
            Contents::Style(style) => Ok(Hardware::Style(style)),
            Contents::System(system) => Ok(Hardware::System(system)),
            Contents::Instances(instances) => Ok(Hardware::Instances(instances)),
            other => Err(file.invalid(vec![wrong_kind(other.kind(), &kinds)])),
        }
    }

    fn mix(&mut self, text: &str) -> Result<Style, ConfigError> {
        let malformed = |reason| ConfigError::Malformed { text: printable(text), reason };
        let parts = mix::parse(text).map_err(malformed)?;
        let dataflows = parts.iter().map(|part| self.dataflow(part.dataflow));
        let dataflows = dataflows.collect::<Result<_, _>>()?;
        Ok(mix::style(&parts, dataflows))
    }

    /// The sweep called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn sweep(&mut self, reference: &str) -> Result<SweepDraft, ConfigError> {
        let file = self.locate(&[Kind::Sweep], reference, "", None)?;
        self.only(&file, Kind::Sweep, |contents| match contents {
            Contents::Sweep(draft) => Some(draft),
            _ => None,
        })
    }

    /// The search called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn search(&mut self, reference: &str) -> Result<SearchDraft, ConfigError> {
        let file = self.locate(&[Kind::Search], reference, "", None)?;
        self.only(&file, Kind::Search, |contents| match contents {
            Contents::Search(draft) => Some(*draft),
            _ => None,
        })
    }

    /// The suite of MLPerf called `reference`, such as `inference_v0.5`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], also of the networks that it refers to.
    pub fn mlperf_suite(&mut self, reference: &str) -> Result<MlperfSuite, ConfigError> {
        self.mlperf_suite_with(reference, &Parameters::default())
    }

    /// The suite of MLPerf called `reference` with these values of the parameters of its networks, by task.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] as of [`Catalog::mlperf_suite`], also for a task that the suite does not have.
    pub fn mlperf_suite_with(
        &mut self,
        reference: &str,
        parameters: &Parameters,
    ) -> Result<MlperfSuite, ConfigError> {
        let file = self.locate(&[Kind::Mlperf], reference, "", None)?;
        self.only(
            &file.with_parameters(parameters.clone()),
            Kind::Mlperf,
            |contents| match contents {
                Contents::Mlperf(suite) => Some(suite),
                _ => None,
            },
        )
    }

    /// The mapspace called `reference`, with the dataflows that it refers to.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn mapspace(&mut self, reference: &str) -> Result<Arc<DeclaredSpace>, ConfigError> {
        let file = self.locate(&[Kind::Mapspace], reference, "", None)?;
        self.only(&file, Kind::Mapspace, |contents| match contents {
            Contents::Mapspace(space) => Some(space),
            _ => None,
        })
    }

    /// The technology called `reference`, such as [`Technology::DEFAULT`].
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn technology(&mut self, reference: &str) -> Result<Arc<Technology>, ConfigError> {
        self.technology_from(reference, None)
    }

    /// The uncertainty called `reference`: ranges of the constants of the model.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn uncertainty(&mut self, reference: &str) -> Result<Arc<Uncertainty>, ConfigError> {
        let file = self.locate(&[Kind::Uncertainty], reference, "", None)?;
        self.only(&file, Kind::Uncertainty, |contents| match contents {
            Contents::Uncertainty(uncertainty) => Some(uncertainty),
            _ => None,
        })
    }

    /// The operating points called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn points(&mut self, reference: &str) -> Result<Arc<Points>, ConfigError> {
        self.points_from(reference, None)
    }

    /// The device called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn device(&mut self, reference: &str) -> Result<Arc<Device>, ConfigError> {
        let file = self.locate(&[Kind::Device], reference, "", None)?;
        self.only(&file, Kind::Device, |contents| match contents {
            Contents::Device(device) => Some(device),
            _ => None,
        })
    }

    /// The profile called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], also of the files that the profile refers to.
    pub fn profile(&mut self, reference: &str) -> Result<Arc<Profile>, ConfigError> {
        let file = self.locate(&[Kind::Profile], reference, "", None)?;
        self.only(&file, Kind::Profile, |contents| match contents {
            Contents::Profile(profile) => Some(profile),
            _ => None,
        })
    }

    /// The platform called `reference`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn platform(&mut self, reference: &str) -> Result<Arc<Platform>, ConfigError> {
        let file = self.locate(&[Kind::Platform], reference, "", None)?;
        self.only(&file, Kind::Platform, |contents| match contents {
            Contents::Platform(platform) => Some(platform),
            _ => None,
        })
    }

    /// Reads a file of the user's in none of the formats of input files, and counts it
    /// as used.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unreadable`].
    pub fn read(&mut self, path: &Path) -> Result<Arc<Source>, ConfigError> {
        self.read_by(&self.folder.as_deref().unwrap_or(Path::new("")).join(path), Source::read)
    }

    fn read_by(
        &mut self,
        path: &Path,
        read: impl FnOnce(&Path) -> Result<Arc<Source>, ConfigError>,
    ) -> Result<Arc<Source>, ConfigError> {
        let name = path.display().to_string();
        if let Some(source) = self.used.get(&name) {
            return Ok(Arc::clone(source));
        }
        if let Some(given) = given::find(path) {
            self.used.insert(name, Arc::clone(&given));
            return Ok(given);
        }
        let source = read(path)?;
        self.used.insert(name, Arc::clone(&source));
        self.opened.insert(path.into());
        Ok(source)
    }

    /// Checks the file at `path`, and those that it refers to, and returns its kind. Of a
    /// sweep, whose keys and values are not known here, only that it is one.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn check(&mut self, path: &Path) -> Result<Kind, ConfigError> {
        let file = self.open(path.into())?;
        Ok(self.contents_of(&file, &Kind::EVERY)?.kind())
    }

    /// Names of the embedded files of `kind`, in order; those that go by a path, such as other
    /// editions, are left out.
    pub fn names(&self, kind: Kind) -> Vec<String> {
        embedded::names(kind, self.networks_of)
    }

    /// Names of the networks of MLPerf, in order; they are the same in every edition.
    pub fn mlperf_networks(&self) -> Vec<String> {
        embedded::further_names(Kind::Network)
    }

    /// The file called `reference`, of any kind; values of parameters after it count for nothing.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unknown`] or [`ConfigError::Unreadable`].
    pub fn text(&mut self, reference: &str) -> Result<Arc<Source>, ConfigError> {
        let (base, values) = parameters::split(reference)?;
        match self.with_dims(base, None, &values)? {
            Some(file) => Ok(file.source),
            None => self.locate(&Kind::EVERY, base, "", None).map(|file| file.source),
        }
    }

    /// Every file that was used so far, in order of name.
    pub fn inputs(&self) -> Vec<InputFile> {
        let file = |(name, source): (&String, &Arc<Source>)| InputFile {
            name: name.clone(),
            sha256: sha256(source.text()),
        };
        self.used.iter().map(file).collect()
    }

    /// Notes about references and files that were used so far, in order of first use.
    pub fn notes(&self) -> Vec<Note> {
        self.notes.to_vec()
    }

    /// Every file of the user's that was used so far.
    pub fn opened(&self) -> impl Iterator<Item = PathBuf> {
        self.opened.iter().cloned()
    }
}

/// Name and reference of `NAME=REFERENCE`, unless a file has all of it for its path.
fn another_name(reference: &str) -> Option<(&str, &str)> {
    let (name, other) = reference.split_once('=')?;
    let [name, other] = [name, other].map(str::trim);
    let is_named = is_name(name) && !other.is_empty() && !Path::new(reference).exists();
    is_named.then_some((name, other))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_of_the_suite_are_those_of_its_scenarios() {
        let mut catalog = Catalog::new();
        for name in catalog.suite().unwrap().scenarios.clone() {
            let outlines = catalog.outlines(&name, Edition::Reference).unwrap();
            let scenario = catalog.scenario(&name, Edition::Reference).unwrap();
            let outline = |model: &ActiveModel| ModelOutline {
                task: model.unit.task.clone(),
                rate: model.rate,
                dependencies: (model.dependencies.iter())
                    .map(|it| (scenario.model(it.upstream).unit.task.clone(), it.kind))
                    .collect(),
            };
            assert_eq!(outlines, scenario.models().iter().map(outline).collect::<Vec<_>>());
        }
    }
}

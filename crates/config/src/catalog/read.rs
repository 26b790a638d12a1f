//! Reading of files in any format, with the files that they refer to.

use std::path::Path;
use std::sync::Arc;

use crate::document::{Document, wrong_kind};
use crate::format::{Contents, References};
use crate::network::Model;
use crate::yaml::read::{Problems, printable};
use crate::yaml::{Node, Value};
use crate::{ConfigError, Edition, Kind, ParameterValues, Parameters, Problem, Source};
use crate::{embedded, formats, hardware, kind, nearest, parameters};
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::Technology;
use xrsim_model::hardware::device::Points;
use xrsim_model::model::Network;
use xrsim_model::scenario::{InputStream, Scenario};

use super::Catalog;
use super::dims::parametrised;

/// Most files that are kept with values of parameters.
const MAX_VARIANTS: usize = 256;

impl Catalog {
    /// Contents of a file, which is needed as one of `kinds`.
    pub(super) fn contents_of(
        &mut self,
        file: &Document,
        kinds: &[Kind],
    ) -> Result<Contents, ConfigError> {
        let format = formats::format_of(file.source.name(), kinds);
        let possible = kinds.iter().filter(|kind| format.kinds.contains(kind));
        let kind = match possible.collect::<Vec<_>>()[..] {
            [kind] => *kind,
            _ => (format.recognise)(file, kinds)?,
        };
        let key = (file.source.name().to_string(), kind, file.parameters.clone());
        if let Some(contents) = self.contents.get(&key) {
            return Ok(contents.clone());
        }
        let is_shipped = file.folder.is_none() && file.parameters.is_empty();
        let mut contents = match is_shipped && embedded::is_file(file.source.name()) {
            true => self.shelved(file, kind, |apart| (format.read)(file, kind, apart))?,
            false => (format.read)(file, kind, self)?,
        };
        if let Contents::Networks(models) = &mut contents {
            models.iter_mut().for_each(|model| self.share_network(model));
        }
        self.forget_variants(&file.parameters);
        self.contents.insert(key, contents.clone());
        Ok(contents)
    }

    /// File and line of the first use of a key in the description of the hardware called `name`, of the user's files that
    /// were used so far.
    pub fn place_of_key(&self, name: &str, key: &str) -> Option<String> {
        self.files_of(&Kind::HARDWARE, |file, source, body| {
            let at = hardware::place_of_key(body, name, key)?;
            Some(format!("{file}:{}", source.position(at).0))
        })
        .into_iter()
        .next()
    }

    /// File and line of the item of the list `list` with this index in the scenario or system called `name`, of the user's
    /// files that were used so far; those of its `key`, if it has the key.
    pub fn place_of_item(
        &self,
        name: &str,
        (list, index): (&str, usize),
        key: &str,
    ) -> Option<String> {
        self.files_of(&[Kind::System, Kind::Scenario], |file, source, body| {
            let own = body.entry("name")?.value.scalar()?;
            let Value::List(items) = &body.entry(list).filter(|_| own == name)?.value.value else {
                return None;
            };
            let item = items.get(index)?;
            let item = item.entry("processor").map_or(item, |it| &it.value);
            let at = item.entry(key).map_or(item.span.start, |it| it.key_span.start);
            Some(format!("{file}:{}", source.position(at).0))
        })
        .into_iter()
        .next()
    }

    /// Warnings about keys of the user's files of hardware that were used so far and have no effect with a cost model of
    /// the program, with file and line.
    pub fn unused_keys(&self, cost_model: &str) -> Vec<String> {
        self.files_of(&Kind::HARDWARE, |name, source, body| {
            let warnings = hardware::unused(body, cost_model).into_iter();
            let warning =
                |it: hardware::Unused| format!("{name}:{}: {it}", source.position(it.at).0);
            Some(warnings.map(warning).collect::<Vec<_>>())
        })
        .concat()
    }

    /// The path, with a name and values of parameters if it needs them, of a file of the user's that was read and has the
    /// layers of `network`.
    pub fn path_of(&self, network: &Network) -> Option<String> {
        let of_file = |((name, _, parameters), contents): (&(String, _, Parameters), &Contents)| {
            let Contents::Networks(models) = contents else { return None };
            let is_it = |it: &&Arc<Model>| it.network.has_layers_of(network);
            let found = models.iter().find(is_it).filter(|_| !embedded::is_file(name))?;
            let path = match &models[..] {
                [_] => name.clone(),
                _ => format!("{name}#{}", found.network.name()),
            };
            Some(parameters.of("").map_or(path.clone(), |values| values.of(&path)))
        };
        self.contents.iter().filter_map(of_file).min()
    }

    /// The task with the values of parameters that make it lead to `network`; `None` if no values do.
    pub fn task_of(&mut self, task: &str, network: &Network) -> Option<String> {
        let changed = network.parameters().iter().filter(|it| !it.is_default());
        let values =
            changed.fold(ParameterValues::default(), |all, it| all.with(&it.name, it.value));
        let reference = values.of(task);
        let found = self.network(&reference).ok()?;
        found.has_layers_of(network).then_some(reference)
    }

    /// Results of `each` with name, text and body of the user's files of these kinds that were used so far.
    fn files_of<T>(
        &self,
        kinds: &[Kind],
        each: impl Fn(&str, &Source, &Node<'_>) -> Option<T>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for (name, source) in self.used.iter().filter(|(name, _)| !embedded::is_file(name)) {
            let is_one = |(file, kind, _): &(String, Kind, _)| file == name && kinds.contains(kind);
            if !self.contents.keys().any(is_one) {
                continue;
            }
            let mut problems = Problems::default();
            let root = source.tree(&mut problems);
            let body = root.as_ref().and_then(|root| kind::body(root, &mut problems));
            found.extend(body.and_then(|(_, body)| each(name, source, body)));
        }
        found
    }

    /// Forgets what was read with other values of parameters, if that is much and another one comes. A long sweep
    /// would fill the memory.
    fn forget_variants(&mut self, next: &Parameters) {
        let variants = self.contents.keys().filter(|(.., parameters)| !parameters.is_empty());
        if next.is_empty() || variants.count() < MAX_VARIANTS {
            return;
        }
        self.contents.retain(|(.., parameters), _| parameters.is_empty());
        for namesakes in self.networks.values_mut() {
            namesakes.retain(|network| Arc::strong_count(network) > 1);
        }
        self.networks.retain(|_, namesakes| !namesakes.is_empty());
    }

    /// Contents of a file that is needed as the only kind that `pick` accepts.
    pub(super) fn only<T>(
        &mut self,
        file: &Document,
        kind: Kind,
        pick: impl FnOnce(Contents) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let contents = self.contents_of(file, &[kind])?;
        let found = contents.kind();
        pick(contents).ok_or_else(|| file.invalid(vec![wrong_kind(found, &[kind])]))
    }

    /// Replaces the network of `model` by the equal one that was seen first, so that costs are shared.
    fn share_network(&mut self, model: &mut Arc<Model>) {
        let network = self.shared(Arc::clone(&model.network));
        if !Arc::ptr_eq(&network, &model.network) {
            Arc::make_mut(model).network = network;
        }
    }

    /// The network equal to `network` that was seen first.
    fn shared(&mut self, network: Arc<Network>) -> Arc<Network> {
        let namesakes = self.networks.entry(network.name().into()).or_default();
        if let Some(known) = namesakes.iter().find(|known| **known == network) {
            return Arc::clone(known);
        }
        namesakes.push(Arc::clone(&network));
        network
    }

    /// The model of [`Catalog::model_from`], which has work in all layers.
    pub(super) fn planned_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Model>, ConfigError> {
        let model = self.model_from(reference, folder)?;
        if model.network.absent().is_empty() {
            return Ok(model);
        }
        let reason = "a count of 0 is that of a frame of a scenario (`work`); give one from 1";
        Err(ConfigError::Malformed { text: printable(reference), reason: reason.into() })
    }

    fn model_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Model>, ConfigError> {
        let (base, values) = parameters::split(reference)?;
        if let Some(file) = self.with_dims(base, folder, &values)? {
            let mut model = pick(&file, self.networks_of_file(&file)?, None)?;
            parametrised(&mut model, &values);
            self.share_network(&mut model);
            return Ok(model);
        }
        let model = self.model_read(base, folder, Parameters::default())?;
        values.check(&model.network, base)?;
        match values.are_those_of(&model.network) {
            true => Ok(model),
            false => self.model_read(base, folder, Parameters::of_network(values)),
        }
    }

    fn model_read(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
        parameters: Parameters,
    ) -> Result<Arc<Model>, ConfigError> {
        let (path, member) = match formats::member(reference) {
            Some((path, member)) => (path, Some(member)),
            None => (reference, None),
        };
        let file = self.locate(&[Kind::Network], path, "", folder)?.with_parameters(parameters);
        pick(&file, self.networks_of_file(&file)?, member)
    }

    fn networks_of_file(&mut self, file: &Document) -> Result<Vec<Arc<Model>>, ConfigError> {
        self.only(file, Kind::Network, |contents| match contents {
            Contents::Networks(models) => Some(models),
            _ => None,
        })
    }

    pub(super) fn dataflow_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Dataflow>, ConfigError> {
        let file = self.locate(&[Kind::Dataflow], reference, "", folder)?;
        let dataflows = self.dataflows_of(&file)?;
        match &dataflows[..] {
            [dataflow] => Ok(Arc::clone(dataflow)),
            _ => {
                let message = format!("{} dataflows; one is needed here", dataflows.len());
                Err(file.invalid(vec![Problem::new(0..0, message)]))
            }
        }
    }

    pub(super) fn technology_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Technology>, ConfigError> {
        let file = self.locate(&[Kind::Technology], reference, "", folder)?;
        self.only(&file, Kind::Technology, |contents| match contents {
            Contents::Technology(technology) => Some(technology),
            _ => None,
        })
    }

    pub(super) fn points_from(
        &mut self,
        reference: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Points>, ConfigError> {
        let file = self.locate(&[Kind::Points], reference, "", folder)?;
        self.only(&file, Kind::Points, |contents| match contents {
            Contents::Points(points) => Some(points),
            _ => None,
        })
    }

    pub(super) fn dataflows_of(
        &mut self,
        file: &Document,
    ) -> Result<Vec<Arc<Dataflow>>, ConfigError> {
        self.only(file, Kind::Dataflow, |contents| match contents {
            Contents::Dataflows(dataflows) => Some(dataflows),
            _ => None,
        })
    }
}

impl References for Catalog {
    fn model(&mut self, name: &str, folder: Option<&Path>) -> Result<Arc<Model>, ConfigError> {
        self.planned_from(name, folder)
    }

    fn model_of_frame(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Model>, ConfigError> {
        self.model_from(name, folder)
    }

    fn dataflow(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Dataflow>, ConfigError> {
        self.dataflow_from(name, folder)
    }

    fn technology(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Technology>, ConfigError> {
        self.technology_from(name, folder)
    }

    fn scenario(
        &mut self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Arc<Scenario>, ConfigError> {
        let file = self.locate(&[Kind::Scenario], name, Edition::default().scenarios(), folder)?;
        self.only(&file, Kind::Scenario, |contents| match contents {
            Contents::Scenario(scenario) => Some(scenario),
            _ => None,
        })
    }

    fn points(&mut self, name: &str, folder: Option<&Path>) -> Result<Arc<Points>, ConfigError> {
        self.points_from(name, folder)
    }

    fn source(&mut self, path: &str, folder: Option<&Path>) -> Result<Arc<Source>, ConfigError> {
        match folder {
            Some(folder) => self.read_by(&folder.join(path), Source::read),
            None => self.read(Path::new(path)),
        }
    }

    fn sensors(&mut self) -> Result<Arc<[InputStream]>, ConfigError> {
        let file = self.locate(&[Kind::Sensors], "sensors", "", None)?;
        self.only(&file, Kind::Sensors, |contents| match contents {
            Contents::Sensors(sensors) => Some(sensors),
            _ => None,
        })
    }

    fn names(&self, kind: Kind) -> Vec<String> {
        Self::names(self, kind)
    }
}

/// The network called `name`, or the only one, of the `models` of a file.
fn pick(
    file: &Document,
    mut models: Vec<Arc<Model>>,
    name: Option<&str>,
) -> Result<Arc<Model>, ConfigError> {
    let names: Vec<String> = models.iter().map(|model| model.network.name().into()).collect();
    let index = match name {
        Some(name) => names.iter().position(|known| known == name),
        None if models.len() == 1 => Some(0),
        None => {
            let message = format!("{} networks; one is needed here", models.len());
            let help = format!("name one as {}#NAME: {}", file.source.name(), names.join(", "));
            return Err(file.invalid(vec![Problem::new(0..0, message).help(help)]));
        }
    };
    index.map(|index| models.swap_remove(index)).ok_or_else(|| ConfigError::Unknown {
        kind: "network",
        name: format!("{}#{}", file.source.name(), name.unwrap_or_default()),
        nearest: nearest(name.unwrap_or_default(), names.iter().map(String::as_str))
            .map(Into::into),
        file: None,
        known: names.clone(),
    })
}

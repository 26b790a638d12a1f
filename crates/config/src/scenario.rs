//! `scenario:` and `sensors:` files: who asks, and how often.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_model::ids::{ModelId, StreamId};
use xrsim_model::renamed::Renamed;
use xrsim_model::scenario::{
    ActiveModel, Dependency, DependencyKind, InputStream, JitterDistribution, Scenario,
    ScenarioError, UnitModel,
};
use xrsim_model::units::{FrameRate, SimSpan};

use super::network::Model;
use super::yaml::read::{
    At, Problems, at, at_most, list, named, number, one_of, proper_name, quantity, text,
    unknown_name,
};
use super::yaml::tree::Entry;
use super::yaml::{Fields, Node, Value};
use super::{ParameterValues, Parameters, Problem, parameters};

/// Most models of a scenario.
pub(super) const MAX_MODELS: usize = 1000;

/// Words of `jitter_distribution`.
pub(super) const DISTRIBUTIONS: [(&str, JitterDistribution); 2] = [
    ("truncated_normal", JitterDistribution::TruncatedNormal),
    ("uniform", JitterDistribution::Uniform),
];

/// Old keys of a model.
const OLD_KEYS: [Renamed; 3] = [
    Renamed { kind: "key", old: "model", new: "network" },
    Renamed { kind: "key", old: "deadline_ms", new: "relative_deadline_ms" },
    Renamed { kind: "key", old: "artifact_name", new: "network_name" },
];

/// A `scenario:` file whose models and sensors are still names.
pub(super) struct RawScenario {
    name: Box<str>,
    sensors: Option<Vec<InputStream>>,
    models: Vec<RawModel>,
}

struct RawModel {
    reference: At<Box<str>>,
    task: Option<Box<str>>,
    network_name: Option<Box<str>>,
    rate: At<FrameRate>,
    inputs: Option<Vec<At<Box<str>>>>,
    dependencies: Vec<(At<Box<str>>, DependencyKind)>,
    deadline: Option<SimSpan>,
    parameters: Option<At<ParameterValues>>,
}

/// Reads the body of a `scenario:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<RawScenario> {
    let mut fields = Fields::of(node, "a scenario", problems)?;
    let name = fields.required("name", proper_name);
    let sensors = fields.optional("sensors", read_sensors);
    let models = fields.required("models", at_most(MAX_MODELS, list("models", model)));
    fields.finish();
    Some(RawScenario { name: name?, sensors, models: models? })
}

fn model(node: &Node<'_>, problems: &mut Problems) -> Option<RawModel> {
    let mut fields = Fields::of(node, "a model of a scenario", problems)?.with_renamed(&OLD_KEYS);
    let reference = fields.required("network", at(text));
    let parameters = parameters::of_reference(reference.as_ref(), &mut fields);
    let task = fields.optional("task", proper_name);
    let network_name = fields.optional("network_name", proper_name);
    let rate = fields.required("fps", at(rate));
    let inputs = fields.optional("inputs", list("sensors", at(text)));
    let dependencies = fields.optional("depends_on", named("models", dependency));
    let deadline = fields.optional("relative_deadline_ms", deadline);
    fields.finish();
    let dependencies = dependencies.unwrap_or_default();
    let (reference, rate) = (reference?, rate?);
    Some(RawModel {
        reference,
        task,
        network_name,
        rate,
        inputs,
        dependencies,
        deadline,
        parameters,
    })
}

fn rate(node: &Node<'_>, problems: &mut Problems) -> Option<FrameRate> {
    quantity("a rate from 0.001 to 1000000 FPS", FrameRate::from_fps)(node, problems)
}

fn deadline(node: &Node<'_>, problems: &mut Problems) -> Option<SimSpan> {
    quantity("a time from 0.000001 to 9007199254 ms", SimSpan::from_positive_ms)(node, problems)
}

fn dependency(
    entry: &Entry<'_>,
    problems: &mut Problems,
) -> Option<(At<Box<str>>, DependencyKind)> {
    let upstream = At { span: entry.key_span.clone(), value: (&*entry.key).into() };
    let kind = match &entry.value.value {
        Value::Scalar { text, .. } if text == "data" => Some(DependencyKind::Data),
        Value::Mapping(_) => control(&entry.value, problems),
        _ => {
            let expected = "`data` or `{control: {probability: P}}`";
            problems.push(entry.value.mismatch(&expected));
            None
        }
    };
    Some((upstream, kind?))
}

fn control(node: &Node<'_>, problems: &mut Problems) -> Option<DependencyKind> {
    let mut fields = Fields::of(node, "a dependency", problems)?;
    let probability = fields.required("control", |node, problems| {
        let mut fields = Fields::of(node, "a control dependency", problems)?;
        let probability = fields.required("probability", number(0.0..=1.0));
        fields.finish();
        probability
    });
    fields.finish();
    Some(DependencyKind::Control { probability: probability? })
}

/// Reads the body of a `sensors:` file, or of that key in a scenario.
pub(super) fn read_sensors(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<InputStream>> {
    named("sensors", sensor)(node, problems)
}

fn sensor(entry: &Entry<'_>, problems: &mut Problems) -> Option<InputStream> {
    let mut fields = Fields::of(&entry.value, "a sensor", problems)?;
    let time = || quantity("a time from 0 to 9007199254 ms", SimSpan::from_ms);
    let rate = fields.required("rate_fps", rate);
    let initial_latency = fields.optional("initial_latency_ms", time()).unwrap_or_default();
    let max_jitter = fields.optional("max_jitter_ms", time()).unwrap_or_default();
    let distribution = fields.optional("jitter_distribution", one_of(&DISTRIBUTIONS));
    fields.finish();
    Some(InputStream {
        name: (&*entry.key).into(),
        rate: rate?,
        initial_latency,
        max_jitter,
        distribution: distribution.unwrap_or_default(),
    })
}

impl RawScenario {
    /// Names of the models, with their places.
    pub(super) fn references(&self) -> impl Iterator<Item = &At<Box<str>>> {
        self.models.iter().map(|model| &model.reference)
    }

    /// References to the same networks, of which these are the `models`, with the values of parameters that
    /// the file gives and those that are `set` in place of them.
    pub(super) fn references_with(
        &self,
        models: &[Arc<Model>],
        set: &Parameters,
    ) -> Vec<At<Box<str>>> {
        let with = |(raw, model): (&RawModel, &Arc<Model>)| {
            let task = raw.task.as_ref().unwrap_or(&model.task);
            parameters::reference(&raw.reference, raw.parameters.as_ref(), set.of(task))
        };
        self.models.iter().zip(models).map(with).collect()
    }

    /// The sensors that the file itself describes.
    pub(super) fn sensors(&self) -> Option<&[InputStream]> {
        self.sensors.as_deref()
    }

    /// The scenario of these `models`, one for each name, which read `sensors`.
    pub(crate) fn resolve(
        self,
        models: &[Arc<Model>],
        sensors: &[InputStream],
        problems: &mut Problems,
    ) -> Option<Scenario> {
        let names = Names::of(&self.models, models, sensors, problems);
        let streams: Vec<_> = sensors
            .iter()
            .filter(|sensor| names.inputs.iter().flatten().any(|input| *input == sensor.name))
            .cloned()
            .collect();
        let pairs = self.models.iter().zip(models).enumerate();
        let active: Vec<_> = pairs
            .map(|(index, (raw, model))| {
                let network = match &raw.network_name {
                    None => Arc::clone(&model.network),
                    Some(name) => Arc::new((*model.network).clone().with_name(name.clone())),
                };
                let mut unit = UnitModel::new(names.tasks[index].clone(), network);
                unit.dataset.clone_from(&model.dataset);
                unit.quality.clone_from(&model.quality);
                let mut active = ActiveModel::new(unit, raw.rate.value);
                let inputs = names.inputs[index].iter();
                active.inputs = inputs.filter_map(|name| stream(name, &streams)).collect();
                active.dependencies = names.dependencies(raw);
                active.relative_deadline = raw.deadline;
                active
            })
            .collect();
        match Scenario::new(self.name, streams, active) {
            Ok(scenario) => Some(scenario),
            Err(errors) => {
                let place = |error| place(&error, &self.models, &names);
                problems.extend(errors.into_iter().map(place));
                None
            }
        }
    }
}

fn stream(name: &str, streams: &[InputStream]) -> Option<StreamId> {
    streams.iter().position(|stream| *stream.name == *name).map(StreamId::new)
}

/// The names in a scenario file, looked up.
struct Names {
    /// Task of every model.
    tasks: Vec<Box<str>>,
    /// Model of every task.
    ids: HashMap<Box<str>, ModelId>,
    /// Known sensors that every model reads.
    inputs: Vec<Vec<Box<str>>>,
}

impl Names {
    fn of(
        raw: &[RawModel],
        models: &[Arc<Model>],
        sensors: &[InputStream],
        problems: &mut Problems,
    ) -> Self {
        let mut names = Self { tasks: Vec::new(), ids: HashMap::new(), inputs: Vec::new() };
        for (raw, model) in raw.iter().zip(models) {
            names.add_task(raw, model, problems);
            names.add_inputs(raw, model, sensors, problems);
        }
        for (upstream, _) in raw.iter().flat_map(|raw| &raw.dependencies) {
            if !names.ids.contains_key(&upstream.value) {
                let known = names.tasks.iter().map(|task| &**task);
                problems.push(unknown_name("model in this scenario", upstream, known));
            }
        }
        names
    }

    fn add_task(&mut self, raw: &RawModel, model: &Model, problems: &mut Problems) {
        let task = raw.task.as_ref().unwrap_or(&model.task);
        let id = ModelId::new(self.tasks.len());
        if self.ids.insert(task.clone(), id).is_some() {
            let message = format!("a second model is called `{task}`");
            let problem = Problem::new(raw.reference.span.clone(), message);
            problems.push(problem.help("give one of them another name with `task`"));
        }
        self.tasks.push(task.clone());
    }

    fn add_inputs(
        &mut self,
        raw: &RawModel,
        model: &Model,
        sensors: &[InputStream],
        problems: &mut Problems,
    ) {
        let span = &raw.reference.span;
        let own = || model.inputs.iter().map(|name| At { span: span.clone(), value: name.clone() });
        let mut inputs = raw.inputs.clone().unwrap_or_else(|| own().collect());
        inputs.retain(|input| {
            let known = sensors.iter().any(|sensor| sensor.name == input.value);
            if !known {
                let names = sensors.iter().map(|sensor| &*sensor.name);
                problems.push(unknown_name("sensor", input, names));
            }
            known
        });
        self.inputs.push(inputs.into_iter().map(|input| input.value).collect());
    }

    /// The dependencies of a model on models that are known.
    fn dependencies(&self, raw: &RawModel) -> Vec<Dependency> {
        let known = |(upstream, kind): &(At<Box<str>>, DependencyKind)| {
            let upstream = *self.ids.get(&upstream.value)?;
            Some(Dependency { upstream, kind: *kind })
        };
        raw.dependencies.iter().filter_map(known).collect()
    }
}

/// The problem that an error is, at the place in the file that it is about.
fn place(error: &ScenarioError, models: &[RawModel], names: &Names) -> Problem {
    let raw = |task: &str| names.ids.get(task).map(|id| &models[id.index()]);
    let span: Option<Range<usize>> = match error {
        ScenarioError::FasterThanSensor { model, .. } => {
            raw(model).map(|raw| raw.rate.span.clone())
        }
        ScenarioError::SelfDependency { model } => raw(model).and_then(|raw| {
            let mut own = raw.dependencies.iter().filter(|(upstream, _)| upstream.value == *model);
            own.next().map(|(upstream, _)| upstream.span.clone())
        }),
        ScenarioError::Cycle(tasks) => tasks.first().and_then(|task| raw(task)).and_then(|raw| {
            let mut inside = raw.dependencies.iter().map(|(upstream, _)| upstream);
            inside
                .find(|upstream| tasks.contains(&upstream.value.to_string()))
                .map(|upstream| upstream.span.clone())
        }),
        _ => None,
    };
    let span =
        span.unwrap_or_else(|| models.first().map_or(0..0, |raw| raw.reference.span.clone()));
    Problem::new(span, error.to_string())
}

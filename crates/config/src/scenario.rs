//! `scenario:` files: who asks, and how often.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_model::hardware::Tasks;
use xrsim_model::ids::{ModelId, StreamId};
use xrsim_model::renamed::Renamed;
use xrsim_model::scenario::{
    ActiveModel, Dependency, DependencyKind, InputStream, Scenario, ScenarioError, Sequence, Shows,
    UnitModel, Work,
};
use xrsim_model::units::{FrameRate, SimSpan};

use super::choice::{self, RawVariant};
use super::hardware::names_once;
use super::network::Model;
use super::quantities::{frame_rate, positive_ms};
use super::sensors::{RawGate, RawSensor, add_gates, gates, sensors};
use super::sequence::{self, RawSequence};
use super::work::{self, RawWork, SHOWS};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems, printable, unknown_name};
use super::yaml::values::{
    Reader, at, at_most, flag, list, named, number, one_of, proper_name, text, value,
};
use super::yaml::{Node, Value};
use super::{ConfigError, ParameterValues, Parameters, Problem, Source};
use super::{form, parameters, reference};

/// Most models of a scenario.
const MAX_MODELS: usize = 1000;

/// Most networks of a model.
const MAX_VARIANTS: usize = 64;

/// Old keys of a model.
const OLD_KEYS: [Renamed; 3] = [
    Renamed::key("model", "network"),
    Renamed::key("deadline_ms", "relative_deadline_ms"),
    Renamed::key("artifact_name", "network_name"),
];

/// What chooses among further networks of a model, and the references to these.
pub(super) type OfVariants = Option<(Rule, Vec<At<Box<str>>>)>;

/// A model of a scenario without its network.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOutline {
    /// Task.
    pub task: Box<str>,
    /// Target processing rate.
    pub rate: FrameRate,
    /// Tasks of the models that it depends on.
    pub dependencies: Vec<(Box<str>, DependencyKind)>,
}

keys! {
    /// Usage scenario: the models that are active together, with their rates and dependencies.
    pub(super) fn scenario() -> struct RawScenario: "a scenario" {
        /// Name of the scenario.
        name: Box<str> = required(proper_name());
        /// Sources of frames by name (XRBench Definition 1). They stand in place of those that come with the program
        /// (`xrsim show sensors`): repeat those that you keep.
        sensors: Option<Vec<RawSensor>> = optional(sensors());
        gates: Option<Vec<RawGate>> = optional(gates());
        /// Models that are active together (XRBench Definition 4). Where a scheduler sees no difference, earlier models
        /// go first.
        models: Vec<RawModel> = required(at_most(MAX_MODELS, list("models", model())));
    }
}

keys! {
    /// A model of the scenario.
    pub(super) fn model() -> struct RawModel: "a model of a scenario", OLD_KEYS {
        /// Network of the model.
        network: At<Box<str>> = required(reference::network());
        parameters: Option<At<ParameterValues>> = optional(at(parameters::values()));
        /// Another name of the model, to use one network twice. Without it, the task of the network.
        task: Option<Box<str>> = optional(proper_name());
        /// Name that the source of the scenario gives to the network. Results show it, and the artifact's runtime orders
        /// models by it.
        network_name: Option<Box<str>> = optional(proper_name());
        /// Target processing rate [frames/s]. It is at most the rate of each sensor that the model reads.
        fps: At<FrameRate> = required(at(frame_rate()));
        /// Sensors that the model reads, the primary one first. Without it, those of the network.
        inputs: Option<Vec<At<Box<str>>>> = optional(sensor_names());
        /// Models of this scenario that this model depends on, each with `data` or `{control: {probability: P}}`.
        depends_on: Option<Vec<(At<Box<str>>, DependencyKind)>> =
            optional(dependencies());
        /// Span from the nominal start of a frame to its deadline \[ms\]. Without it, the period of `fps`.
        relative_deadline_ms: Option<SimSpan> = optional(positive_ms());
        sequence: Option<At<RawSequence>> = optional(at(sequence::sequence()));
        work: Option<At<RawWork>> = optional(at(work::work()));
        /// Networks of which each request runs one, in the order of preference; the first is `network`. Schedulers choose by
        /// the option `quality`.
        variants: Option<At<Vec<RawVariant>>> = optional(at(at_most(MAX_VARIANTS, list("networks", choice::variant()))));
        /// Whether `variants` are parts of one network with common weights. A change between them loads no weights then.
        shares_weights: Option<At<bool>> = optional(at(flag().with_default(false)));
        /// Counts of `work` that schedulers see of a frame: those of the network, the means, or those of the frame.
        shows: Option<At<Shows>> = optional(at(one_of(&SHOWS).with_default("planned")));
        /// Names of the accelerators of the system on which the model may run. Without it, all.
        on: Option<Tasks> = optional(names_once("accelerators"));
    }
    check(fields) {
        if sequence.is_some() && relative_deadline_ms.is_some() {
            let message = "a sequence has deadlines of its own";
            fields.problem(Problem::new(fields.span_of("relative_deadline_ms"), message));
        }
        if let Some(shows) = &shows
            && work.is_none()
        {
            fields.problem(Problem::new(shows.span.clone(), "`shows` is of counts of `work`; there are none"));
        }
        if let Some(shares) = &shares_weights
            && variants.is_none()
        {
            let message = "`shares_weights` is of `variants`; there are none";
            fields.problem(Problem::new(shares.span.clone(), message));
        }
        if let Some(variants) = &variants
            && (sequence.is_some() || work.is_some())
        {
            let other = if work.is_some() { "`work`" } else { "`sequence`" };
            let message = format!("`variants` beside {other}; a model has one of them");
            fields.problem(Problem::new(variants.span.clone(), message));
        }
        if sequence.is_some() && work.is_some() {
            let message = "the work of a sequence is that of its steps";
            fields.problem(Problem::new(fields.span_of("work"), message));
        }
        parameters::check(network.as_ref(), parameters.as_ref(), fields);
    }
}

/// Names of sensors with their places.
fn sensor_names() -> impl Reader<Value = Vec<At<Box<str>>>> {
    list("sensors", at(text()).says("Name of a sensor.")).allowed("a list of names")
}

/// Models that a model depends on. A name alone is answered with its full form.
fn dependencies() -> impl Reader<Value = Vec<(At<Box<str>>, DependencyKind)>> {
    let models = named("models", dependency());
    let read = move |node: &Node<'_>, problems: &mut Problems| {
        let first = match &node.value {
            Value::List(nodes) => nodes.first().unwrap_or(node),
            _ => node,
        };
        let Value::Scalar { text, .. } = &first.value else { return models.read(node, problems) };
        let help = format!("write {{{0}: data}}, or {{{0}: {ON_CONTROL}}}", printable(text));
        problems.push(node.mismatch(&"a mapping of models").help(help));
        None
    };
    value(read, || named("models", dependency()).form())
}

/// A control dependency in words.
const ON_CONTROL: &str = "{control: {probability: P}}";

fn dependency() -> impl Reader<Value = DependencyKind> {
    let read = |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Scalar { text, .. } if text == "data" => Some(DependencyKind::Data),
        Value::Mapping(_) => on_control().read(node, problems).map(|it| it.control),
        _ => {
            problems.push(node.mismatch(&format_args!("`data` or `{ON_CONTROL}`")));
            None
        }
    };
    let form = || form::any_of([form::word(["data"]), on_control().form().allowed(ON_CONTROL)]);
    value(read, form).says(
        "Kind of the dependency. With `data`, a frame needs the upstream result of the same frame. With `control`, a \
         frame that the upstream result does not trigger does not run.",
    )
}

keys! {
    fn on_control() -> struct OnControl: "a dependency" {
        /// Control dependency: the result of the upstream model triggers the frame.
        control: DependencyKind = required(control());
    }
}

fn control() -> impl Reader<Value = DependencyKind> {
    mapping("a control dependency", |fields| {
        let text =
            "Probability that the result of the upstream model triggers a frame of this one.";
        let probability = fields.about(text).required("probability", number(0.0..=1.0))?;
        Some(DependencyKind::Control { probability })
    })
}

impl RawScenario {
    /// Outlines of the models, where `task_of` has the task of a network.
    pub(super) fn outlines<E>(
        self,
        mut task_of: impl FnMut(&str) -> Result<Box<str>, E>,
    ) -> Result<Vec<ModelOutline>, E> {
        let outline = |raw: RawModel| {
            let task = raw.task.map_or_else(|| task_of(&raw.network.value), Ok)?;
            let dependencies = raw.depends_on.into_iter().flatten();
            let dependencies =
                dependencies.map(|(upstream, kind)| (upstream.value, kind)).collect();
            Ok(ModelOutline { task, rate: raw.fps.value, dependencies })
        };
        self.models.into_iter().map(outline).collect()
    }

    /// References to the networks of the models with the values of parameters that the file gives, with their places.
    pub(super) fn references(&self) -> Vec<At<Box<str>>> {
        let of =
            |raw: &RawModel| parameters::reference(&raw.network, raw.parameters.as_ref(), None);
        self.models.iter().map(of).collect()
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
            parameters::reference(&raw.network, raw.parameters.as_ref(), set.of(task))
        };
        self.models.iter().zip(models).map(with).collect()
    }

    /// What chooses among further networks of each model, and the references to these. `references` and `models` are those
    /// of [`RawScenario::references_with`].
    pub(super) fn variants(
        &self,
        references: &[At<Box<str>>],
        models: &[Arc<Model>],
        problems: &mut Problems,
    ) -> Vec<OfVariants> {
        let models = self.models.iter().zip(references).zip(models);
        let of_model = |((raw, reference), model): ((&RawModel, _), &Arc<Model>)| {
            if let Some(work) = &raw.work {
                let shows = raw.shows.as_ref().map_or_else(Shows::default, |it| it.value);
                let found = work::resolve(work, shows, model, reference, problems);
                return found.map(|(work, networks)| (Rule::Work(work), networks));
            }
            if let Some(variants) = &raw.variants {
                return Some((Rule::Choice, choice::references(&variants.value)));
            }
            let found = sequence::resolve(raw.sequence.as_ref()?, model, reference, problems);
            found.map(|(sequence, networks)| (Rule::Sequence(sequence), networks))
        };
        models.map(of_model).collect()
    }

    /// The sensors that the file itself describes.
    pub(super) fn sensors(&self) -> Option<&[RawSensor]> {
        self.sensors.as_deref()
    }

    /// The gates of sensors and models.
    pub(super) fn gates(&self) -> &[RawGate] {
        self.gates.as_deref().unwrap_or_default()
    }

    /// The scenario of these `models`, one for each name, with their `variants`, which read `sensors`.
    pub(crate) fn resolve(
        self,
        models: &[Arc<Model>],
        variants: Variants,
        sensors: &[InputStream],
        sources: Option<Vec<Arc<Source>>>,
        problems: &mut Problems,
    ) -> Result<Option<Scenario>, ConfigError> {
        let names = Names::collect(&self.models, models, sensors, problems);
        let is_read = |sensor: &&InputStream| {
            names.inputs.iter().flatten().any(|input| *input == sensor.name)
        };
        let mut streams: Vec<_> = sensors.iter().filter(is_read).cloned().collect();
        let pairs = self.models.iter().zip(models).zip(variants).enumerate();
        let mut active: Vec<_> = pairs
            .map(|(index, ((raw, model), variants))| {
                let network = match &raw.network_name {
                    None => Arc::clone(&model.network),
                    Some(name) => Arc::new((*model.network).clone().with_name(name.clone())),
                };
                let mut unit = UnitModel::new(names.tasks[index].clone(), network);
                unit.dataset.clone_from(&model.dataset);
                unit.quality.clone_from(&model.quality);
                let mut active = ActiveModel::new(unit, raw.fps.value);
                let inputs = names.inputs[index].iter();
                active.inputs = inputs.filter_map(|name| stream(name, &streams)).collect();
                active.dependencies = names.dependencies(raw);
                active.relative_deadline = raw.relative_deadline_ms;
                if let Some((rule, mut networks)) = variants {
                    match rule {
                        Rule::Sequence(sequence) => active.sequence = Some(sequence),
                        Rule::Work(work) => active.work = Some(work),
                        Rule::Choice => {
                            let own = raw.variants.as_ref().map_or(&[][..], |it| &it.value);
                            let shares = raw.shares_weights.as_ref().is_some_and(|it| it.value);
                            let choice = choice::resolve(own, &networks, shares, model, problems);
                            active.choice = Some(choice);
                            networks.drain(..networks.len().min(1));
                        }
                    }
                    active.variants = networks.iter().map(|it| Arc::clone(&it.network)).collect();
                }
                active.on.clone_from(&raw.on);
                active
            })
            .collect();
        if let Some(sources) = sources {
            let unread = sensors.iter().filter(|it| !is_read(it)).map(|it| &*it.name);
            let unread: Vec<&str> = unread.collect();
            add_gates(self.gates(), sources, (&mut streams, &mut active), &unread, problems)?;
        }
        Ok(match Scenario::new(self.name, streams, active) {
            Ok(scenario) => Some(scenario),
            Err(errors) => {
                let place = |error| place(&error, &self.models, &names);
                problems.extend(errors.into_iter().map(place));
                None
            }
        })
    }
}

/// What chooses among the networks of a model.
pub(super) enum Rule {
    /// The step of a sequence.
    Sequence(Sequence),
    /// The counts of a frame.
    Work(Work),
    /// A scheduler.
    Choice,
}

/// What chooses among further networks of every model, and these.
pub(super) type Variants = Vec<Option<(Rule, Vec<Arc<Model>>)>>;

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
    fn collect(
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
        for (upstream, _) in raw.iter().flat_map(|raw| raw.depends_on.iter().flatten()) {
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
            let problem = Problem::new(raw.network.span.clone(), message);
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
        let span = &raw.network.span;
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
        raw.depends_on.iter().flatten().filter_map(known).collect()
    }
}

/// The problem that an error is, at the place in the file that it is about.
fn place(error: &ScenarioError, models: &[RawModel], names: &Names) -> Problem {
    let raw = |task: &str| names.ids.get(task).map(|id| &models[id.index()]);
    let span: Option<Range<usize>> = match error {
        ScenarioError::FasterThanSensor { model, .. } => raw(model).map(|raw| raw.fps.span.clone()),
        ScenarioError::DependsOnSequence { model, upstream } => raw(model).and_then(|raw| {
            let mut named = raw.depends_on.iter().flatten().map(|(upstream, _)| upstream);
            named.find(|it| it.value == *upstream).map(|it| it.span.clone())
        }),
        ScenarioError::SelfDependency { model } => raw(model).and_then(|raw| {
            let mut own =
                raw.depends_on.iter().flatten().filter(|(upstream, _)| upstream.value == *model);
            own.next().map(|(upstream, _)| upstream.span.clone())
        }),
        ScenarioError::Cycle(tasks) => tasks.first().and_then(|task| raw(task)).and_then(|raw| {
            let mut inside = raw.depends_on.iter().flatten().map(|(upstream, _)| upstream);
            inside
                .find(|upstream| tasks.contains(&upstream.value.to_string()))
                .map(|upstream| upstream.span.clone())
        }),
        _ => None,
    };
    let span = span.unwrap_or_else(|| models.first().map_or(0..0, |raw| raw.network.span.clone()));
    let problem = Problem::new(span, error.to_string());
    match error {
        ScenarioError::FasterThanSensor { .. } => {
            problem.help("lower `fps`, or give the scenario `sensors:` with a larger `rate_fps`")
        }
        _ => problem,
    }
}

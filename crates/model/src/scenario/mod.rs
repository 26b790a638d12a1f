//! Workloads: input streams, unit models, dependencies and usage scenarios (XRBench Definitions 1 to 5).
//!
//! This module does not know hardware, costs or arrival times.
//!
//! A scenario of the caller's, whose second model runs if the result of the first one triggers it:
//!
//! ```
//! use xrsim::ids::{ModelId, StreamId};
//! use xrsim::scenario::{ActiveModel, Dependency, DependencyKind, InputStream, UnitModel};
//! use xrsim::units::{FrameRate, SimSpan};
//! use xrsim::{Catalog, Experiment, Scenario};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rate = FrameRate::from_fps(30.0).ok_or("not a rate")?;
//! let mut camera = InputStream::new("camera", rate);
//! camera.max_jitter = SimSpan::from_ms(0.5).ok_or("not a span")?;
//!
//! let mut catalog = Catalog::new();
//! let mut keyword = ActiveModel::new(UnitModel::new("KD", catalog.network("KD")?), rate);
//! keyword.inputs = vec![StreamId::new(0)];
//! let mut speech = ActiveModel::new(UnitModel::new("SR", catalog.network("SR")?), rate);
//! let kind = DependencyKind::Control { probability: 0.3 };
//! speech.dependencies = vec![Dependency { upstream: ModelId::new(0), kind }];
//! let scenario = Scenario::new("mine", vec![camera], vec![keyword, speech]);
//! let scenario = scenario.map_err(|errors| errors[0].clone())?;
//!
//! let runs = Experiment::new().scenario(scenario).system("J").pes(4096).run()?;
//! assert_eq!(runs[0].label().scenario, "mine");
//! # Ok(())
//! # }
//! ```

mod affinity;
mod choice;
mod profile;
mod recording;
mod sequence;
mod work;

use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};
use thiserror::Error;

use crate::hardware::Tasks;
use crate::ids::{FrameId, ModelId, StreamId};
use crate::model::Network;
use crate::units::{FrameRate, SimSpan};

pub use affinity::Exclusion;
pub use choice::Choice;
pub use profile::{Activity, Chain, Course, Phase, Profile, State};
pub use recording::{Dwell, DwellDistribution, Dwells, Gate};
pub use recording::{Recorded, RecordedFrame, Recording, Replay};
pub use sequence::{Between, Pace, Sequence, Step, Tokens, cache_bytes, weight_bytes};
pub use work::{Numbers, Shows, Work};

/// Distribution of jitter within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JitterDistribution {
    /// Normal distribution with a standard deviation of a third of the bound; values outside the bound
    /// are drawn again.
    #[default]
    TruncatedNormal,
    /// Uniform within the bound.
    Uniform,
}

/// Input data stream σ of a sensor (Definition 1, Table 3).
#[derive(Debug, Clone, PartialEq)]
pub struct InputStream {
    /// Name of the sensor, e.g. `camera`. It is the key of the stream's random numbers.
    pub name: Box<str>,
    /// Streaming rate FPS_sensor.
    pub rate: FrameRate,
    /// Initial latency L_init.
    pub initial_latency: SimSpan,
    /// Time from the exposure of a frame to its arrival, which is part of the age of results. It delays nothing.
    pub latency: SimSpan,
    /// Largest absolute jitter J_t.
    pub max_jitter: SimSpan,
    /// Distribution of the jitter.
    pub distribution: JitterDistribution,
    /// Arrivals from a recording, in place of nominal ones with jitter.
    pub recorded: Option<Recorded>,
    /// Gate of the sensor.
    pub gate: Option<Gate>,
}

impl InputStream {
    /// A stream without initial latency and jitter. Fields that differ are set afterwards.
    pub fn new(name: impl Into<Box<str>>, rate: FrameRate) -> Self {
        Self {
            name: name.into(),
            rate,
            initial_latency: SimSpan::ZERO,
            latency: SimSpan::ZERO,
            max_jitter: SimSpan::ZERO,
            distribution: JitterDistribution::default(),
            recorded: None,
            gate: None,
        }
    }
}

/// Direction of a quality metric, QM_type of Definition 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QualityDirection {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}

/// Model quality goal Q (Definition 2, Table 1).
#[derive(Debug, Clone, PartialEq)]
pub struct QualityGoal {
    /// Metric, e.g. `mIoU`.
    pub metric: Box<str>,
    /// Target, above 0.
    pub target: f64,
    /// Direction.
    pub better: QualityDirection,
    /// Measured value; `None` means that the goal is met, as the paper assumes for all its models.
    pub measured: Option<f64>,
    /// Value that was published for the network. Scores take it only on request.
    pub published: Option<PublishedQuality>,
}

/// A quality that was published.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedQuality {
    /// Value in the metric of the goal, not negative.
    pub value: f64,
    /// Source of the value.
    pub source: Box<str>,
}

impl Default for QualityGoal {
    /// An unspecified goal, which is met because nothing was measured.
    fn default() -> Self {
        Self {
            metric: "unspecified".into(),
            target: 1.0,
            better: QualityDirection::Higher,
            measured: None,
            published: None,
        }
    }
}

/// Unit model μ (Definition 3): a network with its task, dataset and quality goal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnitModel {
    /// Task, e.g. `KD`; names the model in reports.
    pub task: Box<str>,
    /// Network that performs the task.
    pub network: Arc<Network>,
    /// Dataset; empty if unspecified.
    pub dataset: Box<str>,
    /// Quality goal.
    pub quality: QualityGoal,
}

impl UnitModel {
    /// A unit model without a dataset, whose quality goal is unspecified and met. Fields that differ are
    /// set afterwards.
    pub fn new(task: impl Into<Box<str>>, network: Arc<Network>) -> Self {
        Self { task: task.into(), network, dataset: "".into(), quality: QualityGoal::default() }
    }
}

/// Kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DependencyKind {
    /// The model needs the result of the upstream model.
    Data,
    /// The model runs only if the upstream result triggers it.
    Control {
        /// Probability of a trigger, in [0, 1].
        probability: f64,
    },
}

/// One dependency of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependency {
    /// Model that must have finished.
    pub upstream: ModelId,
    /// Data or control.
    pub kind: DependencyKind,
}

/// A model that is active in a scenario.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ActiveModel {
    /// Unit model.
    pub unit: UnitModel,
    /// Target processing rate FPS_model.
    pub rate: FrameRate,
    /// Streams that it reads, the primary one first. Without streams, frames arrive at their nominal
    /// time.
    pub inputs: Vec<StreamId>,
    /// Networks that some of its requests run in place of that of the unit: variants 1, 2, ... of the model.
    pub variants: Vec<Arc<Network>>,
    /// How it answers, if its frames are starts of sequences; `variants` are then those of [`Sequence::networks`].
    pub sequence: Option<Sequence>,
    /// Counts of its network that differ from frame to frame; `variants` are then those of [`Work::networks`].
    pub work: Option<Work>,
    /// Networks of which each request runs one, as the system chooses; `variants` are then all but the first.
    pub choice: Option<Choice>,
    /// Models that it depends on.
    pub dependencies: Vec<Dependency>,
    /// Span from the nominal start of a frame, with the initial latency of the primary stream, to the
    /// deadline; `None`: the period of `rate`.
    pub relative_deadline: Option<SimSpan>,
    /// Names of the accelerators on which it may run; `None`: all.
    pub on: Option<Tasks>,
    /// Gate: a frame whose nominal start falls into a time when it is off does not exist.
    pub gate: Option<Gate>,
}

impl ActiveModel {
    /// A model that reads no stream, depends on no model, and has its period as relative deadline.
    /// Fields that differ are set afterwards.
    pub fn new(unit: UnitModel, rate: FrameRate) -> Self {
        Self {
            unit,
            rate,
            inputs: Vec::new(),
            variants: Vec::new(),
            sequence: None,
            work: None,
            choice: None,
            dependencies: Vec::new(),
            relative_deadline: None,
            on: None,
            gate: None,
        }
    }

    /// Frames whose nominal start is before `span`; of a sequence those of all steps that they can have.
    pub fn frames_before(&self, span: SimSpan) -> u64 {
        let steps = self.sequence.as_ref().map_or(1, Sequence::most_steps);
        self.rate.frames_before(span).saturating_mul(steps)
    }

    /// The frame at the rate of the model that `frame` belongs to: of a sequence, that of its start.
    pub fn start_of(&self, frame: FrameId) -> u64 {
        self.sequence.as_ref().map_or(frame.index() as u64, |it| it.place(frame).0)
    }

    /// Whether `frame` is a result that scores count: all but the first chunks of a prompt.
    pub fn is_result(&self, frame: FrameId) -> bool {
        self.sequence.as_ref().is_none_or(|it| it.place(frame).1.is_some())
    }

    /// Network of a request that runs `variant`, if the system chose it; otherwise that of the unit.
    pub fn network_of(&self, variant: u32) -> &Network {
        let chosen = (variant as usize).checked_sub(1).filter(|_| self.choice.is_some());
        chosen.and_then(|index| self.variants.get(index)).unwrap_or(&self.unit.network)
    }

    /// Share of the quality goal that `variant` reaches, as `accuracy` finds it from a goal with a measured value.
    pub fn quality(&self, variant: u32, accuracy: impl Fn(&QualityGoal) -> f64) -> f64 {
        match &self.choice {
            None => accuracy(&self.unit.quality),
            Some(choice) => accuracy(&choice.goal(&self.unit.quality, variant)),
        }
    }

    /// Variants whose costs lie between those of two others, after those with networks.
    pub fn between(&self) -> impl Iterator<Item = Between> {
        let of_sequence = self.sequence.iter().flat_map(Sequence::between);
        of_sequence.chain(self.work.iter().flat_map(Work::between))
    }

    /// Variant that schedulers see of a request that runs `variant`.
    pub fn shown(&self, variant: u32) -> u32 {
        self.work.as_ref().and_then(Work::shown).unwrap_or(variant)
    }

    /// The same model with this relative deadline.
    #[must_use]
    pub fn with_relative_deadline(self, span: SimSpan) -> Self {
        Self { relative_deadline: Some(span), ..self }
    }
}

/// Usage scenario θ (Definition 4, Table 2), with its dependency graph checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    name: Box<str>,
    streams: Vec<InputStream>,
    models: Vec<ActiveModel>,
    topological: Vec<ModelId>,
}

/// Contradictions within a scenario.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// No models.
    #[error("scenario `{0}` has no models")]
    Empty(String),
    /// A model is faster than a sensor that feeds it.
    #[error("{model} asks for {wanted} but its input `{stream}` delivers only {available}")]
    FasterThanSensor {
        /// Model.
        model: Box<str>,
        /// Its rate.
        wanted: FrameRate,
        /// Sensor.
        stream: Box<str>,
        /// The sensor's rate.
        available: FrameRate,
    },
    /// A trigger probability outside [0, 1].
    #[error("{model} is triggered with probability {found}; allowed are 0 to 1")]
    Probability {
        /// Model.
        model: Box<str>,
        /// Given probability.
        found: f64,
    },
    /// A model depends on itself.
    #[error("{model} depends on itself")]
    SelfDependency {
        /// Model.
        model: Box<str>,
    },
    /// A model names the same upstream twice.
    #[error("{model} depends on {upstream} twice")]
    DependencyTwice {
        /// Model.
        model: Box<str>,
        /// Upstream.
        upstream: Box<str>,
    },
    /// A model depends on a sequence.
    #[error("{model} depends on {upstream}, which is a sequence; its result is not one of a frame")]
    DependsOnSequence {
        /// Model.
        model: Box<str>,
        /// Upstream.
        upstream: Box<str>,
    },
    /// Models wait for each other.
    #[error("these models wait for each other: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
}

impl Scenario {
    /// A scenario of `models` in file order, whose `inputs` index `streams`.
    ///
    /// # Errors
    ///
    /// Returns every contradiction in file order, and a dependency cycle last.
    ///
    /// # Panics
    ///
    /// Panics if an input or dependency indexes outside its table; the caller resolves names first.
    pub fn new(
        name: impl Into<Box<str>>,
        streams: Vec<InputStream>,
        models: Vec<ActiveModel>,
    ) -> Result<Self, Vec<ScenarioError>> {
        let name = name.into();
        if models.is_empty() {
            return Err(vec![ScenarioError::Empty(name.into())]);
        }
        let mut errors = Vec::new();
        for (index, model) in models.iter().enumerate() {
            check_model(ModelId::new(index), model, &models, &streams, &mut errors);
        }
        let topological = topological_order(&models).unwrap_or_else(|cycle| {
            // A self-dependency was reported above, with a clearer message.
            if cycle.len() > 1 {
                errors.push(ScenarioError::Cycle(cycle));
            }
            Vec::new()
        });
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self { name, streams, models, topological })
    }

    /// Name, e.g. `AR_gaming`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Input streams, indexed by [`StreamId`].
    pub fn streams(&self) -> &[InputStream] {
        &self.streams
    }

    /// Models in file order, indexed by [`ModelId`].
    pub fn models(&self) -> &[ActiveModel] {
        &self.models
    }

    /// Model of this id.
    pub fn model(&self, id: ModelId) -> &ActiveModel {
        &self.models[id.index()]
    }

    /// Every network that requests run with its model, in the order of the rows of a cost table: the networks of the
    /// models, then the further variants of each.
    pub fn variants(&self) -> impl Iterator<Item = (ModelId, &Arc<Network>)> {
        let models = || self.model_ids().zip(&self.models);
        let own = models().map(|(id, model)| (id, &model.unit.network));
        own.chain(models().flat_map(|(id, it)| it.variants.iter().map(move |one| (id, one))))
    }

    /// Model of every row of a cost table: those of [`Scenario::variants`], and after those of each model the rows
    /// between two of them.
    pub fn rows(&self) -> impl Iterator<Item = ModelId> {
        let further = self.model_ids().zip(&self.models);
        let further = further.map(|(id, it)| (id, it.variants.len() + it.between().count()));
        self.model_ids().chain(further.flat_map(|(id, n)| std::iter::repeat_n(id, n)))
    }

    /// Ids in file order.
    pub fn model_ids(&self) -> impl ExactSizeIterator<Item = ModelId> + use<> {
        (0..self.models.len()).map(ModelId::new)
    }

    /// Ids in an order in which every model follows the models that it depends on; file order breaks
    /// ties.
    pub fn topological(&self) -> &[ModelId] {
        &self.topological
    }
}

fn check_model(
    id: ModelId,
    model: &ActiveModel,
    models: &[ActiveModel],
    streams: &[InputStream],
    errors: &mut Vec<ScenarioError>,
) {
    let task = &model.unit.task;
    for stream in model.inputs.iter().map(|input| &streams[input.index()]) {
        if stream.rate < model.rate {
            errors.push(ScenarioError::FasterThanSensor {
                model: task.clone(),
                wanted: model.rate,
                stream: stream.name.clone(),
                available: stream.rate,
            });
        }
    }
    for (index, dependency) in model.dependencies.iter().enumerate() {
        if dependency.upstream == id {
            errors.push(ScenarioError::SelfDependency { model: task.clone() });
        }
        if model.dependencies[..index].iter().any(|other| other.upstream == dependency.upstream) {
            errors.push(ScenarioError::DependencyTwice {
                model: task.clone(),
                upstream: models[dependency.upstream.index()].unit.task.clone(),
            });
        }
        let upstream = &models[dependency.upstream.index()];
        if upstream.sequence.is_some() && dependency.upstream != id {
            let upstream = upstream.unit.task.clone();
            errors.push(ScenarioError::DependsOnSequence { model: task.clone(), upstream });
        }
        if let DependencyKind::Control { probability } = dependency.kind
            && !(0.0..=1.0).contains(&probability)
        {
            errors.push(ScenarioError::Probability { model: task.clone(), found: probability });
        }
    }
}

/// Topological order by petgraph, or the tasks along one cycle.
fn topological_order(models: &[ActiveModel]) -> Result<Vec<ModelId>, Vec<String>> {
    let mut graph = DiGraph::<ModelId, ()>::new();
    // Added in reverse: petgraph's depth-first order then keeps file order among equals.
    let mut nodes: Vec<NodeIndex> =
        (0..models.len()).rev().map(|index| graph.add_node(ModelId::new(index))).collect();
    nodes.reverse();
    for (index, model) in models.iter().enumerate() {
        for dependency in &model.dependencies {
            graph.add_edge(nodes[dependency.upstream.index()], nodes[index], ());
        }
    }
    match petgraph::algo::toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(|node| graph[node]).collect()),
        Err(cycle) => {
            let members = petgraph::algo::tarjan_scc(&graph)
                .into_iter()
                .find(|component| component.contains(&cycle.node_id()))
                .expect("the node of a cycle lies in some component");
            let mut ids: Vec<_> = members.into_iter().map(|node| graph[node]).collect();
            ids.sort();
            Err(ids.iter().map(|id| models[id.index()].unit.task.to_string()).collect())
        }
    }
}

//! Who asks, and how often: input streams, unit models, dependencies and usage scenarios
//! (XRBench Definitions 1 to 5).
//!
//! Knows nothing of hardware, costs or time of arrival.

use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};
use thiserror::Error;

use crate::ids::{ModelId, StreamId};
use crate::model::Network;
use crate::units::{FrameRate, SimSpan};

/// Distribution of jitter within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JitterDistribution {
    /// Normal with a standard deviation of a third of the bound, redrawn outside the bound.
    #[default]
    TruncatedNormal,
    /// Uniform within the bound.
    Uniform,
}

/// Input data stream σ of a sensor (Definition 1, Table 3).
#[derive(Debug, Clone, PartialEq)]
pub struct InputStream {
    /// Sensor, e.g. `camera`. Its random streams are keyed by this name.
    pub name: Box<str>,
    /// Streaming rate FPS_sensor.
    pub rate: FrameRate,
    /// Initial latency L_init.
    pub initial_latency: SimSpan,
    /// Largest absolute jitter J_t.
    pub max_jitter: SimSpan,
    /// Distribution of the jitter.
    pub distribution: JitterDistribution,
}

/// Direction of a quality metric, QM_type of Definition 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
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
    /// Target, above zero.
    pub target: f64,
    /// Direction.
    pub better: Better,
    /// Measured value; `None` means that the goal is met, as the paper assumes for all its models.
    pub measured: Option<f64>,
}

/// Unit model μ (Definition 3): a network with what it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitModel {
    /// Task, e.g. `KD`; names the model in reports.
    pub task: Box<str>,
    /// The network that does it.
    pub network: Arc<Network>,
    /// Dataset.
    pub dataset: Box<str>,
    /// Quality goal.
    pub quality: QualityGoal,
}

/// How a model depends on another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DependencyKind {
    /// Needs the upstream result.
    Data,
    /// Runs only if the upstream result asks for it, which it does with this probability.
    Control {
        /// Probability of a trigger, in [0, 1].
        probability: f64,
    },
}

/// One dependency of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependency {
    /// The model that must have finished.
    pub upstream: ModelId,
    /// Data or control.
    pub kind: DependencyKind,
}

/// A model that is active in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveModel {
    /// What runs. Its network's name is the model's name in the published artifact unless
    /// `artifact_name` says otherwise.
    pub unit: UnitModel,
    /// Name in the published artifact's files; orders models in `mlsys2023` semantics.
    pub artifact_name: Box<str>,
    /// Target processing rate FPS_model.
    pub rate: FrameRate,
    /// Streams that it reads, the primary one first. Empty: frames are ready at their nominal time.
    pub inputs: Vec<StreamId>,
    /// What it waits for.
    pub dependencies: Vec<Dependency>,
    /// Time from nominal arrival to deadline in place of the period.
    pub relative_deadline: Option<SimSpan>,
}

/// Usage scenario θ (Definition 4, Table 2), with its dependency graph checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    name: Box<str>,
    streams: Vec<InputStream>,
    models: Vec<ActiveModel>,
    topological: Vec<ModelId>,
}

/// A scenario that contradicts itself.
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
        /// What was given.
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
    /// Models wait for each other.
    #[error("these models wait for each other: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
}

impl Scenario {
    /// A scenario of `models` in file order, whose `inputs` index `streams`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, in file order; a dependency cycle last.
    ///
    /// # Panics
    ///
    /// If an input or dependency indexes outside its table; the caller resolves names first.
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

    /// The model with this id.
    pub fn model(&self, id: ModelId) -> &ActiveModel {
        &self.models[id.index()]
    }

    /// Ids in file order.
    pub fn model_ids(&self) -> impl ExactSizeIterator<Item = ModelId> + use<> {
        (0..self.models.len()).map(ModelId::new)
    }

    /// Ids such that every model follows the models it depends on; file order breaks ties.
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

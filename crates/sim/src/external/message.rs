//! Lines of the protocol.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::device::{Charge, Supplies};
use crate::schedule::{
    AcceleratorState, Activity, Breakdown, Decision, Dispatch, Granularity, History, Job, Setup,
    View,
};
use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, ModelId, PointId, WorkId};
use xrsim_model::scenario::{ActiveModel, DependencyKind, Scenario};
use xrsim_model::text;
use xrsim_model::units::{SimSpan, SimTime};

/// Versions of the protocol: without anything that the second one adds, and with it.
const VERSIONS: [u32; 2] = [1, 2];

/// Most characters of an answer in a message.
const MAX_QUOTE: usize = 200;

#[derive(Serialize)]
struct SetupLine<'a> {
    xrsim_scheduler: u32,
    scenario: &'a str,
    models: Vec<ModelLine<'a>>,
    n_accelerators: usize,
    /// `[model][accelerator]`, for one sample.
    latency_ns: Vec<Vec<u64>>,
    energy_mj: Vec<Vec<f64>>,
    /// `[model][accelerator][layer]`, for one sample; one layer if only the whole is known.
    layer_latency_ns: Vec<Vec<Vec<u64>>>,
    layer_energy_mj: Vec<Vec<Vec<f64>>>,
    k_per_ms: f64,
    energy_max_mj: f64,
    /// `[accelerator]`, with a device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    points: Vec<PointsLine>,
    /// `[model]`, if a model has several networks; empty for models without a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Vec<VariantLine<'a>>>,
}

#[derive(Serialize)]
struct PointsLine {
    nominal: usize,
    clock_mhz: Vec<f64>,
    volt: Vec<f64>,
    /// `[point][model]`, for one sample.
    latency_ns: Vec<Vec<u64>>,
    energy_mj: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct VariantLine<'a> {
    network: &'a str,
    measured: Option<f64>,
    /// `[accelerator]`.
    latency_ns: Vec<u64>,
    energy_mj: Vec<f64>,
}

/// State of the device.
#[derive(Serialize)]
struct DeviceLine<'a> {
    /// `[accelerator]`.
    point: Vec<usize>,
    cap: Vec<usize>,
    gated: Vec<bool>,
    temperatures_c: BTreeMap<&'a str, f64>,
    charge: Option<f64>,
}

#[derive(Serialize)]
struct ModelLine<'a> {
    task: &'a str,
    network: &'a str,
    fps: f64,
    depends_on: Vec<DependencyLine>,
}

#[derive(Serialize)]
struct DependencyLine {
    model: usize,
    /// Probability of a trigger; absent for a data dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

#[derive(Serialize)]
struct ViewLine<'a> {
    id: u64,
    now_ns: u64,
    ready: Vec<JobLine>,
    idle: Vec<usize>,
    accelerators: Vec<AcceleratorLine>,
    history: Vec<HistoryLine>,
    blocked: &'a [u32],
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceLine<'a>>,
}

#[derive(Serialize)]
struct JobLine {
    request: usize,
    model: usize,
    frame: usize,
    batch: u32,
    next_layer: u32,
    arrival_ns: u64,
    /// `arrival_ns` under its name up to version 0.1; gone with 0.3.
    release_ns: u64,
    deadline_ns: u64,
    ready_since_ns: u64,
    waited_ns: u64,
    last_accelerator: Option<usize>,
    /// If its model has several networks.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<u32>,
}

#[derive(Serialize)]
struct AcceleratorLine {
    idle: bool,
    since_ns: u64,
    request: Option<usize>,
    model: Option<usize>,
    predicted_end_ns: Option<u64>,
    resident: Option<usize>,
}

#[derive(Serialize)]
struct HistoryLine {
    on_time: u32,
    late: u32,
    dropped: u32,
    misses: u64,
    drops: u64,
    last_start_ns: Option<u64>,
    energy_mj: f64,
}

/// First line of the protocol, which is sent to a policy.
pub fn setup_line(setup: &Setup<'_>) -> String {
    let models = || setup.scenario.model_ids();
    let accelerators = || (0..setup.costs.n_accelerators()).map(AccelId::new);
    let costs = setup.costs;
    let has_news = !setup.supplied.is_empty() || has_choices(setup.scenario);
    let line = SetupLine {
        xrsim_scheduler: VERSIONS[usize::from(has_news)],
        scenario: setup.scenario.name(),
        models: setup.scenario.models().iter().map(model).collect(),
        n_accelerators: costs.n_accelerators(),
        latency_ns: models()
            .map(|model| {
                accelerators().map(|at| costs.on(shown(setup, model), at).latency().ns()).collect()
            })
            .collect(),
        energy_mj: models()
            .map(|model| {
                accelerators().map(|at| costs.on(shown(setup, model), at).energy().get()).collect()
            })
            .collect(),
        layer_latency_ns: models()
            .map(|model| accelerators().map(|at| layer_latencies(setup, model, at)).collect())
            .collect(),
        layer_energy_mj: models()
            .map(|model| accelerators().map(|at| layer_energies(setup, model, at)).collect())
            .collect(),
        k_per_ms: setup.score.k_per_ms,
        energy_max_mj: setup.score.energy_max.get(),
        points: accelerators().zip(setup.supplied).map(|(at, it)| points(setup, at, it)).collect(),
        variants: match has_choices(setup.scenario) {
            true => models().map(|model| variants(setup, model)).collect(),
            false => Vec::new(),
        },
    };
    to_json(&line)
}

fn has_choices(scenario: &Scenario) -> bool {
    scenario.models().iter().any(|model| model.choice.is_some())
}

/// Points of an accelerator, with the costs there of what is shown of every model.
fn points(setup: &Setup<'_>, at: AccelId, supplied: &Supplied) -> PointsLine {
    let all = supplied.points.all();
    let executions = |index: usize| {
        let costs = setup.costs.at(PointId::new(index));
        setup.scenario.model_ids().map(move |model| costs.on(shown(setup, model), at))
    };
    let each = 0..all.len();
    PointsLine {
        nominal: supplied.nominal.index(),
        clock_mhz: all.iter().map(|point| point.clock.as_mhz()).collect(),
        volt: all.iter().map(|point| point.volt).collect(),
        latency_ns: each
            .clone()
            .map(|index| executions(index).map(|it| it.latency().ns()).collect())
            .collect(),
        energy_mj: each
            .map(|index| executions(index).map(|it| it.energy().get()).collect())
            .collect(),
    }
}

/// Networks of a model of which each request runs one; none if there is no choice.
fn variants<'a>(setup: &Setup<'a>, model: ModelId) -> Vec<VariantLine<'a>> {
    let active = setup.scenario.model(model);
    let Some(choice) = &active.choice else { return Vec::new() };
    let works = (0..setup.costs.n_variants(model)).map(|variant| {
        let work = setup.costs.variant(model, variant)?;
        let accelerators = (0..setup.costs.n_accelerators()).map(AccelId::new);
        let executions = accelerators.map(move |at| setup.costs.on(work, at));
        Some(VariantLine {
            network: active.network_of(variant).name(),
            measured: choice.measured.get(variant as usize).copied().flatten(),
            latency_ns: executions.clone().map(|it| it.latency().ns()).collect(),
            energy_mj: executions.map(|it| it.energy().get()).collect(),
        })
    });
    works.flatten().collect()
}

/// Row of the costs that is shown of a model: that of the planned counts, or of the mean ones.
fn shown(setup: &Setup<'_>, model: ModelId) -> WorkId {
    let variant = setup.scenario.model(model).shown(0);
    setup.costs.variant(model, variant).unwrap_or(model.into())
}

fn layer_latencies(setup: &Setup<'_>, model: ModelId, at: AccelId) -> Vec<u64> {
    layers(setup, model)
        .map(|layer| setup.costs.on(shown(setup, model), at).layer_time(layer).ns())
        .collect()
}

fn layer_energies(setup: &Setup<'_>, model: ModelId, at: AccelId) -> Vec<f64> {
    let energy = |layer: u32| setup.costs.on(shown(setup, model), at).layer_energy(layer).get();
    layers(setup, model).map(energy).collect()
}

/// Layers of `model`; one if they are not known.
fn layers(setup: &Setup<'_>, model: ModelId) -> Range<u32> {
    0..setup.costs.n_layers(shown(setup, model))
}

fn model(model: &ActiveModel) -> ModelLine<'_> {
    let dependencies = model.dependencies.iter().map(|dependency| DependencyLine {
        model: dependency.upstream.index(),
        probability: match dependency.kind {
            DependencyKind::Data => None,
            DependencyKind::Control { probability } => Some(probability),
        },
    });
    ModelLine {
        task: &model.unit.task,
        network: model.unit.network.name(),
        fps: model.rate.as_fps(),
        depends_on: dependencies.collect(),
    }
}

/// Number of networks of every model of which each request runs one; 0 where there is no choice.
pub(super) fn choices(setup: &Setup<'_>) -> Vec<u32> {
    let models = setup.scenario.models().iter().zip(setup.scenario.model_ids());
    let choices = models.map(|(active, id)| match active.choice {
        Some(_) => setup.costs.n_variants(id),
        None => 0,
    });
    choices.collect()
}

/// Line that asks for decision `id`, with the `choices` of all models.
pub(super) fn view(id: u64, view: &View<'_>, choices: &[u32]) -> String {
    to_json(&ViewLine {
        id,
        now_ns: view.now.ns(),
        ready: view.ready.iter().map(|it| job(it, view, choices)).collect(),
        idle: view.idle.iter().map(|at| at.index()).collect(),
        accelerators: view.accelerators.iter().map(accelerator).collect(),
        history: view.history.iter().map(history).collect(),
        blocked: view.blocked,
        device: view.supplies.map(|supplies| device(supplies, view)),
    })
}

fn device<'a>(supplies: &'a Supplies, view: &View<'_>) -> DeviceLine<'a> {
    let idles = |it: &AcceleratorState| matches!(it.activity, Activity::Idle { .. });
    let gated = supplies.gated(view.now).zip(view.accelerators);
    let standing = || supplies.standing.iter();
    DeviceLine {
        point: standing().map(|it| it.point.index()).collect(),
        cap: standing().map(|it| it.cap.index()).collect(),
        gated: gated.map(|(gated, it)| gated && idles(it)).collect(),
        temperatures_c: supplies.body.temperatures().collect(),
        charge: supplies.body.charge().map(Charge::left),
    }
}

fn to_json(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("plain numbers and text are JSON")
}

fn job(job: &Job, view: &View<'_>, choices: &[u32]) -> JobLine {
    let variant = || view.costs.variant_of(job.work);
    JobLine {
        request: job.request.index(),
        model: job.model.index(),
        frame: job.frame.index(),
        batch: view.batch(job),
        next_layer: job.next_layer,
        arrival_ns: job.arrival.ns(),
        release_ns: job.arrival.ns(),
        deadline_ns: job.deadline.ns(),
        ready_since_ns: job.ready_since.ns(),
        waited_ns: job.waited.ns(),
        last_accelerator: job.last_accelerator.map(AccelId::index),
        variant: (choices[job.model.index()] > 0).then(variant),
    }
}

fn accelerator(state: &AcceleratorState) -> AcceleratorLine {
    let resident = state.resident.map(|model| model.index());
    match state.activity {
        Activity::Idle { since } => AcceleratorLine {
            idle: true,
            since_ns: since.ns(),
            request: None,
            model: None,
            predicted_end_ns: None,
            resident,
        },
        Activity::Running { request, model, since, predicted_end } => AcceleratorLine {
            idle: false,
            since_ns: since.ns(),
            request: Some(request.index()),
            model: Some(model.index()),
            predicted_end_ns: Some(predicted_end.ns()),
            resident,
        },
    }
}

fn history(history: &History) -> HistoryLine {
    HistoryLine {
        on_time: history.on_time,
        late: history.late,
        dropped: history.dropped,
        misses: history.misses,
        drops: history.drops,
        last_start_ns: history.last_start.map(SimTime::ns),
        energy_mj: history.energy.get(),
    }
}

/// Answer of a policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    id: u64,
    #[serde(rename = "do")]
    action: Action,
    request: Option<usize>,
    accelerator: Option<usize>,
    /// Called `extent` up to version 0.1; that name is refused from 0.3.
    #[serde(alias = "extent")]
    granularity: Option<GranularityName>,
    block_ms: Option<f64>,
    message: Option<String>,
    point: Option<usize>,
    variant: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Dispatch,
    Drop,
    Wait,
    Fail,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GranularityName {
    Model,
    Block,
    Layer,
}

impl Answer {
    /// Parses a line as the answer to decision `asked`.
    pub(super) fn parse(line: &str, asked: u64) -> Result<Self, String> {
        let answer: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match answer.id == asked {
            true => Ok(answer),
            false => Err(format!("the id of the question was {asked}")),
        }
    }

    /// Decision in `view`, where models have these `choices`; an error message if the view does not allow it.
    pub(super) fn decision(
        &self,
        view: &View<'_>,
        choices: &[u32],
        default: Granularity,
    ) -> Result<Decision, String> {
        if !matches!(self.action, Action::Dispatch) && (self.point, self.variant) != (None, None) {
            return Err("point and variant belong to dispatch, and to nothing else".into());
        }
        match self.action {
            Action::Dispatch => {
                let accelerator = self.accelerator.ok_or("it names no accelerator");
                let (request, accelerator) = (self.request()?, accelerator?);
                let granularity = self.granularity(default)?;
                let job = self.job(view, request, choices)?;
                let dispatch = dispatch_in(view, &job, accelerator, granularity)?;
                Ok(self.changed(dispatch, view)?.into())
            }
            Action::Drop => drop_of(view, self.request()?),
            Action::Wait => Ok(Decision::Wait),
            Action::Fail => {
                Ok(Decision::Fail(Breakdown::new(self.message.as_deref().unwrap_or("gave up"))))
            }
        }
    }

    /// Request number `request` with the network of the answer, where models have these `choices`.
    fn job(&self, view: &View<'_>, request: usize, choices: &[u32]) -> Result<Job, String> {
        let job = *ready(view, request)?;
        let Some(variant) = self.variant else { return Ok(job) };
        let (model, n) = (job.model.index(), choices[job.model.index()]);
        let work = view.costs.variant(job.model, variant).filter(|_| variant < n);
        let Some(work) = work else {
            let most = n.checked_sub(1);
            let allowed = most.map_or("no variants".into(), |it| format!("variants 0 to {it}"));
            return Err(format!("model {model} has {allowed}"));
        };
        match job.next_layer {
            0 => Ok(Job { work, ..job }),
            _ => Err(format!("request {request} has begun")),
        }
    }

    /// `dispatch` with the point and the variant of the answer.
    fn changed(&self, mut dispatch: Dispatch, view: &View<'_>) -> Result<Dispatch, String> {
        let at = dispatch.accelerator;
        if let Some(point) = self.point {
            let supplied = view.supplies.map(|it| &it.supplied[at.index()]);
            let supplied = supplied.ok_or("there is no device, and so no points")?;
            let highest = supplied.points.highest();
            if point > highest.index() {
                let (at, highest) = (at.index(), highest.index());
                return Err(format!("accelerator {at} has the points 0 to {highest}"));
            }
            dispatch = dispatch.at(PointId::new(point));
        }
        if let Some(variant) = self.variant {
            dispatch = dispatch.of_variant(variant);
        }
        Ok(dispatch)
    }

    fn request(&self) -> Result<usize, String> {
        self.request.ok_or_else(|| "it names no request".into())
    }

    fn granularity(&self, default: Granularity) -> Result<Granularity, String> {
        match (&self.granularity, self.block_ms) {
            (None, None) => Ok(default),
            (Some(GranularityName::Model), None) => Ok(Granularity::Model),
            (Some(GranularityName::Layer), None) => Ok(Granularity::Layer),
            (Some(GranularityName::Block), Some(ms)) => {
                let span = SimSpan::from_ms(ms).filter(|span| *span > SimSpan::ZERO);
                span.map(Granularity::Block).ok_or_else(|| format!("a block of {ms} ms"))
            }
            _ => Err("block_ms belongs to granularity block, and to nothing else".into()),
        }
    }
}

/// The decision to start request `request` on accelerator `accelerator`, both by their numbers.
///
/// # Errors
///
/// A message if the view does not allow it.
pub fn dispatch_of(
    view: &View<'_>,
    request: usize,
    accelerator: usize,
    granularity: Granularity,
) -> Result<Decision, String> {
    dispatch_in(view, ready(view, request)?, accelerator, granularity).map(Decision::from)
}

fn dispatch_in(
    view: &View<'_>,
    job: &Job,
    accelerator: usize,
    granularity: Granularity,
) -> Result<Dispatch, String> {
    let idle = view.idle.iter().copied().find(|at| at.index() == accelerator);
    let at = idle.ok_or_else(|| format!("accelerator {accelerator} is not idle"))?;
    match view.execution(job, at).is_offered() {
        true => Ok(Dispatch::new(job.request, at).with_granularity(granularity)),
        false => {
            let request = job.request.index();
            Err(format!("accelerator {accelerator} cannot run request {request}"))
        }
    }
}

/// The decision to give up request `request`, by its number.
///
/// # Errors
///
/// A message if the request is not ready.
pub fn drop_of(view: &View<'_>, request: usize) -> Result<Decision, String> {
    ready(view, request).map(|job| Decision::Drop(job.request))
}

/// The ready request of this number.
fn ready<'v>(view: &View<'v>, request: usize) -> Result<&'v Job, String> {
    let shown = view.ready.iter().find(|job| job.request.index() == request);
    shown.ok_or_else(|| format!("request {request} is not ready"))
}

/// A line as part of a message: printable and of limited length.
pub(super) fn quoted(line: &str) -> String {
    let start: String = line.chars().take(MAX_QUOTE).collect();
    let more = if start.len() < line.len() { "..." } else { "" };
    format!("`{}{more}`", text::in_line(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_a_message_is_printable_and_short() {
        assert_eq!(quoted("{\"do\":\"wait\"}"), "`{\"do\":\"wait\"}`");
        assert_eq!(quoted("a\tb\u{7}"), "`a\\tb\\u{7}`");
        assert_eq!(quoted(&"é".repeat(300)), format!("`{}...`", "é".repeat(200)));
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_refused() {
        let refused = |line: &str| Answer::parse(line, 7).unwrap_err();
        assert!(refused("").starts_with("EOF while parsing"));
        assert!(refused("{\"id\":7}").starts_with("missing field `do`"));
        assert!(refused("{\"id\":7,\"do\":\"run\"}").starts_with("unknown variant `run`"));
        assert!(refused("{\"id\":7,\"do\":\"wait\",\"x\":1}").starts_with("unknown field `x`"));
        assert_eq!(refused("{\"id\":6,\"do\":\"wait\"}"), "the id of the question was 7");
        assert!(Answer::parse("{\"id\":7,\"do\":\"wait\"}", 7).is_ok());
    }
}

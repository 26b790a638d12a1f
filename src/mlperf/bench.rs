//! An accelerator system with everything that tests of it need: costs of every batch of its tenants, a
//! scheduler, and a usage scenario whose frames run beside the queries.

use std::ops::Range;
use std::sync::Arc;

use crate::cost::CostError;
use crate::cost::batch::BatchCosts;
use crate::cost::library::CostLibrary;
use crate::cost::{CostModel, CostTable, NetworkCost};
use crate::engine::{Run, Traced};
use crate::hardware::{Accelerator, System};
use crate::ids::{AccelId, ModelId};
use crate::load::{LoadSettings, RequestStream};
use crate::model::Network;
use crate::plan::{EngineSettings, Plan};
use crate::scenario::{ActiveModel, Better, QualityGoal, Scenario, ScenarioError, UnitModel};
use crate::schedule::{Breakdown, Policy, PolicyFailure};
use crate::score::{Score, ScoreSettings, score};
use crate::trace::Trace;
use crate::units::{Cycles, FrameRate, Millijoules, SimSpan, SimTime};

use super::bed::{Burst, Measured, TestBed, TestError};
use super::one_queue::OneQueue;
use super::performance::{Measurement, measure, measure_scheduled};
use super::schedule::Schedule;
use super::settings::Settings;
use super::sut::{Completions, Sample};
use super::system::AcceleratorSystem;

/// How samples that wait are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batching {
    /// Most samples of a batch, from 1 to [`Batching::MAX`].
    pub max: u32,
    /// How long a sample waits for others while its batch is not full; zero never holds one back.
    pub wait: SimSpan,
}

impl Batching {
    /// Most samples of a batch.
    pub const MAX: u32 = 256;

    /// Every sample by itself.
    pub const NONE: Self = Self { max: 1, wait: SimSpan::ZERO };
}

/// A network that queries are issued for.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Network.
    pub network: Arc<Network>,
    /// How its samples are joined.
    pub batching: Batching,
    /// From arrival to deadline, for schedulers that look at deadlines.
    pub bound: SimSpan,
}

impl Tenant {
    /// Whether samples wait for others while an accelerator is idle.
    pub(super) fn holds_back(&self) -> bool {
        self.batching.wait > SimSpan::ZERO
    }
}

/// A system with everything that runs on it, to be measured any number of times.
#[derive(Debug, Clone)]
pub struct Bench {
    /// What the engine plays: models of the usage scenario, then the batches of every tenant.
    plan: Plan,
    /// Costs of those models.
    costs: Arc<CostTable>,
    background: Option<Background>,
    /// Rows of the cost table of every tenant: batches of 1, 2, ... samples.
    tenants: Vec<(Range<usize>, Tenant)>,
}

/// A bench that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A network cannot run on an accelerator.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Networks whose names collide.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Scenario(Vec<ScenarioError>),
}

/// What runs beside the queries, for as long as they come.
#[derive(Debug, Clone)]
pub struct Background {
    /// Usage scenario.
    pub scenario: Arc<Scenario>,
    /// Its draws; its duration is that of the test.
    pub load: LoadSettings,
}

/// What came of queries beside a usage scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Played<T> {
    /// What came of the queries.
    pub queries: T,
    /// Energy of their batches.
    pub energy: Millijoules,
    /// Scores of the frames that came until the last query was done; `None` if none of them counts.
    pub beside: Option<Score>,
    /// What happened on the accelerators: frames of the usage scenario, then batches if they are traced.
    pub run: Run,
}

impl Bench {
    /// Costs `tenants` in batches of every size on `system`, whose accelerators `scheduler` hands out.
    ///
    /// # Errors
    ///
    /// [`BenchError`].
    ///
    /// # Panics
    ///
    /// If there is no tenant, or one whose largest batch is not allowed.
    pub fn new(
        tenants: Vec<Tenant>,
        background: Option<Background>,
        system: Arc<System>,
        cost_model: &dyn CostModel,
        scheduler: Policy,
        engine: EngineSettings,
    ) -> Result<Self, BenchError> {
        let allowed = |tenant: &Tenant| (1..=Batching::MAX).contains(&tenant.batching.max);
        assert!(!tenants.is_empty() && tenants.iter().all(allowed), "batches have a size");
        let beside = background.as_ref().map(|it| &*it.scenario);
        let mut models = beside.map_or(Vec::new(), |it| it.models().to_vec());
        let streams = beside.map_or(Vec::new(), |it| it.streams().to_vec());
        let mut rows = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            let first = models.len();
            let number = rows.len() + 1;
            models.extend((1..=tenant.batching.max).map(|samples| batch(&tenant, number, samples)));
            rows.push((first..models.len(), tenant));
        }
        let scenario = Scenario::new("queries", streams, models).map_err(BenchError::Scenario)?;
        let mut cells = Vec::with_capacity(scenario.models().len() * system.accelerators().len());
        if let Some(beside) = beside {
            let library = CostLibrary::evaluate(cost_model, [(beside, &*system)]);
            cells.extend(library.table(beside, &system)?.into_networks());
        }
        for (_, tenant) in &rows {
            cells.extend(batch_costs(tenant, &system, cost_model)?);
        }
        let costs = CostTable::new(cells, system.accelerators().len());
        let plan = Plan {
            scenario: Arc::new(scenario),
            system,
            load: background.as_ref().map_or_else(LoadSettings::default, |it| it.load.clone()),
            engine,
            scheduler,
            score: ScoreSettings::default(),
        };
        Ok(Self { plan, costs: Arc::new(costs), background, tenants: rows })
    }

    /// What the engine plays: models of the usage scenario, then the batches of every tenant.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Costs of the models of [`Bench::plan`] on every accelerator.
    pub fn costs(&self) -> &Arc<CostTable> {
        &self.costs
    }

    pub(super) fn tenants(&self) -> impl Iterator<Item = &Tenant> + Clone {
        self.tenants.iter().map(|(_, tenant)| tenant)
    }

    pub(super) fn tenant(&self, tenant: usize) -> &Tenant {
        &self.tenants[tenant].1
    }

    /// The model that stands for a batch.
    pub(super) fn row(&self, tenant: usize, samples: u32) -> ModelId {
        ModelId::new(self.tenants[tenant].0.start + samples as usize - 1)
    }

    /// What is said of a scheduler that drops a query.
    pub(super) fn refuses_to_drop(&self) -> PolicyFailure {
        let message = "it gave up a query, which no load generator allows";
        Breakdown::new(message).of(self.plan.scheduler.label())
    }

    /// Samples of a tenant per second that the accelerators serve in full batches, each by itself.
    pub fn capacity_of(&self, tenant: usize) -> f64 {
        let max = self.tenant(tenant).batching.max;
        let model = self.row(tenant, max);
        self.accelerators().map(|at| rate(max, self.costs.on(model, at).latency())).sum()
    }

    /// Samples of a tenant per second that the accelerators complete at most, in batches of any size. A
    /// scheduler that takes layers one by one may run each where it is fastest.
    pub fn most_of(&self, tenant: usize) -> f64 {
        let (costs, scheduler) = (&self.costs, &self.plan.scheduler);
        let in_batches = |samples: u32| -> f64 {
            let model = self.row(tenant, samples);
            match scheduler.is_first_come_on_fastest() {
                true => {
                    self.accelerators().map(|at| rate(samples, costs.on(model, at).latency())).sum()
                }
                false => costs.n_accelerators() as f64 * rate(samples, self.shortest(model)),
            }
        };
        (1..=self.tenant(tenant).batching.max).map(in_batches).fold(0.0, f64::max)
    }

    /// What a model takes with every layer on the accelerator that is fastest at it.
    fn shortest(&self, model: ModelId) -> SimSpan {
        let (costs, system) = (&self.costs, &self.plan.system);
        let layers = |at: AccelId| &costs.on(model, at).network().layers;
        let n_layers = self.accelerators().map(|at| layers(at).len()).min().unwrap_or(0);
        let fastest = |layer: usize| {
            let of = |at: AccelId| {
                let clock = system.accelerators()[at.index()].clock;
                Cycles::new(layers(at)[layer].cycles).at(clock)
            };
            self.accelerators().map(of).min().unwrap_or_default()
        };
        let by_layer = (0..n_layers).map(fastest).fold(SimSpan::ZERO, SimSpan::saturating_add);
        let whole =
            self.accelerators().map(|at| costs.on(model, at).latency()).min().unwrap_or_default();
        if n_layers == 0 { whole } else { whole.min(by_layer) }
    }

    fn accelerators(&self) -> impl Iterator<Item = AccelId> + use<> {
        (0..self.costs.n_accelerators()).map(AccelId::new)
    }

    /// One run from a system at rest on, and what it left in the trace of the accelerators if batches
    /// are traced.
    ///
    /// # Errors
    ///
    /// [`TestError`].
    pub fn play(
        &self,
        settings: &Settings,
        traced: Traced,
    ) -> Result<Played<Measurement>, TestError> {
        let queries = settings.min_query_count as f64 / settings.target_qps;
        let expected = SimSpan::from_ns((queries * 1e9) as u64).max(settings.min_duration);
        self.play_beside(expected, traced, |system| {
            let measurement = measure(settings, system)?;
            let done = measurement.run.completed.clone();
            Ok((measurement, done))
        })
    }

    /// Lets `issue` issue queries, which gives what came of them and when each sample was done, beside the
    /// frames that come until then. How long that is need not be known: what is `expected` is doubled
    /// until it is enough, which changes nothing of the frames before, for as long as that lets further
    /// samples be done.
    ///
    /// # Errors
    ///
    /// [`TestError`].
    pub(super) fn play_beside<T>(
        &self,
        expected: SimSpan,
        traced: Traced,
        issue: impl Fn(&mut AcceleratorSystem<'_>) -> Result<(T, Vec<SimTime>), TestError>,
    ) -> Result<Played<T>, TestError> {
        let (mut duration, mut done_before) = (expected, None);
        loop {
            let frames = self.frames(duration)?;
            let mut system = AcceleratorSystem::new(self, &frames, traced)?;
            let issued = issue(&mut system);
            if let Some(failure) = system.failure() {
                return Err(failure.clone().into());
            }
            let (queries, done) = issued?;
            let frames_end = SimTime::ZERO + duration;
            let end = done.iter().copied().max().unwrap_or(frames_end);
            if self.background.is_some() && end > frames_end {
                let in_time = Some(done.iter().filter(|&&at| at <= frames_end).count());
                if in_time <= done_before {
                    return Err(TestError::Starved { seconds: duration.ns() / 1_000_000_000 });
                }
                done_before = in_time;
                duration = (duration + duration).max(end - SimTime::ZERO);
                continue;
            }
            system.drain(&mut Completions::new(0, false));
            let energy = system.energy();
            let run = system.finish();
            let beside = self.score(&run, &frames, end);
            return Ok(Played { queries, energy, beside, run });
        }
    }

    /// The bench as a single queue, if there is nothing else to it.
    fn one_queue(&self) -> Option<OneQueue<'_>> {
        let Plan { scheduler, engine, .. } = &self.plan;
        let is_plain = self.background.is_none()
            && *engine == EngineSettings::default()
            && scheduler.is_first_come_on_fastest();
        match &self.tenants[..] {
            [(rows, tenant)] if is_plain => {
                Some(OneQueue::new(&self.costs, rows.start, tenant.batching))
            }
            _ => None,
        }
    }

    /// Frames of the usage scenario.
    fn frames(&self, duration: SimSpan) -> Result<RequestStream, TestError> {
        let Some(Background { scenario, load }) = &self.background else {
            return Ok(RequestStream::default());
        };
        let load = LoadSettings { duration, ..load.clone() };
        crate::load::generate(scenario, &load).map_err(|error| {
            let seconds = duration.ns() / 1_000_000_000;
            TestError::Beside { seconds, error }
        })
    }

    /// Scores of the frames that arrived until `end`, if any of them counts.
    fn score(&self, run: &Run, frames: &RequestStream, end: SimTime) -> Option<Score> {
        let scenario = &self.background.as_ref()?.scenario;
        let frames = &run.trace.records()[..frames.requests().len()];
        let counted = frames.partition_point(|record| record.arrival <= end);
        let trace = Trace::new(frames[..counted].to_vec());
        let scorecard = score(scenario, &trace, &self.plan.score);
        (!scorecard.is_empty(&self.plan.score)).then_some(scorecard.total)
    }
}

impl TestBed for Bench {
    fn measure(&self, settings: &Settings) -> Result<Measured, TestError> {
        if let Some(mut queue) = self.one_queue() {
            let measurement = measure(settings, &mut queue)?;
            return Ok(Measured { measurement, energy: Some(queue.energy()), beside: None });
        }
        let played = self.play(settings, Traced::Load)?;
        let Played { queries, energy, beside, .. } = played;
        Ok(Measured { measurement: queries, energy: Some(energy), beside })
    }

    fn passes(&self, settings: &Settings) -> Result<bool, TestError> {
        let Some(mut queue) = self.one_queue() else {
            return Ok(self.holds_up(settings, &self.measure(settings)?.measurement.performance));
        };
        let measurement = measure_scheduled(settings, Schedule::without_samples, &mut queue)?;
        Ok(self.holds_up(settings, &measurement.performance))
    }

    fn burst(&self, samples: u64) -> Result<Burst, TestError> {
        let alone = RequestStream::default();
        let mut system = AcceleratorSystem::new(self, &alone, Traced::Load)?;
        let burst: Vec<_> = (0..samples as u32).map(|id| Sample { id, index: 0 }).collect();
        let mut completions = Completions::new(burst.len(), false);
        system.arrive(0, &burst, SimTime::ZERO);
        system.drain(&mut completions);
        match system.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(Burst::new(completions, Some(system.energy()))),
        }
    }

    fn capacity_per_s(&self) -> f64 {
        self.capacity_of(0)
    }

    fn most_per_s(&self) -> f64 {
        self.most_of(0)
    }

    fn is_uniform(&self) -> bool {
        self.one_queue().is_some()
    }

    fn without_queries(&self, duration: SimSpan) -> Result<Option<Score>, TestError> {
        Ok(self.play_beside(duration, Traced::Load, |_| Ok(((), Vec::new())))?.beside)
    }
}

/// Samples per second of batches that take so long. Nothing is faster than the clock.
fn rate(samples: u32, latency: SimSpan) -> f64 {
    f64::from(samples) * 1e9 / latency.ns().max(1) as f64
}

/// A batch of tenant `number` as the engine sees it: a model of its own.
fn batch(tenant: &Tenant, number: usize, samples: u32) -> ActiveModel {
    let name: Box<str> = format!("{number}: {} x{samples}", tenant.network.name()).into();
    ActiveModel {
        unit: UnitModel {
            task: name.clone(),
            network: Arc::clone(&tenant.network),
            dataset: "".into(),
            quality: QualityGoal {
                metric: "".into(),
                target: 1.0,
                better: Better::Higher,
                measured: None,
            },
        },
        artifact_name: name,
        rate: FrameRate::from_fps(1.0).expect("one is a rate"),
        inputs: Vec::new(),
        dependencies: Vec::new(),
        relative_deadline: Some(tenant.bound),
    }
}

/// Costs of the batches of a tenant, row-major `[samples - 1][accelerator]`. Accelerators that differ in
/// name only are evaluated once, unless names matter to the model.
fn batch_costs(
    tenant: &Tenant,
    system: &System,
    cost_model: &dyn CostModel,
) -> Result<Vec<Arc<NetworkCost>>, CostError> {
    let accelerators = system.accelerators();
    let mut columns: Vec<Arc<BatchCosts>> = Vec::with_capacity(accelerators.len());
    for (index, accelerator) in accelerators.iter().enumerate() {
        let is_alike = |other: &Accelerator| cost_model.costs_alike(other, accelerator);
        let same = accelerators[..index].iter().position(is_alike);
        columns.push(match same {
            Some(column) => Arc::clone(&columns[column]),
            None => {
                let max = tenant.batching.max;
                let costs = BatchCosts::layered(cost_model, &tenant.network, accelerator, max);
                let error = |reason| CostError::new(tenant.network.name(), accelerator, reason);
                Arc::new(costs.map_err(error)?)
            }
        });
    }
    let cell = |samples: u32, column: &BatchCosts, accelerator: &Accelerator| {
        if let Some(whole) = column.whole(samples) {
            return Arc::clone(whole);
        }
        let cost = column.of(samples);
        Arc::new(NetworkCost {
            layers: Vec::new(),
            cycles: accelerator.clock.cycles_in(cost.latency),
            latency: cost.latency,
            energy_nj: cost.energy.get() * 1e6,
        })
    };
    let row = |samples: u32| {
        columns.iter().zip(accelerators).map(move |(column, at)| cell(samples, column, at))
    };
    Ok((1..=tenant.batching.max).flat_map(row).collect())
}

//! An accelerator system as the system under test: queries wait in one queue a network, are joined
//! into batches, and run on the project's engine under one of its schedulers, with or without the
//! frames of a usage scenario beside them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::cost::batch::BatchCosts;
use crate::cost::library::{CostError, CostLibrary};
use crate::cost::{CostModel, CostTable, NetworkCost};
use crate::engine::{Progress, Run, Session};
use crate::hardware::{Accelerator, System};
use crate::ids::{FrameId, ModelId, RequestId};
use crate::load::{LoadSettings, RequestStream};
use crate::model::Network;
use crate::plan::{EngineSettings, Plan};
use crate::scenario::{ActiveModel, Better, QualityGoal, Scenario, ScenarioError, UnitModel};
use crate::schedule::{Policy, PolicyFailure};
use crate::score::ScoreSettings;
use crate::trace::Outcome;
use crate::units::{FrameRate, Millijoules, SimSpan, SimTime};

use super::sut::{Completions, Sample, SystemUnderTest};

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

/// A system with everything that runs on it, to be measured any number of times.
#[derive(Debug, Clone)]
pub struct Bench {
    plan: Plan,
    /// Frames of the usage scenario; none without one.
    frames: RequestStream,
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
    /// The load of the usage scenario is too large.
    #[error(transparent)]
    Load(#[from] crate::load::LoadError),
    /// Networks whose names collide.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Scenario(Vec<ScenarioError>),
}

/// What runs beside the queries.
#[derive(Debug, Clone)]
pub struct Background {
    /// Usage scenario.
    pub scenario: Arc<Scenario>,
    /// Its load.
    pub load: LoadSettings,
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
        background: Option<&Background>,
        system: Arc<System>,
        cost_model: &dyn CostModel,
        scheduler: Policy,
        engine: EngineSettings,
    ) -> Result<Self, BenchError> {
        let allowed = |tenant: &Tenant| (1..=Batching::MAX).contains(&tenant.batching.max);
        assert!(!tenants.is_empty() && tenants.iter().all(allowed), "batches have a size");
        let mut models = background.map_or(Vec::new(), |it| it.scenario.models().to_vec());
        let streams = background.map_or(Vec::new(), |it| it.scenario.streams().to_vec());
        let mut rows = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            let first = models.len();
            models.extend((1..=tenant.batching.max).map(|samples| batch(&tenant, samples)));
            rows.push((first..models.len(), tenant));
        }
        let scenario = Scenario::new("queries", streams, models).map_err(BenchError::Scenario)?;
        let mut cells = Vec::with_capacity(scenario.models().len() * system.accelerators().len());
        if let Some(Background { scenario, .. }) = background {
            let library = CostLibrary::evaluate(cost_model, [(&**scenario, &*system)]);
            cells.extend(library.table(scenario, &system)?.into_networks());
        }
        for (_, tenant) in &rows {
            cells.extend(batch_costs(tenant, &system, cost_model)?);
        }
        let costs = CostTable::new(cells, system.accelerators().len());
        let load = background.map_or_else(LoadSettings::default, |it| it.load.clone());
        let frames = background
            .map(|it| crate::load::generate(&it.scenario, &it.load))
            .transpose()?
            .unwrap_or_default();
        let plan = Plan {
            scenario: Arc::new(scenario),
            system,
            costs: Arc::new(costs),
            load,
            engine,
            scheduler,
            score: ScoreSettings::default(),
        };
        Ok(Self { plan, frames, tenants: rows })
    }

    /// What the engine plays: models of the usage scenario, then the batches of every tenant.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Time from the arrival of `samples` of the first tenant at an idle system until all are done, with
    /// nothing else running.
    ///
    /// # Errors
    ///
    /// If the scheduler breaks off.
    pub fn latency_of(&self, samples: u64) -> Result<SimSpan, PolicyFailure> {
        Ok(self.burst(samples)?.0)
    }

    /// Energy of as many samples.
    ///
    /// # Errors
    ///
    /// If the scheduler breaks off.
    pub fn energy_of(&self, samples: u64) -> Result<Millijoules, PolicyFailure> {
        Ok(self.burst(samples)?.1)
    }

    /// Plays samples that arrive together.
    fn burst(&self, samples: u64) -> Result<(SimSpan, Millijoules), PolicyFailure> {
        let alone = RequestStream::default();
        let mut system = self.start_with(&alone)?;
        let burst: Vec<_> = (0..samples as u32).map(|id| Sample { id, index: 0 }).collect();
        let mut completions = Completions::new(burst.len(), false);
        system.arrive(0, &burst, SimTime::ZERO);
        let mut end = SimTime::ZERO;
        while let Some(now) = system.next {
            system.play(now, true, &mut completions);
            end = now;
        }
        match system.failure.take() {
            Some(failure) => Err(failure),
            None => Ok((end - SimTime::ZERO, system.energy())),
        }
    }

    /// Samples per second that the accelerators serve in full batches, each by itself.
    pub fn capacity_per_s(&self, tenant: usize) -> f64 {
        let max = self.tenants[tenant].1.batching.max;
        let model = self.row(tenant, max);
        let accelerators = (0..self.plan.costs.n_accelerators()).map(crate::ids::AccelId::new);
        let rate = |at| f64::from(max) * 1e3 / self.plan.costs.latency(model, at).as_ms();
        accelerators.map(rate).sum()
    }

    fn row(&self, tenant: usize, samples: u32) -> ModelId {
        ModelId::new(self.tenants[tenant].0.start + samples as usize - 1)
    }

    /// A measurement from time 0 on, with nothing in the queues.
    ///
    /// # Errors
    ///
    /// If the scheduler does not come.
    pub fn start(&self) -> Result<AcceleratorSystem<'_>, PolicyFailure> {
        self.start_with(&self.frames)
    }

    fn start_with<'a>(
        &'a self,
        frames: &'a RequestStream,
    ) -> Result<AcceleratorSystem<'a>, PolicyFailure> {
        let queue = |_: &(Range<usize>, Tenant)| Queue::default();
        let mut system = AcceleratorSystem {
            session: Session::new(&self.plan, frames)?,
            n_frames: frames.requests().len(),
            bench: self,
            queues: self.tenants.iter().map(queue).collect(),
            batches: Vec::new(),
            started: Vec::new(),
            session_next: None,
            next: None,
            holds_back: self.tenants.iter().any(|(_, it)| it.batching.wait > SimSpan::ZERO),
            progress: Vec::new(),
            failure: None,
        };
        system.session_next = system.session.next_event();
        system.next = system.next_instant();
        Ok(system)
    }
}

/// A batch as the engine sees it: a model of its own.
fn batch(tenant: &Tenant, samples: u32) -> ActiveModel {
    let name: Box<str> = format!("{} x{samples}", tenant.network.name()).into();
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
        deadline: Some(tenant.bound),
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
        let is_same = |other: &&Accelerator| {
            let named = Accelerator { name: accelerator.name.clone(), ..(**other).clone() };
            !cost_model.costs_by_name() && named == *accelerator
        };
        let same = accelerators[..index].iter().position(|other| is_same(&other));
        columns.push(match same {
            Some(column) => Arc::clone(&columns[column]),
            None => {
                let max = tenant.batching.max;
                let costs = BatchCosts::new(cost_model, &tenant.network, accelerator, max);
                Arc::new(costs.map_err(|reason| CostError {
                    network: tenant.network.name().into(),
                    accelerator: accelerator.name.clone(),
                    reason,
                })?)
            }
        });
    }
    let cell = |samples: u32, column: &BatchCosts, accelerator: &Accelerator| {
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

/// Samples of one tenant that wait.
#[derive(Debug, Default)]
struct Queue {
    /// Samples with their arrival.
    waiting: VecDeque<(u32, SimTime)>,
    /// The request of the next batch, which has not started, with its size.
    open: Option<(RequestId, u32)>,
    /// Batches so far.
    n_batches: usize,
}

/// A batch that was submitted.
#[derive(Debug, Clone)]
struct Batch {
    tenant: usize,
    /// Its samples in [`AcceleratorSystem::started`]; empty before it starts.
    samples: Range<usize>,
}

/// A measurement in progress.
pub struct AcceleratorSystem<'a> {
    bench: &'a Bench,
    session: Session<'a>,
    /// Requests of the usage scenario, which come first.
    n_frames: usize,
    queues: Vec<Queue>,
    /// By request, from the first submitted one on.
    batches: Vec<Batch>,
    /// Samples in order of start.
    started: Vec<u32>,
    /// When something happens next: on the accelerators, and at all.
    session_next: Option<SimTime>,
    next: Option<SimTime>,
    /// Whether some tenant holds samples back.
    holds_back: bool,
    /// Scratch space.
    progress: Vec<Progress>,
    failure: Option<PolicyFailure>,
}

impl AcceleratorSystem<'_> {
    /// Samples of a tenant arrive at `now`.
    pub fn arrive(&mut self, tenant: usize, samples: &[Sample], now: SimTime) {
        let arrivals = samples.iter().map(|sample| (sample.id, now));
        self.queues[tenant].waiting.extend(arrivals);
        self.open_batch(tenant, now);
        self.next = self.next_instant();
    }

    /// Opens the next batch of a tenant, or lets an open one grow.
    fn open_batch(&mut self, tenant: usize, now: SimTime) {
        let (_, Tenant { batching, bound, .. }) = &self.bench.tenants[tenant];
        let queue = &mut self.queues[tenant];
        let size = queue.waiting.len().min(batching.max as usize) as u32;
        match (&mut queue.open, queue.waiting.front()) {
            (Some((request, open)), _) if *open < size => {
                *open = size;
                self.session.change_model(*request, self.bench.row(tenant, size));
            }
            (None, Some(&(_, arrival)))
                if size == batching.max || arrival + batching.wait <= now =>
            {
                let frame = FrameId::new(queue.n_batches);
                let model = self.bench.row(tenant, size);
                let request = self.session.submit(model, frame, arrival + *bound, now);
                queue.open = Some((request, size));
                self.session_next = Some(now);
                queue.n_batches += 1;
                self.batches.push(Batch { tenant, samples: 0..0 });
            }
            _ => {}
        }
    }

    /// When the first sample that is held back has waited long enough.
    fn next_timeout(&self) -> Option<(SimTime, usize)> {
        if !self.holds_back {
            return None;
        }
        let timeout = |(tenant, queue): (usize, &Queue)| match (queue.open, queue.waiting.front()) {
            (None, Some(&(_, arrival))) => {
                Some((arrival + self.bench.tenants[tenant].1.batching.wait, tenant))
            }
            _ => None,
        };
        self.queues.iter().enumerate().filter_map(timeout).min()
    }

    fn next_instant(&self) -> Option<SimTime> {
        if self.failure.is_some() {
            return None;
        }
        let timeout = self.next_timeout().map(|(at, _)| at);
        [timeout, self.session_next].into_iter().flatten().min()
    }

    /// Plays what happens up to `until`, before it or at it as `included` says.
    pub fn play(&mut self, until: SimTime, included: bool, completions: &mut Completions) {
        while let Some(now) = self.next
            && (now < until || (now == until && included))
        {
            while let Some((at, tenant)) = self.next_timeout()
                && at <= now
            {
                self.open_batch(tenant, now);
            }
            if self.session_next == Some(now) {
                self.play_instant(now, completions);
            }
            self.next = self.next_instant();
        }
    }

    fn play_instant(&mut self, now: SimTime, completions: &mut Completions) {
        let mut progress = std::mem::take(&mut self.progress);
        if let Err(failure) = self.session.play(now, |it| progress.push(it)) {
            self.failure = Some(failure);
        }
        self.session_next = self.session.next_event();
        for it in progress.drain(..) {
            match it {
                Progress::Started(request, _) => self.start(request, now),
                Progress::Executed(request) => self.complete(request, now, completions),
                Progress::Dropped(_) => {
                    let policy = (&**self.bench.plan.scheduler.label()).into();
                    let message = "it gave up a query, which no load generator allows".into();
                    self.failure = Some(PolicyFailure { policy, message });
                }
            }
        }
        self.progress = progress;
    }

    /// Index of a submitted request.
    fn index(&self, request: RequestId) -> usize {
        request.index() - self.n_frames
    }

    /// Closes a batch that has started, and opens the next one.
    fn start(&mut self, request: RequestId, now: SimTime) {
        let index = self.index(request);
        let tenant = self.batches[index].tenant;
        let queue = &mut self.queues[tenant];
        let (_, size) = queue.open.take().expect("the batch that starts is the open one");
        let first = self.started.len();
        self.started.extend(queue.waiting.drain(..size as usize).map(|(sample, _)| sample));
        self.batches[index].samples = first..self.started.len();
        self.open_batch(tenant, now);
    }

    fn complete(&mut self, request: RequestId, now: SimTime, completions: &mut Completions) {
        let Batch { samples, .. } = self.batches[self.index(request)].clone();
        for &sample in &self.started[samples] {
            completions.record(sample, now);
        }
    }

    /// What the scheduler failed with.
    pub fn failure(&self) -> Option<&PolicyFailure> {
        self.failure.as_ref()
    }

    /// Energy of every batch that has run.
    pub fn energy(self) -> Millijoules {
        let n_frames = self.n_frames;
        let run = self.finish();
        let batches = run.trace.records()[n_frames..].iter();
        batches.fold(Millijoules::ZERO, |sum, record| match record.outcome {
            Outcome::Executed { energy, .. } => sum + energy,
            _ => sum,
        })
    }

    /// What happened on the accelerators: frames of the usage scenario, then batches.
    pub fn finish(self) -> Run {
        self.session.finish()
    }
}

impl SystemUnderTest for AcceleratorSystem<'_> {
    fn issue(&mut self, now: SimTime, query: &[Sample], completions: &mut Completions) -> SimTime {
        self.play(now, false, completions);
        self.arrive(0, query, now);
        now
    }

    fn next_event(&self) -> Option<SimTime> {
        self.next
    }

    fn advance(&mut self, until: SimTime, completions: &mut Completions) {
        self.play(until, true, completions);
    }
}

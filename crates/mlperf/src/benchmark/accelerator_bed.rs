//! Accelerators as a test bed: a workload with its scheduler, and a usage scenario in the background.

use std::sync::Arc;

use crate::settings::EffectiveSettings;
use crate::sut::{
    AcceleratorSystem, Background, Completions, DeviceRun, Sample, SingleQueueSystem,
    SystemUnderTest, Tenant, Workload, WorkloadError, check_scheduler,
};
use xrsim_model::cancel;
use xrsim_model::cost::{CostModel, CostTable};
use xrsim_model::hardware::{Device, System};
use xrsim_sim::engine::{Run, Traced};
use xrsim_sim::load::{LoadSettings, RequestStream};

use super::measure::{Measurement, measure, sustains_when_due};
use super::test_bed::{IdleQuery, TestBed, TestError, TestRun};
use xrsim_model::trace::Trace;
use xrsim_model::units::{Millijoules, SimSpan, SimTime};
use xrsim_sim::plan::{EngineSettings, Plan};
use xrsim_sim::schedule::Policy;
use xrsim_sim::score::{Score, score};

/// A system of accelerators with its tenants, its scheduler and, where there is one, a usage scenario
/// in the background.
///
/// The first tenant gets the queries of [`TestBed::measure`]; [`run_tenants`](super::run_tenants)
/// issues queries to all of them.
#[derive(Debug, Clone)]
pub struct AcceleratorBed {
    workload: Workload,
    background: Option<Background>,
}

/// Builder of an [`AcceleratorBed`].
#[derive(Clone)]
#[must_use]
pub struct AcceleratorBedBuilder<'a> {
    system: Arc<System>,
    cost_model: &'a dyn CostModel,
    tenants: Vec<Tenant>,
    background: Option<Background>,
    scheduler: Policy,
    engine: EngineSettings,
    device: Option<Arc<Device>>,
}

impl AcceleratorBedBuilder<'_> {
    /// Adds a tenant; a bed has at least one.
    pub fn tenant(mut self, tenant: Tenant) -> Self {
        self.tenants.push(tenant);
        self
    }

    /// Adds several tenants.
    pub fn tenants(mut self, tenants: impl IntoIterator<Item = Tenant>) -> Self {
        self.tenants.extend(tenants);
        self
    }

    /// Runs a usage scenario in the background; without it there is none.
    pub fn background(mut self, background: impl Into<Option<Background>>) -> Self {
        self.background = background.into();
        self
    }

    /// Sets the scheduler in place of first come, first served on the fastest idle accelerator.
    pub fn scheduler(mut self, scheduler: Policy) -> Self {
        self.scheduler = scheduler;
        self
    }

    /// Sets the settings of the engine in place of its defaults.
    pub fn engine(mut self, engine: EngineSettings) -> Self {
        self.engine = engine;
        self
    }

    /// Supplies the system by a device, fresh, full and as cool as the air at the begin of every run; without it there is none.
    pub fn device(mut self, device: impl Into<Option<Arc<Device>>>) -> Self {
        self.device = device.into();
        self
    }

    /// Builds the bed: costs the batches of every tenant up to its largest one.
    ///
    /// # Errors
    ///
    /// [`WorkloadError`] if there is no tenant, a batch size is out of range or has no costs of its
    /// own, the scheduler is clairvoyant, its governor needs rates, a network cannot run, the device does not fit, or names
    /// collide.
    pub fn build(self) -> Result<AcceleratorBed, WorkloadError> {
        let Self { system, cost_model, tenants, background, scheduler, engine, device } = self;
        let workload = Workload::new(
            tenants,
            background.as_ref(),
            system,
            cost_model,
            scheduler,
            engine,
            device,
        )?;
        Ok(AcceleratorBed { workload, background })
    }
}

/// Result of one run on an [`AcceleratorBed`].
#[derive(Debug, Clone, PartialEq)]
pub struct AcceleratorRun<T> {
    /// Result of the queries.
    pub queries: T,
    /// Energy of their batches; with a device that of everything until the last query was done.
    pub energy: Millijoules,
    /// The device until the last query was done, or, if batches are traced, until everything had ended; `None` without one,
    /// or without queries.
    pub device: Option<DeviceRun>,
    /// Scores of the background frames that arrived until the last query was done; `None` if no frame
    /// is scored.
    pub background: Option<Score>,
    /// Duration of the load of the background: that of the plan.
    pub duration: SimSpan,
    /// Run of the engine. Its trace has the frames of the background, then the batches if they are
    /// traced.
    pub run: Run,
}

impl AcceleratorBed {
    /// Starts to build a bed of the accelerators of `system`, whose costs are those of `cost_model`.
    pub fn builder(system: Arc<System>, cost_model: &dyn CostModel) -> AcceleratorBedBuilder<'_> {
        AcceleratorBedBuilder {
            system,
            cost_model,
            tenants: Vec::new(),
            background: None,
            scheduler: Policy::parse("fcfs").expect("`fcfs` is a policy"),
            engine: EngineSettings::default(),
            device: None,
        }
    }

    /// Checks that `scheduler` can assign accelerators to queries.
    ///
    /// # Errors
    ///
    /// [`WorkloadError::Clairvoyant`] if it has to know all requests before the run, [`WorkloadError::Rates`] if its
    /// governor has to know their rates.
    pub fn check_scheduler(scheduler: &Policy) -> Result<(), WorkloadError> {
        check_scheduler(scheduler)
    }

    /// Plan that the engine runs: models of the background, then one for each tenant.
    pub fn plan(&self) -> &Plan {
        self.workload.plan()
    }

    /// The plan of a run of this duration.
    pub fn plan_lasting(&self, duration: SimSpan) -> Plan {
        self.workload.lasting(duration)
    }

    /// Costs of the models of [`AcceleratorBed::plan`] on every accelerator.
    pub fn costs(&self) -> &Arc<CostTable> {
        self.workload.costs()
    }

    /// Number of tenants.
    pub(crate) fn n_tenants(&self) -> usize {
        self.workload.tenants().count()
    }

    /// Throughput bound of a tenant that has the accelerators to itself \[samples/s\]; see
    /// [`TestBed::max_samples_per_s`].
    pub(crate) fn max_samples_per_s_of(&self, tenant: usize) -> f64 {
        self.workload.max_samples_per_s(tenant)
    }

    /// Makes one run of the first tenant from an idle system, with the trace of the accelerators that
    /// `traced` asks for.
    ///
    /// # Errors
    ///
    /// [`TestError`] if the run, the scheduler or the background fails.
    pub fn run(
        &self,
        settings: &EffectiveSettings,
        traced: Traced,
    ) -> Result<AcceleratorRun<Measurement>, TestError> {
        let queries = settings.min_query_count as f64 / settings.target_qps;
        let expected = SimSpan::from_ns((queries * 1e9) as u64).max(settings.min_duration);
        self.run_with_background(expected, traced, |system| {
            let measurement = measure(settings, system)?;
            let completed = measurement.run.completed.clone();
            Ok((measurement, completed))
        })
    }

    /// Runs `issue`, which issues queries and returns their result with the completion of every
    /// sample, together with the background frames that arrive until then.
    ///
    /// The length of the run need not be known: `expected` is doubled until it covers the last
    /// completion, which does not change the frames before, for as long as that completes further
    /// samples.
    ///
    /// # Errors
    ///
    /// [`TestError`] if `issue`, the scheduler or the background fails.
    pub(crate) fn run_with_background<T>(
        &self,
        expected: SimSpan,
        traced: Traced,
        issue: impl Fn(&mut AcceleratorSystem<'_>) -> Result<(T, Vec<SimTime>), TestError>,
    ) -> Result<AcceleratorRun<T>, TestError> {
        let (mut duration, mut done_before) = (expected, None);
        loop {
            let frames = self.frames(duration)?;
            let plan = self.workload.lasting(duration);
            check_ticks(&plan)?;
            let mut system = AcceleratorSystem::new(&self.workload, &plan, &frames, traced)?;
            let issued = issue(&mut system);
            if let Some(failure) = system.failure() {
                return Err(failure.clone().into());
            }
            let (queries, completed) = issued?;
            let frames_end = SimTime::ZERO + duration;
            let end = completed.iter().copied().max().unwrap_or(frames_end);
            let has_stopped = system.stopped().is_some();
            if self.background.is_some() && end > frames_end && !has_stopped {
                let in_time = Some(completed.iter().filter(|&&at| at <= frames_end).count());
                if in_time <= done_before {
                    return Err(TestError::Starved { seconds: duration.ns() / 1_000_000_000 });
                }
                done_before = in_time;
                duration = (duration + duration).max(end - SimTime::ZERO);
                continue;
            }
            let device = if completed.is_empty() { None } else { system.device(end) };
            let energy = match &device {
                Some(device) if has_stopped => device.total(),
                Some(device) => self.energy(device, system.energy()),
                None => system.energy(),
            };
            system.drain(&mut Completions::new(0, false));
            // The counters of a trace go on as long as its executions.
            let device = match traced {
                Traced::All => device.and_then(|_| system.device(end.max(system.now()))),
                Traced::Load => device,
            };
            let run = system.finish();
            let background = self.score(&run, &frames, end);
            return Ok(AcceleratorRun { queries, energy, device, background, duration, run });
        }
    }

    /// Energy of `device` in a run whose queries took `of_queries`. Where these are all that ran, their sum counts, as
    /// without a device; what the background took is known to the account alone.
    fn energy(&self, device: &DeviceRun, of_queries: Millijoules) -> Millijoules {
        match self.background.is_none() {
            true => device.energy(of_queries),
            false => device.total(),
        }
    }

    /// The bed as a single queue, where that gives the same results as the engine.
    fn single_queue(&self) -> Option<SingleQueueSystem> {
        let Plan { scheduler, engine, device, system, .. } = self.plan();
        let is_plain = self.background.is_none()
            && device.is_none()
            && system.shared_dram().is_none()
            && *engine == EngineSettings::default()
            && scheduler.is_first_come_on_fastest();
        let (model, tenant) = self.workload.only_tenant().filter(|_| is_plain)?;
        Some(SingleQueueSystem::new(self.costs(), model, tenant.batching))
    }

    /// Frames of the background in a run of length `duration`.
    fn frames(&self, duration: SimSpan) -> Result<RequestStream, TestError> {
        let Some(Background { scenario, load }) = &self.background else {
            return Ok(RequestStream::default());
        };
        let load = LoadSettings { duration, ..load.clone() };
        xrsim_sim::load::generate(scenario, &load).map_err(|error| {
            let seconds = duration.ns() / 1_000_000_000;
            TestError::Background { seconds, error }
        })
    }

    /// Scores of the frames that arrived until `end`; `None` if no frame is scored.
    fn score(&self, run: &Run, frames: &RequestStream, end: SimTime) -> Option<Score> {
        let scenario = &self.background.as_ref()?.scenario;
        let settings = &self.plan().score;
        // If the device stopped, those that came later are not there.
        let records = run.trace.records();
        let frames = &records[..frames.requests().len().min(records.len())];
        let counted = frames.partition_point(|record| record.arrival <= end);
        let trace = Trace::new(frames[..counted].to_vec());
        let scorecard = score(scenario, &trace, settings);
        (!scorecard.is_empty(settings)).then_some(scorecard.total)
    }
}

/// Most ticks at which temperatures are read in a test.
const MAX_TICKS: u64 = 1 << 30;

/// Checks that temperatures are not read too often in a run.
fn check_ticks(plan: &Plan) -> Result<(), TestError> {
    let Some(heat) = plan.device.as_ref().and_then(|device| device.heat.as_ref()) else {
        return Ok(());
    };
    match plan.load.duration.ns() / heat.poll.ns().max(1) > MAX_TICKS {
        true => {
            Err(TestError::Ticks { lasts: plan.load.duration, poll: heat.poll, most: MAX_TICKS })
        }
        false => Ok(()),
    }
}

impl TestBed for AcceleratorBed {
    fn measure(&self, settings: &EffectiveSettings) -> Result<TestRun, TestError> {
        if let Some(mut queue) = self.single_queue() {
            let measurement = measure(settings, &mut queue)?;
            let energy = Some(queue.energy());
            return Ok(TestRun { measurement, energy, device: None, background: None });
        }
        let AcceleratorRun { queries, energy, device, background, .. } =
            self.run(settings, Traced::Load)?;
        Ok(TestRun { measurement: queries, energy: Some(energy), device, background })
    }

    fn passes(&self, settings: &EffectiveSettings) -> Result<bool, TestError> {
        cancel::check();
        if let Some(queue) = self.single_queue().filter(|_| settings.issues_all_when_due()) {
            return Ok(sustains_when_due(settings, queue, self.max_samples_per_s())?);
        }
        Ok(self.sustains(settings, &self.measure(settings)?.measurement.performance))
    }

    fn idle_query(&self, samples: u64) -> Result<IdleQuery, TestError> {
        let no_frames = RequestStream::default();
        let plan = self.workload.lasting(SimSpan::ZERO);
        let mut system = AcceleratorSystem::new(&self.workload, &plan, &no_frames, Traced::Load)?;
        let query: Vec<_> = (0..samples as u32).map(|id| Sample { id, index: 0 }).collect();
        let mut completions = Completions::new(query.len(), false);
        system.arrive(0, &query, SimTime::ZERO);
        system.drain(&mut completions);
        let stopped = system.stopped();
        for id in query.iter().map(|sample| sample.id) {
            if let Some(at) = stopped.filter(|_| completions.at(id).is_none()) {
                completions.record(id, at);
            }
        }
        match system.failure() {
            Some(failure) => Err(failure.clone().into()),
            None => Ok(IdleQuery::new(completions, Some(system.energy()))),
        }
    }

    fn capacity_per_s(&self) -> f64 {
        self.workload.capacity_per_s(0)
    }

    fn max_samples_per_s(&self) -> f64 {
        self.workload.max_samples_per_s(0)
    }

    fn is_uniform(&self) -> bool {
        self.single_queue().is_some()
    }

    fn background_alone(&self, duration: SimSpan) -> Result<Option<Score>, TestError> {
        let run = self.run_with_background(duration, Traced::Load, |_| Ok(((), Vec::new())))?;
        Ok(run.background)
    }
}

//! Workload of accelerators under test: tenants with the costs of their batches, the models of the
//! background, and a scheduler, as one plan of the engine.

use std::borrow::Cow;
use std::sync::Arc;

use xrsim_model::cost::CostError;
use xrsim_model::cost::batch::BatchCosts;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{CostModel, CostTable, NetworkCost};
use xrsim_model::hardware::{Accelerator, Device, System};
use xrsim_model::ids::{AccelId, ModelId, WorkId};
use xrsim_model::scenario::{ActiveModel, Scenario, ScenarioError, UnitModel};
use xrsim_model::units::{ClockRate, Cycles, FrameRate, SimSpan};
use xrsim_sim::load::LoadSettings;
use xrsim_sim::plan::{EngineSettings, Plan};
use xrsim_sim::schedule::{Breakdown, Policy, PolicyFailure};
use xrsim_sim::sweep;

use super::batching::Batching;
use super::tenant::{Background, Tenant};

/// Reason why a workload cannot run on a system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// There is no tenant.
    #[error("no tenant; queries are issued for at least one")]
    NoTenant,
    /// The largest batch of a tenant is out of range.
    #[error("batches of up to {found}; allowed are 1 to {}", Batching::MAX)]
    BatchSize {
        /// Largest batch.
        found: u32,
    },
    /// The cost of a layer does not depend on the batch size.
    #[error("the cost model leaves batches out: they would be free; take batches of 1")]
    NoBatchCosts,
    /// The scheduler knows all requests before the run.
    #[error(
        "{scheduler} is shown every request before the run, which a load generator does not tell"
    )]
    Clairvoyant {
        /// Label of the scheduler.
        scheduler: Box<str>,
    },
    /// The governor computes with the rates of all models.
    #[error(
        "the governor of {scheduler} computes with the rates of all models, which a load generator does not tell"
    )]
    Rates {
        /// Label of the scheduler.
        scheduler: Box<str>,
    },
    /// A model of the background is a sequence.
    #[error("{model} is a sequence, which cannot run beside a load generator")]
    Sequence {
        /// Model.
        model: Box<str>,
    },
    /// The work of a model of the background differs from frame to frame.
    #[error(
        "the work of {model} differs from frame to frame; it cannot run beside a load generator"
    )]
    Variants {
        /// Model.
        model: Box<str>,
    },
    /// A network cannot run on an accelerator.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Names of networks collide.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Scenario(Vec<ScenarioError>),
}

/// Everything that runs on a system, as the engine runs it.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// Models of the background, then one for each tenant.
    plan: Plan,
    /// Costs of those models.
    costs: Arc<CostTable>,
    /// Costs that no choice of operating points undercuts.
    least: Arc<CostTable>,
    /// Highest clock of each accelerator.
    clocks: Vec<ClockRate>,
    /// Tenants with their models.
    tenants: Vec<(ModelId, Tenant)>,
}

/// Checks that `scheduler` can assign accelerators to queries.
///
/// # Errors
///
/// [`WorkloadError::Clairvoyant`] if it has to know all requests before the run, [`WorkloadError::Rates`] if its governor
/// has to know their rates.
pub(crate) fn check_scheduler(scheduler: &Policy) -> Result<(), WorkloadError> {
    let label = || scheduler.label().as_ref().into();
    if scheduler.is_clairvoyant() {
        return Err(WorkloadError::Clairvoyant { scheduler: label() });
    }
    match scheduler.options().governor.needs_rates() {
        true => Err(WorkloadError::Rates { scheduler: label() }),
        false => Ok(()),
    }
}

fn check_tenants(tenants: &[Tenant], cost_model: &dyn CostModel) -> Result<(), WorkloadError> {
    if tenants.is_empty() {
        return Err(WorkloadError::NoTenant);
    }
    for found in tenants.iter().map(|tenant| tenant.batching.max) {
        if !(1..=Batching::MAX).contains(&found) {
            return Err(WorkloadError::BatchSize { found });
        }
        if found > 1 && !cost_model.supports_batches() {
            return Err(WorkloadError::NoBatchCosts);
        }
    }
    Ok(())
}

impl Workload {
    /// The workload of `tenants` and `background` on `system`, whose accelerators `scheduler` assigns and `device`
    /// supplies. Costs the batches of every tenant up to its largest one.
    ///
    /// # Errors
    ///
    /// [`WorkloadError`] if there is no tenant, a batch size is out of range or has no costs of its
    /// own, the scheduler is clairvoyant, its governor needs rates, a network cannot run, the device does not fit, or names
    /// collide.
    pub(crate) fn new(
        tenants: Vec<Tenant>,
        background: Option<&Background>,
        system: Arc<System>,
        cost_model: &dyn CostModel,
        scheduler: Policy,
        engine: EngineSettings,
        device: Option<Arc<Device>>,
    ) -> Result<Self, WorkloadError> {
        check_scheduler(&scheduler)?;
        check_tenants(&tenants, cost_model)?;
        let usage = background.map(|it| &*it.scenario);
        let mut models = usage.map_or(Vec::new(), |it| it.models().to_vec());
        if let Some(it) = models.iter().find(|it| it.sequence.is_some()) {
            return Err(WorkloadError::Sequence { model: it.unit.task.clone() });
        }
        if let Some(it) = models.iter().find(|it| !it.variants.is_empty()) {
            return Err(WorkloadError::Variants { model: it.unit.task.clone() });
        }
        let streams = usage.map_or(Vec::new(), |it| it.streams().to_vec());
        let first = models.len();
        models.extend(tenants.iter().enumerate().map(|(index, it)| active_model(index + 1, it)));
        let scenario =
            Scenario::new("queries", streams, models).map_err(WorkloadError::Scenario)?;
        let n_accelerators = system.accelerators().len();
        let mut single = Vec::with_capacity(scenario.models().len() * n_accelerators);
        if let Some(usage) = usage {
            let library = CostLibrary::evaluate(cost_model, [(usage, &*system)]);
            single.extend(library.table(usage, &system)?.into_networks());
        }
        let mut larger = Vec::with_capacity(tenants.len());
        for tenant in &tenants {
            let mut batches = batch_costs(tenant, &system, cost_model)?;
            larger.push(batches.split_off(n_accelerators));
            single.extend(batches);
        }
        let tenants: Vec<_> = (first..).map(ModelId::new).zip(tenants).collect();
        let mut costs = CostTable::new(single, n_accelerators);
        for (&(model, _), batches) in tenants.iter().zip(larger) {
            costs = costs.with_batches(model, batches);
        }
        let plan = Plan {
            load: background.map_or_else(LoadSettings::default, |it| it.load.clone()),
            engine,
            scheduler,
            device,
            ..Plan::new(Arc::new(scenario), system)
        };
        // LoadGen's rules know one latency of a query.
        let costs = Arc::new(sweep::at_points(&plan, costs.medians())?);
        let least = match costs.least_over_points() {
            Cow::Borrowed(_) => Arc::clone(&costs),
            Cow::Owned(least) => Arc::new(least),
        };
        let clocks = match plan.supplied() {
            Ok(supplied) if !supplied.is_empty() => {
                supplied.iter().map(|it| it.points.get(it.points.highest()).clock).collect()
            }
            _ => plan.system.accelerators().iter().map(|it| it.clock).collect(),
        };
        Ok(Self { plan, costs, least, clocks, tenants })
    }

    /// The plan of a run that is expected to last for `duration`.
    pub(crate) fn lasting(&self, duration: SimSpan) -> Plan {
        let load = LoadSettings { duration, ..self.plan.load.clone() };
        Plan { load, ..self.plan.clone() }
    }

    /// Plan of the engine: models of the background, then one for each tenant.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The tenant with its model, if there is only one.
    pub(crate) fn only_tenant(&self) -> Option<(ModelId, &Tenant)> {
        match &self.tenants[..] {
            [(model, tenant)] => Some((*model, tenant)),
            _ => None,
        }
    }

    /// Costs of the models of [`Workload::plan`] on every accelerator.
    pub(crate) fn costs(&self) -> &Arc<CostTable> {
        &self.costs
    }

    pub(crate) fn tenants(&self) -> impl Iterator<Item = &Tenant> + Clone {
        self.tenants.iter().map(|(_, tenant)| tenant)
    }

    pub(crate) fn tenant(&self, tenant: usize) -> &Tenant {
        &self.tenants[tenant].1
    }

    /// Model of a tenant.
    pub(crate) fn model(&self, tenant: usize) -> ModelId {
        self.tenants[tenant].0
    }

    /// Row of the costs of a tenant's batch of `samples` samples.
    fn work(&self, tenant: usize, samples: u32) -> WorkId {
        let work = self.costs.work(self.model(tenant), samples);
        work.expect("every batch of a tenant has costs")
    }

    /// Failure of a scheduler that drops a query.
    pub(crate) fn dropped_query(&self) -> PolicyFailure {
        let message = "it gave up a query, which no load generator allows";
        Breakdown::new(message).of(self.plan.scheduler.label())
    }

    /// Throughput of a tenant in full batches, with every accelerator in use \[samples/s\].
    pub(crate) fn capacity_per_s(&self, tenant: usize) -> f64 {
        let max = self.tenant(tenant).batching.max;
        let work = self.work(tenant, max);
        self.accelerators().map(|at| rate(max, self.costs.on(work, at).latency())).sum()
    }

    /// Upper bound of the throughput of a tenant, in batches of any size \[samples/s\]. A scheduler that
    /// assigns single layers may run each where it is fastest. With a device every layer runs at the highest point.
    pub(crate) fn max_samples_per_s(&self, tenant: usize) -> f64 {
        let (costs, scheduler) = (&self.least, &self.plan.scheduler);
        let in_batches = |samples: u32| -> f64 {
            let work = self.work(tenant, samples);
            match scheduler.is_first_come_on_fastest() {
                true => {
                    self.accelerators().map(|at| rate(samples, costs.on(work, at).latency())).sum()
                }
                false => costs.n_accelerators() as f64 * rate(samples, self.shortest(work)),
            }
        };
        (1..=self.tenant(tenant).batching.max).map(in_batches).fold(0.0, f64::max)
    }

    /// Latency of a batch with every layer on the accelerator that is fastest at it.
    fn shortest(&self, work: WorkId) -> SimSpan {
        let costs = &self.least;
        let layers = |at: AccelId| &costs.on(work, at).network().layers;
        let n_layers = self.accelerators().map(|at| layers(at).len()).min().unwrap_or(0);
        let fastest = |layer: usize| {
            let of =
                |at: AccelId| Cycles::new(layers(at)[layer].cycles).at(self.clocks[at.index()]);
            self.accelerators().map(of).min().unwrap_or_default()
        };
        let by_layer = (0..n_layers).map(fastest).fold(SimSpan::ZERO, SimSpan::saturating_add);
        let whole =
            self.accelerators().map(|at| costs.on(work, at).latency()).min().unwrap_or_default();
        if n_layers == 0 { whole } else { whole.min(by_layer) }
    }

    fn accelerators(&self) -> impl Iterator<Item = AccelId> + use<> {
        (0..self.costs.n_accelerators()).map(AccelId::new)
    }
}

/// Throughput of batches of `samples` samples that take `latency`, at least 1 ns \[samples/s\].
fn rate(samples: u32, latency: SimSpan) -> f64 {
    f64::from(samples) * 1e9 / latency.ns().max(1) as f64
}

/// Model of tenant `number`, counted from 1. Its requests are submitted while the engine runs, so that its
/// frame rate and its quality goal are not used.
fn active_model(number: usize, tenant: &Tenant) -> ActiveModel {
    let name: Box<str> = format!("{number}: {}", tenant.network.name()).into();
    let unit = UnitModel::new(name, Arc::clone(&tenant.network));
    let rate = FrameRate::from_fps(1.0).expect("one is a rate");
    ActiveModel::new(unit, rate).with_relative_deadline(tenant.relative_deadline)
}

/// Costs of the batches of a tenant, row-major `[samples - 1][accelerator]`. Accelerators with equal costs
/// are evaluated once.
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
            choices: None,
            spread: None,
        })
    };
    let row = |samples: u32| {
        columns.iter().zip(accelerators).map(move |(column, at)| cell(samples, column, at))
    };
    Ok((1..=tenant.batching.max).flat_map(row).collect())
}

//! Workload of accelerators under test: the batches of every tenant with their costs, the models of the
//! background, and a scheduler, as one plan of the engine.

use std::ops::Range;
use std::sync::Arc;

use crate::cost::CostError;
use crate::cost::batch::BatchCosts;
use crate::cost::library::CostLibrary;
use crate::cost::{CostModel, CostTable, NetworkCost};
use crate::hardware::{Accelerator, System};
use crate::ids::{AccelId, ModelId};
use crate::load::LoadSettings;
use crate::plan::{EngineSettings, Plan};
use crate::scenario::{ActiveModel, Better, QualityGoal, Scenario, ScenarioError, UnitModel};
use crate::schedule::{Breakdown, Policy, PolicyFailure};
use crate::score::ScoreSettings;
use crate::units::{Cycles, FrameRate, SimSpan};

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
    /// Models of the background, then the batches of every tenant.
    plan: Plan,
    /// Costs of those models.
    costs: Arc<CostTable>,
    /// Rows of the cost table of every tenant: batches of 1, 2, ... samples.
    tenants: Vec<(Range<usize>, Tenant)>,
}

/// Checks that `scheduler` can assign accelerators to queries.
///
/// # Errors
///
/// [`WorkloadError::Clairvoyant`] if it has to know all requests before the run.
pub(crate) fn check_scheduler(scheduler: &Policy) -> Result<(), WorkloadError> {
    match scheduler.is_clairvoyant() {
        true => Err(WorkloadError::Clairvoyant { scheduler: scheduler.label().as_ref().into() }),
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
    /// The workload of `tenants` and `background` on `system`, whose accelerators `scheduler` assigns.
    /// Costs the batches of every tenant up to its largest one.
    ///
    /// # Errors
    ///
    /// [`WorkloadError`] if there is no tenant, a batch size is out of range or has no costs of its
    /// own, the scheduler is clairvoyant, a network cannot run, or names collide.
    pub(crate) fn new(
        tenants: Vec<Tenant>,
        background: Option<&Background>,
        system: Arc<System>,
        cost_model: &dyn CostModel,
        scheduler: Policy,
        engine: EngineSettings,
    ) -> Result<Self, WorkloadError> {
        check_scheduler(&scheduler)?;
        check_tenants(&tenants, cost_model)?;
        let usage = background.map(|it| &*it.scenario);
        let mut models = usage.map_or(Vec::new(), |it| it.models().to_vec());
        let streams = usage.map_or(Vec::new(), |it| it.streams().to_vec());
        let mut rows = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            let first = models.len();
            let number = rows.len() + 1;
            models.extend((1..=tenant.batching.max).map(|samples| batch(&tenant, number, samples)));
            rows.push((first..models.len(), tenant));
        }
        let scenario =
            Scenario::new("queries", streams, models).map_err(WorkloadError::Scenario)?;
        let mut cells = Vec::with_capacity(scenario.models().len() * system.accelerators().len());
        if let Some(usage) = usage {
            let library = CostLibrary::evaluate(cost_model, [(usage, &*system)]);
            cells.extend(library.table(usage, &system)?.into_networks());
        }
        for (_, tenant) in &rows {
            cells.extend(batch_costs(tenant, &system, cost_model)?);
        }
        let costs = CostTable::new(cells, system.accelerators().len());
        let plan = Plan {
            scenario: Arc::new(scenario),
            system,
            load: background.map_or_else(LoadSettings::default, |it| it.load.clone()),
            engine,
            scheduler,
            score: ScoreSettings::default(),
        };
        Ok(Self { plan, costs: Arc::new(costs), tenants: rows })
    }

    /// Plan of the engine: models of the background, then the batches of every tenant.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Row of a tenant's batch of one sample, and the tenant, if it is the only one.
    pub(crate) fn only_tenant(&self) -> Option<(usize, &Tenant)> {
        match &self.tenants[..] {
            [(rows, tenant)] => Some((rows.start, tenant)),
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

    /// Model that stands for a batch of `samples` samples.
    pub(crate) fn row(&self, tenant: usize, samples: u32) -> ModelId {
        ModelId::new(self.tenants[tenant].0.start + samples as usize - 1)
    }

    /// Failure of a scheduler that drops a query.
    pub(crate) fn dropped_query(&self) -> PolicyFailure {
        let message = "it gave up a query, which no load generator allows";
        Breakdown::new(message).of(self.plan.scheduler.label())
    }

    /// Throughput of a tenant in full batches, with every accelerator in use \[samples/s\].
    pub(crate) fn capacity_per_s(&self, tenant: usize) -> f64 {
        let max = self.tenant(tenant).batching.max;
        let model = self.row(tenant, max);
        self.accelerators().map(|at| rate(max, self.costs.on(model, at).latency())).sum()
    }

    /// Upper bound of the throughput of a tenant, in batches of any size \[samples/s\]. A scheduler that
    /// assigns single layers may run each where it is fastest.
    pub(crate) fn max_samples_per_s(&self, tenant: usize) -> f64 {
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

    /// Latency of a model with every layer on the accelerator that is fastest at it.
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
}

/// Throughput of batches of `samples` samples that take `latency`, at least 1 ns \[samples/s\].
fn rate(samples: u32, latency: SimSpan) -> f64 {
    f64::from(samples) * 1e9 / latency.ns().max(1) as f64
}

/// A batch of tenant `number` as a model of its own.
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
        rate: FrameRate::from_fps(1.0).expect("one is a rate"),
        inputs: Vec::new(),
        dependencies: Vec::new(),
        relative_deadline: Some(tenant.relative_deadline),
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

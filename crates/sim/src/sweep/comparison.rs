//! Comparison of policies: every policy runs the same requests of the same configurations in every
//! replication, so that random effects cancel out of their differences (common random numbers).

mod outcome;
mod sample;

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use crate::bounds::window::{WindowError, Windows};
use crate::bounds::{Class, ClassBounds, Routes};
use crate::engine::{self, Run};
use crate::load::{LoadSettings, RequestStream, least_costs};
use crate::metrics::{DeviceMetrics, Metrics, Usage};
use crate::plan::Plan;
use crate::schedule::Policy;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{ChosenMappings, CostModel, CostTable};
use xrsim_model::ids::ModelId;
use xrsim_model::parallel;
use xrsim_model::units::SimTime;

use super::day::{self, DayMetrics};
use super::enumeration::{Pattern, patterns};
use super::means::MeanMetrics;
use super::{RunError, pairs};

pub use outcome::Outcome;
pub use sample::{Sample, Subject};

/// Source of triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Triggers {
    /// Triggers are drawn.
    #[default]
    Drawn,
    /// Every pattern of triggers counts with its probability if there are few; otherwise they are drawn.
    Enumerated,
}

/// One replication of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    /// Number of the draw, from 0. Draws in which no frame is counted have no replication.
    pub draw: u64,
    /// Results of the policies, in their order.
    pub samples: Box<[Sample]>,
    /// Upper bounds of both classes of schedulers, whatever the policies are; expectations if triggers are enumerated. `None`
    /// for a profile.
    pub bounds: Option<ClassBounds>,
}

/// One configuration: a scenario on a system.
#[derive(Clone)]
pub struct Configuration {
    /// The run, whose policy and replication do not count.
    pub plan: Plan,
    /// Name of its scenario or profile. If the configurations have several devices, that of its device follows, as in
    /// `evening/headset`.
    pub name: Arc<str>,
    /// Whether its costs were computed, so that it can be run.
    is_costed: bool,
    /// Replications so far in the order of their draws, or why there are none.
    pub replications: Result<Vec<Replication>, RunError>,
    /// Metrics of every policy, means over the replications so far.
    pub metrics: Vec<MeanMetrics>,
    /// Draws so far.
    n_draws: u64,
}

impl Configuration {
    /// Number of draws so far in which no frame is counted, of those in which the configuration ran.
    pub fn n_uncounted(&self) -> u64 {
        self.replications.as_ref().map_or(0, |all| self.n_draws - all.len() as u64)
    }

    /// Number of runs that the device ended before their duration.
    pub fn n_stopped(&self) -> u64 {
        self.metrics.iter().fold(0, |sum, it| sum.saturating_add(it.n_stopped))
    }

    /// Whether further draws may have scores.
    pub fn goes_on(&self) -> bool {
        matches!(self.replications, Ok(_) | Err(RunError::NothingCounted))
    }
}

/// Policies on configurations.
pub struct Comparison {
    policies: Vec<Policy>,
    triggers: Triggers,
    library: CostLibrary,
    configurations: Vec<Configuration>,
    n_replications: u64,
}

impl Comparison {
    /// Computes the costs of the configurations; nothing is run yet.
    pub fn new(
        plans: Vec<Plan>,
        policies: Vec<Policy>,
        triggers: Triggers,
        cost_model: &dyn CostModel,
    ) -> Self {
        Self::costed(plans, policies, triggers, cost_model, |_| true)
    }

    /// Computes the costs of the configurations for which `is_run` says, by their index, that they may be
    /// run. Results of the others can be added only.
    pub fn costed(
        plans: Vec<Plan>,
        policies: Vec<Policy>,
        triggers: Triggers,
        cost_model: &dyn CostModel,
        is_run: impl Fn(usize) -> bool,
    ) -> Self {
        let metrics = vec![MeanMetrics::default(); policies.len()];
        let has_several = plans.iter().any(|plan| device(plan) != device(&plans[0]));
        let name = |plan: &Plan| match device(plan) {
            Some(device) if has_several => format!("{}/{device}", plan.scenario.name()).into(),
            _ => plan.scenario.name().into(),
        };
        let configuration = |(index, plan)| Configuration {
            name: name(&plan),
            plan,
            is_costed: is_run(index),
            replications: Ok(Vec::new()),
            metrics: metrics.clone(),
            n_draws: 0,
        };
        let configurations: Vec<_> = plans.into_iter().enumerate().map(configuration).collect();
        let costed = configurations.iter().filter(|it| it.is_costed);
        let library = CostLibrary::evaluate(cost_model, pairs(costed.map(|it| &it.plan)));
        Self { policies, triggers, library, configurations, n_replications: 0 }
    }

    /// What the configurations run.
    pub fn subject(&self) -> Subject {
        match self.configurations.iter().any(|it| it.plan.phases.is_some()) {
            true => Subject::Profiles,
            false => Subject::Scenarios,
        }
    }

    /// The policies.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// Every configuration, in the order given.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// Mappings that accelerators chose in the configurations whose costs were computed.
    pub fn chosen_mappings(&self) -> ChosenMappings {
        let mut chosen = ChosenMappings::default();
        let costed = self.configurations.iter().filter(|it| it.is_costed);
        self.library.note(pairs(costed.map(|it| &it.plan)), &mut chosen);
        chosen
    }

    /// Replications so far.
    pub fn n_replications(&self) -> u64 {
        self.n_replications
    }

    /// Configurations that can run, with their replications.
    pub fn feasible(&self) -> impl Iterator<Item = (&Configuration, &[Replication])> {
        let all = self.configurations.iter();
        all.filter_map(|it| Some((it, it.replications.as_deref().ok()?)))
    }

    /// Runs further replications in parallel, up to `n_replications` in all. `done` gets the number of
    /// runs that have ended, on any thread.
    pub fn extend(&mut self, n_replications: u64, done: impl Fn(u64) + Sync) {
        let range = self.n_replications..n_replications;
        let mut items = (0..self.configurations.len())
            .flat_map(|configuration| range.clone().map(move |it| (configuration, it)));
        loop {
            let runs = |(at, _): &(usize, u64)| self.configurations[*at].goes_on();
            let block: Vec<_> = items.by_ref().filter(runs).take(BLOCK).collect();
            if block.is_empty() {
                break;
            }
            let costs = self.costs(&block);
            let outcome = |&(configuration, replication): &(usize, u64)| {
                self.outcome(configuration, replication, &costs, &done)
            };
            let outcomes = parallel::map(&block, outcome);
            for ((configuration, _), outcome) in block.iter().zip(outcomes) {
                self.add(*configuration, outcome);
            }
        }
        self.n_replications = self.n_replications.max(n_replications);
    }

    /// Makes replications of configurations, `items`, in parallel and about in their order, and hands each
    /// to `each` with its index in `items`, on any thread. The work ends early if `each` breaks.
    pub fn make_each(
        &self,
        items: &[(usize, u64)],
        each: impl Fn(usize, Result<Outcome, RunError>) -> ControlFlow<()> + Sync,
    ) {
        let costs = self.costs(items);
        parallel::about_in_order(items.len(), &|index| {
            let (configuration, replication) = items[index];
            each(index, self.outcome(configuration, replication, &costs, &|_| {}))
        });
    }

    /// Makes one replication of a configuration.
    pub fn again(&self, configuration: usize, replication: u64) -> Result<Outcome, RunError> {
        let costs = self.costs(&[(configuration, replication)]);
        self.outcome(configuration, replication, &costs, &|_| {})
    }

    /// Adds the next draw of a configuration: its replication, or the reason why there is none. After any reason but that
    /// no frame is counted, it has none at all.
    pub fn add(&mut self, configuration: usize, outcome: Result<Outcome, RunError>) {
        let configuration = &mut self.configurations[configuration];
        if !configuration.goes_on() {
            return;
        }
        let draw = configuration.n_draws;
        configuration.n_draws += 1;
        self.n_replications = self.n_replications.max(configuration.n_draws);
        match (outcome, &mut configuration.replications) {
            (Ok(Outcome { replication, metrics }), all) => {
                let replication = Replication { draw, ..replication };
                match all {
                    Ok(all) => all.push(replication),
                    Err(_) => *all = Ok(vec![replication]),
                }
                configuration.metrics.iter_mut().zip(&metrics).for_each(|(all, it)| all.merge(it));
            }
            (Err(RunError::NothingCounted), Ok(all)) if !all.is_empty() => {}
            (Err(error), all) => *all = Err(error),
        }
    }

    /// Places for the costs of the configurations of `items`, which are in order.
    fn costs(&self, items: &[(usize, u64)]) -> Costs {
        let range = items.first().zip(items.last());
        let (first, last) = range.map_or((0, 0), |((first, _), (last, _))| (*first, *last));
        Costs { first, tables: (first..=last).map(|_| OnceLock::new()).collect() }
    }

    /// Runs every policy in one replication of a configuration. `done` gets the number of runs that have ended.
    fn outcome(
        &self,
        configuration: usize,
        replication: u64,
        costs: &Costs,
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<Outcome, RunError> {
        let plan = &self.configurations[configuration].plan;
        let costs = costs.tables[configuration - costs.first].get_or_init(|| {
            let table = super::costs(plan, &self.library)?;
            let none = RequestStream::default();
            let is_bounded = plan.phases.is_none();
            let routes = is_bounded.then(|| routes(plan, &table.least_over_points(), &none));
            Ok(Costed { routes, table })
        });
        let costs = costs.as_ref().map_err(RunError::clone)?;
        let plan = plan.replicated(replication)?;
        if plan.phases.is_some() {
            let samples = days(plan, &costs.table, &self.policies, done)?;
            let replication = Replication { draw: replication, samples, bounds: None };
            let metrics = vec![MeanMetrics::default(); self.policies.len()];
            return Ok(Outcome { replication, metrics });
        }
        let drawn = match costs.table.has_spreads() || plan.has_work() {
            true => {
                let least = least_costs(&plan.scenario, &plan.load, &costs.table);
                let routes = routes(&plan, &least, &plan.requests()?);
                Some(Costed { routes: Some(routes), table: Arc::clone(&costs.table) })
            }
            false => None,
        };
        let costs = drawn.as_ref().unwrap_or(costs);
        let mut metrics = vec![MeanMetrics::default(); self.policies.len()];
        let replication = replicate(plan, costs, &self.policies, self.triggers, &mut metrics)?;
        done(self.policies.len() as u64);
        Ok(Outcome { replication, metrics })
    }
}

fn device(plan: &Plan) -> Option<&str> {
    plan.device.as_deref().map(|device| &*device.name)
}

/// Most outcomes that are in memory before they are added.
const BLOCK: usize = 512;

/// Costs of successive configurations, each made once.
struct Costs {
    /// The first configuration.
    first: usize,
    tables: Vec<OnceLock<Result<Costed, RunError>>>,
}

/// Costs of a configuration, and what bounds of its scenario know of them, by class.
struct Costed {
    table: Arc<CostTable>,
    routes: Option<[Routes; 2]>,
}

impl Comparison {
    /// Upper bound of `score_executed_mean` at model granularity from the exact optima of windows of
    /// `n_frames` frames: replication 0, mean over the configurations that can run.
    ///
    /// # Errors
    ///
    /// Windows that are too large or not solved; configurations whose load cannot be made do not count.
    pub fn window_bound(&self, n_frames: usize) -> Result<f64, WindowError> {
        let bound = |plan: &Plan| {
            let costs = super::costs(plan, &self.library).ok()?;
            let costs = least_costs(&plan.scenario, &plan.load, &costs);
            let requests = plan.requests().ok()?;
            if plan.has_choices() {
                return Some(Err(WindowError::Choices));
            }
            let grace = plan.engine.grace;
            let windows = Windows::new(&plan.scenario, &costs, &requests, &plan.score, grace);
            Some(windows.bound(n_frames))
        };
        let plans: Vec<&Plan> = self.feasible().map(|(it, _)| &it.plan).collect();
        let bounds = parallel::map(&plans, |plan| bound(plan)).into_iter().flatten();
        let bounds: Vec<f64> = bounds.collect::<Result<_, _>>()?;
        Ok(bounds.iter().sum::<f64>() / bounds.len().max(1) as f64)
    }

    /// Whether every policy runs requests whole, so that [`Comparison::window_bound`] holds for all.
    pub fn runs_whole(&self) -> bool {
        self.policies.iter().all(|policy| policy.class() == Class::Keeping)
    }
}

/// Runs every policy on the same requests.
fn replicate(
    plan: Plan,
    costs: &Costed,
    policies: &[Policy],
    triggers: Triggers,
    metrics: &mut [MeanMetrics],
) -> Result<Replication, RunError> {
    let (draw, requests) = (plan.load.replication, plan.requests()?);
    let patterns = match triggers {
        Triggers::Drawn => None,
        Triggers::Enumerated => patterns(&plan.scenario, &plan.load, |id| frames(&requests, id)),
    };
    let Some(patterns) = patterns.filter(|patterns| patterns.len() > 1) else {
        let bounds = bounds(&plan, costs, &requests);
        let samples = samples(plan, &costs.table, &requests, policies, metrics, 1.0)?;
        return Ok(Replication { draw, samples, bounds });
    };
    let mut expected = vec![Sample::zero(); policies.len()];
    let mut bound: Option<ClassBounds> = None;
    for Pattern { probability, load } in patterns {
        let plan = Plan { load, ..plan.clone() };
        let requests = plan.requests()?;
        if let Some(of_pattern) = bounds(&plan, costs, &requests) {
            bound.get_or_insert_default().add(&of_pattern, probability);
        }
        let samples = samples(plan, &costs.table, &requests, policies, metrics, probability)?;
        expected.iter_mut().zip(samples).for_each(|(sum, sample)| sum.add(&sample, probability));
    }
    Ok(Replication { draw, samples: expected.into(), bounds: bound })
}

/// What bounds of both classes know of a run of `requests`.
fn routes(plan: &Plan, costs: &CostTable, requests: &RequestStream) -> [Routes; 2] {
    Class::ALL.map(|class| Routes::new(&plan.scenario, costs, &plan.score, class, requests))
}

/// Bounds of both classes.
fn bounds(plan: &Plan, costs: &Costed, requests: &RequestStream) -> Option<ClassBounds> {
    let routes = costs.routes.as_ref()?.each_ref();
    let [any, keeping] = routes.map(|it| it.bounds(&plan.scenario, requests));
    Some(ClassBounds::new(any, keeping))
}

fn frames(requests: &RequestStream, model: ModelId) -> usize {
    requests.requests().iter().filter(|request| request.model == model).count()
}

/// Runs every policy on the same draws of a profile.
fn days(
    mut plan: Plan,
    costs: &Arc<CostTable>,
    policies: &[Policy],
    done: &(dyn Fn(u64) + Sync),
) -> Result<Box<[Sample]>, RunError> {
    let sample = |policy: &Policy| {
        plan.scheduler = policy.clone();
        let day = day::play(&plan, costs, None, &|_| {})?;
        done(1);
        Ok(Sample::of_day(&DayMetrics::of(&day, plan.load.duration)))
    };
    policies.iter().map(sample).collect()
}

fn samples(
    mut plan: Plan,
    costs: &CostTable,
    requests: &RequestStream,
    policies: &[Policy],
    metrics: &mut [MeanMetrics],
    weight: f64,
) -> Result<Box<[Sample]>, RunError> {
    let sample = |(policy, metrics): (&Policy, &mut MeanMetrics)| {
        plan.scheduler = policy.clone();
        let Run { trace, body, .. } = engine::run(&plan, costs, requests)?;
        super::cool(body.as_deref())?;
        // Results grow older up to the stop of the device.
        let stopped = body.as_ref().and_then(|body| body.stopped());
        let duration = stopped.map_or(plan.load.duration, |(at, _)| *at - SimTime::ZERO);
        metrics.n_stopped += u64::from(stopped.is_some());
        let load = LoadSettings { duration, ..plan.load.clone() };
        let settings = (&load, &plan.score);
        let display = plan.device.as_ref().and_then(|device| device.display.as_ref());
        let found = Metrics::compute(&plan.scenario, &trace, costs, settings, None, display);
        let usage = Usage::from_trace(costs.n_models(), costs.n_accelerators(), &trace);
        metrics.add(&found, &DeviceMetrics::compute(&plan.system, &usage), weight);
        let scorecard = plan.score(&trace);
        super::counted(&plan, &scorecard)?;
        Ok(Sample::new(&scorecard.total))
    };
    policies.iter().zip(metrics).map(sample).collect()
}

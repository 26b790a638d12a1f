//! All uncertain constants at once, on common draws (docs/explanation/sensitivity.md, section 4).
//!
//! A draw has one value of every constant, and one replication of the load. All systems get both, so that what they have
//! in common cancels out of the order. Mappings stay those of the base: a draw changes the costs of its layers, which
//! follow from counts that are taken once.

use std::collections::HashMap;
use std::sync::Arc;

use xrsim_config::{Uncertain, UncertainConstant, Uncertainty};
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{CostModel, CostTable, Explanation, NetworkCost, Quantity};
use xrsim_model::digest::Digest;
use xrsim_model::hardware::Accelerator;
use xrsim_model::parallel;
use xrsim_model::scenario::Scenario;
use xrsim_model::sequence::distinct;
use xrsim_model::units::{Cycles, Millijoules, SimSpan};
use xrsim_report::sensitivity::{Joined, JointConstant, JointDraw};
use xrsim_sim::load::RequestStream;
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::score::Score;
use xrsim_sim::sweep;

use super::systems::name_with_pes;
use super::{ExperimentError, Prepared};

/// Columns of the cost model with the parts of the energy, in the order of [`ENERGIES`].
const ENERGY_COLUMNS: [&str; 6] = [
    "energy_dram_pJ",
    "energy_shared_pJ",
    "energy_cluster_pJ",
    "energy_scratchpad_pJ",
    "energy_noc_pJ",
    "energy_mac_pJ",
];

/// Constants that multiply these parts.
const ENERGIES: [UncertainConstant; ENERGY_COLUMNS.len()] = [
    UncertainConstant::DramEnergy,
    UncertainConstant::SharedMemoryEnergy,
    UncertainConstant::ClusterEnergy,
    UncertainConstant::ScratchpadEnergy,
    UncertainConstant::NocEnergy,
    UncertainConstant::MacEnergy,
];

/// Draws that are made before progress is told.
const BLOCK: usize = 16;

/// A constant that is drawn, or a factor of the latency of one dataflow.
struct Drawn<'u> {
    uncertain: &'u Uncertain,
    dataflow: Option<String>,
}

impl Drawn<'_> {
    fn label(&self) -> String {
        let name = self.uncertain.constant.name();
        self.dataflow.as_ref().map_or_else(|| name.into(), |it| format!("{name} of {it}"))
    }

    /// Value in a draw. It depends on nothing but seed, draw and name.
    fn value(&self, seed: u64, draw: u64) -> f64 {
        let key = format!("xrsim joint {seed} {draw} {}", self.label());
        let digits = Digest::compute(key.as_bytes()).hex();
        let bits = u64::from_str_radix(&digits[..13], 16).unwrap_or(0);
        self.uncertain.range.quantile((bits as f64 + 0.5) / 2f64.powi(52))
    }
}

/// What the energy and the latency of a layer are made of.
struct Part {
    /// Energies \[nJ\], in the order of [`ENERGIES`].
    energies: [f64; ENERGY_COLUMNS.len()],
    chip_cycles: u64,
    dram_cycles: u64,
}

/// A network on an accelerator at the mappings of the base.
struct Pair<'a> {
    cost: Arc<NetworkCost>,
    accelerator: &'a Accelerator,
    /// Parts of every layer; `None` if the cost model does not tell them.
    parts: Option<Vec<Part>>,
    /// Index of the factor of its latency.
    latency: Option<usize>,
}

/// A scenario on a system.
struct Case<'a> {
    plan: &'a Plan,
    table: Arc<CostTable>,
    scenario: usize,
    system: usize,
}

/// Runs under one uncertainty, prepared for many draws.
pub struct Joint<'a> {
    drawn: Vec<Drawn<'a>>,
    pairs: Vec<Pair<'a>>,
    /// Index of a pair by the address of its costs, which the tables share.
    by_cost: HashMap<usize, usize>,
    cases: Vec<Case<'a>>,
    scenarios: Vec<Arc<Scenario>>,
    systems: Vec<String>,
    left_out: Vec<(String, String)>,
    skipped: Vec<(&'static str, String)>,
    uncertainty: &'a Uncertainty,
    seed: u64,
}

impl<'a> Joint<'a> {
    /// Takes the costs of `base`, whose runs have one replication each, at its mappings.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] under `mlsys2023` semantics, for several cost models, or if fewer than two systems can
    /// run all scenarios.
    pub fn new(base: &'a Prepared, uncertainty: &'a Uncertainty) -> Result<Self, ExperimentError> {
        let conflict = |message: &str| Err(ExperimentError::Conflict(message.into()));
        let plans: Vec<&Plan> = base.plans().collect();
        if plans.iter().any(|plan| plan.semantics == Semantics::Mlsys2023) {
            return conflict(
                "--joint draws constants that the published artifact fixes; choose --semantics principled",
            );
        }
        let named = base.cost_model();
        if base.systems().any(|(_, it)| !it.is_alike(named)) {
            return conflict("--joint takes one cost model");
        }
        let model = &*named.model;
        let mut library = CostLibrary::layers(model);
        library.extend(model, plans.iter().map(|plan| (&*plan.scenario, &*plan.system)));
        let mut joint = Self {
            drawn: Vec::new(),
            pairs: Vec::new(),
            by_cost: HashMap::new(),
            cases: Vec::new(),
            scenarios: Vec::new(),
            systems: Vec::new(),
            left_out: Vec::new(),
            skipped: Vec::new(),
            uncertainty,
            seed: base.settings.load.seed,
        };
        if plans.iter().any(|plan| plan.device.is_some()) {
            let message = "--joint draws the costs of one operating point; leave --device out";
            return Err(ExperimentError::Conflict(message.into()));
        }
        joint.add_cases(&plans, &library);
        if joint.systems.len() < 2 {
            let reason = joint.left_out.first().map_or("", |(_, reason)| reason);
            let colon = if reason.is_empty() { "" } else { ": " };
            let message =
                format!("--joint ranks two systems or more that run all scenarios{colon}{reason}");
            return Err(ExperimentError::Conflict(message));
        }
        joint.add_constants();
        joint.add_pairs(model);
        Ok(joint)
    }

    /// Adds the scenarios on those systems that run all of them.
    fn add_cases(&mut self, plans: &[&'a Plan], library: &CostLibrary) {
        let costed: Vec<_> = plans.iter().map(|plan| sweep::costs(plan, library)).collect();
        let names: Vec<_> = plans.iter().map(|plan| name_with_pes(&plan.system)).collect();
        for ((plan, costs), name) in plans.iter().zip(&costed).zip(&names) {
            let reason = match costs {
                Err(error) => error.to_string(),
                Ok(_) => continue,
            };
            if self.left_out.iter().all(|(known, _)| known != name) {
                self.left_out.push((name.clone(), format!("{}: {reason}", plan.scenario.name())));
            }
        }
        for ((plan, costs), name) in plans.iter().zip(costed).zip(names) {
            let Ok(table) = costs else { continue };
            if self.left_out.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let scenarios = &mut self.scenarios;
            let scenario = place(scenarios, &plan.scenario, |a, b| a.name() == b.name());
            let system = place(&mut self.systems, &name, |a, b| a == b);
            self.cases.push(Case { plan, table, scenario, system });
        }
        let one_size = distinct(self.cases.iter().map(|it| it.plan.system.pes())).len() == 1;
        if one_size {
            let bare = |name: &mut String| name.truncate(name.rfind('@').unwrap_or(name.len()));
            self.systems.iter_mut().for_each(bare);
            self.left_out.iter_mut().for_each(|(name, _)| bare(name));
        }
    }

    /// Adds the constants, the latency once for each dataflow.
    fn add_constants(&mut self) {
        let accelerators = self.cases.iter().flat_map(|it| it.plan.system.accelerators());
        let dataflows = distinct(accelerators.map(|it| it.dataflow.name().to_string()));
        for uncertain in
            self.uncertainty.constants.iter().filter(|it| !it.range.is_fixed() || is_set(it))
        {
            match uncertain.constant {
                UncertainConstant::Latency => self.drawn.extend(
                    dataflows.iter().map(|it| Drawn { uncertain, dataflow: Some(it.clone()) }),
                ),
                _ => self.drawn.push(Drawn { uncertain, dataflow: None }),
            }
        }
    }

    /// Adds every network on every accelerator once.
    fn add_pairs(&mut self, model: &dyn CostModel) {
        let mut found: Vec<(Arc<NetworkCost>, &'a Accelerator, Arc<_>)> = Vec::new();
        for case in &self.cases {
            let accelerators = case.plan.system.accelerators();
            let by_cost = &mut self.by_cost;
            let _ = case.table.with_costs(|work, accelerator, cost| {
                let address = Arc::as_ptr(cost).addr();
                by_cost.entry(address).or_insert_with(|| {
                    let model = case.table.model_of(work);
                    let network = &case.plan.scenario.model(model).unit.network;
                    let accelerator = &accelerators[accelerator.index()];
                    found.push((Arc::clone(cost), accelerator, Arc::clone(network)));
                    found.len() - 1
                });
                Arc::clone(cost)
            });
        }
        let parts = parallel::map(&found, |(cost, accelerator, network)| {
            let layers = model.explain_network(network, accelerator).ok()?;
            let parts = layers.iter().map(part).collect::<Option<Vec<_>>>()?;
            (parts.len() == cost.layers.len()).then_some(parts)
        });
        if parts.iter().any(Option::is_none) {
            let needs = |constant| {
                ENERGIES.contains(&constant) || constant == UncertainConstant::DramLatencyCycles
            };
            for name in self.uncertainty.constants.iter().filter(|it| needs(it.constant)) {
                let reason = "the cost model does not tell the parts of its costs";
                self.skipped.push((name.constant.name(), reason.into()));
            }
            self.drawn.retain(|it| !needs(it.uncertain.constant));
        }
        for ((cost, accelerator, _), parts) in found.into_iter().zip(parts) {
            let name = accelerator.dataflow.name();
            let latency = self.drawn.iter().position(|it| it.dataflow.as_deref() == Some(name));
            self.pairs.push(Pair { cost, accelerator, parts, latency });
        }
    }

    /// Number of runs of every draw.
    pub fn n_runs(&self) -> usize {
        self.cases.len()
    }

    /// Makes `n` draws. `done` gets the number of further draws that have ended. The results are the same for every
    /// number of threads.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Conflict`] if no draw has a score on every system.
    pub fn draws(&self, n: u64, done: &dyn Fn(usize)) -> Result<Joined, ExperimentError> {
        let (mut draws, mut reason) = (Vec::new(), None);
        let all: Vec<u64> = (0..n).collect();
        for block in all.chunks(BLOCK) {
            for made in parallel::map(block, |&draw| self.draw(draw)) {
                match made {
                    Ok(made) => draws.push(made),
                    Err(error) => reason = reason.or(Some(error)),
                }
            }
            done(block.len());
        }
        if draws.is_empty() {
            let message = reason.unwrap_or_else(|| "there are no draws".into());
            return Err(ExperimentError::Conflict(message));
        }
        let constant = |it: &Drawn<'_>| JointConstant {
            name: it.label(),
            range: it.uncertain.range.to_string(),
            source: it.uncertain.source.to_string(),
        };
        Ok(Joined {
            uncertainty: self.uncertainty.name.to_string(),
            scenarios: self.scenarios.iter().map(|it| it.name().to_string()).collect(),
            systems: self.systems.clone(),
            constants: self.drawn.iter().map(constant).collect(),
            n_asked: n,
            draws,
            reason,
            left_out: self.left_out.clone(),
            skipped: self.skipped.clone(),
        })
    }

    /// Makes the runs of one draw.
    fn draw(&self, draw: u64) -> Result<JointDraw, String> {
        let values: Vec<f64> = self.drawn.iter().map(|it| it.value(self.seed, draw)).collect();
        let value = |constant: UncertainConstant| {
            let at = self.drawn.iter().position(|it| it.uncertain.constant == constant)?;
            values.get(at).copied()
        };
        let factors = ENERGIES.map(|constant| value(constant).unwrap_or(1.0));
        let dram_latency = value(UncertainConstant::DramLatencyCycles);
        let costs = self.pairs.iter().map(|pair| {
            let latency = pair.latency.and_then(|at| values.get(at)).copied();
            pair.cost(&factors, dram_latency, latency.unwrap_or(1.0))
        });
        let costs: Vec<Arc<NetworkCost>> = costs.collect();
        let jitter = value(UncertainConstant::Jitter).unwrap_or(1.0);
        let mut loads: Vec<Option<(Arc<Scenario>, RequestStream)>> =
            vec![None; self.scenarios.len()];
        let (mut sums, mut n) = (vec![0.0; self.systems.len()], vec![0u32; self.systems.len()]);
        for case in &self.cases {
            let mut plan = case.plan.clone();
            plan.load.replication = draw;
            plan.score.k_per_ms *= value(UncertainConstant::ScoreK).unwrap_or(1.0);
            let energy = plan.score.energy_max.get();
            let factor = value(UncertainConstant::ScoreEnergyMax).unwrap_or(1.0);
            plan.score.energy_max = Millijoules::new(energy * factor);
            let load = match &mut loads[case.scenario] {
                Some(load) => load,
                empty => {
                    plan.scenario = with_jitter(&case.plan.scenario, jitter)?;
                    let requests = plan.requests().map_err(|error| error.to_string())?;
                    empty.insert((Arc::clone(&plan.scenario), requests))
                }
            };
            plan.scenario = Arc::clone(&load.0);
            let table = case.table.with_costs(|_, _, cost| {
                let pair = self.by_cost.get(&Arc::as_ptr(cost).addr());
                pair.map_or_else(|| Arc::clone(cost), |&at| Arc::clone(&costs[at]))
            });
            let score = sweep::scorecard_at_costs(&plan, &table, &load.1);
            let score: Score = score.map_err(|error| error.to_string())?.total;
            sums[case.system] += score.score;
            n[case.system] += 1;
        }
        let scores = sums.iter().zip(&n).map(|(sum, n)| sum / f64::from(*n)).collect();
        Ok(JointDraw { draw, values, scores })
    }
}

impl Pair<'_> {
    /// Cost of the network with these factors of its energies, this latency of DRAM, and this factor of its latency.
    fn cost(
        &self,
        factors: &[f64; ENERGIES.len()],
        dram_latency: Option<f64>,
        latency: f64,
    ) -> Arc<NetworkCost> {
        let scaled = |cycles: u64| (cycles as f64 * latency).round() as u64;
        if self.cost.layers.is_empty() {
            let cost = NetworkCost {
                cycles: Cycles::new(scaled(self.cost.cycles.get())),
                latency: SimSpan::from_ns(scaled(self.cost.latency.ns())),
                ..NetworkCost::clone(&self.cost)
            };
            return Arc::new(cost);
        }
        let mut layers = self.cost.layers.clone();
        for (layer, part) in layers.iter_mut().zip(self.parts.iter().flatten()) {
            let more = factors.iter().zip(&part.energies).map(|(factor, nj)| (factor - 1.0) * nj);
            layer.energy_nj += more.sum::<f64>();
            if let Some(wait) =
                dram_latency.filter(|_| layer.dram_bytes > 0 && part.dram_cycles > 0)
            {
                let transfer =
                    part.dram_cycles.saturating_sub(self.accelerator.memory.dram_latency);
                let before = part.chip_cycles.max(part.dram_cycles);
                let after = part.chip_cycles.max(transfer + wait.round() as u64);
                layer.cycles = (layer.cycles + after).saturating_sub(before);
            }
        }
        for layer in &mut layers {
            layer.cycles = scaled(layer.cycles);
            layer.chip_cycles = scaled(layer.chip_cycles);
            layer.dram_cycles = scaled(layer.dram_cycles);
        }
        let choices = self.cost.choices.clone();
        Arc::new(NetworkCost { choices, ..NetworkCost::of_layers(layers, self.accelerator) })
    }
}

/// Whether a range of one value changes the base: it is drawn all the same, but decides nothing.
fn is_set(uncertain: &Uncertain) -> bool {
    uncertain.constant == UncertainConstant::DramLatencyCycles
        || uncertain.range.quantile(0.5) != 1.0
}

/// The parts of a layer that a cost model reports; `None` if it lacks one.
fn part(layer: &Explanation) -> Option<Part> {
    let column = |name: &str| {
        let (_, value) = layer.iter().find(|(column, _)| *column == name)?;
        match value {
            Quantity::Count(count) => Some(*count as f64),
            Quantity::Real(value) => Some(*value),
            Quantity::Text(_) => None,
        }
    };
    let mut energies = [0.0; ENERGY_COLUMNS.len()];
    for (energy, name) in energies.iter_mut().zip(ENERGY_COLUMNS) {
        *energy = column(name)? / 1e3;
    }
    let [chip_cycles, dram_cycles] = ["chip_cycles", "dram_cycles"].map(column);
    Some(Part { energies, chip_cycles: chip_cycles? as u64, dram_cycles: dram_cycles? as u64 })
}

/// The scenario with `factor` of the jitter of every sensor.
fn with_jitter(scenario: &Arc<Scenario>, factor: f64) -> Result<Arc<Scenario>, String> {
    if factor == 1.0 {
        return Ok(Arc::clone(scenario));
    }
    let mut streams = scenario.streams().to_vec();
    for stream in &mut streams {
        let ns = stream.max_jitter.ns() as f64 * factor;
        stream.max_jitter = SimSpan::from_ns(ns.round() as u64);
    }
    let jittered = Scenario::new(scenario.name(), streams, scenario.models().to_vec());
    let reason = |errors: Vec<_>| format!("jitter times {factor}: {:?}", errors.first());
    jittered.map(Arc::new).map_err(reason)
}

/// Place of `value` in `all`, to which it is added if it is new.
fn place<T: Clone>(all: &mut Vec<T>, value: &T, is_same: impl Fn(&T, &T) -> bool) -> usize {
    all.iter().position(|it| is_same(it, value)).unwrap_or_else(|| {
        all.push(value.clone());
        all.len() - 1
    })
}

//! The published study: every scenario of the suite on every system at every size.

use std::sync::Arc;

use rayon::prelude::*;

use crate::compat::Ablation;
use crate::config::{Catalog, Edition, Hardware};
use crate::cost::library::CostLibrary;
use crate::load::Drawn;
use crate::plan::Plan;
use crate::score::Score;
use crate::sweep::enumeration::{Possibility, possibilities};
use crate::sweep::{self, RunResult, RunSpec, Semantics};

use super::costs;
use super::message::Failure;

/// Bars of Figure 5 as published: mean scores and overall score of every scenario on every system.
const FIGURE_5: &str = include_str!("../../validation/figure5_published.csv");

/// Scores of a scenario on a system: a group of bars of Figure 5.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// Scenario.
    pub scenario: String,
    /// PEs.
    pub pes: u64,
    /// System, A to M.
    pub system: String,
    /// Real-time, energy and QoE score, means over the models; overall score.
    pub scores: [f64; 4],
}

/// Every group of bars of Figure 5 as published, but for the means over scenarios.
pub fn published() -> Vec<Bars> {
    let bars = FIGURE_5.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let scenario = cells.next()?.to_string();
        let pes = if cells.next()? == "4K" { 4096 } else { 8192 };
        let system = cells.next()?.to_string();
        let mut score = || cells.next()?.parse().ok();
        Some(Bars { scenario, pes, system, scores: [score()?, score()?, score()?, score()?] })
    });
    bars.filter(|bars| bars.scenario != "gross_average").collect()
}

impl Bars {
    fn new(spec: &RunSpec, scores: [f64; 4]) -> Self {
        Self {
            scenario: spec.plan.scenario.name().into(),
            pes: spec.plan.system.pes(),
            system: spec.plan.system.name().into(),
            scores,
        }
    }
}

/// Mean real-time, energy and QoE score over the models of a run, and its overall score.
pub fn scores(result: &RunResult) -> [f64; 4] {
    let Score { realtime, energy, qoe, score, .. } = result.scorecard.total;
    [realtime, energy, qoe, score]
}

/// A run with every outcome that its triggers can have.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Expectation of every score.
    pub mean: Bars,
    /// Scores of every possible outcome.
    pub possible: Vec<[f64; 4]>,
    /// What else is random and was drawn once.
    pub drawn: Drawn,
}

impl Expected {
    fn new(spec: &RunSpec, possibilities: &[Possibility]) -> Self {
        let mut mean = [0.0; 4];
        let mut possible = Vec::with_capacity(possibilities.len());
        for possibility in possibilities {
            let scores = scores(&possibility.result);
            mean.iter_mut().zip(scores).for_each(|(sum, it)| *sum += possibility.probability * it);
            possible.push(scores);
        }
        let drawn = Drawn { triggers: false, ..spec.drawn() };
        Self { mean: Bars::new(spec, mean), possible, drawn }
    }

    /// Least and largest of a score.
    pub fn range(&self, score: usize) -> (f64, f64) {
        let values = self.possible.iter().map(|scores| scores[score]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
            (least.min(it), most.max(it))
        })
    }
}

/// What of runs is random and was drawn once, for the foot of a table or the head of a figure; empty
/// where nothing is.
pub fn once(drawn: impl Iterator<Item = Drawn>) -> String {
    let drawn = drawn.fold(Drawn::default(), Drawn::or);
    match drawn.any() {
        true => format!("one draw (seed 0) of {}", drawn.names().join(", ")),
        false => String::new(),
    }
}

/// Under which rules the study is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Study {
    /// Rules of a run.
    pub semantics: Semantics,
    /// Layers of the networks.
    pub networks: Edition,
    /// Cost model.
    pub cost_model: &'static str,
    /// Bandwidth and memory.
    pub platform: &'static str,
    /// Quirks that runs with the artifact's semantics leave out.
    pub without: Ablation,
}

impl Study {
    /// The study that `semantics` means by default.
    pub fn of(semantics: Semantics) -> Self {
        match semantics {
            Semantics::Principled => Self::principled(Edition::Reference),
            Semantics::Mlsys2023 => Self::mlsys2023(),
        }
    }

    /// As the published artifact made it.
    pub fn mlsys2023() -> Self {
        Self {
            semantics: Semantics::Mlsys2023,
            networks: Edition::Artifact,
            cost_model: "maestro",
            platform: "artifact",
            without: Ablation::default(),
        }
    }

    /// As the paper means it, with the networks of `networks`.
    pub fn principled(networks: Edition) -> Self {
        let (semantics, cost_model) = (Semantics::Principled, "loop-nest");
        let without = Ablation::default();
        Self { semantics, networks, cost_model, platform: "paper", without }
    }

    /// Makes every run; those that cannot be made are left out.
    ///
    /// # Errors
    ///
    /// None for the embedded files that the tests have seen.
    pub fn run(&self) -> Result<Vec<Bars>, Failure> {
        let mut catalog = Catalog::with_networks(self.networks);
        let costs = costs::choose(&mut catalog, self.cost_model)?;
        let specs = self.specs(&mut catalog)?;
        let mut runs = Vec::with_capacity(specs.len());
        sweep::run_all(&specs, &*costs.model, |_, spec, result| {
            runs.extend(result.ok().map(|result| Bars::new(spec, scores(&result))));
            Ok::<_, Failure>(())
        })?;
        Ok(runs)
    }

    /// Every run with all outcomes that its triggers can have, in order of scenario, PEs and system;
    /// those that cannot be made are left out.
    ///
    /// # Errors
    ///
    /// None for the embedded files that the tests have seen.
    pub fn expect(&self) -> Result<Vec<Expected>, Failure> {
        let mut catalog = Catalog::with_networks(self.networks);
        let costs = costs::choose(&mut catalog, self.cost_model)?;
        let specs = self.specs(&mut catalog)?;
        let pairs = specs.iter().map(|spec| (&*spec.plan.scenario, &*spec.plan.system));
        let library = CostLibrary::evaluate(&*costs.model, pairs);
        let expected = specs.par_iter().filter_map(|spec| {
            let possibilities = possibilities(spec, &library).ok()??;
            Some(Expected::new(spec, &possibilities))
        });
        Ok(expected.collect())
    }

    /// One scenario on one system, with the costs of both.
    ///
    /// # Errors
    ///
    /// An unknown name.
    pub fn one(
        &self,
        scenario: &str,
        system: &str,
        pes: u64,
    ) -> Result<(RunSpec, CostLibrary), Failure> {
        let mut catalog = Catalog::with_networks(self.networks);
        let costs = costs::choose(&mut catalog, self.cost_model)?;
        let wanted = |spec: &RunSpec| {
            spec.plan.scenario.name() == scenario
                && spec.plan.system.name() == system
                && spec.plan.system.pes() == pes
        };
        let spec = self.specs(&mut catalog)?.into_iter().find(wanted).ok_or_else(|| {
            Failure::Argument(format!("the study has no {scenario} on {system} with {pes} PEs"))
        })?;
        let library =
            CostLibrary::evaluate(&*costs.model, [(&*spec.plan.scenario, &*spec.plan.system)]);
        Ok((spec, library))
    }

    fn specs(&self, catalog: &mut Catalog) -> Result<Vec<RunSpec>, Failure> {
        let suite = catalog.suite()?;
        let platform = catalog.platform(self.platform)?;
        let edition = match self.semantics {
            Semantics::Principled => Edition::Reference,
            Semantics::Mlsys2023 => Edition::Artifact,
        };
        let mut specs = Vec::new();
        for name in &suite.scenarios {
            let scenario = catalog.scenario(name, edition)?;
            for &pes in &suite.pes {
                for system in &suite.systems {
                    let Hardware::Style(style) = catalog.hardware(system)? else { continue };
                    let system = style.instantiate(pes, &platform).map_err(super::argument)?;
                    let scenario = Arc::clone(&scenario);
                    let plan = Plan::new(scenario, Arc::new(system));
                    let mut spec = RunSpec::new(plan, self.semantics);
                    spec.without = self.without;
                    specs.push(spec);
                }
            }
        }
        Ok(specs)
    }
}

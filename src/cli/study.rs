//! The published study: every scenario of the suite on every system at every size.

use std::sync::Arc;

use crate::config::{Catalog, Edition, Hardware, NetworkEdition};
use crate::load::LoadSettings;
use crate::plan::EngineSettings;
use crate::schedule;
use crate::score::{Score, ScoreSettings};
use crate::sweep::{self, RunSpec, Semantics};

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

/// Under which rules the study is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Study {
    /// Rules of a run.
    pub semantics: Semantics,
    /// Layers of the networks.
    pub networks: NetworkEdition,
    /// Cost model.
    pub cost_model: &'static str,
    /// Bandwidth and memory.
    pub platform: &'static str,
}

impl Study {
    /// As the published artifact made it.
    pub fn mlsys2023() -> Self {
        Self {
            semantics: Semantics::Mlsys2023,
            networks: NetworkEdition::Mlsys2023,
            cost_model: "mlsys2023",
            platform: "mlsys2023",
        }
    }

    /// As the paper means it, with the networks of `networks`.
    pub fn principled(networks: NetworkEdition) -> Self {
        let (semantics, cost_model) = (Semantics::Principled, "principled");
        Self { semantics, networks, cost_model, platform: "paper" }
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
            runs.extend(result.ok().map(|result| {
                let Score { realtime, energy, qoe, score, .. } = result.scorecard.total;
                Bars {
                    scenario: spec.scenario.name().into(),
                    pes: spec.system.pes(),
                    system: spec.system.name().into(),
                    scores: [realtime, energy, qoe, score],
                }
            }));
            Ok::<_, Failure>(())
        })?;
        Ok(runs)
    }

    fn specs(&self, catalog: &mut Catalog) -> Result<Vec<RunSpec>, Failure> {
        let suite = catalog.suite()?;
        let platform = catalog.platform(self.platform)?;
        let edition = match self.semantics {
            Semantics::Principled => Edition::Paper,
            Semantics::Mlsys2023 => Edition::Mlsys2023,
        };
        let mut specs = Vec::new();
        for name in &suite.scenarios {
            let scenario = catalog.scenario(name, edition)?;
            for &pes in &suite.pes {
                for system in &suite.systems {
                    let Hardware::Style(style) = catalog.hardware(system)? else { continue };
                    let system = style.instantiate(pes, &platform).map_err(super::argument)?;
                    specs.push(RunSpec {
                        scenario: Arc::clone(&scenario),
                        system: Arc::new(system),
                        semantics: self.semantics,
                        load: LoadSettings::default(),
                        engine: EngineSettings::default(),
                        scheduler: &schedule::ALL[0],
                        score: ScoreSettings::default(),
                    });
                }
            }
        }
        Ok(specs)
    }
}

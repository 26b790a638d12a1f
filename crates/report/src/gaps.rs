//! Layers that take much of the time of a run and whose mapping may be far from the best one.

use crate::dominant::on_fastest;
use xrsim_model::cost::Certainty;
use xrsim_model::hardware::{Flexibility, MappingObjective};
use xrsim_model::mapper::Effort;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::Scored;

/// Least part of the time of an accelerator that a named layer takes at the rate of its model.
const LEAST_LOAD: f64 = 0.1;

/// Least distance of its latency to the lower bound [percent].
const LEAST_GAP: f64 = 20.0;

/// Layers with a large gap in the runs of a table.
#[derive(Debug, Default)]
pub struct LayerGaps {
    /// The layer with the most time above its bound.
    worst: Option<Found>,
    n_found: usize,
}

#[derive(Debug)]
struct Found {
    scenario: String,
    model: String,
    layer: String,
    accelerator: String,
    system: String,
    /// The command that makes the run.
    command: String,
    gap_percent: f64,
    /// Part of the time of the accelerator at the rate of the model.
    load: f64,
}

impl LayerGaps {
    /// Adds a run under a cost model that chooses mappings, with every model on its fastest accelerator. `command`
    /// makes the run; without one nobody could search further, so that nothing is noted.
    pub fn take(&mut self, plan: &Plan, result: &Scored, command: &dyn Fn() -> Option<String>) {
        for (model, name, fastest) in on_fastest(plan, result) {
            let accelerator = &plan.system.accelerators()[fastest.index()];
            let active = plan.scenario.model(model);
            let network = &active.unit.network;
            let execution = result.costs.on(model, fastest);
            let Some(choices) = execution.network().choices() else { continue };
            // Other objectives give latency for energy, and forms alone are tried with every effort.
            let is_searched = accelerator.flexibility != Flexibility::Forms;
            if accelerator.mapping_objective != MappingObjective::Cycles || !is_searched {
                continue;
            }
            for layer in 0..execution.n_layers() {
                let ms = execution.time_of(layer..layer + 1).as_ms();
                let load = ms / 1e3 * active.rate.as_fps();
                if load < LEAST_LOAD {
                    continue;
                }
                let certainty = choices.layers.get(layer as usize).copied().flatten();
                let Some(gap_percent) = certainty.and_then(gap) else { continue };
                let Some(command) = command() else { continue };
                self.n_found += 1;
                let excess = |load: f64, gap: f64| load * gap / (100.0 + gap);
                let is_worse =
                    |it: &Found| excess(load, gap_percent) > excess(it.load, it.gap_percent);
                if self.worst.as_ref().is_none_or(is_worse) {
                    self.worst = Some(Found {
                        scenario: plan.scenario.name().into(),
                        model: name.into(),
                        layer: network.layers()[layer as usize].name.to_string(),
                        accelerator: accelerator.name.to_string(),
                        system: plan.system.name().into(),
                        command,
                        gap_percent,
                        load,
                    });
                }
            }
        }
    }

    /// A line about the worst layer, with the command that searches further; empty without any.
    pub fn note(&self) -> String {
        let Some(it) = &self.worst else { return String::new() };
        let Found { scenario, model, layer, accelerator, system, command, gap_percent, load } = it;
        let more = match self.n_found {
            1 => String::new(),
            n => format!(", the worst of {n} such layers"),
        };
        format!(
            "note: {scenario}: the mapping of layer {layer} of {model} on {accelerator} of {system} is \
             {gap_percent:.0} % above its lower bound; at the rate of the model it needs {:.0} % of the time of that \
             accelerator{more}. More effort may find a faster mapping: {command} --effort full\n",
            100.0 * load
        )
    }
}

/// Distance of a layer to its bound, if it is large and a search with more effort may be asked for.
fn gap(certainty: Certainty) -> Option<f64> {
    let gap = certainty.gap_percent();
    (certainty.effort != Effort::FULL.name() && gap >= LEAST_GAP).then_some(gap)
}

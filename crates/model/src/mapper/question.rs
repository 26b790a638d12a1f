//! What a choice answers: a layer on a machine with limits, within a mapspace.

use crate::cost::loop_nest::{Choice, Machine, Nest, evaluate};

use super::candidate::Candidate;
use super::kept::{Kept, LayerKey};
use super::objective::{Objective, Value};
use super::problem::{Limits, Problem};
use super::row;
use super::search::Status;
use super::space::Mapspace;

/// Largest relative error of a sum of energies.
const ROUNDING: f64 = 1e-12;

/// A layer on a machine, for which a choice is asked.
pub(super) struct Question<'a> {
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    /// The mapspace of a form, if it has one.
    pub space: &'a dyn Fn(&Nest) -> Option<Mapspace>,
}

impl Question<'_> {
    /// Whether a mapping lies in the mapspace of its form. Those of directives and of less flexible hardware,
    /// with which searches begin, may lie outside.
    pub(super) fn contains(&self, choice: &Choice) -> bool {
        let nest = &choice.nest;
        let Some(space) = (self.space)(nest) else { return false };
        let (machine, limits, objective) = (self.machine, self.limits, Objective::default());
        let problem = Problem { nest, machine, limits, space: &space, objective };
        let candidate = Candidate::from_mapping(&choice.mapping, nest);
        problem.contains(&candidate) && problem.is_stationary(&candidate)
    }

    /// The choice that the text after the key of a line states for the layer `key`, whether it is a good one or not.
    ///
    /// # Errors
    ///
    /// The reason in words for which the text is no choice for the layer on the machine.
    pub(super) fn stated(&self, key: &LayerKey, text: &str) -> Result<Kept, &'static str> {
        row::read_answer(key, text, self.machine)
            .ok_or("a line is no mapping of its layer on the accelerator")
    }

    /// The choice that the text after the key of a line states for the layer `key`, once it is checked.
    ///
    /// # Errors
    ///
    /// The reason in words for which the text is no answer: it is no choice for the layer on the machine, costs
    /// something else than it says, or lies outside of the mapspace.
    pub(super) fn answer(&self, key: &LayerKey, text: &str) -> Result<Kept, &'static str> {
        let kept = self.stated(key, text)?;
        // Mappings that exceed capacities are not kept, so that nobody believes that there are no others.
        if kept.status == Status::NoLegalMapping {
            return Err("a line says that no mapping runs");
        }
        let Choice { nest, mapping, .. } = &kept.choice;
        let evaluation = evaluate(nest, mapping, self.machine)
            .map_err(|_| "a mapping has counts beyond 64 bits")?;
        let value = Value { cycles: evaluation.cycles, energy_pj: evaluation.energy.total() };
        if value != kept.value {
            return Err("a mapping costs something else than its line says");
        }
        if !self.limits.hold(&evaluation, self.machine) {
            return Err("a tile of a mapping does not fit into its memory");
        }
        let bound = kept.bound;
        let least = 1.0 - ROUNDING;
        if value.cycles < bound.cycles
            || value.energy_pj < bound.energy_pj * least
            || value.edp() < kept.bound_edp * least
        {
            return Err("a mapping costs less than its bound");
        }
        let attains = value.cycles <= bound.cycles || value.energy_pj <= bound.energy_pj;
        if kept.status == Status::OptimalByBound && !attains && value.edp() > kept.bound_edp {
            return Err("a mapping does not attain its bound");
        }
        if kept.is_inside && !self.contains(&kept.choice) {
            return Err("a mapping lies outside of the mapspace");
        }
        Ok(kept)
    }
}

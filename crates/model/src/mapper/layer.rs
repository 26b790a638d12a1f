//! The search for the form and the mapping of a layer.

use crate::cost::loop_nest::{Machine, Mapping, Nest};

use super::candidate::Candidate;
use super::forms::forms;
use super::objective::Objective;
use super::problem::{Limits, Problem};
use super::search::{Found, Settings, search};
use super::space::Mapspace;

/// The best mapping of a layer in any of its forms.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FoundForm {
    /// Form.
    pub nest: Nest,
    /// The best mapping of the form. The bound and the status are those of all forms.
    pub found: Found,
}

/// A search over the forms of a layer, each with a mapspace of its own.
pub(super) struct FormSearch<'a> {
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    /// The mapspace of a form, if it has one.
    pub space: &'a dyn Fn(&Nest) -> Option<Mapspace>,
    /// Mappings of forms that are evaluated first.
    pub seeds: Vec<(Nest, Mapping)>,
    pub objective: Objective,
    pub settings: Settings,
}

impl FormSearch<'_> {
    /// Searches. `None` if no mapping of any form can be counted.
    pub(super) fn run(&self, nest: &Nest) -> Option<FoundForm> {
        let mut forms = forms(nest);
        for (form, _) in &self.seeds {
            if !forms.contains(form) {
                forms.push(form.clone());
            }
        }
        let spaces: Vec<_> =
            forms.into_iter().filter_map(|form| Some(((self.space)(&form)?, form))).collect();
        let Self { machine, limits, objective, .. } = *self;
        let problem = |(space, nest)| Problem { nest, machine, limits, space, objective };
        let problems: Vec<_> = spaces.iter().map(|(space, form)| problem((space, form))).collect();
        let seed = |(form, mapping): &(Nest, Mapping)| {
            let at = problems.iter().position(|it| it.nest == form)?;
            Some((at, Candidate::from_mapping(mapping, form)))
        };
        let seeds: Vec<_> = self.seeds.iter().filter_map(seed).collect();
        let (form, found) = search(&problems, self.settings, &seeds)?;
        Some(FoundForm { nest: problems[form].nest.clone(), found })
    }
}

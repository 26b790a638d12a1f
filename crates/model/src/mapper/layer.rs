//! The search for the form and the mapping of a layer.

use crate::cost::loop_nest::{Machine, Mapping, Nest};

use super::exact::Rules;
use super::forms::forms;
use super::objective::{Objective, Value};
use super::problem::Limits;
use super::search::{Effort, Found, Search, Status};
use super::space::Mapspace;

/// Evaluations of each form before the promising ones are searched.
const FIRST: u64 = 12;

/// Number of forms that are searched with the whole effort.
const PROMISING: usize = 2;

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
    pub effort: Effort,
    pub rules: Rules,
    /// Distance to the bound at which the search ends, as a fraction of the bound.
    pub gap: f64,
}

impl FormSearch<'_> {
    /// Searches. `None` if no mapping of any form can be counted.
    pub(super) fn run(&self, nest: &Nest) -> Option<FoundForm> {
        let mut forms = forms(nest);
        let known = self.seeds.iter().map(|(form, _)| form);
        let further: Vec<_> = known.filter(|form| !forms.contains(form)).cloned().collect();
        forms.extend(further);
        let first = Effort::new(self.effort.evaluations.min(FIRST), 0, self.effort.starts);
        let mut found: Vec<FoundForm> = forms
            .into_iter()
            .filter_map(|form| {
                let space = (self.space)(&form)?;
                let search = self.search(&form, &space).effort(first);
                let seeds = self.seeds.iter().filter(|(nest, _)| *nest == form);
                let search = seeds.fold(search, |search, (_, seed)| search.seed(seed));
                let found = search.run()?;
                Some(FoundForm { nest: form, found })
            })
            .collect();
        found.sort_by(|a, b| a.found.order(&b.found, self.objective));
        let bound = least(found.iter().map(|it| it.found.bound))?;
        for promising in found.iter_mut().take(PROMISING) {
            let space = (self.space)(&promising.nest)?;
            let search = self.search(&promising.nest, &space).seed(&promising.found.mapping);
            if let Some(better) = search.effort(self.effort).run() {
                promising.found = better;
            }
        }
        self.best(found, bound)
    }

    fn search<'s>(&'s self, form: &'s Nest, space: &'s Mapspace) -> Search<'s> {
        let search = Search::new(form, self.machine, self.limits, space);
        search.objective(self.objective).rules(self.rules).gap(self.gap)
    }

    /// The best form, with what is known of all of them.
    fn best(&self, mut found: Vec<FoundForm>, bound: Value) -> Option<FoundForm> {
        let order = |a: &FoundForm, b: &FoundForm| a.found.order(&b.found, self.objective);
        let at = (0..found.len()).min_by(|&a, &b| order(&found[a], &found[b]))?;
        let value = found[at].found.value();
        let is_decided = |other: &FoundForm| {
            other.found.status == Status::OptimalByEnumeration
                || !self.objective.may_improve(&other.found.bound, &value)
        };
        let all_decided = found.iter().all(is_decided);
        let mut best = found.swap_remove(at);
        let attains =
            self.objective.allows(&value) && self.objective.of(&value) <= self.objective.of(&bound);
        best.found.bound = bound;
        best.found.status = match best.found.status {
            Status::NoLegalMapping => Status::NoLegalMapping,
            _ if attains => Status::OptimalByBound,
            _ if all_decided => Status::OptimalByEnumeration,
            _ => Status::Gap,
        };
        for other in &found {
            let (all, more) = (&mut best.found.counts, &other.found.counts);
            all.evaluated += more.evaluated;
            all.infeasible += more.infeasible;
            all.excluded += more.excluded;
        }
        Some(best)
    }
}

/// Least latency and least energy of values.
fn least(values: impl Iterator<Item = Value>) -> Option<Value> {
    values.reduce(|a, b| Value {
        cycles: a.cycles.min(b.cycles),
        energy_pj: a.energy_pj.min(b.energy_pj),
    })
}

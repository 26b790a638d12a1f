//! The choice of forms and mappings in runs, within the flexibility of an accelerator (docs/explanation/mapper.md,
//! section 6).

use std::cmp::Ordering;
use std::sync::Arc;

use crate::cost::loop_nest::{Choice, Listed, Machine, Mapping, Nest};
use crate::hardware::{Accelerator, Flexibility, MappingObjective};

use super::declared::{DeclaredSpace, MAX_LEVELS, clusters};
use super::exact::Rules;
use super::forms::forms;
use super::kept::Kept;
use super::layer::{FormSearch, FoundForm};
use super::objective::{Objective, within_one_percent};
use super::problem::Limits;
use super::search::{Effort, Search, Settings, Status};
use super::sizes::Sizes;
use super::space::Mapspace;
use super::store::Store;

/// Chooses a form and a mapping for every layer, within the flexibility and by the objective of its
/// accelerator: the best one that a search of some effort finds. Equal choices are made once.
#[derive(Debug)]
pub struct Chooser {
    pub(super) effort: Effort,
    pub(super) store: Arc<Store>,
}

impl Default for Chooser {
    /// A chooser of runs: searches of the default effort, kept for the whole process.
    fn default() -> Self {
        Self::new(Effort::default(), Store::of_process())
    }
}

impl Chooser {
    /// A chooser that keeps its choices in `store`.
    pub fn new(effort: Effort, store: Arc<Store>) -> Self {
        Self { effort, store }
    }

    /// The choice for a layer. `less` is that with the flexibility before the one of the accelerator.
    pub(super) fn search(
        &self,
        nest: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
        less: Option<Kept>,
    ) -> Option<Kept> {
        // A dataflow that lists only other layers has no wiring for this one.
        let listed = Listed::new(&accelerator.dataflow, nest, machine).ok()?;
        let task = Task {
            nest,
            machine,
            limits: &Limits::from_accelerator(accelerator),
            effort: self.effort,
        };
        let directives = task.directives(&listed);
        let objective = accelerator.mapping_objective;
        let less = less.or_else(|| {
            let written = directives.iter().find(|it| it.choice.nest == *listed.nest);
            let written = written.and_then(Kept::cycles);
            best_of(directives.clone(), objective, written)
        });
        if accelerator.flexibility == Flexibility::Forms {
            return less;
        }
        let levels = &listed.directives.levels[..];
        let style = DeclaredSpace::of_style(levels, accelerator.dataflow.stationary());
        let space = |form: &Nest| match accelerator.flexibility {
            Flexibility::None | Flexibility::Forms | Flexibility::Tiles => {
                Some(style.as_ref()?.for_layer(form, machine))
            }
            Flexibility::Axes => {
                let free = Mapspace::free(vec![clusters(levels)?], Sizes::All);
                Some(Mapspace { off_chip: true, ..free })
            }
            Flexibility::Any => {
                let mut space = Mapspace::any(machine.pes, MAX_LEVELS, Sizes::All);
                space.clusters.extend(clusters(levels));
                Some(space)
            }
        };
        let seeds: Vec<_> = directives.into_iter().chain(less.clone()).collect();
        let found = match objective {
            MappingObjective::Cycles => task.economical(&space, &seeds, less.as_ref()),
            MappingObjective::Energy => task.least(Objective::Energy, 0.0, &space, &seeds),
            // The objective of a layer by itself, which has no period.
            MappingObjective::Edp | MappingObjective::Deadline => {
                task.least(Objective::Edp, 0.0, &space, &seeds)
            }
        };
        found.or(less)
    }
}

/// The choice of a mapping for a layer on a machine.
struct Task<'a> {
    nest: &'a Nest,
    machine: &'a Machine,
    limits: &'a Limits,
    effort: Effort,
}

/// Part of the evaluations of a search that lower the energy of the fastest mapping.
const ECONOMICAL_PART: u64 = 3;

/// Part of the choices of exact search that lower it.
const ECONOMICAL_EXACT: u64 = 100;

/// Distance to the bound, as a fraction of it, at which the search for the least latency ends: mappings
/// within 1 % of this latency are as good.
const CLOSE: f64 = 0.002;

impl Task<'_> {
    /// The directives of a dataflow with every form of the layer.
    fn directives(&self, listed: &Listed<'_>) -> Vec<Kept> {
        let own = listed.of_layer.then(|| listed.nest.clone().into_owned());
        let forms = own.map_or_else(|| forms(self.nest), |form| vec![form]);
        let space = Mapspace::free(Vec::new(), Sizes::All);
        let evaluate = |nest: Nest| {
            let mapping = Mapping::new(listed.directives, &nest, self.machine).ok()?;
            let search = Search::new(&nest, self.machine, self.limits, &space).seed(&mapping);
            let found = search.effort(Effort::new(0, 0, 0)).run()?;
            Some(Kept::from_found(FoundForm { nest, found }))
        };
        forms.into_iter().filter_map(evaluate).collect()
    }

    /// The least of an objective in any form, up to a distance to the bound, as a fraction of it.
    fn least(
        &self,
        objective: Objective,
        gap: f64,
        space: &dyn Fn(&Nest) -> Option<Mapspace>,
        seeds: &[Kept],
    ) -> Option<Kept> {
        let Self { nest, machine, limits, effort } = *self;
        let seeds = seeds.iter().map(|it| (it.choice.nest.clone(), it.choice.mapping)).collect();
        let settings = Settings { effort, rules: Rules::ALL, gap };
        let search = FormSearch { machine, limits, space, seeds, objective, settings };
        Some(Kept::from_found(search.run(nest)?))
    }

    /// The least energy among mappings within 1 % of the least latency that are not slower than `less`.
    /// The result has the bound of the latency.
    fn economical(
        &self,
        space: &dyn Fn(&Nest) -> Option<Mapspace>,
        seeds: &[Kept],
        less: Option<&Kept>,
    ) -> Option<Kept> {
        let fastest = self.least(Objective::Cycles, CLOSE, space, seeds)?;
        let Some(cycles) = fastest.cycles() else { return Some(fastest) };
        let objective = within(cycles, less.and_then(Kept::cycles));
        let found = self.economical_form(&fastest, objective, space);
        let all = found.into_iter().chain(less.cloned()).chain([fastest.clone()]);
        let best = all.min_by(|a, b| order(a, b, objective))?;
        let status = if best.value.cycles == cycles { fastest.status } else { Status::Gap };
        let Kept { bound, bound_edp, .. } = fastest;
        Some(Kept { bound, bound_edp, status, ..best })
    }

    /// A mapping of the form of `fastest` that a short search finds from it.
    fn economical_form(
        &self,
        fastest: &Kept,
        objective: Objective,
        space: &dyn Fn(&Nest) -> Option<Mapspace>,
    ) -> Option<Kept> {
        let Choice { nest, mapping, .. } = &fastest.choice;
        let space = space(nest)?;
        let evaluations = self.effort.last_evaluations(fastest.bound.cycles) / ECONOMICAL_PART;
        let effort = Effort::new(evaluations, self.effort.exact / ECONOMICAL_EXACT, 0);
        let search = Search::new(nest, self.machine, self.limits, &space).objective(objective);
        let found = search.effort(effort).seed(mapping).run()?;
        Some(Kept::from_found(FoundForm { nest: nest.clone(), found }))
    }
}

/// Objective among mappings within 1 % of the least latency and not slower than `ceiling`.
fn within(cycles: u64, ceiling: Option<u64>) -> Objective {
    Objective::EnergyWithin(within_one_percent(cycles).min(ceiling.unwrap_or(u64::MAX)))
}

/// Order of choices, the better one first.
fn order(a: &Kept, b: &Kept, objective: Objective) -> Ordering {
    let fails = |kept: &Kept| kept.cycles().is_none();
    fails(a).cmp(&fails(b)).then_with(|| objective.compare(&a.value, &b.value))
}

/// The best of some choices; under `cycles` none that is slower than `ceiling`.
fn best_of(choices: Vec<Kept>, objective: MappingObjective, ceiling: Option<u64>) -> Option<Kept> {
    let objective = match objective {
        MappingObjective::Cycles => {
            let least = choices.iter().filter_map(Kept::cycles).min();
            least.map_or(Objective::Cycles, |least| within(least, ceiling))
        }
        MappingObjective::Energy => Objective::Energy,
        MappingObjective::Edp | MappingObjective::Deadline => Objective::Edp,
    };
    choices.into_iter().min_by(|a, b| order(a, b, objective))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapper::row;

    /// Choices of a layer with these latencies and energies.
    fn choices(values: &[(u64, f64)]) -> Vec<Kept> {
        let of = |(cycles, energy): &(u64, f64)| {
            let line = format!(
                "1,1,8,4,6,1,1,1/1,1,6,0/1,1,1,0 - - gap {cycles} {energy} 90 2 180 inside - = 4:K2"
            );
            row::read(&line, &Machine::new(4)).expect("a choice").1
        };
        values.iter().map(of).collect()
    }

    fn best(values: &[(u64, f64)], objective: MappingObjective, ceiling: Option<u64>) -> u64 {
        best_of(choices(values), objective, ceiling).expect("a choice").value.cycles
    }

    #[test]
    fn cycles_take_the_least_energy_within_one_percent_but_not_above_the_ceiling() {
        let values = [(1000, 9.0), (1010, 5.0), (1011, 1.0), (1005, 7.0)];
        let cycles = MappingObjective::Cycles;
        assert_eq!(best(&values, cycles, None), 1010);
        assert_eq!(best(&values, cycles, Some(2000)), 1010);
        assert_eq!(best(&values, cycles, Some(1009)), 1005);
        assert_eq!(best(&values, cycles, Some(1000)), 1000);
        // One percent of fewer than 100 cycles is less than a cycle.
        assert_eq!(best(&[(99, 9.0), (100, 5.0)], cycles, None), 99);
    }

    #[test]
    fn energy_and_edp_take_the_least_of_their_own() {
        let values = [(1000, 9.0), (2000, 4.0), (9000, 3.0)];
        assert_eq!(best(&values, MappingObjective::Energy, Some(1000)), 9000);
        assert_eq!(best(&values, MappingObjective::Edp, Some(1000)), 2000);
    }

    #[test]
    fn a_choice_that_exceeds_capacities_counts_last() {
        let mut values = choices(&[(10, 1.0), (1000, 9.0)]);
        values[0].status = Status::NoLegalMapping;
        for objective in MappingObjective::OF_LAYERS {
            let best = best_of(values.clone(), objective, None).expect("a choice");
            assert_eq!(best.value.cycles, 1000, "{objective}");
        }
    }
}

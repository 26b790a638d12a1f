//! The choice of forms and mappings in runs, within the flexibility of an accelerator (docs/mapper.md,
//! section 6).

use std::sync::Arc;

use crate::cost::loop_nest::{Choice, Choose, ChooseLayer, Listed, Machine, Mapping, Nest};
use crate::hardware::{Accelerator, Flexibility};

use super::declared::{DeclaredSpace, MAX_LEVELS, clusters};
use super::exact::Rules;
use super::forms::forms;
use super::kept::{Kept, LayerKey};
use super::layer::{FormSearch, FoundForm};
use super::objective::Objective;
use super::problem::Limits;
use super::search::{Effort, Search};
use super::sizes::Sizes;
use super::space::Mapspace;
use super::store::{Section, Store};

/// Chooses a form and a mapping for every layer, within the flexibility of its accelerator: the one with
/// the least of an objective that a search of some effort finds. Equal choices are made once.
#[derive(Debug)]
pub struct Chooser {
    effort: Effort,
    objective: Objective,
    store: Arc<Store>,
}

impl Default for Chooser {
    /// A chooser of runs: quick searches for the least latency, kept for the whole process.
    fn default() -> Self {
        Self::new(Effort::QUICK, Objective::Cycles, Store::of_process())
    }
}

impl Chooser {
    /// A chooser that keeps its choices in `store`.
    pub fn new(effort: Effort, objective: Objective, store: Arc<Store>) -> Self {
        Self { effort, objective, store }
    }

    fn search(
        &self,
        nest: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
        less: Option<Choice>,
    ) -> Option<FoundForm> {
        let listed = Listed::new(&accelerator.dataflow, nest, machine).ok();
        let limits = Limits::of(accelerator);
        let mut seeds = Vec::new();
        if let Some(listed) = &listed {
            let own = listed.of_layer.then(|| listed.nest.clone().into_owned());
            let forms = own.map_or_else(|| forms(nest), |form| vec![form]);
            seeds.extend(forms.into_iter().filter_map(|form| {
                let mapping = Mapping::new(listed.directives, &form, machine).ok()?;
                Some((form, mapping))
            }));
        }
        if accelerator.flexibility == Flexibility::Forms {
            return best_of_forms(seeds, machine, &limits, self.objective);
        }
        seeds.extend(less.map(|less| (less.nest, less.mapping)));
        let levels = listed.as_ref().map_or(&[][..], |listed| &listed.directives.levels);
        let style = DeclaredSpace::of_style(levels, accelerator.dataflow.stationary());
        let space = |form: &Nest| match accelerator.flexibility {
            Flexibility::None | Flexibility::Forms | Flexibility::Tiles => {
                Some(style.as_ref()?.for_layer(form, machine))
            }
            Flexibility::Axes => {
                let free = Mapspace::free(vec![clusters(levels)?], Sizes::Balanced);
                Some(Mapspace { off_chip: true, ..free })
            }
            Flexibility::Any => {
                let mut space = Mapspace::any(machine.pes, MAX_LEVELS, Sizes::Balanced);
                space.clusters.extend(clusters(levels));
                Some(space)
            }
        };
        let search = FormSearch {
            machine,
            limits: &limits,
            space: &space,
            seeds,
            objective: self.objective,
            effort: self.effort,
            rules: Rules::ALL,
            gap: 0.0,
        };
        search.run(nest)
    }
}

impl Choose for Chooser {
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>> {
        if accelerator.flexibility == Flexibility::None {
            return None;
        }
        let chooser = OnAccelerator::new(self, accelerator.clone())?;
        Some(Box::new(chooser))
    }
}

/// A chooser on one accelerator.
struct OnAccelerator<'a> {
    chooser: &'a Chooser,
    accelerator: Accelerator,
    section: Arc<Section>,
    /// The same with less flexibility: its choice begins the search, so that more flexibility is never
    /// worse.
    less: Option<Box<Self>>,
}

impl<'a> OnAccelerator<'a> {
    fn new(chooser: &'a Chooser, accelerator: Accelerator) -> Option<Self> {
        let flexibility = match accelerator.flexibility {
            Flexibility::None => return None,
            Flexibility::Forms | Flexibility::Tiles => Flexibility::None,
            Flexibility::Axes => Flexibility::Tiles,
            Flexibility::Any => Flexibility::Axes,
        };
        let less = Self::new(chooser, Accelerator { flexibility, ..accelerator.clone() });
        let section = chooser.store.section(&accelerator, chooser.objective);
        Some(Self { chooser, accelerator, section, less: less.map(Box::new) })
    }
}

impl ChooseLayer for OnAccelerator<'_> {
    fn choose(&self, nest: &Nest, machine: &Machine) -> Option<Choice> {
        let search = || {
            let less = self.less.as_ref().and_then(|less| less.choose(nest, machine));
            let found = self.chooser.search(nest, &self.accelerator, machine, less)?;
            Some(Kept::of(found, self.chooser.effort.is_full()))
        };
        let key = LayerKey::new(nest, machine);
        self.section.get_or_search(key, self.chooser.effort.is_full(), search)?.into_choice()
    }
}

/// The best of given mappings, each of its form.
fn best_of_forms(
    listed: Vec<(Nest, Mapping)>,
    machine: &Machine,
    limits: &Limits,
    objective: Objective,
) -> Option<FoundForm> {
    let space = Mapspace::free(Vec::new(), Sizes::Balanced);
    let found = listed.into_iter().filter_map(|(nest, mapping)| {
        let search = Search::new(&nest, machine, limits, &space).objective(objective);
        let found = search.seed(&mapping).effort(Effort::new(0, 0, 0)).run()?;
        Some(FoundForm { nest, found })
    });
    found.min_by(|a, b| a.found.order(&b.found, objective))
}

//! The choice of forms and mappings in runs, within the flexibility of an accelerator (docs/mapper.md,
//! section 6).

use std::sync::Arc;

use crate::cost::loop_nest::{Choice, Choose, ChooseLayer, Machine, Mapping, Nest};
use crate::hardware::{Accelerator, Flexibility};

use super::forms::forms;
use super::kept::LayerKey;
use super::objective::Objective;
use super::problem::Limits;
use super::search::{Effort, Found, Search, Status};
use super::sizes::Sizes;
use super::space::Mapspace;
use super::store::{Section, Store};

/// Most levels of the mappings of accelerators that may change the sizes of their clusters.
const MAX_LEVELS: usize = 3;

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
        less: Option<&Choice>,
    ) -> Option<Choice> {
        let directives = |form: &Nest| {
            let mapping = Mapping::new(accelerator.dataflow.directives(), form, machine).ok()?;
            Some((mapping, form.clone()))
        };
        let limits = Limits::of(accelerator);
        let forms = forms(nest);
        if accelerator.flexibility == Flexibility::Forms {
            let listed = forms.iter().filter_map(directives);
            return best_of_forms(listed, machine, &limits, self.objective);
        }
        // The form as written, and the two that begin best, are searched.
        let mut found: Vec<(Found, Nest)> = Vec::new();
        let first = Effort::new(self.effort.evaluations.min(FIRST), 0, self.effort.starts);
        for form in &forms {
            let seed = less.filter(|less| less.nest == *form).map(|less| &less.mapping);
            found.extend(self.search_form(form, accelerator, machine, &limits, first, seed));
        }
        found.sort_by(|a, b| order(&a.0, &b.0, self.objective));
        found.truncate(PROMISING);
        let improved = found.iter().filter_map(|(first, form)| {
            let space = space(accelerator, form, machine)?;
            let search = Search::new(form, machine, &limits, &space).objective(self.objective);
            let found = search.seed(&first.mapping).effort(self.effort).run()?;
            Some((found, form.clone()))
        });
        let best = improved.min_by(|a, b| order(&a.0, &b.0, self.objective))?;
        (best.0.status != Status::NoLegalMapping)
            .then(|| Choice { mapping: best.0.mapping, nest: best.1 })
    }

    /// Searches the mappings of one form.
    fn search_form(
        &self,
        form: &Nest,
        accelerator: &Accelerator,
        machine: &Machine,
        limits: &Limits,
        effort: Effort,
        seed: Option<&Mapping>,
    ) -> Option<(Found, Nest)> {
        let space = space(accelerator, form, machine)?;
        let mut search = Search::new(form, machine, limits, &space).objective(self.objective);
        let listed = Mapping::new(accelerator.dataflow.directives(), form, machine).ok();
        for seed in listed.iter().chain(seed) {
            search = search.seed(seed);
        }
        Some((search.effort(effort).run()?, form.clone()))
    }
}

/// Evaluations of each form before the promising ones are searched.
const FIRST: u64 = 12;

/// Number of forms that are searched with the whole effort.
const PROMISING: usize = 2;

impl Choose for Chooser {
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>> {
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
            self.chooser.search(nest, &self.accelerator, machine, less.as_ref())
        };
        let key = LayerKey::new(nest, machine);
        self.section.get_or_search(key, self.chooser.effort.is_full(), search)
    }
}

/// The mapspace of a form within the flexibility of an accelerator; `None` if the clusters of its dataflow
/// depend on the layer.
pub fn space(accelerator: &Accelerator, form: &Nest, machine: &Machine) -> Option<Mapspace> {
    let sizes = Sizes::Balanced;
    match accelerator.flexibility {
        Flexibility::None | Flexibility::Forms | Flexibility::Tiles => {
            Mapspace::of_style(&accelerator.dataflow, form, sizes)
        }
        Flexibility::Axes => Mapspace::of_clusters(&accelerator.dataflow, sizes),
        Flexibility::Any => {
            let mut space = Mapspace::any(machine.pes, MAX_LEVELS, sizes);
            let own = Mapspace::of_clusters(&accelerator.dataflow, Sizes::Balanced);
            space.clusters.extend(own.into_iter().flat_map(|own| own.clusters));
            Some(space)
        }
    }
}

/// The best of given mappings, each of its form.
fn best_of_forms(
    listed: impl Iterator<Item = (Mapping, Nest)>,
    machine: &Machine,
    limits: &Limits,
    objective: Objective,
) -> Option<Choice> {
    let space = Mapspace::free(Vec::new(), Sizes::Balanced);
    let found = listed.filter_map(|(mapping, nest)| {
        let search = Search::new(&nest, machine, limits, &space).objective(objective);
        let found = search.seed(&mapping).effort(Effort::new(0, 0, 0)).run()?;
        (found.status != Status::NoLegalMapping).then_some((found, nest))
    });
    let best = found.min_by(|a, b| order(&a.0, &b.0, objective))?;
    Some(Choice { mapping: best.0.mapping, nest: best.1 })
}

/// Order of results, the better one first.
fn order(a: &Found, b: &Found, objective: Objective) -> std::cmp::Ordering {
    let runs = |found: &Found| found.status == Status::NoLegalMapping;
    runs(a).cmp(&runs(b)).then_with(|| objective.compare(&a.value(), &b.value()))
}

//! The choices of one accelerator: those that are kept, or those of searches.

use std::sync::Arc;

use crate::cost::ChooserId;
use crate::cost::loop_nest::{Choice, Choose, ChooseLayer, Listed, Machine, Nest, Offer};
use crate::hardware::{Accelerator, Flexibility, MappingObjective};

use super::chooser::Chooser;
use super::contest::Contest;
use super::declared::{DeclaredSpace, MAX_LEVELS, clusters};
use super::kept::{Kept, LayerKey};
use super::problem::Limits;
use super::question::Question;
use super::sizes::Sizes;
use super::space::Mapspace;
use super::store::Section;
use super::version;

impl Choose for Chooser {
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>> {
        if accelerator.flexibility == Flexibility::None {
            return None;
        }
        let mut accelerator = accelerator.clone();
        if accelerator.chooses_by_period() {
            // A layer by itself has no period.
            accelerator.mapping_objective = MappingObjective::Edp;
        }
        let chooser = OnAccelerator::new(self, accelerator)?;
        Some(Box::new(chooser))
    }
}

impl Chooser {
    /// The choice of an accelerator for a layer, or the mapping that exceeds capacities least; `None` if it has no
    /// choices.
    pub(super) fn kept(
        &self,
        nest: &Nest,
        machine: &Machine,
        accelerator: &Accelerator,
    ) -> Option<Kept> {
        let accelerator = accelerator.with_widths(machine.widths);
        OnAccelerator::new(self, accelerator)?.kept(nest, machine)
    }

    /// The choices for an accelerator that are kept.
    pub fn section(&self, accelerator: &Accelerator) -> Arc<Section> {
        self.store.section(accelerator, self.effort, version::current)
    }
}

/// A chooser on one accelerator.
struct OnAccelerator<'a> {
    chooser: &'a Chooser,
    accelerator: Accelerator,
    limits: Limits,
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
        let section = chooser.section(&accelerator);
        let limits = Limits::from_accelerator(&accelerator);
        Some(Self { chooser, accelerator, limits, section, less: less.map(Box::new) })
    }
}

impl OnAccelerator<'_> {
    /// The choice for a layer, or the mapping that exceeds capacities least.
    fn kept(&self, nest: &Nest, machine: &Machine) -> Option<Kept> {
        let search = || {
            let less = self.less.as_ref().and_then(|less| less.kept(nest, machine));
            self.chooser.search(nest, &self.accelerator, machine, less)
        };
        let space = |form: &Nest| mapspace(&self.accelerator, nest, machine, form);
        let question = Question { machine, limits: &self.limits, space: &space };
        self.section.get_or_search(&LayerKey::new(nest, machine), &question, search)
    }
}

impl ChooseLayer for OnAccelerator<'_> {
    fn choose_among(&self, nest: &Nest, machine: &Machine, others: &[Offer]) -> Option<Choice> {
        // Choices for other widths are kept apart.
        let kept = match machine.widths == self.accelerator.datapath.widths {
            true => self.kept(nest, machine),
            false => Self::new(self.chooser, self.accelerator.with_widths(machine.widths))?
                .kept(nest, machine),
        };
        let effort = self.chooser.effort.name();
        if others.is_empty() {
            return kept?.into_choice(effort);
        }
        let objective = self.accelerator.mapping_objective;
        Contest { nest, machine, limits: &self.limits, objective, effort }.best(kept, others)
    }

    fn id(&self) -> ChooserId {
        ChooserId { digest: self.section.question(), effort: self.chooser.effort.name() }
    }
}

/// The mapspace of a form of a layer within the flexibility of an accelerator; `None` if it has none.
fn mapspace(
    accelerator: &Accelerator,
    nest: &Nest,
    machine: &Machine,
    form: &Nest,
) -> Option<Mapspace> {
    let listed = Listed::new(&accelerator.dataflow, nest, machine).ok()?;
    let levels = &listed.directives.levels[..];
    match accelerator.flexibility {
        Flexibility::None | Flexibility::Forms => None,
        Flexibility::Tiles => {
            let style = DeclaredSpace::of_style(levels, accelerator.dataflow.stationary());
            Some(style?.for_layer(form, machine))
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
    }
}

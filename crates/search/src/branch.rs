//! Depth-first branch and bound over spaces that are too large to list.
//!
//! A node is the first accelerators of a system. No system below it scores more than one whose models have
//! the largest worth and the least energy of these accelerators and of all types that the rest of the
//! budget can pay.

use super::coarse::Coarse;
use super::exact::Hunt;
use super::goal::{Question, is_below};
use super::space::{Space, Used};
use super::{Observe, Search, StopReason};
use xrsim_sim::bounds::Class;

/// Largest worth and least energy of every model.
type Cells = Vec<(f64, f64)>;

/// Systems that are collected before they are refined together.
const MAX_COLLECTED: usize = 1024;

/// Best cells of all types that a number of PEs can pay, by chip and by steps of PEs.
pub(super) struct Affordable {
    cells: Vec<Vec<Cells>>,
    step: u32,
}

impl Affordable {
    fn new(space: &Space, coarse: &Coarse) -> Self {
        let step = space.step();
        let n_steps = (space.pes() / step) as usize;
        let nothing = vec![(0.0, f64::INFINITY); coarse.n_models()];
        let mut cells = vec![vec![nothing; n_steps + 1]; space.chips().len().max(1)];
        for (index, it) in space.types().iter().enumerate() {
            let at = (it.pes.div_ceil(step) as usize).min(n_steps);
            add(&mut cells[usize::from(it.chip)][at], coarse, index as u32);
        }
        for chip in &mut cells {
            for at in 1..=n_steps {
                let before = chip[at - 1].clone();
                merge(&mut chip[at], &before);
            }
        }
        Self { cells, step }
    }

    fn of(&self, chip: usize, pes: u32) -> &Cells {
        &self.cells[chip][(pes / self.step) as usize]
    }
}

/// Adds the cells of a type.
fn add(cells: &mut Cells, coarse: &Coarse, member: u32) {
    for (model, cell) in cells.iter_mut().enumerate() {
        let (worth, energy) = coarse.cell(member, model);
        *cell = (cell.0.max(worth), cell.1.min(energy));
    }
}

fn merge(cells: &mut Cells, others: &Cells) {
    for (cell, other) in cells.iter_mut().zip(others) {
        *cell = (cell.0.max(other.0), cell.1.min(other.1));
    }
}

impl Search<'_> {
    /// Upper bound of a score for every system of the space under the schedulers of a class: that of a system of all
    /// types. `None` if the question has no such bound.
    pub(super) fn super_system(&self, question: &Question, class: Class) -> Option<f64> {
        let [quantity] = question.objectives[..] else { return None };
        if !quantity.has_bound() || !self.evaluation.has_bounds() || class == Class::Any {
            return None;
        }
        let affordable = Affordable::new(self.space, &self.coarse);
        let of = |chip: usize| {
            let cells = affordable.of(chip, self.space.pes());
            question.over(quantity, |load| self.coarse.score_of(cells, load, class))
        };
        (0..self.space.chips().len().max(1)).map(of).reduce(f64::max)
    }

    /// Visits the systems depth first and refines those that bounds do not exclude.
    pub(super) fn branch(
        &mut self,
        hunt: &mut Hunt,
        observe: &mut Observe<'_>,
    ) -> Result<(), StopReason> {
        let affordable = Affordable::new(self.space, &self.coarse);
        let (members, collected) = (Vec::new(), Vec::new());
        let mut walk = Walk { hunt, observe, affordable, members, collected, n_nodes: 0 };
        let nothing = vec![(0.0, f64::INFINITY); self.coarse.n_models()];
        self.descend(&mut walk, 0, Used::default(), &nothing)?;
        self.refine_collected(&mut walk)
    }

    /// Visits the systems that begin with those of the walk, to which types from `from` on can be added.
    fn descend(
        &mut self,
        walk: &mut Walk<'_, '_>,
        from: usize,
        used: Used,
        cells: &Cells,
    ) -> Result<(), StopReason> {
        let numbers = self.space.accelerators();
        if walk.members.len() >= *numbers.start() && self.space.is_complete(used) {
            self.collect(walk, cells)?;
        }
        if walk.members.len() == *numbers.end() {
            return Ok(());
        }
        walk.n_nodes += 1;
        if walk.n_nodes.is_multiple_of(1 << 14) {
            self.check_stop(walk.hunt, walk.observe)?;
        }
        for index in from..self.space.types().len() {
            let Some(used) = self.space.with(&walk.members, used, index) else { continue };
            let mut here = cells.clone();
            add(&mut here, &self.coarse, index as u32);
            let mut below = here.clone();
            if walk.members.len() + 1 < *numbers.end() {
                let chip = usize::from(self.space.types()[index].chip);
                merge(&mut below, walk.affordable.of(chip, self.space.pes() - used.pes));
            }
            if self.is_hopeless(walk.hunt, &below) {
                continue;
            }
            walk.members.push(index as u32);
            let result = self.descend(walk, index, used, &here);
            walk.members.pop();
            result?;
        }
        Ok(())
    }

    /// Collects the system of the walk, unless its bound excludes it.
    fn collect(&mut self, walk: &mut Walk<'_, '_>, cells: &Cells) -> Result<(), StopReason> {
        if self.is_hopeless(walk.hunt, cells) {
            return Ok(());
        }
        walk.collected.push(self.intern(&walk.members));
        match walk.collected.len() {
            MAX_COLLECTED => self.refine_collected(walk),
            _ => Ok(()),
        }
    }

    /// Upper bound of a single score; infinite for other questions.
    fn bound_of(&self, question: &Question, cells: &Cells) -> f64 {
        match question.objectives[..] {
            [quantity] if quantity.has_bound() && self.evaluation.has_bounds() => {
                let class = self.evaluation.class;
                question.over(quantity, |load| self.coarse.score_of(cells, load, class))
            }
            _ => f64::INFINITY,
        }
    }

    fn is_hopeless(&self, hunt: &Hunt, cells: &Cells) -> bool {
        hunt.incumbent().is_some_and(|best| is_below(self.bound_of(&hunt.question, cells), best))
    }

    fn refine_collected(&mut self, walk: &mut Walk<'_, '_>) -> Result<(), StopReason> {
        for system in std::mem::take(&mut walk.collected) {
            self.open(walk.hunt, system);
        }
        self.refine(walk.hunt, walk.observe)
    }
}

/// State of the walk through the space.
struct Walk<'w, 'o> {
    hunt: &'w mut Hunt,
    observe: &'w mut Observe<'o>,
    affordable: Affordable,
    /// Types of the node.
    members: Vec<u32>,
    /// Systems that are not refined yet.
    collected: Vec<u32>,
    /// Nodes that were visited.
    n_nodes: u64,
}

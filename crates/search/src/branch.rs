//! Depth-first branch and bound over spaces that are too large to list.
//!
//! A node is the first accelerators of a system. No system below it scores more than one whose models have
//! the largest worth and the least energy of these accelerators and of all types that the rest of the
//! budget can pay.

use std::ops::ControlFlow;

use super::coarse::Coarse;
use super::exact::Hunt;
use super::goal::Question;
use super::space::{Space, Used};
use super::{Progress, Search, StopReason};

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
    /// Upper bound of a score for every system of the space: that of a system of all types. `None` if the
    /// question has no such bound.
    pub(super) fn super_system(&self, question: &Question) -> Option<f64> {
        let [quantity] = question.objectives[..] else { return None };
        if !quantity.has_bound() || !self.evaluation.has_bounds() {
            return None;
        }
        let affordable = Affordable::new(self.space, &self.coarse);
        let of = |chip: usize| {
            let cells = affordable.of(chip, self.space.pes());
            question.over(quantity, |load| self.coarse.score_of(cells, load))
        };
        (0..self.space.chips().len().max(1)).map(of).reduce(f64::max)
    }

    /// Visits the systems depth first and refines those that bounds do not exclude.
    pub(super) fn branch(
        &mut self,
        hunt: &mut Hunt,
        observe: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<(), StopReason> {
        let affordable = Affordable::new(self.space, &self.coarse);
        let mut collected = Vec::new();
        let mut walk = Walk { affordable, members: Vec::new(), n_nodes: 0 };
        let nothing = vec![(0.0, f64::INFINITY); self.coarse.n_models()];
        self.descend(hunt, &mut walk, 0, Used::default(), &nothing, &mut collected, observe)?;
        self.refine_collected(hunt, &mut collected, observe)
    }

    #[expect(clippy::too_many_arguments, reason = "one recursion, whose state is passed on")]
    fn descend(
        &mut self,
        hunt: &mut Hunt,
        walk: &mut Walk,
        from: usize,
        used: Used,
        cells: &Cells,
        collected: &mut Vec<u32>,
        observe: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<(), StopReason> {
        let numbers = self.space.accelerators();
        if walk.members.len() >= *numbers.start() && self.space.is_complete(used) {
            let bound = self.bound_of(&hunt.question, cells);
            if !self.is_hopeless(hunt, bound) {
                let members = walk.members.clone();
                collected.push(self.intern(&members));
                if collected.len() == MAX_COLLECTED {
                    self.refine_collected(hunt, collected, observe)?;
                }
            }
        }
        if walk.members.len() == *numbers.end() {
            return Ok(());
        }
        walk.n_nodes += 1;
        if walk.n_nodes.is_multiple_of(1 << 14) {
            self.check_stop(hunt, observe)?;
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
            if self.is_hopeless(hunt, self.bound_of(&hunt.question, &below)) {
                continue;
            }
            walk.members.push(index as u32);
            let result = self.descend(hunt, walk, index, used, &here, collected, observe);
            walk.members.pop();
            result?;
        }
        Ok(())
    }

    /// Upper bound of a single score; infinite for other questions.
    fn bound_of(&self, question: &Question, cells: &Cells) -> f64 {
        match question.objectives[..] {
            [quantity] if quantity.has_bound() && self.evaluation.has_bounds() => {
                question.over(quantity, |load| self.coarse.score_of(cells, load))
            }
            _ => f64::INFINITY,
        }
    }

    fn is_hopeless(&self, hunt: &Hunt, bound: f64) -> bool {
        hunt.incumbent().is_some_and(|best| bound < best)
    }

    fn refine_collected(
        &mut self,
        hunt: &mut Hunt,
        collected: &mut Vec<u32>,
        observe: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<(), StopReason> {
        for system in std::mem::take(collected) {
            self.open(hunt, system);
        }
        self.refine(hunt, observe)
    }
}

/// State of the walk through the space.
struct Walk {
    affordable: Affordable,
    members: Vec<u32>,
    /// Nodes that were visited.
    n_nodes: u64,
}

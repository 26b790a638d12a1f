//! The first round of a search for the mappings of networks, whose searches do not depend on each other, so
//! that several processes can share them.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::cost::loop_nest::Machine;
use crate::model::Network;
use crate::parallel;

use super::kept::{Kept, LayerKey};
use super::mapped::MappedNetwork;
use super::networks::{NetworkMapper, Results, missing};
use super::row;

/// Text of a search without a result.
const NONE: &str = "none";

/// The result of a layer in its text, which is the line of the choice.
fn of_text(key: &LayerKey, machine: &Machine, text: &str) -> Option<Kept> {
    let (found, kept) = row::read(text, machine)?;
    (found == *key).then_some(kept)
}

impl NetworkMapper {
    /// Number of searches of the first round, which do not depend on each other: one for all layers of one
    /// shape that find their tensors at the same places.
    pub fn n_first_searches(&self, networks: &[Arc<Network>], only: Option<&str>) -> usize {
        let works: Vec<_> = networks.iter().map(|network| self.work(network)).collect();
        missing(&works, only, &Results::new()).len()
    }

    /// Makes searches of the first round, by their indices, in parallel. `each` gets the index in `searches`
    /// and the result as text, on any thread. The work ends early if `each` breaks.
    pub fn first_searches(
        &self,
        networks: &[Arc<Network>],
        only: Option<&str>,
        searches: &[u64],
        each: &(dyn Fn(usize, String) -> ControlFlow<()> + Sync),
    ) {
        let works: Vec<_> = networks.iter().map(|network| self.work(network)).collect();
        let missing = missing(&works, only, &Results::new());
        let section = self.section(self.accelerator.datapath.widths);
        parallel::about_in_order(searches.len(), &|index| {
            let at = usize::try_from(searches[index]).ok();
            let Some((key, machine)) = at.and_then(|at| missing.get(at)) else {
                return ControlFlow::Continue(());
            };
            let found = self.get_or_search(key, machine, &section);
            each(index, found.map_or(NONE.into(), |kept| row::write(&key.0, &kept)))
        });
    }

    /// Maps as [`NetworkMapper::map`] does, after a first round with these results, the texts of
    /// [`NetworkMapper::first_searches`] in order. `None` if a text is not a result of its layer.
    pub fn map_after(
        &self,
        networks: &[Arc<Network>],
        only: Option<&str>,
        first: &[String],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Option<Vec<MappedNetwork>> {
        let works: Vec<_> = networks.iter().map(|network| self.work(network)).collect();
        let missing = missing(&works, only, &Results::new());
        let mut results = Vec::new();
        for ((key, machine), text) in missing.into_iter().zip(first) {
            if text != NONE {
                let found = of_text(&key.0, machine, text)?;
                results.push((key, found));
            }
        }
        Some(self.rounds(works, only, Some(results), progress))
    }
}

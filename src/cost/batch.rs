//! What a network takes for several inputs at once.
//!
//! A batch is the network with more images, rows and pairs of activations
//! ([`Network::batched`]), as the cost model sees it: weights that a layer has on chip serve the whole
//! batch, and what does not fit any more goes off chip. That can make a large batch slower than
//! smaller ones in turn, so that the fastest way to split it is taken.

use std::sync::Arc;

use rayon::prelude::*;

use crate::hardware::Accelerator;
use crate::model::Network;
use crate::units::{Millijoules, SimSpan};

use super::{CostModel, Infeasible, NetworkCost};

/// Cost of one batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchCost {
    /// Time until all of its inputs are done.
    pub latency: SimSpan,
    /// Energy of all of its inputs.
    pub energy: Millijoules,
    /// Inputs that are computed at once in its first part; the rest is split as a batch of its size.
    pub at_once: u32,
}

/// Costs of the batches of a network on an accelerator, of all sizes up to a largest one.
///
/// Latencies never exceed those of the same inputs one by one, nor of any two batches that make one
/// up.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCosts {
    /// `[batch - 1]`.
    costs: Vec<BatchCost>,
    /// Likewise, layer by layer; `None` if the batch is split, or layers are not kept.
    networks: Vec<Option<Arc<NetworkCost>>>,
}

impl BatchCosts {
    /// Largest batch.
    pub const MAX_BATCH: u32 = 4096;

    /// Evaluates the batches of 1 to `max_batch` inputs, in parallel. Sizes that are too large for the
    /// model are split.
    ///
    /// # Errors
    ///
    /// If not even one input is feasible.
    ///
    /// # Panics
    ///
    /// If `max_batch` is 0 or larger than [`BatchCosts::MAX_BATCH`].
    pub fn new(
        model: &dyn CostModel,
        network: &Network,
        accelerator: &Accelerator,
        max_batch: u32,
    ) -> Result<Self, Infeasible> {
        Self::evaluate(model, network, accelerator, max_batch, false)
    }

    /// Likewise, with the costs of every layer kept.
    ///
    /// # Errors
    ///
    /// As [`BatchCosts::new`].
    ///
    /// # Panics
    ///
    /// As [`BatchCosts::new`].
    pub fn layered(
        model: &dyn CostModel,
        network: &Network,
        accelerator: &Accelerator,
        max_batch: u32,
    ) -> Result<Self, Infeasible> {
        Self::evaluate(model, network, accelerator, max_batch, true)
    }

    fn evaluate(
        model: &dyn CostModel,
        network: &Network,
        accelerator: &Accelerator,
        max_batch: u32,
        keeps_layers: bool,
    ) -> Result<Self, Infeasible> {
        assert!((1..=Self::MAX_BATCH).contains(&max_batch), "batches of {max_batch}");
        let whole = |batch: u32, cost: NetworkCost| {
            (BatchCost::whole(&cost, batch), keeps_layers.then(|| Arc::new(cost)))
        };
        let single = whole(1, model.network(network, accelerator)?);
        let larger = (2..=max_batch).into_par_iter().map(|batch| {
            let cost = model.network(&network.batched(batch).ok()?, accelerator).ok()?;
            Some(whole(batch, cost))
        });
        let mut wholes = vec![Some(single)];
        wholes.par_extend(larger);
        let totals: Vec<_> = wholes.iter().map(|it| it.as_ref().map(|(total, _)| *total)).collect();
        let costs = split(&totals);
        let is_whole = |(index, cost): (usize, &BatchCost)| cost.at_once as usize == index + 1;
        let networks = costs.iter().enumerate().zip(wholes);
        let networks = networks.map(|(cost, whole)| whole.filter(|_| is_whole(cost))?.1).collect();
        Ok(Self { costs, networks })
    }

    /// Largest batch.
    pub fn max_batch(&self) -> u32 {
        self.costs.len() as u32
    }

    /// Cost of `batch` inputs.
    ///
    /// # Panics
    ///
    /// If `batch` is 0 or larger than [`BatchCosts::max_batch`].
    pub fn of(&self, batch: u32) -> BatchCost {
        self.costs[batch as usize - 1]
    }

    /// Inputs of the parts, computed one after the other, that `batch` inputs are split into.
    ///
    /// # Panics
    ///
    /// If `batch` is larger than [`BatchCosts::max_batch`].
    pub fn parts(&self, batch: u32) -> impl Iterator<Item = u32> {
        let mut rest = batch;
        std::iter::from_fn(move || {
            let part = (rest > 0).then(|| self.of(rest).at_once)?;
            rest -= part;
            Some(part)
        })
    }

    /// Cost of `batch` inputs layer by layer; `None` if they are split, or layers are not kept.
    ///
    /// # Panics
    ///
    /// As [`BatchCosts::of`].
    pub fn whole(&self, batch: u32) -> Option<&Arc<NetworkCost>> {
        self.networks[batch as usize - 1].as_ref()
    }
}

/// The fastest splits of batches of 1, 2, ... inputs that take so much as a whole, of which that of one
/// input is known. Of equally fast ones the one with the least energy is taken, then that of the larger
/// first part.
fn split(wholes: &[Option<BatchCost>]) -> Vec<BatchCost> {
    let mut costs: Vec<BatchCost> = Vec::with_capacity(wholes.len());
    for (index, whole) in wholes.iter().enumerate() {
        let splits = (0..index).map(|first| costs[first].and(&costs[index - first - 1]));
        let fastest = splits
            .chain(*whole)
            .reduce(|best, cost| if cost.key() <= best.key() { cost } else { best });
        costs.push(fastest.expect("one input is feasible"));
    }
    costs
}

impl BatchCost {
    fn whole(cost: &NetworkCost, batch: u32) -> Self {
        Self { latency: cost.latency, energy: cost.energy(), at_once: batch }
    }

    /// This batch, and another one after it.
    fn and(&self, next: &Self) -> Self {
        Self {
            latency: self.latency + next.latency,
            energy: Millijoules::new(self.energy.get() + next.energy.get()),
            at_once: self.at_once,
        }
    }

    fn key(&self) -> (SimSpan, f64) {
        (self.latency, self.energy.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(batch: u32, ns: u64, mj: f64) -> BatchCost {
        let (latency, energy) = (SimSpan::from_ns(ns), Millijoules::new(mj));
        BatchCost { latency, energy, at_once: batch }
    }

    /// Batches of 1 to 5 take 10, 16, none (too large), 40 and 41 ns at once. 3 is 2 and 1 or 1 and 2,
    /// 26 ns; 4 is 2 and 2, 32 ns; 5 is 41 ns at once as 42 ns is 2, 2 and 1.
    #[test]
    fn batches_are_split_where_that_is_faster() {
        let [one, two, four, five] =
            [whole(1, 10, 3.0), whole(2, 16, 2.0), whole(4, 40, 1.0), whole(5, 41, 9.0)];
        let found = split(&[Some(one), Some(two), None, Some(four), Some(five)]);
        let latencies: Vec<_> = found.iter().map(|cost| cost.latency.ns()).collect();
        assert_eq!(latencies, [10, 16, 26, 32, 41]);
        let energies: Vec<_> = found.iter().map(|cost| cost.energy.get()).collect();
        assert_eq!(energies, [3.0, 2.0, 5.0, 4.0, 9.0]);
        let at_once: Vec<_> = found.iter().map(|cost| cost.at_once).collect();
        assert_eq!(at_once, [1, 2, 2, 2, 5]);
        let costs = BatchCosts { networks: vec![None; found.len()], costs: found };
        let parts = |batch| costs.parts(batch).collect::<Vec<_>>();
        assert_eq!(
            [parts(0), parts(3), parts(4), parts(5)],
            [vec![], vec![2, 1], vec![2, 2], vec![5]]
        );
    }

    /// Two inputs take 20 ns either way; at once they take less energy.
    #[test]
    fn of_equally_fast_splits_the_frugal_one_is_taken() {
        let of_two = |energy| split(&[Some(whole(1, 10, 3.0)), Some(whole(2, 20, energy))])[1];
        assert_eq!(of_two(5.0), whole(2, 20, 5.0));
        assert_eq!((of_two(7.0).energy.get(), of_two(7.0).at_once), (6.0, 1));
    }
}

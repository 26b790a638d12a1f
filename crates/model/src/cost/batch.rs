//! Costs of batches: several inputs of a network that run as one request.
//!
//! To a cost model, a batch is the network with more images, rows and pairs of activations
//! ([`Network::batched`]). Weights that a layer holds on chip serve the whole batch, and tensors that no
//! longer fit go to DRAM. A large batch can therefore be slower than several smaller ones in turn; the
//! fastest split is taken.

use std::sync::Arc;

use crate::hardware::Accelerator;
use crate::model::Network;
use crate::parallel;
use crate::units::{Millijoules, SimSpan};

use super::{CostModel, Infeasible, NetworkCost};

/// Cost of one batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchCost {
    /// Time until all inputs are done.
    pub latency: SimSpan,
    /// Energy of all inputs.
    pub energy: Millijoules,
    /// Inputs of the first part, which are computed together. The rest is split like a batch of its own
    /// size.
    pub at_once: u32,
}

/// Costs of the batches of a network on an accelerator, for all sizes up to a largest one.
///
/// A batch never takes longer than its inputs one by one, nor than any two batches that it can be split
/// into.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCosts {
    /// Cost of every size, at `[batch - 1]`.
    costs: Vec<BatchCost>,
    /// Cost of every size layer by layer, at `[batch - 1]`; `None` if the batch is split or layers are not
    /// kept.
    networks: Vec<Option<Arc<NetworkCost>>>,
}

impl BatchCosts {
    /// Largest batch.
    pub const MAX_BATCH: u32 = 4096;

    /// Evaluates the batches of 1 to `max_batch` inputs in parallel. Sizes that are too large for the
    /// model are split.
    ///
    /// # Errors
    ///
    /// [`Infeasible`] if even a single input cannot run.
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

    /// Evaluates the same batches and keeps the costs of every layer.
    ///
    /// # Errors
    ///
    /// The same as [`BatchCosts::new`].
    ///
    /// # Panics
    ///
    /// The same as [`BatchCosts::new`].
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
        let larger = parallel::map_indices(max_batch as usize - 1, |index| {
            let batch = index as u32 + 2;
            let cost = model.network(&network.batched(batch).ok()?, accelerator).ok()?;
            Some(whole(batch, cost))
        });
        let wholes: Vec<_> = std::iter::once(Some(single)).chain(larger).collect();
        let totals: Vec<_> = wholes.iter().map(|it| it.as_ref().map(|(total, _)| *total)).collect();
        let costs = split(&totals);
        let is_whole = |(index, cost): (usize, &BatchCost)| cost.at_once as usize == index + 1;
        let networks = costs.iter().enumerate().zip(wholes);
        let networks = networks.map(|(cost, whole)| whole.filter(|_| is_whole(cost))?.1).collect();
        Ok(Self { costs, networks })
    }

    /// Largest evaluated batch.
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

    /// Sizes of the parts that `batch` inputs are split into. The parts run one after another.
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

    /// Cost of `batch` inputs layer by layer; `None` if they are split or layers are not kept.
    ///
    /// # Panics
    ///
    /// The same as [`BatchCosts::of`].
    pub fn whole(&self, batch: u32) -> Option<&Arc<NetworkCost>> {
        self.networks[batch as usize - 1].as_ref()
    }
}

/// Fastest splits of batches of 1, 2, ... inputs, given the costs of each size as a whole; that of one
/// input is known. Of equally fast splits the one with the least energy is taken, and then the one with
/// the larger first part.
fn split(wholes: &[Option<BatchCost>]) -> Vec<BatchCost> {
    let mut costs: Vec<BatchCost> = Vec::with_capacity(wholes.len());
    for (index, whole) in wholes.iter().enumerate() {
        let splits = (0..index).map(|first| costs[first].then(&costs[index - first - 1]));
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

    /// Cost of this batch followed by `next`.
    fn then(&self, next: &Self) -> Self {
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

    /// As a whole, batches of 1, 2, 4 and 5 take 10, 16, 40 and 41 ns, and 3 is too large. A batch of 3 is
    /// split into 2 and 1 (26 ns), and one of 4 into 2 and 2 (32 ns). A batch of 5 stays whole: 41 ns are
    /// less than the 42 ns of 2, 2 and 1.
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

    /// Two inputs take 20 ns split or whole; the energy decides.
    #[test]
    fn of_equally_fast_splits_the_frugal_one_is_taken() {
        let of_two = |energy| split(&[Some(whole(1, 10, 3.0)), Some(whole(2, 20, energy))])[1];
        assert_eq!(of_two(5.0), whole(2, 20, 5.0));
        assert_eq!((of_two(7.0).energy.get(), of_two(7.0).at_once), (6.0, 1));
    }
}

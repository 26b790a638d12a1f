//! Rows of a table of costs: which variant of which model each is.

use crate::ids::{ModelId, WorkId};

/// Rows of a table of costs. Those of a model beyond its first one are next to each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Rows {
    /// Model and variant of every row, indexed by [`WorkId`].
    rows: Vec<(ModelId, u32)>,
    /// Indexed by [`ModelId`].
    variants: Vec<Variants>,
}

/// Variants of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Variants {
    /// Row of variant 1.
    second: usize,
    /// Number of variants.
    n: u32,
    /// Whether variant `v` is a batch of `v + 1` samples.
    are_batches: bool,
}

impl Rows {
    /// Rows of these models in turn: first the network of each model, then the further variants of each.
    pub(super) fn of(models: impl IntoIterator<Item = ModelId>) -> Self {
        let mut rows = Self::default();
        models.into_iter().for_each(|model| rows.add(model));
        rows
    }

    /// Adds the next variant of a model.
    fn add(&mut self, model: ModelId) {
        let row = self.rows.len();
        let Some(variants) = self.variants.get_mut(model.index()) else {
            self.variants.push(Variants { second: 0, n: 1, are_batches: false });
            self.rows.push((model, 0));
            return;
        };
        if variants.n == 1 {
            variants.second = row;
        }
        self.rows.push((model, variants.n));
        variants.n += 1;
    }

    /// Adds batches of 2, 3, ... samples of a model, `n` of them.
    ///
    /// # Panics
    ///
    /// If the model has further variants.
    pub(super) fn add_batches(&mut self, model: ModelId, n: usize) {
        assert_eq!(self.n_variants(model), 1, "the batches of a model are added once");
        (0..n).for_each(|_| self.add(model));
        self.variants[model.index()].are_batches = true;
    }

    pub(super) fn n_models(&self) -> usize {
        self.variants.len()
    }

    pub(super) fn n_variants(&self, model: ModelId) -> u32 {
        self.variants[model.index()].n
    }

    /// Row of a variant of a model; `None` if there is none.
    #[inline]
    pub(super) fn variant(&self, model: ModelId, variant: u32) -> Option<WorkId> {
        let Variants { second, n, .. } = self.variants[model.index()];
        match variant {
            0 => Some(model.into()),
            _ if variant < n => Some(WorkId::new(second + variant as usize - 1)),
            _ => None,
        }
    }

    /// Row of a model with `batch` samples; `None` if there is none.
    pub(super) fn batch(&self, model: ModelId, batch: u32) -> Option<WorkId> {
        let is_known = batch == 1 || self.variants[model.index()].are_batches;
        self.variant(model, batch.checked_sub(1).filter(|_| is_known)?)
    }

    pub(super) fn model_of(&self, work: WorkId) -> ModelId {
        self.rows[work.index()].0
    }

    /// Variant of its model that a row is.
    pub(super) fn variant_of(&self, work: WorkId) -> u32 {
        self.rows[work.index()].1
    }

    /// Samples of the batch of a row.
    pub(super) fn batch_of(&self, work: WorkId) -> u32 {
        let (model, variant) = self.rows[work.index()];
        if self.variants[model.index()].are_batches { variant + 1 } else { 1 }
    }
}

//! Cost models as callers give them.

use std::sync::Arc;

use super::CostModel;

/// A cost model by name, by value, or as an `N` that was found before.
pub enum GivenCostModel<N> {
    /// Name or file, as on the command line.
    Named(String),
    /// A cost model of the caller's.
    Own(Arc<dyn CostModel>),
    /// A cost model that was found before.
    Found(N),
}

impl<N> From<&str> for GivenCostModel<N> {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl<N> From<String> for GivenCostModel<N> {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl<N> From<&String> for GivenCostModel<N> {
    fn from(name: &String) -> Self {
        Self::Named(name.clone())
    }
}

impl<N, M: CostModel + 'static> From<M> for GivenCostModel<N> {
    fn from(model: M) -> Self {
        Self::Own(Arc::new(model))
    }
}

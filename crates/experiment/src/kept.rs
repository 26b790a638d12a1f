//! Costs that are kept from one call to the next in a process.

use std::sync::{Mutex, PoisonError};

use xrsim_model::cost::library::CostLibrary;

use super::NamedCostModel;

/// Most cost models whose costs are kept.
const MOST: usize = 4;

/// Libraries that no call uses, the one that was used last at the end.
static KEPT: Mutex<Vec<(NamedCostModel, CostLibrary)>> = Mutex::new(Vec::new());

/// Calls `work` with the costs of `cost_model` that are known, and keeps them afterwards. Costs of a table or of a
/// model of the caller's are not kept.
pub(super) fn with_library<T>(
    cost_model: &NamedCostModel,
    work: impl FnOnce(&mut CostLibrary) -> T,
) -> T {
    let new = || CostLibrary::layers(&*cost_model.model);
    if !cost_model.is_built_in() {
        return work(&mut new());
    }
    let lock = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = {
        let mut kept = lock();
        let at = kept.iter().position(|(model, _)| model.is_same(cost_model));
        at.map(|at| kept.remove(at).1)
    };
    let mut library = known.unwrap_or_else(new);
    let result = work(&mut library);
    let mut kept = lock();
    if kept.len() >= MOST {
        kept.remove(0);
    }
    kept.push((cost_model.clone(), library));
    result
}

/// Forgets all costs, because mappings that they depend on may have changed.
pub fn forget() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

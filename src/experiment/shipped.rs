//! The table of mappings that comes with the program: its accelerators, and the searches that fill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::config::{Catalog, Hardware, Kind};
use crate::cost::CostModel as _;
use crate::cost::loop_nest::ChosenLoopNest;
use crate::hardware::{Accelerator, Flexibility};
use crate::mapper::{Chooser, Effort, Store};
use crate::model::Network;

use super::accelerators::DEFAULT_PLATFORM;
use super::systems::style_system;
use super::{ExperimentError, Settings};

/// PEs of the styles of the table.
const STYLE_PES: [u32; 2] = [4096, 8192];

/// Distinct accelerators of the table, with flexibility `tiles`: those of the styles at 4,096 and 8,192
/// PEs on the platform `paper`.
///
/// # Errors
///
/// [`ExperimentError`] if one cannot be built.
pub(crate) fn shipped_accelerators() -> Result<Vec<Accelerator>, ExperimentError> {
    let (mut catalog, settings) = (Catalog::new(), Settings::default());
    let platform = catalog.platform(DEFAULT_PLATFORM)?;
    let mut all = Vec::new();
    for name in catalog.names(Kind::Style) {
        let Hardware::Style(style) = catalog.hardware(&name)? else { continue };
        for pes in STYLE_PES {
            all.extend_from_slice(style_system(&style, pes, &platform, &settings)?.accelerators());
        }
    }
    let mut distinct: Vec<Accelerator> = Vec::new();
    for accelerator in all {
        let accelerator = Accelerator { flexibility: Flexibility::Tiles, ..accelerator };
        if distinct.iter().all(|other| !other.costs_as(&accelerator)) {
            distinct.push(accelerator);
        }
    }
    Ok(distinct)
}

/// Searches the layers of networks on accelerators with full effort, each at the places where runs ask for
/// them, and keeps the results in `store`. `progress` is told the numbers of pairs that are done and of
/// all. Pairs that cannot run are left out.
pub(crate) fn fill_table(
    store: &Arc<Store>,
    accelerators: &[Accelerator],
    networks: &[Arc<Network>],
    progress: &(dyn Fn(usize, usize) + Sync),
) {
    let chooser = Chooser::new(Effort::FULL, Arc::clone(store));
    let model = ChosenLoopNest::new(Arc::new(chooser));
    let of = |accelerator| networks.iter().map(move |network| (accelerator, network));
    let pairs: Vec<_> = accelerators.iter().flat_map(of).collect();
    let (total, done) = (pairs.len(), AtomicUsize::new(0));
    progress(0, total);
    pairs.into_par_iter().for_each(|(accelerator, network)| {
        // A pair that cannot run has no choices.
        let _ = model.network(network, accelerator);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    });
}

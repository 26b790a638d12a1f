//! The table of mappings that comes with the program: its accelerators, and the searches that fill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xrsim_config::{Catalog, Hardware, Kind};
use xrsim_model::cost::CostModel as _;
use xrsim_model::cost::loop_nest::ChosenLoopNest;
use xrsim_model::hardware::{Accelerator, Flexibility};
use xrsim_model::mapper::{Chooser, Effort, Store};
use xrsim_model::model::Network;
use xrsim_model::parallel;

use super::accelerators::DEFAULT_PLATFORM;
use super::systems::style_system;
use super::{ExperimentError, Settings};

/// PEs of the styles of the table.
const STYLE_PES: [u32; 2] = [4096, 8192];

/// Distinct accelerators of the table, with flexibility `tiles`: those of the styles at 4,096 and 8,192
/// PEs on the platform `paper`. They are called after dataflow and PEs, `WS-2048-of-4096`.
///
/// # Errors
///
/// [`ExperimentError`] if one cannot be built.
pub fn shipped_accelerators() -> Result<Vec<Accelerator>, ExperimentError> {
    let (mut catalog, settings) = (Catalog::new(), Settings::default());
    let platform = catalog.platform(DEFAULT_PLATFORM)?;
    let mut all = Vec::new();
    for name in catalog.names(Kind::Style) {
        let Hardware::Style(style) = catalog.hardware(&name)? else { continue };
        for pes in STYLE_PES {
            let system = style_system(&style, pes, &platform, &settings)?;
            all.extend(system.accelerators().iter().map(|accelerator| {
                let name = format!("{}-{}-of-{pes}", accelerator.dataflow.name(), accelerator.pes);
                Accelerator { name: name.into(), ..accelerator.clone() }
            }));
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
pub fn fill_table(
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
    parallel::for_each(total, &|index| {
        let (accelerator, network) = pairs[index];
        // A pair that cannot run has no choices.
        let _ = model.network(network, accelerator);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    });
}

#[cfg(test)]
mod tests {
    use xrsim_model::cost::loop_nest::{Choose as _, Machine, evaluate};
    use xrsim_model::mapper::row;
    use xrsim_model::mapper::store::{file_name, section_key};
    use xrsim_model::mapper::table::FILES;

    use super::*;

    /// Rows from one that is searched again to the next. Without optimisation a search takes ten times as long.
    const SAMPLE: usize = if cfg!(debug_assertions) { 4999 } else { 499 };

    #[test]
    fn every_shipped_row_costs_what_it_says() {
        let accelerators = shipped_accelerators().expect("they are built");
        let mut n_read = 0;
        for accelerator in &accelerators {
            let rows = Store::of_process().section(accelerator).all();
            let name = file_name(&section_key(accelerator));
            n_read += usize::from(FILES.iter().any(|(known, _)| *known == name));
            for (key, kept) in rows {
                let machine = Machine {
                    resident: key.resident,
                    shared_bytes: key.shared_bytes,
                    ..Machine::from_accelerator(accelerator)
                };
                let found = evaluate(&kept.choice.nest, &kept.choice.mapping, &machine);
                let found = found.expect("it can be counted");
                assert_eq!(found.cycles, kept.value.cycles, "{name}: {key:?}");
                assert_eq!(found.energy.total(), kept.value.energy_pj, "{name}: {key:?}");
            }
        }
        assert_eq!(n_read, FILES.len(), "a file belongs to no accelerator of the table");
    }

    #[test]
    fn a_sample_of_the_shipped_rows_is_found_again() {
        let mut at = 0;
        for accelerator in &shipped_accelerators().expect("they are built") {
            let shipped = Store::of_process().section(accelerator);
            let mut rows = shipped.all();
            rows.sort_by_key(|(key, _)| row::write(key, &shipped.get(key).expect("a row")));
            for (key, kept) in rows {
                at += 1;
                if at % SAMPLE != 1 {
                    continue;
                }
                let machine = Machine {
                    resident: key.resident,
                    shared_bytes: key.shared_bytes,
                    ..Machine::from_accelerator(accelerator)
                };
                let chooser = Chooser::new(Effort::FULL, Arc::default());
                let chosen = chooser.on(accelerator).expect("it may choose");
                let chosen = chosen.choose(&key.nest, &machine);
                assert_eq!(chosen, kept.into_choice(), "{key:?}");
            }
        }
    }
}

//! Choices that come with the program.

/// A table of mappings: contents of files by their names.
pub(super) type Table = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/mappings.rs"));

/// Files of the table, in the order of their names.
pub(super) const FILES: Table = MAPPINGS;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cost::loop_nest::{Choose as _, Machine, evaluate};
    use crate::experiment::shipped_accelerators;
    use crate::mapper::store::{Store, file_name, section_key};
    use crate::mapper::{Chooser, Effort};

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
                    ..Machine::of(accelerator)
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
            rows.sort_by_key(|(key, _)| {
                crate::mapper::row::write(key, &shipped.get(key).expect("a row"))
            });
            for (key, kept) in rows {
                at += 1;
                if at % SAMPLE != 1 {
                    continue;
                }
                let machine = Machine {
                    resident: key.resident,
                    shared_bytes: key.shared_bytes,
                    ..Machine::of(accelerator)
                };
                let chooser = Chooser::new(Effort::FULL, Arc::default());
                let chosen = chooser.on(accelerator).expect("it may choose");
                let chosen = chosen.choose(&key.nest, &machine);
                assert_eq!(chosen, kept.into_choice(), "{key:?}");
            }
        }
    }
}

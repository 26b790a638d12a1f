//! The table of mappings that comes with the program: its accelerators, and the searches that fill it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xrsim_config::{Catalog, Hardware, Kind};
use xrsim_model::cost::CostModel as _;
use xrsim_model::cost::loop_nest::ChosenLoopNest;
use xrsim_model::hardware::{Accelerator, Flexibility};
use xrsim_model::mapper::{Chooser, Effort, Store};
use xrsim_model::model::Network;
use xrsim_model::parallel;

use super::accelerators::{BENCHMARK_PLATFORM, DEFAULT_PLATFORM};
use super::systems::style_system;
use super::{ExperimentError, Settings};

/// PEs of the styles of the table.
const STYLE_PES: [u32; 2] = [4096, 8192];

/// Platforms of the table.
const PLATFORMS: [&str; 2] = [BENCHMARK_PLATFORM, DEFAULT_PLATFORM];

/// Effort of the searches of the table: that of runs.
fn effort() -> Effort {
    Effort::default()
}

/// An accelerator of the table.
#[derive(Debug, Clone)]
pub struct ShippedAccelerator {
    /// Platform of its chip.
    pub platform: &'static str,
    /// The accelerator, called after dataflow and PEs, `WS-2048-of-4096`.
    pub accelerator: Accelerator,
}

impl ShippedAccelerator {
    /// Folder and name of its file in the table.
    pub fn file(&self) -> PathBuf {
        Path::new(self.platform).join(format!("{}.txt", self.accelerator.name))
    }

    /// Contents of its file: the choices in `store` that [`fill_table`] made.
    pub fn table_text(&self, store: &Arc<Store>) -> String {
        let Self { platform, accelerator } = self;
        let by_name = |(_, known): &&(&str, Effort)| *known == effort();
        let effort_name = Effort::ALL.iter().find(by_name).map_or("", |(name, _)| name);
        let remarks = [
            ("mappings", "found by `xrsim map --table`, docs/explanation/mapper.md".to_string()),
            ("accelerator", accelerator.name.to_string()),
            ("platform", (*platform).to_string()),
            ("flexibility", accelerator.flexibility.to_string()),
            ("objective", accelerator.mapping_objective.to_string()),
            ("effort", effort_name.to_string()),
        ];
        Chooser::new(effort(), Arc::clone(store)).section(accelerator).table_text(&remarks)
    }
}

/// Distinct accelerators of the table, with flexibility `tiles`: those of the styles at 4,096 and 8,192
/// PEs on the platforms `paper` and `headset`.
///
/// # Errors
///
/// [`ExperimentError`] if one cannot be built.
pub fn shipped_accelerators() -> Result<Vec<ShippedAccelerator>, ExperimentError> {
    let (mut catalog, settings) = (Catalog::new(), Settings::default());
    let mut distinct: Vec<ShippedAccelerator> = Vec::new();
    for name in PLATFORMS {
        let platform = catalog.platform(name)?;
        for style in catalog.names(Kind::Style) {
            let Hardware::Style(style) = catalog.hardware(&style)? else { continue };
            for pes in STYLE_PES {
                let system = style_system(&style, pes, &platform, &settings)?;
                for accelerator in system.accelerators() {
                    let flow = accelerator.dataflow.name();
                    let accelerator = Accelerator {
                        name: format!("{flow}-{}-of-{pes}", accelerator.pes).into(),
                        flexibility: Flexibility::Tiles,
                        ..accelerator.clone()
                    };
                    if distinct.iter().all(|it| !it.accelerator.costs_as(&accelerator)) {
                        distinct.push(ShippedAccelerator { platform: name, accelerator });
                    }
                }
            }
        }
    }
    Ok(distinct)
}

/// Searches the layers of networks on accelerators as runs do, each at the places where runs ask for
/// them, and keeps the results in `store`. `progress` is told the numbers of pairs that are done and of
/// all. Pairs that cannot run are left out.
pub fn fill_table(
    store: &Arc<Store>,
    accelerators: &[ShippedAccelerator],
    networks: &[Arc<Network>],
    progress: &(dyn Fn(usize, usize) + Sync),
) {
    let chooser = Chooser::new(effort(), Arc::clone(store));
    let model = ChosenLoopNest::new(Arc::new(chooser));
    let of = |it| networks.iter().map(move |network| (it, network));
    let pairs: Vec<_> = accelerators.iter().flat_map(of).collect();
    let (total, done) = (pairs.len(), AtomicUsize::new(0));
    progress(0, total);
    parallel::for_each(total, &|index| {
        let (ShippedAccelerator { accelerator, .. }, network) = pairs[index];
        // A pair that cannot run has no choices.
        let _ = model.network(network, accelerator);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use xrsim_model::cost::loop_nest::{Choose as _, Machine, Nest};
    use xrsim_model::digest::Digest;
    use xrsim_model::mapper::table::{FILES, Shipped};
    use xrsim_model::mapper::{LayerKey, Section, choices_version, row, store};

    use super::*;

    /// Rows from one that is searched again to the next. Without optimisation a search takes ten times as long.
    const SAMPLE: usize = if cfg!(debug_assertions) { 4999 } else { 499 };

    fn section(accelerator: &Accelerator, store: Arc<Store>) -> Arc<Section> {
        Chooser::new(effort(), store).section(accelerator)
    }

    /// The accelerator of a file.
    fn accelerator_of(file: &Shipped) -> ShippedAccelerator {
        let all = shipped_accelerators().expect("they are built");
        let is_of = |it: &ShippedAccelerator| it.file() == Path::new(file.name);
        all.into_iter().find(is_of).expect("a file is of an accelerator of the table")
    }

    /// Layers of a file, with the machines as they find them.
    fn layers(file: &Shipped, accelerator: &Accelerator) -> Vec<(Nest, Machine)> {
        let machine = Machine::from_accelerator(accelerator);
        let key = |line| row::layer_of(line).expect("a line of a layer");
        let keys = row::lines(file.text).map(key);
        let of_key = |key: LayerKey| {
            let LayerKey { nest, resident, riders, shared_bytes } = key;
            (nest, Machine { resident, riders, shared_bytes, ..machine.clone() })
        };
        keys.map(of_key).collect()
    }

    #[test]
    fn accelerators_of_the_table_have_names_of_their_own() {
        let all = shipped_accelerators().expect("they are built");
        let mut files: Vec<_> = all.iter().map(ShippedAccelerator::file).collect();
        assert!(files.contains(&PathBuf::from("paper/WS-2048-of-4096.txt")), "{files:?}");
        assert!(files.contains(&PathBuf::from("headset/OS-1024-of-4096.txt")), "{files:?}");
        files.sort();
        files.dedup();
        assert_eq!(files.len(), all.len());
    }

    #[test]
    fn shipped_files_are_whole_and_belong_to_this_version() {
        for file in FILES {
            assert!(store::is_sound(file.text), "{}", file.name);
            let name =
                section(&accelerator_of(file).accelerator, Arc::default()).name().to_string();
            let again = "was made by another version of cost model or search: make the table again";
            assert_eq!(file.section, name, "{} {again}", file.name);
        }
    }

    /// Runs believe the lines of the table, those of a folder they check: each line is one of a folder here.
    #[test]
    fn every_shipped_row_is_checked() {
        for file in FILES {
            let shipped = accelerator_of(file);
            let folder = tempfile::tempdir().expect("a folder");
            let lines = row::lines(file.text).map(|line| format!("{line}\n"));
            let text = format!("# xrsim mappings {}\n", choices_version());
            let text = text + &lines.collect::<String>();
            let last = format!("sha256 {}\n", Digest::compute(text.as_bytes()).hex());
            let store = Arc::new(Store::default());
            store.keep_in(folder.path());
            let name = section(&shipped.accelerator, Arc::default()).name().to_string();
            fs::write(folder.path().join(format!("{name}.txt")), text + &last).expect("a file");
            let chooser = Chooser::new(effort(), Arc::clone(&store));
            let chosen = chooser.on(&shipped.accelerator).expect("it may choose");
            for (nest, machine) in layers(file, &shipped.accelerator) {
                assert!(chosen.choose(&nest, &machine).is_some(), "{}: {nest:?}", file.name);
            }
            assert_eq!(store.refused(), [], "{}", file.name);
            // Nothing was searched and found to be something else.
            assert_eq!(shipped.table_text(&store), file.text);
        }
    }

    #[test]
    fn a_sample_of_the_shipped_rows_is_found_again() {
        let mut at = 0;
        for file in FILES {
            let ShippedAccelerator { accelerator, .. } = accelerator_of(file);
            let chooser = Chooser::new(effort(), Store::of_process());
            let shipped = chooser.on(&accelerator).expect("it may choose");
            for (nest, machine) in layers(file, &accelerator) {
                at += 1;
                if at % SAMPLE != 1 {
                    continue;
                }
                let chooser = Chooser::new(effort(), Arc::default());
                let searched = chooser.on(&accelerator).expect("it may choose");
                let [found, known] = [&searched, &shipped].map(|it| it.choose(&nest, &machine));
                assert_eq!(found, known, "{}: {nest:?}", file.name);
            }
        }
    }
}

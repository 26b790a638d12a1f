//! Processors: places whose costs are rows of a table, alone and beside accelerators.

use crate::support::binary;

use std::fs;
use std::sync::Arc;

use tempfile::{TempDir, tempdir};

use binary::{output, path, stderr, xrsim};
use xrsim::Experiment;
use xrsim::config::{Catalog, Hardware};
use xrsim::cost::CostTable;
use xrsim::ids::{AccelId, ModelId};
use xrsim::sweep::RunResult;
use xrsim::trace::Outcome;
use xrsim::units::SimSpan;

const PALM: &str = "network:\n  name: palm\n  measured: true\n";

/// A system of two processors.
const CHIP: &str = "system:\n  name: chip\n  accelerators:\n    \
     - processor: {name: npu, active_mw: 900, idle_mw: 40}\n    \
     - processor: {name: gpu, active_mw: 2000}\n";

/// An accelerator beside a processor.
const MIXED: &str = "system:\n  name: mixed\n  clock_mhz: 1000\n  \
     energy: {mac_nj: 0.0003, scratchpad_per_mac: 1, shared_memory_per_mac: 60, dram_per_mac: 540}\n  \
     accelerators:\n    - {name: array, dataflow: WS, pes: 1024, noc_bandwidth_bytes_per_cycle: 128, \
     shared_memory_kib: 1024, scratchpad_kib: 8, dram_bandwidth_bytes_per_cycle: 64}\n    \
     - processor: {name: npu, active_mw: 900, idle_mw: 40}\n";

/// A folder with the network, a scenario of these models, a system and a table.
fn folder(models: &str, system: &str, rows: &str) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let scenario = format!("scenario:\n  name: mine\n  models:\n{models}");
    let files =
        [("palm.yaml", PALM), ("mine.yaml", &scenario), ("chip.yaml", system), ("t.csv", rows)];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

const ROWS_OF_PALM: &str = "network,accelerator,layer,latency_ms\npalm,npu,,0.5\n";

const PALM_ALONE: &str = "    - {network: ./palm.yaml, fps: 1}\n";

fn experiment(folder: &TempDir) -> Experiment {
    let [scenario, system, table] = ["mine.yaml", "chip.yaml", "t.csv"].map(|it| path(folder, it));
    Experiment::new().scenario(scenario).system(system).cost_model(table)
}

fn run(folder: &TempDir) -> RunResult {
    let runs = experiment(folder).run().expect("the description is right");
    runs[0].result().expect("it runs").clone()
}

/// Status and messages of a command with the files of `folder`.
fn command(folder: &TempDir, words: &[&str]) -> (Option<i32>, String) {
    let [scenario, system] = ["mine.yaml", "chip.yaml"].map(|it| path(folder, it));
    let files = ["--scenario", &scenario, "--system", &system];
    let assert = xrsim(&[words, &files[..]].concat()).assert();
    (assert.get_output().status.code(), stderr(&assert))
}

/// 900 mW for 0.446 ms are 0.4014 mJ. The second processor has no row. 40 mW over 1000 ms less 0.446 ms are
/// 39.98216 mJ; the span ends at the deadline, at 1000 ms.
#[test]
fn a_model_alone_takes_the_time_of_its_row_and_the_power_of_its_processor() {
    let table = "network,accelerator,latency_ms\npalm,npu,0.446\n";
    let result = run(&folder(PALM_ALONE, CHIP, table));
    let [record] = result.trace.records() else { panic!("one frame in a second") };
    let Outcome::Executed { accelerator, start, end, energy } = record.outcome else {
        panic!("{record:?}")
    };
    assert_eq!((accelerator, end - start), (AccelId::new(0), SimSpan::from_ns(446_000)));
    assert!((energy.get() - 0.4014).abs() < 1e-12, "{energy:?}");
    assert_eq!(result.costs.not_offered().len(), 1);
    let system = Catalog::new().hardware(&path(&folder(PALM_ALONE, CHIP, table), "chip.yaml"));
    let Ok(Hardware::System(system)) = system else { panic!("{system:?}") };
    let idle = result.usage.idle_energy(system.accelerators()).get();
    assert!((idle - 39.98216).abs() < 1e-9, "{idle}");
    assert_eq!((system.pes(), result.device.area_mm2), (0, None));
}

#[test]
fn an_energy_of_a_row_goes_before_the_power() {
    let table = "network,accelerator,latency_ms,energy_mj\npalm,npu,0.446,7\npalm,gpu,9,\n";
    let result = run(&folder(PALM_ALONE, CHIP, table));
    let energies = [0, 1].map(|at| result.costs.on(ModelId::new(0), AccelId::new(at)).energy());
    assert_eq!(energies.map(|it| it.get()), [7.0, 18.0]);
}

/// Costs of a scenario of hands (only in the table) and eyes (only by `loop-nest`).
fn mixed_costs() -> (Arc<CostTable>, Arc<CostTable>) {
    let models = "    - {network: HT, fps: 45}\n    - {network: ES, fps: 60}\n";
    let table = "network,accelerator,latency_ms\nHT_handgcn_128x128,npu,2.5\n";
    let mixed = run(&folder(models, MIXED, table));
    let alone = MIXED.lines().take(6).collect::<Vec<_>>().join("\n");
    let plain = folder(models, &alone, table);
    let [scenario, system] = ["mine.yaml", "chip.yaml"].map(|it| path(&plain, it));
    let runs = Experiment::new().scenario(scenario).system(system).run().expect("it is right");
    (Arc::clone(&mixed.costs), Arc::clone(&runs[0].result().expect("it runs").costs))
}

#[test]
fn accelerators_beside_processors_are_costed_by_loop_nest_where_the_table_has_no_row() {
    let (mixed, plain) = mixed_costs();
    let [array, npu] = [0, 1].map(AccelId::new);
    for model in [0, 1].map(ModelId::new) {
        let [cost, known] = [&mixed, &plain].map(|it| it.on(model, array));
        assert_eq!((cost.latency(), cost.energy()), (known.latency(), known.energy()));
    }
    let hands = mixed.on(ModelId::new(0), npu);
    assert_eq!((hands.latency(), hands.n_layers()), (SimSpan::from_ns(2_500_000), 1));
    assert!(!mixed.on(ModelId::new(1), npu).is_offered());
    assert!(mixed.n_layers(ModelId::new(1)) > 1, "eyes run on the array alone, layer by layer");
}

/// Palm, 600 ms long, has begun when hands arrive with less slack.
#[test]
fn a_measured_network_is_never_preempted() {
    let models = "    - {network: ./palm.yaml, fps: 1}\n    - {network: HT, fps: 20}\n";
    let table = "network,accelerator,latency_ms\npalm,npu,600\nHT_handgcn_128x128,npu,1\n";
    let folder = folder(models, CHIP, table);
    let runs = experiment(&folder).scheduler("edf:preemption=layer-boundary").run();
    let runs = runs.expect("it is right");
    let result = runs[0].result().expect("it runs");
    let of_palm = result.trace.entries().filter(|it| it.record.model == ModelId::new(0));
    let intervals: Vec<_> =
        of_palm.flat_map(|it| it.busy_intervals().collect::<Vec<_>>()).collect();
    assert_eq!(intervals.len(), 1);
    let end = intervals[0].end.expect("it ends");
    assert_eq!(end - intervals[0].start, SimSpan::from_ns(600_000_000));
}

#[test]
fn what_has_no_cost_is_refused_in_a_sentence() {
    let refused = |models: &str, system: &str, rows: &str, words: &[&str], message: &str| {
        let folder = folder(models, system, rows);
        let table = path(&folder, "t.csv");
        let words = words.iter().map(|it| if *it == "TABLE" { &*table } else { it });
        let (status, messages) = command(&folder, &words.collect::<Vec<_>>());
        assert_ne!(status, Some(0), "{message}");
        assert!(messages.contains(message), "{message} is not in\n{messages}");
    };
    let rows = "network,accelerator,latency_ms\npalm,npu,0.446\n";
    let with_table = ["run", "--cost-model", "TABLE"];
    let hands = "    - {network: HT, fps: 45}\n";
    refused(
        hands,
        CHIP,
        rows,
        &["run"],
        "processor `npu` has costs in a table alone (--cost-model FILE.csv)",
    );
    let on_array = MIXED.lines().take(6).collect::<Vec<_>>().join("\n");
    refused(
        PALM_ALONE,
        &on_array,
        rows,
        &["run"],
        "network `palm` was measured as a whole (`measured: true`)",
    );
    refused(
        hands,
        CHIP,
        rows,
        &with_table,
        "the cost table has no row for network `HT_handgcn_128x128` on processor `npu`",
    );
    let cycles = "network,accelerator,cycles,energy_mj\npalm,npu,446,1\n";
    refused(PALM_ALONE, CHIP, cycles, &with_table, "which has no clock; give latency_ms");
    let half = CHIP.replace("active_mw: 900, ", "");
    refused(
        PALM_ALONE,
        &half,
        rows,
        &with_table,
        "no energy for network `palm` on processor `npu`, and that has no `active_mw`",
    );
    let folder = folder(PALM_ALONE, CHIP, rows);
    let area = xrsim(&["area", "--system", &path(&folder, "chip.yaml")]).assert().failure();
    let message = "system `chip` has processors, whose area is not known";
    assert!(stderr(&area).contains(message), "{}", stderr(&area));
}

#[test]
fn a_system_without_any_power_says_that_it_has_no_energy_score() {
    let system = CHIP
        .replace("active_mw: 900, idle_mw: 40", "runs: [palm]")
        .replace(", active_mw: 2000", "");
    let folder = folder(PALM_ALONE, &system, "network,accelerator,latency_ms\npalm,npu,0.446\n");
    let (status, messages) = command(&folder, &["run", "--cost-model", &path(&folder, "t.csv")]);
    assert_eq!(status, Some(0), "{messages}");
    assert!(
        messages.contains(
            "system `chip` has no power, and the table no energy: it has no energy score"
        ),
        "{messages}"
    );
}

#[test]
fn files_of_processors_are_checked_shown_and_read_back() {
    let folder = folder(PALM_ALONE, MIXED, "network,accelerator,latency_ms\npalm,npu,0.446\n");
    for file in ["palm.yaml", "chip.yaml", "mine.yaml"] {
        output(&["check", &path(&folder, file)]);
    }
    let both = format!("{PALM}  layers: [{{fc: {{k: 1, c: 1}}}}]\n");
    let in_technology =
        CHIP.replace("  accelerators:", "  technology: nvdla_28nm\n  accelerators:");
    let wrong = CHIP.replace("idle_mw", "idle_watt");
    for (file, text, message) in [
        ("both.yaml", &both, "a measured network has no layers"),
        ("tech.yaml", &in_technology, "a system with processors has no area"),
        ("key.yaml", &wrong, "idle_mw"),
    ] {
        fs::write(folder.path().join(file), text).expect("written");
        let message_found = stderr(&xrsim(&["check", &path(&folder, file)]).assert().failure());
        assert!(message_found.contains(message), "{message} is not in\n{message_found}");
    }
}

/// The processor is fast for palm and the only place for it.
#[test]
fn commands_that_compare_and_search_take_processors() {
    let models = "    - {network: ./palm.yaml, fps: 30}\n    - {network: ES, fps: 60}\n";
    let folder = folder(models, MIXED, "network,accelerator,latency_ms\npalm,npu,0.446\n");
    let table = path(&folder, "t.csv");
    let out = path(&folder, "out");
    let (status, messages) = command(
        &folder,
        &[
            "compare",
            "--cost-model",
            &table,
            "--scheduler",
            "edf",
            "--scheduler",
            "heft",
            "--out",
            &out,
        ],
    );
    assert_eq!(status, Some(0), "{messages}");
    let search = format!(
        "search:\n  name: it\n  objective: {{maximise: score}}\n  settings: {{cost_model: {table}}}\n  space:\n    \
         systems: [./chip.yaml]\n  scenarios: [./mine.yaml]\n"
    );
    fs::write(folder.path().join("search.yaml"), search).expect("written");
    let assert = xrsim(&["search", &path(&folder, "search.yaml")]).assert();
    assert!(assert.get_output().status.success(), "{}", stderr(&assert));
}

#[test]
fn processors_and_measured_networks_have_no_mappings() {
    let folder = folder(PALM_ALONE, CHIP, ROWS_OF_PALM);
    let (chip, palm) = (path(&folder, "chip.yaml"), path(&folder, "palm.yaml"));
    let said = binary::refused(&["map", "--system", &chip, "--network", "KD"]);
    assert!(said.contains("npu is a processor: its costs are rows of a table"), "{said}");
    let said = binary::refused(&["map", "--network", &palm]);
    assert!(said.contains("palm is measured: it has no layers"), "{said}");
}

/// Both processors have the same hardware: none that the program knows.
#[test]
fn cost_shows_every_processor_of_a_system() {
    let folder = folder(
        PALM_ALONE,
        CHIP,
        "network,accelerator,layer,latency_ms\npalm,npu,,0.5\npalm,gpu,,2\n",
    );
    let [chip, palm, table] = ["chip.yaml", "palm.yaml", "t.csv"].map(|it| path(&folder, it));
    let command = ["cost", "--system", &chip, "--network", &palm, "--cost-model", &table];
    let text = output(&command);
    assert!(text.contains("npu") && text.contains("gpu") && text.contains("2000000"), "{text}");
    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
}

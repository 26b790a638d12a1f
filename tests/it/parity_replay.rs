//! The `mlsys2023` semantics against the published artifact: every schedule and summary of its 182
//! runs byte for byte, and the deterministic bars of its Figure 5.
//!
//! `tests/golden/` holds the expected digests. If the files of the artifact lie beside the checkout, they
//! are compared as well.

use crate::support::runs;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use xrsim::compat::{self, Replay};
use xrsim::config::{Problem, Source, maestro};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::maestro::Maestro;
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::dataflow::{Axis, ClusterLevel, Dataflow, Directive};
use xrsim::hardware::platform::{Instance, Platform, Resources};
use xrsim::hardware::{Accelerator, EnergyTable, Memory, Noc, NocLevel, System};
use xrsim::plan::Plan;
use xrsim::scenario::{ActiveModel, Scenario};
use xrsim::trace::Outcome;
use xrsim::units::{Bytes, ClockRate};

/// A model of a scenario: name in the artifact, FPS, and its upstream model with the probability of the
/// trigger (1 for data dependencies).
type Model = (&'static str, f64, Option<(usize, f64)>);

/// The usage scenarios of Table 2 as the artifact runs them (rule R2), in the order of its files.
const SCENARIOS: [(&str, &[Model]); 7] = [
    (
        "VR_gaming",
        &[
            ("ES_RITNet", 60.0, None),
            ("GE_FBNet_C", 60.0, Some((0, 1.0))),
            ("HT_hand_graph_cnn_half", 45.0, None),
        ],
    ),
    (
        "AR_gaming",
        &[
            ("HT_hand_graph_cnn_half", 45.0, None),
            ("DE_midas_v21_small", 30.0, None),
            ("PD_Plane_RCNN_Quarter", 15.0, None),
        ],
    ),
    (
        "AR_Assistant",
        &[
            ("KD_res8_narrow", 3.0, None),
            ("ASR_EM_24L", 3.0, Some((0, 0.5))),
            ("SS_HRViT_b1", 10.0, None),
            ("DE_midas_v21_small", 30.0, None),
            ("PD_Plane_RCNN_Quarter", 15.0, None),
            ("OD_D2go_FasterRCNN", 10.0, None),
        ],
    ),
    (
        "outdoor_activity_A",
        &[
            ("KD_res8_narrow", 3.0, None),
            ("ASR_EM_24L", 3.0, Some((0, 0.2))),
            ("SS_HRViT_b1", 10.0, None),
            ("OD_D2go_FasterRCNN", 30.0, None),
        ],
    ),
    (
        "outdoor_activity_B",
        &[
            ("KD_res8_narrow", 3.0, None),
            ("ASR_EM_24L", 3.0, Some((0, 0.2))),
            ("D2go_FastRCNN", 30.0, None),
        ],
    ),
    (
        "social_interactionA",
        &[
            ("ES_RITNet", 60.0, None),
            ("GE_FBNet_C", 60.0, Some((0, 1.0))),
            ("DR_RGBd_200", 30.0, None),
            ("HT_hand_graph_cnn_half", 30.0, None),
        ],
    ),
    (
        "social_interactionB",
        &[
            ("ES_RITNet", 60.0, None),
            ("GE_FBNet_C", 60.0, Some((0, 1.0))),
            ("AS_ED_TCN", 30.0, None),
        ],
    ),
];

/// The artifact's hardware files: PEs and NoC bandwidth of every accelerator.
const HARDWARE: [(&str, &[(u32, u64)]); 10] = [
    ("Single_4K", &[(4096, 256)]),
    ("Single_8K", &[(8192, 256)]),
    ("Dual_4K", &[(2048, 128); 2]),
    ("Dual_8K", &[(4096, 256); 2]),
    ("Dual_4K_BigLittle", &[(3072, 128), (1024, 128)]),
    ("Dual_4K_LittleBig", &[(1024, 128), (3072, 128)]),
    ("Dual_8K_BigLittle", &[(6144, 256), (2048, 256)]),
    ("Dual_8K_LittleBig", &[(2048, 256), (6144, 256)]),
    ("Quad_4K", &[(1024, 128); 4]),
    ("Quad_8K", &[(2048, 256); 4]),
];

/// One run of the artifact, e.g. `VR_gaming__J_4K__Dual_4K__WS_OS`.
struct Run {
    config: String,
    scenario: String,
    /// Style and size, e.g. `J_4K`.
    style: String,
    hardware: String,
    dataflows: String,
    seed: u32,
    /// SHA-256 of the schedule and summary files.
    digests: [String; 2],
}

/// Rows of a golden file, the header first.
fn table(file: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    let text = fs::read_to_string(path).expect("golden files can be read");
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Rows of a golden file without the header.
fn rows(file: &str) -> Vec<Vec<String>> {
    table(file).split_off(1)
}

fn runs() -> Vec<Run> {
    rows("replay_digests.csv")
        .into_iter()
        .map(|row| {
            let [config, seed, schedule, summary] = row.try_into().expect("four columns");
            let parts: Vec<_> = config.split("__").map(str::to_owned).collect();
            let [scenario, style, hardware, dataflows] = parts.try_into().expect("four parts");
            Run {
                config,
                scenario,
                style,
                hardware,
                dataflows,
                seed: seed.parse().expect("a seed"),
                digests: [schedule, summary],
            }
        })
        .collect()
}

/// Cycles and energy [nJ] by model, dataflow, PEs and NoC bandwidth.
type Costs = HashMap<(String, String, u32, u64), (u64, f64)>;

/// The totals of every network: columns `cycles_PES@BANDWIDTH` and `energy_nJ_PES@BANDWIDTH`.
fn golden_costs() -> Costs {
    let table = table("cost_network_totals.csv");
    let (header, rows) = table.split_first().expect("a header");
    let mut costs = Costs::new();
    for row in rows {
        for column in (2..header.len()).step_by(2) {
            let pair = header[column].strip_prefix("cycles_").expect("cycles");
            let (pes, bandwidth) = pair.split_once('@').expect("PEs and bandwidth");
            let (pes, bandwidth) =
                (pes.parse().expect("PEs"), bandwidth.parse().expect("a number"));
            let cycles = row[column].parse().expect("cycles");
            let energy_nj = row[column + 1].parse().expect("an energy");
            let key = (row[1].clone(), row[0].clone(), pes, bandwidth);
            costs.insert(key, (cycles, energy_nj));
        }
    }
    costs
}

fn model(&(name, fps, dependency): &Model) -> ActiveModel {
    let model = runs::model(name, fps);
    match dependency {
        None => model,
        Some((upstream, 1.0)) => runs::after(upstream, model),
        Some((upstream, probability)) => runs::triggered_by(upstream, probability, model),
    }
}

fn scenario(name: &str) -> Scenario {
    let (_, models) = SCENARIOS.iter().find(|(known, _)| *known == name).expect("one of the seven");
    Scenario::new(name, Vec::new(), models.iter().map(model).collect()).expect("a scenario")
}

/// Accelerators of a run with their PEs and bandwidth. Of the dataflow only the name matters, because the
/// costs are given.
fn system(run: &Run) -> System {
    let (_, instances) =
        HARDWARE.iter().find(|(known, _)| *known == run.hardware).expect("one of the ten");
    let accelerators = instances
        .iter()
        .zip(run.dataflows.split('_'))
        .map(|(&(pes, bandwidth), dataflow)| accelerator(pes, bandwidth, dataflow))
        .collect();
    System::new(run.style.as_str(), accelerators).expect("a system")
}

fn accelerator(pes: u32, bandwidth: u64, dataflow: &str) -> Accelerator {
    let map = Directive::spatial(1, 1, Axis::K);
    let level = ClusterLevel { units: None, directives: vec![map] };
    let flow = Arc::new(Dataflow::new(dataflow, vec![level]).expect("a dataflow"));
    let memory = Memory::new(Bytes::new(1), Bytes::new(1), 1);
    Accelerator::new(dataflow, flow, pes, Noc::uniform(NocLevel::new(bandwidth)), memory)
}

fn cost_table(scenario: &Scenario, system: &System, costs: &Costs) -> CostTable {
    let accelerators = system.accelerators();
    let cells = scenario.models().iter().flat_map(|model| {
        accelerators.iter().map(|accelerator| {
            let dataflow = accelerator.dataflow.name().to_owned();
            let bandwidth = accelerator.noc.level(0).bandwidth;
            let key = (model.unit.network.name().to_string(), dataflow, accelerator.pes, bandwidth);
            let (cycles, energy_nj) = costs[&key];
            let whole = vec![LayerCost { cycles, energy_nj, ..LayerCost::default() }];
            Arc::new(NetworkCost::of_layers(whole, accelerator))
        })
    });
    CostTable::new(cells.collect(), accelerators.len())
}

fn replay(scenario: Scenario, system: System, costs: CostTable, seed: u32) -> Replay {
    let plan = Plan::new(Arc::new(scenario), Arc::new(system));
    compat::run(&plan, &costs, seed).expect("the artifact can express its own scenarios")
}

fn golden_replay(run: &Run, costs: &Costs) -> Replay {
    let scenario = scenario(&run.scenario);
    let system = system(run);
    let table = cost_table(&scenario, &system, costs);
    replay(scenario, system, table, run.seed)
}

/// The schedule and summary files.
fn files(replay: &Replay) -> [Vec<u8>; 2] {
    let mut files = [Vec::new(), Vec::new()];
    replay.write_schedule(&mut files[0]).expect("memory takes it");
    replay.write_summary(&mut files[1]).expect("memory takes it");
    files
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn all_182_schedules_and_summaries_have_the_published_digests() {
    let costs = golden_costs();
    let runs = runs();
    assert_eq!(runs.len(), 182);
    for run in &runs {
        let found = files(&golden_replay(run, &costs)).map(|file| digest(&file));
        assert_eq!(found, run.digests, "{}", run.config);
    }
}

/// Rows of Figure 5 of the scenarios without random draws.
fn deterministic_points() -> Vec<Vec<String>> {
    let random = ["AR_Assistant", "outdoor_activity_A", "outdoor_activity_B", "gross_average"];
    let mut points = rows("../../tests/reference/figure5_published.csv");
    points.retain(|point| !random.contains(&&*point[0]));
    points
}

#[test]
fn the_104_deterministic_points_of_figure_5_are_the_published_ones() {
    let costs = golden_costs();
    let runs = runs();
    let points = deterministic_points();
    assert_eq!(points.len(), 104);
    for point in points {
        let style = format!("{}_{}", point[2], point[1]);
        let run = runs
            .iter()
            .find(|run| run.scenario == point[0] && run.style == style)
            .expect("every point is a run");
        let card = golden_replay(run, &costs).scorecard();
        let found = [card.total.realtime, card.total.energy, card.total.qoe, card.total.score];
        for (found, published) in found.iter().zip(&point[3..]) {
            let published: f64 = published.parse().expect("a number");
            // The numbers of the figure have five decimals.
            assert!((found - published).abs() <= 5e-5, "{}: {found} {published}", run.config);
        }
    }
}

#[test]
fn the_182_runs_lose_drop_and_delay_as_many_requests_as_published() {
    let costs = golden_costs();
    let (mut executed, mut late, mut dropped, mut running, mut waiting) = (0, 0, 0, 0, 0);
    for run in runs() {
        let replay = golden_replay(&run, &costs);
        for record in replay.trace().records() {
            match record.outcome {
                Outcome::Executed { end, .. } => {
                    executed += 1;
                    late += u32::from(end > record.deadline);
                }
                Outcome::Dropped { .. } => dropped += 1,
                Outcome::Lost { attempt: Some(_) } => running += 1,
                Outcome::Lost { attempt: None } => waiting += 1,
                Outcome::NotTriggered | Outcome::NotCaptured(_) => {}
            }
        }
        let counts = replay.scorecard().total.counts;
        assert!(counts.requests > counts.executed + counts.dropped, "{} lost nothing", run.config);
    }
    assert_eq!((executed, late, dropped), (10_910, 2_921, 1_868));
    assert_eq!((running, waiting), (342, 296));
}

#[test]
fn jobs_overlap_where_the_artifact_retires_early_and_nowhere_else() {
    let costs = golden_costs();
    let mut overlaps_ns = Vec::new();
    for run in runs() {
        let trace = golden_replay(&run, &costs).trace();
        let mut spans: Vec<_> = trace
            .records()
            .iter()
            .filter_map(|record| match record.outcome {
                Outcome::Executed { accelerator, start, end, .. } => {
                    Some((accelerator, start, end))
                }
                _ => None,
            })
            .collect();
        spans.sort();
        for pair in spans.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (_, _, end) = pair[0];
            let (_, start, _) = pair[1];
            if start < end {
                overlaps_ns.push((end - start).ns());
            }
        }
    }
    assert_eq!(overlaps_ns.len(), 9);
    assert!(overlaps_ns.iter().all(|&ns| ns <= 6_900), "{overlaps_ns:?}");
}

/// Folder of the artifact, if it lies beside the checkout.
fn artifact() -> Option<PathBuf> {
    let folder = "../shared/reference/xrbench-mlsys2023";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

fn read(path: &Path) -> Arc<Source> {
    Source::read(path).expect("the file can be read")
}

fn accept<T>(path: &Path, parsed: Result<T, Vec<Problem>>) -> T {
    parsed.unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display()))
}

/// Constants in the source of the artifact.
fn artifact_platform() -> Platform {
    Platform::new("artifact", ClockRate::GHZ, EnergyTable::ARTIFACT, Resources::Tables(vec![]))
}

fn parsed_system(folder: &Path, run: &Run) -> System {
    let kind = run.hardware.split('_').next().expect("a kind").to_lowercase();
    let inputs = folder.join("inputs");
    let path = inputs.join(format!("dataflows/{kind}/{}.m", run.dataflows));
    let dataflows = accept(&path, maestro::parse_dataflows(&read(&path)));
    let path = inputs.join(format!("hw_configs/{kind}/{}.m", run.hardware));
    let instances: Vec<Instance> = accept(&path, maestro::parse_hardware(&read(&path)));
    assert_eq!(dataflows.len(), instances.len());
    let accelerators = instances
        .iter()
        .zip(dataflows)
        .map(|(instance, dataflow)| {
            instance.with(instance.name.clone(), &Arc::new(dataflow), &artifact_platform())
        })
        .collect();
    System::new(run.style.as_str(), accelerators).expect("a system")
}

#[test]
fn the_artifact_s_own_inputs_give_its_own_outputs_byte_for_byte() {
    let Some(folder) = artifact() else { return };
    let mut scenarios = HashMap::new();
    for (name, _) in SCENARIOS {
        let path = folder.join(format!("inputs/usage_scenarios/{name}.m"));
        scenarios.insert(name, accept(&path, maestro::scenario(&read(&path), name)));
    }
    let runs = runs();
    let systems: Vec<_> = runs.iter().map(|run| parsed_system(&folder, run)).collect();
    let scenario_of = |run: &Run| &scenarios[run.scenario.as_str()];
    let pairs = runs.iter().zip(&systems).map(|(run, system)| (scenario_of(run), system));
    let library = CostLibrary::evaluate(&Maestro, pairs);
    for (run, system) in runs.iter().zip(&systems) {
        let scenario = scenario_of(run);
        let table = library.table(scenario, system).expect("all of it runs");
        let replay = replay(scenario.clone(), system.clone(), table, run.seed);
        let [schedule, summary] = files(&replay);
        for (folder_of, found) in [("schedules", schedule), ("summaries", summary)] {
            let path = folder.join(folder_of).join(format!("{}.csv", run.config));
            let published = fs::read(&path).expect("the file can be read");
            assert!(found == published, "{} differs", path.display());
        }
    }
}

#[test]
fn the_golden_files_hold_the_artifact_s_numbers() {
    let Some(folder) = artifact() else { return };
    for run in runs() {
        for (folder_of, expected) in ["schedules", "summaries"].into_iter().zip(&run.digests) {
            let path = folder.join(folder_of).join(format!("{}.csv", run.config));
            let published = fs::read(&path).expect("the file can be read");
            assert_eq!(digest(&published), *expected, "{}", path.display());
        }
    }
    let path = folder.join("figure5_published.csv");
    let published = fs::read_to_string(path).expect("the file can be read");
    let shipped =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/figure5_published.csv");
    assert_eq!(fs::read_to_string(shipped).expect("the file can be read"), published);
}

#[test]
fn truncated_files_of_the_artifact_are_read_to_the_end() {
    let Some(folder) = artifact() else { return };
    for file in [
        "inputs/dataflows/dual/WS_OS.m",
        "inputs/hw_configs/dual/Dual_4K_BigLittle.m",
        "inputs/usage_scenarios/VR_gaming.m",
    ] {
        let source = read(&folder.join(file));
        let text = source.text();
        // Cut at every byte of the small files, and at about a thousand places of the large one.
        for end in (0..text.len()).step_by(text.len() / 1000 + 1) {
            let source = Source::new(file, &text[..end]);
            let results = [
                maestro::scenario(&source, "s").map(|_| ()),
                maestro::parse_dataflows(&source).map(|_| ()),
                maestro::parse_hardware(&source).map(|_| ()),
            ];
            let problems = results.into_iter().filter_map(Result::err).flatten();
            for problem in problems {
                assert!(problem.span.end <= end, "{file} {end}: {problem:?}");
            }
        }
    }
}

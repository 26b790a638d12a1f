//! Times of Qualcomm AI Hub (`perf.yaml`) as networks, a table and a system.

use crate::support::binary;

use std::fs;

use tempfile::{TempDir, tempdir};

use binary::{output, path, stderr, xrsim};
use xrsim::Experiment;
use xrsim::units::SimSpan;

/// Two components and two precisions; a job that failed; a device of others.
const HANDS: &str = "
supported_devices: [QCS8450 (Proxy), Samsung Galaxy S24]
precisions:
  float:
    components:
      PalmDetector:
        performance_metrics:
          QCS8450 (Proxy):
            tflite: {job_status: Passed, inference_time_milliseconds: 1.365, primary_compute_unit: NPU}
            onnx: {job_status: Failed, inference_time_milliseconds: null}
          Samsung Galaxy S24:
            tflite: {inference_time_milliseconds: 0.1, primary_compute_unit: NPU}
  w8a8:
    components:
      PalmDetector:
        universal_assets: {tflite: {model_id: m}}
        performance_metrics:
          QCS8450 (Proxy):
            tflite: {inference_time_milliseconds: 0.451, primary_compute_unit: NPU}
            qnn_dlc: {inference_time_milliseconds: 0.446, primary_compute_unit: NPU}
            onnx: {inference_time_milliseconds: 9.5, primary_compute_unit: CPU}
      HandLandmarkDetector:
        performance_metrics:
          QCS8450 (Proxy):
            tflite: {inference_time_milliseconds: 0.403, primary_compute_unit: NPU}
            qnn_dlc: {inference_time_milliseconds: 0.398, primary_compute_unit: NPU}
";

const GAZE: &str = "
precisions:
  float:
    components:
      EyeGaze:
        performance_metrics:
          QCS8450 (Proxy):
            qnn_dlc: {inference_time_milliseconds: 71.081, primary_compute_unit: CPU}
";

/// A folder of two models, each in a folder of its own.
fn folder() -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    for (model, text) in [("hands", HANDS), ("eyegaze", GAZE)] {
        let of_model = folder.path().join("models").join(model);
        fs::create_dir_all(&of_model).expect("made");
        fs::write(of_model.join("perf.yaml"), text).expect("written");
    }
    folder
}

fn import(folder: &TempDir, device: &str) -> assert_cmd::assert::Assert {
    let (models, out) = (path(folder, "models"), path(folder, "out"));
    xrsim(&["import", "aihub", &models, "--device", device, "--out", &out]).assert()
}

#[test]
fn the_best_runtime_of_each_component_precision_and_unit_is_a_row() {
    let folder = folder();
    import(&folder, "QCS8450 (Proxy)").success();
    let table = fs::read_to_string(folder.path().join("out/costs.csv")).expect("written");
    let rows: Vec<_> = table.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = [
        "network,accelerator,latency_ms",
        "eyegaze.EyeGaze.float,cpu,71.081",
        "hands.PalmDetector.float,npu,1.365",
        "hands.PalmDetector.w8a8,cpu,9.5",
        "hands.PalmDetector.w8a8,npu,0.446",
        "hands.HandLandmarkDetector.w8a8,npu,0.398",
    ];
    assert_eq!(rows, expected);
    for entry in fs::read_dir(folder.path().join("out")).expect("it is there") {
        let file = entry.expect("a file").path().display().to_string();
        if file.ends_with(".yaml") {
            output(&["check", &file]);
        }
    }
}

/// The landmarks of a frame begin when its palm is found: 0.446 and 0.398 ms.
#[test]
fn components_are_a_chain_that_runs_at_the_times_of_the_file() {
    let folder = folder();
    import(&folder, "QCS8450 (Proxy)").success();
    let [scenario, system, table] =
        ["out/hands.w8a8.yaml", "out/system.yaml", "out/costs.csv"].map(|it| path(&folder, it));
    let runs = Experiment::new().scenario(scenario).system(system).cost_model(table).run();
    let runs = runs.expect("the description is right");
    let records = runs[0].result().expect("it runs").trace.records();
    let end = |record: &xrsim::trace::Record| match record.outcome {
        xrsim::trace::Outcome::Executed { end, .. } => end - record.arrival,
        other => panic!("{other:?}"),
    };
    let ends: Vec<_> = records.iter().take(2).map(end).collect();
    assert_eq!(ends, [446_000, 844_000].map(SimSpan::from_ns));
}

#[test]
fn slips_are_refused() {
    let folder = folder();
    let message = stderr(&import(&folder, "QCS8540 (Proxy)").failure());
    assert!(
        message.contains(
            "no latency was measured on `QCS8540 (Proxy)`; did you mean `QCS8450 (Proxy)`?"
        ),
        "{message}"
    );
    let file = path(&folder, "models/hands/perf.yaml");
    let message = stderr(&xrsim(&["import", "aihub", &file]).assert().failure());
    assert!(message.contains("aihub: name the --device"), "{message}");
    let other = path(&folder, "other.yaml");
    fs::write(&other, "network: {name: a}\n").expect("written");
    let message = stderr(&xrsim(&["import", "aihub", &other, "--device", "x"]).assert().failure());
    assert!(message.contains("this is no `perf.yaml` of Qualcomm AI Hub"), "{message}");
    let wrong = HANDS.replace("0.446", "-1");
    fs::write(&other, wrong).expect("written");
    let message = stderr(
        &xrsim(&["import", "aihub", &other, "--device", "QCS8450 (Proxy)"]).assert().failure(),
    );
    assert!(
        message.contains("other.yaml:20:") && message.contains("`-1` is no latency"),
        "{message}"
    );
}

/// The scenarios of the suite of which every network has a measured one run on the chip that ships.
#[test]
fn the_chip_that_ships_runs_the_outdoor_scenarios() {
    let runs = Experiment::new().scenario("outdoor_activity_A").scenario("outdoor_activity_B");
    let runs = runs.system("xr2_gen2").cost_model("xr2_gen2").run().expect("it is right");
    for run in &*runs {
        let score = run.scorecard().expect("it runs").total;
        assert_eq!((score.counts.dropped, score.counts.late), (0, 0), "{}", run.label().scenario);
    }
}

//! A chip and networks of one's own in every command: `cost` and `map` on systems, commands of notes, idle PEs,
//! topologies of SCALE-Sim, and ONNX files with open axes.

use std::fs;
use std::process::Command;

use serde_json::Value;
use xrsim::Experiment;

use crate::support::binary::program;
use crate::support::folder::Folder;
use crate::support::onnx_files::{Dim, Graph, Model, Node};

/// A large accelerator and a small one, with as much DRAM as they need not wait for.
const CHIP: &str = "system:
  name: own_chip
  clock_mhz: 500
  energy: {mac_nj: 0.0001, scratchpad_per_mac: 1, shared_memory_per_mac: 20, dram_per_mac: 256}
  accelerators:
    - {name: large, dataflow: WS, pes: 512, noc_bandwidth_bytes_per_cycle: 64, shared_memory_kib: 128,
       scratchpad_kib: 0.25, dram_bandwidth_bytes_per_cycle: 16}
    - {name: small, dataflow: OS, pes: 128, noc_bandwidth_bytes_per_cycle: 32, shared_memory_kib: 64,
       scratchpad_kib: 0.25, dram_bandwidth_bytes_per_cycle: 4}
    - {name: twin, dataflow: OS, pes: 128, noc_bandwidth_bytes_per_cycle: 32, shared_memory_kib: 64,
       scratchpad_kib: 0.25, dram_bandwidth_bytes_per_cycle: 4}
";

/// A network whose first layer takes most of its time.
const NETWORK: &str = "network:
  name: own
  layers:
    - conv: {k: 64, c: 64, y: 64, x: 64, r: 3, s: 3, pad: 1}
    - conv: {k: 8, c: 64, y: 64, x: 64, r: 1, s: 1}
";

/// (31 - 5) / 1 + 1 = 27 rows and columns of 256 outputs, each of 5 * 5 * 96 products.
const TOPOLOGY: &str =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv2, 31, 31, 5, 5, 96, 256, 1,
";
const MACS: u64 = 27 * 27 * 256 * 5 * 5 * 96;

fn folder() -> Folder {
    let folder = Folder::new("");
    fs::create_dir(folder.path("own files")).expect("a folder");
    let scenario = "scenario: {name: desk, models: [{network: own.yaml, task: OWN, fps: 60}]}\n";
    let files = [("chip", CHIP), ("own", NETWORK), ("desk", scenario)];
    for (name, text) in files {
        fs::write(folder.path(&format!("own files/{name}.yaml")), text).expect("a file");
    }
    folder
}

fn call(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.succeed(&folder.path("cache"), arguments);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn refused(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.output(&folder.path("cache"), arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const COST: [&str; 5] =
    ["cost", "--system", "own files/chip.yaml", "--network", "own files/own.yaml"];

#[test]
fn costs_on_a_system_are_those_of_its_runs() {
    let folder = folder();
    for (options, settings) in [
        (&[][..], &[][..]),
        (&["--flexibility", "none"], &[("flexibility", "none")]),
        (
            &["--set", "hardware.dram_bandwidth_bytes_per_cycle=x0.5", "--effort", "quick"],
            &[("hardware.dram_bandwidth_bytes_per_cycle", "x0.5"), ("mapping_effort", "quick")],
        ),
    ] {
        let text = call(&folder, &[&COST[..], options, &["--format", "json"]].concat());
        let costs: Value = serde_json::from_str(&text).expect("JSON");
        let path =
            |name: &str| folder.path(&format!("own files/{name}.yaml")).display().to_string();
        let experiment = Experiment::new().scenario(path("desk")).system(path("chip"));
        let experiment = settings.iter().fold(experiment, |it, (key, value)| it.set(key, value));
        let runs = experiment.run().expect("it runs");
        let (plan, result) = (&runs[0].plan, runs[0].result().expect("it has a result"));
        let model = plan.scenario.model_ids().next().expect("a model");
        let totals = costs["totals"].as_array().expect("totals");
        // `twin` costs as `small`.
        let names: Vec<_> = totals.iter().map(|it| it["accelerator"].as_str()).collect();
        assert_eq!(names, [Some("large"), Some("small")]);
        for (id, total) in result.costs.offers(model).zip(totals) {
            let cost = result.costs.on(model, id).network();
            let expected = (cost.latency.as_ms(), cost.energy().get());
            let number = |name: &str| total[name].as_f64().expect("a number");
            assert_eq!((number("latency_ms"), number("energy_mj")), expected, "{options:?}");
        }
    }
}

#[test]
fn accelerators_of_systems_are_named_in_tables_and_files() {
    let folder = folder();
    let table = call(&folder, &[&COST[..], &["--network", "KD"]].concat());
    assert!(table.lines().any(|it| it.starts_with("own ") && it.contains(" small ")), "{table}");
    let csv = call(&folder, &[&COST[..], &["--format", "csv"]].concat());
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let column = rows.headers().expect("a header").iter().position(|it| it == "accelerator");
    let names =
        rows.records().map(|row| row.expect("a row")[column.expect("a column")].to_string());
    assert_eq!(names.collect::<Vec<_>>(), ["large", "large", "small", "small"]);
    let map = ["map", "--system", "own files/chip.yaml", "--network", "own files/own.yaml"];
    let quick = ["--effort", "quick", "--flexibility", "tiles", "--layer", "conv2"];
    let mapped = call(&folder, &[&map[..], &quick].concat());
    assert!(mapped.contains("own on large\n") && mapped.contains("own on small\n"), "{mapped}");
    let style =
        ["cost", "--system", "J", "--platform", "headset", "--pes", "4096", "--network", "KD"];
    let style = call(&folder, &style);
    assert!(style.contains("WS-0 cycles") && style.contains("OS-1 cycles"), "{style}");
}

#[test]
fn options_that_contradict_a_system_are_named() {
    let folder = folder();
    for (options, message) in [
        (
            &["--pes", "512"][..],
            "--pes applies to styles such as A to M; a system file fixes its own PEs",
        ),
        (
            &["--platform", "paper"],
            "--platform applies to styles such as A to M; a system file has",
        ),
        (&["--dataflow", "WS"], "--dataflow applies to hardware files (.m); styles and systems"),
        (&["--noc-bandwidth", "64"], "--noc-bandwidth"),
        (&["--set", "score.k_per_ms=2"], "--set takes keys that begin with `hardware.` here"),
    ] {
        let said = refused(&folder, &[&COST[..], options].concat());
        assert!(said.contains(message), "{said}");
    }
    let map = ["map", "--system", "own files/chip.yaml", "--network", "KD", "--out", "kd.yaml"];
    let said = refused(&folder, &map);
    assert!(said.contains("take one accelerator; the systems have 2: large, small"), "{said}");
    let said = refused(&folder, &["cost", "--network", "KD", "--dram", "shared"]);
    assert!(said.contains("--dram goes with --system"), "{said}");
}

#[cfg(unix)]
#[test]
fn the_command_that_a_note_gives_costs_the_network_on_the_chip() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder();
    let run = ["run", "--scenario", "own files/desk.yaml", "--system", "own files/chip.yaml"];
    let how = ["--flexibility", "none", "--set", "hardware.clock_mhz=50", "--replications", "1"];
    let table = call(&folder, &[&run[..], &how].concat());
    let note = table.lines().find(|line| line.contains("its mapping decides the score"));
    let note = note.unwrap_or_else(|| panic!("{table}"));
    let (_, command) = note.split_once("score (").expect("a command");
    let command = command.trim_end_matches(')');
    assert_eq!(
        command,
        "xrsim cost --network 'own files/own.yaml' --system 'own files/chip.yaml' --flexibility none --set \
         'hardware.clock_mhz=50'"
    );
    let program = program();
    let program = std::str::from_utf8(program.as_bytes()).expect("a path");
    let pasted = command.replacen("xrsim", &format!("'{program}'"), 1);
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", &pasted]).current_dir(folder.path(""));
    let output = shell.env("XRSIM_CACHE", folder.path("cache")).output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("large cycles"), "{printed}");
}

/// WS works in units of 256 PEs, so that 1000 PEs leave 1000 - 3 * 256 = 232 idle.
#[test]
fn idle_pes_are_said() {
    let folder = folder();
    let idle = "232 of 1000 PEs of";
    let hardware = ["--system", "A", "--pes", "1000"];
    let run = call(&folder, &[&["run", "--scenario", "small.yaml"], &hardware[..]].concat());
    assert!(
        run.contains(&format!("note: {idle} A are idle: WS works in steps of 256 PEs")),
        "{run}"
    );
    let area = call(&folder, &[&["area"], &hardware[..]].concat());
    assert!(area.contains(idle), "{area}");
    let cost = ["cost", "--network", "KD", "--dataflow", "WS", "--pes"];
    let whole = call(&folder, &[&cost[..], &["1024"]].concat());
    assert!(!whole.contains("idle"), "{whole}");
    let cost = call(&folder, &[&cost[..], &["1000"]].concat());
    assert!(cost.contains(&format!("{idle} WS@1000 are idle")), "{cost}");
}

#[test]
fn a_topology_of_scale_sim_is_a_network_everywhere() {
    let folder = folder();
    fs::write(folder.path("net.csv"), TOPOLOGY).expect("a file");
    let shown = call(&folder, &["show", "net.csv"]);
    assert!(shown.contains("# multiply-accumulates: 447,897,600"), "{shown}");
    let costs =
        call(&folder, &["cost", "--network", "net.csv", "--dataflow", "WS", "--format", "json"]);
    let costs: Value = serde_json::from_str(&costs).expect("JSON");
    assert_eq!(costs["totals"][0]["macs"], MACS);
    let yaml = call(&folder, &["import", "net.csv"]);
    assert!(yaml.contains("{name: Conv2, k: 256, c: 96, y: 31, x: 31, r: 5, s: 5}"), "{yaml}");
    let scenario = "scenario: {name: desk, models: [{network: net.csv, fps: 10}]}\n";
    fs::write(folder.path("csv.yaml"), scenario).expect("a file");
    assert!(
        call(&folder, &["check", "csv.yaml", "net.csv"]).contains("net.csv: network, no problems")
    );
    fs::write(folder.path("net.csv"), TOPOLOGY.replace("96", "x")).expect("a file");
    assert!(refused(&folder, &["check", "net.csv"]).contains("net.csv:2:22: `Channels` is `x`"));
}

/// A convolution of 3x3 with padding over an image of open rows and columns: 4 * 3 * 9 products for each of them.
#[test]
fn an_onnx_file_with_open_axes_stays_the_network() {
    let folder = folder();
    let node = Node::new("Conv", &["x", "w"], &["y"]);
    let graph = Graph::new("g")
        .input("x", &[Dim::Of(1), Dim::Of(3), Dim::Named("height"), Dim::Named("width")])
        .weight("w", &[4, 3, 1, 1])
        .node(node)
        .output("y");
    fs::write(folder.path("net.onnx"), Model::new(graph).write()).expect("a file");
    let said = refused(&folder, &["cost", "--network", "net.onnx", "--dataflow", "WS"]);
    let reference = "keep the file as the network: net.onnx:height=...,width=...; in a scenario `parameters: \
                     {height: ..., width: ...}`";
    assert!(
        said.contains("xrsim import net.onnx --dim height=...") && said.contains(reference),
        "{said}"
    );
    let macs = |reference: &str| {
        let cost = ["cost", "--network", reference, "--dataflow", "WS", "--format", "json"];
        let costs: Value = serde_json::from_str(&call(&folder, &cost)).expect("JSON");
        costs["totals"][0]["macs"].as_u64()
    };
    assert_eq!(macs("net.onnx:height=8,width=16"), Some(8 * 16 * 4 * 3));
    assert_eq!(macs("net.onnx:height=4,width=16"), Some(4 * 16 * 4 * 3));
    let said = refused(&folder, &["cost", "--network", "net.onnx:height=0,width=16"]);
    assert!(said.contains("`height` is 0; allowed is a whole number from 1"), "{said}");
    let said = refused(&folder, &["cost", "--network", "net.onnx:hight=8,width=16"]);
    assert!(said.contains("no open axis is called `hight`"), "{said}");
    let scenario = "scenario:\n  name: desk\n  models: [{network: net.onnx, parameters: {height: 8, width: 16}, fps: 10}]\n";
    fs::write(folder.path("onnx.yaml"), scenario).expect("a file");
    assert!(call(&folder, &["check", "onnx.yaml"]).contains("no problems"));
    let run = ["run", "--scenario", "onnx.yaml", "--system", "A", "--pes", "1024"];
    let more = call(&folder, &[&run[..], &["--set", "parameters.net.height=64"]].concat());
    assert!(more.contains("parameters: net height 64, width 16"), "{more}");
}

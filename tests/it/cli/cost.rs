//! `xrsim cost`.

use std::fs;

use crate::support::binary::{output, path, refused, stderr, stdout, xrsim};
use tempfile::tempdir;

#[test]
fn cost_prints_a_row_a_layer_with_the_artifacts_columns() {
    let arguments = ["cost", "--network", "KD", "--dataflow", "WS", "--pes", "1024"];
    let published = ["--networks", "artifact", "--cost-model", "maestro", "--platform", "paper"];
    let arguments = [&arguments[..], &published[..]].concat();
    let csv =
        output(&[&arguments[..], &["--noc-bandwidth", "128,128", "--format", "csv"]].concat());
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "layer,dataflow,num_pes,top_noc_bw,col_noc_bw,shape_id,type,N,K,C,Y,X,R,S,runtime_cycles,\
             energy_nJ,l2_rd_input,l2_rd_weight,l2_rd_output,l2_wr_input,l2_wr_weight,l2_wr_output,\
             l1_rd_input,l1_rd_weight,l1_rd_output,l1_wr_input,l1_wr_weight,l1_wr_output,num_psums,\
             l2_req_input,l2_req_weight,l2_req_output,l1_req_input,l1_req_weight,l1_req_output,\
             num_levels,level_runtimes_outer_to_inner,network,cost_model"
        )
    );
    // Second layer, as the artifact publishes it: 9504 cycles and 23924.042496 nJ.
    let second: Vec<_> = lines.nth(1).expect("KD has eight layers").split(',').collect();
    assert_eq!((second[0], second[14]), ("conv2", "9504"));
    let energy_nj: f64 = second[15].parse().expect("energy is a number");
    assert!((energy_nj / 23_924.042_496 - 1.0).abs() < 1e-12);
    let table = output(&arguments);
    assert!(table.lines().last().is_some_and(|line| line.starts_with("total")), "{table}");
}

const RESNET: [&str; 9] = [
    "cost",
    "--network",
    "resnet50",
    "--dataflow",
    "WS",
    "--flexibility",
    "none",
    "--platform",
    "paper",
];

/// Latency [ms], energy [mJ] and rate [1/s] of a batch of ResNet-50 on WS, and its parts.
fn batch(size: u32) -> ([f64; 3], String) {
    let csv = output(&[&RESNET[..], &["--format", "csv", "--batch", &size.to_string()]].concat());
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "network,dataflow,num_pes,cost_model,batch,parts,latency_ms,energy_mj,inputs_per_s,\
             energy_mj_per_input,flexibility"
        )
    );
    let row: Vec<_> = lines.next().expect("a batch").split(',').collect();
    let head = ["resnet50_v1.5_224", "WS", "4096", "loop-nest", &size.to_string()];
    assert_eq!((&row[..5], lines.next()), (&head[..], None));
    ([6, 7, 8].map(|column| row[column].parse().expect("a number")), row[5].into())
}

/// Two images are faster as a batch, and seven as batches of two.
#[test]
fn batches_cost_what_their_parts_cost() {
    let one = output(&[&RESNET[..], &["--format", "json"]].concat());
    let one: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    let total = |name: &str| one["totals"][0][name].as_f64().expect("a number");
    let ([latency, energy, rate], parts) = batch(1);
    assert_eq!(([latency, energy], &*parts), (["latency_ms", "energy_mj"].map(total), "1"));
    let (two, parts) = batch(2);
    assert!(parts == "2" && two[0] < 2.0 * latency && two[2] > rate, "{two:?}");
    let (seven, parts) = batch(7);
    assert_eq!(parts, "3x2+1");
    // Rounded sums of fractions of a nanosecond and of energies.
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-12;
    assert!(near(seven[0], 3.0 * two[0] + latency) && near(seven[1], 3.0 * two[1] + energy));
    assert!(near(seven[2], 7e3 / seven[0]), "{seven:?}");
}

#[test]
fn batches_are_printed_alike_and_refused_where_they_mean_nothing() {
    let network = ["cost", "--network", "KD", "--dataflow", "WS", "--dataflow", "OS"];
    let sizes = ["--batch", "3", "--batch", "12"];
    let printed = |format| output(&[&network[..], &sizes, &["--format", format]].concat());
    let (table, csv) = (printed("table"), printed("csv"));
    assert_eq!((table.lines().count(), csv.lines().count()), (5, 5), "{table}");
    let json: serde_json::Value = serde_json::from_str(&printed("json")).expect("JSON");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns = reader.headers().expect("a header").clone();
    for (index, row) in reader.records().map(|row| row.expect("rows are even")).enumerate() {
        for (name, cell) in columns.iter().zip(&row) {
            let value = &json["batches"][index][name];
            let same = match value.as_str() {
                Some(text) => text == cell,
                // Both by one parser: that of JSON may be off by a last bit.
                None => value.as_f64() == serde_json::from_str(cell).ok(),
            };
            assert!(same, "{name}: {value} is not {cell}");
        }
    }
    for size in ["0", "4097", "-1", "many"] {
        let message = refused(&[&network[..], &[&format!("--batch={size}")]].concat());
        assert!(message.contains("--batch"), "{message}");
    }
    let message = refused(&[&network[..], &["--batch", "0"]].concat());
    assert!(message.contains("0 is not in 1..=4096"), "{message}");
    for other in [&["--layer", "conv2"][..], &["--plot", "x.svg"], &["--cost-model", "maestro"]] {
        let message = refused(&[&network[..], &["--batch", "2"], other].concat());
        assert!(message.contains("--batch"), "{message}");
    }
    let message =
        refused(&[&network[..3], &["--dataflow", "WS", "--pes", "64", "--batch", "2"]].concat());
    assert!(message.contains("WS@64` has 64 PEs"), "{message}");
}

#[test]
fn cost_stands_networks_dataflows_and_models_side_by_side() {
    // One layer on two dataflows: only its row, and the flexibility.
    let one = output(&[
        "cost",
        "--network",
        "KD",
        "--dataflow",
        "WS",
        "--dataflow",
        "RS",
        "--layer",
        "conv2",
    ]);
    let lines: Vec<_> = one.lines().collect();
    assert_eq!(lines.len(), 3, "{one}");
    assert!(lines[2].starts_with("flexibility "), "{one}");
    assert!(lines[0].contains("WS@4096 cycles") && lines[0].contains("RS@4096 uJ"), "{one}");
    // All networks on three dataflows, as they are written: one row each, with the ratio of two models.
    let models = ["--cost-model", "loop-nest", "--cost-model", "maestro"];
    let written = ["cost", "--networks", "artifact", "--flexibility", "none"];
    let all = output(&[&written[..], &models].concat());
    assert_eq!(all.lines().count(), 1 + 11 * 3 + 1, "{all}");
    assert!(all.lines().next().is_some_and(|line| line.ends_with("energy / maestro")), "{all}");
    let message = refused(&["cost", "--network", "KD", "--layer", "conv"]);
    assert!(message.contains("no network has a layer `conv`; did you mean `conv"), "{message}");
    let message = refused(&["cost", "--network", "KD", "--explain"]);
    assert!(message.contains("--layer"), "{message}");
}

#[test]
fn cost_explains_a_layer() {
    let text = output(&[
        "cost",
        "--network",
        "artifact/KD",
        "--dataflow",
        "WS",
        "--layer",
        "conv2",
        "--explain",
        "--flexibility",
        "none",
    ]);
    // The layer of the worked examples: 22 x 11 outputs of 19 channels on 16 units of WS.
    for part in [
        "conv2 of KD_res8_narrow on WS@4096: CONV, 786258 MACs",
        "N 1  G 1  K 19  C 19  Y' 22  X' 11  R 3  S 3",
        "2 x C16 in turn, 2 x K16 in turn, 22 x Y'1 in turn, 11 x X'1 side by side",
        "2      next               4389     16      48        0        1            1          1               9",
        "bound by compute",
        "inputs resident, weights whole, outputs resident",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn cost_draws_what_it_prints() {
    let folder = tempdir().expect("a folder can be made");
    let path = |name: &str| path(&folder, name);
    let (svg, png) = (path("energy.svg"), path("roofs.png"));
    let network = ["cost", "--network", "KD", "--dataflow", "WS", "--pes", "1024"];
    output(&[&network[..], &["--plot", &svg, "--roofline", &png]].concat());
    let text = fs::read_to_string(&svg).expect("it was drawn");
    assert!(text.starts_with("<svg") && text.contains("Energy of KD_res8_narrow_101x40"));
    assert!(fs::read(&png).expect("it was drawn").starts_with(b"\x89PNG"));
    // The data beside the figure: components of 19 layers.
    let data = fs::read_to_string(path("energy.csv")).expect("it was written");
    let layers = data.lines().filter(|line| line.contains("DRAM")).count();
    assert_eq!(layers, 19, "{data}");
    let message = refused(&[&network[..], &["--plot", &path("energy.gif")]].concat());
    assert!(message.contains("a figure ends in .svg, .pdf or .png"), "{message}");
}

/// A file with a dataflow of these directives, one a line from line 4 on.
fn dataflow_file(folder: &std::path::Path, directives: &[&str]) -> String {
    let lines: String = directives.iter().map(|line| format!("    - {line}\n")).collect();
    let file = folder.join("flow.yaml");
    fs::write(&file, format!("dataflow:\n  name: flow\n  directives:\n{lines}")).expect("a file");
    file.to_str().expect("UTF-8").into()
}

/// Maps of K above the shared memory, and WS under them.
const OFF_CHIP: [&str; 8] = [
    "TemporalMap(16,16) K",
    "OffChip",
    "TemporalMap(16,16) C",
    "SpatialMap(1,1) X'",
    "Cluster(16)",
    "SpatialMap(1,1) K",
    "Cluster(16)",
    "SpatialMap(1,1) C",
];

/// Numbers in the columns of a layer of `KD` on WS with the shipped platform after these replacements; 0
/// where a column is missing.
fn conv2_on<const N: usize>(replaced: &[(&str, &str)], columns: [&str; N]) -> [f64; N] {
    let folder = tempdir().expect("a folder");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/hw_configs/paper.yaml");
    let mut text = fs::read_to_string(shipped).expect("it is shipped");
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let file = path(&folder, "platform.yaml");
    fs::write(&file, text).expect("the folder can be written to");
    let layer =
        ["cost", "--network", "KD", "--dataflow", "WS", "--pes", "1024", "--layer", "conv2"];
    let csv = output(&[&layer[..], &["--platform", &file, "--format", "csv"]].concat());
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, row) = (lines.next().expect("a header"), lines.next().expect("a layer"));
    columns.map(|name| {
        let at = header.iter().position(|known| *known == name);
        at.map_or(0.0, |at| row[at].parse().expect("a number"))
    })
}

#[test]
fn narrow_weights_move_fewer_bytes_and_the_clock_counts_while_a_layer_runs() {
    let columns =
        ["dram_rd_w_bytes", "send_w", "runtime_cycles", "energy_clock_pJ", "energy_leak_pJ"];
    // Lists by level are no numbers.
    let columns = [columns[0], columns[2], columns[3], columns[4]];
    let [weights, cycles, clock, _] = conv2_on(&[], columns);
    assert_eq!(clock, 0.0);
    let bits = ("weight_bytes: 1", "weight_bits: 4");
    let clock = ("leakage_per_cycle: 0", "leakage_per_cycle: 0\n    clock_per_cycle: 30");
    let [narrow, faster, energy, leak] = conv2_on(&[bits, clock], columns);
    assert_eq!(narrow, (weights / 2.0).ceil());
    assert!(faster <= cycles, "{faster} {cycles}");
    assert_eq!((energy, leak), (30.0 * faster, 0.0));
    let factors =
        ("    dram_bandwidth", "    dram_bytes_factors: [1, 0.25, 1]\n    dram_bandwidth");
    assert_eq!(conv2_on(&[factors], columns)[0], (weights / 4.0).ceil());
}

#[test]
fn layers_that_move_their_tensors_many_times_are_warned_of_once() {
    let warning = |arguments: &[&str]| {
        let assert =
            xrsim(&[&["cost", "--format", "csv", "--flexibility", "none"], arguments].concat())
                .assert()
                .success();
        assert!(stdout(&assert).starts_with("layer,"));
        stderr(&assert)
    };
    let all = warning(&["--network", "PD", "--dataflow", "WS"]);
    assert_eq!(all.matches("warning: ").count(), 1, "{all}");
    assert!(all.contains("times the compulsory bytes through DRAM: `conv140` of "), "{all}");
    assert!(all.contains("xrsim map"), "{all}");
    let one = warning(&["--network", "PD", "--dataflow", "WS", "--layer", "conv140"]);
    assert!(one.contains("1 layer moves more than 10 times"), "{one}");
    assert_eq!(warning(&["--network", "KD", "--dataflow", "WS"]), "");
}

#[test]
fn loops_above_the_shared_memory_are_one_more_level_of_a_layer() {
    let folder = tempdir().expect("a folder");
    let file = dataflow_file(folder.path(), &OFF_CHIP);
    let arguments = ["cost", "--network", "KD", "--dataflow", &file, "--pes", "1024"];
    let arguments = [&arguments[..], &["--platform", "paper"]].concat();
    let layer = [&arguments[..], &["--layer", "conv2", "--flexibility", "none"]].concat();
    let csv = output(&[&layer[..], &["--format", "csv"]].concat());
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, row) = (lines.next().expect("a header"), lines.next().expect("a layer"));
    let cell = |name: &str| row[header.iter().position(|known| *known == name).expect("a column")];
    // 19 output channels: two boxes, then three levels on chip.
    assert!(cell("steps").starts_with("2;"), "{}", cell("steps"));
    assert_eq!(cell("send_i").split(';').count(), 4, "{}", cell("send_i"));
    let text = output(&[&layer[..], &["--explain"]].concat());
    let found = text.lines().find(|line| line.starts_with("off-chip")).unwrap_or_default();
    assert!(found.contains("2 x K16 in turn"), "{text}");
}

#[test]
fn a_misplaced_off_chip_is_refused_with_its_line() {
    let folder = tempdir().expect("a folder");
    let check = |directives: &[&str], line: usize, expected: &str| {
        let file = dataflow_file(folder.path(), directives);
        let message = refused(&["cost", "--network", "KD", "--dataflow", &file]);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(&format!("flow.yaml:{line}:")), "{message}");
    };
    let after = [&OFF_CHIP[2..], &["OffChip"]].concat();
    check(&after, 10, "`OffChip` after a cluster; it stands before the first cluster");
    let twice = ["TemporalMap(1,1) K", "OffChip", "TemporalMap(1,1) C", "OffChip"];
    check(&twice, 7, "a second `OffChip`; a dataflow has at most one");
    check(&["OffChip", "SpatialMap(1,1) K"], 4, "`OffChip` without a temporal map before it");
    let spatial = ["TemporalMap(1,1) C", "SpatialMap(1,1) K", "OffChip", "SpatialMap(1,1) X'"];
    let expected = "`SpatialMap(1,1) K` above the shared memory; only temporal maps stand before";
    check(&spatial, 5, expected);
    check(&["TemporalMap(1,1) C", "Offchip"], 5, "did you mean `OffChip`?");
}

#[test]
fn the_artifacts_cost_model_has_no_loops_above_the_shared_memory() {
    let folder = tempdir().expect("a folder");
    let file = dataflow_file(folder.path(), &OFF_CHIP);
    let published = ["--networks", "artifact", "--cost-model", "maestro", "--platform", "paper"];
    let arguments = ["cost", "--network", "KD", "--dataflow", &file, "--pes", "1024"];
    let message = refused(&[&arguments[..], &published[..]].concat());
    assert!(
        message.contains("it needs a dataflow without loops above the shared memory"),
        "{message}"
    );
}

/// Layers of several networks have the rows of one network each.
#[test]
fn one_layer_of_several_networks_is_shown_for_each() {
    let base = ["cost", "--dataflow", "WS", "--flexibility", "none", "--layer", "conv2", "-q"];
    let rows = |networks: &[&str]| {
        let words = [&base[..], networks].concat();
        stdout(&xrsim(&words).assert().success())
    };
    let both = rows(&["--network", "KD", "--network", "GE"]);
    for (short, name) in [("KD", "KD_res8_narrow_101x40"), ("GE", "GE_fbnet_c_160x100")] {
        let alone = rows(&["--network", short]);
        let row = alone.lines().find(|line| line.starts_with("conv2")).expect("a row");
        let cells = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let found =
            both.lines().skip_while(|line| *line != name).find(|line| line.starts_with("conv2"));
        assert_eq!(found.map(cells), Some(cells(row)), "{both}");
    }
    assert!(!both.contains("GMAC"), "totals of whole networks: {both}");
}

/// A dataflow that lists one layer has nothing for the others of its network.
#[test]
fn a_layer_is_costed_alone_by_a_dataflow_that_lists_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.yaml");
    let file = path.to_string_lossy().into_owned();
    let map = [
        "map",
        "--network",
        "KD",
        "--layer",
        "conv2",
        "--dataflow",
        "WS",
        "--pes",
        "512",
        "--effort",
        "quick",
        "-q",
        "--out",
        &file,
    ];
    xrsim(&map).assert().success();
    let text = std::fs::read_to_string(&path).expect("it was written");
    let (head, layers) = text.split_once("  layers:\n").expect("it lists layers");
    let (head, _) = head.split_once("  directives:\n").expect("it has directives for others");
    std::fs::write(&path, format!("{head}  layers:\n{layers}")).expect("it can be written");
    let cost = ["cost", "--network", "KD", "--dataflow", &file, "--pes", "512"];
    let whole = stderr(&xrsim(&cost).assert().code(2));
    assert!(whole.contains("has no directives for a layer"), "{whole}");
    for more in [&["--layer", "conv2"][..], &["--layer", "conv2", "--explain"]] {
        let assert = xrsim(&[&cost[..], more].concat()).assert().success();
        let (said, shown) = (stderr(&assert), stdout(&assert));
        assert!(said.contains("`conv2` is costed as if it were the whole network"), "{said}");
        assert!(shown.contains("conv2"), "{shown}");
    }
}

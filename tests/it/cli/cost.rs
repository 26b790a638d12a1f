//! `xrsim cost`.

use std::fs;

use crate::support::binary::{output, path, refused};
use tempfile::tempdir;

#[test]
fn cost_prints_a_row_a_layer_with_the_artifacts_columns() {
    let arguments = ["cost", "--network", "KD", "--dataflow", "WS", "--pes", "1024"];
    let published = ["--networks", "artifact", "--cost-model", "maestro"];
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

/// Latency [ms], energy [mJ] and rate [1/s] of a batch of ResNet-50 on WS, and its parts.
fn batch(size: u32) -> ([f64; 3], String) {
    let network = ["cost", "--network", "resnet50", "--dataflow", "WS", "--format", "csv"];
    let csv = output(&[&network[..], &["--batch", &size.to_string()]].concat());
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "network,dataflow,num_pes,cost_model,batch,parts,latency_ms,energy_mj,inputs_per_s,\
             energy_mj_per_input"
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
    let one = output(&["cost", "--network", "resnet50", "--dataflow", "WS", "--format", "json"]);
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
                None => value.as_f64() == cell.parse().ok(),
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
    // One layer on two dataflows: only its row.
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
    assert_eq!(lines.len(), 2, "{one}");
    assert!(lines[0].contains("WS@4096 cycles") && lines[0].contains("RS@4096 uJ"), "{one}");
    // All networks on three dataflows: one row each, with the ratio of two models.
    let models = ["--cost-model", "loop-nest", "--cost-model", "maestro"];
    let all = output(&[&["cost", "--networks", "artifact"], &models[..]].concat());
    assert_eq!(all.lines().count(), 1 + 11 * 3, "{all}");
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
    assert!(message.contains("a figure ends in .svg or .png"), "{message}");
}

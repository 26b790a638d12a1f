//! Files that others wrote, where they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Branch, Imported, Options, import};
use xrsim_config::{Catalog, Edition};
use xrsim_model::model::{Network, Operator, ShapeCheck};

/// Folder of files with expectations; `None`, with a remark, where it is absent.
pub(super) fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/onnx");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: {} is absent", folder.display());
    None
}

/// Rows of a table as maps from column to cell.
pub(super) fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

/// Options with extents as `batch=1 tokens=128`.
pub(super) fn options(dims: &str) -> Options {
    let mut options = Options::default();
    for pair in dims.split_whitespace() {
        let (name, extent) = pair.split_once('=').expect("a pair");
        options.dims.insert(name.into(), extent.parse().expect("an extent"));
    }
    options
}

/// Multiply-accumulates of each node with such, in order. A recurrent network is one node.
fn products(imported: &Imported) -> Vec<(String, u64)> {
    let mut nodes: Vec<(String, u64)> = Vec::new();
    for (layer, row) in imported.network.layers().iter().zip(&imported.rows) {
        if matches!(layer.operator, Operator::Vector(_)) {
            continue;
        }
        let is_recurrent = matches!(&*row.operator, "LSTM" | "GRU" | "RNN");
        match nodes.last_mut() {
            Some((node, macs)) if **node == *row.node && is_recurrent => {
                *macs += layer.operator.macs();
            }
            _ => nodes.push((row.node.to_string(), layer.operator.macs())),
        }
    }
    nodes
}

/// The options that a file asks for: 50 of everything that data choose, the first branch, five trips.
pub(super) fn answered(path: &Path, mut options: Options) -> Options {
    let Err(error) = import(path, &options) else { return options };
    for option in &error.missing {
        let (kind, answer) = option.split_once(' ').expect("an option and its value");
        let (name, _) = answer.rsplit_once('=').expect("a name and its value");
        match kind {
            "--bound" => drop(options.bounds.insert(name.into(), 50)),
            "--branch" => drop(options.branches.insert(name.into(), Branch::Then)),
            "--trips" => drop(options.trips.insert(name.into(), 4)),
            _ => panic!("{option}"),
        }
    }
    options
}

/// Multiply-accumulates of every operator in order, as counters that are not ours found them
/// (`expected.csv`). Of operators that data decide, and of those in loops, they counted none.
#[test]
fn layers_of_the_corpus_are_as_counted() {
    let Some(folder) = corpus() else { return };
    let mut failures = Vec::new();
    for row in table(&folder.join("expected.csv")) {
        let file = &row["file"];
        let path = folder.join(file);
        let options = answered(&path, options(&row["dims"]));
        let imported = match import(&path, &options) {
            Ok(imported) => imported,
            // Convolutions over three axes are no layers.
            Err(error) if file == "tv_video_r3d_18.onnx" => {
                assert!(
                    error.problems[0].contains("and 19 more: a convolution over 3 axes"),
                    "{error}"
                );
                continue;
            }
            Err(error) => {
                failures.push(format!("{file}: {error} {:?}", error.missing));
                continue;
            }
        };
        let expected = table(&folder.join("layers").join(file.replace(".onnx", ".csv")));
        let number =
            |row: &BTreeMap<String, String>, key: &str| row[key].parse::<u64>().expect("a number");
        let expected: Vec<(String, u64)> =
            expected.iter().map(|row| (row["node"].clone(), number(row, "macs"))).collect();
        let is_partial = !row["data_dependent"].is_empty();
        let mut found = products(&imported);
        if is_partial {
            found.truncate(expected.len());
        }
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            let (ours, theirs) = (found.get(at), expected.get(at));
            failures.push(format!("{file}: operator {at} is {ours:?}, counted {theirs:?}"));
        }
        let totals = [imported.network.macs(), imported.network.weights()];
        let counted = [number(&row, "macs"), number(&row, "weights")];
        if totals != counted && !(is_partial && totals[0] >= counted[0]) {
            failures.push(format!("{file}: MACs and weights {totals:?}, counted {counted:?}"));
        }
        let check = imported.network.check_shapes();
        if check != ShapeCheck::default() {
            failures.push(format!("{file}: {check:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bad_files_of_the_corpus_are_refused() {
    let Some(folder) = corpus() else { return };
    for row in table(&folder.join("bad/expected_bad.csv")) {
        let result = import(&folder.join("bad").join(&row["file"]), &Options::default());
        assert_eq!(result.is_ok(), row["exit"] == "0", "{row:?}: {result:?}");
    }
}

/// An operator with multiply-accumulates, a 1x1 convolution of one position as the product that it is.
fn product_text(operator: &Operator) -> String {
    match *operator {
        Operator::Matmul(shape) => {
            format!("{} x {} {} {}", shape.instances, shape.rows, shape.c, shape.k)
        }
        Operator::Conv(shape) if shape.y * shape.x * shape.r * shape.s == 1 => {
            format!("1 x {} {} {}", shape.n, shape.c, shape.k)
        }
        ref other => format!("{other:?}"),
    }
}

/// Operators with multiply-accumulates, sorted, as branches can come in another order.
pub(super) fn sorted_products(network: &Network) -> Vec<String> {
    let products = network.layers().iter().filter(|layer| layer.operator.macs() > 0);
    let mut texts: Vec<_> = products.map(|layer| product_text(&layer.operator)).collect();
    texts.sort();
    texts
}

/// Number of vector operators by name.
pub(super) fn vectors(network: &Network) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for layer in network.layers() {
        if let Operator::Vector(shape) = layer.operator {
            *counts.entry(shape.op.name()).or_default() += 1;
        }
    }
    counts
}

/// Elements that are alive, over all layers.
fn alive(network: &Network) -> u64 {
    network.live_activations().iter().sum()
}

fn shipped(table: &str) -> std::sync::Arc<xrsim_config::Model> {
    Catalog::with_networks(Edition::Reference).model(table).expect("a shipped network")
}

/// Five networks, as their authors' code exports them, are the shipped tables in every operator, and in what
/// is alive between them.
#[test]
fn files_are_the_shipped_tables() {
    let Some(folder) = corpus() else { return };
    for (file, table) in [
        ("xr_DE_midas_v21_small", "DE"),
        ("xr_KD_res8_narrow", "KD"),
        ("xr_ES_ritnet_160x100", "ES"),
        ("xr_DR_s2d_upproj", "DR"),
        ("xr_GE_fbnet_c", "GE"),
    ] {
        let file = import(&folder.join(format!("{file}.onnx")), &Options::default()).expect(file);
        let (network, shipped) = (file.network, shipped(table));
        let shipped = &shipped.network;
        assert_eq!(sorted_products(&network), sorted_products(shipped), "{table}");
        assert_eq!(vectors(&network), vectors(shipped), "{table}");
        assert_eq!(alive(&network), alive(shipped), "{table}");
        // The kernel of the un-pooling of DR is fixed, which the file cannot tell: 4 x 480 weights.
        let fixed = if table == "DR" { 1920 } else { 0 };
        assert_eq!(network.weights(), shipped.weights() + fixed, "{table}");
    }
}

/// Others are the tables but for a stated difference.
#[test]
fn files_differ_from_the_shipped_tables_as_stated() {
    let Some(folder) = corpus() else { return };
    let read = |file: &str| import(&folder.join(file), &Options::default()).expect(file).network;
    let (file, table) = (read("xr_SS_hrvit_b1.onnx"), shipped("SS"));
    assert_eq!(sorted_products(&file), sorted_products(&table.network));
    // Masks of padded attention are 48 sums, and its padding 96 copies.
    let vectors_of_table = vectors(&table.network);
    let vectors_of_file = vectors(&file);
    assert_eq!(vectors_of_file["add"], vectors_of_table["add"] + 48);
    assert_eq!(vectors_of_file["concat"], vectors_of_table["concat"] + 96);
    assert_eq!(vectors_of_file["softmax"], vectors_of_table["softmax"]);

    let (file, table) = (read("hf_mobilebert_squad_384.onnx"), shipped("mobilebert"));
    assert_eq!(sorted_products(&file), sorted_products(&table.network));
    // Scales that follow a product are folded into it.
    assert_eq!(vectors(&file)["mul"], vectors(&table.network)["mul"] - 48);

    // Time runs along the columns in the file.
    let (file, table) = (read("xr_AS_ed_tcn.onnx"), shipped("AS"));
    assert_eq!((file.macs(), file.weights()), (table.network.macs(), table.network.weights()));

    // Laplacians are dense in the file: 16 products in place of sparse ones.
    let (file, table) = (read("xr_HT_handgcn_128.onnx"), shipped("HT"));
    let (file, table) = (sorted_products(&file), sorted_products(&table.network));
    assert_eq!(file.len(), table.len());
    let dense = table.iter().filter(|text| !text.contains("SparseProduct")).collect::<Vec<_>>();
    assert_eq!(dense.len(), table.len() - 16);
    assert!(dense.iter().all(|text| file.contains(text)));
}

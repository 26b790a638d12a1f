//! Tests of imports on files that others wrote, where they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;
use crate::model::Operator;

/// Folder of files with expectations; `None`, with a remark, where it is absent.
fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/onnx");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: {} is absent", folder.display());
    None
}

/// Rows of a table as maps from column to cell.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("a table");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

/// Options with extents as `batch=1 tokens=128`.
fn options(dims: &str) -> Options {
    let mut options = Options::default();
    for pair in dims.split_whitespace() {
        let (name, extent) = pair.split_once('=').expect("a pair");
        options.dims.insert(name.into(), extent.parse().expect("an extent"));
    }
    options
}

/// Multiply-accumulates and weights of the layers of each node, in order.
fn products(imported: &Imported) -> Vec<(String, u64, u64)> {
    let mut nodes: Vec<(String, u64, u64)> = Vec::new();
    for (layer, row) in imported.network.layers().iter().zip(&imported.rows) {
        if matches!(layer.operator, Operator::Vector(_)) {
            continue;
        }
        let weights = if layer.shares_weights { 0 } else { layer.operator.weights() };
        match nodes.last_mut() {
            Some((node, macs, own))
                if **node == *row.node && matches!(&*row.operator, "LSTM" | "GRU" | "RNN") =>
            {
                *macs += layer.operator.macs();
                *own += weights;
            }
            _ => nodes.push((row.node.to_string(), layer.operator.macs(), weights)),
        }
    }
    nodes
}

/// The multiply-accumulates of every operator, in order, as two counters that are not ours found them.
#[test]
fn layers_of_the_corpus_are_as_counted() {
    let Some(folder) = corpus() else { return };
    let mut failures = Vec::new();
    for row in table(&folder.join("expected.csv")) {
        let file = &row["file"];
        // Three axes are no layer here.
        if file == "tv_video_r3d_18.onnx" {
            continue;
        }
        let started = std::time::Instant::now();
        let mut options = options(&row["dims"]);
        if file == "script_control_flow.onnx" {
            options.trips.insert("/Loop".into(), 4);
            options.branches.insert("/If".into(), Branch::Then);
        }
        if file.starts_with("tv_detection") {
            let error = import(&folder.join(file), &options).unwrap_err();
            eprintln!("{error} {:?}", error.missing);
            for option in &error.missing {
                let (kind, answer) = option.split_once(' ').unwrap();
                let (name, _) = answer.rsplit_once('=').unwrap();
                match kind {
                    "--bound" => drop(options.bounds.insert(name.into(), 50)),
                    "--branch" => drop(options.branches.insert(name.into(), Branch::Then)),
                    "--trips" => drop(options.trips.insert(name.into(), 5)),
                    _ => panic!("{option}"),
                }
            }
        }
        let imported = match import(&folder.join(file), &options) {
            Ok(imported) => imported,
            Err(error) => {
                failures.push(format!("{file}: {} {:?}", error, error.missing));
                continue;
            }
        };
        eprintln!(
            "{file}: {:?} {}",
            started.elapsed(),
            imported.counts.sentence(imported.rows.len())
        );
        let expected = table(&folder.join("layers").join(file.replace(".onnx", ".csv")));
        let expected: Vec<(String, u64)> = expected
            .iter()
            .map(|row| (row["node"].clone(), row["macs"].parse().expect("a number")))
            .collect();
        let found: Vec<_> = products(&imported)
            .into_iter()
            .map(|(node, macs, _)| (node, macs))
            .filter(|_| file != "script_control_flow.onnx")
            .collect();
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            failures.push(format!(
                "{file}: {} operators, {} expected; at {at}: {:?} {:?}",
                found.len(),
                expected.len(),
                found.get(at),
                expected.get(at)
            ));
        } else if imported.network.macs().to_string() != row["macs"]
            || imported.network.weights().to_string() != row["weights"]
        {
            failures.push(format!(
                "{file}: {} MACs {} weights, expected {} {}",
                imported.network.macs(),
                imported.network.weights(),
                row["macs"],
                row["weights"]
            ));
        }
        let check = imported.network.check_shapes();
        if check != Default::default() {
            failures.push(format!(
                "{file}: {} misfits, {} needless",
                check.misfits.len(),
                check.needless.len()
            ));
        }
    }
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn bad_files_are_refused() {
    let Some(folder) = corpus() else { return };
    let mut out = String::new();
    for row in table(&folder.join("bad/expected_bad.csv")) {
        let file = &row["file"];
        let result = import(&folder.join("bad").join(file), &Options::default());
        let expected = row["exit"] == "0";
        let text = match &result {
            Ok(it) => {
                format!("ok {:?} {:?} {} MACs", it.warnings, it.deviations, it.network.macs())
            }
            Err(error) => format!("{:?} {:?}", error.problems, error.missing),
        };
        let word = if result.is_ok() == expected { "good" } else { "BAD" };
        out += &format!("{word} {file} | {} | {text}\n", row["what the message names"]);
    }
    assert!(!out.contains("BAD"), "{out}");
    eprintln!("{out}");
}

/// Operators with multiply-accumulates as `[n, k, c, y, x, r, s, strides, dilations, groups, padding]`, sorted.
fn shapes(network: &crate::model::Network) -> Vec<String> {
    let products = network.layers().iter().filter(|layer| layer.operator.macs() > 0);
    let mut shapes: Vec<String> = products
        .map(|layer| match layer.operator {
            Operator::Matmul(shape) => {
                format!("{} x {} {} {}", shape.instances, shape.rows, shape.c, shape.k)
            }
            Operator::Conv(shape) if shape.y * shape.x * shape.r * shape.s == 1 => {
                format!("1 x {} {} {}", shape.n, shape.c, shape.k)
            }
            other => format!("{other:?}"),
        })
        .collect();
    shapes.sort();
    shapes
}

/// Number of vector operators by name.
fn vectors(network: &crate::model::Network) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for layer in network.layers() {
        if let Operator::Vector(shape) = layer.operator {
            *counts.entry(shape.op.name()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn files_are_the_shipped_tables() {
    let Some(folder) = corpus() else { return };
    let mut catalog = crate::config::Catalog::with_networks(crate::config::Edition::Reference);
    for (file, table, dims) in [
        ("xr_DE_midas_v21_small", "DE", ""),
        ("xr_KD_res8_narrow", "KD", ""),
        ("xr_ES_ritnet_160x100", "ES", ""),
        ("xr_DR_s2d_upproj", "DR", ""),
        ("xr_GE_fbnet_c", "GE", ""),
        ("xr_AS_ed_tcn", "AS", ""),
        ("xr_SS_hrvit_b1", "SS", ""),
        ("xr_SR_emformer_memory4", "SR", ""),
        ("xr_HT_handgcn_128", "HT", ""),
        ("hf_mobilebert_squad_384", "mobilebert", ""),
    ] {
        let imported = import(&folder.join(format!("{file}.onnx")), &options(dims)).unwrap();
        let model = catalog.model(table).unwrap();
        let (ours, theirs) = (&imported.network, &model.network);
        let live = |network: &crate::model::Network| network.live_activations().iter().sum::<u64>();
        eprintln!(
            "{table}: layers {} {}, MACs {} {}, weights {} {}, others {} {}, bn {} {}, live {} {}\n  {:?}\n  {:?}",
            ours.layers().len(),
            theirs.layers().len(),
            ours.macs(),
            theirs.macs(),
            ours.weights(),
            theirs.weights(),
            imported.other_parameters,
            model.other_parameters,
            imported.batch_norm_channels,
            model.batch_norm_channels,
            live(ours),
            live(theirs),
            vectors(ours),
            vectors(theirs)
        );
        let (a, b) = (shapes(ours), shapes(theirs));
        if a != b {
            let only = |a: &[String], b: &[String]| {
                let mut b = b.to_vec();
                let mut left: Vec<String> = Vec::new();
                for it in a {
                    match b.iter().position(|other| other == it) {
                        Some(at) => drop(b.swap_remove(at)),
                        None => left.push(it.clone()),
                    }
                }
                left
            };
            let (x, y) = (only(&a, &b), only(&b, &a));
            eprintln!(
                "  DIFFER: {} of {}; {} of {}: {:?} | {:?}",
                x.len(),
                a.len(),
                y.len(),
                b.len(),
                &x[..x.len().min(3)],
                &y[..y.len().min(3)]
            );
        }
        let mut of = BTreeMap::new();
        for (layer, row) in ours.layers().iter().zip(&imported.rows) {
            if let Operator::Vector(shape) = layer.operator {
                *of.entry((shape.op.name(), &*row.operator)).or_insert(0) += 1;
            }
        }
        eprintln!("  {of:?}");
        for deviation in &imported.deviations {
            eprintln!("  - {deviation}");
        }
    }
}

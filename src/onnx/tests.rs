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

//! `xrsim map`, its files, and the folder of choices.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::support::binary::{output, process, refused, stderr, stdout, xrsim};

const KD: [&str; 8] =
    ["map", "--network", "KD", "--pes", "1024", "--effort", "quick", "--format=csv"];

/// Cells of the named columns of CSV text, by layer.
fn by_layer<const N: usize>(text: &str, columns: [&str; N]) -> BTreeMap<String, [String; N]> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|it| it == name).expect("a column");
    let rows = reader.records().map(|row| {
        let row = row.expect("a row");
        (row[at("layer")].to_string(), columns.map(|name| row[at(name)].to_string()))
    });
    rows.collect()
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a plain path").into()
}

#[test]
fn an_exported_file_costs_what_the_map_says() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "kd.yaml");
    let mapped = output(&[&KD[..], &["--out", &file]].concat());
    let mapped = by_layer(&mapped, ["cycles", "energy_pJ", "listed_cycles", "bound_cycles"]);
    let cost = ["cost", "--network", "KD", "--dataflow", &file, "--pes", "1024", "--format=csv"];
    let costs = by_layer(&output(&cost), ["runtime_cycles", "energy_nJ"]);
    assert_eq!(mapped.len(), 8);
    for (layer, [cycles, energy, listed, bound]) in &mapped {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        assert_eq!(*cycles, costs[layer][0], "{layer}");
        // The cost is the energy in pJ divided by 1000.
        assert_eq!(number(energy) / 1000.0, number(&costs[layer][1]), "{layer}");
        assert!(number(cycles) <= number(listed) && number(cycles) >= number(bound), "{layer}");
    }
    let other = refused(&["cost", "--network", "GE", "--dataflow", &file, "--pes", "1024"]);
    assert!(other.contains("has no directives for a layer of N 1, G 1"), "{other}");
    assert!(other.contains("; the nearest is `"), "{other}");
}

#[test]
fn a_file_of_one_layer_keeps_the_directives_of_the_others() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "one.yaml");
    let layer = ["--layer", "conv2", "--out", &file, "--objective", "edp"];
    output(&[&KD[..], &layer].concat());
    let cost = |dataflow: &str| {
        let cost = ["cost", "--network", "KD", "--dataflow", dataflow, "--pes", "1024"];
        by_layer(&output(&[&cost[..], &["--format=csv"]].concat()), ["runtime_cycles"])
    };
    let (listed, mapped) = (cost("WS"), cost(&file));
    let differs: Vec<_> = listed.keys().filter(|layer| listed[*layer] != mapped[*layer]).collect();
    // Layers of the shape of conv2 have the same directives.
    assert!(differs.contains(&&"conv2".to_string()));
    assert!(differs.len() < listed.len() / 2, "{differs:?}");
}

#[test]
fn a_form_or_a_shape_that_is_none_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "bad.yaml");
    let text = |entry: &str| {
        let entry = format!("    - layer: a\n{entry}      directives: [\"TemporalMap(1,1) K\"]\n");
        fs::write(&file, format!("dataflow:\n  name: x\n  layers:\n{entry}")).expect("a file");
        stderr(&xrsim(&["check", &file]).assert().code(1))
    };
    let other = text("      shape: {K: 4, C: 3}\n      form: {K: 4, C: 2}\n");
    assert!(other.contains("this form has other numbers of products"), "{other}");
    assert!(other.contains("bad.yaml:6:"), "{other}");
    let zero = text("      shape: {K: 0, C: 3}\n");
    assert!(zero.contains("expected a whole number from 1 to 268435456, found `0`"), "{zero}");
    let alone = text("      shape: {K: 1}\n      free_bytes: 8\n");
    assert!(alone.contains("`resident` and `free_bytes` stand together"), "{alone}");
}

#[test]
fn the_mapspace_of_a_style_is_shown_and_can_be_searched() {
    let shown = output(&["show", "WS"]);
    let (_, space) = shown.split_once("best mapping of this mapspace:\n").expect("a mapspace");
    let lines = space.lines().map(|line| line.trim_start_matches("# ").to_string() + "\n");
    // The line of the kind has no indentation, those after it have some.
    let text: String = space.lines().map(|line| line[2..].to_string() + "\n").collect();
    assert_eq!(lines.count(), text.lines().count());
    assert!(text.contains("stationary: weights"), "{text}");
    assert!(text.contains("[X']") || text.contains("spatial"), "{text}");
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "ws_tiles.yaml");
    fs::write(&file, &text).expect("a file");
    let layer = ["--layer", "conv2", "--dataflow", "WS"];
    let declared = output(&[&KD[..], &layer, &["--mapspace", &file]].concat());
    let style = output(&[&KD[..], &layer, &["--flexibility", "tiles"]].concat());
    assert_eq!(declared, style);
}

/// Mappings of the layers with products, in order.
fn mappings(text: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = header.iter().position(|it| it == "mapping").expect("a column");
    let rows = reader.records().map(|row| row.expect("a row")[at].to_string());
    rows.filter(|mapping| !mapping.is_empty()).collect()
}

/// A network of 42 layers of seven kinds, of which several find their tensors in shared memory. On a smaller
/// memory `map` may move tensors to other places than `cost` (docs/explanation/mapper.md, section 6).
#[test]
fn map_and_cost_give_the_same_mappings_for_the_same_question() {
    let network = ["--network", "ES", "--dataflow", "OS", "--pes", "1024", "--format", "csv"];
    let network = [&network[..], &["--effort", "quick", "--platform", "paper"]].concat();
    for (flexibility, of_map, of_cost) in [
        ("tiles", "edp", "edp"),
        ("tiles", "cycles,energy", "cycles"),
        ("axes", "energy", "energy"),
    ] {
        let question = [&network[..], &["--flexibility", flexibility]].concat();
        let map = output(&[&["map"], &question[..], &["--objective", of_map]].concat());
        let cost = output(&[&["cost"], &question[..], &["--mapping-objective", of_cost]].concat());
        assert_eq!(mappings(&map).len(), 42, "{map}");
        assert_eq!(mappings(&map), mappings(&cost), "{flexibility} {of_map}");
    }
}

#[test]
fn problems_of_a_mapspace_are_reported_together() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "bad.yaml");
    let text = "mapspace:\n  name: bad\n  clusters: [0, 4]\n  sizes: balancd\n  stationry: weights\n  \
                levels:\n    - {spatial: [Q], fixed: [\"TemporalMap(4,2) K\"]}\n";
    fs::write(&file, text).expect("a file");
    let said = stderr(&xrsim(&["check", &file]).assert().code(1));
    for part in [
        "expected a whole number from 1 to 16777216, found `0`",
        "did you mean `balanced`?",
        "did you mean `stationary`?",
        "expected one of the axes C, K, R",
        "a map whose size and offset are one number",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    fs::write(&file, "mapspace:\n  name: wide\n  clusters: [64, 64]\n").expect("a file");
    let said = refused(&["map", "--network", "KD", "--pes", "1024", "--mapspace", &file]);
    assert!(said.contains("the clusters of the mapspace take 4096 PEs; --pes is 1024"), "{said}");
}

#[test]
fn a_seed_outside_a_mapspace_leaves_its_bound_below_what_is_found() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "few.yaml");
    // Sixteen units of one PE are slower than the directives of WS on 1,024 PEs.
    let text =
        "mapspace:\n  name: few\n  clusters: [64]\n  levels: [{spatial: [K]}, {spatial: []}]\n";
    fs::write(&file, text).expect("a file");
    let found = output(&[&KD[..], &["--mapspace", &file, "--dataflow", "WS"]].concat());
    let rows = by_layer(&found, ["cycles", "bound_cycles", "listed_cycles", "mapping"]);
    for (layer, [cycles, bound, listed, mapping]) in &rows {
        let number = |text: &str| text.parse::<u64>().expect("a number");
        assert!(number(bound) <= number(cycles), "{layer}");
        assert!(number(cycles) <= number(listed), "{layer}");
        // A mapping is the seed itself, or one of the mapspace, whose second level spreads nothing.
        let is_seed = number(cycles) == number(listed);
        assert!(is_seed || !mapping.split(' ').skip(1).any(|it| it.contains('s')), "{mapping}");
    }
    assert!(rows.values().any(|[cycles, _, listed, _]| cycles == listed), "{rows:?}");
}

#[test]
fn an_impossible_mapspace_names_the_limit() {
    let folder = TempDir::new().expect("a folder");
    let file = path(&folder, "whole.yaml");
    // One level that splits nothing: a PE would hold the whole layer.
    let text =
        "mapspace:\n  name: whole\n  clusters: [1]\n  levels: [{spatial: [], temporal: []}]\n";
    fs::write(&file, text).expect("a file");
    let tiny = "dataflow:\n  name: all\n  directives: [\"TemporalMap(Sz(N),Sz(N)) N\"]\n";
    fs::write(folder.path().join("all.yaml"), tiny).expect("a file");
    let all = path(&folder, "all.yaml");
    let layer = ["--layer", "conv2", "--dataflow", &all, "--mapspace", &file];
    let said = stdout(&xrsim(&[&KD[..7], &layer].concat()).assert().code(1));
    assert!(said.contains("no legal mapping: unit of level"), "{said}");
}

/// Contents of the files of a table by folder and name.
fn files_of_table(table: &Path) -> BTreeMap<String, String> {
    let folders = ["paper", "headset"].into_iter();
    let of_folder = |folder: &'static str| {
        let named = move |(name, text)| (format!("{folder}/{name}"), text);
        files(&table.join(folder)).into_iter().map(named)
    };
    folders.flat_map(of_folder).collect()
}

/// Names and contents of the files of a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read_to_string(entry.path()).expect("text"))
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

/// Whether a cache folder has a finished file. Those aside, which are renamed at any time, do not count.
fn has_choices(cache: &Path) -> bool {
    let Ok(entries) = fs::read_dir(cache) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|ending| ending == "txt"))
}

#[test]
fn choices_are_kept_from_one_command_to_the_next() {
    let folder = TempDir::new().expect("a folder");
    let cache = folder.path().join("cache");
    let arguments = [&KD[..], &["--layer", "conv2"]].concat();
    let call = |more: &[&str]| {
        let mut command = xrsim(&[&arguments[..], more].concat());
        stdout(&command.env("XRSIM_CACHE", &cache).assert().success())
    };
    let without = call(&["--no-cache"]);
    assert!(files(&cache).is_empty());
    let first = call(&[]);
    let kept = files(&cache);
    assert_eq!(kept.len(), 1);
    let second = call(&[]);
    assert_eq!(without, first);
    assert_eq!(first, second);
    assert_eq!(files(&cache), kept);
    // A file that was cut is made again.
    let (name, text) = kept.first_key_value().expect("a file");
    fs::write(cache.join(name), &text[..text.len() / 2]).expect("a file");
    assert_eq!(call(&[]), first);
    assert_eq!(files(&cache), kept);
}

#[test]
fn a_killed_map_goes_on_where_it_was() {
    let folder = TempDir::new().expect("a folder");
    let cache = folder.path().join("cache");
    let arguments = ["map", "--network", "KD", "--pes", "1024", "--format=csv", "--quiet"];
    let whole = output(&arguments);
    let mut command = process(&arguments);
    let mut child =
        command.env("XRSIM_CACHE", &cache).stdout(Stdio::null()).spawn().expect("it starts");
    // The first results are kept after half a second, or at the end.
    while !has_choices(&cache) && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    child.wait().expect("it ends");
    let left = cache.join("left.txt.1");
    fs::write(&left, "").expect("a file");
    let hours = SystemTime::now() - Duration::from_secs(7200);
    File::options().write(true).open(&left).and_then(|it| it.set_modified(hours)).expect("a time");
    let resumed = stdout(&xrsim(&arguments).env("XRSIM_CACHE", &cache).assert().success());
    assert_eq!(resumed, whole);
    // Files that killed processes left are removed after an hour.
    assert!(!left.exists());
}

#[test]
fn a_folder_that_cannot_be_written_to_is_a_note() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let mut command = xrsim(&[&KD[..], &["--layer", "conv2"]].concat());
    let assert = command.env("XRSIM_CACHE", file.join("cache")).assert().success();
    assert!(stderr(&assert).contains("note: choices of mappings are not kept: "));
}

#[test]
fn a_front_has_no_mapping_that_another_one_beats() {
    let front = output(&[&KD[..], &["--layer", "conv2", "--objective", "pareto"]].concat());
    let mut reader = csv::Reader::from_reader(front.as_bytes());
    let values = reader.records().map(|row| {
        let row = row.expect("a row");
        [&row[5], &row[6]].map(|cell| cell.parse::<f64>().expect("a number"))
    });
    let values: Vec<_> = values.collect();
    assert!(!values.is_empty());
    assert!(values.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] > pair[1][1]));
    let both = output(&[&KD[..], &["--layer", "conv2", "--objective", "cycles,energy"]].concat());
    let both = by_layer(&both, ["cycles"])["conv2"][0].parse::<f64>().expect("a number");
    assert!(both <= values[0][0] * 1.01);
}

#[test]
fn a_table_of_one_network_is_written_and_resumed() {
    let folder = TempDir::new().expect("a folder");
    fs::write(
        folder.path().join("tiny.yaml"),
        "network:\n  name: tiny\n  layers:\n    - conv: {k: 8, c: 4, y: 6, x: 6, r: 3, s: 3, pad: 1}\n",
    )
    .expect("a file");
    let (tiny, table) = (path(&folder, "tiny.yaml"), path(&folder, "table"));
    output(&["map", "--table", &table, "--network", &tiny]);
    let written = files_of_table(Path::new(&table));
    assert!(written.len() > 30, "{}", written.len());
    let text = &written["headset/WS-2048-of-4096.txt"];
    let remarks = ["accelerator: WS-2048-of-4096", "platform: headset", "objective: ", "effort: "];
    for remark in
        remarks.iter().chain(&["version: ", "section: ", "layers: 1", "cycles: ", "bound: "])
    {
        assert!(text.contains(&format!("\n# {remark}")), "{text}");
    }
    output(&["map", "--table", &table, "--network", &tiny]);
    assert_eq!(files_of_table(Path::new(&table)), written);
    let others = fs::read_dir(&table).expect("a folder").count();
    assert_eq!(others, 2, "what was not finished is removed");
}

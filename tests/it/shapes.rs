//! Shapes between the layers of networks: refused networks, the messages, and that every command
//! refuses the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use xrsim::config::{Catalog, Kind};
use xrsim::model::{Connections, Layer, Network, Source, View};

use crate::support::binary::{output, path, stderr, xrsim};

/// Problems of a network with these lines of `layers:`, one per line, without the path.
fn problems(layers: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.yaml");
    fs::write(&file, format!("network:\n  name: N\n  layers:\n{layers}")).unwrap();
    match Catalog::new().check(&file) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let prefix = format!("{}:", file.display());
            error.to_string().lines().map(|line| line.replace(&prefix, "")).collect()
        }
    }
}

/// Checks that an entry after a 3x3 convolution to 32 channels of 112x112 is refused with `expected`,
/// or fits if that is empty.
fn after_conv(entry: &str, expected: &str) {
    let first = "    - conv: {k: 32, c: 3, y: 224, x: 224, r: 3, s: 3, stride: 2, pad: 1}\n";
    let found = problems(&format!("{first}    - {entry}\n")).join("\n");
    match expected {
        "" => assert_eq!(found, "", "{entry}"),
        _ => assert_eq!(found, format!("5:{expected}"), "{entry}"),
    }
}

const GIVEN: &str = "line 4: `conv1` gives k 32, y 112, x 112";

#[test]
fn a_layer_that_does_not_fit_the_one_before_is_refused_with_both_shapes() {
    let nothing = "correct an extent or `from`; nothing that `reads` can say makes them fit";
    let or = "correct an extent or `from`, or say what is meant:";
    after_conv(
        "conv: {k: 8, c: 999, y: 17, x: 5, r: 1, s: 1}",
        &format!("23: `conv2` expects c 999, y 17, x 5; {GIVEN} ({nothing})"),
    );
    after_conv(
        "matmul: {rows: 12544, c: 33, k: 8}",
        &format!("32: `matmul1` expects c 33, rows 12544; {GIVEN} ({or} `reads: pad`)"),
    );
    after_conv(
        "conv: {k: 8, c: 16, y: 112, x: 112, r: 1, s: 1}",
        &format!("23: `conv2` expects c 16, y 112, x 112; {GIVEN} ({or} `reads: slice`)"),
    );
    after_conv(
        "concat: {k: 8, y: 224, x: 224}",
        &format!("19: `concat1` expects k 8, y 224, x 224; {GIVEN} ({or} `reads: reshape`)"),
    );
    after_conv(
        "nms: {k: 4, n: 30, inputs: 7}",
        &format!(
            "34: `nms1` expects 7 elements of its sources together; {GIVEN} ({or} `reads: slice`)"
        )
        .replace(" of its sources together", ""),
    );
}

#[test]
fn padding_in_the_extents_is_named_as_such() {
    after_conv(
        "conv: {k: 8, c: 32, y: 114, x: 114, r: 3, s: 3}",
        &format!(
            "30: `conv2` expects c 32, y 114, x 114; {GIVEN} (if 2 rows and 2 columns are padding, \
             leave them out and write `pad`)"
        ),
    );
    after_conv("conv: {k: 8, c: 32, y: 112, x: 112, r: 3, s: 3, pad: 1}", "");
    after_conv("max_pool: {k: 32, y: 112, x: 112, r: 3, s: 3, stride: 2, pad: [0, 1, 0, 1]}", "");
}

#[test]
fn shapes_that_need_no_word() {
    for entry in [
        "fc: {k: 10, c: 401408}",
        "matmul: {rows: 1, c: 401408, k: 10}",
        "matmul: {rows: 12544, c: 32, k: 10}",
        "layer_norm: {k: 32, y: 12544}",
        "batched_matmul: {instances: 4, rows: 12544, c: 8, k: 12544, from: [1, 1]}",
        "batched_matmul: {instances: 1, rows: 12544, c: 32, k: 12544}",
        "add: {k: 32, y: 112, x: 112, from: [1, 1, 0]}",
        "mul: {k: 32, y: 112, x: 112}",
        "concat: {k: 64, y: 112, x: 112, from: [1, 1]}",
        "concat: {k: 32, y: 224, x: 112, from: [1, 1]}",
        "concat: {n: 2, k: 32, y: 112, x: 112, from: [1, 1]}",
        "concat: {k: 40, y: 112, x: 112, from: [1, 0]}",
        "matmul: {rows: 12544, c: 64, k: 10, from: [1, 1]}",
        "matmul: {rows: 12544, c: 32, k: 10, from: [1, 1]}",
        "global_pool: {k: 32, y: 112, x: 112}",
        "reduce_max: {k: 32, y: 112, x: 112}",
        "resize: {k: 32, y: 112, x: 112, to_y: 7, to_x: 9}",
        "sparse_product: {nonzeros: 9, k: 32, y: 12544}",
        "roi_align: {n: 3, k: 32, y: 7, x: 7, inputs: 401420, from: [1, 0]}",
        "softmax: {inputs: 401408, outputs: 401408}",
        "mul: {inputs: 401440, outputs: 401408}",
    ] {
        after_conv(entry, "");
    }
}

/// Entries that fit with the view, each beside one that exceeds it.
#[test]
fn views_are_held_to_what_they_say() {
    for (view, fits, beyond) in [
        (
            "reshape",
            "conv: {k: 1, c: 8, y: 224, x: 224, r: 1, s: 1",
            "conv: {k: 1, c: 9, y: 224, x: 224, r: 1, s: 1",
        ),
        (
            "slice",
            "conv: {k: 1, c: 16, y: 110, x: 112, r: 1, s: 1",
            "conv: {k: 1, c: 16, y: 113, x: 112, r: 1, s: 1",
        ),
        ("pad", "concat: {k: 32, y: 114, x: 112", "concat: {k: 31, y: 114, x: 112"),
        ("repeat", "concat: {k: 96, y: 112, x: 112", "concat: {k: 97, y: 112, x: 112"),
        // 12,544 positions in 26 windows of 490, with 196 of padding; 8 of 32 channels.
        (
            "windows",
            "batched_matmul: {instances: 26, rows: 490, c: 8, k: 490, from: [1, 1]",
            "batched_matmul: {instances: 25, rows: 490, c: 8, k: 490, from: [1, 1]",
        ),
        (
            "slice",
            "matmul: {rows: 12544, c: 20, k: 1, from: [1, 1]",
            "matmul: {rows: 12544, c: 65, k: 1, from: [1, 1]",
        ),
        ("slice", "nms: {n: 3, k: 4, inputs: 5", "nms: {n: 3, k: 4, inputs: 500000"),
    ] {
        after_conv(&format!("{fits}, reads: {view}}}"), "");
        let first = "    - conv: {k: 32, c: 3, y: 224, x: 224, r: 3, s: 3, stride: 2, pad: 1}\n";
        let found = problems(&format!("{first}    - {beyond}, reads: {view}}}\n"));
        assert!(found.len() == 1 && found[0].contains(" expects "), "{beyond} {found:?}");
    }
}

#[test]
fn a_view_that_says_nothing_is_refused() {
    after_conv(
        "conv: {k: 8, c: 32, y: 112, x: 112, r: 1, s: 1, reads: slice}",
        "62: `slice` is not needed: source 1 fits whole (a source that fits is read `whole`, which \
         needs no word)",
    );
    after_conv(
        "add: {k: 32, y: 112, x: 112, from: [1, 0], reads: [whole, whole, slice]}",
        "57: 3 views of 2 sources (give one for each source, or one for all)",
    );
    let found = problems("    - fc: {k: 1, c: 1, reads: crop}\n");
    let words = View::ALL.map(|(name, _)| format!("`{name}`")).join(" or ");
    assert_eq!(found, [format!("4:31: expected {words}, found `crop`")]);
    // The first copy needs it, the second does not.
    let block = "    - matmul: {rows: 4, c: 8, k: 6}\n    - repeat: 2\n      layers:\n        \
                 - matmul: {rows: 2, c: 12, k: 12, reads: reshape}\n";
    assert_eq!(problems(block), Vec::<String>::new());
}

#[test]
fn every_mismatch_is_reported_once_with_its_copy() {
    let found = problems(
        "    - fc: {k: 8, c: 3}
    - repeat: 3
      layers:
        - fc: {k: 8, c: 8}
        - repeat: 2
          layers:
            - fc: {k: 9, c: 8}
    - add: {k: 9, from: [1, 2]}
    - fc: {k: 1, c: 7}
",
    );
    let place = |line: &str| line.split(" expects").next().unwrap().to_string();
    assert_eq!(
        found.iter().map(|line| place(line)).collect::<Vec<_>>(),
        ["7:25: `fc5` (copy 2 of 3)", "10:29: `fc4` (copy 1 of 3, copy 2 of 2)", "12:21: `fc11`"]
    );
    let many = "    - fc: {k: 2, c: 1}\n".repeat(30_000);
    let found = problems(&many);
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|line| line.contains("expects c 1, y 1, x 1")), "{}", found[0]);
}

/// A layer before that the axes of a sum are left to by none, and matrices in the wrong place.
#[test]
fn broadcasts_and_products_are_checked_operand_by_operand() {
    let scores = "    - matmul: {rows: 10, c: 5, k: 512}\n    - matmul: {rows: 42, c: 512, k: 512, from: 0}\n";
    let product = |keys: &str| problems(&format!("{scores}    - batched_matmul: {{{keys}}}\n"));
    assert_eq!(product("instances: 8, rows: 10, c: 64, k: 42, from: [2, 1]"), Vec::<String>::new());
    let swapped = product("instances: 8, rows: 10, c: 64, k: 42, from: [1, 2]");
    assert!(
        swapped[0].contains("expects instances 8, c 64, rows 10; line 5: `matmul2`"),
        "{swapped:?}"
    );
    let other = product("instances: 8, rows: 10, c: 64, k: 43, from: [2, 1]");
    assert!(other[0].contains("line 5: `matmul2` gives k 512, rows 42 "), "{}", other[0]);

    let pooled = "    - global_pool: {k: 8, y: 4, x: 4}\n    - conv: {k: 8, c: 8, y: 4, x: 4, r: 1, s: 1, from: 0}\n";
    let sum = |keys: &str| problems(&format!("{pooled}    - mul: {{k: 8, y: 4, x: 4, {keys}}}\n"));
    assert_eq!(sum("from: [2, 1]"), Vec::<String>::new());
    assert_eq!(sum("from: [2, 0]"), Vec::<String>::new());
    let found = sum("from: 2");
    assert!(found[0].contains("`global_pool1` gives k 8, y 1, x 1 "), "{}", found[0]);
}

/// Every name of a shipped network.
fn shipped() -> Vec<String> {
    let catalog = Catalog::new();
    let names = [catalog.names(Kind::Network), catalog.mlperf_networks()].concat();
    assert_eq!(names.len(), 24);
    names
}

#[test]
fn every_shipped_network_is_checked_but_the_lists_of_convolutions() {
    for name in shipped() {
        let network = Catalog::new().network(&name).unwrap();
        assert_eq!(network.connections(), Connections::Complete, "{name}");
        assert_eq!(network.check_shapes().misfits, [], "{name}");
    }
    for name in ["artifact/HT", "alexnet/AlexNet", "vgg16/VGG16"] {
        let network = Catalog::new().network(name).unwrap();
        assert_eq!(network.connections(), Connections::Incomplete, "{name}");
        let shapes = (*network).clone().connected(Connections::Complete).check_shapes();
        assert!(!shapes.misfits.is_empty(), "{name}: its layers do chain");
    }
}

/// Numbers of a linear congruential generator (Knuth's MMIX constants), the same in every run.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// Places of the numbers of extents in the layers of a file: begin, end.
fn extents(text: &str) -> Vec<(usize, usize)> {
    const KEYS: [&str; 11] =
        ["n", "k", "c", "y", "x", "rows", "instances", "to_y", "to_x", "r", "s"];
    let start = text.find("  layers:").unwrap();
    let of = |key: &str| {
        let key = format!("{key}: ");
        let ends = text[start..].match_indices(&key).filter_map(|(at, found)| {
            let begin = start + at + found.len();
            let before = text[..start + at].chars().last()?;
            let digits = text[begin..].find(|c: char| !c.is_ascii_digit())?;
            (matches!(before, '{' | ' ') && digits > 0).then_some((begin, begin + digits))
        });
        ends.collect::<Vec<_>>()
    };
    KEYS.iter().flat_map(|key| of(key)).collect()
}

/// Whether a layer reads something of which the shape is not fixed: from outside, or by a view.
fn is_free(layer: &Layer) -> bool {
    layer.sources.contains(&Source::Outside) || layer.views.iter().any(|view| *view != View::Whole)
}

/// Whether all that differs between two networks of equal graphs is read freely: what a changed layer
/// reads, and what the readers of a changed layer read of it.
fn differs_freely(old: &Network, new: &Network) -> bool {
    old.layers().iter().zip(new.layers()).enumerate().all(|(index, (before, after))| {
        let reads_alike = before.operator.inputs() == after.operator.inputs();
        let writes_alike = before.operator.outputs() == after.operator.outputs();
        let mut readers = new
            .layers()
            .iter()
            .enumerate()
            .skip(index + 1)
            .filter(|(at, reader)| reader.sources.contains(&Source::Back((at - index) as u32)));
        (reads_alike || is_free(after)) && (writes_alike || readers.all(|(_, it)| is_free(it)))
    })
}

#[test]
fn a_layer_reads_of_at_most_a_thousand_sources() {
    let layers = |n| {
        let from = vec!["0"; n].join(", ");
        problems(&format!("    - concat: {{k: {n}, y: 4, x: 4, from: [{from}]}}\n"))
    };
    assert_eq!(layers(1_000), [""; 0]);
    let [found] = &layers(1_001)[..] else { panic!("one problem") };
    assert!(found.contains("1001 entries; at most 1000 are allowed"), "{found}");
}

/// One extent of a shipped network is one more, one less or twice as much. Every change that alters an
/// edge is refused. What is accepted alters none: the input, outputs that nobody reads, kernels that
/// leave the output as it is, and edges with a view, which allows a range.
#[test]
fn a_changed_extent_is_refused_wherever_it_alters_an_edge() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("network.yaml");
    let mut below = numbers(11);
    let mut verdicts: BTreeMap<bool, usize> = BTreeMap::new();
    for name in shipped() {
        let mut catalog = Catalog::new();
        let (source, original) = (catalog.text(&name).unwrap(), catalog.network(&name).unwrap());
        let places = extents(source.text());
        for _ in 0..30 {
            let (begin, end) = places[below(places.len())];
            let old: u32 = source.text()[begin..end].parse().unwrap();
            let new = [old + 1, old.saturating_sub(1).max(1), 2 * old][below(3)];
            let text = source.text();
            let mutant = format!("{}{new}{}", &text[..begin], &text[end..]);
            fs::write(&file, mutant).unwrap();
            let found = Catalog::new().network(file.to_str().unwrap());
            if new == old {
                assert!(found.is_ok());
                continue;
            }
            *verdicts.entry(found.is_err()).or_default() += 1;
            if let Ok(network) = found {
                let line = text[..begin].lines().count();
                assert!(differs_freely(&original, &network), "{name}, line {line}: {old} to {new}");
            }
        }
    }
    let (refused, accepted) = (verdicts[&true], verdicts[&false]);
    println!("{refused} of {} changes refused", refused + accepted);
    assert!(refused > 9 * accepted, "{refused} refused, {accepted} accepted");
}

fn write(folder: &TempDir, name: &str, text: &str) -> String {
    fs::write(folder.path().join(name), text).unwrap();
    path(folder, name)
}

/// Whether a call succeeds.
fn accepts(arguments: &[&str]) -> bool {
    let assert = xrsim(arguments).assert();
    let code = assert.get_output().status.code().unwrap();
    assert!([0, 1, 2].contains(&code), "{arguments:?}: {code} {}", stderr(&assert));
    code == 0
}

/// Networks with whether they are good.
const NETWORKS: [(&str, bool, &str); 10] = [
    ("chain.yaml", true, "layers: [fc: {k: 4, c: 3}, fc: {k: 2, c: 4}]"),
    ("channels.yaml", false, "layers: [fc: {k: 4, c: 3}, fc: {k: 2, c: 5}]"),
    ("rows.yaml", false, "layers: [matmul: {rows: 4, c: 3, k: 4}, matmul: {rows: 5, c: 4, k: 1}]"),
    ("list.yaml", true, "connections: incomplete, layers: [fc: {k: 4, c: 3}, fc: {k: 2, c: 5}]"),
    ("slice.yaml", true, "layers: [fc: {k: 4, c: 3}, fc: {k: 2, c: 2, reads: slice}]"),
    ("needless.yaml", false, "layers: [fc: {k: 4, c: 3}, fc: {k: 2, c: 4, reads: slice}]"),
    ("source.yaml", false, "layers: [fc: {k: 4, c: 3, from: 1}, fc: {k: 2, c: 4, from: 2}]"),
    ("kernel.yaml", false, "layers: [conv: {k: 4, c: 3, y: 2, x: 2, r: 3, s: 3}]"),
    ("word.yaml", false, "connections: some, layers: [fc: {k: 4, c: 3}]"),
    ("empty.yaml", false, "layers: []"),
];

const BLOCK: &str = "Network N {\nLayer a { Type CONV Dimensions { K 4 C 3 Y 8 X 8 R 3 S 3 } }\n\
                     Layer b { Type CONV Dimensions { K 4 C 9 Y 9 X 9 R 3 S 3 } }\n}\n";

#[test]
fn check_cost_and_run_accept_the_same_networks() {
    let folder = tempfile::tempdir().unwrap();
    let mut cases: Vec<_> = NETWORKS
        .iter()
        .map(|(name, good, body)| {
            (write(&folder, name, &format!("network: {{name: N, {body}}}\n")), *good)
        })
        .collect();
    cases.push((write(&folder, "good.m", BLOCK), true));
    cases.push((write(&folder, "bad.m", &BLOCK.replace("K 4 C 9", "K 0 C 9")), false));
    for (network, good) in cases {
        let scenario = format!("scenario: {{name: S, models: [{{network: {network}, fps: 3}}]}}\n");
        let scenario = write(&folder, "scenario.yaml", &scenario);
        let run = ["run", "--scenario", &scenario, "--system", "A", "--pes", "4096"];
        let verdicts = [
            accepts(&["check", &network]),
            accepts(&["check", &scenario]),
            accepts(&["cost", "--network", &network]),
            accepts(&run),
        ];
        assert_eq!(verdicts, [good; 4], "{network}");
    }
}

/// Dataflows with whether any network can run with their directives.
const DATAFLOWS: [(&str, bool, &str); 5] = [
    (
        "whole",
        true,
        "TemporalMap(1,1) C, TemporalMap(1,1) Y', TemporalMap(1,1) X', SpatialMap(1,1) K",
    ),
    ("over", false, "TemporalMap(2,1) C, SpatialMap(1,1) K"),
    ("under", false, "TemporalMap(1,2) C, SpatialMap(1,1) K"),
    ("sides", false, "SpatialMap(1,1) C, SpatialMap(1,1) K"),
    (
        "rows",
        true,
        "TemporalMap(1,1) K, TemporalMap(1,1) C, TemporalMap(1,1) X', SpatialMap(1,1) Y'",
    ),
];

#[test]
fn check_cost_and_run_accept_the_same_dataflows() {
    let folder = tempfile::tempdir().unwrap();
    for (name, good, directives) in DATAFLOWS {
        let text = format!(
            "dataflow: {{name: {name}, flexibility: none, directives: [{}]}}\n",
            quoted(directives)
        );
        let dataflow = write(&folder, &format!("{name}.yaml"), &text);
        let style = "style: {name: T, class: FDA, accelerators: [{dataflow: FLOW, pe_share: 1}]}\n";
        let style = write(&folder, "style.yaml", &style.replace("FLOW", &dataflow));
        let run = ["run", "--scenario", "VR_gaming", "--system", &style, "--pes", "4096"];
        let verdicts = [
            accepts(&["check", &dataflow]),
            accepts(&["check", &style]),
            accepts(&["cost", "--dataflow", &dataflow]),
            accepts(&run),
        ];
        assert_eq!(verdicts, [good; 4], "{name}");
        if name == "over" {
            let said = stderr(&xrsim(&["check", &dataflow]).assert().code(1));
            assert!(said.contains("(over-cover)"), "{said}");
        }
    }
}

fn quoted(directives: &str) -> String {
    let quoted = directives.split(", ").map(|it| format!("\"{it}\""));
    quoted.collect::<Vec<_>>().join(", ")
}

#[test]
fn check_and_show_say_where_shapes_are_not_checked() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/artifact/KD.yaml");
    let table = table.to_str().unwrap();
    assert!(output(&["check", table]).contains("shapes between layers not checked"));
    assert!(output(&["show", "artifact/KD"]).contains("shapes between layers are not checked"));
    assert!(!output(&["show", "reference/KD"]).contains("not checked"));
}

/// A network of the largest size, every layer unlike the others and with many keys, is read.
#[test]
fn the_largest_network_is_read() {
    let mut text = String::from("network:\n  name: N\n  layers:\n");
    for index in 0..Network::MAX_LAYERS {
        let rows = 1000 + index;
        writeln!(
            text,
            "    - conv: {{name: layer{index}, n: 1, k: 8, c: 8, y: {rows}, x: 9, r: 1, s: 1, stride_y: 1, \
             stride_x: 1, dilation_y: 1, dilation_x: 1, groups: 2, pad: [0, 0, 0, 0], from: 0, \
             shared: false, reads: whole}}"
        )
        .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = write(&folder, "large.yaml", &text);
    assert!(output(&["check", &file]).contains("network, no problems"));
    let block = "    - repeat: 10000\n      layers: [fc: {k: 8, c: 8}]\n";
    let blocks = block.repeat(Network::MAX_LAYERS / 10_000);
    let more = format!("network:\n  name: N\n  layers:\n{blocks}    - fc: {{k: 1, c: 8}}\n");
    let file = write(&folder, "larger.yaml", &more);
    let error = stderr(&xrsim(&["check", &file]).assert().code(1));
    assert!(error.contains("50001 layers; a network has at most 50000"), "{error}");
}

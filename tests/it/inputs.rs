//! Messages for bad input files: the problem, its place (`line:column`) and the allowed values. Every case
//! must be refused with exactly these messages.

use std::path::Path;
use std::sync::Arc;

use xrsim::config::{Catalog, ConfigError, Edition, Kind, formats};

/// Messages of `xrsim check` for a file with these bytes, without the path.
fn messages(bytes: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.yaml");
    std::fs::write(&path, bytes).unwrap();
    match Catalog::new().check(&path) {
        Ok(kind) => panic!("accepted as {kind}"),
        Err(error) => without_path(&error, &path),
    }
}

fn without_path(error: &ConfigError, path: &Path) -> Vec<String> {
    let prefix = format!("{}:", path.display());
    let text = error.to_string();
    text.lines().map(|line| line.strip_prefix(&prefix).unwrap_or(line).trim().to_string()).collect()
}

fn check(text: &str, expected: &[&str]) {
    let start: String = text.chars().take(400).collect();
    assert_eq!(messages(text.as_bytes()), expected, "{start}");
}

#[test]
fn files_that_are_not_one_yaml_document() {
    check("", &["1:1: the file is empty"]);
    check("# a comment\n", &["2:1: the file is empty"]);
    check("a: [1, 2\n", &["1:4: not valid YAML: unclosed bracket '['"]);
    check(
        "a:\n\t- 1\n",
        &["2:2: not valid YAML: tabs disallowed within this context (block indentation)"],
    );
    check(
        "suite:\n  pes: [1]\n---\nsuite:\n",
        &["3:1: a second document begins here (a file holds one document)"],
    );
    assert_eq!(messages(b"network:\n  name: \xff\n"), ["not UTF-8 text (byte 17)"]);
    assert_eq!(messages(&vec![b' '; (16 << 20) + 1]), ["larger than 16 MiB"]);
}

#[test]
fn paths_that_are_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::new().check(folder.path()).unwrap_err();
    assert_eq!(without_path(&error, folder.path()), ["is a directory; a file is needed"]);
    let absent = folder.path().join("absent.yaml");
    let error = Catalog::new().check(&absent).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
}

#[test]
fn names_that_are_unknown() {
    let mut catalog = Catalog::new();
    let error = catalog.scenario("AR_gamin", Edition::Reference).unwrap_err().to_string();
    assert!(
        error.starts_with("no scenario named `AR_gamin`; did you mean `AR_gaming`?"),
        "{error}"
    );
    let error = catalog.hardware("Z").unwrap_err().to_string();
    assert!(error.starts_with("no system named `Z`"), "{error}");
    assert!(error.contains("A, B, C"), "{error}");
}

#[test]
fn what_ends_in_yaml_is_never_an_embedded_file() {
    let error =
        Catalog::new().scenario("scenarios/AR_gaming_.yaml", Edition::Reference).unwrap_err();
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    let mut catalog = Catalog::new();
    catalog.scenario("scenarios/AR_gaming", Edition::Reference).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("AR_gaming.yaml");
    std::fs::write(&path, "scenario: {name: mine, models: [{network: HT, fps: 1}]}\n").unwrap();
    let scenario = catalog.scenario(path.to_str().unwrap(), Edition::Reference).unwrap();
    assert_eq!(scenario.name(), "mine");
}

#[test]
fn files_of_the_wrong_kind() {
    check(
        "netwrok:\n  name: x\n",
        &["1:1: unknown top-level key `netwrok` (did you mean `network`?)"],
    );
    check(
        "- 1\n",
        &[
            "1:1: expected a key that says what the file describes, found a list (the top-level key is \
           one of network, dataflow, style, platform, system, scenario, sensors, suite, sweep, mlperf)",
        ],
    );
    check(
        "sensors:\n  eye: {rate_fps: 1}\nsuite: {}\n",
        &[
            "3:1: `suite` beside `sensors`; a file describes one thing (the top-level key is one of \
           network, dataflow, style, platform, system, scenario, sensors, suite, sweep, mlperf)",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.yaml");
    std::fs::write(&path, "dataflow:\n  name: X\n  directives: [SpatialMap(1 1) K]\n").unwrap();
    let error = Catalog::new().scenario(path.to_str().unwrap(), Edition::Reference).unwrap_err();
    assert_eq!(
        without_path(&error, &path),
        ["1:1: this is a `dataflow` file; a `scenario` file is needed here"]
    );
}

#[test]
fn networks() {
    check(
        "network:
  name: N
  nmae: M
  name: N
  quality: {metric: m, target: 0, better: more}
  layers:
    - conv: {k: 0, c: 2000000, y: 8, x: 8, r: three, s: 3, s: 1}
    - conv: {k: 4, c: 4, y: \"8\", x: 8, r: 9, s: 3}
    - pool: {size: 2}
    - repeat: 0
      layers: []
",
        &[
            "3:3: a network has no key `nmae` (known: name, task, title, dataset, quality, inputs, \
             other_parameters, batch_norm_channels, published, deviations, connections, layers)",
            "4:3: `name` is given twice (remove one of the two)",
            "5:32: expected a number above 0, found `0`",
            "5:43: expected `higher` or `lower`, found `more`",
            "7:17: expected a whole number from 1 to 1048576, found `0`",
            "7:23: expected a whole number from 1 to 1048576, found `2000000`",
            "7:47: expected a whole number from 1 to 1048576, found `three`",
            "7:60: `s` is given twice (remove one of the two)",
            "8:29: expected a whole number from 1 to 1048576, found the text \"8\"",
            "9:7: an entry of `layers` needs an operator (one of conv, fc, dwconv, trconv, ngconv, \
             deconv, matmul, batched_matmul, add, mul, concat, max_pool, avg_pool, global_pool, \
             reduce_max, resize, softmax, layer_norm, batch_norm, roi_align, nms, sparse_product; or \
             `repeat` with `layers`)",
            "10:15: expected a whole number from 1 to 10000, found `0`",
            "11:15: this list of layers is empty",
        ],
    );
}

#[test]
fn layers_that_cannot_be() {
    let network = |layers: &str| format!("network:\n  name: N\n  layers:\n{layers}");
    check(
        &network("    - conv: {k: 4, c: 4, y: 8, x: 8, r: 9, s: 3}\n"),
        &[
            "4:41: a 9x3 kernel does not fit into the 8x8 input (padding included); pad the input, or \
           mark the layer `kernel_exceeds_input: true` if the published tables have it so",
        ],
    );
    check(
        &network("    - conv: {k: 4, c: 4, y: 8, x: 8, r: 3, s: 3, kernel_exceeds_input: true}\n"),
        &["4:72: the kernel fits; remove this mark"],
    );
    check(
        &network("    - conv: {k: 1000000, c: 1000000, y: 1000000, x: 1, r: 1, s: 1}\n"),
        &["4:13: the layer has more than 2^48 multiply-accumulates (the product of its extents)"],
    );
    let blocks = "    - repeat: 10000\n      layers:\n        - repeat: 10000\n          layers:\n";
    check(
        &network(&format!("{blocks}            - fc: {{k: 1, c: 1}}\n")),
        &["4:5: 100000000 layers; a network has at most 50000"],
    );
    check(
        &network("    - repeat: 2\n      layers:\n        - fc: {k: 1, c: 1, name: stem}\n"),
        &["6:34: a layer that is repeated cannot have a name"],
    );
}

#[test]
fn operators_that_cannot_be() {
    let one = |layer: &str| format!("network:\n  name: N\n  layers:\n    - {layer}\n");
    check(
        &one("conv: {k: 4, c: 4, y: 8, x: 8, r: 3, s: 3, pad: [1, 1], from: [], shared: 1}"),
        &[
            "4:55: expected one number, or four: [top, bottom, left, right], found a list",
            "4:69: this list of sources is empty",
            "4:81: expected true or false, found `1`",
        ],
    );
    check(
        &one("conv: {k: 4, c: 6, y: 8, x: 8, r: 3, s: 3, groups: 4}"),
        &["4:13: 4 groups do not divide 4 output and 6 input channels"],
    );
    check(
        &one("conv: {k: 4, c: 4, y: 4, x: 9, r: 3, s: 3, dilation: 4, pad: [2, 2, 0, 0]}"),
        &[
            "4:41: a 3x3 kernel does not fit into the 8x9 input (padding included); pad the input, or \
           mark the layer `kernel_exceeds_input: true` if the published tables have it so",
        ],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 4, x: 4, r: 4, s: 4, stride: 2, pad: 1, output_pad: 2}"),
        &["4:83: `output_pad` is larger than what `pad` cuts off below or to the right"],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 4, x: 4, r: 4, s: 4, dilation: 2}"),
        &["4:15: a transposed convolution cannot be dilated"],
    );
    check(
        &one("deconv: {k: 4, c: 4, y: 2, x: 4, r: 2, s: 2, stride: 2, pad: 2}"),
        &["4:15: the padding leaves nothing"],
    );
    check(
        &one("matmul: {c: 8, k: 8, y: 3}"),
        &[
            "4:15: a layer lacks the key `rows`",
            "4:28: a layer has no key `y` (known: name, from, shared, reads, instances, rows, c, k)",
        ],
    );
    check(
        &one("batched_matmul: {rows: 8, c: 8, k: 8}"),
        &["4:23: a layer lacks the key `instances`"],
    );
    check(
        &one("max_pool: {k: 8, y: 8, x: 8, r: 3, s: 9, pad: [1, 0, 0, 0]}"),
        &["4:45: the 3x9 window does not fit into the padded 9x8 input"],
    );
    check(&one("resize: {k: 8, y: 8}"), &["4:15: a layer lacks the key `to_y`"]);
    check(&one("nms: {n: 30, k: 4}"), &["4:12: a layer lacks the key `inputs`"]);
    check(
        &one("add: {outputs: 8, k: 8}"),
        &[
            "4:12: a layer lacks the key `inputs`",
            "4:25: a layer has no key `k` (known: name, from, shared, reads, inputs, outputs, \
             operations)",
        ],
    );
    check(
        &one("softmax: {n: 1000000, k: 1000000, y: 1000000, x: 1000000}"),
        &["4:16: the layer has more than 2^48 multiply-accumulates (the product of its extents)"],
    );
}

#[test]
fn sources_that_are_not_there() {
    check(
        "network:
  name: N
  layers:
    - fc: {k: 1, c: 1}
    - repeat: 2
      layers:
        - [add: {k: 1, from: [2, 1]}]
",
        &["7:30: layer 1 (counted from 0) reads the one 2 before it; there is none"],
    );
}

#[test]
fn dataflows() {
    check(
        "dataflow:
  name: D
  directives:
    - TemporalMap(4,4) Z
    - SpatialMap(1,0) K
    - {Cluster: 4}
",
        &[
            "4:24: axis `Z` is not known (allowed: C, K, R, S, X, Y, X', Y', N, G)",
            "5:20: the map offset is `0` (allowed: whole numbers from 1 to 16777216)",
            "6:7: expected a directive, e.g. `SpatialMap(1,1) K`, found a mapping",
        ],
    );
    check(
        "dataflow:
  name: D
  directives:
    - SpatialMap(1,1) Y'
    - TemporalMap(1,1) K
    - TemporalMap(1,1) Y
    - Cluster(16)
    - TemporalMap(1,1) C
",
        &["6:7: level 0 maps Y twice (Y and its output axis count as one)"],
    );
    check("dataflow: {name: D, directives: []}\n", &["1:33: this list of directives is empty"]);
}

#[test]
fn styles() {
    check(
        "style:
  name: S
  class: FPGA
  accelerators:
    - {dataflow: WX, pe_share: 0}
    - {dataflow: WS}
",
        &[
            "3:10: expected `FDA` or `SFDA` or `HDA`, found `FPGA`",
            "5:32: expected a whole number from 1 to 1024, found `0`",
            "6:7: an accelerator of a style lacks the key `pe_share`",
        ],
    );
    check(
        "style:\n  name: S\n  class: FDA\n  accelerators: [{dataflow: Os2, pe_share: 1}]\n",
        &["4:29: no dataflow named `Os2` (did you mean `OS`?)"],
    );
}

const ENERGY: &str =
    "{mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 1, dram_per_mac: 1}";

#[test]
fn platforms_with_wrong_units() {
    check(
        &format!(
            "platform:
  name: P
  clock_ghz: 1
  energy: {ENERGY}
  budget:
    noc_bandwidth: 256
    shared_memory_mib: 8
    scratchpad_kib: 0.0001
    dram_bandwidth_gb_per_s: 128
"
        ),
        &[
            "3:3: a platform has no key `clock_ghz` (give the value as `clock_mhz`)",
            "6:5: a set of resources has no key `noc_bandwidth` (give the value as \
             `noc_bandwidth_bytes_per_cycle`)",
            "7:5: a set of resources has no key `shared_memory_mib` (give the value as \
             `shared_memory_kib`)",
            "8:21: expected a size in KiB, above 0 and a whole number of bytes, found `0.0001`",
            "9:5: a set of resources has no key `dram_bandwidth_gb_per_s` (give the value as \
             `dram_bandwidth_bytes_per_cycle`)",
        ],
    );
}

#[test]
fn systems() {
    check(
        &format!(
            "system:
  name: S
  clock_mhz: 0
  energy: {ENERGY}
  accelerators:
    - name: a
      dataflow: WS
      pes: 99999999999
      noc_bandwidth_bytes_per_cycle: [1, 2, 3, 4, 5, 6, 7, 8, 9]
      shared_memory_kib: 1
      scratchpad_kib: 1
      dram_bandwidth_bytes_per_cycle: 1
"
        ),
        &[
            "3:14: expected a clock from 0.000001 to 1000000 MHz, found `0`",
            "8:12: expected a whole number from 1 to 16777216, found `99999999999`",
            "9:38: expected at most 8 levels, found a list",
        ],
    );
    let accelerator = |dataflow: &str, pes: u32| {
        format!(
            "    - {{name: a, dataflow: {dataflow}, pes: {pes}, noc_bandwidth_bytes_per_cycle: 8, \
             shared_memory_kib: 1, scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}\n"
        )
    };
    check(
        &format!(
            "system:\n  name: S\n  clock_mhz: 1\n  energy: {ENERGY}\n  accelerators:\n{}{}{}",
            accelerator("WS", 255),
            accelerator("OS", 64),
            accelerator("RS", 1),
        ),
        &[
            "6:36: accelerator `a` has 255 PEs, but one unit of dataflow WS needs 256 (the product of \
             its cluster sizes)",
            "8:36: accelerator `a` has 1 PEs, but one unit of dataflow RS needs 64 (the product of its \
             cluster sizes)",
        ],
    );
}

#[test]
fn problems_with_other_files_are_reported_with_those_of_this_one() {
    check(
        &format!(
            "system:
  name: S
  clock_ghz: 1
  clock_mhz: 1
  energy: {ENERGY}
  accelerators:
    - {{name: a, dataflow: WS, pes: 1, noc_bandwidth_bytes_per_cycle: 8, shared_memory_kib: 1,
       scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}
    - {{name: b, dataflow: WR, pes: 1, noc_bandwidth_bytes_per_cycle: 8, shared_memory_kib: 1,
       scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}
"
        ),
        &[
            "3:3: a system has no key `clock_ghz` (known: name, clock_mhz, energy, datapath, energy_pj, accelerators)",
            "9:27: no dataflow named `WR` (known: OS, RS, WS)",
        ],
    );
}

#[test]
fn scenarios() {
    check(
        "scenario:
  name: S
  models:
    - {network: HT, fps: 90}
    - {network: KD, fps: 3, depends_on: {KD: data}}
    - {network: GE, fps: 60, depends_on: {SE: data}}
",
        &[
            "4:26: HT asks for 90 FPS but its input `camera` delivers only 60 FPS",
            "5:42: KD depends on itself",
            "6:43: no model in this scenario named `SE` (known: HT, KD, GE)",
        ],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: ES, fps: 60, depends_on: {GE: data}}
    - {network: HT, fps: 60}
    - {network: GE, fps: 60, depends_on: {ES: data}}
",
        &["4:43: these models wait for each other: ES -> GE"],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: ES, fps: 0, relative_deadline_ms: -1}
    - {network: XY, fps: 60, depends_on: {ES: {control: {probability: 1.5}}}}
    - {network: GE, fps: 60, depends_on: {ES: maybe}, inputs: []}
",
        &[
            "4:26: expected a rate from 0.001 to 1000000 FPS, found `0`",
            "4:51: expected a time from 0.000001 to 9007199254 ms, found `-1`",
            "5:71: expected a number from 0 to 1, found `1.5`",
            "6:47: expected `data` or `{control: {probability: P}}`, found `maybe`",
            "6:63: this list of sensors is empty",
        ],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: XY, fps: 1}
    - {network: HT, fps: 1}
",
        &["4:17: no network named `XY` (known: AS, DE, DR, ES, GE, HT, KD, OD, PD, SR, SS, \
           deeplabv3plus, edsr, gnmt, mobilebert, mobiledet, mobilenet_edgetpu, mobilenet_v1, mosaic, \
           resnet50, ssd_mobilenet_v1, ssd_mobilenet_v2, ssd_mobilenet_v2_quant, ssd_resnet34)"],
    );
    check(
        "scenario:
  name: S
  sensors: {eye: {rate_fps: 30}}
  models:
    - {network: ES, fps: 30, inputs: [eyes]}
    - {network: ES, fps: 30}
",
        &[
            "5:39: no sensor named `eyes` (did you mean `eye`?)",
            "6:17: a second model is called `ES` (give one of them another name with `task`)",
            "6:17: no sensor named `camera` (known: eye)",
        ],
    );
    check("scenario: {name: S, models: []}\n", &["1:29: this list of models is empty"]);
}

#[test]
fn sensors() {
    check(
        "sensors:
  camera: {rate_fps: 60, max_jitter_ms: -0.05}
  lidar: {rate_hz: 60, jitter_distribution: gaussian}
  microphone: {rate_fps: .inf, max_jitter_us: 100}
  camera: {rate_fps: 60}
",
        &[
            "2:41: expected a time from 0 to 9007199254 ms, found `-0.05`",
            "3:11: a sensor has no key `rate_hz` (give the value as `rate_fps`)",
            "3:45: expected `truncated_normal` or `uniform`, found `gaussian`",
            "4:26: expected a rate from 0.001 to 1000000 FPS, found `.inf`",
            "4:32: a sensor has no key `max_jitter_us` (give the value as `max_jitter_ms`)",
            "5:3: `camera` is given twice (remove one of the two)",
        ],
    );
    check("sensors: {}\n", &["1:10: this mapping of sensors is empty"]);
}

#[test]
fn suites() {
    check(
        "suite:\n  scenarios: [AR_gaming, AR]\n  systems: [A, N]\n  pes: [0]\n",
        &["4:9: expected a whole number from 1 to 16777216, found `0`"],
    );
    check(
        "suite:\n  scenarios: [AR_gaming, AR_game]\n  systems: [A, N]\n  pes: [4096]\n",
        &[
            "2:26: no scenario named `AR_game` (did you mean `AR_gaming`?)",
            "3:16: no style named `N` (known: A, B, C, D, E, F, G, H, I, J, K, L, M)",
        ],
    );
}

#[test]
fn hostile_files_are_refused_in_bounded_memory() {
    let mut bomb = String::from("network: &n0 [x, x]\n");
    for level in 1..40 {
        bomb += &format!("k{level}: &n{level} [*n{0}, *n{0}]\n", level - 1);
    }
    let found = messages(bomb.as_bytes());
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("more than 500000 values in aliases"), "{}", found[0]);
    let deep = format!("network: {}", "[".repeat(1_000_000));
    check(&deep, &["1:58: nested more than 48 levels deep"]);
    let many = format!("network: [{}]", "x, ".repeat(3_000_000));
    let found = messages(many.as_bytes());
    assert!(found[0].contains("more than 2500000 values up to here"), "{}", found[0]);
    let long = format!("network:\n  name: N\n  {}: 1\n", "k".repeat(1000));
    assert_eq!(messages(long.as_bytes()).len(), 2);
    let wrong = "    - conv: {k: 0}\n".repeat(10_000);
    let found = messages(format!("network:\n  name: N\n  layers:\n{wrong}").as_bytes());
    assert_eq!(found.len(), 101);
    assert!(found[100].ends_with("and 59900 more problems"), "{}", found[100]);
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

#[test]
fn damaged_files_are_read_without_panic() {
    const PARTS: [&str; 16] = [
        "0",
        "-1",
        "99999999999999999999",
        "1e308",
        "NaN",
        "[",
        "{",
        "}",
        "*a",
        "&a ",
        "!x ",
        "'",
        "\n",
        ": ",
        "\u{2028}",
        "- ",
    ];
    let names = ["KD", "OS", "L", "paper", "three_unequal", "AR_Assistant", "sensors", "suite"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.yaml");
    let mut below = numbers(7);
    let mut n_refused = 0;
    for name in names.iter().cycle().take(800) {
        let mut text = Catalog::new().text(name).unwrap().text().to_string();
        for _ in 0..=below(3) {
            let start = below(text.len());
            let end = (start + below(12)).min(text.len());
            if text.is_char_boundary(start) && text.is_char_boundary(end) {
                text.replace_range(start..end, PARTS[below(PARTS.len())]);
            }
        }
        std::fs::write(&path, text).unwrap();
        if let Err(error) = Catalog::new().check(&path) {
            assert!(error.to_string().contains("damaged.yaml:"), "{error}");
            n_refused += 1;
        }
    }
    assert!(n_refused > 400, "only {n_refused} of 800 damaged files were refused");
}

#[test]
fn a_file_may_refer_to_others_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("net.yaml", "network: {name: tiny, layers: [fc: {k: 2, c: 3}]}\n");
    write("flow.yaml", "dataflow: {name: F, directives: [SpatialMap(1 1) K]}\n");
    write("use.yaml", "scenario: {name: S, models: [{network: ./net.yaml, fps: 7.5}]}\n");
    write(
        "style.yaml",
        "style: {name: T, class: FDA, accelerators: [{dataflow: flow.yaml, pe_share: 1}]}\n",
    );
    let mut catalog = Catalog::new();
    let scenario =
        catalog.scenario(folder.path().join("use.yaml").to_str().unwrap(), Edition::Reference);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let network = catalog.network(folder.path().join("net.yaml").to_str().unwrap()).unwrap();
    let used = &scenario.models()[0];
    assert!(Arc::ptr_eq(&used.unit.network, &network), "one file, one network");
    assert_eq!((&*used.unit.task, used.rate.as_fps(), used.inputs.len()), ("tiny", 7.5, 0));
    assert_eq!(catalog.check(&folder.path().join("style.yaml")).unwrap(), Kind::Style);
    std::fs::remove_file(folder.path().join("flow.yaml")).unwrap();
    let error = Catalog::new().check(&folder.path().join("style.yaml")).unwrap_err().to_string();
    assert!(error.contains("style.yaml:1:56: "), "{error}");
    assert!(error.contains("flow.yaml: "), "{error}");
    write("net.yaml", "network: {name: tiny}\n");
    let error = Catalog::new().check(&folder.path().join("use.yaml")).unwrap_err().to_string();
    assert!(error.contains("net.yaml:1:10: a network lacks the key `layers`"), "{error}");
}

/// A file of every kind that a format has, in that format.
fn samples(format: &str) -> Vec<(Kind, String)> {
    let embedded = |(kind, reference): (Kind, &str)| {
        let text = Catalog::new().text(reference).unwrap_or_else(|error| panic!("{error}"));
        (kind, text.text().to_string())
    };
    let layer = "Layer l { Type CONV Dimensions { K 1 C 1 Y 1 X 1 R 1 S 1 } }";
    match format {
        "YAML" => {
            let samples = [
                (Kind::Network, "models/reference/KD"),
                (Kind::Dataflow, "dataflows/WS"),
                (Kind::Style, "hw_configs/A"),
                (Kind::Platform, "hw_configs/paper"),
                (Kind::System, "hw_configs/examples/three_unequal"),
                (Kind::Scenario, "scenarios/VR_gaming"),
                (Kind::Sensors, "scenarios/sensors"),
                (Kind::Suite, "scenarios/suite"),
                (Kind::Sweep, "sweeps/pe_scaling"),
                (Kind::Mlperf, "mlperf/inference_v0.5"),
            ];
            samples.into_iter().map(embedded).collect()
        }
        "MAESTRO" => vec![
            (Kind::Network, format!("Network n {{ {layer} }}\n")),
            (Kind::Scenario, format!("Network n {{ FPS 3 {layer} }}\n")),
            (
                Kind::Dataflow,
                "Dataflow { SpatialMap(1,1) K; Cluster(4,P); SpatialMap(1,1) C; }\n".into(),
            ),
            (Kind::System, "Accelerator a { num_pes 64 top_noc_bw 128 }\n".into()),
        ],
        other => panic!("give samples of the format {other}"),
    }
}

#[test]
fn every_format_reads_each_of_its_kinds_under_each_of_its_extensions() {
    for format in formats::ALL {
        let samples = samples(format.name);
        let kinds: Vec<_> = samples.iter().map(|(kind, _)| *kind).collect();
        assert!(format.kinds.iter().all(|kind| kinds.contains(kind)), "{format:?} {kinds:?}");
        let folder = tempfile::tempdir().unwrap();
        for (kind, text) in &samples {
            for extension in format.extensions {
                for extension in [extension.to_string(), extension.to_uppercase()] {
                    let path = folder.path().join(format!("sample.{extension}"));
                    std::fs::write(&path, text).unwrap();
                    let found = Catalog::new().check(&path);
                    assert_eq!(found.unwrap_or_else(|error| panic!("{error}")), *kind);
                }
            }
        }
    }
}

#[test]
fn every_format_refuses_damaged_files_at_a_place() {
    for format in formats::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("sample.{}", format.extensions[0]));
        for (_, text) in samples(format.name) {
            let halves = [0, 1, 2, 3].map(|quarter| text.len() * quarter / 4);
            for end in halves.map(|end| text.floor_char_boundary(end)) {
                std::fs::write(&path, &text[..end]).unwrap();
                match Catalog::new().check(&path) {
                    Ok(kind) => assert!(end > 0 && format.kinds.contains(&kind), "{end}: {text}"),
                    Err(ConfigError::Invalid { file, problems }) => {
                        assert!(!problems.is_empty());
                        for problem in problems {
                            assert!(file.text().get(problem.span.clone()).is_some(), "{problem:?}");
                        }
                    }
                    Err(error) => panic!("{error}: {text}"),
                }
            }
        }
    }
}

#[test]
fn every_format_has_extensions_of_its_own_which_make_a_reference_a_path() {
    let mut seen = Vec::new();
    for format in formats::ALL {
        assert!(!format.extensions.is_empty() && !format.kinds.is_empty(), "{format:?}");
        for extension in format.extensions {
            assert!(!seen.contains(extension), "{extension} is of two formats");
            seen.push(extension);
            assert!(extension.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
            let error = Catalog::new().network(&format!("absent.{extension}")).unwrap_err();
            assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
            let member = Catalog::new().network(&format!("absent.{extension}#n")).unwrap_err();
            let is_path = matches!(member, ConfigError::Unreadable { .. });
            assert_eq!(is_path, format.has_members, "{member}");
        }
    }
}

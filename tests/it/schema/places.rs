//! Places of a schema beside the values of files that they describe.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

use super::corpus::{self, File};
use super::tree::{Step, Tree};
use super::{OF_ALL, draft7, is_valid, read};

/// A value of a file that a place of the schema describes.
#[derive(Debug, Clone)]
pub struct Found {
    /// Index of the file.
    pub file: usize,
    /// Path of the value.
    pub path: Vec<Step>,
    /// Whether it is a mapping.
    pub is_mapping: bool,
}

/// Files without a problem, the smallest first, and for each place of the schema (a JSON pointer) the first values of
/// each set of keys.
pub struct Places {
    pub files: Vec<File>,
    pub found: BTreeMap<String, BTreeMap<BTreeSet<String>, Found>>,
}

/// Places of the schema in all accepted files.
pub static ALL: LazyLock<Places> = LazyLock::new(Places::all);

impl Places {
    fn all() -> Self {
        let further = FURTHER.iter().map(ToString::to_string).chain(layers());
        let further = further.map(|text| File::parse("places.rs", &text).expect("a file"));
        let written = corpus::written().into_iter().chain(corpus::shipped()).chain(further);
        let is_good = |file: &File| is_valid(&file.tree) && read(file.kind, &file.text).is_empty();
        let mut files: Vec<_> = written.filter(is_good).collect();
        files.sort_by_key(|file| file.text.len());
        let mut places = Self { files: Vec::new(), found: BTreeMap::new() };
        for (index, file) in files.iter().enumerate() {
            let mut walk = Walk { file: index, found: &mut places.found };
            walk.visit("", &OF_ALL, &file.tree, Vec::new());
        }
        places.files = files;
        places
    }

    /// The mappings among the values of a place.
    pub fn objects(&self, pointer: &str) -> Vec<&Found> {
        let all = self.found.get(pointer).into_iter().flat_map(BTreeMap::values);
        all.filter(|found| found.is_mapping).collect()
    }

    /// The tree of the file of a value.
    pub fn tree(&self, found: &Found) -> Tree {
        self.files[found.file].tree.clone()
    }
}

/// Files with keys that no other file has.
const FURTHER: &[&str] = &[
    "network: {name: n, bits: {weights: 8}, layers: [fc: {k: 1, c: 1}]}",
    "dataflow:
  name: d
  layers:
    - layer: a
      shape: {K: 4, C: 4, Y': 4, X': 4}
      form: {K: 4, C: 4, Y': 4, X': 4}
      resident: [inputs]
      free_bytes: 1024
      directives: ['SpatialMap(1,1) K', 'TemporalMap(1,1) C']
",
    "platform:
  name: p
  clock_mhz: 1000
  energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}
  technology: {area: {pe_um2: 2500}, sram: {small_bytes: 32}, leakage: {pe_uw: 7}}
  budget:
    noc_bandwidth_bytes_per_cycle: 256
    shared_memory_kib: 8192
    scratchpad_kib: 8
    dram_bandwidth_bytes_per_cycle: 128
",
    "platform:
  name: p
  clock_mhz: 1000
  energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}
  technology: {like: maestro_2021, network: {bus_um2: 100}}
  budget:
    noc_bandwidth_bytes_per_cycle: 256
    shared_memory_kib: 8192
    scratchpad_kib: 8
    dram_bandwidth_bytes_per_cycle: 128
",
    "system:
  name: s
  datapath: {macs_per_pe_cycle: 2}
  maestro_energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}
  energy_pj: {mac: 0.3}
  technology: {area: {pe_um2: 2500}, sram: {small_bytes: 32}, leakage: {pe_uw: 7}}
  accelerators:
    - name: a
      dataflow: OS
      pes: 64
      clock_mhz: 1000
      energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}
      datapath: {macs_per_pe_cycle: 2}
      energy_pj: {mac: 1000}
      noc_bandwidth_bytes_per_cycle: 256
      shared_memory_kib: 8192
      scratchpad_kib: 8
      dram_bandwidth_bytes_per_cycle: 128
",
    "system:
  name: s
  technology: {like: maestro_2021, network: {bus_um2: 100}}
  accelerators:
    - name: a
      dataflow: OS
      pes: 64
      clock_mhz: 1000
      maestro_energy: {mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 6, dram_per_mac: 75}
      energy_pj: {mac: 0.3}
      noc_bandwidth_bytes_per_cycle: 256
      shared_memory_kib: 8192
      scratchpad_kib: 8
      dram_bandwidth_bytes_per_cycle: 128
",
    "sensors: {camera: {rate_fps: 60, jitter: {periods: examples/recorded_camera/camera.csv}}}",
    "scenario:
  name: s
  sensors:
    camera: {rate_fps: 60, jitter: {periods: examples/recorded_camera/camera.csv}}
    microphone: {rate_fps: 3}
  gates: {microphone: {distribution: gamma, on_s: {mean: 4, cv: 2}, off_s: {mean: 9, cv: 2}}}
  models: [{network: KD, fps: 3}]
",
    "scenario:
  name: s
  sensors: {camera: {arrivals: examples/recorded_camera/camera.csv, speed: 2, repeat: false}}
  models: [{network: KD, inputs: [camera], fps: 3}]
",
    "search:
  name: s
  constraints: {area_mm2: '<= 60'}
  space: {dataflows: [WS], shares: {noc: 1/4, dram: as-pes}}
  confirm: {delta: 0.01}
  stop: {gap_percent: 1, minutes: 1}
",
];

/// A network with each operator, with its extents and with its sizes.
fn layers() -> Vec<String> {
    let operators = OF_ALL["definitions"]["layer"]["anyOf"][0]["properties"].clone();
    let operators = operators.as_object().expect("an object").keys().cloned();
    let texts = operators.flat_map(|operator| {
        let extents = match &*operator {
            "matmul" => "rows: 4, c: 4, k: 4",
            "batched_matmul" => "instances: 2, rows: 4, c: 4, k: 4, from: [0, 0]",
            "fc" => "k: 4, c: 4",
            "dwconv" => "c: 4, y: 4, x: 4, r: 1, s: 1",
            "conv" | "deconv" | "trconv" | "ngconv" => "k: 4, c: 4, y: 4, x: 4, r: 1, s: 1",
            "resize" => "k: 4, y: 4, x: 4, to_y: 8",
            "sparse_product" => "k: 4, nonzeros: 4",
            "roi_align" | "nms" => "k: 4, y: 4, inputs: 64",
            "mul" => "k: 4, y: 4, x: 4, from: [0, 0]",
            _ => "k: 4, y: 4, x: 4",
        };
        [extents, "inputs: 64, outputs: 64"].map(|keys| {
            format!(
                "network: {{name: n, connections: incomplete, \
                 layers: [{operator}: {{{keys}, bits: {{activations: 16}}}}]}}"
            )
        })
    });
    texts.collect()
}

struct Walk<'f> {
    file: usize,
    found: &'f mut BTreeMap<String, BTreeMap<BTreeSet<String>, Found>>,
}

impl Walk<'_> {
    fn visit(&mut self, pointer: &str, schema: &Value, tree: &Tree, path: Vec<Step>) {
        if let Some(reference) = schema.get("$ref") {
            let pointer = reference.as_str().expect("a pointer").trim_start_matches('#');
            return self.visit(pointer, draft7::target(&OF_ALL, reference), tree, path);
        }
        for (index, option) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
            if draft7::is_valid(&OF_ALL, option, &tree.json()) && schema.get("properties").is_none()
            {
                self.visit(&format!("{pointer}/anyOf/{index}"), option, tree, path.clone());
            }
        }
        let keys = match tree {
            Tree::Mapping(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            _ => BTreeSet::new(),
        };
        let here = self.found.entry(pointer.into()).or_default();
        let is_mapping = matches!(tree, Tree::Mapping(_));
        let found = || Found { file: self.file, path: path.clone(), is_mapping };
        here.entry(keys).or_insert_with(found);
        match tree {
            Tree::Scalar(..) => {}
            Tree::List(items) => {
                let Some(of) = schema.get("items") else { return };
                for (index, item) in items.iter().enumerate() {
                    let path = [&path[..], &[Step::Index(index)]].concat();
                    self.visit(&format!("{pointer}/items"), of, item, path);
                }
            }
            Tree::Mapping(entries) => {
                for (key, value) in entries {
                    let path = [&path[..], &[Step::Key(key.clone())]].concat();
                    let own =
                        schema["properties"].get(key).map(|it| (format!("properties/{key}"), it));
                    let other = schema.get("additionalProperties").filter(|it| it.is_object());
                    let other = other.map(|it| ("additionalProperties".to_string(), it));
                    if let Some((step, of)) = own.or(other) {
                        self.visit(&format!("{pointer}/{step}"), of, value, path);
                    }
                }
            }
        }
    }
}

/// Every object of the schema with its pointer, references not followed.
pub fn objects(pointer: &str, schema: &Value, found: &mut BTreeMap<String, Value>) {
    match schema {
        Value::Object(keywords) => {
            let is_object = schema["type"].to_string().contains("\"object\"");
            if is_object && schema["properties"].is_object() {
                found.insert(pointer.into(), schema.clone());
            }
            for (word, of) in
                keywords.iter().filter(|(word, _)| *word != "allOf" && *word != "else")
            {
                objects(&format!("{pointer}/{word}"), of, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(&format!("{pointer}/{index}"), item, found);
            }
        }
        _ => {}
    }
}

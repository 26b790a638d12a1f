//! Layers and accelerators of the published study, from the golden files.

use std::path::{Path, PathBuf};

use xrsim::hardware::Accelerator;
use xrsim::model::{ConvKind, ConvShape, Layer, Network};

/// PEs and bandwidth of every accelerator of the published hardware files.
pub const CONFIGURATIONS: [(u32, u64); 7] =
    [(1024, 128), (2048, 128), (2048, 256), (3072, 128), (4096, 256), (6144, 256), (8192, 256)];

/// A committed file of expected values.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Records of a CSV file, without its header.
pub fn records(path: &Path) -> impl Iterator<Item = csv::StringRecord> + use<> {
    let reader = csv::Reader::from_path(path).expect("the file can be read");
    reader.into_records().map(|record| record.expect("rows are even"))
}

/// The distinct layer shapes, by id.
pub fn shapes() -> Vec<ConvShape> {
    let shape = |record: csv::StringRecord| {
        let extent = |column: usize| record[column].parse().expect("an extent");
        super::shape(ConvKind::Conv, [1, 2, 3, 4, 5, 6].map(extent))
    };
    records(&golden("cost_shapes.csv")).map(shape).collect()
}

/// The networks.
pub fn networks() -> Vec<Network> {
    let shapes = shapes();
    let layer = |id: &str| {
        let id: usize = id.parse().expect("a shape id");
        Layer::new(format!("shape{id}"), shapes[id])
    };
    let network = |record: csv::StringRecord| {
        let layers = record[1].split(' ').map(layer).collect();
        Network::new(&record[0], layers).expect("a legal network")
    };
    records(&golden("cost_networks.csv")).map(network).collect()
}

/// The 19 accelerators, different in dataflow, PEs or bandwidth, of styles A to M at 4096 and 8192
/// PEs. RS is in no style that splits the PEs 3:1.
pub fn accelerators() -> Vec<Accelerator> {
    let mut accelerators = Vec::new();
    for (name, _) in super::PUBLISHED_DATAFLOWS {
        let dataflow = super::published_dataflow(name);
        for (pes, bandwidth) in CONFIGURATIONS {
            if name != "RS" || pes.is_power_of_two() {
                accelerators.push(super::accelerator(&dataflow, pes, &[bandwidth]));
            }
        }
    }
    accelerators
}

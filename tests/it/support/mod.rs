//! Inputs that several integration tests build by hand.
#![allow(missing_docs)]

pub mod binary;
pub mod cost_reference;
pub mod folder;
pub mod layers;
pub mod libtest;
pub mod onnx_files;
pub mod operators;
pub mod page;
pub mod runs;
pub mod situations;
pub mod slow_engine;
pub mod study;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use xrsim::dataflow::{Axis, ClusterLevel, Dataflow, Directive, Size};
use xrsim::hardware::{Accelerator, Memory, Noc};
use xrsim::model::{ConvKind, ConvShape};
use xrsim::units::Bytes;

/// Number of random cases: `usual` with optimisation, `few` without, or that of the variable `XRSIM_CASES`.
pub fn n_cases<N: FromStr>(few: N, usual: N) -> N {
    match std::env::var("XRSIM_CASES") {
        Ok(text) => text.parse().ok().expect("XRSIM_CASES is a number"),
        Err(_) if cfg!(debug_assertions) => few,
        Err(_) => usual,
    }
}

/// Dataflows of the published artifact, by name, in the notation of [`dataflow`].
pub const PUBLISHED_DATAFLOWS: [(&str, &str); 3] = [
    (
        "WS",
        "T(16,16)C T(16,16)K T(1,1)Y' S(1,1)X' | 16: S(1,1)K T(64,64)C T(1,1)Y' T(1,1)X' | 16: S(1,1)C",
    ),
    ("OS", "T(1,1)K S(1,1)Y' T(4,4)X' T(16,16)C | 4: S(1,1)X' | 16: S(1,1)C"),
    (
        "RS",
        "T(1,1)Y' T(16,16)X' T(4,4)C S(1,1)K | 16: T(1,1)Y' S(1,1)X' T(4,4)C T(1,1)K | 4: S(1,1)Y S(1,1)R",
    ),
];

/// The published dataflow called `name`.
pub fn published_dataflow(name: &str) -> Arc<Dataflow> {
    let (_, text) = PUBLISHED_DATAFLOWS
        .into_iter()
        .find(|(known, _)| *known == name)
        .expect("a published dataflow");
    dataflow(name, text)
}

/// A dataflow written as levels between `|`, outermost first; `T(m,o)v` and `S(m,o)v` are temporal
/// and spatial maps, and every level but the outermost starts with its cluster size and `:`.
pub fn dataflow(name: &str, text: &str) -> Arc<Dataflow> {
    let levels: Vec<_> = text.split('|').map(level).collect();
    Arc::new(Dataflow::new(name, levels).expect("a legal dataflow"))
}

fn level(text: &str) -> ClusterLevel {
    let (units, maps) = match text.split_once(':') {
        Some((units, maps)) => (Some(Size::Fixed(units.trim().parse().unwrap())), maps),
        None => (None, text),
    };
    ClusterLevel { units, directives: maps.split_whitespace().map(directive).collect() }
}

fn directive(text: &str) -> Directive {
    let map = match &text[..2] {
        "T(" => Directive::temporal,
        "S(" => Directive::spatial,
        other => panic!("`{other}` is neither `T(` nor `S(`"),
    };
    let (sizes, axis) = text[2..].split_once(')').unwrap();
    let (size, offset) = sizes.split_once(',').unwrap();
    map(size.parse().unwrap(), offset.parse().unwrap(), Axis::parse(axis).unwrap())
}

/// An accelerator with the artifact's energy table and clock.
pub fn accelerator(dataflow: &Arc<Dataflow>, pes: u32, bandwidth: &[u64]) -> Accelerator {
    let noc = Noc::of_bandwidths(bandwidth).expect("a network has a level");
    let memory = Memory::new(Bytes::new(2 << 20), Bytes::new(8 << 10), 128);
    Accelerator::new(dataflow.name(), Arc::clone(dataflow), pes, noc, memory)
}

/// A stride-1 layer of batch 1 with extents [K, C, Y, X, R, S].
pub fn shape(kind: ConvKind, [k, c, y, x, r, s]: [u32; 6]) -> ConvShape {
    ConvShape { kind, n: 1, k, c, y, x, r, s, stride_y: 1, stride_x: 1, ..ConvShape::UNIT }
}

/// A file of the folder of reference data beside this checkout. `None` where the folder is absent, with a
/// note on standard error.
pub fn reference(path: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/reference");
    if !folder.is_dir() {
        eprintln!("skipped: {} is absent", folder.display());
        return None;
    }
    Some(folder.join(path))
}

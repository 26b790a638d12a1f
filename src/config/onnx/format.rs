//! ONNX as one of the formats of input files.

use crate::config::Kind;
use crate::config::format::Format;
use crate::config::yaml;

/// ONNX. A document of such a file has the YAML of its import.
pub(in crate::config) const FORMAT: Format = Format {
    name: "ONNX",
    extensions: &["onnx"],
    kinds: &[Kind::Network],
    has_members: false,
    ..yaml::FORMAT
};

//! ONNX as one of the formats of input files.

use crate::Kind;
use crate::format::Format;
use crate::yaml;

/// ONNX. A document of such a file has the YAML of its import.
pub(crate) const FORMAT: Format = Format {
    name: "ONNX",
    extensions: &["onnx"],
    kinds: &[Kind::Network],
    has_members: false,
    ..yaml::FORMAT
};

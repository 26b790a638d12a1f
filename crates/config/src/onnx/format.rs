//! ONNX as one of the formats of input files.

use crate::format::Format;
use crate::yaml;
use crate::{Kind, extensions};

/// ONNX. A document of such a file has the YAML of its import.
pub(crate) const FORMAT: Format = Format {
    name: "ONNX",
    extensions: extensions::ONNX,
    kinds: &[Kind::Network],
    has_members: false,
    ..yaml::FORMAT
};

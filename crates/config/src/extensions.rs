//! Extensions of input files, without a dot and in lower case. A reference that ends in one is a path.

use std::path::Path;

/// Extensions of YAML.
pub(super) const YAML: &[&str] = &["yaml", "yml"];
/// Extension of the published artifact's own text format.
pub(super) const MAESTRO: &[&str] = &["m"];
/// Extension of ONNX.
pub(super) const ONNX: &[&str] = &["onnx"];
/// Extension of topologies of SCALE-Sim.
pub(super) const CSV: &[&str] = &["csv"];

/// Those of every format.
const ALL: &[&[&str]] = &[YAML, MAESTRO, ONNX, CSV];

/// Whether `reference` ends as input files do.
pub(super) fn names_a_file(reference: &str) -> bool {
    ALL.iter().any(|extensions| has_extension(reference, extensions))
}

/// The ending with which `path` is a file.
pub(super) fn missing(path: &Path) -> Option<&'static str> {
    let is_file = |ending: &&&str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        Path::new(&name).is_file()
    };
    ALL.iter().copied().flatten().find(is_file).copied()
}

/// Whether `name` ends in one of `extensions`, in any case.
pub(super) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

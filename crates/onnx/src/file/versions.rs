//! Versions of the format and of the operators.

use super::super::graph::Model;
use super::Error;

/// Versions of the format that are read.
const IR_VERSIONS: [i64; 2] = [3, 13];

/// Versions of the operators of ONNX that are read. Before 7, broadcasting was another.
const OPSETS: [i64; 2] = [7, 24];

/// Checks the versions of `model`. Newer ones are warnings.
pub(super) fn check(model: &Model, warnings: &mut Vec<String>) -> Result<(), Error> {
    let [oldest, newest] = IR_VERSIONS;
    let found = model.ir_version;
    // A file without a version is read as an old one.
    if found != 0 && found < oldest {
        return Err(Error::whole(format!(
            "IR version {found}; {oldest} is the oldest that is read"
        )));
    }
    if found > newest {
        warnings
            .push(format!("IR version {found} is newer than {newest}, the newest that was tested"));
    }
    let [oldest, newest] = OPSETS;
    let of_functions = model.functions.iter().flat_map(|function| &function.opsets);
    let opsets = model.opsets.iter().chain(of_functions);
    let found = opsets.filter(|(domain, _)| domain.is_empty()).map(|(_, version)| *version);
    let Some((least, most)) = found.fold(None, |range: Option<(i64, i64)>, version| {
        let (least, most) = range.unwrap_or((version, version));
        Some((least.min(version), most.max(version)))
    }) else {
        return Err(Error::whole("no opset: the file does not state the version of its operators"));
    };
    if least < oldest {
        return Err(Error::whole(format!("opset {least}; {oldest} is the oldest that is read")));
    }
    if most > newest {
        warnings.push(format!("opset {most} is newer than {newest}, the newest that was tested"));
    }
    Ok(())
}

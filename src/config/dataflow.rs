//! `dataflow:` files: how layers are mapped, as directives in MAESTRO's notation.

use crate::dataflow::Dataflow;

use super::maestro::{Line, Notation, assemble, parse_directive};
use super::yaml::read::{Problems, at, list, one_of, proper_name};
use super::yaml::{Fields, Node, Value};

/// Words of `axes`.
const AXES: [(&str, Notation); 2] = [("convolution", Notation::Full), ("gemm", Notation::Gemm)];

/// Reads the body of a `dataflow:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Dataflow> {
    let mut fields = Fields::of(node, "a dataflow", problems)?;
    let name = fields.required("name", proper_name);
    let notation = fields.optional("axes", one_of(&AXES)).unwrap_or_default();
    let line = |node: &Node<'_>, problems: &mut Problems| line(node, notation, problems);
    let lines = fields.required("directives", list("directives", at(line)));
    fields.finish();
    let lines = lines?;
    let opening = lines.first().map_or(0..0, |line| line.span.clone());
    match assemble(name?, opening, lines, notation) {
        Ok(dataflow) => Some(dataflow),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// Reads one directive, e.g. `SpatialMap(1,1) X'` or `Cluster(16)`.
fn line(node: &Node<'_>, notation: Notation, problems: &mut Problems) -> Option<Line> {
    let Value::Scalar { text, .. } = &node.value else {
        problems.push(node.mismatch(&"a directive, e.g. `SpatialMap(1,1) K`"));
        return None;
    };
    match parse_directive(text, notation) {
        Ok(line) => Some(line),
        Err(mut problem) => {
            // Where quotes or line breaks shift the text, the whole directive is marked.
            problem.span = if node.span.len() == text.len() {
                node.span.start + problem.span.start..node.span.start + problem.span.end
            } else {
                node.span.clone()
            };
            problems.push(problem);
            None
        }
    }
}

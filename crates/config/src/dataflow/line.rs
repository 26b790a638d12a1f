//! Single directives in YAML files.

use crate::maestro::{Line, Notation, parse_directive};
use crate::yaml::read::Problems;
use crate::yaml::{Node, Value};

/// Reads one directive, e.g. `SpatialMap(1,1) X'` or `Cluster(16)`.
pub(crate) fn read(node: &Node<'_>, notation: Notation, problems: &mut Problems) -> Option<Line> {
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

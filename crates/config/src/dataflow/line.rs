//! Single directives in YAML files.

use serde_json::json;

use crate::form::Form;
use crate::maestro::{Line, Notation, parse_directive};
use crate::yaml::read::Problems;
use crate::yaml::values::{Reader, value};
use crate::yaml::{Node, Value};

/// One directive, e.g. `SpatialMap(1,1) X'` or `Cluster(16)`.
pub(crate) fn directive(notation: Notation) -> impl Reader<Value = Line> {
    value(move |node, problems| read(node, notation, problems), form)
}

fn form() -> Form {
    let keywords = json!({
        "type": "string",
        "pattern": r"^\s*(?:SpatialMap|TemporalMap|Cluster|OffChip)\b",
        "patternErrorMessage": "a directive is SpatialMap(size,offset) AXIS, TemporalMap(size,offset) AXIS, Cluster(n) or OffChip",
    });
    Form::new(keywords, "`SpatialMap(size,offset) AXIS`, `TemporalMap(size,offset) AXIS`, `Cluster(n)` or `OffChip`")
        .says("A directive")
        .remark("Sizes are whole numbers, or sizes of the layer such as `Sz(R)`.")
}

fn read(node: &Node<'_>, notation: Notation, problems: &mut Problems) -> Option<Line> {
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

//! `dataflow:` files: how layers are mapped, as directives in MAESTRO's notation.

use std::ops::Range;

use crate::dataflow::{ClusterLevel, Dataflow, DataflowError, Directive};

use super::Problem;
use super::maestro::{DirectiveOrCluster, parse_directive};
use super::yaml::read::{At, Problems, at, list, text};
use super::yaml::{Fields, Node, Value};

/// Reads the body of a `dataflow:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Dataflow> {
    let mut fields = Fields::of(node, "a dataflow", problems)?;
    let name = fields.required("name", text);
    let lines = fields.required("directives", list("directives", at(line)));
    fields.finish();
    let lines = lines?;
    let levels = split(&lines);
    let checked = levels.iter().enumerate().map(|(index, level)| level.to_domain().check(index));
    let mut errors: Vec<_> = checked.filter_map(Result::err).collect();
    let domain = levels.iter().map(Level::to_domain).collect();
    let dataflow = Dataflow::new(name?, domain);
    if let (Err(error), true) = (&dataflow, errors.is_empty()) {
        errors.push(error.clone());
    }
    let place = |error: &DataflowError| Problem::new(place(error, &levels), error.to_string());
    problems.extend(errors.iter().map(place));
    dataflow.ok()
}

/// Reads one directive, e.g. `SpatialMap(1,1) X'` or `Cluster(16)`.
fn line(node: &Node<'_>, problems: &mut Problems) -> Option<DirectiveOrCluster> {
    let Value::Scalar { text, .. } = &node.value else {
        problems.push(node.mismatch(&"a directive, e.g. `SpatialMap(1,1) K`"));
        return None;
    };
    match parse_directive(text) {
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

/// A level with the places of its lines.
struct Level {
    units: Option<u32>,
    directives: Vec<At<Directive>>,
    /// Its first line.
    span: Range<usize>,
}

impl Level {
    fn to_domain(&self) -> ClusterLevel {
        let directives = self.directives.iter().map(|directive| directive.value).collect();
        ClusterLevel { units: self.units, directives }
    }
}

/// Splits the lines at their clusters.
fn split(lines: &[At<DirectiveOrCluster>]) -> Vec<Level> {
    let level =
        |units, span: &Range<usize>| Level { units, directives: vec![], span: span.clone() };
    let mut current = level(None, &lines.first().map_or(0..0, |line| line.span.clone()));
    let mut levels = Vec::new();
    for At { span, value } in lines {
        match *value {
            DirectiveOrCluster::Directive(directive) => {
                current.directives.push(At { span: span.clone(), value: directive });
            }
            DirectiveOrCluster::Cluster(units) => {
                levels.push(std::mem::replace(&mut current, level(Some(units), span)));
            }
        }
    }
    levels.push(current);
    levels
}

/// The bytes that `error` is about.
fn place(error: &DataflowError, levels: &[Level]) -> Range<usize> {
    let (level, second) = match *error {
        DataflowError::AxisTwice { level, axis } => {
            let directives = levels[level].directives.iter();
            let mut maps = directives.filter(|map| map.value.axis.input_axis().name() == axis);
            (level, maps.nth(1))
        }
        DataflowError::SpatialMaps { level, .. } | DataflowError::Size { level, .. } => {
            (level, None)
        }
        DataflowError::TooManyLevels { .. } => (Dataflow::MAX_LEVELS, None),
        _ => (0, None),
    };
    second.map_or(levels[level].span.clone(), |line| line.span.clone())
}

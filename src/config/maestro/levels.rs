//! From lines of directives to a checked dataflow, with the place of everything that is wrong.

use std::ops::Range;

use crate::config::Problem;
use crate::dataflow::{ClusterLevel, Dataflow, DataflowError, Directive};

/// One line of a dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectiveOrCluster {
    /// `TemporalMap(size,offset) axis` or `SpatialMap(size,offset) axis`.
    Directive(Directive),
    /// `Cluster(size)` or `Cluster(size,type)`; the type has no effect.
    Cluster(u32),
}

/// The dataflow of `lines`, each with its bytes in the text; `opening` are those of the word that
/// opens the dataflow, which stand for its outermost level.
///
/// # Errors
///
/// The first violated rule of every level ([`DataflowError`]).
pub fn assemble(
    name: impl Into<Box<str>>,
    opening: Range<usize>,
    lines: Vec<(DirectiveOrCluster, Range<usize>)>,
) -> Result<Dataflow, Vec<Problem>> {
    let levels = split(opening, lines);
    let domain: Vec<_> = levels.iter().map(Level::to_domain).collect();
    let bounded = domain.iter().take(Dataflow::MAX_LEVELS).enumerate();
    let errors: Vec<_> = bounded.filter_map(|(index, level)| level.check(index).err()).collect();
    let locate = |error: &DataflowError| Problem::new(place(error, &levels), error.to_string());
    if !errors.is_empty() {
        return Err(errors.iter().map(locate).collect());
    }
    Dataflow::new(name, domain).map_err(|error| vec![locate(&error)])
}

/// A level with the places of its lines.
struct Level {
    /// What opens it: the dataflow or a cluster.
    opening: Range<usize>,
    units: Option<u32>,
    directives: Vec<(Directive, Range<usize>)>,
}

impl Level {
    fn new(opening: Range<usize>, units: Option<u32>) -> Self {
        Self { opening, units, directives: Vec::new() }
    }

    fn to_domain(&self) -> ClusterLevel {
        let directives = self.directives.iter().map(|&(directive, _)| directive).collect();
        ClusterLevel { units: self.units, directives }
    }
}

/// Splits the lines at their clusters.
fn split(opening: Range<usize>, lines: Vec<(DirectiveOrCluster, Range<usize>)>) -> Vec<Level> {
    let mut current = Level::new(opening, None);
    let mut levels = Vec::new();
    for (line, span) in lines {
        match line {
            DirectiveOrCluster::Directive(directive) => current.directives.push((directive, span)),
            DirectiveOrCluster::Cluster(units) => {
                levels.push(std::mem::replace(&mut current, Level::new(span, Some(units))));
            }
        }
    }
    levels.push(current);
    levels
}

/// The bytes that `error` is about: the second map of an axis, or what opens the level.
fn place(error: &DataflowError, levels: &[Level]) -> Range<usize> {
    let level = match *error {
        DataflowError::AxisTwice { level, .. }
        | DataflowError::SpatialMaps { level, .. }
        | DataflowError::Size { level, .. } => level,
        DataflowError::TooManyLevels { .. } => Dataflow::MAX_LEVELS,
        _ => 0,
    };
    second_map(error, &levels[level]).unwrap_or_else(|| levels[level].opening.clone())
}

fn second_map(error: &DataflowError, level: &Level) -> Option<Range<usize>> {
    let DataflowError::AxisTwice { axis, .. } = error else {
        return None;
    };
    let mut maps = level.directives.iter().filter(|(map, _)| map.axis.input_axis().name() == *axis);
    maps.nth(1).map(|(_, span)| span.clone())
}

//! From lines of directives to a checked dataflow, with the place of everything that is wrong.

use std::ops::Range;

use crate::config::{At, Problem};
use crate::dataflow::{Axis, ClusterLevel, Dataflow, DataflowError, Directive, Mapping, Size};

/// One line of a dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectiveOrCluster {
    /// `TemporalMap(size,offset) axis` or `SpatialMap(size,offset) axis`.
    Directive(Directive),
    /// `Cluster(size)` or `Cluster(size,type)`; the type has no effect.
    Cluster(Size),
}

/// How directives are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notation {
    /// As in the artifact's files: no batch, no groups, sizes are numbers, and every level has one or
    /// two spatial maps.
    Artifact,
    /// Every axis, and sizes that depend on the layer.
    #[default]
    Full,
    /// The same in the names of a matrix product O\[M,N\] = A\[M,K\] B\[K,N\].
    Gemm,
}

impl Notation {
    /// Axes with their names.
    pub fn axes(self) -> &'static [(Axis, &'static str)] {
        const GEMM: [(Axis, &str); 3] = [(Axis::OutputY, "M"), (Axis::K, "N"), (Axis::C, "K")];
        match self {
            Self::Artifact => &Axis::ALL[..8],
            Self::Full => &Axis::ALL,
            Self::Gemm => &GEMM,
        }
    }

    /// The axis called `name`.
    pub fn axis(self, name: &str) -> Option<Axis> {
        self.axes().iter().find(|(_, known)| *known == name).map(|&(axis, _)| axis)
    }

    /// Problem of a level that only this notation has.
    fn check(self, level: &Level, index: usize) -> Option<Problem> {
        let maps = level.directives.iter();
        let found = maps.filter(|map| map.value.mapping == Mapping::Spatial).count();
        (self == Self::Artifact && !(1..=2).contains(&found)).then(|| {
            let message =
                format!("level {index} has {found} spatial maps; a level needs one, at most two");
            Problem::new(level.opening.clone(), message)
        })
    }
}

/// The dataflow of `lines`, each with its bytes in the text; `opening` are those of the word that
/// opens the dataflow, which stand for its outermost level.
///
/// # Errors
///
/// The first violated rule of every level ([`DataflowError`], and those of the notation).
pub fn assemble(
    name: impl Into<Box<str>>,
    opening: Range<usize>,
    lines: Vec<At<DirectiveOrCluster>>,
    notation: Notation,
) -> Result<Dataflow, Vec<Problem>> {
    let levels = split(opening, lines);
    let domain: Vec<_> = levels.iter().map(Level::to_domain).collect();
    let locate = |error: &DataflowError| Problem::new(place(error, &levels), error.to_string());
    let bounded = domain.iter().zip(&levels).take(Dataflow::MAX_LEVELS).enumerate();
    let problems: Vec<_> = bounded
        .filter_map(|(index, (level, placed))| match level.check(index) {
            Err(error) => Some(locate(&error)),
            Ok(()) => notation.check(placed, index),
        })
        .collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    Dataflow::new(name, domain).map_err(|error| vec![locate(&error)])
}

/// A level with the places of its lines.
struct Level {
    /// Bytes of the word that opens it: the dataflow or a cluster.
    opening: Range<usize>,
    units: Option<Size>,
    directives: Vec<At<Directive>>,
}

impl Level {
    fn new(opening: Range<usize>, units: Option<Size>) -> Self {
        Self { opening, units, directives: Vec::new() }
    }

    fn to_domain(&self) -> ClusterLevel {
        let directives = self.directives.iter().map(|directive| directive.value).collect();
        ClusterLevel { units: self.units, directives }
    }
}

/// Splits the lines at their clusters.
fn split(opening: Range<usize>, lines: Vec<At<DirectiveOrCluster>>) -> Vec<Level> {
    let mut current = Level::new(opening, None);
    let mut levels = Vec::new();
    for At { span, value } in lines {
        match value {
            DirectiveOrCluster::Directive(directive) => {
                current.directives.push(At { span, value: directive })
            }
            DirectiveOrCluster::Cluster(units) => {
                levels.push(std::mem::replace(&mut current, Level::new(span, Some(units))));
            }
        }
    }
    levels.push(current);
    levels
}

/// The bytes that `error` is about: the second map of an axis, or the word that opens the level.
fn place(error: &DataflowError, levels: &[Level]) -> Range<usize> {
    let level = match *error {
        DataflowError::AxisTwice { level, .. } | DataflowError::Size { level, .. } => level,
        DataflowError::TooManyLevels { .. } => Dataflow::MAX_LEVELS,
        _ => 0,
    };
    second_map(error, &levels[level]).unwrap_or_else(|| levels[level].opening.clone())
}

fn second_map(error: &DataflowError, level: &Level) -> Option<Range<usize>> {
    let DataflowError::AxisTwice { axis, .. } = error else {
        return None;
    };
    let mut maps =
        level.directives.iter().filter(|map| map.value.axis.input_axis().name() == *axis);
    maps.nth(1).map(|map| map.span.clone())
}

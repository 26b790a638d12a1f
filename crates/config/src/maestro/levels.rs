//! From lines of directives to a checked dataflow, with the place of everything that is wrong.

use std::ops::Range;

use crate::{At, Problem};
use xrsim_model::dataflow::{
    Axis, ClusterLevel, Dataflow, DataflowError, Directive, Directives, LevelId, Mapping, Size,
    check_off_chip,
};

/// One line of a dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// `TemporalMap(size,offset) axis` or `SpatialMap(size,offset) axis`.
    Directive(Directive),
    /// `Cluster(size)` or `Cluster(size,type)`; the type has no effect.
    Cluster(Size),
    /// `OffChip`, the end of the maps above the shared memory.
    OffChip,
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
    lines: Vec<At<Line>>,
    notation: Notation,
) -> Result<Dataflow, Vec<Problem>> {
    let lines = split(opening, lines)?;
    let domain = lines.to_domain();
    let locate = |error: &DataflowError| Problem::new(lines.place(error), error.to_string());
    let off_chip = check_off_chip(&domain.off_chip).err().map(|error| locate(&error));
    let bounded = domain.levels.iter().zip(&lines.levels).take(Dataflow::MAX_LEVELS).enumerate();
    let on_chip = bounded.filter_map(|(index, (level, placed))| match level.check(index) {
        Err(error) => Some(locate(&error)),
        Ok(()) => notation.check(placed, index),
    });
    let problems: Vec<_> = off_chip.into_iter().chain(on_chip).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    Dataflow::new(name, domain).map_err(|error| vec![locate(&error)])
}

/// Lines of a dataflow by level.
pub struct Lines {
    off_chip: Option<Level>,
    levels: Vec<Level>,
}

impl Lines {
    /// The directives, without their places.
    pub fn to_domain(&self) -> Directives {
        Directives {
            off_chip: self.off_chip.as_ref().map_or(Vec::new(), Level::to_directives),
            levels: self.levels.iter().map(Level::to_domain).collect(),
        }
    }

    /// The bytes that `error` is about: the second map of an axis, or the word that opens the level.
    fn place(&self, error: &DataflowError) -> Range<usize> {
        let level = match *error {
            DataflowError::AxisTwice { level, .. } | DataflowError::Size { level, .. } => level,
            DataflowError::TooManyLevels { .. } => {
                LevelId::OnChip(Dataflow::MAX_LEVELS - usize::from(self.off_chip.is_some()))
            }
            _ => LevelId::OnChip(0),
        };
        let level = match (level, &self.off_chip) {
            (LevelId::OnChip(level), _) => &self.levels[level],
            (LevelId::OffChip, Some(level)) => level,
            (LevelId::OffChip, None) => &self.levels[0],
        };
        second_map(error, level).unwrap_or_else(|| level.opening.clone())
    }
}

/// A level with the places of its lines.
struct Level {
    /// Bytes of the word that opens it: the dataflow, a cluster, or `OffChip` for level 0 under it.
    opening: Range<usize>,
    units: Option<Size>,
    directives: Vec<At<Directive>>,
}

impl Level {
    fn new(opening: Range<usize>, units: Option<Size>) -> Self {
        Self { opening, units, directives: Vec::new() }
    }

    fn to_directives(&self) -> Vec<Directive> {
        self.directives.iter().map(|directive| directive.value).collect()
    }

    fn to_domain(&self) -> ClusterLevel {
        ClusterLevel { units: self.units, directives: self.to_directives() }
    }
}

/// Splits the lines of a dataflow at `OffChip` and at clusters. `opening` are the bytes of the word that
/// opens the dataflow.
///
/// # Errors
///
/// Every `OffChip` that is the second one, stands after a cluster or has no map before it, and every
/// spatial map before it.
pub fn split(opening: Range<usize>, lines: Vec<At<Line>>) -> Result<Lines, Vec<Problem>> {
    let mut current = Level::new(opening, None);
    let mut split = Lines { off_chip: None, levels: Vec::new() };
    let mut problems = Vec::new();
    for At { span, value } in lines {
        match value {
            Line::Directive(directive) => current.directives.push(At { span, value: directive }),
            Line::Cluster(units) => {
                let next = Level::new(span, Some(units));
                split.levels.push(std::mem::replace(&mut current, next));
            }
            Line::OffChip => {
                if let Some(message) = misplaced_off_chip(&split, &current) {
                    problems.push(Problem::new(span, message));
                    continue;
                }
                problems.extend(current.directives.iter().filter_map(spatial_off_chip));
                let next = Level::new(span, None);
                split.off_chip = Some(std::mem::replace(&mut current, next));
            }
        }
    }
    split.levels.push(current);
    if problems.is_empty() { Ok(split) } else { Err(problems) }
}

/// Reason for which `OffChip` cannot end the level `current`; `None` if it can.
fn misplaced_off_chip(before: &Lines, current: &Level) -> Option<&'static str> {
    if before.off_chip.is_some() {
        Some("a second `OffChip`; a dataflow has at most one")
    } else if !before.levels.is_empty() {
        Some("`OffChip` after a cluster; it stands before the first cluster")
    } else if current.directives.is_empty() {
        Some("`OffChip` without a temporal map before it")
    } else {
        None
    }
}

/// Problem of a map above the shared memory if it is spatial.
fn spatial_off_chip(map: &At<Directive>) -> Option<Problem> {
    let directive = map.value;
    let is_spatial = directive.mapping == Mapping::Spatial;
    let error = || DataflowError::SpatialOffChip { directive };
    is_spatial.then(|| Problem::new(map.span.clone(), error().to_string()))
}

fn second_map(error: &DataflowError, level: &Level) -> Option<Range<usize>> {
    let DataflowError::AxisTwice { axis, .. } = error else {
        return None;
    };
    let mut maps =
        level.directives.iter().filter(|map| map.value.axis.input_axis().name() == *axis);
    maps.nth(1).map(|map| map.span.clone())
}

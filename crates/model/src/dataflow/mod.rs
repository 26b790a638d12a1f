//! Dataflows: data-centric directives, split into cluster levels (MAESTRO, MICRO'19).
//!
//! This module does not know layer extents and hardware; a dataflow is legal or not by itself.
//! Whether a layer fits shows when it is costed: an axis without a directive is held whole, so that
//! most dataflows map `OutputY` and `OutputX`. [`hardware`](crate::hardware) has an example.

mod flexibility;
mod layers;

use std::fmt;

use thiserror::Error;

pub use flexibility::Flexibility;
pub use layers::{LayerMapping, LayerMemory, LayerShape, LayerWindow};

/// An axis that a directive maps. In directives `Y` and `X` are input rows and columns (in the loop nest of
/// the cost model `loop-nest` they are output rows and columns); `OutputY`, `OutputX` (written
/// `Y'`, `X'`) output rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// Input channels.
    C,
    /// Output channels.
    K,
    /// Kernel rows.
    R,
    /// Kernel columns.
    S,
    /// Input columns.
    X,
    /// Input rows.
    Y,
    /// Output columns, `X'`.
    OutputX,
    /// Output rows, `Y'`.
    OutputY,
    /// Batch.
    N,
    /// Groups of channels.
    G,
}

impl Axis {
    /// Every axis with its spelling.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::C, "C"),
        (Self::K, "K"),
        (Self::R, "R"),
        (Self::S, "S"),
        (Self::X, "X"),
        (Self::Y, "Y"),
        (Self::OutputX, "X'"),
        (Self::OutputY, "Y'"),
        (Self::N, "N"),
        (Self::G, "G"),
    ];

    /// The axis written `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|&(axis, _)| axis)
    }

    /// Spelling.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The input axis that this one constrains: `Y'` and `X'` count as `Y` and `X`.
    pub fn input_axis(self) -> Self {
        match self {
            Self::OutputX => Self::X,
            Self::OutputY => Self::Y,
            other => other,
        }
    }
}

/// Whether a map advances over time steps or places units side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// `TemporalMap`: advances by the offset from one step to the next.
    Temporal,
    /// `SpatialMap`: places neighbouring units at the distance of the offset.
    Spatial,
}

/// A size in a directive: a number, or one that depends on the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number, at least 1.
    Fixed(u32),
    /// `Sz(axis)`, the layer's extent, plus a number.
    Extent {
        /// Axis of which the extent is meant.
        axis: Axis,
        /// Number that is added.
        plus: i32,
    },
}

impl Size {
    /// The number; `None` if it depends on the layer.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Fixed(number) => Some(number),
            Self::Extent { .. } => None,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fixed(number) => write!(f, "{number}"),
            Self::Extent { axis, plus: 0 } => write!(f, "Sz({})", axis.name()),
            Self::Extent { axis, plus } => write!(f, "Sz({}){plus:+}", axis.name()),
        }
    }
}

/// One map directive: `TemporalMap(size,offset) axis` or `SpatialMap(size,offset) axis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Directive {
    /// Temporal or spatial.
    pub mapping: Mapping,
    /// Extent that one unit holds.
    pub size: Size,
    /// Distance between steps or units.
    pub offset: Size,
    /// The mapped axis.
    pub axis: Axis,
}

impl Directive {
    /// `TemporalMap(size,offset) axis`.
    pub fn temporal(size: u32, offset: u32, axis: Axis) -> Self {
        let [size, offset] = [size, offset].map(Size::Fixed);
        Self { mapping: Mapping::Temporal, size, offset, axis }
    }

    /// `SpatialMap(size,offset) axis`.
    pub fn spatial(size: u32, offset: u32, axis: Axis) -> Self {
        Self { mapping: Mapping::Spatial, ..Self::temporal(size, offset, axis) }
    }
}

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.mapping {
            Mapping::Temporal => "TemporalMap",
            Mapping::Spatial => "SpatialMap",
        };
        write!(f, "{kind}({},{}) {}", self.size, self.offset, self.axis.name())
    }
}

/// The directives between two cluster directives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClusterLevel {
    /// Units of this level; `None` at the outermost, which has as many as the PEs allow.
    pub units: Option<Size>,
    /// Maps, outer loop first.
    pub directives: Vec<Directive>,
}

/// Operand that a PE keeps from one step to the next in every mapping of a style, if its hardware may choose sizes
/// and orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stationary {
    /// Its inputs.
    Inputs,
    /// Its weights.
    Weights,
    /// Its partial sums.
    Outputs,
    /// Rows of weights and of inputs: kernel columns are not split.
    Rows,
}

impl Stationary {
    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("inputs", Self::Inputs),
        ("weights", Self::Weights),
        ("outputs", Self::Outputs),
        ("rows", Self::Rows),
    ];

    /// Name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// Directives of all levels, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Directives {
    /// Temporal maps above the shared memory, outer loop first: the off-chip level. If there are none, no
    /// such level exists.
    pub off_chip: Vec<Directive>,
    /// Levels on chip, outermost first.
    pub levels: Vec<ClusterLevel>,
}

impl From<Vec<ClusterLevel>> for Directives {
    /// These levels without an off-chip level.
    fn from(levels: Vec<ClusterLevel>) -> Self {
        Self { off_chip: Vec::new(), levels }
    }
}

impl Directives {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.off_chip.is_empty() && self.levels.iter().all(|level| level.directives.is_empty())
    }

    /// Whether these directives make a dataflow.
    ///
    /// # Errors
    ///
    /// The first violated rule of [`DataflowError`], outermost level first.
    fn check(&self) -> Result<(), DataflowError> {
        let Self { off_chip, levels } = self;
        if self.is_empty() {
            return Err(DataflowError::Empty);
        }
        let found = levels.len() + usize::from(!off_chip.is_empty());
        if found > Dataflow::MAX_LEVELS {
            return Err(DataflowError::TooManyLevels { found });
        }
        check_off_chip(off_chip)?;
        for (index, level) in levels.iter().enumerate() {
            if level.units.is_some() != (index > 0) {
                return Err(DataflowError::Units { level: index });
            }
            level.check(index)?;
        }
        Ok(())
    }

    /// PEs of one outermost unit, saturating; sizes that depend on the layer count as 1.
    fn pes_per_unit(&self) -> u64 {
        let units = self.levels.iter().filter_map(|level| level.units?.fixed());
        units.fold(1, |product, units| product.saturating_mul(u64::from(units)))
    }
}

/// A dataflow: an optional off-chip level, and cluster levels, outermost first. It may have directives for
/// single layers beside those for all layers, or instead of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dataflow {
    name: Box<str>,
    /// Directives for all layers; empty if there are only those for single layers.
    directives: Directives,
    layers: Vec<LayerMapping>,
    stationary: Option<Stationary>,
    flexibility: Option<Flexibility>,
}

/// A level of a dataflow in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LevelId {
    /// The level above the shared memory.
    OffChip,
    /// A level on chip, counted from 0, outermost first.
    OnChip(usize),
}

impl fmt::Display for LevelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OffChip => f.write_str("the off-chip level"),
            Self::OnChip(level) => write!(f, "level {level}"),
        }
    }
}

/// Reasons why a dataflow is impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataflowError {
    /// No directives at all.
    #[error("a dataflow needs at least one directive")]
    Empty,
    /// An axis is mapped twice in one level.
    #[error("{level} maps {axis} twice ({axis} and its output axis count as one)")]
    AxisTwice {
        /// Level.
        level: LevelId,
        /// Axis.
        axis: &'static str,
    },
    /// A size is 0 or too large.
    #[error("{level}: {what} is {found}; allowed are 1 to {}", Dataflow::MAX_SIZE)]
    Size {
        /// Level.
        level: LevelId,
        /// Name of the size.
        what: &'static str,
        /// Given size.
        found: u32,
    },
    /// Units given at the outermost level, or missing at an inner one.
    #[error("level {level}: every level but the outermost needs a cluster size, and only those")]
    Units {
        /// Level, counted from 0, outermost first.
        level: usize,
    },
    /// A spatial map above the shared memory, which is one unit.
    #[error("`{directive}` above the shared memory; only temporal maps stand before `OffChip`")]
    SpatialOffChip {
        /// The map.
        directive: Directive,
    },
    /// Too many levels, the off-chip level included.
    #[error("{found} levels; at most {} are allowed", Dataflow::MAX_LEVELS)]
    TooManyLevels {
        /// Number of levels.
        found: usize,
    },
}

impl Dataflow {
    /// Largest map size, offset or cluster size.
    pub const MAX_SIZE: u32 = 1 << 24;
    /// Most levels of a dataflow.
    pub const MAX_LEVELS: usize = 8;

    /// A dataflow of `directives`: levels, outermost first, or [`Directives`] with an off-chip level.
    ///
    /// # Errors
    ///
    /// The first violated rule of [`DataflowError`], outermost level first.
    pub fn new(
        name: impl Into<Box<str>>,
        directives: impl Into<Directives>,
    ) -> Result<Self, DataflowError> {
        let directives = directives.into();
        directives.check()?;
        Ok(Self {
            name: name.into(),
            directives,
            layers: Vec::new(),
            stationary: None,
            flexibility: None,
        })
    }

    /// A dataflow with directives for single layers only.
    ///
    /// # Errors
    ///
    /// [`DataflowError::Empty`] without layers; the first violated rule of their directives.
    pub fn of_layers(
        name: impl Into<Box<str>>,
        layers: Vec<LayerMapping>,
    ) -> Result<Self, DataflowError> {
        if layers.is_empty() {
            return Err(DataflowError::Empty);
        }
        let none = Directives::default();
        let (stationary, flexibility) = (None, None);
        Self { name: name.into(), directives: none, layers: Vec::new(), stationary, flexibility }
            .with_layers(layers)
    }

    /// The same dataflow with directives for single layers, which count before those for all layers.
    ///
    /// # Errors
    ///
    /// The first violated rule of the directives of a layer.
    pub fn with_layers(self, layers: Vec<LayerMapping>) -> Result<Self, DataflowError> {
        layers.iter().try_for_each(|layer| layer.directives.check())?;
        Ok(Self { layers, ..self })
    }

    /// The same dataflow of a style whose PEs keep `stationary` in every mapping.
    #[must_use]
    pub fn keeping(self, stationary: Option<Stationary>) -> Self {
        Self { stationary, ..self }
    }

    /// The same dataflow of hardware with this flexibility, unless its accelerator or system says another.
    #[must_use]
    pub fn flexible(self, flexibility: Option<Flexibility>) -> Self {
        Self { flexibility, ..self }
    }

    /// Name, e.g. `WS`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Directives for all layers; empty if the dataflow maps only single layers.
    pub fn directives(&self) -> &Directives {
        &self.directives
    }

    /// Levels on chip for all layers, outermost first.
    pub fn levels(&self) -> &[ClusterLevel] {
        &self.directives.levels
    }

    /// Directives for single layers.
    pub fn layers(&self) -> &[LayerMapping] {
        &self.layers
    }

    /// The directives for a layer of this shape, if there are any of its own: those that are meant for
    /// the shared memory that it finds, or else others of its shape.
    pub fn of_layer(&self, shape: &LayerShape, memory: &LayerMemory) -> Option<&LayerMapping> {
        layers::find(&self.layers, shape, memory)
    }

    /// The directives for the single layer that is most like `shape`.
    pub fn nearest_layer(&self, shape: &LayerShape) -> Option<&LayerMapping> {
        layers::nearest(&self.layers, shape)
    }

    /// Operand that PEs keep in every mapping of a style.
    pub fn stationary(&self) -> Option<Stationary> {
        self.stationary
    }

    /// Flexibility of hardware with this dataflow, unless its accelerator or system says another.
    pub fn flexibility(&self) -> Option<Flexibility> {
        self.flexibility
    }

    /// Whether `other` maps every layer in the same way: it differs at most in its name.
    pub fn maps_as(&self, other: &Self) -> bool {
        self.directives == other.directives
            && self.stationary == other.stationary
            && self.layers == other.layers
    }

    /// PEs of one outermost unit: the product of all cluster sizes, saturating; the most of all layers
    /// that have directives of their own. Sizes that depend on the layer count as 1, the least that they
    /// can be.
    pub fn pes_per_unit(&self) -> u64 {
        let layers = self.layers.iter().map(|layer| layer.directives.pes_per_unit()).max();
        self.directives.pes_per_unit().max(layers.unwrap_or(1))
    }
}

impl ClusterLevel {
    /// Whether this level makes sense as number `level` of a dataflow.
    ///
    /// # Errors
    ///
    /// The first violated rule of [`DataflowError`].
    pub fn check(&self, level: usize) -> Result<(), DataflowError> {
        let level = LevelId::OnChip(level);
        if let Some(units) = self.units {
            check_size(level, "the cluster size", units)?;
        }
        check_maps(level, &self.directives)
    }
}

/// Whether these maps can stand above the shared memory.
///
/// # Errors
///
/// The first violated rule of [`DataflowError`].
pub fn check_off_chip(directives: &[Directive]) -> Result<(), DataflowError> {
    let spatial = directives.iter().find(|directive| directive.mapping == Mapping::Spatial);
    if let Some(&directive) = spatial {
        return Err(DataflowError::SpatialOffChip { directive });
    }
    check_maps(LevelId::OffChip, directives)
}

/// Whether the maps of a level have sizes in range and an axis each.
fn check_maps(level: LevelId, directives: &[Directive]) -> Result<(), DataflowError> {
    for (index, directive) in directives.iter().enumerate() {
        check_size(level, "a map size", directive.size)?;
        check_size(level, "a map offset", directive.offset)?;
        let axis = directive.axis.input_axis();
        if directives[..index].iter().any(|other| other.axis.input_axis() == axis) {
            return Err(DataflowError::AxisTwice { level, axis: axis.name() });
        }
    }
    Ok(())
}

fn check_size(level: LevelId, what: &'static str, size: Size) -> Result<(), DataflowError> {
    match size.fixed() {
        Some(found) if found == 0 || found > Dataflow::MAX_SIZE => {
            Err(DataflowError::Size { level, what, found })
        }
        _ => Ok(()),
    }
}

impl fmt::Display for Dataflow {
    /// One directive a line, as in the files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.directives.fmt(f)
    }
}

impl fmt::Display for Directives {
    /// One directive a line, as in the files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { off_chip, levels } = self;
        for directive in off_chip {
            writeln!(f, "{directive}")?;
        }
        if !off_chip.is_empty() {
            writeln!(f, "OffChip")?;
        }
        for level in levels {
            if let Some(units) = level.units {
                writeln!(f, "Cluster({units})")?;
            }
            for directive in &level.directives {
                writeln!(f, "{directive}")?;
            }
        }
        Ok(())
    }
}

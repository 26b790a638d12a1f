//! Flexibility: the choices that the hardware of an accelerator may make anew for every layer.

use std::fmt;

/// Choices that an accelerator makes for every layer. Each value includes those before it. The axes are
/// those of Kao, Kwon et al., "A formalism of DNN accelerator flexibility", SIGMETRICS 2022.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Flexibility {
    /// No choice: the directives of the dataflow map the layer as it is written.
    None,
    /// The form of the layer: loop nests with the same products and the same tensors.
    Forms,
    /// Also sizes and orders of all loops. The clusters and the axis that each level spreads are those
    /// of the dataflow.
    Tiles,
    /// Also the axes that the levels spread.
    Axes,
    /// Also the sizes of the clusters, within the PEs.
    Any,
}

impl Flexibility {
    /// Flexibility where neither a command nor a file says one.
    pub const DEFAULT: Self = Self::Tiles;

    /// Every value with its name, the least flexible first.
    pub const ALL: [(&'static str, Self); 5] = [
        ("none", Self::None),
        ("forms", Self::Forms),
        ("tiles", Self::Tiles),
        ("axes", Self::Axes),
        ("any", Self::Any),
    ];

    /// Whether it includes the sizes of the clusters.
    pub fn chooses_clusters(self) -> bool {
        self >= Self::Any
    }

    /// Name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl Default for Flexibility {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Flexibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

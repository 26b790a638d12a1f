//! The path on which outputs leave an accelerator, and what it computes on the way
//! (docs/explanation/cost-model-loop-nest.md, section 6.10).

use std::fmt;

/// Operators that cost no pass through memory of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Fusion {
    /// None: every operator reads its inputs and writes its outputs.
    #[default]
    None,
    /// Concatenations: the layers before them write to the place of the result.
    InPlace,
    /// Concatenations, and element-wise operators and pools on the outputs of a layer with products, before these
    /// outputs are written.
    Elementwise,
}

impl Fusion {
    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("none", Self::None), ("in-place", Self::InPlace), ("elementwise", Self::Elementwise)];

    /// Name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl fmt::Display for Fusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The write-back path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WriteBack {
    /// Operators that ride along.
    pub fusion: Fusion,
    /// Most operands other than the outputs of the layer that the operators of one group read.
    pub fused_reads: u32,
    /// Operations in a cycle; `None`: one on each output that leaves level 0 in a cycle.
    pub post_ops_per_cycle: Option<u32>,
}

impl WriteBack {
    /// Largest number of other operands.
    pub const MAX_READS: u32 = 16;
}

impl Default for WriteBack {
    /// Nothing rides along.
    fn default() -> Self {
        Self { fusion: Fusion::None, fused_reads: 1, post_ops_per_cycle: None }
    }
}

/// Settings of a write-back path; `None` where a file or a command has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WriteBackSettings {
    /// Operators that ride along.
    pub fusion: Option<Fusion>,
    /// Most other operands of a group.
    pub fused_reads: Option<u32>,
    /// Operations in a cycle.
    pub post_ops_per_cycle: Option<u32>,
}

impl WriteBackSettings {
    /// These settings, and those of `other` where these have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            fusion: self.fusion.or(other.fusion),
            fused_reads: self.fused_reads.or(other.fused_reads),
            post_ops_per_cycle: self.post_ops_per_cycle.or(other.post_ops_per_cycle),
        }
    }

    /// The path with these settings, and those of `path` where these have none.
    #[must_use]
    pub fn over(self, path: WriteBack) -> WriteBack {
        WriteBack {
            fusion: self.fusion.unwrap_or(path.fusion),
            fused_reads: self.fused_reads.unwrap_or(path.fused_reads),
            post_ops_per_cycle: self.post_ops_per_cycle.or(path.post_ops_per_cycle),
        }
    }
}

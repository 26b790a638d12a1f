//! How a layer reads a source.

/// How a layer reads a source, where the shapes alone do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum View {
    /// All of it, in its own shape.
    #[default]
    Whole,
    /// All of it, in another shape.
    Reshape,
    /// A part of it along one axis or several, or the result of element-wise operators on parts.
    Slice,
    /// All of it several times, or one value for many.
    Repeat,
    /// All of it and zeros around.
    Pad,
    /// Windows of its positions, the last of which are padded, and an even part of its channels.
    Windows,
    /// Elements that data choose; nothing is checked.
    Gather,
}

impl View {
    /// Every view with its name in files.
    pub const ALL: [(&'static str, Self); 7] = [
        ("whole", Self::Whole),
        ("reshape", Self::Reshape),
        ("slice", Self::Slice),
        ("repeat", Self::Repeat),
        ("pad", Self::Pad),
        ("windows", Self::Windows),
        ("gather", Self::Gather),
    ];

    /// Name in files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether a source of `given` along an axis can be read as `expected`.
    pub(super) fn relates(self, given: u64, expected: u64) -> bool {
        match self {
            Self::Whole | Self::Reshape | Self::Windows => given == expected,
            Self::Slice => given >= expected,
            Self::Pad => given <= expected,
            Self::Repeat => given > 0 && expected.is_multiple_of(given),
            Self::Gather => true,
        }
    }

    /// The least and the most that a source of `given` can be read as; windows are read by products
    /// alone.
    pub(super) fn range(self, given: u64) -> Option<[u64; 2]> {
        match self {
            Self::Whole | Self::Reshape => Some([given, given]),
            Self::Slice => Some([1.min(given), given]),
            Self::Pad | Self::Repeat => Some([given, u64::MAX]),
            Self::Gather => Some([1, u64::MAX]),
            Self::Windows => None,
        }
    }
}

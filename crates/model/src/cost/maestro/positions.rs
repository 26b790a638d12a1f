//! Sets of the loops of one level.

/// A set of loops by position in their level. Position 0 is the outermost loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Positions(u8);

impl Positions {
    /// The empty set.
    pub(super) const NONE: Self = Self(0);

    /// Positions at which `test` holds.
    #[inline]
    pub(super) fn where_true<T>(items: &[T], test: impl Fn(&T) -> bool) -> Self {
        let bits = items.iter().enumerate();
        Self(bits.fold(0, |set, (position, item)| set | u8::from(test(item)) << position))
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn contains(self, position: usize) -> bool {
        self.0 >> position & 1 != 0
    }

    #[inline]
    pub(super) fn with(self, position: usize) -> Self {
        Self(self.0 | 1 << position)
    }

    #[inline]
    pub(super) fn without(self, position: usize) -> Self {
        Self(self.0 & !(1 << position))
    }

    #[inline]
    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The outermost loop of the set.
    #[inline]
    pub(super) fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The innermost loop of the set.
    #[inline]
    pub(super) fn last(self) -> Option<usize> {
        self.0.checked_ilog2().map(|position| position as usize)
    }

    /// Every loop of the set, outermost first.
    #[inline]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self;
        std::iter::from_fn(move || {
            let position = left.first()?;
            left = left.without(position);
            Some(position)
        })
    }
}

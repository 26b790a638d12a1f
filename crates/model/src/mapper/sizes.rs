//! Families of chunk sizes from which a mapspace takes the loops of a level.

use std::fmt;

/// Sizes that the chunks of an axis may have, from the extent D that enters the level. The extent itself,
/// which makes a single chunk, belongs to every family.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sizes {
    /// Whole fractions of D.
    Divisors,
    /// Powers of two up to D.
    Powers,
    /// ceil(D/n) for n from 1 to D: for every number of chunks the size that makes them most equal.
    #[default]
    Balanced,
    /// Every size from 1 to D.
    All,
    /// Given sizes, those below D.
    List(Vec<u32>),
}

impl Sizes {
    /// Names of the families in files and on the command line.
    pub const NAMES: [&'static str; 4] = ["divisors", "powers", "balanced", "all"];

    /// The family with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "divisors" => Some(Self::Divisors),
            "powers" => Some(Self::Powers),
            "balanced" => Some(Self::Balanced),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// Sizes below `extent` and `extent` itself, ascending.
    pub(super) fn of(&self, extent: u32) -> Vec<u32> {
        let mut sizes = match self {
            Self::Divisors => divisors(extent),
            Self::Powers => {
                (0..32).map(|power| 1u32 << power).take_while(|&it| it < extent).collect()
            }
            Self::Balanced => balanced(extent),
            Self::All => (1..extent).collect(),
            Self::List(list) => list.iter().copied().filter(|&it| 0 < it && it < extent).collect(),
        };
        sizes.push(extent);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Divisors => f.write_str("divisors"),
            Self::Powers => f.write_str("powers"),
            Self::Balanced => f.write_str("balanced"),
            Self::All => f.write_str("all"),
            Self::List(list) => write!(f, "{list:?}"),
        }
    }
}

impl Sizes {
    /// The size of the family nearest to `size`, from 1 to `extent`.
    pub(super) fn nearest(&self, size: u32, extent: u32) -> u32 {
        let size = size.clamp(1, extent);
        match self {
            Self::All => size,
            Self::Balanced => extent.div_ceil(extent.div_ceil(size)),
            Self::Powers if size == extent => extent,
            Self::Powers => 1 << size.ilog2(),
            Self::Divisors | Self::List(_) => {
                let sizes = self.of(extent);
                let distance = |&other: &u32| other.abs_diff(size);
                sizes.into_iter().min_by_key(distance).unwrap_or(extent)
            }
        }
    }
}

/// Divisors of `extent`, in pairs of a small and a large one.
fn divisors(extent: u32) -> Vec<u32> {
    let small = (1..).take_while(|small: &u32| small.saturating_mul(*small) <= extent);
    small.filter(|small| extent.is_multiple_of(*small)).flat_map(|it| [it, extent / it]).collect()
}

/// Distinct values of ceil(extent/n), found by stepping from each to the next smaller one.
fn balanced(extent: u32) -> Vec<u32> {
    let next = |&size: &u32| (size > 1).then(|| extent.div_ceil(extent.div_ceil(size - 1)));
    std::iter::successors(Some(extent), next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_sizes_are_all_the_rounded_fractions() {
        for extent in 1..300 {
            let mut expected: Vec<_> = (1..=extent).map(|n: u32| extent.div_ceil(n)).collect();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(Sizes::Balanced.of(extent), expected);
        }
    }

    #[test]
    fn families_hold_their_sizes_and_the_extent() {
        assert_eq!(Sizes::Divisors.of(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(Sizes::Powers.of(12), [1, 2, 4, 8, 12]);
        assert_eq!(Sizes::Powers.of(1), [1]);
        assert_eq!(Sizes::List(vec![5, 0, 40, 3]).of(12), [3, 5, 12]);
    }
}

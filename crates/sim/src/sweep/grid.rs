//! Grids: the points of a sweep, their order and their identities.
//!
//! A point is a list of settings: keys and values as text, without their meaning.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// Settings that vary together, as a table: a column for each key, a row for each choice. An axis of a
/// product has one column. A list of points has several, and cells may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Keys of the columns.
    pub keys: Vec<Box<str>>,
    /// Values, `[row][column]`; `None` where the row does not set the key.
    pub rows: Vec<Vec<Option<Box<str>>>>,
}

impl Factor {
    /// The axis of `key` with these values.
    pub fn axis<T: Into<Box<str>>>(key: &str, values: impl IntoIterator<Item = T>) -> Self {
        let rows = values.into_iter().map(|value| vec![Some(value.into())]).collect();
        Self { keys: vec![key.into()], rows }
    }
}

/// The product of factors: every row of each factor with every row of the others. The first factor
/// varies slowest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    factors: Vec<Factor>,
    keys: Vec<Box<str>>,
    /// Columns in byte order of their keys.
    by_key: Vec<usize>,
    n_points: u64,
}

/// Factors that do not make a grid. Factors and rows count from 0 in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A key is set by two columns.
    #[error("`{key}` is given twice")]
    RepeatedKey {
        /// Factor of the second column.
        factor: usize,
        /// The key.
        key: Box<str>,
    },
    /// Two rows of a factor are equal, so that points could not be distinguished.
    #[error("given twice")]
    RepeatedRow {
        /// The factor.
        factor: usize,
        /// The second of the rows.
        row: usize,
    },
    /// There are more points than allowed.
    #[error("{points} points; at most {} are allowed", Grid::MAX_POINTS)]
    TooManyPoints {
        /// Number of points; 2^128 - 1 stands for more.
        points: u128,
    },
}

impl Grid {
    /// Maximum number of points: half a day at 2,000 points per second.
    pub(crate) const MAX_POINTS: u64 = 100_000_000;

    /// The product of `factors`, which is empty if a factor has no rows.
    ///
    /// # Errors
    ///
    /// [`GridError`] if a key or a row is repeated, or if there are too many points.
    pub fn new(factors: Vec<Factor>) -> Result<Self, GridError> {
        let mut keys: Vec<Box<str>> = Vec::new();
        let mut points = 1u128;
        for (index, factor) in factors.iter().enumerate() {
            for key in &factor.keys {
                if keys.contains(key) {
                    return Err(GridError::RepeatedKey { factor: index, key: key.clone() });
                }
                keys.push(key.clone());
            }
            let mut seen = HashSet::new();
            if let Some(row) = factor.rows.iter().position(|row| !seen.insert(row)) {
                return Err(GridError::RepeatedRow { factor: index, row });
            }
            points = points.saturating_mul(factor.rows.len() as u128);
        }
        let n_points = u64::try_from(points).ok().filter(|points| *points <= Self::MAX_POINTS);
        let n_points = n_points.ok_or(GridError::TooManyPoints { points })?;
        let mut by_key: Vec<_> = (0..keys.len()).collect();
        by_key.sort_by_key(|&column| &keys[column]);
        Ok(Self { factors, keys, by_key, n_points })
    }

    /// Number of points.
    pub fn n_points(&self) -> u64 {
        self.n_points
    }

    /// Factors, the slowest first.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// Keys of all columns, in the order of the factors.
    pub fn keys(&self) -> &[Box<str>] {
        &self.keys
    }

    /// The point at `index`, below [`Grid::n_points`].
    pub fn point(&self, index: u64) -> Point<'_> {
        let mut left = index;
        let mut rows = Vec::with_capacity(self.factors.len());
        for factor in self.factors.iter().rev() {
            let n_rows = factor.rows.len() as u64;
            rows.push(&factor.rows[(left % n_rows) as usize]);
            left /= n_rows;
        }
        let cells = rows.into_iter().rev().flatten().map(Option::as_deref).collect();
        Point { grid: self, index, cells }
    }

    /// The index in `larger` of every point of this grid, which is there if `larger` has the same keys in the same factors
    /// and all rows of each; `None` otherwise.
    pub fn places_in(&self, larger: &Self) -> Option<Places> {
        if self.factors.len() != larger.factors.len() {
            return None;
        }
        let pairs = self.factors.iter().zip(&larger.factors);
        let factors = pairs.map(|(own, other)| {
            let rows: HashMap<_, _> =
                other.rows.iter().enumerate().map(|(at, row)| (row, at as u64)).collect();
            let rows: Option<Vec<u64>> =
                own.rows.iter().map(|row| rows.get(row).copied()).collect();
            rows.filter(|_| own.keys == other.keys).map(|rows| (rows, other.rows.len() as u64))
        });
        factors.collect::<Option<_>>().map(|factors| Places { factors })
    }

    /// SHA-256 of all keys and values in their order, 64 hexadecimal digits: equal for equal grids.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut text = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for factor in &self.factors {
            text(&format!("factor {} {}", factor.keys.len(), factor.rows.len()));
            factor.keys.iter().for_each(|key| text(key));
            for cell in factor.rows.iter().flatten() {
                match cell {
                    Some(value) => text(&format!("={value}")),
                    None => text(""),
                }
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Places of the points of a grid in a larger one.
#[derive(Debug, Clone)]
pub struct Places {
    /// For each factor the places of its rows in that of the larger grid, and the number of rows there.
    factors: Vec<(Vec<u64>, u64)>,
}

impl Places {
    /// Index in the larger grid of the point at `index`, below [`Grid::n_points`] of the smaller one.
    pub fn of(&self, index: u64) -> u64 {
        let (mut left, mut place, mut stride) = (index, 0, 1);
        for (rows, n_rows) in self.factors.iter().rev() {
            let n_own = rows.len() as u64;
            place += stride * rows[(left % n_own) as usize];
            left /= n_own;
            stride *= n_rows;
        }
        place
    }
}

/// One point of a grid.
#[derive(Debug, Clone)]
pub struct Point<'g> {
    grid: &'g Grid,
    index: u64,
    cells: Vec<Option<&'g str>>,
}

impl<'g> Point<'g> {
    /// Index in the order of points, from 0.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Keys and values that the point sets, in the order of [`Grid::keys`].
    pub fn settings(&self) -> impl Iterator<Item = (&'g str, &'g str)> {
        let keys = self.grid.keys.iter().map(|key| &**key);
        keys.zip(&self.cells).filter_map(|(key, cell)| cell.map(|value| (key, value)))
    }

    /// Value of `key`, if the point sets it.
    pub fn get(&self, key: &str) -> Option<&'g str> {
        self.settings().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Identity that does not depend on the grid: the first 16 hexadecimal digits of the SHA-256 of the
    /// lines `key=value`, in byte order of the keys.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        for &column in &self.grid.by_key {
            if let Some(value) = self.cells[column] {
                hash.update(&*self.grid.keys[column]);
                hash.update("=");
                hash.update(value);
                hash.update("\n");
            }
        }
        let digest = hash.finalize();
        let first = digest.iter().take(8).fold(0u64, |id, &byte| id << 8 | u64::from(byte));
        format!("{first:016x}")
    }
}

/// One of the equal parts of a sweep: a range of successive points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// Its number from 0, and the number of parts.
    pub fn numbers(self) -> (u64, u64) {
        (self.index, self.count)
    }

    /// All points.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// The part as options name it, such as `2/5`.
    pub fn fraction(self) -> String {
        format!("{}/{}", self.index + 1, self.count)
    }

    /// Part `number` of `count`, counted from 1; `None` if there is no such part.
    pub fn new(number: u64, count: u64) -> Option<Self> {
        (1..=count).contains(&number).then(|| Self { index: number - 1, count })
    }

    /// Indices of the points of this part. The lengths of parts differ by at most one.
    pub fn points(self, n_points: u64) -> Range<u64> {
        let start = |part: u64| {
            let start = u128::from(n_points) * u128::from(part) / u128::from(self.count);
            u64::try_from(start).expect("a part of 64 bits fits into 64 bits")
        };
        start(self.index)..start(self.index + 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-of-{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(point: &Point<'_>) -> String {
        let pairs: Vec<_> = point.settings().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join(" ")
    }

    fn listed() -> Factor {
        let row = |system: &str, pes: Option<&str>| vec![Some(system.into()), pes.map(Into::into)];
        let keys = vec!["system".into(), "pes".into()];
        Factor { keys, rows: vec![row("A", Some("1024")), row("mine.yaml", None)] }
    }

    #[test]
    fn the_first_factor_varies_slowest_and_the_last_fastest() {
        let grid = Grid::new(vec![listed(), Factor::axis("seed", ["7", "8", "9"])]).unwrap();
        let points: Vec<_> =
            (0..grid.n_points()).map(|index| settings(&grid.point(index))).collect();
        assert_eq!(
            points,
            [
                "system=A pes=1024 seed=7",
                "system=A pes=1024 seed=8",
                "system=A pes=1024 seed=9",
                "system=mine.yaml seed=7",
                "system=mine.yaml seed=8",
                "system=mine.yaml seed=9",
            ]
        );
        assert_eq!(grid.keys(), [Box::from("system"), "pes".into(), "seed".into()]);
        assert_eq!(grid.point(5).get("pes"), None);
    }

    /// `printf 'pes=1024\nseed=7\nsystem=A\n' | sha256sum | cut -c1-16`
    #[test]
    fn an_id_depends_on_the_settings_and_not_on_their_order() {
        let one = Grid::new(vec![listed(), Factor::axis("seed", ["7"])]).unwrap();
        let other = [("seed", "7"), ("system", "A"), ("pes", "1024")];
        let other = other.map(|(key, value)| Factor::axis(key, [value])).to_vec();
        let other = Grid::new(other).unwrap();
        assert_eq!(one.point(0).id(), "e19c6241b9d0ab0a");
        assert_eq!(other.point(0).id(), one.point(0).id());
        assert_ne!(one.point(1).id(), one.point(0).id());
        assert_ne!(one.digest(), other.digest());
    }

    #[test]
    fn points_of_a_grid_are_found_in_one_with_more_rows() {
        let axis = |key: &str, values: &[&str]| Factor::axis(key, values.iter().copied());
        let grid = |pes: &[&str], seeds: &[&str]| {
            Grid::new(vec![axis("pes", pes), axis("seed", seeds)]).unwrap()
        };
        let small = grid(&["8", "32"], &["1", "2"]);
        let large = grid(&["4", "32", "8", "16"], &["3", "1", "2"]);
        let places = small.places_in(&large).expect("all rows are there");
        for index in 0..small.n_points() {
            let place = places.of(index);
            assert_eq!(large.point(place).id(), small.point(index).id(), "{index} {place}");
        }
        assert!(large.places_in(&small).is_none());
        let other = Grid::new(vec![axis("seed", &["1", "2"]), axis("pes", &["8", "32"])]).unwrap();
        assert!(small.places_in(&other).is_none());
        assert!(small.places_in(&Grid::new(vec![listed()]).unwrap()).is_none());
    }

    #[test]
    fn repeated_rows_and_keys_are_refused() {
        let seeds = || Factor::axis("seed", ["7", "8", "7"]);
        assert_eq!(Grid::new(vec![seeds()]), Err(GridError::RepeatedRow { factor: 0, row: 2 }));
        let again = vec![listed(), Factor::axis("pes", ["1"])];
        let error = GridError::RepeatedKey { factor: 1, key: "pes".into() };
        assert_eq!(Grid::new(again), Err(error));
    }

    #[test]
    fn a_product_of_too_many_points_is_refused_with_their_number() {
        let axis = |key: &str| Factor::axis(key, (0..10_000u32).map(|value| value.to_string()));
        let grid = |n: usize| Grid::new(["a", "b", "c"][..n].iter().map(|key| axis(key)).collect());
        assert_eq!(grid(2).unwrap().n_points(), Grid::MAX_POINTS);
        let error = grid(3).unwrap_err();
        assert_eq!(error.to_string(), "1000000000000 points; at most 100000000 are allowed");
        let many = (0..40).map(|key| axis(&key.to_string())).collect();
        assert_eq!(Grid::new(many), Err(GridError::TooManyPoints { points: u128::MAX }));
    }

    #[test]
    fn shards_cover_every_point_once_and_are_equally_long() {
        for (n_points, count) in [(10, 3), (2, 5), (0, 2), (Grid::MAX_POINTS, 7)] {
            let shards = (1..=count).map(|number| Shard::new(number, count).unwrap());
            let parts: Vec<_> = shards.map(|shard| shard.points(n_points)).collect();
            assert_eq!(parts[0].start, 0);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(parts[parts.len() - 1].end, n_points);
            let lengths = parts.iter().map(|part| part.end - part.start);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }
        assert_eq!(Shard::new(0, 3), None);
        assert_eq!(Shard::new(4, 3), None);
        assert_eq!(Shard::new(u64::MAX, u64::MAX).unwrap().points(3), 2..3);
    }
}

//! Random choices that are equal on every machine.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Random choices of one execution.
pub struct Random(ChaCha8Rng);

impl Random {
    /// Choices of execution `number` of the kind called `name` under `seed`.
    pub fn new(seed: u64, name: &str, number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        for (at, byte) in name.bytes().enumerate() {
            key[16 + at % 16] ^= byte.rotate_left(at as u32 / 16);
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, which are not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// An index below `n`; small ones are more probable. For sizes: 0, 1, 2, .. up to `n - 1`.
    pub fn small(&mut self, n: usize) -> usize {
        let bound = 1 + self.below(n);
        self.below(bound)
    }
}

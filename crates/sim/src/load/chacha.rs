//! ChaCha with eight rounds (Bernstein 2008), 64 bits of counter and 64 of stream number, as a source of random words.
//!
//! A draw takes a few words of a stream of its own. Generators for long streams compute several blocks ahead; this one
//! computes a block when a word of it is taken.

use std::convert::Infallible;

use rand::TryRng;

/// A row of the state: four words, of which each is the same part of another column.
type Row = [u32; 4];

/// The first row of every state: "expand 32-byte k".
const CONSTANTS: Row = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Pairs of rounds.
const ROUND_PAIRS: usize = 4;

/// Key of many streams.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key([Row; 2]);

impl Key {
    /// The key with these bytes.
    pub(super) fn new(bytes: [u8; 32]) -> Self {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
        Self([0, 4].map(|row| std::array::from_fn(|column| word(row + column))))
    }

    /// The stream with this number.
    pub(super) fn stream(self, number: u64) -> Stream {
        Stream { key: self, number, counter: 0, words: [0; 16], at: 16 }
    }
}

/// A stream of random words.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    key: Key,
    number: u64,
    /// Number of the next block.
    counter: u64,
    /// The current block.
    words: [u32; 16],
    /// Its next word.
    at: usize,
}

impl Stream {
    fn word(&mut self) -> u32 {
        if self.at == self.words.len() {
            self.words = self.block();
            self.counter += 1;
            self.at = 0;
        }
        self.at += 1;
        self.words[self.at - 1]
    }

    fn block(&self) -> [u32; 16] {
        let halves = |it: u64| [it as u32, (it >> 32) as u32];
        let ([low, high], [first, second]) = (halves(self.counter), halves(self.number));
        let start = [CONSTANTS, self.key.0[0], self.key.0[1], [low, high, first, second]];
        let mut rows = start;
        for _ in 0..ROUND_PAIRS {
            round(&mut rows);
            // Diagonals become columns, and columns again.
            rows = turned(rows, [0, 1, 2, 3]);
            round(&mut rows);
            rows = turned(rows, [0, 3, 2, 1]);
        }
        std::array::from_fn(|at| rows[at / 4][at % 4].wrapping_add(start[at / 4][at % 4]))
    }
}

/// Rows of which each is turned to the left by as many words.
#[inline]
fn turned(rows: [Row; 4], words: [usize; 4]) -> [Row; 4] {
    std::array::from_fn(|row| std::array::from_fn(|at| rows[row][(at + words[row]) % 4]))
}

/// A quarter round on every column.
#[inline]
fn round([a, b, c, d]: &mut [Row; 4]) {
    half_round(a, b, d, 16);
    half_round(c, d, b, 12);
    half_round(a, b, d, 8);
    half_round(c, d, b, 7);
}

/// Adds `term` to `sum`, and mixes the sum into `mixed`.
#[inline]
fn half_round(sum: &mut Row, term: &Row, mixed: &mut Row, bits: u32) {
    *sum = std::array::from_fn(|at| sum[at].wrapping_add(term[at]));
    *mixed = std::array::from_fn(|at| (mixed[at] ^ sum[at]).rotate_left(bits));
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let [low, high] = [self.word(), self.word()].map(u64::from);
        Ok(high << 32 | low)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(4) {
            part.copy_from_slice(&self.word().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn streams_are_those_of_the_crate_of_random_generators() {
        for seed in 0..20u8 {
            let bytes =
                std::array::from_fn(|at| seed.wrapping_mul(37) ^ (at as u8).wrapping_mul(seed));
            for number in [0, 1, 77, u64::from(u32::MAX), 1 << 40, u64::MAX] {
                let mut theirs = ChaCha8Rng::from_seed(bytes);
                theirs.set_stream(number);
                let mut ours = Key::new(bytes).stream(number);
                for step in 0..100 {
                    match (step + seed) % 3 {
                        0 => assert_eq!(ours.next_u32(), theirs.next_u32()),
                        _ => assert_eq!(ours.next_u64(), theirs.next_u64()),
                    }
                }
            }
        }
    }
}

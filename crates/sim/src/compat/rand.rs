//! `rand()` of the C library as in glibc: an additive-feedback generator (rule R4).
//!
//! It is written out because the runs of the artifact depend on it, and `rand()` of a platform may
//! differ.

/// Modulus of the multiplicative generator that fills the state, 2^31 - 1.
const MODULUS: i64 = 0x7fff_ffff;
/// Words of state. Each new word is the sum of the words 31 and 3 places before it.
const WORDS: usize = 31;
/// Sums that `srand` discards: words 0 to 33 are set up, and the first output is word 344.
const DISCARDED: usize = 344 - 34;

/// State after `srand(seed)`.
#[derive(Debug, Clone)]
pub(super) struct Rand {
    /// The last 31 words; word `i` of the sequence lies in slot `i mod 31`.
    words: [u32; WORDS],
    /// Slot of the next word.
    slot: usize,
}

impl Rand {
    /// `srand(seed)`. Seed 0 counts as 1; seeds from 2^31 are negative numbers to the C library.
    pub(super) fn new(seed: u32) -> Self {
        let mut words = [seed.max(1); WORDS];
        for index in 1..WORDS {
            let previous = i64::from(words[index - 1] as i32);
            words[index] = (16807 * previous).rem_euclid(MODULUS) as u32;
        }
        // Words 31 to 33 repeat words 0 to 2, so the ring holds them already.
        let mut rand = Self { words, slot: 3 };
        for _ in 0..DISCARDED {
            rand.advance();
        }
        rand
    }

    /// A draw from [0, 1]: `rand()` over its maximum, both rounded to single precision before the division.
    /// The maximum rounds to 2^31. A draw of 1 is possible.
    pub(super) fn unit(&mut self) -> f32 {
        self.next_int() as f32 / MODULUS as f32
    }

    /// `rand()`: the upper 31 bits of the next word.
    fn next_int(&mut self) -> u32 {
        self.advance() >> 1
    }

    fn advance(&mut self) -> u32 {
        let three_before = self.words[(self.slot + WORDS - 3) % WORDS];
        let word = self.words[self.slot].wrapping_add(three_before);
        self.words[self.slot] = word;
        self.slot = (self.slot + 1) % WORDS;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seed: u32, expected: [u32; 4]) {
        let mut rand = Rand::new(seed);
        assert_eq!(expected.map(|_| rand.next_int()), expected, "seed {seed}");
    }

    #[test]
    fn draws_are_those_of_the_c_library() {
        // Output of rand() of glibc 2.36 after srand(seed); 1804289383 is widely known.
        check(1, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]);
        check(42, [71_876_166, 708_592_740, 1_483_128_881, 907_283_241]);
        check(1_795_259_785, [875_339_450, 1_692_285_893, 129_473_919, 1_566_199_952]);
    }

    #[test]
    fn seed_zero_counts_as_one() {
        check(0, [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]);
    }

    #[test]
    fn seeds_beyond_the_signed_range_are_negative() {
        // Output of glibc 2.36 again.
        check(1 << 31, [1_336_741_213, 1_210_407_648, 1_447_044_896, 337_392_383]);
        check(u32::MAX, [254_925_627, 1_205_188_300, 366_127_624, 1_401_405_153]);
        check(2_147_483_649, [1_081_815_585, 5_219_348, 1_080_917_272, 1_083_470_877]);
    }

    #[test]
    fn unit_draws_divide_by_two_to_the_31() {
        // f32(1804289383) = 1804289408, a multiple of 2^7; f32(2^31 - 1) = 2^31.
        assert_eq!(Rand::new(1).unit(), 1_804_289_408.0 / 2_147_483_648.0);
    }
}

//! Random numbers as LoadGen draws them: `std::mt19937` with the distributions of libstdc++ (GCC 11
//! and later), bit for bit.
//!
//! Exponential gaps take the natural logarithm of the platform, which is LoadGen's own where that is
//! the GNU C library. Another library may move a gap by 1 ns.

use rand_mt::Mt;

use xrsim_model::units::SimSpan;

/// 2^32, the number of values of a draw.
const WORDS: f64 = 4_294_967_296.0;

/// Stream of random numbers: `std::mt19937`.
#[derive(Debug, Clone)]
pub struct MersenneTwister(Mt);

impl MersenneTwister {
    /// Stream of `seed`, of which only the lower 32 bits matter, as in `std::mt19937(uint64_t)`.
    pub fn new(seed: u64) -> Self {
        Self(Mt::new(seed as u32))
    }

    /// Uniform number in [0, 1) from two draws (`std::generate_canonical<double, 53>`):
    ///
    /// ```text
    /// u = (a + b · 2^32) / 2^64
    /// ```
    pub fn canonical(&mut self) -> f64 {
        let (low, high) = (self.0.next_u32(), self.0.next_u32());
        let u = (f64::from(low) + f64::from(high) * WORDS) / (WORDS * WORDS);
        if u < 1.0 { u } else { 1.0f64.next_down() }
    }

    /// Exponential number with mean 1: `−ln(1 − u)`.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.canonical()).ln()
    }

    /// Time to the next arrival of a Poisson process of `rate` [1/s], cut to whole nanoseconds
    /// (`std::exponential_distribution`):
    ///
    /// ```text
    /// gap = −ln(1 − u) / rate
    /// ```
    pub fn exponential_gap(&mut self, rate: f64) -> SimSpan {
        gap(self.exponential(), rate)
    }

    /// Uniform whole number in [0, `end`), `end` ≥ 1 (`std::uniform_int_distribution`: Lemire,
    /// Fast Random Integer Generation in an Interval, TOMACS 2019, on 32-bit draws).
    pub fn below(&mut self, end: u32) -> u32 {
        let mut product = u64::from(self.0.next_u32()) * u64::from(end);
        if (product as u32) < end {
            let threshold = end.wrapping_neg() % end;
            while (product as u32) < threshold {
                product = u64::from(self.0.next_u32()) * u64::from(end);
            }
        }
        (product >> 32) as u32
    }

    /// Permutes `items`, fewer than 2^32 of them (`std::shuffle`): while two positions fit into one
    /// draw, one draw serves two exchanges.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let Ok(n) = u32::try_from(items.len()) else { return };
        if n == 0 {
            return;
        }
        if u32::MAX / n < n {
            (1..n).for_each(|at| items.swap(at as usize, self.below(at + 1) as usize));
            return;
        }
        let mut at = 1;
        if n.is_multiple_of(2) {
            items.swap(1, self.below(2) as usize);
            at = 2;
        }
        while at < n {
            let both = self.below((at + 1) * (at + 2));
            items.swap(at as usize, (both / (at + 2)) as usize);
            items.swap(at as usize + 1, (both % (at + 2)) as usize);
            at += 2;
        }
    }
}

/// Span in which `expected` arrivals of a process of `rate` \[1/s\] are expected, cut to whole nanoseconds.
pub(super) fn gap(expected: f64, rate: f64) -> SimSpan {
    SimSpan::from_ns((expected / rate * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ISO C++ [rand.predef]: the 10,000th draw of a default-constructed `mt19937` (seed 5489) is
    /// 4123659995.
    #[test]
    fn the_generator_is_the_one_of_the_standard() {
        let mut stream = MersenneTwister::new(5489);
        let last = (0..10_000).map(|_| stream.0.next_u32()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn only_the_lower_half_of_a_seed_counts() {
        let mut long = MersenneTwister::new(16_159_082_839_903_944_936);
        let mut short = MersenneTwister::new(2_023_080_168);
        assert_eq!(long.canonical(), short.canonical());
    }

    /// Drawn by GCC 11's libstdc++ with seed 12345.
    #[test]
    fn draws_are_those_of_the_library() {
        let stream = || MersenneTwister::new(12_345);
        let mut uniform = stream();
        let found: Vec<_> = (0..4).map(|_| uniform.canonical()).collect();
        assert_eq!(
            found,
            [
                0.890_154_713_282_737_9,
                0.130_707_294_055_348_17,
                0.039_759_496_502_559_354,
                0.826_436_131_774_578_3
            ]
        );
        let mut below = stream();
        let found: Vec<_> = (0..10).map(|_| below.below(1024)).collect();
        assert_eq!(found, [951, 911, 323, 133, 188, 40, 209, 846, 581, 544]);
        let mut even: Vec<u32> = (0..16).collect();
        stream().shuffle(&mut even);
        assert_eq!(even, [10, 8, 12, 5, 1, 11, 15, 7, 4, 13, 6, 2, 14, 0, 3, 9]);
        let mut gaps = stream();
        let found: Vec<_> = (0..4).map(|_| gaps.exponential_gap(100.0).ns()).collect();
        assert_eq!(found, [22_086_823, 1_400_753, 405_715, 17_512_096]);
    }

    /// 65,536² does not fit into a draw, so that each exchange takes a draw of its own: the first
    /// one swaps items 0 and 1 or nothing, by `below(2)`.
    #[test]
    fn long_lists_are_shuffled_with_a_draw_an_exchange() {
        let mut items: Vec<u32> = (0..65_536).collect();
        MersenneTwister::new(1).shuffle(&mut items);
        let mut reference: Vec<u32> = (0..65_536).collect();
        let mut stream = MersenneTwister::new(1);
        for at in 1..65_536 {
            reference.swap(at as usize, stream.below(at + 1) as usize);
        }
        assert_eq!(items, reference);
        let mut sorted = items.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..65_536));
        assert_ne!(items, sorted);
    }

    #[test]
    fn nothing_and_a_single_item_stay_as_they_are() {
        MersenneTwister::new(1).shuffle::<u8>(&mut []);
        let mut one = [7];
        MersenneTwister::new(1).shuffle(&mut one);
        assert_eq!(one, [7]);
    }
}

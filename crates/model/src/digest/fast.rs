//! Digests that take little time.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Digest (FNV-1a, 128 bits) that is equal on every machine. It finds differences that nobody made on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FastDigest(u128);

const PRIME: u128 = (1 << 88) + 0x13b;
const PRIME_4: u128 = PRIME.wrapping_pow(4);

impl Default for FastDigest {
    /// The digest of nothing.
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl FastDigest {
    /// The digest of a text.
    pub fn of_text(text: &str) -> Self {
        let mut digest = Self::default();
        digest.add_bytes(text.as_bytes());
        digest
    }

    /// The digest of a value.
    pub fn of_value(value: &impl Hash) -> Self {
        let mut hasher = Bytes::default();
        value.hash(&mut hasher);
        hasher.0
    }

    /// The first 16 hexadecimal digits.
    pub fn short(self) -> String {
        format!("{:016x}", self.0 >> 64)
    }

    /// Adds a number.
    pub fn add(&mut self, number: u32) {
        match number {
            // Bytes of 0 only multiply.
            0..256 => self.0 = (self.0 ^ u128::from(number)).wrapping_mul(PRIME_4),
            _ => self.add_bytes(&number.to_le_bytes()),
        }
    }

    /// Adds another digest.
    pub fn add_digest(&mut self, other: Self) {
        self.add_bytes(&other.0.to_le_bytes());
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
}

impl fmt::Display for FastDigest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Hasher that takes numbers in one byte order and width, so that the digest is the same on every machine.
#[derive(Default)]
struct Bytes(FastDigest);

macro_rules! little_endian {
    ($($write:ident: $number:ty as $wide:ty,)*) => {
        $(fn $write(&mut self, number: $number) {
            self.0.add_bytes(&(number as $wide).to_le_bytes());
        })*
    };
}

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.add_bytes(bytes);
    }

    little_endian! {
        write_u16: u16 as u16, write_u32: u32 as u32, write_u64: u64 as u64, write_u128: u128 as u128,
        write_usize: usize as u64, write_i16: i16 as i16, write_i32: i32 as i32, write_i64: i64 as i64,
        write_i128: i128 as i128, write_isize: isize as i64,
    }

    fn finish(&self) -> u64 {
        (self.0.0 >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_bytes() {
        // FNV-1a of "foobar": published test vector.
        let digest = FastDigest::of_text("foobar");
        assert_eq!(digest.to_string(), "343e1662793c64bf6f0d3597ba446f18");
        assert_eq!(digest.short(), "343e1662793c64bf");
    }

    #[test]
    fn a_number_is_its_four_bytes() {
        for number in [0, 1, 255, 256, 65_536, u32::MAX] {
            let [mut found, mut expected] = [FastDigest::of_text("x"); 2];
            found.add(number);
            expected.add_bytes(&number.to_le_bytes());
            assert_eq!(found, expected, "{number}");
        }
    }

    /// As the bytes 0x01 0x00 0x02, and 0x03 in eight bytes: little-endian, and `usize` as 64 bits.
    #[test]
    fn the_digest_of_a_value_depends_on_no_byte_order() {
        let mut expected = FastDigest::default();
        expected.add_bytes(&[1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(FastDigest::of_value(&(1u16, 2u8, 3usize)), expected);
    }
}

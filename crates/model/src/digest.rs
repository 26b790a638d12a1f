//! SHA-256 of what is written and read, and fast digests of values.

mod fast;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

pub use fast::FastDigest;

/// Length and SHA-256 of what was written to it.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    bytes: u64,
    sha256: Sha256,
}

impl Digest {
    /// The digest of `bytes`.
    pub fn compute(bytes: &[u8]) -> Self {
        let mut digest = Self::default();
        digest.update(bytes);
        digest
    }

    /// The digest of the file at `path`, which is read piece by piece.
    ///
    /// # Errors
    ///
    /// Message of the system.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut digest = Self::default();
        io::copy(&mut File::open(path)?, &mut digest)?;
        Ok(digest)
    }

    /// Takes further bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sha256.update(bytes);
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// 64 hexadecimal digits.
    pub fn hex(self) -> String {
        self.sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

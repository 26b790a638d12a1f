//! Styles of accelerators: dataflows and their shares of a chip of any size.

use std::sync::Arc;

use crate::dataflow::Dataflow;

use super::{HardwareError, MappingSettings};

/// An accelerator style (XRBench Table 5): dataflows and their shares of the PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Style {
    /// Name, e.g. `K`.
    pub name: Box<str>,
    /// Class of Table 5: `FDA`, `SFDA` or `HDA`.
    pub class: Box<str>,
    /// Share of every accelerator; never empty.
    pub shares: Vec<Share>,
    /// Choice of mappings of all accelerators, unless a share says another.
    pub mapping: MappingSettings,
}

/// Dataflow of one accelerator of a style, and its shares of the chip. Each share is relative to the sum
/// over the accelerators of the style.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Dataflow.
    pub dataflow: Arc<Dataflow>,
    /// Share of the PEs.
    pub pes: u32,
    /// Share of the bandwidth of the on-chip network.
    pub noc: u32,
    /// Share of the shared memory.
    pub shared_memory: u32,
    /// Share of the DRAM bandwidth.
    pub dram: u32,
    /// Choice of mappings of this accelerator.
    pub mapping: MappingSettings,
}

impl Share {
    /// The same share of every resource.
    pub fn of_all(dataflow: Arc<Dataflow>, share: u32) -> Self {
        let mapping = MappingSettings::default();
        Self { dataflow, pes: share, noc: share, shared_memory: share, dram: share, mapping }
    }
}

impl Style {
    /// A style of `shares`, one for each accelerator.
    pub fn new(name: impl Into<Box<str>>, class: impl Into<Box<str>>, shares: Vec<Share>) -> Self {
        let mapping = MappingSettings::default();
        Self { name: name.into(), class: class.into(), shares, mapping }
    }

    /// Number of PEs of every accelerator if the style has `pes` in total.
    ///
    /// # Errors
    ///
    /// Returns [`HardwareError::UnevenShares`] unless `pes` is a multiple of the sum of the shares.
    pub fn partition(&self, pes: u32) -> Result<Vec<u32>, HardwareError> {
        let total: u32 = self.shares.iter().map(|share| share.pes).sum();
        if pes == 0 || !pes.is_multiple_of(total) {
            let shares: Vec<_> = self.shares.iter().map(|share| share.pes.to_string()).collect();
            return Err(HardwareError::UnevenShares {
                style: self.name.clone(),
                pes,
                shares: shares.join(":"),
                total,
            });
        }
        Ok(self.shares.iter().map(|share| pes / total * share.pes).collect())
    }
}

//! Laws of the area of memories and networks (docs/explanation/area.md, sections 2 and 3).

use super::{Constant, TechnologyError};
use crate::hardware::array::{Array, ArrayLevel};
use crate::hardware::{Accelerator, Width};
use crate::units::Bytes;

/// Value of a constant, if it is given.
type Given<'a> = dyn Fn(Constant) -> Option<f64> + 'a;

/// The values of `constants`, if any of them is given.
fn all_of<const N: usize>(
    constants: [Constant; N],
    given: &Given<'_>,
) -> Result<Option<[f64; N]>, TechnologyError> {
    let values = constants.map(given);
    if values.iter().all(Option::is_none) {
        return Ok(None);
    }
    match constants.into_iter().find(|&constant| given(constant).is_none()) {
        Some(missing) => Err(TechnologyError::Missing(missing)),
        None => Ok(Some(values.map(Option::unwrap_or_default))),
    }
}

/// The law that is given, of two.
fn either<T>(
    [first, second]: [Option<T>; 2],
    [of_first, of_second]: [Constant; 2],
) -> Result<T, TechnologyError> {
    match (first, second) {
        (Some(_), Some(_)) => Err(TechnologyError::TwoLaws(of_first, of_second)),
        (Some(law), None) | (None, Some(law)) => Ok(law),
        (None, None) => Err(TechnologyError::Missing(of_first)),
    }
}

/// Area of a memory by its size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum MemoryLaw {
    /// Density that falls with the size: constant for small and for large memories, by a power of the size
    /// between.
    Density {
        /// Size up to which a memory is small \[byte\].
        small_bytes: f64,
        /// Area of a byte of a small memory \[um2\].
        small_um2: f64,
        /// Size from which on a memory is large \[byte\].
        large_bytes: f64,
        /// Area of a byte of a large memory \[um2\].
        large_um2: f64,
        /// Exponent between, from the four others.
        exponent: f64,
    },
    /// Whole blocks, of one kind for scratchpads and of another for all other memories.
    Blocks {
        /// Size \[byte\] and area \[um2\] of a block of a scratchpad.
        scratchpad: [f64; 2],
        /// Size \[byte\] and area \[um2\] of a block of another memory.
        other: [f64; 2],
    },
}

impl MemoryLaw {
    pub(super) fn from_terms(given: &Given<'_>) -> Result<Self, TechnologyError> {
        use Constant::{
            BlockBytes, BlockUm2, LargeBytes, LargeUm2PerByte, ScratchpadBlockBytes,
            ScratchpadBlockUm2, SmallBytes, SmallUm2PerByte,
        };
        let density = all_of([SmallBytes, SmallUm2PerByte, LargeBytes, LargeUm2PerByte], given)?;
        let blocks =
            all_of([ScratchpadBlockBytes, ScratchpadBlockUm2, BlockBytes, BlockUm2], given)?;
        let density = density.map(|[small_bytes, small_um2, large_bytes, large_um2]| {
            let exponent = (small_um2 / large_um2).ln() / (large_bytes / small_bytes).ln();
            Self::Density { small_bytes, small_um2, large_bytes, large_um2, exponent }
        });
        let blocks = blocks.map(|[bytes, um2, other_bytes, other_um2]| Self::Blocks {
            scratchpad: [bytes, um2],
            other: [other_bytes, other_um2],
        });
        either([density, blocks], [SmallBytes, ScratchpadBlockBytes])?.growing()
    }

    /// This law, if larger memories are larger.
    fn growing(self) -> Result<Self, TechnologyError> {
        let Self::Density { small_bytes, small_um2, large_bytes, large_um2, .. } = self else {
            return Ok(self);
        };
        let [small_um2, large_um2] = [small_bytes * small_um2, large_bytes * large_um2];
        if small_bytes < large_bytes && small_um2 <= large_um2 {
            return Ok(self);
        }
        Err(TechnologyError::Shrinking { small_bytes, small_um2, large_bytes, large_um2 })
    }

    /// Area of the scratchpad of one PE \[um2\].
    pub fn scratchpad_um2(&self, size: Bytes) -> f64 {
        match *self {
            Self::Density { .. } => self.density_um2(size.get() as f64),
            Self::Blocks { scratchpad, .. } => blocks(scratchpad, size),
        }
    }

    /// Area of another memory \[um2\]: a buffer of a cluster, or the shared memory.
    pub fn buffer_um2(&self, size: Bytes) -> f64 {
        match *self {
            Self::Density { .. } => self.density_um2(size.get() as f64),
            Self::Blocks { other, .. } => blocks(other, size),
        }
    }

    /// Area of a byte of a memory of `bytes` [um2/byte]; `None` for blocks.
    pub fn um2_per_byte(&self, bytes: f64) -> Option<f64> {
        let Self::Density { small_bytes, small_um2, large_bytes, large_um2, exponent } = *self
        else {
            return None;
        };
        Some(if bytes <= small_bytes {
            small_um2
        } else if bytes >= large_bytes {
            large_um2
        } else {
            small_um2 * (bytes / small_bytes).powf(-exponent)
        })
    }

    fn density_um2(&self, bytes: f64) -> f64 {
        bytes * self.um2_per_byte(bytes).unwrap_or_default()
    }
}

/// Area of the whole blocks that hold `size`.
fn blocks([bytes, um2]: [f64; 2], size: Bytes) -> f64 {
    (size.get() as f64 / bytes).ceil() * um2
}

/// Area of the on-chip network.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum NetworkLaw {
    /// A pipeline register of this area for each bit of the ports of all units [um2/bit].
    Ports(f64),
    /// A bus and an arbiter in each cluster.
    Buses(BusLaw),
}

/// Area of the bus and the arbiter that connect a cluster to its `n` units: `factor · (a n² + b n + c)`, for the bus
/// with `a` = 0 and for each byte per cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusLaw {
    /// Factor \[um2\], `b` and `c` of the bus.
    pub bus: [f64; 3],
    /// Factor \[um2\], `a`, `b` and `c` of the arbiter, which has at least the area of the factor.
    pub arbiter: [f64; 4],
}

impl NetworkLaw {
    pub(super) fn from_terms(given: &Given<'_>) -> Result<Self, TechnologyError> {
        use Constant::{
            ArbiterOffset, ArbiterPerUnit, ArbiterPerUnitSquared, ArbiterUm2, BusOffset,
            BusPerUnit, BusUm2, RegisterUm2PerBit,
        };
        let bus = [BusUm2, BusPerUnit, BusOffset];
        let arbiter = [ArbiterUm2, ArbiterPerUnitSquared, ArbiterPerUnit, ArbiterOffset];
        let buses = match (all_of(bus, given)?, all_of(arbiter, given)?) {
            (None, None) => None,
            (None, Some(_)) => return Err(TechnologyError::Missing(BusUm2)),
            (Some(_), None) => return Err(TechnologyError::Missing(ArbiterUm2)),
            (Some(bus), Some(arbiter)) => Some(Self::Buses(BusLaw { bus, arbiter })),
        };
        let ports = given(RegisterUm2PerBit).map(Self::Ports);
        either([ports, buses], [RegisterUm2PerBit, BusUm2])
    }

    /// Area of the whole network \[um2\].
    pub(super) fn um2(&self, accelerator: &Accelerator, array: &Array) -> f64 {
        let levels = array.levels().iter().enumerate();
        match self {
            Self::Ports(register) => {
                let ports = levels.map(|(index, level)| {
                    let Port { down, up } = Port::from_level(accelerator, index, level);
                    level.units as f64 * (down + up)
                });
                ports.sum::<f64>() * 8.0 * register
            }
            Self::Buses(law) => {
                let buses = levels.map(|(index, level)| {
                    let bandwidth = accelerator.noc.level(index).bandwidth as f64;
                    level.parents as f64 * law.um2(level.fed as f64, bandwidth)
                });
                buses.sum()
            }
        }
    }
}

impl BusLaw {
    /// Area of the bus of `n` units with this bandwidth [byte/cycle], and of its arbiter \[um2\].
    pub fn um2(&self, n: f64, bandwidth: f64) -> f64 {
        let [bus, per_unit, offset] = self.bus;
        let [arbiter, squared, linear, constant] = self.arbiter;
        let bus = bus * (per_unit * n + offset) * bandwidth;
        let arbiter = arbiter * (squared * n * n + linear * n + constant).max(1.0);
        bus.max(0.0) + arbiter
    }
}

/// Widths of the port of a unit [byte/cycle]. It is no wider than its PEs can use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Port {
    /// Of inputs and weights.
    pub down: f64,
    /// Of partial sums.
    pub up: f64,
}

impl Port {
    /// The port of a unit of level number `index`.
    pub(super) fn from_level(accelerator: &Accelerator, index: usize, level: &ArrayLevel) -> Self {
        let (noc, datapath) = (accelerator.noc.level(index), &accelerator.datapath);
        let [input, weight, sum, _] = datapath.widths.into_array().map(Width::bytes_per_element);
        let pes = level.pes as f64;
        let rate = pes * f64::from(datapath.macs_per_pe_cycle);
        let bandwidth = noc.bandwidth as f64;
        let down = match noc.weight_bandwidth {
            Some(own) => bandwidth.min(rate * input) + (own as f64).min(rate * weight),
            None => bandwidth.min(rate * (input + weight)),
        };
        let up = noc.up_bandwidth.map_or(bandwidth, |it| it as f64).min(pes * sum);
        Self { down, up }
    }
}

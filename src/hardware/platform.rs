//! Platforms: what a style is instantiated on.
//!
//! A *budget* is one pool of bandwidth and memory that the accelerators split by their shares, as
//! section 4.1 of the XRBench paper describes its systems. *Tables* fix the parameters of
//! every instance, as the published artifact did; they hold for the listed partitions only.

use std::sync::Arc;

use crate::dataflow::Dataflow;
use crate::units::{Bytes, ClockRate};

use super::{
    Accelerator, ByteEnergy, Datapath, EnergyTable, HardwareError, Memory, Noc, Share, Style,
    System,
};

/// Everything about the hardware but dataflows and PE counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// Name, e.g. `paper`.
    pub name: Box<str>,
    /// Clock of every accelerator.
    pub clock: ClockRate,
    /// PEs and operands of every accelerator.
    pub datapath: Datapath,
    /// Energy per event.
    pub energy: EnergyTable,
    /// Energy per multiply-accumulate and byte.
    pub byte_energy: ByteEnergy,
    /// Bandwidth and memories.
    pub resources: Resources,
}

/// Bandwidth and memories of a platform.
#[derive(Debug, Clone, PartialEq)]
pub enum Resources {
    /// One pool, split by the shares of a style (PE-local memory is per PE and not split).
    Budget(Box<Budget>),
    /// Fixed parameters for each listed partition.
    Tables(Vec<Table>),
}

/// Resources of a whole chip.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Network of the undivided chip.
    pub noc: Noc,
    /// Memories of the undivided chip.
    pub memory: Memory,
    /// What of it every accelerator has the whole of.
    pub undivided: Undivided,
}

/// Bandwidth of a chip that is not divided by shares: every accelerator may use the whole of it. Two of
/// them at once then have more than there is, unless the run limits what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Undivided {
    /// Of the on-chip network.
    pub noc: bool,
    /// Of the off-chip interface.
    pub offchip: bool,
}

/// Resources of a whole chip in place of those of a budget; `None`: as the budget has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BudgetChange {
    /// Downward bandwidth of every level of the network [byte/cycle].
    pub noc_bandwidth: Option<u64>,
    /// Shared on-chip buffer (L2).
    pub shared_memory: Option<Bytes>,
    /// Buffer of one PE (L1).
    pub local_memory: Option<Bytes>,
    /// Off-chip bandwidth [byte/cycle].
    pub offchip_bandwidth: Option<u64>,
    /// What is not divided, in addition to what the budget does not divide.
    pub undivided: Undivided,
}

impl BudgetChange {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    fn of(&self, budget: &Budget) -> Budget {
        let Budget { mut noc, mut memory, mut undivided } = budget.clone();
        noc.bandwidth = self.noc_bandwidth.map_or(noc.bandwidth, |bandwidth| vec![bandwidth]);
        memory.shared = self.shared_memory.unwrap_or(memory.shared);
        memory.local = self.local_memory.unwrap_or(memory.local);
        memory.offchip_bandwidth = self.offchip_bandwidth.unwrap_or(memory.offchip_bandwidth);
        undivided.noc |= self.undivided.noc;
        undivided.offchip |= self.undivided.offchip;
        Budget { noc, memory, undivided }
    }
}

impl Platform {
    /// This platform with another budget.
    ///
    /// # Errors
    ///
    /// [`HardwareError::NoBudget`] if it changes something of a platform of tables.
    pub fn with(&self, change: &BudgetChange) -> Result<Self, HardwareError> {
        let resources = match &self.resources {
            Resources::Budget(budget) => Resources::Budget(Box::new(change.of(budget))),
            tables if change.is_none() => tables.clone(),
            Resources::Tables(_) => {
                return Err(HardwareError::NoBudget { platform: self.name.clone() });
            }
        };
        Ok(Self { resources, ..self.clone() })
    }
}

/// Instances of one partition of the PEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name, e.g. `Dual_4K_BigLittle`.
    pub name: Box<str>,
    /// Parameters of every accelerator.
    pub instances: Vec<Instance>,
}

/// Parameters of one accelerator, without its dataflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Name in the artifact's file, e.g. `Acc0_2K`.
    pub name: Box<str>,
    /// Processing elements.
    pub pes: u32,
    /// On-chip network.
    pub noc: Noc,
    /// Memories.
    pub memory: Memory,
}

impl Instance {
    /// The accelerator that runs `dataflow` on this instance; the rest is as on `platform`.
    pub fn with(
        &self,
        name: Box<str>,
        dataflow: &Arc<Dataflow>,
        platform: &Platform,
    ) -> Accelerator {
        Accelerator {
            name,
            dataflow: Arc::clone(dataflow),
            pes: self.pes,
            clock: platform.clock,
            noc: self.noc.clone(),
            memory: self.memory.clone(),
            datapath: platform.datapath,
            energy: platform.energy,
            byte_energy: platform.byte_energy,
        }
    }
}

impl Style {
    /// The system that this style becomes with `pes` PEs in total on `platform`. Accelerators are
    /// named by dataflow and position, e.g. `WS-0`.
    ///
    /// # Errors
    ///
    /// [`HardwareError::UnevenShares`], [`HardwareError::NoTable`] where a platform of tables does
    /// not list the partition, and what [`System::new`] says.
    pub fn instantiate(&self, pes: u32, platform: &Platform) -> Result<System, HardwareError> {
        let partition = self.partition(pes)?;
        let instances = match &platform.resources {
            Resources::Budget(budget) => self.split(budget, &partition),
            Resources::Tables(tables) => self.find_table(tables, &partition, platform)?,
        };
        let accelerators = instances
            .iter()
            .zip(&self.shares)
            .enumerate()
            .map(|(index, (instance, Share { dataflow, .. }))| {
                let name = format!("{}-{index}", dataflow.name()).into();
                instance.with(name, dataflow, platform)
            })
            .collect();
        System::new(self.name.clone(), accelerators)
    }

    /// Splits one chip among the accelerators, of `partition` PEs each, by their shares, but for what
    /// is undivided. Parts are rounded down, never below 1.
    fn split(&self, budget: &Budget, partition: &[u32]) -> Vec<Instance> {
        let Budget { noc, memory, undivided } = budget;
        let total = |share: fn(&Share) -> u32| self.shares.iter().map(share).map(u64::from).sum();
        let [noc_total, memory_total, offchip_total]: [u64; 3] =
            [total(|it| it.noc), total(|it| it.shared_memory), total(|it| it.offchip)];
        let instance = |(index, (share, &pes)): (usize, (&Share, &u32))| Instance {
            name: format!("Acc{index}").into(),
            pes,
            noc: match undivided.noc {
                true => noc.clone(),
                false => noc.shared(|bandwidth| part(bandwidth, share.noc, noc_total)),
            },
            memory: Memory {
                shared: Bytes::new(part(memory.shared.get(), share.shared_memory, memory_total)),
                offchip_bandwidth: match undivided.offchip {
                    true => memory.offchip_bandwidth,
                    false => part(memory.offchip_bandwidth, share.offchip, offchip_total),
                },
                ..memory.clone()
            },
        };
        self.shares.iter().zip(partition).enumerate().map(instance).collect()
    }

    fn find_table(
        &self,
        tables: &[Table],
        partition: &[u32],
        platform: &Platform,
    ) -> Result<Vec<Instance>, HardwareError> {
        tables
            .iter()
            .find(|table| {
                table.instances.iter().map(|instance| instance.pes).eq(partition.iter().copied())
            })
            .map(|table| table.instances.clone())
            .ok_or_else(|| HardwareError::NoTable {
                style: self.name.clone(),
                partition: join(partition, " + "),
                platform: platform.name.clone(),
                known: tables
                    .iter()
                    .map(|table| {
                        let pes: Vec<_> = table.instances.iter().map(|i| i.pes).collect();
                        join(&pes, " + ")
                    })
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

/// `whole` times `share` over `total`, rounded down, at least 1.
fn part(whole: u64, share: u32, total: u64) -> u64 {
    let part = u128::from(whole) * u128::from(share) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(whole).max(1)
}

fn join(numbers: &[u32], separator: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

//! Platforms: the chips on which styles become systems.
//!
//! A platform with a *budget* has one pool of bandwidth and memory that the accelerators split by their
//! shares, as section 4.1 of the XRBench paper describes its systems. A platform with *tables* fixes the
//! parameters of every instance, as the published artifact does; it holds for the listed partitions only.

use std::sync::Arc;

use crate::dataflow::Dataflow;
use crate::units::{Bytes, ClockRate};

use super::{
    Accelerator, ByteEnergy, Change, CostOrigin, Datapath, Dram, EnergyTable, HardwareError,
    MappingDeadline, MappingObjective, Memory, Noc, Pinned, Share, Style, System, Technology,
    WriteBack,
};

/// Properties of the hardware that do not depend on dataflows and PE counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// Name, e.g. `paper`.
    pub name: Box<str>,
    /// Clock of every accelerator.
    pub clock: ClockRate,
    /// PEs and operands of every accelerator.
    pub datapath: Datapath,
    /// Path on which outputs leave.
    pub write_back: WriteBack,
    /// Energy per event, for cost models that count accesses; `None`: that of `byte_energy`.
    pub energy: Option<EnergyTable>,
    /// Energy per multiply-accumulate and byte.
    pub byte_energy: ByteEnergy,
    /// Bandwidths and memories.
    pub resources: Resources,
    /// Technology of the chip, unless a command names another.
    pub technology: Option<Arc<Technology>>,
    /// Whether the accelerators split the bandwidth of DRAM by their shares, or share it.
    pub dram: Dram,
}

/// Bandwidths and memories of a platform.
#[derive(Debug, Clone, PartialEq)]
pub enum Resources {
    /// One pool, which a style splits by its shares. Scratchpads belong to PEs and cluster buffers to
    /// clusters; they are not split.
    Budget(Box<Budget>),
    /// Fixed parameters for each listed partition.
    Tables(Vec<Table>),
}

/// Resources of a whole chip.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// On-chip network of the whole chip.
    pub noc: Noc,
    /// Memories of the whole chip.
    pub memory: Memory,
    /// Whether every accelerator may use the whole bandwidth of the on-chip network. Two at once then have
    /// more than the chip has, unless the run limits the shared bandwidth.
    pub noc_unpartitioned: bool,
}

impl Budget {
    /// A budget that is split entirely.
    pub fn new(noc: Noc, memory: Memory) -> Self {
        Self { noc, memory, noc_unpartitioned: false }
    }
}

/// Changes of the resources of a whole chip; `None` keeps the value of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BudgetChange {
    /// Downward bandwidth of every level of the on-chip network [byte/cycle].
    pub noc_bandwidth: Option<Change<u64>>,
    /// Shared memory (L2).
    pub shared_memory: Option<Change<Bytes>>,
    /// Scratchpad of one PE (L1).
    pub scratchpad: Option<Change<Bytes>>,
    /// Buffer of every unit that is a cluster, on every level.
    pub cluster_memory: Option<Change<Bytes>>,
    /// Bandwidth of DRAM [byte/cycle].
    pub dram_bandwidth: Option<Change<u64>>,
    /// Whether every accelerator may use the whole bandwidth of the on-chip network.
    pub noc_unpartitioned: bool,
    /// PEs of each accelerator of a system in full. Those of a style are a number of their own.
    pub pes: Option<Change<u64>>,
}

impl BudgetChange {
    /// Whether it changes nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// An accelerator of a system in full with the changes, which are changes of what it has itself.
    #[must_use]
    pub fn of_accelerator(&self, accelerator: &Accelerator) -> Accelerator {
        let Accelerator { noc, memory, .. } = accelerator.clone();
        let Budget { noc, memory, .. } = self.of(&Budget::new(noc, memory));
        let before = u64::from(accelerator.pes);
        let pes = self.pes.map_or(before, |change| change.of(before));
        let pes = u32::try_from(pes).unwrap_or(u32::MAX);
        Accelerator { noc, memory, pes, ..accelerator.clone() }
    }

    fn of(&self, budget: &Budget) -> Budget {
        let Budget { mut noc, mut memory, mut noc_unpartitioned } = budget.clone();
        if let Some(change) = self.noc_bandwidth {
            noc.levels_mut()
                .iter_mut()
                .for_each(|level| level.bandwidth = change.of(level.bandwidth));
        }
        let size = |change: Option<Change<Bytes>>, before: Bytes| {
            change.map_or(before, |change| change.of(before))
        };
        memory.shared = size(self.shared_memory, memory.shared);
        memory.scratchpad = size(self.scratchpad, memory.scratchpad);
        match self.cluster_memory {
            Some(Change::To(size)) => memory.clusters = vec![size],
            change => memory.clusters.iter_mut().for_each(|it| *it = size(change, *it)),
        }
        let bandwidth = memory.dram_bandwidth;
        memory.dram_bandwidth = self.dram_bandwidth.map_or(bandwidth, |it| it.of(bandwidth));
        noc_unpartitioned |= self.noc_unpartitioned;
        Budget { noc, memory, noc_unpartitioned }
    }
}

impl Platform {
    /// A platform with the default datapath and energy per byte. Fields that differ are set afterwards.
    pub fn new(
        name: impl Into<Box<str>>,
        clock: ClockRate,
        energy: impl Into<Option<EnergyTable>>,
        resources: Resources,
    ) -> Self {
        Self {
            name: name.into(),
            clock,
            datapath: Datapath::default(),
            write_back: WriteBack::default(),
            energy: energy.into(),
            byte_energy: ByteEnergy::default(),
            resources,
            technology: None,
            dram: Dram::default(),
        }
    }

    /// This platform with another budget.
    ///
    /// # Errors
    ///
    /// Returns [`HardwareError::NoBudget`] if `change` changes something and the platform has tables.
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
    /// Number of processing elements.
    pub pes: u32,
    /// On-chip network.
    pub noc: Noc,
    /// Memories.
    pub memory: Memory,
}

impl Instance {
    /// The accelerator that runs `dataflow` on this instance, with the clock, datapath and energy of
    /// `platform`.
    pub fn with(
        &self,
        name: Box<str>,
        dataflow: &Arc<Dataflow>,
        platform: &Platform,
    ) -> Accelerator {
        Accelerator {
            name,
            dataflow: Arc::clone(dataflow),
            flexibility: dataflow.flexibility().unwrap_or_default(),
            mapping_objective: MappingObjective::default(),
            mapping_deadline: MappingDeadline::default(),
            pes: self.pes,
            clock: platform.clock,
            noc: self.noc.clone(),
            memory: self.memory.clone(),
            datapath: platform.datapath,
            write_back: platform.write_back,
            pinned: Pinned::default(),
            runs: None,
            origin: CostOrigin::default(),
            energy: platform.energy.unwrap_or_else(|| {
                let widths = &platform.datapath.widths;
                EnergyTable::from_byte_energy(&platform.byte_energy, widths, &self.memory)
            }),
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
    /// Returns [`HardwareError::UnevenShares`] if the PEs do not split by the shares,
    /// [`HardwareError::NoTable`] if a platform with tables does not list the partition, and the errors
    /// of [`System::new`].
    pub fn instantiate(&self, pes: u32, platform: &Platform) -> Result<System, HardwareError> {
        let partition = self.partition(pes)?;
        let instances = match &platform.resources {
            Resources::Budget(budget) => self.split(budget, platform.dram, &partition),
            Resources::Tables(tables) => self.find_table(tables, &partition, platform)?,
        };
        let accelerators = instances
            .iter()
            .zip(&self.shares)
            .enumerate()
            .map(|(index, (instance, Share { dataflow, mapping, .. }))| {
                let name = format!("{}-{index}", dataflow.name()).into();
                instance.with(name, dataflow, platform).mapped(&mapping.or(&self.mapping))
            })
            .collect();
        let system = System::new(self.name.clone(), accelerators)?;
        Ok(system.in_technology(platform.technology.clone()).with_dram(platform.dram))
    }

    /// Splits one chip by the shares of the accelerators, whose PEs are `partition`, except for
    /// bandwidths that they do not split. Parts are rounded down, never below 1.
    fn split(&self, budget: &Budget, dram: Dram, partition: &[u32]) -> Vec<Instance> {
        let Budget { noc, memory, noc_unpartitioned } = budget;
        let total = |share: fn(&Share) -> u32| self.shares.iter().map(share).map(u64::from).sum();
        let [noc_total, memory_total, dram_total]: [u64; 3] =
            [total(|it| it.noc), total(|it| it.shared_memory), total(|it| it.dram)];
        let instance = |(index, (share, &pes)): (usize, (&Share, &u32))| Instance {
            name: format!("Acc{index}").into(),
            pes,
            noc: match noc_unpartitioned {
                true => noc.clone(),
                false => noc.shared(|bandwidth| part(bandwidth, share.noc, noc_total)),
            },
            memory: Memory {
                shared: Bytes::new(part(memory.shared.get(), share.shared_memory, memory_total)),
                dram_bandwidth: match dram {
                    Dram::Shared => memory.dram_bandwidth,
                    Dram::Split => part(memory.dram_bandwidth, share.dram, dram_total),
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
pub(super) fn part(whole: u64, share: u32, total: u64) -> u64 {
    let part = u128::from(whole) * u128::from(share) / u128::from(total.max(1));
    u64::try_from(part).unwrap_or(whole).max(1)
}

fn join(numbers: &[u32], separator: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

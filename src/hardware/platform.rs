//! Platforms: what a style is instantiated on.
//!
//! A *budget* is one pool of bandwidth and memory that the accelerators split by their share of the
//! PEs, as section 4.1 of the XRBench paper describes its systems. *Tables* fix the parameters of
//! every instance, as the published artifact did; they hold for the listed partitions only.

use std::sync::Arc;

use crate::dataflow::Dataflow;
use crate::units::{Bytes, ClockRate};

use super::{Accelerator, EnergyTable, HardwareError, Memory, Noc, Style, System};

/// Everything about the hardware but dataflows and PE counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// Name, e.g. `paper`.
    pub name: Box<str>,
    /// Clock of every accelerator.
    pub clock: ClockRate,
    /// Energy per event.
    pub energy: EnergyTable,
    /// Bandwidth and memories.
    pub resources: Resources,
}

/// Bandwidth and memories of a platform.
#[derive(Debug, Clone, PartialEq)]
pub enum Resources {
    /// One pool, split by share of the PEs (PE-local memory is per PE and not split).
    Budget {
        /// Network of the undivided chip.
        noc: Noc,
        /// Memories of the undivided chip.
        memory: Memory,
    },
    /// Fixed parameters for each listed partition.
    Tables(Vec<Table>),
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
    /// The accelerator that runs `dataflow` on this instance.
    pub fn with(
        &self,
        name: Box<str>,
        dataflow: &Arc<Dataflow>,
        clock: ClockRate,
        energy: EnergyTable,
    ) -> Accelerator {
        Accelerator {
            name,
            dataflow: Arc::clone(dataflow),
            pes: self.pes,
            clock,
            noc: self.noc.clone(),
            memory: self.memory.clone(),
            energy,
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
            Resources::Budget { noc, memory } => split(noc, memory, &partition, pes),
            Resources::Tables(tables) => self.find_table(tables, &partition, platform)?,
        };
        let accelerators = instances
            .iter()
            .zip(&self.shares)
            .enumerate()
            .map(|(index, (instance, (dataflow, _)))| {
                let name = format!("{}-{index}", dataflow.name()).into();
                instance.with(name, dataflow, platform.clock, platform.energy)
            })
            .collect();
        System::new(self.name.clone(), accelerators)
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

/// Splits one chip among accelerators of `partition` PEs, out of `total`. Shares of bandwidth and
/// memory are rounded down, never below 1.
fn split(noc: &Noc, memory: &Memory, partition: &[u32], total: u32) -> Vec<Instance> {
    partition
        .iter()
        .enumerate()
        .map(|(index, &pes)| {
            let share = |whole: u64| {
                let part = u128::from(whole) * u128::from(pes) / u128::from(total);
                u64::try_from(part).expect("a share is not larger than the whole").max(1)
            };
            Instance {
                name: format!("Acc{index}").into(),
                pes,
                noc: Noc {
                    bandwidth: noc.bandwidth.iter().map(|&b| share(b)).collect(),
                    ..noc.clone()
                },
                memory: Memory {
                    shared: Bytes::new(share(memory.shared.get())),
                    offchip_bandwidth: share(memory.offchip_bandwidth),
                    ..memory.clone()
                },
            }
        })
        .collect()
}

fn join(numbers: &[u32], separator: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

//! Reasons why a system cannot be built.

use thiserror::Error;

use super::{System, pinned};

/// Reasons why a system cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HardwareError {
    /// No accelerators.
    #[error("system `{0}` has no accelerators")]
    Empty(String),
    /// More accelerators than [`System::MAX_ACCELERATORS`].
    #[error(
        "system `{system}` has {found} accelerators; at most {} are allowed",
        System::MAX_ACCELERATORS
    )]
    TooMany {
        /// System.
        system: Box<str>,
        /// Number of accelerators.
        found: usize,
    },
    /// Too few PEs for one unit of the dataflow.
    #[error(
        "accelerator `{accelerator}` has {pes} PEs, but one unit of dataflow {dataflow} needs \
         {needed} (the product of its cluster sizes)"
    )]
    TooFewPes {
        /// Accelerator.
        accelerator: Box<str>,
        /// Its PEs.
        pes: u32,
        /// Its dataflow.
        dataflow: Box<str>,
        /// PEs of one outermost unit.
        needed: u64,
    },
    /// A size is 0 or too large.
    #[error("accelerator `{accelerator}`: {what} is {found}; allowed are 1 to {max}")]
    Size {
        /// Accelerator.
        accelerator: Box<str>,
        /// Name of the size.
        what: &'static str,
        /// Given value.
        found: u64,
        /// Largest allowed.
        max: u64,
    },
    /// The energy of cluster buffers follows from a size that is not given.
    #[error(
        "accelerator `{accelerator}`: the energy of a byte of the cluster buffers is `by-size`, but \
         their size is not given (key `cluster_memory_kib`)"
    )]
    NoClusterSize {
        /// Accelerator.
        accelerator: Box<str>,
    },
    /// Weights are to stay in shared memory of a network that no model of the scenario has.
    #[error(
        "accelerator `{accelerator}`: weights of {task} are to stay in its shared memory (key `pinned`), but {place}"
    )]
    UnknownPinned {
        /// Accelerator.
        accelerator: Box<str>,
        /// Task.
        task: Box<str>,
        /// Where it was looked for, and the tasks there.
        place: String,
    },
    /// Weights that are to stay do not fit into shared memory.
    #[error(
        "accelerator `{accelerator}`: the weights of {} (key `pinned`) take {} bytes of its shared memory of {available} \
         bytes", pinned::in_words(sizes), sizes.iter().map(|(_, bytes)| bytes).sum::<u64>()
    )]
    PinnedTooLarge {
        /// Accelerator.
        accelerator: Box<str>,
        /// Its shared memory \[byte\].
        available: u64,
        /// Tasks with the bytes of their weights.
        sizes: Vec<(Box<str>, u64)>,
    },
    /// The PEs do not divide into the shares of a style.
    #[error("style {style} cannot split {pes} PEs {shares}: {pes} is not a multiple of {total}")]
    UnevenShares {
        /// Style.
        style: Box<str>,
        /// Total PEs.
        pes: u32,
        /// The shares, e.g. `3:1`.
        shares: String,
        /// Sum of the shares.
        total: u32,
    },
    /// A platform of tables does not list the partition.
    #[error(
        "style {style} needs accelerators of {partition} PEs, which platform `{platform}` does not \
         list (it has {known}); choose one of those sizes or `--platform paper`"
    )]
    NoTable {
        /// Style.
        style: Box<str>,
        /// PEs of its accelerators.
        partition: String,
        /// Platform.
        platform: Box<str>,
        /// Partitions that it lists.
        known: String,
    },
    /// A platform of tables has no budget to change.
    #[error(
        "platform `{platform}` lists its accelerators one by one; bandwidth and memory are set on a \
         platform with a budget, such as `paper`"
    )]
    NoBudget {
        /// Platform.
        platform: Box<str>,
    },
}

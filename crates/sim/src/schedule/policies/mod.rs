//! The policies, a file each.

mod by_energy;
mod dream;
mod dysta;
mod edf;
mod fcfs;
mod firm;
mod heft;
mod herald;
mod herald_list;
mod latency_greedy;
mod least_laxity;
mod magma;
mod moca;
mod planaria;
mod prema;
mod priority;
mod rate_monotonic;
mod round_robin;
mod sdrm3;
mod shortest_first;
mod value;
mod veltair;

use super::Entry;

/// Every policy; the first is the default.
pub const ALL: &[Entry] = &[
    latency_greedy::ENTRY,
    round_robin::ENTRY,
    fcfs::ENTRY,
    edf::ENTRY,
    least_laxity::ENTRY,
    rate_monotonic::ENTRY,
    shortest_first::SJF,
    shortest_first::SRPT,
    by_energy::ENERGY_GREEDY,
    by_energy::EDP_GREEDY,
    by_energy::ED2P_GREEDY,
    by_energy::DEADLINE_ENERGY,
    value::ENTRY,
    heft::ENTRY,
    prema::ENTRY,
    planaria::ENTRY,
    veltair::ENTRY,
    moca::ENTRY,
    sdrm3::ENTRY,
    dream::ENTRY,
    dysta::ENTRY,
    herald::ENTRY,
    firm::ENTRY,
    herald_list::ENTRY,
    magma::ENTRY,
];

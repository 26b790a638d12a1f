//! Properties of the loop-nest cost model that hold for every layer, mapping and machine.
//!
//! Every case of the enumeration is checked in three forms: unchanged, enlarged beyond what can be
//! enumerated, and enlarged with a spatial loop on every level. A test also fails if fewer cases than
//! a quarter of those of a form are of its kind, or if its change makes a difference in fewer.
//! `XRSIM_CASES=40000 cargo test --release --test it loop_nest::invariants` checks 120,000 cases.
//!
//! Invariants are numbered as in section 8 of docs/explanation/cost-model-loop-nest.md.
//!
//! | invariant | module |
//! |---|---|
//! | 1 MACs, 2 peak, 7 least traffic and accumulate reads, 9 order of loops, 10 one unit | [`counts`] |
//! | 3 compute, 4 and 5 multicast, forwarding and reduction | [`switches`] |
//! | 2 to 6 for times: rooflines, monotonicity, latency | [`times`] |
//! | 8 DRAM; the choice of tiles in shared memory against an enumeration of the tiles | [`memory`] |
//! | 11 transposed convolutions | [`lowering`] |
//! | 12 windows | [`mappings`] |
//! | elements that neighbouring units share, in every small case | [`neighbours`] |
//! | energy as the sum of its parts | [`energy`] |
//! | bounds of the mapper | [`bounds`] |
//! | symmetries: rows and columns, inputs and weights, widths, levels and PEs without effect | [`symmetries`] |

mod bounds;
mod counts;
mod energy;
mod lowering;
mod mappings;
mod memory;
mod neighbours;
mod population;
mod switches;
mod symmetries;
mod times;

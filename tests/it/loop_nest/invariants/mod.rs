//! What holds of the loop-nest cost model for every layer, mapping and machine, whatever the
//! numbers are.
//!
//! Every case of the enumeration is checked three times: as it is, with its loops on a layer and a
//! machine that are too large to enumerate, and with units spread on every level of that. A property
//! that fewer than 500 cases are of the kind for fails, as does one of a change that makes no
//! difference in 500 cases. `XRSIM_CASES=40000 cargo test --release --test it loop_nest::invariants`
//! checks 120,000.
//!
//! Invariants are numbered as in section 8 of the specification.
//!
//! | invariant | module |
//! |---|---|
//! | 1 MACs, 2 peak, 7 least traffic and accumulate reads, 9 order of loops, 10 one unit | [`counts`] |
//! | 3 compute, 4 and 5 multicast, forwarding and reduction | [`switches`] |
//! | 2 to 6 in time: rooflines, monotony, latency | [`times`] |
//! | 8 DRAM; each choice of what to hold against its tiles one by one | [`memory`] |
//! | 11 transposed convolutions | [`lowering`] |
//! | 12 windows | [`mappings`] |
//! | what neighbours share, in every small case | [`neighbours`] |
//! | energy as the sum of its parts | [`energy`] |
//! | rows and columns, inputs and weights, bytes, levels and PEs that do nothing | [`symmetries`] |

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

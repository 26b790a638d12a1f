//! Messages for bad dataflows, styles, platforms and systems.

use super::check;

#[test]
fn dataflows() {
    check(
        "dataflow:
  name: D
  directives:
    - TemporalMap(4,4) Z
    - SpatialMap(1,0) K
    - {Cluster: 4}
",
        &[
            "4:24: axis `Z` is not known (allowed: C, K, R, S, X, Y, X', Y', N, G)",
            "5:20: the map offset is `0` (allowed: whole numbers from 1 to 16777216)",
            "6:7: expected a directive, e.g. `SpatialMap(1,1) K`, found a mapping",
        ],
    );
    check(
        "dataflow:
  name: D
  directives:
    - SpatialMap(1,1) Y'
    - TemporalMap(1,1) K
    - TemporalMap(1,1) Y
    - Cluster(16)
    - TemporalMap(1,1) C
",
        &["6:7: level 0 maps Y twice (Y and its output axis count as one)"],
    );
    check("dataflow: {name: D, directives: []}\n", &["1:33: this list of directives is empty"]);
}

#[test]
fn styles() {
    check(
        "style:
  name: S
  class: FPGA
  accelerators:
    - {dataflow: WX, pe_share: 0}
    - {dataflow: WS}
",
        &[
            "3:10: expected `FDA` or `SFDA` or `HDA`, found `FPGA`",
            "5:32: expected a whole number from 1 to 1024, found `0`",
            "6:7: an accelerator of a style lacks the key `pe_share`",
        ],
    );
    check(
        "style:\n  name: S\n  class: FDA\n  accelerators: [{dataflow: Os2, pe_share: 1}]\n",
        &["4:29: no dataflow named `Os2` (did you mean `OS`?)"],
    );
}

const ENERGY: &str =
    "{mac_nj: 1, scratchpad_per_mac: 1, shared_memory_per_mac: 1, dram_per_mac: 1}";

#[test]
fn platforms_with_wrong_units() {
    check(
        &format!(
            "platform:
  name: P
  clock_ghz: 1
  energy: {ENERGY}
  budget:
    noc_bandwidth: 256
    shared_memory_mib: 8
    scratchpad_kib: 0.0001
    dram_bandwidth_gb_per_s: 128
"
        ),
        &[
            "3:3: a platform has no key `clock_ghz` (give the value as `clock_mhz`)",
            "6:5: a set of resources has no key `noc_bandwidth` (give the value as \
             `noc_bandwidth_bytes_per_cycle`)",
            "7:5: a set of resources has no key `shared_memory_mib` (give the value as \
             `shared_memory_kib`)",
            "8:21: expected a size in KiB, above 0 and a whole number of bytes, found `0.0001`",
            "9:5: a set of resources has no key `dram_bandwidth_gb_per_s` (give the value as \
             `dram_bandwidth_bytes_per_cycle`)",
        ],
    );
}

#[test]
fn systems() {
    check(
        &format!(
            "system:
  name: S
  clock_mhz: 0
  energy: {ENERGY}
  accelerators:
    - name: a
      dataflow: WS
      pes: 99999999999
      noc_bandwidth_bytes_per_cycle: [1, 2, 3, 4, 5, 6, 7, 8, 9]
      shared_memory_kib: 1
      scratchpad_kib: 1
      dram_bandwidth_bytes_per_cycle: 1
"
        ),
        &[
            "3:14: expected a clock from 0.000001 to 1000000 MHz, found `0`",
            "8:12: expected a whole number from 1 to 16777216, found `99999999999`",
            "9:38: expected at most 8 levels, found a list",
        ],
    );
    let accelerator = |dataflow: &str, pes: u32| {
        format!(
            "    - {{name: a, dataflow: {dataflow}, pes: {pes}, noc_bandwidth_bytes_per_cycle: 8, \
             shared_memory_kib: 1, scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}\n"
        )
    };
    check(
        &format!(
            "system:\n  name: S\n  clock_mhz: 1\n  energy: {ENERGY}\n  accelerators:\n{}{}{}",
            accelerator("WS", 255),
            accelerator("OS", 64),
            accelerator("RS", 1),
        ),
        &[
            "6:36: accelerator `a` has 255 PEs, but one unit of dataflow WS needs 256 (the product of \
             its cluster sizes)",
            "7:14: `a` is named twice",
            "8:14: `a` is named twice",
            "8:36: accelerator `a` has 1 PEs, but one unit of dataflow RS needs 64 (the product of its \
             cluster sizes)",
        ],
    );
}

#[test]
fn problems_with_other_files_are_reported_with_those_of_this_one() {
    check(
        &format!(
            "system:
  name: S
  clock_ghz: 1
  clock_mhz: 1
  energy: {ENERGY}
  accelerators:
    - {{name: a, dataflow: WS, pes: 1, noc_bandwidth_bytes_per_cycle: 8, shared_memory_kib: 1,
       scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}
    - {{name: b, dataflow: WR, pes: 1, noc_bandwidth_bytes_per_cycle: 8, shared_memory_kib: 1,
       scratchpad_kib: 1, dram_bandwidth_bytes_per_cycle: 1}}
"
        ),
        &[
            "3:3: a system has no key `clock_ghz` (known: name, clock_mhz, energy, energy_pj, maestro_energy, datapath, flexibility, mapping_objective, mapping_deadline_share, fusion, fused_reads, post_ops_per_cycle, pinned, dram, technology, accelerators)",
            "9:27: no dataflow named `WR` (known: OS, RS, WS)",
        ],
    );
}

#[test]
fn platforms_with_wrong_buffers_and_fills() {
    let platform = |energies: &str, resources: &str| {
        format!(
            "platform:
  name: P
  clock_mhz: 1
  energy: {ENERGY}
  energy_pj: {energies}
  budget:
    noc_bandwidth_bytes_per_cycle: 8
    shared_memory_kib: 8
    scratchpad_kib: 1
    dram_bandwidth_bytes_per_cycle: 8
{resources}"
        )
    };
    check(
        &platform(
            "{scratchpad_per_byte: big}",
            "    cluster_memory_kib: [32, 0]\n    noc_fill_cycles: fast\n",
        ),
        &[
            "5:36: expected a number from 0 to 1000000000, or `by-size`, found `big`",
            "11:30: expected a size in KiB, above 0 and a whole number of bytes, found `0`",
            "12:22: expected a whole number from 0 to 1048576, or `systolic`, found `fast`",
        ],
    );
    check(
        &platform("{cluster_per_byte: by-size}", ""),
        &["5:14: `cluster_per_byte: by-size` needs the key `cluster_memory_kib`"],
    );
    check(
        &platform("{clock_per_cycle: -1, idle_per_cycle: 5}", "    dram_bytes_factors: [0.5, 1]\n"),
        &[
            "5:32: expected a number from 0 to 1000000000, found `-1`",
            "11:25: expected three numbers: factors of inputs, weights and outputs, found a list",
        ],
    );
    check(
        &platform(
            "{}",
            "    dram_bytes_factors: [0, 1, 2.5]\n  datapath: {input_bytes: 1, input_bits: 4, weight_bits: 0}\n",
        ),
        &[
            "11:26: expected a factor above 0, at most 2, of at most 6 decimals, found `0`",
            "11:32: expected a factor above 0, at most 2, of at most 6 decimals, found `2.5`",
            "12:27: `input_bytes` and `input_bits` both give one width; leave one out",
            "12:58: expected a whole number from 1 to 512, found `0`",
        ],
    );
}

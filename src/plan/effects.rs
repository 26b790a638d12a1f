//! Device effects: time and energy that requests cost each other beyond the costs of their layers. Each
//! effect is off by default. Further effects on a scheduled request (voltage and frequency, temperature,
//! battery) belong here too.

use crate::units::{Millijoules, SimSpan};

/// Device effects of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effects {
    /// Context switch to another model or request.
    pub switch: Switch,
    /// Migration of a request to another accelerator.
    pub migration: Migration,
    /// Bandwidth shared by all accelerators.
    pub bandwidth: SharedBandwidth,
    /// Non-overlapped fraction o: fraction of the shorter one of computation and DRAM transfer of a layer
    /// that the longer one does not hide, from 0 to 1:
    ///
    /// ```text
    /// T = max(C, M) + o · min(C, M)
    /// ```
    ///
    /// The cost models assume 0, full overlap; MoCA (Kim et al., HPCA 2023) takes 0.5. The fraction changes
    /// the costs of every layer before the run, so that policies and bounds include it.
    pub non_overlapped: f64,
}

impl Effects {
    /// Whether data is moved before a request runs.
    pub fn moves_data(&self) -> bool {
        self.switch.enabled || self.migration.enabled
    }

    /// Whether any effect is on.
    pub fn any(&self) -> bool {
        self.moves_data() || self.bandwidth.is_limited() || self.non_overlapped > 0.0
    }
}

/// Context switch. Before a request runs on an accelerator, these are moved to or from DRAM: the live
/// activations of another request that was interrupted there, the weights of the model if it is not
/// resident, and the live activations of the request if an earlier switch moved them to DRAM.
///
/// ```text
/// t = fixed + bytes / DRAM bandwidth,   E = bytes · energy per byte
/// ```
///
/// Both are zero if nothing is moved because the model ran there last. The bandwidth is that of the
/// accelerator.
///
/// These weights are added to the weights that layer costs include. A cost model that fetches every
/// weight in every inference, as `loop-nest` does, counts them twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch {
    /// Whether it takes time and energy.
    pub enabled: bool,
    /// Fixed part of its time. The default of 5 us has no source.
    pub fixed: SimSpan,
    /// Energy of DRAM [pJ/bit]. The default of 14.8 is that of a 28 nm multi-chip module (SCAR, MICRO
    /// 2024).
    pub dram_pj_per_bit: f64,
}

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: false, fixed: SimSpan::from_ns(5_000), dram_pj_per_bit: 14.8 }
    }
}

impl Switch {
    /// Energy of moving `bytes` to or from DRAM.
    pub fn energy(&self, bytes: u64) -> Millijoules {
        Millijoules::from_nj(bytes as f64 * 8.0 * self.dram_pj_per_bit / 1e3)
    }
}

/// Migration: an interrupted request continues on another accelerator, and its live activations move
/// there over the NoC, as SCAR (MICRO 2024) moves them between chiplets.
///
/// ```text
/// t = bytes / NoC bandwidth + hop,   E = bytes · energy per byte
/// ```
///
/// Any two accelerators are one hop apart. The bandwidth is the smaller one of the outermost NoC levels
/// of both accelerators. The energy is that of the NoC of the second one. Activations that a context
/// switch moved to DRAM are loaded from DRAM instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Migration {
    /// Whether it takes time and energy.
    pub enabled: bool,
    /// Latency of the hop. The default of 35 ns is that of a package in SCAR \[unverified\].
    pub hop: SimSpan,
}

impl Default for Migration {
    fn default() -> Self {
        Self { enabled: false, hop: SimSpan::from_ns(35) }
    }
}

/// Bandwidth shared by the accelerators of a system.
///
/// A layer with Q bytes that takes T alone demands Q / T. While the sum of demands exceeds the budget,
/// the budget is divided, and a layer runs at the fraction of its speed that equals the granted fraction
/// of its demand. Grants change whenever a layer starts or ends. If both budgets are exceeded, DRAM is
/// divided first; layers that this slows down demand less of the NoC.
///
/// The time of a layer alone is that of the costs, with the bandwidth of its own accelerator: sharing
/// can only slow it down. To let an accelerator use the whole budget while the others leave it, give
/// each accelerator the whole bandwidth ([`Unpartitioned`](crate::hardware::platform::Unpartitioned)).
///
/// A network whose layers are not known, because it was measured as a whole, demands nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SharedBandwidth {
    /// Budget of DRAM [byte/ns = GB/s], above 0; `None` for no limit. LPDDR class: 64.
    pub dram: Option<f64>,
    /// Budget of the outermost NoC levels of all accelerators together [byte/ns = GB/s], above 0; `None`
    /// for no limit.
    pub noc: Option<f64>,
    /// Division of the budget, unless the scheduler divides it.
    pub division: Division,
}

impl SharedBandwidth {
    /// Whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.dram.is_some() || self.noc.is_some()
    }
}

/// Division of bandwidth among demands that exceed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Division {
    /// Max-min fairness: a demand below an equal part is granted in full, and the other demands divide the
    /// rest equally.
    #[default]
    MaxMin,
    /// In proportion to the demands (MAGMA, Kao & Krishna, HPCA 2022).
    Proportional,
}

//! Effects between requests that layer costs do not contain. Each is off by default, and without effects
//! the model is the plain one. Other effects on a scheduled request (voltage and frequency, temperature,
//! battery) belong into this module.

use xrsim_model::units::{Millijoules, SimSpan};

/// Effects of a system.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effects {
    /// Context switches.
    pub switch: Switch,
    /// Migrations of requests to another accelerator.
    pub migration: Migration,
    /// Bandwidth that all accelerators share.
    pub bandwidth: SharedBandwidth,
    /// Fraction o of the shorter of computation C and DRAM transfer M of a layer that the longer one does
    /// not hide, from 0 to 1:
    ///
    /// ```text
    /// T = max(C, M) + o · min(C, M)
    /// ```
    ///
    /// The cost models assume 0, full overlap; MoCA (Kim et al., HPCA 2023) assumes 0.5. The fraction
    /// changes the costs of every layer before the run, so that schedulers and bounds know it.
    pub non_overlapped: f64,
}

impl Effects {
    /// Whether data may be moved before a request runs.
    pub(crate) fn moves_data(&self) -> bool {
        self.switch.enabled || self.migration.enabled
    }

    /// Whether there is any effect.
    pub fn any(&self) -> bool {
        self.moves_data() || self.bandwidth.is_limited() || self.non_overlapped > 0.0
    }
}

/// Context switches. Before a request runs on an accelerator, the live activations of another request
/// that was preempted there move to DRAM. The weights of the model, if they are not resident, and the
/// live activations of the request, if an earlier switch moved them away, come from DRAM.
///
/// ```text
/// t = fixed + bytes / DRAM bandwidth,   E = bytes · energy per byte
/// ```
///
/// There is no switch if the model is the one that ran there last and no activations move to or from
/// DRAM. A change of the model takes the fixed time even if no byte moves. The bandwidth is that of the
/// accelerator.
///
/// These weights are in addition to those in layer costs. Cost models that fetch every weight in every
/// inference, such as `loop-nest`, count them twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch {
    /// Whether context switches take time and energy.
    pub enabled: bool,
    /// Fixed part of the time. The default of 5 us is a choice without source.
    pub fixed: SimSpan,
    /// Energy of DRAM \[pJ/bit\]. The default of 14.8 is that of a 28 nm multi-chip module (SCAR, MICRO
    /// 2024).
    pub dram_pj_per_bit: f64,
}

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: false, fixed: SimSpan::from_ns(5_000), dram_pj_per_bit: 14.8 }
    }
}

impl Switch {
    /// Energy to move `bytes` to or from DRAM.
    pub fn energy(&self, bytes: u64) -> Millijoules {
        Millijoules::from_nj(bytes as f64 * 8.0 * self.dram_pj_per_bit / 1e3)
    }
}

/// Migrations. A request that was preempted continues on another accelerator, and its live activations
/// move there over the NoC, as SCAR (MICRO 2024) moves them between chiplets.
///
/// ```text
/// t = bytes / NoC bandwidth + hop,   E = bytes · energy per byte
/// ```
///
/// Any two accelerators are one hop apart. The bandwidth is the smaller one of the outermost NoC levels
/// of both, and the energy is that of the NoC of the second accelerator. Activations that a context
/// switch moved to DRAM come from DRAM instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Migration {
    /// Whether migrations take time and energy.
    pub enabled: bool,
    /// Latency of the hop. The default of 35 ns is that of a package, from SCAR \[unverified\].
    pub hop: SimSpan,
}

impl Default for Migration {
    fn default() -> Self {
        Self { enabled: false, hop: SimSpan::from_ns(35) }
    }
}

/// Limits of the bandwidth that the accelerators of a system have together. A system with DRAM that is shared has
/// a limit without any setting ([`Plan::shared_bandwidth`](super::Plan::shared_bandwidth)).
///
/// A layer of Q bytes with the latency T alone demands Q / T. While the sum of all demands exceeds the
/// capacity, the capacity is divided, and a layer that gets a fraction of its demand runs at that
/// fraction of its speed. Shares change whenever a layer starts or ends. Where both capacities are
/// exceeded, DRAM is divided first, and layers that DRAM slows demand less of the NoC.
///
/// The latency alone is that of the layer costs, with the bandwidth of the accelerator: sharing only
/// slows layers.
///
/// A network with costs as a whole and not of its layers demands no bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SharedBandwidth {
    /// DRAM bandwidth \[byte/ns = GB/s\], above 0; `None`: no limit but that of the system. LPDDR-class: 64.
    pub dram: Option<f64>,
    /// Bandwidth of the outermost NoC levels of all accelerators together \[byte/ns = GB/s\], above 0;
    /// `None`: unlimited.
    pub noc: Option<f64>,
    /// Division of the bandwidth unless the scheduler divides it.
    pub division: Division,
}

impl SharedBandwidth {
    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.dram.is_some() || self.noc.is_some()
    }
}

/// Division of bandwidth among layers that demand more than the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Division {
    /// Max-min fair: a layer that demands less than an equal share gets its demand, and the others
    /// divide the rest equally.
    #[default]
    MaxMin,
    /// In proportion to the demands (MAGMA, Kao & Krishna, HPCA 2022).
    Proportional,
}

//! What layer costs leave out of a system: effects between the requests that it runs. Each is off by
//! default, and all off is the plain model. Whatever else changes what a request takes once it is
//! scheduled (voltage and frequency, temperature, battery) has its place beside these.

use crate::units::{Millijoules, SimSpan};

/// Effects of a system.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effects {
    /// Bringing another model or request onto an accelerator.
    pub switch: Switch,
    /// Going on with a request on another accelerator.
    pub migration: Migration,
    /// Bandwidth that all accelerators share.
    pub bandwidth: SharedBandwidth,
    /// Share o of the shorter of computing and DRAM transfer of a layer that the longer one does not
    /// hide, from 0 to 1:
    ///
    /// ```text
    /// T = max(C, M) + o · min(C, M)
    /// ```
    ///
    /// 0, full overlap, is what the cost models assume; MoCA (Kim et al., HPCA 2023) takes 0.5. Changes
    /// the costs of every layer before the run, so that policies and bounds know of it.
    pub non_overlapped: f64,
}

impl Effects {
    /// Whether something is moved before a request runs.
    pub fn moves_data(&self) -> bool {
        self.switch.enabled || self.migration.enabled
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.moves_data() || self.bandwidth.is_limited() || self.non_overlapped > 0.0
    }
}

/// A context switch: before a request runs on an accelerator, DRAM takes the live activations of
/// another one that was cut there, and brings the weights of a model that is not resident, and the
/// live activations of a request that such a switch took away.
///
/// ```text
/// t = fixed + bytes / DRAM bandwidth,   E = bytes · energy per byte
/// ```
///
/// Nothing if there is nothing to bring or take away: the model is the one that ran there last. The
/// bandwidth is that of the accelerator.
///
/// Weights here come on top of what layer costs fetch: models of costs that fetch every weight in
/// every inference, as `principled` does, count them twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch {
    /// Whether it takes anything.
    pub enabled: bool,
    /// Fixed part of its time. 5 us is a choice without source.
    pub fixed: SimSpan,
    /// Energy of DRAM [pJ/bit]. 14.8 is of a 28 nm multi-chip module (SCAR, MICRO 2024).
    pub dram_pj_per_bit: f64,
}

impl Default for Switch {
    fn default() -> Self {
        Self { enabled: false, fixed: SimSpan::from_ns(5_000), dram_pj_per_bit: 14.8 }
    }
}

impl Switch {
    /// Energy of so many bytes to or from DRAM.
    pub fn energy(&self, bytes: u64) -> Millijoules {
        Millijoules::from_nj(bytes as f64 * 8.0 * self.dram_pj_per_bit / 1e3)
    }
}

/// A migration: a request that was cut goes on on another accelerator, and its live activations move
/// there over the on-chip network, as SCAR (MICRO 2024) moves them between chiplets.
///
/// ```text
/// t = bytes / NoC bandwidth + hop,   E = bytes · energy per byte
/// ```
///
/// Any two accelerators are one hop apart. The bandwidth is that of the outermost networks of both,
/// whichever is less; the energy that of the network of the one where it goes on. Activations that a
/// context switch took to DRAM come from there instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Migration {
    /// Whether it takes anything.
    pub enabled: bool,
    /// Latency of the hop. 35 ns is of a package, from SCAR \[unverified\].
    pub hop: SimSpan,
}

impl Default for Migration {
    fn default() -> Self {
        Self { enabled: false, hop: SimSpan::from_ns(35) }
    }
}

/// Bandwidth that the accelerators of a system share.
///
/// A layer of Q bytes that takes T alone asks for Q / T. As long as all that is asked for exceeds the
/// budget, it is divided, and a layer that gets a part of what it asks for goes on at that part of its
/// speed. Shares change whenever a layer starts or ends. Where both budgets bind, DRAM is divided
/// first, and what it slows asks for less of the NoC.
///
/// What a layer takes alone is as the costs have it, with the bandwidth of its own accelerator: sharing
/// only takes away. To let an accelerator use the budget as long as the others leave it, give each the
/// whole of it ([`Unpartitioned`](crate::hardware::platform::Unpartitioned)).
///
/// A network whose layers are not known, because it was measured as a whole, asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SharedBandwidth {
    /// DRAM [byte/ns = GB/s], above 0; `None`: without limit. LPDDR-class: 64.
    pub dram: Option<f64>,
    /// Outermost on-chip networks of all accelerators together [byte/ns = GB/s], above 0; `None`:
    /// without limit.
    pub noc: Option<f64>,
    /// How it is divided, where the policy does not.
    pub division: Division,
}

impl SharedBandwidth {
    /// Whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.dram.is_some() || self.noc.is_some()
    }
}

/// How bandwidth is divided among those that ask for more than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Division {
    /// Max-min fair: whoever asks for less than an equal part gets it, the others divide the rest
    /// equally.
    #[default]
    MaxMin,
    /// In proportion to what is asked for (MAGMA, Kao & Krishna, HPCA 2022).
    Proportional,
}

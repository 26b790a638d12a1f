//! Choice of forms and mappings by the hardware, layer by layer.

use std::fmt;
use std::sync::Arc;

use crate::hardware::Accelerator;
use crate::model::Network;

use super::super::{Certainty, ChooserId, Infeasible, NetworkCost};
use super::{Evaluation, Level, Machine, Mapping, Nest, Widths, Window};
use crate::digest::FastDigest;

/// A form of a layer and the mapping with which an accelerator computes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Form: a loop nest with the same products and tensors as the layer.
    pub nest: Nest,
    /// Mapping of the form.
    pub mapping: Mapping,
    /// Certainty about the choice, if something is known of it.
    pub certainty: Option<Certainty>,
}

impl Choice {
    /// Whether another choice has the same form and mapping.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.mapping == other.mapping && self.nest == other.nest
    }

    /// Digest of form and mapping.
    pub fn digest(&self) -> FastDigest {
        let mut digest = FastDigest::default();
        add_choice(&mut digest, &self.nest, &self.mapping);
        digest
    }
}

/// Adds a form and its mapping to a digest.
pub(super) fn add_choice(digest: &mut FastDigest, nest: &Nest, mapping: &Mapping) {
    nest.extents().iter().for_each(|extent| digest.add(*extent));
    for Window { stride, dilation, stored, padding } in *nest.windows() {
        [stride, dilation, stored, padding].into_iter().for_each(|it| digest.add(it));
    }
    digest.add(nest.is_depthwise().into());
    digest.add(mapping.off_chip().is_some().into());
    let mut add = |level: &Level| {
        // The number of loops tells levels apart.
        [level.units(), level.loops().len() as u32].into_iter().for_each(|it| digest.add(it));
        for it in level.loops() {
            [it.axis as u32, it.size, it.spatial.into()].into_iter().for_each(|it| digest.add(it));
        }
    };
    mapping.off_chip().into_iter().chain(mapping.levels()).for_each(&mut add);
}

/// A choice of another accelerator.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Form and mapping.
    pub choice: Arc<Choice>,
    /// Facts that hold for them here as there, if there are some.
    pub facts: Option<WalkFacts>,
}

/// Facts of a form and mapping that depend on no memory and on no PE that they leave idle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WalkFacts {
    /// Widths of elements.
    pub widths: Widths,
    /// Cycles that every latency has at least.
    pub cycles: u64,
    /// The same where transfers take longer, or no time.
    pub compute_cycles: u64,
    /// Energy of MACs, registers, scratchpads, clusters and NoC \[pJ\].
    pub on_chip_pj: f64,
    /// Bytes that the shared memory sends to the PEs and gets from them.
    pub shared_bytes: f64,
}

impl WalkFacts {
    /// Facts of an evaluated mapping.
    pub fn new(evaluation: &Evaluation, machine: &Machine) -> Self {
        let (energy, table) = (&evaluation.energy, &machine.energies);
        let dram = evaluation.memory.dram.total_bytes() as f64;
        let shared = if table.shared > 0.0 { energy.shared / table.shared } else { dram };
        Self {
            widths: machine.widths,
            cycles: evaluation.chip_cycles,
            compute_cycles: evaluation.compute_cycles,
            on_chip_pj: energy.mac
                + energy.register
                + energy.scratchpad
                + energy.cluster
                + energy.noc,
            shared_bytes: (shared - dram).max(0.0),
        }
    }
}

/// A rule by which accelerators choose forms and mappings.
pub trait Choose: fmt::Debug + Send + Sync {
    /// The choices of one accelerator; `None` if it has none, so that the directives of its dataflow map
    /// every layer as it is written.
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>>;

    /// The choices of one accelerator for the layers of a network, which may depend on the choices of other
    /// accelerators for this network. By default they do not.
    fn in_network<'a>(
        &'a self,
        accelerator: &'a Accelerator,
        _network: &Network,
    ) -> Option<Box<dyn ChooseLayer + 'a>> {
        self.on(accelerator)
    }

    /// Cost of a network on an accelerator whose choices depend on those of others; `None` where they do not.
    fn cost(
        &self,
        _network: &Network,
        _accelerator: &Accelerator,
    ) -> Option<Result<Arc<NetworkCost>, Infeasible>> {
        None
    }
}

/// The choices of one accelerator.
pub trait ChooseLayer {
    /// The choice for a loop nest, on a machine with the tensors that are resident and the shared memory
    /// that is free. `None` if no mapping runs.
    fn choose(&self, nest: &Nest, machine: &Machine) -> Option<Choice> {
        self.choose_among(nest, machine, &[])
    }

    /// The best of this choice and those of `others`, which are choices of other accelerators for the same loop
    /// nest, by the objective of the accelerator. What does not run here does not count. The result depends on no
    /// order of `others`.
    fn choose_among(&self, nest: &Nest, machine: &Machine, others: &[Offer]) -> Option<Choice>;

    /// Takes note of the form and mapping with which the loop nest `written` runs, and of what they attain.
    fn note(
        &self,
        _written: &Nest,
        _form: (&Nest, &Mapping),
        _evaluation: &Evaluation,
        _machine: &Machine,
    ) {
    }

    /// The accelerator and the effort, for records. A rule that does not say is not told from others.
    fn id(&self) -> ChooserId {
        ChooserId::default()
    }
}

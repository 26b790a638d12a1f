//! Choice of forms and mappings by the hardware, layer by layer.

use std::fmt;

use crate::hardware::Accelerator;

use super::{Machine, Mapping, Nest};

/// A form of a layer and the mapping with which an accelerator computes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Form: a loop nest with the same products and tensors as the layer.
    pub nest: Nest,
    /// Mapping of the form.
    pub mapping: Mapping,
}

/// A rule by which accelerators choose forms and mappings.
pub trait Choose: fmt::Debug + Send + Sync {
    /// The choices of one accelerator; `None` if it has none, so that the directives of its dataflow map
    /// every layer as it is written.
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>>;
}

/// The choices of one accelerator.
pub trait ChooseLayer {
    /// The choice for a loop nest, on a machine with the tensors that are resident and the shared memory
    /// that is free. `None` if no mapping runs.
    fn choose(&self, nest: &Nest, machine: &Machine) -> Option<Choice>;
}

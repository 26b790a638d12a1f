//! An operator as its handler sees it.

use crate::rules::{Call, Fault};
use crate::trace::{Step, TensorId};

/// A step with the facts about what it reads.
pub(crate) struct Op<'s> {
    pub step: &'s Step<'s>,
    pub call: Call<'s>,
}

/// The layers of an operator are made, and its outputs are known.
pub(super) type Done = Result<(), Fault>;

impl<'s> Op<'s> {
    /// Name of the operator.
    pub(super) fn name(&self) -> &'s str {
        self.call.operator()
    }

    /// An operand, if it is there.
    pub(super) fn given(&self, index: usize) -> Option<TensorId> {
        self.step.inputs.get(index).copied().flatten()
    }

    /// An operand that the operator cannot do without.
    pub(super) fn operand(&self, index: usize) -> Result<TensorId, Fault> {
        self.given(index).ok_or(Fault::Unsupported)
    }

    /// All operands from one on.
    pub(super) fn operands(&self, first: usize) -> impl Iterator<Item = TensorId> {
        self.step.inputs.iter().skip(first).copied().flatten()
    }

    /// The first output.
    pub(super) fn output(&self) -> TensorId {
        self.step.outputs[0]
    }
}

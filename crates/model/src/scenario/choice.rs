//! Networks of a model of which each request runs one, as the system chooses.

use super::{PublishedQuality, QualityGoal};

/// The networks of a model, of which each request runs one: that of the unit, the default, or one of the variants 1, 2, ...
/// of the model. They perform the same task by the same metric, and read the same inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Measured quality of each network, the default first, in the metric of the model's goal; `None` meets the goal.
    pub measured: Vec<Option<f64>>,
    /// Published quality of each network, as `measured`; networks after the last one have none.
    pub published: Vec<Option<PublishedQuality>>,
    /// Whether they are parts of one network with common weights: a change between them loads no weights.
    pub shares_weights: bool,
}

impl Choice {
    /// Number of networks.
    pub fn len(&self) -> usize {
        self.measured.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// The goal of the model, with what `variant` reaches of it.
    pub(super) fn goal(&self, goal: &QualityGoal, variant: u32) -> QualityGoal {
        let measured = self.measured.get(variant as usize).copied().unwrap_or(goal.measured);
        let published = self.published.get(variant as usize).cloned().flatten();
        QualityGoal { measured, published, ..goal.clone() }
    }
}

//! The key `traced`: how the layers of a network were confirmed.

use crate::Problem;
use crate::yaml::read::{Problems, at, number, text};
use crate::yaml::{Fields, Node};
use xrsim_model::model::Network;

/// Comparison of a network with the code that it stands for, which was executed and recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// Code that was executed.
    pub code: Box<str>,
    /// Number of layers with multiply-accumulates that equal those of the code; 0 if only totals were compared.
    pub layers: u32,
    /// Number of these that also read the same layers; `None` if sources were not compared.
    pub edges: Option<u32>,
    /// Limit of the comparison; empty if the file gives none.
    pub remark: Box<str>,
}

/// Numbers of a trace with their places in the file.
pub(super) struct Draft {
    traced: Traced,
    layers: std::ops::Range<usize>,
}

/// Reads the value of the key.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Draft> {
    let mut fields = Fields::of(node, "a trace", problems)?;
    let count = || at(number(0..=Network::MAX_LAYERS as u32));
    let code = fields.required("code", text);
    let layers = fields.optional("layers", count());
    let edges = fields.optional("edges", count());
    let remark = fields.optional("remark", text).unwrap_or_default();
    let n_layers = layers.as_ref().map_or(0, |it| it.value);
    if let Some(edges) = edges.as_ref().filter(|it| it.value > n_layers) {
        let message = format!("sources of {} layers, but {n_layers} were compared", edges.value);
        fields.problem(Problem::new(edges.span.clone(), message));
    }
    fields.finish();
    let layers = layers.map_or(0..0, |it| it.span);
    let edges = edges.map(|it| it.value);
    Some(Draft { traced: Traced { code: code?, layers: n_layers, edges, remark }, layers })
}

impl Draft {
    /// The trace of `network`, unless it has more layers than the network.
    pub(super) fn of(self, network: &Network, problems: &mut Problems) -> Traced {
        let known = network.layers().iter().filter(|it| it.operator.macs() > 0).count();
        if self.traced.layers as usize > known {
            let found = self.traced.layers;
            let message =
                format!("{found} layers of a network that has {known} with multiply-accumulates");
            problems.push(Problem::new(self.layers, message));
        }
        self.traced
    }
}

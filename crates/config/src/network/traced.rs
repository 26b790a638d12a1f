//! The key `traced`: how the layers of a network were confirmed.

use crate::Problem;
use crate::yaml::keys::keys;
use crate::yaml::read::{At, Problems};
use crate::yaml::values::{Reader, at, number, text};
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

keys! {
    /// Comparison of the network with executed code.
    fn raw_traced() -> struct RawTraced: "a trace" {
        /// Code that was executed.
        code: Box<str> = required(text());
        /// Number of layers with multiply-accumulates that equal those of the code. Without it, only totals were compared.
        layers: Option<At<u32>> = optional(at(number(0..=Network::MAX_LAYERS as u32)));
        /// Number of these layers that also read the same layers. Without it, sources were not compared.
        edges: Option<At<u32>> = optional(at(number(0..=Network::MAX_LAYERS as u32)));
        /// Limit of the comparison.
        remark: Box<str> = or_default(text());
    }
    check(fields) {
        let n_layers = layers.as_ref().map_or(0, |it| it.value);
        if let Some(edges) = edges.as_ref().filter(|it| it.value > n_layers) {
            let message = format!("sources of {} layers, but {n_layers} were compared", edges.value);
            fields.problem(Problem::new(edges.span.clone(), message));
        }
    }
}

/// Value of the key.
pub(super) fn traced() -> impl Reader<Value = Draft> {
    raw_traced().then(|raw, _, _| {
        let layers = raw.layers.unwrap_or(At { span: 0..0, value: 0 });
        let edges = raw.edges.map(|it| it.value);
        let traced = Traced { code: raw.code, layers: layers.value, edges, remark: raw.remark };
        Some(Draft { traced, layers: layers.span })
    })
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

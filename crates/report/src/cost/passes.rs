//! Layers that move their tensors many times through DRAM, in words.

use xrsim_model::cost::{MANY_PASSES, passes};
use xrsim_model::hardware::Flexibility;

use super::CostReport;

/// Most layers that are named.
const MOST_NAMED: usize = 3;

/// A layer that moves its tensors many times.
struct Repeated<'a> {
    layer: &'a str,
    network: &'a str,
    accelerator: &'a str,
    passes: f64,
}

impl CostReport {
    /// Says which layers move more than ten times their compulsory bytes through DRAM, and what to do;
    /// `None` if none does. Those with most passes are named.
    pub fn repeated_layers(&self) -> Option<String> {
        let mut found = self.repeated();
        found.sort_by(|a, b| b.passes.total_cmp(&a.passes));
        let named: Vec<_> = found.iter().take(MOST_NAMED).map(Repeated::in_words).collect();
        let more = match found.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let layers = match found.len() {
            0 => return None,
            1 => "1 layer moves",
            n => &format!("{n} layers move"),
        };
        let is_fixed = |flexibility| matches!(flexibility, Flexibility::None | Flexibility::Forms);
        let choosing: Vec<_> = self.variants.iter().filter(|it| it.chooses).collect();
        let help = if choosing.is_empty() {
            ""
        } else if choosing.iter().any(|it| is_fixed(it.flexibility())) {
            "; `--flexibility tiles` lets the accelerator choose mappings that move less, and \
             `xrsim map` finds them"
        } else {
            "; `xrsim map` searches mappings longer"
        };
        Some(format!(
            "{layers} more than {MANY_PASSES} times the compulsory bytes through DRAM: {}{more}{help}",
            named.join(", ")
        ))
    }

    /// Shown layers with many passes.
    fn repeated(&self) -> Vec<Repeated<'_>> {
        let mut found = Vec::new();
        for (network, variant, cell) in self.pairs() {
            let Ok(cost) = &cell.total else { continue };
            for index in self.shown(network) {
                let (layer, Some(cost)) = (&network.layers()[index], cost.layers.get(index)) else {
                    continue;
                };
                let passes = passes(layer, cost, &variant.accelerator);
                if passes > MANY_PASSES {
                    found.push(Repeated {
                        layer: &layer.name,
                        network: network.name(),
                        accelerator: &variant.accelerator.name,
                        passes,
                    });
                }
            }
        }
        found
    }
}

impl Repeated<'_> {
    fn in_words(&self) -> String {
        let Self { layer, network, accelerator, passes } = self;
        format!("`{layer}` of {network} on {accelerator} ({passes:.0} times)")
    }
}

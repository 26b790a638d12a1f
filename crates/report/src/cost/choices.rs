//! Forms and mappings that accelerators choose for layers (docs/explanation/mapper.md, section 6).

use xrsim_model::cost::loop_nest::{NestReport, nests_of_network};
use xrsim_model::cost::{Certainty, CostModel, NetworkCost, Quantity};
use xrsim_model::hardware::Flexibility;
use xrsim_model::mapper::mapping_text;
use xrsim_model::model::Network;

use super::{Variant, text};

/// Columns of a choice, in the order of [`LayerChoice::cells`].
pub(super) const COLUMNS: [&str; 4] = ["flexibility", "mapping", "search", "gap_percent"];

/// The choice for one layer.
pub(super) struct LayerChoice {
    /// Form and mapping of every loop nest; empty for an operator without MACs.
    mappings: Vec<String>,
    /// Certainty about the layer; `None` if the directives of the dataflow map a part of it.
    certainty: Option<Certainty>,
}

impl LayerChoice {
    /// The choices for every layer of a network of this cost, indexed by layer; empty if the accelerator has
    /// none.
    pub(super) fn of_network(
        model: &dyn CostModel,
        network: &Network,
        variant: &Variant,
        cost: Option<&NetworkCost>,
    ) -> Vec<Self> {
        let Some(choices) = cost.and_then(NetworkCost::choices) else { return Vec::new() };
        let nests = nests_of_network(network, &variant.accelerator, model.chooser());
        let nests = nests.unwrap_or_default();
        let text = |it: &NestReport| mapping_text(&it.written, &it.nest, &it.mapping);
        let of_layer = |(nests, certainty): (&Vec<NestReport>, &Option<Certainty>)| Self {
            mappings: nests.iter().map(text).collect(),
            certainty: *certainty,
        };
        nests.iter().zip(&choices.layers).map(of_layer).collect()
    }

    /// Distance of the latency to its lower bound [percent].
    pub(super) fn gap_percent(&self) -> Option<f64> {
        Some(self.certainty?.gap_percent())
    }

    /// Cells of [`COLUMNS`].
    pub(super) fn cells(&self, variant: &Variant) -> [Quantity; COLUMNS.len()] {
        let search = self.certainty.map_or("", |it| it.effort);
        let gap = self.gap_percent().map_or(text(""), Quantity::Real);
        let mappings = text(&self.mappings.join(" | "));
        [text(variant.flexibility().name()), mappings, text(search), gap]
    }

    /// Cells of [`COLUMNS`] for a layer without choice.
    pub(super) fn no_cells(variant: &Variant) -> [Quantity; COLUMNS.len()] {
        [variant.flexibility().name(), "", "", ""].map(text)
    }
}

/// A line that says the flexibility of the variants, and what is known of their choices; empty if no cost
/// model chooses mappings.
pub(super) fn line<'a>(
    variants: &[Variant],
    choices: impl Iterator<Item = &'a LayerChoice>,
) -> String {
    let choosing: Vec<_> = variants.iter().filter(|it| it.chooses).collect();
    let Some(first) = choosing.first() else { return String::new() };
    let words = |it: &Variant| match it.flexibility() {
        Flexibility::None => "none (the directives of the dataflow)".to_string(),
        flexibility => {
            format!("{flexibility}, objective {}", it.accelerator.mapping_objective)
        }
    };
    let alike = choosing.iter().all(|it| words(it) == words(first));
    let flexibility = match alike {
        true => words(first),
        false => {
            let named = choosing.iter().map(|it| format!("{} {}", it.accelerator.name, words(it)));
            named.collect::<Vec<_>>().join("; ")
        }
    };
    let (mut gaps, mut effort) = (Vec::new(), "");
    for certainty in choices.filter_map(|it| it.certainty) {
        gaps.push(certainty.gap_percent());
        effort = certainty.effort;
    }
    gaps.sort_by(f64::total_cmp);
    let known = match (gaps.get(gaps.len() / 2), gaps.last()) {
        (Some(median), Some(most)) => format!(
            ", {effort} effort; latency of {} layers above its lower bound: median {median:.1} %, most \
             {most:.1} %",
            gaps.len()
        ),
        _ => String::new(),
    };
    format!("flexibility {flexibility}{known}\n")
}

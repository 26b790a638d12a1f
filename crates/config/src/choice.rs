//! `variants:` of a model of a scenario: networks of which each request runs one.

use std::sync::Arc;

use xrsim_model::renamed::Renamed;
use xrsim_model::scenario::{Choice, QualityGoal};

use super::network::{Model, direction};
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems};
use super::yaml::values::number;
use super::{Problem, reference};

/// Old keys of a network.
const OLD_KEYS: [Renamed; 1] = [Renamed::key("model", "network")];

keys! {
    /// A network that requests of the model can run.
    pub(super) fn variant() -> struct RawVariant: "a network of a model", OLD_KEYS {
        /// Network.
        network: At<Box<str>> = required(reference::network());
        /// Measured quality, in the metric of the goal of the model. Without it, that of the network, or a goal that is met.
        measured: Option<f64> = optional(number(0.0..=1e12));
    }
}

/// The references to the networks, in order.
pub(super) fn references(raw: &[RawVariant]) -> Vec<At<Box<str>>> {
    raw.iter().map(|it| it.network.clone()).collect()
}

/// The choice among the networks of `raw`, which are `networks`, for `model`.
pub(super) fn resolve(
    raw: &[RawVariant],
    networks: &[Arc<Model>],
    shares_weights: bool,
    model: &Model,
    problems: &mut Problems,
) -> Choice {
    let pairs = || raw.iter().zip(networks);
    for (index, (raw, variant)) in pairs().enumerate() {
        if let Some(fault) = fault(index, model, variant) {
            problems.push(Problem::new(raw.network.span.clone(), fault));
        }
    }
    let of_network = |(raw, variant): (&RawVariant, &Arc<Model>)| {
        let own = Some(&variant.quality).filter(|own| own.metric == model.quality.metric);
        let measured = raw.measured.or(own.and_then(|own| own.measured));
        (measured, own.and_then(|own| own.published.clone()))
    };
    let (measured, published) = pairs().map(of_network).unzip();
    Choice { measured, published, shares_weights }
}

/// The reason why a network cannot be one of those of `model`, if it cannot. The first one is that of the model itself.
fn fault(index: usize, model: &Model, variant: &Model) -> Option<String> {
    let (own, other) = (model.network.name(), variant.network.name());
    if index == 0 {
        let is_same = own == other && model.network.has_layers_of(&variant.network);
        return (!is_same)
            .then(|| format!("the first network is `{other}`; it is that of the model, `{own}`"));
    }
    if model.inputs != variant.inputs {
        let words = |inputs: &[Box<str>]| match inputs {
            [] => "none".into(),
            _ => inputs.join(", "),
        };
        let (own_inputs, others) = (words(&model.inputs), words(&variant.inputs));
        return Some(format!(
            "`{other}` reads other inputs ({others}) than `{own}` ({own_inputs}), so that a frame cannot choose"
        ));
    }
    let (goal, others) = (&model.quality, &variant.quality);
    let none = QualityGoal::default();
    if *goal == none || *others == none {
        return None;
    }
    if goal.metric != others.metric {
        let (metric, others) = (&goal.metric, &others.metric);
        return Some(format!(
            "the quality of `{other}` is measured by {others}, that of `{own}` by {metric}"
        ));
    }
    (goal.better != others.better).then(|| {
        let (own_better, better) = (direction(goal.better), direction(others.better));
        let metric = &goal.metric;
        format!("{better} {metric} is better for `{other}`, {own_better} {metric} for `{own}`")
    })
}

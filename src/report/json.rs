//! JSON: scores for programs.

use serde_json::{Map, Value, json};

use crate::score::{Counts, Score, Scorecard};
use crate::sweep::RunSpec;

use super::{RunLabel, model_names};

/// One run as a JSON object: label, scores, counts and the same for every model.
pub fn run(spec: &RunSpec, label: &RunLabel<'_>, scorecard: &Scorecard) -> Value {
    let mut object = self::label(label);
    add_score(&mut object, &scorecard.total);
    let names = model_names(&spec.plan.scenario);
    let models = spec.plan.scenario.models().iter().zip(names).zip(&scorecard.models);
    let models = models.map(|((active, name), score)| {
        let mut object = Map::new();
        object.insert("model".into(), json!(name));
        object.insert("network".into(), json!(active.unit.network.name()));
        add_score(&mut object, score);
        Value::Object(object)
    });
    object.insert("models".into(), models.collect());
    Value::Object(object)
}

/// The label of a run as a JSON object.
pub fn label(label: &RunLabel<'_>) -> Map<String, Value> {
    let RunLabel { scenario, system, pes, semantics, cost_model, scheduler, seed, replication } =
        label;
    let value = json!({
        "scenario": scenario, "system": system, "pes": pes, "semantics": semantics,
        "cost_model": cost_model, "scheduler": scheduler, "seed": seed, "replication": replication,
    });
    match value {
        Value::Object(object) => object,
        _ => unreachable!("the literal above is an object"),
    }
}

fn add_score(object: &mut Map<String, Value>, score: &Score) {
    for (name, value) in Score::COLUMNS.into_iter().zip(score.values()) {
        object.insert(name.into(), json!(value));
    }
    for (name, count) in Counts::COLUMNS.into_iter().zip(score.counts.values()) {
        object.insert(name.into(), json!(count));
    }
    object.insert("energy_mj".into(), json!(score.counts.energy.get()));
}

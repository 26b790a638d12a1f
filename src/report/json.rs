//! JSON: scores for programs.

use serde_json::{Map, Value, json};

use crate::score::{Counts, ModelScore, Scorecard};
use crate::sweep::RunSpec;

use super::{RunLabel, model_names};

/// One run as a JSON object: label, scores, counts and the same for every model.
pub fn run(spec: &RunSpec, label: &RunLabel<'_>, scorecard: &Scorecard) -> Value {
    let mut object = self::label(label);
    let Scorecard { realtime, energy, accuracy, qoe, score, score_executed_mean, .. } = scorecard;
    let scores = [*realtime, *energy, *accuracy, *qoe, *score, *score_executed_mean];
    add_scores(&mut object, scores, &scorecard.counts);
    let models = spec
        .scenario
        .models()
        .iter()
        .zip(model_names(&spec.scenario))
        .zip(&scorecard.models)
        .map(|((active, name), model)| {
            let ModelScore { realtime, energy, accuracy, qoe, score, score_executed_mean, counts } =
                model;
            let mut object = Map::new();
            object.insert("model".into(), json!(name));
            object.insert("network".into(), json!(active.artifact_name));
            let scores = [*realtime, *energy, *accuracy, *qoe, *score, *score_executed_mean];
            add_scores(&mut object, scores, counts);
            Value::Object(object)
        })
        .collect();
    object.insert("models".into(), Value::Array(models));
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

fn add_scores(object: &mut Map<String, Value>, scores: [f64; 6], counts: &Counts) {
    let names = ["realtime", "energy", "accuracy", "qoe", "score", "score_executed_mean"];
    for (name, value) in names.into_iter().zip(scores) {
        object.insert(name.into(), json!(value));
    }
    let Counts { released, executed, dropped, not_triggered, deadline_misses, energy } = counts;
    let counts = [
        ("released", released),
        ("executed", executed),
        ("dropped", dropped),
        ("not_triggered", not_triggered),
        ("deadline_misses", deadline_misses),
    ];
    for (name, count) in counts {
        object.insert(name.into(), json!(count));
    }
    object.insert("energy_mj".into(), json!(energy.get()));
}

//! JSON: scores for programs.

use serde_json::{Map, Value, json};

use xrsim_model::column::{Column, Kind};
use xrsim_sim::metrics::DeviceMetrics;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::{Score, Scorecard};

use super::{RunLabel, model_names};

/// One run as a JSON object: label, scores and counts of the run and of every model, metrics of the hardware.
pub fn run(
    plan: &Plan,
    label: &RunLabel<'_>,
    scorecard: &Scorecard,
    device: &DeviceMetrics,
) -> Value {
    let mut object = self::label(label);
    let columns: Vec<_> = match plan.may_lack_frames() {
        true => Score::all_columns().collect(),
        false => Score::columns().collect(),
    };
    add_score(&mut object, &columns, &scorecard.total);
    let of_device = DeviceMetrics::COLUMNS.iter();
    object.extend(of_device.map(|column| (column.name.to_string(), value(column, device))));
    let names = model_names(&plan.scenario);
    let models = plan.scenario.models().iter().zip(names).zip(&scorecard.models);
    let models = models.map(|((active, name), score)| {
        let mut object = Map::new();
        object.insert("model".into(), json!(name));
        object.insert("network".into(), json!(active.unit.network.name()));
        add_score(&mut object, &columns, score);
        Value::Object(object)
    });
    object.insert("models".into(), models.collect());
    Value::Object(object)
}

/// The label of a run as a JSON object.
pub fn label(label: &RunLabel<'_>) -> Map<String, Value> {
    RunLabel::COLUMNS.iter().map(|column| (column.name.into(), column.json(label))).collect()
}

fn add_score(object: &mut Map<String, Value>, columns: &[&Column<Score>], score: &Score) {
    object.extend(columns.iter().map(|column| (column.name.to_string(), value(column, score))));
}

/// The value of a column; counts are integers.
pub(super) fn value<T>(column: &Column<T>, of: &T) -> Value {
    match (column.kind, column.of(of)) {
        (Kind::Count, Some(count)) => json!(count as u64),
        (_, value) => json!(value),
    }
}

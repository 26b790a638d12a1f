//! JSON Schemas (draft 7) of the YAML files that the readers of this crate take.
//!
//! Both are made from the same tables of keys. The readers are the judges: a schema has no old names of keys, and
//! cannot say what depends on other files, on sums, or on the order of numbers.

use serde_json::{Map, Value, json};

use super::form::{Form, Words};
use super::yaml::values::Reader;
use super::{Kind, ParameterValues};
use super::{
    dataflow, device, hardware, mapspace, mlperf, network, points, profile, scenario, search,
    sensors, suite, sweep, system, technology, uncertainty,
};

/// Version of JSON Schema.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// Schema of the value of the top-level key of `kind`.
fn body(kind: Kind, words: &Words) -> Form {
    match kind {
        Kind::Network => network::network(&ParameterValues::default()).form(),
        Kind::Dataflow => dataflow::dataflow().form(),
        Kind::Style => hardware::style().form(),
        Kind::Platform => hardware::platform().form(),
        Kind::System => system::system().form(),
        Kind::Scenario => scenario::scenario().form(),
        Kind::Sensors => sensors::sensors().form(),
        Kind::Suite => suite::suite().form(),
        Kind::Sweep => sweep::sweep(words).form(),
        Kind::Mlperf => mlperf::suite().form(),
        Kind::Mapspace => mapspace::mapspace().form(),
        Kind::Search => search::search(words).form(),
        Kind::Technology => technology::technology().form(),
        Kind::Uncertainty => uncertainty::uncertainty().form(),
        Kind::Points => points::points().form(),
        Kind::Device => device::device().form(),
        Kind::Profile => profile::profile().form(),
    }
}

/// Schemas that others refer to, of files of `kind`.
fn definitions(kind: Kind) -> Map<String, Value> {
    let mut definitions = Map::new();
    if kind == Kind::Network {
        definitions.insert(network::LAYER.into(), network::layer_form().into_value());
    }
    definitions
}

/// Schema of files of `kind`.
pub fn schema(kind: Kind, words: &Words) -> Value {
    let mut schema = json!({
        "$schema": DRAFT,
        "type": "object",
        "required": [kind.key()],
        "additionalProperties": false,
        "properties": {kind.key(): body(kind, words).into_value()},
    });
    let definitions = definitions(kind);
    if !definitions.is_empty() {
        schema["definitions"] = definitions.into();
    }
    schema
}

/// Schema of files of any kind, which their top-level key tells apart. Each kind is a definition of its name.
pub fn schema_of_all(words: &Words) -> Value {
    let (mut all, mut properties) = (Map::new(), Map::new());
    for kind in Kind::EVERY {
        all.extend(definitions(kind));
        all.insert(kind.key().into(), body(kind, words).into_value());
        properties.insert(kind.key().into(), json!({"$ref": format!("#/definitions/{kind}")}));
    }
    json!({
        "$schema": DRAFT,
        "description": "An input file of xrsim, which its only top-level key names",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": properties,
        "definitions": all,
    })
}

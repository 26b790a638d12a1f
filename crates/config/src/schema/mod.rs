//! JSON Schemas (draft 7) of the YAML files that the readers of this module take.
//!
//! The readers are the judges; tests keep the schemas equal to them. A schema has no old names of keys, and
//! cannot say what depends on other files, on sums, or on the order of numbers.

pub mod form;

mod hardware;
mod mapping;
mod mlperf;
mod network;
mod runs;
mod scenario;
mod technology;

use serde_json::{Map, Value, json};

use super::Kind;
use form::Form;

/// Version of JSON Schema.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// Names and values in files that modules above this one know.
#[derive(Debug, Clone)]
pub struct Words {
    /// Keys of experiments with their values.
    pub settings: Vec<(&'static str, Form)>,
    /// A scheduler.
    pub scheduler: Form,
    /// Quantities of searches with their units.
    pub quantities: Vec<(&'static str, &'static str)>,
    /// Methods of searches.
    pub methods: Vec<&'static str>,
    /// Keys of experiments for which a search has keys of its own.
    pub not_in_searches: Vec<&'static str>,
}

/// Schema of the value of the top-level key of `kind`.
fn body(kind: Kind, words: &Words) -> Form {
    match kind {
        Kind::Network => network::network(),
        Kind::Dataflow => mapping::dataflow(),
        Kind::Style => hardware::style(),
        Kind::Platform => hardware::platform(),
        Kind::System => hardware::system(),
        Kind::Scenario => scenario::scenario(),
        Kind::Sensors => scenario::sensors(),
        Kind::Suite => scenario::suite(),
        Kind::Sweep => runs::sweep(words),
        Kind::Mlperf => mlperf::suite(),
        Kind::Mapspace => mapping::mapspace(),
        Kind::Search => runs::search(words),
        Kind::Technology => technology::technology(),
    }
}

/// Schemas that others refer to, of files of `kind`.
fn definitions(kind: Kind) -> Map<String, Value> {
    let mut definitions = Map::new();
    if kind == Kind::Network {
        definitions.insert(network::LAYER.into(), network::layer().into_value());
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

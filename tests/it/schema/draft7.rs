//! The part of JSON Schema (draft 7) that the schemas of the program use. Any other keyword is an error, so that none is
//! overlooked. `boon` and `jsonschema` would add a half to one minute of compilation for 64 and 80 packages.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use regex::Regex;
use serde_json::{Map, Value};

/// Keywords that only describe.
const DESCRIPTIONS: [&str; 7] = [
    "$schema",
    "title",
    "description",
    "default",
    "definitions",
    "patternErrorMessage",
    "if", // its consequences are checked at `else`
];

/// Whether `value` meets `schema`, a part of the document `root`.
pub fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(any) => *any,
        Value::Object(keywords) => match keywords.get("$ref") {
            Some(reference) => is_valid(root, target(root, reference), value),
            None => keywords.iter().all(|(word, of)| meets(root, keywords, word, of, value)),
        },
        other => panic!("no schema: {other}"),
    }
}

/// The schema that `$ref` leads to.
pub fn target<'r>(root: &'r Value, reference: &Value) -> &'r Value {
    let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).expect("a pointer");
    root.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"))
}

fn meets(
    root: &Value,
    keywords: &Map<String, Value>,
    word: &str,
    of: &Value,
    value: &Value,
) -> bool {
    let number = |holds: fn(f64, f64) -> bool| {
        let limit = of.as_f64().expect("a number");
        value.as_f64().is_none_or(|value| holds(value, limit))
    };
    let size = |found: Option<usize>, holds: fn(usize, usize) -> bool| {
        let limit = of.as_u64().expect("a number") as usize;
        found.is_none_or(|found| holds(found, limit))
    };
    let items = || value.as_array().map(Vec::len);
    let entries = || value.as_object().map(Map::len);
    let is_valid = |schema: &Value| is_valid(root, schema, value);
    let all = |of: &Value| of.as_array().expect("a list").clone();
    match word {
        word if DESCRIPTIONS.contains(&word) => true,
        "type" => match of {
            Value::String(one) => is_of(one, value),
            several => all(several).iter().any(|one| is_of(one.as_str().expect("a word"), value)),
        },
        "enum" => all(of).contains(value),
        "minimum" => number(|value, limit| value >= limit),
        "maximum" => number(|value, limit| value <= limit),
        "exclusiveMinimum" => number(|value, limit| value > limit),
        "exclusiveMaximum" => number(|value, limit| value < limit),
        "multipleOf" => number(|value, step| value % step == 0.0),
        "maxLength" => size(value.as_str().map(|text| text.chars().count()), |n, most| n <= most),
        "pattern" => value.as_str().is_none_or(|text| matches(of, text)),
        "minItems" => size(items(), |n, least| n >= least),
        "maxItems" => size(items(), |n, most| n <= most),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| self::is_valid(root, of, item))),
        "minProperties" => size(entries(), |n, least| n >= least),
        "maxProperties" => size(entries(), |n, most| n <= most),
        "required" => value.as_object().is_none_or(|entries| {
            all(of).iter().all(|key| entries.contains_key(key.as_str().expect("a key")))
        }),
        "properties" | "patternProperties" => value.as_object().is_none_or(|entries| {
            entries.iter().all(|(key, value)| {
                let own = of.as_object().expect("a mapping").iter();
                let mut own = own.filter(|(name, _)| is_for(word, name, key));
                own.all(|(_, schema)| self::is_valid(root, schema, value))
            })
        }),
        "additionalProperties" => value.as_object().is_none_or(|entries| {
            let known = |key: &str| {
                ["properties", "patternProperties"].iter().any(|word| {
                    let names = keywords.get(*word).and_then(Value::as_object);
                    names.is_some_and(|names| names.keys().any(|name| is_for(word, name, key)))
                })
            };
            let mut others = entries.iter().filter(|(key, _)| !known(key));
            others.all(|(_, value)| self::is_valid(root, of, value))
        }),
        "propertyNames" => value.as_object().is_none_or(|entries| {
            entries.keys().all(|key| self::is_valid(root, of, &Value::String(key.clone())))
        }),
        "dependencies" => value.as_object().is_none_or(|entries| {
            let of = of.as_object().expect("a mapping").iter();
            let mut given = of.filter(|(key, _)| entries.contains_key(*key));
            given.all(|(_, needed)| {
                all(needed).iter().all(|key| entries.contains_key(key.as_str().expect("a key")))
            })
        }),
        "anyOf" => all(of).iter().any(is_valid),
        "allOf" => all(of).iter().all(is_valid),
        "oneOf" => all(of).iter().filter(|schema| is_valid(schema)).count() == 1,
        "not" => !is_valid(of),
        "else" => is_valid(&keywords["if"]) || is_valid(of),
        word => panic!("the tests do not know the keyword `{word}`"),
    }
}

fn is_for(word: &str, name: &str, key: &str) -> bool {
    match word {
        "properties" => name == key,
        _ => matches(&Value::String(name.into()), key),
    }
}

fn matches(pattern: &Value, text: &str) -> bool {
    static COMPILED: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let pattern = pattern.as_str().expect("a pattern");
    let mut compiled = COMPILED.lock().expect("no test panics while it holds this");
    let regex = compiled
        .entry(pattern.into())
        .or_insert_with(|| Regex::new(pattern).expect("the pattern is one"));
    let regex = regex.clone();
    drop(compiled);
    regex.is_match(text)
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        kind => panic!("no type {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_valid;

    #[test]
    fn keywords_hold_as_the_standard_says() {
        let check = |schema: serde_json::Value, good: serde_json::Value, bad: serde_json::Value| {
            assert!(is_valid(&schema, &schema, &good), "{schema} {good}");
            assert!(!is_valid(&schema, &schema, &bad), "{schema} {bad}");
        };
        check(json!({"type": "integer"}), json!(2.0), json!(2.5));
        check(json!({"type": ["string", "number"]}), json!("a"), json!(true));
        check(json!({"minimum": 1, "exclusiveMaximum": 2}), json!(1), json!(2));
        check(json!({"minimum": 1}), json!("text"), json!(0));
        check(json!({"pattern": "b$"}), json!("ab"), json!("ba"));
        check(json!({"items": {"enum": ["a"]}, "minItems": 1}), json!(["a"]), json!([]));
        let object = json!({
            "properties": {"a": {"type": "number"}},
            "patternProperties": {"^b": {"type": "string"}},
            "additionalProperties": false,
        });
        check(object.clone(), json!({"a": 1, "bc": "x"}), json!({"c": 1}));
        check(object, json!({}), json!({"bc": 1}));
        check(json!({"dependencies": {"a": ["b"]}}), json!({"b": 1}), json!({"a": 1}));
        let either = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        check(either, json!({"a": 1}), json!({"a": 1, "b": 1}));
        let conditional = json!({"if": {"required": ["a"]}, "else": {"required": ["b"]}});
        check(conditional, json!({"a": 1}), json!({"c": 1}));
        check(json!({"not": {"required": ["a"]}}), json!({}), json!({"a": 1}));
        let linked = json!({"$ref": "#/definitions/a", "definitions": {"a": {"enum": [1]}}});
        check(linked, json!(1), json!(2));
    }
}

//! Input files as JSON values.

use serde_json::{Number, Value as Json};

use super::yaml::tree::{self, Node, Value};
use super::{ConfigError, Source};

/// The contents of an input file in YAML as a JSON value. Words without quotes that are numbers, or `true` and
/// `false`, become such values; all other scalars become text.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the syntax.
pub fn to_json(source: &std::sync::Arc<Source>) -> Result<Json, ConfigError> {
    let mut problems = Vec::new();
    let tree = tree::parse(source.text(), &mut problems);
    match (tree, problems.is_empty()) {
        (Some(node), true) => Ok(value_of(&node)),
        _ => Err(ConfigError::Invalid { file: std::sync::Arc::clone(source), problems }),
    }
}

/// The JSON value of a scalar, or of a list in brackets.
pub(super) fn of_text(text: &str) -> Json {
    tree::with_node(text, value_of)
}

fn value_of(node: &Node<'_>) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Scalar { text, quoted: true } => Json::String(text.to_string()),
        Value::Scalar { text, quoted: false } => scalar(text),
        Value::List(nodes) => nodes.iter().map(value_of).collect(),
        Value::Mapping(entries) => {
            entries.iter().map(|entry| (entry.key.to_string(), value_of(&entry.value))).collect()
        }
    }
}

fn scalar(text: &str) -> Json {
    let whole = text.parse().ok().map(|number: u64| Json::from(number));
    let number = || text.parse().ok().and_then(Number::from_f64).map(Json::Number);
    match text {
        "true" => true.into(),
        "false" => false.into(),
        // Words such as `inf` and `NaN` are names here.
        _ if !text.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it)) => text.into(),
        _ => whole.or_else(number).unwrap_or_else(|| text.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_keep_their_kind() {
        let text = "a: 1\nb: -2.5e3\nc: '3'\nd: [true, ~, x, 1/3, .5]\ne: {f: inf}\n";
        let expected = json!({
            "a": 1, "b": -2500.0, "c": "3", "d": [true, null, "x", "1/3", 0.5], "e": {"f": "inf"}
        });
        assert_eq!(to_json(&Source::new("a.yaml", text)).expect("it is YAML"), expected);
        assert!(to_json(&Source::new("a.yaml", "a: [")).is_err());
    }
}

//! The command that made results, from their record: the options of the command that the record has.

use clap::{Arg, ArgAction, Command};
use serde_json::Value;

use xrsim_config::Catalog;
use xrsim_model::text::is_name;

use super::super::again::line;
use super::super::program;

/// The command called `name` with the options that `record` has, which writes a folder; `None` if the record does not
/// say them all.
pub(super) fn of_folder(name: &str, record: &str) -> Option<String> {
    let record: Value = serde_json::from_str(record).ok()?;
    let mut words = vec!["xrsim".to_string(), name.into()];
    if name == "search" {
        // The options of a search without a file are not in its record.
        let file = record["name"].as_str()?;
        is_name(file).then(|| Catalog::new().search(file).ok())??;
        words.push(file.into());
    } else {
        let program = program();
        let options = program.find_subcommand(name)?.get_arguments();
        options.for_each(|it| words.extend(given(it, &record)));
    }
    finished(words, ["--out", "results"])
}

/// The command that makes the points of a sweep in `file`; `None` if its keys vary together, or if a value has a comma.
pub(super) fn of_sweep(file: &str, record: &str) -> Option<String> {
    let record: Value = serde_json::from_str(record).ok()?;
    let program = program();
    let command = program.find_subcommand("sweep")?;
    let mut words = vec!["xrsim".to_string(), "sweep".into()];
    for factor in record["grid"].as_array()? {
        let [key] = &factor["keys"].as_array()?[..] else { return None };
        let key = key.as_str()?;
        let mut values = Vec::new();
        for row in factor["rows"].as_array()? {
            values.push(row[0].as_str().filter(|it| !it.contains(','))?);
        }
        let values = values.join(",");
        match has(command, &option(key)) {
            true => words.extend([format!("--{}", option(key)), values]),
            false => words.extend(["--set".into(), format!("{key}={values}")]),
        }
    }
    finished(words, ["-o", file])
}

/// The words as a line of a shell, if the program takes them.
fn finished(mut words: Vec<String>, out: [&str; 2]) -> Option<String> {
    words.extend(out.map(String::from));
    program().try_get_matches_from(&words).ok()?;
    line(&words)
}

/// The option of a key.
fn option(key: &str) -> String {
    key.replace('_', "-")
}

fn has(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|it| it.get_long() == Some(long))
}

/// The words of an option of which the record has a value that is not the default one; of an argument without a name, its
/// value.
fn given(option: &Arg, record: &Value) -> Vec<String> {
    let Some(long) = option.get_long() else {
        return record[option.get_id().as_str()].as_str().map(String::from).into_iter().collect();
    };
    let key = long.replace('-', "_");
    // What was asked for is beside what applied, or the record has options only.
    let requested = if record["requested"].is_object() { &record["requested"] } else { record };
    let found = [key.clone(), format!("{key}s")];
    let found = found.iter().find_map(|key| requested.get(key)).unwrap_or(&Value::Null);
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let is_default = |value: &Value| {
        let text = text(value);
        let known = option.get_default_values();
        match known.is_empty() {
            true => DEFAULTS.contains(&(long, &text)),
            false => known.iter().any(|it| it.to_str() == Some(&text)),
        }
    };
    // A table of measurements is called by its file.
    let named = |text: String| match long {
        "cost-model" => text.strip_prefix("table:").map_or(text.clone(), String::from),
        _ => text,
    };
    let word = |value: &Value| [format!("--{long}"), named(text(value))];
    match (found, option.get_action()) {
        (Value::Bool(true), ArgAction::SetTrue) => vec![format!("--{long}")],
        (Value::Null | Value::Bool(false) | Value::Object(_), _) => Vec::new(),
        (Value::Array(values), _) => values.iter().flat_map(word).collect(),
        (value, _) if is_default(value) => Vec::new(),
        (value, _) => word(value).into(),
    }
}

/// Defaults that records have, of options for which the parser knows none.
const DEFAULTS: [(&str, &str); 5] = [
    ("by", "score"),
    ("seed", "0"),
    ("semantics", "principled"),
    ("cost-model", "loop-nest"),
    ("replications", "1"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_left_out_if_its_value_is_the_default_of_its_command() {
        let record = r#"{"requested": {"replications": 1, "flexibility": "none"}}"#;
        let run = "xrsim run --flexibility none --out results";
        assert_eq!(of_folder("run", record).as_deref(), Some(run));
        // An explanation is of several replications unless it is told another number.
        let explain = of_folder("explain", r#"{"scenario": "AR_gaming", "replications": 1}"#);
        let explain = explain.expect("the program takes it");
        assert!(explain.contains(" --replications 1 "), "{explain}");
    }
}

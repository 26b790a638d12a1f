//! JSON Schemas of input files, with the names and keys that experiments know.

use serde_json::{Value, json};

use xrsim_config::Kind;
use xrsim_config::form::{Form, Words, flag, word};
use xrsim_config::reference::{name_or_own, reference};
use xrsim_config::schema;
use xrsim_model::cost;
use xrsim_search::{Method, Quantity};
use xrsim_sim::compat::quirks;

use super::keys::{Allowed, Key};
use super::{KEYS, schedulers, search};

/// JSON Schema (draft 7) of YAML files of `kind`, with the names of what comes with the program.
///
/// Every key has a description with its unit, its allowed values and its default. `xrsim check` stays the judge:
/// a schema cannot say what depends on other files or on several values together. Old names of keys, which are still
/// read, are not in it.
pub fn schema(kind: Kind) -> Value {
    schema::schema(kind, &words())
}

/// JSON Schema (draft 7) of YAML files of any kind, which their top-level key tells apart. `definitions` has the body of
/// each kind under its key.
pub fn schema_of_all() -> Value {
    schema::schema_of_all(&words())
}

fn words() -> Words {
    let known = KEYS.iter().filter(|key| !key.name.starts_with("parameters."));
    Words {
        settings: known.map(|key| (key.name, setting(key))).collect(),
        scheduler: scheduler(),
        quantities: Quantity::all().map(|it| (it.name(), it.unit())).collect(),
        methods: Method::ALL.map(|(name, _)| name).into(),
        not_in_searches: search::OWN_KEYS.into(),
    }
}

/// Values of a key of experiments.
fn setting(key: &Key) -> Form {
    // After a colon, the help of such a key says what its values are.
    let mut meaning = match (key.allowed, key.help.split_once(':')) {
        (Allowed::Text(_), Some((before, _))) => before.to_string(),
        _ => key.help.to_string(),
    };
    if let Some(first) = meaning.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !key.unit.is_empty() {
        meaning += &format!(" [{}]", key.unit);
    }
    let form = values(key).says(meaning);
    let default = key.default_text();
    match default.is_empty() || default == "null" {
        true => form,
        false => form.remark(format!("Default: {default}.")),
    }
}

fn values(key: &Key) -> Form {
    match (key.name, key.allowed) {
        ("scenario", _) => reference(&[Kind::Scenario], "scenario", "scenarios"),
        ("profile", _) => reference(&[Kind::Profile], "profile", "profiles"),
        ("system", _) => reference(&[Kind::Style, Kind::System], "system", "systems")
            .allowed("a name (`xrsim list systems`), shares of dataflows, or a file"),
        ("platform", _) => reference(&[Kind::Platform], "platform", "platforms"),
        ("technology", _) => reference(&[Kind::Technology], "technology", "technologies"),
        ("device", _) => reference(&[Kind::Device], "device", "devices"),
        ("scheduler", _) => scheduler(),
        ("cost_model", allowed) => {
            let names = cost::ALL.iter().map(|it| it.name.to_string());
            name_or_own(names.collect(), "cost model", "cost-models").allowed(allowed.to_string())
        }
        ("without", allowed) => {
            let names = quirks::ALL.iter().map(|it| it.name.to_string());
            let names = names.chain(["none".into()]).collect();
            name_or_own(names, "quirk", "quirks").allowed(allowed.to_string())
        }
        (_, Allowed::Word(["true", "false"])) => flag(),
        (_, Allowed::Word(words)) => word(words.iter().copied()),
        (_, allowed) => number(&allowed.to_string(), allowed),
    }
}

/// A scheduler with its parameters.
fn scheduler() -> Form {
    let names = schedulers().map(|it| it.name.to_string()).collect();
    name_or_own(names, "scheduler", "schedulers")
        .allowed("a name (`xrsim list schedulers`), with parameters as in `dream:alpha=0.5`")
}

/// Numbers of the range that `words` print, and the words in backquotes.
fn number(words: &str, allowed: Allowed) -> Form {
    let is_whole = words.starts_with("a whole number");
    let mut form = Form::new(json!({}), words);
    let limits = limits(words);
    let is_number = limits[0].is_some();
    for (keyword, limit) in ["minimum", "maximum"].into_iter().zip(limits) {
        if let Some(limit) = limit {
            form = form.with(keyword, limit);
        }
    }
    let others: Vec<_> = words.split('`').skip(1).step_by(2).collect();
    if allowed.is_number() || others.is_empty() {
        return form.with("type", if is_whole { "integer" } else { "number" });
    }
    let others = others.iter().map(|word| match word.strip_prefix('x') {
        Some(rest) if rest.parse::<f64>().is_ok() => r"x[0-9.].*".to_string(),
        _ => (*word).to_string(),
    });
    let others: Vec<_> = others.collect();
    let types = match (is_number, others.iter().any(|it| it == "true")) {
        (true, _) => json!([if is_whole { "integer" } else { "number" }, "string"]),
        (false, true) => json!(["boolean", "string"]),
        (false, false) => json!("string"),
    };
    form.with("type", types).with("pattern", format!(r"^\s*(?:{})\s*$", others.join("|")))
}

/// Numbers after `from` and `to`.
fn limits(words: &str) -> [Option<Value>; 2] {
    let words: Vec<_> = words.split([' ', ',']).collect();
    ["from", "to"].map(|word| {
        let at = words.iter().position(|it| *it == word)?;
        let text = words.get(at + 1)?;
        let whole = text.parse::<u64>().map(|it| json!(it)).ok();
        whole.or_else(|| text.parse::<f64>().map(|it| json!(it)).ok())
    })
}

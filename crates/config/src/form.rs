//! Pieces of JSON Schemas (draft 7): values with their descriptions, and names that modules above know.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

/// Schema of a value, with its description.
///
/// The description is put together from its parts: `Clock [MHz]: a number from 1 to 10. Default: 5. Remark.`
#[derive(Debug, Clone, Default)]
pub struct Form {
    keywords: Map<String, Value>,
    /// Meaning, with the unit in brackets.
    meaning: String,
    /// Allowed values, in words.
    allowed: String,
    /// Further sentences.
    remark: String,
}

/// Names and values in files that modules above this one know. Readers need none of them.
#[derive(Debug, Clone, Default)]
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

/// Key of a mapping.
pub(crate) struct Key {
    name: String,
    form: Form,
    is_required: bool,
}

impl Key {
    /// The key of this name with these values.
    pub(crate) fn new(name: impl Into<String>, form: Form, is_required: bool) -> Self {
        Self { name: name.into(), form, is_required }
    }
}

impl Form {
    /// A schema of these keywords, which a value meets that is `allowed`.
    pub fn new(keywords: Value, allowed: impl Into<String>) -> Self {
        let keywords = match keywords {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self { keywords, allowed: allowed.into(), ..Default::default() }
    }

    /// The same values with this meaning.
    #[must_use]
    pub fn says(self, meaning: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), ..self }
    }

    /// The same values with a further sentence.
    #[must_use]
    pub fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    /// The same values with a description: their meaning and, after its full stop, a remark. An empty text changes
    /// nothing. Brackets may have a backslash before them, as in documentation.
    #[must_use]
    pub(crate) fn documented(self, text: &str) -> Self {
        let text = text.trim().replace('\\', "");
        match text.split_once(". ") {
            _ if text.is_empty() => self,
            Some((meaning, remark)) => self.says(meaning).remark(remark),
            None => self.says(text.trim_end_matches('.')),
        }
    }

    /// The same values, with this one where none is given.
    #[must_use]
    pub(crate) fn or(self, value: impl Into<Value>) -> Self {
        self.with("default", value)
    }

    /// The same values, in words.
    #[must_use]
    pub fn allowed(self, allowed: impl Into<String>) -> Self {
        Self { allowed: allowed.into(), ..self }
    }

    /// The same values, with this after the words for them.
    #[must_use]
    pub(crate) fn allowed_with(self, end: &str) -> Self {
        let allowed = format!("{}{end}", self.allowed);
        self.allowed(allowed)
    }

    /// The same schema with a keyword.
    #[must_use]
    pub fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.keywords.insert(keyword.into(), value.into());
        self
    }

    /// The same values without a description or default.
    pub(crate) fn bare(&self) -> Self {
        let mut bare = Self { keywords: self.keywords.clone(), ..Default::default() };
        bare.keywords.remove("default");
        bare
    }

    /// These values, also as a text of the pattern if they are numbers.
    pub(crate) fn or_text(mut self, pattern: &str) -> Self {
        let mut names = types(&self.keywords);
        if !names.iter().any(|name| ["number", "integer"].contains(name)) {
            return self;
        }
        if !names.contains(&"string") {
            names.push("string");
        }
        let names = Value::from(names);
        let pattern = match self.keywords.get("pattern").and_then(Value::as_str) {
            Some(own) => format!("{own}|{pattern}"),
            None => pattern.into(),
        };
        self.keywords.insert("type".into(), names);
        self.with("pattern", pattern)
    }

    /// These values or a list of them, under the same description.
    pub(crate) fn or_list(self) -> Self {
        let all = any_of([self.bare(), list(self.bare())]);
        let default = self.keywords.get("default").cloned();
        let form = Self { keywords: all.keywords, ..self };
        match default {
            Some(value) => form.or(value),
            None => form,
        }
    }

    /// The same list of at most `most` entries; mappings stay as they are.
    #[must_use]
    pub(crate) fn at_most(self, most: usize) -> Self {
        if types(&self.keywords) != ["array"] {
            return self;
        }
        let allowed = match self.allowed.strip_prefix("a list") {
            Some(rest) => format!("a list of at most {most}{rest}"),
            None => self.allowed.clone(),
        };
        self.with("maxItems", most).allowed(allowed)
    }

    /// The same list of exactly `n` entries; `allowed` says which.
    #[must_use]
    pub(crate) fn exactly(self, n: usize, allowed: &str) -> Self {
        self.with("minItems", n).with("maxItems", n).allowed(allowed)
    }

    /// The schema as JSON.
    pub(crate) fn into_value(mut self) -> Value {
        let description = self.description();
        if !description.is_empty() {
            self.keywords.insert("description".into(), description.into());
        }
        Value::Object(self.keywords)
    }

    fn description(&self) -> String {
        if self.meaning.is_empty() {
            return String::new();
        }
        let mut text = self.meaning.clone();
        match (&*self.allowed, text.contains(':')) {
            ("", _) => {}
            (allowed, false) => text += &format!(": {allowed}"),
            (allowed, true) => text += &format!(". Allowed is {allowed}"),
        }
        text.push('.');
        match self.keywords.get("default") {
            Some(Value::String(word)) => text += &format!(" Default: {word}."),
            Some(value) => text += &format!(" Default: {value}."),
            None => {}
        }
        if !self.remark.is_empty() {
            text += &format!(" {}", self.remark);
        }
        text
    }
}

/// A JSON number, without a point if it is whole.
fn json_number(value: f64) -> Value {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { json!(value as i64) } else { json!(value) }
}

/// A number of a range.
pub(crate) fn number(range: RangeInclusive<f64>) -> Form {
    let (least, most) = (*range.start(), *range.end());
    let keywords = json!({
        "type": "number", "minimum": json_number(least), "maximum": json_number(most)
    });
    Form::new(keywords, format!("a number from {least} to {most}"))
}

/// A number above 0.
pub(crate) fn positive() -> Form {
    Form::new(json!({"type": "number", "exclusiveMinimum": 0}), "a number above 0")
}

/// A whole number of a range.
pub(crate) fn whole<T: Into<u64> + Copy>(range: RangeInclusive<T>) -> Form {
    let (least, most): (u64, u64) = ((*range.start()).into(), (*range.end()).into());
    let form = Form::new(json!({"type": "integer", "minimum": least}), "");
    match most {
        u64::MAX => form.allowed(format!("a whole number from {least} to 2^64 - 1")),
        _ => form.with("maximum", most).allowed(format!("a whole number from {least} to {most}")),
    }
}

/// Text that is not empty. Text that looks like a number needs no quotes.
pub(crate) fn text() -> Form {
    Form::new(json!({"type": ["string", "number"], "pattern": r"\S"}), "text")
}

/// A name that the user gives (`text::is_name`).
pub(crate) fn name() -> Form {
    const UNFIT: &str =
        r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff";
    let pattern = format!(r"^[^=+@{UNFIT}-][^{UNFIT}]*$");
    let keywords = json!({"type": ["string", "number"], "minimum": 0, "pattern": pattern});
    Form::new(keywords, "a name")
}

/// `true` or `false`.
pub fn flag() -> Form {
    Form::new(json!({"type": "boolean"}), "true or false")
}

/// One of a few words.
pub fn word<'a>(words: impl IntoIterator<Item = &'a str>) -> Form {
    let words: Vec<_> = words.into_iter().collect();
    let allowed = one_of(&words);
    Form::new(json!({ "enum": words }), allowed)
}

/// `a, b or c`.
pub(crate) fn one_of(words: &[impl Display]) -> String {
    let texts: Vec<_> = words.iter().map(ToString::to_string).collect();
    match &texts[..] {
        [words @ .., last] if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        words => words.concat(),
    }
}

/// A list of at least one entry.
pub(crate) fn list(item: Form) -> Form {
    let allowed = match item.allowed.is_empty() {
        true => "a list".into(),
        false => format!("a list; each entry is {}", item.allowed),
    };
    let keywords = json!({"type": "array", "minItems": 1, "items": item.into_value()});
    Form::new(keywords, allowed)
}

/// A value of any of these forms.
///
/// Forms of different types become one schema, since a keyword such as `minimum` holds for its type alone. Editors
/// explain and refuse such a value better than one of several schemas.
pub(crate) fn any_of(forms: impl IntoIterator<Item = Form>) -> Form {
    let mut words = Vec::new();
    let mut options: Vec<Map<String, Value>> = Vec::new();
    for form in forms {
        words.push(form.allowed);
        let inner = match form.keywords.get("anyOf") {
            Some(Value::Array(inner)) => {
                inner.iter().filter_map(Value::as_object).cloned().collect()
            }
            _ => vec![form.keywords],
        };
        for option in inner {
            match options.iter_mut().find(|known| have_different_types(known, &option)) {
                Some(known) => join(known, option),
                None => options.push(option),
            }
        }
    }
    words.retain(|it| !it.is_empty());
    let keywords = match &options[..] {
        [_] => Value::Object(options.remove(0)),
        _ => json!({ "anyOf": options }),
    };
    Form::new(keywords, words.join(", or "))
}

/// Types of a schema; none if it can be of any.
fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether no value can meet both schemas, by its type alone, and no keyword means different things in them.
fn have_different_types(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let (own, others) = (types(one), types(other));
    let is_number = |name: &&str| ["number", "integer"].contains(name);
    let both_numbers = own.iter().any(is_number) && others.iter().any(is_number);
    let differ = !own.is_empty() && !others.is_empty() && !own.iter().any(|it| others.contains(it));
    differ && !both_numbers && other.keys().all(|word| word == "type" || !one.contains_key(word))
}

/// Adds the keywords and types of `other`, whose types are different.
fn join(schema: &mut Map<String, Value>, other: Map<String, Value>) {
    let types = [types(schema), types(&other)].concat();
    let types = Value::from(types);
    schema.extend(other);
    schema.insert("type".into(), types);
}

/// A mapping with these keys and no others.
pub(crate) fn object(keys: impl IntoIterator<Item = Key>) -> Form {
    let (mut properties, mut needed) = (Map::new(), Vec::new());
    for Key { name, form, is_required } in keys {
        if is_required {
            needed.push(name.clone());
        }
        properties.insert(name, form.into_value());
    }
    let mut form = Form::new(json!({"type": "object", "additionalProperties": false}), "");
    if !needed.is_empty() {
        form = form.with("required", needed);
    }
    form.with("properties", properties)
}

/// A mapping of at least one name of the user's to such values.
pub(crate) fn named(value: Form) -> Form {
    let keywords = json!({
        "type": "object", "minProperties": 1, "additionalProperties": value.into_value()
    });
    Form::new(keywords, "")
}

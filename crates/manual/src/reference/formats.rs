//! Page of the input formats, from the schemas of the library.

use serde_json::{Map, Value};
use xrsim::config::Kind;
use xrsim::experiment::schema;

use super::markdown::{Page, code, plain};

/// Key of every object whose keys are settings.
const A_SETTING: &str = "score.k_per_ms";

/// The page.
pub(super) fn page() -> String {
    let mut page = Page::new(
        "Input formats",
        "Every key of every kind of input file, with its unit, its values and its default. `xrsim schema KIND` prints the \
         same as a JSON Schema, with which editors complete keys. `xrsim check` stays the judge: it knows what depends on \
         other files and on several values together.",
    );
    for kind in Kind::EVERY {
        let schema = schema(kind);
        page.heading(2, &format!("`{kind}`"));
        let body = &schema["properties"][kind.key()];
        page.paragraph(&described(body));
        let mut tables = Tables {
            page: &mut page,
            definitions: &schema["definitions"],
            followed: Vec::new(),
            same: Vec::new(),
            seen: Vec::new(),
        };
        tables.add(kind.key(), body);
        tables.finish();
    }
    page.finish()
}

/// Tables of the objects of a kind.
struct Tables<'a> {
    page: &'a mut Page,
    definitions: &'a Value,
    /// Names of definitions whose tables are there.
    followed: Vec<&'a str>,
    /// Paths of objects with the keys of another one, and the path of that.
    same: Vec<(String, String)>,
    /// Objects that have a table, with their paths.
    seen: Vec<(&'a Map<String, Value>, String)>,
}

impl<'a> Tables<'a> {
    /// Adds the tables of a value at `path`, and of the values in it.
    fn add(&mut self, path: &str, schema: &'a Value) {
        if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
            // A definition may hold itself, as a layer may hold layers.
            if !self.followed.contains(&name) {
                self.followed.push(name);
                self.add(path, &self.definitions[name]);
            }
            return;
        }
        if let Some(keys) = schema["properties"].as_object().filter(|it| !it.is_empty()) {
            match self.seen.iter().find(|(known, _)| *known == keys) {
                Some((_, first)) => {
                    let same = (path.to_string(), first.clone());
                    if same.0 != same.1 && !self.same.contains(&same) {
                        self.same.push(same);
                    }
                }
                None if keys.contains_key(A_SETTING) => self.settings(path),
                None => self.table(path, schema, keys),
            }
        }
        self.add_if_there(&format!("{path}[]"), &schema["items"]);
        self.add_if_there(&format!("{path}.NAME"), &schema["additionalProperties"]);
        for one in schema["anyOf"].as_array().into_iter().flatten() {
            self.add(path, one);
        }
    }

    /// An object whose keys are settings.
    fn settings(&mut self, path: &str) {
        self.page.heading(3, &format!("`{path}`"));
        self.page.paragraph(
            "The keys are [settings](settings.md), with a value, a list or a range each.",
        );
    }

    /// Adds what has no table of its own.
    fn finish(self) {
        if !self.same.is_empty() {
            let row = |(path, first): &(String, String)| vec![code(path), code(first)];
            self.page.table(
                &["value", "has the keys of"],
                &self.same.iter().map(row).collect::<Vec<_>>(),
            );
        }
    }

    fn add_if_there(&mut self, path: &str, schema: &'a Value) {
        if schema.is_object() {
            self.add(path, schema);
        }
    }

    fn table(&mut self, path: &str, schema: &'a Value, keys: &'a Map<String, Value>) {
        self.seen.push((keys, path.into()));
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        let row = |(name, schema): (&String, &Value)| {
            let is_required = required.iter().any(|it| *it == name);
            vec![code(name), described(schema), if is_required { "yes" } else { "no" }.into()]
        };
        let rows: Vec<_> = keys.iter().map(row).collect();
        self.page.heading(3, &format!("`{path}`"));
        self.page.table(&["key", "meaning", "required"], &rows);
        for (name, schema) in keys {
            self.add(&format!("{path}.{name}"), schema);
        }
    }
}

/// The description of a value.
fn described(schema: &Value) -> String {
    plain(schema["description"].as_str().unwrap_or_default())
}

//! Keys: a reader knows exactly the properties of the schema, and misses those that are required.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use xrsim::config::Kind;
use xrsim::experiment::KEYS;

use super::places::{ALL, Found, Places, objects};
use super::tree::Tree;
use super::{OF_ALL, check, read};

/// A key that is like no other.
const UNKNOWN: &str = "qqqqqqqqqqqqqqqq";

/// Objects whose keys are names of things, of which messages list none.
const NAMES: [&str; 5] = [
    "/definitions/sweep/properties/grid",
    "/definitions/sweep/properties/points/items",
    "/definitions/search/properties/settings",
    "/definitions/search/properties/constraints",
    "/definitions/technology/properties/sources",
];

/// What a reader is asked about a place of the schema.
struct Asked<'p> {
    places: &'p Places,
    pointer: &'p str,
    schema: &'p Value,
}

impl Asked<'_> {
    fn properties(&self) -> BTreeSet<String> {
        let all = self.schema["properties"].as_object().expect("an object").keys().cloned();
        // Settings in a space have a point in their names, and a message of their own.
        let is_space = self.pointer == "/definitions/search/properties/space";
        all.filter(|key| !(is_space && key.contains('.'))).collect()
    }

    /// Whether keys exclude each other.
    fn has_variants(&self) -> bool {
        self.schema.get("oneOf").is_some() || self.schema["maxProperties"] == 1
    }

    fn kind(&self, found: &Found) -> Kind {
        self.places.files[found.file].kind
    }

    /// Messages about the file of a value after a change of the value.
    fn after(&self, found: &Found, change: impl FnOnce(&mut Tree)) -> Vec<String> {
        let mut tree = self.places.tree(found);
        change(tree.at(&found.path));
        read(self.kind(found), &tree.text())
    }

    /// The keys that the reader lists beside an unknown one.
    fn known(&self, found: &Found) -> Result<BTreeSet<String>, String> {
        let unknown = (UNKNOWN.to_string(), Tree::Scalar("1".into(), false));
        let messages = self.after(found, |tree| tree.entries().push(unknown));
        let list = messages.iter().find_map(|message| {
            let (_, list) = message.contains(UNKNOWN).then(|| message.split_once("(known: "))??;
            Some(list.trim_end_matches(')').split(", ").map(Into::into).collect())
        });
        list.ok_or_else(|| format!("{}: {messages:?}", self.pointer))
    }

    /// Differences of the properties from the keys that the reader knows.
    fn check_known(&self, all: &[&Found]) -> Result<(), String> {
        let properties = self.properties();
        let mut union = BTreeSet::new();
        for found in all {
            let known = self.known(found)?;
            let is_right = match self.has_variants() {
                true => known.is_subset(&properties),
                false => known == properties,
            };
            if !is_right {
                return Err(format!("{}: {known:?} but {properties:?}", self.pointer));
            }
            union.extend(known);
        }
        match union == properties {
            true => Ok(()),
            false => {
                let missing: Vec<_> = properties.difference(&union).collect();
                Err(format!("{}: no file has {missing:?}", self.pointer))
            }
        }
    }

    /// Required keys that the reader does not miss.
    fn check_required(&self, found: &Found) -> Result<(), String> {
        for key in self.schema["required"].as_array().into_iter().flatten() {
            let key = key.as_str().expect("a key");
            let messages = self.after(found, |tree| tree.entries().retain(|(it, _)| it != key));
            // Without its key, one of several forms is taken for another one.
            let is_option = self.pointer.contains("/anyOf/") && !messages.is_empty();
            let is_missed = messages.iter().any(|message| message.contains(&format!("`{key}`")));
            if !is_missed && !is_option {
                return Err(format!("{}: without `{key}`: {messages:?}", self.pointer));
            }
        }
        Ok(())
    }
}

#[test]
fn readers_know_exactly_the_properties_and_miss_the_required_ones() {
    let places = &*ALL;
    let mut all = BTreeMap::new();
    objects("", &OF_ALL, &mut all);
    let mut wrong = Vec::new();
    for (pointer, schema) in &all {
        let found = places.objects(pointer);
        if found.is_empty() {
            wrong.push(format!("{pointer}: no file has it"));
            continue;
        }
        if pointer.is_empty() || NAMES.contains(&&**pointer) {
            continue;
        }
        let asked = Asked { places, pointer, schema };
        let n_asked = if asked.has_variants() { found.len() } else { 1 };
        wrong.extend(asked.check_known(&found[..n_asked]).err());
        wrong.extend(asked.check_required(found[0]).err());
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn keys_that_are_names_are_those_that_the_program_knows() {
    let properties = |pointer: &str| -> BTreeSet<String> {
        let schema = OF_ALL.pointer(pointer).expect("a place of the schema");
        schema["properties"].as_object().expect("an object").keys().cloned().collect()
    };
    let keys = || KEYS.iter().map(|key| key.name).filter(|name| !name.starts_with("parameters."));
    let grid: BTreeSet<String> = keys().map(Into::into).collect();
    assert_eq!(properties(NAMES[0]), grid);
    assert_eq!(properties(NAMES[1]), grid);
    let own =
        ["scenario", "profile", "system", "pes", "scheduler", "replication", "seed", "device"];
    let settings = keys().filter(|name| !own.contains(name)).map(Into::into);
    assert_eq!(properties(NAMES[2]), settings.collect());
    let constants = xrsim::hardware::technology::Constant::ALL.map(|it| it.name().to_string());
    assert_eq!(properties(NAMES[4]), constants.into_iter().collect());
    let search =
        "search: {name: s, space: {dataflows: [WS]}, constraints: {qqqqqqqqqqqqqqqq: '<= 1'}}";
    let error = check(search).stderr;
    let error = String::from_utf8_lossy(&error).into_owned();
    let known = error.split_once("known: ").expect("a list").1.lines().next().expect("a line");
    let known: BTreeSet<_> =
        known.split(", ").map(|it| it.trim_end_matches(')').to_string()).collect();
    assert_eq!(properties(NAMES[3]), known);
}

//! Numbers and words: a reader accepts both limits of a range and no number beyond, and every word of a list.

use serde_json::Value;

use super::places::{ALL, Found, Places};
use super::tree::Tree;
use super::{OF_ALL, read};

/// Values of settings are those of the table of keys, whose own test holds its ranges. Layers have the defaults of
/// parameters, and refuse them.
const SETTINGS: [&str; 5] = [
    "/definitions/sweep/properties/grid/",
    "/definitions/sweep/properties/points/",
    "/definitions/search/properties/settings/",
    "/definitions/network/properties/parameters/",
    "/definitions/search/properties/space/properties/",
];

/// Whether a reader takes `text` at a place, whatever else it says.
fn takes(places: &Places, found: &Found, text: &str) -> bool {
    let mut tree = places.tree(found);
    *tree.at(&found.path) = Tree::Scalar(text.into(), false);
    let messages = read(places.files[found.file].kind, &tree.text());
    let refusals =
        [format!("found `{text}`"), format!("`{text}`: expected"), format!("`{text}` is no name")];
    !messages.iter().any(|message| refusals.iter().any(|part| message.contains(part)))
}

/// A number outside of a range, as text. Readers round rates and clocks to multiples of their least value.
fn beyond(limit: f64, is_whole: bool, sign: f64) -> String {
    match is_whole {
        true => format!("{}", limit + sign),
        false if limit == 0.0 => format!("{}", sign * 1e-6),
        false => format!("{}", limit + sign * limit.abs() * 0.6),
    }
}

#[test]
fn readers_take_exactly_the_numbers_and_words_of_the_schema() {
    let places = &*ALL;
    let (mut n_ranges, mut n_words) = (0, 0);
    let mut wrong = Vec::new();
    for (pointer, found) in &places.found {
        let schema = OF_ALL.pointer(pointer).expect("a place of the schema");
        let Some(found) = found.values().next() else { continue };
        if SETTINGS.iter().any(|part| pointer.starts_with(part)) {
            continue;
        }
        let types = schema["type"].to_string();
        let is_whole = types.contains("\"integer\"");
        if is_whole || types.contains("\"number\"") {
            let limits = [("minimum", -1.0), ("maximum", 1.0)];
            for (word, sign) in limits {
                let Some(limit) = schema.get(word).and_then(Value::as_f64) else { continue };
                n_ranges += 1;
                let inside = format!("{limit}");
                if !takes(places, found, &inside) {
                    wrong.push(format!("{pointer}: {inside} is refused"));
                }
                let outside = beyond(limit, is_whole, sign);
                if takes(places, found, &outside) {
                    wrong.push(format!("{pointer}: {outside} is taken"));
                }
            }
            for (word, sign) in [("exclusiveMinimum", 1.0), ("exclusiveMaximum", -1.0)] {
                let Some(limit) = schema.get(word).and_then(Value::as_f64) else { continue };
                n_ranges += 1;
                let [at, inside] = [limit.to_string(), beyond(limit, false, sign)];
                if takes(places, found, &at) || !takes(places, found, &inside) {
                    wrong.push(format!("{pointer}: {limit} is no limit"));
                }
            }
        }
        for word in schema["enum"].as_array().into_iter().flatten() {
            n_words += 1;
            let word = word.as_str().expect("a word");
            if !takes(places, found, word) {
                wrong.push(format!("{pointer}: `{word}` is refused"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_ranges}\n{}", wrong.len(), wrong.join("\n"));
    assert!(n_ranges > 200 && n_words > 50, "{n_ranges} {n_words}");
}

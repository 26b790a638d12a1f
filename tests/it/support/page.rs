//! Contents of a page of `xrsim report`.

// Every test file uses its own part.
#![allow(dead_code)]

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Data of the page.
pub fn data(html: &str) -> Value {
    let text = between(html, "<script type=\"text/plain\" id=\"results\">", "</script>");
    let packed = STANDARD.decode(text).expect("base64");
    let bytes = miniz_oxide::inflate::decompress_to_vec(&packed).expect("deflated");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Names like `p97_ms` that the program of a page uses and its data does not know: it has none of its own, so
/// they are keys that are read and not there. Settings may be missing, as not every semantics has all of them.
pub fn unknown_names(html: &str) -> Vec<String> {
    let program = between(html, "<script type=\"module\">", "</script>");
    let known = data(html).to_string();
    let known: HashSet<&str> = names(&known).collect();
    let is_comment = |line: &&str| ["//", "/*", "*"].iter().any(|it| line.trim().starts_with(it));
    let code: String = program.lines().filter(|line| !is_comment(line)).collect();
    let is_setting = |name: &str| code.contains(&format!("\"score.{name}\""));
    // An outcome that only scenarios with recordings or gates have.
    let is_rare = |name: &str| name == "not_captured";
    let unknown = names(&code).filter(|name| !known.contains(name) && !is_setting(name));
    let unknown = unknown.filter(|name| !is_rare(name));
    unknown.map(str::to_string).collect()
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_key = |word: &str| word.trim_matches('_').contains('_') && word == word.to_lowercase();
    words.filter(move |word| is_key(word))
}

/// The keys of columns that the page describes.
pub fn keys(columns: &Value) -> Vec<&str> {
    let columns = columns.as_array().expect("the page describes its columns");
    columns.iter().map(|column| column["key"].as_str().expect("a key")).collect()
}

/// Text between two texts.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after}")).0
}

/// Whether a value of the page equals a cell: the same text, or the same number up to the last bits, which
/// the reader of serde_json (not its writer, nor a browser) may miss.
pub fn says(value: &Value, cell: &str) -> bool {
    match (value, cell.parse::<f64>()) {
        (Value::String(text), _) => text == cell,
        (Value::Number(number), Ok(expected)) => {
            let found = number.as_f64().expect("a finite number");
            (found - expected).abs() <= 1e-14 * expected.abs()
        }
        _ => false,
    }
}

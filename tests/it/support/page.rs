//! What is in a page of `xrsim report`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// What the page carries.
pub fn data(html: &str) -> Value {
    let text = between(html, "<script type=\"text/plain\" id=\"results\">", "</script>");
    let packed = STANDARD.decode(text).expect("base64");
    let bytes = miniz_oxide::inflate::decompress_to_vec(&packed).expect("deflated");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// What stands between two texts.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after}")).0
}

/// Whether a value of the page is what a cell says: the same text, or the same number but for the
/// last bits, which the reader of serde_json (not its writer, nor a browser) may miss.
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

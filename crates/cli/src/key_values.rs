//! Options of the form `KEY=VALUE,KEY=VALUE`.

use std::collections::BTreeMap;

use super::message::Failure;

/// Values of `text` by key. `text` is the value of `option`. Every key is one of `known` and occurs once.
///
/// # Errors
///
/// Returns a failure for a part without `=`, and for an unknown or a repeated key.
pub(super) fn parse<'a>(
    option: &str,
    text: &'a str,
    known: &[&'static str],
) -> Result<BTreeMap<&'static str, &'a str>, Failure> {
    let mut values = BTreeMap::new();
    for assignment in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let Some((key, value)) = assignment.split_once('=') else {
            refuse!("{option}: `{assignment}` is not KEY=VALUE");
        };
        let Some(&key) = known.iter().find(|name| **name == key.trim()) else {
            return Err(super::unknown("key", key, known.iter().copied()));
        };
        if values.insert(key, value.trim()).is_some() {
            refuse!("{option}: `{key}` is given twice");
        }
    }
    Ok(values)
}

/// The number that is given for `key`, if there is one.
///
/// # Errors
///
/// Returns a failure if the value is not a number.
pub(super) fn number(
    option: &str,
    values: &BTreeMap<&'static str, &str>,
    key: &str,
) -> Result<Option<f64>, Failure> {
    let parse = |text: &&str| {
        text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
            Failure::Argument(format!("{option}: {key} is `{text}`; allowed is a number"))
        })
    };
    values.get(key).map(parse).transpose()
}

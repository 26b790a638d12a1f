//! Keys of the parameters of networks, one for every task and name.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::Settings;
use xrsim_model::model::Parameter;

use super::{Allowed, KEY, Key, Set};

/// The key that stands for all of them in lists.
const EVERY: Key = Key {
    name: "parameters.TASK.NAME",
    help: "parameter of the network of a model, such as `parameters.PD.regions` (`xrsim list models`)",
    allowed: Allowed::Whole("a whole number from 0 to 1048576"),
    default: Some("that of the network"),
    in_mlsys2023: true,
    set: Set::Parameter,
    ..KEY
};

pub(super) const KEYS: &[Key] = &[EVERY];

/// Keys that were asked for by name. They stay for the life of the program, as the others do; a run has few.
static ASKED: Mutex<BTreeMap<&'static str, &'static Key>> = Mutex::new(BTreeMap::new());

/// The key called `name`, if it is that of a parameter.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    parts(name)?;
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(key) = asked.get(name) {
        return Some(key);
    }
    let name: &'static str = Box::leak(name.into());
    let key: &'static Key = Box::leak(Box::new(Key { name, ..EVERY }));
    asked.insert(name, key);
    Some(key)
}

/// Task and parameter of the key called `name`, if it is that of a parameter. A task may have points in its name.
pub(crate) fn parts(name: &str) -> Option<(&str, &str)> {
    let parts = name.strip_prefix("parameters.")?.rsplit_once('.')?;
    let is_name = |text: &str| !text.is_empty() && text.len() <= 200;
    (is_name(parts.0) && is_name(parts.1)).then_some(parts)
}

/// Gives `settings` the value of the key called `name`.
pub(super) fn set(name: &str, settings: &mut Settings, text: &str) -> Option<()> {
    let (task, parameter) = parts(name)?;
    let value = text.parse().ok().filter(|value| *value <= Parameter::MAX)?;
    settings.parameters.set(task, parameter, value);
    Some(())
}

/// The value of the key called `name`; null unless it was set.
pub(super) fn value(name: &str, settings: &Settings) -> Value {
    let value = parts(name).and_then(|(task, name)| settings.parameters.of(task)?.get(name));
    json!(value)
}

/// Every key that was set, with its value.
pub(crate) fn all_set(settings: &Settings) -> impl Iterator<Item = (String, Value)> {
    settings.parameters.iter().flat_map(|(task, values)| {
        let one = move |(name, value)| (format!("parameters.{task}.{name}"), json!(value));
        values.iter().map(one)
    })
}

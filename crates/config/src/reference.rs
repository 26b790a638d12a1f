//! References to other input files: names of those that come with the program, and paths.

use serde_json::json;

use super::form::Form;
use super::yaml::read::At;
use super::yaml::values::{Reader, at, text};
use super::{Edition, Kind, embedded};

/// Mark of a reference that is no bare name: a path, a file, parameters, or parts.
const NO_BARE_NAME: &str = r"[./\\:+=]";

/// Schema of one of `names`, or of a reference to something of the user's, of which `list` says more.
pub fn name_or_own(names: Vec<String>, what: &str, list: &str) -> Form {
    let own = json!({
        "type": "string",
        "pattern": NO_BARE_NAME,
        "patternErrorMessage":
            format!("no {what} of this name comes with the program; a file of your own is written with its folder or extension"),
    });
    let keywords = json!({ "anyOf": [{ "enum": names }, own] });
    Form::new(keywords, format!("a name (`xrsim list {list}`) or a file"))
}

/// Schema of the name or path of a file of `kinds`.
pub fn reference(kinds: &[Kind], what: &str, list: &str) -> Form {
    let mut names: Vec<_> =
        kinds.iter().flat_map(|kind| embedded::names(*kind, Edition::default())).collect();
    if kinds.contains(&Kind::Network) {
        names.extend(embedded::further_names(Kind::Network));
        names.extend(embedded::names_in(Kind::Network, "ladders/"));
        names.extend(embedded::names_in(Kind::Network, "language/"));
    }
    name_or_own(names, what, list)
}

/// Name or path of a network.
pub(super) fn network() -> impl Reader<Value = At<Box<str>>> {
    at(text()).shaped(|_| {
        reference(&[Kind::Network], "network", "models")
            .remark("Values of its parameters may follow, as in `PD:regions=100`.")
    })
}

/// Name or path of a dataflow.
pub(super) fn dataflow() -> impl Reader<Value = At<Box<str>>> {
    at(text()).shaped(|_| reference(&[Kind::Dataflow], "dataflow", "dataflows"))
}

/// Name or path of a scenario.
pub(super) fn scenario() -> impl Reader<Value = At<Box<str>>> {
    at(text()).shaped(|_| reference(&[Kind::Scenario], "scenario", "scenarios"))
}

/// Name or path of operating points.
pub(super) fn points() -> impl Reader<Value = At<Box<str>>> {
    at(text()).shaped(|_| reference(&[Kind::Points], "points", "points"))
}

/// Schema of the name or path of a technology.
pub(super) fn technology() -> Form {
    reference(&[Kind::Technology], "technology", "technologies")
}

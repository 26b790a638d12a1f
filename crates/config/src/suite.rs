//! The `suite:` file: scenarios and systems of a run without arguments.

use serde_json::json;

use xrsim_model::hardware::Accelerator;

use super::form::Form;
use super::yaml::keys::keys;
use super::yaml::read::At;
use super::yaml::values::{Reader, at, list, number, text};
use super::{Edition, Kind, embedded};

/// Benchmark suite Ω (XRBench Definition 5) with the systems that it is run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// Names of the scenarios, in the order of reports.
    pub scenarios: Vec<String>,
    /// Names of the styles, in the order of reports.
    pub systems: Vec<String>,
    /// Total numbers of PEs that each style is instantiated at.
    pub pes: Vec<u32>,
}

keys! {
    /// Scenarios and systems of a run without arguments (XRBench Definition 5).
    pub(super) fn suite() -> struct RawSuite: "a suite" {
        /// Scenarios of a run without arguments, in the order of reports.
        scenarios: Vec<At<Box<str>>> = required(names("scenarios", Kind::Scenario)
            .allowed("a list of names (`xrsim list scenarios`)"));
        /// Styles of a run without arguments, in the order of reports.
        systems: Vec<At<Box<str>>> = required(names("systems", Kind::Style)
            .allowed("a list of names (`xrsim list systems`)"));
        /// Total numbers of PEs that every style is built at.
        pes: Vec<u32> = required(list("PE counts", number(1..=Accelerator::MAX_PES)));
    }
}

/// Names of files of `kind` that come with the program.
fn names(what: &'static str, kind: Kind) -> impl Reader<Value = Vec<At<Box<str>>>> {
    let known = move |_| {
        let names = embedded::names(kind, Edition::default());
        Form::new(json!({ "enum": names }), "")
    };
    list(what, at(text()).shaped(known))
}

impl RawSuite {
    /// Kinds of the files that it names, with their names.
    pub(super) fn names(&self) -> [(Kind, &[At<Box<str>>]); 2] {
        [(Kind::Scenario, &self.scenarios), (Kind::Style, &self.systems)]
    }

    pub(super) fn suite(self) -> Suite {
        let names =
            |names: Vec<At<Box<str>>>| names.into_iter().map(|name| name.value.into()).collect();
        Suite { scenarios: names(self.scenarios), systems: names(self.systems), pes: self.pes }
    }
}

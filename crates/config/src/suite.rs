//! The `suite:` file: scenarios and systems of a run without arguments.

use xrsim_model::hardware::Accelerator;

use super::yaml::read::{At, Problems, at, list, number, text};
use super::yaml::{Fields, Node};

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

/// A `suite:` file, names with their places.
pub(super) struct RawSuite {
    pub(super) scenarios: Vec<At<Box<str>>>,
    pub(super) systems: Vec<At<Box<str>>>,
    pes: Vec<u32>,
}

/// Reads the body of a `suite:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<RawSuite> {
    let mut fields = Fields::of(node, "a suite", problems)?;
    let scenarios = fields.required("scenarios", list("scenarios", at(text)));
    let systems = fields.required("systems", list("systems", at(text)));
    let pes = fields.required("pes", list("PE counts", number(1..=Accelerator::MAX_PES)));
    fields.finish();
    Some(RawSuite { scenarios: scenarios?, systems: systems?, pes: pes? })
}

impl RawSuite {
    pub(super) fn suite(self) -> Suite {
        let names =
            |names: Vec<At<Box<str>>>| names.into_iter().map(|name| name.value.into()).collect();
        Suite { scenarios: names(self.scenarios), systems: names(self.systems), pes: self.pes }
    }
}

//! Schemas of the settings of runs, which sweeps and searches have.

use serde_json::json;

use xrsim_model::model::Parameter;

use super::form::{self, Form, Key};

/// Names of keys that set a parameter of a network.
const PARAMETER: &str = r"^parameters\.[^.]+\.[A-Za-z_][A-Za-z0-9_]*$";

/// Text of a range of numbers.
const RANGE: &str = r"^\s*[-+]?[0-9.][^.]*\.\.";

/// A mapping of settings to the values that `values` makes of each.
pub(super) fn settings<'a>(
    known: impl IntoIterator<Item = &'a (&'static str, Form)>,
    values: impl Fn(Form) -> Form,
) -> Form {
    let parameter =
        form::whole(0..=Parameter::MAX).says("Value of a parameter of the network of a model");
    let keys = known.into_iter().map(|(name, form)| Key::new(*name, values(form.clone()), false));
    form::object(keys)
        .with("minProperties", 1)
        .with("patternProperties", json!({PARAMETER: values(parameter).into_value()}))
}

/// A value, a range of numbers, or a list of such.
pub(super) fn values(form: Form) -> Form {
    form.or_text(RANGE).or_list()
}

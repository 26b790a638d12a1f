//! Priorities of models, for policies that take them from their users.

use crate::schedule::{Arguments, Parameter, Setup};
use xrsim_model::scenario::ActiveModel;

/// How priorities are set.
pub(super) const PARAMETER: Parameter = Parameter::choice("priority", &["rate", "equal"])
    .meaning("priority of models: 9 from 45 FPS on, 3 from 30 FPS on, 1 below; or 1 for all");

/// Priority of every model, indexed by [`ModelId`](xrsim_model::ids::ModelId): the classes 1, 3 and 9 of
/// PREMA. Its users give them to tasks; here they follow the rate.
pub(super) fn of_models(setup: &Setup<'_>, arguments: &Arguments) -> Box<[f64]> {
    let by_rate = arguments.name("priority") == "rate";
    let priority = |model: &ActiveModel| match model.rate.as_fps() {
        45.0.. if by_rate => 9.0,
        30.0.. if by_rate => 3.0,
        _ => 1.0,
    };
    setup.scenario.models().iter().map(priority).collect()
}

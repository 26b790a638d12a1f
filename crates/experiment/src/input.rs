//! Inputs of an experiment by name or by value.

use std::sync::Arc;

use xrsim_config::Hardware;
use xrsim_model::cost::GivenCostModel;
use xrsim_model::hardware::{Style, System};
use xrsim_model::scenario::Scenario;
use xrsim_sim::schedule::Policy;

use super::NamedCostModel;

/// An input of an experiment.
#[derive(Debug, Clone)]
pub enum Input<T> {
    /// Name or file, as on the command line.
    Named(String),
    /// The input itself.
    Given(T),
}

impl<T> From<&str> for Input<T> {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl<T> From<String> for Input<T> {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl<T> From<&String> for Input<T> {
    fn from(name: &String) -> Self {
        Self::Named(name.clone())
    }
}

impl From<Scenario> for Input<Arc<Scenario>> {
    fn from(scenario: Scenario) -> Self {
        Self::Given(Arc::new(scenario))
    }
}

impl From<Arc<Scenario>> for Input<Arc<Scenario>> {
    fn from(scenario: Arc<Scenario>) -> Self {
        Self::Given(scenario)
    }
}

impl From<System> for Input<Hardware> {
    fn from(system: System) -> Self {
        Self::Given(Hardware::System(Arc::new(system)))
    }
}

impl From<Arc<System>> for Input<Hardware> {
    fn from(system: Arc<System>) -> Self {
        Self::Given(Hardware::System(system))
    }
}

impl From<Style> for Input<Hardware> {
    fn from(style: Style) -> Self {
        Self::Given(Hardware::Style(style))
    }
}

impl From<Policy> for Input<Policy> {
    fn from(scheduler: Policy) -> Self {
        Self::Given(scheduler)
    }
}

impl From<NamedCostModel> for GivenCostModel<NamedCostModel> {
    fn from(cost_model: NamedCostModel) -> Self {
        Self::Found(cost_model)
    }
}

//! Accelerators on which a model may run: key `runs` of hardware, key `on` of scenarios.

use std::fmt;
use std::sync::Arc;

use crate::hardware::{Accelerator, Tasks};

use super::ActiveModel;

/// Rule by which a model does not run on an accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// Key of the rule: `runs` of the accelerator, or `on` of the model.
    pub key: &'static str,
    /// Task of the model.
    pub task: Box<str>,
    /// Names that the key has.
    pub names: Tasks,
}

impl ActiveModel {
    /// The first rule by which the model does not run on `accelerator`; `None` if it may.
    pub fn exclusion(&self, accelerator: &Accelerator) -> Option<Exclusion> {
        let task = &self.unit.task;
        let violated = |key, names: &Option<Tasks>, name: &str| {
            let names = names.as_ref().filter(|names| !names.iter().any(|it| **it == *name))?;
            Some(Exclusion { key, task: task.clone(), names: Arc::clone(names) })
        };
        violated("runs", &accelerator.runs, task)
            .or_else(|| violated("on", &self.on, &accelerator.name))
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}: [{}]`", self.key, self.names.join(", "))
    }
}

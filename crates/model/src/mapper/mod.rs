//! The mapper: the best mapping of a layer on an accelerator within a declared mapspace
//! (docs/explanation/mapper.md).
//!
//! Mappings are evaluated by the loop-nest cost model itself, so that the value of the best one is what
//! `xrsim cost` computes for it.

mod bound;
mod candidate;
mod capacity;
mod chooser;
mod construct;
mod contest;
mod declared;
mod estimate;
mod exact;
mod files;
mod first_round;
mod forms;
mod improve;
mod kept;
mod layer;
mod mapped;
mod networks;
mod objective;
mod on_accelerator;
mod outer;
mod plan;
mod problem;
mod question;
pub mod row;
mod search;
mod sizes;
mod skeletons;
mod space;
pub mod store;
pub mod table;
mod version;

pub use bound::of_machine as machine_bound;
pub use chooser::Chooser;
pub use declared::{DeclaredSpace, axis_of};
pub use exact::{Counts, Rules};
pub use forms::forms;
pub use kept::LayerKey;
pub use layer::FoundForm;
pub use mapped::{MappedLayer, MappedNetwork, Violation};
pub use networks::{NetworkMapper, Space};
pub use objective::{Goal, Objective, Value};
pub use problem::Limits;
pub use row::mapping_text;
pub use search::{Effort, Found, Search, Status};
pub use sizes::Sizes;
pub use space::{AxisSet, LevelSpace, Mapspace};
pub use store::{Section, Store};
pub use version::current as choices_version;

/// A small accelerator for tests.
#[cfg(test)]
pub(crate) fn small_accelerator() -> crate::hardware::Accelerator {
    version::accelerator().expect("legal")
}

#[cfg(test)]
mod tests;

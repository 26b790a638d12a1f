//! Explanations of a frame and of a run for people: the story of one request, what would have changed its
//! end, and what decided a whole run. The causes are those of [`xrsim_results::why`].

mod advice;
mod story;
mod told;
mod whole;

pub use advice::{Change, Fate, FrameEffect, advice};
pub use story::story;
pub(crate) use told::TABLES;
pub use told::{Told, table_names};
pub use whole::WholeRun;

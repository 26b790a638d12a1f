//! Explanations of a frame and of a run for people: the story of one request, what would have changed its
//! end, and what decided a whole run. The causes are those of [`xrsim_results::why`].

mod advice;
mod story;
mod whole;

pub use advice::{Change, Fate, FrameEffect, advice};
pub use story::story;
pub use whole::WholeRun;

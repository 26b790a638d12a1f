//! Problems of a file, and the places that they name.

use std::ops::{Deref, DerefMut};

use xrsim_model::renamed::Renamed;
use xrsim_model::text::is_obeyed;

use crate::{At, Problem};

/// Problems of one file found so far, a list, and the old names of keys that were met.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    pub(super) old_keys: Vec<At<Renamed>>,
}

impl Problems {
    /// Keys that the file gives under an old name, in the order of reading.
    pub(crate) fn old_keys(&self) -> &[At<Renamed>] {
        &self.old_keys
    }

    /// The problems alone.
    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.found
    }
}

impl Deref for Problems {
    type Target = Vec<Problem>;
    fn deref(&self) -> &Vec<Problem> {
        &self.found
    }
}

impl DerefMut for Problems {
    fn deref_mut(&mut self) -> &mut Vec<Problem> {
        &mut self.found
    }
}

/// At most 40 characters of `text`, fit for a terminal.
pub fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() || is_obeyed(c) { '\u{fffd}' } else { c };
    let short: String = text.chars().take(40).map(visible).collect();
    if text.chars().nth(40).is_some() { short + "..." } else { short }
}

//! Places in the text of a file, and problems there.

use std::ops::Range;

/// A value with the bytes that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// Bytes of the source text.
    pub span: Range<usize>,
    /// The value.
    pub value: T,
}

/// One problem at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the source text that are wrong; empty ranges point between two characters.
    pub span: Range<usize>,
    /// Message, in lower case and without a full stop.
    pub message: String,
    /// Allowed values, or the nearest known name.
    pub help: Option<String>,
    /// Other places of the file that are involved, with their roles.
    pub places: Vec<At<String>>,
}

impl Problem {
    /// A problem without help.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, places: Vec::new() }
    }

    /// The same problem with help.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same problem with another place that is involved, in this role.
    #[must_use]
    pub fn place(mut self, span: Range<usize>, part: impl Into<String>) -> Self {
        self.places.push(At { span, value: part.into() });
        self
    }
}

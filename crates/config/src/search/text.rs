//! Text of a search with its places.

use serde_json::json;

use super::super::form::{self, Form};
use super::super::yaml::read::At;
use super::super::yaml::values::{Reader, at, at_most, list, one_or_list, text};

/// Most entries of a list.
pub(super) const MAX_ENTRIES: usize = 1000;

/// Text and where it was written.
pub(super) type Text = At<Box<str>>;

/// A line of text.
pub(super) fn line() -> impl Reader<Value = Text> {
    at(text()).then(|text, _, _| Some(At { span: text.span, value: text.value.trim().into() }))
}

/// One line that `form` describes, or a list of them.
pub(super) fn lines(form: impl Fn() -> Form) -> impl Reader<Value = Vec<Text>> {
    one_or_list(line(), at_most(MAX_ENTRIES, list("names", line()))).shaped(move |_| {
        let (one, several) = (form(), form::list(form()).at_most(MAX_ENTRIES));
        form::any_of([one, several.allowed("a list of such")])
    })
}

/// Schema of text of this pattern.
pub(super) fn text_of(pattern: &str, allowed: &str) -> Form {
    Form::new(json!({"type": "string", "pattern": pattern}), allowed)
}

//! Formats of input files. A new format is a folder with its `FORMAT` and a line of [`ALL`].

use super::Kind;
use super::document::Document;
use super::extensions::has_extension;
use super::format::Format;
use super::onnx;
use super::{maestro, scalesim, yaml};

/// Every format of input files. Files without an extension of any of them are in the first one. A static has one address, by
/// which formats are compared; a constant may have several.
pub static ALL: &[Format] =
    &[yaml::FORMAT, maestro::FORMAT, onnx::format::FORMAT, scalesim::FORMAT];

/// Format of the file called `name`, which is needed as one of `kinds`: the format of its extension if
/// that has such files, else the first one.
pub(super) fn format_of(name: &str, kinds: &[Kind]) -> &'static Format {
    let has_kind = |format: &&Format| kinds.iter().any(|kind| format.kinds.contains(kind));
    with_extension(name).filter(has_kind).unwrap_or(&ALL[0])
}

/// Format of a file that is to be rewritten in the first one. A file without an extension of another
/// format is in the artifact's.
pub(super) fn foreign(name: &str) -> &'static Format {
    let is_foreign = |format: &&Format| !std::ptr::eq(*format, &ALL[0]);
    with_extension(name).filter(is_foreign).unwrap_or(&ALL[1])
}

/// Kind of a file that is in the first format already, and has its extension.
pub(super) fn own_kind(document: &Document) -> Option<Kind> {
    let is_own = with_extension(document.source.name()).is_some_and(|it| std::ptr::eq(it, &ALL[0]));
    let own = is_own.then(|| (ALL[0].recognise)(document, &Kind::EVERY));
    own?.ok()
}

/// Path and member of a reference `FILE#NAME`, if the format of the file has members.
pub(super) fn member(reference: &str) -> Option<(&str, &str)> {
    let (path, member) = reference.rsplit_once('#')?;
    with_extension(path).filter(|format| format.has_members).map(|_| (path, member))
}

/// Format with the extension of `name`, in any case.
fn with_extension(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| has_extension(name, format.extensions))
}

//! Files that references lead to: embedded ones by name, others by path, and those of earlier versions by their old names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::Document;
use crate::embedded::{self, Embedded};
use crate::{ConfigError, Kind, Note, Notes, ParameterValues, Source, extensions, nearest, onnx};
use xrsim_model::renamed::{self, Renamed};

use super::Catalog;

/// Names of platforms in version 0.1.
const OLD_PLATFORMS: [Renamed; 1] =
    [Renamed { kind: "platform", old: "mlsys2023", new: "artifact" }];

/// Folders of version 0.1 that references begin with.
const OLD_FOLDERS: [Renamed; 1] = [Renamed { kind: "folder", old: "mlsys2023", new: "artifact" }];

/// Folders of version 0.2 that paths of shipped files begin with.
const OLD_PLACES: [Renamed; 4] = [
    Renamed { kind: "folder", old: "mlperf", new: "scenarios/mlperf" },
    Renamed { kind: "folder", old: "searches", new: "scenarios/searches" },
    Renamed { kind: "folder", old: "sweeps", new: "scenarios/sweeps" },
    Renamed { kind: "folder", old: "technologies", new: "hw_configs/technologies" },
];

impl Catalog {
    /// The file that `reference`, met in a file of `folder`, leads to. Embedded files are looked for
    /// in `edition` first, then in the default folder of their kind.
    pub(super) fn locate(
        &mut self,
        kinds: &[Kind],
        reference: &str,
        edition: &str,
        folder: Option<&Path>,
    ) -> Result<Document, ConfigError> {
        let find = |kind: &Kind| match edition {
            "" => {
                embedded::find(*kind, reference, embedded::default_folder(*kind, self.networks_of))
            }
            edition => embedded::find(*kind, reference, edition),
        };
        let folder = folder.or(self.folder.as_deref()).unwrap_or(Path::new(""));
        let path = folder.join(reference);
        if extensions::names_a_file(reference) {
            let Some((file, renamed)) = moved_file(reference).filter(|_| !path.exists()) else {
                return self.open(path);
            };
            self.note(renamed);
            return Ok(self.embedded(file));
        }
        if let Some(file) = kinds.iter().find_map(find) {
            return Ok(self.embedded(file));
        }
        if let Some((current, renamed)) = current_reference(kinds, reference)
            && !path.exists()
        {
            self.note(renamed);
            return self.locate(kinds, &current, edition, None);
        }
        if path.exists() {
            return self.open(path);
        }
        let names = |kind: &Kind| [self.names(*kind), embedded::further_names(*kind)].concat();
        let known: Vec<_> = kinds.iter().flat_map(names).collect();
        let meant = kinds.contains(&Kind::Dataflow).then(|| dataflow_meant(reference)).flatten();
        let nearest = meant.or_else(|| nearest(reference, known.iter().map(String::as_str)));
        let nearest = nearest.map(Into::into);
        let file = extensions::missing(&path).map(|ending| format!("{reference}.{ending}"));
        let kind = match kinds {
            [Kind::Mlperf] => "suite of MLPerf",
            [kind] => kind.key(),
            [Kind::Style, Kind::System] => "system",
            _ => "file",
        };
        Err(ConfigError::Unknown { kind, name: reference.into(), nearest, file, known })
    }

    fn embedded(&mut self, file: &Embedded) -> Document {
        let entry = self.used.entry(file.path.into());
        let source = entry.or_insert_with(|| Source::embedded(file.path, file.text, file.tree));
        let notes = self.notes.clone();
        Document { notes, ..Document::alone(Arc::clone(source)) }
    }

    pub(super) fn open(&mut self, path: PathBuf) -> Result<Document, ConfigError> {
        let notes = self.notes.clone();
        let source = self.read_by(&path, |path| text_of(path, &notes))?;
        let folder = path.parent().unwrap_or(Path::new("")).into();
        let notes = self.notes.clone();
        Ok(Document { folder: Some(folder), notes, ..Document::alone(source) })
    }
}

/// Text of the input file at `path`; of an ONNX file, which is told by its contents, that of its import, whose
/// decisions are notes.
fn text_of(path: &Path, notes: &Notes) -> Result<Arc<Source>, ConfigError> {
    if !path.is_file() || !onnx::is_model(path) {
        return Source::read(path);
    }
    imported(path, &ParameterValues::default(), notes)
}

/// Text of the import of an ONNX file whose open axes have these extents. Decisions are notes.
pub(super) fn imported(
    path: &Path,
    dims: &ParameterValues,
    notes: &Notes,
) -> Result<Arc<Source>, ConfigError> {
    let given = dims.iter().map(|(name, extent)| (name.to_string(), extent.into())).collect();
    let imported = onnx::import(path, &onnx::Options { dims: given, ..Default::default() })?;
    let file = dims.of(&path.display().to_string());
    let decisions = imported.model.deviations.iter().map(ToString::to_string);
    for decision in imported.warnings.into_iter().chain(decisions) {
        notes.add(Note::Import { file: file.clone(), decision });
    }
    Ok(Source::new(file, imported.text))
}

/// The reference that took the place of an old one, if `reference` is one.
fn current_reference(kinds: &[Kind], reference: &str) -> Option<(String, Renamed)> {
    let platform = renamed::find(&OLD_PLATFORMS, reference).filter(|_| kinds == [Kind::Platform]);
    if let Some(renamed) = platform {
        return Some((renamed.new.into(), renamed));
    }
    let (folder, name) = reference.split_once('/')?;
    let renamed = renamed::find(&OLD_FOLDERS, folder)?;
    let has_editions = |kind: &Kind| matches!(kind, Kind::Network | Kind::Scenario);
    kinds.iter().any(has_editions).then(|| (format!("{}/{name}", renamed.new), renamed))
}

/// The embedded file that had the path `reference` in version 0.2, if it has another one now.
fn moved_file(reference: &str) -> Option<(&'static Embedded, Renamed)> {
    let (folder, rest) = reference.split_once('/')?;
    let renamed = renamed::find(&OLD_PLACES, folder)?;
    let file = embedded::at(&format!("{}/{rest}", renamed.new))?;
    Some((file, renamed))
}

/// The dataflow that the words of `name` mean.
fn dataflow_meant(name: &str) -> Option<&'static str> {
    let letters = name.to_lowercase().replace([' ', '-', '_'], "");
    let words = [("weightstationary", "WS"), ("outputstationary", "OS"), ("rowstationary", "RS")];
    words.into_iter().find(|(word, _)| *word == letters).map(|(_, short)| short)
}

//! One input file on its way to a domain type, and the problems met there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::diagnostic::here;
use super::yaml::read::{At, Problems, unknown_name};
use super::yaml::values::Reader;
use super::{ConfigError, Kind, Note, Notes, Parameters, Problem, Source, kind};
use xrsim_model::renamed::Renamed;

/// Problems of one file that are reported.
const MAX_PROBLEMS: usize = 100;

/// A file that a reference leads to.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// Its text.
    pub source: Arc<Source>,
    /// Folder that paths in the file are relative to; none for embedded files.
    pub folder: Option<PathBuf>,
    /// Receives notes about the file.
    pub notes: Notes,
    /// Values of parameters: of the network, or by the task of each model of a scenario or suite.
    pub parameters: Parameters,
}

impl Document {
    /// A file that is read without those that it refers to.
    pub(super) fn alone(source: Arc<Source>) -> Self {
        let (notes, parameters) = (Notes::default(), Parameters::default());
        Self { source, folder: None, notes, parameters }
    }

    /// The same file, read with these values of parameters.
    pub(super) fn with_parameters(self, parameters: Parameters) -> Self {
        Self { parameters, ..self }
    }

    /// File name without folder and extension.
    pub(super) fn stem(&self) -> String {
        let name = self.source.name();
        let stem = Path::new(name).file_stem();
        stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy().into())
    }

    /// Value that a YAML file of `kind` describes.
    pub(super) fn load<T>(
        &self,
        kind: Kind,
        reader: impl Reader<Value = T>,
    ) -> Result<T, ConfigError> {
        let mut problems = Problems::default();
        let value = self.draft(kind, reader, &mut problems);
        self.finish(value, problems)
    }

    /// Value that a YAML file of `kind` describes, with names of other files still unresolved.
    pub(super) fn draft<T>(
        &self,
        kind: Kind,
        reader: impl Reader<Value = T>,
        problems: &mut Problems,
    ) -> Option<T> {
        let root = self.source.tree(problems)?;
        let (found, body) = kind::body(&root, problems)?;
        if found != kind {
            problems.push(wrong_kind(found, &[kind]));
            return None;
        }
        let value = reader.read(body, problems);
        self.report_old_keys(problems.old_keys());
        value
    }

    /// Reports every old name of a key once, with the line of its first use.
    fn report_old_keys(&self, keys: &[At<Renamed>]) {
        for (index, At { span, value: renamed }) in keys.iter().enumerate() {
            if keys[..index].iter().all(|earlier| earlier.value != *renamed) {
                let (line, _) = self.source.position(span.start);
                let place = Some((self.source.name().to_string(), line));
                self.notes.add(Note::OldName { place, renamed: *renamed });
            }
        }
    }

    /// The kind of a YAML file, which is one of `allowed`.
    pub(super) fn kind(&self, allowed: &[Kind]) -> Result<Kind, ConfigError> {
        // The first line that is no comment shows the kind of all but unusual files.
        let mut lines = self.source.text().lines();
        let key = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let kind = key.and_then(|line| Kind::of_key(line.trim_end().strip_suffix(':')?));
        if let Some(kind) = kind.filter(|kind| allowed.contains(kind)) {
            return Ok(kind);
        }
        let mut problems = Problems::default();
        let root = self.source.tree(&mut problems);
        let found = root.as_ref().and_then(|root| kind::body(root, &mut problems));
        let found = found.map(|(kind, _)| kind);
        let refused = found.filter(|kind| !allowed.contains(kind));
        problems.extend(refused.map(|kind| wrong_kind(kind, allowed)));
        self.finish(found, problems)
    }

    /// The value, or every problem.
    pub(super) fn finish<T>(&self, value: Option<T>, problems: Problems) -> Result<T, ConfigError> {
        match value {
            Some(value) if problems.is_empty() => Ok(value),
            _ => Err(self.invalid(problems.into_vec())),
        }
    }

    /// The error that `problems` are, in order of position.
    pub(super) fn invalid(&self, mut problems: Vec<Problem>) -> ConfigError {
        problems.sort_by_key(|problem| problem.span.start);
        let n_more = problems.len().saturating_sub(MAX_PROBLEMS);
        if n_more > 0 {
            problems.truncate(MAX_PROBLEMS);
            let end = self.source.text().len();
            problems.push(Problem::new(end..end, format!("and {n_more} more problems")));
        }
        ConfigError::Invalid { file: Arc::clone(&self.source), problems }
    }
}

/// Problem of a file of the kind `found` where one of the `allowed` kinds is needed.
pub(super) fn wrong_kind(found: Kind, allowed: &[Kind]) -> Problem {
    let allowed: Vec<_> = allowed.iter().map(|kind| format!("`{kind}`")).collect();
    let needed = allowed.join(" or ");
    Problem::new(0..0, format!("this is a `{found}` file; a {needed} file is needed here"))
}

/// Values of the names in a file; `None` if a name is unknown, which is a problem of this file. A problem
/// of a file that a name refers to is an error of that file, and is returned only if this file has no
/// problems.
///
/// # Errors
///
/// Returns the error of the first file that cannot be used.
pub fn resolve<'a, T>(
    names: impl Iterator<Item = &'a At<Box<str>>>,
    mut lookup: impl FnMut(&str) -> Result<T, ConfigError>,
    problems: &mut Vec<Problem>,
) -> Result<Option<Vec<T>>, ConfigError> {
    let mut found = Vec::new();
    for name in names {
        found.push(match lookup(&name.value) {
            Ok(value) => Some(value),
            Err(ConfigError::Unknown { kind, nearest, file, known, .. }) => {
                let problem = unknown_name(kind, name, known.iter().map(String::as_str));
                let meant = nearest.map(|near| format!("did you mean `{near}`?"));
                problems.push(match file.as_deref().map(here).or(meant) {
                    Some(help) => problem.help(help),
                    None => problem,
                });
                None
            }
            Err(error @ (ConfigError::Unreadable { .. } | ConfigError::Malformed { .. })) => {
                problems.push(Problem::new(name.span.clone(), error.to_string()));
                None
            }
            Err(error) if problems.is_empty() => return Err(error),
            Err(_) => None,
        });
    }
    Ok(found.into_iter().collect())
}

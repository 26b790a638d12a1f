//! Runs of the real LoadGen: settings, logs and results.
//!
//! A folder of such runs holds `cases.json`, a list of cases; `queries/<id>.csv` with a row for every
//! sample of a case; `summary/<id>.txt`, LoadGen's summary; `detail/<id>.txt`, its detailed log, or
//! `detail/<id>.csv`, a table of the keys and values of that; and `rng_vectors.json`, draws of its random
//! numbers. All but the first may be absent. Every key of the settings must be known; a case gives any part
//! of the results of LoadGen.

mod detail;
mod expected;
mod inputs;
mod log;
mod vectors;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use xrsim_mlperf::settings::EffectiveSettings;
use xrsim_mlperf::sut::ServerSystem;

use super::yaml::read::{Problems, printable};
use super::yaml::values::{Reader, text};
use super::yaml::{self, Fields, Node, Value};
use super::{ConfigError, Problem, Source};

pub use detail::Detail;
pub use expected::{Expected, Percentiles, Told, Verdict};
pub use log::{LogRow, QueryLog};
pub use vectors::{EarlyStoppingVector, Vector, Vectors};

/// A run of LoadGen.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name.
    pub id: Box<str>,
    /// Line of the file of cases in which the case begins, counted from 1.
    pub line: usize,
    /// Settings.
    pub settings: EffectiveSettings,
    /// The system that was measured.
    pub service: ServerSystem,
    /// Results of LoadGen.
    pub expected: Expected,
    /// Log of every sample.
    pub log: Option<QueryLog>,
    /// Summary.
    pub summary: Option<Arc<Source>>,
    /// Detailed log.
    pub detail: Option<Detail>,
}

/// A folder of cases.
#[derive(Debug, Clone)]
pub struct Cases {
    /// The file of cases.
    pub source: Arc<Source>,
    /// Every case, in order.
    pub cases: Vec<Case>,
    /// Draws of random numbers, with their file.
    pub vectors: Option<(Arc<Source>, Vectors)>,
}

impl Cases {
    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Unreadable`] if there is no `cases.json` or a file cannot be read, and
    /// [`ConfigError::Invalid`] with every problem of the first file that has one.
    pub fn read(folder: &Path) -> Result<Self, ConfigError> {
        let file = |name: &str| optional(&folder.join(name));
        let cases = Source::read(&folder.join("cases.json"))?;
        Self::parse(cases, file("rng_vectors.json")?, |id| {
            let detail = file(&format!("detail/{id}.txt"))?;
            Ok(CaseFiles {
                log: file(&format!("queries/{id}.csv"))?,
                summary: file(&format!("summary/{id}.txt"))?,
                detail: detail
                    .map_or_else(|| file(&format!("detail/{id}.csv")), |it| Ok(Some(it)))?,
            })
        })
    }

    /// Reads the text of a file of cases and of a file of draws. `files` returns the files of a case.
    ///
    /// # Errors
    ///
    /// The errors of [`Cases::read`].
    pub fn parse(
        source: Arc<Source>,
        vectors: Option<Arc<Source>>,
        files: impl Fn(&str) -> Result<CaseFiles, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        let mut cases = parse_cases(&source, &mut problems);
        finish(&source, problems.into_vec())?;
        for case in &mut cases {
            let CaseFiles { log, summary, detail } = files(&case.id)?;
            case.log = log.map(|source| QueryLog::parse(&source, &case.settings)).transpose()?;
            case.summary = summary;
            case.detail = detail.map(|source| Detail::parse(&source)).transpose()?;
        }
        let vectors =
            vectors.map(|source| Ok::<_, ConfigError>((source.clone(), Vectors::parse(&source)?)));
        Ok(Self { source, cases, vectors: vectors.transpose()? })
    }
}

/// Files of a case, as far as it has them.
#[derive(Debug, Clone, Default)]
pub struct CaseFiles {
    /// A row for every sample.
    pub log: Option<Arc<Source>>,
    /// Summary.
    pub summary: Option<Arc<Source>>,
    /// Detailed log, or a table of its keys and values.
    pub detail: Option<Arc<Source>>,
}

/// Reads the file at `path`, if it exists.
fn optional(path: &Path) -> Result<Option<Arc<Source>>, ConfigError> {
    if path.symlink_metadata().is_err() { Ok(None) } else { Source::read(path).map(Some) }
}

/// Returns an error with the `problems` of `source`, if there are any.
fn finish(source: &Arc<Source>, mut problems: Vec<Problem>) -> Result<(), ConfigError> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort_by_key(|problem| problem.span.start);
    problems.truncate(MAX_PROBLEMS);
    Err(ConfigError::Invalid { file: Arc::clone(source), problems })
}

/// Most problems of one file that are reported.
const MAX_PROBLEMS: usize = 20;

fn parse_cases(source: &Source, problems: &mut Problems) -> Vec<Case> {
    let Some(root) = yaml::parse(source.text(), problems) else { return Vec::new() };
    let Value::List(items) = &root.value else {
        problems.push(root.mismatch(&"a list of cases"));
        return Vec::new();
    };
    if items.is_empty() {
        problems.push(Problem::new(root.span.clone(), "there are no cases"));
    }
    let mut ids = HashSet::new();
    let mut cases = Vec::new();
    for item in items {
        let case = parse_case(source, item, problems);
        if let Some(twin) = case.as_ref().filter(|case| !ids.insert(case.id.clone())) {
            let message = format!("a second case is called `{}`", printable(&twin.id));
            problems.push(Problem::new(item.span.clone(), message));
        }
        cases.extend(case);
    }
    cases
}

fn parse_case(source: &Source, node: &Node<'_>, problems: &mut Problems) -> Option<Case> {
    let mut fields = Fields::from_mapping(node, "a case", problems)?;
    let id = fields.required("id", file_name);
    let service = fields.required("sut", inputs::service);
    let settings = inputs::settings(&mut fields);
    let expected = Expected::read(&mut fields);
    fields.finish_open();
    let (line, _) = source.position(node.span.start);
    let (id, service, settings) = (id?, service?, settings?);
    Some(Case { id, line, settings, service, expected, log: None, summary: None, detail: None })
}

/// Reads a name that can be the name of a file.
fn file_name(node: &Node<'_>, problems: &mut Problems) -> Option<Box<str>> {
    let name = text().read(node, problems)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.len() > 100 || !name.chars().all(is_plain) || name.starts_with('.') {
        let problem = node.mismatch(&"letters, digits, `_`, `-` and `.`, at most 100 of them");
        problems.push(problem);
        return None;
    }
    Some(name)
}

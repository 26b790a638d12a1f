//! `sweep:` files, and the same on the command line: keys and values of many runs, as text with its
//! places. This module does not know the keys and their allowed values.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use xrsim_model::text::{is_parameter, is_unfit_in_line, pieces};

use super::document::Document;
use super::form::Words;
use super::range;
use super::settings::{self, settings};
use super::yaml::keys::mapping;
use super::yaml::read::{At, Problems, printable};
use super::yaml::tree::Entry;
use super::yaml::values::{Reader, at, at_most, entries, list, named, number, text, tried, value};
use super::yaml::{Fields, Node, Value};
use super::{ConfigError, Kind, Problem, Source};

/// Text and where it was written.
type Text = At<Box<str>>;

/// Most points of a list, and most values of all keys together.
const MAX_VALUES: usize = 100_000;

/// Most keys.
const MAX_KEYS: usize = 32;

/// Settings that a sweep varies, as they were written.
#[derive(Debug, Clone)]
pub struct SweepDraft {
    /// Where it was written.
    pub source: Arc<Source>,
    /// Folder that paths in it are relative to, if it is not the working directory.
    pub folder: Option<PathBuf>,
    /// Points that are listed one by one, then keys with all their values. Every row is as long as
    /// its columns.
    pub factors: Vec<DraftFactor>,
    /// Independent replications of every point, if a number is given.
    pub replications: Option<u64>,
    /// Problems of its form. The draft then holds the rest, so that further problems can be found.
    pub problems: Vec<Problem>,
}

/// Settings that vary together, see [`crate::sweep`].
#[derive(Debug, Clone, Default)]
pub struct DraftFactor {
    /// Key of every column, where it was first written.
    pub keys: Vec<At<Box<str>>>,
    /// Values, `[row][column]`; `None` where the row does not give the key.
    pub rows: Vec<Vec<Option<At<Box<str>>>>>,
}

impl SweepDraft {
    /// Most replications of a point.
    pub const MAX_REPLICATIONS: u64 = MAX_VALUES as u64;

    /// Whether some point gives `key`.
    pub fn gives(&self, key: &str) -> bool {
        self.factor_of(key).is_some()
    }

    /// Whether some point does not give `key`.
    pub fn leaves_out(&self, key: &str) -> bool {
        let complete = |(factor, column): (&DraftFactor, usize)| {
            factor.rows.iter().all(|row| row[column].is_some())
        };
        !self.factor_of(key).is_some_and(complete)
    }

    /// Values of `key`, in their order.
    pub fn values(&self, key: &str) -> Vec<&At<Box<str>>> {
        let cells = self
            .factor_of(key)
            .map(|(factor, column)| factor.rows.iter().filter_map(move |row| row[column].as_ref()));
        cells.into_iter().flatten().collect()
    }

    /// The first factor that gives `key`, and in which column.
    pub fn factor_of(&self, key: &str) -> Option<(&DraftFactor, usize)> {
        self.factors.iter().find_map(|factor| Some((factor, factor.column(key)?)))
    }

    /// The error with these `problems` of the text.
    pub fn invalid(&self, problems: Vec<Problem>) -> ConfigError {
        Document::alone(Arc::clone(&self.source)).invalid(problems)
    }

    /// The draft in `file`.
    ///
    /// # Errors
    ///
    /// If the file is not of this kind at all.
    pub(super) fn read(file: &Document) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        let read = file.draft(Kind::Sweep, sweep(&Words::default()), &mut problems);
        let problems = problems.into_vec();
        let Some((factors, replications)) = read else {
            return Err(file.invalid(problems));
        };
        let (source, folder) = (Arc::clone(&file.source), file.folder.clone());
        Ok(Self { source, folder, factors, replications, problems })
    }
}

/// Body of a `sweep:` file. Points, keys and values that are wrong are left out.
pub(super) fn sweep(words: &Words) -> impl Reader<Value = (Vec<DraftFactor>, Option<u64>)> {
    let factors = |raw: RawSweep, _: &Node<'_>, problems: &mut Problems| {
        let points = raw.points.and_then(|it| table(it.into_iter().flatten(), problems));
        let grid = raw.grid.into_iter().flatten();
        Some((points.into_iter().chain(grid).collect(), raw.replications))
    };
    raw_sweep(words).then(factors).shaped(|form| {
        let any = ["grid", "points", "replications"].map(|key| json!({"required": [key]}));
        form.with("anyOf", json!(any))
    })
}

/// Keys and values of a point; `None` if it is wrong.
type RawPoint = Option<Vec<(Text, Text)>>;

/// A `sweep:` file.
struct RawSweep {
    points: Option<Vec<RawPoint>>,
    grid: Option<Vec<DraftFactor>>,
    replications: Option<u64>,
}

fn raw_sweep(words: &Words) -> impl Reader<Value = RawSweep> {
    let read = |fields: &mut Fields<'_, '_, '_>| {
        fields.about("Name of the sweep.").required("name", text());
        let about = "Points that are listed one by one. Each is combined with the whole grid.";
        let points = fields.about(about).optional("points", points(words));
        let about = "Keys with a value, a range such as `1024..16384 step x2`, or a list of both. Every combination is a \
                     point. The first key varies slowest.";
        let grid = fields.about(about).optional("grid", grid(words));
        let replications = number(1..=SweepDraft::MAX_REPLICATIONS).with_default(1);
        let about = "Independent replications of every point.";
        let replications = fields.about(about).optional("replications", replications);
        let anything = ["points", "grid", "replications"].iter().any(|key| fields.given(key));
        if !anything {
            let message = "this sweep varies nothing";
            let help = "give `grid`, `points` or `replications`";
            fields.problem(Problem::new(fields.span_of("name"), message).help(help));
        }
        Some(RawSweep { points, grid, replications })
    };
    mapping("a sweep", read).about("Sweep: settings that many runs vary.")
}

/// Points that are listed, each with its keys and values unless it is wrong.
fn points(words: &Words) -> impl Reader<Value = Vec<Option<Vec<(Text, Text)>>>> {
    let point = tried(at_most(MAX_KEYS, named("settings", line()))).shaped(|_| {
        settings(&words.settings, |form| form)
            .with("maxProperties", MAX_KEYS)
            .says("Values of a point")
    });
    at_most(MAX_VALUES, list("points", point))
}

/// Keys with all their values.
fn grid(words: &Words) -> impl Reader<Value = Vec<DraftFactor>> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let room = Room::default();
        let axis = |entry: &Entry<'_>, problems: &mut Problems| Some(axis(entry, &room, problems));
        at_most(MAX_KEYS, entries("settings", axis)).read(node, problems)
    };
    value(read, || settings(&words.settings, settings::values).with("maxProperties", MAX_KEYS))
}

/// A key of `grid` with one value, a range, or a list of both. An item `name=value` of a list is a
/// parameter of the value before, as in `[edf, dream:alpha=1, beta=2]`.
fn axis(entry: &Entry<'_>, room: &Room, problems: &mut Problems) -> DraftFactor {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        Some(range_or_value(node, room, problems).unwrap_or_default())
    };
    let values = match &entry.value.value {
        Value::List(_) => list("values", read).read(&entry.value, problems).map(|it| it.concat()),
        _ => read(&entry.value, problems),
    };
    DraftFactor::axis(entry.name(), with_parameters(values.unwrap_or_default()))
}

/// Joins parameters to the values that they belong to.
fn with_parameters(pieces: Vec<Text>) -> Vec<Text> {
    let mut values: Vec<Text> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match values.last_mut() {
            Some(last) if is_parameter(&piece.value) => {
                last.value = format!("{},{}", last.value, piece.value).into();
                last.span.end = piece.span.end;
            }
            _ => values.push(piece),
        }
    }
    values
}

fn range_or_value(node: &Node<'_>, room: &Room, problems: &mut Problems) -> Option<Vec<Text>> {
    let written = line().read(node, problems)?;
    match &node.value {
        Value::Scalar { quoted: true, .. } => Some(vec![written]),
        _ => room.expand(written, problems),
    }
}

/// A line of text.
fn line() -> impl Reader<Value = Text> {
    at(text()).then(|text, _, problems| {
        let line: Text = At { span: text.span, value: text.value.trim().into() };
        if line.value.contains(is_unfit_in_line) {
            let message = format!("`{}` is more than a line of text", printable(&line.value));
            problems.push(Problem::new(line.span, message));
            return None;
        }
        Some(line)
    })
}

/// Room for values, which hostile ranges would fill.
struct Room {
    left: Cell<usize>,
}

impl Default for Room {
    fn default() -> Self {
        Self { left: Cell::new(MAX_VALUES) }
    }
}

impl Room {
    /// Values of a range, or the single value if the text is not a range.
    fn expand(&self, written: Text, problems: &mut Problems) -> Option<Vec<Text>> {
        let At { span, value } = written;
        let values = match range::values(&value, self.left.get()) {
            None => vec![At { span, value }],
            Some(Ok(values)) => {
                let place = |value: String| At { span: span.clone(), value: value.into() };
                values.into_iter().map(place).collect()
            }
            Some(Err(message)) => {
                let help = "a range is FIRST..LAST, FIRST..LAST step N, or FIRST..LAST step xN";
                problems.push(Problem::new(span, message).help(help));
                return None;
            }
        };
        self.left.set(self.left.get().saturating_sub(values.len()));
        Some(values)
    }
}

/// The factor of all points, a column for every key that any of them has.
fn table(
    points: impl Iterator<Item = Vec<(Text, Text)>>,
    problems: &mut Problems,
) -> Option<DraftFactor> {
    let mut factor = DraftFactor::default();
    for point in points {
        let mut row = vec![None; factor.keys.len()];
        for (key, value) in point {
            let column = factor.column_for(key);
            row.resize(row.len().max(column + 1), None);
            row[column] = Some(value);
        }
        if let Some(key) = factor.keys.get(MAX_KEYS) {
            let message = format!("more than {MAX_KEYS} keys in all points");
            problems.push(Problem::new(key.span.clone(), message));
            return None;
        }
        factor.rows.push(row);
    }
    let n_keys = factor.keys.len();
    factor.rows.iter_mut().for_each(|row| row.resize(n_keys, None));
    Some(factor)
}

impl DraftFactor {
    /// The axis of one `key`.
    fn axis(key: Text, values: Vec<Text>) -> Self {
        Self { keys: vec![key], rows: values.into_iter().map(|value| vec![Some(value)]).collect() }
    }

    /// The column of `key`, if it has one.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.keys.iter().position(|known| *known.value == *key)
    }

    /// The column of `key`, a new one if it has none yet.
    fn column_for(&mut self, key: Text) -> usize {
        self.column(&key.value).unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        })
    }
}

/// A sweep that is written as options of a command, one after another.
#[derive(Default)]
pub struct SweepOptions {
    text: String,
    factors: Vec<DraftFactor>,
    room: Room,
    problems: Problems,
}

impl SweepOptions {
    /// Adds an option: `option` as it is written, the `key` that it means, and its values between
    /// commas. A piece `name=value` is a parameter of the value before. An option that is given again
    /// adds to its values.
    pub fn add(&mut self, option: &str, key: &str, values: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text += option;
        let key = At { span: start..self.text.len(), value: key.into() };
        if !option.ends_with('=') {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text += values;
        let mut found = Vec::new();
        for place in pieces(values) {
            let piece = &values[place.clone()];
            let begin = start + place.start + piece.len() - piece.trim_start().len();
            let value = piece.trim();
            found.extend(self.values(At { span: begin..begin + value.len(), value: value.into() }));
        }
        let found = with_parameters(found);
        match self.factors.iter_mut().find(|factor| factor.keys[0].value == key.value) {
            Some(known) => known.rows.extend(DraftFactor::axis(key, found).rows),
            None => self.factors.push(DraftFactor::axis(key, found)),
        }
    }

    fn values(&mut self, written: Text) -> Vec<Text> {
        if written.value.is_empty() || written.value.contains(is_unfit_in_line) {
            let message = "expected a value, or several between commas";
            self.problems.push(Problem::new(written.span, message));
            return Vec::new();
        }
        self.room.expand(written, &mut self.problems).unwrap_or_default()
    }

    /// Whether there is no option.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The draft of the options, in a source called `command line`.
    pub fn draft(self, replications: Option<u64>) -> SweepDraft {
        let Self { text, factors, problems, .. } = self;
        let source = Source::new("command line", text);
        let problems = problems.into_vec();
        SweepDraft { source, folder: None, factors, replications, problems }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a key after one option.
    fn values(text: &str) -> Vec<String> {
        let mut options = SweepOptions::default();
        options.add("--scheduler", "scheduler", text);
        let rows = options.draft(None).factors.remove(0).rows;
        rows.iter().flat_map(|row| row[0].as_ref()).map(|it| it.value.to_string()).collect()
    }

    #[test]
    fn the_command_of_an_external_scheduler_goes_to_the_end_of_its_option() {
        assert_eq!(
            values("edf,mine=external:python3 a.py b,c"),
            ["edf", "mine=external:python3 a.py b,c"]
        );
        assert_eq!(values("external:a b,c"), ["external:a b,c"]);
        assert_eq!(values("dream:alpha=1,beta=2, rm"), ["dream:alpha=1,beta=2", "rm"]);
    }
}

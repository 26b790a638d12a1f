//! `xrsim parts status`: how far the parts of a job are, by their files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use comfy_table::CellAlignment;
use serde_json::Value;

use xrsim_report::table::{new_table, render};
use xrsim_results::rows::RowCheck;

use super::super::journal::Pulse;
use super::super::message::Failure;
use super::super::{output, record, search, table_style};

/// Show the progress of parts, of a sweep, search, comparison or mapping, by their files.
#[derive(Debug, Args)]
#[command(
    after_help = "It asks neither Slurm nor the tasks, and takes no lock: `squeue` shows the queue. A process that makes a part \
    marks its file every 30 s, however long a row takes. A part without a mark for two minutes is `stopped`: its task \
    waits to begin again, or is lost.\n\n\
    Exit status: 0 all parts are done, 1 some parts are not done yet, 2 a part is damaged or belongs to another command.\n\n\
    Examples:\n  \
    xrsim parts status mine.parts\n  \
    xrsim parts status mine.csv     a sweep in one file"
)]
pub(crate) struct StatusArgs {
    /// Folder of the parts, or the file of one part, or of a sweep without parts.
    #[arg(value_name = "DIR|FILE.csv")]
    folder: PathBuf,
}

/// Age of the last sign of life from which a part counts as stopped.
const SILENCE: Duration = Duration::from_secs(4 * Pulse::EVERY.as_secs());

/// Names of the columns.
const HEADER: [&str; 6] = ["part", "points", "done", "rows/s", "last sign", "state"];

/// Bytes at the end of a file in which its last row is looked for; rows have some hundreds.
const TAIL: u64 = 1 << 20;

/// Prints a line for each part and one for all.
///
/// # Errors
///
/// Returns a failure if there are no parts, if one is damaged or of another command, or if some are not done.
pub(crate) fn status(args: &StatusArgs) -> Result<(), Failure> {
    let parts = found(&args.folder)?;
    let now = SystemTime::now();
    let states: Vec<_> = parts.iter().map(|part| State::from_part(part, now)).collect();
    let first = states.iter().find_map(|state| state.identity.clone());
    let mut n_bad = 0;
    let mut rows = Vec::new();
    let states = states.into_iter().map(|state| match (&state.identity, &first) {
        (Some(own), Some(first)) if own != first => {
            State { stage: Stage::Bad("of another command or of other inputs".into()), ..state }
        }
        _ => state,
    });
    let states: Vec<_> = states.collect();
    for (part, state) in parts.iter().zip(&states) {
        n_bad += usize::from(matches!(state.stage, Stage::Bad(_)));
        rows.push(line(part.label(), state));
    }
    rows.push(sum(&states));
    let mut table = new_table(table_style(), &HEADER, 1);
    if let Some(column) = table.column_mut(HEADER.len() - 1) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    output::print_text(&render(&table))?;
    let n_done = states.iter().filter(|state| state.stage == Stage::Done).count();
    match (n_bad, states.len() - n_done) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::Check(format!("{n_done} of {} parts are done", states.len()))),
        (1, _) => Err(Failure::Argument("1 part is damaged or of another command".into())),
        (n, _) => Err(Failure::Argument(format!("{n} parts are damaged or of another command"))),
    }
}

/// A part by its name: `NAME.I-of-N.csv`, or the folder `NAME.I-of-N`.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// File of its rows, or its folder.
    path: PathBuf,
    number: u64,
    count: u64,
}

impl Part {
    fn label(&self) -> String {
        format!("{}-of-{}", self.number, self.count)
    }

    /// File of the rows.
    fn rows(&self) -> Option<PathBuf> {
        if !self.path.is_dir() {
            return Some(self.path.clone());
        }
        let names = fs::read_dir(&self.path).ok()?.filter_map(Result::ok).map(|it| it.path());
        let record = names.filter(|path| path.to_string_lossy().ends_with(".csv.json")).min()?;
        Some(record.with_extension(""))
    }
}

/// Number and count of a part in the name of its file or folder.
fn numbers(name: &str) -> Option<(&str, u64, u64)> {
    let name = name.strip_suffix(".csv").unwrap_or(name);
    let (stem, numbers) = name.rsplit_once('.')?;
    let (number, count) = numbers.split_once("-of-")?;
    let (number, count) = (number.parse().ok()?, count.parse().ok()?);
    (1..=count).contains(&number).then_some((stem, number, count))
}

/// All parts of the job of a folder, those without a file included; a file is one part, the only one unless its name says
/// more.
///
/// # Errors
///
/// Returns a failure if there are none, or parts of several jobs.
fn found(folder: &Path) -> Result<Vec<Part>, Failure> {
    let shown = folder.display();
    if folder.is_file() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let (_, number, count) = numbers(&name).unwrap_or(("", 1, 1));
        return Ok(vec![Part { path: folder.into(), number, count }]);
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => refuse!("cannot read {shown}: {error}"),
    };
    let mut found = BTreeMap::new();
    let mut jobs = BTreeMap::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some((stem, number, count)) = numbers(&name) else { continue };
        jobs.insert((stem.to_string(), count), name.ends_with(".csv"));
        found.insert(number, entry.path());
    }
    let ((stem, count), is_file) = match jobs.len() {
        1 => jobs.pop_first().expect("there is one"),
        0 => match submitted(folder) {
            Some(job) => job,
            None => refuse!("{shown}: no file there is a part, such as mine.1-of-16.csv"),
        },
        _ => {
            let names: Vec<_> =
                jobs.keys().map(|(stem, count)| format!("{stem}.*-of-{count}")).collect();
            refuse!("{shown} has parts of several jobs: {}", names.join(", "));
        }
    };
    let ending = if is_file { ".csv" } else { "" };
    let part = |number| Part {
        path: folder.join(format!("{stem}.{number}-of-{count}{ending}")),
        number,
        count,
    };
    if count > super::MAX_PARTS {
        let most = super::MAX_PARTS;
        refuse!("{shown}: {count} parts, of which at most {most} can be told");
    }
    Ok((1..=count).map(part).collect())
}

/// The job of a folder in which no task has begun, by the script that was submitted.
fn submitted(folder: &Path) -> Option<((String, u64), bool)> {
    let text = read_record(&folder.join(super::submit::ARRAY))?;
    let part = text.lines().find_map(|line| line.strip_prefix("part="))?;
    let path = shlex::split(part)?.pop()?.replace("$SLURM_ARRAY_TASK_ID", "1");
    let name = Path::new(&path).file_name()?.to_str()?;
    let (stem, _, count) = numbers(name)?;
    Some(((stem.into(), count), name.ends_with(".csv")))
}

/// Stage of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Nothing is there yet.
    Waiting,
    /// A sign of life came within the last two minutes.
    Writing,
    /// None did, or the process ended before its part was done.
    Stopped,
    Done,
    /// Damaged, or of another command, in words.
    Bad(String),
}

/// State of a part.
#[derive(Debug)]
struct State {
    stage: Stage,
    /// Number of points; unknown before the part begins, and of a search.
    points: Option<u64>,
    done: u64,
    /// Rows a second in the mean since the part began.
    rate: Option<f64>,
    age: Option<Duration>,
    /// Host and job that wrote last.
    writer: String,
    /// Everything that parts of one command have in common.
    identity: Option<String>,
}

impl State {
    fn waiting() -> Self {
        let writer = String::new();
        let stage = Stage::Waiting;
        Self { stage, points: None, done: 0, rate: None, age: None, writer, identity: None }
    }

    fn bad(reason: impl Into<String>) -> Self {
        Self { stage: Stage::Bad(reason.into()), ..Self::waiting() }
    }

    fn from_part(part: &Part, now: SystemTime) -> Self {
        if !part.path.exists() {
            return Self::waiting();
        }
        match part.rows() {
            Some(rows) => Self::of_rows(part, &rows, now),
            None => Self::of_folder(part, now),
        }
    }

    /// State of a folder without rows, such as that of a search: it is done when its record is there, unless that
    /// of a search that was interrupted.
    fn of_folder(part: &Part, now: SystemTime) -> Self {
        let entries = fs::read_dir(&part.path).into_iter().flatten().filter_map(Result::ok);
        let times = entries.filter_map(|it| it.metadata().ok()?.modified().ok());
        let Some(last) = times.max() else { return Self::waiting() };
        let age = now.duration_since(last).unwrap_or_default();
        let identity = identity_of_search(part);
        let state = |stage| Self { stage, age: Some(age), identity, ..Self::waiting() };
        let by_age = if age <= SILENCE { Stage::Writing } else { Stage::Stopped };
        let place = part.path.join(record::SEARCH);
        let Some(text) = read_record(&place) else { return state(by_age) };
        if record::is_whole(&text) != Some(true) {
            return state(Stage::Bad("its record was changed after it was written".into()));
        }
        let record: Value = serde_json::from_str(&text).unwrap_or_default();
        let writer = writer(&record["writer"]);
        let stage = match record[search::INTERRUPTED] == true {
            false => Stage::Done,
            // A search that goes on has marked its journal after the record was written.
            true if modified(&part.path.join(search::JOURNAL)) > modified(&place) => by_age,
            true => Stage::Stopped,
        };
        Self { writer, ..state(stage) }
    }

    fn of_rows(part: &Part, rows: &Path, now: SystemTime) -> Self {
        if rows.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            return Self::waiting();
        }
        let Some(text) = read_record(&super::super::sweep::record_of(rows)) else {
            return Self::bad("its record is absent or no record");
        };
        let record: Value = serde_json::from_str(&text).unwrap_or_default();
        if record::is_whole(&text) != Some(true) || record["program"] != "xrsim" {
            return Self::bad("its record was changed, or is of another version");
        }
        let (first, end) = (record["points"][0].as_u64(), record["points"][1].as_u64());
        let (Some(first), Some(end)) = (first, end) else {
            return Self::bad("its record has no points");
        };
        if end < first {
            return Self::bad("its record has no points");
        }
        let Ok(metadata) = rows.metadata() else { return Self::waiting() };
        let last = match last_row(rows) {
            Ok(last) => last,
            Err(reason) => return Self::bad(reason),
        };
        if last.is_some_and(|last| !(first..end).contains(&last)) {
            return Self::bad("its last row is that of another part");
        }
        let done = last.map_or(0, |last| last + 1 - first);
        let (modified, created) = (metadata.modified().ok(), metadata.created().ok());
        // The clock of a file server may be ahead.
        let age = modified.map(|it| now.duration_since(it).unwrap_or_default());
        let taken = modified.zip(created).and_then(|(to, from)| to.duration_since(from).ok());
        let rate = taken.filter(|it| *it > Duration::from_millis(100) && done > 0);
        let stage = match age {
            _ if done == end - first && is_complete(rows, done) => Stage::Done,
            Some(age) if age <= SILENCE => Stage::Writing,
            _ => Stage::Stopped,
        };
        let identity = ["version", "command", "grid_sha256", "n_points", "inputs_sha256"];
        let identity: Vec<_> = identity.iter().map(|key| record[*key].to_string()).collect();
        Self {
            stage,
            points: Some(end - first),
            done,
            rate: rate.map(|it| done as f64 / it.as_secs_f64()),
            age,
            writer: writer(&record["writer"]),
            identity: Some(format!("{} {}", identity.join(" "), part.count)),
        }
    }
}

/// Everything that parts of one search have in common, by the first line of the journal of a part; `None` before it
/// is written.
fn identity_of_search(part: &Part) -> Option<String> {
    let mut line = String::new();
    let journal = File::open(part.path.join(search::JOURNAL)).ok()?;
    BufReader::new(journal).take(MAX_LINE).read_line(&mut line).ok()?;
    let is_whole = line.starts_with(search::FIRST_WORDS) && line.ends_with('\n');
    is_whole.then(|| format!("{line}{}", part.count))
}

/// Longest first line of a journal \[byte\].
const MAX_LINE: u64 = 1 << 12;

/// Instant at which a file was written last.
fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|it| it.modified()).ok()
}

/// Largest record \[byte\]; one of 100,000 values has some megabytes.
const MAX_RECORD: u64 = 64 << 20;

/// Text of a record; `None` if it cannot be read, or is too large for one.
fn read_record(path: &Path) -> Option<String> {
    let mut text = String::new();
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let n_bytes = File::open(path).ok()?.take(MAX_RECORD).read_to_string(&mut text).ok()?;
    ((n_bytes as u64) < MAX_RECORD).then_some(text)
}

/// Host and job of a record, in words.
fn writer(record: &Value) -> String {
    let text = |key: &str| record[key].as_str().map(xrsim_model::text::in_line);
    let host = text("host").map_or_else(String::new, |host| format!(" on {host}"));
    let job = text("slurm_job").map_or_else(String::new, |job| format!(" (job {job})"));
    host + &job
}

/// Whether a file has a first line and this many rows. Rows may come out of order, so that the last one alone does not
/// tell.
fn is_complete(path: &Path, n_rows: u64) -> bool {
    let count = || -> io::Result<u64> {
        let (mut file, mut buffer, mut n_lines) = (File::open(path)?, vec![0; 1 << 16], 0);
        loop {
            let n_bytes = file.read(&mut buffer)?;
            if n_bytes == 0 {
                return Ok(n_lines);
            }
            n_lines += buffer[..n_bytes].iter().filter(|byte| **byte == b'\n').count() as u64;
        }
    };
    n_rows == 0 || count().is_ok_and(|n_lines| n_lines > n_rows)
}

/// Point of the last whole row of a file; `None` if there is none yet.
///
/// # Errors
///
/// Returns the reason for which the row is none, in words.
fn last_row(path: &Path) -> Result<Option<u64>, String> {
    let read = || -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut head = vec![0; length.min(TAIL) as usize];
        file.read_exact(&mut head)?;
        let mut tail = vec![0; length.min(TAIL) as usize];
        file.seek(SeekFrom::Start(length - tail.len() as u64))?;
        file.read_exact(&mut tail)?;
        Ok((head, tail))
    };
    let (head, mut tail) = match read() {
        Ok(read) => read,
        // The file is being begun again.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let Some(header) = head.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let header = &head[..=header];
    // A row that is being written has no end yet.
    tail.truncate(tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
    let line = tail.split_inclusive(|byte| *byte == b'\n').next_back().unwrap_or_default();
    if line.is_empty() || line == header {
        return Ok(None);
    }
    if !RowCheck::below(header).holds(line) {
        return Err("its last row is damaged".into());
    }
    let cell = line.split(|byte| *byte == b',').next().unwrap_or_default();
    let point = std::str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok());
    point.map(Some).ok_or_else(|| "its last row has no point".into())
}

fn line(label: String, state: &State) -> Vec<String> {
    let is_writing = state.stage == Stage::Writing;
    let shown = match &state.stage {
        Stage::Waiting => "waiting".into(),
        Stage::Writing => format!("writing{}", state.writer),
        Stage::Stopped => format!("stopped{}", state.writer),
        Stage::Done => "done".into(),
        Stage::Bad(reason) => reason.clone(),
    };
    vec![
        label,
        state.points.map_or_else(String::new, |n| n.to_string()),
        if state.points.is_some() { state.done.to_string() } else { String::new() },
        state.rate.filter(|_| is_writing).map_or_else(String::new, |it| format!("{it:.1}")),
        state.age.map_or_else(String::new, ago),
        shown,
    ]
}

/// The line of all parts. Points of parts that have not begun are those of the mean part.
fn sum(states: &[State]) -> Vec<String> {
    let known: Vec<u64> = states.iter().filter_map(|it| it.points).collect();
    let mean = known.iter().map(|&n| n as f64).sum::<f64>() / known.len().max(1) as f64;
    let points = (mean * states.len() as f64).round() as u64;
    let done = states.iter().fold(0u64, |sum, it| sum.saturating_add(it.done));
    let writing = states.iter().filter(|it| it.stage == Stage::Writing);
    let rate: f64 = writing.filter_map(|it| it.rate).sum();
    let n_done = states.iter().filter(|it| it.stage == Stage::Done).count();
    let left = match rate > 0.0 {
        true => {
            format!(", {} left", super::estimate::span((points - done.min(points)) as f64 / rate))
        }
        false => String::new(),
    };
    let share = match points {
        0 => format!("{n_done} of {} parts", states.len()),
        _ => format!("{:.0} %{left}", (100.0 * done as f64 / points as f64).floor()),
    };
    let number = |n: u64| if points > 0 { n.to_string() } else { String::new() };
    let rate = if rate > 0.0 { format!("{rate:.1}") } else { String::new() };
    vec!["all".into(), number(points), number(done), rate, String::new(), share]
}

/// Age in words.
fn ago(age: Duration) -> String {
    super::estimate::span(age.as_secs_f64().round().max(1.0))
}

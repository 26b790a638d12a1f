//! Files of rows that outlive the program: those of sweeps, and those of parts of other commands.
//!
//! Rows, each with a checksum, are appended as they are made. If the program stops for any reason, the
//! whole rows in the file are right. The next start makes the other rows: those of points that were not
//! reached or that failed because of the machine, and damaged ones. In the end the rows are in the order of
//! the points.

mod as_made;
mod extend;
mod manifest;
mod parts;
mod pulse;
mod rows;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use xrsim_model::cost::ChosenMappings;
use xrsim_results::rows::{Line, Lines, RowCheck};

use super::lock;
use super::mappings::Mappings;
use super::message::{Failure, say};
use super::output::OutputFile;

pub(super) use as_made::{Sink, as_made};
pub(super) use extend::extend;
pub(super) use manifest::{Manifest, place};
pub(super) use parts::Parts;
pub(super) use pulse::Pulse;
pub(super) use rows::{PartRows, each_result};

/// Maximum number of attempts to open a file that other processes replace in the meantime.
const ATTEMPTS: usize = 16;

/// Rows of successive points, one after another in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    points: Range<u64>,
    bytes: Range<u64>,
}

/// Contents of a file of rows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Rows, in the order of the file.
    runs: Vec<Run>,
    /// Number of damaged lines.
    damaged: u64,
    /// Number of the first damaged line, from 1.
    first_damaged: u64,
    /// Length of the whole lines \[byte\].
    length: u64,
}

impl Found {
    /// Whether there is no line except the header, which may also be missing.
    fn is_nothing(&self) -> bool {
        self.runs.is_empty() && self.damaged == 0
    }

    /// Number of points that have rows.
    fn n_rows(&self) -> u64 {
        self.runs.iter().map(|run| run.points.end - run.points.start).sum()
    }

    /// Points of `points` without a row, in order.
    fn missing(&self, points: &Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut next = points.start;
        for run in self.in_order() {
            missing.push(next..run.points.start);
            next = run.points.end;
        }
        missing.push(next..points.end);
        missing.retain(|range| !range.is_empty());
        missing
    }

    /// The point after the last one that has a row.
    fn end(&self) -> u64 {
        self.runs.iter().map(|run| run.points.end).max().unwrap_or(0)
    }

    /// Whether every line is a row, in the order of the points.
    fn is_in_order(&self) -> bool {
        let ascends = |runs: &[Run]| runs[0].points.end <= runs[1].points.start;
        self.damaged == 0 && self.runs.windows(2).all(ascends)
    }

    fn in_order(&self) -> Vec<&Run> {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_by_key(|run| run.points.start);
        runs
    }

    fn add(&mut self, point: u64, length: u64) {
        let bytes = self.length..self.length + length;
        match self.runs.last_mut() {
            Some(run) if run.points.end == point && run.bytes.end == bytes.start => {
                run.points.end += 1;
                run.bytes.end = bytes.end;
            }
            _ => self.runs.push(Run { points: point..point + 1, bytes }),
        }
    }

    fn note_damage(&mut self, number: u64) {
        if self.damaged == 0 {
            self.first_damaged = number;
        }
        self.damaged += 1;
    }
}

/// Finds the rows of `points` in `input`. Every row begins with the index and the `id` of its point.
///
/// # Errors
///
/// The error of the reader, or an error if this is not the file of these points.
fn find(
    input: impl BufRead,
    header: &str,
    points: &Range<u64>,
    id: impl Fn(u64) -> String,
) -> io::Result<Found> {
    let mut lines = Lines::new(input);
    let mut found = Found::default();
    match lines.next_line()? {
        Line::End => return Ok(found),
        Line::Torn(line) if header.as_bytes().starts_with(line) => return Ok(found),
        Line::Torn(_) => return Err(other_header()),
        Line::Whole(line) => {
            found.length = line.len() as u64;
            if line != header.as_bytes() {
                found.note_damage(1);
            }
        }
    }
    let check = RowCheck::below(header.as_bytes());
    let mut number = 1;
    while let Line::Whole(line) = lines.next_line()? {
        number += 1;
        match check.holds(line) {
            true => found.add(point(line, number, points, &id)?, line.len() as u64),
            false => found.note_damage(number),
        }
        found.length += line.len() as u64;
    }
    // A damaged first line is known by the rows below it, whose checks are also of the header.
    if found.first_damaged == 1 && found.runs.is_empty() {
        return Err(other_header());
    }
    let runs = found.in_order();
    match runs.windows(2).find(|runs| runs[0].points.end > runs[1].points.start) {
        Some(runs) => {
            let point = runs[1].points.start;
            Err(io::Error::other(format!("point {point} has two rows")))
        }
        None => Ok(found),
    }
}

fn other_header() -> io::Error {
    io::Error::other("its first line is not the one that this command writes")
}

/// The point of an undamaged row.
///
/// # Errors
///
/// An error if it is not one of `points`.
fn point(
    line: &[u8],
    number: u64,
    points: &Range<u64>,
    id: impl Fn(u64) -> String,
) -> io::Result<u64> {
    let cell = line.split(|byte| *byte == b',').next().unwrap_or_default();
    let point = std::str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok());
    let is_known = |point: &u64| {
        points.contains(point) && line.starts_with(format!("{point},{},", id(*point)).as_bytes())
    };
    let other = || {
        io::Error::other(format!("line {number} is the row of another command or of other inputs"))
    };
    point.filter(is_known).ok_or_else(other)
}

/// A file that rows are added to.
pub(super) struct RowFile {
    pub path: PathBuf,
    header: String,
    points: Range<u64>,
    pub n_points: u64,
    /// Number of points that had a row at the start.
    pub n_held: u64,
    /// Points that had none.
    pub to_make: Vec<Range<u64>>,
    /// The point after the largest one that has a row.
    end: u64,
    is_in_order: bool,
    /// Mappings that the record has.
    mappings: Mappings,
    /// Kind of place that the command writes to.
    output: &'static str,
    /// Sign of life in the file, as long as rows are made.
    _pulse: Pulse,
}

impl RowFile {
    /// Opens the file at `path`, which has rows of `manifest` below `header`, for this process alone, with a writer at
    /// the end of its whole rows. Rows are kept unless `restart`; damaged ones are named in a note. The record beside
    /// it is written if there is none yet, and with the present writer before rows are added to a part.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written, if another process writes to it, or if its rows are not
    /// of this command and these inputs.
    pub(super) fn open(
        path: &Path,
        restart: bool,
        manifest: &Manifest,
        header: &str,
        id: impl Fn(u64) -> String,
    ) -> Result<(Self, BufWriter<File>), Failure> {
        let file = open(path)?;
        OutputFile::tidy(path);
        let (found, mappings) = match restart {
            true => (Found::default(), Mappings::default()),
            false => known(path, &file, header, manifest, id)?,
        };
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        let points = manifest.points();
        let (pulse, to_make) = (Pulse::start(&file), found.missing(&points));
        let out = if found.is_nothing() {
            file.set_len(0).map_err(failure)?;
            manifest.write_beside(path)?;
            begin(file, header)
        } else {
            if manifest.has_writer() && !to_make.is_empty() {
                manifest.clone().with_mappings(mappings.clone()).write_beside(path)?;
            }
            cut(file, found.length)
        };
        note_damage(path, &found);
        let rows = Self {
            path: path.into(),
            header: header.into(),
            n_points: points.end - points.start,
            points,
            n_held: found.n_rows(),
            to_make,
            end: found.end(),
            is_in_order: found.is_in_order(),
            mappings: if found.is_nothing() { Mappings::default() } else { mappings },
            output: manifest.output(),
            _pulse: pulse,
        };
        Ok((rows, out.map_err(failure)?))
    }

    /// Notes that the row of `point` comes next.
    pub(super) fn note(&mut self, point: u64) {
        self.is_in_order &= point >= self.end;
        self.end = self.end.max(point + 1);
    }

    /// Adds mappings to the record, before rows with them are written: whatever happens then, the record has those of
    /// every row.
    ///
    /// # Errors
    ///
    /// Returns a failure if rows have other mappings, or if the record cannot be written.
    pub(super) fn record_mappings(&mut self, chosen: &ChosenMappings) -> Result<(), Failure> {
        let (path, new) = (&self.path, Mappings::of(chosen));
        if let Some(difference) = new.difference(&self.mappings) {
            return Err(refusal(path, &difference, self.output));
        }
        if !self.mappings.merge(&new) {
            return Ok(());
        }
        // It repeats all values, so that it is not kept in memory.
        let Some(manifest) = Manifest::beside(path)? else {
            refuse!("{} is no longer there", place(path).display());
        };
        manifest.with_mappings(self.mappings.clone()).write_beside(path)
    }

    /// The failure to write a row.
    pub(super) fn failure(&self, error: &io::Error) -> Failure {
        Failure::Output(format!(
            "cannot write {}: {error}; whole rows are kept, and the same command continues after them",
            self.path.display()
        ))
    }

    /// Puts the rows in the order of the points. `file` is the one that the rows were added to.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be written. Its rows stay.
    pub(super) fn put_in_order(
        &self,
        file: &File,
        id: impl Fn(u64) -> String,
    ) -> Result<(), Failure> {
        if self.is_in_order {
            return Ok(());
        }
        let found = reader(file)
            .and_then(|reader| find(reader, &self.header, &self.points, id))
            .map_err(|error| Failure::Argument(format!("{}: {error}", self.path.display())))?;
        put_in_order(file, &found, &self.header, &self.path)
    }
}

/// Rows that `file`, at `path`, has of `manifest`, and the mappings of the record beside it.
///
/// # Errors
///
/// Returns a failure if the file is not that of `manifest`.
fn known(
    path: &Path,
    file: &File,
    header: &str,
    manifest: &Manifest,
    id: impl Fn(u64) -> String,
) -> Result<(Found, Mappings), Failure> {
    let refuse = |reason: String| refusal(path, &reason, manifest.output());
    if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Ok(Default::default());
    }
    let Some(earlier) = Manifest::beside(path)? else {
        return Err(refuse(format!("it is not the file of a {}", manifest.command())));
    };
    if let Some(difference) = manifest.difference(&earlier).or_else(|| earlier.refusal()) {
        // A file without rows can be overwritten.
        return if has_no_row(file) { Ok(Default::default()) } else { Err(refuse(difference)) };
    }
    let found = reader(file).and_then(|reader| find(reader, header, &manifest.points(), id));
    Ok((found.map_err(|error| refuse(error.to_string()))?, earlier.mappings()))
}

/// The failure to continue the file at `path`.
fn refusal(path: &Path, reason: &str, output: &str) -> Failure {
    Failure::Argument(format!(
        "{} cannot be continued: {reason}; --restart begins it again, --out names another {output}",
        path.display()
    ))
}

/// Whether `file` has nothing after its first line.
fn has_no_row(file: &File) -> bool {
    let Ok(reader) = reader(file) else { return false };
    let mut lines = Lines::new(reader);
    matches!(lines.next_line(), Ok(Line::Whole(_))) && matches!(lines.next_line(), Ok(Line::End))
}

/// Prints a note on damaged lines.
fn note_damage(path: &Path, found: &Found) {
    let path = path.display();
    let first = found.first_damaged;
    match found.damaged {
        0 => {}
        1 => say(format_args!("note: {path}:{first}: a damaged row is made again")),
        n => say(format_args!(
            "note: {path}:{first}: {n} damaged rows, from here on, are made again"
        )),
    }
}

/// Opens the file at `path` for this process alone. The file is made if it does not exist.
///
/// # Errors
///
/// Returns a failure if the file cannot be written, or if another process writes to it.
fn open(path: &Path) -> Result<File, Failure> {
    let failure = |error: io::Error| Failure::writing(&path.display(), &error);
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(failure(io::Error::other("not a file, which a command could continue")));
    }
    for _ in 0..ATTEMPTS {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(failure)?;
        if !lock::take(&file, path) {
            break;
        }
        // Otherwise the process that had locked it put another file in its place.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(lock::taken(path, "command"))
}

/// Whether the file at `path` is this one.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        file.metadata().ok().map(place) == path.metadata().ok().map(place)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// A reader of `file` from its beginning.
fn reader(mut file: &File) -> io::Result<impl BufRead + use<'_>> {
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Removes everything after `length` bytes of `file`, to continue there.
///
/// # Errors
///
/// The error of the system.
fn cut(mut file: File, length: u64) -> io::Result<BufWriter<File>> {
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

/// Empties `file` and writes `header`.
///
/// # Errors
///
/// The error of the system.
fn begin(file: File, header: &str) -> io::Result<BufWriter<File>> {
    let mut file = cut(file, 0)?;
    file.write_all(header.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Replaces the file at `path` by one with the rows of `file`, which `found` describes, in the order of
/// the points.
///
/// # Errors
///
/// Returns a failure if the file cannot be written. The rows of `file` stay.
fn put_in_order(mut file: &File, found: &Found, header: &str, path: &Path) -> Result<(), Failure> {
    let ordered = OutputFile::create(path)?.with(|ordered| {
        ordered.write_all(header.as_bytes())?;
        found.in_order().into_iter().try_for_each(|run| {
            file.seek(SeekFrom::Start(run.bytes.start))?;
            let mut rows = file.take(run.bytes.end - run.bytes.start);
            io::copy(&mut rows, ordered).map(drop)
        })
    });
    ordered?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "point,id,score,check\n";

    fn id(point: u64) -> String {
        format!("id{point}")
    }

    /// Contents of `text` as the file of the points 10 to 12.
    fn found(text: &[u8]) -> Result<Found, String> {
        find(text, HEADER, &(10..13), id).map_err(|error| error.to_string())
    }

    /// A row with its checksum.
    fn row(cells: &str) -> String {
        let check = RowCheck::below(HEADER.as_bytes());
        format!("{cells},{}\n", check.digits(format!("{cells},").as_bytes()))
    }

    fn rows() -> [String; 3] {
        ["10,id10,0.1", "11,id11,0.2", "12,id12,0.3"].map(row)
    }

    #[test]
    fn a_file_that_ends_anywhere_continues_after_its_last_whole_row() {
        let text = format!("{HEADER}{}", rows().concat());
        let length = rows()[0].len();
        for end in 0..=text.len() {
            let n_rows = end.saturating_sub(HEADER.len()) / length;
            let found = found(&text.as_bytes()[..end]).expect("it is a file of the sweep");
            assert_eq!(found.n_rows(), n_rows as u64, "{end}");
            assert!(found.is_in_order());
            let whole = if end < HEADER.len() { 0 } else { HEADER.len() + n_rows * length };
            assert_eq!(found.length, whole as u64, "{end}");
            let missing = 10 + n_rows as u64..13;
            let missing = if missing.is_empty() { vec![] } else { vec![missing] };
            assert_eq!(found.missing(&(10..13)), missing, "{end}");
        }
    }

    #[test]
    fn damaged_rows_are_missing_and_the_others_are_kept() {
        let text = format!("{HEADER}{}", rows().concat());
        let length = rows()[0].len();
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let found = found(&bytes).expect("it is a file of the sweep");
            let row = (at + 1).saturating_sub(HEADER.len() + 1) / length;
            match at.checked_sub(HEADER.len()) {
                // Without its line end, the header hides the first row.
                None if at + 1 == HEADER.len() => assert_eq!(found.n_rows(), 2),
                None => assert_eq!((found.n_rows(), found.first_damaged), (3, 1)),
                Some(at) if at % length == length - 1 => assert_eq!(found.n_rows(), 1),
                Some(_) => assert_eq!(found.n_rows(), 2, "{at}, row {row}"),
            }
            assert!(!found.is_in_order());
        }
    }

    #[test]
    fn rows_in_any_order_are_found_and_put_in_order() {
        let [ten, eleven, twelve] = rows();
        let text = format!("{HEADER}{twelve}{ten}junk\n{eleven}");
        let found = found(text.as_bytes()).expect("it is a file of the sweep");
        assert_eq!((found.n_rows(), found.damaged, found.first_damaged), (3, 1, 4));
        assert!(found.missing(&(10..13)).is_empty());
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, &text).expect("it can be written");
        let file = open(&path).expect("it can be opened");
        put_in_order(&file, &found, HEADER, &path).expect("it can be written");
        let ordered = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(ordered, format!("{HEADER}{ten}{eleven}{twelve}"));
    }

    #[test]
    fn other_files_are_not_taken_for_rows() {
        let other = Err("its first line is not the one that this command writes".to_string());
        assert_eq!(found(b"important\n"), other);
        assert_eq!(found(b"imp"), other);
        let refused = |text: &str| found(format!("{HEADER}{text}").as_bytes()).unwrap_err();
        let message = "line 2 is the row of another command or of other inputs";
        assert_eq!(refused(&row("10,id11,0.1")), message);
        assert_eq!(refused(&row("13,id13,0.1")), message);
        assert_eq!(refused(&row(",id10,0.1")), message);
        assert_eq!(
            refused(&[row("10,id10,0.1"), row("10,id10,0.2")].concat()),
            "point 10 has two rows"
        );
        let endless = "x".repeat(1 << 21);
        assert_eq!(refused(&endless), "a row is longer than 1 MiB");
    }

    #[test]
    fn zeros_that_a_crash_left_after_the_last_row_are_cut_off() {
        let first = row("10,id10,0.1");
        let mut text = format!("{HEADER}{first}").into_bytes();
        text.extend([0; 100]);
        let found = found(&text).expect("it is a file of the sweep");
        assert_eq!(found.length, (HEADER.len() + first.len()) as u64);
        assert_eq!(found.missing(&(10..13)), vec![11..13; 1]);
    }
}

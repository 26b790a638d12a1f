//! Journal of a search: every run that was made, so that the same command goes on after an interruption, and
//! so that parts of a search can be joined.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xrsim_results::rows::RowCheck;
use xrsim_search::FreshRuns;

use super::super::build::Build;
use super::super::journal::Pulse;
use super::super::lock;
use super::super::mappings::Mappings;
use super::super::message::{Failure, say};

/// Name of the journal in a folder.
pub(in super::super) const NAME: &str = "journal.csv";

/// An open journal.
pub(super) struct Journal {
    path: PathBuf,
    out: BufWriter<File>,
    check: RowCheck,
    known: Known,
    /// Lives as long as runs are made.
    _pulse: Pulse,
}

impl Journal {
    /// Opens the journal in `folder` of the search with this `identity`, for this process alone, and
    /// reads the runs in it. A damaged row is made again.
    ///
    /// # Errors
    ///
    /// Returns a failure if another search is writing to it, or if it is that of another search and not
    /// to be begun again.
    pub(super) fn open(
        folder: &Path,
        identity: &str,
        restart: bool,
    ) -> Result<(Self, Vec<FreshRuns>), Failure> {
        let path = folder.join(NAME);
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        let options =
            File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = options.map_err(failure)?;
        if !lock::take(&file, &path) {
            return Err(lock::taken(&path, "search"));
        }
        let header = header(identity);
        let check = RowCheck::below(header.as_bytes());
        let (runs, known, length) = match restart {
            true => (Vec::new(), Known::new(&path), 0),
            false => read(&file, &path, &header, &check)?,
        };
        file.set_len(length).map_err(failure)?;
        let mut file = file;
        file.seek(SeekFrom::End(0)).map_err(failure)?;
        let pulse = Pulse::start(&file);
        let mut out = BufWriter::with_capacity(1 << 16, file);
        if length == 0 {
            out.write_all(header.as_bytes()).and_then(|()| out.flush()).map_err(failure)?;
        }
        Ok((Self { path, out, check, known, _pulse: pulse }, runs))
    }

    /// Adds the mappings of the accelerator types, before runs with them.
    ///
    /// # Errors
    ///
    /// Returns a failure if runs have other mappings, or if they cannot be written.
    pub(super) fn record_mappings(&mut self, mappings: &Mappings) -> Result<(), Failure> {
        if let Some(reason) = self.known.difference(mappings) {
            refuse!("{} cannot be continued: {reason}; {AGAIN}", self.path.display());
        }
        if self.known.add(mappings) {
            let lines: String = mappings.each().map(|it| mapping_line(&it, &self.check)).collect();
            let written = self.out.write_all(lines.as_bytes()).and_then(|()| self.out.flush());
            written.map_err(|error| Failure::writing(&self.path.display(), &error))?;
        }
        Ok(())
    }

    /// Adds runs.
    ///
    /// # Errors
    ///
    /// Returns a failure if they cannot be written.
    pub(super) fn add(&mut self, runs: &[FreshRuns]) -> Result<(), Failure> {
        let lines: String = runs.iter().map(|it| line(it, &self.check)).collect();
        let written = self.out.write_all(lines.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(|error| Failure::writing(&self.path.display(), &error))
    }
}

/// Mappings of the runs of a journal.
pub(super) struct Known {
    path: PathBuf,
    mappings: Mappings,
    has_runs: bool,
}

impl Known {
    fn new(path: &Path) -> Self {
        Self { path: path.into(), mappings: Mappings::default(), has_runs: false }
    }

    /// Refuses a part with runs that have other mappings than these.
    ///
    /// # Errors
    ///
    /// Returns a failure that names an accelerator.
    pub(super) fn check(&self, mappings: &Mappings) -> Result<(), Failure> {
        let refuse =
            |reason: String| Failure::Argument(format!("{}: {reason}", self.path.display()));
        self.difference(mappings).map_or(Ok(()), |reason| Err(refuse(reason)))
    }

    /// How the mappings of the runs differ from these, in words.
    fn difference(&self, mappings: &Mappings) -> Option<String> {
        if !self.has_runs {
            return None;
        }
        let is_old = self.mappings.is_empty() && !mappings.is_empty();
        let old = || "it has no digests of mappings: an earlier build made it".to_string();
        is_old.then(old).or_else(|| mappings.difference(&self.mappings))
    }

    /// Adds mappings. Those of another version had no runs.
    fn add(&mut self, mappings: &Mappings) -> bool {
        if !mappings.is_of_version_of(&self.mappings) {
            self.mappings = Mappings::default();
        }
        self.mappings.merge(mappings)
    }
}

/// Advice where a search cannot go on in its folder.
const AGAIN: &str = "--restart begins it again, --out names another folder";

/// Runs in the journals of other folders, which must be those of the same search, and their mappings.
///
/// # Errors
///
/// Returns a failure if one cannot be read or is that of another search.
pub(super) fn joined(
    folders: &[PathBuf],
    identity: &str,
) -> Result<(Vec<FreshRuns>, Vec<Known>), Failure> {
    let header = header(identity);
    let check = RowCheck::below(header.as_bytes());
    let (mut all, mut all_known) = (Vec::new(), Vec::new());
    for folder in folders {
        let path = folder.join(NAME);
        let unreadable = |error: io::Error| {
            Failure::Argument(format!("cannot read {}: {error}", path.display()))
        };
        let file = File::open(&path).map_err(unreadable)?;
        let (runs, known, length) = read(&file, &path, &header, &check)?;
        if length == 0 {
            refuse!("{}: no journal of a search", path.display());
        }
        all.extend(runs);
        all_known.push(known);
    }
    Ok((all, all_known))
}

/// First words of a journal; version and identity of the search follow.
pub(in super::super) const FIRST_WORDS: &str = "xrsim search ";

fn header(identity: &str) -> String {
    format!("{FIRST_WORDS}{} {identity}\n", Build::own().word())
}

/// How the build of a first line differs from this one, in words; `None` if all else differs too.
fn other_build(line: &[u8], header: &str) -> Option<String> {
    let parts = |line: &str| {
        let (build, identity) = line.strip_prefix(FIRST_WORDS)?.split_once(' ')?;
        Some((Build::parse(build), identity.to_string()))
    };
    let (other, identity) = parts(std::str::from_utf8(line).ok()?)?;
    let (own, own_identity) = parts(header)?;
    (identity == own_identity).then(|| own.difference(&other)).flatten()
}

/// The runs of a journal, their mappings, and the length of its whole lines; 0 for an empty file.
fn read(
    file: &File,
    path: &Path,
    header: &str,
    check: &RowCheck,
) -> Result<(Vec<FreshRuns>, Known, u64), Failure> {
    let failure = |error: io::Error| Failure::Argument(format!("{}: {error}", path.display()));
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut text = Vec::new();
    // A first line of another file may have no end.
    let mut next = |text: &mut Vec<u8>| {
        text.clear();
        io::Read::take(&mut input, MAX_LINE).read_until(b'\n', text).map_err(failure)
    };
    next(&mut text)?;
    if header.as_bytes().starts_with(&text) && text != header.as_bytes() {
        return Ok((Vec::new(), Known::new(path), 0));
    }
    if text != header.as_bytes() {
        if let Some(difference) = other_build(&text, header) {
            refuse!("{} cannot be continued: {difference}; {AGAIN}", path.display());
        }
        refuse!(
            "{} cannot be continued: it is the journal of another search, of other inputs or of another \
             version; {AGAIN}",
            path.display()
        );
    }
    let (mut runs, mut known) = (Vec::new(), Known::new(path));
    let (mut length, mut n_damaged) = (text.len() as u64, 0u64);
    loop {
        let n = next(&mut text)?;
        if n == 0 || text.last() != Some(&b'\n') {
            break;
        }
        length += n as u64;
        match check.holds(&text).then(|| Line::parse(&text)).flatten() {
            Some(Line::Runs(found)) => runs.push(found),
            Some(Line::Mappings(found)) => {
                known.add(&found);
            }
            None => n_damaged += 1,
        }
    }
    known.has_runs = !runs.is_empty();
    if n_damaged > 0 {
        say(format_args!("note: {}: {n_damaged} damaged rows are made again", path.display()));
    }
    Ok((runs, known, length))
}

/// A whole line below the first one.
enum Line {
    Runs(FreshRuns),
    /// Mappings of an accelerator.
    Mappings(Mappings),
}

/// First word of a line with mappings.
const MAPPINGS: &str = "mappings ";

impl Line {
    fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?;
        let Some(mappings) = text.strip_prefix(MAPPINGS) else {
            return parse(line).map(Self::Runs);
        };
        let (mappings, _) = mappings.rsplit_once(',')?;
        serde_json::from_str(mappings).ok().map(Self::Mappings)
    }
}

/// Numbers of runs, of mappings and of other lines of a journal without its first line and whatever its checks are; for
/// tests of the reader.
pub fn journal_lines(bytes: &[u8]) -> [usize; 3] {
    let mut counts = [0; 3];
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        counts[match Line::parse(line) {
            Some(Line::Runs(_)) => 0,
            Some(Line::Mappings(_)) => 1,
            None => 2,
        }] += 1;
    }
    counts
}

fn mapping_line(mappings: &Mappings, check: &RowCheck) -> String {
    let text = serde_json::to_string(mappings).expect("strings serialise");
    let cells = format!("{MAPPINGS}{text},");
    let digits = check.digits(cells.as_bytes());
    format!("{cells}{digits}\n")
}

/// Longest line \[byte\].
const MAX_LINE: u64 = 1 << 16;

fn line(runs: &FreshRuns, check: &RowCheck) -> String {
    let members: Vec<_> = runs.members.iter().map(u32::to_string).collect();
    let sums: Vec<_> = runs.sums.iter().map(|sum| format!("{:016x}", sum.to_bits())).collect();
    let (from, until) = runs.draws;
    let cells = format!(
        "{},{},{},{from},{until},{},",
        members.join("+"),
        runs.scenario,
        runs.scheduler,
        sums.join("+")
    );
    let digits = check.digits(cells.as_bytes());
    format!("{cells}{digits}\n")
}

fn parse(line: &[u8]) -> Option<FreshRuns> {
    let text = std::str::from_utf8(line).ok()?;
    let mut cells = text.split(',');
    let mut cell = || cells.next();
    let members = cell()?.split('+').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let scenario = cell()?.parse().ok()?;
    let scheduler = cell()?.parse().ok()?;
    let draws = (cell()?.parse().ok()?, cell()?.parse().ok()?);
    let bits = |it: &str| u64::from_str_radix(it, 16).ok().map(f64::from_bits);
    let sums = cell()?.split('+').map(bits).collect::<Option<_>>()?;
    Some(FreshRuns { members, scenario, scheduler, draws, sums })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(n: u32) -> FreshRuns {
        FreshRuns {
            members: vec![n, n + 1],
            scenario: 1,
            scheduler: 2,
            draws: (4, 8),
            sums: vec![0.1 * f64::from(n), -0.0, f64::MIN_POSITIVE],
        }
    }

    #[test]
    fn a_journal_continues_after_its_last_whole_row() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (mut journal, found) = Journal::open(folder.path(), "a", false).expect("it is new");
        assert!(found.is_empty());
        journal.add(&[runs(1), runs(2)]).expect("it is written");
        drop(journal);
        let path = folder.path().join(NAME);
        let mut bytes = std::fs::read(&path).expect("it is there");
        bytes.truncate(bytes.len() - 3);
        std::fs::write(&path, &bytes).expect("it can be written");
        let (mut journal, found) = Journal::open(folder.path(), "a", false).expect("it goes on");
        assert_eq!(found, [runs(1)]);
        journal.add(&[runs(3)]).expect("it is written");
        drop(journal);
        let (journal, found) = Journal::open(folder.path(), "a", false).expect("it goes on");
        assert_eq!(found, [runs(1), runs(3)]);
        drop(journal);
        assert!(Journal::open(folder.path(), "b", false).is_err());
        let (_, found) = Journal::open(folder.path(), "b", true).expect("it begins again");
        assert!(found.is_empty());
    }

    #[test]
    fn a_changed_byte_loses_its_row_only() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let (mut journal, _) = Journal::open(folder.path(), "a", false).expect("it is new");
        journal.add(&[runs(1), runs(2)]).expect("it is written");
        drop(journal);
        let path = folder.path().join(NAME);
        let good = std::fs::read(&path).expect("it is there");
        let start = good.iter().position(|byte| *byte == b'\n').expect("it has lines") + 1;
        for at in (start..good.len()).step_by(9) {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).expect("it can be written");
            let (found, _) = joined(&[folder.path().into()], "a").expect("it is a journal");
            assert!(found.iter().all(|it| *it == runs(1) || *it == runs(2)), "{at}");
            assert!(found.len() < 2, "{at}");
        }
    }
}

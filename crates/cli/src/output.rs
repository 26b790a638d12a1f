//! Output files. They are written under another name and renamed when complete, so that no run leaves half
//! a file and no failed run replaces a good one.

mod part;
mod set;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use xrsim_model::text;

use super::console::Stream;
use super::message::Failure;
use super::progress::out_of_the_way;
use super::table_style;
use xrsim_model::digest::Digest;
use xrsim_report::table;

use part::Part;
pub(super) use set::OutputSet;

/// A file that gets its name when it is complete.
pub(super) struct OutputFile {
    path: PathBuf,
    out: BufWriter<Target>,
}

/// Destination of the bytes.
struct Target {
    sink: Sink,
    /// Digest of the bytes, for files of a set.
    digest: Option<Digest>,
}

enum Sink {
    /// A file beside the destination, renamed in the end. Links are followed and stay links.
    Aside(Part),
    /// A device or a pipe, which is written to and not replaced.
    Direct(File),
}

/// A file that is complete but does not have its name yet.
pub(super) struct Complete {
    path: PathBuf,
    target: Target,
}

impl OutputFile {
    /// Starts the file `path`. Its folder must exist.
    ///
    /// # Errors
    ///
    /// Returns a failure if the folder cannot be written to, or if `path` is a folder.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        Self::open(path, beside, None)
    }

    /// Starts a file of a set. It is kept in `folder` until the set is complete.
    fn staged(path: &Path, folder: &Path) -> Result<Self, Failure> {
        Self::open(path, |place| set::staging(place, folder), Some(Digest::default()))
    }

    /// Removes the part files that killed writers of `path` left beside it.
    pub(super) fn tidy(path: &Path) {
        let place = fs::canonicalize(path).unwrap_or(path.into());
        part::remove_abandoned(&beside(&place));
    }

    fn open(
        path: &Path,
        folder: impl Fn(&Path) -> PathBuf,
        digest: Option<Digest>,
    ) -> Result<Self, Failure> {
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        if path.is_dir() {
            return Err(failure(io::Error::other("is a directory")));
        }
        let sink = Sink::open(path, folder).map_err(failure)?;
        let target = Target { sink, digest };
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(1 << 16, target) })
    }

    /// Adds the content that `write` writes.
    ///
    /// # Errors
    ///
    /// Returns a failure if it cannot be written.
    pub(super) fn with(
        mut self,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Self, Failure> {
        match write(&mut self) {
            Ok(()) => Ok(self),
            Err(error) => Err(Failure::writing(&self.path.display(), &error)),
        }
    }

    /// Completes the file and renames it; an older file is replaced.
    ///
    /// # Errors
    ///
    /// Returns a failure if the rest cannot be written, or if the file cannot be renamed.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.complete()?.rename()
    }

    /// Writes the rest of the file.
    ///
    /// # Errors
    ///
    /// Returns a failure if the rest cannot be written.
    pub(super) fn complete(self) -> Result<Complete, Failure> {
        let path = self.path;
        match self.out.into_inner() {
            Ok(target) => Ok(Complete { path, target }),
            Err(error) => Err(Failure::writing(&path.display(), &error.into_error())),
        }
    }
}

/// Returns the folder of a file.
fn beside(place: &Path) -> PathBuf {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).into()
}

impl Complete {
    /// Makes the folder of the file, and checks that no folder has its name.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be there.
    fn make_way(&self) -> Result<(), Failure> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_folder(folder)?;
        }
        match self.path.is_dir() {
            true => Err(self.failure(io::Error::other("is a directory"))),
            false => Ok(()),
        }
    }

    /// Renames the file; an older file is replaced.
    ///
    /// # Errors
    ///
    /// Returns a failure if the file cannot be renamed.
    pub(super) fn rename(self) -> Result<(), Failure> {
        let path = self.path;
        match self.target.sink {
            Sink::Aside(part) => {
                part.persist().map_err(|error| Failure::writing(&path.display(), &error))
            }
            Sink::Direct(_) => Ok(()),
        }
    }

    /// Returns length and SHA-256 of a file of a set.
    fn digest(&self) -> (u64, String) {
        let digest = self.target.digest.clone().unwrap_or_default();
        (digest.bytes(), digest.hex())
    }

    fn failure(&self, error: io::Error) -> Failure {
        Failure::writing(&self.path.display(), &error)
    }
}

impl Sink {
    fn open(path: &Path, folder: impl Fn(&Path) -> PathBuf) -> io::Result<Self> {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return File::options().write(true).open(path).map(Self::Direct);
        }
        let place = fs::canonicalize(path).unwrap_or(path.into());
        Part::create(&folder(&place), place).map(Self::Aside)
    }

    fn file(&mut self) -> &mut dyn io::Write {
        match self {
            Self::Aside(part) => part.file(),
            Self::Direct(file) => file,
        }
    }
}

impl io::Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.file().write(bytes)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&bytes[..written]);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.file().flush()
    }
}

impl io::Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Creates `folder` and its parents.
///
/// # Errors
///
/// Returns a failure if they cannot be created, e.g. because a file has the name.
pub(super) fn create_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_file() {
        refuse!("{} is a file; a folder is needed here", folder.display());
    }
    fs::create_dir_all(folder).map_err(|error| Failure::writing(&folder.display(), &error))
}

/// Writes `text` to `path`.
///
/// # Errors
///
/// Returns a failure as [`OutputFile::create`] and [`OutputFile::finish`] do.
pub(super) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    OutputFile::create(path)?.with(|out| out.write_all(text.as_bytes()))?.finish()
}

/// Writes a table, header first, to `path` as CSV.
///
/// # Errors
///
/// Returns a failure as [`OutputFile::create`] and [`OutputFile::finish`] do.
pub(super) fn write_csv(
    path: &Path,
    table: (Vec<String>, Vec<Vec<String>>),
) -> Result<(), Failure> {
    write_csv_to(OutputFile::create(path)?, table)?.finish()
}

/// Writes a table, header first, to `file` as CSV.
///
/// # Errors
///
/// Returns a failure if the table cannot be written.
pub(super) fn write_csv_to(
    file: OutputFile,
    (header, rows): (Vec<String>, Vec<Vec<String>>),
) -> Result<OutputFile, Failure> {
    let path = file.path.clone();
    let mut table = csv::Writer::from_writer(file);
    let failure = |error: &dyn fmt::Display| {
        Failure::writing(&path.display(), &io::Error::other(error.to_string()))
    };
    let mut records = std::iter::once(&header).chain(&rows);
    records.try_for_each(|record| table.write_record(record)).map_err(|error| failure(&error))?;
    table.into_inner().map_err(|error| failure(error.error()))
}

/// Formats a table, header first, as CSV. Cells are quoted where necessary.
pub(super) fn csv_text(header: &[impl AsRef<str>], rows: &[Vec<String>]) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    let written = "writing to memory cannot fail, and all rows are as long as the header";
    table.write_record(header.iter().map(AsRef::as_ref)).expect(written);
    rows.iter().for_each(|row| table.write_record(row).expect(written));
    String::from_utf8(table.into_inner().expect(written)).expect("cells are text")
}

/// Text that `write` writes.
pub(super) fn in_memory<E: fmt::Debug>(
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> String {
    let mut text = Vec::new();
    write(&mut text).expect("writing to memory cannot fail");
    String::from_utf8(text).expect("cells are UTF-8")
}

/// Formats a table for people. The first `n_text` columns are left-aligned.
pub(super) fn table_text<R>(
    header: &[impl AsRef<str>],
    rows: impl IntoIterator<Item = R>,
    n_text: usize,
) -> String
where
    R: IntoIterator<Item: fmt::Display>,
{
    let header: Vec<_> = header.iter().map(AsRef::as_ref).collect();
    let mut table = table::new_table(table_style(), &header, n_text);
    for row in rows {
        table.add_row(row.into_iter().map(|cell| cell.to_string()));
    }
    table::render(&table)
}

/// Returns the members of an object that `json!` made.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Prints a document on standard output.
///
/// # Errors
///
/// Returns a failure as [`print`] does.
pub(super) fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document);
    print(&(text.expect("strings and numbers serialise") + "\n"))
}

/// Prints `text` for a person on standard output. Escape sequences are written out, except for the bold
/// type of tables. Documents for programs are printed by [`print`].
///
/// # Errors
///
/// Returns a failure as [`print`] does.
pub(super) fn print_text(text: &str) -> Result<(), Failure> {
    print(&Stream::Out.fitted(&text::shown_styled(text)))
}

/// Prints `text` on standard output unchanged.
///
/// # Errors
///
/// Returns a failure if standard output is closed or full.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let write = || Stream::Out.write_all(text.as_bytes()).and_then(|()| Stream::Out.flush());
    out_of_the_way(write).map_err(|error| Failure::writing(&"standard output", &error))
}

//! Output files: written aside, renamed when complete, so that no run leaves half a file and no
//! failed run replaces a good one.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::console::Stream;
use super::message::Failure;
use super::progress::out_of_the_way;

/// A file that appears under its name only when complete.
pub struct OutputFile {
    path: PathBuf,
    out: BufWriter<Target>,
}

/// Where the bytes go.
enum Target {
    /// Into a file beside `place`, renamed in the end. Links are followed first and stay links.
    Aside { file: NamedTempFile, place: PathBuf },
    /// Straight in: a device or a pipe is written to, not replaced.
    Direct(File),
}

impl OutputFile {
    /// Starts a file that will be `path`; its folder must exist.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written to or `path` is a folder.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        if path.is_dir() {
            return Err(failure(io::Error::other("is a directory")));
        }
        let target = Target::open(path).map_err(failure)?;
        Ok(Self { path: path.into(), out: BufWriter::with_capacity(1 << 16, target) })
    }

    /// Puts the file in its place, replacing an older one.
    ///
    /// # Errors
    ///
    /// If the rest cannot be written or the file cannot be renamed.
    pub fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        let failure = |error: io::Error| Failure::writing(&path.display(), &error);
        match self.out.into_inner().map_err(|error| failure(error.into_error()))? {
            Target::Aside { file, place } => {
                file.persist(place).map(drop).map_err(|error| failure(error.error))
            }
            Target::Direct(_) => Ok(()),
        }
    }
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return File::options().write(true).open(path).map(Self::Direct);
        }
        let place = fs::canonicalize(path).unwrap_or(path.into());
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = builder().tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self::Aside { file, place })
    }
}

impl io::Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Aside { file, .. } => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Aside { file, .. } => file.flush(),
            Self::Direct(file) => file.flush(),
        }
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

/// A builder whose files have the permissions of any file that a program creates (temporary files
/// are private otherwise); the user's umask applies.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".xrsim-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Creates `folder` and its parents.
///
/// # Errors
///
/// If that is impossible, e.g. because a file is in the way.
pub fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::writing(&folder.display(), &error))
}

/// Writes `text` to `path` in one piece.
///
/// # Errors
///
/// As [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::writing(&path.display(), &error))?;
    file.finish()
}

/// Writes a table, header first, to `path` as CSV in one piece.
///
/// # Errors
///
/// As [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_csv(
    path: &Path,
    (header, rows): (Vec<String>, Vec<Vec<String>>),
) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(OutputFile::create(path)?);
    let failure = |error: &dyn fmt::Display| {
        Failure::writing(&path.display(), &io::Error::other(error.to_string()))
    };
    let mut records = std::iter::once(&header).chain(&rows);
    records.try_for_each(|record| table.write_record(record)).map_err(|error| failure(&error))?;
    table.into_inner().map_err(|error| failure(error.error()))?.finish()
}

/// A table, header first, as CSV; cells are quoted where a name needs it.
pub fn csv_text(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    let written = "writing to memory cannot fail, and all rows are as long as the header";
    table.write_record(header).expect(written);
    rows.iter().for_each(|row| table.write_record(row).expect(written));
    String::from_utf8(table.into_inner().expect(written)).expect("cells are text")
}

/// Prints `text` on standard output.
///
/// # Errors
///
/// If it is closed or full.
pub fn print(text: &str) -> Result<(), Failure> {
    let write = || Stream::Out.write_all(text.as_bytes()).and_then(|()| Stream::Out.flush());
    out_of_the_way(write).map_err(|error| Failure::writing(&"standard output", &error))
}

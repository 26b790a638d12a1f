//! The file of a sweep: rows in the order of the points, appended as they come. Whatever stops the
//! program, what is whole in the file is right, and the next start goes on behind it.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::super::message::Failure;

/// Longest line \[byte\].
const MAX_LINE: u64 = 1 << 20;

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// A line with its end.
    Whole(&'l [u8]),
    /// The last line, whose end was not written.
    Torn(&'l [u8]),
    /// The end of the file.
    End,
}

/// Reads the lines of a file of rows.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `input`.
    pub fn of(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// What the reader says, or a line of a length that no row has.
    pub fn next_line(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)?;
        match self.line.last() {
            None => Ok(Line::End),
            Some(b'\n') => Ok(Line::Whole(&self.line)),
            Some(_) if self.line.len() as u64 == MAX_LINE => {
                Err(io::Error::other("a line is longer than any row"))
            }
            Some(_) => Ok(Line::Torn(&self.line)),
        }
    }
}

/// What is whole in a file of a sweep.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// No row: the file is new, or ends before its first.
    Nothing,
    /// The rows of the points up to `next`, in the first `length` bytes.
    Rows {
        /// First point without a row.
        next: u64,
        /// Bytes.
        length: u64,
    },
}

/// Looks through the rows of `points` in `input`, which begin with their place and `id`.
///
/// # Errors
///
/// What the reader says, or that this is another file.
pub fn find(
    input: impl BufRead,
    header: &str,
    points: &Range<u64>,
    id: impl Fn(u64) -> String,
) -> io::Result<Found> {
    let mut lines = Lines::of(input);
    match lines.next_line()? {
        Line::Whole(line) if line == header.as_bytes() => {}
        Line::End => return Ok(Found::Nothing),
        Line::Torn(line) if header.as_bytes().starts_with(line) => return Ok(Found::Nothing),
        _ => return Err(io::Error::other("its first line is not that of this sweep")),
    }
    let (mut next, mut length) = (points.start, header.len() as u64);
    while let Line::Whole(line) = lines.next_line()? {
        let start = format!("{next},{},", id(next));
        if next >= points.end || !line.starts_with(start.as_bytes()) {
            let number = next - points.start + 2;
            return Err(io::Error::other(format!("line {number} is not that of point {next}")));
        }
        next += 1;
        length += line.len() as u64;
    }
    Ok(if next > points.start { Found::Rows { next, length } } else { Found::Nothing })
}

/// Opens the file at `path`, which is made if it is not there, for this process alone.
///
/// # Errors
///
/// If it cannot be written to, or another sweep writes to it.
pub fn open(path: &Path) -> Result<File, Failure> {
    let failure = |error: io::Error| Failure::writing(&path.display(), &error);
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(failure(io::Error::other("not a file, which a sweep could go on with")));
    }
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(failure)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(failure(io::Error::other("another sweep is writing to it")))
        }
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// What is in `file`, from its beginning.
pub fn reader(mut file: &File) -> io::Result<impl BufRead + use<'_>> {
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Cuts `file` off behind its first `length` bytes, to go on there.
///
/// # Errors
///
/// What the system says.
pub fn cut(mut file: File, length: u64) -> io::Result<BufWriter<File>> {
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

/// Begins `file` anew with `header`.
///
/// # Errors
///
/// What the system says.
pub fn begin(file: File, header: &str) -> io::Result<BufWriter<File>> {
    let mut file = cut(file, 0)?;
    file.write_all(header.as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "point,id,score\n";

    fn id(point: u64) -> String {
        format!("id{point}")
    }

    /// What is found in `text`, a file of the points 10 to 12.
    fn found(text: &[u8]) -> Result<Found, String> {
        find(text, HEADER, &(10..13), id).map_err(|error| error.to_string())
    }

    /// The whole file is `header, row of 10, row of 11, row of 12`: 15, 12, 12 and 12 bytes.
    #[test]
    fn a_file_that_ends_anywhere_goes_on_behind_its_last_whole_row() {
        let text = format!("{HEADER}10,id10,0.1\n11,id11,0.2\n12,id12,0.3\n");
        for end in 0..=text.len() {
            let expected = match end {
                0..27 => Found::Nothing,
                27..39 => Found::Rows { next: 11, length: 27 },
                39..51 => Found::Rows { next: 12, length: 39 },
                _ => Found::Rows { next: 13, length: 51 },
            };
            assert_eq!(found(&text.as_bytes()[..end]), Ok(expected), "{end}");
        }
    }

    #[test]
    fn other_files_are_not_taken_for_rows() {
        let other = Err("its first line is not that of this sweep".to_string());
        assert_eq!(found(b"important\n"), other);
        assert_eq!(found(b"imp"), other);
        let row = |text: &str| found(format!("{HEADER}{text}").as_bytes()).unwrap_err();
        assert_eq!(row("10,id11,0.1\n"), "line 2 is not that of point 10");
        assert_eq!(row("10,id10,0.1\n12,id12,0.1\n"), "line 3 is not that of point 11");
        let all = "10,id10,0\n11,id11,0\n12,id12,0\n";
        assert_eq!(row(&format!("{all}13,id13,0\n")), "line 5 is not that of point 13");
        let endless = "x".repeat(MAX_LINE as usize + 1);
        assert_eq!(row(&endless), "a line is longer than any row");
    }

    #[test]
    fn zeros_that_a_crash_left_behind_the_last_row_are_cut_off() {
        let mut text = format!("{HEADER}10,id10,0.1\n").into_bytes();
        text.extend([0; 100]);
        assert_eq!(found(&text), Ok(Found::Rows { next: 11, length: 27 }));
    }
}

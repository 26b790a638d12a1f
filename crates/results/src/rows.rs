//! Lines of a file of rows, and the column of checks, which shows whether a row is unchanged.
//!
//! The last cell of a row, in the column [`CHECK`], is the CRC-32 of the header and of the row up to
//! there, in eight hexadecimal digits. The index of a point is in its row, so that a changed byte, a row
//! of another point, or a row under another header does not pass.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};

use crc32fast::Hasher;

/// The column of checks.
pub const CHECK: &str = "check";

/// Longest row \[byte\], its line ends and quotes included; those of sweeps have a few hundred.
pub const MAX_ROW: usize = 1 << 20;

/// Error for a longer row.
pub fn too_long() -> io::Error {
    io::Error::other(format!("a row is longer than {} MiB", MAX_ROW >> 20))
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'l> {
    /// A line with its end.
    Whole(&'l [u8]),
    /// The last line, if its end was not written.
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
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line.
    ///
    /// # Errors
    ///
    /// The error of the reader, or a line that is longer than any row.
    pub fn next_line(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        self.input.by_ref().take(MAX_ROW as u64).read_until(b'\n', &mut self.line)?;
        match self.line.last() {
            None => Ok(Line::End),
            Some(b'\n') => Ok(Line::Whole(&self.line)),
            Some(_) if self.line.len() == MAX_ROW => Err(too_long()),
            Some(_) => Ok(Line::Torn(&self.line)),
        }
    }
}

/// Makes the checks of the rows of one header.
#[derive(Debug, Clone)]
pub struct RowCheck {
    header: Hasher,
}

impl RowCheck {
    /// The checks below `header`, a line with or without its end.
    pub fn below(header: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(header.trim_ascii_end());
        hasher.update(b"\n");
        Self { header: hasher }
    }

    /// The check of a row: the digits of its cells before the last one, with the comma after them.
    pub fn digits(&self, cells: &[u8]) -> String {
        let mut hasher = self.header.clone();
        hasher.update(cells);
        format!("{:08x}", hasher.finalize())
    }

    /// Whether the last cell of `line`, with or without its end, is the check of the others.
    pub fn holds(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(comma) = line.iter().rposition(|byte| *byte == b',') else { return false };
        let (cells, found) = line.split_at(comma + 1);
        self.digits(cells).as_bytes() == found
    }
}

/// Reads a CSV file and checks each row before it is passed on, if the last column has checks.
pub struct Checked<R> {
    lines: Lines<R>,
    check: Option<RowCheck>,
    /// Number of the current line, from 1; 0 before the first.
    number: u64,
    /// Bytes of the line that were passed on already.
    taken: usize,
    /// Number of rows that passed.
    n_rows: u64,
    /// Points that have rows, if each row has its point first.
    points: Option<HashSet<u64>>,
}

impl<R: BufRead> Checked<R> {
    /// The rows of `input`.
    pub fn new(input: R) -> Self {
        Self { lines: Lines::new(input), check: None, number: 0, taken: 0, n_rows: 0, points: None }
    }

    /// Number of rows so far that passed.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Reads and checks the next line.
    fn advance(&mut self) -> io::Result<()> {
        let wrong = |what: &str| {
            let message = format!("line {}: {what}", self.number + 1);
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        };
        let line = self.lines.next_line()?;
        match (&self.check, line) {
            (Some(_), Line::Torn(_)) => {
                return wrong(
                    "the row ends too soon; run the command that wrote it again to complete it",
                );
            }
            (Some(check), Line::Whole(row)) if !check.holds(row) => {
                return wrong(
                    "the row does not match its `check`; run the command that wrote it again to \
                     replace it",
                );
            }
            (Some(_), Line::Whole(row)) => {
                self.n_rows += 1;
                if let Some(points) = &mut self.points
                    && let Some(point) = point(row)
                    && !points.insert(point)
                {
                    return wrong(&format!(
                        "point {point} has two rows; run the command that wrote the file with --restart"
                    ));
                }
            }
            (None, Line::Whole(header)) if self.number == 0 && has_check(header) => {
                self.check = Some(RowCheck::below(header));
                self.points = header.starts_with(b"point,").then(HashSet::new);
            }
            _ => {}
        }
        self.number += 1;
        self.taken = 0;
        Ok(())
    }
}

/// The point of a row, which is its first cell.
fn point(row: &[u8]) -> Option<u64> {
    let cell = row.split(|byte| *byte == b',').next()?;
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// Whether the last column of a header is that of checks.
fn has_check(header: &[u8]) -> bool {
    header.trim_ascii_end().rsplit(|byte| *byte == b',').next() == Some(CHECK.as_bytes())
}

impl<R: BufRead> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.number > 0 && self.check.is_none() && self.taken == self.lines.line.len() {
            return self.lines.input.read(buffer);
        }
        if self.taken == self.lines.line.len() {
            self.advance()?;
        }
        let mut rest = &self.lines.line[self.taken..];
        let read = rest.read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> String {
        let header = "point,id,score,check";
        let check = RowCheck::below(header.as_bytes());
        let row = |cells: &str| format!("{cells}{}\n", check.digits(cells.as_bytes()));
        format!("{header}\n{}{}", row("0,a,0.5,"), row("1,b,,"))
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Checked::new(bytes).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn every_change_of_a_checked_file_is_found() {
        let file = file();
        assert_eq!(read(file.as_bytes()).unwrap(), file);
        let rows = file.find('\n').unwrap() + 1;
        for at in 0..file.len() {
            for flip in (0..8).map(|bit| 1 << bit) {
                let mut bytes = file.clone().into_bytes();
                bytes[at] ^= flip;
                // Without the name of the column and the comma before it there are no checks.
                let name = rows - 2 - CHECK.len()..rows;
                let is_other_file = name.contains(&at) || bytes[at] == b'\n' && at < rows;
                assert!(is_other_file || read(&bytes).is_err(), "byte {at}, {flip}");
            }
        }
        let mut lines: Vec<&str> = file.lines().collect();
        lines.swap(1, 2);
        assert!(read(lines[..2].join("\n").as_bytes()).is_err(), "a cut line");
    }

    #[test]
    fn a_row_that_stands_twice_is_refused() {
        let file = file();
        let last = file.lines().last().unwrap();
        let error = read(format!("{file}{last}\n").as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 4: point 1 has two rows"), "{error}");
    }

    #[test]
    fn files_without_checks_are_passed_on_unchanged() {
        for text in ["", "a", "a,b\n1,2", "a,check,b\n1,2,3\n4,5,6\n"] {
            assert_eq!(read(text.as_bytes()).unwrap(), text);
        }
        let windows = file().replace('\n', "\r\n");
        assert_eq!(read(windows.as_bytes()).unwrap(), windows);
        let endless = vec![b'x'; MAX_ROW + 1];
        assert!(read(&endless).is_err());
    }
}

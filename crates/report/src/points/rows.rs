//! Rows of a CSV file, each read with bounded memory for any file.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use xrsim_results::rows::{MAX_ROW, too_long};

/// Reads rows, including the header, which must all have the same number of cells.
pub(super) struct Rows<R> {
    reader: csv::Reader<Rationed<R>>,
    row: csv::StringRecord,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Rows<R> {
    /// The rows of `input`.
    pub(super) fn new(input: R) -> Self {
        let left = Rc::new(Cell::new(0));
        let input = Rationed { input, left: Rc::clone(&left) };
        let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(input);
        Self { reader, row: csv::StringRecord::new(), left }
    }

    /// The next row; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The error of the reader: for instance, the row has more cells than the first one, or is too long.
    pub(crate) fn next_row(&mut self) -> csv::Result<Option<&csv::StringRecord>> {
        self.left.set(MAX_ROW);
        let is_row = self.reader.read_record(&mut self.row)?;
        Ok(is_row.then_some(&self.row))
    }
}

/// Passes on at most `left` bytes.
struct Rationed<R> {
    input: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(self.left.get());
        if wanted == 0 && !buffer.is_empty() {
            return Err(too_long());
        }
        let read = self.input.read(&mut buffer[..wanted])?;
        self.left.set(self.left.get() - read);
        Ok(read)
    }
}

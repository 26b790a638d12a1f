//! Fields of protocol-buffer messages, read from a file without holding it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek};

use super::Error;

/// Longest name \[byte\].
pub(super) const MAX_NAME: u64 = 64 << 10;

/// Deepest nesting of graphs. A graph is three messages below the next outer one.
const MAX_DEPTH: u32 = 64;

/// Bytes of a varint, at most.
const MAX_VARINT: u32 = 10;

/// Length of the buffer \[byte\]. What is skipped beyond it is never read.
const BUFFER: usize = 16 << 10;

/// Part of the 64 MiB above the length of a file that its contents may take; the rest is for what is
/// alive beside them \[byte\].
const MEMORY: u64 = 48 << 20;

/// Cost of an allocation beside its contents \[byte\].
const ALLOCATION: usize = 32;

/// Most that is read of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of all contents in memory.
    pub memory: u64,
    /// Nodes of all graphs and functions.
    pub nodes: u64,
}

impl Limits {
    /// Limits for a file of `length` bytes.
    pub(super) fn for_length(length: u64) -> Self {
        Self { memory: length.saturating_add(MEMORY), nodes: 10_000_000 }
    }
}

/// Value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer or truth value.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// A text, a message, or packed numbers: everything up to this byte of the file.
    Until(u64),
}

/// Bytes that are read in parts.
pub(super) trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}

/// Reader of the fields of a file.
pub(super) struct Wire<'s> {
    source: BufReader<&'s mut dyn Source>,
    length: u64,
    at: u64,
    limits: Limits,
    memory: u64,
    nodes: u64,
    depth: u32,
}

/// A number of a repeated field, alone or packed with others.
pub(super) trait Number: Sized {
    /// The number that a field has alone; `None` if the field has another type.
    fn single(value: Value) -> Option<Self>;

    /// Reads a packed number within a field that ends at byte `end`.
    fn packed(wire: &mut Wire<'_>, end: u64) -> Result<Self, Error>;
}

impl Number for i64 {
    fn single(value: Value) -> Option<Self> {
        if let Value::Varint(integer) = value { Some(integer.cast_signed()) } else { None }
    }

    fn packed(wire: &mut Wire<'_>, end: u64) -> Result<Self, Error> {
        wire.varint(end).map(u64::cast_signed)
    }
}

impl Number for f32 {
    fn single(value: Value) -> Option<Self> {
        if let Value::Fixed32(bits) = value { Some(Self::from_bits(bits)) } else { None }
    }

    fn packed(wire: &mut Wire<'_>, end: u64) -> Result<Self, Error> {
        wire.array(end).map(Self::from_le_bytes)
    }
}

impl Number for f64 {
    fn single(value: Value) -> Option<Self> {
        if let Value::Fixed64(bits) = value { Some(Self::from_bits(bits)) } else { None }
    }

    fn packed(wire: &mut Wire<'_>, end: u64) -> Result<Self, Error> {
        wire.array(end).map(Self::from_le_bytes)
    }
}

impl<'s> Wire<'s> {
    /// A reader of `source`, of which it reads `length` bytes.
    pub(super) fn new(source: &'s mut dyn Source, length: u64, limits: Limits) -> Self {
        let source = BufReader::with_capacity(BUFFER, source);
        Self { source, length, at: 0, limits, memory: 0, nodes: 0, depth: 0 }
    }

    /// Number of bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Next byte of the file.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Calls `each` with every field of the message that ends at byte `end`, and skips what `each` leaves
    /// of a field unread.
    pub(super) fn fields(
        &mut self,
        end: u64,
        mut each: impl FnMut(&mut Self, u64, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while self.at < end {
            let (number, value) = self.field(end)?;
            each(self, number, value)?;
            if let Value::Until(end) = value {
                self.skip_to(end)?;
            }
        }
        Ok(())
    }

    /// Calls `body` one graph deeper.
    pub(super) fn deeper<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == MAX_DEPTH {
            let message = format!("subgraphs nest more than {MAX_DEPTH} deep");
            return Err(Error::at(self.at, message));
        }
        self.depth += 1;
        let done = body(self);
        self.depth -= 1;
        done
    }

    /// Counts one more node.
    pub(super) fn count_node(&mut self) -> Result<(), Error> {
        self.nodes += 1;
        if self.nodes > self.limits.nodes {
            let message = format!("more than {} nodes", self.limits.nodes);
            return Err(Error::at(self.at, message));
        }
        Ok(())
    }

    fn field(&mut self, end: u64) -> Result<(u64, Value), Error> {
        let start = self.at;
        let tag = self.varint(end)?;
        let (number, wire_type) = (tag >> 3, tag & 7);
        if number == 0 {
            return Err(Error::at(start, "a field with the number 0"));
        }
        let value = match wire_type {
            0 => Value::Varint(self.varint(end)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array(end)?)),
            2 => Value::Until(self.end_of_field(start, end)?),
            5 => Value::Fixed32(u32::from_le_bytes(self.array(end)?)),
            other => {
                let message = format!("a field of wire type {other}, which ONNX files do not have");
                return Err(Error::at(start, message));
            }
        };
        Ok((number, value))
    }

    /// Reads the length of a field that starts at byte `start`, and returns the byte after the field.
    fn end_of_field(&mut self, start: u64, end: u64) -> Result<u64, Error> {
        let length = self.varint(end)?;
        if let Some(found) = self.at.checked_add(length).filter(|found| *found <= end) {
            return Ok(found);
        }
        let beyond = match end == self.length {
            true => format!("the end of the file of {end} bytes"),
            false => format!("the end of its message at byte {end}"),
        };
        Err(Error::at(start, format!("a field of {length} bytes goes beyond {beyond}")))
    }

    /// Reads a varint within a field that ends at byte `end`.
    fn varint(&mut self, end: u64) -> Result<u64, Error> {
        let start = self.at;
        let mut value = 0;
        for index in 0..MAX_VARINT {
            let [byte] = self.array(end)?;
            // The tenth byte holds one bit of a value of 64 bits.
            value |= u64::from(byte & 0x7f).checked_shl(7 * index).unwrap_or_default();
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::at(start, format!("a varint of more than {MAX_VARINT} bytes")))
    }

    /// Reads `N` bytes within a field that ends at byte `end`.
    fn array<const N: usize>(&mut self, end: u64) -> Result<[u8; N], Error> {
        if end - self.at < N as u64 {
            let message = match end == self.length {
                true => "the file ends within a field",
                false => "a message ends within a field",
            };
            return Err(Error::at(self.at, message));
        }
        let mut bytes = [0; N];
        match self.source.buffer().get(..N) {
            Some(found) => {
                bytes.copy_from_slice(found);
                self.source.consume(N);
            }
            None => self.source.read_exact(&mut bytes).map_err(|error| self.failed(&error))?,
        }
        self.at += N as u64;
        Ok(bytes)
    }

    /// Reads all up to byte `end`. The caller keeps the length small.
    pub(super) fn bytes(&mut self, end: u64) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(end - self.at).unwrap_or(usize::MAX);
        self.charge(length)?;
        let mut bytes = vec![0; length];
        self.source.read_exact(&mut bytes).map_err(|error| self.failed(&error))?;
        self.at = end;
        Ok(bytes)
    }

    /// Reads a name up to byte `end`. Bytes that are not UTF-8 are replaced.
    pub(super) fn name(&mut self, end: u64) -> Result<Box<str>, Error> {
        let length = end - self.at;
        if length > MAX_NAME {
            let message = format!("a name of {length} bytes; names have at most {MAX_NAME}");
            return Err(Error::at(self.at, message));
        }
        let bytes = self.bytes(end)?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes());
                self.charge(text.len())?;
                Ok(text.into())
            }
        }
    }

    /// Appends `item` to `list`.
    pub(super) fn push<T>(&mut self, list: &mut Vec<T>, item: T) -> Result<(), Error> {
        if list.len() == list.capacity() {
            let more = list.len().max(64 / size_of::<T>().max(1)).max(1);
            // While a list grows, its old and its new memory exist.
            self.charge((list.len() + more).saturating_mul(size_of::<T>()))?;
            list.reserve_exact(more);
        }
        list.push(item);
        Ok(())
    }

    /// Appends what `read` finds up to byte `end` to `list`.
    pub(super) fn append<T>(
        &mut self,
        end: u64,
        list: &mut Vec<T>,
        read: impl FnOnce(&mut Self, u64) -> Result<T, Error>,
    ) -> Result<(), Error> {
        let item = read(self, end)?;
        self.push(list, item)
    }

    /// Appends one number, or packed ones, to `list`, until it has more than `most`.
    pub(super) fn numbers<T: Number>(
        &mut self,
        value: Value,
        list: &mut Vec<T>,
        most: usize,
    ) -> Result<(), Error> {
        if let Value::Until(end) = value {
            while self.at < end && list.len() <= most {
                let number = T::packed(self, end)?;
                self.push(list, number)?;
            }
        } else if let Some(number) = T::single(value).filter(|_| list.len() <= most) {
            self.push(list, number)?;
        }
        Ok(())
    }

    /// Memory that contents take by now \[byte\].
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// Counts memory that is free again \[byte\].
    pub(super) fn refund(&mut self, bytes: u64) {
        self.memory = self.memory.saturating_sub(bytes);
    }

    /// Counts memory that is about to be taken.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory = self.memory.saturating_add(bytes.saturating_add(ALLOCATION) as u64);
        if self.memory > self.limits.memory {
            let message = "contents that take more memory than the length of the file and 64 MiB";
            return Err(Error::at(self.at, message));
        }
        Ok(())
    }

    fn skip_to(&mut self, end: u64) -> Result<(), Error> {
        let distance = i64::try_from(end - self.at).unwrap_or(i64::MAX);
        self.source.seek_relative(distance).map_err(|error| self.failed(&error))?;
        self.at = end;
        Ok(())
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        match error.kind() {
            ErrorKind::UnexpectedEof => {
                Error::at(self.at, "the file became shorter while it was read")
            }
            _ => Error::at(self.at, format!("cannot be read: {error}")),
        }
    }
}

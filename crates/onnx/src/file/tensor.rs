//! Tensors (`TensorProto`), with elements only where shapes may depend on them.

use xrsim_model::text::in_line;

use super::super::fact::{Element, Elements};
use super::super::graph::{External, Tensor};
use super::Error;
use super::wire::{Value, Wire};

/// Largest tensor of integers or truth values with elements \[byte\]: shapes, axes, indices, tables.
const MAX_INTEGERS: u64 = 64 << 10;

/// Largest other tensor with elements \[byte\].
const MAX_OTHERS: u64 = 4 << 10;

/// Most axes of a tensor that are kept, and one more. No operator has as many.
const MAX_RANK: usize = 4096;

/// Fields of a tensor. Its type, which says what its data mean, may come after them.
#[derive(Debug, Default)]
pub(super) struct RawTensor {
    name: Box<str>,
    dims: Vec<i64>,
    kind: i32,
    bytes: Option<Vec<u8>>,
    integers: Vec<i64>,
    floats: Vec<f32>,
    doubles: Vec<f64>,
    /// Memory of data that are dropped at the end \[byte\].
    temporary: u64,
    is_external: bool,
    location: Box<str>,
    offset: u64,
    length: Option<u64>,
}

impl RawTensor {
    /// Reads a tensor up to byte `end`, in addition to what was read before.
    pub(super) fn read(&mut self, wire: &mut Wire<'_>, end: u64) -> Result<(), Error> {
        wire.fields(end, |wire, number, value| self.field(wire, number, value))
    }

    fn field(&mut self, wire: &mut Wire<'_>, number: u64, value: Value) -> Result<(), Error> {
        match (number, value) {
            (1, value) => return wire.numbers(value, &mut self.dims, MAX_RANK),
            // Integers of 32 bits are the lower half of what is written.
            (2, Value::Varint(kind)) => self.kind = kind as i32,
            (8, Value::Until(end)) => self.name = wire.name(end)?,
            (13, Value::Until(end)) => return self.external_data(wire, end),
            (14, Value::Varint(place)) => self.is_external = place == 1,
            (4 | 5 | 7 | 9..=11, value) => {
                let before = wire.memory();
                let read = self.data(wire, number, value);
                self.temporary += wire.memory() - before;
                return read;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a field with elements. Its type is zero as long as it is not known.
    fn data(&mut self, wire: &mut Wire<'_>, number: u64, value: Value) -> Result<(), Error> {
        let element = Element(self.kind);
        let bytes = if self.kind == 0 { MAX_INTEGERS } else { largest(element) };
        let most = bytes as usize / width(element).unwrap_or(1);
        match (number, value) {
            (4, value) => wire.numbers(value, &mut self.floats, most),
            (10, value) => wire.numbers(value, &mut self.doubles, most),
            (9, Value::Until(end)) => {
                // What is not read is an empty field, which no tensor with elements has.
                let is_read = end - wire.at() <= bytes;
                self.bytes = Some(if is_read { wire.bytes(end)? } else { Vec::new() });
                Ok(())
            }
            (9, _) => Ok(()),
            (_, value) => wire.numbers(value, &mut self.integers, most),
        }
    }

    /// Reads an entry of `external_data`.
    fn external_data(&mut self, wire: &mut Wire<'_>, end: u64) -> Result<(), Error> {
        let at = wire.at();
        let (mut key, mut value) = (Box::default(), Box::default());
        wire.fields(end, |wire, number, field| {
            match (number, field) {
                (1, Value::Until(end)) => key = wire.name(end)?,
                (2, Value::Until(end)) => value = wire.name(end)?,
                _ => {}
            }
            Ok(())
        })?;
        let number = |value: &str| {
            let wrong = || {
                let value = in_line(value);
                Error::at(at, format!("the {key} `{value}` of external data is no number of bytes"))
            };
            value.trim().parse().map_err(|_| wrong())
        };
        match &*key {
            "location" => self.location = value,
            "offset" => self.offset = number(&value)?,
            "length" => self.length = Some(number(&value)?),
            _ => {}
        }
        Ok(())
    }

    /// The tensor.
    pub(super) fn finish(self, wire: &mut Wire<'_>) -> Result<Tensor, Error> {
        let element = Element(self.kind);
        let count = kept(element, &self.dims).filter(|_| !self.is_external);
        let elements = match count {
            Some(count) => {
                wire.charge(count * size_of::<i64>())?;
                self.elements(element, count)
            }
            None => None,
        };
        wire.refund(self.temporary);
        let external = self.is_external.then_some(External {
            location: self.location,
            offset: self.offset,
            length: self.length,
        });
        Ok(Tensor { name: self.name, element, dims: self.dims, elements, external })
    }

    /// All `count` elements, from the field that has them; `None` if there are more or fewer.
    fn elements(&self, element: Element, count: usize) -> Option<Elements> {
        if let Some(bytes) = &self.bytes {
            return decode(element, bytes).filter(|elements| elements.len() == count);
        }
        let elements = match element.0 {
            1 => Elements::Floats(self.floats.iter().copied().map(f64::from).collect()),
            11 => Elements::Floats(self.doubles.clone()),
            10 | 16 => {
                let bits = self.integers.iter().map(|&bits| (bits as u16).to_le_bytes());
                decode(element, bits.flatten().collect::<Vec<_>>().as_slice())?
            }
            9 => Elements::Ints(self.integers.iter().map(|&it| i64::from(it != 0)).collect()),
            13 if self.integers.iter().any(|it| *it < 0) => return None,
            _ => Elements::Ints(self.integers.clone()),
        };
        Some(elements).filter(|elements| elements.len() == count)
    }
}

/// Most bytes of a tensor whose elements are kept.
fn largest(element: Element) -> u64 {
    match element {
        Element::INT64 | Element::INT32 | Element::BOOL => MAX_INTEGERS,
        _ => MAX_OTHERS,
    }
}

/// Bytes of an element whose values are read; `None` of all others, such as texts and integers of four bits.
fn width(element: Element) -> Option<usize> {
    let is_read = matches!(element.0, 1..=7 | 9..=13 | 16);
    element.bits().filter(|_| is_read).map(|bits| bits as usize / 8)
}

/// Number of elements of a tensor, if they are kept.
pub(super) fn kept(element: Element, dims: &[i64]) -> Option<usize> {
    let count = dims.iter().try_fold(1_u64, |count, &dim| count.checked_mul(dim.try_into().ok()?));
    let (count, width) = (count?, width(element)?);
    let bytes = count.checked_mul(width as u64)?;
    (bytes <= largest(element)).then_some(count as usize)
}

/// Number of bytes of `count` elements.
pub(super) fn bytes_of(element: Element, count: usize) -> usize {
    count * width(element).unwrap_or_default()
}

/// Elements in the bytes of `raw_data`; `None` if an element is of no type that is read, or too large.
pub(super) fn decode(element: Element, bytes: &[u8]) -> Option<Elements> {
    let ints = match element.0 {
        2 => numbers(bytes, u8::from_le_bytes, i64::from),
        3 => numbers(bytes, i8::from_le_bytes, i64::from),
        4 => numbers(bytes, u16::from_le_bytes, i64::from),
        5 => numbers(bytes, i16::from_le_bytes, i64::from),
        6 => numbers(bytes, i32::from_le_bytes, i64::from),
        7 => numbers(bytes, i64::from_le_bytes, |it| it),
        9 => numbers(bytes, u8::from_le_bytes, |it| i64::from(it != 0)),
        12 => numbers(bytes, u32::from_le_bytes, i64::from),
        13 => {
            let large = numbers(bytes, u64::from_le_bytes, |it| i64::try_from(it).ok());
            large.into_iter().collect::<Option<_>>()?
        }
        1 => return Some(Elements::Floats(numbers(bytes, f32::from_le_bytes, f64::from))),
        10 => return Some(Elements::Floats(numbers(bytes, u16::from_le_bytes, half))),
        11 => return Some(Elements::Floats(numbers(bytes, f64::from_le_bytes, |it| it))),
        16 => {
            let wide = |bits| f64::from(f32::from_bits(u32::from(bits) << 16));
            return Some(Elements::Floats(numbers(bytes, u16::from_le_bytes, wide)));
        }
        _ => return None,
    };
    Some(Elements::Ints(ints))
}

/// Numbers of `N` bytes each; bytes that are left over belong to none.
fn numbers<const N: usize, T, U>(
    bytes: &[u8],
    read: impl Fn([u8; N]) -> T,
    convert: impl Fn(T) -> U,
) -> Vec<U> {
    bytes.as_chunks().0.iter().map(|&chunk| convert(read(chunk))).collect()
}

/// Number with these bits in the format binary16 of IEEE 754: one bit of sign, five of the exponent, ten of
/// the fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    sign * magnitude
}

/// Reads a `TensorProto`.
pub(super) fn tensor(wire: &mut Wire<'_>, end: u64) -> Result<Tensor, Error> {
    let at = wire.at();
    let mut raw = RawTensor::default();
    raw.read(wire, end)?;
    let tensor = raw.finish(wire)?;
    if let Some(external) = &tensor.external {
        check_location(&tensor.name, &external.location)
            .map_err(|message| Error::at(at, message))?;
    }
    Ok(tensor)
}

/// Reads a `SparseTensorProto` as a dense tensor without elements.
pub(super) fn sparse_tensor(wire: &mut Wire<'_>, end: u64) -> Result<Tensor, Error> {
    let (mut values, mut dims) = (RawTensor::default(), Vec::new());
    wire.fields(end, |wire, number, value| match (number, value) {
        (1, Value::Until(end)) => values.read(wire, end),
        (3, value) => wire.numbers(value, &mut dims, MAX_RANK),
        _ => Ok(()),
    })?;
    let values = values.finish(wire)?;
    Ok(Tensor { dims, elements: None, external: None, ..values })
}

/// Checks that a location is a relative path that does not lead upwards, in the notation of any system.
pub(super) fn check_location(name: &str, location: &str) -> Result<(), String> {
    let mut parts = location.split(['/', '\\']);
    let is_absolute =
        location.starts_with(['/', '\\']) || location.as_bytes().get(1) == Some(&b':');
    if is_absolute || parts.any(|part| part == "..") {
        return Err(outside(name, location));
    }
    Ok(())
}

pub(super) fn outside(name: &str, location: &str) -> String {
    let (name, location) = (in_line(name), in_line(location));
    format!(
        "data of `{name}` in `{location}`: external data outside of the file's folder are not read"
    )
}

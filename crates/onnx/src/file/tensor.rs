//! Tensors (`TensorProto`), with elements only where shapes may depend on them.

use xrsim_model::text::in_line;

use super::super::fact::{Element, Number};
use super::super::graph::{External, Tensor};
use super::Error;
use super::wire::{Value, Wire};
use Number::{Float, Int};

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
                wire.charge(count * size_of::<Number>())?;
                self.elements(element).filter(|elements| elements.len() == count)
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

    /// All elements, from the field that has them.
    fn elements(&self, element: Element) -> Option<Vec<Number>> {
        let integers = || self.integers.iter().copied();
        match (element.0, &self.bytes) {
            (_, Some(bytes)) => decode(element, bytes),
            (1, _) => Some(self.floats.iter().map(|&it| Float(f64::from(it))).collect()),
            (11, _) => Some(self.doubles.iter().copied().map(Float).collect()),
            (10 | 16, _) => {
                let bits = integers().flat_map(|bits| (bits as u16).to_le_bytes());
                decode(element, &bits.collect::<Vec<_>>())
            }
            (9, _) => Some(integers().map(|it| Int(i64::from(it != 0))).collect()),
            (13, _) if integers().any(|it| it < 0) => None,
            _ => Some(integers().map(Int).collect()),
        }
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
pub(super) fn decode(element: Element, bytes: &[u8]) -> Option<Vec<Number>> {
    match element.0 {
        1 => numbers(bytes, |it| Some(Float(f32::from_le_bytes(it).into()))),
        2 => numbers(bytes, |it| Some(Int(u8::from_le_bytes(it).into()))),
        3 => numbers(bytes, |it| Some(Int(i8::from_le_bytes(it).into()))),
        4 => numbers(bytes, |it| Some(Int(u16::from_le_bytes(it).into()))),
        5 => numbers(bytes, |it| Some(Int(i16::from_le_bytes(it).into()))),
        6 => numbers(bytes, |it| Some(Int(i32::from_le_bytes(it).into()))),
        7 => numbers(bytes, |it| Some(Int(i64::from_le_bytes(it)))),
        9 => numbers(bytes, |it| Some(Int(i64::from(u8::from_le_bytes(it) != 0)))),
        10 => numbers(bytes, |it| Some(Float(half(u16::from_le_bytes(it))))),
        11 => numbers(bytes, |it| Some(Float(f64::from_le_bytes(it)))),
        12 => numbers(bytes, |it| Some(Int(u32::from_le_bytes(it).into()))),
        13 => numbers(bytes, |it| i64::try_from(u64::from_le_bytes(it)).ok().map(Int)),
        // The upper half of a number of 32 bits.
        16 => {
            numbers(bytes, |[low, high]| Some(Float(f32::from_le_bytes([0, 0, low, high]).into())))
        }
        _ => None,
    }
}

/// Numbers of `N` bytes each; bytes that are left over belong to none.
fn numbers<const N: usize>(
    bytes: &[u8],
    number: impl Fn([u8; N]) -> Option<Number>,
) -> Option<Vec<Number>> {
    bytes.as_chunks().0.iter().map(|&chunk| number(chunk)).collect()
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

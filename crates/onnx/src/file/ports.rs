//! Types that a file states of inputs, outputs and inner tensors (`ValueInfoProto`).

use super::super::fact::Element;
use super::super::graph::{Dim, Port};
use super::Error;
use super::wire::{Value, Wire};

/// Reads a `ValueInfoProto`.
pub(super) fn port(wire: &mut Wire<'_>, end: u64) -> Result<Port, Error> {
    let mut port = Port { name: Box::default(), element: None, dims: None };
    wire.fields(end, |wire, number, value| {
        match (number, value) {
            (1, Value::Until(end)) => port.name = wire.name(end)?,
            (2, Value::Until(end)) => port_type(wire, end, &mut port)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(port)
}

/// Reads a `TypeProto`: dense and sparse tensors are equal here, sequences, maps and options have no shape.
fn port_type(wire: &mut Wire<'_>, end: u64, port: &mut Port) -> Result<(), Error> {
    wire.fields(end, |wire, number, value| {
        let (1 | 8, Value::Until(end)) = (number, value) else { return Ok(()) };
        wire.fields(end, |wire, number, value| {
            match (number, value) {
                (1, Value::Varint(element)) => port.element = element_type(element),
                (2, Value::Until(end)) => shape(wire, end, port.dims.get_or_insert_default())?,
                _ => {}
            }
            Ok(())
        })
    })
}

/// Type of elements with this number; `None` if a file says that it does not tell.
fn element_type(number: u64) -> Option<Element> {
    i32::try_from(number).ok().filter(|number| *number != 0).map(Element)
}

/// Reads a `TensorShapeProto`.
fn shape(wire: &mut Wire<'_>, end: u64, dims: &mut Vec<Dim>) -> Result<(), Error> {
    wire.fields(end, |wire, number, value| {
        let (1, Value::Until(end)) = (number, value) else { return Ok(()) };
        let mut dim = Dim::Open;
        wire.fields(end, |wire, number, value| {
            match (number, value) {
                (1, Value::Varint(extent)) => dim = Dim::Fixed(extent.cast_signed()),
                (2, Value::Until(end)) => {
                    let name = wire.name(end)?;
                    dim = if name.is_empty() { Dim::Open } else { Dim::Named(name) };
                }
                _ => {}
            }
            Ok(())
        })?;
        wire.push(dims, dim)
    })
}

//! The outermost messages of `onnx.proto`, by the numbers of their fields. A message that comes twice is
//! merged, as protocol buffers have it: a function adds to what is there.

use super::super::graph::{Function, Graph, Model};
use super::Error;
use super::graphs::{RawAttribute, domain, graph, node};
use super::wire::{Value, Wire};

/// Field of a model that has the graph.
const GRAPH: u64 = 7;

/// Whether the fields of a file are those of a model with a graph. Only the outermost ones are read.
pub(super) fn is_model(wire: &mut Wire<'_>) -> bool {
    let mut has_graph = false;
    let read = wire.fields(wire.length(), |_, number, value| {
        has_graph |= number == GRAPH && matches!(value, Value::Until(_));
        Ok(())
    });
    read.is_ok() && has_graph
}

/// Reads a whole file (`ModelProto`), and returns it with warnings.
pub(super) fn model(wire: &mut Wire<'_>) -> Result<(Model, Vec<String>), Error> {
    if wire.length() == 0 {
        return Err(Error::whole("not an ONNX file: it is empty"));
    }
    let (mut ir_version, mut producer) = (0, Box::default());
    let (mut opsets, mut functions) = (Vec::new(), Vec::new());
    let mut found: Option<Graph> = None;
    let mut warnings = Vec::new();
    wire.fields(wire.length(), |wire, number, value| {
        match (number, value) {
            (1, Value::Varint(version)) => ir_version = version.cast_signed(),
            (2, Value::Until(end)) => producer = wire.name(end)?,
            (GRAPH, Value::Until(end)) => {
                graph(wire, end, found.get_or_insert_default(), &mut warnings)?;
            }
            (8, Value::Until(end)) => wire.append(end, &mut opsets, opset)?,
            (25, Value::Until(end)) => {
                wire.append(end, &mut functions, |wire, end| function(wire, end, &mut warnings))?
            }
            _ => {}
        }
        Ok(())
    })?;
    let graph = found.ok_or_else(|| Error::whole("not an ONNX file: it has no graph"))?;
    Ok((Model { ir_version, producer, opsets, graph, functions }, warnings))
}

/// Reads an `OperatorSetIdProto`.
fn opset(wire: &mut Wire<'_>, end: u64) -> Result<(Box<str>, i64), Error> {
    let mut opset = (Box::default(), 0);
    wire.fields(end, |wire, number, value| {
        match (number, value) {
            (1, Value::Until(end)) => opset.0 = domain(wire, end)?,
            (2, Value::Varint(version)) => opset.1 = version.cast_signed(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(opset)
}

/// Reads a `FunctionProto`.
fn function(wire: &mut Wire<'_>, end: u64, warnings: &mut Vec<String>) -> Result<Function, Error> {
    let mut function = Function::default();
    wire.fields(end, |wire, number, value| {
        let Value::Until(end) = value else { return Ok(()) };
        match number {
            1 => function.name = wire.name(end)?,
            4 => wire.append(end, &mut function.inputs, Wire::name)?,
            5 => wire.append(end, &mut function.outputs, Wire::name)?,
            7 => wire.append(end, &mut function.nodes, |wire, end| node(wire, end, warnings))?,
            9 => wire.append(end, &mut function.opsets, opset)?,
            10 => function.domain = domain(wire, end)?,
            11 => wire.append(end, &mut function.attributes, |wire, end| {
                RawAttribute::read(wire, end, warnings)
            })?,
            13 => function.overload = wire.name(end)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(function)
}

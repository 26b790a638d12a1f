//! `dataflow:` files: how layers are mapped, as directives in MAESTRO's notation.

mod layers;
mod line;

use xrsim_model::dataflow::{Dataflow, Flexibility, LayerMapping, Stationary};

use super::Problem;
use super::maestro::{Line, Notation, assemble};
use super::yaml::read::{At, Problems, at, list, one_of, proper_name};
use super::yaml::{Fields, Node};

pub(super) use line::read as read_directive;

/// Words of `axes`.
pub(super) const AXES: [(&str, Notation); 2] =
    [("convolution", Notation::Full), ("gemm", Notation::Gemm)];

/// Reads the body of a `dataflow:` file.
pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Dataflow> {
    let mut fields = Fields::of(node, "a dataflow", problems)?;
    let name = fields.required("name", proper_name);
    let notation = fields.optional("axes", one_of(&AXES)).unwrap_or_default();
    let stationary = fields.optional("stationary", one_of(&Stationary::ALL));
    let flexibility = fields.optional("flexibility", one_of(&Flexibility::ALL));
    let has_layers = fields.given("layers");
    let entry = |node: &Node<'_>, problems: &mut Problems| layers::read(node, notation, problems);
    let layers = fields.optional("layers", list("layers", entry));
    let line = |node: &Node<'_>, problems: &mut Problems| line::read(node, notation, problems);
    let read_lines = list("directives", at(line));
    let has_lines = fields.given("directives") || !has_layers;
    let lines = match has_lines {
        true => fields.required("directives", read_lines),
        false => fields.optional("directives", read_lines),
    };
    fields.finish();
    let (name, layers) = (name?, if has_layers { layers? } else { Vec::new() });
    let dataflow = match has_lines {
        true => of_lines(name, lines?, layers, notation),
        false => Dataflow::of_layers(name, layers)
            .map_err(|error| vec![Problem::new(node.span.clone(), error.to_string())]),
    };
    match dataflow {
        Ok(dataflow) => Some(dataflow.keeping(stationary).flexible(flexibility)),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// The dataflow of directives for all layers, and of those for single layers.
fn of_lines(
    name: Box<str>,
    lines: Vec<At<Line>>,
    layers: Vec<LayerMapping>,
    notation: Notation,
) -> Result<Dataflow, Vec<Problem>> {
    let opening = lines.first().map_or(0..0, |line| line.span.clone());
    let dataflow = assemble(name, opening.clone(), lines, notation)?;
    let problem =
        |error: xrsim_model::dataflow::DataflowError| Problem::new(opening, error.to_string());
    dataflow.with_layers(layers).map_err(|error| vec![problem(error)])
}

//! `dataflow:` files: how layers are mapped, as directives in MAESTRO's notation.

mod layers;
mod line;

use serde_json::json;

use xrsim_model::dataflow::{Dataflow, Flexibility, LayerMapping, Stationary};

use super::Problem;
use super::maestro::{Line, Notation, assemble};
use super::yaml::Node;
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems};
use super::yaml::values::{Reader, at, list, one_of, proper_name, tried};

pub(super) use line::directive;

/// Words of `axes`.
const AXES: [(&str, Notation); 2] = [("convolution", Notation::Full), ("gemm", Notation::Gemm)];

/// Body of a `dataflow:` file.
pub(super) fn dataflow() -> impl Reader<Value = Dataflow> {
    raw_dataflow().then(|raw, node, problems| raw.check(node, problems)).shaped(|form| {
        form.with("anyOf", json!([{"required": ["directives"]}, {"required": ["layers"]}]))
    })
}

keys! {
    /// Dataflow: order and distribution of the loops of a layer over time and PEs.
    fn raw_dataflow() -> struct RawDataflow: "a dataflow" {
        /// Name of the dataflow.
        name: Box<str> = required(proper_name());
        /// Names of the axes in directives. `gemm`: rows M, columns N and reduction K of a product of matrices O = A B.
        axes: Notation = or("convolution", one_of(&AXES));
        stationary: Option<Stationary> = optional(stationary());
        /// What the hardware may choose for each layer; each word includes those before it.
        flexibility: Option<Flexibility> = optional(one_of(&Flexibility::ALL));
        /// Directives for single layers, beside `directives` or instead of them.
        layers: Option<Option<Vec<LayerMapping>>> =
            optional(tried(list("layers", layers::layer(axes.unwrap_or_default()))));
        /// Directives for all layers, the outermost first.
        directives: Option<Vec<At<Line>>> =
            needed_without("layers", directives(axes.unwrap_or_default()));
    }
}

/// Tensor that stays in the PEs.
pub(super) fn stationary() -> impl Reader<Value = Stationary> {
    one_of(&Stationary::ALL)
        .says("Tensor that a PE keeps in every mapping that the hardware may choose.")
}

fn directives(notation: Notation) -> impl Reader<Value = Vec<At<Line>>> {
    list("directives", at(directive(notation))).allowed("a list of directives")
}

impl RawDataflow {
    fn check(self, node: &Node<'_>, problems: &mut Problems) -> Option<Dataflow> {
        let layers = self.layers.unwrap_or(Some(Vec::new()))?;
        let dataflow = match self.directives {
            Some(lines) => of_lines(self.name, lines, layers, self.axes),
            None => Dataflow::of_layers(self.name, layers)
                .map_err(|error| vec![Problem::new(node.span.clone(), error.to_string())]),
        };
        match dataflow {
            Ok(dataflow) => Some(dataflow.keeping(self.stationary).flexible(self.flexibility)),
            Err(found) => {
                problems.extend(found);
                None
            }
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

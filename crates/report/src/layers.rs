//! Layers of an imported network as a table, a row for each.

use std::io::Write;

use xrsim_model::model::{ConvShape, Layer, MatmulShape, Operator, Padding};
use xrsim_model::text::in_cell;

/// Columns of the table. Of products `y` has the rows and `instances` the pairs.
const COLUMNS: [&str; 21] = [
    "layer",
    "node",
    "op",
    "kind",
    "n",
    "k",
    "c",
    "y",
    "x",
    "r",
    "s",
    "stride_y",
    "stride_x",
    "pad",
    "dilation_y",
    "dilation_x",
    "groups",
    "instances",
    "macs",
    "params",
    "outputs",
];

/// Number of columns from `n` to `instances`.
const EXTENTS: usize = 14;

/// A layer with the node that it comes from.
#[derive(Debug, Clone, Copy)]
pub struct LayerRow<'a> {
    /// The layer.
    pub layer: &'a Layer,
    /// Node in the file.
    pub node: &'a str,
    /// Operator in the file.
    pub operator: &'a str,
    /// Padding as the node has it.
    pub padding: Padding,
}

/// Writes `rows`, and a last one with the totals.
///
/// # Errors
///
/// Returns an error if `out` cannot be written to.
pub fn write_csv<'a>(rows: impl Iterator<Item = LayerRow<'a>>, out: impl Write) -> csv::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    let mut totals = [0_u64; 3];
    for row in rows {
        let operator = &row.layer.operator;
        let weights = if row.layer.shares_weights { 0 } else { operator.weights() };
        let sizes = [operator.macs(), weights, operator.outputs()];
        for (total, size) in totals.iter_mut().zip(sizes) {
            *total = total.saturating_add(size);
        }
        let (node, of_node) = (in_cell(row.node), in_cell(row.operator));
        let names = [row.layer.name.to_string(), node, of_node, operator.name().to_string()];
        table.write_record(
            names.into_iter().chain(extents(&row)).chain(sizes.map(|it| it.to_string())),
        )?;
    }
    let head = std::iter::once("total".to_string());
    let empty = std::iter::repeat_n(String::new(), 3 + EXTENTS);
    table.write_record(head.chain(empty).chain(totals.map(|it| it.to_string())))?;
    table.flush()?;
    Ok(())
}

/// Cells from `n` to `instances`; what an operator does not have is empty.
fn extents(row: &LayerRow<'_>) -> Vec<String> {
    let Padding { top, bottom, left, right } = row.padding;
    let cells = |before: [u32; 9], after: [u32; 4]| {
        let padding = [format!("{top} {bottom} {left} {right}")];
        [&texts(before)[..], &padding, &texts(after)].concat()
    };
    match &row.layer.operator {
        Operator::Conv(shape) => {
            let &ConvShape { n, c, r, s, stride_y, stride_x, .. } = shape;
            let &ConvShape { dilation_y, dilation_x, .. } = shape;
            let (k, y, x) = (shape.output_channels(), shape.stored_rows(), shape.stored_columns());
            let before = [n, k, c, y, x, r, s, stride_y, stride_x];
            cells(before, [dilation_y, dilation_x, shape.n_groups(), 1])
        }
        Operator::Matmul(shape) => {
            let &MatmulShape { instances, rows, k, c, .. } = shape;
            cells([1, k, c, rows, 1, 1, 1, 1, 1], [1, 1, 1, instances])
        }
        Operator::Vector(_) => {
            let form = row.layer.form.map(|form| form.read().extents());
            let [n, k, y, x] = form.map_or_else(Default::default, texts);
            let mut cells = vec![n, k, String::new(), y, x];
            cells.resize(EXTENTS, String::new());
            cells
        }
    }
}

fn texts<const N: usize>(extents: [u32; N]) -> [String; N] {
    extents.map(|extent| extent.to_string())
}

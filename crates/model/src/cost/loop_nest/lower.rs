//! Lowering of operators to loop nests, the only thing that the core of the model knows
//! (docs/explanation/cost-model-loop-nest.md, section 1.3).

use crate::model::{ConvKind, ConvShape, MatmulShape, Operator, Phase};

use super::Illegal;
use super::nest::{Nest, Window};

/// Loop nests of an operator, which run one after another; empty for operators without MACs.
///
/// A transposed convolution has one nest for each phase of its outputs, so that only the (output, tap)
/// pairs that exist are executed. A machine that inserts zeros is modelled by a dense convolution on the
/// input with zeros.
///
/// # Errors
///
/// [`Illegal::Extent`] and [`Illegal::Overflow`] as in [`Nest::new`].
pub fn lower(operator: &Operator) -> Result<Vec<Nest>, Illegal> {
    match operator {
        Operator::Conv(shape) if shape.kind == ConvKind::Transposed => {
            shape.phases().into_iter().map(|phase| transposed(shape, phase)).collect()
        }
        Operator::Conv(shape) => Ok(vec![convolution(shape)?]),
        Operator::Matmul(shape) => Ok(vec![matmul(shape)?]),
        Operator::Vector(_) => Ok(Vec::new()),
    }
}

/// A convolution with its extents. Where the kernel is larger than the input, as in four layers of the
/// published tables, the input is padded to one output.
fn convolution(shape: &ConvShape) -> Result<Nest, Illegal> {
    let [rows, columns] = [shape.output_rows(), shape.output_columns()];
    let window = |stride, dilation, stored, padding| Window { stride, dilation, stored, padding };
    let mut windows = [
        window(shape.stride_y, shape.dilation_y, shape.stored_rows(), shape.padding.top),
        window(shape.stride_x, shape.dilation_x, shape.stored_columns(), shape.padding.left),
    ];
    if shape.kernel_fits().is_err() {
        windows = [windows[0].padded(rows, shape.r), windows[1].padded(columns, shape.s)];
    }
    nest(shape, [rows, columns, shape.r, shape.s], windows)
}

/// One phase of a transposed convolution, given by its rows and columns.
fn transposed(shape: &ConvShape, [rows, columns]: [Phase; 2]) -> Result<Nest, Illegal> {
    let window = |phase: Phase| Window {
        stride: 1,
        dilation: 1,
        stored: phase.stored,
        padding: phase.padding,
    };
    let extents = [rows.outputs, columns.outputs, rows.kernel, columns.kernel];
    nest(shape, extents, [window(rows), window(columns)])
}

/// Nest of a convolution. `positions` are output rows, output columns, kernel rows and kernel columns.
fn nest(shape: &ConvShape, positions: [u32; 4], windows: [Window; 2]) -> Result<Nest, Illegal> {
    let [rows, columns, r, s] = positions;
    let (groups, k, c) = (shape.n_groups(), shape.group_outputs(), shape.group_inputs());
    let depthwise = shape.kind == ConvKind::Depthwise || (groups > 1 && (k, c) == (1, 1));
    Nest::new([shape.n, groups, k, c, rows, columns, r, s], windows, depthwise)
}

/// Nest of a matrix product: rows M become output rows, columns N output channels, the reduction K input
/// channels, and instances groups.
fn matmul(shape: &MatmulShape) -> Result<Nest, Illegal> {
    let MatmulShape { instances, rows, k, c, .. } = *shape;
    let windows = [Window::new(rows, 1, rows), Window::new(1, 1, 1)];
    Nest::new([1, instances, k, c, rows, 1, 1, 1], windows, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Padding;

    fn lowered(operator: impl Into<Operator>) -> Vec<Nest> {
        lower(&operator.into()).expect("it is small")
    }

    #[test]
    fn a_depthwise_layer_has_a_group_for_every_channel() {
        let shape = ConvShape {
            kind: ConvKind::Depthwise,
            c: 8,
            y: 6,
            x: 5,
            r: 3,
            s: 3,
            ..ConvShape::UNIT
        };
        let nests = lowered(shape);
        assert_eq!(nests[0].extents(), &[1, 8, 1, 1, 4, 3, 3, 3]);
        assert!(nests[0].is_depthwise());
    }

    #[test]
    fn padding_is_not_stored() {
        // Rows: 8 stored, 1 above: (9 - 3) / 2 + 1 = 4 outputs; columns: 8 stored, none added.
        let padding = Padding { top: 1, ..Padding::default() };
        let strides = ConvShape { stride_y: 2, stride_x: 2, padding, ..ConvShape::UNIT };
        let nests = lowered(ConvShape { y: 9, x: 8, r: 3, s: 3, ..strides });
        assert_eq!(nests[0].extents()[4..6], [4, 3]);
        // Rows -1 to 7 and columns 0 to 6 are touched: 8 stored rows by 7 columns.
        assert_eq!(nests[0].touched_inputs(), 8 * 7);
    }

    #[test]
    fn a_transposed_convolution_falls_into_its_phases() {
        // 3 rows, kernel 3, stride 2, crop 1: (3-1)*2 + 3 - 1 = 6 rows. Row y meets kernel rows of
        // the parity of y + 1: rows 1, 3, 5 have phase 0 and two taps, rows 0, 2, 4 phase 1 and one.
        let padding = Padding { top: 1, ..Padding::default() };
        let kind = ConvKind::Transposed;
        let shape = ConvShape { kind, y: 3, r: 3, stride_y: 2, padding, ..ConvShape::UNIT };
        let nests = lowered(shape);
        let extents: Vec<_> =
            nests.iter().map(|nest| (nest.extents()[4], nest.extents()[6])).collect();
        assert_eq!(extents, [(3, 2), (3, 1)]);
        assert_eq!(nests.iter().map(Nest::macs).sum::<u64>(), shape.macs());
        // Row 1 = phase 0, step 1: inputs 0 and 1; row 5: inputs 2 and 3, of which 3 is padding.
        assert_eq!(nests[0].touched_inputs(), 3);
        assert_eq!(nests[1].touched_inputs(), 3);
    }

    #[test]
    fn a_matrix_product_is_a_layer_of_rows() {
        let shape = MatmulShape { instances: 2, rows: 5, k: 7, c: 3, activations: true };
        let nests = lowered(Operator::Matmul(shape));
        assert_eq!(nests[0].extents(), &[1, 2, 7, 3, 5, 1, 1, 1]);
        assert_eq!(nests[0].macs(), 210);
    }
}

//! Products of matrices.

use super::{Call, Fault, Outputs, invalid, shape};
use crate::fact::{Element, Fact, text};

/// Extents of a product of matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    /// Indices of the left and right operand among the inputs.
    pub operands: [usize; 2],
    /// Leading axes of the left and right operand, not broadcast; empty of one matrix.
    pub batches: [Vec<u64>; 2],
    /// Leading axes of the output.
    pub batch: Vec<u64>,
    /// Rows of the left operand.
    pub rows: u64,
    /// Columns of the left operand, which are summed.
    pub depth: u64,
    /// Columns of the right operand.
    pub columns: u64,
    /// Shape of the output; axes that vectors do not have are left out.
    pub output: Vec<u64>,
}

/// A matrix of each of a batch.
#[derive(Default)]
struct Side {
    batch: Vec<u64>,
    rows: u64,
    columns: u64,
    /// Whether it is a vector, which has no axis of its own in the output.
    is_vector: bool,
}

impl Side {
    /// The rows, or the columns if `is_right`, of a vector are those that it does not have.
    fn new(
        fact: &Fact,
        is_right: bool,
        is_transposed: bool,
        moves_batch: bool,
    ) -> Result<Self, Fault> {
        if let [extent] = fact.shape[..] {
            let (rows, columns) = if is_right { (extent, 1) } else { (1, extent) };
            return Ok(Self { batch: Vec::new(), rows, columns, is_vector: true });
        }
        // Axes of a transposed batch: (rows, batch, columns) instead of (batch, rows, columns).
        let mut shape = fact.shape.clone();
        if moves_batch && shape.len() > 2 {
            let end = shape.len() - 1;
            shape[..end].rotate_left(1);
        }
        let [batch @ .., rows, columns] = &shape[..] else {
            return invalid("a product of a scalar");
        };
        let (rows, columns) = if is_transposed { (*columns, *rows) } else { (*rows, *columns) };
        Ok(Self { batch: batch.to_vec(), rows, columns, is_vector: false })
    }
}

/// Extents of `MatMul`, `Gemm` and the operators that are like them.
///
/// # Errors
///
/// [`Fault::Invalid`], if the operands do not fit each other; [`Fault::Unsupported`] of other operators.
pub(crate) fn product(call: &Call<'_>) -> Result<Product, Fault> {
    match call.operator() {
        "MatMul" | "MatMulInteger" | "MatMulIntegerToFloat" | "DynamicQuantizeMatMul" => {
            matrices(call, [0, 1], [false; 2], [false; 2])
        }
        "QLinearMatMul" => matrices(call, [0, 3], [false; 2], [false; 2]),
        "FusedMatMul" | "TransposeMatMul" => {
            let transposed = [call.flag("transA")?, call.flag("transB")?];
            let moved = [call.flag("transBatchA")?, call.flag("transBatchB")?];
            matrices(call, [0, 1], transposed, moved)
        }
        "Gemm" | "FusedGemm" => gemm(call, [0, 1], 2),
        "QGemm" => gemm(call, [0, 3], 6),
        "MatMulNBits" => blocks(call),
        _ => Err(Fault::Unsupported),
    }
}

fn matrices(
    call: &Call<'_>,
    operands: [usize; 2],
    transposed: [bool; 2],
    moved: [bool; 2],
) -> Result<Product, Fault> {
    let (left, right) = (call.input(operands[0])?, call.input(operands[1])?);
    let a = Side::new(left, false, transposed[0], moved[0])?;
    let b = Side::new(right, true, transposed[1], moved[1])?;
    multiplied(operands, a, b)
}

fn multiplied(operands: [usize; 2], a: Side, b: Side) -> Result<Product, Fault> {
    let (depth, rows) = (a.columns, b.rows);
    ensure!(depth == rows, "{depth} columns against {rows} rows");
    let batch = shape::broadcast(&[&a.batch, &b.batch])?;
    let mut output = batch.clone();
    output.extend((!a.is_vector).then_some(a.rows));
    output.extend((!b.is_vector).then_some(b.columns));
    let batches = [a.batch, b.batch];
    Ok(Product { operands, batches, batch, rows: a.rows, depth, columns: b.columns, output })
}

fn gemm(call: &Call<'_>, operands: [usize; 2], bias: usize) -> Result<Product, Fault> {
    for operand in operands {
        shape::has_rank(call.input(operand)?, 2, "a matrix")?;
    }
    let transposed = [call.flag("transA")?, call.flag("transB")?];
    let product = matrices(call, operands, transposed, [false; 2])?;
    if let Some(bias) = call.optional(bias) {
        // Shapes that differ in their ranks alone do fit.
        let fits = shape::broadcast(&[&bias.shape, &product.output])? == product.output;
        ensure!(fits, "a bias of {bias} for {}", text(&product.output));
    }
    Ok(product)
}

/// `MatMulNBits`: columns and depth of the packed weights are attributes.
fn blocks(call: &Call<'_>) -> Result<Product, Fault> {
    let left = call.input(0)?;
    let (rows, columns) = (call.extent("K", 0)?, call.extent("N", 0)?);
    let a = Side::new(left, false, false, false)?;
    multiplied([0, 1], a, Side { rows, columns, ..Side::default() })
}

/// The product as an output.
pub(crate) fn multiply(call: &Call<'_>) -> Outputs {
    let product = product(call)?;
    let element = match call.operator() {
        "MatMulInteger" => Element::INT32,
        "QLinearMatMul" => call.input(7)?.element,
        "MatMulIntegerToFloat" => call.input(2)?.element,
        "QGemm" => call.optional(8).map_or(Element::FLOAT, |zero| zero.element),
        _ => call.input(0)?.element,
    };
    Ok(vec![call.output(element, product.output)])
}

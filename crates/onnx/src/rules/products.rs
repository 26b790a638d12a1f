//! Products of matrices.

use super::super::fact::{Element, Fact};
use super::{Call, Fault, Outputs, invalid, shape};

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
struct Side {
    batch: Vec<u64>,
    rows: u64,
    columns: u64,
}

impl Side {
    fn new(fact: &Fact, is_transposed: bool, moves_batch: bool) -> Option<Self> {
        // Axes of a transposed batch: (rows, batch, columns) instead of (batch, rows, columns).
        let mut shape = fact.shape.clone();
        if moves_batch && shape.len() > 2 {
            let end = shape.len() - 1;
            shape[..end].rotate_left(1);
        }
        let [batch @ .., rows, columns] = &shape[..] else { return None };
        let (rows, columns) = if is_transposed { (*columns, *rows) } else { (*rows, *columns) };
        Some(Self { batch: batch.to_vec(), rows, columns })
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
    let scalar = || Fault::Invalid("a product of a scalar".to_owned());
    let vectors = [left.shape.len() == 1, right.shape.len() == 1];
    let a = match left.shape[..] {
        [columns] => Side { batch: Vec::new(), rows: 1, columns },
        _ => Side::new(left, transposed[0], moved[0]).ok_or_else(scalar)?,
    };
    let b = match right.shape[..] {
        [rows] => Side { batch: Vec::new(), rows, columns: 1 },
        _ => Side::new(right, transposed[1], moved[1]).ok_or_else(scalar)?,
    };
    multiplied(operands, a, b, vectors)
}

fn multiplied(
    operands: [usize; 2],
    a: Side,
    b: Side,
    vectors: [bool; 2],
) -> Result<Product, Fault> {
    if a.columns != b.rows {
        return invalid(format!("{} columns against {} rows", a.columns, b.rows));
    }
    let batch = shape::broadcast(&[&a.batch, &b.batch])?;
    let mut output = batch.clone();
    output.extend((!vectors[0]).then_some(a.rows));
    output.extend((!vectors[1]).then_some(b.columns));
    Ok(Product {
        operands,
        batches: [a.batch, b.batch],
        batch,
        rows: a.rows,
        depth: a.columns,
        columns: b.columns,
        output,
    })
}

fn gemm(call: &Call<'_>, operands: [usize; 2], bias: usize) -> Result<Product, Fault> {
    for operand in operands {
        shape::has_rank(call.input(operand)?, 2, "a matrix")?;
    }
    let transposed = [call.flag("transA")?, call.flag("transB")?];
    let product = matrices(call, operands, transposed, [false; 2])?;
    if let Some(bias) = call.optional(bias) {
        // Shapes that differ in their ranks alone do fit.
        if shape::broadcast(&[&bias.shape, &product.output])? != product.output {
            let (bias, output) = (shape::text(&bias.shape), shape::text(&product.output));
            return invalid(format!("a bias of {bias} for {output}"));
        }
    }
    Ok(product)
}

/// `MatMulNBits`: columns and depth of the packed weights are attributes.
fn blocks(call: &Call<'_>) -> Result<Product, Fault> {
    let left = call.input(0)?;
    let depth = shape::extent(call.int("K", 0)?, "`K`")?;
    let columns = shape::extent(call.int("N", 0)?, "`N`")?;
    let a = match left.shape[..] {
        [own] => Side { batch: Vec::new(), rows: 1, columns: own },
        _ => Side::new(left, false, false)
            .ok_or_else(|| Fault::Invalid("a product of a scalar".to_owned()))?,
    };
    let b = Side { batch: Vec::new(), rows: depth, columns };
    multiplied([0, 1], a, b, [left.shape.len() == 1, false])
}

/// The product as an output.
pub(super) fn multiply(call: &Call<'_>) -> Outputs {
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

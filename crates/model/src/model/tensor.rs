//! Tensors between layers, and the extents of vector operators.

use super::{ConvShape, Layer, MatmulShape, Operator, VectorOp, VectorShape};

/// Extents of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tensor {
    /// Batch, regions, or instances of a matrix product.
    pub n: u32,
    /// Channels, or columns of a matrix.
    pub k: u32,
    /// Rows.
    pub y: u32,
    /// Columns; 1 of a matrix.
    pub x: u32,
}

impl Tensor {
    /// Batch, channels, rows and columns.
    pub fn extents(&self) -> [u32; 4] {
        [self.n, self.k, self.y, self.x]
    }

    /// Rows and columns of all of the batch: rows of the matrix whose columns are the channels.
    pub fn positions(&self) -> u64 {
        product(&[self.n, self.y, self.x])
    }

    /// Number of elements, saturating.
    pub fn elements(&self) -> u64 {
        product(&self.extents())
    }
}

fn product(extents: &[u32]) -> u64 {
    extents.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent.into()))
}

/// Extents of a vector operator, of which [`VectorShape`] has only the sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorForm {
    /// An operator on one tensor, which it reads (a reduction) or writes.
    Tensor(Tensor),
    /// A pool, as the depthwise convolution with its window.
    Window(ConvShape),
    /// Another resolution.
    Resize {
        /// Tensor that is read.
        tensor: Tensor,
        /// Rows and columns that are written.
        to: [u32; 2],
    },
}

impl VectorForm {
    /// Tensor that is read, of a pool without its padding.
    pub fn read(&self) -> Tensor {
        match *self {
            Self::Tensor(tensor) | Self::Resize { tensor, .. } => tensor,
            Self::Window(shape) => stored(&shape),
        }
    }

    /// Tensor that `op` writes.
    pub fn written(&self, op: VectorOp) -> Tensor {
        match *self {
            Self::Tensor(tensor) => match op {
                VectorOp::GlobalPool => Tensor { y: 1, x: 1, ..tensor },
                VectorOp::ReduceMax => Tensor { k: 1, ..tensor },
                _ => tensor,
            },
            Self::Window(shape) => output(&shape),
            Self::Resize { tensor, to: [y, x] } => Tensor { y, x, ..tensor },
        }
    }

    /// Sizes of `op` with `n_sources` sources and, for a product with a sparse matrix, `nonzeros`. An
    /// operator that chooses its inputs by their values is taken to read as much as it writes.
    pub fn sizes(&self, op: VectorOp, n_sources: usize, nonzeros: u64) -> VectorShape {
        let tensor = self.read();
        let [read, written] = [tensor.elements(), self.written(op).elements()];
        match op {
            VectorOp::MaxPool | VectorOp::AveragePool => {
                VectorShape::new(op, read, written, self.window())
            }
            VectorOp::GlobalPool => {
                VectorShape::new(op, read, written, product(&[tensor.y, tensor.x]))
            }
            VectorOp::ReduceMax => VectorShape::new(op, read, written, tensor.k.into()),
            VectorOp::SparseProduct => {
                let operations = nonzeros.saturating_mul(product(&[tensor.n, tensor.k]));
                let inputs = read.saturating_add(nonzeros);
                VectorShape { op, inputs, outputs: written, operations }
            }
            VectorOp::Add => {
                VectorShape::new(op, read.saturating_mul(n_sources as u64), written, 1)
            }
            VectorOp::Mul => {
                let factors = product(&[tensor.n, tensor.k]);
                VectorShape::new(op, read.saturating_add(factors), written, 1)
            }
            _ => VectorShape::new(op, read, written, 1),
        }
    }

    fn window(&self) -> u64 {
        match self {
            Self::Window(shape) => product(&[shape.r, shape.s]),
            _ => 1,
        }
    }

    /// The same on `n` times as many inputs.
    pub(super) fn batched(self, n: u32) -> Self {
        let more = |tensor: Tensor| Tensor { n: tensor.n.saturating_mul(n), ..tensor };
        match self {
            Self::Tensor(tensor) => Self::Tensor(more(tensor)),
            Self::Window(shape) => {
                Self::Window(ConvShape { n: shape.n.saturating_mul(n), ..shape })
            }
            Self::Resize { tensor, to } => Self::Resize { tensor: more(tensor), to },
        }
    }
}

/// Tensor that a convolution reads, without its padding.
pub(super) fn stored(shape: &ConvShape) -> Tensor {
    Tensor { n: shape.n, k: shape.c, y: shape.stored_rows(), x: shape.stored_columns() }
}

/// Tensor that a convolution writes.
fn output(shape: &ConvShape) -> Tensor {
    let [y, x] = [shape.output_rows(), shape.output_columns()];
    Tensor { n: shape.n, k: shape.output_channels(), y, x }
}

impl Layer {
    /// Tensor that this layer writes; `None` of a vector operator that is given by its sizes alone.
    pub fn written(&self) -> Option<Tensor> {
        match &self.operator {
            Operator::Conv(shape) => Some(output(shape)),
            Operator::Matmul(MatmulShape { instances, rows, k, .. }) => {
                Some(Tensor { n: *instances, k: *k, y: *rows, x: 1 })
            }
            Operator::Vector(shape) => self.form.map(|form| form.written(shape.op)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ConvKind, Padding};

    fn written(operator: impl Into<Operator>) -> [u32; 4] {
        Layer::new("layer", operator).written().unwrap().extents()
    }

    fn vector(op: VectorOp, form: VectorForm) -> [u32; 4] {
        let operator = Operator::Vector(form.sizes(op, 1, 0));
        let layer = Layer { form: Some(form), ..Layer::new("layer", operator) };
        let tensor = layer.written().unwrap();
        assert_eq!(tensor.elements(), operator.outputs(), "{op:?}");
        tensor.extents()
    }

    /// 224 rows and one of padding below, kernel 3, stride 2: (225 - 3) / 2 + 1 = 112; 299 columns
    /// with one on either side: (301 - 3) / 2 + 1 = 150. Kernel 3 with dilation 2 spans 5 of 17 rows:
    /// 13. Transposed, 12 rows, stride 2, kernel 4, cropped by 1 and 1: 11 x 2 + 4 - 2 = 24.
    #[test]
    fn a_convolution_writes_a_position_for_every_place_of_its_kernel() {
        let padding = Padding { top: 0, bottom: 1, left: 1, right: 1 };
        let strided =
            ConvShape { n: 2, k: 16, c: 3, y: 225, x: 301, r: 3, s: 3, ..ConvShape::UNIT };
        let strided = ConvShape { stride_y: 2, stride_x: 2, padding, ..strided };
        assert_eq!(written(strided), [2, 16, 112, 150]);
        let dilated = ConvShape { k: 4, y: 17, r: 3, dilation_y: 2, ..ConvShape::UNIT };
        assert_eq!(written(dilated), [1, 4, 13, 1]);
        let depthwise =
            ConvShape { kind: ConvKind::Depthwise, c: 7, y: 5, x: 6, ..ConvShape::UNIT };
        assert_eq!(written(depthwise), [1, 7, 5, 6]);
        let padding = Padding { top: 1, bottom: 1, left: 1, right: 1 };
        let transposed = ConvShape { kind: ConvKind::Transposed, k: 64, c: 128, ..ConvShape::UNIT };
        let transposed = ConvShape { y: 12, x: 16, r: 4, s: 4, padding, ..transposed };
        assert_eq!(written(ConvShape { stride_y: 2, stride_x: 2, ..transposed }), [1, 64, 24, 32]);
    }

    #[test]
    fn a_product_writes_the_columns_of_its_second_matrix() {
        let weights = MatmulShape { instances: 1, rows: 10, c: 512, k: 2048, activations: false };
        assert_eq!(written(Operator::Matmul(weights)), [1, 2048, 10, 1]);
        let scores = MatmulShape { instances: 8, rows: 10, c: 64, k: 42, activations: true };
        assert_eq!(written(Operator::Matmul(scores)), [8, 42, 10, 1]);
    }

    /// A window of 4x3 with strides 4 and 3 over 101x40: (101 - 4) / 4 + 1 = 25, (40 - 3) / 3 + 1 = 13.
    #[test]
    fn vector_operators_keep_or_change_their_tensor() {
        let tensor = Tensor { n: 2, k: 19, y: 101, x: 40 };
        let same = VectorForm::Tensor(tensor);
        for op in [VectorOp::Add, VectorOp::Mul, VectorOp::Softmax, VectorOp::Concat, VectorOp::Nms]
        {
            assert_eq!(vector(op, same), [2, 19, 101, 40]);
        }
        assert_eq!(vector(VectorOp::GlobalPool, same), [2, 19, 1, 1]);
        assert_eq!(vector(VectorOp::ReduceMax, same), [2, 1, 101, 40]);
        let window = ConvShape { kind: ConvKind::Depthwise, n: 2, c: 19, ..ConvShape::UNIT };
        let window = ConvShape { y: 101, x: 40, r: 4, s: 3, stride_y: 4, stride_x: 3, ..window };
        assert_eq!(vector(VectorOp::AveragePool, VectorForm::Window(window)), [2, 19, 25, 13]);
        let resize = VectorForm::Resize { tensor, to: [202, 20] };
        assert_eq!(vector(VectorOp::Resize, resize), [2, 19, 202, 20]);
    }

    #[test]
    fn sizes_alone_say_nothing_of_a_tensor() {
        let sizes = VectorShape::new(VectorOp::Add, 20, 10, 1);
        assert_eq!(Layer::new("layer", Operator::Vector(sizes)).written(), None);
    }
}

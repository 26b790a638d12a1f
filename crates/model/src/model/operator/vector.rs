//! Operators without multiply-accumulates.

/// An operator without multiply-accumulates, computed by vector lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VectorShape {
    /// Operation.
    pub op: VectorOp,
    /// Elements of all inputs.
    pub inputs: u64,
    /// Elements of the output.
    pub outputs: u64,
    /// Operations of one lane and cycle that it takes.
    pub operations: u64,
}

impl VectorShape {
    /// An operator whose operations are those that [`VectorOp::operations`] gives each output;
    /// `window` is the number of elements under the window of a pool, 1 elsewhere.
    pub fn new(op: VectorOp, inputs: u64, outputs: u64, window: u64) -> Self {
        let each = op.operations().unwrap_or(window);
        Self { op, inputs, outputs, operations: outputs.saturating_mul(each) }
    }

    /// The same on `n` times as many inputs. A sparse matrix is part of the network: it is read once.
    pub(super) fn batched(self, n: u64) -> Self {
        let shared = match self.op {
            VectorOp::SparseProduct => self.inputs.saturating_sub(self.outputs),
            _ => 0,
        };
        Self {
            op: self.op,
            inputs: (self.inputs - shared).saturating_mul(n).saturating_add(shared),
            outputs: self.outputs.saturating_mul(n),
            operations: self.operations.saturating_mul(n),
        }
    }
}

/// Operations of operators without multiply-accumulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VectorOp {
    /// Sum of tensors.
    Add,
    /// Product of tensors, or of a tensor and one factor a channel.
    Mul,
    /// Concatenation of tensors, or a copy.
    Concat,
    /// Largest of each window.
    MaxPool,
    /// Mean of each window.
    AveragePool,
    /// Mean of each channel.
    GlobalPool,
    /// Largest along an axis.
    ReduceMax,
    /// Another resolution, bilinear or nearest.
    Resize,
    /// Softmax.
    Softmax,
    /// Layer normalisation.
    LayerNorm,
    /// Batch normalisation that cannot be folded into a layer before it.
    BatchNorm,
    /// Features of regions of interest, sampled bilinearly.
    RoiAlign,
    /// Non-maximum suppression.
    Nms,
    /// Product with a sparse matrix; its multiply-accumulates run on the vector lanes.
    SparseProduct,
}

impl VectorOp {
    /// Every operator with its name, operations for an output (`None`: the window of a pool, or as
    /// given) and passes over its inputs; region features
    /// count as a resize, suppression as an elementwise operator.
    pub const ALL: [(Self, &'static str, Option<u64>, u64); 14] = [
        (Self::Add, "add", Some(1), 1),
        (Self::Mul, "mul", Some(1), 1),
        (Self::Concat, "concat", Some(0), 1),
        (Self::MaxPool, "max_pool", None, 1),
        (Self::AveragePool, "avg_pool", None, 1),
        (Self::GlobalPool, "global_pool", None, 1),
        (Self::ReduceMax, "reduce_max", None, 1),
        (Self::Resize, "resize", Some(7), 1),
        (Self::Softmax, "softmax", Some(5), 3),
        (Self::LayerNorm, "layer_norm", Some(6), 2),
        (Self::BatchNorm, "batch_norm", Some(6), 2),
        (Self::RoiAlign, "roi_align", Some(7), 1),
        (Self::Nms, "nms", Some(1), 1),
        (Self::SparseProduct, "sparse_product", None, 1),
    ];

    /// Name in files and tables.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Operations for an output, unless they depend on its window.
    pub fn operations(self) -> Option<u64> {
        Self::ALL[self as usize].2
    }

    /// How often it reads its inputs.
    pub fn passes(self) -> u64 {
        Self::ALL[self as usize].3
    }
}

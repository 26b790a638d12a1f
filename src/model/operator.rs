//! Operators of layers, with the extents that their costs depend on.

use super::ModelError;

/// Class of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConvKind {
    /// 2-D convolution, dense or in groups.
    Conv,
    /// Depthwise convolution: every channel by itself (`DSCONV` in the artifact's files).
    Depthwise,
    /// Transposed convolution of the artifact (`TRCONV`): extents are those of the convolution that
    /// is executed, on an input with zeros inserted.
    ZeroInserted,
    /// Non-grouped variant of the artifact (`NGCONV`), evaluated as [`ConvKind::Conv`].
    NonGrouped,
    /// Transposed convolution: extents are those of the stored input, padding crops the output.
    Transposed,
}

impl ConvKind {
    /// Every kind with its name in tables; the first four are those of the artifact's files.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Conv, "CONV"),
        (Self::Depthwise, "DSCONV"),
        (Self::ZeroInserted, "TRCONV"),
        (Self::NonGrouped, "NGCONV"),
        (Self::Transposed, "DECONV"),
    ];

    /// Kinds of the artifact's files with their spelling there.
    pub fn of_artifact() -> &'static [(Self, &'static str)] {
        &Self::ALL[..4]
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Rows and columns around an input, or cut off the output of a transposed convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Padding {
    /// Rows above.
    pub top: u32,
    /// Rows below.
    pub bottom: u32,
    /// Columns to the left.
    pub left: u32,
    /// Columns to the right.
    pub right: u32,
}

/// Extents of a 2-D convolution loop nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConvShape {
    /// Class.
    pub kind: ConvKind,
    /// Batch.
    pub n: u32,
    /// Groups; divides K and C. Depthwise layers have as many groups as channels; this field is ignored.
    pub groups: u32,
    /// Output channels of all groups; without meaning for depthwise layers.
    pub k: u32,
    /// Input channels of all groups.
    pub c: u32,
    /// Input rows, padding included (a transposed convolution has none).
    pub y: u32,
    /// Input columns, padding included (a transposed convolution has none).
    pub x: u32,
    /// Kernel rows.
    pub r: u32,
    /// Kernel columns.
    pub s: u32,
    /// Vertical stride.
    pub stride_y: u32,
    /// Horizontal stride.
    pub stride_x: u32,
    /// Input rows from one kernel row to the next.
    pub dilation_y: u32,
    /// Input columns from one kernel column to the next.
    pub dilation_x: u32,
    /// How much of `y` and `x` is padding, which memory does not hold.
    pub padding: Padding,
}

impl ConvShape {
    /// One multiply-accumulate. A shape is written as changes to it:
    ///
    /// ```
    /// use xrsim::model::{ConvShape, Layer, Network};
    ///
    /// let conv = |k, c| ConvShape { k, c, y: 128, x: 128, r: 3, s: 3, ..ConvShape::UNIT };
    /// let layers = vec![Layer::new("conv1", conv(32, 3)), Layer::new("conv2", conv(64, 32))];
    /// let network = Network::new("mine", layers)?;
    /// assert_eq!(network.layers().len(), 2);
    /// # Ok::<(), xrsim::model::ModelError>(())
    /// ```
    pub const UNIT: Self = Self {
        kind: ConvKind::Conv,
        n: 1,
        groups: 1,
        k: 1,
        c: 1,
        y: 1,
        x: 1,
        r: 1,
        s: 1,
        stride_y: 1,
        stride_x: 1,
        dilation_y: 1,
        dilation_x: 1,
        padding: Padding { top: 0, bottom: 0, left: 0, right: 0 },
    };

    /// Groups, as the kind has them.
    pub(crate) fn n_groups(&self) -> u32 {
        if self.kind == ConvKind::Depthwise { self.c } else { self.groups }
    }

    /// Output channels of one group.
    pub(crate) fn group_outputs(&self) -> u32 {
        if self.kind == ConvKind::Depthwise { 1 } else { self.k / self.groups }
    }

    /// Input channels of one group.
    pub(crate) fn group_inputs(&self) -> u32 {
        self.c / self.n_groups()
    }

    /// Channels of the output tensor: C for depthwise layers, K otherwise.
    pub fn output_channels(&self) -> u32 {
        if self.kind == ConvKind::Depthwise { self.c } else { self.k }
    }

    /// Output rows, at least 1.
    pub fn output_rows(&self) -> u32 {
        let Padding { top, bottom, .. } = self.padding;
        self.output(self.y, self.r, self.stride_y, self.dilation_y, top + bottom)
    }

    /// Output columns, at least 1.
    pub(crate) fn output_columns(&self) -> u32 {
        let Padding { left, right, .. } = self.padding;
        self.output(self.x, self.s, self.stride_x, self.dilation_x, left + right)
    }

    fn output(&self, input: u32, kernel: u32, stride: u32, dilation: u32, padding: u32) -> u32 {
        let kernel = (kernel - 1).saturating_mul(dilation).saturating_add(1);
        if self.kind == ConvKind::Transposed {
            let whole = (input - 1).saturating_mul(stride).saturating_add(kernel);
            return whole.saturating_sub(padding).max(1);
        }
        input.saturating_sub(kernel) / stride + 1
    }

    /// Input rows that memory holds.
    pub(crate) fn stored_rows(&self) -> u32 {
        self.stored(self.y, self.padding.top + self.padding.bottom)
    }

    /// Input columns that memory holds.
    pub(crate) fn stored_columns(&self) -> u32 {
        self.stored(self.x, self.padding.left + self.padding.right)
    }

    fn stored(&self, extent: u32, padding: u32) -> u32 {
        if self.kind == ConvKind::Transposed { extent } else { extent - padding }
    }

    /// Multiply-accumulates: one per output element, kernel element and input channel of the group;
    /// of a transposed convolution those of (output, kernel element) pairs that meet on its grid.
    pub fn macs(&self) -> u64 {
        let per_position =
            u64::from(self.n) * u64::from(self.output_channels()) * u64::from(self.group_inputs());
        let [rows, columns] = if self.kind == ConvKind::Transposed {
            let Padding { top, left, .. } = self.padding;
            let pairs = |phases: Vec<Phase>| {
                let pairs = |it: &Phase| u64::from(it.outputs) * u64::from(it.kernel);
                phases.iter().map(pairs).sum()
            };
            [
                pairs(phases(self.output_rows(), self.y, self.r, self.stride_y, top)),
                pairs(phases(self.output_columns(), self.x, self.s, self.stride_x, left)),
            ]
        } else {
            [
                u64::from(self.output_rows()) * u64::from(self.r),
                u64::from(self.output_columns()) * u64::from(self.s),
            ]
        };
        per_position * rows * columns
    }

    /// The convolutions of stride 1 that a transposed convolution falls apart into, one for each
    /// phase of its rows and of its columns that has outputs and kernel elements.
    ///
    /// Outputs of one phase are those whose position, the crop added, leaves the same remainder
    /// divided by the stride; they meet every stride-th kernel element.
    pub fn phases(&self) -> Vec<[Phase; 2]> {
        let Padding { top, left, .. } = self.padding;
        let rows = phases(self.output_rows(), self.y, self.r, self.stride_y, top);
        let columns = phases(self.output_columns(), self.x, self.s, self.stride_x, left);
        rows.iter().flat_map(|row| columns.iter().map(|column| [*row, *column])).collect()
    }

    /// Number of weights.
    pub fn weights(&self) -> u64 {
        let window = u64::from(self.r) * u64::from(self.s);
        u64::from(self.output_channels()) * u64::from(self.group_inputs()) * window
    }

    /// Number of output elements.
    pub fn outputs(&self) -> u64 {
        let positions = u64::from(self.output_rows()) * u64::from(self.output_columns());
        u64::from(self.n) * u64::from(self.output_channels()) * positions
    }

    /// Number of input elements that memory holds.
    pub fn inputs(&self) -> u64 {
        let positions = u64::from(self.stored_rows()) * u64::from(self.stored_columns());
        u64::from(self.n) * u64::from(self.c) * positions
    }

    /// Whether the kernel fits into the padded input.
    ///
    /// # Errors
    ///
    /// [`ModelError::KernelExceedsInput`].
    pub fn kernel_fits(&self) -> Result<(), ModelError> {
        let reach = |kernel: u32, dilation| u64::from(kernel - 1) * u64::from(dilation) + 1;
        let fits = reach(self.r, self.dilation_y) <= u64::from(self.y)
            && reach(self.s, self.dilation_x) <= u64::from(self.x);
        if fits || self.kind == ConvKind::Transposed {
            return Ok(());
        }
        let Self { r, s, y, x, .. } = *self;
        Err(ModelError::KernelExceedsInput { r, s, y, x })
    }

    fn check(&self) -> Result<(), ModelError> {
        let axes = [
            ("N", self.n),
            ("K", self.k),
            ("C", self.c),
            ("Y", self.y),
            ("X", self.x),
            ("R", self.r),
            ("S", self.s),
            ("the number of groups", self.groups),
            ("stride Y", self.stride_y),
            ("stride X", self.stride_x),
            ("dilation Y", self.dilation_y),
            ("dilation X", self.dilation_x),
        ];
        axes.into_iter().try_for_each(|(axis, found)| in_range(axis, found))?;
        product(&[self.n, self.k, self.c, self.y, self.x, self.r, self.s].map(u64::from))?;
        if self.kind != ConvKind::Depthwise
            && !(self.k.is_multiple_of(self.groups) && self.c.is_multiple_of(self.groups))
        {
            let Self { groups, k, c, .. } = *self;
            return Err(ModelError::Groups { groups, k, c });
        }
        self.check_padding()?;
        product(&[self.outputs_bound(), u64::from(self.group_inputs()), self.window()])
    }

    /// Output elements without the risk of overflow.
    fn outputs_bound(&self) -> u64 {
        let rows_and_columns = [self.output_rows(), self.output_columns()].map(u64::from);
        let channels = [self.n, self.output_channels()].map(u64::from);
        let factors = rows_and_columns.into_iter().chain(channels);
        factors.fold(1, u64::saturating_mul)
    }

    fn window(&self) -> u64 {
        u64::from(self.r) * u64::from(self.s)
    }

    fn check_padding(&self) -> Result<(), ModelError> {
        let Padding { top, bottom, left, right } = self.padding;
        let sides = [top, bottom, left, right];
        if let Some(&found) = sides.iter().find(|&&side| side > Self::MAX_EXTENT) {
            return Err(ModelError::Extent { axis: "the padding", found });
        }
        let [mut rows, mut columns] = [self.y, self.x].map(u64::from);
        if self.kind == ConvKind::Transposed {
            if self.dilation_y > 1 || self.dilation_x > 1 {
                return Err(ModelError::DilatedTransposed);
            }
            rows = (rows - 1) * u64::from(self.stride_y) + u64::from(self.r);
            columns = (columns - 1) * u64::from(self.stride_x) + u64::from(self.s);
        }
        if u64::from(top + bottom) >= rows || u64::from(left + right) >= columns {
            return Err(ModelError::OnlyPadding);
        }
        Ok(())
    }

    /// Largest extent of one axis.
    pub const MAX_EXTENT: u32 = 1 << 20;
}

/// One direction of a phase of a transposed convolution: a convolution of stride 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Output positions, at least 1.
    pub outputs: u32,
    /// Kernel positions, at least 1.
    pub kernel: u32,
    /// Input positions that memory holds, from the first that is read on.
    pub stored: u32,
    /// Positions read before the first stored one.
    pub padding: u32,
}

fn phases(outputs: u32, input: u32, kernel: u32, stride: u32, crop: u32) -> Vec<Phase> {
    let phase = |a: u32| {
        let first = (a + stride - crop % stride) % stride;
        let outputs = outputs.saturating_sub(first).div_ceil(stride);
        let kernel = (kernel - a).div_ceil(stride);
        // The first output is at `first + crop = a + stride * step` and reads inputs from
        // `step - (kernel - 1)` on.
        let step = (first + crop - a) / stride;
        let stored = input.saturating_sub(step.saturating_sub(kernel - 1)).max(1);
        let padding = (kernel - 1).saturating_sub(step);
        (outputs > 0).then_some(Phase { outputs, kernel, stored, padding })
    };
    (0..stride.min(kernel)).filter_map(phase).collect()
}

/// A matrix product O\[M,N\] = A\[M,K\] B\[K,N\], once or for many instances of both operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MatmulShape {
    /// Pairs of operands.
    pub instances: u32,
    /// Rows M of A and O: tokens or samples.
    pub rows: u32,
    /// Columns N of B and O: features out.
    pub k: u32,
    /// Columns K of A, rows of B: features in.
    pub c: u32,
    /// Whether B is computed by another layer, as in attention, and not a weight.
    pub activations: bool,
}

impl MatmulShape {
    fn check(&self) -> Result<(), ModelError> {
        let axes =
            [("instances", self.instances), ("rows", self.rows), ("k", self.k), ("c", self.c)];
        axes.into_iter().try_for_each(|(axis, found)| in_range(axis, found))?;
        product(&axes.map(|(_, extent)| u64::from(extent)))
    }

    fn volume(extents: [u32; 3]) -> u64 {
        extents.into_iter().map(u64::from).product()
    }
}

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
    fn batched(self, n: u64) -> Self {
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

/// Operator of a layer. Equal operators have equal costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// A convolution.
    Conv(ConvShape),
    /// A matrix product.
    Matmul(MatmulShape),
    /// An operator without multiply-accumulates.
    Vector(VectorShape),
}

impl From<ConvShape> for Operator {
    fn from(shape: ConvShape) -> Self {
        Self::Conv(shape)
    }
}

impl Operator {
    /// Largest product of extents; keeps every counter of the cost models far from overflow.
    pub const MAX_MACS: u64 = 1 << 48;

    /// Checks extents and their product.
    ///
    /// # Errors
    ///
    /// Returns the error of the first invalid extent. Whether the kernel of a convolution fits
    /// is asked separately by [`ConvShape::kernel_fits`], because the published tables hold four
    /// layers whose kernel does not.
    pub fn check(&self) -> Result<(), ModelError> {
        match self {
            Self::Conv(shape) => shape.check(),
            Self::Matmul(shape) => shape.check(),
            Self::Vector(shape) => {
                let sizes = [shape.inputs, shape.outputs, shape.operations];
                let too_large = sizes.iter().any(|&size| size > Self::MAX_MACS);
                if too_large { Err(ModelError::TooLarge) } else { Ok(()) }
            }
        }
    }

    /// The same on `n` times as many inputs: images of a convolution, rows of a product with weights,
    /// pairs of activations. An operator that is too large for [`Operator::check`] stays too large.
    pub(super) fn batched(self, n: u32) -> Self {
        match self {
            Self::Conv(shape) => Self::Conv(ConvShape { n: shape.n.saturating_mul(n), ..shape }),
            Self::Matmul(shape) if shape.activations => {
                let instances = shape.instances.saturating_mul(n);
                Self::Matmul(MatmulShape { instances, ..shape })
            }
            Self::Matmul(shape) => {
                Self::Matmul(MatmulShape { rows: shape.rows.saturating_mul(n), ..shape })
            }
            Self::Vector(shape) => Self::Vector(shape.batched(n.into())),
        }
    }

    /// Name of its class in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Conv(shape) => shape.kind.name(),
            Self::Matmul(MatmulShape { activations: false, .. }) => "GEMM",
            Self::Matmul(_) => "BMM",
            Self::Vector(shape) => shape.op.name(),
        }
    }

    /// Multiply-accumulates.
    pub fn macs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.macs(),
            Self::Matmul(shape) => {
                u64::from(shape.instances) * MatmulShape::volume([shape.rows, shape.k, shape.c])
            }
            Self::Vector(VectorShape { op: VectorOp::SparseProduct, operations, .. }) => {
                *operations
            }
            Self::Vector(_) => 0,
        }
    }

    /// Weights, which the network brings along.
    pub fn weights(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.weights(),
            Self::Matmul(shape) if !shape.activations => {
                u64::from(shape.instances) * MatmulShape::volume([1, shape.k, shape.c])
            }
            _ => 0,
        }
    }

    /// Output elements.
    pub fn outputs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.outputs(),
            Self::Matmul(shape) => {
                u64::from(shape.instances) * MatmulShape::volume([1, shape.rows, shape.k])
            }
            Self::Vector(shape) => shape.outputs,
        }
    }

    /// Input elements that other layers or the outside give it.
    pub fn inputs(&self) -> u64 {
        match self {
            Self::Conv(shape) => shape.inputs(),
            Self::Matmul(shape) => {
                let second = if shape.activations { shape.k } else { 0 };
                u64::from(shape.instances)
                    * u64::from(shape.c)
                    * (u64::from(shape.rows) + u64::from(second))
            }
            Self::Vector(shape) => shape.inputs,
        }
    }

    /// N, K, C, Y, X, R and S of a convolution, and of a matrix product as the convolution that it
    /// is: instances, columns, reduction, rows; `None` of other operators.
    pub fn extents(&self) -> Option<[u32; 7]> {
        match *self {
            Self::Conv(ConvShape { n, k, c, y, x, r, s, .. }) => Some([n, k, c, y, x, r, s]),
            Self::Matmul(MatmulShape { instances, rows, k, c, .. }) => {
                Some([instances, k, c, rows, 1, 1, 1])
            }
            Self::Vector(_) => None,
        }
    }
}

fn in_range(axis: &'static str, found: u32) -> Result<(), ModelError> {
    if found == 0 || found > ConvShape::MAX_EXTENT {
        return Err(ModelError::Extent { axis, found });
    }
    Ok(())
}

fn product(factors: &[u64]) -> Result<(), ModelError> {
    let product = factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(factor));
    match product {
        Some(product) if product <= Operator::MAX_MACS => Ok(()),
        _ => Err(ModelError::TooLarge),
    }
}

//! Convolutions: their kinds, padding and extents, and the phases of transposed ones.

use super::super::ModelError;
use super::{in_range, product};

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
    pub fn n_groups(&self) -> u32 {
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
    pub fn stored_rows(&self) -> u32 {
        self.stored(self.y, self.padding.top + self.padding.bottom)
    }

    /// Input columns that memory holds.
    pub fn stored_columns(&self) -> u32 {
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

    pub(super) fn check(&self) -> Result<(), ModelError> {
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

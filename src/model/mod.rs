//! What is computed: networks as ordered lists of layers.
//!
//! Knows nothing of hardware, mappings, rates or files.

use std::collections::HashMap;

use thiserror::Error;

/// Operator class of a layer, as the XRBench artifact's network files name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayerKind {
    /// Dense 2-D convolution; also fully connected layers and matrix products written as one.
    Conv,
    /// Depthwise convolution (`DSCONV`).
    Depthwise,
    /// Transposed convolution (`TRCONV`).
    Transposed,
    /// Non-grouped variant of the artifact (`NGCONV`), evaluated as [`LayerKind::Conv`].
    NonGrouped,
}

impl LayerKind {
    /// Every kind with its spelling in the artifact's files and tables.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Conv, "CONV"),
        (Self::Depthwise, "DSCONV"),
        (Self::Transposed, "TRCONV"),
        (Self::NonGrouped, "NGCONV"),
    ];

    /// Spelling in the artifact's files and tables.
    pub fn artifact_name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Extents of a 2-D convolution loop nest. Equal shapes have equal costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerShape {
    /// Operator class.
    pub kind: LayerKind,
    /// Batch.
    pub n: u32,
    /// Output channels.
    pub k: u32,
    /// Input channels.
    pub c: u32,
    /// Input rows, padding included.
    pub y: u32,
    /// Input columns, padding included.
    pub x: u32,
    /// Kernel rows.
    pub r: u32,
    /// Kernel columns.
    pub s: u32,
    /// Vertical stride.
    pub stride_y: u32,
    /// Horizontal stride.
    pub stride_x: u32,
}

/// A layer that cannot exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// An extent is zero or larger than [`LayerShape::MAX_EXTENT`].
    #[error("{axis} is {found}; an extent lies between 1 and {}", LayerShape::MAX_EXTENT)]
    Extent {
        /// Name of the axis.
        axis: &'static str,
        /// What was given.
        found: u32,
    },
    /// The product of the extents exceeds [`LayerShape::MAX_MACS`].
    #[error("the layer has more than 2^48 multiply-accumulates (the product of its extents)")]
    TooLarge,
    /// The kernel does not fit into the padded input.
    #[error(
        "a {r}x{s} kernel does not fit into the {y}x{x} input (padding included); pad the input, \
         or mark the layer `kernel_exceeds_input: true` if the published tables have it so"
    )]
    KernelExceedsInput {
        /// Kernel rows.
        r: u32,
        /// Kernel columns.
        s: u32,
        /// Input rows.
        y: u32,
        /// Input columns.
        x: u32,
    },
    /// A network without layers.
    #[error("network `{0}` has no layers")]
    Empty(String),
    /// More layers than [`Network::MAX_LAYERS`].
    #[error("{found} layers; a network has at most {}", Network::MAX_LAYERS)]
    TooManyLayers {
        /// How many there are.
        found: usize,
    },
}

impl LayerShape {
    /// Largest extent of one axis.
    pub const MAX_EXTENT: u32 = 1 << 20;
    /// Largest product of extents; keeps every counter of the cost models far from overflow.
    pub const MAX_MACS: u64 = 1 << 48;

    /// Checks extents and their product.
    ///
    /// # Errors
    ///
    /// [`ModelError::Extent`] and [`ModelError::TooLarge`]; whether the kernel fits is asked
    /// separately by [`LayerShape::kernel_fits`], because the published tables hold four layers
    /// whose kernel does not.
    pub fn check(&self) -> Result<(), ModelError> {
        let axes = [
            ("N", self.n),
            ("K", self.k),
            ("C", self.c),
            ("Y", self.y),
            ("X", self.x),
            ("R", self.r),
            ("S", self.s),
            ("stride Y", self.stride_y),
            ("stride X", self.stride_x),
        ];
        for (axis, found) in axes {
            if found == 0 || found > Self::MAX_EXTENT {
                return Err(ModelError::Extent { axis, found });
            }
        }
        let product = axes[..7]
            .iter()
            .try_fold(1u64, |product, &(_, extent)| product.checked_mul(u64::from(extent)));
        match product {
            Some(product) if product <= Self::MAX_MACS => Ok(()),
            _ => Err(ModelError::TooLarge),
        }
    }

    /// Whether the kernel fits into the padded input.
    ///
    /// # Errors
    ///
    /// [`ModelError::KernelExceedsInput`].
    pub fn kernel_fits(&self) -> Result<(), ModelError> {
        if self.r <= self.y && self.s <= self.x {
            return Ok(());
        }
        let Self { r, s, y, x, .. } = *self;
        Err(ModelError::KernelExceedsInput { r, s, y, x })
    }

    /// Output rows, at least 1.
    pub fn output_rows(&self) -> u32 {
        self.y.saturating_sub(self.r) / self.stride_y + 1
    }

    /// Output columns, at least 1.
    pub fn output_columns(&self) -> u32 {
        self.x.saturating_sub(self.s) / self.stride_x + 1
    }

    /// Multiply-accumulates of the layer: one per output element, kernel element and reduced
    /// channel (depthwise layers reduce none).
    pub fn macs(&self) -> u64 {
        let reduced = match self.kind {
            LayerKind::Depthwise => 1,
            _ => u64::from(self.c),
        };
        let outputs = u64::from(self.output_rows()) * u64::from(self.output_columns());
        u64::from(self.n)
            * self.output_channels()
            * reduced
            * outputs
            * u64::from(self.r)
            * u64::from(self.s)
    }

    /// Channels of the output tensor: C for depthwise layers, K otherwise.
    pub fn output_channels(&self) -> u64 {
        match self.kind {
            LayerKind::Depthwise => u64::from(self.c),
            _ => u64::from(self.k),
        }
    }
}

/// One layer of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Name, unique within the network in the shipped tables.
    pub name: Box<str>,
    /// Shape.
    pub shape: LayerShape,
}

/// An ordered list of layers, with its distinct shapes gathered once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    name: Box<str>,
    layers: Vec<Layer>,
    /// Distinct shapes in order of first use.
    shapes: Vec<LayerShape>,
    /// Index into `shapes` for every layer.
    shape_of: Vec<u32>,
}

impl Network {
    /// Most layers of a network; with [`LayerShape::MAX_MACS`] it keeps sums over layers in 64 bits.
    pub const MAX_LAYERS: usize = 50_000;

    /// A network of `layers` in execution order.
    ///
    /// # Errors
    ///
    /// [`ModelError::Empty`] without layers, [`ModelError::TooManyLayers`], otherwise what
    /// [`LayerShape::check`] says of the first bad one.
    pub fn new(name: impl Into<Box<str>>, layers: Vec<Layer>) -> Result<Self, ModelError> {
        let name = name.into();
        if layers.is_empty() {
            return Err(ModelError::Empty(name.into()));
        }
        if layers.len() > Self::MAX_LAYERS {
            return Err(ModelError::TooManyLayers { found: layers.len() });
        }
        let mut shapes = Vec::new();
        let mut seen = HashMap::new();
        let mut shape_of = Vec::with_capacity(layers.len());
        for layer in &layers {
            layer.shape.check()?;
            let index = *seen.entry(layer.shape).or_insert_with(|| {
                shapes.push(layer.shape);
                shapes.len() as u32 - 1
            });
            shape_of.push(index);
        }
        Ok(Self { name, layers, shapes, shape_of })
    }

    /// Name, e.g. `KD_res8_narrow`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Layers in execution order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Distinct shapes in order of first use.
    pub fn shapes(&self) -> &[LayerShape] {
        &self.shapes
    }

    /// Index into [`Network::shapes`] of every layer, in execution order.
    pub fn shape_of(&self) -> &[u32] {
        &self.shape_of
    }

    /// Multiply-accumulates of all layers.
    pub fn macs(&self) -> u64 {
        self.layers.iter().map(|layer| layer.shape.macs()).sum()
    }
}

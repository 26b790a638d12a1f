//! Networks as ordered lists of layers.
//!
//! This module does not know hardware, mappings, rates or files.

mod bits;
mod live;
mod operator;
mod parameter;
mod per_tensor;
mod shapes;
mod tensor;

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::digest::FastDigest;

pub use bits::Bits;
pub use operator::{
    ConvKind, ConvShape, MatmulShape, Operator, Padding, Phase, VectorOp, VectorShape,
};
pub use parameter::Parameter;
pub use per_tensor::{PerOperand, PerTensor, TensorRole};
pub use shapes::{Explanation, Misfit, ShapeCheck, View};
pub use tensor::{Tensor, VectorForm};

/// A layer that cannot exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// An extent is zero or larger than [`ConvShape::MAX_EXTENT`].
    #[error("{axis} is {found}; an extent lies between 1 and {}", ConvShape::MAX_EXTENT)]
    Extent {
        /// Name of the axis.
        axis: &'static str,
        /// Given extent.
        found: u32,
    },
    /// The product of the extents exceeds [`Operator::MAX_MACS`].
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
    /// Groups that do not divide the channels.
    #[error("{groups} groups do not divide {k} output and {c} input channels")]
    Groups {
        /// Groups.
        groups: u32,
        /// Output channels.
        k: u32,
        /// Input channels.
        c: u32,
    },
    /// Nothing but padding; of a transposed convolution, which it crops, no output.
    #[error("the padding leaves nothing")]
    OnlyPadding,
    /// A transposed convolution with dilation.
    #[error("a transposed convolution cannot be dilated")]
    DilatedTransposed,
    /// A layer reads one before the first.
    #[error("layer {layer} (counted from 0) reads the one {back} before it; there is none")]
    Source {
        /// The layer.
        layer: usize,
        /// How far back.
        back: u32,
    },
    /// A layer that reads nothing.
    #[error("layer {0} (counted from 0) has no source")]
    NoSource(usize),
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

/// Where a layer gets an input from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// From outside of the network: a sensor, another network, or state of an earlier frame.
    Outside,
    /// From the layer this many places earlier; at least 1.
    Back(u32),
}

impl Source {
    /// Index of the layer that writes it, as layer number `reader` reads it; `None` from outside.
    pub fn writer(self, reader: usize) -> Option<usize> {
        match self {
            Self::Outside => None,
            Self::Back(back) => Some(reader - back as usize),
        }
    }
}

/// One layer of a network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Name, unique within the network in the shipped tables.
    pub name: Box<str>,
    /// Operator that it computes.
    pub operator: Operator,
    /// Where its inputs come from; of a product of activations first A, then B.
    pub sources: Vec<Source>,
    /// How it reads each source; all of them whole if this is empty.
    pub views: Vec<View>,
    /// Extents of a vector operator; `None` if only its sizes are known, and of other operators.
    pub form: Option<VectorForm>,
    /// Whether its weights are those of a layer before it, or fixed: not parameters of its own.
    pub shares_weights: bool,
    /// Widths of its data, where they are not those of the hardware.
    pub bits: Bits,
}

impl Layer {
    /// A layer that reads the one before it, and has weights of its own.
    pub fn new(name: impl Into<Box<str>>, operator: impl Into<Operator>) -> Self {
        Self {
            name: name.into(),
            operator: operator.into(),
            sources: vec![Source::Back(1)],
            views: Vec::new(),
            form: None,
            shares_weights: false,
            bits: Bits::default(),
        }
    }

    /// How it reads the source of this index.
    pub fn view(&self, source: usize) -> View {
        self.views.get(source).copied().unwrap_or_default()
    }
}

/// An ordered list of layers, with its distinct operators gathered once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    name: Box<str>,
    /// Shared by all networks that differ in name only.
    layers: Arc<Layers>,
    connections: Connections,
    parameters: Arc<[Parameter]>,
    /// Layers that have nothing to do, ascending.
    absent: Arc<[u32]>,
}

#[derive(Debug, PartialEq, Eq)]
struct Layers {
    layers: Vec<Layer>,
    /// Distinct operators in order of first use; those whose data have other widths are others.
    operators: Vec<Operator>,
    /// Widths of the data of every operator, by index into `operators`.
    bits: Vec<Bits>,
    /// Index into `operators` for every layer.
    operator_of: Vec<u32>,
    digest: Computed<FastDigest>,
    /// Layers that read the output of every layer.
    readers: Computed<Vec<Vec<u32>>>,
}

/// A value of layers that is computed when it is first asked for.
#[derive(Debug)]
struct Computed<T>(OnceLock<T>);

impl<T> Default for Computed<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> PartialEq for Computed<T> {
    /// Equal layers have equal values, computed or not.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Computed<T> {}

/// Whether the layers of a network and their sources are all that lies between its tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Connections {
    /// Every operator is a layer, but for those that `models/README.md` calls no layers.
    #[default]
    Complete,
    /// Operators or edges are left out, as in a bare list of convolutions: shapes need not chain.
    Incomplete,
}

impl Connections {
    /// Both with their names in files.
    pub const ALL: [(&'static str, Self); 2] =
        [("complete", Self::Complete), ("incomplete", Self::Incomplete)];
}

impl Network {
    /// Most layers of a network; with [`Operator::MAX_MACS`] it keeps sums over layers in 64 bits.
    pub const MAX_LAYERS: usize = 50_000;

    /// A network of `layers` in execution order. The first layer reads from outside.
    ///
    /// # Errors
    ///
    /// Returns [`ModelError::Empty`] without layers, [`ModelError::TooManyLayers`] above
    /// [`Network::MAX_LAYERS`], [`ModelError::Source`] for a source that does not exist, and the error of
    /// [`Operator::check`] for the first invalid operator.
    pub fn new(name: impl Into<Box<str>>, mut layers: Vec<Layer>) -> Result<Self, ModelError> {
        let name = name.into();
        let Some(first) = layers.first_mut() else {
            return Err(ModelError::Empty(name.into()));
        };
        if first.sources == [Source::Back(1)] {
            first.sources = vec![Source::Outside];
        }
        if layers.len() > Self::MAX_LAYERS {
            return Err(ModelError::TooManyLayers { found: layers.len() });
        }
        let (mut operators, mut bits) = (Vec::new(), Vec::new());
        let mut seen = FxHashMap::default();
        let mut operator_of = Vec::with_capacity(layers.len());
        for (index, layer) in layers.iter().enumerate() {
            layer.operator.check()?;
            check_sources(index, &layer.sources)?;
            let own = layer.bits.of(&layer.operator);
            let at = *seen.entry((layer.operator, own)).or_insert_with(|| {
                operators.push(layer.operator);
                bits.push(own);
                operators.len() as u32 - 1
            });
            operator_of.push(at);
        }
        let (digest, readers) = Default::default();
        let layers = Arc::new(Layers { layers, operators, bits, operator_of, digest, readers });
        let (connections, parameters) = (Connections::default(), Arc::default());
        Ok(Self { name, layers, connections, parameters, absent: Arc::default() })
    }

    /// A network that was measured as a whole: its layers are not known.
    pub fn measured(name: impl Into<Box<str>>) -> Self {
        let layers = Layers {
            layers: Vec::new(),
            operators: Vec::new(),
            bits: Vec::new(),
            operator_of: Vec::new(),
            digest: Computed::default(),
            readers: Computed::default(),
        };
        let (connections, parameters) = (Connections::Complete, Arc::default());
        let (name, layers) = (name.into(), Arc::new(layers));
        Self { name, layers, connections, parameters, absent: Arc::default() }
    }

    /// Whether it was measured as a whole, so that it has no layers.
    pub fn is_measured(&self) -> bool {
        self.layers().is_empty()
    }

    /// This network on a batch of `n` inputs: activations grow `n`-fold, weights stay. The batch is part of
    /// the name, `KD_res8_narrow x8`, unless `n` is 1.
    ///
    /// # Errors
    ///
    /// [`ModelError::Extent`] or [`ModelError::TooLarge`] if a layer becomes too large, or `n` is 0.
    pub fn batched(&self, n: u32) -> Result<Self, ModelError> {
        match n {
            0 => return Err(ModelError::Extent { axis: "N", found: 0 }),
            1 => return Ok(self.clone()),
            _ => {}
        }
        let layer = |layer: &Layer| Layer {
            operator: layer.operator.batched(n),
            form: layer.form.map(|form| form.batched(n)),
            ..layer.clone()
        };
        let layers = self.layers().iter().map(layer).collect();
        let batched = Self::new(format!("{} x{n}", self.name), layers)?;
        let (connections, parameters) = (self.connections, Arc::clone(&self.parameters));
        Ok(Self { connections, parameters, absent: Arc::clone(&self.absent), ..batched })
    }

    /// The same layers with these connections.
    #[must_use]
    pub fn connected(self, connections: Connections) -> Self {
        Self { connections, ..self }
    }

    /// Whether layers and sources are complete.
    pub fn connections(&self) -> Connections {
        self.connections
    }

    /// The same layers, whose extents were made with these values of parameters.
    #[must_use]
    pub fn with_parameters(self, parameters: Vec<Parameter>) -> Self {
        Self { parameters: parameters.into(), ..self }
    }

    /// Parameters that extents depend on, with the values that the layers have.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The same layers, of which those with these indices, in ascending order, have nothing to do: an extent of each is a
    /// count of 0. Their operators are those of a count of 1.
    #[must_use]
    pub fn with_absent(self, absent: Vec<u32>) -> Self {
        Self { absent: absent.into(), ..self }
    }

    /// Layers that have nothing to do, ascending.
    pub fn absent(&self) -> &[u32] {
        &self.absent
    }

    /// Name, e.g. `KD_res8_narrow`; after a colon the parameters that are not at their defaults:
    /// `PD_planercnn_160x160:regions=100`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same network under another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Whether `other` was made from this network, or this one from it, by a change of name. Equal layers
    /// that were read twice do not count.
    pub(crate) fn shares_layers(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.layers, &other.layers) && self.absent == other.absent
    }

    /// Whether `other` has the same layers, and as little to do in each of them.
    pub fn has_layers_of(&self, other: &Self) -> bool {
        self.shares_layers(other) || self.layers() == other.layers() && self.absent == other.absent
    }

    /// Layers in execution order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers.layers
    }

    /// Digest of the layers with their sources.
    pub fn digest(&self) -> FastDigest {
        let Layers { layers, digest, .. } = &*self.layers;
        *digest.0.get_or_init(|| FastDigest::of_value(layers))
    }

    /// Distinct operators in order of first use. An operator occurs again for other widths of its data.
    pub fn operators(&self) -> &[Operator] {
        &self.layers.operators
    }

    /// Widths of the data of the distinct operators, by index into [`Network::operators`].
    pub fn bits(&self) -> &[Bits] {
        &self.layers.bits
    }

    /// Index into [`Network::operators`] of every layer, in execution order.
    pub fn operator_of(&self) -> &[u32] {
        &self.layers.operator_of
    }

    /// Multiply-accumulates of all layers.
    pub fn macs(&self) -> u64 {
        let all: u64 = self.layers().iter().map(|layer| layer.operator.macs()).sum();
        let absent = self.absent.iter().map(|&at| self.layers()[at as usize].operator.macs());
        all - absent.sum::<u64>()
    }

    /// Weights of all layers, shared ones once.
    pub fn weights(&self) -> u64 {
        self.weights_where(|_| true)
    }

    /// Weights of the layers that `is_counted` accepts, shared ones once.
    pub fn weights_where(&self, is_counted: impl Fn(Bits) -> bool) -> u64 {
        let own = self.layers().iter().filter(|layer| !layer.shares_weights);
        let own = own.filter(|layer| is_counted(layer.bits));
        own.map(|layer| layer.operator.weights()).sum()
    }
}

/// Whether layer `index` has sources, and every one exists.
fn check_sources(index: usize, sources: &[Source]) -> Result<(), ModelError> {
    if sources.is_empty() {
        return Err(ModelError::NoSource(index));
    }
    sources.iter().try_for_each(|source| match *source {
        Source::Back(back) if back == 0 || back as usize > index => {
            Err(ModelError::Source { layer: index, back })
        }
        _ => Ok(()),
    })
}

//! Shapes that an operator expects of a source, and the ways in which a tensor can be read as that.

use std::fmt;

use crate::model::tensor::stored;
use crate::model::{ConvKind, Layer, MatmulShape, Operator, Tensor, VectorForm, VectorOp};

use super::View;

/// Keys of the axes of a tensor in files: batch, channels, rows and columns.
pub(super) type Keys = [&'static str; 4];

const CONV: Keys = ["n", "c", "y", "x"];
const VECTOR: Keys = ["n", "k", "y", "x"];
const PRODUCT: Keys = ["instances", "c", "rows", "x"];
const RESULT: Keys = ["instances", "k", "rows", "x"];
/// Of a second matrix as it is multiplied, and as keys of attention are stored.
const SECOND: Keys = ["instances", "k", "c", "x"];
const TRANSPOSED: Keys = ["instances", "c", "k", "x"];

/// A tensor that an operator reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Port {
    /// Its extents.
    pub tensor: Tensor,
    /// How files call them.
    pub keys: Keys,
    /// Whether it is a matrix, of which only the number of rows counts.
    matrix: bool,
    /// Whether it is a vector for each of `n`, so that a tensor can be flattened to it.
    flat: bool,
    /// Whether padding can lie around it.
    padded: bool,
}

/// The tensors that a layer expects of its sources.
#[derive(Debug, Clone)]
pub(super) enum Ports {
    /// One tensor, which each of the sources is, or which they are together along the channels.
    One(Port),
    /// One tensor, which the sources are together along any axis.
    Joined(Port),
    /// One tensor, to which each source is broadcast.
    Broadcast(Port),
    /// The first source is the first matrix, the rest are the second, in one of two orders.
    Matrices(Port, [Port; 2]),
    /// A number of elements in total.
    Count {
        /// How many.
        elements: u64,
        /// Whether constants can be among them.
        constants: bool,
    },
}

impl Ports {
    /// Ports of `layer`.
    pub(super) fn from_layer(layer: &Layer) -> Self {
        match &layer.operator {
            Operator::Conv(shape) => {
                let tensor = stored(shape);
                let flat = [tensor.y, tensor.x, shape.r, shape.s] == [1; 4];
                let padded = shape.kind != ConvKind::Transposed;
                Self::One(Port { tensor, keys: CONV, matrix: false, flat, padded })
            }
            Operator::Matmul(shape) => Self::of_product(shape),
            Operator::Vector(shape) => {
                let Some(form) = layer.form.filter(|form| tells(shape.op, form, layer)) else {
                    let constants = matches!(shape.op, VectorOp::Mul | VectorOp::SparseProduct);
                    return Self::Count { elements: shape.inputs, constants };
                };
                Self::of_vector(shape.op, &form)
            }
        }
    }

    fn of_product(shape: &MatmulShape) -> Self {
        let &MatmulShape { instances: n, rows, k, c, activations } = shape;
        let port = |keys, y, k| {
            let tensor = Tensor { n, k, y, x: 1 };
            let flat = n == 1 && !activations;
            Port { tensor, keys, matrix: true, flat, padded: false }
        };
        let first = port(PRODUCT, rows, c);
        match activations {
            true => Self::Matrices(first, [port(TRANSPOSED, k, c), port(SECOND, c, k)]),
            false => Self::One(first),
        }
    }

    fn of_vector(op: VectorOp, form: &VectorForm) -> Self {
        let tensor = form.read();
        let padded = matches!(form, VectorForm::Window(_));
        let port = Port { tensor, keys: VECTOR, matrix: is_matrix(form), flat: false, padded };
        match op {
            VectorOp::Add | VectorOp::Mul => Self::Broadcast(port),
            VectorOp::Concat => Self::Joined(port),
            _ => Self::One(port),
        }
    }
}

/// Whether a vector operator works on rows of channels.
fn is_matrix(form: &VectorForm) -> bool {
    matches!(form, VectorForm::Tensor(Tensor { x: 1, .. }))
}

/// Whether the form of a vector operator tells what it reads: not of regions and suppression, whose
/// form is their output, and not where the elements read are given in its place.
fn tells(op: VectorOp, form: &VectorForm, layer: &Layer) -> bool {
    match op {
        VectorOp::RoiAlign | VectorOp::Nms => false,
        VectorOp::Add | VectorOp::Mul | VectorOp::SparseProduct => true,
        _ => form.sizes(op, layer.sources.len(), 0).inputs == layer.operator.inputs(),
    }
}

/// Elements that a source gives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given {
    /// Anything: it lies outside of the network.
    Outside,
    /// A number of elements of unknown extents.
    Count(u64),
    /// A tensor.
    Tensor {
        /// Its extents.
        tensor: Tensor,
        /// How files call them.
        keys: Keys,
        /// Whether it is a matrix: rows of channels.
        matrix: bool,
    },
}

impl Given {
    /// Elements that `layer` gives.
    pub(super) fn from_layer(layer: &Layer) -> Self {
        let Some(tensor) = layer.written() else {
            return Self::Count(layer.operator.outputs());
        };
        let (keys, matrix) = match layer.operator {
            Operator::Conv(_) => (VECTOR, false),
            Operator::Matmul(_) => (RESULT, true),
            Operator::Vector(_) => (VECTOR, layer.form.as_ref().is_some_and(is_matrix)),
        };
        Self::Tensor { tensor, keys, matrix }
    }

    /// Number of elements, unless it is unknown.
    pub(super) fn elements(&self) -> Option<u64> {
        match self {
            Self::Outside => None,
            Self::Count(elements) => Some(*elements),
            Self::Tensor { tensor, .. } => Some(tensor.elements()),
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("anything"),
            Self::Count(elements) => write!(f, "{elements} elements"),
            Self::Tensor { tensor, keys, matrix } => write(f, tensor, keys, *matrix),
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &self.tensor, &self.keys, self.matrix)
    }
}

/// Writes `k 32, y 112, x 112`: the batch if it is not 1, columns if it is no matrix.
fn write(f: &mut fmt::Formatter<'_>, tensor: &Tensor, keys: &Keys, matrix: bool) -> fmt::Result {
    let [n, k, y, x] = tensor.extents();
    if n != 1 {
        write!(f, "{} {n}, ", keys[0])?;
    }
    write!(f, "{} {k}, {} {y}", keys[1], keys[2])?;
    if matrix { Ok(()) } else { write!(f, ", {} {x}", keys[3]) }
}

/// Given and expected extent of an axis, or of several axes combined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    /// Its key in the entry of who expects it.
    pub key: &'static str,
    /// Which of batch, channels, rows and columns it stands for, a bit each.
    pub axes: u8,
    pub given: u64,
    pub expected: u64,
}

const BATCH: u8 = 1;
const CHANNELS: u8 = 2;
const ROWS: u8 = 4;
const COLUMNS: u8 = 8;
/// All that a broadcast has to cover.
pub(crate) const ALL_AXES: u8 = BATCH | CHANNELS | ROWS | COLUMNS;

/// One way to read a tensor as another: axis beside axis.
pub(super) type Reading = Vec<Pair>;

impl Port {
    /// The ways in which a tensor can be read as this one without a word about it: axis by axis; as a
    /// matrix whose rows are all positions; flattened; heads taken together or apart.
    pub(crate) fn readings(
        &self,
        given: Tensor,
        given_matrix: bool,
    ) -> impl Iterator<Item = Reading> {
        let when = |holds: bool| holds.then_some(()).into_iter();
        let direct = when(true).map(move |()| self.direct(given));
        let batch = when(given_matrix && given.n == 1);
        let batch = batch.map(move |()| self.direct(Tensor { n: given.y, y: 1, ..given }));
        let matrix = when(self.matrix || given_matrix);
        let matrix = matrix.map(move |()| self.rows(given.positions(), given.k.into(), 1));
        let flat = when(self.flat).map(move |()| {
            let features = Tensor { n: 1, ..given }.elements();
            self.rows(given.n.into(), features, 1)
        });
        // Heads of several instances, side by side.
        let together = divisors(if given_matrix && self.tensor.n == 1 { given.n } else { 0 });
        let together = together.map(move |heads| {
            let rows = u64::from(given.n / heads) * u64::from(given.y);
            self.rows(rows, u64::from(given.k) * u64::from(heads), 1)
        });
        let apart = divisors(if self.matrix && self.tensor.n > 1 { self.tensor.n } else { 0 });
        let apart = apart.map(move |heads| self.rows(given.positions(), given.k.into(), heads));
        direct.chain(batch).chain(matrix).chain(flat).chain(together).chain(apart)
    }

    fn direct(&self, given: Tensor) -> Reading {
        let extents = given.extents().into_iter().zip(self.tensor.extents());
        let pair = |(axis, (given, expected)): (usize, (u32, u32))| Pair {
            key: self.keys[axis],
            axes: 1 << axis,
            given: given.into(),
            expected: expected.into(),
        };
        extents.enumerate().map(pair).collect()
    }

    /// Rows of features, beside those of this tensor with so many of its instances side by side.
    fn rows(&self, rows: u64, features: u64, heads: u32) -> Reading {
        let axes = BATCH | ROWS | COLUMNS;
        let expected = self.tensor.positions() / u64::from(heads);
        let rows = Pair { key: self.keys[2], axes, given: rows, expected };
        let expected = u64::from(self.tensor.k) * u64::from(heads);
        let key = self.keys[1];
        vec![Pair { key, axes: CHANNELS, given: features, expected }, rows]
    }

    /// Whether a tensor can be cut into windows, which the instances of this one are, heads by heads.
    fn takes_windows(&self, given: Tensor) -> bool {
        let mut heads = divisors(if self.matrix { self.tensor.n } else { 0 });
        heads.any(|heads| {
            let rows = self.tensor.positions() / u64::from(heads);
            let features = u64::from(self.tensor.k) * u64::from(heads);
            let padding = rows.checked_sub(given.positions());
            padding.is_some_and(|padding| padding < self.tensor.y.into())
                && u64::from(given.k).is_multiple_of(features)
        })
    }

    /// Whether a source that is read in this way fits by itself.
    pub(super) fn takes(&self, given: &Given, view: View) -> bool {
        match *given {
            Given::Outside => true,
            Given::Count(elements) => view.relates(elements, self.tensor.elements()),
            Given::Tensor { tensor, matrix, .. } => match view {
                View::Reshape => tensor.elements() == self.tensor.elements(),
                View::Windows => self.takes_windows(tensor),
                View::Gather => true,
                _ => {
                    let relates = |pair: &Pair| view.relates(pair.given, pair.expected);
                    self.readings(tensor, matrix).any(|it| it.iter().all(relates))
                }
            },
        }
    }

    /// Parts that a source can add to the axis of `key` if others stand beside it there: the extent of the
    /// whole that this is a part of, and the least and the most that it is.
    pub(super) fn parts(&self, given: &Given, view: View, key: &'static str) -> Vec<Part> {
        match *given {
            Given::Tensor { tensor, matrix, .. } if view != View::Reshape => {
                let readings = self.readings(tensor, matrix);
                readings.filter_map(|reading| part(&reading, view, key)).collect()
            }
            _ => self.parts_of_count(given.elements().unwrap_or(0), key),
        }
    }

    /// The same of elements without a shape: their number tells how much they are.
    fn parts_of_count(&self, elements: u64, key: &'static str) -> Vec<Part> {
        let whole = self.tensor.elements();
        let readings = self.readings(self.tensor, self.matrix);
        let extents = readings.flatten().filter(|pair| pair.key == key).map(|pair| pair.expected);
        let part = |extent: u64| {
            let others = whole / extent;
            elements.is_multiple_of(others).then(|| (extent, [elements / others; 2]))
        };
        extents.filter_map(part).collect()
    }

    /// Rows and columns that a tensor lacks of this one, if that can be padding.
    pub(super) fn padding(&self, given: &Given) -> Option<[u32; 2]> {
        let &Given::Tensor { tensor: Tensor { n, k, y, x }, .. } = given else {
            return None;
        };
        let same = self.padded && (n, k) == (self.tensor.n, self.tensor.k);
        let [rows, columns] = [self.tensor.y.checked_sub(y)?, self.tensor.x.checked_sub(x)?];
        (same && rows + columns > 0).then_some([rows, columns])
    }

    /// The key of the first extent that differs in the reading in which the fewest do.
    pub(crate) fn worst(&self, given: &Given) -> &'static str {
        let &Given::Tensor { tensor, matrix, .. } = given else {
            return self.keys[1];
        };
        let differing = |reading: Reading| {
            let differs = |pair: &Pair| pair.given != pair.expected;
            reading.into_iter().filter(differs).map(|pair| pair.key).collect::<Vec<_>>()
        };
        let readings = self.readings(tensor, matrix).map(differing);
        let fewest = readings.min_by_key(Vec::len).unwrap_or_default();
        fewest.first().copied().unwrap_or(self.keys[1])
    }
}

/// A part of an axis: extent of the whole, least and most of the part.
pub(super) type Part = (u64, [u64; 2]);

fn part(reading: &Reading, view: View, key: &'static str) -> Option<Part> {
    let joined = reading.iter().find(|pair| pair.key == key)?;
    let mut others = reading.iter().filter(|pair| pair.key != key);
    let fits = others.all(|pair| view.relates(pair.given, pair.expected));
    view.range(joined.given).filter(|_| fits).map(|range| (joined.expected, range))
}

fn divisors(n: u32) -> impl Iterator<Item = u32> {
    let small = (1..=n.isqrt()).filter(move |divisor| n.is_multiple_of(*divisor));
    small.flat_map(move |small| {
        let large = (small != n / small).then_some(n / small);
        std::iter::once(small).chain(large)
    })
}

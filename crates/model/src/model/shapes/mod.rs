//! Shapes between layers: output shapes, expected input shapes, and mismatches between them.
//!
//! A source fits if it can be read in the expected shape in one of a few ways that need no view
//! ([`Port::readings`]). Changes of shape are no layers; any other of them is stated by a [`View`].

mod port;
mod view;

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Connections, Layer, Network, Source};
use port::{ALL_AXES, Given, Port, Ports, Reading};
pub use view::View;

/// More sources than this are not looked at one by one for needless views.
const MANY_SOURCES: usize = 16;

/// Faults in the shapes of a network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShapeCheck {
    /// Layers that cannot read a source, in order.
    pub misfits: Vec<Misfit>,
    /// Layers, each with the index of its first source whose view is redundant.
    pub needless: Vec<(usize, usize)>,
}

/// A layer that cannot read its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The layer.
    pub layer: usize,
    /// Which of its sources: one, or all that it reads together.
    pub sources: Vec<usize>,
}

/// Both sides of a [`Misfit`], and possible corrections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Key of the extent that differs.
    pub key: &'static str,
    /// Shape that the layer expects, in the words of a file.
    pub expected: String,
    /// Shapes that the sources give.
    pub given: Vec<String>,
    /// Views of the sources that would fit.
    pub views: Vec<View>,
    /// Rows and columns that are missing and can be padding.
    pub padding: Option<[u32; 2]>,
}

impl Network {
    /// Checks the sources of every layer, unless connections are incomplete.
    pub fn check_shapes(&self) -> ShapeCheck {
        let mut check = ShapeCheck::default();
        if self.connections() == Connections::Incomplete {
            return check;
        }
        for layer in 0..self.layers().len() {
            Reader::new(self.layers(), layer).check(layer, &mut check);
        }
        check
    }

    /// Explains why a layer of this network cannot read its sources.
    pub fn explain(&self, misfit: &Misfit) -> Explanation {
        Reader::new(self.layers(), misfit.layer).explain(&misfit.sources)
    }
}

/// Expectations of a layer, the tensors that its sources give, and how it reads them.
struct Reader {
    ports: Ports,
    sources: Vec<(Given, View)>,
}

impl Reader {
    fn new(layers: &[Layer], index: usize) -> Self {
        let layer = &layers[index];
        let source = |(place, source): (usize, &Source)| match *source {
            Source::Outside => (Given::Outside, View::Whole),
            Source::Back(back) => {
                (Given::from_layer(&layers[index - back as usize]), layer.view(place))
            }
        };
        let sources = layer.sources.iter().enumerate().map(source).collect();
        Self { ports: Ports::from_layer(layer), sources }
    }

    fn check(mut self, layer: usize, check: &mut ShapeCheck) {
        if let Some(sources) = self.misfit() {
            check.misfits.push(Misfit { layer, sources });
            return;
        }
        check.needless.extend(self.needless().map(|place| (layer, place)));
    }

    /// The first source of which a view is stated though it fits without. Of many sources they are
    /// needless only all at once, which takes one look at each.
    fn needless(&mut self) -> Option<usize> {
        let stated = self.sources.iter().position(|(_, view)| *view != View::Whole)?;
        let n_sources = self.sources.len();
        if n_sources > MANY_SOURCES {
            return self.fits_without(0..n_sources).then_some(stated);
        }
        let is_stated = |reader: &Self, place: usize| reader.sources[place].1 != View::Whole;
        (stated..n_sources)
            .find(|&place| is_stated(self, place) && self.fits_without(place..place + 1))
    }

    /// Whether the layer fits without the views of these sources.
    fn fits_without(&mut self, places: Range<usize>) -> bool {
        let kept = self.sources.clone();
        self.sources[places].iter_mut().for_each(|(_, view)| *view = View::Whole);
        let fits = self.misfit().is_none();
        self.sources = kept;
        fits
    }

    /// The sources that do not fit: one, or all that are read together.
    fn misfit(&self) -> Option<Vec<usize>> {
        let all = || (0..self.sources.len()).collect();
        match &self.ports {
            Ports::One(port) => {
                let alone = self.alone(port);
                let joins = || joins(port, &self.sources, &port.keys[1..2]);
                alone.filter(|_| self.sources.len() == 1 || !joins())
            }
            Ports::Joined(port) if self.sources.len() > 1 => {
                (!joins(port, &self.sources, &port.keys)).then(all)
            }
            Ports::Joined(port) => self.alone(port),
            Ports::Broadcast(port) => self.broadcast(port),
            Ports::Matrices(first, second) => self.matrices(first, second),
            &Ports::Count { elements, constants } => {
                (!counts(&self.sources, elements, constants)).then(all)
            }
        }
    }

    fn takes(&self, source: usize, port: &Port) -> bool {
        let (given, view) = &self.sources[source];
        port.takes(given, *view)
    }

    /// The first source that is not this tensor.
    fn alone(&self, port: &Port) -> Option<Vec<usize>> {
        let misfit = (0..self.sources.len()).find(|&source| !self.takes(source, port));
        misfit.map(|source| vec![source])
    }

    /// The sources that are not the two matrices of a product; of a single one both are parts.
    fn matrices(&self, first: &Port, second: &[Port; 2]) -> Option<Vec<usize>> {
        let takes_second = |source| second.iter().any(|port| self.takes(source, port));
        if !self.takes(0, first) {
            return Some(vec![0]);
        }
        let joined = |port: &Port| joins(port, &self.sources[1..], &port.keys[1..3]);
        match self.sources.len() {
            1 => (!takes_second(0)).then(|| vec![0]),
            2 => (!takes_second(1)).then(|| vec![1]),
            n => (!second.iter().any(joined)).then(|| (1..n).collect()),
        }
    }

    /// The source that cannot be broadcast, or all if they leave an axis of the sum to none.
    fn broadcast(&self, port: &Port) -> Option<Vec<usize>> {
        let mut covered = 0;
        for (place, (given, view)) in self.sources.iter().enumerate() {
            let axes = match (given, view) {
                (Given::Tensor { tensor, matrix, .. }, View::Whole) => {
                    broadcast(port.readings(*tensor, *matrix))
                }
                _ => self.takes(place, port).then_some(ALL_AXES),
            };
            let Some(axes) = axes else {
                return Some(vec![place]);
            };
            covered |= axes;
        }
        (covered != ALL_AXES).then(|| (0..self.sources.len()).collect())
    }

    fn explain(&self, sources: &[usize]) -> Explanation {
        let (first, _) = &self.sources[sources[0]];
        let port = self.port(sources[0]);
        let expected = match (&self.ports, port) {
            (&Ports::Count { elements, .. }, _) => format!("{elements} elements"),
            (_, port) => port.map_or(String::new(), ToString::to_string),
        };
        Explanation {
            key: port.map_or("inputs", |port| port.worst(first)),
            expected,
            given: sources.iter().map(|&source| self.sources[source].0.to_string()).collect(),
            views: self.fitting(sources),
            padding: port.and_then(|port| port.padding(first)),
        }
    }

    fn port(&self, source: usize) -> Option<&Port> {
        match &self.ports {
            Ports::One(port) | Ports::Joined(port) | Ports::Broadcast(port) => Some(port),
            Ports::Matrices(first, _) if source == 0 => Some(first),
            Ports::Matrices(_, [_, second]) => Some(second),
            Ports::Count { .. } => None,
        }
    }

    /// Views that would fit if these sources were read so.
    fn fitting(&self, sources: &[usize]) -> Vec<View> {
        let fits = |view: &View| {
            let mut changed = Self { ports: self.ports.clone(), sources: self.sources.clone() };
            sources.iter().for_each(|&source| changed.sources[source].1 = *view);
            changed.misfit().is_none()
        };
        let told = [View::Reshape, View::Slice, View::Repeat, View::Pad, View::Windows];
        told.into_iter().filter(fits).collect()
    }
}

/// The axes that a tensor covers if it is broadcast in one of these ways; `None` if it cannot be.
fn broadcast(readings: impl Iterator<Item = Reading>) -> Option<u8> {
    let fits = |reading: &Reading| {
        reading.iter().all(|pair| pair.given == pair.expected || pair.given == 1)
    };
    let covered = |reading: Reading| {
        let full = reading.iter().filter(|pair| pair.given == pair.expected);
        full.fold(0, |axes, pair| axes | pair.axes)
    };
    readings.filter(fits).map(covered).max_by_key(|axes| axes.count_ones())
}

/// Whether sources side by side, along the axis of one of these keys, are the tensor of `port`.
fn joins(port: &Port, sources: &[(Given, View)], keys: &[&'static str]) -> bool {
    keys.iter().any(|key| {
        let mut sums: Option<BTreeMap<u64, [u64; 2]>> = None;
        let mut free = 0;
        for (given, view) in sources {
            if matches!((given, view), (Given::Outside, _) | (_, View::Gather)) {
                free += 1;
                continue;
            }
            let parts = hulls(port.parts(given, *view, key));
            sums = Some(match sums {
                None => parts,
                Some(sums) => added(sums, &parts),
            });
        }
        sums.is_none_or(|sums| sums.into_iter().any(|(whole, sum)| is_sum(&[sum], free, whole)))
    })
}

/// The least and the most that any of these parts of each whole is.
fn hulls(parts: Vec<port::Part>) -> BTreeMap<u64, [u64; 2]> {
    let mut hulls = BTreeMap::new();
    for (whole, [low, high]) in parts {
        let hull = hulls.entry(whole).or_insert([low, high]);
        *hull = [hull[0].min(low), hull[1].max(high)];
    }
    hulls
}

/// The sums of parts of the wholes that both have.
fn added(
    sums: BTreeMap<u64, [u64; 2]>,
    parts: &BTreeMap<u64, [u64; 2]>,
) -> BTreeMap<u64, [u64; 2]> {
    let sum = |(whole, [low, high]): (u64, [u64; 2])| {
        let [more_low, more_high] = parts.get(&whole)?;
        Some((whole, [low.saturating_add(*more_low), high.saturating_add(*more_high)]))
    };
    sums.into_iter().filter_map(sum).collect()
}

/// Whether parts, each between a least and a most, add up to `whole` with so many more of which
/// nothing is known.
fn is_sum(parts: &[[u64; 2]], free: u64, whole: u64) -> bool {
    let sum = |bound: usize| parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part[bound]));
    let least = sum(0).saturating_add(free);
    let most = if free > 0 { u64::MAX } else { sum(1) };
    (least..=most).contains(&whole)
}

/// Whether sources have this number of elements in total; with constants among them, at most this number.
fn counts(sources: &[(Given, View)], elements: u64, constants: bool) -> bool {
    let known = sources.iter().filter_map(|(given, view)| Some((given.elements()?, *view)));
    let ranges: Option<Vec<_>> = known.map(|(given, view)| view.range(given)).collect();
    let Some(ranges) = ranges else {
        return false;
    };
    let free = (sources.len() - ranges.len()) as u64;
    is_sum(&ranges, free, elements) || (constants && is_sum(&ranges, free + 1, elements))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        ConvShape, MatmulShape, Operator, Tensor, VectorForm, VectorOp, VectorShape,
    };

    fn conv(k: u32, c: u32, y: u32, x: u32) -> Layer {
        Layer::new("conv", ConvShape { k, c, y, x, ..ConvShape::UNIT })
    }

    fn product(instances: u32, rows: u32, c: u32, k: u32, activations: bool) -> Layer {
        let shape = MatmulShape { instances, rows, k, c, activations };
        Layer::new("product", Operator::Matmul(shape))
    }

    fn vector(op: VectorOp, [n, k, y, x]: [u32; 4], sources: &[u32]) -> Layer {
        let form = VectorForm::Tensor(Tensor { n, k, y, x });
        let shape = form.sizes(op, sources.len(), 0);
        let form = Some(form);
        from(sources, Layer { form, ..Layer::new("vector", Operator::Vector(shape)) })
    }

    fn from(sources: &[u32], layer: Layer) -> Layer {
        let source = |&back: &u32| if back == 0 { Source::Outside } else { Source::Back(back) };
        Layer { sources: sources.iter().map(source).collect(), ..layer }
    }

    /// The sources of the last layer that do not fit.
    fn misfit(layers: Vec<Layer>) -> Option<Vec<usize>> {
        let last = layers.len() - 1;
        let check = Network::new("network", layers).unwrap().check_shapes();
        assert!(check.misfits.iter().all(|misfit| misfit.layer == last), "{check:?}");
        check.misfits.first().map(|misfit| misfit.sources.clone())
    }

    #[test]
    fn a_convolution_reads_its_own_extents() {
        assert_eq!(misfit(vec![conv(8, 3, 6, 5), conv(1, 8, 6, 5)]), None);
        for other in [conv(1, 7, 6, 5), conv(1, 8, 5, 6), conv(1, 8, 30, 1), conv(1, 8, 3, 10)] {
            assert_eq!(misfit(vec![conv(8, 3, 6, 5), other]), Some(vec![0]));
        }
    }

    /// 8 x 6 x 5 = 240 features; 30 positions of 8.
    #[test]
    fn a_product_reads_positions_or_everything() {
        let image = || conv(8, 3, 6, 5);
        assert_eq!(misfit(vec![image(), product(1, 1, 240, 4, false)]), None);
        assert_eq!(misfit(vec![image(), product(1, 30, 8, 4, false)]), None);
        assert_eq!(misfit(vec![image(), product(1, 8, 30, 4, false)]), Some(vec![0]));
        assert_eq!(misfit(vec![image(), product(1, 15, 16, 4, false)]), Some(vec![0]));
        assert_eq!(misfit(vec![product(1, 30, 2, 8, false), conv(1, 8, 6, 5)]), None);
    }

    /// 10 rows of 512 features are 8 heads of 64; scores of 10 x 42; values of 42 x 64 a head; 8 heads
    /// of 64 side by side are 512.
    #[test]
    fn heads_stand_side_by_side() {
        let attention = |heads, c| {
            let keys = from(&[0], product(1, 42, 512, 512, false));
            let scores = from(&[2, 1], product(heads, 10, c, 42, true));
            vec![product(1, 10, 3, 512, false), keys, scores]
        };
        assert_eq!(misfit(attention(8, 64)), None);
        assert_eq!(misfit(attention(8, 65)), Some(vec![0]));
        assert_eq!(misfit(attention(7, 64)), Some(vec![0]));
        let mixed = |c| {
            let mut layers = attention(8, 64);
            layers.push(from(&[1, 2], product(8, 10, 42, 64, true)));
            layers.push(product(1, 10, c, 9, false));
            layers
        };
        assert_eq!(misfit(mixed(512)), None);
        assert_eq!(misfit(mixed(256)), Some(vec![0]));
    }

    #[test]
    fn a_sum_needs_every_axis_of_some_source() {
        let image = || conv(8, 3, 6, 5);
        let factors = || from(&[0], conv(8, 3, 1, 1));
        let add = |sources: &[u32]| vector(VectorOp::Add, [1, 8, 6, 5], sources);
        assert_eq!(misfit(vec![image(), factors(), add(&[2, 1])]), None);
        assert_eq!(misfit(vec![image(), factors(), add(&[1])]), Some(vec![0]));
        assert_eq!(misfit(vec![image(), factors(), add(&[0, 1])]), None);
        let rows = from(&[0], conv(8, 3, 6, 1));
        assert_eq!(misfit(vec![image(), rows, add(&[1, 2])]), None);
        let other = from(&[0], conv(8, 3, 2, 5));
        assert_eq!(misfit(vec![image(), other, add(&[2, 1])]), Some(vec![1]));
    }

    /// 5 and 3 channels, 4 and 2 rows, or two of a batch; what comes from outside is the rest.
    #[test]
    fn sources_are_joined_along_one_axis() {
        let join = |first: Layer, second: Layer, tensor, sources: &[u32]| {
            misfit(vec![first, from(&[0], second), vector(VectorOp::Concat, tensor, sources)])
        };
        let image = |k, y| conv(k, 1, y, 7);
        assert_eq!(join(image(5, 4), image(3, 4), [1, 8, 4, 7], &[2, 1]), None);
        assert_eq!(join(image(5, 4), image(3, 4), [1, 9, 4, 7], &[2, 1]), Some(vec![0, 1]));
        assert_eq!(join(image(5, 4), image(3, 4), [1, 9, 4, 7], &[2, 1, 0]), None);
        assert_eq!(join(image(5, 4), image(3, 4), [1, 8, 4, 7], &[2, 1, 0]), Some(vec![0, 1, 2]));
        assert_eq!(join(image(5, 4), image(5, 2), [1, 5, 6, 7], &[2, 1]), None);
        assert_eq!(join(image(5, 4), image(5, 4), [2, 5, 4, 7], &[2, 1]), None);
        assert_eq!(join(image(5, 4), image(5, 2), [1, 10, 4, 7], &[2, 1]), Some(vec![0, 1]));
    }

    /// 8 x 6 x 5 + 4 = 244 elements; a product with factors may read constants, too.
    #[test]
    fn sizes_are_sums_over_sources() {
        let sizes = |op, inputs, sources: &[u32]| {
            let shape = VectorShape::new(op, inputs, 1, 1);
            let last = from(sources, Layer::new("sizes", Operator::Vector(shape)));
            misfit(vec![conv(8, 3, 6, 5), from(&[0], conv(4, 3, 1, 1)), last])
        };
        assert_eq!(sizes(VectorOp::Nms, 244, &[2, 1]), None);
        assert_eq!(sizes(VectorOp::Nms, 245, &[2, 1]), Some(vec![0, 1]));
        assert_eq!(sizes(VectorOp::Nms, 245, &[2, 1, 0]), None);
        assert_eq!(sizes(VectorOp::Nms, 244, &[2, 1, 0]), Some(vec![0, 1, 2]));
        assert_eq!(sizes(VectorOp::Mul, 248, &[2]), None);
        assert_eq!(sizes(VectorOp::Mul, 239, &[2]), Some(vec![0]));
    }

    #[test]
    fn incomplete_connections_are_not_checked() {
        let layers = vec![conv(8, 3, 6, 5), conv(1, 7, 6, 5)];
        let network = Network::new("network", layers).unwrap();
        assert_eq!(network.check_shapes().misfits.len(), 1);
        let list = network.connected(Connections::Incomplete);
        assert_eq!(list.check_shapes(), ShapeCheck::default());
    }
}

//! Activations that are alive between the layers of a network.

use super::{Bits, Network};

impl Network {
    /// Layers that read the output of every layer, indexed by layer, in execution order. A layer that reads it twice
    /// stands there twice.
    pub fn readers(&self) -> &[Vec<u32>] {
        self.layers.readers.0.get_or_init(|| self.find_readers())
    }

    fn find_readers(&self) -> Vec<Vec<u32>> {
        let mut readers = vec![Vec::new(); self.layers().len()];
        for (reader, layer) in self.layers().iter().enumerate() {
            for writer in layer.sources.iter().filter_map(|source| source.writer(reader)) {
                readers[writer].push(reader as u32);
            }
        }
        readers
    }

    /// Elements that are alive before every layer, indexed by layer. A network that is interrupted there
    /// needs them to continue. Before layer 0 they are the input of that layer. Before layer l they are
    /// the outputs of earlier layers that layer l or a later one reads. Later inputs from outside, and
    /// outputs that no layer reads, are not counted.
    pub fn live_activations(&self) -> Vec<u64> {
        self.live_activations_where(|_| true)
    }

    /// Those of [`Network::live_activations`] that layers write, or of layer 0 reads, whose widths
    /// `is_counted` accepts.
    pub fn live_activations_where(&self, is_counted: impl Fn(Bits) -> bool) -> Vec<u64> {
        let layers = self.layers();
        let mut last_reader = vec![0; layers.len()];
        for (reader, layer) in layers.iter().enumerate() {
            for writer in layer.sources.iter().filter_map(|source| source.writer(reader)) {
                last_reader[writer] = reader;
            }
        }
        // An output is alive from the end of its writer to the end of its last reader.
        let mut live = vec![0u64; layers.len()];
        let mut ends = vec![0u64; layers.len()];
        let mut alive = 0u64;
        for (writer, layer) in layers.iter().enumerate() {
            live[writer] = alive;
            alive -= ends[writer];
            if last_reader[writer] > writer && is_counted(layer.bits) {
                let outputs = layer.operator.outputs();
                alive += outputs;
                ends[last_reader[writer]] += outputs;
            }
        }
        if let (Some(live), Some(first)) = (live.first_mut(), layers.first()) {
            *live = if is_counted(first.bits) { first.operator.inputs() } else { 0 };
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Layer, Network, Operator, Source, VectorOp, VectorShape};

    /// Outputs of 10, 20, 30 and 40 elements; the last layer reads the first and the third. Before
    /// layer 1: 10. Before 2: 20, and 10 for the last. Before 3: 30, and 10.
    #[test]
    fn what_a_later_layer_reads_stays_alive() {
        let layer = |outputs, sources: &[u32]| Layer {
            sources: sources.iter().map(|&back| Source::Back(back)).collect(),
            ..Layer::new("layer", Operator::Vector(VectorShape::new(VectorOp::Add, 5, outputs, 1)))
        };
        let layers = vec![layer(10, &[1]), layer(20, &[1]), layer(30, &[1]), layer(40, &[1, 3])];
        let network = Network::new("network", layers).unwrap();
        assert_eq!(network.live_activations(), [5, 10, 30, 40]);
    }
}

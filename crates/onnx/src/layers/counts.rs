//! Counts of what became of nodes.

/// Nodes by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Nodes that ran.
    pub nodes: usize,
    /// Nodes of which no output needs a result.
    pub unused: usize,
    /// Nodes that depend on constants and shapes alone.
    pub constants: usize,
    /// Batch normalisations, and scales, that are folded into the layer before.
    pub normalisations: usize,
    /// Biases.
    pub biases: usize,
    /// Activations: functions of one tensor, element by element.
    pub activations: usize,
    /// Changes of shape.
    pub moves: usize,
    /// Changes of number format.
    pub formats: usize,
    /// Nodes that are part of a layer of several.
    pub parts: usize,
    /// Layers that use the weights of another.
    pub shared: usize,
}

impl Counts {
    /// A sentence about what became of the nodes of a network of `layers`.
    pub fn sentence(&self, layers: usize) -> String {
        let kinds = [
            (self.constants, "computed from constants and shapes"),
            (self.normalisations, "normalisations or scales folded"),
            (self.biases, "biases"),
            (self.activations, "activations"),
            (self.moves, "changes of shape"),
            (self.formats, "changes of number format"),
            (self.parts, "parts of a layer of several nodes"),
            (self.unused, "not needed by an output"),
        ];
        let kind = |(n, name): &(usize, &str)| (*n > 0).then(|| format!("{n} {name}"));
        let kinds: Vec<_> = kinds.iter().filter_map(kind).collect();
        let mut text = format!("{} nodes became {layers} layers", self.nodes + self.unused);
        if !kinds.is_empty() {
            text += &format!(": {}", kinds.join(", "));
        }
        text
    }
}

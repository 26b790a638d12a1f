//! Network on chip: its levels, and how operands enter systolic ones.

use crate::dataflow::Dataflow;

/// One level of an on-chip network: the connection of one unit, or of the shared memory, to its sub-units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NocLevel {
    /// Bandwidth of inputs and weights, toward the PEs [byte/cycle], above 0.
    pub bandwidth: u64,
    /// Bandwidth of partial sums, toward the shared memory [byte/cycle]; `None`: as `bandwidth`.
    pub up_bandwidth: Option<u64>,
    /// Bandwidth of a separate network for weights [byte/cycle]; `None`: weights share `bandwidth` with
    /// inputs.
    pub weight_bandwidth: Option<u64>,
    /// Latency \[cycle\].
    pub latency: u64,
    /// Whether every step pays the latency; otherwise only the first and the last one do.
    pub step_latency: bool,
    /// Whether one send serves every unit that needs the element.
    pub multicast: bool,
    /// Whether a unit gets an element that its neighbour held in the previous step from that neighbour.
    pub forward: bool,
    /// Whether partial sums of one output are added on their way up.
    pub reduce: bool,
    /// Whether units hold a single copy of their weights, so that loading weights is exposed.
    pub single_weights: bool,
    /// Cycles that nothing hides at the begin of every fold.
    pub fill: Fill,
}

/// Cycles that nothing hides at the begin of every fold of a NoC level
/// (docs/explanation/cost-model-loop-nest.md, section 4.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fill {
    /// This number \[cycle\].
    Cycles(u64),
    /// Those of an array whose PEs pass operands on to their neighbours, from the numbers of its rows and
    /// columns.
    Systolic,
}

impl Default for Fill {
    /// None.
    fn default() -> Self {
        Self::Cycles(0)
    }
}

impl NocLevel {
    /// A level of this bandwidth [byte/cycle] with a latency of 1 cycle, multicast and reduction, without
    /// fill.
    pub const fn new(bandwidth: u64) -> Self {
        Self {
            bandwidth,
            up_bandwidth: None,
            weight_bandwidth: None,
            latency: 1,
            step_latency: false,
            multicast: true,
            forward: false,
            reduce: true,
            single_weights: false,
            fill: Fill::Cycles(0),
        }
    }
}

/// On-chip network of one accelerator. Its levels begin with the outermost one, which the shared memory
/// feeds; levels deeper than the innermost listed one equal it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Noc {
    /// Never empty.
    levels: Vec<NocLevel>,
}

impl Noc {
    /// Most levels of a network.
    pub const MAX_LEVELS: usize = Dataflow::MAX_LEVELS;

    /// A network whose levels all equal `level`.
    pub fn uniform(level: NocLevel) -> Self {
        Self { levels: vec![level] }
    }

    /// A network of `levels`, outermost first; `None` if there are none.
    pub fn new(levels: Vec<NocLevel>) -> Option<Self> {
        (!levels.is_empty()).then_some(Self { levels })
    }

    /// A network of [`NocLevel::new`] for each of these bandwidths [byte/cycle], outermost first; `None`
    /// if there are none.
    pub fn of_bandwidths(bandwidths: &[u64]) -> Option<Self> {
        Self::new(bandwidths.iter().copied().map(NocLevel::new).collect())
    }

    /// Levels, outermost first; at least one.
    pub fn levels(&self) -> &[NocLevel] {
        &self.levels
    }

    /// Levels, outermost first; at least one.
    pub(crate) fn levels_mut(&mut self) -> &mut [NocLevel] {
        &mut self.levels
    }

    /// Level `index`, counted from the outermost; the innermost listed one if there are fewer.
    pub fn level(&self, index: usize) -> NocLevel {
        self.levels[index.min(self.levels.len() - 1)]
    }

    /// Sets a property of every level from `values`, outermost first. Levels deeper than `values` get the
    /// last one, and levels are added if there are more values than levels. Without values nothing
    /// changes.
    pub fn set<T: Copy>(&mut self, values: &[T], set: impl Fn(&mut NocLevel, T)) {
        let Some(&last) = values.last() else {
            return;
        };
        let innermost = self.level(usize::MAX);
        self.levels.resize(self.levels.len().max(values.len()), innermost);
        for (index, level) in self.levels.iter_mut().enumerate() {
            set(level, values.get(index).copied().unwrap_or(last));
        }
    }

    /// The network with `share` applied to every bandwidth.
    pub fn shared(&self, share: impl Fn(u64) -> u64) -> Self {
        let part = |level: &NocLevel| NocLevel {
            bandwidth: share(level.bandwidth),
            up_bandwidth: level.up_bandwidth.map(&share),
            weight_bandwidth: level.weight_bandwidth.map(&share),
            ..*level
        };
        Self { levels: self.levels.iter().map(part).collect() }
    }
}

//! Heat: nodes with a heat capacity, the ways of heat between them and to the air, and the trips that limit a device.

mod modes;

use std::sync::Arc;

use thiserror::Error;

use crate::hardware::Tasks;
use crate::units::SimSpan;

pub use modes::Modes;

/// Place of a node in a [`ThermalNetwork`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(usize);

impl NodeId {
    /// The node at `index`.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Its index.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A node of a thermal network.
#[derive(Debug, Clone, PartialEq)]
pub struct ThermalNode {
    /// Name, e.g. `skin`.
    pub name: Box<str>,
    /// Heat capacity \[J/K\].
    pub j_per_k: f64,
    /// Conductance to the air \[W/K\]; 0 without contact.
    pub to_air: f64,
}

/// A network of heat capacities (Cauer network), as
///
/// ```text
/// C_i dT_i/dt = sum over j of G_ij (T_j - T_i) + G_i0 (T_ambient - T_i) + P_i
/// ```
///
/// Every node has a path to the air, so that all modes decay.
#[derive(Debug, Clone, PartialEq)]
pub struct ThermalNetwork {
    nodes: Vec<ThermalNode>,
    modes: Modes,
}

/// A conductance between two nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The nodes.
    pub between: [NodeId; 2],
    /// Conductance \[W/K\].
    pub w_per_k: f64,
}

impl Link {
    /// The other end of the link; `None` if it does not touch `node`.
    fn beyond(&self, node: NodeId) -> Option<NodeId> {
        let [one, other] = self.between;
        match node {
            it if it == one => Some(other),
            it if it == other => Some(one),
            _ => None,
        }
    }
}

/// Reasons why there is no thermal network.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ThermalError {
    /// No nodes, or more than [`ThermalNetwork::MAX_NODES`].
    #[error("a thermal network has {0} nodes; allowed are 1 to {max}", max = ThermalNetwork::MAX_NODES)]
    Nodes(usize),
    /// A capacity or a conductance that is no number, not above 0, or too large.
    #[error("{what} of node `{node}` is {value}; allowed are numbers above 0 up to {max:e}", max = ThermalNetwork::MAX)]
    Value {
        /// Node.
        node: Box<str>,
        /// The value.
        what: &'static str,
        /// Given value.
        value: f64,
    },
    /// The heat of a node stays for ever.
    #[error(
        "node `{0}` has no path to the air; give it, or a node that it leads to, a resistance to `air`"
    )]
    NoPath(Box<str>),
    /// The largest time constant cannot be computed beside the smallest one.
    #[error(
        "the time constants of the thermal network differ by a factor of more than {:e}; a node with so small a heat \
         capacity is best left out",
        ThermalNetwork::MAX_RATIO
    )]
    Ratio,
}

impl ThermalNetwork {
    /// Most nodes.
    pub const MAX_NODES: usize = 16;
    /// Largest heat capacity \[J/K\] and conductance \[W/K\].
    pub const MAX: f64 = 1e9;
    /// Largest ratio of two time constants.
    pub const MAX_RATIO: f64 = 1e10;

    /// A network of `nodes`, indexed by [`NodeId`], with `links` between them. Several links between two nodes add up.
    ///
    /// # Errors
    ///
    /// [`ThermalError`].
    ///
    /// # Panics
    ///
    /// If a link names a node that is not there.
    pub fn new(nodes: Vec<ThermalNode>, links: &[Link]) -> Result<Self, ThermalError> {
        if !(1..=Self::MAX_NODES).contains(&nodes.len()) {
            return Err(ThermalError::Nodes(nodes.len()));
        }
        let checked = |node: &ThermalNode, what, value: f64, least: bool| {
            let fits = value <= Self::MAX && (value > 0.0 || least && value == 0.0);
            let node = node.name.clone();
            if fits { Ok(()) } else { Err(ThermalError::Value { node, what, value }) }
        };
        for node in &nodes {
            checked(node, "the heat capacity [J/K]", node.j_per_k, false)?;
            checked(node, "the conductance to the air [W/K]", node.to_air, true)?;
        }
        for link in links {
            let [one, _] = link.between;
            checked(&nodes[one.index()], "a conductance [W/K]", link.w_per_k, false)?;
        }
        if let Some(node) = without_path(&nodes, links) {
            return Err(ThermalError::NoPath(nodes[node.index()].name.clone()));
        }
        let modes = Modes::of(&nodes, links);
        let rates = || modes.rates().iter().copied();
        let (least, most) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
        match least * Self::MAX_RATIO > most {
            true => Ok(Self { nodes, modes }),
            false => Err(ThermalError::Ratio),
        }
    }

    /// Nodes, indexed by [`NodeId`].
    pub fn nodes(&self) -> &[ThermalNode] {
        &self.nodes
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| &*node.name == name).map(NodeId)
    }

    /// Its modes.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// Time constants \[s\], of the modes in their order.
    pub fn time_constants(&self) -> impl Iterator<Item = f64> + '_ {
        self.modes.rates().iter().map(|rate| rate.recip())
    }

    /// Steady rise of `node` above the air for each watt in `source` \[K/W\].
    pub fn resistance(&self, node: NodeId, source: NodeId) -> f64 {
        let n = self.nodes.len();
        let share = |mode| self.modes.rise(mode, node) * self.modes.rise(mode, source);
        (0..n).map(|mode| share(mode) / self.modes.rates()[mode]).sum()
    }
}

/// The first node without a path to the air.
fn without_path(nodes: &[ThermalNode], links: &[Link]) -> Option<NodeId> {
    let ids = || (0..nodes.len()).map(NodeId);
    let mut open: Vec<_> = ids().filter(|id| nodes[id.index()].to_air > 0.0).collect();
    let mut reached = vec![false; nodes.len()];
    open.iter().for_each(|id| reached[id.index()] = true);
    while let Some(id) = open.pop() {
        for beyond in links.iter().filter_map(|link| link.beyond(id)) {
            if !std::mem::replace(&mut reached[beyond.index()], true) {
                open.push(beyond);
            }
        }
    }
    ids().find(|id| !reached[id.index()])
}

/// Nodes that the parts of a device heat. Heat without a node leaves the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeatPaths {
    /// Node of accelerators that have none of their own ([`Heat::named`]).
    pub accelerators: Option<NodeId>,
    /// Node of DRAM.
    pub dram: Option<NodeId>,
    /// Node of all else that takes base power.
    pub base: Option<NodeId>,
    /// Node of the losses of the battery.
    pub battery: Option<NodeId>,
}

/// A limit of the temperature of a node, read at ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Trip {
    /// Node.
    pub node: NodeId,
    /// Temperature from which it acts \[C\].
    pub at_c: f64,
    /// It acts until the temperature is below `at_c` by more than this \[K\].
    pub hysteresis_k: f64,
    /// Its effect.
    pub action: TripAction,
    /// Names of the accelerators that it limits; empty: all.
    pub of: Tasks,
}

impl Trip {
    /// Whether it limits the accelerator of this name.
    pub fn limits(&self, accelerator: &str) -> bool {
        self.of.is_empty() || self.of.iter().any(|it| **it == *accelerator)
    }
}

/// Effect of a trip on the accelerators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TripAction {
    /// One operating point less at each tick at which the node is too hot and does not cool, one more at each tick at
    /// which it is cool enough (`step_wise` of Linux 6.6, with hysteresis).
    Step,
    /// No operating point above this clock \[MHz\].
    Cap(f64),
    /// Nothing starts.
    Halt,
}

/// Heat of a device: its network, what heats it, and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Nodes and the ways of heat.
    pub network: Arc<ThermalNetwork>,
    /// Temperature of the air, and of all nodes at time 0 \[C\].
    pub ambient_c: f64,
    /// Time between two ticks.
    pub poll: SimSpan,
    /// What heats which node.
    pub paths: HeatPaths,
    /// Nodes of single accelerators by their names.
    pub named: Vec<(Box<str>, NodeId)>,
    /// Limits, at most [`Heat::MAX_TRIPS`].
    pub trips: Vec<Trip>,
}

impl Heat {
    /// Most trips.
    pub const MAX_TRIPS: usize = 16;
    /// Temperatures that the air and trips can have \[C\].
    pub const TEMPERATURES: std::ops::RangeInclusive<f64> = -40.0..=200.0;
    /// Temperature of a node above which a run ends \[C\]: nothing that is modelled holds there.
    pub const HOTTEST_C: f64 = 200.0;

    /// The node that the accelerator of this name heats; `None`: its heat leaves the device.
    pub fn node_of(&self, accelerator: &str) -> Option<NodeId> {
        let own = self.named.iter().find(|(name, _)| **name == *accelerator);
        own.map(|(_, node)| *node).or(self.paths.accelerators)
    }

    /// Names of accelerators, each after what is said of it.
    pub(super) fn names(&self) -> impl Iterator<Item = (&'static str, &Box<str>)> {
        let heated = self.named.iter().map(|(name, _)| ("heat", name));
        heated.chain(self.trips.iter().flat_map(|trip| &trip.of[..]).map(|name| ("a trip", name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, j_per_k: f64, to_air: f64) -> ThermalNode {
        ThermalNode { name: name.into(), j_per_k, to_air }
    }

    fn link(one: usize, other: usize, w_per_k: f64) -> Link {
        Link { between: [NodeId(one), NodeId(other)], w_per_k }
    }

    /// Time constants of two chains of die, board and skin, computed apart
    /// from this crate with 50 digits.
    #[test]
    fn modes_have_the_time_constants_of_the_network() {
        for (capacities, conductances, expected) in [
            ([0.012, 6.0, 60.0], [1.0 / 8.0, 1.0 / 4.0, 0.1], [0.0958, 21.78, 662.4]),
            ([0.025, 40.0, 515.0], [1.0 / 4.0, 1.0, 1.0 / 1.4], [0.0999, 36.99, 780.1]),
        ] {
            let [die, board, skin] = capacities;
            let nodes = vec![
                node("die", die, 0.0),
                node("board", board, 0.0),
                node("skin", skin, conductances[2]),
            ];
            let links = [link(0, 1, conductances[0]), link(1, 2, conductances[1])];
            let network = ThermalNetwork::new(nodes, &links).expect("it is a network");
            let mut found: Vec<_> = network.time_constants().collect();
            found.sort_by(f64::total_cmp);
            for (found, expected) in found.iter().zip(expected) {
                // Four digits are known.
                assert!((found / expected - 1.0).abs() < 6e-4, "{found} {expected}");
            }
        }
    }

    /// 1 W in the die flows through board and skin: 8 + 4 + 10 K/W at the die, 10 at the skin.
    #[test]
    fn resistances_add_up_along_the_way_to_the_air() {
        let nodes = vec![node("die", 0.012, 0.0), node("board", 6.0, 0.0), node("skin", 60.0, 0.1)];
        let links = [link(0, 1, 0.125), link(1, 2, 0.25)];
        let network = ThermalNetwork::new(nodes, &links).expect("it is a network");
        let [die, board, skin] = [0, 1, 2].map(NodeId);
        for (at, source, expected) in
            [(die, die, 22.0), (board, die, 14.0), (skin, die, 10.0), (die, skin, 10.0)]
        {
            let found = network.resistance(at, source);
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }

    #[test]
    fn a_network_that_cannot_be_is_refused_with_its_reason() {
        let refused = |nodes, links: &[Link]| {
            ThermalNetwork::new(nodes, links).expect_err("it is no network").to_string()
        };
        assert!(refused(vec![], &[]).contains("0 nodes; allowed are 1 to 16"));
        let many = (0..17).map(|_| node("n", 1.0, 1.0)).collect();
        assert!(refused(many, &[]).contains("17 nodes"));
        let apart = vec![node("a", 1.0, 1.0), node("b", 1.0, 0.0), node("c", 1.0, 0.0)];
        assert!(refused(apart, &[link(1, 2, 1.0)]).contains("node `b` has no path to the air"));
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
            assert!(refused(vec![node("a", value, 1.0)], &[]).contains("heat capacity"));
            let two = vec![node("a", 1.0, 1.0), node("b", 1.0, 1.0)];
            assert!(refused(two, &[link(0, 1, value)]).contains("conductance"));
        }
        assert!(refused(vec![node("a", 1.0, -1.0)], &[]).contains("to the air"));
        let uneven = vec![node("a", 1e-6, 1e3), node("b", 1e6, 1e-3)];
        assert!(refused(uneven, &[]).contains("time constants"));
    }
}

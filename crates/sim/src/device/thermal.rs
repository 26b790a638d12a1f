//! Temperatures of a thermal network.

use std::sync::Arc;

use super::Sum;
use xrsim_model::hardware::device::{Heat, NodeId, ThermalNetwork};
use xrsim_model::units::SimSpan;

/// State of a thermal network, which goes from one change of power to the next in closed form:
///
/// ```text
/// z(t + h) = z + (u/rate - z) (1 - e^(-rate h))           for each mode
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Thermal {
    network: Arc<ThermalNetwork>,
    ambient_c: f64,
    /// Content of each mode.
    modes: Vec<f64>,
    /// Integral of each mode over time.
    integrals: Vec<Sum>,
    /// Current temperature of each node \[C\].
    temperatures: Vec<f64>,
    /// Highest temperature of each node at the end of a step \[C\].
    highest: Vec<f64>,
}

impl Thermal {
    /// All nodes are as warm as the air.
    pub fn new(network: Arc<ThermalNetwork>, ambient_c: f64) -> Self {
        let n = network.nodes().len();
        Self {
            network,
            ambient_c,
            modes: vec![0.0; n],
            integrals: vec![Sum::default(); n],
            temperatures: vec![ambient_c; n],
            highest: vec![ambient_c; n],
        }
    }

    /// Temperature of the air \[C\].
    pub fn ambient_c(&self) -> f64 {
        self.ambient_c
    }

    /// Changes the temperature of the air. Those of nodes stay.
    pub fn set_ambient(&mut self, ambient_c: f64) {
        let change = self.ambient_c - ambient_c;
        self.ambient_c = ambient_c;
        let (modes, n) = (self.network.modes(), self.network.nodes().len());
        for (mode, content) in self.modes.iter_mut().enumerate() {
            let of_one = (0..n).map(|node| modes.content(mode, NodeId::new(node)));
            *content += of_one.sum::<f64>() * change;
        }
    }

    /// Lets `span` pass with this power in each node \[W\].
    ///
    /// # Panics
    ///
    /// If there are more powers than nodes.
    pub fn advance(&mut self, power_w: &[f64], span: SimSpan) {
        let h = seconds(span);
        let modes = self.network.modes();
        self.temperatures.fill(self.ambient_c);
        for (mode, &rate) in modes.rates().iter().enumerate() {
            let heated = power_w.iter().enumerate().filter(|(_, power)| **power != 0.0);
            let heat = |(node, power)| modes.rise(mode, NodeId::new(node)) * power;
            let steady = heated.map(heat).sum::<f64>() / rate;
            let content = &mut self.modes[mode];
            let change = (steady - *content) * -libm::expm1(-rate * h);
            *content += change;
            // The integral of z is (u h - change of z) / rate.
            self.integrals[mode].add(steady * h - change / rate);
            for (node, at_c) in self.temperatures.iter_mut().enumerate() {
                *at_c += modes.rise(mode, NodeId::new(node)) * *content;
            }
        }
        for (highest, &at_c) in self.highest.iter_mut().zip(&self.temperatures) {
            *highest = highest.max(at_c);
        }
    }

    /// Adds heat to a node at once \[J\]; a negative one takes it away.
    pub fn strike(&mut self, node: NodeId, joules: f64) {
        let modes = self.network.modes();
        for (mode, content) in self.modes.iter_mut().enumerate() {
            *content += modes.rise(mode, node) * joules;
        }
        self.temperatures[node.index()] += joules / self.network.nodes()[node.index()].j_per_k;
    }

    /// Temperature of each node \[C\].
    pub fn temperatures(&self) -> &[f64] {
        &self.temperatures
    }

    /// Highest temperature of each node \[C\], at time 0 and at the ends of steps.
    pub fn highest(&self) -> &[f64] {
        &self.highest
    }

    /// A node above [`Heat::HOTTEST_C`], or without a temperature that is a number.
    pub fn too_hot(&self) -> Option<NodeId> {
        let mut temperatures = self.temperatures.iter();
        let is_too_hot = |at_c: &f64| at_c.is_nan() || *at_c > Heat::HOTTEST_C;
        temperatures.position(is_too_hot).map(NodeId::new)
    }

    /// Heat that went to the air since time 0 \[J\].
    pub fn released_j(&self) -> f64 {
        let mut released = Sum::default();
        for (node, it) in self.network.nodes().iter().enumerate() {
            for (mode, integral) in self.integrals.iter().enumerate() {
                released.add(
                    it.to_air * self.network.modes().rise(mode, NodeId::new(node)) * integral.get(),
                );
            }
        }
        released.get()
    }
}

/// A span in seconds.
#[inline]
pub(super) fn seconds(span: SimSpan) -> f64 {
    span.ns() as f64 / 1e9
}

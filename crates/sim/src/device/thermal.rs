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
    /// Highest temperature of each node since it was last taken \[C\].
    highest: Vec<f64>,
    /// Distance of each mode from where it ends, at the begin of the current step.
    ahead: Vec<f64>,
    /// Share of that distance that is left at the end of the step.
    left: Vec<f64>,
    /// Temperature of each node at the begin of the current step \[C\].
    begin_c: Vec<f64>,
    /// Rise of each node in the current step by the modes that warm it \[K\].
    rises: Vec<f64>,
}

/// Highest temperatures within a step are found up to this \[K\]. A smaller one costs much where modes of nearly equal rates
/// cancel: two equal dies of which one idles.
const TOLERANCE_K: f64 = 1e-6;

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
            ahead: vec![0.0; n],
            left: vec![1.0; n],
            begin_c: vec![ambient_c; n],
            rises: vec![0.0; n],
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
        self.begin_c.copy_from_slice(&self.temperatures);
        self.temperatures.fill(self.ambient_c);
        self.rises.fill(0.0);
        for (mode, &rate) in modes.rates().iter().enumerate() {
            let heated = power_w.iter().enumerate().filter(|(_, power)| **power != 0.0);
            let heat = |(node, power)| modes.rise(mode, NodeId::new(node)) * power;
            let steady = heated.map(heat).sum::<f64>() / rate;
            let content = &mut self.modes[mode];
            self.ahead[mode] = steady - *content;
            let gone = -libm::expm1(-rate * h);
            self.left[mode] = 1.0 - gone;
            let change = self.ahead[mode] * gone;
            *content += change;
            // The integral of z is (u h - change of z) / rate.
            self.integrals[mode].add(steady * h - change / rate);
            for (node, at_c) in self.temperatures.iter_mut().enumerate() {
                let rise = modes.rise(mode, NodeId::new(node));
                *at_c += rise * *content;
                self.rises[node] += (rise * change).max(0.0);
            }
        }
        for node in 0..self.highest.len() {
            let mut highest = self.highest[node].max(self.temperatures[node]);
            let may_peak = || {
                let left = self.left.iter().map(|&left| [1.0, left]);
                self.may_exceed(NodeId::new(node), h, left, highest)
            };
            if self.begin_c[node] + self.rises[node] > highest + TOLERANCE_K && may_peak() {
                highest = self.peak_c(NodeId::new(node), (0.0, h), highest);
            }
            self.highest[node] = highest;
        }
    }

    /// Whether a node may be warmer than `above` within `span` of the current step and not at its ends \[s, C\], where
    /// `left` are the shares of the distance of each mode that are left at both ends. Where the temperature only rises or
    /// only falls, it is highest at an end.
    fn may_exceed(
        &self,
        node: NodeId,
        span: f64,
        left: impl Iterator<Item = [f64; 2]>,
        above: f64,
    ) -> bool {
        let mut at_first = self.begin_c[node.index()];
        let (mut rises, mut least, mut most) = (0.0, 0.0, 0.0);
        let modes = self.network.modes();
        for ((mode, (&rate, ahead)), left) in
            modes.rates().iter().zip(&self.ahead).enumerate().zip(left)
        {
            let swing = modes.rise(mode, node) * ahead;
            let [first, last] = left.map(|left| swing * left);
            at_first += swing - first;
            rises += (first - last).max(0.0);
            // The slope is the sum of rates times what is left of swings.
            least += rate * first.min(last);
            most += rate * first.max(last);
        }
        // Not a number is nowhere higher.
        least < 0.0 && most > 0.0 && at_first + rises.min(most * span) > above + TOLERANCE_K
    }

    /// Highest temperature of a node between two times of the current step, or `above` if it is higher \[s, C\]. A part
    /// that may exceed it is halved.
    fn peak_c(&self, node: NodeId, (from, to): (f64, f64), above: f64) -> f64 {
        let middle = from.midpoint(to);
        if middle <= from || middle >= to {
            return above;
        }
        let modes = self.network.modes();
        let left = |at: f64| modes.rates().iter().map(move |rate| libm::exp(-rate * at));
        let of_both = left(from).zip(left(to)).map(|(first, last)| [first, last]);
        if !self.may_exceed(node, to - from, of_both, above) {
            return above;
        }
        let mut at_middle = self.begin_c[node.index()];
        for ((mode, ahead), left) in self.ahead.iter().enumerate().zip(left(middle)) {
            let swing = modes.rise(mode, node) * ahead;
            at_middle += swing - swing * left;
        }
        let above = self.peak_c(node, (from, middle), above.max(at_middle));
        self.peak_c(node, (middle, to), above)
    }

    /// Adds heat to a node at once \[J\]; a negative one takes it away.
    pub fn strike(&mut self, node: NodeId, joules: f64) {
        let modes = self.network.modes();
        for (mode, content) in self.modes.iter_mut().enumerate() {
            *content += modes.rise(mode, node) * joules;
        }
        let at_c = &mut self.temperatures[node.index()];
        *at_c += joules / self.network.nodes()[node.index()].j_per_k;
        self.highest[node.index()] = self.highest[node.index()].max(*at_c);
    }

    /// Temperature of each node \[C\].
    pub fn temperatures(&self) -> &[f64] {
        &self.temperatures
    }

    /// Highest temperature of each node since time 0 or since [`Thermal::take_highest`] \[C\], also within steps, where
    /// it is exact to 1e-6 K.
    pub fn highest(&self) -> &[f64] {
        &self.highest
    }

    /// Takes the highest temperatures; those from now on begin with the current ones.
    pub fn take_highest(&mut self) -> Vec<f64> {
        std::mem::replace(&mut self.highest, self.temperatures.clone())
    }

    /// A node that was above [`Heat::HOTTEST_C`], or without a temperature that is a number.
    pub fn too_hot(&self) -> Option<NodeId> {
        let mut nodes = self.temperatures.iter().zip(&self.highest);
        let is_too_hot =
            |(at_c, highest): (&f64, &f64)| at_c.is_nan() || *highest > Heat::HOTTEST_C;
        nodes.position(is_too_hot).map(NodeId::new)
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

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
    /// Temperature of each node at the begin of the current step \[C\].
    begin_c: Vec<f64>,
    /// Course of each node in the current step.
    courses: Vec<Course>,
}

/// Bounds of the temperature of a node in a part of a step.
#[derive(Debug, Clone, PartialEq, Default)]
struct Course {
    /// Rise by the modes that warm it \[K\].
    rise: f64,
    /// Least and highest slope \[K/s\].
    least: f64,
    most: f64,
}

impl Course {
    /// Adds a mode of this rate, which swings from `first` to `last` before where it ends \[1/s, K\].
    #[inline]
    fn add(&mut self, rate: f64, first: f64, last: f64) {
        // The slope is the sum of rates times what is left of swings, which become smaller.
        let (lower, upper) = if first > 0.0 { (last, first) } else { (first, last) };
        self.least += rate * lower;
        self.most += rate * upper;
        self.rise += if first > 0.0 { first - last } else { 0.0 };
    }

    /// Whether the node, which begins with `begin_c`, may be warmer than `above` within `span` and not at its ends
    /// \[C, s\]. Where the temperature only rises or only falls, it is highest at an end. Not a number is nowhere higher.
    #[inline]
    fn may_exceed(&self, begin_c: f64, span: f64, above: f64) -> bool {
        let rise = self.rise.min(self.most * span);
        self.least < 0.0 && self.most > 0.0 && begin_c + rise > above + TOLERANCE_K
    }
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
            begin_c: vec![ambient_c; n],
            courses: vec![Course::default(); n],
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
        self.courses.fill(Course::default());
        for (mode, &rate) in modes.rates().iter().enumerate() {
            let rises = modes.rises(mode);
            let heated = rises.iter().zip(power_w).filter(|(_, power)| **power != 0.0);
            let steady = heated.map(|(rise, power)| rise * power).sum::<f64>() / rate;
            let content = &mut self.modes[mode];
            let ahead = steady - *content;
            let gone = -libm::expm1(-rate * h);
            let change = ahead * gone;
            self.ahead[mode] = ahead;
            *content += change;
            // The integral of z is (u h - change of z) / rate.
            self.integrals[mode].add(steady * h - change / rate);
            for ((at_c, course), rise) in
                self.temperatures.iter_mut().zip(&mut self.courses).zip(rises)
            {
                *at_c += rise * *content;
                let swing = rise * ahead;
                course.add(rate, swing, swing - swing * gone);
            }
        }
        for (node, course) in self.courses.iter().enumerate() {
            let begin_c = self.begin_c[node];
            let mut highest = self.highest[node].max(self.temperatures[node]);
            if course.may_exceed(begin_c, h, highest) {
                highest = self.peak_c(NodeId::new(node), (0.0, h), highest);
            }
            self.highest[node] = highest;
        }
    }

    /// Highest temperature of a node between two times of the current step, or `above` if it is higher \[s, C\]. A part
    /// that may exceed it is halved.
    fn peak_c(&self, node: NodeId, (from, to): (f64, f64), above: f64) -> f64 {
        let middle = from.midpoint(to);
        if middle <= from || middle >= to {
            return above;
        }
        let (mut at_from, mut at_middle) = (self.begin_c[node.index()], self.begin_c[node.index()]);
        let mut course = Course::default();
        let modes = self.network.modes();
        for (mode, (&rate, ahead)) in modes.rates().iter().zip(&self.ahead).enumerate() {
            let swing = modes.rise(mode, node) * ahead;
            let [first, mid, last] = [from, middle, to].map(|at| swing * libm::exp(-rate * at));
            at_from += swing - first;
            at_middle += swing - mid;
            course.add(rate, first, last);
        }
        if !course.may_exceed(at_from, to - from, above) {
            return above;
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

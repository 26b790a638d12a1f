//! Classes of jobs in the order of upper bounds that grow linearly with time, kept from one decision to the next.
//!
//! A kinetic tournament: each node of a binary tree knows the larger one of the two bounds below it, and until when it
//! stays the larger one. A decision renews the nodes whose time is over, and those above classes that changed.

use std::collections::BTreeMap;

use xrsim_model::units::SimTime;

use super::view::Kind;

/// Part of a bound by which rounding can make a value exceed it.
const ROUNDING: f64 = 1e-9;

/// An upper bound of the values of a class.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// Time at which the bound is `value`.
    pub(super) at: SimTime,
    /// Bound at that time.
    pub(super) value: f64,
    /// Growth per ns, at least 0.
    pub(super) slope: f64,
    /// Time from which the bound does not hold any more, if the class does not change.
    pub(super) until: SimTime,
}

impl Line {
    /// Bound of a class without jobs.
    pub(super) const LOWEST: Self = Self::constant(f64::NEG_INFINITY, SimTime::MAX);

    /// A bound that does not change.
    pub(super) const fn constant(value: f64, until: SimTime) -> Self {
        Self { at: SimTime::ZERO, value, slope: 0.0, until }
    }

    fn value(&self, now: SimTime) -> f64 {
        self.value + self.slope * now.saturating_since(self.at).ns() as f64
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Slot of the largest bound below.
    largest: usize,
    /// Time from which another bound may be the largest.
    until: SimTime,
}

impl Node {
    const OUTDATED: Self = Self { largest: 0, until: SimTime::ZERO };
}

/// Upper bounds of classes, in one order or several.
#[derive(Debug)]
pub(super) struct Limits {
    /// Slot of every class that ever had jobs.
    slots: BTreeMap<Kind, usize>,
    /// Class of every slot.
    kinds: Vec<Kind>,
    orders: Box<[Order]>,
}

impl Limits {
    /// `n` orders of no classes.
    pub(super) fn new(n: usize) -> Self {
        let orders = (0..n).map(|_| Order::default()).collect();
        Self { slots: BTreeMap::new(), kinds: Vec::new(), orders }
    }

    /// Notes that the jobs of a class have changed.
    pub(super) fn touch(&mut self, kind: Kind) {
        if self.orders.is_empty() {
            return;
        }
        let slot = *self.slots.entry(kind).or_insert(self.kinds.len());
        if slot == self.kinds.len() {
            self.kinds.push(kind);
        }
        self.orders.iter_mut().for_each(|order| order.touch(slot));
    }

    /// Brings an order up to date at `now`. `line` returns the bound of a class.
    pub(super) fn settle(&mut self, index: usize, now: SimTime, line: impl Fn(Kind) -> Line) {
        let kinds = &self.kinds;
        self.orders[index]
            .settle(now, &|slot| kinds.get(slot).map_or(Line::LOWEST, |it| line(*it)));
    }

    /// The classes in an order at `now`, which is settled; `None` if there is no such order.
    pub(super) fn descending(&self, index: usize, now: SimTime) -> Option<Descending<'_>> {
        let order = self.orders.get(index)?;
        let mut descending = Descending { kinds: &self.kinds, order, now, open: Vec::new() };
        if order.width > 0 {
            descending.open(1, f64::NEG_INFINITY);
        }
        Some(descending)
    }
}

/// Upper bounds of classes in an order.
#[derive(Debug, Default)]
struct Order {
    /// Bound of every slot.
    lines: Vec<Line>,
    /// Complete binary tree: node `i` is above nodes `2i` and `2i + 1`, slot `s` is leaf `width + s`.
    nodes: Vec<Node>,
    /// Number of leaves, a power of two.
    width: usize,
}

impl Order {
    fn touch(&mut self, slot: usize) {
        if slot >= self.width {
            self.width = (slot + 1).next_power_of_two();
            self.lines.resize(self.width, Line::LOWEST);
            self.nodes = vec![Node::OUTDATED; 2 * self.width];
        }
        let mut node = self.width + slot;
        while node > 0 && self.nodes[node].until > SimTime::ZERO {
            self.nodes[node].until = SimTime::ZERO;
            node /= 2;
        }
    }

    fn settle(&mut self, now: SimTime, line: &impl Fn(usize) -> Line) {
        if self.width > 0 {
            self.settle_node(1, now, line);
        }
    }

    fn settle_node(&mut self, node: usize, now: SimTime, line: &impl Fn(usize) -> Line) {
        if now < self.nodes[node].until {
            return;
        }
        if let Some(slot) = node.checked_sub(self.width) {
            self.lines[slot] = line(slot);
            self.nodes[node] = Node { largest: slot, until: self.lines[slot].until };
        } else {
            self.settle_node(2 * node, now, line);
            self.settle_node(2 * node + 1, now, line);
            self.nodes[node] = self.larger(2 * node, now);
        }
    }

    /// The node above `node` and the next one.
    fn larger(&self, node: usize, now: SimTime) -> Node {
        let [one, other] = [node, node + 1].map(|node| self.nodes[node]);
        let [first, second] = [one, other].map(|node| &self.lines[node.largest]);
        let lead = first.value(now) - second.value(now);
        // A lead of two infinite bounds is no number, and then the first one counts.
        let (largest, lead, pursuit) = match lead < 0.0 {
            false => (one.largest, lead, second.slope - first.slope),
            true => (other.largest, -lead, first.slope - second.slope),
        };
        let mut until = one.until.min(other.until);
        if pursuit > 0.0 {
            let caught_up = (lead / pursuit) as u64;
            until =
                until.min(SimTime::from_ns(now.ns().saturating_add(caught_up).saturating_add(1)));
        }
        Node { largest, until }
    }
}

/// Classes in the order of their bounds at an instant, the largest first.
pub(super) struct Descending<'l> {
    kinds: &'l [Kind],
    order: &'l Order,
    now: SimTime,
    /// Nodes whose largest bound is not told yet, with that bound.
    open: Vec<(f64, usize)>,
}

impl Descending<'_> {
    /// The next class with a bound of at least `most`, which never falls from call to call.
    pub(super) fn next(&mut self, most: f64) -> Option<Kind> {
        let by_limit = |a: &usize, b: &usize| f64::total_cmp(&self.open[*a].0, &self.open[*b].0);
        let largest = (0..self.open.len()).max_by(by_limit)?;
        let (limit, mut node) = self.open.swap_remove(largest);
        if limit < most {
            return None;
        }
        let slot = self.order.nodes[node].largest;
        while node < self.order.width {
            let is_first = self.order.nodes[2 * node].largest == slot;
            let (below, beside) =
                (2 * node + usize::from(!is_first), 2 * node + usize::from(is_first));
            self.open(beside, most);
            node = below;
        }
        self.kinds.get(slot).copied()
    }

    /// Notes a node, if its largest bound with what rounding can add is at least `most`.
    fn open(&mut self, node: usize, most: f64) {
        let limit = self.order.lines[self.order.nodes[node].largest].value(self.now);
        let limit = limit + ROUNDING * limit.abs();
        if limit >= most && limit > f64::NEG_INFINITY {
            self.open.push((limit, node));
        }
    }
}

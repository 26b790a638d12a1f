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

/// Upper bounds of classes.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// Slot of every class that ever had jobs.
    slots: BTreeMap<Kind, usize>,
    /// Class and bound of every slot.
    lines: Vec<(Kind, Line)>,
    /// Complete binary tree: node `i` is above nodes `2i` and `2i + 1`, slot `s` is leaf `width + s`.
    nodes: Vec<Node>,
    /// Number of slots that the tree has leaves for; a power of two.
    width: usize,
}

impl Limits {
    /// Notes that the jobs of a class have changed.
    pub(super) fn touch(&mut self, kind: Kind) {
        let slot = *self.slots.entry(kind).or_insert(self.lines.len());
        if slot == self.lines.len() {
            self.lines.push((kind, Line::LOWEST));
        }
        if slot >= self.width {
            self.width = self.lines.len().next_power_of_two();
            self.nodes = vec![Node::OUTDATED; 2 * self.width];
        }
        let mut node = self.width + slot;
        while node > 0 && self.nodes[node].until > SimTime::ZERO {
            self.nodes[node].until = SimTime::ZERO;
            node /= 2;
        }
    }

    /// Brings the order up to date at `now`. `line` returns the bound of a class.
    pub(super) fn settle(&mut self, now: SimTime, mut line: impl FnMut(Kind) -> Line) {
        if self.width > 0 {
            self.settle_node(1, now, &mut line);
        }
    }

    fn settle_node(&mut self, node: usize, now: SimTime, line: &mut impl FnMut(Kind) -> Line) {
        if now < self.nodes[node].until {
            return;
        }
        let Some(slot) = node.checked_sub(self.width) else {
            self.settle_node(2 * node, now, line);
            self.settle_node(2 * node + 1, now, line);
            self.nodes[node] = self.larger(2 * node, now);
            return;
        };
        let until = match self.lines.get_mut(slot) {
            Some((kind, known)) => {
                *known = line(*kind);
                known.until
            }
            None => SimTime::MAX,
        };
        self.nodes[node] = Node { largest: slot, until };
    }

    /// The node above `node` and the next one.
    fn larger(&self, node: usize, now: SimTime) -> Node {
        let [one, other] = [node, node + 1].map(|node| self.nodes[node]);
        let (first, second) = (self.line(one.largest), self.line(other.largest));
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

    fn line(&self, slot: usize) -> Line {
        self.lines.get(slot).map_or(Line::LOWEST, |(_, line)| *line)
    }

    /// Classes with their bounds at `now`, the largest first, with what rounding can add. Settled before.
    pub(super) fn largest_first(&self, now: SimTime) -> impl Iterator<Item = (f64, Kind)> {
        let of = move |node: usize| {
            let limit = self.line(self.nodes[node].largest).value(now);
            (limit > f64::NEG_INFINITY).then_some((limit, node))
        };
        // Nodes whose largest bound is not told yet, with that bound.
        let mut open = Vec::with_capacity(16);
        open.extend((self.width > 0).then(|| of(1)).flatten());
        std::iter::from_fn(move || {
            let largest =
                (0..open.len()).max_by(|&a, &b| f64::total_cmp(&open[a].0, &open[b].0))?;
            let (limit, mut node) = open.swap_remove(largest);
            let slot = self.nodes[node].largest;
            while node < self.width {
                let [one, other] = [2 * node, 2 * node + 1];
                let is_one = self.nodes[one].largest == slot;
                let (below, beside) = if is_one { (one, other) } else { (other, one) };
                open.extend(of(beside));
                node = below;
            }
            let (kind, _) = self.lines.get(slot)?;
            Some((limit + ROUNDING * limit.abs(), *kind))
        })
    }
}

//! Where the energy of a run goes.

use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId};
use xrsim_model::units::{SimSpan, SimTime};

use super::Sum;

/// Item of the energy of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// Layers.
    Dynamic,
    /// Data that was moved before a segment.
    Moved,
    /// Waking up.
    Wake,
    /// Leakage of accelerators that run.
    LeakRunning,
    /// Idling accelerators, with their leakage.
    Idle,
    /// Leakage that is left of gated accelerators.
    Gated,
    /// Background of DRAM.
    DramBackground,
    /// Everything else.
    Base,
}

impl Item {
    /// Every item with its name.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Dynamic, "dynamic"),
        (Self::Moved, "moved"),
        (Self::Wake, "wake"),
        (Self::LeakRunning, "leak_running"),
        (Self::Idle, "idle"),
        (Self::Gated, "gated"),
        (Self::DramBackground, "dram_background"),
        (Self::Base, "base"),
    ];
}

/// Length of the windows of the highest mean power \[ns\].
const WINDOW: u64 = 1_000_000_000;

/// Energy of a run by item, and counts. It runs from 0 to the duration or to the last end, whichever is later.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Energy \[nJ\], in the order of [`Item::ALL`].
    items: [Sum; Item::ALL.len()],
    /// Time that is accounted for.
    duration: SimSpan,
    /// Changes of the point.
    pub transitions: u64,
    /// Ends of gating.
    pub wakes: u64,
    /// Time that each accelerator ran at each of its points, with its clock \[MHz\].
    running: Vec<Vec<(f64, SimSpan)>>,
    /// Energy of the present whole second \[nJ\], and the most of a second so far.
    second: Sum,
    most: f64,
    /// Energy \[nJ\] at every sample of the device, in the order of [`Item::ALL`].
    sampled: Vec<[f64; Item::ALL.len()]>,
}

impl Ledger {
    /// An empty account of accelerators.
    pub fn new(supplied: &[Supplied]) -> Self {
        let points = |it: &Supplied| {
            it.points.all().iter().map(|it| (it.clock.as_mhz(), SimSpan::ZERO)).collect()
        };
        Self {
            items: Default::default(),
            duration: SimSpan::ZERO,
            transitions: 0,
            wakes: 0,
            running: supplied.iter().map(points).collect(),
            second: Sum::default(),
            most: 0.0,
            sampled: Vec::new(),
        }
    }

    /// Books energy \[nJ\] of an item at the instant, or over the interval, that [`Ledger::pass`] is told of.
    #[inline]
    pub fn book(&mut self, item: Item, nj: f64) {
        self.items[item as usize].add(nj);
    }

    /// Time passes from the end of the account to `to`, with `watts` in all.
    #[inline]
    pub fn pass(&mut self, to: SimTime, watts: f64) {
        let to = to.ns();
        let mut from = self.duration.ns();
        while from < to {
            let end = (from / WINDOW + 1).saturating_mul(WINDOW);
            self.second.add(watts * (to.min(end) - from) as f64);
            from = to.min(end);
            if from == end {
                self.most = self.most.max(self.second.get() / WINDOW as f64);
                self.second = Sum::default();
            }
        }
        self.duration = SimSpan::from_ns(to);
    }

    /// Energy \[nJ\] at the present instant.
    #[inline]
    pub fn strike(&mut self, nj: f64) {
        self.second.add(nj);
    }

    /// An accelerator runs at a point for `span`.
    #[inline]
    pub fn run(&mut self, accelerator: AccelId, point: PointId, span: SimSpan) {
        self.running[accelerator.index()][point.index()].1 += span;
    }

    /// The device has a sample at the present instant, and `n` in all; it may have merged all samples two by two.
    pub fn sample(&mut self, n: usize) {
        self.sampled.push(self.items.each_ref().map(Sum::get));
        if self.sampled.len() > n {
            self.sampled = self.sampled.iter().skip(1).step_by(2).copied().collect();
        }
    }

    /// Energy of an item in the time before each sample of [`Body::samples`](super::Body::samples) \[J\], from the sample
    /// before it on.
    pub fn sampled_joules(&self, item: Item) -> impl Iterator<Item = f64> {
        let at_samples = self.sampled.iter().map(move |items| items[item as usize] / 1e9);
        at_samples.scan(0.0, |before, now| Some(now - std::mem::replace(before, now)))
    }

    /// Energy of an item \[uJ\].
    pub fn microjoules(&self, item: Item) -> f64 {
        self.items[item as usize].get() / 1e3
    }

    /// Energy of all items \[uJ\].
    pub fn total_microjoules(&self) -> f64 {
        let mut sum = Sum::default();
        self.items.iter().for_each(|it| sum.add(it.get()));
        sum.get() / 1e3
    }

    /// Time that is accounted for.
    pub fn duration(&self) -> SimSpan {
        self.duration
    }

    /// Mean power \[W\]; 0 of no time.
    pub fn mean_w(&self) -> f64 {
        match self.duration.ns() {
            0 => 0.0,
            ns => self.total_microjoules() * 1e3 / ns as f64,
        }
    }

    /// Highest mean power of a second, from whole second to whole second \[W\]; the mean of a shorter run.
    pub fn peak_w(&self) -> f64 {
        if self.duration.ns() < WINDOW { self.mean_w() } else { self.most }
    }

    /// Running time of all accelerators at each clock \[MHz, ns\], ascending.
    pub fn running_by_clock(&self) -> Vec<(f64, u128)> {
        let mut by_clock: Vec<(f64, u128)> = Vec::new();
        for &(mhz, span) in self.running.iter().flatten() {
            match by_clock.iter_mut().find(|(known, _)| *known == mhz) {
                Some((_, sum)) => *sum += u128::from(span.ns()),
                None => by_clock.push((mhz, span.ns().into())),
            }
        }
        by_clock.sort_by(|a, b| a.0.total_cmp(&b.0));
        by_clock
    }

    /// Share of the running time of all accelerators at each clock \[MHz\], ascending; empty if none ran.
    pub fn shares_by_clock(&self) -> Vec<(f64, f64)> {
        let by_clock = self.running_by_clock();
        let all: u128 = by_clock.iter().map(|(_, ns)| ns).sum();
        let share = |(mhz, ns): (f64, u128)| (mhz, ns as f64 / all as f64);
        if all == 0 { Vec::new() } else { by_clock.into_iter().map(share).collect() }
    }
}

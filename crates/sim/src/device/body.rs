//! Heat and charge of a device over a run, with the base power and the air around it.

use std::collections::VecDeque;

use super::{Charge, Limit, Thermal, Trips};
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::{Heat, NodeId, Supplied};
use xrsim_model::units::{SimSpan, SimTime};

/// Base power and temperature of the air from an instant on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The instant.
    pub at: SimTime,
    /// Base power in place of that of the device \[mW\].
    pub base_mw: Option<f64>,
    /// Temperature of the air in place of that of the device \[C\].
    pub ambient_c: Option<f64>,
}

/// Reason for which a device stops before the end of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The battery is empty.
    Empty,
    /// A node is above [`Heat::HOTTEST_C`].
    TooHot(Box<str>),
}

/// What happened between two changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Begin.
    pub begin: SimTime,
    /// End.
    pub end: SimTime,
    /// Energy of everything \[J\].
    pub joules: f64,
    /// Highest temperature of each node \[C\]; empty without temperatures.
    pub highest_c: Vec<f64>,
    /// Time in which trips took points from some accelerator, or halted one.
    pub capped: SimSpan,
    /// Time in which nothing could start on some accelerator.
    pub halted: SimSpan,
    /// Charge at the end, as a share of the full cell; `None` without a battery.
    pub charge: Option<f64>,
}

/// State at an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The instant.
    pub at: SimTime,
    /// Mean power since the sample before \[W\].
    pub watts: f64,
    /// Temperature of each node \[C\].
    pub temperatures: Box<[f64]>,
    /// What trips allow: the least that any accelerator is allowed.
    pub limit: Limit,
    /// Charge, as a share of the full cell.
    pub charge: Option<f64>,
}

/// Longest halt that is waited for after the planned end of a run: an hour.
const PATIENCE: SimSpan = SimSpan::from_ns(3_600_000_000_000);

/// Samples of a run for its planned duration. Twice as many are merged two by two.
const SAMPLES: u64 = 2000;

/// Heat and charge of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    heat: Option<Warm>,
    charge: Option<Charge>,
    /// Energy of the sources of heat so far: each accelerator, DRAM, the base, losses of the battery \[J\].
    drawn_j: Vec<f64>,
    /// Base power and temperature of the air of the device \[mW, C\].
    own: (f64, f64),
    base_w: f64,
    /// Changes to come.
    changes: VecDeque<Change>,
    section: Section,
    sections: Vec<Section>,
    /// Energy up to the last section \[J\].
    joules_before: f64,
    stop: Option<(SimTime, Stop)>,
    throttled_from: Option<SimTime>,
    /// Time between two samples, the next one, and energy since the last one \[J\].
    every: SimSpan,
    next_sample: SimTime,
    since_sample: (SimTime, f64),
    samples: Vec<Sample>,
    /// Planned end of the run.
    planned: SimTime,
    /// No tick at or after this instant is waited for: an hour after the planned end, or after the begin of the halt if that is
    /// later.
    patience: SimTime,
}

/// Temperatures and trips.
#[derive(Debug, Clone, PartialEq)]
struct Warm {
    heat: Heat,
    thermal: Thermal,
    trips: Trips,
    /// Nodes that the sources of heat warm: each accelerator, DRAM, the base, losses of the battery.
    nodes: Vec<Option<NodeId>>,
    /// Next tick.
    tick: SimTime,
    /// Whether trips take a point from some accelerator, or halt one, from the last tick on.
    is_capped: bool,
    /// Power in each node \[W\].
    watts: Vec<f64>,
}

impl Body {
    /// `device` at time 0 of a run of `duration`, with these supplies of accelerators.
    pub fn new(
        device: &Device,
        supplied: &[Supplied],
        changes: impl IntoIterator<Item = Change>,
        duration: SimSpan,
    ) -> Self {
        let warm = |heat: &Heat| {
            let n_points = Supplied::most_points(supplied);
            let others = [heat.paths.dram, heat.paths.base, heat.paths.battery];
            let nodes = supplied.iter().map(|it| it.node).chain(others).collect();
            let thermal = Thermal::new(heat.network.clone(), heat.ambient_c);
            let trips = Trips::new(&heat.trips, thermal.temperatures(), n_points);
            let (tick, watts) = (SimTime::ZERO + heat.poll, vec![0.0; heat.network.nodes().len()]);
            Warm { heat: heat.clone(), thermal, trips, nodes, tick, is_capped: false, watts }
        };
        let mut body = Self {
            heat: device.heat.as_ref().map(warm),
            charge: device.battery.map(Charge::new),
            drawn_j: vec![0.0; supplied.len() + 3],
            own: (device.base_mw, device.heat.as_ref().map_or(0.0, |heat| heat.ambient_c)),
            base_w: device.base_mw / 1e3,
            changes: changes.into_iter().collect(),
            section: Section::default(),
            sections: Vec::new(),
            joules_before: 0.0,
            stop: None,
            throttled_from: None,
            every: SimSpan::from_ns((duration.ns() / SAMPLES).max(1_000_000)),
            next_sample: SimTime::ZERO,
            since_sample: (SimTime::ZERO, 0.0),
            samples: Vec::new(),
            planned: SimTime::ZERO + duration,
            patience: SimTime::ZERO + duration.saturating_add(PATIENCE),
        };
        while body.changes.front().is_some_and(|it| it.at == SimTime::ZERO) {
            body.change();
        }
        body
    }

    /// Base power \[W\].
    pub fn base_w(&self) -> f64 {
        self.base_w
    }

    /// Temperature of the accelerator with this supply \[C\], as of the last tick or change of power; `None` if it has none.
    pub fn celsius_of(&self, supplied: &Supplied) -> Option<f64> {
        let warm = self.heat.as_ref()?;
        Some(warm.thermal.temperatures()[supplied.node?.index()])
    }

    /// What trips allow: the least that any accelerator is allowed.
    pub fn limit(&self) -> Limit {
        self.heat.as_ref().map_or(Limit::default(), |warm| warm.trips.limit())
    }

    /// What trips allow the accelerator with this supply.
    pub fn limit_of(&self, supplied: &Supplied) -> Limit {
        self.heat.as_ref().map_or(Limit::default(), |warm| warm.trips.limit_of(&supplied.trips))
    }

    /// The next tick, while nothing starts on some accelerator; `None` if a halt is not waited for.
    pub fn wake_up(&self) -> Option<SimTime> {
        let warm = self.heat.as_ref().filter(|warm| warm.trips.limit().halt)?;
        (warm.tick < self.patience && self.stop.is_none()).then_some(warm.tick)
    }

    /// The next instant at which something changes by itself.
    #[inline]
    pub fn next_change(&self) -> SimTime {
        let tick = self.heat.as_ref().map_or(SimTime::MAX, |warm| warm.tick);
        self.changes.front().map_or(tick, |change| tick.min(change.at))
    }

    /// Whether, and since when, the device has stopped.
    pub fn stopped(&self) -> Option<&(SimTime, Stop)> {
        self.stop.as_ref()
    }

    /// The instant at which trips took points from an accelerator or halted one for the first time.
    pub fn throttled_from(&self) -> Option<SimTime> {
        self.throttled_from
    }

    /// The end of the span from `from` to `to` in which the battery lasts at this load \[W\].
    #[inline]
    pub fn lasts(&self, from: SimTime, to: SimTime, load_w: f64) -> SimTime {
        let after = self.charge.as_ref().and_then(|charge| charge.empties_after(load_w));
        after.map_or(to, |after| to.min(from + after))
    }

    /// Constant power of each accelerator, of DRAM and of the base flows from `from` to `to`, no later than
    /// [`Body::next_change`] and [`Body::lasts`] \[W\]. Returns whether `to` has a sample.
    pub fn draw(&mut self, from: SimTime, to: SimTime, sources: &[f64]) -> bool {
        let span = to - from;
        let load: f64 = sources.iter().sum();
        if let Some(charge) = &mut self.charge
            && charge.advance(load, span).is_some()
        {
            self.stop = Some((to, Stop::Empty));
        }
        let limit = self.limit();
        let loss = self.charge.as_ref().map_or(0.0, |it| it.drain_w(load) - load);
        let powers = || sources.iter().copied().chain([loss]);
        let seconds = span.ns() as f64 / 1e9;
        self.drawn_j.iter_mut().zip(powers()).for_each(|(sum, power)| *sum += power * seconds);
        if let Some(warm) = &mut self.heat {
            warm.watts.fill(0.0);
            for (node, power) in warm.nodes.iter().zip(powers()) {
                if let Some(node) = node {
                    warm.watts[node.index()] += power;
                }
            }
            warm.thermal.advance(&warm.watts, span);
            if let Some(node) = warm.thermal.too_hot() {
                let name = warm.heat.network.nodes()[node.index()].name.clone();
                self.stop = Some((to, Stop::TooHot(name)));
            }
        }
        if self.heat.as_ref().is_some_and(|warm| warm.is_capped) {
            self.section.capped += span;
        }
        if limit.halt {
            self.section.halted += span;
        }
        self.since_sample.1 += load * seconds;
        to >= self.next_sample && self.sample(to)
    }

    /// Energy of the accelerator at `index` at the present instant \[J\].
    pub fn strike(&mut self, index: usize, joules: f64) {
        let loss = self.charge.as_mut().map_or(0.0, |charge| charge.strike(joules));
        if let Some(warm) = &mut self.heat {
            for (node, joules) in [(warm.nodes[index], joules), (warm.heat.paths.battery, loss)] {
                node.into_iter().for_each(|node| warm.thermal.strike(node, joules));
            }
        }
        self.drawn_j[index] += joules;
        self.since_sample.1 += joules;
    }

    /// Energy of the sources of heat so far: each accelerator, DRAM, the base, losses of the battery \[J\].
    pub fn drawn_j(&self) -> &[f64] {
        &self.drawn_j
    }

    /// Temperature at which `node` ends in the present air if the sources of heat have this power for ever, in the order of
    /// [`Body::drawn_j`] \[C, W\]; `None` without temperatures.
    pub fn steady_c(&self, node: NodeId, watts: &[f64]) -> Option<f64> {
        let warm = self.heat.as_ref()?;
        let resistance = |source| warm.heat.network.resistance(node, source);
        let sources = warm.nodes.iter().zip(watts);
        let rise: f64 = sources.filter_map(|(at, watts)| Some(resistance((*at)?) * watts)).sum();
        Some(warm.thermal.ambient_c() + rise)
    }

    /// The node that is limited first: that of the trip with the lowest temperature, and without trips the outside.
    pub fn limited(&self) -> Option<NodeId> {
        let warm = self.heat.as_ref()?;
        let first = warm.heat.trips.iter().min_by(|a, b| a.at_c.total_cmp(&b.at_c));
        first.map(|trip| trip.node).or_else(|| self.outside())
    }

    /// Plays what happens by itself at `now`, up to which power was drawn: `joules` in all, with the supplies of
    /// accelerators. Returns whether temperatures were read.
    pub fn play(&mut self, now: SimTime, joules: f64, supplied: &[Supplied]) -> bool {
        let mut is_tick = false;
        if let Some(warm) = self.heat.as_mut().filter(|warm| warm.tick <= now) {
            let was_halted = warm.trips.limit().halt;
            warm.trips.tick(warm.thermal.temperatures());
            if warm.trips.limit().halt && !was_halted {
                self.patience = self.planned.max(now) + PATIENCE;
            }
            warm.tick = warm.tick + warm.heat.poll;
            is_tick = true;
            let trips = &warm.trips;
            let is_capped = |it: &Supplied| trips.limit_of(&it.trips).takes_from(&it.points);
            warm.is_capped = supplied.iter().any(is_capped);
            if warm.is_capped {
                self.throttled_from.get_or_insert(now);
            }
        }
        while self.changes.front().is_some_and(|change| change.at <= now) {
            self.close(now, joules);
            self.change();
        }
        is_tick
    }

    /// The device at the end of a run, at `end`, after `joules` in all. Returns whether this adds a sample.
    pub fn finish(&mut self, end: SimTime, joules: f64) -> bool {
        self.close(end, joules);
        self.sample(end)
    }

    /// Sections between changes, in order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The time `of` all sections; `None` without temperatures.
    pub fn spent(&self, of: fn(&Section) -> SimSpan) -> Option<SimSpan> {
        self.heat.as_ref()?;
        Some(self.sections.iter().map(of).fold(SimSpan::ZERO, SimSpan::saturating_add))
    }

    /// Samples over the run: about 2,000 for its planned duration, and fewer than 4,000 however long it goes on.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Battery; `None` without one.
    pub fn charge(&self) -> Option<&Charge> {
        self.charge.as_ref()
    }

    /// Names and highest temperatures of the nodes \[C\].
    pub fn highest(&self) -> impl Iterator<Item = (&str, f64)> {
        self.heat.iter().flat_map(|warm| {
            let nodes = warm.heat.network.nodes().iter().zip(warm.thermal.highest()).enumerate();
            nodes.map(|(index, (node, highest))| {
                let before = self.sections.iter().map(|it| it.highest_c[index]);
                (&*node.name, before.fold(*highest, f64::max))
            })
        })
    }

    /// Names and temperatures of the nodes \[C\].
    pub fn temperatures(&self) -> impl Iterator<Item = (&str, f64)> {
        self.heat.iter().flat_map(|warm| {
            let names = warm.heat.network.nodes().iter().map(|node| &*node.name);
            names.zip(warm.thermal.temperatures().iter().copied())
        })
    }

    /// The node whose temperature people feel: the one that the base heats, or else the last one.
    pub fn outside(&self) -> Option<NodeId> {
        let warm = self.heat.as_ref()?;
        let last = NodeId::new(warm.heat.network.nodes().len() - 1);
        Some(warm.heat.paths.base.unwrap_or(last))
    }

    /// Temperatures; `None` without them.
    pub fn thermal(&self) -> Option<&Thermal> {
        self.heat.as_ref().map(|warm| &warm.thermal)
    }

    fn close(&mut self, at: SimTime, joules: f64) {
        let next = Section { begin: at, end: at, ..Section::default() };
        let section = std::mem::replace(&mut self.section, next);
        let highest_c = self.heat.as_mut().map(|warm| warm.thermal.take_highest());
        let charge = self.charge.as_ref().map(Charge::left);
        let joules_of_section = joules - self.joules_before;
        self.joules_before = joules;
        let highest_c = highest_c.unwrap_or_default();
        self.sections.push(Section {
            end: at,
            joules: joules_of_section,
            highest_c,
            charge,
            ..section
        });
    }

    /// Base power and air of the next change hold.
    fn change(&mut self) {
        let Some(change) = self.changes.pop_front() else { return };
        let (base_mw, ambient_c) = self.own;
        self.base_w = change.base_mw.unwrap_or(base_mw) / 1e3;
        if let Some(warm) = &mut self.heat {
            warm.thermal.set_ambient(change.ambient_c.unwrap_or(ambient_c));
        }
    }

    /// Adds a sample, unless no time has passed since the last one. Returns whether it does.
    fn sample(&mut self, at: SimTime) -> bool {
        let (since, joules) = std::mem::replace(&mut self.since_sample, (at, 0.0));
        let ns = (at - since).ns();
        if ns == 0 {
            self.next_sample = at + self.every;
            return false;
        }
        let temperatures = self.heat.as_ref().map(|warm| warm.thermal.temperatures().into());
        self.samples.push(Sample {
            at,
            watts: joules * 1e9 / ns as f64,
            temperatures: temperatures.unwrap_or_default(),
            limit: self.limit(),
            charge: self.charge.as_ref().map(Charge::left),
        });
        if self.samples.len() as u64 >= 2 * SAMPLES {
            self.merge();
        }
        self.next_sample = at + self.every;
        true
    }

    /// Merges samples two by two, and takes half as many from now on.
    fn merge(&mut self) {
        self.every = self.every.saturating_add(self.every);
        let ns = |from: SimTime, to: SimTime| (to - from).ns() as f64;
        let mut begin = SimTime::ZERO;
        let mut samples = std::mem::take(&mut self.samples).into_iter();
        while let (Some(first), Some(second)) = (samples.next(), samples.next()) {
            let of_first = first.watts * ns(begin, first.at);
            let of_both = of_first + second.watts * ns(first.at, second.at);
            let watts = of_both / ns(begin, second.at);
            begin = second.at;
            self.samples.push(Sample { watts, ..second });
        }
    }
}

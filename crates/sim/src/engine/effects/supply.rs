//! The supply of the accelerators: points, leakage, gates, and the account of the energy.
//!
//! Power is piecewise constant. A segment draws its energy evenly over its work; an accelerator between segments idles,
//! or is gated. Gating is no event: it starts nothing, so that [`Supply::advance`] catches up with it, in order of time.
//!
//! Work is time at full speed. Where nothing interferes it is the time to the end of the segment; with shared bandwidth a
//! segment that is slowed draws less power, and the same energy.

use crate::device::{Body, Change, Item, Ledger, Overhead, Standing, Stop, Supplies};
use xrsim_model::hardware::Device;
use xrsim_model::hardware::device::Supplied;
use xrsim_model::ids::{AccelId, PointId};
use xrsim_model::trace::{PointChange, PointChanges};
use xrsim_model::units::{Millijoules, SimSpan, SimTime};

/// Items of the energy of a segment.
const DRAWN: [Item; 3] = [Item::Dynamic, Item::Moved, Item::Wake];

/// Supply of all accelerators, DRAM and the rest.
#[derive(Clone)]
pub(super) struct Supply {
    /// State that schedulers see.
    seen: Supplies,
    /// Indexed by [`AccelId`].
    stretches: Vec<Stretch>,
    /// Background of DRAM while none, and while any accelerator runs \[W\].
    dram_w: [f64; 2],
    /// Temperature of every accelerator, as its leakage has it \[C\].
    celsius: Vec<f64>,
    /// Leakage of every accelerator at that temperature and its present point \[W\].
    leakage_w: Vec<f64>,
    /// Everything before is accounted for.
    at: SimTime,
    /// Power of the sources of heat: each accelerator, DRAM, the rest \[W\].
    watts: Vec<f64>,
    /// The part of it that each accelerator takes without work, and its item \[W\].
    idle: Vec<(Item, f64)>,
    ledger: Ledger,
    /// Changes of the points of accelerators, if they are kept.
    points: Option<Vec<PointChange>>,
}

/// What runs on an accelerator, or ran last.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    runs: bool,
    /// Work that is left \[ns at full speed\].
    work: f64,
    /// Energy that is left, in the order of [`DRAWN`] \[nJ\].
    left: [f64; DRAWN.len()],
    /// Energy of its layers as a whole \[nJ\].
    dynamic: f64,
    /// Energy to wake up, and leakage so far \[nJ\].
    wake: f64,
    leaked: f64,
    /// Power of what is left \[W\].
    watts: f64,
    /// Energy of the present interval that is not drawn, in the order of [`DRAWN`] \[nJ\].
    pending: [f64; DRAWN.len()],
}

impl Supply {
    /// Supply by `device` at time 0.
    pub(super) fn new(
        device: &Device,
        supplied: Vec<Supplied>,
        changes: impl IntoIterator<Item = Change>,
        duration: SimSpan,
    ) -> Self {
        let n = supplied.len();
        let body = Body::new(device, &supplied, changes, duration);
        let standing = |it: &Supplied| Standing {
            point: it.nominal,
            cap: it.points.highest(),
            gated_after: gated_after(it, SimTime::ZERO),
        };
        let celsius = |it: &Supplied| body.celsius_of(it).unwrap_or(it.leakage.at_c);
        let celsius: Vec<_> = supplied.iter().map(celsius).collect();
        let at_nominal = supplied.iter().zip(&celsius);
        Self {
            stretches: vec![Stretch::default(); n],
            dram_w: [device.dram.idle_mw, device.dram.active_mw].map(|mw| mw / 1e3),
            leakage_w: at_nominal
                .map(|(it, celsius)| it.leakage_at(it.nominal, *celsius))
                .collect(),
            celsius,
            at: SimTime::ZERO,
            watts: vec![0.0; n + 2],
            idle: vec![(Item::Idle, 0.0); n],
            ledger: Ledger::new(&supplied),
            points: None,
            seen: Supplies { standing: supplied.iter().map(standing).collect(), supplied, body },
        }
    }

    /// Keeps the points of the accelerators from now on.
    pub(super) fn keep_points(&mut self) {
        let at = self.at;
        let change = |(index, it): (usize, &Standing)| PointChange {
            accelerator: AccelId::new(index),
            at,
            point: Some(it.point),
        };
        self.points = Some(self.seen.standing.iter().enumerate().map(change).collect());
    }

    /// The state that schedulers see.
    #[inline]
    pub(super) fn supplies(&self) -> &Supplies {
        &self.seen
    }

    /// Whether something does not start on some accelerator.
    pub(super) fn has_halts(&self) -> bool {
        self.seen.body.limit().halt || self.seen.body.stopped().is_some()
    }

    /// Whether nothing starts on `accelerator`.
    pub(super) fn halts(&self, accelerator: AccelId) -> bool {
        let supplied = &self.seen.supplied[accelerator.index()];
        self.seen.body.limit_of(supplied).halt || self.seen.body.stopped().is_some()
    }

    /// The next instant at which a halt may end.
    pub(super) fn wake_up(&self) -> Option<SimTime> {
        self.seen.body.wake_up()
    }

    /// Whether, and since when, the device has stopped.
    pub(super) fn stopped(&self) -> Option<&(SimTime, Stop)> {
        self.seen.body.stopped()
    }

    /// Plays what happens up to `now`. `work` is the work that is left of the segment of an accelerator at `now`; without
    /// it, that is the time to its end.
    pub(super) fn advance(&mut self, now: SimTime, work: impl Fn(AccelId) -> Option<f64>) {
        if now <= self.at || self.seen.body.stopped().is_some() {
            return;
        }
        let span = (now - self.at).ns() as f64;
        for (index, stretch) in self.stretches.iter_mut().enumerate().filter(|(_, it)| it.runs) {
            let left = work(AccelId::new(index)).unwrap_or(stretch.work - span).max(0.0);
            let share = if stretch.work > 0.0 { (1.0 - left / stretch.work).max(0.0) } else { 1.0 };
            stretch.work = left;
            stretch.watts = 0.0;
            for (energy, pending) in stretch.left.iter_mut().zip(&mut stretch.pending) {
                let drawn = if left > 0.0 { *energy * share } else { *energy };
                *energy -= drawn;
                *pending = drawn;
                stretch.watts += drawn / span;
            }
        }
        while self.at < now && self.seen.body.stopped().is_none() {
            self.power();
            let to = self.next_change().min(now);
            let to = self.seen.body.lasts(self.at, to, self.watts.iter().sum());
            self.draw(to, to == now);
            self.at = to;
            if self.seen.body.next_change() <= to {
                let joules = self.ledger.total_microjoules() / 1e6;
                if self.seen.body.play(to, joules, &self.seen.supplied) {
                    self.read();
                }
            }
        }
    }

    /// The next instant after [`Supply::at`] at which an accelerator is gated.
    fn next_change(&self) -> SimTime {
        let idle = self.seen.standing.iter().zip(&self.stretches).filter(|(_, it)| !it.runs);
        let gatings = idle.map(|(it, _)| it.gated_after).filter(|&after| after > self.at);
        gatings.min().unwrap_or(SimTime::MAX).min(self.seen.body.next_change())
    }

    /// Leakage and limits follow the temperatures that were read.
    fn read(&mut self) {
        for index in 0..self.stretches.len() {
            let Supplies { supplied, standing, body } = &mut self.seen;
            let (supplied, standing) = (&supplied[index], &mut standing[index]);
            let celsius = &mut self.celsius[index];
            *celsius = body.celsius_of(supplied).unwrap_or(*celsius);
            standing.cap = body.limit_of(supplied).highest_of(&supplied.points);
            self.leak(index);
        }
    }

    /// Sets the leakage of an accelerator, whose temperature or point has changed.
    fn leak(&mut self, index: usize) {
        let point = self.seen.standing[index].point;
        self.leakage_w[index] = self.seen.supplied[index].leakage_at(point, self.celsius[index]);
    }

    /// Leakage of an accelerator, as far as it is on, and what else it takes without work \[W\].
    fn idle_w(&self, index: usize) -> (Item, f64) {
        let (standing, supplied) = (&self.seen.standing[index], &self.seen.supplied[index]);
        let leakage = self.leakage_w[index];
        if self.stretches[index].runs {
            (Item::LeakRunning, leakage)
        } else if standing.gated_after <= self.at {
            (Item::Gated, supplied.gate.map_or(1.0, |gate| gate.left) * leakage)
        } else {
            (Item::Idle, supplied.idle_w + leakage)
        }
    }

    /// Sets the power of all sources.
    fn power(&mut self) {
        let n = self.stretches.len();
        for index in 0..n {
            let stretch = &self.stretches[index];
            let drawn = if stretch.runs { stretch.watts } else { 0.0 };
            self.idle[index] = self.idle_w(index);
            self.watts[index] = drawn + self.idle[index].1;
        }
        let any_runs = self.stretches.iter().any(|it| it.runs);
        self.watts[n] = self.dram_w[usize::from(any_runs)];
        self.watts[n + 1] = self.seen.body.base_w();
    }

    /// Draws constant power up to `to`, which is the `last` part of an interval.
    fn draw(&mut self, to: SimTime, last: bool) {
        let span = (to - self.at).ns() as f64;
        for index in 0..self.stretches.len() {
            let (item, watts) = self.idle[index];
            self.ledger.book(item, watts * span);
            let stretch = &mut self.stretches[index];
            if !stretch.runs {
                continue;
            }
            stretch.leaked += watts * span;
            let whole: f64 = stretch.pending.iter().sum();
            let share = if last || whole == 0.0 { 1.0 } else { stretch.watts * span / whole };
            for (item, pending) in DRAWN.into_iter().zip(&mut stretch.pending) {
                let drawn = *pending * share;
                *pending -= drawn;
                self.ledger.book(item, drawn);
            }
            let point = self.seen.standing[index].point;
            self.ledger.run(AccelId::new(index), point, to - self.at);
        }
        let n = self.stretches.len();
        self.ledger.book(Item::DramBackground, self.watts[n] * span);
        self.ledger.book(Item::Base, self.watts[n + 1] * span);
        self.ledger.pass(to, self.watts.iter().sum());
        if self.seen.body.draw(self.at, to, &self.watts) {
            self.ledger.sample(self.seen.body.samples().len());
        }
    }

    /// Starts a segment on `accelerator` at `now`, at a point that is allowed; returns what comes before it. With
    /// `continues`, it goes on from the one before.
    pub(super) fn start(
        &mut self,
        accelerator: AccelId,
        point: PointId,
        now: SimTime,
        continues: bool,
    ) -> Overhead {
        let overhead = match continues {
            true => Overhead::default(),
            false => self.seen.overhead(accelerator, point, now),
        };
        self.ledger.wakes += u64::from(overhead.wakes);
        self.ledger.transitions += u64::from(overhead.changes);
        if let Some(points) = &mut self.points {
            let standing = &self.seen.standing[accelerator.index()];
            let gated = PointChange { accelerator, at: standing.gated_after, point: None };
            points.extend(Some(gated).filter(|_| overhead.wakes));
            let change = PointChange { accelerator, at: now, point: Some(point) };
            points.extend(Some(change).filter(|_| overhead.wakes || overhead.changes));
        }
        let standing = &mut self.seen.standing[accelerator.index()];
        if standing.point != point {
            standing.point = point;
            self.leak(accelerator.index());
        }
        overhead
    }

    /// The segment that started draws the energy of its layers, of moved data and of waking up over `work` \[ns\].
    pub(super) fn run(
        &mut self,
        accelerator: AccelId,
        work: SimSpan,
        [dynamic, moved]: [Millijoules; 2],
        wake: f64,
    ) {
        let [dynamic, moved] = [dynamic, moved].map(|it| it.get() * 1e6);
        self.stretches[accelerator.index()] = Stretch {
            runs: true,
            work: work.ns() as f64,
            left: [dynamic, moved, wake],
            dynamic,
            wake,
            leaked: 0.0,
            watts: 0.0,
            pending: Default::default(),
        };
    }

    /// The segment of `accelerator` takes another energy and another work from now on than was thought.
    pub(super) fn revise(&mut self, accelerator: AccelId, dynamic: Millijoules, work: f64) {
        let stretch = &mut self.stretches[accelerator.index()];
        let dynamic = dynamic.get() * 1e6;
        stretch.left[0] += dynamic - stretch.dynamic;
        (stretch.dynamic, stretch.work) = (dynamic, work);
    }

    /// The segment of `accelerator` ends at `now`. It draws what is left of its energy at once.
    pub(super) fn stop(&mut self, accelerator: AccelId, now: SimTime) {
        let stretch = &mut self.stretches[accelerator.index()];
        for (item, energy) in DRAWN.into_iter().zip(&mut stretch.left) {
            if *energy != 0.0 {
                self.ledger.book(item, *energy);
                self.ledger.strike(*energy);
                self.seen.body.strike(accelerator.index(), *energy / 1e9);
                *energy = 0.0;
            }
        }
        stretch.runs = false;
        let gated_after = gated_after(&self.seen.supplied[accelerator.index()], now);
        self.seen.standing[accelerator.index()].gated_after = gated_after;
    }

    /// Energy of the segment that runs, or ran last, on `accelerator`, beside that of its layers and of moved data.
    #[inline]
    pub(super) fn beside(&self, accelerator: AccelId) -> Millijoules {
        let stretch = &self.stretches[accelerator.index()];
        Millijoules::from_nj(stretch.wake + stretch.leaked)
    }

    /// The device stops while `accelerator` runs: the segment draws nothing more. Returns the energy of its
    /// layers, less what it has not drawn of all its energy.
    pub(super) fn break_off(&mut self, accelerator: AccelId) -> Millijoules {
        let stretch = &mut self.stretches[accelerator.index()];
        let undrawn: f64 = stretch.left.iter().chain(&stretch.pending).sum();
        (stretch.left, stretch.pending) = Default::default();
        Millijoules::from_nj(stretch.dynamic - undrawn)
    }

    /// The account up to `end`, the device then, and the points of the accelerators if they are kept.
    pub(super) fn finish(mut self, end: SimTime) -> (Ledger, Body, PointChanges) {
        self.advance(end, |_| None);
        if self.seen.body.finish(self.at, self.ledger.total_microjoules() / 1e6) {
            self.ledger.sample(self.seen.body.samples().len());
        }
        let mut points = self.points.unwrap_or_default();
        let gated = self.seen.standing.iter().zip(&self.stretches).enumerate();
        let gated = gated.filter(|(_, (it, stretch))| !stretch.runs && it.gated_after < self.at);
        points.extend(gated.map(|(index, (it, _))| PointChange {
            accelerator: AccelId::new(index),
            at: it.gated_after,
            point: None,
        }));
        (self.ledger, self.seen.body, PointChanges::new(points))
    }
}

/// Instant after which an accelerator that idles from `now` on is gated.
fn gated_after(supplied: &Supplied, now: SimTime) -> SimTime {
    supplied.gate.map_or(SimTime::MAX, |gate| now + gate.after)
}

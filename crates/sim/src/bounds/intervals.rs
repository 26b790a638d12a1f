//! Demand in intervals: what is done of some frames within an interval that holds their windows is no
//! more than the time that the accelerators have in it.
//!
//! In the program of [`program`](super::program) each interval is one more limit for each accelerator, with a price of its own.
//! A frame pays the sum of the prices of all intervals around its window. As any prices give a bound,
//! good ones are enough: interval by interval, the price is set to that at which the demand fits, all others being as they
//! are (coordinate descent on the dual).
//!
//! Intervals begin with a window and end with one of the next [`NEXT`] windows, so that there are at most
//! [`NEXT`] times as many limits as frames for each accelerator. A pass costs frames x [`NEXT`], and
//! for each limit that does not hold [`HALVINGS`] looks at its frames.

use super::instance::{Frame, Instance, shortest};
use super::program::{Prices, bonus};
use super::work::Steps;

/// Windows after a window that end an interval with it.
const NEXT: usize = 24;

/// Passes over all intervals.
const PASSES: usize = 3;

/// Halvings of a price.
const HALVINGS: usize = 24;

/// Looks at frames for one bound, beyond which no price is set.
const MAX_LOOKS: usize = 60_000;

/// Share of an interval by which it may be exceeded.
const TOLERANCE: f64 = 1e-9;

/// Frames that compete for resources, with prices.
struct Market<'a> {
    instance: &'a Instance<'a>,
    /// Frames with a window, by their start.
    order: Vec<usize>,
    /// Ways of every model, indexed by [`ModelId`](xrsim_model::ids::ModelId).
    ways: Vec<Vec<&'a Steps>>,
    /// Worths of all ways of all frames and the index of the first of each; a bonus is in them.
    worths: Vec<f64>,
    firsts: Vec<usize>,
    n_resources: usize,
    /// Time of each resource in a millisecond.
    capacity: f64,
    /// Price that each frame pays for each resource \[1/ms\].
    prices: Vec<f64>,
    /// Gain of every frame, and the time that it takes of each resource \[ms\].
    gains: Vec<f64>,
    times: Vec<f64>,
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    charges: Vec<Charges>,
    /// What all resources cost in the whole horizon.
    paid: f64,
    looks: usize,
}

/// UB2: the accelerators are one resource.
pub(super) fn pooled(instance: &Instance<'_>) -> f64 {
    let single: Vec<Steps> =
        instance.routes.iter().map(|routes| Steps::single(shortest(routes))).collect();
    let ways = single.iter().map(|it| vec![it]).collect();
    let worths = |frame: &Frame| vec![instance.best(frame)];
    let mut market = Market::new(instance, ways, worths, 1, instance.n_accelerators as f64);
    market.descend()
}

/// UB3, from the `prices` of the whole horizon.
pub(super) fn apart(instance: &Instance<'_>, prices: Option<&Prices>) -> f64 {
    let ways = instance.routes.iter().map(|it| it.iter().map(|it| &it.steps).collect()).collect();
    let worths = |frame: &Frame| {
        let bonus = prices.map_or(0.0, |prices| bonus(instance, prices, frame));
        instance.worths(frame).iter().map(|worth| worth + bonus).collect()
    };
    let mut market = Market::new(instance, ways, worths, instance.n_accelerators, 1.0);
    if let Some(prices) = prices {
        market.begin(&prices.accelerators, instance.horizon_ms);
    }
    market.descend()
}

impl<'a> Market<'a> {
    fn new(
        instance: &'a Instance<'a>,
        ways: Vec<Vec<&'a Steps>>,
        worths_of: impl Fn(&Frame) -> Vec<f64>,
        n_resources: usize,
        capacity: f64,
    ) -> Self {
        let frames = &instance.frames;
        let mut order: Vec<_> = (0..frames.len()).filter(|&it| frames[it].is_open()).collect();
        order.sort_by_key(|&it| (frames[it].start, frames[it].end));
        let (mut worths, mut firsts) = (Vec::new(), Vec::with_capacity(frames.len()));
        for frame in frames {
            firsts.push(worths.len());
            worths.extend(worths_of(frame));
        }
        Self {
            instance,
            order,
            ways,
            worths,
            firsts,
            n_resources,
            capacity,
            prices: vec![0.0; frames.len() * n_resources],
            gains: vec![0.0; frames.len()],
            times: vec![0.0; frames.len() * n_resources],
            charges: vec![Charges::default(); instance.routes.len()],
            paid: 0.0,
            looks: 0,
        }
    }

    /// Lets all frames pay `prices` for the whole horizon.
    fn begin(&mut self, prices: &[f64], horizon_ms: f64) {
        self.prices.chunks_mut(self.n_resources).for_each(|row| row.copy_from_slice(prices));
        self.paid = prices.iter().sum::<f64>() * horizon_ms;
    }

    /// The bound at the prices of `limits` above those of the beginning, added up anew, so that nothing is left of the
    /// rounding of prices that were tried.
    fn bound_at(&mut self, base: &[f64], limits: &[Limit], intervals: &Intervals) -> f64 {
        self.prices.copy_from_slice(base);
        let mut paid = self.paid;
        for limit in limits {
            let (room, members) = self.room(limit, intervals);
            paid += limit.price * room;
            for &(frame, _) in members {
                self.prices[frame * self.n_resources + limit.resource] += limit.price;
            }
        }
        (0..self.gains.len()).for_each(|frame| self.look(frame));
        let gains = self.gains.iter().sum::<f64>();
        (self.instance.constant + paid + gains) * (1.0 + 1e-12)
    }

    /// The bound after prices of intervals were set.
    fn descend(&mut self) -> f64 {
        let base = self.prices.clone();
        let intervals = Intervals::new(self.instance, &self.order);
        let mut least = self.bound_at(&base, &[], &intervals);
        let mut known: Vec<Limit> = Vec::new();
        for _ in 0..PASSES {
            let broken = self.broken(&intervals);
            if broken.is_empty() || self.looks > MAX_LOOKS {
                break;
            }
            for limit in std::mem::take(&mut known).into_iter().chain(broken) {
                let price = match self.looks > MAX_LOOKS {
                    true => limit.price,
                    false => self.set(&limit, &intervals),
                };
                if price > 0.0 {
                    known.push(Limit { price, ..limit });
                }
            }
            least = least.min(self.bound_at(&base, &known, &intervals));
        }
        least
    }

    /// Time of the resource of a limit, and the frames that share it.
    fn room<'i>(&self, limit: &Limit, intervals: &'i Intervals) -> (f64, &'i [(usize, f64)]) {
        let (start, members) = &intervals.0[limit.at];
        let members = &members[..limit.n];
        ((members[limit.n - 1].1 - start) * self.capacity, members)
    }

    /// The limit of each resource that is exceeded most, of the intervals that begin with each window.
    fn broken(&self, intervals: &Intervals) -> Vec<Limit> {
        let mut broken = Vec::new();
        let mut times = vec![0.0; self.n_resources];
        let mut worst = vec![(0.0, 0); self.n_resources];
        for (at, (start, members)) in intervals.0.iter().enumerate() {
            times.fill(0.0);
            worst.fill((0.0, 0));
            for (n, &(frame, end_ms)) in members.iter().enumerate() {
                let room = (end_ms - start) * self.capacity;
                let taken = &self.times[frame * self.n_resources..][..self.n_resources];
                let is_last = members.get(n + 1).is_none_or(|next| next.1 > end_ms);
                for ((time, taken), worst) in times.iter_mut().zip(taken).zip(&mut worst) {
                    *time += taken;
                    let excess = *time - room * (1.0 + TOLERANCE);
                    if is_last && excess > worst.0 {
                        *worst = (excess, n + 1);
                    }
                }
            }
            let limits = worst.iter().enumerate().filter(|(_, (excess, _))| *excess > 0.0);
            broken.extend(limits.map(|(resource, &(_, n))| Limit { at, n, resource, price: 0.0 }));
        }
        broken
    }

    /// Sets the price of a limit, the others being as they are, and returns it; 0 if it is for nothing.
    fn set(&mut self, limit: &Limit, intervals: &Intervals) -> f64 {
        let (room, members) = self.room(limit, intervals);
        let before = self.value(members) + limit.price * room;
        self.raise(members, limit.resource, -limit.price);
        let none = self.value(members);
        if self.taken(members, limit.resource) <= room * (1.0 + TOLERANCE) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, none.max(f64::MIN_POSITIVE) / room.max(1e-9));
        let (mut at, mut is_bracketed) = (0.0, false);
        for _ in 0..2 * HALVINGS {
            let price = if is_bracketed { 0.5 * (low + high) } else { high };
            self.raise(members, limit.resource, price - at);
            at = price;
            let is_low = self.taken(members, limit.resource) > room;
            match (is_low, is_bracketed) {
                (true, true) => low = price,
                (true, false) => (low, high) = (price, 2.0 * price),
                (false, _) => (high, is_bracketed) = (price, true),
            }
            if high - low <= 1e-9 * high || self.looks > MAX_LOOKS {
                break;
            }
        }
        self.raise(members, limit.resource, high - at);
        let after = self.value(members) + high * room;
        let (price, least) = if none < after { (0.0, none) } else { (high, after) };
        // The looks may end before the price is good.
        let price = if least > before { limit.price } else { price };
        self.raise(members, limit.resource, price - high);
        price
    }

    /// Gains of some frames.
    fn value(&self, members: &[(usize, f64)]) -> f64 {
        members.iter().map(|&(frame, _)| self.gains[frame]).sum()
    }

    /// Time of a resource that some frames take.
    fn taken(&self, members: &[(usize, f64)], resource: usize) -> f64 {
        members.iter().map(|&(frame, _)| self.times[frame * self.n_resources + resource]).sum()
    }

    fn raise(&mut self, members: &[(usize, f64)], resource: usize, by: f64) {
        if by == 0.0 {
            return;
        }
        for &(frame, _) in members {
            let price = &mut self.prices[frame * self.n_resources + resource];
            *price = (*price + by).max(0.0);
            self.look(frame);
        }
        self.looks += members.len();
    }

    /// Chooses what a frame does at its prices.
    fn look(&mut self, frame: usize) {
        let n = self.n_resources;
        let row = frame * n..(frame + 1) * n;
        let prices = &self.prices[row.clone()];
        let it = &self.instance.frames[frame];
        let ways = &self.ways[it.model.index()];
        let charges = &mut self.charges[it.model.index()];
        if charges.prices != prices {
            charges.prices.clear();
            charges.prices.extend_from_slice(prices);
            charges.times.clear();
            charges.times.resize(ways.len() * n, 0.0);
            let times = charges.times.chunks_mut(n);
            let tolls = ways.iter().zip(times).map(|(steps, times)| steps.charge(prices, times));
            charges.tolls.clear();
            charges.tolls.extend(tolls);
        }
        let (mut best, mut chosen) = (it.late, None);
        for (way, toll) in charges.tolls.iter().enumerate() {
            let gain = self.worths[self.firsts[frame] + way] - toll;
            if gain > best {
                (best, chosen) = (gain, Some(way));
            }
        }
        self.gains[frame] = best;
        match chosen {
            Some(way) => self.times[row].copy_from_slice(&charges.times[way * n..][..n]),
            None => self.times[row].fill(0.0),
        }
    }
}

/// Last prices that a frame of a model paid, with the tolls of all ways and their times.
#[derive(Clone, Default)]
struct Charges {
    prices: Vec<f64>,
    tolls: Vec<f64>,
    times: Vec<f64>,
}

/// Limit of a resource in the interval of the first `n` members of the intervals at `at`.
struct Limit {
    at: usize,
    n: usize,
    resource: usize,
    price: f64,
}

/// Starts of windows \[ms\], each with the next frames and the ends of their windows, by their ends.
struct Intervals(Vec<(f64, Vec<(usize, f64)>)>);

impl Intervals {
    fn new(instance: &Instance<'_>, order: &[usize]) -> Self {
        let frames = &instance.frames;
        let mut all = Vec::new();
        for (at, &first) in order.iter().enumerate() {
            if at > 0 && frames[order[at - 1]].start == frames[first].start {
                continue;
            }
            let next = order[at..].iter().take(NEXT);
            let mut members: Vec<_> = next.copied().collect();
            members.sort_by_key(|&it| frames[it].end);
            let members = members.into_iter().map(|it| (it, ms(frames[it].end))).collect();
            all.push((ms(frames[first].start), members));
        }
        Self(all)
    }
}

fn ms(time: xrsim_model::units::SimTime) -> f64 {
    time.ns() as f64 / 1e6
}

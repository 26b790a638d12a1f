//! NSGA-II (Deb, Pratap, Agarwal and Meyarivan, IEEE TEC 6, 2002) over systems and schedulers.

use std::collections::HashSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::evaluation::{Job, Task};
use super::exact::Hunt;
use super::front::covers;
use super::space::Used;
use super::{Observe, Search, StopReason};
use xrsim_sim::bounds::Class;

/// Members of a generation.
const POPULATION: usize = 100;

/// Generations without a change of the answer after which the search ends.
const MAX_IDLE: usize = 50;

/// A system with a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Genome {
    members: Vec<u32>,
    scheduler: usize,
}

/// A genome that was simulated.
#[derive(Debug, Clone)]
struct Individual {
    genome: Genome,
    /// Objectives, larger is better.
    goods: Vec<f64>,
    /// By how much the limits are exceeded, in all; 0 if they are kept.
    violation: f64,
}

impl Individual {
    /// Whether this one is better by constraint domination.
    fn beats(&self, other: &Self) -> bool {
        match (self.violation > 0.0, other.violation > 0.0) {
            (false, true) => true,
            (true, false) => false,
            (true, true) => self.violation < other.violation,
            (false, false) => {
                covers(&self.goods, &other.goods) && !covers(&other.goods, &self.goods)
            }
        }
    }
}

impl Search<'_> {
    /// Improves a population of systems until the number of evaluations is reached, or nothing better is
    /// found for many generations.
    pub(super) fn evolve(
        &mut self,
        hunt: &mut Hunt,
        observe: &mut Observe<'_>,
    ) -> Result<(), StopReason> {
        let seed = self.evaluation.loads.first().map_or(0, |load| load.plan.load.seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut seen = HashSet::new();
        let seeds = self.seeds(&mut random);
        let mut population = self.evaluate(hunt, seeds, &mut seen);
        let mut idle = 0;
        while (seen.len() as u64) < self.stop.evaluations && idle < MAX_IDLE {
            population = select(population);
            self.check_stop(hunt, observe)?;
            if population.is_empty() {
                break;
            }
            let before: Vec<_> = hunt.best.iter().map(|it| (it.system, it.scheduler)).collect();
            let children = self.children(&population, &seen, &mut random);
            if children.is_empty() {
                break;
            }
            population.extend(self.evaluate(hunt, children, &mut seen));
            let after = hunt.best.iter().map(|it| (it.system, it.scheduler));
            idle = if after.eq(before) { idle + 1 } else { 0 };
        }
        self.check_stop(hunt, observe)
    }

    /// The types with the largest bounds alone, and systems grown from them by the types that raise the
    /// bound most; then random ones.
    fn seeds(&self, random: &mut ChaCha8Rng) -> Vec<Genome> {
        let loads = 0..self.evaluation.loads.len();
        let bound = |members: &[u32]| {
            loads.clone().map(|load| self.coarse.score(members, load, Class::Keeping)).sum::<f64>()
        };
        let n_types = self.space.types().len();
        let stride = n_types.div_ceil(2000).max(1);
        let mut types: Vec<_> =
            (0..n_types as u32).step_by(stride).map(|it| (bound(&[it]), it)).collect();
        types.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut genomes = Vec::new();
        for &(_, first) in types.iter().take(POPULATION / 4) {
            let mut members = vec![first];
            loop {
                let last_scheduler = self.schedulers.len() - 1;
                self.keep(&members, last_scheduler, &mut genomes);
                if members.len() >= *self.space.accelerators().end() {
                    break;
                }
                let room = |it: &u32| {
                    self.used(&members)
                        .and_then(|used| self.space.with(&members, used, *it as usize))
                };
                let best =
                    types.iter().map(|(_, it)| *it).filter(|it| room(it).is_some()).take(200);
                let with = |it: u32| bound(&[&members[..], &[it]].concat());
                let Some(best) = best.max_by(|a, b| with(*a).total_cmp(&with(*b))) else { break };
                members.push(best);
                members.sort_unstable();
            }
        }
        for _ in 0..100 * POPULATION {
            if genomes.len() >= POPULATION {
                break;
            }
            let n = random.random_range(self.space.accelerators());
            let members = (0..n).map(|_| random.random_range(0..n_types as u32)).collect();
            let scheduler = random.random_range(0..self.schedulers.len());
            if let Some(members) = self.repaired(members, random) {
                self.keep(&members, scheduler, &mut genomes);
            }
        }
        genomes
    }

    fn keep(&self, members: &[u32], scheduler: usize, genomes: &mut Vec<Genome>) {
        let is_system = members.len() >= *self.space.accelerators().start()
            && self.used(members).is_some_and(|used| self.space.is_complete(used));
        let genome = Genome { members: members.to_vec(), scheduler };
        if is_system && !genomes.contains(&genome) {
            genomes.push(genome);
        }
    }

    /// The budget that these types use; `None` if it is too much.
    fn used(&self, members: &[u32]) -> Option<Used> {
        let mut used = Used::default();
        for (at, &member) in members.iter().enumerate() {
            used = self.space.with(&members[..at], used, member as usize)?;
        }
        Some(used)
    }

    /// A system of these types within the budget: types that are too much are left out, and where all PEs
    /// must be used, one is exchanged for another that uses the rest. `None` if that fails.
    fn repaired(&self, mut members: Vec<u32>, random: &mut ChaCha8Rng) -> Option<Vec<u32>> {
        members.sort_unstable();
        let members = self.space.in_one_system(&members);
        let mut kept: Vec<u32> = Vec::new();
        let mut used = Used::default();
        for member in members {
            if let Some(more) = self.space.with(&kept, used, member as usize) {
                kept.push(member);
                used = more;
            }
        }
        if kept.len() >= *self.space.accelerators().start() && self.space.is_complete(used) {
            return Some(kept);
        }
        let replaced = random.random_range(0..kept.len().max(1));
        if replaced < kept.len() {
            kept.remove(replaced);
        }
        let used = self.used(&kept)?;
        let n_types = self.space.types().len();
        let start = random.random_range(0..n_types);
        let fits = |it: &usize| {
            self.space.with(&kept, used, *it).is_some_and(|used| self.space.is_complete(used))
        };
        let last = (0..n_types).map(|it| (it + start) % n_types).find(fits)?;
        kept.push(last as u32);
        kept.sort_unstable();
        (kept.len() >= *self.space.accelerators().start()).then_some(kept)
    }

    fn children(
        &self,
        population: &[Individual],
        seen: &HashSet<Genome>,
        random: &mut ChaCha8Rng,
    ) -> Vec<Genome> {
        let mut children: Vec<Genome> = Vec::new();
        for _ in 0..20 * POPULATION {
            if children.len() == POPULATION {
                break;
            }
            let [a, b] = [(); 2].map(|()| &tournament(population, random).genome);
            let mut members: Vec<u32> = [&a.members[..], &b.members[..]].concat();
            let n = random.random_range(self.space.accelerators()).min(members.len());
            while members.len() > n {
                members.swap_remove(random.random_range(0..members.len()));
            }
            let mut scheduler = if random.random() { a.scheduler } else { b.scheduler };
            if random.random_range(0..4) > 0 {
                self.mutate(&mut members, random);
            }
            if random.random_range(0..5) == 0 {
                scheduler = random.random_range(0..self.schedulers.len());
            }
            let Some(members) = self.repaired(members, random) else { continue };
            let child = Genome { members, scheduler };
            if !seen.contains(&child) && !children.contains(&child) {
                children.push(child);
            }
        }
        children
    }

    /// Moves a type to a near one, or to any, or adds one.
    fn mutate(&self, members: &mut Vec<u32>, random: &mut ChaCha8Rng) {
        let n_types = self.space.types().len() as i64;
        let at = random.random_range(0..members.len().max(1));
        match random.random_range(0..4) {
            0 | 1 if at < members.len() => {
                let reach = random.random_range(1..=8i64);
                let step = if random.random() { reach } else { -reach };
                members[at] = (i64::from(members[at]) + step).clamp(0, n_types - 1) as u32;
            }
            2 if at < members.len() => members[at] = random.random_range(0..n_types as u32),
            _ if members.len() < *self.space.accelerators().end() => {
                members.push(random.random_range(0..n_types as u32));
            }
            _ => {}
        }
    }

    /// Simulates genomes in all draws.
    fn evaluate(
        &mut self,
        hunt: &mut Hunt,
        genomes: Vec<Genome>,
        seen: &mut HashSet<Genome>,
    ) -> Vec<Individual> {
        let mut jobs: Vec<Job> = Vec::new();
        let mut systems = Vec::with_capacity(genomes.len());
        for genome in &genomes {
            let system = self.intern(&genome.members);
            systems.push(system);
            seen.insert(genome.clone());
            self.evaluation.touch(system);
            if self.is_homeless(&hunt.question, &genome.members) {
                continue;
            }
            for load in hunt.question.loads() {
                let until = self.evaluation.loads[load].n_draws();
                let schedulers = vec![genome.scheduler];
                let task = Task::Runs { schedulers, until };
                let job = Job { system, load, task };
                let known = self.evaluation.state(system);
                let done = known.map_or(0, |it| it.scenes[load].tested[genome.scheduler].done);
                if (done as usize) < until && !jobs.contains(&job) {
                    jobs.push(job);
                }
            }
        }
        self.work(&jobs);
        let mut individuals = Vec::with_capacity(genomes.len());
        for (genome, system) in genomes.into_iter().zip(systems) {
            hunt.counts.systems += 1;
            let scheduler = genome.scheduler;
            let is_homeless = self.is_homeless(&hunt.question, &genome.members);
            if is_homeless || !self.is_complete(hunt, system, scheduler) {
                hunt.counts.infeasible += 1;
                continue;
            }
            hunt.counts.complete += 1;
            self.offer(hunt, system, scheduler);
            let goods = self.best_goods(hunt, system, Some(scheduler));
            let violation = self.violation(hunt, system, scheduler);
            individuals.push(Individual { genome, goods, violation });
        }
        individuals
    }

    /// Sum over the limits of the relative amount by which they are exceeded.
    fn violation(&self, hunt: &Hunt, system: u32, scheduler: usize) -> f64 {
        let over = hunt.question.constraints.iter().map(|limit| {
            let view = self.view();
            let range = view.range(system, Some(scheduler), &hunt.question, limit.quantity);
            match limit.holds(range.low) {
                true => 0.0,
                false => (range.low - limit.limit).abs() / limit.limit.abs().max(1e-12),
            }
        });
        over.sum()
    }
}

/// The better one of two random individuals. The population is sorted.
fn tournament<'p>(population: &'p [Individual], random: &mut ChaCha8Rng) -> &'p Individual {
    let [a, b] = [(); 2].map(|()| random.random_range(0..population.len()));
    &population[a.min(b)]
}

/// The best members of a population: whole fronts, then the least crowded ones of the next front. They are
/// in order of front and crowding.
fn select(population: Vec<Individual>) -> Vec<Individual> {
    let mut left = population;
    let mut selected: Vec<Individual> = Vec::with_capacity(POPULATION);
    while !left.is_empty() && selected.len() < POPULATION {
        let is_first = |at: usize| !left.iter().any(|other| other.beats(&left[at]));
        let flags: Vec<bool> = (0..left.len()).map(is_first).collect();
        let mut flags = flags.into_iter();
        let (front, rest): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|_| flags.next().unwrap_or(false));
        left = rest;
        let room = POPULATION - selected.len();
        selected.extend(by_crowding(front).into_iter().take(room));
    }
    selected
}

/// A front in falling order of the distance of its members to their neighbours.
fn by_crowding(front: Vec<Individual>) -> Vec<Individual> {
    let n_objectives = front.first().map_or(0, |it| it.goods.len());
    let mut distances = vec![0.0f64; front.len()];
    for objective in 0..n_objectives {
        let mut order: Vec<usize> = (0..front.len()).collect();
        let value = |at: usize| front[at].goods[objective];
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { continue };
        let span = (value(last) - value(first)).max(f64::MIN_POSITIVE);
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for three in order.windows(3) {
            distances[three[1]] += (value(three[2]) - value(three[0])) / span;
        }
    }
    let mut indexed: Vec<_> = distances.into_iter().zip(front).collect();
    indexed.sort_by(|a, b| b.0.total_cmp(&a.0));
    indexed.into_iter().map(|(_, individual)| individual).collect()
}

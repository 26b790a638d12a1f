//! Genetic search of MAGMA for a whole schedule.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::load::RequestStream;
use crate::schedule::lists::{ListedSegment, Lists, Replay};
use crate::schedule::{Entry, Granularity, Parameter, Setup};
use crate::score::{accuracy, energy, realtime};
use xrsim_model::ids::{AccelId, RequestId, WorkId};
use xrsim_model::scenario::QualityGoal;
use xrsim_model::units::{SimSpan, SimTime};

/// The search ignores shared bandwidth and switching costs, which the run may have.
pub(super) const ENTRY: Entry = Entry {
    name: "magma",
    help: "offline reference: the best schedule that a genetic search finds, all requests known \
           beforehand",
    source: "Kao & Krishna (MAGMA), HPCA 2022, and its published code, with XRBench's score for a \
             fitness, deadlines, dependencies, and two greedy schedules in the first population",
    work_conserving: false,
    parameters: &[
        Parameter::whole("evaluations", 2000, [1, 10_000_000]).meaning("schedules that are tried"),
        Parameter::whole("population", 100, [2, 10_000]).meaning("schedules of a generation"),
        Parameter::number("mutation", 0.01, [0.0, 1.0]).meaning("chance of each gene of a child to change (the published code: 0.05, for tens of jobs; a \
             run has hundreds)"),
        Parameter::whole("seed", 0, [0, u32::MAX]).meaning("seed of the search"),
    ],
    fixes: &["placement", "granularity", "preemption"],
    is_clairvoyant: true,
    ..Entry::new(|setup, arguments| {
        let mut search = Search {
            instance: Instance::new(setup),
            population: arguments.whole("population") as usize,
            left: arguments.whole("evaluations"),
            mutation: arguments.number("mutation"),
            random: ChaCha8Rng::seed_from_u64(arguments.whole("seed").into()),
        };
        let lists = search.run();
        Box::new(Replay::new(lists, setup.known_requests, Granularity::Model))
    })
};

/// Fraction of a generation that survives, fraction that has children, and probabilities of the
/// operators (published code of MAGMA).
const ELITE: f64 = 0.05;
const PARENTS: f64 = 0.1;
const ROW_CROSSOVER: f64 = 0.9;
const RANGE_CROSSOVER: f64 = 0.1;
const ACCELERATOR_CROSSOVER: f64 = 0.1;

/// Largest lateness of a frame in a schedule. A frame that would be later does not run.
const TOLERANCE: SimSpan = SimSpan::from_ns(300_000);

/// Decision of a schedule for one request.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gene {
    accelerator: AccelId,
    /// Place in the order of requests: 0 stands for its arrival, 1 for its deadline.
    key: f64,
}

type Genome = Vec<Gene>;

/// Requests of a run, with all that the utility of a schedule depends on.
struct Instance<'a> {
    requests: &'a RequestStream,
    /// Row of the costs of every request.
    works: Vec<WorkId>,
    /// Length of the longest chain of upstream models of each request.
    depths: Vec<u32>,
    /// Triggered requests, each after its upstream requests.
    order: Vec<RequestId>,
    /// Time, and utility apart from the real-time score, `[work][accelerator]`.
    costs: Vec<Vec<(SimSpan, f64)>>,
    k_per_ms: f64,
}

impl<'a> Instance<'a> {
    fn new(setup: &Setup<'a>) -> Self {
        let requests = setup.known_requests;
        let depths = depths(setup);
        let ids = || (0..requests.requests().len()).map(RequestId::new);
        let mut order: Vec<_> = ids().filter(|id| requests.request(*id).triggered).collect();
        order.sort_by_key(|id| (depths[id.index()], *id));
        let works = ids().map(|id| setup.work_of(id)).collect();
        Self { requests, works, depths, order, costs: costs(setup), k_per_ms: setup.score.k_per_ms }
    }

    fn cost(&self, id: RequestId, accelerator: AccelId) -> (SimSpan, f64) {
        self.costs[self.works[id.index()].index()][accelerator.index()]
    }

    /// Requests in the order of their keys, each after its upstream requests.
    fn sequence(&self, genome: &Genome) -> Vec<RequestId> {
        let mut places = vec![0.0f64; self.works.len()];
        for id in &self.order {
            let request = self.requests.request(*id);
            let window = request.deadline.saturating_since(request.arrival).ns() as f64;
            let own = request.arrival.ns() as f64 + genome[id.index()].key * window;
            let needed = self.requests.upstream(*id).iter().map(|up| places[up.index()]);
            places[id.index()] = needed.fold(own, f64::max);
        }
        let mut sequence = self.order.clone();
        let place = |id: &RequestId| (places[id.index()], self.depths[id.index()]);
        sequence.sort_by(|a, b| {
            let (x, y) = (place(a), place(b));
            x.0.total_cmp(&y.0).then_with(|| x.1.cmp(&y.1)).then_with(|| a.cmp(b))
        });
        sequence
    }

    /// Plays a schedule in sequence: every request starts as soon as its inputs, its upstream results and
    /// its accelerator are there. It does not start at its deadline or later, nor if it would end too
    /// late. `choose` returns the accelerator.
    fn play(
        &self,
        sequence: &[RequestId],
        mut choose: impl FnMut(RequestId, &[SimTime], SimTime) -> AccelId,
    ) -> Played {
        let mut available = vec![SimTime::ZERO; self.n_accelerators()];
        let mut ends = vec![None; self.works.len()];
        let mut played = Played { utility: 0.0, lists: vec![Vec::new(); available.len()] };
        for &id in sequence {
            let request = self.requests.request(id);
            let mut needed = self.requests.upstream(id).iter().map(|up| ends[up.index()]);
            let ready = needed.try_fold(request.arrival, |ready, end| Some(ready.max(end?)));
            let Some(ready) = ready else { continue };
            let accelerator = choose(id, &available, ready);
            let (time, utility) = self.cost(id, accelerator);
            let start = ready.max(available[accelerator.index()]);
            let end = start + time;
            if start >= request.deadline || end > request.deadline + TOLERANCE {
                continue;
            }
            available[accelerator.index()] = end;
            ends[id.index()] = Some(end);
            played.utility += utility * realtime::realtime(end, request.deadline, self.k_per_ms);
            played.lists[accelerator.index()].push(ListedSegment { request: id, layer: 0 });
        }
        played
    }

    fn decode(&self, genome: &Genome) -> Played {
        self.play(&self.sequence(genome), |id, _, _| genome[id.index()].accelerator)
    }

    /// The schedule of equal keys in which every request runs where it ends first.
    fn greedy(&self, key: f64) -> Genome {
        let first = Gene { accelerator: AccelId::new(0), key };
        let mut genome = vec![first; self.works.len()];
        let sequence = self.sequence(&genome);
        self.play(&sequence, |id, available, ready| {
            let end = |at: &AccelId| available[at.index()].max(ready) + self.cost(id, *at).0;
            let all = (0..available.len()).map(AccelId::new);
            let best = all.min_by_key(end).expect("a system has accelerators");
            genome[id.index()].accelerator = best;
            best
        });
        genome
    }

    fn n_accelerators(&self) -> usize {
        self.costs[0].len()
    }
}

/// Result of a schedule.
struct Played {
    /// Sum over the models of the mean over their frames of RtScore · EnScore · AccScore: the score
    /// of the scenario times its models, without its factor QoE.
    utility: f64,
    lists: Lists,
}

/// Depth of the model of every request.
fn depths(setup: &Setup<'_>) -> Vec<u32> {
    let mut of_model = vec![0; setup.scenario.models().len()];
    for &id in setup.scenario.topological() {
        let upstream = setup.scenario.model(id).dependencies.iter();
        let above = upstream.map(|dependency| of_model[dependency.upstream.index()] + 1);
        of_model[id.index()] = above.max().unwrap_or(0);
    }
    setup.known_requests.requests().iter().map(|request| of_model[request.model.index()]).collect()
}

fn costs(setup: &Setup<'_>) -> Vec<Vec<(SimSpan, f64)>> {
    let accelerators = || (0..setup.costs.n_accelerators()).map(AccelId::new);
    let row = |work| {
        let model = setup.costs.model_of(work);
        let requests = setup.known_requests.requests().iter();
        let frames = requests.filter(|it| it.model == model && it.triggered).count();
        let accuracy = |goal: &QualityGoal| accuracy::accuracy(goal, setup.score);
        let accuracy = setup.scenario.model(model).quality(setup.costs.variant_of(work), accuracy);
        let cell = |at| {
            let execution = setup.costs.on(work, at);
            let utility = accuracy * energy::energy(execution.energy(), setup.score.energy_max);
            (execution.latency(), utility / frames.max(1) as f64)
        };
        accelerators().map(cell).collect()
    };
    (0..setup.costs.n_works()).map(WorkId::new).map(row).collect()
}

/// A search in progress.
struct Search<'a> {
    instance: Instance<'a>,
    population: usize,
    /// Evaluations left.
    left: u32,
    /// Chance of each gene to change.
    mutation: f64,
    random: ChaCha8Rng,
}

impl Search<'_> {
    /// The lists of the best schedule that was found.
    fn run(&mut self) -> Lists {
        if self.instance.order.is_empty() {
            return vec![Vec::new(); self.instance.n_accelerators()];
        }
        let first = (0..self.population).map(|index| self.first(index)).collect();
        let mut generation = self.evaluate(first);
        while self.left > 0 {
            let children = self.children(&generation);
            let survivors = self.part(ELITE);
            generation.truncate(survivors);
            generation.extend(self.evaluate(children));
            generation.sort_by(|a, b| b.0.total_cmp(&a.0));
        }
        self.instance.decode(&generation[0].1).lists
    }

    /// Number of schedules in `part` of a generation, at least one.
    fn part(&self, part: f64) -> usize {
        ((self.population as f64 * part) as usize).max(1)
    }

    /// A schedule of the first generation: two greedy ones, in order of arrival and of deadline; then
    /// random ones.
    fn first(&mut self, index: usize) -> Genome {
        match index {
            0 => self.instance.greedy(1.0),
            1 => self.instance.greedy(0.0),
            _ => (0..self.instance.works.len()).map(|_| self.gene()).collect(),
        }
    }

    fn gene(&mut self) -> Gene {
        Gene { accelerator: self.accelerator(), key: self.random.random() }
    }

    fn accelerator(&mut self) -> AccelId {
        let n_accelerators = self.instance.n_accelerators() as u32;
        AccelId::new(self.random.random_range(0..n_accelerators) as usize)
    }

    /// Fitness of as many genomes as may still be evaluated, the best first.
    fn evaluate(&mut self, mut genomes: Vec<Genome>) -> Vec<(f64, Genome)> {
        genomes.truncate(self.left as usize);
        self.left -= genomes.len() as u32;
        let instance = &self.instance;
        let rated = genomes.into_iter().map(|genome| (instance.decode(&genome).utility, genome));
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by(|a, b| b.0.total_cmp(&a.0));
        rated
    }

    /// Children of a generation, for all places except those of the survivors.
    fn children(&mut self, generation: &[(f64, Genome)]) -> Vec<Genome> {
        let parents = &generation[..self.part(PARENTS).max(2)];
        let n_children = self.population - self.part(ELITE);
        (0..n_children).map(|_| self.child(parents)).collect()
    }

    fn child(&mut self, parents: &[(f64, Genome)]) -> Genome {
        let mut child = self.parent(parents).clone();
        let other = self.parent(parents);
        if self.happens(ROW_CROSSOVER) {
            self.cross_row(&mut child, other);
        }
        if self.happens(RANGE_CROSSOVER) {
            self.cross_range(&mut child, other);
        }
        if self.happens(ACCELERATOR_CROSSOVER) {
            self.cross_accelerator(&mut child, other);
        }
        self.mutate(&mut child);
        child
    }

    fn happens(&mut self, chance: f64) -> bool {
        self.random.random::<f64>() < chance
    }

    /// A random parent; its probability is proportional to its fitness.
    fn parent<'g>(&mut self, parents: &'g [(f64, Genome)]) -> &'g Genome {
        let sum: f64 = parents.iter().map(|(fitness, _)| fitness).sum();
        let mut left = self.random.random::<f64>() * sum;
        let found = parents.iter().find(|(fitness, _)| {
            left -= fitness;
            left < 0.0
        });
        &found.unwrap_or(&parents[0]).1
    }

    fn place(&mut self) -> usize {
        self.random.random_range(0..self.instance.works.len() as u32) as usize
    }

    /// Takes all accelerators or all keys from a random place to the end from `other`.
    fn cross_row(&mut self, child: &mut Genome, other: &Genome) {
        let (place, keys) = (self.place(), self.happens(0.5));
        for (gene, other) in child[place..].iter_mut().zip(&other[place..]) {
            match keys {
                true => gene.key = other.key,
                false => gene.accelerator = other.accelerator,
            }
        }
    }

    /// Takes everything between two places from `other`.
    fn cross_range(&mut self, child: &mut Genome, other: &Genome) {
        let (a, b) = (self.place(), self.place());
        let range = a.min(b)..=a.max(b);
        child[range.clone()].copy_from_slice(&other[range]);
    }

    /// Takes the requests of one accelerator in `other`. Other requests that ran there move to random
    /// accelerators.
    fn cross_accelerator(&mut self, child: &mut Genome, other: &Genome) {
        let accelerator = self.accelerator();
        for (gene, other) in child.iter_mut().zip(other) {
            if other.accelerator == accelerator {
                *gene = *other;
            } else if gene.accelerator == accelerator {
                gene.accelerator = self.accelerator();
            }
        }
    }

    fn mutate(&mut self, child: &mut Genome) {
        for gene in child {
            if self.happens(self.mutation) {
                gene.accelerator = self.accelerator();
            }
            if self.happens(self.mutation) {
                gene.key = self.random.random();
            }
        }
    }
}

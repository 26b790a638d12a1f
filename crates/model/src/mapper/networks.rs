//! Mappings of all layers of networks (docs/explanation/mapper.md, section 8).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cost::loop_nest::{
    Choice, Evaluation, Listed, Machine, Mapping, Nest, NestReport, directives, evaluate, lower,
    memory, nests_of_network, shape,
};
use crate::dataflow::{Dataflow, LayerMapping};
use crate::hardware::{Accelerator, Flexibility, Width, Widths};
use crate::model::Network;
use crate::parallel;

use super::bound;
use super::chooser::Chooser;
use super::declared::{DeclaredSpace, clusters};
use super::exact::{Counts, Rules};
use super::kept::{Kept, LayerKey};
use super::layer::{FormSearch, FoundForm};
use super::mapped::{MappedLayer, MappedNetwork, Violation, join};
use super::objective::{Goal, Objective, Value, within_one_percent};
use super::problem::Limits;
use super::question::Question;
use super::row::mapping_text;
use super::search::{Effort, Search, Settings, Status};
use super::sizes::Sizes;
use super::space::Mapspace;
use super::store::{Section, Store};
use super::version;

/// Rounds in which the places of tensors and the mappings are adapted to each other.
const MAX_ROUNDS: usize = 5;

/// Latencies between those of the fastest and of the most economical mapping for which a front has
/// mappings.
const FRONT_STEPS: i32 = 6;

/// Mappings among which those of the layers are searched.
#[derive(Debug, Clone)]
pub enum Space {
    /// Every mapping of some numbers of levels, whose cluster sizes are powers of two.
    Any {
        /// Least and largest number of levels.
        levels: [usize; 2],
        /// Sizes of chunks.
        sizes: Sizes,
    },
    /// A declared mapspace.
    Declared(DeclaredSpace),
}

/// A search for the mappings of all layers of networks on an accelerator.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NetworkMapper {
    /// Accelerator. Its dataflow and flexibility have no effect.
    pub accelerator: Accelerator,
    /// Dataflows that results are compared with and that searches begin with. The first one that can run
    /// a network plans its shared memory.
    pub dataflows: Vec<Arc<Dataflow>>,
    /// Mappings that are searched.
    pub space: Space,
    /// Goal of the search.
    pub goal: Goal,
    /// Work for one layer.
    pub effort: Effort,
    /// Rules of exact search.
    pub rules: Rules,
    /// Distance to the bound at which a search ends, as a fraction of the bound.
    pub gap: f64,
    /// Accelerator whose choices in runs are taken, in place of searches by `space` and `goal`.
    pub chosen: Option<Accelerator>,
    /// Name of the dataflows that hold the mappings of a network.
    pub name: Box<str>,
    /// Keeps the results.
    pub store: Arc<Store>,
}

/// Results of loop nests.
pub(super) type Results = HashMap<Key, Kept>;

/// A loop nest where it finds its tensors, and the widths of their elements.
pub(super) type Key = (LayerKey, Widths);

fn key(nest: &Nest, machine: &Machine) -> Key {
    (LayerKey::new(nest, machine), machine.widths)
}

/// A network in work.
pub(super) struct Work<'a> {
    network: &'a Network,
    /// Loop nests of every layer as they are written, with the machine as they find it.
    nests: Vec<Vec<(Nest, Machine)>>,
    /// Dataflow for layers that are not mapped.
    base: Option<Arc<Dataflow>>,
    /// The mappings, evaluated by the cost model; empty if a layer has no legal mapping.
    reports: Vec<Vec<NestReport>>,
    dataflow: Option<Dataflow>,
}

impl NetworkMapper {
    /// A search with full effort for the least latency of any mapping of one to three levels.
    pub fn new(accelerator: Accelerator, dataflows: Vec<Arc<Dataflow>>) -> Self {
        Self {
            accelerator: Accelerator { flexibility: Flexibility::None, ..accelerator },
            dataflows,
            space: Space::Any { levels: [1, 3], sizes: Sizes::default() },
            goal: Goal::Least(Objective::Cycles),
            effort: Effort::FULL,
            rules: Rules::ALL,
            gap: 0.0,
            chosen: None,
            name: "mapped".into(),
            store: Arc::default(),
        }
    }

    /// Maps the layers of networks, or only those called `only`. `progress` is told the numbers of searches
    /// that are done and of all known ones.
    pub fn map(
        &self,
        networks: &[Arc<Network>],
        only: Option<&str>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<MappedNetwork> {
        let works: Vec<_> = networks.iter().map(|network| self.work(network)).collect();
        match self.goal {
            Goal::Pareto => self.fronts(&works, only, progress),
            _ => self.rounds(works, only, None, progress),
        }
    }

    /// Searches and moves tensors in turn until all layers have a result. `first` has the results of the
    /// first round if they are known.
    pub(super) fn rounds(
        &self,
        mut works: Vec<Work<'_>>,
        only: Option<&str>,
        mut first: Option<Vec<(Key, Kept)>>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<MappedNetwork> {
        let section = self.section(self.accelerator.datapath.widths);
        let (mut results, done) = (Results::new(), AtomicUsize::new(0));
        for _ in 0..MAX_ROUNDS {
            let missing = missing(&works, only, &results);
            if missing.is_empty() {
                break;
            }
            let total = results.len() + missing.len();
            progress(results.len(), total);
            let search = || {
                let found = parallel::map(&missing, |(key, machine)| {
                    let found = self.get_or_search(key, machine, &section);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
                    Some((key.clone(), found?))
                });
                found.into_iter().flatten().collect()
            };
            let new: Vec<_> = first.take().unwrap_or_else(search);
            if new.is_empty() {
                break;
            }
            results.extend(new);
            works.iter_mut().for_each(|work| self.place(work, only, &results));
        }
        works.iter().map(|work| self.result(work, only, &results)).collect()
    }

    /// A network with its tensors at the places that the first dataflow plans that can run it, or else
    /// with every layer alone.
    pub(super) fn work<'a>(&self, network: &'a Network) -> Work<'a> {
        for dataflow in &self.dataflows {
            let accelerator =
                Accelerator { dataflow: Arc::clone(dataflow), ..self.accelerator.clone() };
            let Ok(reports) = nests_of_network(network, &accelerator, None) else { continue };
            let nests = reports.into_iter().map(written).collect();
            let base = Some(Arc::clone(dataflow));
            return Work { network, nests, base, reports: Vec::new(), dataflow: None };
        }
        let machine = Machine::from_accelerator(&self.accelerator);
        let alone = |layer: &crate::model::Layer| {
            let nests = lower::lower(&layer.operator).unwrap_or_default();
            nests.into_iter().map(|nest| (nest, machine.clone())).collect()
        };
        let nests = network.layers().iter().map(alone).collect();
        Work { network, nests, base: None, reports: Vec::new(), dataflow: None }
    }

    /// Evaluates a network with the mappings so far, which may move tensors to other places.
    fn place(&self, work: &mut Work<'_>, only: Option<&str>, results: &Results) {
        let Some(dataflow) = self.dataflow(work, only, results) else { return };
        let accelerator =
            Accelerator { dataflow: Arc::new(dataflow.clone()), ..self.accelerator.clone() };
        if let Ok(reports) = nests_of_network(work.network, &accelerator, None) {
            work.nests = reports.iter().cloned().map(written).collect();
            work.reports = reports;
            work.dataflow = Some(dataflow);
        }
    }

    /// The dataflow of all results so far of a network; `None` if a layer has no legal mapping.
    fn dataflow(&self, work: &Work<'_>, only: Option<&str>, results: &Results) -> Option<Dataflow> {
        let mut entries: Vec<LayerMapping> =
            work.dataflow.iter().flat_map(|known| known.layers().iter().cloned()).collect();
        // Of layers that differ in their widths only, the widest has the mapping that fits all of them.
        let mut bits: Vec<u32> = vec![u32::MAX; entries.len()];
        for (layer, nests) in shown(work, only) {
            for (nest, machine) in nests {
                let kept = results.get(&key(nest, machine))?;
                let Choice { nest: form, mapping, .. } =
                    kept.clone().into_choice(self.effort.name())?;
                let entry = LayerMapping {
                    layer: layer.into(),
                    shape: shape(nest),
                    memory: Some(memory(machine)),
                    form: (form != *nest).then(|| shape(&form)),
                    directives: directives(&mapping),
                };
                let is_known =
                    |it: &LayerMapping| it.shape == entry.shape && it.memory == entry.memory;
                let own = machine.widths.into_array().map(Width::bits).iter().sum();
                match entries.iter().position(is_known) {
                    None => {
                        entries.push(entry);
                        bits.push(own);
                    }
                    Some(at) if bits[at] < own => (entries[at], bits[at]) = (entry, own),
                    Some(_) => {}
                }
            }
        }
        let base = work.base.as_ref().filter(|_| only.is_some());
        let dataflow = match base {
            Some(base) => {
                let general = base.directives().clone();
                Dataflow::new(self.name.clone(), general).ok()?.with_layers(entries).ok()?
            }
            None => Dataflow::of_layers(self.name.clone(), entries).ok()?,
        };
        Some(dataflow.flexible(Some(Flexibility::None)))
    }

    /// The kept result of a layer, or that of a search.
    pub(super) fn get_or_search(
        &self,
        (key, widths): &Key,
        machine: &Machine,
        section: &Section,
    ) -> Option<Kept> {
        if let Some(accelerator) = &self.chosen {
            let chooser = Chooser::new(self.effort, Arc::clone(&self.store));
            return chooser.kept(&key.nest, machine, accelerator);
        }
        if *widths != self.accelerator.datapath.widths {
            return self.get_or_search_in(key, machine, &self.section(*widths));
        }
        self.get_or_search_in(key, machine, section)
    }

    fn get_or_search_in(
        &self,
        key: &LayerKey,
        machine: &Machine,
        section: &Section,
    ) -> Option<Kept> {
        let limits = Limits::from_accelerator(&self.accelerator);
        let space = |form: &Nest| Some(self.mapspace(form, machine));
        let question = Question { machine, limits: &limits, space: &space };
        let search = || Some(Kept::from_found(self.search(&key.nest, machine)?));
        section.get_or_search(key, &question, search)
    }

    /// The mapspace of a form.
    fn mapspace(&self, form: &Nest, machine: &Machine) -> Mapspace {
        match &self.space {
            Space::Any { levels: [least, most], sizes } => {
                let mut space = Mapspace::any(machine.pes, *most, sizes.clone());
                for list in self.dataflows.iter().filter_map(|it| clusters(it.levels())) {
                    if list.len() < *most && !space.clusters.contains(&list) {
                        space.clusters.push(list);
                    }
                }
                space.clusters.retain(|clusters| clusters.len() + 1 >= *least);
                space
            }
            Space::Declared(declared) => declared.for_layer(form, machine),
        }
    }

    fn search(&self, nest: &Nest, machine: &Machine) -> Option<FoundForm> {
        let seeds = self.seeds(nest, machine);
        match self.goal {
            Goal::Least(objective) => self.least(nest, machine, objective, seeds),
            Goal::CyclesThenEnergy | Goal::Pareto => {
                let mut seeds = seeds;
                let fastest = self.least(nest, machine, Objective::Cycles, seeds.clone())?;
                if fastest.found.status == Status::NoLegalMapping {
                    return Some(fastest);
                }
                let limit = within_one_percent(fastest.found.value().cycles);
                seeds.push((fastest.nest.clone(), fastest.found.mapping));
                self.least(nest, machine, Objective::EnergyWithin(limit), seeds)
            }
        }
    }

    /// Searches for the least of an objective.
    fn least(
        &self,
        nest: &Nest,
        machine: &Machine,
        objective: Objective,
        seeds: Vec<(Nest, Mapping)>,
    ) -> Option<FoundForm> {
        let space = |form: &Nest| Some(self.mapspace(form, machine));
        let limits = Limits::from_accelerator(&self.accelerator);
        let search = FormSearch {
            machine,
            limits: &limits,
            space: &space,
            seeds,
            objective,
            settings: Settings { effort: self.effort, rules: self.rules, gap: self.gap },
        };
        search.run(nest)
    }

    /// Mappings of the dataflows for a layer.
    fn seeds(&self, nest: &Nest, machine: &Machine) -> Vec<(Nest, Mapping)> {
        let seed = |dataflow: &Arc<Dataflow>| {
            let listed = Listed::new(dataflow, nest, machine).ok()?;
            let mapping = Mapping::new(listed.directives, &listed.nest, machine).ok()?;
            Some((listed.nest.into_owned(), mapping))
        };
        self.dataflows.iter().filter_map(seed).collect()
    }

    /// The front of every layer at the places of the start.
    fn fronts(
        &self,
        works: &[Work<'_>],
        only: Option<&str>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<MappedNetwork> {
        let (missing, done) = (missing(works, only, &Results::new()), AtomicUsize::new(0));
        let total = missing.len();
        let fronts = parallel::map(&missing, |(key, machine)| {
            let front = self.front(&key.0.nest, machine);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            (key, front)
        });
        let fronts: HashMap<_, _> = fronts.into_iter().collect();
        let network = |work: &Work<'_>| {
            let mut layers = Vec::new();
            for (name, nests) in shown(work, only) {
                for (nest, machine) in nests {
                    let front = fronts.get(&key(nest, machine));
                    layers.extend(front.into_iter().flatten().map(|found| {
                        let part = self.part(nest, machine, &Kept::from_found(found.clone()));
                        MappedLayer { layer: name.into(), ..part }
                    }));
                }
            }
            self.mapped(work, layers, None)
        };
        works.iter().map(network).collect()
    }

    /// Mappings of which none has both less latency and less energy than another, the fastest first.
    fn front(&self, nest: &Nest, machine: &Machine) -> Vec<FoundForm> {
        let mut seeds = self.seeds(nest, machine);
        let ends = [Objective::Cycles, Objective::Energy];
        let mut found: Vec<_> = ends
            .into_iter()
            .filter_map(|objective| self.least(nest, machine, objective, seeds.clone()))
            .collect();
        let cycles: Vec<_> = found.iter().map(|it| it.found.value().cycles).collect();
        if let [fast, slow] = cycles[..]
            && slow > fast
        {
            let ratio = slow as f64 / fast.max(1) as f64;
            for step in 0..FRONT_STEPS {
                let limit = fast as f64 * ratio.powf(f64::from(step) / f64::from(FRONT_STEPS));
                seeds.extend(found.iter().map(|it| (it.nest.clone(), it.found.mapping)));
                let objective = Objective::EnergyWithin(limit as u64);
                found.extend(self.least(nest, machine, objective, seeds.clone()));
            }
        }
        found.sort_by(|a, b| Objective::Cycles.compare(&a.found.value(), &b.found.value()));
        let mut least = f64::INFINITY;
        found.retain(|it| {
            let energy = it.found.value().energy_pj;
            let better = energy < least;
            least = least.min(energy);
            better
        });
        found
    }

    fn result(&self, work: &Work<'_>, only: Option<&str>, results: &Results) -> MappedNetwork {
        let is_placed = !work.reports.is_empty();
        let mut layers = Vec::new();
        for (at, layer) in work.network.layers().iter().enumerate() {
            if only.is_some_and(|only| *layer.name != *only) || work.nests[at].is_empty() {
                continue;
            }
            let parts = work.nests[at].iter().enumerate().filter_map(|(index, (nest, machine))| {
                let known = results.get(&key(nest, machine));
                match known {
                    Some(kept) => Some(self.part(nest, machine, kept)),
                    None if is_placed => Some(self.moved(&work.reports[at][index])),
                    None => None,
                }
            });
            let joined = parts.reduce(join);
            layers.extend(joined.map(|part| MappedLayer { layer: layer.name.clone(), ..part }));
        }
        let dataflow = work.dataflow.clone();
        self.mapped(work, layers, dataflow)
    }

    /// The layers of a network, with the dataflow that has their mappings.
    fn mapped(
        &self,
        work: &Work<'_>,
        layers: Vec<MappedLayer>,
        dataflow: Option<Dataflow>,
    ) -> MappedNetwork {
        let (network, accelerator) = (work.network.name().into(), self.accelerator.name.clone());
        MappedNetwork { network, accelerator, layers, dataflow }
    }

    /// The part of a layer that is one loop nest, with a result of its own.
    fn part(&self, nest: &Nest, machine: &Machine, kept: &Kept) -> MappedLayer {
        let evaluation = evaluate(&kept.choice.nest, &kept.choice.mapping, machine).ok();
        let violation = evaluation
            .filter(|_| kept.status == Status::NoLegalMapping)
            .and_then(|evaluation| self.violation(&evaluation, machine));
        MappedLayer {
            layer: "".into(),
            listed: self.listed(nest, machine),
            value: kept.value,
            bound: kept.bound,
            bound_edp: kept.bound_edp,
            status: kept.status,
            counts: kept.counts,
            violation,
            mappings: vec![mapping_text(nest, &kept.choice.nest, &kept.choice.mapping)],
        }
    }

    /// The part of a layer that was evaluated at other places than it was searched for.
    fn moved(&self, report: &NestReport) -> MappedLayer {
        let NestReport { written, nest, mapping, machine, evaluation, .. } = report;
        let bound = bound::of_machine(written, machine);
        MappedLayer {
            layer: "".into(),
            listed: self.listed(written, machine),
            value: Value { cycles: evaluation.cycles, energy_pj: evaluation.energy.total() },
            bound,
            bound_edp: bound.edp(),
            status: Status::Gap,
            counts: Counts::default(),
            violation: None,
            mappings: vec![mapping_text(written, nest, mapping)],
        }
    }

    /// The best of the dataflows for a loop nest as it is written.
    fn listed(&self, nest: &Nest, machine: &Machine) -> Option<(Box<str>, Value)> {
        let limits = Limits::from_accelerator(&self.accelerator);
        let space = Mapspace::free(Vec::new(), Sizes::default());
        let value = |dataflow: &Arc<Dataflow>| {
            let listed = Listed::new(dataflow, nest, machine).ok()?;
            let mapping = Mapping::new(listed.directives, &listed.nest, machine).ok()?;
            let search = Search::new(&listed.nest, machine, &limits, &space).seed(&mapping);
            let found = search.effort(Effort::new(0, 0, 0)).run()?;
            let runs = found.status != Status::NoLegalMapping;
            runs.then(|| (dataflow.name().into(), found.value()))
        };
        let objective = self.objective();
        let known = self.dataflows.iter().filter_map(value);
        known.min_by(|a: &(Box<str>, Value), b| objective.compare(&a.1, &b.1))
    }

    /// Objective by which results are compared.
    pub fn objective(&self) -> Objective {
        match self.goal {
            Goal::Least(objective) => objective,
            Goal::CyclesThenEnergy | Goal::Pareto => Objective::Cycles,
        }
    }

    /// The capacity that a mapping exceeds most.
    fn violation(&self, evaluation: &Evaluation, machine: &Machine) -> Option<Violation> {
        let limits = Limits::from_accelerator(&self.accelerator);
        let n_levels = evaluation.levels().len();
        let of_level = |(level, counts): (usize, &crate::cost::loop_nest::LevelCounts)| {
            let available = limits.of_level(level, n_levels)?;
            Some(Violation { level: Some(level), needed: counts.unit_bytes, available })
        };
        let levels = evaluation.levels().iter().enumerate().filter_map(of_level);
        let shared = machine.shared_bytes.map(|available| Violation {
            level: None,
            needed: evaluation.memory.shared_bytes,
            available,
        });
        let excess = |it: &Violation| it.needed.saturating_sub(it.available);
        levels.chain(shared).filter(|it| excess(it) > 0).max_by_key(excess)
    }

    /// The kept results of these settings, for layers of these widths.
    pub(super) fn section(&self, widths: Widths) -> Arc<Section> {
        let Self { space, effort, rules, gap, .. } = self;
        let (machine, limits) = (
            Machine::from_accelerator(&self.accelerator),
            Limits::from_accelerator(&self.accelerator),
        );
        let machine = Machine { widths, ..machine };
        let flows = self.dataflows.iter();
        let flows: Vec<_> = flows.map(|it| (it.directives(), it.layers())).collect();
        let goal = self.goal.name();
        let key = format!(
            "map {goal} {effort:?} {rules:?} {gap} {space:?} {machine:?} {limits:?} {flows:?}"
        );
        self.store.section_of(key.into(), version::current)
    }
}

/// Loop nests as they are written, with the machine as they find it.
fn written(reports: Vec<NestReport>) -> Vec<(Nest, Machine)> {
    reports.into_iter().map(|report| (report.written, report.machine)).collect()
}

/// Names and loop nests of the layers, or of those called `only`.
fn shown<'a>(
    work: &'a Work<'_>,
    only: Option<&'a str>,
) -> impl Iterator<Item = (&'a str, &'a [(Nest, Machine)])> {
    let layers = work.network.layers().iter().zip(&work.nests);
    layers
        .filter(move |(layer, _)| only.is_none_or(|only| *layer.name == *only))
        .map(|(layer, nests)| (&*layer.name, &nests[..]))
}

/// Loop nests without a result, each once, in order.
pub(super) fn missing<'a>(
    works: &'a [Work<'_>],
    only: Option<&str>,
    results: &Results,
) -> Vec<(Key, &'a Machine)> {
    let mut seen = HashSet::new();
    let mut missing = Vec::new();
    for work in works {
        let layers = work.network.layers().iter().zip(&work.nests);
        let shown = layers.filter(|(layer, _)| only.is_none_or(|only| *layer.name == *only));
        for (nest, machine) in shown.flat_map(|(_, nests)| nests) {
            let key = key(nest, machine);
            if !results.contains_key(&key) && seen.insert(key.clone()) {
                missing.push((key, machine));
            }
        }
    }
    missing
}

//! What runs have in common: streams of requests and tables of costs, each made once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::load::{LoadError, RequestStream};
use crate::plan::Plan;
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::cost::{CostError, CostTable};

use super::{BLOCK_REQUESTS, costs, n_requests};

/// Most tables that are kept, of about a kilobyte each.
const MAX_TABLES: usize = 1 << 14;

/// Streams and tables of runs, made by the first run that needs them, on any thread.
pub(super) struct Common<'l> {
    library: Library<'l>,
    /// Places of the stream and the table of every run. A stream of one run has none.
    places: Vec<(Option<usize>, Option<usize>)>,
    streams: Vec<OnceLock<Result<Arc<RequestStream>, LoadError>>>,
    tables: Vec<OnceLock<Result<Arc<CostTable>, CostError>>>,
}

/// The library that has the costs of a run.
pub(super) type Library<'l> = Box<dyn Fn(&Plan) -> &'l CostLibrary + Sync + 'l>;

impl<'l> Common<'l> {
    /// What `plans` have in common. Streams beyond two million requests and tables beyond [`MAX_TABLES`] are made for
    /// each run alone, so that memory is bounded.
    pub(super) fn new<'p>(
        plans: impl IntoIterator<Item = &'p Plan>,
        library: impl Fn(&Plan) -> &'l CostLibrary + Sync + 'l,
    ) -> Self {
        let (mut streams, mut tables) = (Distinct::default(), Distinct::default());
        let mut kept = 0u64;
        let place = |plan: &'p Plan| {
            let scenario = Arc::as_ptr(&plan.scenario) as usize;
            let (seed, replication) = (plan.load.seed, plan.load.replication);
            let fits = || {
                kept = kept.saturating_add(n_requests(plan));
                kept <= BLOCK_REQUESTS
            };
            let same_load =
                |it: &&Plan| Arc::ptr_eq(&it.scenario, &plan.scenario) && it.load == plan.load;
            let stream = streams.place(plan, (scenario, seed, replication), same_load, fits);
            let exposed = plan.engine.effects.non_overlapped.to_bits();
            let system = Arc::as_ptr(&plan.system) as usize;
            let same_costs = |it: &&Plan| {
                Arc::ptr_eq(&it.scenario, &plan.scenario)
                    && Arc::ptr_eq(&it.system, &plan.system)
                    && it.semantics == plan.semantics
                    && it.needs_layers() == plan.needs_layers()
                    && it.device == plan.device
            };
            let n_tables = tables.n;
            let fits = || n_tables < MAX_TABLES;
            (stream, tables.place(plan, (scenario, system, exposed), same_costs, fits))
        };
        let mut places: Vec<_> = plans.into_iter().map(place).collect();
        let mut n_users = vec![0; streams.n];
        places.iter().filter_map(|(stream, _)| *stream).for_each(|stream| n_users[stream] += 1);
        for (stream, _) in &mut places {
            *stream = stream.filter(|stream| n_users[*stream] > 1);
        }
        Self {
            library: Box::new(library),
            places,
            streams: streams.slots(),
            tables: tables.slots(),
        }
    }

    /// Requests of run number `index`, which is `plan`.
    pub(super) fn requests(
        &self,
        index: usize,
        plan: &Plan,
    ) -> Result<Arc<RequestStream>, LoadError> {
        self.shared_requests(index, plan).unwrap_or_else(|| plan.requests().map(Arc::new))
    }

    /// Requests of run number `index`, which is `plan`, if other runs share them or its scheduler knows them in advance.
    pub(super) fn known_requests(
        &self,
        index: usize,
        plan: &Plan,
    ) -> Option<Result<Arc<RequestStream>, LoadError>> {
        let own = || plan.scheduler.is_clairvoyant().then(|| plan.requests().map(Arc::new));
        self.shared_requests(index, plan).or_else(own)
    }

    fn shared_requests(
        &self,
        index: usize,
        plan: &Plan,
    ) -> Option<Result<Arc<RequestStream>, LoadError>> {
        let place = self.places[index].0?;
        Some(self.streams[place].get_or_init(|| plan.requests().map(Arc::new)).clone())
    }

    /// Costs of run number `index`, which is `plan`.
    pub(super) fn costs(&self, index: usize, plan: &Plan) -> Result<Arc<CostTable>, CostError> {
        let make = || costs(plan, (self.library)(plan));
        match self.places[index].1 {
            Some(place) => self.tables[place].get_or_init(make).clone(),
            None => make(),
        }
    }
}

/// Runs that differ in something, by a key that is equal where it does not differ.
struct Distinct<'p, K> {
    by_key: HashMap<K, Vec<(&'p Plan, usize)>>,
    n: usize,
}

impl<K> Default for Distinct<'_, K> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), n: 0 }
    }
}

impl<'p, K: std::hash::Hash + Eq> Distinct<'p, K> {
    /// Place of a run among those that differ; `None` if it is new and does not `fit`.
    fn place(
        &mut self,
        plan: &'p Plan,
        key: K,
        is_same: impl Fn(&&'p Plan) -> bool,
        fits: impl FnOnce() -> bool,
    ) -> Option<usize> {
        let alike = self.by_key.entry(key).or_default();
        if let Some((_, place)) = alike.iter().find(|(known, _)| is_same(known)) {
            return Some(*place);
        }
        if !fits() {
            return None;
        }
        alike.push((plan, self.n));
        self.n += 1;
        Some(self.n - 1)
    }

    fn slots<T>(self) -> Vec<OnceLock<T>> {
        (0..self.n).map(|_| OnceLock::new()).collect()
    }
}

//! Lists of layers of Herald, made before the run.

use crate::schedule::lists::{ListedSegment, Lists, Replay};
use crate::schedule::{Arguments, Entry, Granularity, Parameter, Setup, Value};
use xrsim_model::cost::Execution;
use xrsim_model::ids::RequestId;
use xrsim_model::units::{SimSpan, SimTime};

use super::herald::{Balancer, PARAMETERS as HERALD};

/// The lists assume that no request is dropped, and do not change when one is.
pub(super) const ENTRY: Entry = Entry {
    name: "herald-list",
    help: "offline reference: herald's assignment of all layers of a window, moved into gaps by \
           looking ahead, all requests known beforehand",
    source: "Kwon et al. (Herald), HPCA 2021; assignment as in the published artifact of XRBench",
    unverified: Some("the order of layers and the look-ahead; its check of memory is left out"),
    work_conserving: false,
    parameters: &[
        HERALD[0],
        HERALD[1],
        HERALD[2],
        Parameter::number("window_ms", 100.0, [1.0, 1e6])
            .meaning("span whose requests are ordered together"),
        Parameter::whole("look_ahead", 4, [0, 1000])
            .meaning("number of entries after a gap that may fill it"),
    ],
    options: &[("granularity", Value::Name("layer"))],
    fixes: &["placement", "granularity", "preemption"],
    is_clairvoyant: true,
    ..Entry::new(|setup, arguments| {
        let mut plan = Plan::new(setup, arguments);
        plan.look_ahead(arguments.whole("look_ahead") as usize);
        Box::new(Replay::new(plan.lists(), setup.known_requests, Granularity::Layer))
    })
};

/// A layer on the list of an accelerator.
#[derive(Debug, Clone, Copy)]
struct Slot {
    segment: ListedSegment,
    time: SimSpan,
    /// Time at which its inputs, the layer before it and upstream results are there.
    ready: SimTime,
    start: SimTime,
}

impl Slot {
    fn end(&self) -> SimTime {
        self.start + self.time
    }
}

/// All layers, each on its accelerator.
struct Plan {
    /// In order of start, indexed by [`AccelId`].
    slots: Vec<Vec<Slot>>,
}

/// Place of a layer in the order: window, level, request, layer.
type Place = (u64, u64, RequestId, u32);

impl Plan {
    /// Assigns every layer in order. Each starts as soon as possible after the layers before it.
    fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        let mut balancer = Balancer::new(setup, arguments);
        let mut slots = vec![Vec::new(); setup.costs.n_accelerators()];
        let mut ends = vec![SimTime::ZERO; setup.known_requests.requests().len()];
        // Layers that ride along with one before them are no entries of their own.
        let mut next_layers = vec![0; ends.len()];
        for (.., request, layer) in places(setup, arguments) {
            if layer < next_layers[request.index()] {
                continue;
            }
            let work = setup.work_of(request);
            let offers = setup.costs.offers(work);
            let accelerator =
                balancer.assign(offers, |at| step_cost(setup.costs.on(work, at), layer));
            let list: &mut Vec<Slot> = &mut slots[accelerator.index()];
            let needed = setup.known_requests.upstream(request).iter().map(|up| ends[up.index()]);
            let first = needed.fold(setup.known_requests.request(request).arrival, SimTime::max);
            let ready = if layer == 0 { first } else { ends[request.index()] };
            let start = list.last().map_or(ready, |last| ready.max(last.end()));
            let execution = setup.costs.on(work, accelerator);
            let end_layer = execution.step_end(layer);
            next_layers[request.index()] = end_layer;
            let time = execution.time_of(layer..end_layer);
            list.push(Slot { segment: ListedSegment { request, layer }, time, ready, start });
            ends[request.index()] = start + time;
        }
        Self { slots }
    }

    /// Fills every gap with the first of the next `n` layers of its list that fits there without delaying
    /// another one, until none fits. The loop ends, because each move makes a layer start earlier.
    fn look_ahead(&mut self, n: usize) {
        for list in &mut self.slots {
            while fill_gaps(list, n) {}
        }
    }

    fn lists(self) -> Lists {
        let segments = |list: Vec<Slot>| list.into_iter().map(|slot| slot.segment).collect();
        self.slots.into_iter().map(segments).collect()
    }
}

/// Fills the gaps of a list once; returns whether a layer moved. Later layers move up.
fn fill_gaps(list: &mut [Slot], n: usize) -> bool {
    let mut moved = false;
    let mut free = SimTime::ZERO;
    for index in 0..list.len() {
        let start = |slot: &Slot| slot.ready.max(free);
        if moved {
            list[index].start = start(&list[index]);
        }
        let gap_end = list[index].start;
        let fits = |slot: &Slot| start(slot) + slot.time <= gap_end && start(slot) < slot.start;
        let mut ahead = index + 1..list.len().min(index + 1 + n);
        if let Some(other) = ahead.find(|&other| fits(&list[other])) {
            list[index..=other].rotate_right(1);
            list[index].start = start(&list[index]);
            moved = true;
        }
        free = list[index].end();
    }
    moved
}

/// Every layer of triggered requests, in the order of assignment.
fn places(setup: &Setup<'_>, arguments: &Arguments) -> Vec<Place> {
    let breadth_first = arguments.name("order") == "breadth";
    let window_ns = (arguments.number("window_ms") * 1e6) as u64;
    // Window of every request, and the first level there for requests that need its result.
    let mut next_level: Vec<(u64, u64)> = vec![(0, 0); setup.known_requests.requests().len()];
    let mut places = Vec::new();
    for id in by_depth(setup) {
        let arrival = setup.known_requests.request(id).arrival;
        let needed = setup.known_requests.upstream(id).iter().map(|up| next_level[up.index()]);
        let (window, level) = needed.fold((arrival.ns() / window_ns, 0), Ord::max);
        let n_layers = setup.costs.n_layers(setup.work_of(id));
        let step = |layer: u32| if breadth_first { u64::from(layer) } else { 0 };
        places.extend((0..n_layers).map(|layer| (window, level + step(layer), id, layer)));
        next_level[id.index()] = (window, level + step(n_layers).max(1));
    }
    places.sort_unstable();
    places
}

/// Triggered requests, each after its upstream requests.
fn by_depth(setup: &Setup<'_>) -> Vec<RequestId> {
    let mut rank = vec![0; setup.scenario.models().len()];
    for (index, id) in setup.scenario.topological().iter().enumerate() {
        rank[id.index()] = index;
    }
    let ids = (0..setup.known_requests.requests().len()).map(RequestId::new);
    let asked = ids.filter(|id| setup.known_requests.request(*id).triggered);
    let mut ids: Vec<_> = asked.collect();
    ids.sort_by_key(|id| rank[setup.known_requests.request(*id).model.index()]);
    ids
}

/// Time \[ns\] and energy \[nJ\] of a layer and those that ride along with it.
fn step_cost(execution: Execution<'_>, layer: u32) -> (f64, f64) {
    let layers = layer..execution.step_end(layer);
    let energy = execution.energy_of(layers.clone());
    (execution.time_of(layers).ns() as f64, energy.get() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(request: usize, ready: u64, start: u64, end: u64) -> Slot {
        Slot {
            segment: ListedSegment { request: RequestId::new(request), layer: 0 },
            time: SimSpan::from_ns(end - start),
            ready: SimTime::from_ns(ready),
            start: SimTime::from_ns(start),
        }
    }

    /// Request and start of every slot after looking `n` entries ahead.
    fn filled(mut list: Vec<Slot>, n: usize) -> Vec<(usize, u64)> {
        while fill_gaps(&mut list, n) {}
        list.iter().map(|slot| (slot.segment.request.index(), slot.start.ns())).collect()
    }

    /// Request 1 waits for its inputs until 10. Requests 2, of length 3, and 4, of length 2, fit before it;
    /// request 3, of length 9, does not.
    fn with_a_gap() -> Vec<Slot> {
        let long = slot(3, 1, 14, 23);
        vec![slot(0, 0, 0, 1), slot(1, 10, 10, 11), slot(2, 2, 11, 14), long, slot(4, 6, 23, 25)]
    }

    #[test]
    fn layers_move_into_gaps_where_they_fit_and_delay_no_other() {
        assert_eq!(filled(with_a_gap(), 4), [(0, 0), (2, 2), (4, 6), (1, 10), (3, 11)]);
        let unmoved = with_a_gap().iter().map(|slot| slot.start.ns()).collect::<Vec<_>>();
        assert_eq!(filled(with_a_gap(), 0).iter().map(|it| it.1).collect::<Vec<_>>(), unmoved);
    }

    /// With one entry, request 2 fills the gap before 1; no other request is next to a gap then.
    #[test]
    fn the_look_ahead_is_limited() {
        assert_eq!(filled(with_a_gap(), 1), [(0, 0), (2, 2), (1, 10), (3, 11), (4, 20)]);
    }
}

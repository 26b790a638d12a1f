//! Choice of one candidate for every layer of a network: the least energy within a limit of time
//! (docs/explanation/mapper.md, section 6.1).

use std::cmp::Ordering;

/// Time and energy of one way to compute a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Energy \[nJ\].
    pub energy_nj: f64,
}

/// One candidate of every layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Index of the candidate of each layer.
    pub chosen: Vec<usize>,
    /// What is known of the sum over the layers.
    pub total: Selected,
}

/// Time and energy of a network under a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selected {
    /// Limit of the latency \[cycle\].
    pub limit_cycles: u64,
    /// Latency \[cycle\]. Above the limit only if no selection is within it.
    pub cycles: u64,
    /// Energy \[nJ\].
    pub energy_nj: f64,
    /// Energy that no selection within the limit is below \[nJ\].
    pub bound_nj: f64,
}

impl Selected {
    /// Whether the latency is within the limit.
    pub fn is_met(&self) -> bool {
        self.cycles <= self.limit_cycles
    }

    /// Distance of the energy to its bound \[percent\].
    pub fn gap_percent(&self) -> f64 {
        let is_above = self.energy_nj > self.bound_nj && self.bound_nj > 0.0;
        if is_above { 100.0 * (self.energy_nj / self.bound_nj - 1.0) } else { 0.0 }
    }
}

/// Most partial selections of one layer that exact search keeps. Beyond it, the selection stays as it is.
const MAX_PARTIAL: usize = 2000;

/// The selection of least energy whose latency is at most `limit` \[cycle\], or the fastest one if none is: a
/// Lagrangian over the lower convex hulls of the layers, what is left of the limit where it saves most, and exact
/// search where few selections are as good as the bound. Of equal candidates the first is taken.
///
/// # Panics
///
/// If a layer has no candidate.
pub fn least_energy(layers: &[Vec<Candidate>], limit: u64) -> Selection {
    select(layers, limit, MAX_PARTIAL)
}

fn select(layers: &[Vec<Candidate>], limit: u64, max_partial: usize) -> Selection {
    let fronts: Vec<_> = layers.iter().map(|layer| Front::new(layer)).collect();
    let mut places = vec![0; fronts.len()];
    let relaxed = match cycles_of(&fronts, &places) <= limit {
        true => relax(&fronts, &mut places, limit),
        false => Relaxed { bound: energy_of(&fronts, &places), multiplier: 0.0 },
    };
    let mut bound_nj = relaxed.bound;
    let mut cycles = cycles_of(&fronts, &places);
    if cycles <= limit {
        fill(&fronts, &mut places, limit);
        if improve(&fronts, &mut places, limit, relaxed.multiplier, max_partial) {
            bound_nj = energy_of(&fronts, &places);
        }
        cycles = cycles_of(&fronts, &places);
    }
    let energy_nj = energy_of(&fronts, &places);
    let chosen = fronts.iter().zip(&places).map(|(front, &at)| front.points[at].0).collect();
    let bound_nj = bound_nj.min(energy_nj);
    Selection { chosen, total: Selected { limit_cycles: limit, cycles, energy_nj, bound_nj } }
}

/// Candidates of a layer that no other one beats in both time and energy, the fastest first, each with its index.
struct Front {
    points: Vec<(usize, Candidate)>,
}

impl Front {
    fn new(layer: &[Candidate]) -> Self {
        let mut points: Vec<_> = layer.iter().copied().enumerate().collect();
        points.sort_by(|(_, a), (_, b)| {
            a.cycles.cmp(&b.cycles).then(a.energy_nj.total_cmp(&b.energy_nj))
        });
        let mut least = f64::INFINITY;
        points.retain(|(_, it)| {
            let is_less = it.energy_nj < least;
            least = least.min(it.energy_nj);
            is_less
        });
        Self { points }
    }

    fn cycles(&self, place: usize) -> u64 {
        self.points[place].1.cycles
    }

    fn energy(&self, place: usize) -> f64 {
        self.points[place].1.energy_nj
    }

    /// Energy that a step from one place to a later one saves, for each cycle that it adds.
    fn slope(&self, from: usize, to: usize) -> f64 {
        (self.energy(from) - self.energy(to)) / (self.cycles(to) - self.cycles(from)) as f64
    }

    /// Places of the lower convex hull, the fastest first.
    fn hull(&self) -> Vec<usize> {
        let mut hull: Vec<usize> = Vec::with_capacity(self.points.len());
        for place in 0..self.points.len() {
            while let [.., a, b] = hull[..]
                && self.slope(a, b) <= self.slope(b, place)
            {
                hull.pop();
            }
            hull.push(place);
        }
        hull
    }

    /// Energy and time of a place, with time at a price.
    fn priced(&self, place: usize, multiplier: f64) -> f64 {
        self.energy(place) + multiplier * self.cycles(place) as f64
    }

    /// The least of [`Front::priced`].
    fn least_priced(&self, multiplier: f64) -> f64 {
        let all = (0..self.points.len()).map(|place| self.priced(place, multiplier));
        all.fold(f64::INFINITY, f64::min)
    }
}

fn cycles_of(fronts: &[Front], places: &[usize]) -> u64 {
    let each = fronts.iter().zip(places).map(|(front, &place)| front.cycles(place));
    each.fold(0, u64::saturating_add)
}

fn energy_of(fronts: &[Front], places: &[usize]) -> f64 {
    fronts.iter().zip(places).map(|(front, &place)| front.energy(place)).sum()
}

/// The optimum if a layer may take parts of two candidates.
struct Relaxed {
    /// Its energy \[nJ\].
    bound: f64,
    /// Energy that one more cycle saves \[nJ/cycle\].
    multiplier: f64,
}

/// Goes along the hulls, the steepest step first, up to the first step that exceeds the limit.
fn relax(fronts: &[Front], places: &mut [usize], limit: u64) -> Relaxed {
    let mut steps = Vec::new();
    for (layer, front) in fronts.iter().enumerate() {
        let hull = front.hull();
        steps.extend(hull.windows(2).map(|it| (front.slope(it[0], it[1]), layer, it[1])));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut left = limit - cycles_of(fronts, places);
    for (slope, layer, to) in steps {
        let added = fronts[layer].cycles(to) - fronts[layer].cycles(places[layer]);
        if added > left {
            let bound = energy_of(fronts, places) - slope * left as f64;
            return Relaxed { bound, multiplier: slope };
        }
        left -= added;
        places[layer] = to;
    }
    Relaxed { bound: energy_of(fronts, places), multiplier: 0.0 }
}

/// Spends what is left of the limit on the candidate that saves most energy, as long as there is one.
fn fill(fronts: &[Front], places: &mut [usize], limit: u64) {
    loop {
        let left = limit - cycles_of(fronts, places);
        let mut best: Option<(f64, usize, usize)> = None;
        for (layer, front) in fronts.iter().enumerate() {
            let now = places[layer];
            let fits = |&to: &usize| front.cycles(to) - front.cycles(now) <= left;
            let Some(to) = (now + 1..front.points.len()).rev().find(fits) else { continue };
            let saved = front.energy(now) - front.energy(to);
            if best.is_none_or(|(most, ..)| saved > most) {
                best = Some((saved, layer, to));
            }
        }
        let Some((_, layer, to)) = best else { return };
        places[layer] = to;
    }
}

/// A selection for the first layers of an order.
#[derive(Clone, Copy)]
struct Partial {
    cycles: u64,
    energy: f64,
    /// Index in the list of all, of the selection for one layer fewer.
    before: usize,
    place: usize,
}

/// Improves a selection to the best one by enumeration of all partial ones that are neither dominated nor bounded
/// by the best known one. Returns whether nothing was left out.
fn improve(
    fronts: &[Front],
    places: &mut [usize],
    limit: u64,
    multiplier: f64,
    max_partial: usize,
) -> bool {
    let least: Vec<f64> = fronts.iter().map(|it| it.least_priced(multiplier)).collect();
    let known = energy_of(fronts, places);
    let slack = known - (least.iter().sum::<f64>() - multiplier * limit as f64);
    let open = Open::new(fronts, &least, multiplier, slack);
    let mut all = vec![Partial { cycles: 0, energy: 0.0, before: 0, place: 0 }];
    let (mut priced, mut fastest) =
        (least.iter().sum::<f64>(), cycles_of(fronts, &vec![0; fronts.len()]));
    let mut last = 0..1;
    for &(layer, ref kept) in &open.layers {
        let front = &fronts[layer];
        priced -= least[layer];
        fastest -= front.cycles(0);
        let can_win = |it: &Partial| {
            let bound = it.energy + multiplier * (it.cycles as f64 - limit as f64) + priced;
            it.cycles.saturating_add(fastest) <= limit && bound < known
        };
        let mut next: Vec<_> = last
            .clone()
            .flat_map(|before| kept.iter().map(move |&place| (before, place)))
            .map(|(before, place)| Partial {
                cycles: all[before].cycles.saturating_add(front.cycles(place)),
                energy: all[before].energy + front.energy(place),
                before,
                place,
            })
            .filter(can_win)
            .collect();
        keep_front(&mut next);
        if next.len() > max_partial {
            return false;
        }
        last = all.len()..all.len() + next.len();
        all.extend(next);
    }
    // The last one has the least energy. Without any, the known selection is the best.
    if let Some(mut at) = last.last()
        && all[at].energy < known
    {
        for (layer, _) in open.layers.iter().rev() {
            places[*layer] = all[at].place;
            at = all[at].before;
        }
    }
    true
}

/// Layers in the order of enumeration, each with the places that can be part of a better selection.
struct Open {
    layers: Vec<(usize, Vec<usize>)>,
}

impl Open {
    /// Layers with one place come first, and then those whose second one costs most.
    fn new(fronts: &[Front], least: &[f64], multiplier: f64, slack: f64) -> Self {
        let mut layers = Vec::with_capacity(fronts.len());
        for (layer, (front, least)) in fronts.iter().zip(least).enumerate() {
            let excess = |place: usize| front.priced(place, multiplier) - least;
            let kept: Vec<_> =
                (0..front.points.len()).filter(|&place| excess(place) <= slack).collect();
            let mut all: Vec<f64> = kept.iter().map(|&place| excess(place)).collect();
            all.sort_by(f64::total_cmp);
            layers.push((all.get(1).copied().unwrap_or(f64::INFINITY), layer, kept));
        }
        layers.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Self { layers: layers.into_iter().map(|(_, layer, kept)| (layer, kept)).collect() }
    }
}

/// Keeps those that no other one beats in both time and energy, the fastest first.
fn keep_front(partial: &mut Vec<Partial>) {
    let order = |a: &Partial, b: &Partial| -> Ordering {
        a.cycles.cmp(&b.cycles).then(a.energy.total_cmp(&b.energy))
    };
    partial.sort_by(order);
    let mut least = f64::INFINITY;
    partial.retain(|it| {
        let is_less = it.energy < least;
        least = least.min(it.energy);
        is_less
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(points: &[(u64, f64)]) -> Vec<Candidate> {
        points.iter().map(|&(cycles, energy_nj)| Candidate { cycles, energy_nj }).collect()
    }

    /// Least energy of all combinations within a limit; `None` if none is.
    fn enumerated(layers: &[Vec<Candidate>], limit: u64) -> Option<f64> {
        let mut sums = vec![(0, 0.0)];
        for layer in layers {
            let with = |(cycles, energy): (u64, f64)| {
                layer.iter().map(move |it| (cycles + it.cycles, energy + it.energy_nj))
            };
            sums = sums.into_iter().flat_map(with).collect();
        }
        let within = sums.into_iter().filter(|(cycles, _)| *cycles <= limit);
        within.map(|(_, energy)| energy).min_by(f64::total_cmp)
    }

    /// Layers of a generator of Lehmer. Some have three candidates of which one is beaten, or lies above the hull.
    fn drawn(seed: u64, n_layers: usize) -> Vec<Vec<Candidate>> {
        let mut state = seed;
        let mut draw = |n: u64| {
            state = state * 48_271 % 2_147_483_647;
            state % n
        };
        let mut one = || Candidate { cycles: 1 + draw(500), energy_nj: (1 + draw(900)) as f64 };
        (0..n_layers).map(|_| (0..3).map(|_| one()).collect()).collect()
    }

    /// Two layers of (10, 9), (20, 4), (40, 3) and of (5, 8), (9, 7), (30, 1).
    #[test]
    fn two_layers_have_the_selections_that_hand_enumeration_finds() {
        let layers =
            [layer(&[(40, 3.0), (10, 9.0), (20, 4.0)]), layer(&[(5, 8.0), (9, 7.0), (30, 1.0)])];
        let at = |limit| {
            let found = least_energy(&layers, limit);
            (found.chosen, found.total.cycles, found.total.energy_nj)
        };
        assert_eq!(at(15), (vec![1, 0], 15, 17.0));
        assert_eq!(at(24), (vec![1, 1], 19, 16.0));
        assert_eq!(at(25), (vec![2, 0], 25, 12.0));
        assert_eq!(at(29), (vec![2, 1], 29, 11.0));
        // 10 + 30 cycles take 10, less than the 11 of 20 + 9 cycles.
        assert_eq!(at(40), (vec![1, 2], 40, 10.0));
        assert_eq!(at(50), (vec![2, 2], 50, 5.0));
        assert_eq!(at(69), (vec![2, 2], 50, 5.0));
        assert_eq!(at(1000), (vec![0, 2], 70, 4.0));
    }

    #[test]
    fn the_energy_is_the_least_of_all_combinations_and_never_rises_with_the_limit() {
        for seed in 1..=40 {
            let layers = drawn(seed, 7);
            let mut before = f64::INFINITY;
            for limit in (0..3600).step_by(37) {
                let total = least_energy(&layers, limit).total;
                let Some(least) = enumerated(&layers, limit) else {
                    assert!(!total.is_met(), "{seed} {limit}");
                    continue;
                };
                // Energies are whole numbers, so that sums are exact.
                assert_eq!(total.energy_nj, least, "{seed} {limit}");
                assert!(total.is_met() && total.gap_percent() == 0.0, "{seed} {limit}");
                assert!(total.energy_nj <= before, "{seed} {limit}");
                before = total.energy_nj;
            }
        }
    }

    #[test]
    fn without_exact_search_the_optimum_lies_between_energy_and_bound() {
        let (mut n_open, mut n_exact) = (0, 0);
        for seed in 1..=40 {
            let layers = drawn(seed, 7);
            for limit in (100..3600).step_by(91) {
                let Some(least) = enumerated(&layers, limit) else { continue };
                let total = select(&layers, limit, 0).total;
                // The bound is a sum of products that are not whole.
                assert!(total.bound_nj <= least + 1e-9, "{seed} {limit}");
                assert!(total.is_met() && total.energy_nj >= least, "{seed} {limit}");
                match total.energy_nj > total.bound_nj {
                    true => n_open += 1,
                    false => n_exact += 1,
                }
            }
        }
        assert!(n_open > 100 && n_exact > 100, "{n_open} {n_exact}");
    }

    #[test]
    fn a_limit_that_nothing_meets_gives_the_fastest_and_of_equally_fast_ones_the_least_energy() {
        let layers = [layer(&[(10, 2.0), (9, 5.0), (9, 4.0)]), layer(&[(7, 1.0), (7, 1.0)])];
        for limit in [0, 15] {
            let found = least_energy(&layers, limit);
            assert_eq!(found.chosen, [2, 0]);
            assert!(!found.total.is_met());
            assert_eq!((found.total.cycles, found.total.energy_nj), (16, 5.0));
            assert_eq!(found.total.gap_percent(), 0.0);
        }
        assert!(least_energy(&layers, 16).total.is_met());
    }

    #[test]
    fn hundreds_of_layers_end_near_their_bound() {
        for seed in 1..=5 {
            let layers = drawn(seed, 300);
            let fastest: u64 =
                layers.iter().flat_map(|it| it.iter().map(|it| it.cycles).min()).sum();
            let total = least_energy(&layers, fastest * 3 / 2).total;
            // One layer of 300 takes a part of two candidates in the bound.
            assert!(total.is_met() && total.gap_percent() < 0.1, "{seed}: {total:?}");
        }
    }

    #[test]
    fn a_network_without_layers_takes_nothing() {
        let found = least_energy(&[], 0);
        assert_eq!((found.chosen.len(), found.total.cycles, found.total.energy_nj), (0, 0, 0.0));
    }
}

//! Cycles: rooflines, monotonicity, and exposed transfers.

use xrsim::cost::loop_nest::{
    Bandwidth, Evaluation, LayerBound, LevelCounts, Mapping, NocLevel, Widths,
};

use xrsim::model::PerOperand;

use super::population::*;
use crate::loop_nest::enumerator::cases::Case;

fn bandwidth(bytes_per_cycle: u64) -> Bandwidth {
    Bandwidth::new(bytes_per_cycle).expect("not 0")
}

/// Inputs, weights and partial sums on the NoC of a level \[bit\].
fn bits(case: &Case, counts: &LevelCounts) -> [u64; 3] {
    let widths = case.machine.widths.into_array();
    let [input, weight, sum, _] = widths.map(|width| u64::from(width.bits()));
    [counts.sent.input * input, counts.sent.weight * weight, counts.arrived * sum]
}

fn cycles(bandwidth: Bandwidth, bits: u64) -> u64 {
    bandwidth.cycles(bits.div_ceil(8))
}

/// Cycles of the NoC of a level for all its transfers: down, and up.
fn busy(noc: &NocLevel, [inputs, weights, sums]: [u64; 3]) -> [u64; 2] {
    let down = match (noc.weights, noc.single_weights) {
        (Some(own), true) => cycles(noc.down, inputs) + cycles(own, weights),
        (Some(own), false) => cycles(noc.down, inputs).max(cycles(own, weights)),
        (None, _) => cycles(noc.down, inputs + weights),
    };
    [down, cycles(noc.up, sums)]
}

/// Number of clusters of every level, which work at the same time.
fn clusters(mapping: &Mapping) -> Vec<u64> {
    let above = mapping.levels().iter().scan(1, |clusters, level| {
        let above = *clusters;
        *clusters *= working_units(level);
        Some(above)
    });
    above.collect()
}

/// Invariant 3, and the rooflines of all NoC levels and of DRAM.
#[test]
fn nothing_is_faster_than_its_slowest_resource() {
    let mut bounds = [0; 3];
    for (name, case) in all() {
        for bandwidth in [Bandwidth::INFINITE, bandwidth(1)] {
            let found = run_on(&case, |machine| {
                (machine.dram_bandwidth, machine.dram_latency) = (bandwidth, 9)
            });
            assert!(found.chip_cycles >= found.compute_cycles, "{name}");
            let levels = found.levels().iter().zip(noc_levels(&case)).zip(clusters(&case.mapping));
            for ((counts, noc), clusters) in levels {
                let busy = busy(&noc, bits(&case, counts)).into_iter().max();
                assert!(Some(found.chip_cycles * clusters) >= busy, "{name}");
            }
            assert_eq!(
                found.dram_cycles,
                9 + bandwidth.cycles(found.memory.dram.total_bytes()),
                "{name}"
            );
            assert_eq!(found.cycles, found.chip_cycles.max(found.dram_cycles), "{name}");
            let dram = found.dram_cycles > found.chip_cycles;
            let noc = found.chip_cycles > 2 * found.compute_cycles;
            let expected = match (dram, noc) {
                (true, _) => LayerBound::Dram,
                (false, true) => LayerBound::Noc,
                (false, false) => LayerBound::Compute,
            };
            assert_eq!(found.bound, expected, "{name}");
            bounds[expected as usize] += 1;
        }
    }
    bounds.into_iter().for_each(|count| assert_enough("a bound", count));
}

/// Invariant 3.
#[test]
fn networks_that_take_no_time_leave_the_time_of_the_macs() {
    for (name, case) in all() {
        let found = case.with(|noc| {
            let NocLevel { multicast, forward, reduce, .. } = *noc;
            *noc = NocLevel { multicast, forward, reduce, ..NocLevel::IDEAL };
        });
        assert_eq!(found.chip_cycles, found.compute_cycles, "{name}");
        assert!(found.compute_cycles > 0, "{name}");
    }
}

/// Checks that cycles never grow from one of `runs` to the next; returns 1 if they change, otherwise 0.
fn shrinks(runs: impl IntoIterator<Item = Evaluation>, name: &str) -> usize {
    let cycles: Vec<_> = runs.into_iter().map(|found| [found.chip_cycles, found.cycles]).collect();
    let never_grows = |pair: &[[u64; 2]]| pair[0][0] >= pair[1][0] && pair[0][1] >= pair[1][1];
    assert!(cycles.windows(2).all(never_grows), "{name}: {cycles:?}");
    usize::from(cycles.first() != cycles.last())
}

/// Checks NoC levels of increasing speed on every level of every case.
fn check_faster<T: Copy>(what: &str, values: &[T], set: impl Fn(&mut NocLevel, T)) {
    let mut matters = 0;
    for (name, case) in all() {
        for level in 0..case.mapping.levels().len() {
            let run = |&value: &T| run_with(&case, level, |noc| set(noc, value));
            matters += shrinks(values.iter().map(run), &name);
        }
    }
    assert_enough(what, matters);
}

/// Increasing bandwidths.
fn bandwidths() -> [Bandwidth; 4] {
    [bandwidth(1), bandwidth(2), bandwidth(5), Bandwidth::INFINITE]
}

/// Invariant 6.
#[test]
fn more_bandwidth_is_never_slower() {
    let bandwidths = bandwidths();
    check_faster("downward", &bandwidths, |noc, bandwidth| noc.down = bandwidth);
    check_faster("upward", &bandwidths, |noc, bandwidth| noc.up = bandwidth);
    check_faster("weights", &bandwidths, |noc, bandwidth| noc.weights = Some(bandwidth));
}

/// Invariant 6.
#[test]
fn less_latency_is_never_slower() {
    check_faster("latency", &[40, 3, 2, 1, 0], |noc, cycles| noc.latency = cycles);
    check_faster("step latency", &[true, false], |noc, on| noc.step_latency = on);
}

/// Invariant 6. A separate network of the same bandwidth for weights is never slower either.
#[test]
fn room_for_weights_is_never_slower() {
    check_faster("double buffers", &[true, false], |noc, on| noc.single_weights = on);
    check_faster("own noc", &[false, true], |noc, own| {
        noc.weights = own.then_some(noc.down);
    });
}

/// Invariant 6.
#[test]
fn faster_pes_and_dram_are_never_slower() {
    let mut matters = [0; 3];
    for (name, case) in all() {
        let rates = [1, 2, 3, 16].map(|rate| run_on(&case, |machine| machine.rate = rate));
        let dram = bandwidths()
            .map(|bandwidth| run_on(&case, |machine| machine.dram_bandwidth = bandwidth));
        let latency = [900, 30, 0].map(|cycles| run_on(&case, |it| it.dram_latency = cycles));
        matters[0] += shrinks(rates, &name);
        matters[1] += shrinks(dram, &name);
        matters[2] += shrinks(latency, &name);
    }
    matters.into_iter().for_each(|count| assert_enough("speed of PEs and DRAM", count));
}

/// A case in one step on every level: no level has loops.
fn in_one_step(case: &Case) -> Case {
    let mut levels = drafts(&case.mapping);
    levels.iter_mut().for_each(|level| level.loops.clear());
    let mapping = mapping(&levels, &case.nest, &case.machine);
    Case { nest: case.nest.clone(), mapping, machine: case.machine.clone() }
}

/// The levels are filled with the whole layer, outermost first; then the PE works; then they are drained.
#[test]
fn a_layer_in_one_step_is_filled_computed_and_drained_in_turn() {
    for (name, case) in all() {
        let case = in_one_step(&case);
        let found = run(&case);
        let mut expected = case.nest.macs().div_ceil(u64::from(case.machine.rate));
        assert_eq!(found.compute_cycles, expected, "{name}");
        let all = case.nest.footprints(case.nest.extents());
        let operands = PerOperand { input: all.input, weight: all.weight };
        for (counts, noc) in found.levels().iter().zip(noc_levels(&case)) {
            assert_eq!((counts.sent, counts.arrived), (operands, all.output), "{name}");
            assert_eq!((counts.delivered, counts.left), (operands, all.output), "{name}");
            let once: u64 = bits(&case, counts).iter().map(|bits| bits.div_ceil(8)).sum();
            assert_eq!(counts.unit_bytes, 2 * once, "{name}");
            let [down, up] = busy_once(&noc, bits(&case, counts));
            expected += down + up;
        }
        assert_eq!(found.chip_cycles, expected, "{name}");
    }
}

/// As [`busy`], for one fill and one drain that are not empty, with latency. Single-buffered weights are a
/// separate transfer.
fn busy_once(noc: &NocLevel, all @ [inputs, weights, _]: [u64; 3]) -> [u64; 2] {
    let latency = u64::from(noc.latency);
    let [down, up] = busy(noc, all);
    let down = match (noc.weights, noc.single_weights) {
        (None, true) => cycles(noc.down, inputs) + cycles(noc.down, weights) + latency,
        (Some(_), true) => down + latency,
        (_, false) => down,
    };
    [latency + down, latency + up]
}

/// At 1 byte per cycle, with widths of whole bytes and without latency, no transfer is rounded up.
#[test]
fn nothing_takes_longer_than_all_its_parts_in_turn() {
    for (name, mut case) in all() {
        let whole = case.machine.widths.into_array().map(|width| width.bits().div_ceil(8));
        case.machine.widths = Widths::of_bytes(whole);
        let found = case.with(|noc| {
            *noc = NocLevel { down: bandwidth(1), up: bandwidth(1), latency: 0, ..*noc };
            noc.weights = noc.weights.map(|_| bandwidth(1));
        });
        let moved = |counts| bits(&case, counts).iter().sum::<u64>() / 8;
        let moved: u64 = found.levels().iter().map(moved).sum();
        assert!(found.chip_cycles <= found.compute_cycles + moved, "{name}");
    }
}

#[test]
fn loads_of_single_buffered_weights_are_not_hidden() {
    for (name, case) in all() {
        let found = run_with(&case, 0, |noc| noc.single_weights = true);
        let noc = noc_levels(&case)[0];
        let [_, weights, _] = bits(&case, &found.levels()[0]);
        let exposed = cycles(noc.weights.unwrap_or(noc.down), weights);
        assert!(found.chip_cycles >= found.compute_cycles + exposed, "{name}");
    }
}

/// Result with infinite bandwidth and these latencies, outermost first; the last one is for all deeper
/// levels.
fn run_late(case: &Case, latencies: &[u32], step_latency: bool) -> Evaluation {
    run_on(case, |machine| {
        machine.noc_levels = noc_levels(case);
        for (level, noc) in machine.noc_levels.iter_mut().enumerate() {
            let NocLevel { multicast, forward, reduce, .. } = *noc;
            let latency = latencies[level.min(latencies.len() - 1)];
            let ideal = NocLevel::IDEAL;
            *noc = NocLevel { multicast, forward, reduce, latency, step_latency, ..ideal };
        }
    })
}

/// Whether only units of the innermost level can fall idle. A cluster that falls idle is drained before
/// the end of the layer.
fn clusters_never_idle(case: &Case) -> bool {
    let levels = case.mapping.levels();
    levels[..levels.len() - 1].iter().all(|level| level.spatial().is_none())
}

/// Every level pays its latency once in the first fill and once in the last drain.
#[test]
fn latency_is_exposed_in_the_first_fill_and_the_last_drain_alone() {
    let mut exact = 0;
    for (name, case) in all() {
        let found = run_late(&case, &[100, 20, 3], false);
        let levels = case.mapping.levels().len();
        let exposed = 2 * [100, 120, 123][levels - 1];
        let late = found.chip_cycles - found.compute_cycles;
        if clusters_never_idle(&case) {
            assert_eq!(late, exposed, "{name}");
            exact += 1;
        } else {
            assert!(late >= exposed, "{name}");
        }
    }
    assert_enough("clusters that never fall idle", exact);
}

/// Every step of a mapping without repetition moves an element. If a transfer takes longer than any work,
/// it hides all work but that of the first step, which is on the largest box.
#[test]
fn step_latency_is_charged_once_in_every_step() {
    let kind = |case: &Case| case.mapping.levels().len() == 1 && !case.machine.allow_overlap;
    for (name, case) in of_kind("one level", kind) {
        let latency = 1 << 30;
        let found = run_late(&case, &[latency], true);
        let largest = case.mapping.levels()[0].unit_extents(case.nest.extents());
        let work: u64 = largest.into_iter().map(u64::from).product();
        let first = work.div_ceil(u64::from(case.machine.rate));
        let steps = found.levels()[0].steps;
        assert_eq!(found.chip_cycles, (steps + 1) * u64::from(latency) + first, "{name}");
    }
}

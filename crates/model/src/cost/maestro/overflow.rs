//! Check that the counts of a level fit into 64 bits, made once before they are computed.

use super::cases::Counts;
use super::elaboration::{Level, Map, N_AXES};
use super::positions::Positions;
use super::work;

/// An eighth of the range, so that sums of a few counts and rounding are harmless.
const LIMIT: f64 = (1u64 << 60) as f64;

/// Whether the sums over all cases fit, for loops with these `counts` of statuses.
pub(super) fn sums_fit(level: &Level, counts: &[Counts; N_AXES], inner_runtime: i64) -> bool {
    bits_fit(level, counts) || products_fit(level, counts, inner_runtime)
}

/// Fast sufficient test that nearly all layers pass: the bits of a product are at most the sum of the bits
/// of its factors.
fn bits_fit(level: &Level, counts: &[Counts; N_AXES]) -> bool {
    let mut occurrences = 0;
    let mut tiles = bits(level.units);
    for (map, counts) in level.maps.iter().zip(counts) {
        occurrences += bits(total(counts));
        tiles += bits(map.size.max(map.offset));
    }
    // A case has up to four products of tiles (two operands, work, outputs) and an inner runtime of 32
    // bits.
    occurrences + (tiles + 3).max(32) < bits(LIMIT as i64)
}

/// Exact bound: no sum is larger than its largest value in one case times the occurrences of all cases.
fn products_fit(level: &Level, counts: &[Counts; N_AXES], inner_runtime: i64) -> bool {
    let tensors = level.coupling;
    let (mut occurrences, mut partial_sums) = (1.0, 1.0);
    let (mut inputs, mut weights, mut outputs) = (1.0, 1.0, 1.0);
    for (position, map) in level.maps.iter().enumerate() {
        let scale = |product: &mut f64, tensor: Positions, factor: i64| {
            if tensor.contains(position) {
                *product *= factor as f64;
            }
        };
        let tile = largest_tile(map);
        occurrences *= total(&counts[position]) as f64;
        partial_sums *= work::partial_sums(map, tile) as f64;
        scale(&mut inputs, tensors.input, tile);
        scale(&mut weights, tensors.weight, tile);
        scale(&mut outputs, tensors.output, work::outputs(map, tile));
    }
    let of_units = level.units as f64 * (inputs + weights + partial_sums);
    occurrences * (of_units + outputs + inner_runtime.abs() as f64) < LIMIT
}

/// Whether the sizes of the tensors and the capacities fit.
pub(super) fn footprints_fit(level: &Level) -> bool {
    let footprint: f64 = level.maps.iter().map(|map| map.extent as f64).product();
    let capacity_fits = |tensor: Positions| {
        let sizes = tensor.iter().map(|position| level.maps[position].size);
        sizes.map(|size| size as f64).product::<f64>() < LIMIT
    };
    let tensors = level.coupling;
    footprint < LIMIT
        && capacity_fits(tensors.input)
        && capacity_fits(tensors.weight)
        && capacity_fits(tensors.output)
}

/// Sum of the counts of one loop, each taken as positive.
fn total([init, steady, edge]: &Counts) -> i64 {
    init + steady.abs() + edge
}

fn bits(count: i64) -> u32 {
    i64::BITS - count.leading_zeros()
}

/// Largest extent of the axis that one unit receives or works on.
fn largest_tile(map: &Map) -> i64 {
    let largest = map.size.max(map.offset);
    if map.spatial { largest } else { largest.min(map.extent) }
}

//! Start of every layer of a network, and the energy that is spent before it.

use std::sync::Arc;

use crate::units::SimSpan;

use super::NetworkCost;

/// Cost of a network on an accelerator, with running sums over its layers. With them, time and energy of
/// any range of layers are two look-ups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Timetable {
    /// The cost.
    pub network: Arc<NetworkCost>,
    /// Sums before every layer, and those at the end; empty if the layers are not known.
    sums: Arc<[Sums]>,
}

/// Sums over the layers before a given one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    /// Time from the start of the network to the start of the layer.
    pub time: SimSpan,
    /// Energy \[nJ\], summed in execution order.
    pub energy_nj: f64,
    /// Energy times latency, summed layer by layer [nJ·cycle].
    pub energy_delay: f64,
}

impl Timetable {
    /// Timetable of `network`.
    pub(super) fn new(network: Arc<NetworkCost>) -> Self {
        Self { sums: sums(&network), network }
    }

    /// Number of layers; 0 if they are not known.
    pub(super) fn n_layers(&self) -> u32 {
        self.sums.len().saturating_sub(1) as u32
    }

    /// Number of entries that it keeps in memory: one, and one for each layer.
    pub(super) fn n_entries(&self) -> usize {
        1 + self.network.layers.len()
    }

    /// Sums before `layer`; those of the whole network for `layer = n_layers`.
    ///
    /// # Panics
    ///
    /// If there is no such layer.
    pub(super) fn before(&self, layer: u32) -> &Sums {
        &self.sums[layer as usize]
    }

    /// The end of the step that `layer` begins: layers of no time belong to the one before them.
    pub(super) fn step_end(&self, layer: u32) -> u32 {
        let after = &self.network.layers[layer as usize + 1..];
        let n_riders = after.iter().take_while(|it| it.cycles == 0).count();
        layer + 1 + n_riders as u32
    }

    /// First layer boundary that lies `span` or more after the start of layer `from`, and the end of the
    /// network if there is none. Never `from` itself.
    pub(super) fn end_after(&self, from: u32, span: SimSpan) -> u32 {
        let after = self.before(from).time + span;
        let ends = &self.sums[from as usize + 1..];
        let n_earlier = ends.partition_point(|end| end.time < after);
        from + 1 + n_earlier.min(ends.len() - 1) as u32
    }
}

/// Sums before every layer, and those at the end; empty if the layers are not known.
///
/// A layer starts at the fraction of the latency that the cycles before it are of all cycles, rounded
/// down to whole nanoseconds. The layers therefore add up to the latency exactly, however it was
/// rounded.
fn sums(network: &NetworkCost) -> Arc<[Sums]> {
    if network.layers.is_empty() {
        return Arc::default();
    }
    let total = network.layers.iter().fold(0u64, |sum, it| sum.saturating_add(it.cycles));
    let mut sums = Vec::with_capacity(network.layers.len() + 1);
    let mut cycles = 0u64;
    let mut before = Sums::default();
    for layer in &network.layers {
        before.time = share(network.latency, cycles, total);
        sums.push(before);
        cycles = cycles.saturating_add(layer.cycles);
        before.energy_nj += layer.energy_nj;
        before.energy_delay += layer.energy_nj * layer.cycles as f64;
    }
    sums.push(Sums { time: network.latency, ..before });
    sums.into()
}

/// `whole · part / total`, rounded down.
fn share(whole: SimSpan, part: u64, total: u64) -> SimSpan {
    if whole.ns() == total {
        return SimSpan::from_ns(part);
    }
    let share = u128::from(whole.ns()) * u128::from(part) / u128::from(total.max(1));
    SimSpan::from_ns(u64::try_from(share).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::LayerCost;
    use super::*;
    use crate::units::Cycles;

    /// Timetable of a network whose layers take these cycles, and which takes `latency` ns as a whole.
    fn timetable(cycles: &[u64], latency: u64) -> Timetable {
        let layer = |&cycles| LayerCost { cycles, energy_nj: 2.0, ..LayerCost::default() };
        Timetable::new(Arc::new(NetworkCost {
            layers: cycles.iter().map(layer).collect(),
            cycles: Cycles::new(cycles.iter().sum()),
            latency: SimSpan::from_ns(latency),
            energy_nj: 2.0 * cycles.len() as f64,
            choices: None,
            spread: None,
        }))
    }

    fn times(timetable: &Timetable) -> Vec<u64> {
        (0..=timetable.n_layers()).map(|layer| timetable.before(layer).time.ns()).collect()
    }

    /// 7 ns for 3 + 0 + 4 + 3 cycles: 7·3/10 = 2.1 and 7·7/10 = 4.9, rounded down.
    #[test]
    fn boundaries_share_the_latency_by_cycles_and_add_up_to_it() {
        assert_eq!(times(&timetable(&[3, 0, 4, 3], 7)), [0, 2, 2, 4, 7]);
        assert_eq!(times(&timetable(&[3, 0, 4, 3], 10)), [0, 3, 3, 7, 10]);
        assert_eq!(times(&timetable(&[0, 0], 5)), [0, 0, 5]);
    }

    #[test]
    fn energy_and_its_product_with_time_are_summed_before_each_layer() {
        let timetable = timetable(&[3, 4], 7);
        assert_eq!(timetable.before(1).energy_nj, 2.0);
        assert_eq!(timetable.before(1).energy_delay, 6.0);
        assert_eq!(timetable.before(2).energy_delay, 14.0);
    }

    #[test]
    fn a_cut_takes_at_least_one_layer_and_at_most_the_rest() {
        let timetable = timetable(&[3, 4, 5], 12);
        let end = |from, ns| timetable.end_after(from, SimSpan::from_ns(ns));
        assert_eq!(
            [end(0, 0), end(0, 3), end(0, 4), end(0, 7), end(0, 8), end(0, 99)],
            [1, 1, 2, 2, 3, 3]
        );
        assert_eq!([end(1, 0), end(1, 4), end(1, 5), end(2, 1)], [2, 2, 3, 3]);
    }

    #[test]
    fn layers_of_no_time_end_with_the_one_before_them() {
        let timetable = timetable(&[3, 0, 0, 4, 0], 7);
        assert_eq!([0, 1, 2, 3, 4].map(|layer| timetable.step_end(layer)), [3, 3, 3, 5, 5]);
    }

    #[test]
    fn a_network_without_layers_has_no_entries() {
        assert_eq!(Timetable::new(Arc::default()).n_layers(), 0);
    }
}

//! Limits of the time of networks for the mapping objective `deadline` (docs/explanation/mapper.md, section 6.1).

use crate::hardware::{Accelerator, MappingObjective};
use crate::units::FrameRate;

/// Limits of the networks of a scenario on an accelerator of a system with `system_pes` PEs \[cycle\]. `models` has
/// the rate of each, and its latency with mappings by `edp` \[cycle\] if it can run.
///
/// The room of a network is its period, and not more than the same multiple of that latency for all networks: the one
/// with which they fill the time, if the part of the requests that the accelerator runs is its part of the PEs. The
/// limit is the share of the room, and not less than the latency by `edp` if that is within the room.
pub fn limits(
    accelerator: &Accelerator,
    system_pes: u64,
    models: &[(FrameRate, Option<u64>)],
) -> Vec<u64> {
    let share = accelerator.mapping_deadline.share.get();
    let part = f64::from(accelerator.pes) / system_pes.max(1) as f64;
    let per_second =
        |&(rate, cycles): &(FrameRate, Option<u64>)| rate.as_fps() * cycles.unwrap_or(0) as f64;
    let hertz = accelerator.clock.as_mhz() * 1e6;
    let load: f64 = models.iter().map(per_second).sum::<f64>() * part / hertz;
    let limit = |&(rate, cycles): &(FrameRate, Option<u64>)| {
        let period = accelerator.clock.whole_cycles_in(rate.period()).get() as f64;
        let Some(cycles) = cycles.map(|it| it as f64) else { return (share * period) as u64 };
        let room = period.min(cycles / load);
        (share * room).max(cycles.min(room)) as u64
    };
    models.iter().map(limit).collect()
}

/// The accelerator whose costs [`limits`] takes: the same one with mappings by `edp`.
pub fn by_edp(accelerator: &Accelerator) -> Accelerator {
    Accelerator { mapping_objective: MappingObjective::Edp, ..accelerator.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataflow::{Axis, ClusterLevel, Dataflow, Directive};
    use crate::hardware::{DeadlineShare, Memory, Noc, NocLevel};
    use crate::units::Bytes;

    /// 1,024 PEs at 1 GHz.
    fn accelerator(share: f64) -> Accelerator {
        let memory = Memory::new(Bytes::new(1 << 20), Bytes::new(1024), 64);
        let directives = vec![Directive::spatial(1, 1, Axis::K)];
        let flow = Dataflow::new("flow", vec![ClusterLevel { units: None, directives }]);
        let (flow, noc) = (flow.expect("a dataflow"), Noc::uniform(NocLevel::new(64)));
        let mut it = Accelerator::new("one", flow.into(), 1024, noc, memory);
        it.mapping_deadline.share = DeadlineShare::new(share).expect("a share");
        it
    }

    fn fps(fps: f64) -> FrameRate {
        FrameRate::from_fps(fps).expect("a rate")
    }

    /// 60 FPS are 16,666,666 whole cycles of 1 ns.
    #[test]
    fn a_model_by_itself_has_its_share_of_its_period() {
        let one = [(fps(60.0), Some(1_000_000))];
        assert_eq!(limits(&accelerator(1.0), 1024, &one), [16_666_666]);
        assert_eq!(limits(&accelerator(0.5), 1024, &one), [8_333_333]);
        // A network that cannot run has one too.
        assert_eq!(limits(&accelerator(0.5), 1024, &[(fps(60.0), None)]), [8_333_333]);
    }

    /// 10 FPS · 20 ms + 20 FPS · 10 ms = 0.4 of the time: all may take 2.5 times as long, or 1.25 times for half of it.
    #[test]
    fn models_share_the_time_in_proportion_to_their_load() {
        let two = [(fps(10.0), Some(20_000_000)), (fps(20.0), Some(10_000_000))];
        assert_eq!(limits(&accelerator(1.0), 1024, &two), [50_000_000, 25_000_000]);
        assert_eq!(limits(&accelerator(0.5), 1024, &two), [25_000_000, 12_500_000]);
        // A quarter of the PEs runs a quarter of the requests: 0.1 of its time. Then the period decides.
        assert_eq!(limits(&accelerator(0.5), 4096, &two), [50_000_000, 25_000_000]);
    }

    /// 10 FPS · 80 ms = 0.8 of the time: faster mappings are for loads above 1.
    #[test]
    fn a_latency_by_edp_that_keeps_the_periods_is_within_every_limit() {
        let one = [(fps(10.0), Some(80_000_000))];
        let at = |share| limits(&accelerator(share), 1024, &one)[0];
        assert_eq!(
            [at(1.0), at(0.9), at(0.8), at(0.5)],
            [100_000_000, 90_000_000, 80_000_000, 80_000_000]
        );
    }

    /// 10 FPS · 200 ms = 2: only half of the latency keeps the periods.
    #[test]
    fn an_overloaded_accelerator_asks_for_less_than_the_latency_by_edp() {
        let one = [(fps(10.0), Some(200_000_000))];
        assert_eq!(limits(&accelerator(1.0), 1024, &one), [100_000_000]);
    }
}

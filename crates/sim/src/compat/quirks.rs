//! Departures of the published artifact from the paper, or from what one would expect. The replay makes
//! them too.

/// A departure of the artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// Short name.
    pub name: &'static str,
    /// Rule that contains it: R1 to R14, or a section of the chapter on the cost model `maestro`.
    pub rule: &'static str,
    /// Clause of the paper that it departs from; empty if the paper says nothing.
    pub clause: &'static str,
    /// Effect on a run, for lists.
    pub effect: &'static str,
    /// Name of the test in this module that holds it.
    pub test: &'static str,
}

/// Every departure, in order of the rules.
pub const ALL: &[Quirk] = &[
    Quirk {
        name: "fixed-clock",
        rule: "R1",
        clause: "section 4.1",
        effect: "cycles become time at 1 GHz, whatever the clock of the accelerator is",
        test: "latency_ignores_the_clock",
    },
    Quirk {
        name: "single-precision",
        rule: "R1, R8",
        clause: "",
        effect: "times are single-precision milliseconds: beyond 512 ms they step by 61 ns",
        test: "times_step_by_61_ns_beyond_512_ms",
    },
    Quirk {
        name: "no-sensors",
        rule: "R2",
        clause: "Table 3, Definition 7",
        effect: "every model has its own frames; sensor rates and latencies do not exist, and \
                 multi-modal models wait for nothing",
        test: "frames_ignore_the_sensors",
    },
    Quirk {
        name: "integer-period",
        rule: "R3",
        clause: "Table 2, Definition 8",
        effect: "the period is 1000 / FPS in whole ms: 45 FPS is 22 ms, 60 FPS is 16 ms",
        test: "periods_are_whole_milliseconds",
    },
    Quirk {
        name: "window-700-ms",
        rule: "R3",
        clause: "section 3.5",
        effect: "frames are released for 700 ms, not for one second",
        test: "frames_are_released_for_700_ms",
    },
    Quirk {
        name: "shared-generator",
        rule: "R4, R5",
        clause: "Definition 7",
        effect: "all draws come from one C library generator, seeded with the time of day and \
                 advanced at every event: triggers depend on the hardware",
        test: "triggers_depend_on_the_hardware",
    },
    Quirk {
        name: "unused-jitter",
        rule: "R5",
        clause: "Table 3, Definition 7",
        effect: "jitter is drawn and never used",
        test: "jitter_moves_draws_but_no_frames",
    },
    Quirk {
        name: "injection-at-events",
        rule: "R5",
        clause: "Definition 7",
        effect: "a frame arrives at the first tick of the fastest model, or completion, after its \
                 nominal time; its deadline stays nominal",
        test: "frames_arrive_at_events",
    },
    Quirk {
        name: "early-coin",
        rule: "R5",
        clause: "section 2.2.3",
        effect: "whether a control dependency triggers is drawn at injection, before the upstream \
                 model has run and whether or not it does",
        test: "triggers_are_drawn_before_the_upstream_runs",
    },
    Quirk {
        name: "early-retire",
        rule: "R6",
        clause: "appendix B.2, occupancy condition",
        effect: "a job is retired up to 0.01 ms before it ends, and the next may overlap it",
        test: "the_next_job_starts_up_to_a_hundredth_early",
    },
    Quirk {
        name: "late-drop",
        rule: "R7",
        clause: "Definition 8",
        effect: "a waiting frame is dropped at the first event after its deadline; at its deadline \
                 it may still start",
        test: "a_frame_may_start_at_its_deadline",
    },
    Quirk {
        name: "no-cascade",
        rule: "R7",
        clause: "appendix B.2, dependency condition",
        effect: "the frames that depend on a dropped one are meant to be dropped and are not: the \
                 code compares a dependency with the dependant's own name",
        test: "frames_outlive_the_upstream_frame_that_was_dropped",
    },
    Quirk {
        name: "completion-count",
        rule: "R8",
        clause: "appendix B.2, dependency condition",
        effect: "frame f waits for f + 1 completions of the upstream model, of whichever frames: \
                 after a drop it waits for later frames",
        test: "after_a_drop_the_downstream_model_starves",
    },
    Quirk {
        name: "parallel-frames",
        rule: "R8",
        clause: "",
        effect: "frames of one model run side by side on several accelerators",
        test: "frames_of_one_model_run_side_by_side",
    },
    Quirk {
        name: "name-order",
        rule: "R7, R8",
        clause: "section 3.5, \"latency-greedy\"",
        effect: "models are served in byte order of their names, so that the first names win",
        test: "the_first_name_is_served_first",
    },
    Quirk {
        name: "early-end",
        rule: "R10",
        clause: "section 3.5",
        effect: "the run ends when the last frame is injected; requests that run or wait then are lost, and \
                 no count has them",
        test: "what_is_unfinished_at_the_last_injection_is_lost",
    },
    Quirk {
        name: "absent-models",
        rule: "R12, R14",
        clause: "Definition 15",
        effect: "a model that neither finished nor dropped a frame is not in the overall score, \
                 which the figures then scale by listed over declared models",
        test: "models_without_entries_count_as_zero_in_the_figures_only",
    },
    Quirk {
        name: "logged-frames",
        rule: "R12",
        clause: "Definitions 13 and 15",
        effect: "NumFrm is the number of executed and dropped frames, not of the released ones",
        test: "lost_frames_are_missing_from_the_frame_count",
    },
    Quirk {
        name: "fixed-scores",
        rule: "R12",
        clause: "Definitions 10 to 12",
        effect: "k is 15 per ms and En_max 1500 mJ, and there is no accuracy score",
        test: "scores_ignore_the_settings",
    },
    Quirk {
        name: "unclamped-energy",
        rule: "R12",
        clause: "section 3.7",
        effect: "the energy score falls below 0 beyond 1500 mJ",
        test: "energy_scores_fall_below_zero",
    },
    Quirk {
        name: "unused-hardware",
        rule: "cost model, section 2.6",
        clause: "section 4.1",
        effect: "NoC latency, multicast, DRAM bandwidth and memory sizes have no effect",
        test: "costs_ignore_latency_multicast_and_memories",
    },
    Quirk {
        name: "depthwise-channels",
        rule: "cost model, section 2.3",
        clause: "",
        effect: "depthwise layers keep K in their weights and in their work",
        test: "depthwise_layers_cost_more_with_more_output_channels",
    },
];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compat::Replay;
    use crate::compat::fixture::{accelerator, execution, model, plan, replay, story};
    use xrsim_model::cost::{self, LayerCost};
    use xrsim_model::hardware::Accelerator;
    use xrsim_model::ids::StreamId;
    use xrsim_model::model::{ConvKind, ConvShape};
    use xrsim_model::scenario::{InputStream, JitterDistribution, Scenario};
    use xrsim_model::trace::{Outcome, Record};
    use xrsim_model::units::{Bytes, ClockRate, FrameRate, Millijoules, SimSpan, SimTime};

    #[test]
    fn every_quirk_is_pinned_by_a_test_of_this_module() {
        let source = include_str!("quirks.rs");
        for quirk in ALL {
            let signature = format!("    #[test]\n    fn {}() {{", quirk.test);
            assert!(source.contains(&signature), "{}", quirk.name);
        }
    }

    fn us(us: u64) -> SimTime {
        SimTime::from_ns(us * 1000)
    }

    fn records(replay: &Replay) -> Vec<Record> {
        replay.trace().records().to_vec()
    }

    #[test]
    fn latency_ignores_the_clock() {
        let (mut plan, costs) = plan(&[model("a", 60.0, &[2.0])]);
        let slow =
            Accelerator { clock: ClockRate::from_mhz(500.0).unwrap(), ..accelerator("slow") };
        plan.system = Arc::new(xrsim_model::hardware::System::new("s", vec![slow]).unwrap());
        let replay = crate::compat::run(&plan, &costs, 1).unwrap();
        assert_eq!(execution(&records(&replay)[0]), Some((0, us(0), us(2000))));
    }

    #[test]
    fn times_step_by_61_ns_beyond_512_ms() {
        // 1000010 cycles are 1.00001 ms. Frame 41 starts at 656 ms and ends at 657.00001 ms, which rounds
        // to 657. Frame 0 ends where single precision has steps of 0.1 ns.
        let records = records(&replay(&[model("a", 60.0, &[1.000_01])], 1));
        assert_eq!(execution(&records[0]).unwrap().2, SimTime::from_ns(1_000_010));
        assert_eq!(execution(&records[41]).unwrap().2, us(657_000));
    }

    #[test]
    fn frames_ignore_the_sensors() {
        let (mut plan, costs) = plan(&[model("a", 60.0, &[2.0])]);
        let mut sensor = InputStream::new("camera", FrameRate::from_fps(60.0).unwrap());
        sensor.initial_latency = SimSpan::from_ms(5.0).unwrap();
        sensor.max_jitter = SimSpan::from_ms(0.05).unwrap();
        sensor.distribution = JitterDistribution::Uniform;
        let mut models = plan.scenario.models().to_vec();
        models[0].inputs.push(StreamId::new(0));
        plan.scenario = Arc::new(Scenario::new("s", vec![sensor], models).unwrap());
        let replay = crate::compat::run(&plan, &costs, 1).unwrap();
        let arrivals: Vec<_> = records(&replay)[..3].iter().map(|r| r.arrival).collect();
        // Frame 2 arrives at its own nominal time, 2 x 16 ms, not with the sensor's frame 2.
        assert_eq!(arrivals[0], us(0));
        assert_eq!(arrivals[2], us(32_000));
    }

    #[test]
    fn periods_are_whole_milliseconds() {
        let records = records(&replay(&[model("a", 45.0, &[1.0])], 1));
        let deadlines: Vec<_> = records[..3].iter().map(|record| record.deadline).collect();
        assert_eq!(deadlines, [us(22_000), us(44_000), us(66_000)]);
    }

    #[test]
    fn frames_are_released_for_700_ms() {
        // 700 / 16 = 43.75.
        let records = records(&replay(&[model("a", 60.0, &[1.0])], 1));
        assert_eq!(records.len(), 43);
        assert_eq!(records[42].arrival, us(672_000));
    }

    fn triggered(replay: &Replay) -> Vec<bool> {
        let records = records(replay).into_iter();
        let outcomes = records.filter(|record| record.model.index() == 1);
        outcomes.map(|record| record.outcome != Outcome::NotTriggered).collect()
    }

    #[test]
    fn triggers_depend_on_the_hardware() {
        // Jobs of 16 ms end at ticks. Jobs of 5 ms end between them and cause more events, with two draws
        // each.
        let run = |ms| {
            let models = [model("a", 60.0, &[ms]), model("b", 60.0, &[16.0]).triggered_by(0, 0.5)];
            triggered(&replay(&models, 1))
        };
        assert_eq!(run(16.0), run(16.0));
        assert_ne!(run(16.0), run(5.0));
    }

    #[test]
    fn jitter_moves_draws_but_no_frames() {
        // The draws of seed 1 are 0.84, 0.39, 0.78, 0.80: jitter and trigger of a, then of b. Without the
        // jitter, the trigger of b would draw 0.39 and succeed.
        let models = [model("a", 60.0, &[1.0]), model("b", 60.0, &[1.0]).triggered_by(0, 0.5)];
        let replay = replay(&models, 1);
        assert!(!triggered(&replay)[0]);
        for record in records(&replay) {
            assert_eq!(record.arrival.ns() % 1_000_000, 0);
        }
    }

    #[test]
    fn frames_arrive_at_events() {
        // Frame 1 of b is due at 22 ms. Ticks are at 16 and 32 ms, and a1 ends at 16 + 9 = 25 ms.
        let run = |ms| story(&replay(&[model("a", 60.0, &[ms]), model("b", 45.0, &[1.0])], 1));
        assert!(run(1.0).contains(&"b1 32-44: acc 0 from 33 to 34".into()), "{:?}", run(1.0));
        assert!(run(9.0).contains(&"b1 25-44: acc 0 from 25 to 26".into()), "{:?}", run(9.0));
    }

    #[test]
    fn triggers_are_drawn_before_the_upstream_runs() {
        let models = [model("a", 60.0, &[5.0]), model("b", 60.0, &[1.0]).triggered_by(0, 0.0)];
        let story = story(&replay(&models, 1));
        assert_eq!(story[..2], ["a0 0-16: acc 0 from 0 to 5", "b0 0-16: not triggered"]);
    }

    #[test]
    fn the_next_job_starts_up_to_a_hundredth_early() {
        // 1/128 ms is less than 0.01 ms, and 1/64 ms is more.
        let run = |ms| story(&replay(&[model("a", 60.0, &[ms])], 1));
        assert_eq!(run(16.007_812_5)[1], "a1 16-32: acc 0 from 16 to 32.007813");
        assert_eq!(run(16.015_625)[1], "a1 16-32: acc 0 from 16.015625 to 32.03125");
    }

    #[test]
    fn a_frame_may_start_at_its_deadline() {
        // a0 occupies the only accelerator until 16 ms, the deadline of b0. a1 is due at 33 ms.
        let story = story(&replay(&[model("a", 30.0, &[16.0]), model("b", 60.0, &[1.0])], 1));
        assert_eq!(story[1], "b0 0-16: acc 0 from 16 to 17");
    }

    /// Outcomes of a run in which a occupies the only accelerator until 40 ms, while u0 and u1 are dropped.
    fn upstream_drops(downstream_fps: f64) -> Vec<String> {
        let models = [
            model("a", 3.0, &[40.0]),
            model("u", 60.0, &[1.0]),
            model("v", downstream_fps, &[1.0]).after(1),
        ];
        story(&replay(&models, 1))
    }

    #[test]
    fn frames_outlive_the_upstream_frame_that_was_dropped() {
        let story = upstream_drops(30.0);
        assert!(story.contains(&"u0 0-16: dropped at 32".into()), "{story:?}");
        // v0 can never run. It waits until its own deadline has passed.
        assert!(story.contains(&"v0 0-33: dropped at 40".into()), "{story:?}");
    }

    #[test]
    fn after_a_drop_the_downstream_model_starves() {
        let story = upstream_drops(60.0);
        assert!(story.contains(&"u2 32-48: acc 0 from 40 to 41".into()), "{story:?}");
        // Frame f of v needs f + 1 completions, but frame f of u is only the (f - 1)-th one.
        let of_v = || story.iter().filter(|line| line.starts_with('v'));
        assert!(of_v().all(|line| !line.contains("acc")), "{story:?}");
        assert!(of_v().filter(|line| line.contains("dropped")).count() > 30);
    }

    #[test]
    fn frames_of_one_model_run_side_by_side() {
        let story = story(&replay(&[model("a", 60.0, &[20.0, 25.0])], 1));
        assert_eq!(story[0], "a0 0-16: acc 0 from 0 to 20");
        assert_eq!(story[1], "a1 16-32: acc 1 from 16 to 41");
    }

    #[test]
    fn the_first_name_is_served_first() {
        // Upper case comes first in byte order; the order of the file does not matter.
        let story = story(&replay(&[model("a", 60.0, &[3.0]), model("B", 60.0, &[2.0])], 1));
        assert_eq!(story[0], "a0 0-16: acc 0 from 2 to 5");
        assert_eq!(story[1], "B0 0-16: acc 0 from 0 to 2");
    }

    #[test]
    fn what_is_unfinished_at_the_last_injection_is_lost() {
        let story = story(&replay(&[model("a", 60.0, &[16.0]), model("b", 60.0, &[1.0])], 1));
        let end = &story[story.len() - 4..];
        let expected = [
            "a41 656-672: acc 0 from 656 to 672",
            "b41 656-672: lost waiting",
            "a42 672-688: lost running",
            "b42 672-688: lost waiting",
        ];
        assert_eq!(end, expected);
    }

    /// A run with scores that can be computed by hand. Frames of a end exactly at their deadlines, 16 ms
    /// after they start, so the real-time score is 1 / (1 + e^0) = 1/2. With 750 of 1500 mJ, the energy score
    /// is 1/2 as well. No time is left for b, and c is never triggered.
    fn hand_computed() -> Replay {
        let models = [
            model("a", 60.0, &[16.0]).energy_mj(750.0),
            model("b", 60.0, &[1.0]),
            model("c", 60.0, &[1.0]).triggered_by(0, 0.0),
        ];
        replay(&models, 1)
    }

    #[test]
    fn models_without_entries_count_as_zero_in_the_figures_only() {
        let replay = hand_computed();
        let mut summary = Vec::new();
        replay.write_summary(&mut summary).unwrap();
        // 100 x (1/4 + 0) / 2, over the two listed models.
        let expected = "Model Name,Real-time Score,Energy Score,User-Experience Score\n\
                        a,0.500000,0.500000,1.000000\nb,0.000000,0.000000,0.000000\n\
                        Overall Score,12.500000\n";
        assert_eq!(String::from_utf8(summary).unwrap(), expected);
        let card = replay.scorecard();
        assert_eq!(card.total.score, 0.125 * 2.0 / 3.0);
        assert_eq!(card.total.realtime, 0.5 / 3.0);
        assert_eq!(card.total.energy, 0.5 / 3.0);
        assert_eq!(card.total.accuracy, 1.0 / 3.0);
        assert_eq!(card.total.qoe, 1.0 / 3.0);
        assert_eq!(card.total.score_executed_mean, 0.25 / 3.0);
    }

    #[test]
    fn lost_frames_are_missing_from_the_frame_count() {
        let card = hand_computed().scorecard();
        let [a, b, c] = &card.models[..] else { panic!() };
        // At the end a42 runs, and b41 and b42 wait. All other frames of b are dropped.
        assert_eq!((a.counts.requests, a.counts.executed, a.qoe), (43, 42, 1.0));
        assert_eq!((b.counts.requests, b.counts.dropped), (43, 41));
        assert_eq!((c.counts.requests, c.counts.not_triggered), (0, 43));
        assert_eq!(card.total.counts.late, 0);
        assert_eq!(card.total.counts.energy, Millijoules::new(42.0 * 750.0));
    }

    #[test]
    fn scores_ignore_the_settings() {
        let (mut plan, costs) = plan(&[model("a", 60.0, &[16.0])]);
        let expected = crate::compat::run(&plan, &costs, 1).unwrap().scorecard();
        plan.score.k_per_ms = 1.0;
        plan.score.energy_max = Millijoules::new(1.0);
        assert_eq!(crate::compat::run(&plan, &costs, 1).unwrap().scorecard(), expected);
        assert_eq!(expected.total.accuracy, 1.0);
    }

    #[test]
    fn energy_scores_fall_below_zero() {
        let replay = replay(&[model("a", 60.0, &[1.0]).energy_mj(3000.0)], 1);
        let score = replay.inferences()[0].unwrap();
        assert_eq!((score.realtime, score.energy, score.inference), (1.0, -1.0, -1.0));
    }

    fn cost(shape: ConvShape, accelerator: &Accelerator) -> LayerCost {
        let entry = cost::ALL.iter().find(|entry| entry.name == "maestro").unwrap();
        (entry.build.unwrap())().layer(&shape.into(), accelerator).unwrap()
    }

    fn shape(kind: ConvKind, k: u32) -> ConvShape {
        ConvShape {
            kind,
            n: 1,
            k,
            c: 8,
            y: 18,
            x: 18,
            r: 3,
            s: 3,
            stride_y: 1,
            stride_x: 1,
            ..ConvShape::UNIT
        }
    }

    #[test]
    fn costs_ignore_latency_multicast_and_memories() {
        let plain = accelerator("a");
        let mut other = plain.clone();
        other.noc.set(&[1000], |level, latency| level.latency = latency);
        let multicast = !plain.noc.level(0).multicast;
        other.noc.set(&[multicast], |level, it| level.multicast = it);
        other.memory.shared = Bytes::new(1);
        other.memory.scratchpad = Bytes::new(1);
        other.memory.dram_bandwidth = 1;
        let shape = shape(ConvKind::Conv, 16);
        let [plain, other] = [plain, other].map(|it| cost(shape, &it));
        assert_eq!((plain.cycles, plain.energy_nj), (other.cycles, other.energy_nj));
    }

    #[test]
    fn depthwise_layers_cost_more_with_more_output_channels() {
        let energy = |k| cost(shape(ConvKind::Depthwise, k), &accelerator("a")).energy_nj;
        assert!(energy(16) > energy(8));
    }
}

//! The paper's definitions, by hand: inputs small enough to follow with a pencil, the expected value
//! derived beside each.

#[path = "support/runs.rs"]
mod runs;

use runs::*;
use xrsim::ids::{AccelId, ModelId, RequestId};
use xrsim::load::{FrameMapping, LoadError, Request, RequestStream};
use xrsim::plan::{LatePolicy, Plan, PlanError};
use xrsim::scenario::{ActiveModel, InputStream, Scenario};
use xrsim::score::{NeverTriggered, benchmark_score};
use xrsim::trace::{Attempt, DropReason, Outcome};
use xrsim::units::{Millijoules, SimSpan, SimTime};

/// Requests of one model, in order of frame.
fn frames_of(stream: &RequestStream, model: usize) -> Vec<Request> {
    let requests = stream.requests().iter().copied();
    let mut frames: Vec<_> = requests.filter(|r| r.model == ModelId::new(model)).collect();
    frames.sort_by_key(|request| request.frame);
    frames
}

fn idle_plan(scenario: Scenario) -> Plan {
    let costs = vec![[0.0]; scenario.models().len()];
    plan(scenario, table_ms(&costs))
}

fn load(scenario: Scenario) -> RequestStream {
    requests(&idle_plan(scenario))
}

/// Start of frame `index` at `fps` frames per second, in whole nanoseconds.
fn nominal_ns(index: u64, fps: u64) -> u64 {
    index * 1_000_000_000 / fps
}

mod requests_and_their_times {
    use super::*;

    /// HT at 45 FPS on the 60-FPS camera, frame by frame of its first seven.
    fn hand_tracking(mapping: FrameMapping) -> Vec<Request> {
        let mut plan = idle_plan(scenario(
            vec![sensor("camera", 60.0)],
            vec![reading(&[0], model("HT", 45.0))],
        ));
        plan.load.frame_mapping = mapping;
        frames_of(&requests(&plan), 0)[..7].to_vec()
    }

    fn camera_frames(frames: &[Request]) -> Vec<u64> {
        let arrivals = frames.iter().map(|request| request.arrival.ns());
        arrivals.map(|ns| (0..).find(|&i| nominal_ns(i, 60) >= ns).unwrap()).collect()
    }

    /// floor(j·60/45) = floor(4j/3) for j = 0 to 6.
    #[test]
    fn forty_five_of_sixty_uses_the_newest_sensor_frame() {
        let frames = hand_tracking(FrameMapping::Floor);
        let sensor_frames = [0, 1, 2, 4, 5, 6, 8];
        assert_eq!(camera_frames(&frames), sensor_frames);
        for (frame, sensor_frame) in frames.iter().zip(sensor_frames) {
            assert_eq!(frame.arrival.ns(), nominal_ns(sensor_frame, 60));
        }
    }

    /// ceil(4j/3): 0, 2, 3, 4, 6, 7, 8; slack (j+1)/45 − i/60 = 22.2, 11.1, 16.7 ms and again.
    #[test]
    fn the_option_ceil_waits_for_the_next_sensor_frame() {
        let frames = hand_tracking(FrameMapping::Ceil);
        assert_eq!(camera_frames(&frames), [0, 2, 3, 4, 6, 7, 8]);
        let slack_us: Vec<_> =
            frames.iter().map(|frame| (frame.deadline - frame.arrival).ns() / 1000).collect();
        assert_eq!(slack_us, [22_222, 11_111, 16_666, 22_222, 11_111, 16_666, 22_222]);
    }

    #[test]
    fn the_option_nominal_ignores_the_sensor_grid() {
        for (j, frame) in hand_tracking(FrameMapping::Nominal).iter().enumerate() {
            assert_eq!(frame.arrival.ns(), nominal_ns(j as u64, 45));
        }
    }

    /// T_dl(j) = (j + 1)/45, whatever sensor frame serves it.
    #[test]
    fn the_deadline_is_the_next_frame_of_the_model() {
        for mapping in [FrameMapping::Floor, FrameMapping::Ceil, FrameMapping::Nominal] {
            for (j, frame) in hand_tracking(mapping).iter().enumerate() {
                assert_eq!(frame.deadline.ns(), nominal_ns(j as u64 + 1, 45));
            }
        }
    }

    #[test]
    fn the_initial_latency_moves_arrival_and_deadline() {
        let camera = InputStream { initial_latency: span_ms(3.0), ..sensor("camera", 60.0) };
        let stream = load(scenario(vec![camera], vec![reading(&[0], model("ES", 60.0))]));
        let second = frames_of(&stream, 0)[1];
        assert_eq!(second.arrival.ns(), nominal_ns(1, 60) + 3_000_000);
        assert_eq!(second.deadline.ns(), nominal_ns(2, 60) + 3_000_000);
    }

    /// Section 3.6: depth refinement starts when image and depth points are there, and its deadline
    /// is that of its own 30 FPS (2/60 s for frame 0) on the camera's grid.
    #[test]
    fn depth_refinement_needs_camera_and_lidar() {
        let lidar = InputStream { initial_latency: span_ms(5.0), ..sensor("lidar", 60.0) };
        let stream = load(scenario(
            vec![sensor("camera", 60.0), lidar],
            vec![reading(&[0, 1], model("DR", 30.0))],
        ));
        for (j, frame) in frames_of(&stream, 0).iter().enumerate() {
            let j = j as u64;
            assert_eq!(frame.arrival.ns(), nominal_ns(2 * j, 60) + 5_000_000);
            assert_eq!(frame.deadline.ns(), nominal_ns(j + 1, 30));
        }
    }

    #[test]
    fn a_model_that_reads_two_sensors_arrives_with_the_later_one_jitter_included() {
        let stream = load(scenario(
            table_3(),
            vec![
                reading(&[0, 1], model("DR", 60.0)),
                reading(&[0], model("camera only", 60.0)),
                reading(&[1], model("lidar only", 60.0)),
            ],
        ));
        let [both, camera, lidar] = [0, 1, 2].map(|model| frames_of(&stream, model));
        for ((both, camera), lidar) in both.iter().zip(&camera).zip(&lidar) {
            assert_eq!(both.arrival, camera.arrival.max(lidar.arrival));
        }
        assert!(both.iter().zip(&camera).any(|(both, camera)| both.arrival > camera.arrival));
        assert!(both.iter().zip(&lidar).any(|(both, lidar)| both.arrival > lidar.arrival));
    }

    #[test]
    fn jitter_belongs_to_the_sensor_frame_in_every_model_and_scenario() {
        let one = load(scenario(table_3(), vec![reading(&[0], model("ES", 60.0))]));
        let other = load(scenario(
            table_3(),
            vec![reading(&[2], model("KD", 3.0)), reading(&[0], model("HT", 30.0))],
        ));
        let every_frame = frames_of(&one, 0);
        for (j, frame) in frames_of(&other, 1).iter().enumerate() {
            assert_eq!(frame.arrival, every_frame[2 * j].arrival);
        }
    }

    /// Bounds of Table 3: 0.05 ms for the camera. Frame 0 cannot come before the start of the run.
    #[test]
    fn jitter_stays_within_its_bound_and_moves_no_deadline() {
        let mut at_zero = 0;
        for seed in 0..40 {
            let mut plan = idle_plan(scenario(table_3(), vec![reading(&[0], model("ES", 60.0))]));
            plan.load.seed = seed;
            let frames = frames_of(&requests(&plan), 0);
            at_zero += usize::from(frames[0].arrival == SimTime::ZERO);
            for (j, frame) in frames.iter().enumerate() {
                let offset_ns = frame.arrival.ns().abs_diff(nominal_ns(j as u64, 60));
                assert!(offset_ns <= 50_000, "{offset_ns}");
                assert_eq!(frame.deadline.ns(), nominal_ns(j as u64 + 1, 60));
            }
        }
        assert!((10..=30).contains(&at_zero), "half of the offsets are negative: {at_zero}");
    }

    #[test]
    fn jitter_can_be_switched_off() {
        let mut plan = idle_plan(scenario(table_3(), vec![reading(&[0], model("ES", 60.0))]));
        plan.load.jitter = false;
        let frames = frames_of(&requests(&plan), 0);
        assert_eq!(frames[7].arrival.ns(), nominal_ns(7, 60));
    }

    #[test]
    fn a_model_without_inputs_keeps_its_own_time() {
        let frames = frames_of(&load(scenario(table_3(), vec![model("planner", 45.0)])), 0);
        assert_eq!(frames[2].arrival.ns(), nominal_ns(2, 45));
        assert_eq!(frames[2].deadline.ns(), nominal_ns(3, 45));
    }

    #[test]
    fn an_explicit_deadline_counts_from_the_nominal_start() {
        let camera = InputStream {
            initial_latency: span_ms(1.0),
            max_jitter: span_ms(0.05),
            ..sensor("camera", 60.0)
        };
        let display =
            ActiveModel { deadline: Some(span_ms(7.0)), ..reading(&[0], model("DR", 30.0)) };
        let frames = frames_of(&load(scenario(vec![camera], vec![display])), 0);
        assert_eq!(frames[3].deadline.ns(), nominal_ns(3, 30) + 8_000_000);
    }

    /// Section 3.5: as many runs as the target rate in one second. 0.7 s · 45 FPS = 31.5: frames 0 to
    /// 31 start before the end.
    #[test]
    fn every_frame_that_starts_within_the_duration_is_released() {
        let mut plan = idle_plan(scenario(
            Vec::new(),
            vec![model("HT", 45.0), model("KD", 3.0), model("slow", 0.001)],
        ));
        let released = |plan: &Plan| [0, 1, 2].map(|m| frames_of(&requests(plan), m).len());
        assert_eq!(released(&plan), [45, 3, 1]);
        plan.load.duration = span_ms(700.0);
        assert_eq!(released(&plan), [32, 3, 1]);
        plan.load.duration = SimSpan::ZERO;
        assert_eq!(released(&plan), [0, 0, 0]);
    }

    #[test]
    fn a_random_phase_moves_a_sensor_as_a_whole_by_less_than_its_period() {
        let streams = || vec![sensor("camera", 60.0), sensor("microphone", 3.0)];
        let models = || vec![reading(&[0], model("ES", 60.0)), reading(&[1], model("KD", 3.0))];
        let mut plan = idle_plan(scenario(streams(), models()));
        plan.load.random_phase = true;
        let stream = requests(&plan);
        let phases = [(0, 60), (1, 3)].map(|(model, fps)| {
            let frames = frames_of(&stream, model);
            let phase = frames[0].arrival.ns();
            assert!(phase < nominal_ns(1, fps));
            for (j, frame) in frames.iter().enumerate() {
                assert_eq!(frame.arrival.ns(), nominal_ns(j as u64, fps) + phase);
                assert_eq!(frame.deadline.ns(), nominal_ns(j as u64 + 1, fps) + phase);
            }
            phase
        });
        assert_ne!(phases[0], phases[1]);
    }

    /// 20,000,001 frames at 1 FPS, or four models of 15,000,000 frames whose three dependencies make
    /// 45,000,000.
    #[test]
    fn a_load_that_is_too_large_is_refused_before_memory_is_taken() {
        let seconds = |s: u64| SimSpan::from_ns(s * 1_000_000_000);
        let mut plan = idle_plan(scenario(Vec::new(), vec![model("A", 1.0)]));
        plan.load.duration = seconds(20_000_001);
        let requests = 20_000_001;
        assert_eq!(plan.requests(), Err(LoadError::TooManyRequests { requests }));
        plan.load.duration = SimSpan::MAX;
        assert!(matches!(plan.requests(), Err(LoadError::TooManyRequests { .. })));

        let last = (0..10).fold(model("last", 1.0), |model, upstream| after(upstream, model));
        let first = (0..10).map(|_| model("A", 0.001));
        let mut plan = idle_plan(scenario(Vec::new(), first.chain([last]).collect()));
        plan.load.duration = seconds(5_000_000);
        let dependencies = 50_000_000;
        assert_eq!(plan.requests(), Err(LoadError::TooManyDependencies { dependencies }));
    }
}

mod dependencies_between_requests {
    use super::*;

    /// Frames of the upstream model (0) that the frames of the downstream model (1) need.
    fn needed(upstream_fps: f64, downstream_fps: f64, n: usize) -> Vec<usize> {
        let stream = load(scenario(
            Vec::new(),
            vec![model("up", upstream_fps), after(0, model("down", downstream_fps))],
        ));
        let mut needed: Vec<_> = (0..stream.requests().len())
            .map(RequestId::new)
            .filter(|&id| stream.request(id).model == ModelId::new(1))
            .map(|id| {
                let [upstream] = *stream.upstream(id) else { panic!("one dependency") };
                assert!(stream.downstream(upstream).contains(&id));
                (stream.request(id).frame, stream.request(upstream).frame.index())
            })
            .collect();
        needed.sort();
        needed.into_iter().map(|(_, frame)| frame).take(n).collect()
    }

    #[test]
    fn equal_rates_depend_on_the_same_frame() {
        assert_eq!(needed(60.0, 60.0, 5), [0, 1, 2, 3, 4]);
    }

    /// The newest upstream frame whose nominal start is not later: floor(j·F_up/F_down).
    #[test]
    fn unequal_rates_depend_on_the_newest_upstream_frame() {
        assert_eq!(needed(60.0, 30.0, 4), [0, 2, 4, 6]);
        assert_eq!(needed(30.0, 60.0, 6), [0, 0, 1, 1, 2, 2]);
        assert_eq!(needed(45.0, 60.0, 6), [0, 0, 1, 2, 3, 3]);
        assert_eq!(needed(60.0, 45.0, 6), [0, 1, 2, 4, 5, 6]);
    }

    fn triggered(plan: &Plan, model: usize) -> Vec<bool> {
        frames_of(&requests(plan), model).iter().map(|request| request.triggered).collect()
    }

    fn speech(probability: f64) -> Plan {
        lasting_ms(
            100_000.0,
            idle_plan(scenario(
                Vec::new(),
                vec![
                    model("KD", 3.0),
                    triggered_by(0, probability, model("SR", 3.0)),
                    after(1, model("summary", 3.0)),
                    model("other", 3.0),
                ],
            )),
        )
    }

    /// 300 coins of probability 1/2: 150 ± 4 standard deviations of 8.7.
    #[test]
    fn the_trigger_probability_is_that_of_the_dependency() {
        assert!(triggered(&speech(0.0), 1).iter().all(|triggered| !triggered));
        assert!(triggered(&speech(1.0), 1).iter().all(|&triggered| triggered));
        let n = triggered(&speech(0.5), 1).iter().filter(|&&triggered| triggered).count();
        assert!((115..=185).contains(&n), "{n}");
        assert!(triggered(&speech(0.0), 3).iter().all(|&triggered| triggered));
    }

    #[test]
    fn a_higher_probability_keeps_every_trigger_of_a_lower_one() {
        let (few, many) = (triggered(&speech(0.3), 1), triggered(&speech(0.6), 1));
        assert!(few.iter().zip(&many).all(|(few, many)| many >= few));
        assert_ne!(few, many);
    }

    #[test]
    fn the_load_can_replace_every_probability() {
        let mut plan = speech(0.2);
        plan.load.trigger_probability = Some(1.0);
        assert!(triggered(&plan, 1).iter().all(|&triggered| triggered));
    }

    #[test]
    fn what_depends_on_an_untriggered_request_is_not_triggered_either() {
        let plan = speech(0.5);
        assert_eq!(triggered(&plan, 2), triggered(&plan, 1));
    }

    #[test]
    fn two_dependencies_and_two_seeds_flip_their_own_coins() {
        let two = |seed| {
            let mut plan = idle_plan(scenario(
                Vec::new(),
                vec![
                    model("KD", 60.0),
                    triggered_by(0, 0.5, model("one", 60.0)),
                    triggered_by(0, 0.5, model("two", 60.0)),
                ],
            ));
            plan.load.seed = seed;
            [1, 2].map(|model| triggered(&plan, model))
        };
        let ([one, two], [other_one, _]) = (two(1), two(2));
        assert_ne!(one, two);
        assert_ne!(one, other_one);
    }
}

mod execution {
    use super::*;

    /// Social interaction A (section 3.6, Figure 3): eye segmentation and gaze estimation at 60 FPS,
    /// hand tracking and depth refinement at 30 FPS; the lidar is 1 ms behind the camera.
    ///
    /// At 0 the fast accelerator 0 takes ES (the earlier deadline), 1 takes HT. DR arrives at 1 and
    /// finds both busy. At 4 GE may start: released before DR, it goes first. At 7 DR follows.
    #[test]
    fn the_deep_dive_example_runs_as_drawn_by_hand() {
        let lidar = InputStream { initial_latency: span_ms(1.0), ..sensor("lidar", 60.0) };
        let trace = trace(&plan(
            scenario(
                vec![sensor("camera", 60.0), lidar],
                vec![
                    reading(&[0], model("ES", 60.0)),
                    after(0, reading(&[0], model("GE", 60.0))),
                    reading(&[0], model("HT", 30.0)),
                    reading(&[0, 1], model("DR", 30.0)),
                ],
            ),
            table_ms(&[[4.0, 6.0], [3.0, 5.0], [10.0, 12.0], [8.0, 7.0]]),
        ));
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 4.0));
        assert_eq!(execution(&trace, 2, 0), (1, 0.0, 12.0));
        assert_eq!(execution(&trace, 1, 0), (0, 4.0, 7.0));
        assert_eq!(execution(&trace, 3, 0), (0, 7.0, 15.0));
        assert_eq!(execution(&trace, 0, 1), (0, 16.666_666, 20.666_666));
        assert_eq!(execution(&trace, 1, 1), (0, 20.666_666, 23.666_666));
        assert_eq!(execution(&trace, 0, 2), (0, 33.333_333, 37.333_333));
        assert_eq!(execution(&trace, 2, 1), (1, 33.333_333, 45.333_333));
        assert!(trace.records().iter().all(|r| matches!(r.outcome, Outcome::Executed { .. })));
    }

    fn periodic(latency_ms: f64, n_accelerators: usize, frames: usize) -> Plan {
        let costs = vec![vec![(span_ms(latency_ms).ns(), 1e6); n_accelerators]];
        let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
        lasting_ms(100.0 * frames as f64, plan(scenario, table(&costs)))
    }

    /// Latency L up to the period P = 100 ms: every frame starts on arrival and meets its deadline,
    /// L = P exactly on it.
    #[test]
    fn a_latency_up_to_the_period_meets_every_deadline() {
        for latency_ms in [0.0, 0.001, 37.5, 99.999, 100.0] {
            let plan = periodic(latency_ms, 1, 30);
            let counts = plan.score(&trace(&plan)).total.counts;
            assert_eq!((counts.executed, counts.deadline_misses), (30, 0), "{latency_ms}");
        }
    }

    /// L > P on one accelerator: something always waits, so starts are L apart, at 0, L, 2L, … before
    /// the last deadline N·P: ceil(N·P/L) are executed, each on the newest frame, the rest dropped.
    #[test]
    fn a_latency_above_the_period_executes_exactly_what_fits() {
        for (latency_ms, executed) in
            [(150.0, 20), (130.0, 24), (100.001, 30), (300.0, 10), (299.0, 11)]
        {
            let plan = periodic(latency_ms, 1, 30);
            let counts = plan.score(&trace(&plan)).total.counts;
            assert_eq!(
                (counts.executed, counts.dropped),
                (executed, 30 - executed),
                "{latency_ms}"
            );
            assert_eq!(counts.deadline_misses, executed, "each takes longer than a period");
        }
    }

    /// L = 150: frame 0 runs to 150, frame 1 to 300; then frame 2 is dropped as frame 3 arrives.
    #[test]
    fn a_latency_of_one_and_a_half_periods_loses_every_third_frame() {
        let trace = trace(&periodic(150.0, 1, 30));
        assert_eq!(execution(&trace, 0, 1), (0, 150.0, 300.0));
        assert_eq!(dropped(&trace, 0, 2), (300.0, DropReason::Deadline));
        assert_eq!(execution(&trace, 0, 3), (0, 300.0, 450.0));
        assert_eq!(dropped(&trace, 0, 29), (3000.0, DropReason::Deadline));
    }

    /// n accelerators keep up with L ≤ n·P, frame j on accelerator j mod n where L > (n − 1)·P.
    #[test]
    fn n_accelerators_keep_up_with_n_periods() {
        for (latency_ms, n) in [(150.0, 2), (200.0, 2), (250.0, 3), (400.0, 4)] {
            let trace = trace(&periodic(latency_ms, n, 30));
            for frame in 0..30 {
                let start_ms = 100.0 * frame as f64;
                let expected = (frame % n, start_ms, start_ms + latency_ms);
                assert_eq!(execution(&trace, 0, frame), expected);
            }
        }
    }

    /// L > n·P: accelerator k starts at k·P, k·P + L, … before N·P, so the executed frames are
    /// sum over k < n of ceil((N − k)·P/L).
    #[test]
    fn n_overloaded_accelerators_execute_exactly_what_fits() {
        for (latency_us, n) in [(250_000u64, 2), (333_000, 3), (990_000, 4), (201_000, 2)] {
            let plan = periodic(latency_us as f64 / 1e3, n, 30);
            let counts = plan.score(&trace(&plan)).total.counts;
            let fits = |k: u64| ((30 - k) * 100_000).div_ceil(latency_us);
            let executed: u64 = (0..n as u64).map(fits).sum();
            assert_eq!(counts.executed, executed, "{latency_us} on {n}");
            assert_eq!(counts.released, 30);
        }
    }

    /// A frame is 100 ms; the first model takes all of it.
    #[test]
    fn a_request_that_waits_is_dropped_at_its_deadline_and_not_started() {
        let trace = trace(&plan(
            scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
            table_ms(&[[100.0], [1.0]]),
        ));
        for frame in 0..10 {
            let start_ms = 100.0 * frame as f64;
            assert_eq!(execution(&trace, 0, frame), (0, start_ms, start_ms + 100.0));
            assert_eq!(dropped(&trace, 1, frame), (start_ms + 100.0, DropReason::Deadline));
        }
    }

    #[test]
    fn a_grace_keeps_waiting_requests_beyond_their_deadline() {
        let mut plan = plan(
            scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
            table_ms(&[[150.0], [1.0]]),
        );
        plan.load.duration = span_ms(100.0);
        assert_eq!(dropped(&trace(&plan), 1, 0), (100.0, DropReason::Deadline));
        plan.engine.grace = span_ms(50.0);
        assert_eq!(dropped(&trace(&plan), 1, 0), (150.0, DropReason::Deadline));
        plan.engine.grace = span_ms(50.001);
        assert_eq!(execution(&trace(&plan), 1, 0), (0, 150.0, 151.0));
    }

    /// Of 150 ms the run has had 100 at its deadline: two thirds of its 1 mJ.
    #[test]
    fn late_runs_can_be_aborted_at_their_deadline() {
        let mut plan = periodic(150.0, 1, 3);
        plan.engine.late = LatePolicy::Abort;
        let trace = trace(&plan);
        for frame in 0..3 {
            let Outcome::Dropped { at, reason, energy, attempt } = record(&trace, 0, frame).outcome
            else {
                panic!("aborted")
            };
            assert_eq!((at, reason), (at_ms(100.0 * (frame + 1) as f64), DropReason::Aborted));
            assert!((energy.get() - 2.0 / 3.0).abs() < 1e-12, "one division and one product");
            let (accelerator, start) = (AccelId::new(0), at_ms(100.0 * frame as f64));
            assert_eq!(attempt, Some(Attempt { accelerator, start }));
        }
        assert!((plan.score(&trace).total.counts.energy.get() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_run_that_ends_on_its_deadline_is_not_aborted() {
        let mut plan = periodic(100.0, 1, 3);
        plan.engine.late = LatePolicy::Abort;
        assert_eq!(execution(&trace(&plan), 0, 2), (0, 200.0, 300.0));
    }

    /// Deadlines of 1 s, runs of 250 ms. While frame 0 runs, frame 2 replaces 1; while frame 2 runs,
    /// frame 4 replaces 3, and frame 5, which arrives as frame 2 ends, replaces 4.
    #[test]
    fn a_newer_frame_can_replace_a_waiting_older_one() {
        let patient = ActiveModel { deadline: Some(span_ms(1000.0)), ..model("A", 10.0) };
        let scenario = scenario(Vec::new(), vec![patient]);
        let mut plan = lasting_ms(600.0, plan(scenario, table_ms(&[[250.0]])));
        plan.engine.replace_by_newer = true;
        let trace = trace(&plan);
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 250.0));
        assert_eq!(dropped(&trace, 0, 1), (200.0, DropReason::Replaced));
        assert_eq!(execution(&trace, 0, 2), (0, 250.0, 500.0));
        assert_eq!(dropped(&trace, 0, 3), (400.0, DropReason::Replaced));
        assert_eq!(dropped(&trace, 0, 4), (500.0, DropReason::Replaced));
        assert_eq!(execution(&trace, 0, 5), (0, 500.0, 750.0));
    }

    /// The explicit deadline (1 ms after the nominal start) has passed when the sensor delivers.
    #[test]
    fn a_request_whose_deadline_is_over_on_arrival_is_dropped_on_arrival() {
        let hasty =
            ActiveModel { deadline: Some(span_ms(1.0)), ..reading(&[0, 1], model("A", 10.0)) };
        let late = InputStream { initial_latency: span_ms(2.0), ..sensor("late", 10.0) };
        let trace = trace(&plan(
            scenario(vec![sensor("prompt", 10.0), late], vec![hasty]),
            table_ms(&[[1.0]]),
        ));
        assert_eq!(dropped(&trace, 0, 0), (2.0, DropReason::Deadline));
    }

    #[test]
    fn a_latency_that_never_ends_still_ends_the_run() {
        let costs = table(&[vec![(u64::MAX, 1.0)]]);
        let trace = trace(&plan(scenario(Vec::new(), vec![model("A", 10.0)]), costs));
        let Outcome::Executed { end, .. } = record(&trace, 0, 0).outcome else {
            panic!("it was started")
        };
        assert_eq!(end, SimTime::MAX);
        assert_eq!(dropped(&trace, 0, 9), (1000.0, DropReason::Deadline));
    }

    /// One arrival and one end for each of 20 requests.
    #[test]
    fn events_are_arrivals_completions_and_expiries() {
        let scenario = scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]);
        assert_eq!(run(&plan(scenario, table_ms(&[[100.0], [1.0]]))).events, 40);
    }

    #[test]
    fn a_plan_whose_parts_do_not_fit_is_refused() {
        let good = idle_plan(six_models());
        assert_eq!(good.check(), Ok(()));
        let plan = Plan { costs: table_ms(&[[1.0, 2.0]]).into(), ..good };
        let (found, wanted) = ((1, 2), (6, 1));
        assert_eq!(plan.check(), Err(PlanError::CostTable { found, wanted }));
    }
}

mod cascades {
    use super::*;

    /// A hog takes the one accelerator for the whole frame. The first of the chain is dropped at its
    /// deadline, and with it, at once, all that would have followed.
    #[test]
    fn a_drop_takes_the_whole_cascade_with_it() {
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
            // `order[i]` is the place of link i of the chain in the scenario, after the hog.
            let place = |link: usize| 1 + order[link];
            let mut links = vec![model("hog", 10.0); 6];
            for link in 0..5 {
                let single = model(&format!("link {link}"), 10.0);
                links[place(link)] = match link {
                    0 => single,
                    _ => after(place(link - 1), single),
                };
            }
            let trace = trace(&lasting_ms(
                100.0,
                plan(scenario(Vec::new(), links), table_ms(&[[100.0]; 6])),
            ));
            // Only the hog and link 0 could start at 0; whichever comes first in the file does.
            assert_eq!(dropped(&trace, place(0), 0), (100.0, DropReason::Deadline));
            for link in 1..5 {
                assert_eq!(dropped(&trace, place(link), 0), (100.0, DropReason::Upstream));
            }
        }
    }

    /// KD takes 20 ms and SR 30 ms of a third of a second.
    #[test]
    fn speech_recognition_follows_a_keyword() {
        let trace = trace(&plan(speech(1.0), table_ms(&[[20.0], [30.0]])));
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 20.0));
        assert_eq!(execution(&trace, 1, 0), (0, 20.0, 50.0));
    }

    fn speech(probability: f64) -> Scenario {
        let recognition = triggered_by(0, probability, model("SR", 3.0));
        scenario(Vec::new(), vec![model("KD", 3.0), recognition])
    }

    #[test]
    fn without_a_keyword_speech_recognition_is_not_asked_for() {
        let plan = plan(speech(0.0), table_ms(&[[20.0], [30.0]]));
        let trace = trace(&plan);
        assert_eq!(record(&trace, 1, 0).outcome, Outcome::NotTriggered);
        let counts = plan.score(&trace).models[1].counts;
        assert_eq!((counts.released, counts.not_triggered), (0, 3));
    }

    /// KD waits behind a hog until its deadline. Whether SR counts as dropped is up to its coin.
    #[test]
    fn the_coin_decides_for_the_requests_of_a_dropped_keyword_detection() {
        let outcome = |probability| {
            let models = vec![
                model("hog", 3.0),
                model("KD", 3.0),
                triggered_by(1, probability, model("SR", 3.0)),
            ];
            let costs = table_ms(&[[400.0], [1.0], [1.0]]);
            let trace = trace(&plan(scenario(Vec::new(), models), costs));
            assert_eq!(dropped(&trace, 1, 0), (333.333_333, DropReason::Deadline));
            record(&trace, 2, 0).outcome
        };
        assert_eq!(outcome(0.0), Outcome::NotTriggered);
        assert_eq!(
            outcome(1.0),
            Outcome::Dropped {
                at: SimTime::from_ns(333_333_333),
                reason: DropReason::Upstream,
                energy: Millijoules::ZERO,
                attempt: None,
            }
        );
    }

    /// KD runs past the deadline that it shares with SR.
    #[test]
    fn the_coin_decides_for_a_request_that_expires_before_its_upstream_result() {
        let trace_of = |probability| trace(&plan(speech(probability), table_ms(&[[400.0], [1.0]])));
        assert_eq!(record(&trace_of(0.0), 1, 0).outcome, Outcome::NotTriggered);
        assert_eq!(dropped(&trace_of(1.0), 1, 0), (333.333_333, DropReason::Deadline));
    }

    /// The keyword detector's microphone is prompt, the recogniser's second sensor 400 ms late: its
    /// request exists only from then on, when its upstream has long been dropped.
    #[test]
    fn a_request_that_arrives_after_its_upstream_was_dropped_is_dropped_on_arrival() {
        let late = InputStream { initial_latency: span_ms(400.0), ..sensor("late", 3.0) };
        let models = vec![
            model("hog", 3.0),
            reading(&[0], model("KD", 3.0)),
            after(
                1,
                ActiveModel {
                    deadline: Some(span_ms(900.0)),
                    ..reading(&[0, 1], model("SR", 3.0))
                },
            ),
        ];
        let trace = trace(&plan(
            scenario(vec![sensor("microphone", 3.0), late], models),
            table_ms(&[[400.0], [1.0], [1.0]]),
        ));
        assert_eq!(dropped(&trace, 1, 0), (333.333_333, DropReason::Deadline));
        assert_eq!(dropped(&trace, 2, 0), (400.0, DropReason::Upstream));
    }

    /// Two upstream models on two accelerators; the third starts with the later result.
    #[test]
    fn all_upstream_results_are_needed() {
        let join = after(0, after(1, model("join", 10.0)));
        let models = vec![model("left", 10.0), model("right", 10.0), join];
        let costs = table_ms(&[[10.0, 10.0], [30.0, 30.0], [5.0, 5.0]]);
        let trace = trace(&plan(scenario(Vec::new(), models), costs));
        assert_eq!(execution(&trace, 2, 0), (0, 30.0, 35.0));
    }
}

mod policies {
    use super::*;

    /// Both arrive at 0; B is faster on accelerator 0, which A has taken.
    #[test]
    fn latency_greedy_never_waits_for_a_faster_accelerator() {
        let trace = trace(&plan(
            scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
            table_ms(&[[10.0, 11.0], [1.0, 50.0]]),
        ));
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 10.0));
        assert_eq!(execution(&trace, 1, 0), (1, 0.0, 50.0));
    }

    #[test]
    fn equally_fast_accelerators_are_taken_from_the_first() {
        let trace = trace(&plan(
            scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]),
            table_ms(&[[10.0, 10.0, 10.0]; 2]),
        ));
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 10.0));
        assert_eq!(execution(&trace, 1, 0), (1, 0.0, 10.0));
    }

    /// On arrival at 0 the hog takes the accelerator until 30. Then A, released at 10 and due at 200,
    /// waits with B, released at 20 and due at 50: first come against first due.
    fn first_come_or_first_due(scheduler: &str) -> (f64, f64) {
        let delayed =
            |name: &str, ms| InputStream { initial_latency: span_ms(ms), ..sensor(name, 5.0) };
        let due = |ms, model| ActiveModel { deadline: Some(span_ms(ms)), ..model };
        let models = vec![
            model("hog", 5.0),
            due(190.0, reading(&[0], model("A", 5.0))),
            due(30.0, reading(&[1], model("B", 5.0))),
        ];
        let streams = vec![delayed("early", 10.0), delayed("late", 20.0)];
        let costs = table_ms(&[[30.0], [5.0], [5.0]]);
        let trace = trace(&by(scheduler, plan(scenario(streams, models), costs)));
        (execution(&trace, 1, 0).1, execution(&trace, 2, 0).1)
    }

    #[test]
    fn latency_greedy_serves_the_first_released_and_edf_the_first_due() {
        assert_eq!(first_come_or_first_due("latency-greedy"), (30.0, 35.0));
        assert_eq!(first_come_or_first_due("edf"), (35.0, 30.0));
    }

    /// One accelerator, runs of 60 ms. A arrives at 0 and 50, B at 0, C at 60. After A 0 the turn
    /// is B's, then C's, though A 1 has waited longer.
    #[test]
    fn round_robin_moves_past_the_model_it_served() {
        let late = InputStream { initial_latency: span_ms(60.0), ..sensor("late", 1.0) };
        let patient = |model| ActiveModel { deadline: Some(span_ms(500.0)), ..model };
        let models = vec![
            patient(model("A", 20.0)),
            patient(model("B", 1.0)),
            patient(reading(&[0], model("C", 1.0))),
        ];
        let scenario = scenario(vec![late], models);
        let plan = lasting_ms(100.0, plan(scenario, table_ms(&[[60.0]; 3])));
        let starts = |scheduler: &str| {
            let trace = trace(&by(scheduler, plan.clone()));
            [(0, 0), (1, 0), (2, 0), (0, 1)].map(|(m, frame)| execution(&trace, m, frame).1)
        };
        assert_eq!(starts("round-robin"), [0.0, 60.0, 120.0, 180.0]);
        assert_eq!(starts("latency-greedy"), [0.0, 60.0, 180.0, 120.0]);
    }

    /// Accelerator 1 is faster, and idle.
    #[test]
    fn round_robin_takes_the_first_idle_accelerator() {
        let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
        let trace = trace(&by("round-robin", plan(scenario, table_ms(&[[20.0, 10.0]]))));
        assert_eq!(execution(&trace, 0, 0), (0, 0.0, 20.0));
    }
}

mod scores {
    use super::*;

    /// A at 40 FPS for 100 ms: 4 frames. A 0 is due before the hog and runs first, to 10; the hog
    /// runs from there to 75, while A 1 and A 2 are dropped at 50 and 75; A 3 runs. Each run of A
    /// spends 375 of 1500 mJ: energy score 3/4. It ends 15 ms early: e^(-15·15) vanishes beside 1.
    #[test]
    fn the_model_score_is_definition_15_as_printed_beside_the_mean_over_executed_frames() {
        let hog = ActiveModel { deadline: Some(span_ms(1000.0)), ..model("hog", 1.0) };
        let models = scenario(Vec::new(), vec![hog, model("A", 40.0)]);
        let costs = table(&[vec![(65_000_000, 0.0)], vec![(10_000_000, 375e6)]]);
        let plan = lasting_ms(100.0, plan(models, costs));
        let card = plan.score(&trace(&plan));
        let a = card.models[1];
        assert_eq!((a.counts.released, a.counts.executed, a.counts.dropped), (4, 2, 2));
        assert_eq!((a.realtime, a.energy, a.accuracy, a.qoe), (1.0, 0.75, 1.0, 0.5));
        assert_eq!(a.score, (0.75 + 0.75) / 4.0 * 0.5);
        assert_eq!(a.score_executed_mean, 0.75 * 0.5);
        assert_eq!(a.counts.energy, Millijoules::new(750.0));
        // The hog is perfect: 1 in everything.
        assert_eq!((card.total.realtime, card.total.energy, card.total.qoe), (1.0, 0.875, 0.75));
        assert_eq!(card.total.score, (1.0 + 0.1875) / 2.0);
        assert_eq!(card.total.score_executed_mean, (1.0 + 0.375) / 2.0);
        assert_eq!(card.total.counts.released, 5);
        assert_eq!(card.total.counts.energy, Millijoules::new(750.0));
    }

    /// A run that ends on its deadline scores 1/2 and is no miss; 1 ns later it is one.
    #[test]
    fn a_result_on_the_deadline_is_in_time() {
        for (latency_ns, misses) in [(100_000_000, 0), (100_000_001, 10)] {
            let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
            let costs = table(&[vec![(latency_ns, 0.0); 2]]);
            let plan = plan(scenario, costs);
            let card = plan.score(&trace(&plan));
            assert_eq!(
                (card.total.counts.executed, card.total.counts.deadline_misses),
                (10, misses)
            );
            assert!((card.total.realtime - 0.5).abs() < 1e-5, "k · 10^-6 ms / 4 at most");
        }
    }

    #[test]
    fn a_model_that_executes_nothing_scores_zero() {
        let scenario = scenario(Vec::new(), vec![model("A", 10.0), model("B", 10.0)]);
        let plan = plan(scenario, table_ms(&[[100.0], [1.0]]));
        let card = plan.score(&trace(&plan));
        let b = card.models[1];
        assert_eq!((b.counts.released, b.counts.executed), (10, 0));
        assert_eq!([b.realtime, b.energy, b.accuracy, b.qoe, b.score], [0.0; 5]);
        assert_eq!(card.total.qoe, 0.5);
    }

    #[test]
    fn a_model_that_was_never_triggered_has_no_part_unless_it_is_given_one() {
        let models = vec![model("KD", 3.0), triggered_by(0, 0.0, model("SR", 3.0))];
        let mut plan = plan(scenario(Vec::new(), models), table(&[vec![(1, 0.0)], vec![(1, 0.0)]]));
        let trace = trace(&plan);
        for (never_triggered, expected) in [
            (NeverTriggered::Excluded, 1.0),
            (NeverTriggered::One, 1.0),
            (NeverTriggered::Zero, 0.5),
        ] {
            plan.score.never_triggered = never_triggered;
            let card = plan.score(&trace);
            assert_eq!((card.total.score, card.total.qoe), (expected, expected));
            assert_eq!(card.total.counts.not_triggered, 3);
        }
    }

    /// 10 FPS: frames 0 to 2 start before 250 ms, frames 3 to 9 are counted.
    #[test]
    fn frames_of_the_warm_up_are_not_counted() {
        let scenario = scenario(Vec::new(), vec![model("A", 10.0)]);
        let mut plan = plan(scenario, table_ms(&[[150.0]]));
        plan.score.warm_up = span_ms(250.0);
        let trace = trace(&plan);
        let counts = plan.score(&trace).total.counts;
        assert_eq!(counts.released, 7);
        assert_eq!((counts.executed, counts.dropped), (5, 2), "5 and 8 are dropped");
        plan.score.warm_up = span_ms(5000.0);
        assert_eq!(plan.score(&trace).total.score, 0.0);
    }

    /// Definition 16.
    #[test]
    fn the_benchmark_score_is_the_mean_over_the_scenarios() {
        assert_eq!(benchmark_score(&[0.5, 0.75, 1.0]), 0.75);
        assert_eq!(benchmark_score(&[]), 0.0);
    }
}

//! When requests arrive and are due: rates, sensors and their jitter, deadlines (sections 3.5 and 3.6,
//! Table 3).

use super::{frames_of, idle_plan, load};
use crate::support::runs::*;
use xrsim::load::{FrameMapping, LoadError, Request};
use xrsim::scenario::InputStream;
use xrsim::units::{SimSpan, SimTime};

/// Start of frame `index` at `fps` frames per second, in whole nanoseconds.
fn nominal_ns(index: u64, fps: u64) -> u64 {
    index * 1_000_000_000 / fps
}

/// HT at 45 FPS on the 60-FPS camera, frame by frame of its first seven.
fn hand_tracking(mapping: FrameMapping) -> Vec<Request> {
    let mut plan =
        idle_plan(scenario(vec![sensor("camera", 60.0)], vec![reading(&[0], model("HT", 45.0))]));
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

/// T_dl(j) = (j + 1)/45, for any sensor frame that serves it.
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

/// Bounds of Table 3: 0.05 ms for the camera. Frame 0 cannot arrive before the start of the run.
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
    let display = reading(&[0], model("DR", 30.0)).with_relative_deadline(span_ms(7.0));
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
    let released = |plan: &Case| [0, 1, 2].map(|m| frames_of(&requests(plan), m).len());
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

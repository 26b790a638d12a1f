//! Which frames need which, and which of them are triggered (Table 2).

use super::{frames_of, idle_plan, load};
use crate::support::runs::*;
use xrsim::ids::{ModelId, RequestId};

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

fn triggered(plan: &Case, model: usize) -> Vec<bool> {
    frames_of(&requests(plan), model).iter().map(|request| request.triggered).collect()
}

fn speech(probability: f64) -> Case {
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

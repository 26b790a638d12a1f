//! Outcome of a request whose upstream requests are dropped or do not trigger it.

use crate::support::runs::*;
use xrsim::scenario::{InputStream, Scenario};
use xrsim::trace::{DropReason, Outcome};
use xrsim::units::{Millijoules, SimTime};

/// A hog takes the one accelerator for the whole frame. The first of the chain is dropped at its
/// deadline, and at the same instant all requests that depend on it.
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
        let trace =
            trace(&lasting_ms(100.0, plan(scenario(Vec::new(), links), table_ms(&[[100.0]; 6]))));
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
    assert_eq!((counts.requests, counts.not_triggered), (0, 3));
}

/// KD waits for a hog until its deadline. SR counts as dropped only if its draw triggers it.
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

/// The microphone of the keyword detector has no latency; the second sensor of the recogniser is 400 ms
/// late. Its request arrives only then, long after its upstream request was dropped.
#[test]
fn a_request_that_arrives_after_its_upstream_was_dropped_is_dropped_on_arrival() {
    let late = InputStream { initial_latency: span_ms(400.0), ..sensor("late", 3.0) };
    let models = vec![
        model("hog", 3.0),
        reading(&[0], model("KD", 3.0)),
        after(1, reading(&[0, 1], model("SR", 3.0)).with_relative_deadline(span_ms(900.0))),
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

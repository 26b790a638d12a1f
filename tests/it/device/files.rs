//! Files of devices and operating points.

use std::fs;
use std::sync::Arc;

use tempfile::tempdir;
use xrsim::Catalog;
use xrsim::config::{ConfigError, Kind};
use xrsim::hardware::Device;
use xrsim::hardware::device::{Gate, LeakageAmount};
use xrsim::units::SimSpan;

/// The device of a file with this text.
fn device(text: &str) -> Result<Arc<Device>, ConfigError> {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("device.yaml");
    fs::write(&path, text).expect("it is written");
    Catalog::new().device(path.to_str().expect("a plain path"))
}

/// The problems of a file with this text, each after its line and column.
fn refused(text: &str) -> Vec<String> {
    let error = device(text).expect_err("it is wrong").to_string();
    let problem = |line: &str| line.split_once("device.yaml:").map(|(_, it)| it.to_string());
    error.lines().filter_map(problem).collect()
}

#[test]
fn accelerators_have_the_supply_of_their_name_or_that_of_all() {
    let device = device(
        "device:
  name: mine
  accelerators:
    points: rk3588_npu
    leakage_mw_per_1024_pes: 100
    transition_us: 40
    named:
      WS-0:
        leakage_mw_per_1024_pes: technology
        gate: {after_ms: 200, left: 0.05, wake_us: 200, wake_uj: 57}
  base_mw: 3000
",
    );
    let device = device.expect("it is good");
    let all = &device.accelerators;
    assert_eq!(all.points.as_ref().map(|it| it.name()), Some("rk3588_npu"));
    assert_eq!(all.leakage.amount, LeakageAmount::PerPes(100.0));
    assert_eq!((all.gate, all.transition), (None, SimSpan::from_ns(40_000)));
    let [(name, own)] = &device.named[..] else { panic!("one has a supply of its own") };
    assert_eq!((&**name, &own.points), ("WS-0", &None));
    assert_eq!(own.leakage.amount, LeakageAmount::Technology);
    let gate = Gate {
        after: SimSpan::from_ns(200_000_000),
        left: 0.05,
        wake: SimSpan::from_ns(200_000),
        wake_uj: 57.0,
    };
    assert_eq!((own.gate, own.transition), (Some(gate), SimSpan::ZERO));
    assert_eq!((device.dram.active_mw, device.base_mw), (0.0, 3000.0));
}

#[test]
fn mistakes_are_named_with_their_place_and_what_is_allowed() {
    assert_eq!(
        refused(
            "device:
  name: bad
  accelerators: {points: rk3588, leakage_mw_per_1024_pes: 100}
"
        ),
        ["3:26: no points named `rk3588` (did you mean `rk3588_npu`?)"]
    );
    assert_eq!(
        refused(
            "device:
  name: bad
  accelerators: {leakage_mw_per_1024_pes: -3, gate: {left: 2}, base: 3}
"
        ),
        [
            "3:43: expected a number from 0 to 1000000, or `technology`, found `-3`",
            "3:53: a gate lacks the key `after_ms`",
            "3:60: expected a number from 0 to 1, found `2`",
            "3:64: a supply has no key `base` (known: points, leakage_mw_per_1024_pes, leakage_exponent, leakage_per_k, \
             leakage_at_c, idle_mw_per_1024_pes, gate, transition_us, named)",
        ]
    );
}

#[test]
fn a_display_has_a_rate_and_times() {
    let device = device(
        "device:
  name: shows
  display: {fps: 72, phase_ms: 1, compose_ms: 2, scanout_ms: 11}
",
    );
    let display = device.expect("it is good").display.expect("it has a display");
    let times = [display.phase, display.compose, display.scanout].map(SimSpan::as_ms);
    assert_eq!((display.rate.as_fps(), times), (72.0, [1.0, 2.0, 11.0]));
    let found = refused("device:\n  name: bad\n  display: {scanout_ms: 11}\n");
    assert!(found[0].ends_with("a display lacks the key `fps`"), "{found:?}");
}

#[test]
fn points_ascend() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("points.yaml");
    let text = "points:
  name: bad
  source: choice
  points: [{clock_mhz: 700, volt: 0.8}, {clock_mhz: 600, volt: 0.9}]
";
    fs::write(&path, text).expect("it is written");
    let error =
        Catalog::new().points(path.to_str().expect("a plain path")).expect_err("it is wrong");
    let error = error.to_string();
    assert!(error.contains("points.yaml:4:41: 600 MHz after 700 MHz; clocks ascend"), "{error}");
}

#[test]
fn gates_stand_in_phases_and_states_and_a_cell_may_lose_more_at_high_power() {
    let device = device(
        "device:
  name: cell
  battery: {wh: 18.88, peukert: {exponent: 1.05, rated_w: 3.776}}
",
    );
    assert!(device.is_ok_and(|it| it.battery.is_some()));
    let folder = tempdir().expect("a folder");
    let check = |text: &str| {
        let path = folder.path().join("profile.yaml");
        fs::write(&path, text).expect("it is written");
        Catalog::new().check(&path).map_err(|error| error.to_string())
    };
    let phases = "profile:
  name: blinks
  phases:
    - name: look
      scenario: VR_gaming
      minutes: 1
      gates: {camera: {on_s: {mean: 3.53, cv: 1.6}, off_s: {mean: 0.15, cv: 1.6}}}
    - repeat: 2
      phases:
        - name: talk
          scenario: VR_gaming
          minutes: 1
          gates: {camera: {on_s: {mean: 3, cv: 1.6}, off_s: {mean: 1, cv: 1.6}}}
";
    assert_eq!(check(phases), Ok(Kind::Profile));
    let chain = "profile:
  name: days
  chain:
    start: look
    hours: 1
    states:
      look:
        {scenario: VR_gaming, minutes: {mean: 2}, next: {rest: 1},
         gates: {camera: {on_s: {mean: 3, cv: 1.6}, off_s: {mean: 1, cv: 1.6}}}}
      rest: {minutes: {mean: 2}, next: {look: 1}}
";
    assert_eq!(check(chain), Ok(Kind::Profile));
}

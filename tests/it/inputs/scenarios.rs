//! Messages for bad scenarios, sensors and suites.

use super::check;

#[test]
fn scenarios() {
    check(
        "scenario:
  name: S
  models:
    - {network: HT, fps: 90}
    - {network: KD, fps: 3, depends_on: {KD: data}}
    - {network: GE, fps: 60, depends_on: {SE: data}}
",
        &[
            "4:26: HT asks for 90 FPS but its input `camera` delivers only 60 FPS (lower `fps`, or give the \
             scenario `sensors:` with a larger `rate_fps`)",
            "5:42: KD depends on itself",
            "6:43: no model in this scenario named `SE` (known: HT, KD, GE)",
        ],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: ES, fps: 60, depends_on: {GE: data}}
    - {network: HT, fps: 60}
    - {network: GE, fps: 60, depends_on: {ES: data}}
",
        &["4:43: these models wait for each other: ES -> GE"],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: ES, fps: 0, relative_deadline_ms: -1}
    - {network: XY, fps: 60, depends_on: {ES: {control: {probability: 1.5}}}}
    - {network: GE, fps: 60, depends_on: {ES: maybe}, inputs: []}
",
        &[
            "4:26: expected a rate from 0.001 to 1000000 FPS, found `0`",
            "4:51: expected a time from 0.000001 to 9007199254 ms, found `-1`",
            "5:71: expected a number from 0 to 1, found `1.5`",
            "6:47: expected `data` or `{control: {probability: P}}`, found `maybe`",
            "6:63: this list of sensors is empty",
        ],
    );
    check(
        "scenario:
  name: S
  models:
    - {network: XY, fps: 1}
    - {network: HT, fps: 1}
",
        &["4:17: no network named `XY` (known: AS, DE, DR, ES, GE, HT, KD, OD, PD, SR, SS, \
           deeplabv3plus, edsr, gnmt, mobilebert, mobiledet, mobilenet_edgetpu, mobilenet_v1, mosaic, \
           resnet50, ssd_mobilenet_v1, ssd_mobilenet_v2, ssd_mobilenet_v2_quant, ssd_resnet34)"],
    );
    check(
        "scenario:
  name: S
  sensors: {eye: {rate_fps: 30}}
  models:
    - {network: ES, fps: 30, inputs: [eyes]}
    - {network: ES, fps: 30}
",
        &[
            "5:39: no sensor named `eyes` (did you mean `eye`?)",
            "6:17: a second model is called `ES` (give one of them another name with `task`)",
            "6:17: no sensor named `camera` (known: eye)",
        ],
    );
    check("scenario: {name: S, models: []}\n", &["1:29: this list of models is empty"]);
}

#[test]
fn sensors() {
    check(
        "sensors:
  camera: {rate_fps: 60, max_jitter_ms: -0.05}
  lidar: {rate_hz: 60, jitter_distribution: gaussian}
  microphone: {rate_fps: .inf, max_jitter_us: 100}
  camera: {rate_fps: 60}
",
        &[
            "2:41: expected a time from 0 to 9007199254 ms, found `-0.05`",
            "3:11: a sensor has no key `rate_hz` (give the value as `rate_fps`)",
            "3:45: expected `truncated_normal` or `uniform`, found `gaussian`",
            "4:26: expected a rate from 0.001 to 1000000 FPS, found `.inf`",
            "4:32: a sensor has no key `max_jitter_us` (give the value as `max_jitter_ms`)",
            "5:3: `camera` is given twice (remove one of the two)",
        ],
    );
    check("sensors: {}\n", &["1:10: this mapping of sensors is empty"]);
}

#[test]
fn suites() {
    check(
        "suite:\n  scenarios: [AR_gaming, AR]\n  systems: [A, N]\n  pes: [0]\n",
        &["4:9: expected a whole number from 1 to 16777216, found `0`"],
    );
    check(
        "suite:\n  scenarios: [AR_gaming, AR_game]\n  systems: [A, N]\n  pes: [4096]\n",
        &[
            "2:26: no scenario named `AR_game` (did you mean `AR_gaming`?)",
            "3:16: no style named `N` (known: A, B, C, D, E, F, G, H, I, J, K, L, M)",
        ],
    );
}

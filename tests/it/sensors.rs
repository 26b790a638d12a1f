//! Recorded sensors, blocks of their periods, and gates.

use crate::support::{binary, reference};

use std::fs;
use std::sync::Arc;

use binary::{path, refused, stderr, stdout, xrsim};
use tempfile::{TempDir, tempdir};

use xrsim::load::{self, Drawn, LoadSettings, Request};
use xrsim::scenario::InputStream;
use xrsim::trace::Absence;
use xrsim::{Catalog, Edition, Experiment, Scenario, SimSpan, SimTime};

/// A folder with `scenario.yaml`, whose models and sensors are these, and with other files.
fn folder(keys: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let text = format!("scenario:\n  name: recorded\n{keys}\n");
    for (name, text) in files.iter().chain(&[("scenario.yaml", &*text)]) {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// A model of 20 FPS on a camera with these keys, and a gate if there is one.
fn camera(keys: &str, gates: &str) -> String {
    format!(
        "  sensors: {{camera: {{{keys}}}}}\n{gates}\n  models: [{{network: KD, inputs: [camera], fps: 20}}]"
    )
}

fn scenario(folder: &TempDir) -> Arc<Scenario> {
    let file = path(folder, "scenario.yaml");
    Catalog::new().scenario(&file, Edition::default()).expect("it is right")
}

fn problem(keys: &str, files: &[(&str, &str)]) -> String {
    let folder = folder(keys, files);
    let file = path(&folder, "scenario.yaml");
    Catalog::new().scenario(&file, Edition::default()).expect_err("it is wrong").to_string()
}

/// Settings of a run of `ms` milliseconds.
fn settings(ms: f64, replication: u64) -> LoadSettings {
    let duration = SimSpan::from_ms(ms).expect("it is a span");
    LoadSettings { duration, replication, ..LoadSettings::default() }
}

/// Arrivals of the frames of a stream \[ms\].
fn arrivals(stream: &InputStream, settings: &LoadSettings) -> Vec<(u64, f64)> {
    let arrivals = load::arrivals(stream, settings).expect("it is long enough");
    arrivals.map(|(frame, at)| (frame, at.as_ms())).collect()
}

fn requests(scenario: &Scenario, settings: &LoadSettings) -> Vec<Request> {
    load::generate(scenario, settings).expect("it is small").requests().to_vec()
}

fn csv(rows: &[(u64, f64)]) -> String {
    let rows = rows.iter().map(|(frame, ms)| format!("camera,{frame},{ms}\n"));
    rows.fold("sensor,frame,arrival_ms\n".into(), |text, row| text + &row)
}

/// The jitter of AR_gaming, written as a recording and read again, gives the same requests, and so the same results of
/// every replication.
#[test]
fn the_recording_of_a_run_replays_that_run_byte_for_byte() {
    let models = "  models:\n    - {network: HT, fps: 45}\n    - {network: DE, fps: 29.97}\n    - {network: DR, fps: 15}";
    let jitter = "rate_fps: 60, max_jitter_ms: 3, initial_latency_ms: 2";
    let drawn = format!("  sensors: {{camera: {{{jitter}}}, lidar: {{{jitter}}}}}\n{models}");
    let drawn = folder(&drawn, &[]);
    let run = |folder: &TempDir, more: &[&str]| {
        let (file, out) = (path(folder, "scenario.yaml"), path(folder, "out"));
        let run =
            ["run", "--scenario", &file, "--system", "M", "--pes", "4096", "--flexibility", "none"];
        let rest = ["--replications", "3", "--duration", "900", "--out", &out];
        xrsim(&[&run[..], &rest, more].concat()).assert().success();
    };
    let arrivals = path(&drawn, "arrivals.csv");
    run(&drawn, &["--arrivals", &arrivals]);
    let text = fs::read_to_string(arrivals).expect("it is written");
    // 54 frames in 0.9 s, in three replications, of two sensors.
    assert_eq!(text.lines().count(), 1 + 54 * 3 * 2);
    let recorded = "rate_fps: 60, arrivals: a.csv, repeat: false, initial_latency_ms: 2";
    let recorded =
        format!("  sensors: {{camera: {{{recorded}}}, lidar: {{{recorded}}}}}\n{models}");
    let recorded = folder(&recorded, &[("a.csv", &text)]);
    run(&recorded, &[]);
    for file in ["inferences.csv", "models.csv", "scores.csv"] {
        let read =
            |folder: &TempDir| fs::read(folder.path().join("out").join(file)).expect("written");
        assert!(read(&drawn) == read(&recorded), "{file}");
    }
    let record = fs::read_to_string(recorded.path().join("out/run.json")).expect("written");
    assert!(record.contains("a.csv"), "the recording is an input file of the record");
}

/// The camera of ILLIXR (`reference/silicon/README.md`): mean period 17.399 ms, standard deviation 3.964 ms, 4.5 %
/// beyond 1.5 periods of 60 FPS. A model that reads every frame has these periods in its trace.
#[test]
fn the_periods_of_a_recorded_camera_come_out_of_the_trace() {
    let Some(file) = reference("silicon/illixr_camera_arrivals.csv") else { return };
    let file = fs::read_to_string(file).expect("it can be read");
    let keys = "  sensors: {camera: {arrivals: camera.csv, rate_fps: 57.474}}\n  models: [{network: KD, inputs: [camera], fps: 57.474}]";
    let folder = folder(keys, &[("camera.csv", &file)]);
    let runs = Experiment::new()
        .scenario(path(&folder, "scenario.yaml").as_str())
        .system("J")
        .pes(4096)
        .set("flexibility", "none")
        .set("duration_ms", 60470.0)
        .replications(1)
        .run()
        .expect("it runs");
    let trace = runs[0].trace().expect("it has a trace");
    let at: Vec<f64> = trace.records().iter().map(|it| it.arrival.as_ms()).collect();
    let periods: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(periods.len(), 3475);
    let n = periods.len() as f64;
    let mean = periods.iter().sum::<f64>() / n;
    let variance = periods.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / n;
    let beyond = periods.iter().filter(|it| **it > 1.5e3 / 60.0).count() as f64 / n;
    assert!((mean - 17.399).abs() < 0.0005, "{mean}");
    assert!((variance.sqrt() - 3.964).abs() < 0.001, "{variance}");
    assert!((beyond - 0.0455).abs() < 0.0005, "{beyond}");
}

#[test]
fn a_lost_frame_is_no_request_and_neither_dropped_nor_late() {
    // Frame 3 of the model reads frame 6, and frame 6 is lost; others are on the grid of 40 FPS.
    let rows: Vec<_> = (0..20).filter(|it| *it != 6).map(|it| (it, it as f64 * 25.0)).collect();
    let keys = camera("rate_fps: 40, arrivals: a.csv", "");
    let folder = folder(&keys, &[("a.csv", &csv(&rows))]);
    let requests = requests(&scenario(&folder), &settings(500.0, 0));
    let absences: Vec<_> = requests.iter().map(|it| it.absence).collect();
    let lost: Vec<_> = (0..10).map(|frame| (frame == 3).then_some(Absence::Lost)).collect();
    assert_eq!(absences, lost);
    assert!(requests.iter().all(|it| it.triggered != it.absence.is_some()));
    let file = path(&folder, "scenario.yaml");
    let run = ["run", "--scenario", &file, "--system", "J", "--pes", "4096", "--duration", "500"];
    let table = stdout(&xrsim(&run).assert().success());
    assert!(table.lines().next().is_some_and(|it| it.contains("dropped  lost")), "{table}");
    let rows = stdout(&xrsim(&[&run[..], &["--format", "csv"]].concat()).assert().success());
    let rows: Vec<Vec<&str>> = rows.lines().map(|it| it.split(',').collect()).collect();
    let cell = |name| rows[1][rows[0].iter().position(|it| *it == name).expect("it is a column")];
    let counts = ["requests", "executed", "dropped", "late", "lost", "gated", "qoe"].map(cell);
    assert_eq!(counts, ["9", "9", "0", "0", "1", "0", "1"]);
}

/// What depends on a lost frame is lost with it, and the deadline of a late frame is the nominal one.
#[test]
fn jitter_of_a_recording_moves_arrivals_and_no_deadlines() {
    let rows = [(0, 3.0), (1, 50.0), (2, 171.5), (4, 200.0)];
    let keys = "  sensors: {camera: {rate_fps: 20, arrivals: a.csv}, other: {rate_fps: 20}}\n  models:\n    - {network: KD, inputs: [camera], fps: 20}\n    - {network: SR, inputs: [other], fps: 20, depends_on: {KD: data}}";
    let folder = folder(keys, &[("a.csv", &csv(&rows))]);
    let requests = requests(&scenario(&folder), &settings(250.0, 0));
    let of_model = |model| {
        let of_model = requests.iter().filter(move |it| it.model.index() == model);
        of_model.map(|it| (it.frame.index(), it.arrival.as_ms(), it.deadline.as_ms(), it.absence))
    };
    let lost = Some(Absence::Lost);
    let mut kd: Vec<_> = of_model(0).collect();
    kd.sort_by_key(|it| it.0);
    let expected = [
        (0, 3.0, 50.0, None),
        (1, 50.0, 100.0, None),
        (2, 171.5, 150.0, None),
        (3, 150.0, 200.0, lost),
        (4, 200.0, 250.0, None),
    ];
    assert_eq!(kd, expected);
    let absences: Vec<_> = of_model(1).map(|it| it.3).collect();
    assert_eq!(absences, [None, None, None, lost, None]);
}

#[test]
fn twice_the_speed_halves_every_period() {
    let rows = [(0, 0.0), (1, 21.0), (2, 30.5), (3, 61.25), (4, 80.0)];
    let at = |speed: &str| {
        let folder =
            folder(&camera(&format!("arrivals: a.csv{speed}"), ""), &[("a.csv", &csv(&rows))]);
        let scenario = scenario(&folder);
        (scenario.streams()[0].rate.as_fps(), arrivals(&scenario.streams()[0], &settings(70.0, 0)))
    };
    let ((rate, once), (fast_rate, twice)) = (at(""), at(", speed: 2"));
    // Four periods in 80 ms.
    assert_eq!((rate, fast_rate), (50.0, 100.0));
    let halved: Vec<_> = once.iter().map(|(frame, ms)| (*frame, ms / 2.0)).collect();
    assert_eq!(halved, twice[..once.len()]);
}

/// The file lasts 80 ms and a period of 20 ms. Its frame 5 is frame 0 again.
#[test]
fn a_recording_that_is_too_short_repeats_which_is_said_or_is_refused() {
    let rows = [(0, 0.0), (1, 21.0), (2, 39.0), (4, 80.0)];
    let file = csv(&rows);
    let folder_of = |more: &str| {
        let models = camera(&format!("rate_fps: 50, arrivals: a.csv{more}"), "");
        folder(&models, &[("a.csv", &file)])
    };
    let folder = folder_of("");
    let scenario = scenario(&folder);
    let stream = &scenario.streams()[0];
    let expected = [(0, 0.0), (1, 21.0), (2, 39.0), (4, 80.0), (5, 100.0), (6, 121.0), (7, 139.0)];
    assert_eq!(arrivals(stream, &settings(150.0, 0)), expected);
    // A window of 30 ms begins at 60 ms, nearest to which is frame 3, which is lost.
    assert_eq!(arrivals(stream, &settings(30.0, 2)), [(1, 20.0)]);
    // The next one begins at 90 ms, half a period after frame 4.
    assert_eq!(arrivals(stream, &settings(30.0, 3)), [(0, 10.0), (1, 31.0)]);
    let run = |folder: &TempDir| {
        let file = path(folder, "scenario.yaml");
        let run =
            ["run", "--scenario", &file, "--system", "J", "--pes", "4096", "--duration", "200"];
        run.map(String::from).to_vec()
    };
    let words = |run: &[String], more: &[&str]| -> Vec<String> {
        run.iter().cloned().chain(more.iter().map(|it| (*it).into())).collect()
    };
    let call = words(&run(&folder), &["--replications", "2"]);
    let call: Vec<_> = call.iter().map(String::as_str).collect();
    let said = stderr(&xrsim(&call).assert().success());
    let place = "a.csv:5: the recording of `camera` ends after 100 ms, and the runs take 400 ms, so it is repeated";
    assert!(said.contains(place), "{said}");
    let strict = folder_of(", repeat: false");
    let call = run(&strict);
    let said = refused(&call.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(
        said.contains(
            "a.csv:5: the recording of `camera` ends after 100 ms, and the runs take 200 ms"
        ),
        "{said}"
    );
    assert!(said.contains("leave out `repeat: false`"), "{said}");
}

/// Periods within a block of 16 frames are periods of the file in its order; the mean offset of a block is 0, so that
/// frames do not drift away from a grid that the file does not keep.
#[test]
fn blocks_of_periods_are_those_of_the_file() {
    // Periods of 18, 19, .. ms, each once, on a grid of 20 ms.
    let mut rows = vec![(0, 0.0)];
    for frame in 1..60 {
        rows.push((frame, rows[frame as usize - 1].1 + 17.0 + frame as f64));
    }
    let of = |rows: &[(u64, f64)]| {
        let keys = camera("rate_fps: 50, jitter: {periods: a.csv}", "");
        scenario(&folder(&keys, &[("a.csv", &csv(rows))]))
    };
    let scenario = of(&rows);
    let stream = &scenario.streams()[0];
    let drawn = arrivals(stream, &settings(20_000.0, 0));
    assert_eq!(drawn.len(), 1000);
    let mut firsts = Vec::new();
    for block in drawn.chunks_exact(16).skip(1) {
        let periods: Vec<_> = block.windows(2).map(|it| (it[1].1 - it[0].1).round()).collect();
        assert!(periods.windows(2).all(|it| it[1] == it[0] + 1.0), "{periods:?}");
        let offset = |it: &(u64, f64)| it.1 - it.0 as f64 * 20.0;
        assert!(block.iter().map(offset).sum::<f64>().abs() < 1e-4);
        firsts.push(periods[0] as u64);
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert!(firsts.len() > 20, "blocks begin at {} places of 45", firsts.len());
    assert_ne!(drawn, arrivals(stream, &settings(20_000.0, 1)));
    // Without jitter, frames of a whole recording are exact; which are lost is drawn.
    let exact = LoadSettings { jitter: false, ..settings(20_000.0, 0) };
    assert!(!Drawn::from_settings(&scenario, &exact).any());
    rows.remove(30);
    let lossy = of(&rows);
    assert!(Drawn::from_settings(&lossy, &exact).jitter);
    assert_eq!(drawn, arrivals(stream, &settings(20_000.0, 0)));
}

/// Speech of AMI (`reference/silicon/activity_speech_ami.csv`): 4.54 s on and 9.86 s off, so that the gate is on for a
/// share of 0.3153. The variance of the share of a time T is (off^2 var(on) + on^2 var(off)) / ((on + off)^3 T).
#[test]
fn gates_are_on_for_the_share_of_their_dwells() {
    let (on, off, seconds) = (4.54f64, 9.86f64, 100_000.0);
    for (distribution, cvs) in
        [("lognormal", [1.99, 2.68]), ("gamma", [1.99, 2.68]), ("exponential", [1.0; 2])]
    {
        let cv = cvs.map(|cv| {
            if distribution == "exponential" { String::new() } else { format!(", cv: {cv}") }
        });
        let gate = format!(
            "  gates: {{camera: {{distribution: {distribution}, on_s: {{mean: {on}{}}}, off_s: {{mean: {off}{}}}}}}}",
            cv[0], cv[1]
        );
        let keys = camera("rate_fps: 1", &gate).replace("fps: 20", "fps: 1");
        let folder = folder(&keys, &[]);
        let scenario = scenario(&folder);
        let is_on = |it: &Request| it.absence.is_none();
        let long = requests(&scenario, &settings(seconds * 1e3, 0));
        let share = long.iter().filter(|it| is_on(it)).count() as f64 / long.len() as f64;
        let variance = (off * on * cvs[0]).powi(2) + (on * off * cvs[1]).powi(2);
        let error = (variance / (on + off).powi(3) / seconds).sqrt();
        assert!(
            (share - on / (on + off)).abs() < 4.0 * error,
            "{distribution}: {share} +- {error}"
        );
        // The start of a run is as likely on as any other instant, and so is the instant 3 s later.
        let runs: Vec<_> = (0..2000).map(|it| requests(&scenario, &settings(3500.0, it))).collect();
        for second in [0, 3] {
            let on_then = runs.iter().filter(|it| is_on(&it[second])).count() as f64 / 2000.0;
            let error = (0.3153f64 * 0.6847 / 2000.0).sqrt();
            assert!(
                (on_then - 0.3153).abs() < 4.0 * error,
                "{distribution} at {second} s: {on_then}"
            );
        }
    }
}

#[test]
fn a_recorded_gate_repeats_and_its_frames_count_as_gated() {
    let gate = "  gates: {camera: {on_off: g.csv}}";
    let folder =
        folder(&camera("rate_fps: 20", gate), &[("g.csv", "on_s,off_s\n0.1,0.05\n0.0,0.1\n")]);
    let scenario = scenario(&folder);
    // On in 0 to 0.1 s of every 0.25 s: frames 0 and 1 of five.
    let on = |replication| -> Vec<usize> {
        let requests = requests(&scenario, &settings(500.0, replication));
        requests.iter().filter(|it| it.absence.is_none()).map(|it| it.frame.index()).collect()
    };
    assert_eq!(on(0), [0, 1, 5, 6]);
    assert_eq!(on(1), [0, 1, 5, 6]);
    let file = path(&folder, "scenario.yaml");
    let run = [
        "run",
        "--scenario",
        &file,
        "--system",
        "J",
        "--pes",
        "4096",
        "--duration",
        "500",
        "--replications",
        "1",
    ];
    let table = stdout(&xrsim(&run).assert().success());
    assert!(table.lines().next().is_some_and(|it| it.contains("dropped  gated")), "{table}");
}

/// Models of 10, 20 and 20 FPS on one camera, the second after the first; the gate is on in 0 to 0.1 s of every 0.25 s. Frames of
/// the first start at 0, 0.1, .. 0.4 s: 0 and 3 do while it is on. Frames 2j and 2j + 1 of the second need frame j.
#[test]
fn a_gated_model_takes_no_frames_and_what_depends_on_them_has_no_requests() {
    let models = "  sensors: {camera: {rate_fps: 20}}
  models:
    - {network: KD, inputs: [camera], fps: 10}
    - {network: SR, inputs: [camera], fps: 20, depends_on: {KD: data}}
    - {network: GE, inputs: [camera], fps: 20}";
    let files: &[_] = &[("g.csv", "on_s,off_s\n0.1,0.05\n0.0,0.1\n")];
    let taken = |gates: &str| -> [Vec<usize>; 3] {
        let folder = folder(&format!("{models}\n{gates}"), files);
        let requests = requests(&scenario(&folder), &settings(500.0, 0));
        let gated = Some(Absence::Gated);
        assert!(requests.iter().all(|it| it.triggered == it.absence.is_none()));
        assert!(requests.iter().all(|it| it.absence.is_none() || it.absence == gated));
        let of = |model| {
            let own = requests.iter().filter(move |it| it.model.index() == model);
            let mut own: Vec<_> =
                own.filter(|it| it.triggered).map(|it| it.frame.index()).collect();
            own.sort_unstable();
            own
        };
        [of(0), of(1), of(2)]
    };
    let all = || (0..10).collect::<Vec<_>>();
    assert_eq!(taken("  gates: {KD: {on_off: g.csv}}"), [vec![0, 3], vec![0, 1, 6, 7], all()]);
    let blink = "  gates: {blink: {on_off: g.csv, of: [KD, GE]}}";
    assert_eq!(taken(blink), [vec![0, 3], vec![0, 1, 6, 7], vec![0, 1, 5, 6]]);
    // Frame 0 of the camera is at 0, frame 6 at 0.3 s.
    let both = "  gates: {on: {on_off: g.csv, of: [camera]}, KD: {on_off: g.csv}}";
    assert_eq!(taken(both), [vec![0, 3], vec![0, 1, 6], vec![0, 1, 5, 6]]);
}

/// Blinks: open for 3.53 s, closed for 0.15 s. Two models of one gate blink together. The share of time has the variance of an
/// alternating process, and what is seen once a second that of single draws beside it.
#[test]
fn models_of_one_gate_are_on_together_for_the_share_of_its_dwells() {
    let keys = "  sensors: {camera: {rate_fps: 1}}
  gates: {blink: {distribution: exponential, on_s: {mean: 3.53}, off_s: {mean: 0.15}, of: [ES, GE]}}
  models: [{network: ES, inputs: [camera], fps: 1}, {network: GE, inputs: [camera], fps: 1}]";
    let folder = folder(keys, &[]);
    let scenario = scenario(&folder);
    let seconds = 100_000.0;
    let requests = requests(&scenario, &settings(seconds * 1e3, 0));
    let on = |model: usize| -> Vec<usize> {
        let own = requests.iter().filter(|it| it.model.index() == model && it.absence.is_none());
        own.map(|it| it.frame.index()).collect()
    };
    assert_eq!(on(0), on(1));
    let (open, closed) = (3.53f64, 0.15f64);
    let expected = open / (open + closed);
    let share = on(0).len() as f64 / seconds;
    let of_process = 2.0 * (open * closed).powi(2) / (open + closed).powi(3) / seconds;
    let of_draws = expected * (1.0 - expected) / seconds;
    let error = (of_process + of_draws).sqrt();
    assert!((share - expected).abs() < 4.0 * error, "{share} +- {error}");
    let drawn = Drawn::from_settings(&scenario, &settings(1.0, 0));
    assert_eq!(drawn, Drawn { gates: true, ..Drawn::default() });
}

#[test]
fn sensors_and_gates_that_contradict_themselves_are_refused() {
    let file = csv(&[(0, 0.0), (1, 20.0)]);
    let files: &[_] = &[("a.csv", &*file)];
    for (keys, message) in [
        ("", "lacks the key `rate_fps`"),
        (
            "rate_fps: 60, arrivals: a.csv, max_jitter_ms: 1",
            "`max_jitter_ms` and `arrivals` both say",
        ),
        (
            "rate_fps: 60, arrivals: a.csv, jitter: {periods: a.csv}",
            "`jitter` and `arrivals` both say",
        ),
        ("rate_fps: 60, speed: 2", "`speed` is about the file of `arrivals`"),
        ("rate_fps: 60, arrivals: b.csv", "b.csv"),
        ("rate_fps: 60, jitter: {periods: a.csv}", "at least 16 are needed"),
        ("rate_fps: 60, arrivals: a.csv, speed: 0", "a number from 0.001 to 1000"),
    ] {
        let found = problem(&camera(keys, ""), files);
        assert!(found.contains(message) && found.contains("scenario.yaml:3"), "{keys}: {found}");
    }
    for (gate, message) in [
        ("microphone: {on_off: a.csv}", "no sensor or model named `microphone`"),
        (
            "blink: {on_s: {mean: 1, cv: 1}, off_s: {mean: 1, cv: 1}, of: [KD, GE]}",
            "no sensor or model named `GE`",
        ),
        (
            "blink: {on_s: {mean: 1, cv: 1}, off_s: {mean: 1, cv: 1}, of: [KD, KD]}",
            "`KD` has a gate, `blink`; give it one",
        ),
        ("KD: {on_s: {mean: 1e-6, cv: 1}, off_s: {mean: 1e-6, cv: 1}}", "0.1 periods of `KD`"),
        ("camera: {on_s: {mean: 1, cv: 1}}", "lacks the key `off_s`"),
        ("camera: {on_s: {mean: 1}, off_s: {mean: 1, cv: 2}}", "these dwells lack `cv`"),
        (
            "camera: {distribution: exponential, on_s: {mean: 1, cv: 2}, off_s: {mean: 1}}",
            "exponential distribution is 1",
        ),
        ("camera: {on_off: a.csv, on_s: {mean: 1, cv: 1}}", "`on_s` and `on_off` both say"),
        (
            "camera: {on_s: {mean: 1e-6, cv: 1}, off_s: {mean: 1e-6, cv: 1}}",
            "0.1 periods of `camera`",
        ),
        ("camera: {on_off: a.csv}", "no column `on_s`"),
    ] {
        let gates = format!("  gates: {{{gate}}}");
        let found = problem(&camera("rate_fps: 60", &gates), files);
        assert!(found.contains(message), "{gate}: {found}");
    }
}

/// In a scenario and in a phase, which knows the names of sensors that are read.
#[test]
fn a_sensor_that_no_model_reads_has_no_gate() {
    let sensors = "  sensors: {camera: {rate_fps: 60}, microphone: {rate_fps: 3}}\n";
    let models = "  models: [{network: KD, inputs: [camera], fps: 20}]\n";
    let gates = "gates: {microphone: {on_s: {mean: 1, cv: 1}, off_s: {mean: 1, cv: 1}}}";
    let found = problem(&format!("{sensors}  {gates}\n{models}"), &[]);
    assert!(found.contains("no model reads the sensor `microphone`"), "{found}");
    assert!(found.contains("scenario.yaml:4"), "{found}");
    let phase = format!("{{name: one, scenario: scenario.yaml, minutes: 1, {gates}}}");
    let profile = format!("profile:\n  name: short\n  phases:\n    - {phase}\n");
    let folder = folder(&format!("{sensors}{models}"), &[("profile.yaml", &profile)]);
    let file = path(&folder, "profile.yaml");
    let error = Catalog::new().profile(&file).expect_err("it is refused").to_string();
    assert!(error.contains("sensor or model") && error.contains("microphone"), "{error}");
    assert!(error.contains("profile.yaml:4"), "{error}");
}

/// Such as one that was cut from the middle of a longer one. A recording may lose its first frames.
#[test]
fn a_recording_that_begins_with_more_lost_frames_than_it_has_is_refused() {
    let keys = camera("rate_fps: 50, arrivals: a.csv", "");
    let rows =
        |first: u64| -> Vec<_> { (first..first + 3).map(|it| (it, it as f64 * 20.0)).collect() };
    let found = problem(&keys, &[("a.csv", &csv(&rows(4)))]);
    let message = "the recording of `camera` begins with frame 4, and has 3 frames";
    assert!(found.contains(message) && found.contains("scenario.yaml:3"), "{found}");
    assert!(found.contains("number the frames of the file from 0"), "{found}");
    let folder = folder(&keys, &[("a.csv", &csv(&rows(3)))]);
    assert_eq!(arrivals(&scenario(&folder).streams()[0], &settings(100.0, 0))[0], (3, 60.0));
}

/// A gate that is off in all of a draw leaves nothing to score; the other draws count, as in `run`.
#[test]
fn commands_count_the_draws_in_which_frames_are_captured_and_say_how_many() {
    let keys = "  gates: {microphone: {on_s: {mean: 0.6, cv: 1}, off_s: {mean: 1.2, cv: 1}}}\n  \
                models: [{network: KD, fps: 3}]";
    let folder = folder(keys, &[]);
    let file = path(&folder, "scenario.yaml");
    let run = ["--scenario", &file, "--system", "J", "--pes", "4096", "--flexibility", "none"];
    let run = [&run[..], &["--replications", "12", "--platform", "paper"]].concat();
    let csv = stdout(&xrsim(&[&["run", "--format", "csv"], &run[..]].concat()).assert().success());
    let rows: Vec<Vec<&str>> = csv.lines().map(|it| it.split(',').collect()).collect();
    let at = rows[0].iter().position(|it| *it == "score").expect("a column");
    let scores: Vec<f64> = rows[1..].iter().filter_map(|it| it[at].parse().ok()).collect();
    let n = scores.len();
    assert!((1..12).contains(&n), "some draws have scores: {csv}");
    let mean = scores.iter().sum::<f64>() / n as f64;

    let compare = [&["compare", "--scheduler", "edf,rm", "--format", "csv"], &run[..]].concat();
    let compared = xrsim(&compare).assert().success();
    let note =
        format!("note: recorded on J: {n} of 12 draws count; in the others no frame is counted");
    assert!(stderr(&compared).contains(&note), "{}", stderr(&compared));
    let table = stdout(&compared);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|it| it == name).expect("a column");
    for row in reader.records() {
        let row = row.expect("a row");
        assert_eq!(row[at("replications")], n.to_string());
        let score: f64 = row[at("score")].parse().expect("a number");
        assert!((score - mean).abs() < 1e-12, "one request runs at a time: {score} {mean}");
    }
    // Parts give the same.
    let part = |at: &str| {
        let out = path(&folder, &format!("part{at}"));
        let shard = format!("{at}/2");
        let words = [&compare[..], &["--out", &out, "--shard", &shard]].concat();
        xrsim(&words).assert().success();
        out
    };
    let (one, two) = (part("1"), part("2"));
    let joined = xrsim(&[&compare[..], &["--join", &one, "--join", &two]].concat()).assert();
    assert_eq!(stdout(&joined.success()), table);
    // A precision is reached with more draws, or the most are made.
    let precise =
        [&compare[..5], &run[..8], &["--half-width", "0.01", "--platform", "paper"]].concat();
    xrsim(&precise).assert().success();

    let explained = stdout(&xrsim(&[&["explain"], &run[..]].concat()).assert().success());
    let line = format!("{n} of 12 draws on J count; in the others no frame is counted");
    assert!(explained.contains(&line), "{explained}");
    assert!(explained.contains(&format!("score {mean:.3}")), "{mean} {explained}");
    assert!(explained.contains("scheduler: edf "), "changes are tried: {explained}");
    assert!(explained.contains(&format!("on the same {n} draws")), "{explained}");
    let none = [&["explain", "--set", "score.warm_up_ms=999"], &run[..]].concat();
    assert!(refused(&none).contains("no frame is counted"));
}

/// Times of a window of a recording are those of the file, whatever the parts in which requests are made.
#[test]
fn arrivals_far_from_the_grid_keep_requests_in_order() {
    let rows: Vec<_> = (0..400).map(|it| (it, it as f64 * 9.0)).collect();
    for rate in [60, 110, 200] {
        let keys = camera(&format!("rate_fps: {rate}, arrivals: a.csv"), "");
        let folder = folder(&keys, &[("a.csv", &csv(&rows))]);
        let requests = requests(&scenario(&folder), &settings(60_000.0, 1));
        assert_eq!(requests.len(), 1200);
        assert!(requests.windows(2).all(|it| it[0].arrival <= it[1].arrival), "{rate}");
        assert!(requests.iter().any(|it| it.arrival > SimTime::ZERO));
    }
}

#[test]
fn a_recording_that_cannot_be_read_is_named_where_it_is_given() {
    let texts = [
        "sensors:\n  camera: {rate_fps: 60, jitter: {periods: absent.csv}}\n",
        "scenario:
  name: recorded
  sensors:
    camera: {rate_fps: 60, arrivals: absent.csv, speed: 2, repeat: false}
    microphone: {rate_fps: 3, jitter: {periods: absent.csv}}
  gates:
    microphone: {distribution: gamma, on_s: {mean: 4.5, cv: 2}, off_s: {mean: 9.9, cv: 2.7}}
  models: [{network: KD, fps: 3}]
",
    ];
    for text in texts {
        let folder = tempdir().expect("a folder can be made");
        fs::write(folder.path().join("file.yaml"), text).expect("written");
        let file = path(&folder, "file.yaml");
        let error = Catalog::new().check(file.as_ref()).expect_err("it is absent").to_string();
        let line = 1 + text.lines().position(|it| it.contains("absent.csv")).expect("a line");
        assert!(error.contains(&format!("file.yaml:{line}:")), "{error}");
        assert!(error.contains("absent.csv"), "{error}");
    }
}

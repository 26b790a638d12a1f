//! `xrsim search` as a user sees it: answers, files, interruptions, parts and messages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::binary::{on_threads, output, path, refused, stderr, stdout, xrsim};
use tempfile::tempdir;

/// Winners of the standard question by scenario, with the score of 30 draws: 138 two-way systems of WS, OS
/// and RS with 4,096 PEs, platform `paper`, no choice of mappings (measured by simulating all of them).
const LATENCY_GREEDY: [(&str, &str, f64); 8] = [
    ("social_interactionA", "WS:15 + WS:17", 0.966244),
    ("social_interactionB", "WS:14 + WS:18", 0.996170),
    ("outdoor_activity_A", "WS:13 + WS:19", 0.810536),
    ("outdoor_activity_B", "WS:16 + WS:16", 0.988321),
    ("AR_Assistant", "WS:7 + WS:25", 0.392211),
    ("VR_gaming", "WS:11 + WS:21", 0.983140),
    ("AR_gaming", "WS:17 + RS:15", 0.198175),
    ("mean", "WS:16 + WS:16", 0.755429),
];

const VALUE: [(&str, &str, f64, f64); 8] = [
    ("social_interactionA", "WS:12 + WS:20", 0.967264, 0.96734),
    ("social_interactionB", "WS:14 + WS:18", 0.996183, 0.99622),
    ("outdoor_activity_A", "WS:13 + WS:19", 0.810884, 0.81814),
    ("outdoor_activity_B", "WS:16 + WS:16", 0.988321, 0.99049),
    ("AR_Assistant", "WS:14 + WS:18", 0.712948, 0.71550),
    ("VR_gaming", "WS:11 + WS:21", 0.983140, 0.98325),
    ("AR_gaming", "WS:11 + WS:21", 0.636897, 0.63742),
    ("mean", "WS:14 + WS:18", 0.870360, 0.87221),
];

/// A search with files, and its record.
fn record(spec: &str, folder: &Path, more: &[&str]) -> serde_json::Value {
    let folder = folder.display().to_string();
    output(&[&["search", spec, "--out", &folder, "--quiet"], more].concat());
    let text = fs::read_to_string(Path::new(&folder).join("search.json")).expect("it is written");
    serde_json::from_str(&text).expect("it is JSON")
}

fn standard(scheduler: &str) -> String {
    format!(
        "search:\n  name: standard\n  objective: {{maximise: score_executed_mean, over: [each, mean]}}\n  \
         settings: {{platform: paper, flexibility: none, hardware.fusion: none}}\n  space:\n    accelerators: 2\n    dataflows: [WS, OS, RS]\n    \
         pes: {{total: exactly 4096, step: 128}}\n    scheduler: [\"{scheduler}\"]\n"
    )
}

#[test]
fn the_standard_question_has_the_winners_of_the_whole_simulation() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    fs::write(&spec, standard("latency-greedy")).expect("it can be written");
    let greedy = record(&spec, &folder.path().join("greedy"), &["--require-proof"]);
    fs::write(&spec, standard("value:admission=hopeless")).expect("it can be written");
    let value = record(&spec, &folder.path().join("value"), &["--require-proof"]);
    let found = |record: &serde_json::Value, at: usize| {
        let answer = record["answers"][at].clone();
        let best = &answer["found"][0];
        let score = best["values"]["score_executed_mean"].as_f64().expect("a score");
        let text = |it: &serde_json::Value| it.as_str().expect("a text").to_string();
        (text(&answer["question"]), text(&best["system"]), score, answer)
    };
    for (at, (question, system, score)) in LATENCY_GREEDY.into_iter().enumerate() {
        let (name, best, reached, _) = found(&greedy, at);
        assert_eq!((&*name, &*best), (question, system));
        assert!((reached - score).abs() < 5e-7, "{question}: {reached}");
    }
    for (at, (question, system, score, certificate)) in VALUE.into_iter().enumerate() {
        let (name, best, reached, answer) = found(&value, at);
        assert_eq!((&*name, &*best), (question, system));
        assert!((reached - score).abs() < 5e-7, "{question}: {reached}");
        let [any, bound] = ["certificate", "certificate_keeping"]
            .map(|name| answer[name].as_f64().expect("a certificate"));
        assert!((bound - certificate).abs() < 6e-6, "{question}: {bound}");
        assert!(any >= bound, "{question}: {any} {bound}");
        let simulated = answer["counts"]["simulated"].as_u64().expect("a count");
        assert!(simulated < 138, "{question}: {simulated}");
    }
}

/// The best styles of Figure 5 of the paper, with 4,096 and 8,192 PEs, in the scenarios without random draws.
#[test]
fn the_published_winners_are_found() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    for (pes, winners) in [(4096, ["D", "C", "A", "C"]), (8192, ["F", "F", "A", "F"])] {
        let text = format!(
            "search:\n  name: published\n  \
             scenarios: [VR_gaming, AR_gaming, social_interactionA, social_interactionB]\n  \
             objective: {{maximise: score, over: each}}\n  settings: {{semantics: mlsys2023}}\n  \
             space: {{systems: [A, B, C, D, E, F, G, H, I, J, K, L, M], pes: {pes}}}\n"
        );
        fs::write(&spec, text).expect("it can be written");
        let found = record(&spec, &folder.path().join(pes.to_string()), &[]);
        for (at, winner) in winners.into_iter().enumerate() {
            let answer = &found["answers"][at];
            assert_eq!(answer["found"][0]["system"], winner, "{}", answer["question"]);
            assert_eq!(answer["counts"]["simulated"], 13, "no bound holds for the artifact");
        }
    }
}

const SMALL: &str = "search:\n  name: small\n  scenarios: [AR_gaming, VR_gaming]\n  \
    objective: {maximise: score_executed_mean, over: [each, mean]}\n  settings: {flexibility: none}\n  \
    replications: 8\n  space:\n    accelerators: 1..2\n    dataflows: [WS, OS]\n    pes: {total: \"<= 4096\", step: 512}\n";

const FILES: [&str; 6] = [
    "evaluated.csv",
    "answers.csv",
    "search.json",
    "best_AR_gaming.yaml",
    "best_mean.yaml",
    "journal.csv",
];

/// Contents of the files of a search, by name.
fn contents(folder: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let read = |name: &'static str| {
        (name, fs::read(folder.join(name)).unwrap_or_else(|_| panic!("{name} is written")))
    };
    FILES.into_iter().map(read).collect()
}

#[test]
fn threads_interruptions_and_parts_leave_the_same_bytes() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    let smaller =
        SMALL.replace("step: 512", "step: 1024").replace("replications: 8", "replications: 3");
    fs::write(&spec, smaller).expect("it can be written");
    let at = |name: &str| path(&folder, name);
    let search = |out: &str, more: &[&str], threads: &str| {
        let out = at(out);
        let arguments = [&["search", &*spec, "--out", &*out], more].concat();
        on_threads(threads, &arguments).assert().success();
    };
    search("one", &[], "1");
    let one = contents(Path::new(&at("one")));
    for threads in ["2", "7"] {
        search(threads, &[], threads);
        assert_eq!(contents(Path::new(&at(threads))), one, "{threads} threads");
    }
    // A journal that ends anywhere, as after a kill.
    let journal = &one["journal.csv"];
    for end in [0, 10, journal.len() / 3, journal.len() / 2, journal.len() - 1] {
        let again = at("again");
        fs::create_dir_all(&again).expect("it can be made");
        fs::write(Path::new(&again).join("journal.csv"), &journal[..end]).expect("written");
        search("again", &[], "2");
        assert_eq!(contents(Path::new(&again)), one, "after {end} bytes");
    }
    // Parts have other journals, but joined they are the whole.
    for part in ["1/3", "2/3", "3/3"] {
        search(&format!("part{}", &part[..1]), &["--shard", part], "2");
    }
    let parts: Vec<String> = (1..4).map(|part| at(&format!("part{part}"))).collect();
    let join: Vec<&str> = parts.iter().flat_map(|part| ["--join", part]).collect();
    search("joined", &join, "2");
    let mut joined = contents(Path::new(&at("joined")));
    let mut whole = one.clone();
    joined.remove("journal.csv");
    whole.remove("journal.csv");
    assert_eq!(joined, whole);
}

#[test]
fn the_best_system_runs_with_the_reported_score() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    fs::write(&spec, SMALL).expect("it can be written");
    let found = record(&spec, &folder.path().join("out"), &[]);
    let best = &found["answers"][0]["found"][0];
    let system = path(&folder, "out/best_AR_gaming.yaml");
    let scheduler = best["scheduler"].as_str().expect("a scheduler");
    let csv = output(&[
        "run",
        "--system",
        &system,
        "--scenario",
        "AR_gaming",
        "--scheduler",
        scheduler,
        "--replications",
        "8",
        "--format",
        "csv",
    ]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|name| *name == "score_executed_mean").expect("a column");
    let scores: Vec<f64> = lines.map(|row| row[at].parse().expect("a number")).collect();
    assert_eq!(scores.len(), 8);
    let mean = scores.iter().sum::<f64>() / 8.0;
    let reported = best["values"]["score_executed_mean"].as_f64().expect("a score");
    // Cells have nine decimals.
    assert!((mean - reported).abs() < 2e-9, "{mean} {reported}");
}

#[test]
fn a_front_is_written_and_drawn() {
    let folder = tempdir().expect("a folder can be made");
    let out = path(&folder, "out");
    let text = output(&[
        "search",
        "--scenario",
        "VR_gaming",
        "--dataflow",
        "WS,RS",
        "--accelerators",
        "1..2",
        "--step",
        "1024",
        "--objective",
        "score_executed_mean,area_mm2",
        "--set",
        "flexibility=none",
        "--set",
        "platform=paper",
        "--out",
        &out,
        "--audit",
    ]);
    assert!(text.starts_with("front of ") && text.contains("exact"), "{text}");
    let note = text.lines().last().expect("it has lines");
    assert!(
        note.starts_with("note: scratchpads take ") && note.contains(": 8192 bytes a PE"),
        "{note}"
    );
    let pictures = ["front.svg", "front.pdf", "front.png"];
    for name in pictures.into_iter().chain(["front.csv", "best.yaml", "excluded.csv.gz"]) {
        assert!(Path::new(&out).join(name).is_file(), "{name}");
    }
    let front = fs::read_to_string(Path::new(&out).join("front.csv")).expect("it is text");
    let rows: Vec<Vec<&str>> =
        front.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let numbers =
        rows.iter().map(|row| [row[2], row[3]].map(|cell| cell.parse::<f64>().expect("a number")));
    let numbers: Vec<[f64; 2]> = numbers.collect();
    assert!(!numbers.is_empty());
    for pair in numbers.windows(2) {
        assert!(pair[0][0] > pair[1][0] && pair[0][1] > pair[1][1], "{front}");
    }
}

/// A clock varies with the energy of its voltage, and memories as large as needed take an energy that follows.
#[test]
fn operating_points_and_needed_memories_are_dimensions() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    let text = "search:\n  name: points\n  scenarios: [VR_gaming]\n  settings: {flexibility: none}\n  \
        objective: {pareto: [score_executed_mean, energy_mj]}\n  space:\n    dataflows: [WS]\n    \
        accelerators: 1\n    pes: {total: exactly 4096, step: 4096}\n    \
        operating_points: [{clock_mhz: 100, energy_scale: 0.25}, {clock_mhz: 1000, energy_scale: 1}]\n";
    fs::write(&spec, text).expect("it can be written");
    let found = record(&spec, &folder.path().join("out"), &[]);
    let systems = found["answers"][0]["found"].as_array().expect("a front").clone();
    let names: Vec<_> = systems.iter().map(|it| it["system"].as_str().expect("a name")).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].ends_with("operating_point=1000 MHz x1"), "{names:?}");
    assert!(names[1].ends_with("operating_point=100 MHz x0.25"), "{names:?}");
    let needed = text.replace("operating_points", "local_memory: needed\n    operating_points");
    fs::write(&spec, needed).expect("it can be written");
    let message = refused(&["search", &spec]);
    assert!(message.contains("`scratchpad_per_byte: by-size`"), "{message}");
}

/// What is wrong, where, and what would be right.
#[test]
fn wrong_searches_are_refused_with_what_is_allowed() {
    let folder = tempdir().expect("a folder can be made");
    let spec = path(&folder, "spec.yaml");
    let space = "space: {dataflows: [WS, OS], pes: {total: 4096, step: 512}}";
    let with = |more: &str| format!("search:\n  name: x\n  {space}\n  {more}\n");
    let cases: [(String, &[&str]); 17] = [
        (with("objective: {maximise: scoer}"), &["4:", "no quantity named `scoer`", "`score`"]),
        (with("objective: {minimise: score}"), &["of `score`, maximise is meant"]),
        (with("objective: {minimise: energy_mj}"), &["dropped frames", "miss_ratio"]),
        (
            with("objective: {minimise: area_mm2}\n  constraints: {headroom: \">= 0\"}"),
            &["5:17: dropped frames have no part in `headroom`", "miss_ratio"],
        ),
        (
            with("technology: maestro_2019\n  settings: {technology: maestro_2021}"),
            &["`technology` is among `settings` too"],
        ),
        (with("settings: {technology: nvda}"), &["no technology named `nvda`", "nvdla_28nm"]),
        (with("objective: {pareto: [score]}"), &["a front has two or three objectives"]),
        (with("constraints: {area_mm2: 60}"), &["a limit such as"]),
        (with("constraints: {aera_mm2: \"<= 60\"}"), &["`aera_mm2`", "did you mean `area_mm2`?"]),
        (with("scenarios: [AR_gamin]"), &["AR_gamin", "did you mean `AR_gaming`?"]),
        (with("method: brunch"), &["no method named `brunch`"]),
        (with("settings: {score.k_pre_ms: 3}"), &["score.k_pre_ms", "score.k_per_ms"]),
        (with("settings: {scheduler: edf}"), &["`scheduler` is no setting of a search"]),
        (with("stop: {minuets: 3}"), &["minuets", "did you mean `minutes`?"]),
        (
            "search:\n  name: x\n  space: {dataflows: [WS], pes: {total: 200, step: 96}}\n".into(),
            &["step 96 leaves no partition of 200 PEs", "WS needs 256 PEs"],
        ),
        (
            "search:\n  name: x\n  space:\n    dataflows: [WS]\n    hardware.noc_bandwidth_bytes_per_cycle: [64, 128]\n".into(),
            &["nothing bounds `hardware.noc_bandwidth_bytes_per_cycle`", "area_mm2"],
        ),
        (
            "search:\n  name: x\n  space:\n    dataflows: [WS]\n    hardware.clock_mhz: [500, 1000]\n".into(),
            &["nothing bounds `hardware.clock_mhz`: give one value"],
        ),
    ];
    for (text, wanted) in cases {
        fs::write(&spec, &text).expect("it can be written");
        let message = refused(&["search", &spec]);
        for part in wanted {
            assert!(message.contains(part), "{text}\n{part}\n{message}");
        }
    }
}

#[test]
fn limits_that_nothing_keeps_and_proofs_that_are_not_reached_fail() {
    let small = [
        "search",
        "--scenario",
        "VR_gaming",
        "--accelerators",
        "1",
        "--step",
        "2048",
        "--set",
        "flexibility=none",
    ];
    let mut none = xrsim(&[&small[..], &["--constraint", "area_mm2<=1"]].concat());
    let assert = none.assert().code(1);
    let text = stdout(&assert) + &stderr(&assert);
    assert!(text.contains("no system of the space keeps area_mm2 <= 1"), "{text}");
    let evolve = refused(&[&small[..], &["--method", "evolve", "--require-proof"]].concat());
    assert!(evolve.contains("evolution gives no proof"), "{evolve}");
    let text = output(&[&small[..], &["--dry-run"]].concat());
    assert!(text.contains("systems     6\n"), "{text}");
    let huge = ["search", "--accelerators", "1..6", "--step", "16", "--set", "flexibility=none"];
    let message = refused(&huge);
    assert!(message.contains("systems, of which at most 10000000 are listed"), "{message}");
}

/// A limit that only runs can keep makes the scheduler part of the answer. Its areas are those of the technology of the
/// search or of its settings, as in the run of the best system.
#[test]
fn an_answer_names_the_scheduler_and_has_the_technology_of_the_settings() {
    let folder = tempdir().expect("a folder can be made");
    let out = path(&folder, "out");
    let spec = path(&folder, "spec.yaml");
    let of_settings = "search:\n  name: x\n  objective: {minimise: area_mm2}\n  constraints: {score: \">= 0.1\"}\n  \
                scenarios: [VR_gaming]\n  settings: {flexibility: none, technology: maestro_2021}\n  \
                space: {accelerators: 1, dataflows: [WS], pes: {total: exactly 4096, step: 4096}, scheduler: [edf]}\n";
    let own = of_settings.replace(", technology: maestro_2021}", "}\n  technology: maestro_2021");
    for text in [of_settings, &own] {
        fs::write(&spec, text).expect("it can be written");
        let found = output(&["search", &spec, "--out", &out, "--quiet", "--restart"]);
        assert!(found.starts_with("best   WS:1   area_mm2 1919 mm2   edf\n"), "{found}");
        assert!(found.contains("proven: the optimum of the space under the listed"), "{found}");
        let best = format!("{out}/best.yaml");
        let file = fs::read_to_string(&best).expect("it is written");
        let run = file.lines().nth(1).and_then(|it| it.split_once("xrsim ")).expect("a command").1;
        let words = shlex::split(run).expect("words");
        let words = words.iter().map(|it| if it == "best.yaml" { &best } else { it }.as_str());
        let rows = output(&words.chain(["--format", "csv"]).collect::<Vec<_>>());
        let mut table = csv::Reader::from_reader(rows.as_bytes());
        let at = table.headers().expect("a header").iter().position(|it| it == "area_mm2");
        let row = table.records().next().expect("a row").expect("it is read");
        let area: f64 = row[at.expect("a column")].parse().expect("a number");
        assert_eq!(format!("{area:.0}"), "1919", "{run}");
    }
}

/// Smaller accelerators of the search have better mappings for some layers of the best one.
#[test]
fn an_answer_says_that_its_system_maps_otherwise_alone() {
    let folder = tempdir().expect("a folder can be made");
    let out = path(&folder, "out");
    let space = ["--accelerators", "2", "--dataflow", "WS", "--step", "256", "--max-pes", "1024"];
    let question = ["--objective", "area_mm2", "--constraint", "miss_ratio<=0"];
    let common = ["--scenario", "VR_gaming", "--replications", "1", "--out", &out, "--quiet"];
    let found = output(&[&["search"][..], &space, &question, &common].concat());
    let line = found.lines().find(|it| it.starts_with("alone, ")).expect("it says so");
    let ms: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let best = format!("{out}/best.yaml");
    let costs = output(&["cost", "--network", "HT", "--system", &best, "--format", "csv"]);
    let mut table = csv::Reader::from_reader(costs.as_bytes());
    let column = table.headers().expect("a header").iter().position(|it| it == "runtime_cycles");
    let cycles = |row: csv::StringRecord| row[column.expect("a column")].parse::<f64>().ok();
    let cycles: f64 = table.records().filter_map(|row| cycles(row.expect("a row"))).sum();
    // At 800 MHz. The search has less.
    assert!((cycles / 800e3 - ms[0]).abs() < 1e-3 && ms[1] < ms[0], "{cycles} {line}");
}

/// Options beside a file replace its keys; what they do not name stays.
#[test]
fn options_replace_what_a_file_says() {
    let folder = tempdir().expect("a folder can be made");
    let (base, whole) = (path(&folder, "base.yaml"), path(&folder, "whole.yaml"));
    fs::write(&base, SMALL).expect("it can be written");
    let text = SMALL
        .replace("[AR_gaming, VR_gaming]", "[VR_gaming]")
        .replace("over: [each, mean]", "over: [mean]")
        .replace("replications: 8", "replications: 2")
        .replace("<= 4096", "<= 1024")
        .replace("space:", "constraints: {miss_ratio: \"<= 0.9\"}\n  space:");
    fs::write(&whole, text).expect("it can be written");
    let options = [
        "--scenario",
        "VR_gaming",
        "--over",
        "mean",
        "--replications",
        "2",
        "--pes",
        "1024",
        "--set",
        "flexibility=none",
        "--constraint",
        "miss_ratio<=0.9",
    ];
    let found = record(&base, &folder.path().join("a"), &options);
    let same = record(&whole, &folder.path().join("b"), &[]);
    assert_eq!(found["answers"], same["answers"]);
    assert_eq!(found["draws"], 2);
    // The place is below the end of the file.
    let message = refused(&["search", &base, "--scenario", "VR_gamin"]);
    assert!(message.contains("base.yaml with options:14:15:"), "{message}");
    assert!(message.contains("did you mean `VR_gaming`?"), "{message}");
}

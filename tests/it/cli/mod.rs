//! The binary as a user sees it: commands, messages, exit status, files.

use crate::support::binary;
mod cost;
mod day;
mod first_screen;
mod mistakes;
mod outputs;
mod renamed;
mod runs;
mod setup;
#[cfg(unix)]
mod unix;

use std::fs;
use std::path::Path;

use binary::{on_threads, output, path, refused, stderr, xrsim};
use tempfile::tempdir;

fn header(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the file was written");
    text.lines().next().expect("the file has a header").to_string()
}

#[test]
fn a_run_without_arguments_scores_seven_scenarios_on_thirteen_systems_of_two_sizes() {
    let text = output(&["run", "--format", "csv"]);
    assert_eq!(text.lines().count(), 1 + 7 * 13 * 2);
    let table = output(&["run"]);
    assert!(table.contains("XRBench score"), "{table}");
    assert!(table.is_ascii(), "piped output is plain:\n{table}");
    let averaged = output(&["run", "--system", "A", "--pes", "4096"]);
    assert!(averaged.contains(" +- ") && averaged.is_ascii(), "{averaged}");
}

#[test]
fn out_writes_the_four_files_with_the_documented_columns() {
    let folder = tempdir().expect("a folder can be made");
    let out = folder.path().join("new/results");
    let results = path(&folder, "new/results");
    output(&["run", "--scenario", "AR_gaming", "--system", "J", "--out", &results]);
    let label = "scenario,system,pes,semantics,cost_model,scheduler,seed,replication";
    let scores = "realtime,energy,accuracy,qoe,score,score_executed_mean";
    let counts = "requests,executed,dropped,not_triggered,late,energy_mj,latency_p99_ms,headroom";
    let device = "area_mm2,idle_pes,leakage_mw,idle_leakage_mj,power_without_leakage_mw";
    assert_eq!(header(&out.join("scores.csv")), format!("{label},{scores},{counts},{device}"));
    assert_eq!(header(&out.join("models.csv")), format!("{label},model,network,{scores},{counts}"));
    assert_eq!(
        header(&out.join("inferences.csv")),
        format!(
            "{label},model,network,frame,arrival_ms,deadline_ms,start_ms,end_ms,accelerator,outcome,\
             reason,energy_mj,realtime,energy,accuracy,inference,cause,segments,counted"
        )
    );
    let record = fs::read_to_string(out.join("run.json")).expect("run.json was written");
    let record: serde_json::Value = serde_json::from_str(&record).expect("run.json is JSON");
    assert_eq!(record["seed"], 0);
    assert_eq!(record["effective"]["scheduler"], "latency-greedy");
    assert_eq!(record["requested"]["system"][0], "J");
    assert!(record["inputs_sha256"].as_object().is_some_and(|inputs| inputs.len() > 5));
    let names: Vec<_> = fs::read_dir(&out).expect("the folder can be read").collect();
    assert_eq!(names.len(), 4, "nothing else is left");
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_any_thread_count() {
    let run = |threads: &str| {
        let arguments = ["run", "--scenario", "AR_Assistant", "--seed", "5", "--format", "json"];
        let assert = on_threads(threads, &arguments).assert().success();
        assert.get_output().stdout.clone()
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("7"));
}

#[test]
fn unknown_names_are_answered_with_the_nearest_and_all_known_ones() {
    let message = refused(&["run", "--scenario", "AR_gamin"]);
    assert!(message.contains("did you mean `AR_gaming`?"), "{message}");
    let message = refused(&["run", "--scheduler", "latency_greedy"]);
    assert!(message.contains("did you mean `latency-greedy`?"), "{message}");
    let message = refused(&["run", "--system", "Z"]);
    assert!(message.contains("known: A, B, C"), "{message}");
    let message = refused(&["cost", "--network", "KDD", "--dataflow", "WS", "--pes", "256"]);
    assert!(message.contains("did you mean `KD`?"), "{message}");
}

#[test]
fn options_that_the_artifact_fixes_are_refused_under_its_semantics() {
    for option in [["--duration", "500"], ["--scheduler", "edf"], ["--set", "score.k_per_ms=1"]] {
        let arguments = [["run", "--semantics"], ["mlsys2023", option[0]], [option[1], "--detail"]];
        let message = refused(&arguments.concat());
        assert!(message.contains("--semantics mlsys2023"), "{message}");
    }
}

#[test]
fn impossible_numbers_are_refused_with_what_is_allowed() {
    let message = refused(&["run", "--duration", "-5"]);
    assert!(message.contains("from 0.000001 to 9007199254"), "{message}");
    let message = refused(&["run", "--duration", "nan"]);
    assert!(message.contains("from 0.000001 to 9007199254"), "{message}");
    let message = refused(&["run", "--pes", "1000", "--system", "G"]);
    assert!(message.contains("needs 256"), "{message}");
    let message = refused(&["run", "--pes", "4098", "--system", "D", "--system", "G"]);
    assert!(message.contains("not a multiple of 4"), "{message}");
    let message = refused(&["run", "--duration", "1e9"]);
    assert!(message.contains("requests"), "{message}");
}

#[test]
fn what_is_given_twice_is_refused_because_results_could_not_be_told_apart() {
    let message = refused(&["run", "--scenario", "AR_gaming", "--scenario", "ar_gaming"]);
    assert!(message.contains("scenario `AR_gaming` is given twice"), "{message}");
    let message = refused(&["run", "--system", "A", "--system", "A"]);
    assert!(message.contains("system `A@4096` is given twice"), "{message}");
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = tempdir().expect("a folder can be made");
    let blocked = folder.path().join("file");
    fs::write(&blocked, "in the way").expect("a file can be written");
    let message = refused(&["run", "--out", &path(&folder, "file")]);
    assert!(message.contains("is a file; a folder is needed"), "{message}");
    assert_eq!(fs::read_to_string(&blocked).expect("the file is still there"), "in the way");
}

#[test]
fn validate_makes_every_comparison() {
    let text = output(&["validate"]);
    assert!(!text.contains("DIFFERS"), "{text}");
    for part in ["Timeloop", "SCALE-Sim", "ZigZag", "Eyeriss, VGG-16", "104 of 104 points"] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn quirks_of_the_artifact_can_be_left_out_one_by_one() {
    let score = |scenario: &str, system: &str, without: &[&str]| {
        let run = ["run", "--semantics", "mlsys2023", "--pes", "8192", "--format", "csv"];
        let one = ["--scenario", scenario, "--system", system];
        let csv = output(&[&run[..], &one, without].concat());
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let at = header.iter().position(|name| *name == "score").expect("a column");
        let score: f64 = lines.next().expect("a run")[at].parse().expect("a number");
        format!("{:.1}", 100.0 * score)
    };
    // Overall scores from an independent replay, with and without each quirk.
    for (scenario, system, quirk, before, after) in [
        ("social_interactionB", "H", "integer-period", "73.5", "98.5"),
        ("VR_gaming", "E", "injection-at-events", "67.1", "94.8"),
        ("social_interactionA", "L", "early-retire", "49.1", "47.7"),
        ("social_interactionA", "L", "completion-count", "49.1", "35.1"),
    ] {
        assert_eq!(score(scenario, system, &[]), before, "{scenario} {system}");
        assert_eq!(score(scenario, system, &["--without", quirk]), after, "{quirk}");
    }
    let message = refused(&["run", "--semantics", "mlsys2023", "--without", "name-ordr"]);
    assert!(message.contains("did you mean `name-order`?"), "{message}");
    let message = refused(&["run", "--without", "name-order"]);
    assert!(message.contains("--semantics mlsys2023"), "{message}");
}

#[test]
fn reproduce_compares_figures_conclusions_quirks_and_costs() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let text = output(&["reproduce", "--flexibility", "none", "--out", &path(&folder, "")]);
    assert!(text.contains("principled, true operators") && text.contains("geometric mean"));
    let rows = |name: &str| {
        let table = fs::read_to_string(folder.path().join(name)).expect("it was written");
        table.lines().count() - 1
    };
    let found = ["conclusions.csv", "best_systems.csv", "costs.csv", "ablation.csv"].map(rows);
    assert_eq!(found, [11, 14, 33, 11]);
    for figure in ["figure5_mlsys2023", "figure6_principled", "figure7_mlsys2023", "figure8"] {
        let kinds =
            ["svg", "png", "csv"].map(|kind| folder.path().join(format!("{figure}.{kind}")));
        assert!(kinds.iter().all(|path| path.exists()), "{figure}");
    }
    // Every random point of Figure 5 is one of the possible outcomes, and every other point is equal. The
    // numbers that the paper quotes of Figure 6 are found. The means of Figure 7 agree within their noise.
    let deviations = fs::read_to_string(folder.path().join("deviations.csv")).expect("it is there");
    let published = deviations.lines().filter(|line| line.starts_with("5,mlsys2023"));
    assert!(published.clone().all(|line| line.contains(",26,26,")), "{deviations}");
    assert_eq!(published.count(), 7);
    for quoted in ["QoE score\",0.53,0.529", "QoE score\",0.97,0.977", "overall score\",0.51,0.511"]
    {
        assert!(deviations.contains(quoted), "{deviations}");
    }
    let distance = |system: &str| -> f64 {
        let start = format!("7,mlsys2023,{system}: largest distance from a published mean,0,");
        let line = deviations.lines().find_map(|line| line.strip_prefix(&*start));
        line.and_then(|rest| rest.split(',').next()?.parse().ok()).expect("a number")
    };
    // Half widths of the 95 % intervals are up to 0.026 on B and 0.007 on J, on both sides.
    assert!(distance("B") < 0.04 && distance("J") < 0.01, "{deviations}");
    // The conclusion of the paper about AR gaming holds for its own figure.
    let conclusions =
        fs::read_to_string(folder.path().join("conclusions.csv")).expect("it is there");
    let gaming =
        conclusions.lines().find(|line| line.contains("highest QoE")).expect("it is there");
    assert!(gaming.contains("holds: QoE 0.91"), "{gaming}");
}

#[test]
fn lists_and_files_are_shown() {
    for what in [
        "models",
        "mlperf",
        "scenarios",
        "systems",
        "platforms",
        "dataflows",
        "schedulers",
        "cost-models",
        "quirks",
        "settings",
    ] {
        let text = output(&["list", what]);
        assert!(text.lines().count() > 2, "{what}:\n{text}");
    }
    assert!(output(&["show", "AR_gaming"]).contains("scenario:"));
    assert!(output(&["show", "WS"]).contains("TemporalMap(16,16) C"));
    assert!(refused(&["show", "WSS"]).contains("did you mean"));
}

#[test]
fn schedulers_are_listed_with_what_they_take_and_what_is_unverified() {
    let list = output(&["list", "schedulers"]);
    let line = |name: &str| {
        let mut lines = list.lines().filter(|line| line.starts_with(&format!("{name} ")));
        lines.next().unwrap_or_else(|| panic!("{name} is not in\n{list}"))
    };
    for entry in xrsim::schedule::ALL {
        let line = line(entry.name);
        assert!(line.contains(entry.help) && line.contains(entry.source), "{line}");
        assert_eq!(line.ends_with("[unverified in part]"), entry.unverified.is_some(), "{line}");
    }
    assert!(line("sdrm3").contains("alpha=1 granularity=layer"), "{list}");
    assert!(line("external").contains("timeout_ms=10000"), "{list}");
    let page = output(&["show", "dream"]);
    for text in [
        "dream: largest MapScore",
        "[unverified] all formulae but those of sdrm3",
        "a number from 0 to 2",
        "dream decides it itself",
        "(with admission=hopeless)",
        "the model that the scenario names first",
    ] {
        assert!(page.contains(text), "{text}:\n{page}");
    }
    assert!(!page.contains("looks at all waiting requests"));
    let external = output(&["show", "external"]);
    assert!(external.contains("json.loads") && external.contains("looks at all waiting requests"));
}

#[test]
fn a_scheduler_takes_parameters_or_says_what_is_wrong_with_them() {
    let run = |scheduler: &str| {
        [
            "run",
            "--scenario",
            "VR_gaming",
            "--system",
            "A",
            "--pes",
            "4096",
            "--replications",
            "1",
            "--scheduler",
            scheduler,
        ]
        .map(str::to_string)
    };
    let refused = |scheduler: &str| {
        let arguments = run(scheduler);
        refused(&arguments.each_ref().map(|argument| &**argument))
    };
    let arguments = run("dream:alpha=0.5,drop=off");
    output(&arguments.each_ref().map(|argument| &**argument));
    let message = refused("dream:placement=edp");
    assert!(message.contains("dream decides `placement` itself; leave it out"), "{message}");
    let message = refused("edf:epsilon_ms=1");
    assert!(message.contains("epsilon_ms has no effect without admission=hopeless"), "{message}");
    let message = refused("mk-firm:k=3");
    assert!(message.contains("m and m_fast are at most k"), "{message}");
}

/// A scheduler whose program does not exist.
#[test]
fn a_run_whose_policy_breaks_off_says_so() {
    let run = |scheduler: &str| {
        let scope = ["run", "--scenario", "VR_gaming", "--system", "A", "--pes", "4096"];
        refused(&[&scope[..], &["--scheduler", scheduler]].concat())
    };
    let message = run("external:no-such-program");
    assert!(message.contains("cannot start `no-such-program`"), "{message}");
}

#[test]
fn check_reports_every_problem_of_every_file_and_exits_with_1() {
    let folder = tempdir().expect("a folder can be made");
    let [good, bad] = ["good.yaml", "bad.yaml"].map(|name| path(&folder, name));
    fs::write(&good, output(&["show", "WS"])).expect("a file can be written");
    fs::write(
        &bad,
        "dataflow:\n  name: X\n  directives: [SpatialMap(0,1) K, TemporalMap(1,1) Q]\n",
    )
    .expect("a file can be written");
    output(&["check", &good]);
    let message = stderr(&xrsim(&["check", &good, &bad]).assert().code(1));
    assert!(message.contains("bad.yaml:3:"), "{message}");
    assert!(message.matches("bad.yaml:3:").count() >= 2, "both problems are reported: {message}");
    assert!(message.contains("1 of 2 files"), "{message}");
}

#[test]
fn validate_counts_equal_rows_and_exits_with_1_where_one_differs() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/loop_nest_cases.csv");
    let text = fs::read_to_string(cases).expect("the cases are there");
    let n_rows = text.lines().count() - 1;
    let report = output(&["validate", "cost", "--cases", cases]);
    assert!(report.ends_with(&format!(": {n_rows} of {n_rows} rows equal\n")), "{report}");
    let folder = tempdir().expect("a folder can be made");
    let wrong = folder.path().join("wrong.csv");
    let header = "N,G,K,C,Yo,Xo,R,S,pes,mapping,macs_executed\n";
    let row = "1,1,2,3,1,1,1,1,2,\"SpatialMap(1,1) K;\",";
    fs::write(&wrong, format!("{header}{row}6\n{row}7\n")).expect("a file can be written");
    let assert = xrsim(&["validate", "cost", "--cases"]).arg(&wrong).assert().code(1);
    let report = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(report.contains("1 of 2 rows equal"), "{report}");
    assert!(report.contains("line 3, column macs_executed: expected 7, found 6"), "{report}");
}

#[test]
fn numbers_of_other_models_are_explained_or_exit_with_1() {
    let summary = output(&["validate", "cost"]);
    assert!(summary.contains("SCALE-Sim fills and drains the array in every fold"), "{summary}");
    let folder = tempdir().expect("a folder can be made");
    let table = folder.path().join("table.csv");
    let header = "layer,order,K,C,E,R,directives,zz_ideal,zz_latency\n";
    let mapping = "TemporalMap(16,16) K; SpatialMap(1,1) C; TemporalMap(1,1) Y'; TemporalMap(1,1) X'; \
                   Cluster(16); SpatialMap(1,1) K";
    // 16 x 16 weights and 4 x 4 outputs on 16 x 16 PEs: 16 steps.
    fs::write(&table, format!("{header}one,w,16,16,4,1,\"{mapping}\",16,\n"))
        .expect("it can be written");
    let rows = xrsim(&["validate", "cost", "--format", "csv", "--against"]).arg(&table).assert();
    let rows = String::from_utf8_lossy(&rows.success().get_output().stdout).into_owned();
    assert!(
        rows.contains("table.csv,2,one w,ZigZag,computation [cycle],zz_ideal,16,16,1,,0,equal,"),
        "{rows}"
    );
    fs::write(&table, format!("{header}one,w,16,16,4,1,\"{mapping}\",17,\n"))
        .expect("it can be written");
    let assert = xrsim(&["validate", "cost", "--against"]).arg(&table).assert().code(1);
    let report = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(report.contains("table.csv:2: one w, zz_ideal: expected 17, found 16"), "{report}");
    fs::write(&table, format!("{header}one,w,16,x,4,1,\"{mapping}\",17,\n"))
        .expect("it can be written");
    let assert = xrsim(&["validate", "cost", "--against"]).arg(&table).assert().failure();
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(message.contains("table.csv:2:10: `x` is not a whole number"), "{message}");
}

#[test]
fn all_comparisons_are_one_document() {
    let document: serde_json::Value =
        serde_json::from_str(&output(&["validate", "--format", "json"])).expect("it is JSON");
    let comparisons = document["comparisons"].as_array().expect("there is a list");
    let verdicts: Vec<_> = comparisons.iter().map(|it| it["verdict"].as_str()).collect();
    assert!(
        verdicts.contains(&Some("equal")) && !verdicts.contains(&Some("DIFFERS")),
        "{verdicts:?}"
    );
    let table = output(&["validate"]);
    for it in comparisons {
        let what = it["comparison"].as_str().expect("it has a name");
        assert!(table.contains(what), "{what}");
    }
    assert!(document["numbers"].as_array().is_some_and(|it| it.len() > 30));
}

#[test]
fn options_that_would_change_nothing_or_repeat_themselves_are_refused() {
    let message = refused(&["run", "--system", "J", "--dataflow", "WS"]);
    assert!(message.contains("--dataflow applies to hardware files"), "{message}");
    let message = refused(&["run", "--set", "score.warm_up_ms=1000"]);
    assert!(message.contains("nothing would be scored"), "{message}");
    let message = refused(&["run", "--semantics", "mlsys2023", "--seed", "4294967296"]);
    assert!(message.contains("below 2^32"), "{message}");
    let message = refused(&["run", "--set", "seed=3"]);
    assert!(message.contains("`seed` has an option of its own: --seed"), "{message}");
}

#[test]
fn more_runs_than_memory_holds_are_refused_before_they_are_made() {
    let message = refused(&["run", "--replications", "1000000"]);
    assert!(message.contains("at most 1000000 runs"), "{message}");
}

/// 15 runs of 165,000 requests exceed one block of runs, and so do 1,100 of any length.
#[test]
fn long_runs_come_in_order_across_blocks() {
    // Without optimisation long runs take half a minute.
    let (duration, n) = if cfg!(debug_assertions) { ("20", 1_100) } else { ("1e6", 15) };
    let scope = ["--scenario", "VR_gaming", "--system", "A", "--pes", "8192"];
    let length = ["--duration", duration, "--replications", &n.to_string(), "--format", "csv"];
    let csv = output(&[&["run"], &scope[..], &length].concat());
    let replications: Vec<_> =
        csv.lines().skip(1).map(|line| line.split(',').nth(7).expect("a label")).collect();
    let expected: Vec<_> = (0..n).map(|replication: u32| replication.to_string()).collect();
    assert_eq!(replications, expected);
}

#[test]
fn a_run_without_a_feasible_system_keeps_earlier_results() {
    let folder = tempdir().expect("a folder can be made");
    let scores = folder.path().join("scores.csv");
    fs::write(&scores, "earlier").expect("a file can be written");
    let message = refused(&["run", "--duration", "1e9", "--out", &path(&folder, "")]);
    assert!(message.contains("no run was feasible"), "{message}");
    assert_eq!(fs::read_to_string(&scores).expect("the file is there"), "earlier");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1);
}

#[test]
fn networks_of_mlperf_are_listed_apart_and_shown_against_what_was_published() {
    let list = output(&["list", "models"]);
    let tables: Vec<&str> = list.split("\n\n").collect();
    let [xrbench, mlperf, _] = tables[..] else { panic!("three tables: {list}") };
    assert_eq!((xrbench.lines().count(), mlperf.lines().count()), (1 + 11, 1 + 13));
    assert!(mlperf.starts_with("MLPerf network "), "{mlperf}");
    let text = output(&["show", "ssd_resnet34"]);
    let expected = "# parameters: 19,972,534; published 36,300,000, deviation -45.0 %\n\
                    # multiply-accumulates: 216,415,931,904; published 216,500,000,000, \
                    deviation +0.0 %\n\
                    # traced from mlcommons/inference, 1200x1200: every operator equal, 51 with \
                    multiply-accumulates, and their sources\n";
    assert!(text.contains("Unresolved.") && text.ends_with(expected), "{text}");
    assert!(mlperf.contains("  57/93 ") && mlperf.contains("  totals "), "{mlperf}");
    let cost = output(&["cost", "--network", "edsr", "--dataflow", "WS", "--format", "csv"]);
    assert_eq!(cost.lines().count(), 1 + 20);
    assert!(refused(&["cost", "--network", "resnet5"]).contains("did you mean `resnet50`?"));
}

/// Names are printed in terminals and written to tables that spreadsheets open.
#[test]
fn names_that_a_terminal_or_a_spreadsheet_would_obey_are_refused() {
    let folder = tempdir().expect("a folder can be made");
    let file = path(&folder, "own.yaml");
    for name in [
        "'=1+1'",
        "'+x'",
        "'-x'",
        "'@x'",
        r#""\tx""#,
        r#""a\e[31mb""#,
        r#""a\0b""#,
        r#""a\u202eb""#,
    ] {
        let texts = [
            format!("scenario: {{name: {name}, models: [{{network: KD, fps: 3}}]}}\n"),
            format!("scenario: {{name: s, models: [{{network: KD, task: {name}, fps: 3}}]}}\n"),
            format!("network: {{name: {name}, layers: [{{matmul: {{rows: 1, n: 1, c: 1}}}}]}}\n"),
        ];
        for text in texts {
            fs::write(&file, &text).expect("the file can be written");
            let message = stderr(&xrsim(&["check", &file]).assert().failure());
            assert!(
                message.contains("is no name") && message.contains("=, +, - or @"),
                "{message}"
            );
            assert!(!message.contains('\u{1b}') && !message.contains('\u{202e}'), "{message:?}");
        }
    }
    let text = "scenario: {name: Größe-日本, models: [{network: KD, fps: 3}]}\n";
    fs::write(&file, text).expect("the file can be written");
    output(&["check", &file]);
}

#[test]
fn messages_write_out_what_a_terminal_would_obey() {
    let message = refused(&["run", "--scenario", "a\u{1b}[31mb\u{202e}c"]);
    assert!(message.contains("a\\u{1b}[31mb\\u{202e}c"), "{message:?}");
}

#[test]
fn colours_are_a_choice() {
    let tables = |more: &[&str], variables: &[(&str, &str)]| {
        let mut command = xrsim(&["list", "dataflows"]);
        command.args(more).envs(variables.iter().copied());
        let assert = command.assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).expect("output is UTF-8")
    };
    let plain = tables(&[], &[]);
    assert!(!plain.contains('\u{1b}'), "a pipe gets none");
    let forced = tables(&[], &[("CLICOLOR_FORCE", "1")]);
    assert!(forced.contains("\u{1b}[1m"), "{forced}");
    assert_eq!(tables(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    assert_eq!(tables(&["--color", "always"], &[("NO_COLOR", "1")]), forced);
    assert_eq!(tables(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]), plain);
}

#[test]
fn a_name_that_resembles_nothing_gets_no_suggestion() {
    let message = refused(&["show", "foo"]);
    assert!(!message.contains("did you mean"), "{message}");
    assert!(refused(&["show", "AR_gamin"]).contains("did you mean `AR_gaming`?"));
}

#[test]
fn settings_are_listed_with_their_defaults() {
    let text = output(&["list", "settings"]);
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).expect(key).to_string();
    assert!(line("score.k_per_ms").contains("15"), "{text}");
    assert!(line("load.jitter").contains("true"), "{text}");
}

#[test]
fn a_run_takes_lists_with_commas() {
    let run = ["run", "--scenario", "AR_gaming,VR_gaming", "--system", "A,WS:3 + OS:1"];
    let text = output(&[&run[..], &["--pes", "4096,8192", "--format", "csv"]].concat());
    assert_eq!(text.lines().count(), 1 + 2 * 2 * 2, "{text}");
}

#[test]
fn quiet_leaves_out_notes_but_no_warnings_and_errors() {
    let folder = tempdir().expect("a folder can be made");
    let run = ["run", "--system", "A", "--pes", "4096", "--out", &path(&folder, "")];
    let loud = xrsim(&run).assert().success();
    assert!(stderr(&loud).contains("wrote scores.csv"));
    let quiet = xrsim(&[&run[..], &["--quiet"]].concat()).assert().success();
    assert_eq!(stderr(&quiet), "");
    let refused = xrsim(&["-q", "show", "nothing"]).assert().code(2);
    assert!(stderr(&refused).contains("error: "));
}

//! Tables of measured costs on the command line: reading back of written costs, and warnings about
//! tables.

use crate::support::binary;

use std::fs;

use binary::{output, path, stderr, xrsim};
use tempfile::{TempDir, tempdir};

/// A folder with a scenario of two models and a table of costs for it.
fn folder(rows: &str) -> TempDir {
    let folder = tempdir().expect("a folder can be made");
    let scenario =
        "scenario: {name: mine, models: [{network: KD, fps: 3}, {network: HT, fps: 45}]}\n";
    fs::write(folder.path().join("mine.yaml"), scenario).expect("written");
    fs::write(folder.path().join("t.csv"), rows).expect("written");
    folder
}

/// Whether a run with the table of `folder` succeeds, and its messages.
fn run(folder: &TempDir, more: &[&str]) -> (Option<i32>, String) {
    let (scenario, table) = (path(folder, "mine.yaml"), path(folder, "t.csv"));
    // The clock decides the largest count of cycles.
    let base =
        ["run", "--scenario", &scenario, "--system", "A", "--pes", "4096", "--platform", "paper"];
    let assert = xrsim(&[&base[..], &["--cost-model", &table], more].concat()).assert();
    (assert.get_output().status.code(), stderr(&assert))
}

/// Networks of the models KD and HT.
const NETWORKS: [&str; 2] = [KD, HT];
const KD: &str = "KD_res8_narrow_101x40";
const HT: &str = "HT_handgcn_128x128";

/// The page of results can be made for all costs that a run accepts. The largest costs keep a queue of
/// frames busy for centuries.
#[test]
fn what_a_run_writes_is_read_back_at_both_ends_of_the_range() {
    for cycles in ["0", "1", "9007199254000000"] {
        for energy in ["0", "1e-300", "1000000000"] {
            let rows = NETWORKS.map(|network| format!("{network},WS-0,{cycles},{energy}\n"));
            let header = "network,accelerator,cycles,energy_mj\n";
            let folder = folder(&(header.to_string() + &rows.concat()));
            let (out, page) = (path(&folder, "out"), path(&folder, "page.html"));
            for (settings, duration) in
                [("engine.deadline_miss=finish", "1000"), ("engine.grace_ms=9007199254", "60000")]
            {
                let more = ["--out", &out, "--set", settings, "--duration", duration];
                let (status, messages) = run(&folder, &more);
                assert_eq!(status, Some(0), "{cycles} {energy} {settings}: {messages}");
                output(&["report", &out, "-o", &page]);
                for file in ["scores.csv", "models.csv", "inferences.csv"] {
                    let text =
                        fs::read_to_string(folder.path().join("out").join(file)).expect("written");
                    let mut cells = text.split([',', '\n']).map(str::to_ascii_lowercase);
                    assert!(
                        !cells.any(|it| ["nan", "inf", "-inf"].contains(&&*it)),
                        "{file}: {text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_cost_out_of_range_is_refused_with_its_line() {
    let folder = folder(&format!(
        "network,accelerator,cycles,energy_mj\n{KD},WS-0,18446744073709551615,1\n"
    ));
    let (status, messages) = run(&folder, &[]);
    assert_eq!(status, Some(2));
    assert!(messages.contains("t.csv:2:"), "{messages}");
    assert!(
        messages.contains("is no latency (whole cycles, from 0 to 9007199254000000)"),
        "{messages}"
    );
}

/// The row with the name of the accelerator counts. One warning gives the lines of both rows, and unknown
/// names are warned of once.
#[test]
fn rows_that_say_nothing_are_warned_of() {
    let rows = format!(
        "network,accelerator,latency_ms,energy_mj\n{KD},WS@4096,1,1\n{KD},WS-0,2,1\n{HT},WS-0,2,1\n\
         {KD}_TYPO,WS-0,2,1\nzzz,WS-0,2,1\n{KD},OS@2048,1,1\n{KD},OS-3,1,1\n{KD},WS_0,1,1\n"
    );
    let (status, messages) = run(&folder(&rows), &[]);
    assert_eq!(status, Some(0), "{messages}");
    for expected in [
        format!("t.csv:3: `WS-0` counts for network `{KD}`, not `WS@4096` in line 2"),
        format!(
            "t.csv:5: no network is called `{KD}_TYPO`, and the row is left aside (1 row more like it); did you mean"
        ),
        "t.csv:9: no accelerator is called `WS_0`, and the row is left aside; did you mean `WS-0`?"
            .into(),
    ] {
        assert!(messages.contains(&expected), "{expected} is not in\n{messages}");
    }
    assert_eq!(messages.matches("warning: ").count(), 3, "{messages}");
    let plain =
        format!("network,accelerator,latency_ms,energy_mj\n{KD},WS@4096,1,1\n{HT},WS-0,2,1\n");
    let (_, messages) = run(&folder(&plain), &[]);
    assert!(!messages.contains("warning"), "{messages}");
}

#[test]
fn a_duration_names_its_limits() {
    let folder = folder("");
    let scenario = path(&folder, "mine.yaml");
    let base = ["run", "--scenario", &scenario, "--system", "A", "--duration"];
    for duration in ["1e10", "0", "1e-7", "nan"] {
        let assert = xrsim(&[&base[..], &[duration]].concat()).assert().code(2);
        let message = stderr(&assert);
        assert!(
            message.contains("a number of ms from 0.000001 to 9007199254"),
            "{duration}: {message}"
        );
    }
}

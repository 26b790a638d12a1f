//! `xrsim report`: contents of the page, and folders that it refuses. Tests in a browser are in
//! `tests/browser`.

use crate::support::binary;
use crate::support::page as page_data;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use binary::{output, path, refused};
use page_data::{between, data, keys, says, unknown_names};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::tempdir;
use xrsim::report::html::{Folder, Page, ReadError, Source, page};

/// Columns of the label of a run.
const LABEL: [&str; 8] =
    ["scenario", "system", "pes", "semantics", "cost_model", "scheduler", "seed", "replication"];

const FILES: [&str; 4] = ["scores.csv", "models.csv", "inferences.csv", "run.json"];

/// The page of `xrsim run` with these arguments, and the files that it was made from.
fn run_and_report(arguments: &[&str]) -> (String, BTreeMap<&'static str, String>) {
    let folder = tempdir().expect("a folder can be made");
    let (results, html) = (path(&folder, "results"), path(&folder, "page.html"));
    output(&[&["run"], arguments, &["--out", &results]].concat());
    output(&["report", &results, "-o", &html]);
    let read = |path: PathBuf| fs::read_to_string(path).expect("the file was written");
    let files = FILES.map(|name| (name, read(Path::new(&results).join(name))));
    (read(html.into()), files.into())
}

fn csv_rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("a CSV table")
}

/// The requests of the page as rows of `inferences.csv`: as text, or as numbers where it prints them.
fn requests(data: &Value) -> Vec<BTreeMap<String, Value>> {
    let (runs, models, requests) = (&data["runs"], &data["models"], &data["requests"]);
    let name = |index: &Value| data["names"][index.as_u64().unwrap() as usize].clone();
    let number = |index: &Value| match index.as_u64() {
        Some(index) => data["numbers"][index as usize].clone(),
        None => json!(""),
    };
    let mut rows = Vec::new();
    let (mut first_model, mut at) = (0, 0);
    for run in 0..runs["score"].as_array().unwrap().len() {
        let mut arrival = 0;
        for _ in 0..runs["n_requests"][run].as_u64().unwrap() {
            let ns = |column: &str| requests[column][at].as_i64();
            arrival += ns("arrival").unwrap();
            let ms = |since: Option<i64>| match since.map(|since| arrival + since) {
                Some(ns) => json!(format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)),
                None => json!(""),
            };
            let model = first_model + requests["model"][at].as_u64().unwrap() as usize;
            let mut row: BTreeMap<String, Value> = [
                ("model", models["model"][model].clone()),
                ("network", models["network"][model].clone()),
                ("frame", json!(requests["frame"][at].to_string())),
                ("arrival_ms", ms(Some(0))),
                ("deadline_ms", ms(ns("deadline"))),
                ("start_ms", ms(ns("start"))),
                ("end_ms", ms(ns("end"))),
                ("accelerator", name(&requests["accelerator"][at])),
                ("outcome", name(&requests["outcome"][at])),
                ("reason", name(&requests["reason"][at])),
                ("cause", name(&requests["cause"][at])),
                ("segments", name(&requests["segments"][at])),
                ("counted", name(&requests["counted"][at])),
                ("energy_mj", number(&requests["energy"][at])),
                ("realtime", number(&requests["scores"]["realtime"][at])),
                ("energy", number(&requests["scores"]["energy"][at])),
                ("accuracy", number(&requests["scores"]["accuracy"][at])),
                ("inference", number(&requests["scores"]["inference"][at])),
            ]
            .map(|(name, value)| (name.to_string(), value))
            .into();
            for label in
                ["scenario", "system", "pes", "semantics", "cost_model", "scheduler", "seed"]
            {
                row.insert(label.into(), runs[label][run].clone());
            }
            row.insert("replication".into(), runs["replication"][run].clone());
            rows.push(row);
            at += 1;
        }
        first_model += runs["n_models"][run].as_u64().unwrap() as usize;
    }
    rows
}

/// Leakage is an order of magnitude, and only in the files.
fn is_leakage(column: &str) -> bool {
    column.contains("leakage")
}

/// All three tables and the provenance are in the page, row by row and cell by cell.
fn check_round_trip(html: &str, files: &BTreeMap<&str, String>) {
    let data = data(html);
    for (file, columns) in [("scores.csv", "runs"), ("models.csv", "models")] {
        let rows = csv_rows(&files[file]);
        assert_eq!(data[columns]["score"].as_array().map(Vec::len), Some(rows.len()), "{file}");
        for (index, row) in rows.iter().enumerate() {
            let is_left_out = |column: &str| {
                (columns == "models" && LABEL.contains(&column)) || is_leakage(column)
            };
            for (column, cell) in row.iter().filter(|(column, _)| !is_left_out(column)) {
                let value = &data[columns][column][index];
                assert!(says(value, cell), "{file}, row {index}, {column}: {value} for {cell}");
            }
        }
    }
    let described = ["label", "summary", "device"].map(|it| keys(&data["columns"][it])).concat();
    let scores = csv_rows(&files["scores.csv"]);
    let shown = scores[0].keys().map(String::as_str).filter(|column| !is_leakage(column));
    assert_eq!(BTreeSet::from_iter(described), shown.collect());
    assert_eq!(unknown_names(html), [""; 0]);
    let rows = csv_rows(&files["inferences.csv"]);
    let requests = requests(&data);
    assert_eq!(requests.len(), rows.len());
    for (index, (request, row)) in requests.iter().zip(&rows).enumerate() {
        assert_eq!(request.len(), row.len());
        for (column, cell) in row {
            let value = &request[column];
            assert!(says(value, cell), "request {index}, {column}: {value} for {cell}");
        }
    }
    let record: Value = serde_json::from_str(&files["run.json"]).expect("JSON");
    let inputs = data["provenance"]["inputs"].as_array().expect("pairs of name and hash");
    assert_eq!(inputs.len(), record["inputs_sha256"].as_object().unwrap().len());
    for pair in inputs {
        assert_eq!(record["inputs_sha256"][pair[0].as_str().unwrap()], pair[1]);
    }
}

#[test]
fn the_suite_of_182_runs_is_a_page_below_two_megabytes_that_holds_every_cell() {
    let (html, files) = run_and_report(&[]);
    let from: usize = files.values().map(String::len).sum();
    println!("page of 182 runs: {} byte, made of {from} byte", html.len());
    assert!(html.len() < 2_000_000, "{} byte", html.len());
    assert_eq!(csv_rows(&files["scores.csv"]).len(), 182);
    check_round_trip(&html, &files);
}

#[test]
fn both_semantics_replications_warm_up_and_large_seeds_go_into_a_page() {
    for arguments in [
        &["--semantics", "mlsys2023", "--pes", "4096"][..],
        &["--scenario", "AR_Assistant", "--replications", "3", "--seed", "18446744073709551615"],
        &["--scenario", "VR_gaming", "--set", "score.warm_up_ms=500"],
        &["--scenario", "AR_gaming", "--set", "engine.deadline_miss=abort"],
    ] {
        let (html, files) = run_and_report(arguments);
        check_round_trip(&html, &files);
    }
}

/// Requests of VR gaming on four accelerators, split between layers, with weights moved before them.
#[test]
fn segments_go_into_a_page() {
    let (html, files) = run_and_report(&[
        "--scenario",
        "VR_gaming",
        "--system",
        "M",
        "--scheduler",
        "edf:granularity=layer",
        "--set",
        "effects.switch=true",
        "--set",
        "effects.dram_gb_per_s=16",
    ]);
    check_round_trip(&html, &files);
    let rows = csv_rows(&files["inferences.csv"]);
    let executed = rows.iter().filter(|row| row["outcome"] == "executed");
    let pieces: Vec<_> = executed.map(|row| row["segments"].split("; ").count()).collect();
    assert!(pieces.iter().any(|n_pieces| *n_pieces > 1), "{pieces:?}");
    let one = rows.iter().find(|row| row["segments"].contains("; ")).expect("one was cut");
    let (first, last) = (&one["segments"], &one["end_ms"]);
    assert!(first.starts_with(&format!("{}-", one["start_ms"])), "{first}");
    assert!(first.contains(&format!("-{last} {}", one["accelerator"])), "{first}");
}

#[test]
fn a_cell_that_lists_no_segments_is_refused() {
    let mut example = example();
    let text = example.texts[2].replacen(",cause", ",cause,segments", 1).replace(",\n", ",,\n");
    let text = text.replace(" ms\n", " ms,\n").replace("on WS-0\n", "on WS-0,\n");
    example.texts[2] = text.replacen(",,\n", ",,now WS-0\n", 1);
    let error = example.page().expect_err("no list of segments").to_string();
    assert!(error.contains("column `segments`: `now WS-0` is no list of segments"), "{error}");
}

#[test]
fn the_page_refers_to_nothing_outside_of_itself() {
    let html = example().page().expect("the example is good").html;
    let addresses: Vec<&str> = html
        .match_indices("://")
        .map(|(at, _)| {
            let start = html[..at].rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
            let length = html[start..].find([' ', '"', '\'', '\n', ')']).unwrap_or(0);
            &html[start..start + length]
        })
        .collect();
    assert_eq!(addresses, ["https://github.com/leeoniya/uPlot"], "in a comment of uPlot only");
    for word in ["src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "import(", "eval("]
    {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains("Permission is hereby granted"), "the licence of uPlot");
}

/// The policy names the digests of the scripts and the style of the page, so that no others run.
#[test]
fn the_content_security_policy_admits_the_scripts_of_the_page_and_no_other() {
    let html = example().page().expect("the example is good").html;
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    let digest = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let style = digest(between(&html, "<style>", "</style>"));
    let uplot = digest(between(&html, "<script>", "</script>"));
    let app = digest(between(&html, "<script type=\"module\">", "</script>"));
    let expected = format!(
        "default-src 'none'; style-src {style}; script-src {uplot} {app}; base-uri 'none'; \
         form-action 'none'"
    );
    assert_eq!(policy, expected);
    assert_eq!(html.matches("<script").count(), 3, "data, uPlot and the program");
    assert_eq!(html.matches("</script").count(), 3);
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let page = || example().page().expect("the example is good").html;
    assert_eq!(page(), page());
}

#[test]
fn hostile_names_are_data_and_never_markup() {
    let hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{app}}";
    let quoted = format!("\"{}\"", hostile.replace('"', "\"\""));
    let mut example = example();
    for text in &mut example.texts[..3] {
        for name in ["gaming", "KD_res8", "J,", "WS-0", ",late,2,"] {
            let place = match name {
                "J," => format!("{quoted},"),
                ",late,2," => format!(",{quoted},2,"),
                _ => quoted.clone(),
            };
            *text = text.replace(name, &place);
        }
    }
    example.texts[3] = example.texts[3].replace("0.2.0", &json!(hostile).to_string()[1..][..8]);
    let html = example.page().expect("names may be anything").html;
    assert!(!html.contains("alert("), "only the packed data knows the name");
    let data = data(&html);
    assert_eq!(data["runs"]["scenario"][0], hostile);
    assert_eq!(data["models"]["network"][0], hostile);
    assert!(data["names"].as_array().expect("a list").contains(&json!(hostile)));
}

/// A small folder, written by hand.
struct Example {
    texts: [String; 4],
}

/// Two runs of two models: one request of each outcome but `lost` in the first, one in the second.
fn example() -> Example {
    let scores = "\
scenario,system,pes,semantics,cost_model,scheduler,seed,replication,realtime,energy,accuracy,qoe,score,score_executed_mean,requests,executed,dropped,not_triggered,late,energy_mj,latency_p99_ms,headroom
gaming,J,4096,principled,loop-nest,edf,0,0,0.5,0.5,1,0.5,0.25,0.25,3,2,1,1,1,3.5,10.000001,-0.0000001
gaming,J,8192,principled,loop-nest,edf,0,0,1,0.5,1,1,0.5,0.5,1,1,0,0,0,1.5,4.5,0.55
";
    let models = "\
scenario,system,pes,semantics,cost_model,scheduler,seed,replication,model,network,realtime,energy,accuracy,qoe,score,score_executed_mean,requests,executed,dropped,not_triggered,late,energy_mj,latency_p99_ms,headroom
gaming,J,4096,principled,loop-nest,edf,0,0,KD,KD_res8,0.5,0.5,1,1,0.25,0.25,2,2,0,0,1,3.5,10.000001,-0.0000001
gaming,J,4096,principled,loop-nest,edf,0,0,SR,SR_em,0,0,0,0,0,0,1,0,1,1,0,0,0,0
gaming,J,8192,principled,loop-nest,edf,0,0,KD,KD_res8,1,0.5,1,1,0.5,0.5,1,1,0,0,0,1.5,4.5,0.55
";
    let inferences = "\
scenario,system,pes,semantics,cost_model,scheduler,seed,replication,model,network,frame,arrival_ms,deadline_ms,start_ms,end_ms,accelerator,outcome,reason,energy_mj,realtime,energy,accuracy,inference,cause
gaming,J,4096,principled,loop-nest,edf,0,0,KD,KD_res8,0,0.000000,10.000000,0.500000,9.000000,WS-0,executed,,1.5,1,0.5,1,0.5,
gaming,J,4096,principled,loop-nest,edf,0,0,KD,KD_res8,1,10.000000,20.000000,11.000000,20.000001,WS-0,executed,late,2,0,0.5,1,0,own latency: 9.000 of 10.000 ms
gaming,J,4096,principled,loop-nest,edf,0,0,SR,SR_em,0,0.000000,10.000000,,10.000000,,dropped,deadline,0,,,,,accelerator: 9.500 ms behind KD:0 on WS-0
gaming,J,4096,principled,loop-nest,edf,0,0,SR,SR_em,1,10.000000,20.000000,,,,not_triggered,,0,,,,,
gaming,J,8192,principled,loop-nest,edf,0,0,KD,KD_res8,0,0.000000,10.000000,0.000000,4.500000,WS-0,executed,,1.5,1,0.5,1,0.5,
";
    let record = "\
{
  \"program\": \"xrsim\", \"version\": \"0.2.0\", \"seed\": 0, \"n_runs\": 2, \"infeasible\": [],
  \"effective\": {}, \"requested\": {}, \"inputs_sha256\": {\"a.yaml\": \"00\"}
}
";
    Example { texts: [scores, models, inferences, record].map(String::from) }
}

impl Example {
    fn page(&self) -> Result<Page, ReadError> {
        let [scores, models, inferences, provenance] =
            std::array::from_fn(|index| Source { name: FILES[index], text: &self.texts[index] });
        page(&Folder { scores, models, inferences, provenance, command: None })
    }

    /// The message after `from` in file `index` was replaced by `to`.
    fn broken(index: usize, from: &str, to: &str) -> String {
        let mut example = example();
        assert!(example.texts[index].contains(from), "{from}");
        example.texts[index] = example.texts[index].replacen(from, to, 1);
        example.page().expect_err(from).to_string()
    }
}

#[test]
fn the_example_has_two_runs_and_five_requests() {
    let page = example().page().expect("the example is good");
    assert_eq!((page.n_runs, page.n_requests), (2, 5));
}

#[test]
fn a_folder_of_an_earlier_version_is_read_under_its_names_of_columns() {
    let page = example().page().expect("the example is good");
    assert_eq!(page.renamed, []);
    let mut earlier = example();
    for text in &mut earlier.texts {
        *text = text
            .replace(",requests,", ",released,")
            .replace(",late,energy_mj", ",deadline_misses,energy_mj");
    }
    let earlier = earlier.page().expect("old names are known");
    assert_eq!(
        earlier.renamed.iter().map(|it| it.old).collect::<Vec<_>>(),
        ["released", "deadline_misses"]
    );
    assert_eq!(earlier.html, page.html);
}

#[test]
fn columns_may_come_in_another_order_and_with_others_among_them() {
    let mut example = example();
    let expected = data(&example.page().expect("the example is good").html);
    for text in &mut example.texts[..3] {
        let moved = text.lines().map(|line| {
            let (first, rest) = line.split_once(',').expect("several columns");
            format!("{rest},more,{first}\r\n")
        });
        *text = moved.collect();
    }
    assert_eq!(data(&example.page().expect("the order is free").html), expected);
}

#[test]
fn what_is_wrong_in_a_table_is_named_with_file_and_line() {
    let [scores, models, inferences] = [0, 1, 2];
    for (index, from, to, expected) in [
        (scores, ",qoe,", ",qqoe,", "scores.csv:1: no column `qoe`"),
        (scores, "seed", "sed", "scores.csv:1: no column `seed`"),
        (scores, ",8192,", ",", "scores.csv:3: 21 cells under 22 columns"),
        (scores, ",0.25,0.25,", ",NaN,0.25,", "scores.csv:2: column `score`: `NaN` is no finite"),
        (scores, ",3,2,1,", ",3,-2,1,", "scores.csv:2: column `executed`: `-2` is no whole number"),
        (
            scores,
            ",8192,",
            ",4096,",
            "scores.csv:3: run `gaming,J,4096,principled,loop-nest,edf,0,0` is there twice",
        ),
        (scores, ",0.55\n", ",0.55", "scores.csv:3: the last line has no end"),
        (scores, ",edf,0,0,1,", ",edf,0,\"0,1,", "scores.csv:3: 8 cells under 22"),
        (models, "gaming,J,8192", "gaming,K,8192", "models.csv:4: run `gaming,K,8192,"),
        (models, "0,SR,SR_em", "0,KD,SR_em", "models.csv:3: model `KD` of this run is there twice"),
        (
            inferences,
            ",0,SR,SR_em,1",
            ",0,SS,SR_em,1",
            "inferences.csv:5: model `SS` of this run is not in models.csv",
        ),
        (
            inferences,
            "not_triggered",
            "triggered",
            "inferences.csv:5: column `outcome`: `triggered` is no outcome; known: executed",
        ),
        (
            inferences,
            ",9.000000,",
            ",0.400000,",
            "inferences.csv:2: the request ends before it starts",
        ),
        (inferences, ",9.000000,", ",,", "inferences.csv:2: column `end_ms`: `` is no time"),
        (
            inferences,
            ",9.000000,",
            ",1e300,",
            "inferences.csv:2: column `end_ms`: `1e300` is no time",
        ),
        (
            inferences,
            ",10.000000,20",
            ",-10.000000,20",
            "inferences.csv:3: column `arrival_ms`: `-10.000000`",
        ),
        (
            inferences,
            ",KD_res8,1,",
            ",KD_res8,1.5,",
            "inferences.csv:3: column `frame`: `1.5` is no whole",
        ),
        (inferences, "deadline,0,", "deadline,inf,", "inferences.csv:4: column `energy_mj`: `inf`"),
    ] {
        let message = Example::broken(index, from, to);
        assert!(message.starts_with(expected), "{message}\nexpected: {expected}");
    }
}

#[test]
fn a_table_that_was_cut_between_two_lines_is_refused() {
    for (index, expected) in [
        (0, "scores.csv:2: 1 runs, but run.json speaks of 2"),
        (
            1,
            "models.csv:3: the rows of run `gaming,J,8192,principled,loop-nest,edf,0,0` are not all",
        ),
        (
            2,
            "inferences.csv:5: the rows of run `gaming,J,8192,principled,loop-nest,edf,0,0` are not",
        ),
    ] {
        let mut example = example();
        let text = &mut example.texts[index];
        let end = text.trim_end().rfind('\n').expect("several lines");
        text.truncate(end + 1);
        let message = example.page().expect_err("a row is missing").to_string();
        assert!(message.starts_with(expected), "{message}");
    }
    for (index, name) in FILES.iter().enumerate() {
        let mut example = example();
        example.texts[index].clear();
        let message = example.page().expect_err("the file is empty").to_string();
        assert!(message.starts_with(&format!("{name}:1: ")), "{message}");
    }
}

#[test]
fn what_is_wrong_in_the_record_is_named_with_its_line() {
    for (from, to, expected) in [
        ("\"effective\": {},", "\"effective\": {,", "run.json:3: key must be a string"),
        ("\"xrsim\"", "\"maestro\"", "run.json:1: `program` is not `xrsim`"),
        ("\"n_runs\": 2", "\"n_runs\": -2", "run.json:1: `n_runs` is not the number of runs"),
        ("[]", "[{}, {}, {}]", "run.json:1: `n_runs` is not the number of runs"),
        ("\"n_runs\": 2", "\"n_runs\": 9", "scores.csv:3: 2 runs, but run.json speaks of 9"),
    ] {
        let message = Example::broken(3, from, to);
        assert!(message.starts_with(expected), "{message}\nexpected: {expected}");
    }
}

#[test]
fn a_folder_of_another_version_that_does_not_fit_says_so() {
    let mut example = example();
    example.texts[3] = example.texts[3].replace("0.2.0", "9.9.9");
    example.page().expect("another version may write the same");
    example.texts[0] = example.texts[0].replace("qoe", "quality");
    let message = example.page().expect_err("a column is missing").to_string();
    assert!(message.ends_with("the folder is of xrsim 9.9.9, this is 0.2.0"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_damage_ends_in_a_page_or_in_a_line_of_a_file(
        file in 0..4usize,
        at in 0..1200usize,
        removed in 0..60usize,
        inserted in "[a-z0-9,\"\n\r.{}<é-]{0,8}",
    ) {
        let mut example = example();
        let text = &mut example.texts[file];
        let at = at.min(text.len());
        let end = (at + removed).min(text.len());
        text.replace_range(at..end, &inserted);
        let longest = example.texts.iter().map(|text| text.lines().count()).max();
        match example.page() {
            Ok(page) => prop_assert_eq!(page.n_runs, 2),
            Err(error) => prop_assert!((1..=longest.unwrap_or(0) + 1).contains(&error.line)),
        }
    }
}

#[test]
fn a_missing_file_is_named_with_the_command_that_writes_it_and_no_page_is_left() {
    let folder = tempdir().expect("a folder can be made");
    let (results, html) = (path(&folder, "results"), path(&folder, "page.html"));
    fs::create_dir(&results).expect("a folder can be made");
    for (name, text) in FILES.iter().zip(example().texts) {
        let message = refused(&["report", &results, "-o", &html]);
        assert!(message.contains(name) && message.contains("`--out DIR`"), "{message}");
        assert!(!Path::new(&html).exists());
        fs::write(Path::new(&results).join(name), text).expect("the file can be written");
    }
    output(&["report", &results, "-o", &html]);
    assert!(Path::new(&html).exists());
}

#[test]
fn a_page_never_takes_the_place_of_the_results() {
    let folder = tempdir().expect("a folder can be made");
    for (name, text) in FILES.iter().zip(example().texts) {
        fs::write(folder.path().join(name), text).expect("the file can be written");
    }
    let results = path(&folder, "");
    for name in FILES {
        let message = refused(&["report", &results, "-o", &path(&folder, name)]);
        assert!(message.contains("use a name that ends in .html"), "{message}");
    }
    output(&["report", &results, "-o", &path(&folder, "page.html")]);
}

#[test]
fn text_that_is_not_utf_8_is_named_with_its_line() {
    let folder = tempdir().expect("a folder can be made");
    for (name, text) in FILES.iter().zip(example().texts) {
        let bytes = text.replace("SR_em", "SR_\u{1}").into_bytes();
        let bytes: Vec<u8> = bytes.into_iter().map(|b| if b == 1 { 0xff } else { b }).collect();
        fs::write(folder.path().join(name), bytes).expect("the file can be written");
    }
    let message = refused(&["report", &path(&folder, "")]);
    assert!(message.contains("models.csv:3: not UTF-8 text"), "{message}");
}

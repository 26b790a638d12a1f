//! `xrsim report` of results of `xrsim mlperf --out`: contents of the page, and refusals.

use crate::support::binary;
use crate::support::page as page_data;

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use binary::{output, path, refused};
use page_data::{between, data, keys, says, unknown_names};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::{TempDir, tempdir};

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("the file was written")
}

/// Page of `xrsim mlperf` with these arguments, and the folder of its files.
fn test_and_report(arguments: &[&str]) -> (String, TempDir) {
    let folder = tempdir().expect("a folder can be made");
    let (results, html) = (path(&folder, "results"), path(&folder, "page.html"));
    output(&[&["mlperf"], arguments, &["--out", &results]].concat());
    output(&["report", &results, "-o", &html]);
    (read(html), folder)
}

const SUITE_WITH_CURVE: [&str; 15] = [
    "inference",
    "--task",
    "image_classification_light",
    "--load",
    "single-stream",
    "--load",
    "server",
    "--load",
    "offline",
    "--min-duration",
    "1",
    "--min-queries",
    "10000",
    "--curve",
    "3",
];

const TENANTS: [&str; 9] = [
    "inference",
    "--tenant",
    "image_classification_light:qps=50",
    "--tenant",
    "machine_translation:qps=5",
    "--beside",
    "VR_gaming",
    "--min-duration",
    "1",
];

/// Every cell of a table is in the page, row by row, as text or as the same number.
fn check_cells(rows: &Value, csv: &str) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let records: Vec<_> = reader.records().collect::<Result<_, _>>().expect("a CSV table");
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(&records) {
        for (column, cell) in header.iter().zip(record) {
            let expected = match (column, cell) {
                ("within_bound", "true") => "yes",
                ("within_bound", "false") => "no",
                _ => cell,
            };
            let value = &row[column];
            let is_same = if value.is_null() { cell.is_empty() } else { says(value, expected) };
            assert!(is_same, "{column}: {value} for {cell}");
        }
    }
}

#[test]
fn a_suite_is_a_page_of_every_test_once_with_its_summary_and_its_curve() {
    let task = "image_classification_light";
    let (html, folder) = test_and_report(&SUITE_WITH_CURVE);
    println!("page of three tests: {} byte", html.len());
    assert!(html.len() < 100_000, "{} byte", html.len());
    let page = data(&html);
    let results = folder.path().join("results");
    check_cells(&page["tests"], &read(results.join("suite.csv")));
    for test in page["tests"].as_array().expect("tests") {
        let load = test["load"].as_str().expect("a load");
        let summary = results.join(task).join(load).join("mlperf_log_summary.txt");
        assert_eq!(test["summary"], read(summary));
    }
    let curves = page["curves"].as_array().expect("curves");
    let [curve] = &curves[..] else { panic!("{} curves", curves.len()) };
    assert_eq!(curve["task"], task);
    check_cells(&curve["points"], &read(results.join(task).join("server").join("curve.csv")));
    let svg = curve["svg"].as_str().expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("may exceed 10 ms"), "the bound of the task");
    let value = |index: usize| page["tests"][index]["value"].as_f64().expect("a rate");
    let share = (value(1) / value(2)).to_string();
    assert!(says(&page["shares"][0]["share"], &share), "{share}");
    assert!(page["shares_svg"].as_str().expect("a picture").contains(task));
    assert_eq!(page["suite"], "inference_v0.5");
    assert_eq!(page["system"], "A@4096");
}

#[test]
fn tenants_are_a_page_with_the_reason_of_a_verdict_and_the_score_beside() {
    let (html, folder) = test_and_report(&TENANTS);
    let page = data(&html);
    check_cells(&page["tests"], &read(folder.path().join("results").join("tenants.csv")));
    assert_eq!(page["kind"], "tenants");
    assert_eq!(page["tests"][0]["verdict"], "INVALID");
    assert_eq!(page["tests"][0]["reason"], "Reduce target QPS to improve latency.");
    let facts = page["facts"].as_array().expect("pairs");
    assert!(facts.iter().any(|fact| fact[0] == "beside_score_alone"), "{facts:?}");
    assert_eq!(page["shares"], json!([]));
}

/// The page describes every column of the table once, and every row has a value for it.
fn check_columns(columns: &Value, rows: &Value, csv: &str) {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let mut expected: Vec<_> = reader.headers().expect("a header").iter().collect();
    let mut described = keys(columns);
    for column in columns.as_array().expect("columns") {
        assert!(!column["label"].as_str().expect("a heading").is_empty(), "{column}");
    }
    for row in rows.as_array().expect("rows") {
        let row = row.as_object().expect("a row");
        for key in &described {
            assert!(row.contains_key(*key), "no row has a value in column {key}");
        }
    }
    expected.sort_unstable();
    described.sort_unstable();
    assert_eq!(described, expected);
}

#[test]
fn the_columns_of_the_page_are_those_of_its_data() {
    let (suite, curve) = (test_and_report(&SUITE_WITH_CURVE), "server/curve.csv");
    let page = data(&suite.0);
    let results = suite.1.path().join("results");
    let task = results.join(page["tests"][0]["task"].as_str().expect("a task"));
    check_columns(&page["columns"]["tests"], &page["tests"], &read(results.join("suite.csv")));
    check_columns(
        &page["columns"]["curves"],
        &page["curves"][0]["points"],
        &read(task.join(curve)),
    );
    check_columns(&page["columns"]["shares"], &page["shares"], "task,server,offline,share\n");
    let tenants = test_and_report(&TENANTS);
    let page = data(&tenants.0);
    let results = tenants.1.path().join("results");
    check_columns(&page["columns"]["tests"], &page["tests"], &read(results.join("tenants.csv")));
    for html in [&suite.0, &tenants.0] {
        assert_eq!(unknown_names(html), [""; 0]);
    }
}

#[test]
fn a_page_without_curves_reads_no_key_of_curves() {
    let example = Example::new();
    example.remove("vision/server/curve.csv");
    assert_eq!(unknown_names(&example.page()), [""; 0]);
}

/// A folder of two tests, written by hand.
struct Example {
    folder: TempDir,
}

const TASK: &str = "vision";

const SUITE: &str = "\
task,load,metric,value,unit,verdict,p50_ms,p90_ms,p99_ms,energy_mj_per_sample,energy_mj_per_stream,mean_power_w,queries,trials,beside_score,beside_score_alone
vision,server,queries,50,1/s,VALID,2,3,4,1.5,,0.25,1000,3,0.5,0.75
vision,offline,samples,200,1/s,VALID,20,30,40,1.5,,0.25,1,0,,
";

const HEADER: &str = r#"{
  "program": "xrsim", "version": "0.2.0", "suite": "mine", "system": "A@4096", "cooldown": null,
  "cost_model": "loop-nest",
  "tests": [
    {"task": "vision", "load": "server", "bound_ms": 10.0, "percentile": 0.99},
    {"task": "vision", "load": "offline", "bound_ms": null, "reason": "too short"}
  ]
}
"#;

const CURVE: &str = "\
target_qps,scheduled_qps,completed_qps,p50_ms,p90_ms,p97_ms,p99_ms,p99_9_ms,late_percent,within_bound
25,25,25,2,3,3.5,4,5,0,true
75,75,60,20,30,35,40,50,99,false
";

impl Example {
    fn new() -> Self {
        Self::of_task(TASK)
    }

    /// The folder with a task of another name.
    fn of_task(task: &str) -> Self {
        let example = Self { folder: tempdir().expect("a folder can be made") };
        let cell = format!("\"{}\"", task.replace('"', "\"\""));
        example.write("suite.csv", &SUITE.replace(TASK, &cell));
        example.write("mlperf.json", &HEADER.replace("\"vision\"", &json!(task).to_string()));
        for load in ["server", "offline"] {
            example.write(&format!("{task}/{load}/mlperf_log_summary.txt"), "Result is : VALID\n");
        }
        example.write(&format!("{task}/server/curve.csv"), CURVE);
        example
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        fs::write(path, text).expect("the file can be written");
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(name)).expect("it was there");
    }

    fn page(&self) -> String {
        let html = path(&self.folder, "page.html");
        output(&["report", &path(&self.folder, ""), "-o", &html]);
        read(html)
    }

    fn refusal(&self) -> String {
        let html = path(&self.folder, "page.html");
        let message = refused(&["report", &path(&self.folder, ""), "-o", &html]);
        assert!(!Path::new(&html).exists(), "no page is left");
        message
    }

    /// Message after `from` in `file` is replaced by `to`.
    fn broken(file: &str, from: &str, to: &str) -> String {
        let example = Self::new();
        let text = read(example.folder.path().join(file));
        assert!(text.contains(from), "{from}");
        example.write(file, &text.replacen(from, to, 1));
        example.refusal()
    }
}

#[test]
fn the_example_has_two_tests_and_a_curve_of_two_rates() {
    let page = data(&Example::new().page());
    check_cells(&page["tests"], SUITE.replace(TASK, "vision").as_str());
    assert_eq!(page["tests"][1]["reason"], "too short");
    check_cells(&page["curves"][0]["points"], CURVE);
    assert!(!page["facts"].to_string().contains("cooldown"), "there is none");
}

/// The share is 50 of 200 per second; an invalid or undefined result has no share.
#[test]
fn only_results_that_count_make_a_share() {
    let example = Example::new();
    let valid = SUITE.replace(",INVALID", ",VALID");
    example.write("suite.csv", &valid);
    assert_eq!(data(&example.page())["shares"][0]["share"], 0.25);
    for (from, to) in [(",200,", ",40,"), (",200,", ",,"), (",50,", ",,")] {
        example.write("suite.csv", &valid.replace(from, to));
        let page = data(&example.page());
        assert_eq!(page["shares"], json!([]), "{from} is {to}");
        assert_eq!(page["tests"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn a_share_is_of_two_valid_tests() {
    for test in ["server,queries,50,1/s", "offline,samples,200,1/s"] {
        let example = Example::new();
        let suite = read(example.folder.path().join("suite.csv"));
        let invalid = suite.replace(&format!("{test},VALID"), &format!("{test},INVALID"));
        assert_ne!(suite, invalid);
        example.write("suite.csv", &invalid);
        let page = data(&example.page());
        assert_eq!((&page["shares"], &page["shares_svg"]), (&json!([]), &Value::Null));
    }
}

#[test]
fn without_a_header_or_curves_a_page_shows_what_is_there() {
    let example = Example::new();
    example.remove("mlperf.json");
    let page = data(&example.page());
    assert_eq!((&page["suite"], &page["system"]), (&Value::Null, &Value::Null));
    assert_eq!(page["curves"].as_array().map(Vec::len), Some(1));
    example.remove("vision/server/curve.csv");
    assert_eq!(data(&example.page())["curves"], json!([]));
}

#[test]
fn hostile_names_are_data_and_never_markup() {
    let task = "<img src=x onerror=alert(1)>&\"'{{app}}, -->";
    let example = Example::of_task(task);
    let hostile = "</script><script>alert(2)</script>";
    example.write(&format!("{task}/server/mlperf_log_summary.txt"), hostile);
    let header = read(example.folder.path().join("mlperf.json"));
    example.write("mlperf.json", &header.replace("A@4096", hostile).replace("mine", hostile));
    let suite = read(example.folder.path().join("suite.csv"));
    example.write("suite.csv", &suite.replace(",INVALID", ",VALID"));
    let html = example.page();
    assert!(!html.contains("alert("), "only the packed data knows the names");
    assert_eq!(html.matches("<script").count(), 2, "data and the program");
    let page = data(&html);
    assert_eq!(page["tests"][0]["task"], task);
    assert_eq!(page["tests"][0]["summary"], hostile);
    for svg in [&page["curves"][0]["svg"], &page["shares_svg"]] {
        let svg = svg.as_str().expect("a picture");
        assert!(svg.contains("&lt;"), "the name stands there as text");
        assert!(!svg.contains("<img") && !svg.contains("<script"), "{svg}");
    }
}

#[test]
fn the_page_refers_to_nothing_and_admits_its_own_program_alone() {
    let html = Example::new().page();
    for word in ["://", "src=", "<link", "@import", "url(", "fetch(", "import(", "eval("] {
        assert!(!html.contains(word), "{word}");
    }
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    let digest = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let style = digest(between(&html, "<style>", "</style>"));
    let app = digest(between(&html, "<script type=\"module\">", "</script>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src {style}; script-src {app}; base-uri 'none'; \
             form-action 'none'"
        )
    );
    assert_eq!(html, Example::new().page(), "the same files give the same bytes");
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_line() {
    let curve = "vision/server/curve.csv";
    for (file, from, to, expected) in [
        ("suite.csv", ",verdict,", ",result,", "suite.csv:1: no column `verdict`"),
        ("suite.csv", ",VALID", ",VALIDE", "suite.csv:2: column `verdict`: `VALIDE` is no verdict"),
        (
            "suite.csv",
            ",offline",
            ",ofline",
            "suite.csv:3: column `load`: `ofline` is no load; known",
        ),
        ("suite.csv", ",offline", ",server", "suite.csv:3: test `vision, server` is there twice"),
        ("suite.csv", ",200,", ",NaN,", "suite.csv:3: column `value`: `NaN` is no finite number"),
        ("suite.csv", ",1000,", ",-1,", "suite.csv:2: column `queries`: `-1` is no whole number"),
        ("suite.csv", ",,0.25", ",some,0.25", "suite.csv:2: column `energy_mj_per_stream`: `some`"),
        ("suite.csv", ",0.25,1,0,,", ",0.25", "suite.csv:3: 12 cells under 16 columns"),
        ("suite.csv", ",0,,\n", ",0,,", "suite.csv:3: the last line has no end"),
        ("suite.csv", "vision", "../vision", "suite.csv:2: column `task`: `../vision` is no task"),
        ("suite.csv", "\"vision\",offline", "..,offline", "suite.csv:3: column `task`: `..` is no"),
        (
            "suite.csv",
            "\"vision\",offline",
            "sight,offline",
            "suite.csv:3: 2 tests, and mlperf.json",
        ),
        ("mlperf.json", "\"xrsim\"", "\"loadgen\"", "mlperf.json:1: `program` is not `xrsim`"),
        ("mlperf.json", "\"tests\": [", "\"tests\": [,", "mlperf.json:4: expected value"),
        ("mlperf.json", "10.0", "\"ten\"", "mlperf.json:5: invalid type: string \"ten\""),
        (
            curve,
            "25,25,25,2,",
            "25,25,25,,",
            "curve.csv:2: column `p50_ms`: `` is no finite number",
        ),
        (curve, "false", "no", "curve.csv:3: column `within_bound`: `no` is no `true` or `false`"),
        (curve, "75,75,60,20", "75,75,60,0", "curve.csv:3: "),
    ] {
        let message = Example::broken(file, from, to);
        assert!(message.contains(expected), "{message}\nexpected: {expected}");
    }
}

#[test]
fn a_folder_of_another_version_that_does_not_fit_says_so() {
    let example = Example::new();
    example.write("mlperf.json", &HEADER.replace("0.2.0", "9.9.9"));
    example.page();
    fs::remove_file(path(&example.folder, "page.html")).expect("it was written");
    example.write("suite.csv", &SUITE.replace("verdict", "result"));
    let message = example.refusal();
    assert!(message.contains("the folder is of xrsim 9.9.9, this is 0.2.0"), "{message}");
}

#[test]
fn files_that_are_missing_or_of_two_commands_are_named() {
    let example = Example::new();
    example.write("tenants.csv", "tenant\n");
    assert!(example.refusal().contains("has both suite.csv and tenants.csv"));
    example.remove("tenants.csv");
    example.remove("vision/offline/mlperf_log_summary.txt");
    let message = example.refusal();
    assert!(message.contains("vision/offline/mlperf_log_summary.txt: "), "{message}");
    assert!(message.contains("`xrsim mlperf` write with `--out DIR`"), "{message}");
}

#[test]
fn more_tests_or_longer_files_than_a_page_holds_are_refused() {
    let example = Example::new();
    example.remove("mlperf.json");
    let (header, row) = SUITE.split_once('\n').expect("a header");
    let row = row.lines().next().expect("a row");
    let rows = (0..4001).map(|index| row.replace(TASK, &format!("{TASK}_{index}")) + "\n");
    example.write("suite.csv", &format!("{header}\n{}", rows.collect::<String>()));
    let message = example.refusal();
    assert!(message.contains("suite.csv:4002: more than 4000 tests"), "{message}");
    let example = Example::new();
    let summary = example.folder.path().join("vision/offline/mlperf_log_summary.txt");
    let file = fs::File::create(summary).expect("it can be written");
    file.set_len(64 << 20).expect("it can grow");
    let message = example.refusal();
    assert!(message.contains("the results are larger than 64 MiB"), "{message}");
}

#[test]
fn a_page_never_takes_the_place_of_the_results() {
    let example = Example::new();
    for name in ["suite.csv", "mlperf.json", "server_to_offline.svg", "mlperf_log_summary.txt"] {
        let message =
            refused(&["report", &path(&example.folder, ""), "-o", &path(&example.folder, name)]);
        assert!(message.contains("use a name that ends in .html"), "{message}");
    }
}
